/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <stdio.h>

#include "lib/run.h"
#include "observe/softnet.h"
#include "observe/status.h"

#define Z " 00000000"
/* Rows of 9, 10, 11, 13 and 15 columns; A is processed. */
#define R9(a)       a " 00000000" Z Z Z Z Z Z Z
#define R10(a)      R9(a) Z
#define R11(a)      R10(a) Z
#define R13(a, cpu) R11(a) Z " " cpu
#define R15(a, cpu) R13(a, cpu) Z Z

static struct softnet_table table;
static struct complaints complaints;

static void parse_n(const char *text, size_t size)
{
	complaints_done(&complaints);
	ck_assert_int_eq(softnet_parse(text, size, &table, &complaints), 0);
}

static void parse(const char *text)
{
	parse_n(text, strlen(text));
}

/* The lines of the good rows, and those complained about; both lists end with 0. */
static void expect(const unsigned *good, const unsigned *bad)
{
	unsigned n;

	for (n = 0; good[n]; n++)
		ck_assert_msg(n < table.n && table.rows[n].line == good[n], "line %u is not taken",
			      good[n]);
	ck_assert_uint_eq(table.n, n);
	for (n = 0; bad[n]; n++)
		ck_assert_msg(n < complaints.n && complaints.item[n].line == bad[n],
			      "line %u is not refused (%s)", bad[n],
			      n < complaints.n ? complaints.item[n].text : "nothing is");
	ck_assert_msg(complaints.n == n, "%u complaints, the last: %s", complaints.n,
		      complaints.n ? complaints.item[complaints.n - 1].text : "");
}
#define EXPECT(good, bad) expect((const unsigned[])good, (const unsigned[])bad)
#define LIST(...)                            \
	{                                    \
		__VA_ARGS__ __VA_OPT__(, ) 0 \
	}

START_TEST(widths)
{
	char text[1024] = "";
	size_t used = 0;

	/* Any width from 3 on, and what is not there has no HAVE bit. */
	for (unsigned columns = 1; columns <= 40; columns++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%08x",
					 used ? " " : "", columns);
		parse(text);
		if (columns < 3) {
			EXPECT(LIST(), LIST(1));
			continue;
		}
		EXPECT(LIST(1), LIST());
		ck_assert_uint_eq(table.rows[0].columns, columns);
		ck_assert_uint_eq(table.rows[0].processed, 1);
		ck_assert_uint_eq(table.rows[0].dropped, 2);
		ck_assert_uint_eq(table.rows[0].squeezed, 3);
		ck_assert_uint_eq(!!(softnet_row_have(&table.rows[0]) & HAVE_RPS), columns >= 10);
		ck_assert_uint_eq(!!(softnet_row_have(&table.rows[0]) & HAVE_FLOW_LIMIT),
				  columns >= 11);
		ck_assert_uint_eq(!!(softnet_row_have(&table.rows[0]) & HAVE_BACKLOG),
				  columns >= 12);
		ck_assert_uint_eq(softnet_row_has_cpu(&table.rows[0]), columns >= 13);
		ck_assert_uint_eq(table.rows[0].received_rps, columns >= 10 ? 10 : 0);
		ck_assert_uint_eq(table.rows[0].flow_limit, columns >= 11 ? 11 : 0);
		ck_assert_uint_eq(table.rows[0].backlog, columns >= 12 ? 12 : 0);
		ck_assert_uint_eq(table.rows[0].cpu, columns >= 13 ? 13 : 0);
	}
}
END_TEST

START_TEST(torn)
{
	/* 15 columns at 100 and at 80 characters, 13 and 11 at 80. */
	parse(R11("00000001") "\n" Z Z Z Z "\n" R11("00000002") "\n" Z Z Z Z "\n");
	EXPECT(LIST(), LIST(1, 2, 3, 4));
	parse(R9("00000001") "\n" Z Z Z Z Z Z "\n" R9("00000002") "\n" Z Z Z Z Z Z "\n");
	EXPECT(LIST(), LIST(1, 2, 3, 4));
	parse(R9("00000001") "\n" Z Z Z Z "\n" R9("00000002") "\n" Z Z Z Z "\n");
	EXPECT(LIST(), LIST(1, 2, 3, 4));
	parse(R9("00000001") "\n" Z Z "\n" R9("00000002") "\n" Z Z "\n");
	EXPECT(LIST(), LIST(1, 2, 3, 4));
	/* Three pieces. */
	parse(R9("00000001") "\n" Z Z Z "\n" Z Z Z "\n" R9("00000002") "\n" Z Z Z "\n" Z Z Z "\n");
	EXPECT(LIST(), LIST(1, 2, 3, 4, 5, 6));
	/* One broken row among whole ones: its head looks like a row of 11. */
	parse(R15("00000001", "00000000") "\n" R11("00000002") "\n" Z Z Z Z
							       "\n" R15("00000003", "00000002"));
	EXPECT(LIST(1, 4), LIST(2, 3));
	/* A scrap among good rows takes no row with it. */
	parse(R13("00000001", "00000000") "\n" Z Z "\n" R13("00000003", "00000001") "\n");
	EXPECT(LIST(1, 3), LIST(2));
	/* Cut off at the end, at a blank and in a word. */
	parse(R13("00000001", "00000000") "\n" R13("00000002", "00000001") "\n00000003" Z Z Z Z);
	EXPECT(LIST(1, 2), LIST(3));
	parse(R13("00000001", "00000003") "\n" R11("00000002") Z " 0000");
	EXPECT(LIST(1), LIST(2));
	/* Broken inside a word. */
	parse(R9("00000001") " 0000\n0000 00000000\n" R10("00000002") Z "\n");
	EXPECT(LIST(3), LIST(1, 2));
	/* Equal pieces cannot be told from a kernel that prints 5 columns: taken, and said. */
	parse("00000001" Z Z Z Z "\n00000002" Z Z Z Z "\n");
	EXPECT(LIST(1, 2), LIST(1));
	ck_assert_ptr_nonnull(strstr(complaints.item[0].text, "1 rows of 10"));
	parse("00000001" Z Z Z Z "\n");
	EXPECT(LIST(1), LIST());
}
END_TEST

START_TEST(damaged)
{
	parse("# cat softnet_stat\n" R10("00000001") "\n" R10("0000000g") "\n" R10(
		"000000002") "\n" R10("00000003") " \r\n\n" R10("FFFFFFFF") "\n");
	EXPECT(LIST(2, 5, 7), LIST(1, 3, 4));
	ck_assert_uint_eq(table.rows[0].row, 0);
	ck_assert_uint_eq(table.rows[1].row, 3); /* the two refused rows are CPUs */
	ck_assert_uint_eq(table.rows[2].row, 4);
	ck_assert_uint_eq(table.rows[2].processed, UINT32_MAX);
	ck_assert_uint_eq(table.n_rows, 5);
	ck_assert(!table.scraps);
	parse(R13("00000001", "00000001") "\n" R13("00000002", "00000001") "\n" R13(
		"00000003", "00000800") "\n" R13("00000004", "ffffffff") "\n" R13("00000005",
										  "000007ff"));
	EXPECT(LIST(1, 5), LIST(2, 3, 4));
	parse("-0000001" Z Z "\n0x000001" Z Z "\n+0000001" Z Z "\n");
	EXPECT(LIST(), LIST(1, 2, 3));
}
END_TEST

START_TEST(nasty)
{
	static char big[1 << 20];
	struct softnet_row *kept;

	parse("");
	EXPECT(LIST(), LIST());
	parse("\n\n  \n\t\n");
	EXPECT(LIST(), LIST());
	parse_n(R9("00000001") "\0\n" R9("00000002") "\n",
		sizeof(R9("00000001") "\0\n" R9("00000002") "\n") - 1);
	EXPECT(LIST(2), LIST(1));
	memset(big, 'a', sizeof(big)); /* one word of a MiB */
	parse_n(big, sizeof(big));
	EXPECT(LIST(), LIST(1));
	for (size_t i = 0; i < sizeof(big); i++) /* one row of a great many columns */
		big[i] = i % 9 == 8 ? ' ' : '1';
	parse_n(big, sizeof(big) - sizeof(big) % 9);
	EXPECT(LIST(), LIST(1)); /* its CPU id is 0x11111111 */
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 2654435761U >> 11);
	parse_n(big, sizeof(big));
	memset(big, '\n', sizeof(big));
	for (size_t i = 0; i < sizeof(big); i += 2)
		big[i] = '0';
	parse_n(big, sizeof(big)); /* half a million lines: the memory has a bound */
	ck_assert_uint_eq(table.n, 0);
	ck_assert_uint_eq(complaints.n, COMPLAINTS_MAX);
	ck_assert_uint_le(table.room, 8 * CPU_ID_MAX);
	/* The array stays: no allocation in the steady state. */
	kept = table.rows;
	parse(R13("00000001", "00000000"));
	ck_assert_ptr_eq(table.rows, kept);
}
END_TEST

static struct snapshot *s;

static void into(const char *text, const char *online)
{
	struct cpuset set;

	ck_assert_int_eq(cpuset_parse_list(online, &set), 0);
	snapshot_clear(s);
	ck_assert_int_eq(softnet_into_snapshot(text, strlen(text), &set, &table, s), 0);
}

static unsigned have(unsigned cpu)
{
	return s->cpu[cpu].have;
}

START_TEST(by_id)
{
	const unsigned all = HAVE_SOFTNET | HAVE_RPS | HAVE_FLOW_LIMIT | HAVE_BACKLOG;

	ck_assert_int_eq(snapshot_new(4, 0, 0, &s), 0);
	into(R15("000000aa", "00000000") "\n" R15("000000bb", "00000001") "\n" R15("000000dd",
										   "00000003") "\n",
	     "0-3");
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_OK);
	ck_assert_str_eq(s->source[SOURCE_SOFTNET].text, "");
	ck_assert_uint_eq(have(0), all);
	ck_assert_uint_eq(have(1), all);
	ck_assert_uint_eq(have(2), 0); /* A24: absent, not zero, and CPU 3 keeps its own row */
	ck_assert_uint_eq(have(3), all);
	ck_assert_uint_eq(s->cpu[3].processed, 0xdd);
	/* A bad row costs that CPU its row, and nothing else. */
	into(R15("000000aa", "00000000") "\n" R15("000000zz", "00000001") "\n" R15("000000cc",
										   "00000002") "\n",
	     "0-3");
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_STRANGE);
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].error, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(s->source[SOURCE_SOFTNET].text, "/proc/net/softnet_stat:2: "));
	ck_assert_uint_eq(have(0), all);
	ck_assert_uint_eq(have(1), 0);
	ck_assert_uint_eq(have(2), all);
	/* An id that the machine cannot have. */
	into(R15("000000aa", "00000000") "\n" R15("000000bb", "00000007") "\n", "0-3");
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_STRANGE);
	ck_assert_uint_eq(have(0), all);
	into("", "0-3");
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_STRANGE);
	snapshot_free(s);
}
END_TEST

START_TEST(by_position)
{
	ck_assert_int_eq(snapshot_new(8, 0, 0, &s), 0);
	/* A02: one row, one online CPU. */
	into(R9("00005cb6") "\n", "0");
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_OK);
	ck_assert_uint_eq(have(0), HAVE_SOFTNET);
	ck_assert_uint_eq(s->cpu[0].processed, 0x5cb6);
	/* The n-th row is the n-th online CPU, not CPU n. */
	into(R10("00000001") "\n" R10("00000002") "\n" R10("00000003") "\n", "0,2,5");
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_OK);
	ck_assert_uint_eq(s->cpu[2].processed, 2);
	ck_assert_uint_eq(s->cpu[5].processed, 3);
	ck_assert_uint_eq(have(5), HAVE_SOFTNET | HAVE_RPS);
	ck_assert_uint_eq(have(1), 0);
	/* A damaged row is still a row: its CPU goes without, the others do not shift. */
	into(R10("00000001") "\n" R10("0000000x") "\n" R10("00000003") "\n", "0,2,5");
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_STRANGE);
	ck_assert_uint_eq(have(2), 0);
	ck_assert_uint_eq(s->cpu[5].processed, 3);
	/* A26: the sources disagree about the CPUs. Nothing is guessed. */
	into(R10("00000001") "\n" R10("00000002") "\n", "0");
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_STRANGE);
	ck_assert_uint_eq(have(0) | have(1), 0);
	/* With scraps about, "n-th row" means nothing. */
	into(R10("00000001") "\n00000000 00000000\n" R10("00000002") "\n", "0-1");
	ck_assert_uint_eq(have(0) | have(1), 0);
	into(R9("00000001") "\n" Z "\n" R9("00000002") "\n" Z "\n", "0-1");
	ck_assert_uint_eq(have(0) | have(1), 0);
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_STRANGE);
	snapshot_free(s);
}
END_TEST

/* A28: what is not there is absent, which is not an error. */
START_TEST(failures)
{
	ck_assert_int_eq(snapshot_new(1, 0, 0, &s), 0);
	source_failed(s, SOURCE_SOFTNET, -ENOENT);
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_ABSENT);
	source_failed(s, SOURCE_SOFTNET, -EACCES);
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].state, SOURCE_STRANGE);
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].error, -EACCES);
	ck_assert_str_eq(s->source[SOURCE_SOFTNET].text,
			 "/proc/net/softnet_stat: Permission denied");
	source_ok(s, SOURCE_SOFTNET);
	ck_assert_int_eq(s->source[SOURCE_SOFTNET].error, 0);
	ck_assert_str_eq(s->source[SOURCE_SOFTNET].text, "");
	snapshot_free(s);
}
END_TEST

static void done(void)
{
	softnet_done(&table);
	complaints_done(&complaints);
}

int main(void)
{
	TCase *t = tcase_create("softnet");

	tcase_add_checked_fixture(t, NULL, done);
	tcase_add_test(t, widths);
	tcase_add_test(t, torn);
	tcase_add_test(t, damaged);
	tcase_add_test(t, nasty);
	tcase_add_test(t, by_id);
	tcase_add_test(t, by_position);
	tcase_add_test(t, failures);
	return run_suite("softnet", t);
}
