#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The results of the KUnit suite, which ran at boot.
. /mnt/t/lib.sh

f=/sys/kernel/debug/kunit/softirq/results
[ -r $f ]
ok $? "KUnit suite softirq is there"
for t in default policies frozen_clock flip budget hz; do
	grep -q "^ *ok [0-9]* softirq_test_$t\$" $f
	ok $? "KUnit softirq_test_$t"
done
is "$(grep -c '^ *not ok' $f)" 0 "KUnit: nothing failed"
[ $BAD = 0 ] || sed 's/^/# /' $f
finish
