/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives back what the ledger holds, at stop, by `softnetctl restore`, and at the next start after a
 * crash. Per setting, canonically compared:
 *
 *   now = original   → drop the entry
 *   now = written    → write the original, read back, drop the entry
 *   anything else    → somebody else's now: leave it, name it, drop the entry
 *   identity is gone → skip it and say so, drop the entry (a reused IRQ number is never written to)
 *   another boot     → void: say so, drop the entry
 *   cannot be read or written now → say so, keep the entry for a later try
 *   unknown setting (a newer softnetd's) → say so, keep the entry
 *
 * Interrupted at any point it can simply be run again.
 */
#pragma once

#include "act/act.h"

struct restore_item {
	enum tunable_id tunable; /* _TUNABLE_MAX: a setting this softnetd does not know */
	char setting[64];        /* its id, also when not known */
	char identity[IDENTITY_MAX];
	enum restore_verdict {
		RESTORE_WRITTEN, /* the original was written back */
		RESTORE_WAS_SO,  /* the original was there already */
		RESTORE_FOREIGN, /* somebody else changed it meanwhile: left */
		RESTORE_GONE, /* the target does not exist any more, or the entry is of another boot
			       */
		RESTORE_FAILED, /* could not be given back: entry kept */
	} verdict;
	int error; /* RESTORE_FAILED, or when the ledger could not be updated */
	char original[VALUE_MAX], now[VALUE_MAX];
	char text[256];
};
const char *restore_verdict_to_string(enum restore_verdict v);

struct restore_report {
	struct restore_item *item;
	size_t n, failed;
};
void restore_report_done(struct restore_report *r);

/*
 * In the reverse order of the ledger, but a policy's governor and EPP in the order that works (see
 * act/cpufreq.c). Returns 0 when nothing failed, else the first error; the report is filled either
 * way. An actuator with ACT_DRY_RUN reports what would be done, and changes nothing.
 */
int restore_all(struct actuator *a, struct ledger *l, const struct topology *t,
		struct restore_report *ret);
