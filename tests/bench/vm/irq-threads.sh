#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Seed 002: a NIC with an interrupt thread for receiving and one for sending, each on a CPU of its
# own (apart) or both on one (packed), TCP both ways and cyclictest beside it. Needs guest --nics hub
# --append threadirqs and rt-tests.
. /mnt/bench/lib.sh
ROUNDS=${rounds:-3} SECS=${secs:-5}

# thread_irqs DEVICE PATTERN: the numbers of its interrupts with such a name
thread_irqs()
{
	v=$(basename "$(readlink -f "/sys/class/net/$1/device")")
	sed -n "s/^ *\([0-9]*\):.* $v-$2.*/\1/p" /proc/interrupts
}
RX=$(thread_irqs eth0 input) TX=$(thread_irqs eth0 output)
if [ -z "$RX" ] || [ -z "$TX" ]; then
	note "eth0 has no two interrupts"
	exit 1
fi
pin eth1 0
two_hosts eth0 eth1
note "threads: $(for p in /proc/[0-9]*; do cat "$p/comm" 2>/dev/null; done | grep '^irq/' | tr '\n' ' ')"
in_b iperf3 -s -D
sleep 1

switches() { for p in /proc/[0-9]*; do case $(cat "$p/comm" 2>/dev/null) in irq/$RX-* | irq/$TX-*) sed -n 's/.*ctxt_switches:\t//p' "$p/status" ;; esac; done | awk '{ s += $1 } END { print s + 0 }'; }

# once LABEL CPU-OF-RX CPU-OF-TX WINDOW
once()
{
	echo "$2" >"/proc/irq/$RX/smp_affinity_list"
	echo "$3" >"/proc/irq/$TX/smp_affinity_list"
	w=$(switches)
	iperf3 -c 10.0.0.2 -w "$4" --bidir -t $((SECS + 2)) -f k >/tmp/iperf 2>&1 &
	i=$!
	sleep 1
	cyclictest -m -t2 -a 0-1 -p 98 -q -i 1000 -d 500 -D "$SECS" >/tmp/cyclic 2>&1
	wait $i
	sed -nE 's/.*\[(TX|RX)-C\].* ([0-9.]+) Kbits\/sec.*receiver.*/\1-KBIT\/S \2/p' /tmp/iperf | rows "$1"
	# "T: 0 ( 123) P:98 I:1000 C: 5000 Min: 8 Act: 13 Avg: 18 Max: 70", of the two CPUs the worse
	sed -nE 's/^T:.*Avg: *([0-9]+) Max: *([0-9]+).*/\1 \2/p' /tmp/cyclic |
		awk '$1 > a { a = $1 } $2 > m { m = $2 } END { print "CYC-AVG " a "\nCYC-MAX " m }' | rows "$1"
	per_second SWITCH/S "$w" "$(switches)" $((SECS + 2)) | rows "$1"
	note "$1: effective $(cat "/proc/irq/$RX/effective_affinity_list") $(cat "/proc/irq/$TX/effective_affinity_list")"
}

for window in 16K 128K; do
	title "Window $window: kbit/s each way, cyclictest of two threads FIFO 98 (us, of the worse CPU), switches of the two"
	r=0
	while [ $r -lt "$ROUNDS" ]; do
		once apart 0 1 $window
		once packed 1 1 $window
		once "apart again" 0 1 $window
		r=$((r + 1))
	done
done
