#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual pages have no mistake that man would warn about, and systemd takes the unit and finds it
# closed enough.
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() { n=$((n + 1)); echo "not ok $n - $1"; sed 's/^/# /' <<<"$2"; }
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }

for page in man/*.[1-8]; do
	if ! command -v man >/dev/null || ! command -v groff >/dev/null; then
		skip "$page" "no man or groff"
	elif said=$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null) && [ -z "$said" ] &&
		said=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null) && [ -z "$said" ]; then
		ok "$page"
	else
		not_ok "$page" "$said"
	fi
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# The program is not installed where the unit looks for it; everything else must be right.
sed 's|^ExecStart=/usr/sbin/softnetd|ExecStart=/bin/true|' units/softnetd.service >"$tmp/softnetd.service"
if ! command -v systemd-analyze >/dev/null; then
	skip "unit" "no systemd-analyze"
	skip "unit's sandbox" "no systemd-analyze"
	skip "its open points" "no systemd-analyze"
else
	if said=$(systemd-analyze verify --man=no "$tmp/softnetd.service" 2>&1) && [ -z "$said" ]; then
		ok "unit"
	else
		not_ok "unit" "$said"
	fi
	# 25 is 2.5 of 10.
	if said=$(systemd-analyze security --offline=true --threshold=25 --no-pager \
		"$tmp/softnetd.service" 2>&1); then
		ok "unit's sandbox"
	else
		not_ok "unit's sandbox" "$(tail -1 <<<"$said")"
	fi
	# Each point that is still lost has its reason in units/README.md.
	missing=$(systemd-analyze security --offline=true --json=short --no-pager "$tmp/softnetd.service" 2>/dev/null |
		jq -r '.[] | select(.set == false and .exposure != null) | .name' |
		while read -r point; do
			grep -qF "| \`${point//|/\\|}\` |" units/README.md || echo "$point"
		done)
	[ -z "$missing" ] && ok "its open points have a reason" ||
		not_ok "its open points have a reason" "units/README.md says nothing of: $missing"
fi
