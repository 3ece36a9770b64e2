#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the series costs: packets through a veth pair by pktgen, one softirq run each, on one CPU.
# With guest -- -icount shift=0 the guest's clock counts instructions, one a nanosecond: so
# INSN/RUN is how many a packet takes in all, and differences between rows are those of the softirq
# loop. Without, PKT/S. variant=base, again (the same kernel for
# the A/A row) or series; mode=insn or pps.
. /mnt/bench/lib.sh
ROUNDS=${rounds:-5} COUNT=${count:-20000}

$IP link add va type veth peer name vb
$IP link set va up
$IP link set vb up
sleep 1
echo "add_device va@0" >/proc/net/pktgen/kpktgend_0
for c in "count $COUNT" "pkt_size 60" "clone_skb 0" "dst_mac ff:ff:ff:ff:ff:ff" "dst 10.9.0.2" "delay 0"; do
	echo "$c" >/proc/net/pktgen/va@0
done

# once LABEL
once()
{
	n=$(awk '/NET_RX/ { print $2 }' /proc/softirqs)
	echo start >/proc/net/pktgen/pgctrl
	n=$(($(awk '/NET_RX/ { print $2 }' /proc/softirqs) - n))
	usec=$(sed -n 's/^Result: OK: \([0-9]*\).*/\1/p' /proc/net/pktgen/va@0)
	note "$1: $n runs, $usec us"
	if [ "${mode:-pps}" = insn ]; then
		awk -v u="$usec" -v n="$n" 'BEGIN { printf "INSN/RUN %.1f\n", u * 1000 / n }'
	else
		awk -v u="$usec" -v n="$COUNT" 'BEGIN { printf "PKT/S %.0f\n", n * 1000000 / u }'
	fi | rows "$1"
}

# the first time fills caches of QEMU and of the guest
once warm-up >/dev/null
r=0
while [ $r -lt "$ROUNDS" ]; do
	case ${variant:-base} in
	series)
		once "series, key off"
		[ "${mode:-pps}" = insn ] || { r=$((r + 1)); continue; }
		# the same limits as by default, but one pass more: nothing here makes a second one
		set_knob kernel.softirq_max_restart 11
		once "series, key on"
		set_knob kernel.softirq_clock 1
		once "series, key on, precise clock"
		set_knob kernel.softirq_restart_policy 2
		once "series, key on, policy latency"
		defaults
		;;
	again) once "base again" ;;
	*)
		once base
		[ "${mode:-pps}" != insn ] || once "base again"
		;;
	esac
	r=$((r + 1))
done
