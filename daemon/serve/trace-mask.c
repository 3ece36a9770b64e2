/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-mask.h"

#include <ctype.h>
#include <stdio.h>

/* A log that names ever new addresses costs no ever new memory: from here on all are number 0. */
#define SEEN_MAX 4096

/* Shapes: 'h' is a hex digit, anything else is itself. */
static const char *const shapes[] = {
	"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh",
	"hh:hh:hh:hh:hh:hh",
	"hh-hh-hh-hh-hh-hh",
	"hhhhhhhhhhhh",
};

static bool is_hex(char c)
{
	return isxdigit((unsigned char)c);
}

/* The length of what has SHAPE at TEXT and ends there, or 0. */
static size_t match(const char *shape, const char *text)
{
	size_t n = strlen(shape);

	for (size_t i = 0; i < n; i++)
		if (shape[i] == 'h' ? !is_hex(text[i]) : text[i] != shape[i])
			return 0;
	return is_hex(text[n]) ? 0 : n;
}

static size_t match_ipv4(const char *text)
{
	unsigned v[4];
	int n = 0;

	if (!isdigit((unsigned char)*text))
		return 0;
	/* Three digits fit. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(text, "%3u.%3u.%3u.%3u%n", &v[0], &v[1], &v[2], &v[3], &n) < 4)
		return 0;
	for (size_t i = 0; i < 4; i++)
		if (v[i] > 255)
			return 0;
	return isdigit((unsigned char)text[n]) || text[n] == '.' ? 0 : (size_t)n;
}

static int number_of(struct trace_mask *m, const char *text, size_t length, size_t *ret)
{
	_cleanup_free_ char *copy = strndup(text, length);
	char **more;

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++)
		if (strcasecmp(m->seen[i], copy) == 0) {
			*ret = i + 1;
			return 0;
		}
	if (m->n == SEEN_MAX) {
		*ret = 0;
		return 0;
	}
	more = realloc(m->seen, (m->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->seen = more;
	m->seen[m->n++] = TAKE_PTR(copy);
	*ret = m->n;
	return 0;
}

/* The number, in decimal, from the right; all digits in front of it become 0. */
static void write_number(char *text, size_t length, size_t number)
{
	for (size_t i = length; i > 0; i--) {
		if (!is_hex(text[i - 1]))
			continue;
		text[i - 1] = (char)('0' + number % 10);
		number /= 10;
	}
}

int trace_mask(struct trace_mask *m, char *text)
{
	for (char *at = text; *at; at++) {
		size_t length = 0, number;

		/* In the middle of a word of digits nothing begins. */
		if (at > text && (is_hex(at[-1]) || at[-1] == '.'))
			continue;
		for (size_t i = 0; i < ELEMENTSOF(shapes) && length == 0; i++)
			length = match(shapes[i], at);
		if (length == 0)
			length = match_ipv4(at);
		if (length == 0)
			continue;
		if (number_of(m, at, length, &number) < 0) {
			*text = '\0';
			return -ENOMEM;
		}
		write_number(at, length, number);
		at += length - 1;
	}
	return 0;
}

void trace_mask_done(struct trace_mask *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->seen[i]);
	free(m->seen);
	*m = (struct trace_mask){};
}
