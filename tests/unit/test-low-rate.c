/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `low-rate`: which of a latency profile's settings are not in force while packets come one by one. */
#include "decide/low-rate.h"

#include <stdio.h>
#include <time.h>

#include "lib/plant.h"
#include "lib/run.h"
#include "sim/host.h"

#define LOW_TICKS ((unsigned)(LOW_RATE_USEC / USEC_PER_SEC) + 20)

static struct plant p;
static struct live l;
static struct unmet unmet[_TUNABLE_MAX];

static void rate(double packets)
{
	for (unsigned i = 0; i < 4; i++)
		p.cpu[i] = (struct plant_cpu){.packets = packets / 4, .runs = packets / 4};
	p.nic_packets = packets;
}

static void setup(void)
{
	plant_init(&p, 4, false, 4);
	p.topology->policy = calloc(1, sizeof(*p.topology->policy));
	ck_assert_ptr_nonnull(p.topology->policy);
	p.topology->n_policies = 1;
	p.topology->policy[0] = (struct policy){.active = true,
						.governor = "performance",
						.governors = "performance powersave",
						.identity = "cpus:0-3"};
	p.profile->objective = OBJECTIVE_WAIT;
	p.profile->setting[TUNABLE_GOVERNOR].kind = SETTING_VALUE;
	memset(unmet, 0, sizeof(unmet));
	p.unmet = unmet;
	rate(1000);
}

static void teardown(void)
{
	plant_done(&p);
	if (l.e)
		live_done(&l);
	l = (struct live){};
}

static void not_in_force(enum tunable_id id, enum outcome outcome)
{
	struct change c = {.tunable = id, .class = CLASS_POLICY, .to = "performance|powersave"};

	c.target = tunables[id].scope == SCOPE_HOST ? target_host()
						    : policy_target(&p.topology->policy[0]);
	unmet_note(unmet, &c, outcome, "powersave");
}

START_TEST(all_in_force_is_no_symptom)
{
	plant_run(&p, 600);
	ck_assert_uint_eq(p.out->n_reports, 0);
	ck_assert_uint_eq(p.out->n_changes, 0);
}
END_TEST

START_TEST(what_is_not_in_force_is_named)
{
	static const struct {
		enum outcome outcome;
		const char *why;
	} cases[] = {
		{OUTCOME_FOREIGN, "somebody else changed it"},
		{OUTCOME_READ_ONLY, "cannot write it here"},
		{OUTCOME_REFUSED, "the kernel did not take it"},
		{OUTCOME_DIFFERENT, "the kernel did not take it"},
		{OUTCOME_ADVISED, "writes nothing in this mode"},
	};
	const struct symptom_report *r;
	const struct change *c;
	char command[128];

	not_in_force(TUNABLE_GOVERNOR, cases[_i].outcome);
	plant_run(&p, LOW_TICKS);
	r = plant_report(&p, SYMPTOM_LOW_RATE);
	ck_assert_ptr_nonnull(r);
	ck_assert_msg(strstr(r->text, "1000 packets/s") && strstr(r->text, "governor (powersave)"),
		      "%s", r->text);
	c = plant_change(&p, TUNABLE_GOVERNOR);
	ck_assert_ptr_nonnull(c);
	ck_assert_str_eq(c->id, "governor-9ddf48a8-low-rate");
	ck_assert_str_eq(c->to, "performance");
	ck_assert_msg(strstr(c->why, cases[_i].why) != NULL, "%s", c->why);
	ck_assert_int_eq(change_command(c, command, sizeof(command)), 0);
	ck_assert(c->advice_only);
	ck_assert_uint_eq(p.writes, 0);
	/* In force again, and it is over at once. */
	not_in_force(TUNABLE_GOVERNOR, OUTCOME_UNCHANGED);
	plant_run(&p, 1);
	ck_assert(!plant_report(&p, SYMPTOM_LOW_RATE));
}
END_TEST

START_TEST(host_setting_is_named_too)
{
	p.profile->setting[TUNABLE_BUSY_READ].kind = SETTING_VALUE;
	not_in_force(TUNABLE_BUSY_READ, OUTCOME_FOREIGN);
	plant_run(&p, LOW_TICKS);
	ck_assert_ptr_nonnull(plant_change(&p, TUNABLE_BUSY_READ));
	ck_assert_ptr_null(plant_change(&p, TUNABLE_GOVERNOR));
}
END_TEST

/* Nobody can do anything about what the host does not have: said beside others, no reason by itself. */
START_TEST(unsupported_alone_is_no_symptom)
{
	not_in_force(TUNABLE_BUSY_READ, OUTCOME_FOREIGN);
	not_in_force(TUNABLE_GOVERNOR, OUTCOME_UNSUPPORTED);
	p.profile->setting[TUNABLE_BUSY_READ].kind = _i ? SETTING_VALUE : SETTING_LEAVE;
	plant_run(&p, LOW_TICKS);
	ck_assert_int_eq(plant_report(&p, SYMPTOM_LOW_RATE) != NULL, _i);
	if (!_i)
		return;
	ck_assert_uint_eq(p.out->passed[0].n, 1);
	ck_assert_int_eq(p.out->passed[0].item[0].tunable, TUNABLE_GOVERNOR);
	ck_assert_str_eq(p.out->passed[0].item[0].reason, "this host does not have it");
}
END_TEST

START_TEST(governor_that_the_profile_leaves)
{
	struct policy *policy = &p.topology->policy[0];

	p.profile->setting[TUNABLE_GOVERNOR].kind = SETTING_LEAVE;
	plant_run(&p, LOW_TICKS);
	ck_assert(!plant_report(&p, SYMPTOM_LOW_RATE)); /* it is the fastest anyway */
	strcpy(policy->governor, "powersave");
	plant_run(&p, 1);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_LOW_RATE));
	ck_assert_ptr_nonnull(strstr(plant_change(&p, TUNABLE_GOVERNOR)->why, "leaves it alone"));
	strcpy(policy->governors, "powersave"); /* and there is no other */
	plant_run(&p, 1);
	ck_assert(!plant_report(&p, SYMPTOM_LOW_RATE));
}
END_TEST

START_TEST(what_is_pinned_by_hand_is_wanted_so)
{
	not_in_force(TUNABLE_GOVERNOR, OUTCOME_FOREIGN);
	p.pinned = TUNABLE_GOVERNOR;
	plant_run(&p, LOW_TICKS);
	ck_assert(!plant_report(&p, SYMPTOM_LOW_RATE));
}
END_TEST

START_TEST(other_objectives_do_not_ask)
{
	not_in_force(TUNABLE_GOVERNOR, OUTCOME_FOREIGN);
	p.profile->objective = (enum objective)_i;
	plant_run(&p, LOW_TICKS);
	ck_assert_int_eq(plant_report(&p, SYMPTOM_LOW_RATE) != NULL,
			 _i == OBJECTIVE_WAIT || _i == OBJECTIVE_WAKEUP);
}
END_TEST

/* Seed 004: at 10, 100, 1k and 10k packets a second it mattered, at 100k it did not. */
START_TEST(only_low_rates)
{
	static const double rates[] = {0, 4, 10, 100, 1000, 10000, 100000};
	static const bool low[] = {false, false, true, true, true, true, false};

	rate(rates[_i]);
	if (rates[_i] == 10)
		p.cpu[0].packets = 10; /* whole ones */
	not_in_force(TUNABLE_GOVERNOR, OUTCOME_FOREIGN);
	plant_run(&p, LOW_TICKS);
	ck_assert_int_eq(plant_report(&p, SYMPTOM_LOW_RATE) != NULL, low[_i]);
}
END_TEST

START_TEST(rate_that_swings_does_not_flap)
{
	unsigned changes = 0;
	bool was = false;

	not_in_force(TUNABLE_GOVERNOR, OUTCOME_FOREIGN);
	/* Over the line and back, half a minute each: never low for long enough. */
	for (unsigned i = 0; i < 600; i++) {
		rate(i / 30 % 2 ? 30000 : 1000);
		plant_run(&p, 1);
		ck_assert(!plant_report(&p, SYMPTOM_LOW_RATE));
	}
	/* Once low, neither a busy half minute nor a rate a little above the line ends it. */
	rate(1000);
	plant_run(&p, LOW_TICKS);
	was = true;
	for (unsigned i = 0; i < 600; i++) {
		bool on;

		rate(i / 30 % 2 ? 100000 : 15000);
		plant_run(&p, 1);
		on = plant_report(&p, SYMPTOM_LOW_RATE);
		changes += on != was;
		was = on;
	}
	ck_assert_uint_eq(changes, 0);
	rate(100000);
	plant_run(&p, LOW_TICKS);
	ck_assert(!plant_report(&p, SYMPTOM_LOW_RATE));
}
END_TEST

/* ---- the whole daemon ---- */

static void write_governor(const char *governor)
{
	for (unsigned i = 0; i < 4; i++) {
		char path[96];

		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpufreq/policy%u/scaling_governor", i);
		tree_printf(l.m->tree, path, "%s\n", governor);
	}
}

START_TEST(somebody_else_takes_the_governor)
{
	static const struct machine_nic i40e = {.name = "eth0", .kind = MACHINE_I40E, .queues = 4};
	const struct machine_spec spec = {.cpus = 4,
					  .nics = &i40e,
					  .n_nics = 1,
					  .cpufreq = "acpi-cpufreq",
					  .cpus_per_policy = 1};
	json_t *status, *advice;
	unsigned writes;

	live_boot(&l, &spec);
	write_governor("schedutil");
	live_start(&l, "objective = \"wait\";\ngovernor = \"performance\";\n");
	live_queue(&l, "i40e-eth0-TxRx-0")->pps = 500;
	machine_fire(l.m, (unsigned)l.irq[0], 1);
	live_run(&l, LOW_TICKS);
	ck_assert_uint_eq(l.e->n_reported, 0);
	writes = l.writes;
	write_governor(_i ? "schedutil" : "powersave");
	live_run(&l, 30);
	/* Where it began is nobody's wish (a CPU that came back, a resume): it was written again. */
	ck_assert_int_eq(live_reported(&l, SYMPTOM_LOW_RATE), !_i);
	if (_i)
		return;
	status = engine_status(l.e);
	advice = json_object_get(status, "advice");
	ck_assert_uint_eq(json_array_size(advice), 1);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(advice, 0), "setting")),
			 "governor");
	json_decref(status);
	/* Nothing is written for it, and its history is a line, not one a tick. */
	live_run(&l, 300);
	ck_assert_uint_eq(l.writes, writes);
	ck_assert_uint_le(l.e->history_serial, 16);
	ck_assert_uint_ge(l.e->next_slow_usec, io_now(l.e->io, CLOCK_MONOTONIC));
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120); /* a whole daemon for some minutes, on whatever machine */
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, all_in_force_is_no_symptom);
	tcase_add_loop_test(t, what_is_not_in_force_is_named, 0, 5);
	tcase_add_test(t, host_setting_is_named_too);
	tcase_add_loop_test(t, unsupported_alone_is_no_symptom, 0, 2);
	tcase_add_test(t, governor_that_the_profile_leaves);
	tcase_add_test(t, what_is_pinned_by_hand_is_wanted_so);
	tcase_add_loop_test(t, other_objectives_do_not_ask, 0, _OBJECTIVE_MAX);
	tcase_add_loop_test(t, only_low_rates, 0, 7);
	tcase_add_test(t, rate_that_swings_does_not_flap);
	tcase_add_loop_test(t, somebody_else_takes_the_governor, 0, 2);
	return run_suite("low-rate", t);
}
