#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# softnetctl run: the command's exit status, signals and streams, and how long its profile is held.
. tests/cli/host.bash
make_host

# What a command is to leave behind, to see that it ran.
marker=$tmp/marker
ran() { [ -e "$marker" ] && rm "$marker"; }

chosen() { ctl status --json | jq -r '.daemon | .profile + ": " + .profile_chosen_by'; }

# soon NAME WORDS: within five seconds the chosen profile is that.
soon() {
	local now
	for _ in {1..100}; do
		now=$(chosen)
		[[ $now == "$2" ]] && ok "$1" && return
		sleep 0.05
	done
	not_ok "$1" "it is $now"
}

# --- without a daemon ---
expect "no daemon" 3 "touch was not run" ctl run throughput -- touch "$marker"
ran && not_ok "… and no command" || ok "… and no command"
expect "no daemon, --best-effort" 0 "runs without profile throughput" \
	ctl run throughput --best-effort -- touch "$marker"
ran && ok "… runs it" || not_ok "… runs it"
expect "… with its exit status" 42 "" ctl run --best-effort throughput -- sh -c 'exit 42'

expect "no profile" 2 "wants PROFILE" ctl run
expect "no command" 2 "wants PROFILE" ctl run throughput
expect "no command behind --" 2 "wants PROFILE" ctl run throughput --
expect "an option that run does not have" 2 "takes no --duration" ctl run throughput -d 3 -- true
expect "--reason where it means nothing" 2 "takes no --reason" ctl status --reason x

start_daemon --mode apply || not_ok "starts" "$(cat "$tmp/log")"
soon "before" "balanced: default"

# --- exit statuses ---
expect "fine" 0 "" ctl run throughput -- true
expect "the command's status" 42 "" ctl run throughput -- sh -c 'exit 42'
expect "killed by a signal" 137 "" ctl run throughput -- sh -c 'kill -KILL $$'
expect "no such command" 127 "No such file" ctl run throughput -- "$tmp/nothing"
expect "not executable" 126 "ermission denied" ctl run throughput -- "$host/proc/stat"
expect "no such profile" 1 "did you mean throughput" ctl run throughputt -- touch "$marker"
ran && not_ok "… and no command" || ok "… and no command"
expect "no such profile, --best-effort" 0 "runs without profile" \
	ctl run throughputt --best-effort -- touch "$marker"
ran && ok "… runs it" || not_ok "… runs it"

# --- streams and words ---
[ "$(echo in | ctl run throughput -- cat)" = in ] && ok "standard input and output" ||
	not_ok "standard input and output"
[ "$(ctl run throughput echo --json -n 3 -- x)" = "--json -n 3 -- x" ] && ok "options of the command are its own" ||
	not_ok "options of the command are its own" "$(ctl run throughput echo --json -n 3 -- x 2>&1)"

# --- in force from the first instruction on, and then no more ---
now=$(ctl run throughput -- "$BUILD/softnetctl" --root "$host" status --json |
	jq -r '.daemon | .profile + ": " + .profile_chosen_by')
[[ $now == "throughput: hold by pid "*": $BUILD/softnetctl --root "* ]] && ok "in force when the command begins" ||
	not_ok "in force when the command begins" "$now"
soon "and gone with it" "balanced: default"
now=$(ctl run throughput --reason "the nightly copy" -- "$BUILD/softnetctl" --root "$host" status)
[[ $now == *"profile throughput (hold by pid "*": the nightly copy)"* ]] && ok "--reason is shown" ||
	not_ok "--reason is shown" "$now"
[[ $now == *"held: throughput by pid "*": the nightly copy"* ]] && ok "status lists the hold" ||
	not_ok "status lists the hold" "$now"
now=$(ctl run throughput -- "$BUILD/softnetctl" --root "$host" run powersave -- \
	"$BUILD/softnetctl" --root "$host" status --json | jq -rc '[.daemon.profile, (.holds | map(.profile))]')
[ "$now" = '["powersave",["throughput","powersave"]]' ] && ok "the newest hold counts" ||
	not_ok "the newest hold counts" "$now"

# --- over a choice by hand ---
ctl profile set powersave >/dev/null
now=$(ctl run throughput -- "$BUILD/softnetctl" --root "$host" status --json | jq -r .daemon.profile)
[ "$now" = throughput ] && ok "a hold counts more than a choice by hand" ||
	not_ok "a hold counts more than a choice by hand" "$now"
soon "which is back after it" "powersave: manual"
ctl profile clear >/dev/null

# --- signals ---
wait_for_marker() {
	for _ in {1..100}; do [ -e "$marker" ] && rm "$marker" && return; sleep 0.05; done
	not_ok "the command began"
}
for s in TERM INT HUP; do
	# A background command of a shell has SIGINT ignored; env puts it right.
	env --default-signal=INT "$BUILD/softnetctl" --root "$host" run throughput -- \
		bash -c "trap 'exit 7' $s; touch $marker; while :; do sleep 0.05; done" &
	p=$!
	wait_for_marker
	kill -"$s" $p
	wait $p
	got=$?
	[ $got -eq 7 ] && ok "SIG$s is handed on" || not_ok "SIG$s is handed on" "exit status $got"
done
soon "and nothing is held" "balanced: default"

# --- softnetctl is killed, the command runs on ---
"$BUILD/softnetctl" --root "$host" run throughput -- \
	bash -c "echo \$\$ >$tmp/command; touch $marker; while [ ! -e $tmp/end ]; do sleep 0.05; done" &
p=$!
wait_for_marker
command=$(cat "$tmp/command")
kill -KILL $p
wait $p 2>/dev/null
sleep 0.5
kill -0 "$command" && ok "the command survives softnetctl" || not_ok "the command survives softnetctl"
now=$(chosen)
[[ $now == "throughput: hold by pid $command: bash"* ]] && ok "and keeps its profile" || not_ok "and keeps its profile" "$now"
touch "$tmp/end"
soon "until it ends" "balanced: default"

# --- killed before the command begins: a daemon that answers late ---
kill -STOP "$daemon"
"$BUILD/softnetctl" --root "$host" run throughput -- touch "$marker" &
p=$!
sleep 0.3
kill -KILL $p
wait $p 2>/dev/null
kill -CONT "$daemon"
soon "killed while it asks: nothing is held" "balanced: default"
ran && not_ok "and no command" || ok "and no command"

# --- the settings follow, and everything goes back ---
[ "$(value netdev_budget)" = 300 ] && ok "settings are the originals again" ||
	not_ok "settings are the originals again" "$(value netdev_budget)"
expect "history tells" 0 "profile throughput is in force: hold by pid" ctl history
expect_json "history -n" 'length == 2' ctl history -n 2 --json
expect "history -n 0" 2 "no number of lines" ctl history -n 0
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip "another user may not hold" "not root, or no setpriv"
else
	cp "$BUILD/softnetctl" "$tmp/softnetctl"
	chmod 0755 "$tmp/softnetctl"
	expect "another user may not hold" 4 "was not run" setpriv --reuid=65534 --regid=65534 \
		--clear-groups "$tmp/softnetctl" --root "$host" run throughput -- true
fi
stop_daemon

# --- a profile that comes by itself ---
make_host
cp -r config "$tmp/conf"
cat >"$tmp/conf/profiles/web.conf" <<-'END'
	match = ( { unit = "nginx.service"; kernel = "6.*"; } );
	priority = 3;
	busy_poll = 50;
END
put sys/fs/cgroup/cgroup.controllers cpu
put sys/fs/cgroup/system.slice/nginx.service/cgroup.events "populated 1"
expect "profile show tells when" 0 "in force by itself with unit nginx.service and kernel 6.*, priority 3" \
	"$BUILD/softnetctl" --root "$host" --config-dir "$tmp/conf" profile show web
start_daemon --mode apply --config-dir "$tmp/conf" || not_ok "starts" "$(cat "$tmp/log")"
soon "its unit is active" "web: match unit nginx.service and kernel 6.*"
[ "$(value busy_poll)" = 50 ] && ok "and its settings are" || not_ok "and its settings are" "$(value busy_poll)"
stop_daemon
echo "1..$n"
