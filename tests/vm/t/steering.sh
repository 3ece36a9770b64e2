#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# RPS and RFS on a real kernel: virtio_net with one queue in use for four CPUs. The masks that softnetd
# writes are the kernel's, packets really arrive at other CPUs, and everything goes back: when a CPU
# leaves, when the queues suffice, at stop and after kill -9. Needs guest --nics tap and the folder made
# by tests/vm/bundle.
. /mnt/t/lib.sh

export LD_LIBRARY_PATH=/mnt/softnetd/lib
PATH=/mnt/softnetd:$PATH
P=/etc/softnetd/profiles
mkdir -p $P /run/softnetd
LEDGER=/run/softnetd/ledger.json

V=eth0
[ "$(basename "$(readlink -f /sys/class/net/$V/device/driver)")" = virtio_net ]
ok $? "the guest has a virtio NIC ($V)"
$IP netns add B
$IP link set eth1 netns B
$IP netns exec B $IP addr add 10.0.0.2/24 dev eth1
$IP netns exec B $IP link set eth1 up
$IP addr add 10.0.0.1/24 dev $V
$IP link set $V up
ethtool -L "$V" combined 1
sleep 1
Q=/sys/class/net/$V/queues
is "$(ls -d $Q/rx-* | wc -l)" 1 "one receive queue for $(nproc) CPUs"

mask() { cat $Q/rx-"$1"/rps_cpus; }
state() { cat $Q/rx-*/rps_cpus $Q/rx-*/rps_flow_cnt /proc/sys/net/core/rps_sock_flow_entries; }
# rps_ipis: of all CPUs, column 10 of softnet_stat
rps_ipis()
{
	n=0
	while read -r a b c d e f g h i ipis rest; do n=$((n + 0x$ipis)); done </proc/net/softnet_stat
	echo $n
}
has_mask() { [ "$(mask 0)" = "$1" ]; }

cat >$P/rps.conf <<END
rps_sock_flow_entries = 30000;
nics = ( { match = "$V"; placement = "spread"; rps = "near"; rps_flow_cnt = 3000; } );
END
state >/tmp/before
daemon_start rps
ok $? "softnetd starts"
irq=$(awk '/-input\.0/ { sub(":", "", $1); print $1; exit }' /proc/interrupts)
bound() { case $(cat /proc/irq/"$irq"/smp_affinity_list) in [0-9]) ;; *) return 1 ;; esac; }
until_true 15 bound
cpu=$(cat /proc/irq/"$irq"/smp_affinity_list)
want=$(printf '%x' $((0xf & ~(1 << cpu))))
until_true 15 has_mask "$want"
ok $? "the queue, whose interrupt is on CPU $cpu, hands packets to the others (mask $(mask 0))"
is "$(cat $Q/rx-0/rps_flow_cnt)" 4096 "3000 flows of the queue are 4096"
is "$(cat /proc/sys/net/core/rps_sock_flow_entries)" 32768 "30000 of the host 32768"
softnetctl status | grep "^$V: steering"
ok $? "status says so"

# --- packets: what comes in on CPU $cpu is processed by others too
before=$(rps_ipis)
$IP netns exec B iperf3 -s -D
iperf3 -R -c 10.0.0.2 -t 4 -P 8 >/tmp/iperf 2>&1 || sed 's/^/# /' /tmp/iperf
between "$(($(rps_ipis) - before))" 10 100000000 "packets go to other CPUs by inter-processor interrupts"
pkill iperf3 2>/dev/null || killall iperf3 2>/dev/null

# --- a plan that holds
n=$(softnetctl history --json | grep -c '"serial"')
sleep 12
is "$(softnetctl history --json | grep -c '"serial"')" "$n" "a plan that holds writes nothing"

# --- hotplug
off=3
[ "$cpu" != 3 ] || off=2
echo 0 >/sys/devices/system/cpu/cpu$off/online
less=$(printf '%x' $((0x$want & ~(1 << off))))
until_true 15 has_mask "$less"
ok $? "without CPU $off the mask is $less ($(mask 0))"
echo 1 >/sys/devices/system/cpu/cpu$off/online
until_true 15 has_mask "$want"
ok $? "and $want again with it"

# --- channels
ethtool -L "$V" combined 4
until_true 20 has_mask 0
ok $? "with four queues there is no mask ($(mask 0))"
ethtool -L "$V" combined 1
# where the interrupt is by then
again() { has_mask "$(printf '%x' $((0xf & ~(1 << $(cat /proc/irq/"$irq"/smp_affinity_list)))))"; }
until_true 30 again
ok $? "with one there is ($(mask 0))"

# --- somebody else
echo 1 >$Q/rx-0/rps_cpus
sleep 13
softnetctl history | sed 's/^/# /'
! softnetctl history --json | grep -q '"foreign".*irq_affinity\|irq_affinity.*"foreign"'
ok $? "what the driver makes of its interrupts at hotplug is nobody's will"
is "$(mask 0)" 1 "a mask that somebody else wrote is theirs"
daemon_stop
is "$(mask 0)" 1 "also at the end"
echo 0 >$Q/rx-0/rps_cpus
state >/tmp/after
cmp -s /tmp/before /tmp/after
ok $? "everything else is as it was"
[ ! -e $LEDGER ]
ok $? "and the ledger is empty"

# --- kill -9
daemon_start rps
until_true 20 again
kill -9 $D
wait $D 2>/dev/null
softnetctl restore >/tmp/restore.txt 2>&1
ok $? "softnetctl restore after kill -9"
state >/tmp/after
cmp -s /tmp/before /tmp/after
ok $? "gives all of it back"
sed 's/^/# /' /tmp/daemon.log | tail -20
finish
