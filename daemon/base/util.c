/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/util.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* strtoull() would take "-1" and "+1", skip any white space and stop silently at rubbish. */
int parse_u64(const char *s, unsigned base, uint64_t *ret)
{
	unsigned long long v;
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	if (!isxdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, (int)base);
	if (errno == ERANGE)
		return -ERANGE;
	if (end == s)
		return -EINVAL;
	while (isspace((unsigned char)*end))
		end++;
	if (*end)
		return -EINVAL;
	*ret = v;
	return 0;
}

int parse_u32(const char *s, unsigned base, uint32_t *ret)
{
	uint64_t v;
	int r;

	r = parse_u64(s, base, &v);
	if (r < 0)
		return r;
	if (v > UINT32_MAX)
		return -ERANGE;
	*ret = (uint32_t)v;
	return 0;
}

int parse_i64(const char *s, int64_t *ret)
{
	bool negative;
	uint64_t v;
	int r;

	while (isspace((unsigned char)*s))
		s++;
	negative = *s == '-';
	r = parse_u64(s + negative, 10, &v);
	if (r < 0)
		return r;
	if (v > (uint64_t)INT64_MAX)
		return -ERANGE;
	*ret = negative ? -(int64_t)v : (int64_t)v;
	return 0;
}

char *strstrip(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return s;
}

int format_into(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= size) {
		if (size > 0)
			buf[0] = '\0';
		return -ENOSPC;
	}
	return n;
}

void append_text(char *buf, size_t size, const char *fmt, ...)
{
	size_t used = strnlen(buf, size);
	va_list ap;

	if (used >= size)
		return;
	va_start(ap, fmt);
	vsnprintf(buf + used, size - used, fmt, ap);
	va_end(ap);
}

void strv_free(char **strv)
{
	if (!strv)
		return;
	for (char **s = strv; *s; s++)
		free(*s);
	free(strv);
}

/* Levenshtein on short words: two rows are enough, and a longer word is no typing slip. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t na = strlen(a), nb = strlen(b);

	if (na >= ELEMENTSOF(row) || nb >= ELEMENTSOF(row))
		return UINT32_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned above = row[j];
			unsigned best = MIN(above, row[j - 1]) + 1;

			row[j] = MIN(best, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[nb];
}

const char *nearest_name(const char *word, const char *const *names)
{
	unsigned limit = (unsigned)MAX(strlen(word) / 3, (size_t)2), best_distance = limit + 1;
	const char *best = NULL;

	for (; *names; names++) {
		unsigned d = edit_distance(word, *names);

		if (d < best_distance) {
			best_distance = d;
			best = *names;
		}
	}
	return best;
}
