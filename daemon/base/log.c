/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level max_level = LOG_LEVEL_INFO;
static log_hook hook_function;
static void *hook_userdata;

void log_set_max_level(enum log_level max)
{
	max_level = max;
}

enum log_level log_max_level(void)
{
	return max_level;
}

void log_set_hook(log_hook hook, void *userdata)
{
	hook_function = hook;
	hook_userdata = userdata;
}

/* sd-daemon(3): a service whose stderr is the journal gets JOURNAL_STREAM, and may put the level in
 * front of the line. */
static bool stderr_is_journal(void)
{
	static int cached = -1;

	if (cached < 0)
		cached = getenv("JOURNAL_STREAM") != NULL && !isatty(STDERR_FILENO);
	return cached > 0;
}

int log_full(enum log_level level, int r, const char *fmt, ...)
{
	char text[1024], line[1200];
	va_list ap;
	int n;

	if (level > max_level)
		return r;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (r < 0) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, ": %s", strerror(-r));
	}
	if (hook_function) {
		hook_function(level, text, hook_userdata);
		return r;
	}
	if (stderr_is_journal())
		n = snprintf(line, sizeof(line), "<%d>%s\n", level, text);
	else
		n = snprintf(line, sizeof(line), "softnetd: %s\n", text);
	/* Nobody is left to tell when stderr itself fails. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return r;
	return r;
}
