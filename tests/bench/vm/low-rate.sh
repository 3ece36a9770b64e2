#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Seed 004: one-way latency of UDP packets at low and high rates, without softnetd and with its
# profiles powersave and low-latency. Needs guest --ssdt --nics hub and the folder made by tests/vm/bundle.
. /mnt/bench/lib.sh
ROUNDS=${rounds:-3} SECS=${secs:-4}

mkdir -p /etc/softnetd/profiles /run/softnetd
two_hosts eth0 eth1
note "cpufreq: $(cat /sys/devices/system/cpu/cpufreq/policy0/scaling_driver), cpuidle: $(cat /sys/devices/system/cpu/cpuidle/current_driver)"

# rate LABEL PACKETS_A_SECOND
rate()
{
	taskset 1 "$LOAD" receive 10.0.0.1 "$SECS" >/tmp/receive 2>&1 &
	p=$!
	in_b taskset 2 "$LOAD" send 10.0.0.1 "$2" "$SECS"
	wait $p
	rows "$1" </tmp/receive
}

# with LABEL PROFILE|- RATE
with()
{
	if [ "$2" != - ]; then
		daemon_start "$2" || { note "softnetd $2 did not start"; return; }
		sleep 2
		[ "$r" != 0 ] || note "$2: $(cd /sys/devices/system/cpu && cat cpufreq/policy0/scaling_governor cpu0/power/pm_qos_resume_latency_us | tr '\n' ' ') busy_read $(cat /proc/sys/net/core/busy_read)"
	fi
	rate "$1" "$3"
	[ "$2" = - ] || daemon_stop
}

for pps in $(echo "${rates:-10,100,1000,10000,100000}" | tr , " "); do
	title "$pps packets a second: one-way latency, microseconds"
	r=0
	while [ $r -lt "$ROUNDS" ]; do
		with "no softnetd" - "$pps"
		with powersave powersave "$pps"
		with low-latency low-latency "$pps"
		with "no softnetd again" - "$pps"
		r=$((r + 1))
	done
done
