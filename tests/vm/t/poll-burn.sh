#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Busy polling that burns a CPU for nothing is noticed and undone; and who spins on this kernel, however
# idle: poll(2) does, epoll_wait(2) does not. Needs guest --nics tap, the folder made by tests/vm/bundle and
# build/tests/vm/spin.
. /mnt/t/lib.sh

with_daemon
cp /mnt/spin /tmp/spin
chmod +x /tmp/spin
polling() { cat /proc/sys/net/core/busy_poll; }
# ticks PID: of CPU time that it used, in user and system mode, 100 a second
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
# used PID: in 4 seconds
used()
{
	before=$(ticks "$1")
	sleep 4
	echo $(($(ticks "$1") - before))
}
undone() { softnetctl history | grep -q 'is undone: it burned'; }

if [ ! -e /proc/sys/net/core/busy_poll ]; then
	skip "this kernel has no busy polling"
	finish
fi

$IP netns add A
$IP netns add B
$IP link set eth0 netns A
$IP link set eth1 netns B
$IP -n A addr add 10.0.0.1/24 dev eth0
$IP -n B addr add 10.0.0.2/24 dev eth1
$IP -n A link set eth0 up
$IP -n B link set eth1 up
sleep 2

echo 'busy_poll = 1000; busy_read = 1000;' >/etc/softnetd/profiles/burn.conf
daemon_start burn
is "$(polling)" 1000 "the profile's polling is in force"
$IP netns exec B /tmp/spin send 10.0.0.1 2>/tmp/send.log &
SEND=$!

$IP netns exec A /tmp/spin epoll 10.0.0.1 &
E=$!
sleep 2
between "$(used $E)" 0 100 "epoll_wait with short timeouts does not spin, ticks of 400"
kill $E

$IP netns exec A /tmp/spin wait 10.0.0.1 &
S=$!
sleep 2
between "$(used $S)" 200 450 "poll does, ticks of 400"
until_true 160 undone
ok $? "softnetd notices, and undoes it"
is "$(polling)" 0 "polling is off"
between "$(used $S)" 0 100 "the task spins no more, ticks of 400"
softnetctl get busy_poll | grep -q 'trial busy_poll-poll-burn undid 1000 of profile burn'
ok $? "get says why the profile's value is not there"
softnetctl status | grep -q 'busy_poll: the profile.s value is undone'
ok $? "so does status"
sleep 30
is "$(polling)" 0 "and it stays so"
is "$(softnetctl history | grep -c '^ *[0-9].* busy_poll .* done ')" 4 "four writes in all"
softnetctl history | sed 's/^/# /'
kill $S $SEND
daemon_stop
ok $? "softnetd stops"
is "$(polling)" 0 "busy_poll is as it was"
is "$(cat /proc/sys/net/core/busy_read)" 0 "busy_read, too"
finish
