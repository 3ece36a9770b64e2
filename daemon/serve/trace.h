/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording (serve/trace-format.h): what the sensors saw, tick by tick, as differences.
 * `softnetctl replay` runs decide/ over it again, so a trace from a bug report is a test.
 */
#pragma once

#include <stdio.h>

#include "decide/decide.h"
#include "model/profile.h"
#include "model/snapshot.h"
#include "model/topology.h"

/* What a recording says about the program it came from. */
struct trace_about {
	enum mode mode;
	const struct profile *profile; /* NULL: none could be read */
	unsigned changes_per_hour, moves_per_round;
};

struct trace_writer;

/* OUT and what ABOUT points to must outlive the writer. */
int trace_writer_new(FILE *out, const struct trace_about *about, struct trace_writer **ret);
void trace_writer_free(struct trace_writer *w);
DEFINE_CLEANUP(struct trace_writer *, trace_writer_free);

/*
 * Writes one tick, with the first also the first line, and hands it over to the kernel. DISCOVERED:
 * TOPOLOGY is another than last time; when it is the same, what a slow look refreshed in place
 * (affinities, online CPUs, HZ) is compared. -ENOMEM, -E2BIG when a machine is larger than the
 * format allows, or what write(2) said; the recording ends there, since later differences would
 * hang in the air.
 */
int trace_write(struct trace_writer *w, const struct topology *t, bool discovered,
		const struct snapshot *s, const struct values *v);

uint64_t trace_writer_bytes(const struct trace_writer *w);
