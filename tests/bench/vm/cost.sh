#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What each daemon costs, as systemd runs it on a Debian (guest --root debian --nics tap, packages
# irqbalance tuned strace; softnetd as "root", what make install places): start, CPU time idle and under
# load, memory, sleeps, system calls; what each has changed on a host where nothing is wrong, and left behind.
. /mnt/bench/lib.sh
ROUNDS=${rounds:-3} SECS=${secs:-15}

cp -r /mnt/root/. /
systemctl daemon-reload
systemctl reload dbus
systemctl stop irqbalance tuned softnetd 2>/dev/null
systemctl disable irqbalance tuned 2>/dev/null
mkdir -p /etc/tuned
echo network-latency >/etc/tuned/active_profile
echo manual >/etc/tuned/profile_mode

two_hosts eth0 eth1
in_b iperf3 -s -D

now_ms() { echo $(($(date +%s%N) / 1000000)); }
cgroup() { echo "/sys/fs/cgroup/system.slice/$1.service"; }
pids() { cat "$(cgroup "$1")/cgroup.procs"; }
cpu_usec() { awk '$1 == "usage_usec" { print $2 }' "$(cgroup "$1")/cpu.stat"; }
# over all threads of the service
sleeps() {
	for p in $(pids "$1"); do cat /proc/"$p"/task/*/status 2>/dev/null; done |
		awk '/^voluntary_ctxt/ { s += $2 } END { print s + 0 }'
}
pss_kb() {
	for p in $(pids "$1"); do cat /proc/"$p"/smaps_rollup; done | awk '/^Pss:/ { s += $2 } END { print s + 0 }'
}
# every setting that any of them might write; what counts up by itself is left out
settings() {
	find /proc/sys/net /proc/sys/kernel /proc/sys/vm -type f -perm -u=w 2>/dev/null |
		grep -vE 'random|ns_last_pid|drop_caches|compact_memory|stat_refresh|route/flush|/pty/|tainted|cap_last' |
		xargs grep -sH ''
	grep -H . /proc/irq/*/smp_affinity_list /sys/devices/system/cpu/cpufreq/policy*/scaling_governor \
		/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us \
		/sys/class/net/eth*/queues/*/rps_cpus /sys/class/net/eth*/gro_flush_timeout \
		/sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null
	# held open: /dev/cpu_dma_latency
	hexdump -e '1/4 "cpu_dma_latency %d\n"' /dev/cpu_dma_latency 2>/dev/null
}
differing() { diff "$1" "$2" | grep -c '^>'; }

# one SERVICE LABEL
one()
{
	settings >/tmp/before
	start=$(now_ms)
	systemctl start "$1" || {
		note "$1 did not start"
		journalctl -u "$1" -o cat | tail -n 5 | sed 's/^/# /'
		return
	}
	ready=$(($(now_ms) - start))
	sleep 5
	cpu=$(cpu_usec "$1") slept=$(sleeps "$1")
	sleep "$SECS"
	idle=$(($(cpu_usec "$1") - cpu)) slept=$(($(sleeps "$1") - slept))
	settings >/tmp/with
	calls=
	if [ "$r" = 0 ]; then
		# shellcheck disable=SC2046
		timeout "$SECS" strace -c -f -o /tmp/strace $(pids "$1" | sed 's/^/-p /') 2>/dev/null
		calls=$(awk '$NF == "total" { print $4 }' /tmp/strace)
	fi
	cpu=$(cpu_usec "$1")
	iperf3 -c 10.0.0.2 -t "$SECS" -P 4 >/tmp/iperf 2>&1
	load=$(($(cpu_usec "$1") - cpu))
	pss=$(pss_kb "$1")
	systemctl stop "$1"
	sleep 1
	settings >/tmp/after
	[ "$r" != 0 ] || diff /tmp/before /tmp/after | sed -n "s/^>/# $2 leaves/p" | head -n 5
	{
		echo "START-ms $ready"
		per_minute IDLE-ms "$idle"
		per_minute LOADED-ms "$load"
		echo "PSS-kB $pss"
		per_second SLEEPS 0 "$slept" "$SECS"
		[ -z "$calls" ] || per_second CALLS 0 "$calls" "$SECS"
		echo "CHANGED $(differing /tmp/before /tmp/with)"
		echo "LEFT $(differing /tmp/before /tmp/after)"
	} | rows "$2"
}

# per_minute NAME USEC: of SECS seconds, as ms a minute
per_minute() { awk -v n="$1" -v us="$2" -v t="$SECS" 'BEGIN { printf "%s %.1f\n", n, us * 60 / t / 1000 }'; }

title "Services: start, CPU time a minute idle and under load, memory, sleeps and system calls a second, settings"
r=0
while [ $r -lt "$ROUNDS" ]; do
	one softnetd softnetd
	one irqbalance irqbalance
	one tuned "tuned network-latency"
	one softnetd "softnetd again"
	r=$((r + 1))
done
note "under load a kernel without IRQ_TIME_ACCOUNTING, as this one, charges softirqs to the task they interrupt"
note "system calls are of the first round; strace slows what it counts"
