#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel series in the loop: softirqs hold a CPU for as long as somebody allowed, tasks wait behind
# them, and softnetd moves the limit that the counters name; it judges that, explains it and gives it
# back. And a NOHZ story that is longer than the kernel log's ten lines. Needs the folder made by
# tests/vm/bundle.
. /mnt/t/lib.sh

with_daemon
if ! have_series; then
	skip "this kernel has no series"
	finish
fi

time_us() { cat /proc/sys/kernel/softirq_time_us; }
# --- what an admin may have done: runs of 16 ms, whatever task wants the CPU
set_knob kernel.softirq_clock 1
set_knob kernel.softirq_time_us 16000
set_knob kernel.softirq_max_restart 1000
set_knob kernel.softirq_restart_policy 4
cat >/etc/softnetd/profiles/hog.conf <<END
softirq_time_us = [500, 20000];
END
# a tasklet that always has work, and tasks that want a little of the same CPU
hog()
{
	while [ -e /tmp/hog ]; do
		insmod /mnt/softnet_trouble.ko mode=rearm cpu=1 hog_ms=10000 step_us=100
		sleep 10.2
		rmmod softnet_trouble
	done
}
: >/tmp/hog
hog &
H=$!
for i in 1 2; do
	taskset -c 1 sh -c 'while :; do n=0; while [ $n -lt 300 ]; do n=$((n + 1)); done; sleep 0.01; done' &
	TASKS="$TASKS $!"
done
# … and packets, or softnetd would take it for no matter of its own
pktgen 100000 1
sleep 2
head -3 /proc/softirq_stat | sed 's/^/# /'
daemon_start hog
ok $? "softnetd starts"
seen() { softnetctl status --json >/tmp/status.json && grep -q softirq-hog /tmp/status.json; }
until_true 20 seen
ok $? "the hog is seen"
grep -o '"softirq_limits": *{[^}]*}' /tmp/status.json | sed 's/^/# /'
moved() { [ "$(time_us)" -lt 16000 ]; }
until_true 40 moved
ok $? "softirq_time_us is lowered ($(time_us))"
judged() { softnetctl history | grep -Eq 'softirq_time_us: (kept|no effect|worse|inconclusive)'; }
until_true 90 judged
ok $? "and judged"
softnetctl history | sed 's/^/# /'
softnetctl explain >/tmp/explain
softnetctl history --json | sed 's/^/# /' | head -3
softnetctl history | grep softirq_time_us | head -1 | grep -q 'mostly because'
ok $? "explained by what ends the runs"
sed 's/^/# /' /tmp/explain
awk '/^cpu|^1 /' /proc/softirq_stat | cut -d' ' -f1-9 | sed 's/^/# /'
daemon_stop
ok $? "softnetd stops"
is "$(time_us)" 16000 "and the admin's value is back"
kill $TASKS
rm /tmp/hog
wait $H
pktgen_end
defaults

# --- more NOHZ attempts than the log tells
daemon_start balanced
sleep 2
trouble mode=pending cpu=2 nr=3 count=25 gap_ms=40
trouble_end
counted() { softnetctl status --json >/tmp/status.json && grep -q nohz-net /tmp/status.json; }
until_true 10 counted
ok $? "pending NET_RX is seen"
between "$(nohz_messages)" 1 10 "the log stops after ten lines"
grep -q '"counted"' /tmp/status.json
ok $? "softnetd counts on"
! grep -q 'NOHZ lines' /tmp/status.json
ok $? "and is not blind"
softnetctl status | sed 's/^/# /' | tail -15
daemon_stop
sed 's/^/# /' /tmp/daemon.log | tail -5
finish
