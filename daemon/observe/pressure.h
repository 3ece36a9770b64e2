/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/pressure/cpu and /proc/pressure/irq: µs of stall since boot
 * (Documentation/accounting/psi.rst). irq has only a "full" line (kernel/sched/psi.c: only_full),
 * and exists only with CONFIG_IRQ_TIME_ACCOUNTING, which Debian's kernels do not have
 * (kernel-facts 1.2). With psi=0 on the command line an open file answers EOPNOTSUPP.
 */
#pragma once

#include "model/snapshot.h"

/* A pressure that has no "some" line gets some_usec = full_usec: who stalls fully stalls. False,
 * and RET untouched, when the text has no total. */
bool pressure_parse(const char *text, size_t length, struct pressure *ret);
