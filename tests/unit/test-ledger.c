/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/ledger.h"
#include "lib/act-host.h"

#define FILE_PATH "run/softnetd/ledger.json"
#define BOOT      "6f1d1a3e-0000-4000-8000-000000000001"

static struct tree *host_tree(void)
{
	struct tree *t = tree_new();

	tree_write(t, "proc/sys/kernel/random/boot_id", BOOT "\n");
	return t;
}

static struct ledger *open_ledger(struct io *io)
{
	struct ledger *l = NULL;
	pid_t pid;

	ck_assert_int_eq(ledger_open(io, true, &pid, &l), 0);
	return l;
}

static int enter(struct ledger *l, const char *identity, const char *present, const char *written)
{
	struct change c =
		host_change(TUNABLE_IRQ_AFFINITY, (struct target){.scope = SCOPE_IRQ}, written);

	snprintf(c.target.identity, sizeof(c.target.identity), "%s", identity);
	c.target.number = 30;
	return ledger_enter(l, &c, present, written);
}

static const struct ledger_entry *find(const struct ledger *l, const char *identity)
{
	return ledger_find(l, TUNABLE_IRQ_AFFINITY, identity);
}

START_TEST(an_entry_survives_the_process)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	struct ledger *l = open_ledger(io);
	const struct ledger_entry *e;

	ck_assert_ptr_null(ledger_trouble(l));
	ck_assert(!tree_has(t, FILE_PATH));
	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ledger_free(l); /* as after kill -9: nothing is written at the end */

	l = open_ledger(io);
	ck_assert_uint_eq(ledger_size(l), 1);
	e = find(l, "pci|a");
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->original, "0-3");
	ck_assert_str_eq(e->written, "2");
	ck_assert_ptr_null(e->previous);
	ck_assert_str_eq(e->decision, "test-irq_affinity-0");
	ck_assert_uint_eq(e->number, 30);
	ck_assert_int_eq(e->class, CLASS_POLICY);
	ck_assert(!e->other_boot);
	ck_assert_ptr_eq(ledger_at(l, 0), e);
	ck_assert_ptr_null(ledger_at(l, 1));
	ck_assert_ptr_null(find(l, "pci|b"));
	ck_assert_ptr_null(ledger_find(l, TUNABLE_GOVERNOR, "pci|a"));
	ledger_free(l);
}
END_TEST

START_TEST(the_original_is_entered_once)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(ledger_freep) struct ledger *l = open_ledger(io), *again = NULL;
	const struct ledger_entry *e;

	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ledger_settle(l, TUNABLE_IRQ_AFFINITY, "pci|a");
	ck_assert_int_eq(enter(l, "pci|a", "2", "3"), 0);
	e = find(l, "pci|a");
	ck_assert_str_eq(e->original, "0-3");
	ck_assert_str_eq(e->written, "3");
	/* kill -9 before the write: the host still has 2, and that is ours, too */
	ck_assert_str_eq(e->previous, "2");
	ck_assert_int_eq(ledger_open(io, false, NULL, &again), 0);
	ck_assert_str_eq(find(again, "pci|a")->previous, "2");
	ledger_settle(l, TUNABLE_IRQ_AFFINITY, "pci|a");
	ck_assert_ptr_null(find(l, "pci|a")->previous);
}
END_TEST

/* softnetctl get tells originals to everyone, whatever umask the daemon was started with. */
START_TEST(everyone_may_read_it)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(ledger_freep) struct ledger *l = NULL;
	mode_t mode, old = umask(077);

	l = open_ledger(io);
	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	umask(old);
	ck_assert_int_eq(io->ops->mode(io, FILE_PATH, &mode), 0);
	ck_assert_uint_eq(mode & 07777, 0644);
	ck_assert_int_eq(io->ops->mode(io, "run/softnetd", &mode), 0);
	ck_assert_uint_eq(mode & 07777, 0755);
}
END_TEST

START_TEST(a_write_not_made_is_taken_back)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(ledger_freep) struct ledger *l = open_ledger(io);

	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ck_assert_int_eq(ledger_undo(l, TUNABLE_IRQ_AFFINITY, "pci|a"), 0);
	ck_assert_ptr_null(find(l, "pci|a"));
	ck_assert(!tree_has(t, FILE_PATH));

	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ck_assert_int_eq(enter(l, "pci|a", "2", "3"), 0);
	ck_assert_int_eq(ledger_undo(l, TUNABLE_IRQ_AFFINITY, "pci|a"), 0);
	ck_assert_str_eq(find(l, "pci|a")->written, "2");
	ck_assert_str_eq(find(l, "pci|a")->original, "0-3");
	/* Somebody had put the original back: nothing of ours is there. */
	ck_assert_int_eq(enter(l, "pci|a", "0-3", "3"), 0);
	ck_assert_int_eq(ledger_undo(l, TUNABLE_IRQ_AFFINITY, "pci|a"), 0);
	ck_assert_ptr_null(find(l, "pci|a"));
	ck_assert_int_eq(ledger_undo(l, TUNABLE_IRQ_AFFINITY, "pci|nobody"), 0);
}
END_TEST

START_TEST(the_file_goes_with_its_last_entry)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(ledger_freep) struct ledger *l = open_ledger(io);
	_cleanup_free_ char *text = NULL;

	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ck_assert_int_eq(enter(l, "pci|b", "0-3", "3"), 0);
	ck_assert_int_eq(ledger_drop(l, TUNABLE_IRQ_AFFINITY, "pci|a"), 0);
	text = tree_read(t, FILE_PATH);
	ck_assert_ptr_nonnull(strstr(text, "pci|b"));
	ck_assert_ptr_null(strstr(text, "pci|a"));
	ck_assert_ptr_nonnull(strstr(text, BOOT));
	ck_assert_int_eq(ledger_drop(l, TUNABLE_IRQ_AFFINITY, "pci|b"), 0);
	ck_assert(!tree_has(t, FILE_PATH));
	ck_assert_int_eq(ledger_drop(l, TUNABLE_IRQ_AFFINITY, "pci|b"), 0);
}
END_TEST

/* D15: hundreds of interrupts, in the order of their first change. */
START_TEST(many_entries)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	struct ledger *l = open_ledger(io);
	char name[32];

	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "pci|q%u", i);
		ck_assert_int_eq(enter(l, name, "0-63", "7"), 0);
	}
	ledger_free(l);
	l = open_ledger(io);
	ck_assert_uint_eq(ledger_size(l), 200);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "pci|q%u", i);
		ck_assert_str_eq(ledger_at(l, i)->identity, name);
	}
	ledger_free(l);
}
END_TEST

/* H25: the second daemon learns the first one's pid. */
START_TEST(one_writer)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(ledger_freep) struct ledger *reader = NULL;
	struct ledger *l, *second = NULL;
	pid_t pid = -1;

	tree_write(t, "run/softnetd/lock", "4194304    \n"); /* a dead one's */
	l = open_ledger(io);
	ck_assert_int_eq(ledger_open(io, true, &pid, &second), -EBUSY);
	ck_assert_ptr_null(second);
	ck_assert_int_eq(pid, getpid());
	/* Reading needs no lock. */
	ck_assert_int_eq(ledger_open(io, false, NULL, &reader), 0);
	ledger_free(l);
	l = open_ledger(io);
	ledger_free(l);
}
END_TEST

static const char *const bad_ledgers[] = {
	"",
	"\n",
	"{",
	"{\"version\":1,\"boot_id\":\"" BOOT "\",\"pid\":1,\"entries\":[{\"sett",
	"[]",
	"42",
	"\"version\"",
	"{}",
	"{\"version\":1}",
	"{\"version\":\"1\",\"boot_id\":\"x\",\"entries\":[]}",
	"{\"version\":0,\"boot_id\":\"x\",\"entries\":[]}",
	"{\"version\":1,\"boot_id\":7,\"entries\":[]}",
	"{\"version\":1,\"boot_id\":\"x\",\"entries\":{}}",
	"{\"version\":1,\"version\":1,\"boot_id\":\"x\",\"entries\":[]}",
	"\xff\xfe{}",
	"\177ELF",
};

/* Torn, empty, foreign: kept beside, said, and the daemon goes on with a new one. */
START_TEST(a_bad_ledger_is_moved_aside)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_free_ char *kept = NULL, *text = NULL;
	size_t size;
	struct ledger *l;

	tree_write(t, "run/softnetd/ledger.bad-1", "older");
	tree_write(t, FILE_PATH, bad_ledgers[_i]);
	l = open_ledger(io);
	ck_assert_ptr_nonnull(ledger_trouble(l));
	ck_assert_ptr_nonnull(strstr(ledger_trouble(l), "ledger.bad-2"));
	ck_assert_uint_eq(ledger_size(l), 0);
	ck_assert(!tree_has(t, FILE_PATH));
	ck_assert_int_eq(io_read_all(io, "run/softnetd/ledger.bad-2", &kept, &size), 0);
	ck_assert_uint_eq(size, strlen(bad_ledgers[_i]));
	ck_assert_str_eq(kept, bad_ledgers[_i]);
	text = tree_read(t, "run/softnetd/ledger.bad-1");
	ck_assert_str_eq(text, "older");
	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ledger_free(l);
	l = open_ledger(io);
	ck_assert_uint_eq(ledger_size(l), 1);
	ck_assert_ptr_null(ledger_trouble(l));
	ledger_free(l);
}
END_TEST

START_TEST(a_reader_moves_nothing)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(ledger_freep) struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;

	tree_write(t, FILE_PATH, "{");
	ck_assert_int_eq(ledger_open(io, false, NULL, &l), 0);
	ck_assert_ptr_nonnull(ledger_trouble(l));
	ck_assert_int_lt(enter(l, "pci|a", "0-3", "2"), 0);
	text = tree_read(t, FILE_PATH);
	ck_assert_str_eq(text, "{");
}
END_TEST

/* It may hold the only trace of the originals, and can perhaps be read the next time. */
START_TEST(an_unreadable_ledger_stays)
{
	static const int errors[] = {EIO, EACCES, EAGAIN, EINTR, EBUSY, EPERM};
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	struct ledger *l = open_ledger(io);

	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ledger_free(l);
	for (unsigned kind = FAULT_OPEN; kind <= FAULT_READ; kind++)
		for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
			_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(io);

			f->kinds = FAULT_BIT(kind);
			f->pattern = "*/ledger.json";
			f->error = errors[i];
			l = open_ledger(&f->io);
			ck_assert_ptr_nonnull(ledger_trouble(l));
			ck_assert_ptr_nonnull(strstr(ledger_trouble(l), strerror(errors[i])));
			ck_assert_int_eq(enter(l, "pci|b", "0-3", "2"), -errors[i]);
			ledger_free(l);
			ck_assert(!tree_has(t, "run/softnetd/ledger.bad-1"));
			l = open_ledger(io);
			ck_assert_ptr_nonnull(find(l, "pci|a"));
			ledger_free(l);
		}
}
END_TEST

START_TEST(a_bad_ledger_that_cannot_be_moved_stays)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(io);
	_cleanup_(ledger_freep) struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;

	tree_write(t, FILE_PATH, "{");
	f->kinds = FAULT_BIT(FAULT_RENAME);
	f->error = EROFS;
	l = open_ledger(&f->io);
	ck_assert_ptr_nonnull(strstr(ledger_trouble(l), "cannot be moved aside"));
	f->error = 0;
	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), -EROFS);
	text = tree_read(t, FILE_PATH);
	ck_assert_str_eq(text, "{");
}
END_TEST

/* No root, a read-only /run: the host can be looked at, and not be changed. */
START_TEST(without_a_lock_nothing_is_entered)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(io);
	_cleanup_(ledger_freep) struct ledger *l = NULL;

	f->pattern = "run*";
	f->kinds = FAULT_BIT(FAULT_OPEN) | FAULT_BIT(FAULT_MKDIR);
	f->error = EROFS;
	l = open_ledger(&f->io);
	ck_assert_ptr_nonnull(ledger_trouble(l));
	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), -EROFS);
	ck_assert_uint_eq(ledger_size(l), 0);
}
END_TEST

/* Whatever fails while the file is replaced: nothing was entered, and the old file is whole. */
START_TEST(a_full_disk_enters_nothing)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(io);
	struct ledger *l = open_ledger(&f->io), *again;
	bool hit = true;

	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	f->error = ENOSPC;
	for (f->at = 1; hit; f->at++) {
		fault_io_reset(f);
		ck_assert_int_eq(enter(l, "pci|b", "0-3", "2"), f->fitting < f->at ? 0 : -ENOSPC);
		hit = f->hits > 0;
		if (!hit)
			break;
		ck_assert_uint_eq(ledger_size(l), 1);
		ck_assert_int_eq(enter(l, "pci|a", "2", "3"), 0);
		ck_assert_int_eq(ledger_undo(l, TUNABLE_IRQ_AFFINITY, "pci|a"), 0);
		ck_assert(!tree_has(t, FILE_PATH ".new"));
		ck_assert_int_eq(ledger_open(io, false, NULL, &again), 0);
		ck_assert_ptr_null(ledger_trouble(again));
		ck_assert_uint_eq(ledger_size(again), 1);
		ck_assert_str_eq(find(again, "pci|a")->written, "2");
		ledger_free(again);
	}
	ck_assert_uint_ge(f->at, 7); /* open, write, sync, rename, open and sync of the directory */
	ck_assert_uint_eq(ledger_size(l), 2);
	ledger_free(l);
}
END_TEST

START_TEST(another_boot_is_void)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	struct ledger *l = open_ledger(io);

	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ck_assert_int_eq(enter(l, "pci|b", "0-3", "2"), 0);
	ledger_free(l);
	tree_write(t, "proc/sys/kernel/random/boot_id", "ffffffff-0000-4000-8000-000000000002\n");
	l = open_ledger(io);
	ck_assert_uint_eq(ledger_size(l), 2); /* to be said */
	ck_assert(ledger_at(l, 0)->other_boot && ledger_at(l, 1)->other_boot);
	ck_assert_ptr_null(find(l, "pci|a"));
	/* This boot's original is this boot's. */
	ck_assert_int_eq(enter(l, "pci|a", "1", "2"), 0);
	ck_assert_str_eq(find(l, "pci|a")->original, "1");
	ledger_free(l);
	l = open_ledger(io);
	ck_assert_uint_eq(ledger_size(l), 1);
	ledger_free(l);

	/* A boot id that cannot be read proves nothing. */
	tree_remove(t, "proc/sys/kernel/random/boot_id");
	l = open_ledger(io);
	ck_assert_ptr_nonnull(find(l, "pci|a"));
	ck_assert_int_eq(enter(l, "pci|b", "1", "2"), 0);
	ledger_free(l);
	tree_write(t, "proc/sys/kernel/random/boot_id", BOOT "\n");
	l = open_ledger(io);
	ck_assert_ptr_nonnull(find(l, "pci|a"));
	ck_assert_ptr_nonnull(find(l, "pci|b"));
	ledger_free(l);
}
END_TEST

#define ENTRY(setting, original)                                                                   \
	"{\"setting\":\"" setting "\",\"identity\":\"host\",\"number\":0,\"original\":\"" original \
	"\",\"written\":\"2\",\"decision\":\"d\",\"class\":\"policy\",\"realtime_usec\":1}"

/* What a newer softnetd, or an odd hand, wrote is not understood and not lost. */
START_TEST(unknown_entries_are_kept)
{
	static const char *const unknown[] = {
		ENTRY("of_a_newer_softnetd", "0"),
		ENTRY("netdev_budget", "plenty"), /* no number: never given to a kernel */
		"{\"setting\":\"netdev_budget\"}",
		"17",
		"{\"setting\":\"netdev_budget\",\"identity\":\"host\",\"number\":-1,\"original\":"
		"\"1\",\"written\":\"2\",\"decision\":\"d\",\"class\":\"policy\",\"realtime_usec\":1}",
		"{\"setting\":\"netdev_budget\",\"identity\":\"host\",\"number\":0,\"original\":"
		"\"1\",\"written\":\"2\",\"decision\":\"d\",\"class\":\"whim\",\"realtime_usec\":1}",
		ENTRY("dev_weight", "64"), /* twice the same: the first counts */
	};
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_free_ char *before = NULL, *after = NULL;
	const char *id, *identity;
	struct ledger *l;

	tree_printf(t, FILE_PATH, "{\"version\":1,\"boot_id\":\"" BOOT "\",\"entries\":[%s,%s]}",
		    ENTRY("dev_weight", "32"), unknown[_i]);
	l = open_ledger(io);
	ck_assert_ptr_null(ledger_trouble(l));
	ck_assert_uint_eq(ledger_size(l), 1);
	ck_assert_str_eq(ledger_find(l, TUNABLE_DEV_WEIGHT, "host")->original, "32");
	ck_assert(ledger_unknown(l, 0, &id, &identity));
	if (_i == 0) {
		ck_assert_str_eq(id, "of_a_newer_softnetd");
		ck_assert_str_eq(identity, "host");
	}
	ck_assert(!ledger_unknown(l, 1, &id, &identity));
	ck_assert_int_eq(enter(l, "pci|a", "0-3", "2"), 0);
	ck_assert_int_eq(ledger_drop(l, TUNABLE_DEV_WEIGHT, "host"), 0);
	ck_assert_int_eq(ledger_drop(l, TUNABLE_IRQ_AFFINITY, "pci|a"), 0);
	ck_assert(tree_has(t, FILE_PATH));
	ledger_free(l);
	l = open_ledger(io);
	if (_i != 6) /* alone it is an entry like any other */
		ck_assert(ledger_unknown(l, 0, &id, &identity));
	ledger_free(l);
}
END_TEST

/* Driver names are bytes; JSON is UTF-8. What could not be remembered is not changed. */
START_TEST(names_that_json_cannot_hold)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(ledger_freep) struct ledger *l = open_ledger(io);

	ck_assert_int_eq(enter(l, "pci|\xff\xfe", "0-3", "2"), -EILSEQ);
	ck_assert_uint_eq(ledger_size(l), 0);
	ck_assert_int_eq(enter(l, "pci|\"quoted\\\t\n", "0-3", "2"), 0);
	ck_assert_int_eq(enter(l, "pci|caf\xc3\xa9", "0-3", "2"), 0);
}
END_TEST

/* What a killed predecessor was about to rename is no ledger. */
START_TEST(half_a_ledger_is_cleared_away)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_(ledger_freep) struct ledger *l = NULL;

	tree_write(t, FILE_PATH ".new", "{\"vers");
	l = open_ledger(io);
	ck_assert_ptr_null(ledger_trouble(l));
	ck_assert(!tree_has(t, FILE_PATH ".new"));
}
END_TEST

/* The softnetd that wrote it can still give everything back. */
START_TEST(a_ledger_of_the_future_stays)
{
	_cleanup_(tree_freep) struct tree *t = host_tree();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	struct ledger *l;

	tree_write(t, FILE_PATH, "{\"version\":2,\"boot_id\":\"x\",\"entries\":[]}");
	l = open_ledger(io);
	ck_assert_ptr_nonnull(strstr(ledger_trouble(l), "version 2"));
	ck_assert(tree_has(t, FILE_PATH));
	ck_assert(!tree_has(t, "run/softnetd/ledger.bad-1"));
	ck_assert_int_lt(enter(l, "pci|a", "0-3", "2"), 0);
	ck_assert(tree_has(t, FILE_PATH));
	ledger_free(l);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ledger");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	host_use_memory();
	tcase_add_test(t, an_entry_survives_the_process);
	tcase_add_test(t, the_original_is_entered_once);
	tcase_add_test(t, everyone_may_read_it);
	tcase_add_test(t, a_write_not_made_is_taken_back);
	tcase_add_test(t, the_file_goes_with_its_last_entry);
	tcase_add_test(t, many_entries);
	tcase_add_test(t, one_writer);
	tcase_add_test(t, a_ledger_of_the_future_stays);
	tcase_add_loop_test(t, a_bad_ledger_is_moved_aside, 0, (int)ELEMENTSOF(bad_ledgers));
	tcase_add_test(t, a_reader_moves_nothing);
	tcase_add_test(t, an_unreadable_ledger_stays);
	tcase_add_test(t, a_bad_ledger_that_cannot_be_moved_stays);
	tcase_add_test(t, without_a_lock_nothing_is_entered);
	tcase_add_test(t, a_full_disk_enters_nothing);
	tcase_add_test(t, another_boot_is_void);
	tcase_add_loop_test(t, unknown_entries_are_kept, 0, 7);
	tcase_add_test(t, names_that_json_cannot_hold);
	tcase_add_test(t, half_a_ledger_is_cleared_away);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
