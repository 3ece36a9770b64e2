#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Real traffic on this host, in network namespaces of its own, seen by a one-shot diagnosis: nothing of
# the host is changed. RPS on one end of a veth pair sends all packets through the backlog of CPU 1.
set -u
BUILD=${BUILD:-build}
n=0 bad=0
ok() { # status text
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; fi
}
skip() {
	echo "ok 1 - $1 # SKIP"
	echo 1..1
	exit 0
}
[ "$(id -u)" -eq 0 ] || skip "namespaces need root"
[ "$(nproc)" -ge 2 ] || skip "one CPU"
command -v iperf3 >/dev/null || skip "no iperf3"
a=softnetd-test-a$$ b=softnetd-test-b$$
ip netns add "$a" 2>/dev/null || skip "no network namespaces here"
tmp=$(mktemp -d)
pids=()
cleanup() {
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	wait 2>/dev/null
	ip netns del "$a"
	ip netns del "$b" 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT
ip netns add "$b"
ip -n "$a" link add va type veth peer name vb netns "$b" || skip "no veth here"
ip -n "$a" addr add 10.77.0.1/24 dev va
ip -n "$b" addr add 10.77.0.2/24 dev vb
ip -n "$a" link set va up
ip -n "$b" link set vb up
ip netns exec "$b" sh -c 'echo 2 > /sys/class/net/vb/queues/rx-0/rps_cpus' || skip "no RPS here"
# Packet sockets (AF_PACKET, SOCK_RAW, all protocols) that nobody reads: each costs every packet a clone,
# so that CPU 1 cannot keep up.
for i in 1 2 3; do
	ip netns exec "$b" perl -e 'for (1 .. 900) { socket(my $s, 17, 3, 0x0300) or last; push @s, $s } sleep 60' &
	pids+=($!)
done
for port in 5301 5302; do
	ip netns exec "$b" taskset -c 1 iperf3 -s -p $port >/dev/null 2>&1 &
	pids+=($!)
done
sleep 1

total() { # of a column of softnet_stat
	local sum=0 line
	while read -r -a line; do sum=$((sum + 16#${line[$(($1 - 1))]})); done </proc/net/softnet_stat
	echo $sum
}
p0=$(total 1) d0=$(total 2) s0=$(total 3)
for port in 5301 5302; do
	ip netns exec "$a" taskset -c 0 iperf3 -c 10.77.0.2 -p $port -u -b 0 -l 64 -t 12 >/dev/null 2>&1 &
	pids+=($!)
done
sleep 2
"$BUILD"/softnetctl diagnose -d 6 --json >"$tmp/diagnosis.json" 2>"$tmp/err"
rc=$?
p1=$(total 1) d1=$(total 2) s1=$(total 3)
jq -r ".symptoms[] | \"# \\(.symptom) on \\(.scope): \\([.advice[].command] | join(\"; \"))\"" "$tmp/diagnosis.json"
echo "# $((p1 - p0)) packets, $((d1 - d0)) drops and $((s1 - s0)) squeezes in about 8 s; diagnose ended with $rc"
[ $((p1 - p0)) -gt 1000 ]
ok $? "traffic flows"
jq -e . "$tmp/diagnosis.json" >/dev/null
ok $? "the diagnosis is JSON"
if [ $((s1 - s0)) -gt 200 ] || [ $((d1 - d0)) -gt $(((p1 - p0) / 100)) ]; then
	[ $rc -eq 5 ]
	ok $? "something binds: exit code 5"
	jq -e '.symptoms[] | select(.symptom == "backlog-drop" or .symptom == "squeezed")' "$tmp/diagnosis.json" >/dev/null
	ok $? "squeezes or drops are seen"
	jq -e '[.symptoms[].advice[].command] | any(startswith("sysctl -w net.core."))' "$tmp/diagnosis.json" >/dev/null
	ok $? "with the exact command as advice"
else
	n=$((n + 1))
	echo "ok $n - the flood bound nothing on this machine # SKIP"
fi
echo 1..$n
exit $bad
