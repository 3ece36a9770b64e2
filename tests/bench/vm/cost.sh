#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What each daemon costs, as systemd runs it on a Debian (guest --root debian --nics tap, packages irqbalance
# tuned strace; softnetd as "root", what make install places): start, CPU time idle and under load, memory,
# sleeps, system calls; and what each has changed on a host where nothing is wrong, and has left behind.
# The first row is measured once more at the end of each round: the A/A row.
ROUNDS=${ROUNDS:-3} SECS=${SECS:-15}
IP=$(command -v ip)

cp -r /mnt/root/. /
systemctl daemon-reload
systemctl reload dbus
systemctl stop irqbalance tuned softnetd 2>/dev/null
systemctl disable irqbalance tuned 2>/dev/null
mkdir -p /etc/tuned
echo network-latency >/etc/tuned/active_profile
echo manual >/etc/tuned/profile_mode

$IP netns add far
$IP link set eth1 netns far
$IP addr add 10.0.0.1/24 dev eth0
$IP -n far addr add 10.0.0.2/24 dev eth1
$IP link set eth0 up
$IP -n far link set eth1 up
$IP netns exec far iperf3 -s -D

now_ms() { echo $(($(date +%s%N) / 1000000)); }
cgroup() { echo "/sys/fs/cgroup/system.slice/$1.service"; }
pids() { cat "$(cgroup "$1")/cgroup.procs"; }
cpu_usec() { awk '$1 == "usage_usec" { print $2 }' "$(cgroup "$1")/cpu.stat"; }
# over all threads of the service
sleeps() {
	local p
	for p in $(pids "$1"); do cat /proc/"$p"/task/*/status 2>/dev/null; done |
		awk '/^voluntary_ctxt/ { s += $2 } END { print s + 0 }'
}
pss_kb() {
	local p
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

# one ROUND SERVICE NAME: a line of figures into /tmp/figures
one() {
	local start ready cpu slept idle load calls=- changed left
	settings >/tmp/before
	start=$(now_ms)
	systemctl start "$2" || {
		echo "# $2 did not start"
		journalctl -u "$2" -o cat | tail -n 5 | sed 's/^/# /'
		return
	}
	ready=$(($(now_ms) - start))
	sleep 5
	cpu=$(cpu_usec "$2") slept=$(sleeps "$2")
	sleep "$SECS"
	idle=$(($(cpu_usec "$2") - cpu)) slept=$(($(sleeps "$2") - slept))
	settings >/tmp/with
	changed=$(differing /tmp/before /tmp/with)
	if [ "$1" = 1 ]; then
		# shellcheck disable=SC2046
		timeout "$SECS" strace -c -f -o /tmp/strace $(pids "$2" | sed 's/^/-p /') 2>/dev/null
		calls=$(awk '$NF == "total" { print $(NF - (NF > 5 ? 2 : 1)) }' /tmp/strace)
		[ -n "$calls" ] || calls=-
	fi
	cpu=$(cpu_usec "$2")
	iperf3 -c 10.0.0.2 -t "$SECS" -P 4 >/tmp/iperf 2>&1
	load=$(($(cpu_usec "$2") - cpu))
	pss=$(pss_kb "$2")
	systemctl stop "$2"
	sleep 1
	settings >/tmp/after
	left=$(differing /tmp/before /tmp/after)
	[ "$left" = 0 ] || diff /tmp/before /tmp/after | grep '^>' >"/tmp/left.$3"
	echo "$3 $ready $idle $load $pss $slept $calls $changed $left" >>/tmp/figures
}

: >/tmp/figures
for round in $(seq "$ROUNDS"); do
	one "$round" softnetd softnetd
	one "$round" irqbalance irqbalance
	one "$round" tuned tuned
	one "$round" softnetd softnetd-again
done

echo "Cost as a service: $(uname -r), $(nproc) CPUs, $SECS s idle and $SECS s of iperf3 (4 flows) each, $ROUNDS rounds in turn"
echo "median [min max]; a system call count is of the first round, strace slows what it counts"
echo
awk -v secs="$SECS" '
function med(k, c,   n, i, j, t, a) {
	n = split(v[k, c], a, " ")
	for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++)
		if (a[j] + 0 < a[i] + 0) { t = a[i]; a[i] = a[j]; a[j] = t }
	return sprintf("%.1f [%.1f %.1f]", a[int((n + 1) / 2)], a[1], a[n])
}
{
	if (!($1 in seen)) { seen[$1] = 1; order[++rows] = $1 }
	m = 60000 / secs / 1000
	v[$1, 1] = v[$1, 1] " " $2
	v[$1, 2] = v[$1, 2] " " $3 * m / 1000
	v[$1, 3] = v[$1, 3] " " $4 * m / 1000
	v[$1, 4] = v[$1, 4] " " $5 / 1024
	v[$1, 5] = v[$1, 5] " " $6 / secs
	if ($7 != "-") calls[$1] = sprintf("%.1f", $7 / secs)
	changed[$1] = changed[$1] " " $8
	left[$1] = left[$1] " " $9
}
END {
	printf "%-15s %-24s %-24s %-24s %-18s %-15s %8s  %-12s %s\n", "", "start, ms", "CPU ms/min idle", "CPU ms/min loaded", "PSS, MB", "sleeps/s", "calls/s", "changed", "left behind"
	for (i = 1; i <= rows; i++) {
		k = order[i]
		printf "%-15s %-24s %-24s %-24s %-18s %-15s %8s %-12s %s\n", k, med(k, 1), med(k, 2), med(k, 3), med(k, 4), med(k, 5), calls[k], changed[k], left[k]
	}
}' /tmp/figures
for f in /tmp/left.*; do
	[ -s "$f" ] || continue
	echo "left behind by ${f#/tmp/left.}: $(wc -l <"$f") settings, such as $(head -n 3 "$f" | sed 's/^> //' | paste -sd ';')"
done
echo "under load: a kernel without IRQ_TIME_ACCOUNTING, as this one, charges softirqs to the task they interrupt"
echo "cannot show: what a real CPU spends; an emulated one makes everything slower, kernel and user alike"
