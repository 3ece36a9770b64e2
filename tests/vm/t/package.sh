#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Debian package under a real systemd (guest --root debian --disk FILE, deb/ shared): installed,
# enabled, edited, queried, killed, upgraded, and after a reboot (a second run with the same disk)
# still there, stopped and purged.
. /mnt/t/lib.sh

value() { cat /proc/sys/net/core/"$1"; }
state() { systemctl show -P "$1" softnetd; }
active() { [ "$(systemctl is-active softnetd)" = active ]; }
# as NOBODY COMMAND: as somebody who may only look
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
profile() { printf '%s\n' "$2" >/etc/softnetd/profiles/"$1".conf; }
has_message() { journalctl -u softnetd -o cat MESSAGE_ID="$1" | grep -q "$2"; }

if [ -e /var/lib/softnetd-second-boot ]; then
	# --- the same machine after a reboot
	is "$(systemctl is-enabled softnetd)" enabled "still enabled after a reboot"
	until_true 15 active
	ok $? "and running"
	is "$(value busy_poll)" 50 "the profile of the configuration is in force again"
	systemctl stop softnetd
	ok $? "systemctl stop"
	is "$(value busy_poll) $(value netdev_budget)" "0 300" "originals are back"
	systemctl start softnetd
	is "$(value busy_poll)" 50 "started again"
	apt-get -y remove softnetd >/tmp/remove 2>&1
	ok $? "apt-get remove"
	is "$(value busy_poll)" 0 "originals are back"
	[ ! -e /usr/sbin/softnetd ] && [ -e /etc/softnetd/profiles/mine.conf ]
	ok $? "the program is gone, what the admin wrote is not"
	apt-get -y purge softnetd >/tmp/purge 2>&1
	ok $? "apt-get purge"
	left=$(find / -xdev \( -path /proc -o -path /sys -o -path /mnt -o -path /tmp \) -prune -o \
		-name '*softnet*' ! -name softnetd-second-boot -print 2>/dev/null |
		grep -v '^/var/log\|^/var/lib/dpkg\|^/run/systemd\|^/sys')
	is "$left" "" "nothing is left"
	finish
fi

# shown COMMAND…: a session as one would see it, for the log and the README
shown()
{
	echo "# \$ $*"
	"$@" 2>&1 | sed 's/^/#   /'
}

# --- installed: nothing happens by itself
apt-get -y install /mnt/deb/softnetd_*.deb >/tmp/install 2>&1
ok $? "apt-get install"
[ $? = 0 ] || sed 's/^/# /' /tmp/install
is "$(systemctl is-enabled softnetd 2>/dev/null)" disabled "not enabled by itself"
is "$(systemctl is-active softnetd)" inactive "not started by itself"
softnetctl status >/tmp/out 2>&1
is $? 3 "softnetctl says that no daemon runs"

# --- enabled
systemctl enable --now softnetd >/tmp/enable 2>&1
ok $? "systemctl enable --now"
active
ok $? "active"
sleep 3
is "$(state StatusText | cut -c1-8)" balanced "STATUS names the profile"
softnetctl status --json >/tmp/status.json
ok $? "root sees the status"
as_nobody softnetctl status >/tmp/nobody
ok $? "so does another user"
as_nobody softnetctl set busy_poll 10 >/tmp/out 2>&1
is "$? $(value busy_poll)" "4 0" "who may not set anything"
is "$(value netdev_budget)" 300 "a healthy host is left alone"
shown softnetctl status
shown systemctl show -P StatusText softnetd

# --- a profile edited and reloaded
mkdir -p /etc/softnetd/profiles
profile mine 'inherits = "balanced"; busy_poll = 50; netdev_budget = [16, 1200];'
echo 'profile = "mine";' >/etc/softnetd/softnetd.conf
systemctl reload softnetd
ok $? "systemctl reload"
set_to() { [ "$(value busy_poll)" = "$1" ]; }
until_true 10 set_to 50
ok $? "the edited profile is in force"
profile mine 'inherits = "balanced"; busy_pol = 70;'
systemctl reload softnetd
sleep 2
is "$(value busy_poll)" 50 "one with an error is not"
journalctl -u softnetd -o cat | grep 'mine.conf:1' >/tmp/out
ok $? "and the journal has its line: $(tail -n 1 /tmp/out)"
profile mine 'inherits = "balanced"; busy_poll = 50; netdev_budget = [16, 1200];'
systemctl reload softnetd
active
ok $? "the next good one is taken"

# --- something binds
systemctl stop softnetd
echo 1 >/proc/sys/net/core/netdev_budget
systemctl start softnetd
pktgen 200000
raised() { [ "$(value netdev_budget)" -gt 1 ]; }
until_true 40 raised
ok $? "squeezed: netdev_budget is raised ($(value netdev_budget))"
kept() { softnetctl history | grep -q 'netdev_budget: kept'; }
until_true 120 kept
ok $? "and kept"
shown softnetctl status
shown softnetctl history
shown softnetctl explain
as_nobody softnetctl history | grep -q netdev_budget
ok $? "anyone can see why"
has_message e6892fd00b5a4c6ba9b594c677698124 squeezed
ok $? "the journal has the symptom under its MESSAGE_ID"
has_message a8db88cf791f4a0a9508527fcc57b0ee netdev_budget
ok $? "and the change"
journalctl -u softnetd -o json MESSAGE_ID=a8db88cf791f4a0a9508527fcc57b0ee | grep netdev_budget |
	grep SOFTNETD_OLD | grep -q SOFTNETD_REASON
ok $? "with fields"
journalctl -x -u softnetd | grep -q 'comes back when softnetd stops'
ok $? "which the catalog explains"

# --- an upgrade while all this holds
b=$(value netdev_budget)
dpkg-deb -R /mnt/deb/softnetd_*.deb /tmp/next
sed -i 's/^Version: .*/&+next/' /tmp/next/DEBIAN/control
dpkg-deb -b /tmp/next /tmp/softnetd-next.deb >/dev/null
old=$(state MainPID)
(while :; do value netdev_budget; value busy_poll; done) >/tmp/values 2>&1 &
w=$!
apt-get -y install /tmp/softnetd-next.deb >/tmp/upgrade 2>&1
ok $? "apt-get install of a newer version"
kill $w
wait $w 2>/dev/null
active && [ "$(state MainPID)" != "$old" ]
ok $? "the service was restarted"
is "$(sort -nu /tmp/values | tr '\n' ' ')" "$(printf '50\n%s\n' "$b" | sort -n | tr '\n' ' ')" "and no value bounced meanwhile"

# --- ended by force, while the packets come
# original SETTING VALUE: softnetd knows that this is what it gives back, or does not hold the setting
original() {
	softnetctl get "$1" --json >/tmp/get || return 1
	grep -q "\"original\": *\"$2\"" /tmp/get || [ "$(value "$1")" = "$2" ]
}
again() { active && [ "$(state MainPID)" != "$old" ]; }
for how in KILL ABRT KILL; do
	systemctl reset-failed softnetd
	old=$(state MainPID)
	kill -$how "$old"
	until_true 20 again
	ok $? "SIG$how under load: restarted"
	until_true 10 set_to 50
	ok $? "and the profile is in force"
	original busy_poll 0 && original netdev_budget 1
	ok $? "and the originals are known ($(value netdev_budget))"
done
until_true 40 raised
ok $? "and netdev_budget is raised again"
mkdir -p /run/systemd/system/softnetd.service.d
printf '[Service]\nRestart=no\n' >/run/systemd/system/softnetd.service.d/w.conf
systemctl daemon-reload
kill -KILL "$(state MainPID)"
dead() { [ "$(systemctl is-active softnetd)" = failed ]; }
until_true 20 dead
is "$(value busy_poll) $(value netdev_budget)" "0 1" "killed and not restarted: the originals are back"
[ ! -e /run/softnetd/ledger.json ]
ok $? "and the ledger is empty"
rm /run/systemd/system/softnetd.service.d/w.conf
systemctl daemon-reload
systemctl reset-failed softnetd
systemctl start softnetd
is "$(value busy_poll)" 50 "started again"
pktgen_end
mkdir -p /run/systemd/system/softnetd.service.d
printf '[Service]\nWatchdogSec=4\nTimeoutAbortSec=2\n' >/run/systemd/system/softnetd.service.d/w.conf
systemctl daemon-reload
systemctl restart softnetd
old=$(state MainPID)
kill -STOP "$old"
until_true 30 again
ok $? "a daemon that hangs is replaced (watchdog)"
until_true 10 set_to 50
original busy_poll 0
ok $? "and the originals are known"
systemctl reset-failed softnetd
memory=/sys/fs/cgroup$(state ControlGroup)/memory.max
if [ -e "$memory" ]; then
	old=$(state MainPID)
	echo 4096 >"$memory"
	until_true 30 again
	ok $? "killed for want of memory: restarted"
	until_true 10 set_to 50
	original busy_poll 0
	ok $? "and the originals are known"
else
	skip "no memory controller"
fi

# --- a restart that keeps: /dev/cpu_dma_latency lives in its descriptor, which systemd holds meanwhile
request() { od -An -td4 -N4 /dev/cpu_dma_latency | tr -d ' '; }
requested() { [ "$(request)" = "$1" ]; }
keeping() { printf 'profile = "mine";\non_stop = "%s";\n' "$1" >/etc/softnetd/softnetd.conf; }
none=$(request)
rm /run/systemd/system/softnetd.service.d/w.conf
systemctl daemon-reload
systemctl reset-failed softnetd
profile mine 'inherits = "balanced"; busy_poll = 50; cpu_dma_latency = 40;'
keeping keep
systemctl restart softnetd
until_true 10 requested 40
ok $? "a profile asks for cpu_dma_latency (before: $none us)"
old=$(state MainPID)
(while :; do request; value busy_poll; done) >/tmp/values 2>&1 &
w=$!
systemctl restart softnetd
ok $? "systemctl restart with on_stop = \"keep\""
sleep 1
kill $w
wait $w 2>/dev/null
again
ok $? "the daemon is another"
is "$(sort -nu /tmp/values | tr '\n' ' ')" "40 50 " "and no value bounced meanwhile"
systemctl stop softnetd
is "$(value busy_poll)" 50 "a stop keeps, too"
keeping restore
systemctl start softnetd
is "$(value busy_poll)" 50 "started with on_stop = \"restore\""
original busy_poll 0
ok $? "which takes over what was kept"
systemctl stop softnetd
is "$(request)" "$none" "and gives it back: cpu_dma_latency"
is "$(value busy_poll) $(value netdev_budget)" "0 1" "after all this a stop brings the originals back"
[ ! -e /run/softnetd/ledger.json ]
ok $? "and the ledger is empty"
profile mine 'inherits = "balanced"; busy_poll = 50; netdev_budget = [16, 1200];'
journalctl -u softnetd -o short-monotonic --no-pager | tail -n 60 | sed 's/^/# /'
touch /var/lib/softnetd-second-boot
finish
