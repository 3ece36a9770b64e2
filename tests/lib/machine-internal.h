/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What machine.c (what a host is) and machine-counters.c (what it counts) share. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "lib/machine.h"

#define FIRST_IRQ 24

/* Text that grows: the big tables have hundreds of kilobytes. */
struct text {
	char *s;
	size_t n;
	FILE *f;
};

/* A stream into an empty text … */
static inline FILE *text_file(struct text *t)
{
	*t = (struct text){};
	t->f = open_memstream(&t->s, &t->n);
	if (!t->f)
		abort();
	return t->f;
}

/* … which becomes the content of a file. */
static inline void text_to(struct text *t, struct machine *m, const char *path)
{
	fclose(t->f);
	tree_bytes(m->tree, path, t->s, t->n);
	free(t->s);
}

static inline char *path_of(char *buf, size_t size, const char *fmt, ...) _printf_(3, 4);
static inline char *path_of(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return buf;
}
#define PATH(...) path_of((char[512]){}, 512, __VA_ARGS__)
