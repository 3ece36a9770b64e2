/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts, records and pasted logs; the dumps of the cases are in test-cases, the reader in
 * test-kmsg-reader. */
#include <check.h>

#include "lib/run.h"
#include "observe/kmsg.h"

static struct slice of(const char *text)
{
	return slice_of(text, strlen(text));
}

static void expect_mask(const char *text, enum nohz_text nohz, uint32_t mask)
{
	uint32_t have = 0;

	ck_assert_msg(kmsg_nohz(of(text), &have) == nohz, "'%s' is taken for something else", text);
	ck_assert_msg(have == mask, "'%s': mask %x", text, have);
	ck_assert_int_eq(kmsg_classify(of(text), &have),
			 nohz == NOHZ_WHOLE ? KMSG_NOHZ_PENDING : KMSG_OTHER);
}

START_TEST(masks)
{
	expect_mask("NOHZ: local_softirq_pending 08", NOHZ_WHOLE, 0x08);
	expect_mask("NOHZ: local_softirq_pending  202 ", NOHZ_WHOLE, 0x202);
	expect_mask("x NOHZ tick-stop error: local softirq work is pending, handler #80!!!\"}",
		    NOHZ_WHOLE, 0x80);
	expect_mask("NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #0c!!!",
		    NOHZ_WHOLE, 0x0c);
	expect_mask("NOHZ tick-stop error: local softirq work is pending, handler #3FF!!!",
		    NOHZ_WHOLE, 0x3ff);
	expect_mask("NOHZ: local_softirq_pending ffffffff", NOHZ_WHOLE, UINT32_MAX);
	expect_mask("NOHZ: local_softirq_pending 1ffffffff", NOHZ_CUT, 0);
	expect_mask("NOHZ: local_softirq_pending", NOHZ_CUT, 0);
	expect_mask("NOHZ: local_softirq_pending 08x", NOHZ_CUT, 0);
	expect_mask("NOHZ tick-stop error: local softirq work is", NOHZ_CUT, 0);
	expect_mask("NOHZ tick-stop error: local softirq work is pending, handler", NOHZ_CUT, 0);
	expect_mask("NOHZ tick-stop error: local softirq work is pending, handler #", NOHZ_CUT, 0);
	expect_mask("NOHZ: full dynticks CPUs: 2-3.", NOHZ_NONE, 0);
	expect_mask("local_softirq_pending 08", NOHZ_NONE, 0);
	expect_mask("", NOHZ_NONE, 0);
}
END_TEST

START_TEST(no_kinds)
{
	static const char *const texts[] = {
		"rcu: rcu_preempt kthread starved for 5250 jiffies!",
		"watchdog: Enabled. Permanently consumes one hw-PMU counter.",
		"irq : nobody cared",
		"xirq16: nobody cared",
		"IRQ 19: no longer affine to CPU0",
		"sched_clock: Marking unstable (1, 2)<-(3, 4)",
		"Override clocksource tsc is unstable and not HRT compatible",
		"clocksource: Switched to clocksource tsc",
		"TSC found unstable after boot, most likely due to broken BIOS. Use 'tsc=unstable'.",
	};
	uint32_t mask;

	for (size_t i = 0; i < ELEMENTSOF(texts); i++)
		ck_assert_msg(kmsg_classify(of(texts[i]), &mask) == KMSG_OTHER, "%s", texts[i]);
}
END_TEST

START_TEST(records)
{
	struct kmsg_record r;

	ck_assert_int_eq(
		kmsg_parse_record(
			of("6,776,2595848,-,caller=T167,cpu=3,pid=167,comm=scsi_eh_4;ata5: SATA;x\n"
			   " SUBSYSTEM=ata\n DEVICE=+ata5\n"),
			&r),
		0);
	ck_assert_uint_eq(r.facility, 0);
	ck_assert_uint_eq(r.level, 6);
	ck_assert_uint_eq(r.seq, 776);
	ck_assert_uint_eq(r.usec, 2595848);
	ck_assert(slice_is(r.text, "ata5: SATA;x"));
	ck_assert_int_eq(kmsg_parse_record(of("30,1,18446744073709551615,c;"), &r), 0);
	ck_assert_uint_eq(r.facility, 3);
	ck_assert_uint_eq(r.usec, UINT64_MAX);
	ck_assert(r.text.at == r.text.end);
	/* comm= is free text of at most 15 bytes; a semicolon in it shifts where the text starts
	 * and can not hide what follows. */
	ck_assert_int_eq(
		kmsg_parse_record(of("4,1,2,-,comm=a;b,c;NOHZ: local_softirq_pending 08"), &r), 0);
	ck_assert(slice_contains(r.text, "NOHZ: local_softirq_pending 08"));
	ck_assert_int_eq(kmsg_parse_record(of("6,776,2595848,-"), &r), -EINVAL);
	ck_assert_int_eq(kmsg_parse_record(of("6,776,2595848"), &r), -EINVAL);
	ck_assert_int_eq(kmsg_parse_record(of("6,776,2595848,-\n;x"), &r), -EINVAL);
	ck_assert_int_eq(kmsg_parse_record(of("6,,1,-;x"), &r), -EINVAL);
	ck_assert_int_eq(kmsg_parse_record(of("-6,1,1,-;x"), &r), -EINVAL);
	ck_assert_int_eq(kmsg_parse_record(of("99999999999999999999,1,1,-;x"), &r), -EINVAL);
	ck_assert_int_eq(kmsg_parse_record(of(""), &r), -EINVAL);
}
END_TEST

START_TEST(show)
{
	char buf[64], small[6], long_text[4096];

	kmsg_show(of("a\\xc3\\xa4b \\x5c \\x1b[31m \\x0a \\xzz \\xff"), buf, sizeof(buf));
	ck_assert_str_eq(buf, "aäb \\ \\x1b[31m \\x0a \\xzz ?");
	kmsg_show(of("abcd\\xc3\\xa4"), small, sizeof(small));
	ck_assert_str_eq(small, "abcd"); /* no half character */
	memset(long_text, 'x', sizeof(long_text));
	kmsg_show(slice_of(long_text, sizeof(long_text)), buf, sizeof(buf));
	ck_assert_uint_eq(strlen(buf), sizeof(buf) - 1);
}
END_TEST

static struct {
	unsigned n;
	unsigned line[32];
	struct kmsg_event event[32];
} got;
static struct complaints complaints;

static void take(unsigned line, const struct kmsg_event *event, void *userdata)
{
	ck_assert_ptr_eq(userdata, &got);
	if (got.n < ELEMENTSOF(got.line)) {
		got.line[got.n] = line;
		got.event[got.n] = *event;
	}
	got.n++;
}

static void parse_n(const char *text, size_t size)
{
	memset(&got, 0, sizeof(got));
	complaints_done(&complaints);
	kmsg_parse_log(text, size, take, &got, &complaints);
}

static void parse(const char *text)
{
	parse_n(text, strlen(text));
}

#define NEW "NOHZ tick-stop error: local softirq work is pending, handler #08!!!"

START_TEST(prefixes)
{
	static const struct {
		const char *text;
		uint64_t usec, seq;
	} lines[] = {
		{NEW, 0, 0},
		{"[   12.345678] " NEW, 12345678, 0},
		{"[    0.000001][   T13] " NEW, 1, 0},
		{"<4>[   12.345678] " NEW, 12345678, 0},
		{"<4>" NEW, 0, 0},
		{"[Mon Mar  7 22:38:41 2022] " NEW, 0, 0},
		{"kern  :warn  : [   12.345678] " NEW, 12345678, 0},
		{"Mar  7 22:38:41 host1 kernel: " NEW, 0, 0},
		{"Mar  7 22:38:41 host1 kernel: [   12.345678] " NEW, 12345678, 0},
		{"Mar 07 22:38:41.123456 host1 kernel: " NEW, 0, 0},
		{"2024-01-04T18:22:37.993+01:00 host1 kernel: " NEW, 0, 0},
		{"4,77,12345678,-,caller=C1;" NEW, 12345678, 77},
		{"> [   12.345678] " NEW, 12345678, 0},
		{"{\"MESSAGE\":\"" NEW "\"}\r", 0, 0},
		{"  " NEW "  ", 0, 0},
	};

	for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
		parse(lines[i].text);
		ck_assert_msg(got.n == 1 && complaints.n == 0, "'%s'", lines[i].text);
		ck_assert_uint_eq(got.event[0].mask, 8);
		ck_assert_msg(got.event[0].boot_usec == lines[i].usec, "'%s': %llu", lines[i].text,
			      (unsigned long long)got.event[0].boot_usec);
		ck_assert_uint_eq(got.event[0].seq, lines[i].seq);
		ck_assert(!got.event[0].old);
		ck_assert_ptr_nonnull(strstr(got.event[0].text, NEW));
	}
}
END_TEST

START_TEST(foreign)
{
	static const char *const lines[] = {
		"12,77,12345678,-;" NEW,
		"<30>" NEW,
		"<12>[   12.345678] " NEW,
		"user  :warn  : [   12.345678] " NEW,
		"daemon:err   : [   12.345678] " NEW,
		"Mar  7 22:38:41 host1 myapp[77]: " NEW,
		"Mar  7 22:38:41 host1 kernelish: " NEW,
		"2024-01-04T18:22:37.993+01:00 host1 systemd[1]: " NEW,
	};

	for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
		parse(lines[i]);
		ck_assert_msg(got.n == 0, "'%s' counted", lines[i]);
		ck_assert_msg(complaints.n == 1 && complaints.item[0].line == 1, "'%s' not said",
			      lines[i]);
	}
	parse("Mar  7 22:38:41 host1 myapp[77]: all is well\n12,1,1,-;hello\n");
	ck_assert_uint_eq(got.n + complaints.n, 0);
}
END_TEST

START_TEST(joined)
{
	/* Three lines, quoted. */
	parse("> Dec 29 22:24:29 host1 kernel: [1.000000] NOHZ tick-stop error: Non-RCU\n"
	      "> local softirq work is\n> pending, handler #88!!!\n" NEW "\n");
	ck_assert_uint_eq(got.n, 2);
	ck_assert_uint_eq(got.event[0].mask, 0x88);
	ck_assert_uint_eq(got.line[0], 1);
	ck_assert_uint_eq(got.line[1], 4);
	parse("NOHZ: local_softirq_pending\n08\nNOHZ: local_softirq_pending\n\n");
	ck_assert_uint_eq(got.n, 1);
	ck_assert_uint_eq(got.event[0].mask, 8);
	ck_assert_uint_eq(complaints.n, 1);
	ck_assert_uint_eq(complaints.item[0].line, 3);
	/* What follows is no rest of it: nothing is invented, and the next line is still read. */
	parse("NOHZ: local_softirq_pending\n64 bytes from 169.254.1.1: seq=3\n");
	ck_assert_uint_eq(got.n, 0);
	ck_assert_uint_eq(complaints.n, 1);
	parse("NOHZ tick-stop error: local softirq work is\n[   1.000000] " NEW "\n");
	ck_assert_uint_eq(got.n, 1);
	ck_assert_uint_eq(got.line[0], 2);
	parse("NOHZ tick-stop error: local softirq work is\n" NEW "\n");
	ck_assert_uint_eq(got.n, 1);
	ck_assert_uint_eq(got.line[0], 2);
	parse("NOHZ tick-stop error: local softirq work is");
	ck_assert_uint_eq(got.n, 0);
	ck_assert_uint_eq(complaints.n, 1);
}
END_TEST

START_TEST(dictionaries)
{
	parse("4,1,5,-;usb 1-1: x\n SUBSYSTEM=usb\n " NEW "\n4,2,6,-;" NEW "\n");
	ck_assert_uint_eq(got.n, 1);
	ck_assert_uint_eq(got.line[0], 4);
	/* In other logs a line may well begin with a blank. */
	parse(" ret_from_fork+0x1f/0x30\n " NEW "\n");
	ck_assert_uint_eq(got.n, 1);
}
END_TEST

START_TEST(nasty)
{
	static const char nul[] = "NOHZ\0: local_softirq_pending 08\n\0\0\n" NEW "\0\0";
	static char big[1 << 20];

	parse("");
	ck_assert_uint_eq(got.n, 0);
	parse_n(nul, sizeof(nul) - 1);
	ck_assert_uint_eq(got.n, 1);
	ck_assert_uint_eq(got.line[0], 3);
	memset(big, 'x', sizeof(big));
	memcpy(big + sizeof(big) - sizeof(NEW) + 1, NEW, sizeof(NEW) - 1);
	parse_n(big, sizeof(big));
	ck_assert_uint_eq(got.n, 1);
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 2654435761U >> 13);
	parse_n(big, sizeof(big));
	for (size_t i = 0; i + sizeof(NEW) <= sizeof(big); i += sizeof(NEW)) {
		memcpy(big + i, NEW, sizeof(NEW) - 1);
		big[i + sizeof(NEW) - 1] = '\n';
	}
	parse_n(big, sizeof(big));
	ck_assert_uint_ge(got.n, sizeof(big) / sizeof(NEW));
}
END_TEST

static void done(void)
{
	complaints_done(&complaints);
}

int main(void)
{
	TCase *t = tcase_create("kmsg");

	tcase_add_checked_fixture(t, NULL, done);
	tcase_add_test(t, masks);
	tcase_add_test(t, no_kinds);
	tcase_add_test(t, records);
	tcase_add_test(t, show);
	tcase_add_test(t, prefixes);
	tcase_add_test(t, foreign);
	tcase_add_test(t, joined);
	tcase_add_test(t, dictionaries);
	tcase_add_test(t, nasty);
	return run_suite("kmsg", t);
}
