#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# NAPI and coalescing on a real kernel and real drivers: virtio_net with four queues and e1000e. What
# softnetd changes is read back by others (ethtool, sysfs, taskset), and all of it comes back; the NIC
# is reset, and pulled while it is changed. Needs guest --nics tap --e1000e, and the folder made by
# tests/vm/bundle.
. /mnt/t/lib.sh

export LD_LIBRARY_PATH=/mnt/softnetd/lib
PATH=/mnt/softnetd:$PATH
P=/etc/softnetd/profiles
mkdir -p $P /run/softnetd
LEDGER=/run/softnetd/ledger.json

# nic_of DRIVER: the first interface of it
nic_of()
{
	for n in /sys/class/net/*; do
		d=$(readlink -f "$n/device/driver" 2>/dev/null) || continue
		[ "${d##*/}" != "$1" ] || { echo "${n##*/}"; return; }
	done
}

V=$(nic_of virtio_net)
X=$(nic_of e1000e)
[ -n "$V" ] && [ -n "$X" ]
ok $? "the guest has both NICs ($V, $X)"
X_DEVICE=$(basename "$(readlink -f /sys/class/net/"$X"/device)")
V_DEVICE=$(basename "$(readlink -f /sys/class/net/"$V"/device/..)")
up() { $IP link set "$V" up; $IP link set "$X" up; }
up
ethtool -L "$V" combined 4 2>/dev/null
sleep 1

sysfs() { cat /sys/class/net/"$V"/"$1"; }
usecs() { ethtool -c "$X" | sed -n 's/^rx-usecs:[[:space:]]*//p'; }
# napi_pids: the kernel threads of V
napi_pids()
{
	for c in /proc/[0-9]*/comm; do
		read -r name <"$c" 2>/dev/null || continue
		case $name in "napi/$V-"*) ;; *) continue ;; esac
		# only transmitting instances have id 0
		case $name in *-0) ;; *) basename "${c%/comm}" ;; esac
	done
}
# Where instances are set one by one (6.13+) the device's files stay as they were: the kernel's answer to
# napi-get is then what status shows of the first queue, and the threads themselves are counted.
per_napi() { softnetctl history 2>/dev/null | grep -q "napi_threaded *$V:rx0"; }
napi_values()
{
	if per_napi; then
		softnetctl status | awk -v nic="$V" '$1 == nic && $2 == "rx0" { print $8, $9, $10 }'
	else
		echo "$(sysfs threaded) $(sysfs napi_defer_hard_irqs) $(sysfs gro_flush_timeout)"
	fi
}
threaded()
{
	if [ "$one_by_one" = 0 ]; then
		[ "$(napi_pids | wc -l)" -ge 4 ] && echo 1 || echo 0
	else
		sysfs threaded
	fi
}
all=$(cat /sys/devices/system/cpu/online)
cpus_of() { taskset -cp "$1" | sed 's/.*: //'; }
state()
{
	for f in threaded napi_defer_hard_irqs gro_flush_timeout; do echo "$f $(sysfs $f)"; done
	ethtool -c "$X"
	for i in $(ls /sys/class/net/"$V"/device/../msi_irqs); do
		echo "irq $i $(cat /proc/irq/"$i"/smp_affinity_list)"
	done
}

log_lines() { wc -l </tmp/daemon.log; }

cat >$P/nic.conf <<END
nics = (
    { match = "$V"; placement = "spread"; napi_threaded = "enabled"; napi_threads = "near";
      napi_defer_hard_irqs = 2; gro_flush_timeout = 20000; },
    { match = "$X"; coalesce_rx_usecs = 200; coalesce_rx_frames = 32; }
);
END
state >/tmp/before
daemon_start nic
ok $? "softnetd starts"

# --- what the profile states is there
per_napi
one_by_one=$?
is "$(napi_values)" "1 2 20000" "the kernel shows the NAPI settings"
is "$(usecs)" 200 "ethtool shows rx-usecs"
softnetctl history | sed 's/^/# /'
softnetctl history --json | grep -q 'coalesce_rx_frames of [a-z0-9]*: this driver'
ok $? "frames, which e1000e does not have, are unsupported, and the rest went on"

# --- threads are found, and put beside their interrupts
placed()
{
	n=0
	for p in $(napi_pids); do
		[ "$(cpus_of "$p")" != "$all" ] || return 1
		n=$((n + 1))
	done
	[ "$n" -ge 4 ]
}
until_true 15 placed
ok $? "all NAPI threads of $V are placed"
softnetctl status --json >/tmp/status.json
softnetctl status | sed -n '/^NIC/,/^$/p' | sed 's/^/# /'
# The chain of the first queue, from status, against what the kernel itself says.
chain()
{
	tr -d ' \n' </tmp/status.json | sed "s/.*\"nic\":\"$V\"//; s/\"nic\":.*//" |
		sed 's/.*"napis":\[//' | tr '{' '\n' | grep -A1 '"rx_queue":'"$1"','
}
field() { chain 0 | tr ',{}' '\n\n\n' | sed -n "s/^\"$1\"://p" | head -n 1; }
irq=$(field irq)
grep -E "^ *$irq:.*-input\.0" /proc/interrupts >/dev/null
ok $? "status knows the interrupt of queue 0 ($irq)"
pid=$(field pid)
grep -q "^napi/$V-" /proc/"$pid"/comm
ok $? "and its thread ($pid: $(cat /proc/"$pid"/comm))"
is "$(cpus_of "$pid")" "$(cat /proc/irq/"$irq"/smp_affinity_list)" "which is on its interrupt's CPU"
is "$(for p in $(napi_pids); do cpus_of "$p"; done | sort -u | wc -l)" 4 "four threads are on four CPUs"

# virtio_net counts by queue since 6.10, where the kernel can tell it
counted=$(tr -d ' \n' </tmp/status.json | sed "s/.*\"nic\":\"$V\"//; s/\"nic\":.*//" | grep -o '"queues":[^]]*')
case $(uname -r) in
6.1.*)
	echo "$counted" | grep -q '^"queues":null'
	ok $? "nobody counts by queue here"
	;;
*)
	echo "$counted" | grep -q '"rx_packets":[1-9]'
	ok $? "status tells what each queue counted"
	;;
esac

# --- a plan that holds
n=$(softnetctl history --json | grep -c '"serial"')
sleep 12
is "$(softnetctl history --json | grep -c '"serial"')" "$n" "a plan that holds writes nothing"

# --- channels: two, and four again. Interrupts and instances are others then.
ethtool -L "$V" combined 2
sleep 4
ethtool -L "$V" combined 4
$IP link set "$V" down
# long enough for a slow look: what is down is not gone
sleep 12
$IP link set "$V" up
until_true 20 placed
ok $? "after a change of channels and ifdown, ifup the threads are placed"
is "$(napi_values)" "1 2 20000" "and the settings hold"

# --- bounds: e1000e takes 0 to 4, or 10 to 10000
softnetctl set coalesce_rx_usecs@"$X" 7 >/tmp/set.txt 2>&1
[ $? != 0 ]
ok $? "7 µs are refused by the driver"
sed 's/^/# /' /tmp/set.txt
is "$(usecs)" 200 "and it stays as it was"

daemon_stop
ok $? "softnetd stops"
# Each change of channels gave the interrupts other CPUs, and one that the driver bound to just the CPU
# where softnetd had it cannot be told from one that it left: masks begin anew here, and that they come
# back is seen after kill -9.
ethtool -L "$V" combined 2
ethtool -L "$V" combined 4
state >/tmp/after
diff /tmp/before /tmp/after | sed 's/^/# /'
# 6.12 keeps threads that it does not use
for p in $(napi_pids); do cpus_of "$p"; done | grep -vx "$all"
[ $? != 0 ]
ok $? "threads that are left may run anywhere again"
cmp -s /tmp/before /tmp/after
ok $? "everything is as it was"
[ ! -e $LEDGER ]
ok $? "and the ledger is empty"

# --- kill -9
daemon_start nic
until_true 15 placed
kill -9 $D
wait $D 2>/dev/null
is "$(usecs) $(threaded)" "200 1" "after kill -9 the values stand"
softnetctl restore >/tmp/restore.txt 2>&1
ok $? "softnetctl restore gives them back"
state >/tmp/after
cmp -s /tmp/before /tmp/after
ok $? "all of them"
[ ! -e $LEDGER ]
ok $? "with nothing left in the ledger"

# --- somebody's ethtool, put right by the kernel's news of it: twice in less time than a slow look takes
cat >$P/mine.conf <<END
on_foreign = "enforce";
nics = ( { match = "$X"; coalesce_rx_usecs = 200; } );
END
daemon_start mine
right() { [ "$(usecs)" = 200 ]; }
until_true 10 right
for u in 300 400; do
	ethtool -C "$X" rx-usecs $u
	until_true 4 right
	ok $? "ethtool -C rx-usecs $u is answered without a slow look ($(usecs))"
done
daemon_stop
is "$(usecs)" "$(sed -n 's/^rx-usecs:[[:space:]]*//p' /tmp/before)" "and the original comes back"

# --- pulled while it is changed
daemon_start nic
# once it has looked twice, with the descriptors of all interrupts
sleep 3
fds=$(ls /proc/$D/fd | wc -l)
(
	i=0
	while [ $i -lt 60 ]; do
		softnetctl set coalesce_rx_usecs@"$X" $((100 + i % 2 * 100)) >/dev/null 2>&1
		i=$((i + 1))
	done
) &
L=$!
sleep 1
echo 1 >/sys/bus/pci/devices/"$X_DEVICE"/remove
wait $L
sleep 6
[ ! -e /sys/class/net/"$X" ] && kill -0 $D
ok $? "e1000e is pulled, and softnetd lives"
lines=$(log_lines)
between "$lines" 0 40 "no storm in the log"
sleep 12
is "$(log_lines)" "$lines" "and silence afterwards"
echo 1 >/sys/bus/pci/rescan
sleep 1
X=$(nic_of e1000e)
up
back() { [ "$(usecs)" = 200 ]; }
until_true 20 back
ok $? "plugged in again it is known, and set again ($X: $(usecs))"
between "$(ls /proc/$D/fd | wc -l)" 1 "$fds" "no descriptor is lost"

# --- the other one, with its threads
echo 1 >/sys/bus/pci/devices/"$V_DEVICE"/remove
sleep 8
kill -0 $D
ok $? "virtio_net is pulled, and softnetd lives"
echo 1 >/sys/bus/pci/rescan
sleep 1
V=$(for n in /sys/class/net/*; do
	[ "$(basename "$(readlink -f "$n"/device/.. )")" != "$V_DEVICE" ] || echo "${n##*/}"; done)
up
ethtool -L "$V" combined 4 2>/dev/null
set_again() { [ "$(napi_values)" = "1 2 20000" ] && placed; }
until_true 25 set_again
ok $? "plugged in again its threads are placed ($V)"
daemon_stop
is "$(usecs) $(sysfs threaded) $(sysfs napi_defer_hard_irqs) $(sysfs gro_flush_timeout)" \
	"$(sed -n 's/^rx-usecs:[[:space:]]*//p' /tmp/before) 0 0 0" "and the originals come back"
[ ! -e $LEDGER ]
ok $? "with nothing left in the ledger"
sed 's/^/# /' /tmp/daemon.log | tail -30
finish
