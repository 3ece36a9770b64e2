#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# softnetctl record and replay. Every recording in tests/replay gives the decisions of its .expect,
# twice. After a wanted change of what decide/ does or says, ACCEPT=1 writes the .expect files anew;
# look at the difference before it is committed.
set -u
cd "$(dirname "$0")/../.." || exit 1
ctl=$BUILD/softnetctl
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

ok() { # status name
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

# The tree is a host's, with the files that matter here.
tree=$dir/tree
mkdir -p "$tree/proc/net" "$tree/proc/sys/net/core" "$tree/proc/sys/kernel" "$tree/sys/devices/system/cpu"
echo "0-1" | tee "$tree"/sys/devices/system/cpu/{possible,present,online} >/dev/null
echo "6.12.0-test" >"$tree/proc/sys/kernel/osrelease"
echo "secret-host-name" | tee "$tree/proc/sys/kernel/hostname" >"$dir/name"
echo 300 >"$tree/proc/sys/net/core/netdev_budget"
printf 'cpu  2 0 0 200 0 0 0 0 0 0\ncpu0 1 0 0 100 0 0 0 0 0 0\ncpu1 1 0 0 100 0 0 0 0 0 0\n' >"$tree/proc/stat"
for cpu in 0 1; do
	printf '%08x %08x %08x 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 %08x\n' \
		7 0 0 "$cpu"
done >"$tree/proc/net/softnet_stat"

for trace in tests/replay/*.trace; do
	name=$(basename "$trace" .trace)
	"$ctl" replay "$trace" >"$dir/one" 2>"$dir/err"
	status=$?
	[ "${ACCEPT:-0}" = 1 ] && cp "$dir/one" "tests/replay/$name.expect"
	diff -u "tests/replay/$name.expect" "$dir/one"
	ok $((status | $?)) "$name decides as expected"
	"$ctl" replay - <"$trace" >"$dir/two" 2>>"$dir/err"
	diff "$dir/one" "$dir/two"
	ok $? "$name decides the same from standard input"
	"$ctl" replay --json "$trace" | python3 -c '
import json, sys
d = json.load(sys.stdin)
text = open(sys.argv[1]).read()
assert text.count("\n") >= len(d["events"])
for e in d["events"]:
    if e["event"] == "enter": assert e["text"] in text
' "$dir/one"
	ok $? "$name: the JSON twin has the same events"
done

"$ctl" replay --profile low-latency --config-dir config tests/replay/squeezed-packets.trace >"$dir/out" 2>&1
grep -q "^profile low-latency" "$dir/out" && ! diff -q "$dir/out" tests/replay/squeezed-packets.expect >/dev/null
ok $? "another profile decides otherwise"
"$ctl" replay --profile low-latncy --config-dir config tests/replay/squeezed-packets.trace >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "low-latency" "$dir/out"
ok $? "an unknown profile is refused, and the nearest named"

# What cannot be read.
"$ctl" replay "$dir/none" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "Cannot open" "$dir/out"
ok $? "no such file"
"$ctl" replay >/dev/null 2>&1
[ $? -eq 2 ]
ok $? "no file named is a usage error"
"$ctl" replay Makefile >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "Makefile:1: " "$dir/out"
ok $? "a file that is no recording, by line"
(head -5 tests/replay/suspend.trace && echo '{"t":1,"n":5,"cpu":{"processed":[[9,1]]}}') >"$dir/bad.trace"
"$ctl" replay "$dir/bad.trace" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "bad.trace:6: processed: 9 is outside 0 … 3" "$dir/out"
ok $? "a CPU that the host does not have, by line"
head -1 tests/replay/suspend.trace >"$dir/head.trace"
"$ctl" replay "$dir/head.trace" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "no tick in this recording" "$dir/out"
ok $? "a recording without a tick is an error"
sed '5{p}' tests/replay/suspend.trace >"$dir/twice.trace"
"$ctl" replay "$dir/twice.trace" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "twice.trace:6: n: tick 4 follows tick 4" "$dir/out"
ok $? "a line that stands twice is refused"
sed 5d tests/replay/suspend.trace >"$dir/gap.trace"
"$ctl" replay "$dir/gap.trace" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "gap.trace:5: n: tick 5 follows tick 3" "$dir/out"
ok $? "and so is one that is missing"
head -c -20 tests/replay/suspend.trace >"$dir/torn.trace"
"$ctl" replay "$dir/torn.trace" >"$dir/out" 2>&1
[ $? -eq 0 ] && grep -q "the last line broke off" "$dir/out"
ok $? "a torn last line is left out, and said"
head -1 tests/replay/suspend.trace | sed 's/{"softnetd-trace":1,/{"softnetd-trace":2,/' >"$dir/later.trace"
"$ctl" replay "$dir/later.trace" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "version 2" "$dir/out"
ok $? "a later version is refused as such"

# Recording.
"$ctl" record --root "$tree" --config-dir config -d 1 -o "$dir/a.trace" >"$dir/out" 2>&1
[ $? -eq 0 ] && grep -q "a.trace: 2 ticks" "$dir/out" && [ "$(wc -l <"$dir/a.trace")" -eq 3 ]
ok $? "record writes a line a second"
"$ctl" replay "$dir/a.trace" >"$dir/out" 2>&1
[ $? -eq 0 ] && grep -q "^profile balanced" "$dir/out" && grep -q "^2 ticks" "$dir/out"
ok $? "what was recorded can be replayed"
! grep -q "secret-host-name" "$dir/a.trace"
ok $? "the host's name is not in it"
cp "$dir/a.trace" "$dir/b.trace"
"$ctl" record --root "$tree" --config-dir config -d 1 -o "$dir/b.trace" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "never overwrites" "$dir/out" && cmp -s "$dir/a.trace" "$dir/b.trace"
ok $? "a file that exists is left as it is"
"$ctl" record --root "$tree" >"$dir/out" 2>&1
[ $? -eq 2 ] && grep -q "wants -o FILE" "$dir/out"
ok $? "record without -o is a usage error"
"$ctl" status -o x >/dev/null 2>&1
[ $? -eq 2 ]
ok $? "other verbs take no -o"
"$ctl" record --root "$tree" --config-dir "$dir/none" -d 1 -o - >"$dir/c.trace" 2>"$dir/err"
[ $? -eq 0 ] && grep -q "No profile in the recording" "$dir/err" && "$ctl" replay "$dir/c.trace" >"$dir/out" &&
	grep -q "^profile none" "$dir/out"
ok $? "without a profile it is recorded all the same, to standard output too"

# Signals end it between two lines.
for signal in INT TERM; do
	# A background job of a script ignores SIGINT unless told otherwise.
	env --default-signal=INT "$ctl" record --root "$tree" --config-dir config -o "$dir/$signal.trace" >"$dir/out" 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		[ "$(wc -l 2>/dev/null <"$dir/$signal.trace")" -ge 3 ] 2>/dev/null && break
		sleep 0.1
	done
	kill -"$signal" "$pid"
	wait "$pid"
	[ $? -eq 0 ] && [ "$(tail -c 1 "$dir/$signal.trace" | od -An -tx1 | tr -d ' ')" = 0a ] &&
		"$ctl" replay "$dir/$signal.trace" >"$dir/out" 2>&1 && ! grep -q "broke off" "$dir/out"
	ok $? "SIG$signal ends a recording in whole lines"
done
