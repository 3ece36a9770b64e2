/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/stat: time per CPU in USER_HZ ticks, one row "cpuN" per online CPU; and the line "intr",
 * which has one total per interrupt number (fs/proc/stat.c, show_all_irqs()). Rows are taken by
 * their name, never by position; a kernel may print fewer columns than today's ten, but not fewer
 * than four.
 */
#pragma once

#include "base/scan.h"
#include "model/snapshot.h"

struct stat_reading {
	struct cpuset online; /* CPUs that have a row */
	struct slice intr; /* what follows "intr TOTAL": the count of interrupt 0, 1, 2 …; empty
			    * when there is no such line. Points into the text */
};

/*
 * Fills S->cpu[] with HAVE_STAT; CPUs of S->n_cpus and above are only noted in RET->online.
 * S->source[SOURCE_STAT] becomes SOURCE_OK, or SOURCE_STRANGE with the first line that is wrong;
 * good rows count in either case.
 */
void stat_into_snapshot(const char *text, size_t length, struct snapshot *s,
			struct stat_reading *ret);
