#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Seeds 000 and 003: netperf TCP_RR bound to the CPU that takes the NIC's interrupts, among others
# that keep the receive path busy, on one kernel by the policies of softirq_restart_policy. Needs
# a kernel of the series, guest --nics hub --smp 2 and netperf; not --single.
#
# "default" is written as softirq_time_us 4000, the same one jiffy as 2000: so the static key is on
# in all rows and flips once, on an idle guest (see kernel/README.md, int3).
. /mnt/bench/lib.sh
ROUNDS=${rounds:-3} SECS=${secs:-5} ANTAGONISTS=${antagonists:-40} TAPS=${taps:-2} STEPS=${steps:-4000}

pin eth0 1
pin eth1 0
two_hosts eth0 eth1
set_knob kernel.softirq_time_us 4000
in_b taskset 1 netserver -4 >/dev/null

title "The session alone, microseconds: what the slow path costs"
# filters of that length are more than a socket may have by default
set_knob net.core.optmem_max 1000000
eight "no slow path" -H 10.0.0.2 -t TCP_RR -T1,0 -l 2
eight "no slow path again" -H 10.0.0.2 -t TCP_RR -T1,0 -l 2
"$LOAD" tap eth0 "$TAPS" "$STEPS" &
T=$!
sleep 0.5
eight "slow path" -H 10.0.0.2 -t TCP_RR -T1,0 -l 2

title "The session among $ANTAGONISTS others, microseconds, by policy"
i=0
while [ $i -lt "$ANTAGONISTS" ]; do
	netperf -H 10.0.0.2 -t TCP_RR -l 100000 >/dev/null 2>&1 &
	i=$((i + 1))
done
sleep 3

# policy NAME: time clock restarts policy
policy()
{
	case $1 in
	default*) v="4000 0 10 0" ;;
	count) v="4000 0 10 1" ;;
	latency) v="4000 0 10 2" ;;
	defer) v="4000 0 10 3" ;;
	throughput) v="4000 0 10 4" ;;
	200us) v="200 1 10 0" ;;
	esac
	# shellcheck disable=SC2086
	set -- $v
	set_knob kernel.softirq_time_us "$1"
	set_knob kernel.softirq_clock "$2"
	set_knob kernel.softirq_max_restart "$3"
	set_knob kernel.softirq_restart_policy "$4"
	sleep 0.5
}

handovers() { echo $(($(stat time) + $(stat resched) + $(stat count) + $(stat policy))); }

r=0
while [ $r -lt "$ROUNDS" ]; do
	for p in default count latency defer throughput 200us "default again"; do
		policy "$p"
		t=$(seconds) h=$(handovers) s=$(softnet)
		eight "$p" -H 10.0.0.2 -t TCP_RR -T1,0 -l "$SECS"
		e=$(echo "$(seconds) $t" | awk '{ print $1 - $2 }')
		{
			per_second PKT/S "${s%% *}" "$(softnet | cut -d' ' -f1)" "$e"
			per_second HANDOVER/S "$h" "$(handovers)" "$e"
		} | rows "$p"
	done
	r=$((r + 1))
done
note "limits at the end: $(sed -n 2p /proc/softirq_stat)"
kill $T
