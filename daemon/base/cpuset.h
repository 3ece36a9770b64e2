/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of CPU ids, as a plain value: it is copied by assignment, owns nothing, and so can live in
 * pure code. glibc's cpu_set_t ends at 1024 CPUs and its dynamic form needs ownership.
 *
 * CPU_ID_MAX is above every Debian kernel's usual machines (amd64 NR_CPUS is 8192, the largest x86
 * machines sold have 1,920 threads). A CPU id beyond it is refused with -ERANGE by the parsers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_ID_MAX 2048 /* ids are 0 … CPU_ID_MAX - 1 */

struct cpuset {
	uint64_t word[CPU_ID_MAX / 64];
};

static inline bool cpuset_has(const struct cpuset *s, unsigned cpu)
{
	return cpu < CPU_ID_MAX && (s->word[cpu / 64] >> (cpu % 64)) & 1;
}

static inline void cpuset_add(struct cpuset *s, unsigned cpu)
{
	if (cpu < CPU_ID_MAX)
		s->word[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

static inline void cpuset_remove(struct cpuset *s, unsigned cpu)
{
	if (cpu < CPU_ID_MAX)
		s->word[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
}

struct cpuset cpuset_of(unsigned cpu);
struct cpuset cpuset_and(const struct cpuset *a, const struct cpuset *b);
struct cpuset cpuset_or(const struct cpuset *a, const struct cpuset *b);
struct cpuset cpuset_minus(const struct cpuset *a, const struct cpuset *b);
bool cpuset_equal(const struct cpuset *a, const struct cpuset *b);
bool cpuset_subset(const struct cpuset *inner, const struct cpuset *outer);
bool cpuset_intersects(const struct cpuset *a, const struct cpuset *b);
bool cpuset_empty(const struct cpuset *s);
unsigned cpuset_count(const struct cpuset *s);

/* The first member >= FROM, or CPU_ID_MAX when there is none. */
unsigned cpuset_next(const struct cpuset *s, unsigned from);
static inline unsigned cpuset_first(const struct cpuset *s)
{
	return cpuset_next(s, 0);
}
#define cpuset_for_each(cpu, set)                                    \
	for (unsigned cpu = cpuset_next((set), 0); cpu < CPU_ID_MAX; \
	     cpu = cpuset_next((set), cpu + 1))

/*
 * The kernel's two spellings. A list is "0-3,8,10-11" (bitmap_print_list); its ":used/group" form
 * is taken too. A mask is comma-separated 32-bit hex words, most significant first ("ff,00000000").
 * An empty or blank text is the empty set in both (irqbalance#122: never CPU 0).
 * Errors: -EINVAL for a text that is neither, -ERANGE for a CPU id of CPU_ID_MAX or more.
 */
int cpuset_parse_list(const char *text, struct cpuset *ret);
int cpuset_parse_mask(const char *text, struct cpuset *ret);

/* Writes the list spelling; the empty set is the empty string. -ENOSPC when SIZE is too small
 * (CPUSET_LIST_MAX always is enough). Returns the length. */
#define CPUSET_LIST_MAX (CPU_ID_MAX / 2 * 5 + 1)
int cpuset_format_list(const struct cpuset *s, char *buf, size_t size);
/* The mask spelling, without leading words of zeros; the empty set is "0". */
#define CPUSET_MASK_MAX (CPU_ID_MAX / 32 * 9 + 1)
int cpuset_format_mask(const struct cpuset *s, char *buf, size_t size);
