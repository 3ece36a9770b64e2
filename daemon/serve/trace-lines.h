/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file's lines, with a view of those to come and a bound on memory: a recording from a stranger
 * may have no newline at all.
 */
#pragma once

#include <stdio.h>

#include "base/util.h"

struct trace_lines {
	FILE *in; /* not owned */
	/* What was read and not taken: buffer[at … end). */
	char *buffer;
	size_t size, at, end;
	bool eof;
};

struct trace_line {
	const char *at; /* until the next call */
	size_t length;  /* without the newline; more than TRACE_LINE_MAX: cut, and of no use */
	bool whole;     /* it ended with a newline */
	size_t next;    /* OFFSET of the line behind it */
};

/* The line OFFSET bytes behind the first one that was not taken: 1, or 0 when there is none (any
 * more, or within reach), or what read(2) said, or -ENOMEM. */
int trace_lines_peek(struct trace_lines *l, size_t offset, struct trace_line *ret);
/* Takes LINE, and all before it, off. */
void trace_lines_take(struct trace_lines *l, const struct trace_line *line);
void trace_lines_done(struct trace_lines *l);
