#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Threads of a NIC's interrupts get the profile's priority, and their own again. Needs guest --append
# threadirqs --nics tap and the folder made by tests/vm/bundle.
. /mnt/t/lib.sh
with_daemon

# policy and priority of the threads of eth0's queues, one word each
priorities()
{
	for n in $(ls /sys/class/net/eth0/device/../msi_irqs); do
		for p in /proc/[0-9]*; do
			case $(cat $p/comm 2>/dev/null) in
			irq/$n-*)
				case $(grep -E "^ *$n:" /proc/interrupts) in
				*put.*) sed 's/.*) //' $p/stat | cut -d' ' -f38,39 | tr ' ' : ;;
				esac ;;
			esac
		done
	done | sort | uniq -c | tr -s ' ' | tr '\n' ' '
}

$IP link set eth0 up
sleep 1
before=$(priorities)
echo "# before: $before"
case $before in *50:1*) ok 0 "eth0 has threads of FIFO 50" ;; *) ok 1 "eth0 has threads of FIFO 50" ;; esac
printf 'irq_thread_priority = 66;\n' >/etc/softnetd/profiles/first.conf
daemon_start first
ok $? "softnetd starts"
sleep 1
is "$(priorities)" "$(echo "$before" | sed s/50:1/66:1/)" "they have the profile's priority"
softnetctl get irq_thread_priority | sed 's/^/# /'
kill -9 $D
wait $D 2>/dev/null
is "$(priorities)" "$(echo "$before" | sed s/50:1/66:1/)" "after kill -9 too"
softnetctl restore >/tmp/restore.txt 2>&1
ok $? "softnetctl restore"
sed 's/^/# /' /tmp/restore.txt
is "$(priorities)" "$before" "brings the kernel's back"
daemon_start first
$IP link set eth0 down
$IP link set eth0 up
sleep 15
is "$(priorities)" "$(echo "$before" | sed s/50:1/66:1/)" "after ifdown and ifup"
daemon_stop
ok $? "softnetd stops"
is "$(priorities)" "$before" "and gives back"
[ ! -e /run/softnetd/ledger.json ]
ok $? "no ledger is left"
sed 's/^/# /' /tmp/daemon.log | tail -5
finish
