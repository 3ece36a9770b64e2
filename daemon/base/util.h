/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few things every file here uses: ownership by cleanup attribute, checked numbers, text
 * helpers.
 *
 * Errors: a function that can fail returns 0 or a positive result, or a negative errno. The error
 * is logged once, by the layer that knows what was being attempted (see base/log.h). Ownership: a
 * variable that owns something is declared with a _cleanup_ attribute; ownership leaves it by
 * TAKE_PTR() or TAKE_FD().
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define _cleanup_(f)     __attribute__((cleanup(f)))
#define _printf_(a, b)   __attribute__((format(printf, a, b)))
#define _unused_         __attribute__((unused))
#define ELEMENTSOF(a)    (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)        ((a) < (b) ? (a) : (b))
#define MAX(a, b)        ((a) > (b) ? (a) : (b))
#define CLAMP(v, lo, hi) MIN(MAX(v, lo), hi)

#define USEC_PER_SEC  UINT64_C(1000000)
#define USEC_PER_MSEC UINT64_C(1000)
#define NSEC_PER_USEC UINT64_C(1000)

#define TAKE(var, none)                     \
	({                                  \
		__auto_type _taken = (var); \
		(var) = (none);             \
		_taken;                     \
	})
#define TAKE_PTR(p) TAKE(p, NULL)
#define TAKE_FD(fd) TAKE(fd, -1)

/* DEFINE_CLEANUP(struct ledger *, ledger_free) makes ledger_freep() for _cleanup_(ledger_freep). */
#define DEFINE_CLEANUP(type, func)          \
	static inline void func##p(type *p) \
	{                                   \
		if (*p)                     \
			func(*p);           \
	}                                   \
	struct _semicolon_follows_

static inline void freep(void *p)
{
	free(*(void **)p);
}
#define _cleanup_free_ _cleanup_(freep)

void closep(int *fd);
#define _cleanup_close_ _cleanup_(closep)

static inline bool streq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline bool startswith(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* True for every byte the kernel's own formatting may put between two fields of a line. */
static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/*
 * Whole-string numbers: blanks around the number are allowed, anything else is -EINVAL, a value
 * that does not fit is -ERANGE. The result is untouched on error.
 */
int parse_u64(const char *s, unsigned base, uint64_t *ret);
int parse_u32(const char *s, unsigned base, uint32_t *ret);
int parse_i64(const char *s, int64_t *ret);

/* Cuts trailing and leading blanks and newlines in place; returns the first byte that is left. */
char *strstrip(char *s);

/* snprintf that never leaves an unterminated or half-written value: -ENOSPC when it does not fit
 * (the buffer then holds an empty string). */
int format_into(char *buf, size_t size, const char *fmt, ...) _printf_(3, 4);

/* FNV-1a, to tell whether a list of texts is the same as before; each text ends, so that "a", "b" is not "ab". */
#define HASH_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t hash_add(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash * UINT64_C(0x100000001b3);
}

/* Adds to the text in BUF, cut to what fits: for messages, never for values. */
void append_text(char *buf, size_t size, const char *fmt, ...) _printf_(3, 4);

/* Frees an array of strings that ends with NULL, and the array. */
void strv_free(char **strv);
static inline void strv_freep(char ***p)
{
	strv_free(*p);
}

/* The name in NAMES (ending with NULL) that is nearest to WORD by edit distance, or NULL when none
 * is near enough to be worth suggesting. */
const char *nearest_name(const char *word, const char *const *names);
