#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Softirqs that are left pending when a CPU goes idle: the log reports ten of
# them, the counters all; and the tick goes on for those that follow. Needs a
# cpuidle driver (guest --ssdt) and a fresh boot.
. /mnt/t/lib.sh

# pending CPU NR COLUMN COUNT: softirq NR left pending there, again and again until COUNT of them were
# counted: a busy host may not let a guest's CPU go idle each time
pending()
{
	for _ in 1 2 3 4 5 6 7 8; do
		trouble mode=pending cpu="$1" nr="$2" count=25 gap_ms=40 || return 1
		trouble_end
		[ "$(stat "$3" "$1")" -lt "$4" ] || return 0
	done
	return 1
}

drv=$(cat /sys/devices/system/cpu/cpuidle/current_driver)
[ "$drv" != none ]
ok $? "cpuidle driver: $drv"

if have_series; then
	is "$(stat idle_NET_RX)" 0 "nothing counted at the start"
	# the other vectors of this CPU, which nobody leaves pending
	pending 2 3 idle_NET_RX 20
	ok $? "NET_RX pending on CPU 2, 25 times or more"
	is "$(nohz_messages)" 10 "the log has ten messages"
	a=$(stat idle_NET_RX 2)
	between "$a" 20 100000 "CPU 2 counted NET_RX past ten"
	is "$(stat idle_NET_RX 1)" 0 "CPU 1 counted no NET_RX"
	is "$(stat idle_HRTIMER)" 0 "no HRTIMER counted"

	pending 1 4 idle_BLOCK 12
	is "$(nohz_messages)" 10 "the log stays silent"
	between "$(stat idle_BLOCK 1)" 12 100000 "CPU 1 counted BLOCK"
	between "$(stat idle_BLOCK 2)" 0 0 "CPU 2 counted no BLOCK"
	is "$(stat idle_NET_RX 2)" "$a" "NET_RX of CPU 2 did not move"
	is "$(stat idle_blocked)" 0 "idle_blocked is for PREEMPT_RT"
else
	trouble mode=pending cpu=2 nr=3 count=25 gap_ms=40
	trouble_end
	is "$(nohz_messages)" 10 "the log has ten messages"
fi

if is_rt; then
	skip "PREEMPT_RT: a tasklet cannot be left behind"
	finish
fi
if is_slow; then
	skip "lockdep, KASAN or KCSAN: too slow to measure a delay"
	finish
fi
# late: a round of tasklets left behind; how many ran, how many waited for 3 ticks, and the longest
late()
{
	trouble mode=late cpu=3 count=100 gap_ms=60
	d=$(cat $PAR/max_delay_us)
	l=$(cat $PAR/late_runs)
	n=$(cat $PAR/runs)
	trouble_end
}
late
if [ "$1" = broken ]; then
	is "$n" 100 "every tasklet that was left behind has run"
	# any interrupt that comes by ends the wait, so not all
	between "$l" 2 100 "of 100, waited for 3 ticks without the fix (longest $d us)"
else
	# a busy host holds up a guest now and then, but not in each round
	for _ in 2 3; do
		[ "$l" -eq 0 ] || late
	done
	is "$n" 100 "every tasklet that was left behind has run"
	is "$l" 0 "of 100, waited for 3 ticks (longest $d us)"
fi
finish
