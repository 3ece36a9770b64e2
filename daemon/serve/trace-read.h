/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a recording (serve/trace-format.h) back, tick by tick, as the snapshots that were recorded.
 *
 * A recording comes from strangers: keys, types, ranges and sizes are checked, a line is at most
 * TRACE_LINE_MAX long and a machine at most TRACE_CELLS_MAX large, texts hold nothing a terminal
 * would obey, and the first fault is the end of the reading. Only the end may be missing: a last
 * line that breaks off is what a full disk or kill -9 leaves.
 */
#pragma once

#include <stdio.h>

#include "base/complaint.h"
#include "decide/decide.h"
#include "serve/trace.h"

struct trace_reader;

/*
 * Reads the first line. IN must outlive the reader. Errors, each with a complaint (file NULL, the
 * line's number): -EBADMSG no recording, or a faulty one; -EPROTO of a later version; -ENODATA
 * empty; -ENOMEM; what read(2) said.
 */
int trace_reader_new(FILE *in, struct complaints *c, struct trace_reader **ret);
void trace_reader_free(struct trace_reader *r);
DEFINE_CLEANUP(struct trace_reader *, trace_reader_free);

/* The next tick: 1, or 0 at the end, or an error as above, after which the reader is of no use. */
int trace_read(struct trace_reader *r, struct complaints *c);

/* What the first line says. The profile may be NULL; its name and that of the kernel are safe to
 * show. */
const struct trace_about *trace_about(const struct trace_reader *r);

/*
 * As of the tick that was read last; all of it changes in place with the next. The replay may
 * change the values and the affinities when it takes a change as made; what the recording says
 * later goes on top.
 */
struct trace_tick {
	unsigned line;
	bool discovered; /* TOPOLOGY is another than in the tick before */
	struct topology *topology;
	const struct snapshot *snapshot;
	struct values *values;
};
struct trace_tick *trace_tick(struct trace_reader *r);

/* The last line broke off and was left out. */
bool trace_torn(const struct trace_reader *r);

/* Whether the recording shows the setting ID at VALUE within the next TICKS ticks: for an interrupt
 * (IRQ, index into the topology) its affinity, else the host's value. Looks ahead; at most a few
 * MiB of the file. */
bool trace_shows(struct trace_reader *r, enum tunable_id id, unsigned irq, const char *value,
		 unsigned ticks);
