#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reasons of hand-overs under real traffic between two NICs: counted, traced,
# and the two agree. Needs guest --nics.
. /mnt/t/lib.sh

IP=/usr/bin/ip
$IP netns add A
$IP netns add B
$IP link set eth0 netns A
$IP link set eth1 netns B
$IP -n A addr add 10.0.0.1/24 dev eth0
$IP -n B addr add 10.0.0.2/24 dev eth1
$IP -n A link set eth0 up
$IP -n B link set eth1 up
sleep 2
$IP netns exec B iperf3 -s -D
sleep 1

T=/sys/kernel/tracing
echo 16384 >$T/buffer_size_kb
counted() { echo $(($(stat time) + $(stat resched) + $(stat count) + $(stat policy))); }
counted_k() { echo $(($(stat k_time) + $(stat k_resched) + $(stat k_count) + $(stat k_policy))); }

# traffic SECONDS: TCP both ways at once
traffic()
{
	$IP netns exec A iperf3 -c 10.0.0.2 -t "$1" -P 4 >/tmp/iperf 2>&1 ||
		sed 's/^/# /' /tmp/iperf
	sed -n 's/.*SUM.* \([0-9.]* [MGK]*bits.sec\).*receiver.*/\1/p' /tmp/iperf
}

packets() { awk '{ s += ("0x" $1) + 0 } END { print s }' /proc/net/softnet_stat; }

echo >$T/trace
echo 1 >$T/events/irq/softirq_defer/enable
a=$(counted)
k=$(counted_k)
t=$(stat time) r=$(stat resched) c=$(stat count)
b=$(traffic 4)
echo 0 >$T/events/irq/softirq_defer/enable
a2=$(counted)
k2=$(counted_k)
echo "# traffic: $b; time $(($(stat time) - t)) resched $(($(stat resched) - r)) count $(($(stat count) - c))"
[ -n "$b" ]
ok $? "traffic flows: $b"
between $((a2 - a)) 20 100000000 "hand-overs with the defaults"
is "$(stat policy)" 0 "none of them because of the policy"
lines=$(grep -c 'softirq_defer:.*ksirqd=0' $T/trace)
linesk=$(grep -c 'softirq_defer:.*ksirqd=1' $T/trace)
lost=$(sed -n 's/.*entries-in-buffer.entries-written: \([0-9]*\).\([0-9]*\).*/\1 \2/p' $T/trace | awk '{ print $2 - $1 }')
is "$lost" 0 "no event was lost"
# the switch itself is not atomic: a few may fall between
between $((lines - (a2 - a))) -20 20 "events of interrupted contexts and counters agree"
between $((linesk - (k2 - k))) -20 20 "events of ksoftirqd and counters agree"
for reason in time resched count; do
	x=$(grep -c "softirq_defer: reason=$reason .*ksirqd=0" $T/trace)
	case $reason in
	time) y=$(($(stat time) - t)) ;;
	resched) y=$(($(stat resched) - r)) ;;
	count) y=$(($(stat count) - c)) ;;
	esac
	between $((x - y)) -20 20 "events and counter of $reason agree"
done
x=$(grep 'softirq_defer: reason=count' $T/trace | grep -vc 'passes=10 ')
is "$x" 0 "a hand-over for the count is one after ten passes"

# the same traffic, no restart at all: all for the policy
set_knob kernel.softirq_restart_policy 3
a=$(counted)
p=$(stat policy)
b=$(traffic 3)
a2=$(counted)
p2=$(stat policy)
defaults
[ -n "$b" ]
ok $? "traffic flows with the policy defer: $b"
between $((p2 - p)) 20 100000000 "policy defer: hand-overs because of it"
between $((a2 - a - (p2 - p))) -20 20 "policy defer: and for hardly any other reason"
finish
