/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-lines.h"

#include "serve/trace-format.h"

#define READ_SIZE (256U << 10)
#define HELD_MAX  (2 * TRACE_LINE_MAX) /* bytes */

/* Reads on behind END: 1, or 0 at the end of the file or of the memory it may take. */
static int fill(struct trace_lines *l)
{
	size_t n;

	if (l->eof)
		return 0;
	if (l->buffer && l->at > 0 && l->size - l->end < READ_SIZE) {
		memmove(l->buffer, l->buffer + l->at, l->end - l->at);
		l->end -= l->at;
		l->at = 0;
	}
	if (l->size - l->end < READ_SIZE) {
		size_t size = MIN(MAX(2 * l->size, (size_t)2 * READ_SIZE), (size_t)HELD_MAX);
		char *more;

		if (size - l->end < READ_SIZE)
			return 0;
		more = realloc(l->buffer, size);
		if (!more)
			return -ENOMEM;
		l->buffer = more;
		l->size = size;
	}
	n = fread(l->buffer + l->end, 1, READ_SIZE, l->in);
	l->end += n;
	if (n < READ_SIZE) {
		if (ferror(l->in))
			return errno ? -errno : -EIO;
		l->eof = true;
	}
	return n > 0;
}

int trace_lines_peek(struct trace_lines *l, size_t offset, struct trace_line *ret)
{
	size_t searched = 0;
	int r;

	for (;;) {
		size_t there = l->end - l->at - offset;
		const char *from = l->buffer ? l->buffer + l->at + offset : NULL;
		const char *newline = from && there > searched
					      ? memchr(from + searched, '\n', there - searched)
					      : NULL;

		if (newline || there > TRACE_LINE_MAX) {
			size_t length = newline ? (size_t)(newline - from) : there;

			*ret = (struct trace_line){from, length, newline != NULL,
						   offset + length + (newline != NULL)};
			return 1;
		}
		searched = there;
		r = fill(l);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		*ret = (struct trace_line){from, there, false, offset + there};
		return there > 0;
	}
}

void trace_lines_take(struct trace_lines *l, const struct trace_line *line)
{
	l->at += line->next;
}

void trace_lines_done(struct trace_lines *l)
{
	free(l->buffer);
	*l = (struct trace_lines){};
}
