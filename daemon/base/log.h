/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log lines for the person who reads them: what, where (file:line, CPU, IRQ), what to do.
 *
 * Lines go to stderr: with systemd's <N> level prefix when the journal reads it, plain on a
 * terminal. Structured journal entries of decisions are serve/journal.h. One line is one write(2).
 * log_error_errno(r, "Cannot open %s", path) adds ": <text of errno>" and returns r, so that a
 * function may end with it. Log on change, never per tick: a repeating condition belongs in the
 * snapshot's source state, which is logged when it changes.
 */
#pragma once

#include "base/util.h"

/* syslog(3) numbers, without pulling in its macros. */
enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7
};

/* Nothing above MAX is printed. The default is LOG_LEVEL_INFO. */
void log_set_max_level(enum log_level max);
enum log_level log_max_level(void);

/* For tests and for the CLI: every line goes to HOOK instead. NULL brings stderr back. */
typedef void (*log_hook)(enum log_level level, const char *line, void *userdata);
void log_set_hook(log_hook hook, void *userdata);

/* R is 0 or a negative errno, and is returned. */
int log_full(enum log_level level, int r, const char *fmt, ...) _printf_(3, 4);

#define log_error(...)            ((void)log_full(LOG_LEVEL_ERROR, 0, __VA_ARGS__))
#define log_warning(...)          ((void)log_full(LOG_LEVEL_WARNING, 0, __VA_ARGS__))
#define log_notice(...)           ((void)log_full(LOG_LEVEL_NOTICE, 0, __VA_ARGS__))
#define log_info(...)             ((void)log_full(LOG_LEVEL_INFO, 0, __VA_ARGS__))
#define log_debug(...)            ((void)log_full(LOG_LEVEL_DEBUG, 0, __VA_ARGS__))
#define log_error_errno(r, ...)   log_full(LOG_LEVEL_ERROR, (r), __VA_ARGS__)
#define log_warning_errno(r, ...) log_full(LOG_LEVEL_WARNING, (r), __VA_ARGS__)
#define log_info_errno(r, ...)    log_full(LOG_LEVEL_INFO, (r), __VA_ARGS__)
#define log_debug_errno(r, ...)   log_full(LOG_LEVEL_DEBUG, (r), __VA_ARGS__)
#define log_oom()                 log_full(LOG_LEVEL_ERROR, -ENOMEM, "Out of memory")
