/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader's inside: trace-read.c has the lines and the first of them, trace-tick.c the others.
 */
#pragma once

#include <jansson.h>

#include "serve/trace-format.h"
#include "serve/trace-host.h"
#include "serve/trace-lines.h"
#include "serve/trace-read.h"
#include "serve/trace-scan.h"

#define CLOCK_LIMIT (INT64_C(1) << 60)     /* µs: any later is no clock */
#define GROUP_MAX   (1U + 2U * CPU_ID_MAX) /* numbers: an interrupt's counts on all CPUs */

struct trace_reader {
	struct trace_about about;
	struct profile *profile;
	struct trace_tick tick;
	struct snapshot *snapshot;
	struct values values;
	int64_t boot_offset;
	bool torn;
	int64_t number; /* of the tick read last; 0: none, or this recording has no numbers */
	uint64_t ticks;
	struct trace_lines lines;
	unsigned line;                   /* the number of the one read last */
	const struct trace_field *field; /* whose runs are being read */
	int64_t numbers[GROUP_MAX];      /* of the group that is being read */
};

/* One line behind the first: -EBADMSG with FAULT, or -EILSEQ when it is no JSON object: broken, or
 * broken off. */
int trace_take_line(struct trace_reader *r, struct slice line, struct trace_fault *fault);

/* Members that the first line has too. The second takes over T; the counters begin again at zero,
 * the clock and the host's constants go on. */
int trace_take_sources(struct trace_reader *r, json_t *d, struct trace_fault *fault);
int trace_take_topology(struct trace_reader *r, struct topology *t);
int trace_take_settings(struct trace_reader *r, json_t *d, struct trace_fault *fault);
