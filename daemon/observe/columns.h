/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The header of /proc/softirqs and /proc/interrupts: "CPU0 CPU1 …", one word per column. The first
 * lists possible CPUs, the second online ones, so columns are matched by id and never by position.
 */
#pragma once

#include "base/complaint.h"
#include "base/cpuset.h"
#include "base/scan.h"

/* Column i counts CPU cpu[i]. */
struct cpu_columns {
	unsigned n;
	uint16_t cpu[CPU_ID_MAX];
};

/* True for a line of "CPUn" words and nothing else. */
bool cpu_columns_line(struct slice line);

/*
 * Reads the header in *REST and leaves *REST behind it; *LINE is counted on. Lines before it (a
 * shell prompt in a paste) are skipped with one complaint to C, which may be NULL. -EINVAL, with a
 * complaint: there is no header, it names a CPU twice or one of CPU_ID_MAX or more, or it goes on
 * in the next line: then a terminal or mail broke the lines (case C08), and no row below has all
 * its columns.
 */
int cpu_columns_read(struct slice *rest, unsigned *line, struct cpu_columns *ret,
		     struct complaints *c);
