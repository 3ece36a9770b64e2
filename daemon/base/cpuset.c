/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cpuset.h"

#include <ctype.h>
#include <stdio.h>

#include "base/util.h"

#define WORDS ELEMENTSOF(((struct cpuset *)NULL)->word)

struct cpuset cpuset_of(unsigned cpu)
{
	struct cpuset s = {};

	cpuset_add(&s, cpu);
	return s;
}

struct cpuset cpuset_and(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset s;

	for (size_t i = 0; i < WORDS; i++)
		s.word[i] = a->word[i] & b->word[i];
	return s;
}

struct cpuset cpuset_or(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset s;

	for (size_t i = 0; i < WORDS; i++)
		s.word[i] = a->word[i] | b->word[i];
	return s;
}

struct cpuset cpuset_minus(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset s;

	for (size_t i = 0; i < WORDS; i++)
		s.word[i] = a->word[i] & ~b->word[i];
	return s;
}

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

bool cpuset_subset(const struct cpuset *inner, const struct cpuset *outer)
{
	for (size_t i = 0; i < WORDS; i++)
		if (inner->word[i] & ~outer->word[i])
			return false;
	return true;
}

bool cpuset_intersects(const struct cpuset *a, const struct cpuset *b)
{
	for (size_t i = 0; i < WORDS; i++)
		if (a->word[i] & b->word[i])
			return true;
	return false;
}

bool cpuset_empty(const struct cpuset *s)
{
	return cpuset_first(s) == CPU_ID_MAX;
}

unsigned cpuset_count(const struct cpuset *s)
{
	unsigned n = 0;

	for (size_t i = 0; i < WORDS; i++)
		n += (unsigned)__builtin_popcountll(s->word[i]);
	return n;
}

unsigned cpuset_next(const struct cpuset *s, unsigned from)
{
	for (size_t i = from / 64; i < WORDS; i++) {
		uint64_t w = s->word[i];

		if (i == from / 64)
			w &= ~UINT64_C(0) << (from % 64);
		if (w)
			return (unsigned)(i * 64) + (unsigned)__builtin_ctzll(w);
	}
	return CPU_ID_MAX;
}

/* One decimal number at *S, which moves past it. */
static int take_number(const char **s, unsigned *ret)
{
	unsigned v = 0;

	if (!isdigit((unsigned char)**s))
		return -EINVAL;
	for (; isdigit((unsigned char)**s); (*s)++) {
		v = v * 10 + (unsigned)(**s - '0');
		if (v > 1000000)
			return -ERANGE;
	}
	*ret = v;
	return 0;
}

int cpuset_parse_list(const char *text, struct cpuset *ret)
{
	struct cpuset set = {};
	int r;

	while (isspace((unsigned char)*text))
		text++;
	while (*text) {
		unsigned first, last, used = 1, group = 1;

		r = take_number(&text, &first);
		if (r < 0)
			return r;
		last = first;
		if (*text == '-') {
			text++;
			r = take_number(&text, &last);
			if (r < 0)
				return r;
			if (*text == ':') {
				text++;
				r = take_number(&text, &used);
				if (r < 0)
					return r;
				if (*text++ != '/')
					return -EINVAL;
				r = take_number(&text, &group);
				if (r < 0)
					return r;
			}
		}
		if (last < first || group == 0 || used > group)
			return -EINVAL;
		if (last >= CPU_ID_MAX)
			return -ERANGE;
		for (unsigned cpu = first; cpu <= last; cpu++)
			if ((cpu - first) % group < used)
				cpuset_add(&set, cpu);
		if (*text == ',' && isdigit((unsigned char)text[1])) {
			text++;
			continue;
		}
		while (isspace((unsigned char)*text))
			text++;
		if (*text)
			return -EINVAL;
	}
	*ret = set;
	return 0;
}

int cpuset_parse_mask(const char *text, struct cpuset *ret)
{
	const char *end = text + strlen(text);
	struct cpuset set = {};
	unsigned bit = 0, digits = 0;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	while (text < end && isspace((unsigned char)*text))
		text++;
	/* From the right: four bits a digit, and a comma starts the next 32-bit word even where the
	 * word before it was written short. */
	for (const char *c = end; c > text; c--) {
		unsigned v;

		if (c[-1] == ',') {
			if (digits == 0 || digits > 8)
				return -EINVAL;
			bit = (bit + 31) / 32 * 32;
			digits = 0;
			continue;
		}
		if (!isxdigit((unsigned char)c[-1]))
			return -EINVAL;
		v = isdigit((unsigned char)c[-1]) ? (unsigned)(c[-1] - '0')
						  : (unsigned)(tolower(c[-1]) - 'a') + 10;
		for (unsigned i = 0; i < 4; i++) {
			if (!(v >> i & 1))
				continue;
			if (bit + i >= CPU_ID_MAX)
				return -ERANGE;
			cpuset_add(&set, bit + i);
		}
		bit += 4;
		digits++;
	}
	if (digits > 8 || (digits == 0 && bit > 0))
		return -EINVAL;
	*ret = set;
	return 0;
}

int cpuset_format_mask(const struct cpuset *s, char *buf, size_t size)
{
	unsigned word = CPU_ID_MAX / 32 - 1;
	int used, n;

	while (word > 0 && (uint32_t)(s->word[word / 2] >> word % 2 * 32) == 0)
		word--;
	used = format_into(buf, size, "%x", (uint32_t)(s->word[word / 2] >> word % 2 * 32));
	while (used >= 0 && word-- > 0) {
		n = format_into(buf + used, size - (size_t)used, ",%08x",
				(uint32_t)(s->word[word / 2] >> word % 2 * 32));
		used = n < 0 ? n : used + n;
	}
	return used;
}

int cpuset_format_list(const struct cpuset *s, char *buf, size_t size)
{
	size_t used = 0;
	unsigned cpu;

	if (size == 0)
		return -ENOSPC;
	buf[0] = '\0';
	for (cpu = cpuset_first(s); cpu < CPU_ID_MAX;) {
		unsigned last = cpu;
		int n;

		while (cpuset_has(s, last + 1))
			last++;
		if (last == cpu)
			n = format_into(buf + used, size - used, "%s%u", used ? "," : "", cpu);
		else
			n = format_into(buf + used, size - used, "%s%u-%u", used ? "," : "", cpu,
					last);
		if (n < 0) {
			buf[0] = '\0';
			return n;
		}
		used += (size_t)n;
		cpu = cpuset_next(s, last + 1);
	}
	return (int)used;
}
