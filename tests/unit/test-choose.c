/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profile is chosen, and that no rule makes it flap. */
#include <check.h>
#include <stdio.h>

#include "decide/choose.h"
#include "lib/config-tree.h"
#include "lib/run.h"
#include "profile/profile-file.h"

static struct config_tree t;
static struct chooser *c;
static struct topology topology;
static const char *active; /* the one unit that is */
static int blind;          /* what the sensor says of all units, when negative */
static struct choose_input in;

static int unit(void *userdata _unused_, const char *name)
{
	return blind < 0 ? blind : active && streq(active, name);
}

static void setup(void)
{
	config_tree_init(&t);
	topology = (struct topology){.kernel = "6.12.117-cloud"};
	active = NULL;
	blind = 0;
	in = (struct choose_input){.now_usec = 1000 * USEC_PER_SEC,
				   .fallback = "balanced",
				   .topology = &topology,
				   .unit = unit};
	tree_write(t.tree, "vendor/profiles/balanced.conf", "busy_poll = 1;\n");
}

static void teardown(void)
{
	chooser_free(TAKE_PTR(c));
	config_tree_done(&t);
}

static void profile(const char *name, const char *text)
{
	char path[96];

	snprintf(path, sizeof(path), "vendor/profiles/%s.conf", name);
	tree_write(t.tree, path, text);
}

static void load(void)
{
	struct profile **list;
	struct chooser *fresh;

	ck_assert_int_eq(profiles_with_match(t.dirs, &list, &t.complaints), 0);
	expect_silence(&t);
	ck_assert_int_eq(chooser_new(list, c, &fresh), 0);
	chooser_free(c);
	c = fresh;
}

static void expect(const char *name, enum chosen_by by, const char *why)
{
	struct choice choice;

	choose(c, &in, &choice);
	ck_assert_str_eq(choice.profile, name);
	ck_assert_int_eq(choice.by, by);
	ck_assert_str_eq(choice.why, why);
}

/* A second passes, and then it is that. */
static bool is(const char *name)
{
	struct choice choice;

	in.now_usec += USEC_PER_SEC;
	choose(c, &in, &choice);
	return streq(choice.profile, name);
}

static void rate(double packets_per_second)
{
	in.have_rate = true;
	in.packets_per_second = packets_per_second;
}

START_TEST(hold_over_hand_over_rule_over_default)
{
	profile("web", "match = ( { unit = \"nginx.service\"; } );\n");
	load();
	expect("balanced", CHOSEN_BY_DEFAULT, "default");
	active = "nginx.service";
	expect("web", CHOSEN_BY_MATCH, "match unit nginx.service");
	in.by_hand = "powersave";
	expect("powersave", CHOSEN_BY_HAND, "manual");
	in.hold = "realtime";
	in.hold_text = "pid 7 (iperf3)";
	expect("realtime", CHOSEN_BY_HOLD, "hold by pid 7 (iperf3)");
	in.hold = NULL;
	expect("powersave", CHOSEN_BY_HAND, "manual");
	in.by_hand = NULL;
	expect("web", CHOSEN_BY_MATCH, "match unit nginx.service");
}
END_TEST

START_TEST(all_conditions_of_an_entry_any_entry_of_a_profile)
{
	profile("web", "match = ( { unit = \"nginx.service\"; kernel = \"rt\"; },\n"
		       "          { kernel = \"5.10.*\"; } );\n");
	load();
	active = "nginx.service";
	expect("balanced", CHOSEN_BY_DEFAULT, "default");
	topology.rt = true;
	expect("web", CHOSEN_BY_MATCH, "match unit nginx.service and kernel rt");
	topology.rt = false;
	in.now_usec += RULES_DWELL_USEC;
	expect("balanced", CHOSEN_BY_DEFAULT, "default");
	strcpy(topology.kernel, "5.10.0-28");
	in.now_usec += RULES_DWELL_USEC;
	expect("web", CHOSEN_BY_MATCH, "match kernel 5.10.*");
}
END_TEST

START_TEST(priority_then_name)
{
	profile("aaa", "match = ( { kernel = \"*\"; } );\n");
	profile("bbb", "match = ( { kernel = \"*\"; } );\npriority = 5;\n");
	profile("ccc", "match = ( { kernel = \"*\"; } );\npriority = 5;\n");
	load();
	expect("bbb", CHOSEN_BY_MATCH, "match kernel *");
}
END_TEST

START_TEST(rules_are_not_inherited)
{
	profile("web", "match = ( { kernel = \"*\"; } );\npriority = 9;\n");
	profile("child", "inherits = \"web\";\n");
	load();
	expect("web", CHOSEN_BY_MATCH, "match kernel *");
	tree_remove(t.tree, "vendor/profiles/child.conf");
	profile("aaa", "inherits = \"web\";\nmatch = ( { kernel = \"*\"; } );\n");
	load();
	expect("web", CHOSEN_BY_MATCH, "match kernel *"); /* aaa has no priority of its own */
}
END_TEST

START_TEST(unit_that_cannot_be_told_fits_nothing)
{
	profile("web", "match = ( { unit = \"nginx.service\"; } );\n");
	load();
	active = "nginx.service";
	blind = -ENOENT;
	expect("balanced", CHOSEN_BY_DEFAULT, "default");
}
END_TEST

static const char busy[] = "match = ( { packet_rate = [10000, 50000]; } );\n";

START_TEST(rate_enters_and_leaves_by_two_bounds_and_time)
{
	profile("busy", busy);
	load();
	rate(60000);
	for (unsigned i = 0; i < 10; i++)
		ck_assert(is("balanced"));
	ck_assert(is("busy")); /* ten seconds have passed */
	rate(20000);           /* between the bounds: it stays */
	for (unsigned i = 0; i < 200; i++)
		ck_assert(is("busy"));
	rate(9000);
	for (unsigned i = 0; i < 10; i++)
		ck_assert(is("busy"));
	ck_assert(is("balanced"));
	rate(40000); /* and between them it does not come back */
	for (unsigned i = 0; i < 200; i++)
		ck_assert(is("balanced"));
}
END_TEST

START_TEST(burst_is_no_class)
{
	profile("busy", busy);
	load();
	for (unsigned i = 0; i < 300; i++) {
		rate(i % 10 == 9 ? 1000 : 900000);
		ck_assert(is("balanced"));
	}
}
END_TEST

START_TEST(unknown_rate_keeps_the_class)
{
	profile("busy", busy);
	load();
	rate(60000);
	for (unsigned i = 0; i < 11; i++)
		is("busy");
	ck_assert(is("busy"));
	in.have_rate = false;
	for (unsigned i = 0; i < 300; i++)
		ck_assert(is("busy"));
}
END_TEST

/* The rate swings around both bounds, in every period: never more than one switch in a dwell time. */
START_TEST(swinging_rate_switches_once_per_dwell_time)
{
	unsigned period = (unsigned)_i, switches = 0, seconds = 3600;
	bool was = false;
	uint64_t last = 0;

	profile("busy", busy);
	load();
	for (unsigned i = 0; i < seconds; i++) {
		bool now;

		rate(i / period % 2 ? 60000 : 5000);
		now = is("busy");
		if (now == was)
			continue;
		ck_assert(last == 0 || in.now_usec - last >= RULES_DWELL_USEC);
		last = in.now_usec;
		was = now;
		switches++;
	}
	ck_assert_uint_le(switches, seconds * USEC_PER_SEC / RULES_DWELL_USEC + 1);
	/* Shorter than the time a class needs: never; longer: followed. */
	if (period < RATE_USEC / USEC_PER_SEC)
		ck_assert_uint_eq(switches, 0);
	else if (period > RATE_USEC / USEC_PER_SEC)
		ck_assert_uint_ge(switches, 10);
}
END_TEST

START_TEST(crashing_unit_does_not_flap)
{
	unsigned switches = 0;
	bool was = false;

	profile("web", "match = ( { unit = \"nginx.service\"; } );\n");
	load();
	is("web");
	for (unsigned i = 0; i < 600; i++) {
		bool now;

		active = i % 3 ? "nginx.service" : NULL;
		now = is("web");
		switches += now != was;
		was = now;
	}
	ck_assert_uint_le(switches, 11);
}
END_TEST

START_TEST(reload_keeps_class_and_dwell)
{
	profile("busy", busy);
	load();
	rate(60000);
	for (unsigned i = 0; i < 12; i++)
		is("busy");
	ck_assert(is("busy"));
	profile("other", "match = ( { unit = \"x.service\"; } );\npriority = 3;\n");
	load();
	ck_assert(is("busy"));
	active = "x.service";
	ck_assert(is("busy")); /* not yet */
	in.now_usec += RULES_DWELL_USEC;
	ck_assert(is("other"));
	/* Rules that are gone are gone at once. */
	tree_remove(t.tree, "vendor/profiles/other.conf");
	load();
	ck_assert(is("busy"));
	tree_remove(t.tree, "vendor/profiles/busy.conf");
	load();
	ck_assert(is("balanced"));
}
END_TEST

START_TEST(units_are_named_once)
{
	_cleanup_free_ const char **units = NULL;

	profile("a", "match = ( { unit = \"x.service\"; }, { kernel = \"rt\"; } );\n");
	profile("b", "match = ( { unit = \"y@1.service\"; }, { unit = \"x.service\"; } );\n");
	load();
	ck_assert_int_eq(chooser_units(c, &units), 0);
	ck_assert_str_eq(units[0], "x.service");
	ck_assert_str_eq(units[1], "y@1.service");
	ck_assert_ptr_null(units[2]);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, hold_over_hand_over_rule_over_default);
	tcase_add_test(tests, all_conditions_of_an_entry_any_entry_of_a_profile);
	tcase_add_test(tests, priority_then_name);
	tcase_add_test(tests, rules_are_not_inherited);
	tcase_add_test(tests, unit_that_cannot_be_told_fits_nothing);
	tcase_add_test(tests, rate_enters_and_leaves_by_two_bounds_and_time);
	tcase_add_test(tests, burst_is_no_class);
	tcase_add_test(tests, unknown_rate_keeps_the_class);
	tcase_add_loop_test(tests, swinging_rate_switches_once_per_dwell_time, 1, 40);
	tcase_add_test(tests, crashing_unit_does_not_flap);
	tcase_add_test(tests, reload_keeps_class_and_dwell);
	tcase_add_test(tests, units_are_named_once);
	return run_suite("choose", tests);
}
