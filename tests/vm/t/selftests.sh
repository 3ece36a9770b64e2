#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kselftests of the series, first of all "sysctls", which looks at the
# defaults after boot. Their single results go on as ours.
. /mnt/t/lib.sh

cd /mnt/selftests || exit 1
for t in sysctls reasons busy_read_follow busy_poll_budget.sh flip; do
	./$t >/tmp/out 2>&1
	rc=$?
	if [ $rc = 4 ]; then
		skip "$t: $(sed -n 's/^1..0 # SKIP *//p' /tmp/out)"
		continue
	fi
	grep '^#' /tmp/out
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' /tmp/out)
	while read -r line; do
		case $line in
		"ok "*"# SKIP"*) skip "$t: ${line#ok * }" ;;
		"ok "*) ok 0 "$t: ${line#ok * }" ;;
		"not ok "*) ok 1 "$t: ${line#not ok * }" ;;
		esac
	done <<R
$(grep -E '^(not )?ok ' /tmp/out)
R
	is "$(grep -cE '^(not )?ok ' /tmp/out)" "$plan" "$t: all of its tests ran"
	[ $rc = 0 ] || [ $BAD -gt 0 ] || ok 1 "$t: ended with $rc"
done
finish
