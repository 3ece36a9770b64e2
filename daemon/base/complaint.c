/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/complaint.h"

#include <stdarg.h>
#include <stdio.h>

void complain(struct complaints *c, const char *file, unsigned line, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL, *name = NULL;
	va_list ap;
	int n;

	if (!c)
		return;
	if (c->n == COMPLAINTS_MAX) {
		c->more++;
		return;
	}
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		c->more++;
		return;
	}
	if (file) {
		name = strdup(file);
		if (!name) {
			c->more++;
			return;
		}
	}
	c->item[c->n++] =
		(struct complaint){.line = line, .file = TAKE_PTR(name), .text = TAKE_PTR(text)};
}

void complaints_log(const struct complaints *c, enum log_level level)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct complaint *one = &c->item[i];

		if (one->file && one->line > 0)
			log_full(level, 0, "%s:%u: %s", one->file, one->line, one->text);
		else if (one->file)
			log_full(level, 0, "%s: %s", one->file, one->text);
		else
			log_full(level, 0, "%s", one->text);
	}
	if (c->more > 0)
		log_full(level, 0, "and %u more complaints", c->more);
}

void complaints_done(struct complaints *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		free(c->item[i].file);
		free(c->item[i].text);
	}
	*c = (struct complaints){};
}
