#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Wake-ups of ksoftirqd that no run precedes, by place.
. /mnt/t/lib.sh

a=$(stat wake_raise 1)
trouble mode=raise cpu=1 count=30 gap_ms=10
is "$(cat $PAR/runs)" 30 "30 tasklets raised by a task have run"
trouble_end
between "$(($(stat wake_raise 1) - a))" 30 60 "wake_raise of CPU 1"

a=$(stat wake_irq_exit)
sleep 1
d=$(($(stat wake_irq_exit) - a))
if grep -q threadirqs /proc/cmdline || is_rt; then
	between $d 3 100000 "wake_irq_exit with interrupt threads"
else
	is $d 0 "wake_irq_exit without interrupt threads"
fi
is_rt || is "$(stat wake_bh_enable)" 0 "wake_bh_enable is for PREEMPT_RT"
finish
