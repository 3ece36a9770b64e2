#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# softnetctl over a message bus of the test's own: the same answers as over the socket, and who may
# change what. softnetd works on a captured tree; nothing here reaches this host's bus.
. tests/cli/host.bash

if ! command -v dbus-daemon >/dev/null; then
	skip "the message bus" "no dbus-daemon"
	echo "1..$n"
	exit 0
fi
if [ -e /run/softnetd/bus ]; then
	skip "the message bus" "softnetd runs on this host"
	echo "1..$n"
	exit 0
fi

chmod 0755 "$tmp"
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$tmp/system-bus
cat >"$tmp/bus.conf" <<-END
	<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
	 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
	<busconfig>
	  <type>custom</type>
	  <listen>$DBUS_SYSTEM_BUS_ADDRESS</listen>
	  <auth>EXTERNAL</auth>
	  <policy context="default">
	    <allow user="*"/>
	    <deny own="*"/>
	    <deny send_type="method_call"/>
	    <allow send_type="signal"/>
	    <allow send_requested_reply="true" send_type="method_return"/>
	    <allow send_requested_reply="true" send_type="error"/>
	    <allow receive_type="method_call"/>
	    <allow receive_type="method_return"/>
	    <allow receive_type="error"/>
	    <allow receive_type="signal"/>
	    <allow send_destination="org.freedesktop.DBus"/>
	  </policy>
	  <policy user="$(id -u)"><allow own="org.softnetd1"/></policy>
	  <include>$PWD/config/org.softnetd1.conf</include>
	</busconfig>
END

# Returns when it listens.
start_bus() {
	local address
	coproc DBUS { exec dbus-daemon --nofork --nopidfile --config-file="$tmp/bus.conf" --print-address=1 2>/dev/null; }
	bus=$DBUS_PID
	pids+=("$bus")
	read -r address <&"${DBUS[0]}"
}

# Waits until softnetd has its name, or has it no more.
await_name() { # true|false
	for _ in {1..1200}; do
		[ "$(busctl --address="$DBUS_SYSTEM_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus \
			org.freedesktop.DBus NameHasOwner s org.softnetd1 2>/dev/null)" = "b $1" ] && return 0
		sleep 0.05
	done
	return 1
}

bus_ctl() { "$BUILD/softnetctl" --config-dir config "$@"; }

make_host
expect "no bus, no daemon" 3 "nor as org.softnetd1 on the system bus" bus_ctl status
expect "no daemon: set" 3 "not running" bus_ctl set netdev_budget 600
start_bus
expect "a bus, no daemon" 3 "not running" bus_ctl status
expect "a bus, no daemon: reload" 3 "not running" bus_ctl reload
start_daemon --mode apply --bus "$DBUS_SYSTEM_BUS_ADDRESS" || not_ok "starts" "$(cat "$tmp/log")"
await_name true && ok "softnetd is on the bus" || not_ok "softnetd is on the bus" "$(cat "$tmp/log")"

# --- the same answers ---
for words in "profile list" "profile show throughput" "get" "history" version; do
	# shellcheck disable=SC2086
	one=$(ctl $words --json 2>&1) two=$(bus_ctl $words --json 2>&1)
	[ -n "$one" ] && [ "$one" = "$two" ] && ok "$words: the same on both" ||
		not_ok "$words: the same on both" "$one / $two"
done
expect_json "status" '.daemon.pid == '"$daemon" bus_ctl status --json
expect "set" 0 "pinned by hand" bus_ctl set netdev_budget 600
[ "$(value netdev_budget)" = 600 ] && ok "it is written" || not_ok "it is written" "$(value netdev_budget)"
expect "set of nonsense" 2 "no number" bus_ctl set netdev_budget many
expect "explain of nothing" 2 "no change of that id" bus_ctl explain dev_weight-squeezed
expect "profile set" 0 "throughput is in force" bus_ctl profile set throughput
expect "profile set of one that is none" 1 "did you mean balanced" bus_ctl profile set balnced
expect "profile clear" 0 "balanced is in force" bus_ctl profile clear
[ "$(bus_ctl run throughput -- "$BUILD/softnetctl" status --json | jq -r .daemon.profile)" = throughput ] &&
	ok "run holds" || not_ok "run holds"
expect "release" 0 "netdev_budget" bus_ctl release netdev_budget
expect "restore" 0 "" bus_ctl restore
expect "reload" 0 "balanced is in force" bus_ctl reload

# --- who may do what ---
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip "another user on the bus" "not root, or no setpriv"
else
	cp "$BUILD/softnetctl" "$tmp/softnetctl"
	chmod 0755 "$tmp/softnetctl"
	other() {
		setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/softnetctl" "$@"
	}
	expect "another user reads" 0 "mode apply" other status
	for words in "set netdev_budget 600" "release netdev_budget" "profile set throughput" "profile clear" \
		"silence netdev_budget-squeezed" reload restore "run throughput -- true"; do
		# shellcheck disable=SC2086
		expect "another user: $words" 4 "needs root: there is no polkit" other $words
	done
	[ "$(value netdev_budget)" = 300 ] && ok "nothing was written" || not_ok "nothing was written"
fi

# --- another host, by an ssh that goes no farther than this bus ---
if ! command -v systemd-stdio-bridge >/dev/null; then
	skip "--host" "no systemd-stdio-bridge"
else
	mkdir "$tmp/bin"
	cat >"$tmp/bin/ssh" <<-END
		#!/bin/sh
		echo "\$*" >"$tmp/ssh-words"
		exec systemd-stdio-bridge --bus-path="$DBUS_SYSTEM_BUS_ADDRESS"
	END
	chmod 0755 "$tmp/bin/ssh"
	far() { PATH=$tmp/bin:$PATH DBUS_SYSTEM_BUS_ADDRESS=unix:path=$tmp/none "$BUILD/softnetctl" "$@"; }
	expect_json "-H: status" '.daemon.pid == '"$daemon" far -H admin@far status --json
	grep -q "admin@far" "$tmp/ssh-words" && ok "-H: is where ssh goes" || not_ok "-H: is where ssh goes" \
		"$(cat "$tmp/ssh-words")"
	expect "-H: set" 0 "pinned by hand" far -H far set netdev_budget 600
	expect "-H: release" 0 "netdev_budget" far -H far release netdev_budget
	expect "-H: get" 0 "netdev_budget" far get netdev_budget --host far
	printf '#!/bin/sh\nexit 255\n' >"$tmp/bin/ssh"
	expect "-H: nobody answers" 1 "Cannot reach the system bus of far" far -H far status
	expect "-H: nor is this host looked at instead" 1 "Cannot reach the system bus of far" far -H far get
	expect "-H: nor restored" 1 "Cannot reach the system bus of far" far -H far restore
fi
expect "-H: a verb of this host" 2 "decode takes no --host" bus_ctl -H far decode kmsg -
expect "-H: a command" 2 "run takes no --host" bus_ctl run -H far throughput -- true
expect "-H: a file of this host" 2 "of this host" bus_ctl -H far profile check config/profiles/balanced.conf
expect "-H: watching" 2 "watches this host" bus_ctl -H far diagnose -d 1
expect "-H and --root" 2 "Only one of" bus_ctl -H far --root "$host" status
expect "-M: no such container" 1 "container none-of-that-name" bus_ctl -M none-of-that-name status

# --- the bus goes and comes back ---
kill -TERM "$bus"
wait "$bus" 2>/dev/null
expect "without a bus, the socket" 0 "mode apply" ctl status
expect "without a bus, a change" 0 "pinned by hand" ctl set netdev_budget 500
start_bus
await_name true && ok "softnetd is on the new bus" || not_ok "softnetd is on the new bus" "$(cat "$tmp/log")"
expect "and answers" 0 "netdev_budget" bus_ctl get netdev_budget
[ "$(grep -c "message bus" "$tmp/log")" -eq 2 ] && ok "said once each" || not_ok "said once each" "$(cat "$tmp/log")"
stop_daemon
[ "$ended" -eq 0 ] && [ "$(value netdev_budget)" = 300 ] && ok "ends with everything given back" ||
	not_ok "ends with everything given back" "$(cat "$tmp/log")"
await_name false && ok "the name is gone" || not_ok "the name is gone"
kill -TERM "$bus"

echo "1..$n"
