#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion in bash and zsh, against the help texts and the settings that softnetctl has.
. tests/cli/host.bash
make_host
mkdir -p "$host/sys/devices/system/cpu/cpufreq/policy0"
put sys/devices/system/cpu/cpufreq/policy0/related_cpus "0 1"
put sys/devices/system/cpu/cpufreq/policy0/affected_cpus "0 1"
put sys/devices/system/cpu/cpufreq/policy0/scaling_governor schedutil
PATH=$BUILD:$PATH
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$tmp/none
here=(--root "$host" --config-dir "$PWD/config")

# bash LINE: what would be offered at its end, one a line, sorted.
in_bash() {
	LINE=$1 bash --norc -c '
		. config/completion/softnetctl
		COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_CWORD=1 COMP_WORDS=(softnetctl "")
		_softnetctl
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' | sort
}

# is NAME GOT WANT
is() { [ "$2" = "$3" ] && ok "$1" || not_ok "$1" "not \"$3\": $2"; }

verbs=$(softnetctl --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]\+\) .*/\1/p' | sort)
options=$(softnetctl --help | sed -n '/^Options:/,/^$/s/.* \(--[a-z-]\+\) .*/\1/p' | sort)
settings=$(softnetctl "${here[@]}" get --json 2>/dev/null | jq -r '.[].setting' | sort -u)
is "all verbs" "$(in_bash "softnetctl ")" "$verbs"
is "all options" "$(in_bash "softnetctl --")" "$options"
for v in $verbs; do
	is "the options of $v" "$(in_bash "softnetctl $v --")" \
		"$(softnetctl "$v" --help | sed -n '/^Options:/,/^$/s/.* \(--[a-z-]\+\) .*/\1/p' | sort)"
done
is "a beginning" "$(in_bash "softnetctl sta")" status
is "nothing fits" "$(in_bash "softnetctl xyz")" ""
is "behind an option" "$(in_bash "softnetctl --json stat")" status
is "behind an option with its value" "$(in_bash "softnetctl --root /x stat")" status
is "no verb of that name" "$(in_bash "softnetctl frobnicate ")" ""

is "all settings" "$(in_bash "softnetctl get " | grep -v @)" "$(softnetctl complete -- get "" | cut -f1 | grep -v @ | sort)"
is "and those that get shows are among them" "$(comm -23 <(echo "$settings") <(in_bash "softnetctl get "))" ""
is "those that have targets" "$(in_bash "softnetctl get governor")" "$(printf 'governor\ngovernor@')"
# bash takes the word to begin behind the '@'.
is "their targets" "$(in_bash "softnetctl ${here[*]} get governor@")" "policy0"
is "without '@' among bash's separators" "$(COMP_WORDBREAKS=' ' LINE="softnetctl ${here[*]} get governor@" bash --norc -c '
	. config/completion/softnetctl; COMP_WORDBREAKS=" "; COMP_LINE=$LINE COMP_POINT=${#LINE}
	_softnetctl; echo "${COMPREPLY[@]}"')" "governor@policy0"
is "words of a setting" "$(in_bash "softnetctl set governor p")" "$(printf 'performance\npowersave')"
is "numbers are not guessed" "$(in_bash "softnetctl set netdev_budget ")" ""

profiles=$(softnetctl "${here[@]}" profile list --json | jq -r '.[].profile' | sort)
is "profile's verbs" "$(in_bash "softnetctl profile ")" "$(printf 'check\nclear\nlist\nset\nshow')"
is "profile set" "$(in_bash "softnetctl ${here[*]} profile set ")" "$profiles"
is "profile clear takes nothing" "$(in_bash "softnetctl profile clear ")" ""
is "profile check" "$(in_bash "softnetctl profile check config/profiles/ba")" config/profiles/balanced.conf
is "run" "$(in_bash "softnetctl ${here[*]} run thr")" throughput
is "run: the command" "$(in_bash "softnetctl run throughput softnetct")" softnetctl
is "run: the command, behind --" "$(in_bash "softnetctl run throughput -- softnetct")" softnetctl
is "run: its words" "$(in_bash "softnetctl run throughput cat config/softnetd.c" | head -1)" config/softnetd.catalog
is "decode" "$(in_bash "softnetctl decode soft")" "$(printf 'softirqs\nsoftnet-stat')"
is "decode: a file" "$(in_bash "softnetctl decode kmsg READ")" README.md
is "an option's file" "$(in_bash "softnetctl record -o READ")" README.md
is "an option's directory" "$(in_bash "softnetctl --root=daemon/s")" daemon/serve
is "an option's profile, behind '='" "$(in_bash "softnetctl replay ${here[*]} --profile=bal")" balanced
is "--help has no hidden verb" "$(softnetctl --help | grep -c ' complete ')" 0

start_daemon --mode apply || not_ok "starts" "$(cat "$tmp/log")"
ctl set netdev_budget 600 >/dev/null
is "explain" "$(in_bash "softnetctl ${here[*]} explain ")" netdev_budget-manual
is "silence: no advice" "$(in_bash "softnetctl ${here[*]} silence ")" ""
ctl silence netdev_budget-squeezed >/dev/null
is "unsilence" "$(in_bash "softnetctl ${here[*]} unsilence ")" netdev_budget-squeezed
stop_daemon

# The function as zsh would call it, with what it calls of zsh's completion put in its place.
in_zsh() { # WORDS… (the last one is typed at)
	zsh -f -c '
		fpath=($PWD/config/completion $fpath)
		autoload -Uz _softnetctl
		_describe() { print -rl -- "${(@P)2}" }
		_files() { print -r -- files "$@" }
		_hosts() { print hosts }
		_normal() { print -r -- "command $CURRENT: $words" }
		compset() { : }
		words=(softnetctl "$@") CURRENT=$(($# + 1)) PREFIX=${argv[-1]}
		_softnetctl' zsh "$@"
}
if ! command -v zsh >/dev/null; then
	skip "zsh" "no zsh"
else
	is "zsh: verbs" "$(in_zsh "" | cut -d: -f1 | sort)" "$verbs"
	is "zsh: what they are for" "$(in_zsh stat)" "status:Show what softnetd sees, what binds, and what it changed"
	is "zsh: settings" "$(in_zsh get netdev_max)" \
		"netdev_max_backlog:$(softnetctl complete -- get netdev_max | cut -f2)"
	is "zsh: profiles" "$(in_zsh "${here[@]}" profile show thr)" throughput
	is "zsh: a file" "$(in_zsh decode kmsg "")" files
	is "zsh: a directory" "$(in_zsh --root "")" "files -/"
	is "zsh: a host" "$(in_zsh -H "")" hosts
	is "zsh: a command" "$(in_zsh run throughput -- ls -l "")" "command 3: ls -l "
	is "zsh: a command begins" "$(in_zsh run throughput l)" "command 1: l"
fi
echo "1..$n"
