/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who else writes while a trial is under way, in each of its stages: what an admin sets by hand or another
 * program writes is never written over, but where the profile says "enforce", and then no value stays that
 * was not proved. Simulated time, as test-sim.c.
 */
#include <stdio.h>

#include "engine/internal.h"
#include "lib/run.h"
#include "sim/host.h"

static struct live l;

static const struct machine_nic i40e[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 8}};
static const struct machine_spec four_cpus = {.cpus = 4, .nics = i40e, .n_nics = 1};

#define BUDGET live_setting(&l, "netdev_budget")

/* Squeezes that a larger budget cures: 300, 450, 675, withdrawn, 675 again, kept. */
static void begin(const char *profile)
{
	live_boot(&l, &four_cpus);
	live_start(&l, profile);
	for (unsigned i = 0; i < 8; i++) {
		char name[32], path[64];
		struct receive_queue *q;

		snprintf(name, sizeof(name), "i40e-eth0-TxRx-%u", i);
		q = live_queue(&l, name);
		q->pps = 20000;
		q->burst = 200;
		q->cost_ns = 1000;
		q->burst_noise = 0.1;
		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list",
			 l.m->irq[l.irq[i]].number);
		tree_write(l.m->tree, path, "0\n");
		machine_fire(l.m, (unsigned)l.irq[i], 1);
	}
}

static void teardown(void)
{
	live_done(&l);
	l = (struct live){};
}

/* Until the budget is VALUE, after it was anything else. */
static void until(long value)
{
	unsigned ticks = 0;

	while (BUDGET == value && ticks++ < 100)
		live_run(&l, 1);
	while (BUDGET != value && ticks++ < 200)
		live_run(&l, 1);
	ck_assert_int_eq(BUDGET, value);
}

static void stays(long value, unsigned ticks)
{
	while (ticks-- > 0) {
		live_run(&l, 1);
		ck_assert_int_eq(BUDGET, value);
	}
}

static const char range[] = "netdev_budget = [300, 1200];\n";

/* The stages, told by the value that they leave: 0 the first step, 1 the second, 2 withdrawn, 3 again. */
static void advance(unsigned stage)
{
	static const long values[] = {450, 675, 300, 675};

	for (unsigned i = 0; i <= stage; i++)
		until(values[i]);
	live_run(&l, 2);
	ck_assert_int_eq(BUDGET, values[stage]);
}

/* The story without anybody else, which the others interrupt. */
START_TEST(nobody_else)
{
	begin(range);
	advance(3);
	live_run(&l, 60);
	ck_assert_int_eq(BUDGET, 675);
	ck_assert_uint_eq(l.kept, 1);
}
END_TEST

START_TEST(foreign_value_stays)
{
	begin(range);
	advance((unsigned)_i);
	live_write_setting(&l, "netdev_budget", 400);
	/* The loop may try again after a pause, from what is there now. */
	stays(400, 50);
	ck_assert_uint_eq(l.kept, 0);
	ck_assert_uint_eq(l.inconclusive, 1);
}
END_TEST

/* Whatever it says: also what the trial has there anyway, or the original. */
static const char *const pins[] = {"400", "300", "450", "675"};

START_TEST(pin_stays)
{
	const char *pin = pins[_i / 4];
	char error[512] = "";

	begin(range);
	advance((unsigned)_i % 4);
	ck_assert_int_eq(engine_set(l.e, "netdev_budget", "", pin, error), 0);
	stays(strtol(pin, NULL, 10), 300);
	ck_assert(engine_pinned(l.e, TUNABLE_NETDEV_BUDGET, "host"));
	ck_assert_uint_eq(l.kept, 0);
	ck_assert_int_eq(engine_release(l.e, "netdev_budget", "", error), 0);
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

START_TEST(restore_is_the_end)
{
	begin(range);
	advance((unsigned)_i);
	json_decref(engine_restore(l.e));
	stays(300, 700);
}
END_TEST

/* What is enforced is what was proved: a trial that somebody disturbs is over, and leaves nothing. */
START_TEST(enforce_proves_nothing)
{
	begin("netdev_budget = { value = [300, 1200]; on_foreign = \"enforce\"; };\n");
	advance((unsigned)_i);
	live_write_setting(&l, "netdev_budget", 400);
	live_run(&l, 3);
	/* While it is withdrawn nothing of ours is there to be enforced. */
	ck_assert_int_eq(BUDGET, _i == 2 ? 400 : 300);
	ck_assert_uint_eq(l.kept, 0);
	ck_assert_uint_eq(l.inconclusive, 1);
	stays(_i == 2 ? 400 : 300, 40);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("owners");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, nobody_else);
	tcase_add_loop_test(t, foreign_value_stays, 0, 4);
	tcase_add_loop_test(t, pin_stays, 0, 16);
	tcase_add_loop_test(t, restore_is_the_end, 0, 4);
	tcase_add_loop_test(t, enforce_proves_nothing, 0, 4);
	return run_suite("sim-owners", t);
}
