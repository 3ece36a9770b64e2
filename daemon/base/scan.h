/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading text that others wrote: lines, words and numbers as slices of the text, nothing copied.
 * Made for kernel files that may hold anything, also NUL bytes and no newline at the end.
 */
#pragma once

#include "base/util.h"

/* A piece of a text, not owned, not terminated. */
struct slice {
	const char *at, *end;
};

static inline struct slice slice_of(const char *text, size_t length)
{
	return (struct slice){text, text + length};
}

static inline size_t slice_length(struct slice s)
{
	return (size_t)(s.end - s.at);
}

static inline bool slice_is(struct slice s, const char *word)
{
	return slice_length(s) == strlen(word) && memcmp(s.at, word, slice_length(s)) == 0;
}

static inline bool slice_starts(struct slice s, const char *prefix)
{
	return slice_length(s) >= strlen(prefix) && memcmp(s.at, prefix, strlen(prefix)) == 0;
}

static inline bool slice_contains(struct slice s, const char *part)
{
	return memmem(s.at, slice_length(s), part, strlen(part)) != NULL;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Without the blanks at both ends. */
static inline struct slice slice_strip(struct slice s)
{
	while (s.at < s.end && is_blank(*s.at))
		s.at++;
	while (s.at < s.end && is_blank(s.end[-1]))
		s.end--;
	return s;
}

/* Cuts the next line off TEXT, without its newline and its trailing blanks. False at the end. */
static inline bool slice_line(struct slice *text, struct slice *ret)
{
	const char *newline;

	if (text->at == text->end)
		return false;
	newline = memchr(text->at, '\n', slice_length(*text));
	*ret = (struct slice){text->at, newline ? newline : text->end};
	text->at = newline ? newline + 1 : text->end;
	while (ret->at < ret->end && is_blank(ret->end[-1]))
		ret->end--;
	return true;
}

/* Cuts the next word off LINE: blanks in front of it go, blanks behind it stay. False at the end.
 */
static inline bool slice_word(struct slice *line, struct slice *ret)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
	if (line->at == line->end)
		return false;
	ret->at = line->at;
	while (line->at < line->end && !is_blank(*line->at))
		line->at++;
	ret->end = line->at;
	return true;
}

/* The whole slice as a decimal number: -EINVAL when it is none, -ERANGE above MAX. */
static inline int slice_decimal(struct slice s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.at == s.end)
		return -EINVAL;
	for (const char *c = s.at; c < s.end; c++)
		if (!is_digit(*c))
			return -EINVAL;
	for (const char *c = s.at; c < s.end; c++)
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*c - '0'), &v) || v > max)
			return -ERANGE;
	*ret = v;
	return 0;
}

/*
 * Copies S into BUF so that it can be shown on a terminal and put into JSON: whole UTF-8 characters
 * stay, a tab becomes a blank, every other control byte and everything that is no UTF-8 becomes
 * '?'. Cuts at a character's end what does not fit. Returns the length. SIZE is at least 1.
 */
size_t slice_show(struct slice s, char *buf, size_t size);
