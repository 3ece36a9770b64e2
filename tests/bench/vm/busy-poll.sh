#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Seed 001: netperf TCP_RR and UDP_RR between two e1000e with busy polling off and on, with and without
# C-states (as /dev/cpu_dma_latency allows them) and with rx-usecs 0, adaptive and 100. Needs two
# e1000e on one hub as eth0 and eth1, guest --ssdt and netperf.
. /mnt/bench/lib.sh
ROUNDS=${rounds:-3} SECS=${secs:-2}

pin eth0 1
pin eth1 0
two_hosts eth0 eth1
ethtool -i eth0 | grep -q e1000e || { note "eth0 is no e1000e"; exit 1; }
note "cpuidle: $(cat /sys/devices/system/cpu/cpuidle/current_driver) $(cat /sys/devices/system/cpu/cpu0/cpuidle/state*/name | tr '\n' ' ')"

# c_states on|off
c_states()
{
	exec 8>&-
	[ "$1" = on ] || { exec 8>/dev/cpu_dma_latency && printf '\0\0\0\0' >&8; }
}

# coalesce 0|1|100 (1: adaptive, as the driver understands that number)
coalesce()
{
	ethtool -C eth0 rx-usecs "$1" || note "ethtool -C eth0 rx-usecs $1 failed"
	in_b ethtool -C eth1 rx-usecs "$1" || note "ethtool -C eth1 rx-usecs $1 failed"
}

# once LABEL BUSY_USEC; sockets take over busy_read when they are made
once()
{
	set_knob net.core.busy_read "$2"
	set_knob net.core.busy_poll "$2"
	$IP netns exec B taskset 1 netserver -4 -p 12900 -D >/dev/null 2>&1 &
	s=$!
	sleep 0.3
	for t in TCP_RR UDP_RR; do
		netperf -p 12900 -H 10.0.0.2 -t $t -T1,0 -l "$SECS" -- -r 1,1 -k THROUGHPUT,P50_LATENCY,P99_LATENCY 2>&1 |
			sed "s/^THROUGHPUT=/$t-S=/; s/^\(P[0-9]*\)_LATENCY=/$t-\1=/" | rows "$1"
	done
	kill $s
	wait $s 2>/dev/null
}

for c in on off; do
	c_states $c
	for usecs in 0 1 100; do
		coalesce $usecs
		case $usecs in 1) u=adaptive ;; *) u=$usecs ;; esac
		title "C-states $c, rx-usecs $u: transactions a second, microseconds"
		r=0
		while [ $r -lt "$ROUNDS" ]; do
			once "busy polling off" 0
			once "busy polling 50 us" 50
			once "busy polling off again" 0
			r=$((r + 1))
		done
	done
done
