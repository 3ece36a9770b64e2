/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel series in the loop: why runs of softirqs leave work to ksoftirqd decides which of
 * their limits is moved, NOHZ counters have no cap, and what nobody can judge is said.
 */
#include <check.h>

#include "lib/plant.h"
#include "lib/run.h"

static struct plant p;

static void series_settings(void)
{
	static const enum tunable_id ids[] = {TUNABLE_SOFTIRQ_TIME_US, TUNABLE_SOFTIRQ_CLOCK,
					      TUNABLE_SOFTIRQ_MAX_RESTART,
					      TUNABLE_SOFTIRQ_RESTART_POLICY};

	for (size_t i = 0; i < ELEMENTSOF(ids); i++) {
		p.values.host[ids[i]].have = true;
		p.values.host[ids[i]].number = tunables[ids[i]].kernel_default;
	}
}

static void setup(void)
{
	plant_init(&p, 4, false, 1);
	p.series = true;
	series_settings();
	plant_range(&p, TUNABLE_SOFTIRQ_TIME_US, 500, 20000);
	plant_range(&p, TUNABLE_SOFTIRQ_MAX_RESTART, 2, 40);
	plant_range(&p, TUNABLE_SOFTIRQ_RESTART_POLICY, 2, 4); /* latency … throughput */
	plant_range(&p, TUNABLE_NETDEV_BUDGET, 64, 600);
}

static void teardown(void)
{
	plant_done(&p);
}

static void lagging(enum handover why)
{
	p.cpu[1].packets = 50000;
	p.cpu[1].lag_run = 0.3;
	p.cpu[1].lag_wait = 0.4;
	p.cpu[1].handover[why] = 800;
	p.cpu[1].handover[HANDOVER_RESCHED] += 20;
}

static void hogging(enum handover why)
{
	p.psi = 0.5;
	p.cpu[2].softirq = 0.9;
	p.cpu[2].busy = 0.95;
	p.cpu[2].packets = 50000;
	p.cpu[2].handover[why] = 400;
}

static double evidence(const struct symptom_report *r, const char *name)
{
	for (unsigned i = 0; i < r->n_evidence; i++)
		if (streq(r->evidence[i].name, name))
			return r->evidence[i].value;
	ck_abort_msg("no evidence %s", name);
}

static void expect_passed(enum symptom symptom, enum tunable_id id, const char *words)
{
	for (unsigned i = 0; i < p.out->n_reports; i++)
		for (unsigned k = 0; p.out->report[i].symptom == symptom && k < p.out->passed[i].n;
		     k++)
			if (p.out->passed[i].item[k].tunable == id &&
			    strstr(p.out->passed[i].item[k].reason, words))
				return;
	ck_abort_msg("%s was not passed over with \"%s\"", tunables[id].id, words);
}

static int64_t value(enum tunable_id id)
{
	return p.values.host[id].number;
}

/* The limits are switched in by somebody: no need to do it first. */
static void switched_in(void)
{
	p.values.host[TUNABLE_SOFTIRQ_CLOCK].number = SOFTIRQ_CLOCK_PRECISE;
}

START_TEST(lag_by_reason)
{
	static const struct {
		enum handover why;
		enum handed handed;
		enum tunable_id lever;
		int64_t becomes;
		const char *words;
	} cases[] = {
		{HANDOVER_TIME, HANDED_TIME, TUNABLE_SOFTIRQ_TIME_US, 3000, "time is used up"},
		{HANDOVER_COUNT, HANDED_COUNT, TUNABLE_SOFTIRQ_MAX_RESTART, 15,
		 "passes are used up"},
		{HANDOVER_RESCHED, HANDED_RESCHED, TUNABLE_SOFTIRQ_RESTART_POLICY, 4,
		 "another task should run"},
	};
	const struct symptom_report *r;
	const struct change *c;

	switched_in();
	lagging(cases[_i].why);
	plant_run(&p, 4);
	r = plant_report(&p, SYMPTOM_KSOFTIRQD_LAG);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(r->handed, cases[_i].handed);
	ck_assert_ptr_nonnull(strstr(r->text, cases[_i].words));
	ck_assert(evidence(r, "handovers_per_second") >= 820);
	ck_assert(evidence(r, "main_reason_percent") > 90);
	c = plant_change(&p, cases[_i].lever);
	ck_assert_ptr_nonnull(c);
	ck_assert(c->class == CLASS_TRIAL && !c->advice_only);
	ck_assert_int_eq(atoll(c->to), cases[_i].becomes);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		if (i != (size_t)_i)
			expect_passed(SYMPTOM_KSOFTIRQD_LAG, cases[i].lever, "another limit");
	ck_assert_int_eq(value(cases[_i].lever), tunables[cases[_i].lever].kernel_default);
	plant_run(&p, 6);
	ck_assert_int_eq(value(cases[_i].lever), cases[_i].becomes);
}
END_TEST

/* ksoftirqd's numbers end in mid-trial: a change that cannot be judged does not stay. */
START_TEST(lag_that_nobody_sees_any_more)
{
	int64_t before;

	switched_in();
	lagging(HANDOVER_COUNT);
	before = value(TUNABLE_SOFTIRQ_MAX_RESTART);
	for (unsigned i = 0; i < 30 && p.writes == 0; i++)
		plant_run(&p, 1);
	ck_assert_uint_eq(p.writes, 1);
	ck_assert_int_gt(value(TUNABLE_SOFTIRQ_MAX_RESTART), before);
	p.cpu[1].lag_run = p.cpu[1].lag_wait = 0;
	plant_run(&p, 20);
	ck_assert_int_eq(value(TUNABLE_SOFTIRQ_MAX_RESTART), before);
	ck_assert_uint_eq(p.writes, 2);
}
END_TEST

START_TEST(hog_by_reason)
{
	static const struct {
		enum handover why;
		enum tunable_id lever;
		int64_t becomes;
	} cases[] = {
		{HANDOVER_TIME, TUNABLE_SOFTIRQ_TIME_US, 1334},
		{HANDOVER_COUNT, TUNABLE_SOFTIRQ_MAX_RESTART, 7},
		/* A task that should run ends the run already: only one pass can be shorter. */
		{HANDOVER_RESCHED, TUNABLE_NETDEV_BUDGET, 200},
	};
	const struct change *c;

	switched_in();
	hogging(cases[_i].why);
	plant_run(&p, 4);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_SOFTIRQ_HOG));
	c = plant_change(&p, cases[_i].lever);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(atoll(c->to), cases[_i].becomes);
	ck_assert_uint_eq(p.out->n_changes, 1);
}
END_TEST

/* The whole story: moved, judged by the tasks' waiting, kept; and nothing else was touched. */
START_TEST(hog_is_cured)
{
	bool kept = false;

	switched_in();
	hogging(HANDOVER_TIME);
	for (unsigned i = 0; i < 60 && !kept; i++) {
		plant_run(&p, 1);
		if (value(TUNABLE_SOFTIRQ_TIME_US) < 2000)
			p.psi = 0.05 + 0.001 * (double)(i % 3);
		else
			p.psi = 0.5 + 0.005 * (double)(i % 3);
		kept = p.out->has_verdict && streq(p.out->verdict.verdict, "kept");
	}
	ck_assert(kept);
	ck_assert_int_eq(value(TUNABLE_SOFTIRQ_TIME_US), 1334);
	ck_assert_uint_eq(p.writes, 3);
}
END_TEST

/* No run reaches a limit: then none of them is what lets tasks or packets wait. */
START_TEST(limits_that_do_not_bind)
{
	switched_in();
	lagging(HANDOVER_TIME);
	hogging(HANDOVER_TIME);
	memset(p.cpu[1].handover, 0, sizeof(p.cpu[1].handover));
	memset(p.cpu[2].handover, 0, sizeof(p.cpu[2].handover));
	plant_run(&p, 4);
	ck_assert_int_eq(plant_report(&p, SYMPTOM_KSOFTIRQD_LAG)->handed, HANDED_NEVER);
	expect_passed(SYMPTOM_KSOFTIRQD_LAG, TUNABLE_SOFTIRQ_TIME_US, "no run");
	expect_passed(SYMPTOM_SOFTIRQ_HOG, TUNABLE_SOFTIRQ_MAX_RESTART, "no run");
	ck_assert_ptr_nonnull(plant_change(&p, TUNABLE_NETDEV_BUDGET));
	ck_assert_ptr_null(plant_change(&p, TUNABLE_SOFTIRQ_TIME_US));
}
END_TEST

/* A stock kernel: the same symptoms, without reasons and without these levers. */
START_TEST(stock_kernel)
{
	p.series = false;
	for (size_t id = TUNABLE_SOFTIRQ_TIME_US; id <= TUNABLE_SOFTIRQ_RESTART_POLICY; id++)
		p.values.host[id].have = false;
	lagging(HANDOVER_TIME);
	hogging(HANDOVER_TIME);
	plant_run(&p, 4);
	ck_assert_int_eq(plant_report(&p, SYMPTOM_KSOFTIRQD_LAG)->handed, HANDED_UNKNOWN);
	expect_passed(SYMPTOM_KSOFTIRQD_LAG, TUNABLE_SOFTIRQ_TIME_US, "does not have it");
	ck_assert_ptr_nonnull(plant_change(&p, TUNABLE_NETDEV_BUDGET));
}
END_TEST

/* The static key is turned on once, and the loop never turns it off. */
START_TEST(key_stays_on)
{
	const struct change *c;
	bool was_tried = false;

	lagging(HANDOVER_COUNT);
	plant_run(&p, 4);
	/* The first tick of the symptom switched the limits in; the trial itself still waits. */
	ck_assert_int_eq(value(TUNABLE_SOFTIRQ_TIME_US), 1999);
	ck_assert_uint_eq(p.writes, 1);
	c = plant_change(&p, TUNABLE_SOFTIRQ_MAX_RESTART);
	ck_assert(c && c->planned);
	/* Trials without effect, until the lever is retired. */
	for (unsigned i = 0; i < 4000; i++) {
		plant_run(&p, 1);
		was_tried |= value(TUNABLE_SOFTIRQ_MAX_RESTART) != 10;
		ck_assert_int_eq(value(TUNABLE_SOFTIRQ_TIME_US), 1999);
	}
	ck_assert(was_tried);
	ck_assert_int_eq(value(TUNABLE_SOFTIRQ_MAX_RESTART), 10);
}
END_TEST

START_TEST(key_is_not_turned_on_where_it_may_not_be)
{
	lagging(HANDOVER_COUNT);
	if (_i == 0)
		p.topology->rt = true;
	else if (_i == 1)
		p.topology->nohz_full = true;
	else
		p.profile->setting[TUNABLE_SOFTIRQ_TIME_US].kind = SETTING_LEAVE;
	plant_run(&p, 60);
	expect_passed(SYMPTOM_KSOFTIRQD_LAG, TUNABLE_SOFTIRQ_MAX_RESTART,
		      _i < 2 ? "interrupts every CPU" : "no range of softirq_time_us");
	ck_assert_uint_eq(p.writes, 0);
}
END_TEST

START_TEST(nohz_counters)
{
	const struct symptom_report *r;

	p.cpu[3].nohz_net_rx = 2;
	plant_run(&p, 2);
	p.cpu[3].nohz_net_rx = 0;
	/* The log was used up long ago: nothing is blind. */
	p.snapshot->nohz_lines = NOHZ_LINES_PER_BOOT;
	plant_run(&p, 1);
	r = plant_report(&p, SYMPTOM_NOHZ_NET);
	ck_assert_ptr_nonnull(r);
	ck_assert(evidence(r, "counted") == 2);
	ck_assert(evidence(r, "mask") == 8);
	ck_assert(cpuset_has(&r->cpus, 3) && cpuset_count(&r->cpus) == 1);
	ck_assert_ptr_nonnull(strstr(r->text, "CPU 3 went idle"));
	ck_assert_ptr_null(plant_report(&p, SYMPTOM_BLIND));
	plant_run(&p, 61);
	ck_assert_ptr_null(plant_report(&p, SYMPTOM_NOHZ_NET));
	/* On a stock kernel that same log makes blind. */
	p.series = false;
	plant_run(&p, 2);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_BLIND));
}
END_TEST

START_TEST(blind_when_it_matters)
{
	const struct symptom_report *r;

	/* No pressure information: nothing to say about a host that is not busy. */
	p.psi = -1;
	plant_run(&p, 5);
	ck_assert_ptr_null(plant_report(&p, SYMPTOM_BLIND));
	p.cpu[2].softirq = 0.9;
	p.cpu[2].busy = 0.95;
	plant_run(&p, 4);
	r = plant_report(&p, SYMPTOM_BLIND);
	ck_assert_ptr_nonnull(r);
	ck_assert_ptr_nonnull(strstr(r->text, "whether tasks wait behind the softirqs"));
	ck_assert_ptr_nonnull(strstr(r->text, "CPU 2"));
	ck_assert_ptr_null(plant_report(&p, SYMPTOM_SOFTIRQ_HOG));
	p.cpu[2].softirq = 0;
	plant_run(&p, 20);
	ck_assert_ptr_null(plant_report(&p, SYMPTOM_BLIND));
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("handover");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, lag_by_reason, 0, 3);
	tcase_add_test(t, lag_that_nobody_sees_any_more);
	tcase_add_loop_test(t, hog_by_reason, 0, 3);
	tcase_add_test(t, hog_is_cured);
	tcase_add_test(t, limits_that_do_not_bind);
	tcase_add_test(t, stock_kernel);
	tcase_add_test(t, key_stays_on);
	tcase_add_loop_test(t, key_is_not_turned_on_where_it_may_not_be, 0, 3);
	tcase_add_test(t, nohz_counters);
	tcase_add_test(t, blind_when_it_matters);
	return run_suite("handover", t);
}
