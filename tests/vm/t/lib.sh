# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# TAP for scripts that run in a guest, and readers of what they look at.
# Each script ends with "finish": without its plan a run counts as broken.

N=0 BAD=0
SYS=/proc/sys
PAR=/sys/module/softnet_trouble/parameters

ok()	# ok STATUS TEXT
{
	N=$((N + 1))
	if [ "$1" = 0 ]; then
		echo "ok $N - $2"
	else
		BAD=$((BAD + 1))
		echo "not ok $N - $2"
	fi
}

skip()	# skip TEXT
{
	N=$((N + 1))
	echo "ok $N - $1 # SKIP"
}

is()	# is GOT WANTED TEXT
{
	if [ "$1" = "$2" ]; then ok 0 "$3"; else
		echo "# got '$1', wanted '$2'"
		ok 1 "$3"
	fi
}

between()	# between GOT LOW HIGH TEXT
{
	if [ -n "$1" ] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; then
		ok 0 "$4 ($1)"
	else
		echo "# got '$1', wanted $2 to $3"
		ok 1 "$4"
	fi
}

finish()
{
	echo "1..$N"
	exit $((BAD > 0))
}

have_series() { [ -e /proc/softirq_stat ]; }
# A detector of mistakes is built in, so that what is measured by time cannot be
is_slow() { [ -e /proc/lockdep ] || [ -e /sys/kernel/debug/kcsan ]; }
is_rt() { uname -v | grep -q PREEMPT_RT; }

set_knob() { echo "$2" >"$SYS/$(echo "$1" | tr . /)"; }

defaults()
{
	set_knob kernel.softirq_time_us 2000
	set_knob kernel.softirq_clock 0
	set_knob kernel.softirq_max_restart 10
	set_knob kernel.softirq_restart_policy 0
}

# stat COLUMN [CPU]: of /proc/softirq_stat, the sum if no CPU is given
stat()
{
	awk -v col="$1" -v cpu="${2:-all}" '
		$1 == "cpu" { for (i = 1; i <= NF; i++) if ($i == col) c = i; next }
		c && /^[0-9]/ && (cpu == "all" || $1 == cpu) { s += $c }
		END { if (c) print s + 0; else print "none" }' /proc/softirq_stat
}

nohz_messages() { dmesg | grep -c 'softirq work is pending'; }

# trouble PARAMETERS...: load the module, wait until it is done
trouble()
{
	insmod /mnt/softnet_trouble.ko "$@" || return 1
	i=0
	while [ "$(cat $PAR/done)" = 0 ] && [ $i -lt 300 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	[ "$(cat $PAR/done)" = 1 ]
}

trouble_end() { rmmod softnet_trouble; }

# the real one: busybox has its own, which knows less
IP=$(for f in /usr/bin/ip /usr/sbin/ip /sbin/ip; do [ ! -x $f ] || { echo $f; break; }; done)

# until SECONDS COMMAND...: whether it came true
until_true()
{
	limit=$1
	shift
	while [ "$limit" -gt 0 ]; do
		"$@" && return 0
		sleep 1
		limit=$((limit - 1))
	done
	return 1
}

# pktgen DELAY_NS [CPU]: a steady flow through a veth pair, all on CPU 0 or that one, until pktgen_end
pktgen()
{
	$IP link add va type veth peer name vb
	$IP link set va up
	$IP link set vb up
	sleep 0.5
	K=/proc/net/pktgen/kpktgend_${2:-0}
	echo "add_device va@0" >"$K"
	for c in "count 0" "pkt_size 60" "clone_skb 0" "dst_mac ff:ff:ff:ff:ff:ff" "dst 10.9.0.2" "delay $1"; do
		echo "$c" >/proc/net/pktgen/va@0
	done
	echo start >/proc/net/pktgen/pgctrl &
	P=$!
}

pktgen_end()
{
	echo stop >/proc/net/pktgen/pgctrl
	wait $P
	echo rem_device_all >"$K"
	$IP link del va
}

# with_daemon: softnetd and softnetctl of tests/vm/bundle can be called
with_daemon()
{
	export LD_LIBRARY_PATH=/mnt/softnetd/lib
	PATH=/mnt/softnetd:$PATH
	mkdir -p /etc/softnetd/profiles /run/softnetd
}

# daemon_start PROFILE: in the background, as $D; waits until it answers. One that was killed left its socket.
daemon_start()
{
	rm -f /run/softnetd/bus
	softnetd --config-dir /mnt/softnetd/config --profile "$1" >/tmp/daemon.log 2>&1 &
	D=$!
	until_true 60 test -S /run/softnetd/bus && return 0
	sed 's/^/# /' /tmp/daemon.log
	return 1
}

daemon_stop()
{
	kill -TERM $D
	wait $D && return 0
	sed 's/^/# /' /tmp/daemon.log
	return 1
}
