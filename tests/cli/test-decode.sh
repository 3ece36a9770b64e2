#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# softnetctl decode: what it prints, from where it reads, and what it says when it cannot.
# The answers themselves are tested by tests/unit/test-cases.
set -u
cd "$(dirname "$0")/../.." || exit 1
ctl=$BUILD/softnetctl
cases=tests/replay/cases
n=0

check() { # what condition…
	n=$((n + 1))
	local what=$1
	shift
	if "$@"; then echo "ok $n - $what"; else echo "not ok $n - $what"; fi
}
has() { grep -qF -- "$1" <<<"$out"; }
line_is() { grep -qxE -- "$1" <<<"$out"; }
status_is() { [ "$rc" -eq "$1" ]; }
run() { out=$("$ctl" "$@" 2>&1 </dev/null); rc=$?; }

run decode kmsg $cases/40-kmsg-powerclamp-reverse-order-80.txt
check "kmsg: ends with 0" status_is 0
check "kmsg: a mask of 80 is explained as not network" has "SCHED only: not network"
check "kmsg: the table has one line per event" line_is ' +2 nohz-pending +80 SCHED +no +NOHZ: local_softirq_pending 80'

run decode softnet-stat $cases/04-softnet-9col-wrapped-by-terminal.txt
check "softnet-stat: a dump of which nothing is left: ends with 1" status_is 1
check "softnet-stat: every refused line is named" has "line 8: row refused"

run decode softnet-stat $cases/06-softnet-10col-4cpu-one-drop.txt
check "softnet-stat: rows without an id are called rows" line_is 'row 3 +14127 +1 +0 +0 +- +-'
check "softnet-stat: a lifetime count is called one" has "since boot"
check "softnet-stat: findings start on a line of their own" line_is '- Rows of fewer than 13 columns.*'

run decode interrupts $cases/64-interrupts-x86-8cpu-row-without-handler.txt
check "interrupts: a shared row is named whole" line_is ' 16 +29 ehci_hcd:usb1, mmc0'
check "interrupts: a row without a handler is said" has "Without a handler: 1."

run decode softirqs $cases/71-softirqs-azure-2vcpu-128-columns-cut.txt
check "softirqs: busiest CPU" line_is 'NET_RX +90982 +CPU 1 +52 % +2'

out=$("$ctl" decode --json kmsg - <$cases/20-kmsg-oldword-08-three.txt)
rc=$?
check "standard input, JSON" has '"mask": 8'
check "standard input: ends with 0" status_is 0
a=$("$ctl" decode softirqs --json $cases/71-softirqs-azure-2vcpu-128-columns-cut.txt)
b=$("$ctl" --json decode softirqs - <$cases/71-softirqs-azure-2vcpu-128-columns-cut.txt)
check "--json before and behind the verb, file and standard input: the same" [ "$a" = "$b" ]

run decode kmsg /nonexistent
check "a file that is not there: ends with 1" status_is 1
check "a file that is not there is named" has "/nonexistent: No such file or directory"
run decode kmsg .
check "a directory: ends with 1" status_is 1
run decode softirq $cases/71-softirqs-azure-2vcpu-128-columns-cut.txt
check "an unknown kind: ends with 2" status_is 2
check "an unknown kind: the nearest is offered" has 'did you mean "softirqs"?'
run decode kmsg
check "no file: ends with 2" status_is 2
run decode --help
check "--help: ends with 0" status_is 0
check "--help: names the kinds" has "/proc/net/softnet_stat"

out=$(head -c 300000 /dev/urandom | "$ctl" decode --json interrupts -)
rc=$?
check "noise: ends with 1" status_is 1
check "noise: and has no interrupts" has '"irqs": []'
out=$(echo "all is well" | "$ctl" decode kmsg - 2>&1)
rc=$?
check "a log without such lines is a good one: ends with 0" status_is 0
run decode softirqs $cases/06-softnet-10col-4cpu-one-drop.txt
check "another file: ends with 1" status_is 1
check "another file: says so" has "can be read as softirqs: another file"
out=$("$ctl" decode kmsg - <$cases/24-kmsg-exactly-ten-then-silence-08.txt 2>&1 >/dev/full)
rc=$?
check "a full disk: ends with 1" status_is 1

echo "1..$n"
