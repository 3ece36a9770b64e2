#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# softnetd and softnetctl together, on a captured tree.
. tests/cli/host.bash

# --- usage ---
make_host
expect "softnetd --help" 0 "softnetd [OPTIONS]" "$BUILD/softnetd" --help
expect "softnetd --version" 0 "softnetd " "$BUILD/softnetd" --version
expect "unknown option" 2 "" "$BUILD/softnetd" --frobnicate
expect "a word" 2 "takes no words" "$BUILD/softnetd" start
expect "unknown mode" 2 "observe, advise or apply" "$BUILD/softnetd" --mode aply
expect "unknown profile" 1 "did you mean balanced" "$BUILD/softnetd" --root "$host" --config-dir config \
	--profile balnced
expect "root that is not there" 1 "Cannot open" "$BUILD/softnetd" --root "$tmp/none"
mkdir -p "$tmp/badconf/profiles"
printf 'mode = "aply";\n' >"$tmp/badconf/softnetd.conf"
expect "bad configuration" 1 "softnetd.conf:1: " "$BUILD/softnetd" --root "$host" --config-dir "$tmp/badconf"

# --- what it shows ---
make_host
start_daemon --mode apply && ok "starts" || not_ok "starts" "$(cat "$tmp/log")"
expect "status" 0 "profile balanced, mode apply" ctl status
expect "status: a healthy host" 0 "No setting of this host is changed" ctl status
expect_json "status --json" '.daemon.mode == "apply" and .daemon.pid == '"$daemon"' and (.cpus | length) == 2' \
	ctl status --json
expect_json "version --json" '.softnetd != null' ctl version --json
expect "history" 0 "Nothing was done" ctl history
expect_json "history --json" '. == []' ctl history --json
expect "profile list marks the active one" 0 "* balanced" ctl profile list
[ ! -e "$host/run/softnetd/ledger.json" ] && ok "a healthy host is not written to" ||
	not_ok "a healthy host is not written to" "$(cat "$host/run/softnetd/ledger.json")"

# --- one setting by hand ---
expect "set" 0 "pinned by hand" ctl set netdev_budget 600
[ "$(value netdev_budget)" = 600 ] && ok "it is written" || not_ok "it is written" "$(value netdev_budget)"
expect_json "get knows the original" '.[0].original == "300" and .[0].value == "600"' \
	ctl get netdev_budget --json
expect_json "get knows by whom" '.[0].source == {"kind": "manual", "text": "pinned by hand"}' \
	ctl get netdev_budget --json
expect_json "and by whom the others" '.[0].source.kind == "kernel-default"' ctl get netdev_max_backlog --json
put proc/sys/net/core/netdev_budget 601
expect_json "also when it was somebody else" '.[0].source | .kind == "foreign" and (.text | contains("600"))' \
	ctl get netdev_budget --json
put proc/sys/net/core/netdev_budget 600
expect_json "status holds it" '.changes[0] | .setting == "netdev_budget" and .original == "300"' \
	ctl status --json
expect "set of nonsense" 2 "no number" ctl set netdev_budget many
expect "set outside the caps" 2 "outside" ctl set netdev_budget 1000000
expect "set of an unknown setting" 2 "did you mean" ctl set netdev_bugdet 300
expect "set with a target that makes no sense" 2 "takes no target" ctl set netdev_budget@7 300
expect "release" 0 "netdev_budget" ctl release netdev_budget
[ "$(value netdev_budget)" = 300 ] && ok "it is given back" || not_ok "it is given back" "$(value netdev_budget)"

# --- what it remembers ---
expect "explain" 0 "netdev_budget: " ctl explain
expect "explain of an id" 0 "netdev_budget: 300 → 600 (done)" ctl explain netdev_budget-manual
expect "explain says by whom" 0 "by manual" ctl explain netdev_budget-manual
expect_json "explain --json" '.setting == "netdev_budget" and .to == "600" and .now == "300" and
	.overridden.by == "restore" and .verdict == null and .alternatives == []' ctl explain netdev_budget-manual --json
expect "explain of a number" 0 "number 1" ctl explain 1
expect "explain of nothing" 2 "no change of that id" ctl explain dev_weight-squeezed
expect "explain of a number that is none" 2 "holds 1 to" ctl explain 4711
expect "silence" 0 "netdev_budget-squeezed is silenced" ctl silence netdev_budget-squeezed
expect "status shows it" 0 "silenced: netdev_budget-squeezed, 0 times so far" ctl status
expect "silence of nonsense" 2 "no id of an advice" ctl silence netdev_budget
expect "unsilence" 0 "is said again" ctl unsilence netdev_budget-squeezed
expect "unsilence twice" 2 "not silenced" ctl unsilence netdev_budget-squeezed

# --- profiles ---
expect "profile set" 0 "throughput is in force" ctl profile set throughput
expect_json "… is seen" '.daemon.profile == "throughput" and .daemon.profile_chosen_by == "manual"' \
	ctl status --json
expect "profile set of one that is none" 1 "did you mean balanced" ctl profile set balnced
expect "… leaves the one in force" 0 "profile throughput (manual)" ctl status
expect "profile clear" 0 "balanced is in force" ctl profile clear
expect "profile set of one that states numbers" 0 "low-latency" ctl profile set low-latency
line=$(grep -n '^busy_poll = ' config/profiles/low-latency.conf | cut -d: -f1)
expect "its value comes from its file and line" 0 "profile low-latency, config/profiles/low-latency.conf:$line" \
	ctl get busy_poll
ctl profile clear >/dev/null
expect "reload" 0 "balanced is in force" ctl reload
[ "$(value netdev_budget)" = 300 ] && ok "what the other profile wanted went back" ||
	not_ok "what the other profile wanted went back" "$(value netdev_budget)"

# --- a second one ---
expect "second daemon" 1 "runs already, with pid $daemon" "$BUILD/softnetd" --root "$host" --config-dir config
expect "the first still answers" 0 "mode apply" ctl status

# --- the end ---
ctl set netdev_budget 700 >/dev/null
kill -USR1 "$daemon"
sleep 0.3
grep -q "profile balanced, mode apply" "$tmp/log" && ok "SIGUSR1 writes the status to the log" ||
	not_ok "SIGUSR1 writes the status to the log" "$(cat "$tmp/log")"
stop_daemon
[ "$ended" -eq 0 ] && ok "SIGTERM ends it with 0" || not_ok "SIGTERM ends it with 0" "$ended: $(cat "$tmp/log")"
[ "$(value netdev_budget)" = 300 ] && ok "the original is back" || not_ok "the original is back" "$(value netdev_budget)"
grep -q "netdev_budget" "$tmp/log" && grep -q 300 "$tmp/log" && ok "and it says so" || not_ok "and it says so" "$(cat "$tmp/log")"
[ ! -e "$host/run/softnetd/bus" ] && ok "the socket is gone" || not_ok "the socket is gone"
[ ! -e "$host/run/softnetd/ledger.json" ] && ok "the ledger is empty" || not_ok "the ledger is empty"

# --- restore, with and without it ---
start_daemon --mode apply || not_ok "starts again" "$(cat "$tmp/log")"
ctl set netdev_budget 600 >/dev/null
ctl set netdev_max_backlog 2000 >/dev/null
put proc/sys/net/core/netdev_max_backlog 5000
expect_json "restore through the daemon" '.failed == 0 and (.restored | length) == 2' ctl restore --json
[ "$(value netdev_budget)" = 300 ] && ok "ours went back" || not_ok "ours went back" "$(value netdev_budget)"
[ "$(value netdev_max_backlog)" = 5000 ] && ok "somebody else's stays" || not_ok "somebody else's stays"
[ "$(grep -c "somebody else made it 5000" "$tmp/log")" -eq 1 ] && ok "and is named once" ||
	not_ok "and is named once" "$(cat "$tmp/log")"
ctl set netdev_budget 650 >/dev/null
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
[ "$(value netdev_budget)" = 650 ] && ok "killed: the change is still there" || not_ok "killed: the change is still there"
expect "status after the kill" 3 "not running" ctl status
expect_json "get knows from the ledger" '.[0].original == "300"' ctl get netdev_budget --json
expect "restore without it" 0 "netdev_budget" ctl restore
[ "$(value netdev_budget)" = 300 ] && ok "the original is back after a crash" || not_ok "the original is back after a crash"

# --- configuration while it runs (openshift/cluster-node-tuning-operator#123) ---
cp -r config "$tmp/conf"
"$BUILD/softnetd" --root "$host" --config-dir "$tmp/conf" --mode apply >"$tmp/log" 2>&1 &
daemon=$!
pids+=("$daemon")
for _ in {1..100}; do ctl status >/dev/null 2>&1 && break; sleep 0.05; done
cp "$tmp/conf/profiles/balanced.conf" "$tmp/good.conf"
echo 'netdev_bugdet = 3;' >>"$tmp/conf/profiles/balanced.conf"
expect "reload of a bad file" 1 "balanced.conf:" ctl reload
expect "… keeps what runs" 0 "profile balanced, mode apply" ctl status
kill -HUP "$daemon"
sleep 0.5
grep -q "goes on with the one it has" "$tmp/log" && ok "SIGHUP says so too" || not_ok "SIGHUP says so too" "$(cat "$tmp/log")"
cp "$tmp/good.conf" "$tmp/conf/profiles/balanced.conf"
expect "the next good reload works" 0 "balanced is in force" ctl reload
stop_daemon
[ "$ended" -eq 0 ] && ok "ends with 0" || not_ok "ends with 0" "$(cat "$tmp/log")"

# --- on_stop = "keep": a restart writes nothing ---
make_host
cp -r config "$tmp/keep"
echo 'netdev_budget = 600;' >"$tmp/keep/profiles/stated.conf"
printf 'mode = "apply";\nprofile = "stated";\non_stop = "keep";\n' >"$tmp/keep/softnetd.conf"
start_keep() {
	"$BUILD/softnetd" --root "$host" --config-dir "$tmp/keep" >"$tmp/log" 2>&1 &
	daemon=$!
	pids+=("$daemon")
	for _ in {1..200}; do ctl status >/dev/null 2>&1 && return; sleep 0.05; done
}
# A captured file is replaced at each write: another inode.
written() { stat -c '%i %.9Y' "$host/proc/sys/net/core/netdev_budget"; }
start_keep
[ "$(value netdev_budget)" = 600 ] && ok "keep: the profile's value is written" || not_ok "keep: the profile's value is written"
before=$(written)
stop_daemon
[ "$ended" -eq 0 ] && [ "$(written)" = "$before" ] && [ -e "$host/run/softnetd/ledger.json" ] &&
	ok "keep: stop leaves value and ledger" || not_ok "keep: stop leaves value and ledger" "$(cat "$tmp/log")"
start_keep
expect_json "keep: the next start takes it over" '.[0] | .original == "300" and .value == "600" and
	.source.kind == "profile"' ctl get netdev_budget --json
[ "$(written)" = "$before" ] && ok "keep: … without a write" || not_ok "keep: … without a write" "$(cat "$tmp/log")"
sed -i '/on_stop/d' "$tmp/keep/softnetd.conf"
ctl reload >/dev/null
stop_daemon
[ "$(value netdev_budget)" = 300 ] && [ ! -e "$host/run/softnetd/ledger.json" ] &&
	ok "without keep the original is back" || not_ok "without keep the original is back" "$(cat "$tmp/log")"

# --- what systemd is told ---
make_host
if ! command -v perl >/dev/null; then
	skip "notify" "no perl"
else
	# What comes to $NOTIFY_SOCKET, one message a line of the log; it ends with the test.
	perl -MSocket -e 'socket(S, AF_UNIX, SOCK_DGRAM, 0) && bind(S, sockaddr_un($ARGV[0])) or die;
		open(L, ">>", $ARGV[1]) or die; select(L); $| = 1;
		while (defined recv(S, $m, 4096, 0)) { $m =~ s/\n/ | /g; print "$m\n" }' \
		"$tmp/notify" "$tmp/told" &
	pids+=($!)
	for _ in {1..200}; do [ -S "$tmp/notify" ] && break; sleep 0.05; done
	told() { # WORDS: within ten seconds
		for _ in {1..200}; do grep -qF -- "$1" "$tmp/told" 2>/dev/null && return; sleep 0.05; done
		return 1
	}
	export NOTIFY_SOCKET=$tmp/notify
	start_daemon --mode apply || not_ok "starts" "$(cat "$tmp/log")"
	unset NOTIFY_SOCKET
	told READY=1 && [ "$(head -1 "$tmp/told")" = "STATUS=balanced, apply: nothing binds; 0 settings changed" ] && ok "STATUS, then READY" ||
		not_ok "STATUS, then READY" "$(cat "$tmp/told")"
	: >"$tmp/told"
	kill -HUP "$daemon"
	# READY after RELOADING, whatever is told besides.
	told READY=1 && sed '/^READY=1$/,$d' "$tmp/told" | grep -q '^RELOADING=1 | MONOTONIC_USEC=[0-9]* | STATUS=' &&
		ok "RELOADING, then READY" || not_ok "RELOADING, then READY" "$(cat "$tmp/told")"
	ctl set netdev_budget 600 >/dev/null
	told "1 setting changed" && ok "STATUS says what is held" || not_ok "STATUS says what is held" "$(cat "$tmp/told")"
	stop_daemon
	told "STOPPING=1 | STATUS=Stopping" && ok "STOPPING" || not_ok "STOPPING" "$(cat "$tmp/told")"
fi

# --- modes ---
make_host
start_daemon --dry-run || not_ok "starts with --dry-run" "$(cat "$tmp/log")"
expect "--dry-run is advise" 0 "mode advise" ctl status
expect "set is refused" 1 "changes nothing" ctl set netdev_budget 600
[ "$(value netdev_budget)" = 300 ] && ok "and nothing was written" || not_ok "and nothing was written"
stop_daemon

# --- who may do what ---
make_host
start_daemon --mode apply || not_ok "starts" "$(cat "$tmp/log")"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip "another user" "not root, or no setpriv"
else
	cp "$BUILD/softnetctl" "$tmp/softnetctl"
	chmod 0755 "$tmp/softnetctl"
	other() {
		setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/softnetctl" --root "$host" "$@"
	}
	expect "another user reads" 0 "mode apply" other status
	expect "another user changes nothing" 4 "needs root" other set netdev_budget 600
	expect "… nor restores" 4 "needs root" other restore
	expect "… nor reloads" 4 "needs root" other reload
	[ "$(value netdev_budget)" = 300 ] && ok "nothing was written" || not_ok "nothing was written"
fi
stop_daemon

# --- the live view where stdout is no terminal: lines are appended ---
make_host
"$BUILD/softnetd" --root "$host" --config-dir config --mode apply --live >"$tmp/log" 2>&1 &
daemon=$!
pids+=("$daemon")
for _ in {1..100}; do ctl status >/dev/null 2>&1 && break; sleep 0.05; done
ctl set netdev_budget 600 >/dev/null
sleep 0.2
stop_daemon
grep -q "balanced, apply: nothing binds" "$tmp/log" && ok "--live shows the state" || not_ok "--live shows the state" "$(cat "$tmp/log")"
grep -q "netdev_budget: .* 600" "$tmp/log" && ok "--live shows what is done" || not_ok "--live shows what is done" "$(cat "$tmp/log")"
grep -q $'\033' "$tmp/log" && not_ok "no terminal codes in a file" || ok "no terminal codes in a file"
if command -v script >/dev/null; then
	make_host
	# On a terminal it is painted; Ctrl-C (a SIGINT to it) ends it with everything given back.
	(
		for _ in {1..100}; do ctl status >/dev/null 2>&1 && break; sleep 0.05; done
		ctl set netdev_budget 600 >/dev/null
		sleep 1.5
		kill -INT "$(ctl status --json | jq .daemon.pid)"
	) &
	timeout 30 script -qec "stty rows 30 cols 100; exec $BUILD/softnetd --root $host --config-dir config --mode apply --live" \
		/dev/null >"$tmp/log" 2>&1
	got=$?
	wait $!
	[ "$got" -eq 0 ] && grep -q $'\033\\[H' "$tmp/log" && grep -q "Seen and done" "$tmp/log" &&
		ok "--live paints on a terminal" || not_ok "--live paints on a terminal" "$got: $(cat -v "$tmp/log" | head -40)"
	[ "$(value netdev_budget)" = 300 ] && ok "Ctrl-C gives everything back" || not_ok "Ctrl-C gives everything back"
	# Why it does not start is said, although no picture was ever painted.
	timeout 30 script -qec "$BUILD/softnetd --root $host --config-dir config --profile balnced --live" \
		/dev/null >"$tmp/log" 2>&1
	[ $? -eq 1 ] && grep -q "did you mean balanced" "$tmp/log" && ok "--live that cannot start says why" ||
		not_ok "--live that cannot start says why" "$(cat -v "$tmp/log")"
else
	skip "--live paints on a terminal" "no script(1)"
	skip "--live that cannot start says why" "no script(1)"
fi

# --- every MESSAGE_ID is explained, and nothing else is ---
used=$(sed -n 's/^#define ID_.* "\([0-9a-f]\{32\}\)"$/\1/p' daemon/serve/journal.c | sort)
explained=$(sed -n 's/^-- \([0-9a-f]\{32\}\)$/\1/p' config/softnetd.catalog | sort)
[ -n "$used" ] && [ "$used" = "$explained" ] && ok "the catalog fits" || not_ok "the catalog fits" "$used / $explained"

echo "1..$n"
