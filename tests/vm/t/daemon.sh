#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# softnetd on a real kernel: what it writes, what that does, and that all of it comes back. Needs
# guest --nics tap --ssdt and the folder made by tests/vm/bundle.
. /mnt/t/lib.sh

export LD_LIBRARY_PATH=/mnt/softnetd/lib
PATH=/mnt/softnetd:$PATH
E=/etc/softnetd
mkdir -p $E/profiles /run/softnetd

core() { cat /proc/sys/net/core/"$1"; }
settings()
{
	for f in netdev_budget netdev_budget_usecs dev_weight netdev_max_backlog busy_poll busy_read; do
		echo "$f $(core $f)"
	done
	for f in /proc/sys/kernel/softirq_* /proc/irq/*/smp_affinity_list \
		/sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do
		[ ! -e "$f" ] || echo "$f $(cat "$f")"
	done
}

# profile NAME TEXT
profile() { printf '%s\n' "$2" >$E/profiles/"$1".conf; }

# --- a healthy host
settings >/tmp/before
daemon_start balanced
ok $? "softnetd starts"
sleep 4
softnetctl status --json >/tmp/status.json
ok $? "status answers"
daemon_stop
ok $? "softnetd stops"
settings >/tmp/after
cmp -s /tmp/before /tmp/after
ok $? "a healthy host is left as it was"
[ ! -e /run/softnetd/ledger.json ]
ok $? "and no ledger was needed"

# --- what the profile states, and back
profile stated 'busy_poll = 50; busy_read = 50; netdev_max_backlog = 2000; governor = "powersave";'
daemon_start stated
is "$(core busy_poll) $(core busy_read) $(core netdev_max_backlog)" "50 50 2000" "stated numbers are there"
is "$(cat /sys/devices/system/cpu/cpufreq/policy*/scaling_governor | sort -u)" powersave "governors are switched"
is "$(cat /sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq)" 1000000 "and the frequency follows"
# kill -9: nothing is lost
kill -9 $D
wait $D 2>/dev/null
is "$(core busy_poll)" 50 "after kill -9 the value stands"
softnetctl restore >/tmp/restore.txt 2>&1
ok $? "softnetctl restore works without the daemon"
settings >/tmp/after
cmp -s /tmp/before /tmp/after
ok $? "and brings every original back"
daemon_start stated
kill -9 $D
wait $D 2>/dev/null
daemon_start balanced
settings >/tmp/after
cmp -s /tmp/before /tmp/after
ok $? "so does the next start"
daemon_stop

# --- a budget that binds: every run ends squeezed at 1
profile loop 'netdev_budget = [16, 1200]; netdev_budget_usecs = [2000, 40000];'
echo 1 >/proc/sys/net/core/netdev_budget
daemon_start loop
pktgen 200000
raised() { [ "$(core netdev_budget)" -gt 1 ]; }
until_true 30 raised
ok $? "squeezed: netdev_budget is raised ($(core netdev_budget))"
kept() { softnetctl history 2>/dev/null | grep -q 'netdev_budget: kept'; }
until_true 120 kept
ok $? "and kept, since squeezes ended, came back without it, and ended again"
softnetctl history | sed 's/^/# /'
softnetctl explain | sed 's/^/# /'
s1=$(awk '{ s += ("0x" $3) + 0 } END { print s }' /proc/net/softnet_stat)
b1=$(core netdev_budget)
sleep 5
s2=$(awk '{ s += ("0x" $3) + 0 } END { print s }' /proc/net/softnet_stat)
between $((s2 - s1)) 0 50 "no more squeezes"
is "$(core netdev_budget)" "$b1" "and no more writes"
pktgen_end
daemon_stop
is "$(core netdev_budget)" 1 "stop brings the original back"
echo 300 >/proc/sys/net/core/netdev_budget

# --- interrupts of a NIC with four queues
profile placed 'nics = ( { match = "eth0"; placement = "spread"; } );'
irqs=$(ls /sys/class/net/eth0/device/../msi_irqs)
inputs=$(for n in $irqs; do grep -E "^ *$n:.*-input" /proc/interrupts | cut -d: -f1; done)
$IP netns add B
$IP link set eth1 netns B
$IP addr add 10.0.0.1/24 dev eth0
$IP link set eth0 up
$IP -n B addr add 10.0.0.2/24 dev eth1
$IP -n B link set eth1 up
sleep 2
# all on one CPU, as a driver or a rival may have left them
for n in $irqs; do echo 0 >/proc/irq/$n/smp_affinity_list; done
settings >/tmp/before
daemon_start placed
$IP netns exec B iperf3 -s -D
sleep 1
iperf3 -c 10.0.0.2 -t 6 -P 8 >/tmp/iperf 2>&1
distinct=$(for n in $inputs; do cat /proc/irq/$n/smp_affinity_list; done | sort -u | wc -l)
count=$(echo "$inputs" | wc -w)
is "$distinct" "$count" "the $count receive interrupts have a CPU each"
moved=0
for n in $inputs; do
	[ "$(cat /proc/irq/$n/effective_affinity_list)" = "$(cat /proc/irq/$n/smp_affinity_list)" ] && moved=$((moved + 1))
done
between "$moved" 1 "$count" "those that fired have moved"
softnetctl status | sed 's/^/# /'
daemon_stop
settings >/tmp/after
cmp -s /tmp/before /tmp/after
ok $? "stop brings every mask back"
pkill iperf3 2>/dev/null || killall iperf3 2>/dev/null

# --- the series' own knobs
if have_series; then
	profile series 'softirq_max_restart = 5; softirq_time_us = 1000; softirq_clock = "precise"; softirq_restart_policy = "throughput";'
	settings >/tmp/before
	daemon_start series
	is "$(cd /proc/sys/kernel && cat softirq_max_restart softirq_time_us softirq_clock softirq_restart_policy | tr '\n' ' ')" \
		"5 1000 1 4 " "the limits of the softirq loop are set"
	daemon_stop
	settings >/tmp/after
	cmp -s /tmp/before /tmp/after
	ok $? "and set back"
fi

# --- the kernel log: NET_RX left pending
daemon_start balanced
sleep 2
trouble mode=pending cpu=2 nr=3 count=3 gap_ms=40
trouble_end
seen() { softnetctl status --json | grep -q nohz-net; }
until_true 10 seen
ok $? "a NOHZ message is seen as nohz-net"
daemon_stop
sed 's/^/# /' /tmp/daemon.log | tail -5
finish
