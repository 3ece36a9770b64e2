#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One load that squeezes, and who helps: nobody, softnetd with its default profile, bpftune, TuneD with
# two profiles, irqbalance; each alone, one after the other, round by round. Before each the settings
# are those of the beginning: netdev_budget at 16, as if somebody had left it there. Needs guest
# --nics hub, a kernel with BTF, the packages, and the folder made by tests/vm/bundle.
. /mnt/bench/lib.sh
ROUNDS=${rounds:-3} SECS=${secs:-6} LEARN=${learn:-12} BUDGET=${budget:-16}

mkdir -p /etc/softnetd/profiles /run/softnetd /run/dbus /var/log/tuned /sys/fs/bpf
mount -t bpf bpf /sys/fs/bpf 2>/dev/null
echo "$BUDGET" >/proc/sys/net/core/netdev_budget
two_hosts eth0 eth1
iperf3 -s -D
iperf3 -s -p 5202 -D
netserver -4 >/dev/null
sleep 1

# settings: "FILE:VALUE" of all that any of them may change; not of counters and triggers
settings()
{
	{
		find /proc/sys/net /proc/sys/kernel /proc/sys/vm -type f -perm -200
		ls /proc/irq/[0-9]*/smp_affinity /sys/class/net/*/queues/*/*ps_* /sys/class/net/*/threaded \
			/sys/devices/system/cpu/cpu[0-9]*/power/pm_qos_resume_latency_us \
			/sys/devices/system/cpu/cpufreq/policy*/scaling_governor \
			/sys/kernel/mm/transparent_hugepage/enabled
	} 2>/dev/null | grep -vE '/random/|ns_last_pid|/flush$|/stat_refresh|/compact_memory|/drop_caches|/hostname' |
		xargs grep -sH ''
}

changed() { diff /tmp/before "$1" | grep -c '^>'; }

# load SECONDS: UDP and TCP from the remote host, and the latency of a TCP_RR beside them
load()
{
	# none of the three may hold up the rest
	limit="timeout $(($1 * 3 + 20))"
	# shellcheck disable=SC2086
	in_b $limit iperf3 -c 10.0.0.1 -u -b 0 -l 64 -t "$1" >/tmp/udp 2>&1 &
	u=$!
	# shellcheck disable=SC2086
	in_b $limit iperf3 -c 10.0.0.1 -p 5202 -t "$1" -P 2 -f k >/tmp/tcp 2>&1 &
	t=$!
	# shellcheck disable=SC2086
	in_b $limit netperf -H 10.0.0.1 -t TCP_RR -l "$1" -- -k THROUGHPUT,P50_LATENCY,P90_LATENCY,P99_LATENCY >/tmp/rr 2>&1
	wait $u $t
}

start()
{
	case $1 in
	nobody*) W='' ;;
	softnetd)
		daemon_start balanced || note "softnetd did not start"
		W=$D
		;;
	bpftune)
		bpftune -s >/tmp/watch.log 2>&1 &
		W=$!
		# says nothing when it is ready
		sleep 5
		;;
	tuned-*)
		tuned --no-dbus --no-socket -p "${1#tuned-}" >/tmp/watch.log 2>&1 &
		W=$!
		until_true 90 grep -q 'static tuning.*applied' /tmp/watch.log || note "$1 did not get ready"
		;;
	irqbalance) irqbalance --foreground >/tmp/watch.log 2>&1 & W=$! ;;
	esac
	[ -z "$W" ] || kill -0 "$W" 2>/dev/null || note "$1 is not running"
}

stop()
{
	[ -n "$W" ] || return 0
	kill -0 "$W" 2>/dev/null || note "$1 had ended: $(tail -n 1 /tmp/watch.log)"
	kill -TERM "$W" 2>/dev/null
	i=0
	while kill -0 "$W" 2>/dev/null && [ $i -lt 20 ]; do sleep 0.5; i=$((i + 1)); done
	kill -KILL "$W" 2>/dev/null && note "$1 had to be killed"
	wait "$W" 2>/dev/null
}

# give_back: what somebody left behind
give_back()
{
	diff /tmp/before /tmp/after | sed -n 's/^< //p' | while IFS=: read -r f v; do
		# of a list of words, the one in brackets
		echo "$v" | sed 's/.*\[\(.*\)\].*/\1/' >"$f" 2>/dev/null
	done
}

once()
{
	settings >/tmp/before
	start "$1"
	# time to notice: the same load, not counted
	load "$LEARN"
	s=$(softnet) a=$(seconds)
	load "$SECS"
	e=$(softnet) b=$(seconds)
	settings >/tmp/during
	stop "$1"
	settings >/tmp/after
	el=$(echo "$b $a" | awk '{ print $1 - $2 }')
	# shellcheck disable=SC2086
	set -- "$1" $s $e
	{
		per_second PKT/S "$2" "$5" "$el"
		per_second DROP/S "$3" "$6" "$el"
		per_second SQUEEZE/S "$4" "$7" "$el"
		# packets that arrived, of those sent; what iperf3 lost
		sed -nE 's/.* ([0-9]+)\/([0-9]+) \(.*receiver.*/\1 \2/p' /tmp/udp | awk '{ print "UDP-LOST% " ($2 ? 100 * $1 / $2 : 0) }'
		sed -nE 's/^\[SUM\].* ([0-9.]+) Kbits\/sec.*receiver.*/TCP-KBIT\/S \1/p' /tmp/tcp
		sed 's/^THROUGHPUT=/RR\/S=/; s/_LATENCY=/=/' /tmp/rr
		echo "CHANGED $(changed /tmp/during)"
		echo "LEFT $(changed /tmp/after)"
	} | rows "$1"
	[ "$r" != 0 ] || diff /tmp/before /tmp/during | sed -n "s/^> /# $1: /p" | head -n 30
	diff /tmp/before /tmp/after | sed -n "s/^> /# $1 left behind: /p" | head -n 30
	give_back
}

title "netdev_budget $BUDGET at the beginning; CHANGED and LEFT: settings that differ while it runs, and after its end"
r=0
while [ $r -lt "$ROUNDS" ]; do
	for who in $(echo "${contestants:-nobody,softnetd,bpftune,tuned-network-latency,tuned-network-throughput,irqbalance}" | tr , ' ') "nobody again"; do
		once "$who"
	done
	r=$((r + 1))
done
