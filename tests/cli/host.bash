# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the test scripts: TAP lines, and a small captured host.
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() { n=$((n + 1)); echo "not ok $n - $1"; sed 's/^/# /' <<<"${2-}"; }
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }

tmp=$(mktemp -d)
pids=()
cleanup() {
	local p
	for p in "${pids[@]}"; do
		kill -KILL "$p" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap cleanup EXIT

put() { # FILE TEXT
	mkdir -p "$(dirname "$host/$1")"
	printf '%s\n' "$2" >"$host/$1"
}

softnet_stat() { # PROCESSED0 DROPPED0 PROCESSED1 DROPPED1
	local zeroes
	zeroes=$(printf '00000000 %.0s' {1..10})
	printf '%08x %08x %s%08x 00000000 00000000\n' "$1" "$2" "$zeroes" 0 "$3" "$4" "$zeroes" 1
}

# $host: two CPUs, the receive settings, quiet counters.
make_host() {
	host=$(mktemp -d "$tmp/host-XXXXXX")
	chmod 0755 "$tmp" "$host"
	put proc/net/softnet_stat "$(softnet_stat 0 0 0 0)"
	put proc/softirqs "                    CPU0       CPU1
          HI:          0          0
       TIMER:        100        100
      NET_TX:          0          0
      NET_RX:          0          0
       BLOCK:          0          0
    IRQ_POLL:          0          0
     TASKLET:          0          0
       SCHED:          0          0
     HRTIMER:          0          0
         RCU:          0          0"
	put proc/stat "cpu  20 0 20 2000 0 0 0 0 0 0
cpu0 10 0 10 1000 0 0 0 0 0 0
cpu1 10 0 10 1000 0 0 0 0 0 0
intr 0"
	put proc/interrupts "           CPU0       CPU1
  1:          0          0   IO-APIC   1-edge      i8042"
	put proc/net/dev "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0"
	put proc/sys/kernel/osrelease 6.1.0-captured
	put proc/sys/kernel/hostname captured
	put proc/sys/net/core/netdev_budget 300
	put proc/sys/net/core/netdev_budget_usecs 8000
	put proc/sys/net/core/dev_weight 64
	put proc/sys/net/core/netdev_max_backlog 1000
	put proc/sys/net/core/busy_poll 0
	put proc/sys/net/core/busy_read 0
	put sys/devices/system/cpu/online 0-1
	put sys/devices/system/cpu/possible 0-1
	put sys/devices/system/cpu/present 0-1
	put sys/devices/system/cpu/isolated ""
	mkdir -p "$host/run" "$host/sys/class/net/lo"
}

value() { cat "$host/proc/sys/net/core/$1"; }

ctl() { "$BUILD/softnetctl" --root "$host" --config-dir config "$@"; }

# Starts the daemon on $host and waits until it answers; $daemon is its pid, $tmp/log what it says.
start_daemon() {
	"$BUILD/softnetd" --root "$host" --config-dir config "$@" >"$tmp/log" 2>&1 &
	daemon=$!
	pids+=("$daemon")
	for _ in {1..200}; do
		ctl status >/dev/null 2>&1 && return 0
		kill -0 "$daemon" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

# Ends it as systemd would; $ended is its exit status.
stop_daemon() {
	kill -TERM "$daemon"
	wait "$daemon"
	ended=$?
}

# expect NAME STATUS WORDS COMMAND…: the exit status, and WORDS in what it says on either stream.
expect() {
	local name=$1 status=$2 words=$3 said got
	shift 3
	said=$("$@" 2>&1)
	got=$?
	if [ "$got" -ne "$status" ]; then
		not_ok "$name" "exit status $got, not $status: $said"
	elif [[ $said != *"$words"* ]]; then
		not_ok "$name" "no \"$words\" in: $said"
	else
		ok "$name"
	fi
}

# expect_json NAME FILTER COMMAND…: stdout is JSON for which the jq FILTER is true.
expect_json() {
	local name=$1 filter=$2 said
	shift 2
	said=$("$@" 2>/dev/null)
	if jq -e "$filter" <<<"$said" >/dev/null 2>&1; then
		ok "$name"
	else
		not_ok "$name" "not so: $filter: $said"
	fi
}
