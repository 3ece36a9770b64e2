/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kill -9 at every operation of a changing cycle, and of the restore after it: a later restore
 * brings back every byte, and leaves nothing of its own. What is not made at operation n is the
 * same as what is made just before it, so dying before each of them (and halfway through each
 * write) covers all.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "lib/act-host.h"
#include "lib/silent.h"

/* Points at which a process was killed, no two of them the same: a host, a part of its life, the kind
 * of death, the number of the operation. In memory that the tests' processes share. */
enum {
	IN_CYCLE,
	IN_WRITE,
	IN_RESTORE,
	IN_PAIR,
	_POINTS_MAX
};
static const char *const what_points[] = {
	[IN_CYCLE] = "before an operation of the cycle",
	[IN_WRITE] = "halfway through one of its writes",
	[IN_RESTORE] = "before an operation of the restore",
	[IN_PAIR] = "in the cycle, and again in the restore",
};
static unsigned *points;
#define POINTS_WANTED 1000

/* Runs PART in a child that dies at operation AT of KINDS. Returns false when it had ended before.
 */
static bool run_and_kill(struct act_host *h, void (*part)(struct act_host *h, struct io *io),
			 unsigned kinds, unsigned long at, int death)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct fault_io *f = fault_io_new(&h->io);

		f->kinds = kinds;
		f->at = at;
		f->death = death;
		part(h, &f->io);
		_exit(f->hits > 0 ? 2 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		ck_assert_int_eq(WTERMSIG(status), SIGKILL);
		return true;
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed at %lu", at);
	return false;
}

static void cycle(struct act_host *h, struct io *io)
{
	host_cycle(h, io, NULL);
}

static void restore(struct act_host *h, struct io *io)
{
	host_restore(h, io, NULL);
}

static void expect_originals(struct act_host *h, const char *original, const char *when)
{
	ck_assert_msg(host_restore(h, &h->io, NULL) == 0, "%s: the restore failed", when);
	host_expect(h, original, when);
	host_expect_no_ledger(h, when);
}

/* What every test here stands on: the cycle really changes the tree, and the restore undoes it. */
START_TEST(whole_cycle)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new((enum epp_kind)_i);
	_cleanup_free_ char *original = host_dump(h), *changed = NULL, *value = NULL;

	ck_assert(!run_and_kill(h, cycle, 0, ~0UL, FAULT_DIE_BEFORE));
	changed = host_dump(h);
	ck_assert_str_ne(original, changed);
	value = tree_read(h->tree, "sys/devices/system/cpu/cpufreq/policy0/"
				   "energy_performance_preference");
	ck_assert_str_eq(value, "power");
	ck_assert(tree_has(h->tree, "run/softnetd/ledger.json"));
	expect_originals(h, original, "whole cycle");
}
END_TEST

static void kill_everywhere(enum epp_kind epp, unsigned kinds, int death, int what)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new(epp);
	_cleanup_free_ char *original = host_dump(h);
	char when[64];
	bool killed = true;
	unsigned long n;

	for (n = 1; killed; n++) {
		killed = run_and_kill(h, cycle, kinds, n, death);
		points[what] += killed;
		snprintf(when, sizeof(when), "killed at operation %lu", n);
		expect_originals(h, original, when);
	}
	/* A cycle of a dozen changes that each need a durable ledger. */
	ck_assert_uint_gt(n, kinds ? 15 : 100);
}

START_TEST(killed_before_each_operation)
{
	kill_everywhere((enum epp_kind)_i, 0, FAULT_DIE_BEFORE, IN_CYCLE);
}
END_TEST

START_TEST(killed_halfway_through_each_write)
{
	kill_everywhere((enum epp_kind)_i, FAULT_BIT(FAULT_WRITE), FAULT_DIE_HALFWAY, IN_WRITE);
}
END_TEST

START_TEST(restore_killed_at_each_operation)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new((enum epp_kind)_i);
	_cleanup_free_ char *original = host_dump(h);
	char when[64];
	bool killed = true;

	for (unsigned long n = 1; killed; n++) {
		cycle(h, &h->io);
		killed = run_and_kill(h, restore, 0, n, FAULT_DIE_BEFORE);
		points[IN_RESTORE] += killed;
		snprintf(when, sizeof(when), "restore killed at operation %lu", n);
		expect_originals(h, original, when);
	}
}
END_TEST

/* Killed while it changes, killed again while it gives back, and once more. */
START_TEST(killed_and_killed_again)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new(EPP_INTEL);
	_cleanup_free_ char *original = host_dump(h);
	bool killed = true;
	char when[96];

	/* Steps that have no divisor in common: each write of both is met in some pair. */
	for (unsigned long n = 1; killed; n += 5) {
		bool again = true;

		for (unsigned long k = 1; again; k += 4) {
			killed = run_and_kill(h, cycle, FAULT_WRITES, n, FAULT_DIE_BEFORE);
			again = run_and_kill(h, restore, FAULT_WRITES, k, FAULT_DIE_BEFORE);
			points[IN_PAIR] += killed && again;
			if (again)
				run_and_kill(h, restore, FAULT_WRITES, 1 + k % 4, FAULT_DIE_BEFORE);
			snprintf(when, sizeof(when), "killed at write %lu, restore killed at %lu",
				 n, k);
			expect_originals(h, original, when);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("crash");
	TCase *t = tcase_create("kill -9");
	SRunner *runner;
	unsigned total = 0;
	int failed;

	points = mmap(NULL, _POINTS_MAX * sizeof(*points), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (points == MAP_FAILED)
		return 1;
	log_set_hook(silent, NULL);
	host_use_memory();
	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, whole_cycle, EPP_FREE, EPP_AMD + 1);
	tcase_add_loop_test(t, killed_before_each_operation, EPP_FREE, EPP_AMD + 1);
	tcase_add_loop_test(t, killed_halfway_through_each_write, EPP_FREE, EPP_AMD + 1);
	tcase_add_loop_test(t, restore_killed_at_each_operation, EPP_FREE, EPP_AMD + 1);
	tcase_add_test(t, killed_and_killed_again);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	for (int i = 0; i < _POINTS_MAX; i++) {
		printf("# killed at %u points %s\n", points[i], what_points[i]);
		total += points[i];
	}
	if (total < POINTS_WANTED)
		printf("%u points are too few\n", total);
	return failed != 0 || total < POINTS_WANTED;
}
