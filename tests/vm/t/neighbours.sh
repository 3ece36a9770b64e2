#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# softnetd beside others, under a real systemd (guest --root debian --nics tap, deb/ and sockets shared, package
# irqbalance): the open sockets of a service, which it may reach by a drop-in only; and a NIC that irqbalance
# would move.
. /mnt/t/lib.sh

profile() { printf '%s\n' "$2" >/etc/softnetd/profiles/"$1".conf; }
use() { echo "profile = \"$1\";" >/etc/softnetd/softnetd.conf && systemctl reload-or-restart softnetd; }

apt-get -y install /mnt/deb/softnetd_*.deb >/tmp/install 2>&1
ok $? "apt-get install"
mkdir -p /etc/softnetd/profiles

# --- open sockets of a service
cp /mnt/sockets /usr/local/bin/sockets
cat >/run/systemd/system/talker.service <<'END'
[Service]
DynamicUser=yes
RuntimeDirectory=talk
ExecStart=/usr/local/bin/sockets /run/talk/usec
END
systemctl daemon-reload
systemctl start talker
# SO_BUSY_POLL as the service itself sees it, of UDP, TCP, epoll
seen() { [ "$(cat /run/talk/usec)" = "$1" ]; }
until_true 10 test -s /run/talk/usec
epoll0='-' epoll1='-'
[ "$(cut -d ' ' -f 3 /run/talk/usec)" = - ] || { epoll0=0 epoll1=70; }
seen "0 0 $epoll0 "
ok $? "the service does not busy poll: $(cat /run/talk/usec)"
profile talk 'busy_poll_units = ["talker.service"]; socket_busy_poll = 60; epoll_busy_poll = 70;'
use talk
sleep 3
seen "0 0 $epoll0 "
ok $? "without the drop-in softnetd cannot reach its sockets"
softnetctl status >/tmp/status
grep -q 'CAP_SYS_PTRACE' /tmp/status
ok $? "and says what is missing: $(grep -m 1 CAP_SYS_PTRACE /tmp/status)"
mkdir -p /etc/systemd/system/softnetd.service.d
cp /usr/lib/softnetd/open-sockets.conf /etc/systemd/system/softnetd.service.d/
systemctl daemon-reload
systemctl restart softnetd
until_true 30 seen "60 60 $epoll1 "
ok $? "with it the open ones have the profile's: $(cat /run/talk/usec)"
softnetctl status | grep -i 'open sockets' | sed 's/^/# /'
systemctl kill -s KILL softnetd
sleep 4
until_true 20 seen "60 60 $epoll1 "
ok $? "killed and started again: $(cat /run/talk/usec)"
systemctl stop softnetd
until_true 10 seen "0 0 $epoll0 "
ok $? "after a stop they are as before: $(cat /run/talk/usec)"
rm /etc/systemd/system/softnetd.service.d/open-sockets.conf
systemctl daemon-reload
systemctl stop talker

# --- irqbalance
nic=$(ls -d /sys/class/net/*/device/../msi_irqs | cut -d / -f 5 | head -n 1)
$IP link set "$nic" up
irqs=$(ls "/sys/class/net/$nic/device/../msi_irqs")
places() { for n in $irqs; do printf '%s ' "$(cat /proc/irq/"$n"/smp_affinity_list)"; done; }
balance() # OPTIONS…
{
	pkill -x irqbalance
	sleep 1
	mkdir -p /run/irqbalance
	irqbalance --foreground --interval=2 "$@" >/tmp/irqbalance.log 2>&1 &
	B=$!
	sleep 5
	kill -0 $B 2>/dev/null
}
its_files() { find /etc /usr/lib/systemd -name '*irqbalance*' -type f -exec sha256sum {} + | sort; }
files=$(its_files)
[ -n "$files" ]
ok $? "irqbalance has files"
systemctl stop irqbalance 2>/dev/null
for n in $irqs; do echo 3 >/proc/irq/"$n"/smp_affinity_list; done
profile place "nics = ( { match = \"$nic\"; placement = \"pack\"; cpus = \"1\"; } );"
if ! balance; then
	skip "irqbalance does not stay on this machine: $(tail -n 1 /tmp/irqbalance.log)"
	finish
fi
use place
sleep 6
softnetctl status >/tmp/status
grep -q "irqbalance moves .* interrupts of $nic" /tmp/status
ok $? "softnetd says whose they are: $(grep -m 1 'irqbalance moves' /tmp/status)"
softnetctl history >/tmp/history
! grep -q irq_affinity /tmp/history
ok $? "and leaves them to irqbalance"
options=$(sed -n 's/.* run it with \(.*\), or say.*/\1/p' /tmp/status)
echo "# $options"
# The control vector is irqbalance's, before and after.
irqs=$(echo "$options" | tr -dc '0-9 ')
before=$(places)
# shellcheck disable=SC2086 # several options
balance $options
ok $? "irqbalance runs with what softnetd says"
on_cpu1()
{
	for n in $irqs; do
		[ "$(cat /proc/irq/"$n"/smp_affinity_list)" = 1 ] || return 1
	done
}
until_true 40 on_cpu1
ok $? "and softnetd places them: $(places)"
sleep 10
on_cpu1
ok $? "where they stay for five turns of irqbalance"
kill -0 $B
ok $? "which runs on"
is "$(its_files)" "$files" "and whose files nobody edited"
systemctl stop softnetd
is "$(places)" "$before" "a stop brings back what was"
kill $B
journalctl -u softnetd -o short-monotonic --no-pager | tail -n 30 | sed 's/^/# /'
finish
