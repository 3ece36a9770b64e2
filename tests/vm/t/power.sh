#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How long CPUs may sleep, in a real kernel: the limit of the CPUs that take a NIC's interrupts, and the
# request in a descriptor that a killed daemon cannot leave behind. Needs guest --ssdt --nics tap and the
# folder made by tests/vm/bundle.
. /mnt/t/lib.sh

with_daemon

limits() { cat /sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us | tr '\n' ' '; }
# what the device says: the lowest of all requests
request() { od -An -td4 -N4 /dev/cpu_dma_latency | tr -d ' '; }

# systemd may have given them other names than eth0, eth1
nics=$(ls -d /sys/class/net/*/device/../msi_irqs | cut -d / -f 5)
place()
{
	for nic in $nics; do
		for n in $(ls "/sys/class/net/$nic/device/../msi_irqs"); do
			echo 2 >/proc/irq/$n/smp_affinity_list
		done
	done
}
# wanted: the limits of all CPUs when those have one that an interrupt of a receive queue is bound to. An
# interrupt that does not come stays where it was, whatever was written. Few programs are called: it is asked
# every second, in a guest that is slow.
wanted()
{
	# shellcheck disable=SC2086 # several files
	cat $places | awk '{ has[$1] = 1 } END { for (c = 0; c < 4; c++) printf "%s ", has[c] ? 30 : 0; print "" }'
}
as_wanted() { [ "$(limits)" = "$(wanted)" ]; }
for nic in $nics; do $IP link set "$nic" up; done
place
places=
for nic in $nics; do
	[ $(($(cat "/sys/class/net/$nic/flags") & 1)) = 1 ] || continue
	for n in $(ls "/sys/class/net/$nic/device/../msi_irqs"); do
		! ls -d /proc/irq/"$n"/*input* >/dev/null 2>&1 ||
			places="$places /proc/irq/$n/effective_affinity_list"
	done
done
for nic in $nics; do ping -c 2 -W 1 -I "$nic" 10.9.9.9; done >/dev/null 2>&1
sleep 1
if [ -e /sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us ]; then
is "$(limits)" "0 0 0 0 " "no CPU has a limit"
# Not "n/a": four CPUs that never sleep take their time from each other in a guest of one thread. So what a
# limit does to idle states is not looked at here.
printf 'cpu_resume_latency = 30;\n' >/etc/softnetd/profiles/awake.conf
daemon_start awake
ok $? "softnetd starts"
until_true 15 as_wanted
ok $? "the CPUs that take a NIC's packets have one: $(limits)"
case $(limits) in *30*) true ;; *) false ;; esac
ok $? "there are some"
softnetctl get cpu_resume_latency | sed 's/^/# /'
# one that has a limit and can go, so not CPU 0
cpu=$(limits | tr ' ' '\n' | grep -nx 30 | cut -d : -f 1 | awk '$1 > 1 { print $1 - 1; exit }')
echo 0 >/sys/devices/system/cpu/cpu$cpu/online
sleep 4
echo 1 >/sys/devices/system/cpu/cpu$cpu/online
place
# Nothing arrives there now, but what was there is not given back for that: interrupts come and go.
again() { [ "$(cat /sys/devices/system/cpu/cpu$cpu/power/pm_qos_resume_latency_us)" = 30 ]; }
until_true 20 again
ok $? "CPU $cpu was away, and has one again: $(limits)"
kill -9 $D
wait $D 2>/dev/null
softnetctl restore >/tmp/restore.txt 2>&1
ok $? "softnetctl restore after kill -9"
is "$(limits)" "0 0 0 0 " "brings no limit back"
else
	# no CONFIG_PM
	printf 'cpu_resume_latency = 30;\n' >/etc/softnetd/profiles/awake.conf
	daemon_start awake
	is "$(request)" 30 "CPUs without a limit of their own get that of the host"
	daemon_stop
	is "$(request)" 2000000000 "and it is gone with the daemon"
fi

is "$(request)" 2000000000 "nobody has a request for the host"
printf 'cpu_dma_latency = 40;\n' >/etc/softnetd/profiles/host.conf
daemon_start host
is "$(request)" 40 "softnetd has one"
softnetctl status --json | grep -q '"state": *"held"'
ok $? "and says that it holds it"
kill -9 $D
wait $D 2>/dev/null
is "$(request)" 2000000000 "the kernel takes it from a killed daemon"
daemon_start host
is "$(request)" 40 "the next one has one again"
daemon_stop
ok $? "softnetd stops"
is "$(request)" 2000000000 "and its request is gone"
[ ! -e /run/softnetd/ledger.json ]
ok $? "no ledger is left"
sed 's/^/# /' /tmp/daemon.log | tail -5
finish
