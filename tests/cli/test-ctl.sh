#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# softnetctl without a daemon: usage, exit statuses, JSON, help and manual page.
. tests/cli/host.bash
make_host

mapfile -t verbs < <(ctl --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]\+\) .*/\1/p')
[ "${#verbs[@]}" -ge 10 ] && ok "help lists the verbs" || not_ok "help lists the verbs" "${verbs[*]}"

# Verbs of the manual page: what stands behind .TP in its section VERBS.
mapfile -t paged < <(awk '/^\.SH/ { on = /VERBS/ } on && tp && /^\.B/ { gsub(/"|\\~/, ""); gsub(/\\-/, "-"); print $2 } { tp = /^\.TP/ }' \
	man/softnetctl.1)
for v in "${verbs[@]}"; do
	expect "$v --help" 0 "softnetctl [OPTIONS] $v" ctl "$v" --help
	[[ " ${paged[*]} " == *" $v "* ]] && ok "$v is in the manual page" ||
		not_ok "$v is in the manual page" "it has ${paged[*]}"
done
for v in "${paged[@]}"; do
	[[ " ${verbs[*]} " == *" $v "* ]] || not_ok "manual page: $v" "softnetctl knows no such verb"
done
# And every option.
for o in $(ctl --help | grep -o -- '--[a-z-]\+' | sort -u); do
	grep -q -- "${o//-/\\\\-}" man/softnetctl.1 && ok "$o is in the manual page" ||
		not_ok "$o is in the manual page"
done

expect "no verb" 2 "Say what to do" ctl
expect "unknown verb" 2 'did you mean "status"' ctl staus
expect "unknown option" 2 'No option "--jsn"' ctl --jsn status
expect "option without its value" 2 "needs a value" "$BUILD/softnetctl" status --root
expect "too many words" 2 "too many words" ctl version now
expect "too few words" 2 "wants SETTING" ctl set netdev_budget
expect "-d where it means nothing" 2 "takes no --duration" ctl version -d 3
expect "-d that is no number" 2 "no number of seconds" ctl diagnose -d soon
expect "-d of no time" 2 "no number of seconds" ctl diagnose -d 0
expect "unknown profile verb" 2 'did you mean "check"' ctl profile chek
expect "profile show of nothing" 2 "wants NAME" ctl profile show
expect "--version" 0 "softnetctl " ctl --version
expect "root that is not there" 1 "Cannot open" "$BUILD/softnetctl" --root "$tmp/none" get

for v in status history explain "explain 3" "silence netdev_budget-squeezed" \
	"unsilence netdev_budget-squeezed" reload "set netdev_budget 400" "release netdev_budget" "profile set balanced" \
	"profile clear"; do
	# shellcheck disable=SC2086
	expect "$v: no daemon" 3 "not running" ctl $v
done
[ "$(value netdev_budget)" = 300 ] && ok "nothing was written" || not_ok "nothing was written"

expect "get" 0 "netdev_budget " ctl get
expect "get says that no daemon runs" 0 "softnetd is not running" ctl get netdev_budget
expect "get of an unknown setting" 2 'did you mean "netdev_budget"' ctl get netdev_bugdet
expect "get of an unknown target" 2 'no target "99"' ctl get irq_affinity@99
expect_json "get --json" '.[0].setting == "netdev_budget" and .[0].value == "300" and .[0].original == null' \
	ctl get netdev_budget --json
expect_json "--json before the verb" 'length > 10' ctl --json get
expect_json "what is not there is null" 'map(select(.setting == "softirq_time_us"))[0].value == null' \
	ctl --json get

expect "get says what is usual" 0 "kernel default" ctl get netdev_budget
put proc/sys/net/core/netdev_budget 299
expect_json "get says what is not" '.[0].source.kind == "found"' ctl get netdev_budget --json
put proc/sys/net/core/netdev_budget 300
expect_json "what is not there comes from nowhere" 'map(select(.setting == "softirq_time_us"))[0].source == null' \
	ctl --json get

expect "version" 0 "softnetd is not running" ctl version
expect_json "version --json" 'has("softnetctl") and .softnetd == null' ctl version --json

expect "profile list" 0 "balanced" ctl profile list
expect_json "profile list --json" 'map(.profile) | contains(["balanced", "realtime", "throughput"])' \
	ctl profile list --json
expect "profile show" 0 "netdev_budget" ctl profile show balanced
expect_json "profile show --json" '.settings.netdev_budget.kind == "range"' ctl profile show balanced --json
expect "profile show of one that is none" 1 'did you mean balanced' ctl profile show balnced
for p in config/profiles/*.conf; do
	expect "profile check $p" 0 "is a good profile" ctl profile check "$p"
done
printf 'description = "x";\nnetdev_bugdet = 300;\n' >"$tmp/bad.conf"
expect "profile check of a bad file" 1 "bad.conf:2: " ctl profile check "$tmp/bad.conf"
expect "… names the nearest key" 1 "netdev_budget" ctl profile check "$tmp/bad.conf"
expect_json "… --json" '.good == false and .complaints[0].line == 2' ctl profile check "$tmp/bad.conf" --json
expect "profile check of no file" 1 "$tmp/none.conf" ctl profile check "$tmp/none.conf"

# Parents before heirs, drop-ins behind what they are laid over.
mkdir -p "$tmp/conf/profiles/mine.conf.d" "$tmp/conf/profiles/parent.conf.d" "$tmp/conf/softnetd.conf.d"
echo 'profile = "mine";' >"$tmp/conf/softnetd.conf"
echo 'mode = "advise";' >"$tmp/conf/softnetd.conf.d/10-mode.conf"
echo 'netdev_budget = 400;' >"$tmp/conf/profiles/parent.conf"
echo 'netdev_budget = 450;' >"$tmp/conf/profiles/parent.conf.d/20.conf"
echo 'inherits = "parent";' >"$tmp/conf/profiles/mine.conf"
printf 'dev_weight = 32; # \377' >"$tmp/conf/profiles/mine.conf.d/10.conf"
conf() { "$BUILD/softnetctl" --root "$host" --config-dir "$tmp/conf" "$@"; }
expect "cat-config" 0 "# $tmp/conf/softnetd.conf
profile = \"mine\";

# $tmp/conf/softnetd.conf.d/10-mode.conf
mode = \"advise\";

# $tmp/conf/profiles/parent.conf
netdev_budget = 400;

# $tmp/conf/profiles/parent.conf.d/20.conf
netdev_budget = 450;

# $tmp/conf/profiles/mine.conf
inherits = \"parent\";

# $tmp/conf/profiles/mine.conf.d/10.conf
dev_weight = 32; # ?" conf cat-config
expect_json "cat-config --json" 'map(.file | sub(".*/conf/"; "")) == ["profiles/parent.conf",
	"profiles/parent.conf.d/20.conf"] and .[0].text == "netdev_budget = 400;\n"' conf cat-config parent --json
expect "cat-config of no profile" 1 "did you mean parent" conf cat-config parents
echo 'inherits = "mine";' >>"$tmp/conf/profiles/parent.conf"
expect "cat-config of a loop" 1 "inherit each other" conf cat-config mine
echo 'mode = ' >"$tmp/conf/softnetd.conf.d/20-bad.conf"
expect "cat-config names a file that it cannot read" 1 "20-bad.conf:" conf cat-config
expect "… and shows the others" 1 'mode = "advise"' conf cat-config

# A captured tree that stands still: no rates, and that is said.
expect "diagnose" 0 "Nothing binds" ctl diagnose -d 0.2
expect "diagnose says what it cannot see" 0 "no rates" ctl diagnose -d 0.2
expect_json "diagnose --json" 'keys_unsorted == ["host","symptoms","blind"] and .symptoms == []' \
	ctl diagnose -d 0.2 --json
[ ! -e "$host/run/softnetd" ] && ok "diagnose leaves no trace" || not_ok "diagnose leaves no trace" \
	"$(find "$host/run")"

# The same tree while it moves: CPU 0 drops.
(
	for i in $(seq 1 40); do
		# By mv, so that nobody ever reads half of it.
		softnet_stat $((i * 50000)) $((i * 5000)) $((i * 10)) 0 >"$tmp/next"
		mv "$tmp/next" "$host/proc/net/softnet_stat"
		sleep 0.1
	done
) &
mover=$!
expect_json "diagnose sees drops, and what would lift them" \
	'.symptoms[0] | .symptom == "backlog-drop" and .scope == "cpu 0" and (.evidence | length) > 1 and
	(.advice[0] | .setting == "netdev_max_backlog" and .from == "1000" and
	(keys_unsorted == ["id","setting","from","to","why","command"]) and
	(.command | startswith("sysctl -w net.core.netdev_max_backlog=")))' \
	ctl diagnose -d 2 --json
expect "diagnose: something binds" 5 "backlog-drop" ctl diagnose -d 1.5
kill "$mover" 2>/dev/null
wait "$mover" 2>/dev/null
[ "$(value netdev_max_backlog)" = 1000 ] && ok "advice is not action" || not_ok "advice is not action"

expect "restore with nothing to restore" 0 "Nothing to give back" ctl restore
expect_json "restore --json" '.restored == [] and .failed == 0' ctl restore --json

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip "restore needs root" "not root, or no setpriv"
elif [ -e /run/softnetd/bus ]; then
	skip "restore needs root" "softnetd runs on this host"
else
	cp "$BUILD/softnetctl" "$tmp/softnetctl"
	# On the live host, but refused before anything is looked at.
	expect "restore needs root" 4 "needs root" env DBUS_SYSTEM_BUS_ADDRESS="unix:path=$tmp/none" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/softnetctl" restore
fi

if [ -e /dev/full ]; then
	ctl get >/dev/full 2>"$tmp/said"
	[ $? -eq 1 ] && grep -q "Cannot write" "$tmp/said" && ok "full disk" || not_ok "full disk" "$(cat "$tmp/said")"
else
	skip "full disk" "no /dev/full"
fi

echo "1..$n"
