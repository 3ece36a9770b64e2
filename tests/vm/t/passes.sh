#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How often a softirq that raises itself again and again runs before it is
# left to ksoftirqd: passes minus the first one, in which the timer raises it.
# On a kernel without the series only the first part runs; its numbers have
# to be the same.
. /mnt/t/lib.sh

# inline STEP_US: the runs of five tries, on an idle CPU
inline()
{
	for _ in 1 2 3 4 5; do
		trouble mode=rearm cpu=1 hog_ms=200 step_us="$1" >/dev/null || echo bad
		cat $PAR/inline_runs
		trouble_end
	done | sort -n | tr '\n' ' '
}

# most LIST: the number that comes most often, median if none does
most() { echo "$1" | tr ' ' '\n' | sed '/^$/d' | sort -n | uniq -c | sort -k1,1nr -k2,2nr | sed -n '1s/^ *[0-9]* //p'; }

middle() { echo "$1" | awk '{ print $3 }'; }
greatest() { echo "$1" | awk '{ print $NF }'; }

# usual STEP_US WANT TEXT: what most runs come to. A busy host can spoil any
# of them (its guest sees need_resched() then), so there are four attempts.
usual()
{
	for _ in 1 2 3 4; do
		r=$(inline "$1")
		m=$(most "$r")
		[ "$m" != "$2" ] || break
		echo "# $3: $r"
	done
	is "$m" "$2" "$3: $r"
}

if is_rt; then
	skip "PREEMPT_RT: softirqs run in threads, no passes to count"
	finish
fi
if is_slow; then
	skip "lockdep, KASAN or KCSAN: too slow to count passes by time"
	finish
fi

usual 10 9 "10 passes by default"
have_series || finish

set_knob kernel.softirq_max_restart 4
usual 10 3 "softirq_max_restart 4"
set_knob kernel.softirq_max_restart 1
usual 10 0 "softirq_max_restart 1"

defaults
set_knob kernel.softirq_restart_policy 3
usual 10 0 "policy defer"

# time is 200 us with jiffies: still up to a tick, and the count ends it
set_knob kernel.softirq_restart_policy 1
set_knob kernel.softirq_max_restart 100
set_knob kernel.softirq_time_us 0
usual 10 99 "policy count, 100 passes, no time"

# By the scheduler's clock the time ends a run where it should: never later
# than that, and earlier only if the host holds up the guest.
defaults
set_knob kernel.softirq_clock 1
set_knob kernel.softirq_max_restart 1000
set_knob kernel.softirq_time_us 5000
r=$(inline 2000)
between "$(middle "$r")" 0 3 "softirq_clock 1, 5 ms, 2 ms a run: $r"
set_knob kernel.softirq_time_us 50000
r=$(inline 2000)
between "$(middle "$r")" 0 25 "softirq_clock 1, 50 ms, 2 ms a run: $r"
between "$(greatest "$r")" 11 30 "softirq_clock 1, 50 ms: more than ten passes"

# no count: more than ten passes, and the time ends it
set_knob kernel.softirq_clock 0
set_knob kernel.softirq_max_restart 1
set_knob kernel.softirq_time_us 40000
set_knob kernel.softirq_restart_policy 2
r=$(inline 1000)
between "$(middle "$r")" 0 40 "policy latency, 40 ms, 1 ms a run: $r"
between "$(greatest "$r")" 11 50 "policy latency, 40 ms: more than ten passes"

defaults
usual 10 9 "defaults again"
finish
