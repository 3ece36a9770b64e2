/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/status.h"

#include <stdarg.h>
#include <stdio.h>

void source_ok(struct snapshot *s, enum source source)
{
	s->source[source] = (struct source_status){.state = SOURCE_OK};
}

void source_failed(struct snapshot *s, enum source source, int error)
{
	bool absent = error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP;
	struct source_status *status = &s->source[source];

	status->state = absent ? SOURCE_ABSENT : SOURCE_STRANGE;
	status->error = error;
	snprintf(status->text, sizeof(status->text), "%s: %s", source_path(source),
		 strerror(-error));
}

void source_strange(struct snapshot *s, enum source source, const char *fmt, ...)
{
	struct source_status *status = &s->source[source];
	va_list ap;

	status->state = SOURCE_STRANGE;
	status->error = -EBADMSG;
	va_start(ap, fmt);
	vsnprintf(status->text, sizeof(status->text), fmt, ap);
	va_end(ap);
}

void source_judged(struct snapshot *s, enum source source, const struct complaints *c)
{
	const struct complaint *first = &c->item[0];
	char where[16] = "", more[32] = "";

	if (c->n == 0 && c->more == 0) {
		source_ok(s, source);
		return;
	}
	if (c->n > 0 && first->line > 0)
		snprintf(where, sizeof(where), ":%u", first->line);
	if (c->n + c->more > 1)
		snprintf(more, sizeof(more), " (and %u more)", c->n + c->more - 1);
	source_strange(s, source, "%s%s: %.100s%s", source_path(source), where,
		       c->n > 0 && first->text ? first->text : "unreadable", more);
}
