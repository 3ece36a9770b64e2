/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-scan.h"

static void skip_blanks(struct slice *s)
{
	while (s->at < s->end && (is_blank(*s->at) || *s->at == '\n'))
		s->at++;
}

/* Cuts off C, and blanks before it; false when something else comes. */
static bool take(struct slice *s, char c)
{
	skip_blanks(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* Cuts off a string; RET is what stands between the quotes, escapes as they are. */
static bool take_string(struct slice *s, struct slice *ret)
{
	if (!take(s, '"'))
		return false;
	ret->at = s->at;
	for (; s->at < s->end; s->at++) {
		if (*s->at == '"') {
			ret->end = s->at++;
			return true;
		}
		if (*s->at == '\\' && ++s->at == s->end)
			return false;
	}
	return false;
}

/* Cuts off a value, as far as its brackets and quotes tell. */
static bool take_value(struct slice *s, struct slice *ret)
{
	struct slice string;
	size_t depth = 0;

	skip_blanks(s);
	ret->at = s->at;
	while (s->at < s->end) {
		char c = *s->at;

		if (c == '"') {
			if (!take_string(s, &string))
				return false;
			continue;
		}
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			break;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		s->at++;
	}
	ret->end = s->at;
	*ret = slice_strip(*ret);
	return depth == 0 && ret->at < ret->end;
}

int trace_members(struct slice text, struct trace_member *ret, size_t max)
{
	size_t n = 0;

	if (!take(&text, '{'))
		return -EBADMSG;
	if (!take(&text, '}')) {
		do {
			struct trace_member m;

			if (!take_string(&text, &m.key) || !take(&text, ':') ||
			    !take_value(&text, &m.value))
				return -EBADMSG;
			for (size_t i = 0; i < n; i++)
				if (slice_length(ret[i].key) == slice_length(m.key) &&
				    memcmp(ret[i].key.at, m.key.at, slice_length(m.key)) == 0)
					return -EEXIST;
			if (n == max)
				return -E2BIG;
			ret[n++] = m;
		} while (take(&text, ','));
		if (!take(&text, '}'))
			return -EBADMSG;
	}
	skip_blanks(&text);
	return text.at == text.end ? (int)n : -EBADMSG;
}

/* Cuts off a number without a fraction. */
static int take_integer(struct slice *s, int64_t *ret)
{
	const char *digits;
	bool negative;
	int64_t v = 0;

	skip_blanks(s);
	negative = s->at < s->end && *s->at == '-';
	s->at += negative;
	digits = s->at;
	for (; s->at < s->end && is_digit(*s->at); s->at++) {
		int digit = *s->at - '0';

		/* Downwards for negative ones: INT64_MIN has no positive twin. */
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, negative ? -digit : digit, &v))
			return -ERANGE;
	}
	if (s->at == digits || (*digits == '0' && s->at - digits > 1))
		return -EBADMSG;
	*ret = v;
	return 0;
}

int trace_integer(struct slice text, int64_t *ret)
{
	int r = take_integer(&text, ret);

	if (r < 0)
		return r;
	skip_blanks(&text);
	return text.at == text.end ? 0 : -EBADMSG;
}

static int take_integers(struct slice *s, int64_t *ret, size_t max)
{
	size_t n = 0;
	int r;

	if (!take(s, '['))
		return -EBADMSG;
	if (take(s, ']'))
		return 0;
	do {
		if (n == max)
			return -E2BIG;
		r = take_integer(s, &ret[n++]);
		if (r < 0)
			return r;
	} while (take(s, ','));
	return take(s, ']') ? (int)n : -EBADMSG;
}

int trace_integers(struct slice text, int64_t *ret, size_t max)
{
	int n = take_integers(&text, ret, max);

	if (n < 0)
		return n;
	skip_blanks(&text);
	return text.at == text.end ? n : -EBADMSG;
}

int trace_array(struct slice text, struct slice *ret)
{
	text = slice_strip(text);
	if (slice_length(text) < 2 || *text.at != '[' || text.end[-1] != ']')
		return -EBADMSG;
	*ret = slice_strip((struct slice){text.at + 1, text.end - 1});
	return 0;
}

int trace_next_group(struct slice *groups, int64_t *numbers, size_t max, size_t *ret_n)
{
	int n;

	skip_blanks(groups);
	if (groups->at == groups->end)
		return 0;
	n = take_integers(groups, numbers, max);
	if (n < 0)
		return n;
	skip_blanks(groups);
	/* A comma wants another group behind it. */
	if (groups->at < groups->end && (!take(groups, ',') || groups->at == groups->end))
		return -EBADMSG;
	*ret_n = (size_t)n;
	return 1;
}
