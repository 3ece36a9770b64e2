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
# deep CPU: how often it went deeper than its first state
deep()
{
	cat /sys/devices/system/cpu/cpu"$1"/cpuidle/state[1-9]/usage 2>/dev/null |
		awk '{ s += $1 } END { print s + 0 }'
}

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
for nic in $nics; do $IP link set "$nic" up; done
place
for nic in $nics; do ping -c 2 -W 1 -I "$nic" 10.9.9.9; done >/dev/null 2>&1
sleep 1
if [ -e /sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us ]; then
is "$(limits)" "0 0 0 0 " "no CPU has a limit"
printf 'cpu_resume_latency = "n/a";\n' >/etc/softnetd/profiles/awake.conf
daemon_start awake
ok $? "softnetd starts"
sleep 1
is "$(limits)" "0 0 n/a 0 " "the CPU that takes the NIC's interrupts has one"
if [ -e /sys/devices/system/cpu/cpu2/cpuidle/state1 ]; then
	a=$(deep 2) b=$(deep 3)
	sleep 3
	is $(($(deep 2) - a)) 0 "and does not sleep"
	[ $(($(deep 3) - b)) -gt 0 ]
	ok $? "while the others do"
fi
softnetctl get cpu_resume_latency | sed 's/^/# /'
echo 0 >/sys/devices/system/cpu/cpu2/online
sleep 4
echo 1 >/sys/devices/system/cpu/cpu2/online
place
sleep 14
is "$(cat /sys/devices/system/cpu/cpu2/power/pm_qos_resume_latency_us)" "n/a" "after its CPU was away too"
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
