#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# org.softnetd1 under a real systemd, with the system bus and polkit of a Debian (guest --root debian, with
# polkitd): what `make install` places, shared as "root".
. /mnt/t/lib.sh

cp -r /mnt/root/. /
cp /usr/bin/softnetctl /tmp/softnetctl
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
named() { busctl --timeout=5 status org.softnetd1 >/dev/null 2>&1; }
soon() { # COMMAND…: within 40 s
	for _ in $(seq 1 80); do
		"$@" && return 0
		sleep 0.5
	done
	return 1
}
budget() { cat /proc/sys/net/core/netdev_budget; }
call() {
	busctl call org.softnetd1 /org/softnetd1 org.softnetd1.Manager "$@"
}

systemctl daemon-reload
systemctl reload dbus
call DescribeProfiles >/tmp/out 2>&1
[ $? -ne 0 ] && [ "$(systemctl is-active softnetd)" = inactive ]
ok $? "nobody starts a unit that is not enabled by asking for the name"
systemctl enable softnetd >/tmp/enable 2>&1
ok $? "systemctl enable"
call DescribeProfiles >/tmp/out 2>&1
ok $? "once it is enabled the bus starts it"
is "$(systemctl is-active softnetd)" active "and it is active"
soon named
ok $? "org.softnetd1 is on the bus"
is "$(systemctl show -P BusName softnetd)" org.softnetd1 "systemd knows whose it is"
busctl introspect org.softnetd1 /org/softnetd1 | grep -q '\.SetSetting  *method'
ok $? "it can be introspected"

as_nobody softnetctl status --json >/tmp/status.json 2>/tmp/err
ok $? "another user reads"
as_nobody softnetctl set netdev_budget 400 >/tmp/out 2>&1
is "$?" 4 "another user is not authorised to change"
grep -q "needs root, or an administrator's password" /tmp/out
ok $? "and is told who is: $(cat /tmp/out)"
is "$(budget)" 300 "nothing was written"
mkdir -p /etc/polkit-1/rules.d
cat >/etc/polkit-1/rules.d/50-softnetd.rules <<'END'
polkit.addRule(function(action, subject) {
    if (action.id == "org.softnetd1.hold" && subject.user == "nobody")
        return polkit.Result.YES;
});
END
chmod 0644 /etc/polkit-1/rules.d/50-softnetd.rules
systemctl restart polkit
as_nobody softnetctl run throughput -- softnetctl status >/tmp/out 2>&1
ok $? "what a rule permits him he may: run"
grep -q "profile throughput (hold" /tmp/out
ok $? "and the profile is held"
softnetctl status | grep -q "profile balanced"
ok $? "until the command ends"
as_nobody softnetctl set netdev_budget 400 >/tmp/out 2>&1
is "$?" 4 "and nothing else"
systemctl stop polkit
systemctl mask --runtime polkit >/dev/null 2>&1
as_nobody softnetctl set netdev_budget 400 >/tmp/out 2>&1
is "$?" 4 "without polkit: refused"
grep -q "needs root" /tmp/out
ok $? "and told: $(cat /tmp/out)"
softnetctl set netdev_budget 400 >/tmp/out 2>&1
is "$? $(budget)" "0 400" "root needs no polkit"

# --- from another host, and into a container: by ways of sd-bus's own
mkdir -p /root/.ssh /run/sshd
chmod 0700 /root/.ssh
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
echo 'StrictHostKeyChecking no' >/root/.ssh/config
ssh-keygen -A >/dev/null
/usr/sbin/sshd
softnetctl -H root@127.0.0.1 status >/tmp/out 2>/tmp/err
ok $? "-H user@host: over ssh"
grep -q "^profile balanced" /tmp/out
ok $? "it is this daemon's status: $(head -n 1 /tmp/out)$(head -n 1 /tmp/err)"
softnetctl -H root@127.0.0.1 set netdev_budget 450 >/tmp/out 2>&1
is "$? $(budget)" "0 450" "and root there may change"
softnetctl -M .host get netdev_budget >/tmp/out 2>&1
is "$?" 0 "-M .host: over that machine's own bus: $(cat /tmp/out)"
softnetctl -H root@127.0.0.1 set netdev_budget 400 >/dev/null 2>&1

# --- the bus goes and comes
systemctl stop dbus.socket dbus.service >/dev/null 2>&1
sleep 1
softnetctl get netdev_budget >/tmp/out 2>&1
ok $? "without a bus the socket answers"
is "$(systemctl is-active softnetd)" active "and softnetd runs on"
systemctl start dbus.socket dbus.service
soon named
ok $? "with the bus the name is back"
is "$(budget)" 400 "and nothing was given back meanwhile"

# --- a sandbox that is too narrow
mkdir -p /etc/systemd/system/softnetd.service.d
printf '[Service]\nReadWritePaths=\n' >/etc/systemd/system/softnetd.service.d/narrow.conf
systemctl daemon-reload
systemctl restart softnetd
ok $? "starts in a sandbox that lets it write nothing"
softnetctl status >/tmp/out 2>&1
grep -q "hindered: netdev_budget: Read-only file system (/proc/sys/net/core/netdev_budget)" /tmp/out
ok $? "status tells what it cannot write"
rm -r /etc/systemd/system/softnetd.service.d
systemctl daemon-reload
systemctl restart softnetd
softnetctl status >/tmp/out 2>&1
grep -q "hindered" /tmp/out
is "$?" 1 "the shipped sandbox lets it write all it needs: $(grep '^writable\|^hindered' /tmp/out | tr '\n' ';')"
is "$(budget)" 300 "the original is back"

systemctl stop softnetd
is "$(systemctl is-failed softnetd)" inactive "stop is no failure"
journalctl -u softnetd --no-pager 2>/dev/null | tail -40 | sed 's/^/# /'
finish
