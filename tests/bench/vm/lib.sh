# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# For the scripts of tests/bench/vm, which run in a guest. What they measure is printed as lines
# "D LABEL METRIC VALUE" for table.awk, one set a round; lines with # are for whoever reads the raw
# file.
. /mnt/t/lib.sh

export LOAD=/mnt/load

# rows LABEL: "NAME VALUE" or "NAME=VALUE" on standard input become results of that label
rows()
{
	sed -nE "s/^([A-Z][A-Za-z0-9_/%-]*)[= ]([-0-9.]+)\$/D\t$1\t\1\t\2/p"
}

# title TEXT: the next table
title() { printf 'T\t%s\n' "$*"; }

note() { echo "# $*"; }

# netperf's eight statistics as the seed asked for them; its names without _LATENCY. Where the
# eight are given, the transactions a second are not.
STATISTICS=RT_LATENCY,MIN_LATENCY,MAX_LATENCY,P50_LATENCY,P90_LATENCY,P99_LATENCY,MEAN_LATENCY,STDDEV_LATENCY

# eight LABEL NETPERF-OPTIONS...
eight()
{
	label=$1
	shift
	netperf "$@" -- -k $STATISTICS 2>&1 | sed 's/_LATENCY=/=/' | rows "$label"
}

# pin DEVICE CPU: all its interrupts
pin()
{
	for d in "/sys/class/net/$1/device/msi_irqs" "/sys/class/net/$1/device/../msi_irqs"; do
		[ -d "$d" ] || continue
		for n in "$d"/*; do
			echo "$2" >"/proc/irq/${n##*/}/smp_affinity_list" 2>/dev/null
		done
	done
}

in_b() { $IP netns exec B "$@"; }

# two_hosts DEVICE DEVICE: the first is this host's, 10.0.0.1, where everything that may tune it sees
# it; the other one is the remote host's, 10.0.0.2 in name space B
two_hosts()
{
	$IP netns add B
	$IP link set "$2" netns B
	$IP addr add 10.0.0.1/24 dev "$1"
	$IP link set "$1" up
	in_b "$IP" addr add 10.0.0.2/24 dev "$2"
	in_b "$IP" link set "$2" up
	until_true 20 /bin/busybox ping -q -c 1 -W 1 10.0.0.2 >/dev/null 2>&1 ||
		{ note "no way from here to the remote host"; exit 1; }
}

# sums of columns of /proc/net/softnet_stat: packets, drops, squeezes
# shellcheck disable=SC2016
softnet() { /bin/busybox awk '{ p += ("0x" $1) + 0; d += ("0x" $2) + 0; s += ("0x" $3) + 0 } END { print p, d, s }' /proc/net/softnet_stat; }

seconds() { cut -d' ' -f1 /proc/uptime; }

# per_second NAME BEFORE AFTER SECONDS
per_second() { awk -v n="$1" -v a="$2" -v b="$3" -v t="$4" 'BEGIN { printf "%s %.1f\n", n, (b - a) / t }'; }

# The daemon with the libraries of the machine that built it, whatever the guest's are
softnetd() { exec /mnt/softnetd/lib/ld-linux-x86-64.so.2 --library-path /mnt/softnetd/lib /mnt/softnetd/softnetd "$@"; }
softnetctl() { (exec /mnt/softnetd/lib/ld-linux-x86-64.so.2 --library-path /mnt/softnetd/lib /mnt/softnetd/softnetctl "$@"); }
