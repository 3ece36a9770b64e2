/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lever is taken, which are passed over, and the reason that is given for each. */
#include "decide/lever.h"
#include "lib/plant.h"
#include "lib/run.h"

static struct plant p;
static struct lever_memory memory;
static struct passed_list passed;
static struct change found[CHANGES_MAX];
static enum tunable_id pinned;

static void setup(void)
{
	plant_init(&p, 4, false, 4);
	plant_range(&p, TUNABLE_NETDEV_BUDGET, 300, 1200);
	plant_range(&p, TUNABLE_NETDEV_BUDGET_USECS, 8000, 24000);
	plant_range(&p, TUNABLE_NETDEV_MAX_BACKLOG, 1000, 8000);
	for (unsigned i = 0; i < 4; i++)
		p.irq[i].rate[0] = 1000;
	plant_run(&p, 3);
	memory = (struct lever_memory){};
	pinned = _TUNABLE_MAX;
}

static void teardown(void)
{
	plant_done(&p);
}

static bool is_pinned(void *userdata _unused_, enum tunable_id id, const char *identity _unused_)
{
	return id == pinned;
}

static size_t look(enum symptom symptom, enum squeeze_cause cause)
{
	struct symptom_report r = {.symptom = symptom, .cause = cause, .nic = -1, .irq = -1};
	const struct decide_input in = {
		.now_usec = p.now_usec,
		.snapshot = p.snapshot,
		.window = p.window,
		.topology = p.topology,
		.profile = p.profile,
		.values = &p.values,
		.pinned = is_pinned,
	};

	cpuset_add(&r.cpus, 0);
	return lever_find(&in, &r, &memory, found, CHANGES_MAX, &passed);
}

static void expect_passed(enum tunable_id id, const char *words)
{
	for (unsigned i = 0; i < passed.n; i++)
		if (passed.item[i].tunable == id) {
			ck_assert_msg(strstr(passed.item[i].reason, words) != NULL, "%s: %s",
				      tunables[id].id, passed.item[i].reason);
			return;
		}
	ck_abort_msg("%s was not passed over", tunables[id].id);
}

START_TEST(first_lever_and_those_that_come_later)
{
	ck_assert_uint_eq(look(SYMPTOM_SQUEEZED, CAUSE_UNKNOWN), 1);
	ck_assert_int_eq(found[0].tunable, TUNABLE_NETDEV_BUDGET);
	ck_assert_uint_eq(passed.n, 2);
	expect_passed(TUNABLE_NETDEV_BUDGET_USECS, "comes later");
	expect_passed(TUNABLE_IRQ_AFFINITY, "comes later");
}
END_TEST

START_TEST(lever_of_another_cause)
{
	ck_assert_uint_eq(look(SYMPTOM_SQUEEZED, CAUSE_TIME), 1);
	ck_assert_int_eq(found[0].tunable, TUNABLE_NETDEV_BUDGET_USECS);
	expect_passed(TUNABLE_NETDEV_BUDGET, "the time is what runs out");
	p.values.host[TUNABLE_NETDEV_BUDGET].number = 1200;
	look(SYMPTOM_SQUEEZED, CAUSE_PACKETS);
	expect_passed(TUNABLE_NETDEV_BUDGET, "profile's range");
	expect_passed(TUNABLE_NETDEV_BUDGET_USECS, "the packets are what runs out");
}
END_TEST

START_TEST(reasons_of_a_setting)
{
	memory.retired[TUNABLE_NETDEV_BUDGET] = true;
	ck_assert_uint_eq(look(SYMPTOM_SQUEEZED, CAUSE_UNKNOWN), 1);
	ck_assert_int_eq(found[0].tunable, TUNABLE_NETDEV_BUDGET_USECS);
	expect_passed(TUNABLE_NETDEV_BUDGET, "retired");
	memory.retired[TUNABLE_NETDEV_BUDGET] = false;

	memory.not_before[TUNABLE_NETDEV_BUDGET] = p.now_usec + 1;
	look(SYMPTOM_SQUEEZED, CAUSE_UNKNOWN);
	expect_passed(TUNABLE_NETDEV_BUDGET, "not due again yet");
	memory.not_before[TUNABLE_NETDEV_BUDGET] = 0;

	pinned = TUNABLE_NETDEV_BUDGET;
	look(SYMPTOM_SQUEEZED, CAUSE_UNKNOWN);
	expect_passed(TUNABLE_NETDEV_BUDGET, "pinned by hand");
	pinned = _TUNABLE_MAX;

	p.values.host[TUNABLE_NETDEV_BUDGET].have = false;
	look(SYMPTOM_SQUEEZED, CAUSE_UNKNOWN);
	expect_passed(TUNABLE_NETDEV_BUDGET, "does not have it");
	p.values.host[TUNABLE_NETDEV_BUDGET].have = true;

	p.values.host[TUNABLE_NETDEV_BUDGET].limited = true;
	p.values.host[TUNABLE_NETDEV_BUDGET].low = 16;
	p.values.host[TUNABLE_NETDEV_BUDGET].high = 300;
	look(SYMPTOM_SQUEEZED, CAUSE_UNKNOWN);
	expect_passed(TUNABLE_NETDEV_BUDGET, "what the kernel takes");
	p.values.host[TUNABLE_NETDEV_BUDGET].limited = false;

	p.profile->setting[TUNABLE_NETDEV_BUDGET].kind = SETTING_LEAVE;
	p.values.host[TUNABLE_NETDEV_BUDGET].number = tunables[TUNABLE_NETDEV_BUDGET].max;
	look(SYMPTOM_SQUEEZED, CAUSE_UNKNOWN);
	expect_passed(TUNABLE_NETDEV_BUDGET, "softnetd keeps to");
}
END_TEST

/* Whatever the cause, and also of a symptom that has none. */
START_TEST(waiting_for_a_second_trial_is_no_reason_to_go_on)
{
	static const struct {
		enum symptom symptom;
		enum tunable_id id;
	} cases[] = {
		{SYMPTOM_SQUEEZED, TUNABLE_NETDEV_BUDGET},
		{SYMPTOM_BACKLOG_DROP, TUNABLE_NETDEV_MAX_BACKLOG},
		{SYMPTOM_SOFTIRQ_HOG, TUNABLE_NETDEV_BUDGET},
	};
	enum tunable_id id = cases[_i].id;

	memory.inconclusive[id] = 1;
	memory.not_before[id] = p.now_usec + 1;
	ck_assert_uint_eq(look(cases[_i].symptom, CAUSE_UNKNOWN), 0);
	expect_passed(id, "could not be judged");
	expect_passed(cases[_i].symptom == SYMPTOM_SOFTIRQ_HOG ? TUNABLE_NETDEV_BUDGET_USECS
							       : TUNABLE_IRQ_AFFINITY,
		      "comes later");
}
END_TEST

START_TEST(reasons_of_a_placement)
{
	ck_assert_uint_gt(look(SYMPTOM_HOT_CPU, CAUSE_UNKNOWN), 0);
	ck_assert_uint_eq(passed.n, 0);
	for (unsigned i = 0; i < 4; i++)
		p.irq[i].rate[0] = 0;
	plant_run(&p, 2);
	ck_assert_uint_eq(look(SYMPTOM_HOT_CPU, CAUSE_UNKNOWN), 0);
	expect_passed(TUNABLE_IRQ_AFFINITY, "no NIC's interrupts");
	ck_assert_uint_eq(look(SYMPTOM_NOHZ_NET, CAUSE_UNKNOWN), 0);
	expect_passed(TUNABLE_IRQ_AFFINITY, "not handled by threads");
	for (unsigned i = 0; i < 4; i++) {
		p.irq[i].rate[0] = 1000;
		p.topology->irq[i].managed = true;
	}
	plant_run(&p, 2);
	ck_assert_uint_eq(look(SYMPTOM_HOT_CPU, CAUSE_UNKNOWN), 0);
	expect_passed(TUNABLE_IRQ_AFFINITY, "cannot be moved");
}
END_TEST

START_TEST(symptoms_without_a_lever)
{
	ck_assert_uint_eq(look(SYMPTOM_STALLED, CAUSE_UNKNOWN), 0);
	ck_assert_uint_eq(look(SYMPTOM_BLIND, CAUSE_UNKNOWN), 0);
	ck_assert_uint_eq(passed.n, 0);
	/* It has some, but only with the kernel series. */
	ck_assert_uint_eq(look(SYMPTOM_KSOFTIRQD_LAG, CAUSE_UNKNOWN), 0);
	expect_passed(TUNABLE_SOFTIRQ_TIME_US, "does not have it");
}
END_TEST

/* What decide() hands out beside its reports, in the tick in which the change is made too. */
START_TEST(decisions_carry_what_was_passed_over)
{
	bool made = false;

	for (unsigned i = 1; i < 4; i++)
		p.cpu[i] = (struct plant_cpu){};
	p.cpu[0] = (struct plant_cpu){
		.packets = 10000, .runs = 100, .squeezes = 80, .softirq = 0.5, .busy = 0.6};
	p.nic_packets = 10000;
	for (unsigned i = 0; i < 10; i++) {
		const struct change *c;

		plant_run(&p, 1);
		c = plant_change(&p, TUNABLE_NETDEV_BUDGET_USECS);
		if (!c)
			continue;
		ck_assert_uint_eq(p.out->n_reports, 1);
		passed = p.out->passed[0];
		expect_passed(TUNABLE_NETDEV_BUDGET, "the time is what runs out");
		made |= !c->planned;
		ck_assert(!c->follow_up);
	}
	ck_assert(made);
}
END_TEST

START_TEST(ids)
{
	static const char *const good[] = {
		"netdev_budget-squeezed",
		"irq_affinity-0123abcd-hot-cpu",
		"governor-01234567-policy",
		"netdev_max_backlog-backlog-drop",
	};
	static const char *const bad[] = {
		"",
		"netdev_budget",
		"netdev_budget-",
		"netdev_budgett-squeezed",
		"netdev_budget-squeezd",
		"netdev_budget-squeezed ",
		"netdev_budget-01234567-squeezed",
		"irq_affinity-hot-cpu",
		"irq_affinity-0123ABCD-hot-cpu",
		"irq_affinity-0123abcd",
		"netdev_budget-none",
		"a\x1b[31m",
	};

	look(SYMPTOM_HOT_CPU, CAUSE_UNKNOWN);
	ck_assert_msg(change_id_ok(found[0].id), "%s", found[0].id);
	for (size_t i = 0; i < ELEMENTSOF(good); i++)
		ck_assert_msg(change_id_ok(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		ck_assert_msg(!change_id_ok(bad[i]), "%s", bad[i]);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, first_lever_and_those_that_come_later);
	tcase_add_test(t, lever_of_another_cause);
	tcase_add_test(t, reasons_of_a_setting);
	tcase_add_loop_test(t, waiting_for_a_second_trial_is_no_reason_to_go_on, 0, 3);
	tcase_add_test(t, reasons_of_a_placement);
	tcase_add_test(t, symptoms_without_a_lever);
	tcase_add_test(t, decisions_carry_what_was_passed_over);
	tcase_add_test(t, ids);
	return run_suite("lever", t);
}
