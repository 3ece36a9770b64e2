/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of the live log, against a /dev/kmsg that does what a script says: the kernel's
 * overruns and failures cannot be had at will. */
#include <check.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lib/run.h"
#include "lib/tree.h"
#include "observe/kmsg.h"

#define NOHZ "NOHZ tick-stop error: local softirq work is pending, handler #08!!!"

/* A device that hands over records FIRST … LAST, one a read. */
struct device {
	struct io io;
	uint64_t next, last;
	unsigned prio;
	const char *text;
	/* Errors that come instead of a record before the one with this number; then they are gone.
	 */
	uint64_t at[8];
	int error[8];
	int open_error;
	unsigned opens, reads;
	uint64_t now;
};

static struct device d;
static struct kmsg_reader r;
static struct snapshot *s;

static int device_open(struct io *io _unused_, const char *path, int flags _unused_,
		       mode_t mode _unused_)
{
	ck_assert_str_eq(path, "dev/kmsg");
	d.opens++;
	return d.open_error ? d.open_error : dup(STDIN_FILENO);
}

static ssize_t device_read(struct io *io _unused_, int fd _unused_, void *buf, size_t size,
			   off_t offset)
{
	ck_assert_int_eq(offset, -1);
	ck_assert_uint_ge(size, 8192);
	d.reads++;
	for (size_t i = 0; i < ELEMENTSOF(d.error); i++)
		if (d.error[i] && d.at[i] == d.next) {
			int error = d.error[i];

			d.error[i] = 0;
			return error;
		}
	if (d.next > d.last)
		return -EAGAIN;
	d.next++;
	return snprintf(buf, size, "%u,%llu,%llu,-,caller=T1;%s\n SUBSYSTEM=x\n", d.prio,
			(unsigned long long)d.next - 1, (unsigned long long)d.next * 1000, d.text);
}

static uint64_t device_now(struct io *io _unused_, clockid_t clock)
{
	ck_assert_int_eq(clock, CLOCK_MONOTONIC);
	return d.now;
}

static const struct io_ops device_ops = {
	.open = device_open, .read = device_read, .now = device_now};

static void setup(void)
{
	d = (struct device){
		.io = {.ops = &device_ops, .live = true},
		.next = 1,
		.prio = 4,
		.text = "all is well",
		.now = 100 * USEC_PER_SEC,
	};
	ck_assert_int_eq(kmsg_reader_init(&r, &d.io), 0);
	ck_assert_int_eq(snapshot_new(1, 0, 0, &s), 0);
}

static void done(void)
{
	kmsg_reader_done(&r);
	snapshot_free(s);
}

static void tick(void)
{
	d.now += USEC_PER_SEC;
	snapshot_clear(s);
	kmsg_reader_read(&r, s);
}

static void expect_state(enum source_state state)
{
	ck_assert_msg(s->source[SOURCE_KMSG].state == state, "state %d: %s",
		      s->source[SOURCE_KMSG].state, s->source[SOURCE_KMSG].text);
}

/* B33: what was printed before we looked is told apart, and counts for the ten of this boot. */
START_TEST(old_and_new)
{
	d.last = 3;
	d.text = NOHZ;
	ck_assert_int_eq(kmsg_reader_fd(&r), -1);
	tick();
	expect_state(SOURCE_OK);
	ck_assert_int_ge(kmsg_reader_fd(&r), 0);
	ck_assert_uint_eq(s->n_events, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(s->event[i].old);
		ck_assert_int_eq(s->event[i].kind, KMSG_NOHZ_PENDING);
		ck_assert_uint_eq(s->event[i].mask, 8);
		ck_assert_uint_eq(s->event[i].seq, i + 1);
		ck_assert_uint_eq(s->event[i].boot_usec, (i + 2) * 1000);
		ck_assert_str_eq(s->event[i].text, NOHZ);
	}
	ck_assert_uint_eq(s->nohz_lines, 3);
	tick();
	ck_assert_uint_eq(s->n_events, 0);
	ck_assert_uint_eq(s->nohz_lines, 3);
	d.last = 4;
	tick();
	ck_assert_uint_eq(s->n_events, 1);
	ck_assert(!s->event[0].old);
	ck_assert_uint_eq(s->nohz_lines, 4);
	ck_assert_uint_eq(d.opens, 1);
}
END_TEST

START_TEST(foreign)
{
	d.last = 5;
	d.prio = 12;
	d.text = NOHZ;
	tick();
	ck_assert_uint_eq(s->n_events, 0);
	ck_assert_uint_eq(s->nohz_lines, 0);
	d.last = 6;
	d.prio = 4;
	d.text = "something else";
	tick();
	ck_assert_uint_eq(s->n_events, 0);
}
END_TEST

/* B35: a burst overruns us; what is lost is counted, and every later record is read. */
START_TEST(overrun)
{
	d.last = 10;
	tick();
	ck_assert_uint_eq(s->kmsg_records_lost, 0);
	d.next = 711; /* 700 records are gone */
	d.last = 1310;
	d.text = NOHZ;
	d.at[0] = 711;
	d.error[0] = -EPIPE;
	d.at[1] = 900; /* and it happens again, without a gap in the numbers */
	d.error[1] = -EPIPE;
	d.at[2] = 901; /* a record larger than the buffer is skipped */
	d.error[2] = -EINVAL;
	tick();
	expect_state(SOURCE_OK);
	ck_assert_uint_eq(s->kmsg_records_lost, 700);
	ck_assert_uint_eq(s->n_events, SNAPSHOT_EVENTS_MAX);
	ck_assert_uint_eq(s->events_lost, 600 - SNAPSHOT_EVENTS_MAX);
	ck_assert_uint_eq(s->nohz_lines, 600);
	ck_assert_uint_eq(d.next, 1311);
	d.last = 1311;
	tick();
	ck_assert_uint_eq(s->n_events, 1);
	ck_assert_uint_eq(s->event[0].seq, 1311);
	ck_assert_uint_eq(d.opens, 1);
}
END_TEST

/* A flood does not hold the caller, and ends nowhere but at the end. */
START_TEST(flood)
{
	d.last = 100000;
	tick();
	ck_assert_uint_le(d.reads, 5000);
	expect_state(SOURCE_OK);
	for (unsigned i = 0; i < 30 && d.next <= d.last; i++)
		tick();
	ck_assert_uint_eq(d.next, d.last + 1);
	/* EPIPE for ever is no reason to hang. */
	for (size_t i = 0; i < ELEMENTSOF(d.at); i++) {
		d.at[i] = d.next;
		d.error[i] = -EPIPE;
	}
	tick();
	expect_state(SOURCE_OK);
}
END_TEST

/* B37: the log goes away. It shows, it is tried again, and nothing is counted twice. */
START_TEST(lost_and_found)
{
	d.last = 2;
	d.text = NOHZ;
	tick();
	ck_assert_uint_eq(s->nohz_lines, 2);
	d.at[0] = 3;
	d.error[0] = -EIO;
	tick();
	expect_state(SOURCE_STRANGE);
	ck_assert_int_eq(s->source[SOURCE_KMSG].error, -EIO);
	ck_assert_ptr_nonnull(strstr(s->source[SOURCE_KMSG].text, "/dev/kmsg: "));
	ck_assert_int_eq(kmsg_reader_fd(&r), -1);
	d.next = 1; /* who opens it anew starts at the oldest record */
	d.last = 3;
	for (unsigned i = 0; i < 9; i++) {
		tick();
		expect_state(SOURCE_STRANGE); /* stays said, and no retry storm */
	}
	ck_assert_uint_eq(d.opens, 1);
	tick();
	tick();
	expect_state(SOURCE_OK);
	ck_assert_uint_eq(d.opens, 2);
	ck_assert_uint_eq(s->nohz_lines, 3);
	ck_assert_uint_eq(s->kmsg_records_lost, 0);
}
END_TEST

START_TEST(cannot_open)
{
	d.open_error = -EPERM;
	d.last = 1;
	d.text = NOHZ;
	tick();
	expect_state(SOURCE_STRANGE);
	ck_assert_int_eq(s->source[SOURCE_KMSG].error, -EPERM);
	/* A28: a container without the device. */
	d.open_error = -ENOENT;
	for (unsigned i = 0; i < 11; i++)
		tick();
	expect_state(SOURCE_ABSENT);
	ck_assert_uint_eq(d.opens, 2);
	d.open_error = 0;
	for (unsigned i = 0; i < 11; i++)
		tick();
	expect_state(SOURCE_OK);
	ck_assert_uint_eq(s->nohz_lines, 1);
}
END_TEST

START_TEST(captured)
{
	_cleanup_(tree_freep) struct tree *t = tree_new();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(kmsg_reader_done) struct kmsg_reader c = {.fd = -1}, none = {.fd = -1};

	ck_assert_int_eq(kmsg_reader_init(&none, io), 0);
	kmsg_reader_read(&none, s);
	expect_state(SOURCE_ABSENT);
	tree_write(t, "dev/kmsg",
		   "4,1,2000,-;" NOHZ
		   "\n[   12.345678] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! "
		   "[x:1]\n");
	ck_assert_int_eq(kmsg_reader_init(&c, io), 0);
	kmsg_reader_read(&c, s);
	expect_state(SOURCE_OK);
	ck_assert_int_eq(kmsg_reader_fd(&c), -1);
	ck_assert_uint_eq(s->n_events, 2);
	ck_assert_int_eq(s->event[1].kind, KMSG_SOFT_LOCKUP);
	ck_assert(!s->event[0].old && !s->event[1].old);
	ck_assert_uint_eq(s->nohz_lines, 1);
	/* Once. */
	snapshot_clear(s);
	kmsg_reader_read(&c, s);
	expect_state(SOURCE_OK);
	ck_assert_uint_eq(s->n_events, 0);
	ck_assert_uint_eq(s->nohz_lines, 1);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("kmsg-reader");

	tcase_add_checked_fixture(t, setup, done);
	tcase_add_test(t, old_and_new);
	tcase_add_test(t, foreign);
	tcase_add_test(t, overrun);
	tcase_add_test(t, flood);
	tcase_add_test(t, lost_and_found);
	tcase_add_test(t, cannot_open);
	tcase_add_test(t, captured);
	return run_suite("kmsg-reader", t);
}
