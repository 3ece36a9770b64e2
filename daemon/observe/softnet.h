/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/net/softnet_stat: one row per online CPU, blank-separated hex words of 32 bits that wrap
 * (net/core/net-procfs.c, softnet_seq_show(); kernel-facts 1.4).
 *
 * Which columns there are is told by each row's own width, never by the kernel's version:
 *   1 processed  2 dropped  3 time_squeeze  4-9 always or long unused  10 received_rps
 *   11 flow_limit_count  12 backlog (a gauge)  13 CPU id, in hex  14, 15 the two parts of 12
 * A row of 13 or more columns names its CPU. A narrower one does not: the caller maps the n-th row
 * to the n-th online CPU of the same host, and only there.
 *
 * What is refused, with its line, while every other row stays:
 *   - a word that is not hex, or has more than 8 digits;
 *   - a row that mixes 8-digit words with shorter ones: the kernel prints %08x, so the row was cut;
 *   - fewer than 3 columns;
 *   - a CPU id of CPU_ID_MAX or more, or one that an earlier row has;
 *   - a row that was broken over lines by a terminal or by mail (case A04), and all of its parts.
 *
 * How a broken row is told: kernels have printed 9, 10, 11, 13 and 15 columns, and will print more;
 * call these whole, and every other width odd.
 *   1. When all rows of the file have one width, the file stands as it is, odd or not: it may come
 *      from a kernel nobody here knows. (Equal pieces of equal rows look the same: a warning is
 * given when the numbers of rows and columns allow that reading.)
 *   2. Else an odd row is a piece or a cut row, and is refused.
 *   3. A whole row followed by odd ones is the head of a broken row when the sum of their columns
 * is whole too, and no other row proves the head's width (by standing with no odd row behind it) -
 *      or some row proves the sum. So 11+4, 11+4 is two rows of 15, broken; but 13, 2, 13 is two
 * good rows with a scrap between them. Rows of several whole widths in one file (case A12) are
 * legal.
 */
#pragma once

#include "base/complaint.h"
#include "base/scan.h"
#include "model/snapshot.h"

enum softnet_fault {
	SOFTNET_GOOD,
	SOFTNET_NO_ROW,   /* not a single hex word: a prompt, a headline */
	SOFTNET_NOT_HEX,  /* a row with a word that is not hex */
	SOFTNET_TOO_LONG, /* a word of more than 8 digits */
	SOFTNET_CUT,      /* words of 8 digits and of fewer */
	SOFTNET_SHORT,    /* fewer than 3 columns */
	SOFTNET_TORN,     /* broken over lines */
	SOFTNET_BAD_CPU,  /* id of CPU_ID_MAX or more */
	SOFTNET_CPU_TWICE,
};

struct softnet_row {
	unsigned line; /* from 1 */
	unsigned row;  /* n-th row of the file, from 0; refused rows count, pieces of one do not */
	unsigned columns; /* as printed: tells which of the fields below were there */
	uint32_t cpu;     /* only with 13 or more columns */
	uint32_t processed, dropped, squeezed, received_rps, flow_limit, backlog;
	/* While parsing: what is wrong with the row, and with which of its words. */
	enum softnet_fault fault;
	struct slice bad;
};

static inline bool softnet_row_has_cpu(const struct softnet_row *r)
{
	return r->columns >= 13;
}

/* HAVE_SOFTNET and, by the row's width, HAVE_RPS, HAVE_FLOW_LIMIT and HAVE_BACKLOG. */
uint32_t softnet_row_have(const struct softnet_row *r);

/* The good rows of one text. The array is kept from one parse to the next, so that a live sensor
 * allocates only while its machine grows. Start from all zero. */
struct softnet_table {
	struct softnet_row *rows;
	unsigned n, room;
	unsigned n_rows;  /* rows of the file, refused ones too */
	unsigned refused; /* lines that were refused */
	bool scraps;      /* odd or broken rows among them: the n-th row is not certain any more */
};

/* Returns 0 or -ENOMEM: whatever is wrong with TEXT goes to C (may be NULL), line by line. */
int softnet_parse(const char *text, size_t length, struct softnet_table *t, struct complaints *c);
void softnet_done(struct softnet_table *t);

/*
 * The live sensor: parses TEXT with T as its memory, and fills the rows' CPUs in S->cpu with their
 * HAVE_ bits. Rows without a CPU id go to the n-th member of ONLINE, and only when the file has
 * exactly as many rows as ONLINE has members and none is a scrap: the caller has read ONLINE before
 * and after the file and found it the same. A CPU that gets no row gets no HAVE_ bit.
 *
 * S->source[SOURCE_SOFTNET] becomes SOURCE_OK, or SOURCE_STRANGE with the first line that is wrong;
 * the good rows are filled in either case. Returns 0 or -ENOMEM.
 */
int softnet_into_snapshot(const char *text, size_t length, const struct cpuset *online,
			  struct softnet_table *t, struct snapshot *s);
