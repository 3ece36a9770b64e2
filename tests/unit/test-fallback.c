/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes a change back although the symptom is cured: a CPU without time left, in each phase of
 * its trial and after it was kept; a stall; and a price that shows only when it is made again.
 */
#include "decide/trial.h"
#include "lib/plant.h"
#include "lib/run.h"

#define BUDGET p.values.host[TUNABLE_NETDEV_BUDGET].number

static struct plant p;
static struct trial_verdict verdict; /* the newest */
static unsigned verdicts, kept;

/* CPU 0 is squeezed while the budget is 300, and only then. */
static void setup(void)
{
	plant_init(&p, 4, false, 4);
	for (unsigned i = 1; i < 4; i++)
		p.cpu[i] = (struct plant_cpu){.softirq = 0.05, .busy = 0.1};
	p.cpu[0] = (struct plant_cpu){
		.packets = 29000, .runs = 100, .squeezes = 80, .softirq = 0.5, .busy = 0.6};
	p.nic_packets = 29000;
	plant_range(&p, TUNABLE_NETDEV_BUDGET, 300, 450);
	verdicts = kept = 0;
}

static void teardown(void)
{
	plant_done(&p);
}

static void tick(void)
{
	p.cpu[0].squeezes = BUDGET > 300 ? 1 : 80;
	plant_run(&p, 1);
	if (!p.out->has_verdict)
		return;
	verdict = p.out->verdict;
	verdicts++;
	kept += streq(verdict.verdict, "kept");
}

static void ticks(unsigned n)
{
	for (; n > 0; n--)
		tick();
}

static void run_to_write(unsigned n)
{
	for (unsigned i = 0; i < 60 && p.writes < n; i++)
		tick();
	ck_assert_uint_eq(p.writes, n);
}

static void run_to_kept(void)
{
	for (unsigned i = 0; i < 80 && kept == 0; i++)
		tick();
	ck_assert_uint_eq(kept, 1);
	ck_assert_int_eq(BUDGET, 450);
	ck_assert_uint_eq(p.writes, 3);
}

static void saturate(unsigned cpu, bool on)
{
	p.cpu[cpu].softirq = on ? 0.98 : 0.5;
	p.cpu[cpu].busy = on ? 0.99 : 0.6;
}

static void expect(const char *name, const char *text)
{
	ck_assert_uint_eq(verdicts, 1);
	ck_assert_msg(streq(verdict.verdict, name) && strstr(verdict.text, text), "%s",
		      verdict.text);
}

/* While it settles, while it is judged, and the same when it was made again; on a CPU that the
 * symptom is not about, and on its own. */
static const struct {
	unsigned write, after, cpu;
} phases[] = {{1, 0, 2}, {1, 4, 2}, {1, 4, 0}, {3, 0, 2}, {3, 4, 2}, {3, 0, 0}};

START_TEST(cpu_that_becomes_saturated_ends_the_trial)
{
	unsigned writes;

	run_to_write(phases[_i].write);
	ticks(phases[_i].after);
	writes = p.writes;
	ck_assert_uint_eq(verdicts, 0);
	saturate(phases[_i].cpu, true);
	ticks(WORSE_TICKS - 1);
	ck_assert_uint_eq(verdicts, 0);
	tick();
	expect("worse", "a CPU became saturated");
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(p.writes, writes + 1);
	ticks(3600);
	ck_assert_uint_eq(p.writes, writes + 1); /* retired */
}
END_TEST

START_TEST(saturation_while_withdrawn_proves_nothing)
{
	run_to_write(2);
	ck_assert_int_eq(BUDGET, 300);
	saturate(3, true);
	ticks(WORSE_TICKS);
	expect("inconclusive", "while the change was withdrawn");
	saturate(3, false);
	ticks(30);
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(p.writes, 2);
}
END_TEST

/* Each CPU for itself: that one was saturated before excuses no other, and is no fault of the
 * change. */
START_TEST(one_that_was_saturated_before_excuses_no_other)
{
	saturate(3, true);
	run_to_write(1);
	ticks(4);
	if (_i == 0) {
		ticks(60);
		ck_assert_uint_eq(kept, 1);
		ck_assert_int_eq(BUDGET, 450);
		return;
	}
	saturate(2, true);
	ticks(WORSE_TICKS);
	expect("worse", "a CPU became saturated");
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* Of two squeezed CPUs one never has time: its runs are counted otherwise, and nothing is gained. */
START_TEST(squeezes_of_a_cpu_that_stays_saturated)
{
	p.cpu[1] = p.cpu[0];
	saturate(1, true);
	p.nic_packets = 58000;
	for (unsigned i = 0; i < 60; i++) {
		p.cpu[1].squeezes = BUDGET > 300 ? 1 : 80;
		tick();
	}
	ck_assert_uint_eq(kept, 0);
	ck_assert_str_eq(verdict.verdict, "no effect");
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

START_TEST(kept_change_falls_back_when_a_cpu_is_saturated)
{
	run_to_kept();
	ticks(100);
	verdicts = 0;
	/* Not for a moment's sake. */
	saturate(2, true);
	ticks(FALLBACK_TICKS - 1);
	saturate(2, false);
	ticks(5);
	ck_assert_uint_eq(verdicts, 0);
	ck_assert_uint_eq(p.writes, 3);
	saturate(2, true);
	ticks(FALLBACK_TICKS);
	expect("fallen back", "CPU 2 is saturated with softirqs for 10 ticks");
	ck_assert_str_eq(verdict.change.id, "netdev_budget-squeezed");
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(p.writes, 4);
	saturate(2, false);
	/* It rests for ten minutes, may try once more, and then stays where it began. */
	ticks(580);
	ck_assert_uint_eq(p.writes, 4);
	ticks(120);
	ck_assert_int_eq(BUDGET, 450);
	ck_assert_uint_eq(p.writes, 7);
	saturate(2, true);
	ticks(FALLBACK_TICKS);
	ck_assert_int_eq(BUDGET, 300);
	saturate(2, false);
	ticks(7200);
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(p.writes, 8);
}
END_TEST

/* The CPU had no time before, either. */
START_TEST(kept_beside_a_saturated_cpu_stays)
{
	saturate(3, true);
	run_to_kept();
	ticks(300);
	ck_assert_int_eq(BUDGET, 450);
	ck_assert_uint_eq(p.writes, 3);
}
END_TEST

START_TEST(what_is_somebody_elses_by_now_does_not_fall_back)
{
	run_to_kept();
	ticks(20);
	if (_i == 0)
		BUDGET = 2000;
	else
		p.pinned = TUNABLE_NETDEV_BUDGET;
	ticks(20);
	saturate(2, true);
	ticks(60);
	ck_assert_int_eq(BUDGET, _i == 0 ? 2000 : 450);
	ck_assert_uint_eq(p.writes, 3);
}
END_TEST

/* Two were kept: the newest goes first, the other only when that did not help. */
START_TEST(newest_of_two_goes_first)
{
	plant_range(&p, TUNABLE_NETDEV_MAX_BACKLOG, 1000, 1500);
	run_to_kept();
	for (unsigned i = 0; i < 80 && kept < 2; i++) {
		p.cpu[0].drops = p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number > 1000 ? 0 : 3000;
		tick();
	}
	ck_assert_uint_eq(kept, 2);
	saturate(2, true);
	ticks(FALLBACK_TICKS);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number, 1000);
	ck_assert_int_eq(BUDGET, 450);
	ticks(FALLBACK_TICKS);
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* Everything goes back then, by the engine; and the loop does not take up where it was. */
START_TEST(stall_is_a_fallback_too)
{
	run_to_kept();
	for (unsigned n = 1; n <= 2; n++) {
		plant_event(&p, KMSG_SOFT_LOCKUP, 0, false);
		tick();
		ck_assert(p.out->back_to_originals);
		BUDGET = 300;
		ticks(590);
		ck_assert_uint_eq(p.writes, 3 * n);
		ticks(120);
		ck_assert_int_eq(BUDGET, n == 1 ? 450 : 300);
	}
	ticks(7200);
	ck_assert_uint_eq(p.writes, 6);
}
END_TEST

/* ---- the last look ---- */

START_TEST(price_that_shows_when_it_is_made_again)
{
	run_to_write(3);
	p.cpu[0].softirq = 0.7;
	ticks(20);
	expect("worse", "each packet costs more CPU time");
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(p.writes, 4);
}
END_TEST

START_TEST(objective_that_worsens_when_it_is_made_again)
{
	p.profile->objective = OBJECTIVE_WAKEUP;
	p.psi = 0.1;
	for (unsigned i = 0; i < 60 && p.writes < 3; i++) {
		p.psi = BUDGET > 300 ? 0.05 : 0.1;
		tick();
	}
	ck_assert_uint_eq(p.writes, 3);
	p.psi = 0.12;
	ticks(20);
	expect("worse", "the profile's objective got worse");
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("fallback");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, cpu_that_becomes_saturated_ends_the_trial, 0,
			    (int)ELEMENTSOF(phases));
	tcase_add_test(t, saturation_while_withdrawn_proves_nothing);
	tcase_add_loop_test(t, one_that_was_saturated_before_excuses_no_other, 0, 2);
	tcase_add_test(t, squeezes_of_a_cpu_that_stays_saturated);
	tcase_add_test(t, kept_change_falls_back_when_a_cpu_is_saturated);
	tcase_add_test(t, kept_beside_a_saturated_cpu_stays);
	tcase_add_loop_test(t, what_is_somebody_elses_by_now_does_not_fall_back, 0, 2);
	tcase_add_test(t, newest_of_two_goes_first);
	tcase_add_test(t, stall_is_a_fallback_too);
	tcase_add_test(t, price_that_shows_when_it_is_made_again);
	tcase_add_test(t, objective_that_worsens_when_it_is_made_again);
	return run_suite("fallback", t);
}
