/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wrong with an input, line by line: a parser collects complaints and goes on, and the
 * layer that knows the context shows them. At most COMPLAINTS_MAX are kept, the rest is counted, so
 * that a hostile file costs no memory.
 */
#pragma once

#include "base/log.h"
#include "base/util.h"

#define COMPLAINTS_MAX 64

struct complaint {
	unsigned line; /* from 1; 0: the file as a whole */
	char *file;    /* NULL: the file the parser was given */
	char *text;
};

struct complaints {
	struct complaint item[COMPLAINTS_MAX];
	unsigned n;
	unsigned more; /* how many came after the array was full */
};

/* C may be NULL: then nobody wants to hear. Never fails: a complaint that finds no memory is
 * counted in MORE. */
void complain(struct complaints *c, const char *file, unsigned line, const char *fmt, ...)
	_printf_(4, 5);
void complaints_done(struct complaints *c);
/* A log line for each. */
void complaints_log(const struct complaints *c, enum log_level level);
