/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a profile asks of a trial beside the cure of the symptom: decide/trial.h, "The objective". */
#include <limits.h>

#include "decide/trial.h"
#include "lib/plant.h"
#include "lib/run.h"

#define BUDGET  p.values.host[TUNABLE_NETDEV_BUDGET].number
#define BACKLOG p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number

static struct plant p;
static struct trial_verdict verdict; /* the first of a run */
static unsigned verdicts, highest;

static void setup(void)
{
	plant_init(&p, 4, false, 4);
	for (unsigned i = 0; i < 4; i++)
		p.cpu[i] = (struct plant_cpu){
			.packets = 5000, .runs = 2000, .softirq = 0.05, .busy = 0.1};
	p.nic_packets = 20000;
	p.psi = 0.1;
	plant_range(&p, TUNABLE_NETDEV_BUDGET, 300, 1200);
	plant_range(&p, TUNABLE_NETDEV_MAX_BACKLOG, 1000, 8000);
	verdicts = highest = 0;
}

static void teardown(void)
{
	plant_done(&p);
}

/* CPU 0 as it is with the setting as it was, and raised; the same every tick. */
static void run(unsigned seconds, enum objective objective, const struct plant_cpu *before,
		const struct plant_cpu *after)
{
	p.profile->objective = objective;
	plant_run(&p, 10);
	for (unsigned i = 0; i < seconds; i++) {
		bool raised = BUDGET > 300 || BACKLOG > 1000;

		p.cpu[0] = raised ? *after : *before;
		p.nic_packets = p.cpu[0].packets;
		plant_run(&p, 1);
		highest = MAX(highest, (unsigned)MAX(BUDGET, BACKLOG));
		if (p.out->has_verdict && verdicts++ == 0)
			verdict = p.out->verdict;
	}
}

static void expect(const char *name, const char *text)
{
	ck_assert_uint_ge(verdicts, 1);
	ck_assert_msg(streq(verdict.verdict, name) && strstr(verdict.text, text), "%s",
		      verdict.text);
}

static const struct plant_cpu squeezed = {
	.packets = 29000, .runs = 100, .squeezes = 80, .softirq = 0.5, .busy = 0.6};
static const struct plant_cpu dropping = {
	.packets = 29000, .runs = 1000, .drops = 3000, .softirq = 0.5, .busy = 0.6};

/* Fewer drops, for which each packet costs 16 % more: a gain, or none, as the profile sees it. */
START_TEST(cure_that_costs_cpu_time)
{
	struct plant_cpu after = dropping;

	after.drops = 0;
	after.packets += 3000;
	after.softirq = 0.64;
	run(40, _i ? OBJECTIVE_CPU : OBJECTIVE_SYMPTOM, &dropping, &after);
	if (_i == 0) {
		expect("kept", "backlog-drop went from 9.38 % to 0 %");
		ck_assert_int_eq(BACKLOG, 1500);
		ck_assert_int_eq(verdict.judged.objective, OBJECTIVE_SYMPTOM);
		return;
	}
	expect("worse", "the profile's objective got worse");
	ck_assert_ptr_nonnull(strstr(verdict.text, "CPU time per packet from 17.2 µs to 20 µs"));
	ck_assert_double_gt(verdict.judged.after, 1.1 * verdict.judged.before);
	ck_assert_int_eq(BACKLOG, 1000);
	ck_assert_uint_eq(p.writes, 2);
}
END_TEST

START_TEST(cure_that_gains_nothing_of_the_objective_goes_back)
{
	struct plant_cpu after = squeezed;

	after.squeezes = 1;
	run(40, OBJECTIVE_CPU, &squeezed, &after);
	expect("no effect", "the profile's objective gained nothing");
	ck_assert_int_eq(BUDGET, 300);
	/* The symptom was cured by the first step: the others would not be about it. */
	ck_assert_uint_eq(highest, 1000); /* the backlog's; the budget did not reach 1012 */
	ck_assert_uint_eq(p.writes, 2);
}
END_TEST

START_TEST(cure_that_gains_the_objective_stays)
{
	struct plant_cpu after = squeezed;

	after.squeezes = 1;
	after.softirq = 0.4;
	run(60, OBJECTIVE_CPU, &squeezed, &after);
	expect("kept",
	       "squeezed went from 80 % to 1 %; CPU time per packet from 17.2 µs to 13.8 µs");
	ck_assert_int_eq(BUDGET, 450);
	ck_assert_uint_eq(p.writes, 3);
}
END_TEST

/* The objective alone is no reason to change anything: without the cure there is no effect. */
START_TEST(gain_without_a_cure_goes_back)
{
	struct plant_cpu after = squeezed;

	after.softirq = 0.4;
	run(60, OBJECTIVE_CPU, &squeezed, &after);
	expect("no effect", "squeezed went from 80 % to 80 %");
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* No packet is dropped, before or after: nothing to gain, and the symptom's measure decides. */
START_TEST(nothing_to_gain_leaves_it_to_the_symptom)
{
	struct plant_cpu after = squeezed;

	after.squeezes = 1;
	run(40, OBJECTIVE_DROPS, &squeezed, &after);
	expect("kept", "dropped packets from 0 % to 0 %");
	ck_assert_int_eq(BUDGET, 450);
}
END_TEST

START_TEST(cure_that_causes_drops_goes_back)
{
	struct plant_cpu after = squeezed;

	after.squeezes = 1;
	after.drops = 60;
	run(40, OBJECTIVE_DROPS, &squeezed, &after);
	expect("worse", "dropped packets from 0 % to 0.2");
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* The symptom's own measure is no second one. */
START_TEST(objective_of_the_symptom_itself)
{
	struct plant_cpu after = dropping;

	after.drops = 0;
	run(40, OBJECTIVE_DROPS, &dropping, &after);
	expect("kept", "backlog-drop went from");
	ck_assert_int_eq(verdict.judged.objective, OBJECTIVE_SYMPTOM);
	ck_assert_int_eq(BACKLOG, 1500);
}
END_TEST

START_TEST(without_pressure_information_the_symptom_decides)
{
	struct plant_cpu after = squeezed;

	after.squeezes = 1;
	p.psi = -1;
	run(40, OBJECTIVE_WAKEUP, &squeezed, &after);
	expect("kept", "no sensor here shows the profile's objective, tasks' wait for a CPU");
	ck_assert(verdict.judged.blind);
	ck_assert_int_eq(BUDGET, 450);
}
END_TEST

START_TEST(tasks_that_wait_longer_send_it_back)
{
	p.profile->objective = OBJECTIVE_WAKEUP;
	plant_run(&p, 10);
	p.cpu[0] = squeezed;
	p.nic_packets = squeezed.packets;
	for (unsigned i = 0; i < 40; i++) {
		p.cpu[0].squeezes = BUDGET > 300 ? 1 : 80;
		p.psi = BUDGET > 300 ? 0.15 : 0.1;
		plant_run(&p, 1);
		if (p.out->has_verdict && verdicts++ == 0)
			verdict = p.out->verdict;
	}
	expect("worse", "tasks' wait for a CPU from 10 % to 15 %");
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* A rise of the objective by a sixth, and no cure: no step further on that road. */
START_TEST(rise_without_a_cure_ends_the_search)
{
	struct plant_cpu after = squeezed;

	after.softirq = 0.58;
	run(120, OBJECTIVE_CPU, &squeezed, &after);
	expect("no effect", "the profile's objective got worse");
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_le(highest, 1000); /* the backlog's own value; the budget stayed at 450 */
	ck_assert_uint_eq(p.writes, 2);
}
END_TEST

/* There was nothing of it before. One whose rise is no larger than its own swings is told by withdrawing the change. */
START_TEST(noisy_objective_is_told_by_withdrawing)
{
	static const double before[] = {0.001, 0.05, 0.001}, after[] = {0.055, 0.095, 0.06};
	bool raised = false, withdrawn = false;

	p.profile->objective = OBJECTIVE_WAKEUP;
	plant_run(&p, 10);
	p.cpu[0] = squeezed;
	p.nic_packets = squeezed.packets;
	for (unsigned i = 0; i < 60; i++) {
		bool on = BUDGET > 300;

		raised |= on;
		withdrawn |= raised && !on && verdicts == 0;
		p.cpu[0].squeezes = on ? 1 : 80;
		p.psi = on ? after[i % 3] : before[i % 3];
		plant_run(&p, 1);
		if (p.out->has_verdict && verdicts++ == 0)
			verdict = p.out->verdict;
	}
	expect("worse", "the profile's objective got worse");
	ck_assert(withdrawn);
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* ksoftirqd is read every other tick: WAIT of a second each second, as the setting is. */
static void run_wait(unsigned seconds, double before, double after, unsigned silent_from)
{
	double waited = 0;

	p.profile->objective = OBJECTIVE_WAIT;
	p.cpu[0].lag_run = 0.01;
	plant_run(&p, 10);
	for (unsigned i = 0; i < seconds; i++) {
		bool raised = BUDGET > 300;

		p.cpu[0] = squeezed;
		p.cpu[0].squeezes = raised ? 1 : 80;
		p.nic_packets = squeezed.packets;
		waited += raised ? after : before;
		if (i % 2 == 0 && i < silent_from) {
			p.cpu[0].lag_run = 0.2;
			p.cpu[0].lag_wait = waited;
			waited = 0;
		}
		plant_run(&p, 1);
		if (p.out->has_verdict && verdicts++ == 0)
			verdict = p.out->verdict;
	}
}

START_TEST(softirqs_that_wait)
{
	static const struct {
		double before, after;
		const char *verdict, *text;
		int64_t budget;
	} cases[] = {
		{0.04, 0.01, "kept", "softirqs' wait per packet from 1.38 µs to 0.345 µs", 450},
		{0.04, 0.04, "no effect", "gained nothing", 300},
		{0.04, 0.08, "worse", "got worse", 300},
		{0, 0, "kept", "softirqs' wait per packet from 0 µs to 0 µs", 450},
		{0, 0.02, "worse", "got worse", 300},
	};

	run_wait(60, cases[_i].before, cases[_i].after, UINT_MAX);
	expect(cases[_i].verdict, cases[_i].text);
	ck_assert_int_eq(BUDGET, cases[_i].budget);
	ck_assert(!verdict.judged.blind);
}
END_TEST

START_TEST(without_schedstat_the_symptom_decides)
{
	run_wait(60, 0.04, 0.04, 0);
	expect("kept", "no sensor here shows the profile's objective, softirqs' wait");
	ck_assert_int_eq(BUDGET, 450);
}
END_TEST

START_TEST(sensor_that_falls_silent_proves_nothing)
{
	run_wait(60, 0.04, 0.01, 12);
	expect("inconclusive", "interrupted");
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* Bursts now and then are judged by exposure; the objective guards there, too. */
START_TEST(rare_events_are_guarded)
{
	p.profile->objective = OBJECTIVE_CPU;
	plant_run(&p, 10);
	for (unsigned i = 0; i < 400; i++) {
		p.cpu[2].drops = i % 7 == 0 && BACKLOG < 1500 ? 3000 : 0;
		p.cpu[2].softirq = BACKLOG < 1500 || _i ? 0.05 : 0.06;
		plant_run(&p, 1);
		if (p.out->has_verdict && verdicts++ == 0)
			verdict = p.out->verdict;
	}
	expect(_i ? "kept" : "worse", "backlog-drop went from");
	ck_assert_int_eq(BACKLOG, _i ? 1500 : 1000);
}
END_TEST

START_TEST(formats)
{
	char text[32];

	for (int o = OBJECTIVE_DROPS; o < _OBJECTIVE_MAX; o++) {
		ck_assert_ptr_nonnull(objective_kinds[o].what);
		objective_format((enum objective)o, 0.5, text, sizeof(text));
		ck_assert_str_eq(text, streq(objective_kinds[o].unit, "%") ? "50 %" : "0.5 µs");
	}
	for (int s = SYMPTOM_NONE; s < _SYMPTOM_MAX; s++)
		ck_assert_int_ne(objective_of((enum symptom)s), OBJECTIVE_SYMPTOM);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, cure_that_costs_cpu_time, 0, 2);
	tcase_add_test(t, cure_that_gains_nothing_of_the_objective_goes_back);
	tcase_add_test(t, cure_that_gains_the_objective_stays);
	tcase_add_test(t, gain_without_a_cure_goes_back);
	tcase_add_test(t, nothing_to_gain_leaves_it_to_the_symptom);
	tcase_add_test(t, cure_that_causes_drops_goes_back);
	tcase_add_test(t, objective_of_the_symptom_itself);
	tcase_add_test(t, without_pressure_information_the_symptom_decides);
	tcase_add_test(t, tasks_that_wait_longer_send_it_back);
	tcase_add_test(t, rise_without_a_cure_ends_the_search);
	tcase_add_test(t, noisy_objective_is_told_by_withdrawing);
	tcase_add_loop_test(t, softirqs_that_wait, 0, 5);
	tcase_add_test(t, without_schedstat_the_symptom_decides);
	tcase_add_test(t, sensor_that_falls_silent_proves_nothing);
	tcase_add_loop_test(t, rare_events_are_guarded, 0, 2);
	tcase_add_test(t, formats);
	return run_suite("objective", t);
}
