/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>

#include "lib/run.h"
#include "observe/softirqs.h"

static struct softirqs_reader r;
static struct complaints complaints;
static struct snapshot *s;

/* Returns how many rows are good; *RET_BAD the lines complained about, as a bit set. */
static unsigned walk_n(const char *text, size_t size, unsigned *ret_bad)
{
	unsigned n = 0;

	complaints_done(&complaints);
	if (softirqs_begin(&r, text, size, &complaints) >= 0)
		while (softirqs_next(&r))
			n++;
	*ret_bad = 0;
	for (unsigned i = 0; i < complaints.n; i++)
		*ret_bad |= 1U << MIN(complaints.item[i].line, 31U);
	return n;
}

static unsigned walk(const char *text, unsigned *ret_bad)
{
	return walk_n(text, strlen(text), ret_bad);
}

START_TEST(rows)
{
	unsigned bad;

	ck_assert_uint_eq(walk("  CPU0 CPU1\n HI: 1 2\n\nNET_RX:  3  4294967295\r\n", &bad), 2);
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_eq(r.row.line, 4);
	ck_assert(slice_is(r.row.name, "NET_RX"));
	ck_assert_uint_eq(r.row.counts[1], UINT32_MAX);
	/* Too few, too many, not a number, too large, no name: each is refused alone. */
	ck_assert_uint_eq(walk("CPU0 CPU1\nHI: 1\nTIMER: 1 2 3\nNET_TX: 1 x\nNET_RX: 1 4294967296\n"
			       "1 2\nRCU: 1 2",
			       &bad),
			  1);
	ck_assert_uint_eq(bad, 1U << 2 | 1U << 3 | 1U << 4 | 1U << 5 | 1U << 6);
	ck_assert(slice_is(r.row.name, "RCU"));
	ck_assert_uint_eq(walk("CPU0\nHI: -1\nHI: +1\nHI: 0x1\nHI: 1.0\n: 1\n", &bad), 0);
	ck_assert_uint_eq(bad, 0x7cU);
}
END_TEST

START_TEST(headers)
{
	unsigned bad;

	ck_assert_uint_eq(walk("CPU5 CPU0 CPU2047\nHI: 7 8 9\n", &bad), 1);
	ck_assert_uint_eq(r.columns.n, 3);
	ck_assert_uint_eq(r.columns.cpu[0], 5);
	ck_assert_uint_eq(r.columns.cpu[2], 2047);
	/* A prompt above the header is no table, and does no harm. */
	ck_assert_uint_eq(walk("$ cat /proc/softirqs\n CPU0\nHI: 1\n", &bad), 1);
	ck_assert_uint_eq(bad, 1U << 1);
	ck_assert_uint_eq(walk("HI: 1 2\n", &bad), 0);
	ck_assert_uint_eq(bad, 1U << 1);
	ck_assert_uint_eq(walk("CPU0 CPU1 CPU0\nHI: 1 2 3\n", &bad), 0);
	ck_assert_uint_eq(bad, 1U << 1);
	ck_assert_uint_eq(walk("CPU0 CPU2048\nHI: 1 2\n", &bad), 0);
	ck_assert_uint_eq(walk("CPU0 CPU99999999999999999999\nHI: 1 2\n", &bad), 0);
	/* Broken by mail: each row would pass for a whole one. */
	ck_assert_uint_eq(walk("CPU0 CPU1\nCPU2\nHI: 1 2\n3\n", &bad), 0);
	ck_assert_uint_eq(bad, 1U << 2);
	ck_assert_uint_eq(walk("", &bad), 0);
	ck_assert_uint_eq(bad, 1U << 0);
	ck_assert_uint_eq(walk("CPU0\n", &bad), 0);
	ck_assert_uint_eq(bad, 0);
}
END_TEST

START_TEST(nasty)
{
	static const char nul[] = "CPU0\nHI\0: 1\nRCU: \0"
				  "2\nSCHED: 3";
	static char big[1 << 20];
	unsigned bad;

	ck_assert_uint_eq(walk_n(nul, sizeof(nul) - 1, &bad),
			  2); /* "HI\0" is a strange name, no more */
	ck_assert_uint_eq(bad, 1U << 3);
	memset(big, '9', sizeof(big));
	memcpy(big, "CPU0\nHI: ", 9);
	ck_assert_uint_eq(walk_n(big, sizeof(big), &bad), 0);
	for (size_t i = 0; i < sizeof(big); i++) /* more columns than CPUs can be */
		big[i] = "CPU0 "[i % 5];
	ck_assert_uint_eq(walk_n(big, sizeof(big), &bad), 0);
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 2654435761U >> 13);
	walk_n(big, sizeof(big), &bad);
}
END_TEST

static const char full[] = "                    CPU0       CPU1       CPU9\n"
			   "          HI:          1          2          0\n"
			   "       TIMER:          3          4          0\n"
			   "      NET_TX:          5          6          0\n"
			   "      NET_RX:          7          8          0\n"
			   "       BLOCK:          9         10          0\n"
			   "    IRQ_POLL:         11         12          0\n"
			   "     TASKLET:         13         14          0\n"
			   "       SCHED:         15         16          0\n"
			   "     HRTIMER:         17         18          0\n"
			   "         RCU:         19         20          0\n";

static void into(const char *text)
{
	snapshot_clear(s);
	softirqs_into_snapshot(text, strlen(text), &r, s);
}

START_TEST(snapshot)
{
	_cleanup_free_ char *text = strdup(full);

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(snapshot_new(4, 0, 0, &s), 0);
	into(full);
	ck_assert_int_eq(s->source[SOURCE_SOFTIRQS].state, SOURCE_OK);
	ck_assert_uint_eq(s->cpu[0].have, HAVE_SOFTIRQS);
	ck_assert_uint_eq(s->cpu[1].have, HAVE_SOFTIRQS);
	ck_assert_uint_eq(s->cpu[2].have, 0);
	for (unsigned v = 0; v < _SOFTIRQ_MAX; v++) {
		ck_assert_uint_eq(s->cpu[0].softirq[v], 2 * v + 1);
		ck_assert_uint_eq(s->cpu[1].softirq[v], 2 * v + 2);
	}
	/* A row that no decision needs is missing: said, the rest counts. */
	*strstr(strstr(text, "RCU:"), "20") = 'x';
	into(text);
	ck_assert_int_eq(s->source[SOURCE_SOFTIRQS].state, SOURCE_STRANGE);
	ck_assert_ptr_nonnull(strstr(s->source[SOURCE_SOFTIRQS].text, "/proc/softirqs:11: "));
	ck_assert_uint_eq(s->cpu[0].have, HAVE_SOFTIRQS);
	ck_assert_uint_eq(s->cpu[0].softirq[SOFTIRQ_RCU], 0);
	/* Without NET_RX there is nothing to decide on. */
	*strstr(strstr(text, "NET_RX:"), "8") = 'x';
	into(text);
	ck_assert_uint_eq(s->cpu[0].have | s->cpu[1].have, 0);
	into("CPU0 CPU1\nNET_TX: 1 2\nNET_RX: 3 4\nBLOCK_IOPOLL: 5 6\nFUTURE: 7 8\n");
	ck_assert_uint_eq(s->cpu[1].have, HAVE_SOFTIRQS);
	ck_assert_uint_eq(s->cpu[1].softirq[SOFTIRQ_IRQ_POLL], 6);
	ck_assert_str_eq(s->source[SOURCE_SOFTIRQS].text,
			 "/proc/softirqs: no row for HI TIMER BLOCK TASKLET SCHED HRTIMER RCU");
	into("");
	ck_assert_int_eq(s->source[SOURCE_SOFTIRQS].state, SOURCE_STRANGE);
	snapshot_free(s);
}
END_TEST

static void done(void)
{
	complaints_done(&complaints);
}

int main(void)
{
	TCase *t = tcase_create("softirqs");

	tcase_add_checked_fixture(t, NULL, done);
	tcase_add_test(t, rows);
	tcase_add_test(t, headers);
	tcase_add_test(t, nasty);
	tcase_add_test(t, snapshot);
	return run_suite("softirqs", t);
}
