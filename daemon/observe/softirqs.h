/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/softirqs: a header of "CPUn" for every *possible* CPU, then one row per vector with one
 * 32-bit count per header column (fs/proc/softirqs.c). The other tables list online CPUs, so a
 * column belongs to the id its header names and to nothing else; ids may be missing in a cut table
 * (case A30), and need not ascend.
 */
#pragma once

#include "base/complaint.h"
#include "base/scan.h"
#include "model/snapshot.h"
#include "observe/columns.h"

/* One vector's row. counts[i] belongs to columns.cpu[i]. */
struct softirqs_row {
	unsigned line;
	struct slice name; /* in the text: "NET_RX" */
	uint32_t counts[CPU_ID_MAX];
};

/* A walk over one text: plain memory, no ownership, no allocation. 12 KiB: keep it with the sensor.
 */
struct softirqs_reader {
	struct slice rest;
	unsigned line;
	struct complaints *complaints;
	struct cpu_columns columns;
	struct softirqs_row row; /* after softirqs_next() returned true */
};

/*
 * Reads the header. -EINVAL when there is none or it is broken over two lines; why is in C (may be
 * NULL). TEXT must outlive the walk.
 */
int softirqs_begin(struct softirqs_reader *r, const char *text, size_t length,
		   struct complaints *c);
/* The next good row, false at the end. A row with more or fewer counts than the header has columns,
 * or with a count that is no 32-bit number, goes to the complaints; so does a line without a name.
 */
bool softirqs_next(struct softirqs_reader *r);

/*
 * The live sensor. HAVE_SOFTIRQS is set for the header's CPUs when the rows NET_TX and NET_RX,
 * which the decisions rest on, were good; another row that is missing leaves its counts 0 and is
 * named in S->source[SOURCE_SOFTIRQS], which is then SOURCE_STRANGE. CPUs beyond S->n_cpus are
 * skipped: possible ids may exceed what the topology counts.
 */
void softirqs_into_snapshot(const char *text, size_t length, struct softirqs_reader *r,
			    struct snapshot *s);
