#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The unit under a real systemd (guest --root debian): what `make install` places, shared as "root".
. /mnt/t/lib.sh

cp -r /mnt/root/. /
echo 'busy_poll = 50;' >/tmp/stated
mkdir -p /etc/softnetd/profiles
cp /tmp/stated /etc/softnetd/profiles/stated.conf
systemctl daemon-reload
systemctl enable --now softnetd >/tmp/enable 2>&1
ok $? "systemctl enable --now"
is "$(systemctl is-active softnetd)" active "it is active"
sleep 3
is "$(systemctl show -P StatusText softnetd | cut -c1-8)" balanced "STATUS names the profile"
softnetctl status --json >/tmp/status.json 2>/tmp/err
ok $? "softnetctl reaches it"
softnetctl profile set stated >/tmp/set 2>&1
ok $? "a profile is switched"
is "$(cat /proc/sys/net/core/busy_poll)" 50 "its value is written through the sandbox"
# A NIC's settings need capabilities as well, and threads a place.
for n in /sys/class/net/*; do
	[ ! -e $n/device/driver ] || NIC=${n##*/}
done
if [ -n "$NIC" ]; then
	$IP link set "$NIC" up
	echo "nics = ( { match = \"$NIC\"; napi_threaded = \"enabled\"; napi_threads = \"near\";
		gro_flush_timeout = 20000; } );" >/etc/softnetd/profiles/threaded.conf
	softnetctl profile set threaded >/tmp/set 2>&1
	sleep 3
	is "$(cat /sys/class/net/$NIC/threaded /sys/class/net/$NIC/gro_flush_timeout | tr '\n' ' ')" \
		"1 20000 " "NAPI settings are written through the sandbox"
	softnetctl history >/tmp/history
	grep 'napi_thread_affinity.* done ' /tmp/history | sed 's/^/# /'
	grep -q 'napi_thread_affinity.* done ' /tmp/history
	ok $? "and a NAPI thread is placed"
	softnetctl profile set stated >/tmp/set 2>&1
	is "$(cat /sys/class/net/$NIC/threaded)" 0 "another profile takes them back"
fi
systemctl reload softnetd
ok $? "systemctl reload"
is "$(systemctl is-active softnetd)" active "it is active still"
systemctl kill -s KILL softnetd
sleep 1
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	[ "$(systemctl is-active softnetd)" = active ] && break
	sleep 1
done
is "$(systemctl is-active softnetd)" active "after kill -9 it is restarted"
is "$(cat /proc/sys/net/core/busy_poll)" 0 "and the original is back"
softnetctl profile set stated >/dev/null 2>&1
is "$(cat /proc/sys/net/core/busy_poll)" 50 "the value again"
systemctl stop softnetd
ok $? "systemctl stop"
is "$(cat /proc/sys/net/core/busy_poll)" 0 "stop brings the original back"
is "$(systemctl is-failed softnetd)" inactive "and is no failure"
journalctl -u softnetd --no-pager 2>/dev/null | tail -20 | sed 's/^/# /'
systemctl status softnetd --no-pager 2>&1 | head -20 | sed 's/^/# /'
finish
