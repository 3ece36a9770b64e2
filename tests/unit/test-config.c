/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <stdio.h>

#include "lib/config-tree.h"
#include "lib/run.h"
#include "profile/profile-file.h"

static struct config_tree t;

static void setup(void)
{
	config_tree_init(&t);
}

static void teardown(void)
{
	config_tree_done(&t);
}

static void expect_loaded(struct config *c)
{
	int r = config_load(t.dirs, c, &t.complaints);

	expect_silence(&t);
	ck_assert_int_eq(r, 0);
}

START_TEST(nothing_there_means_defaults)
{
	_cleanup_(config_done) struct config c = {};

	expect_loaded(&c);
	ck_assert_int_eq(c.mode, MODE_APPLY);
	ck_assert_str_eq(c.profile, "balanced");
	ck_assert_uint_eq(c.tick_usec, USEC_PER_SEC);
	ck_assert_uint_eq(c.slow_look_usec, 10 * USEC_PER_SEC);
	ck_assert(!c.keep_on_stop);
	ck_assert_uint_eq(c.max_changes_per_hour, 30);
	ck_assert_uint_eq(c.max_moves_per_round, 4);
	ck_assert(!c.profile_origin.file && !c.mode_origin.file);
}
END_TEST

START_TEST(every_key)
{
	_cleanup_(config_done) struct config c = {};

	tree_write(t.tree, "vendor/profiles/mine.conf", "busy_poll = 0;");
	tree_write(t.tree, "etc/softnetd.conf",
		   "mode = \"advise\";\nprofile = \"mine\";\ntick = 0.25;\nslow_look = \"2 min\";\n"
		   "on_stop = \"keep\";\nmax_changes_per_hour = 1;\nmax_moves_per_round = 16;\n");
	expect_loaded(&c);
	ck_assert_int_eq(c.mode, MODE_ADVISE);
	ck_assert_uint_eq(c.mode_origin.line, 1);
	ck_assert_str_eq(c.profile, "mine");
	ck_assert_uint_eq(c.profile_origin.line, 2);
	ck_assert(strstr(c.profile_origin.file, "/etc/softnetd.conf"));
	ck_assert_uint_eq(c.tick_usec, 250 * USEC_PER_MSEC);
	ck_assert_uint_eq(c.slow_look_usec, 120 * USEC_PER_SEC);
	ck_assert(c.keep_on_stop);
	ck_assert_uint_eq(c.max_changes_per_hour, 1);
	ck_assert_uint_eq(c.max_moves_per_round, 16);
}
END_TEST

static const struct {
	const char *text;
	uint64_t usec;
} spans[] = {
	{"1", 1000000},        {"10", 10000000},        {"1.5", 1500000},       {".5", 500000},
	{"1e1", 10000000},     {"\"100ms\"", 100000},   {"\"1s\"", 1000000},    {"\"1\"", 1000000},
	{"\"0.5 s\"", 500000}, {"\"0.1min\"", 6000000}, {"\"1.25s\"", 1250000},
};

START_TEST(times)
{
	_cleanup_(config_done) struct config c = {};

	tree_printf(t.tree, "etc/softnetd.conf", "tick = %s;", spans[_i].text);
	expect_loaded(&c);
	ck_assert_uint_eq(c.tick_usec, spans[_i].usec);
}
END_TEST

static const struct {
	const char *text;
	unsigned line;
	const char *why;
} refused[] = {
	{"mod = \"apply\";", 1, "softnetd.conf has no key mod; did you mean mode?"},
	{"netdev_budget = 300;", 1, "it belongs into a profile"},
	{"match = \"eth0\";", 1, "it belongs into a profile"},
	{"placement = \"pack\";", 1, "it belongs into a profile"},
	{"cpus = \"0-3\";", 1, "it belongs into an entry of nics"},
	{"silence = \"netdev_budget-squeezed\";", 1, "a list of ids"},
	{"silence = [5];", 1, "ids as strings, not a number"},
	{"silence = [\"netdev_budget\"];", 1, "\"netdev_budget\" is no id of an advice"},
	{"silence = (\"netdev_budget-squeezed\",\n \"a\\x1b[31m\");", 2, "is no id"},
	{"\n\nmode = \"aply\";", 3, "did you mean \"apply\"?"},
	{"mode = \"nonsense\";", 1,
	 "expects \"observe\", \"advise\" or \"apply\", not \"nonsense\""},
	{"mode = 2;", 1, "not a number"},
	{"mode = [ ];", 1, "not a list"},
	{"on_stop = \"leave\";", 1, "\"restore\" or \"keep\""},
	{"tick = \"1h\";", 1, "a time from 0.1s to 10s"},
	{"tick = \"\";", 1, "a time from"},
	{"tick = \"s\";", 1, "a time from"},
	{"tick = \".\";", 1, "a time from"},
	{"tick = \"-1s\";", 1, "a time from"},
	{"tick = \"inf\";", 1, "a time from"},
	{"tick = \"0x1s\";", 1, "a time from"},
	{"tick = \"1e400s\";", 1, "a time from"},
	{"tick = \"1 s s\";", 1, "a time from"},
	{"tick = \"99999999999999999999999s\";", 1, "a time from"},
	{"tick = \"99ms\";", 1, "a time from"},
	{"tick = 0;", 1, "a time from"},
	{"tick = -1;", 1, "a time from"},
	{"tick = 1e300;", 1, "a time from"},
	{"tick = true;", 1, "a time from"},
	{"tick = 11;", 1, "a time from"},
	{"slow_look = 0.5;", 1, "a time from 1s to 3600s"},
	{"max_changes_per_hour = 0;", 1, "is 0, outside 1 to 64"},
	{"max_changes_per_hour = 1.5;", 1, "a whole number from 1 to 64, not a fraction"},
	{"max_moves_per_round = 17;", 1, "is 17, outside 1 to 16"},
	{"max_moves_per_round = 4294967300;", 1, "is too large"},
	{"profile = 3;", 1, "profile expects a string"},
	{"\nprofile = \"balanced\";", 2, "there is no profile balanced"},
	{"profile = \"../x\";", 1, "not the name of a profile"},
	{"mode = \"apply\"; }", 1, "syntax error"},
	{"@include \"x.conf\"", 1, "@include is not allowed"},
};

START_TEST(refusals)
{
	struct config before, c;

	memset(&c, 0x5a, sizeof(c)); /* untouched means every byte of it */
	memcpy(&before, &c, sizeof(c));
	tree_write(t.tree, "run/softnetd.conf", refused[_i].text);
	ck_assert_int_eq(config_load(t.dirs, &c, &t.complaints), -EINVAL);
	expect_complaint(&t, "run/softnetd.conf", refused[_i].line, refused[_i].why);
	ck_assert_mem_eq(&before, &c, sizeof(c));
	ck_assert_int_eq(config_load(t.dirs, &c, NULL), -EINVAL);
}
END_TEST

START_TEST(layers_and_drop_ins)
{
	struct config c;

	tree_write(t.tree, "vendor/softnetd.conf", "mode = \"observe\"; tick = 2; slow_look = 20;");
	tree_write(t.tree, "vendor/softnetd.conf.d/50-x.conf", "tick = 5;");
	tree_write(t.tree, "etc/softnetd.conf.d/10-y.conf", "tick = 1; slow_look = 30;");
	expect_loaded(&c);
	ck_assert_int_eq(c.mode, MODE_OBSERVE);
	ck_assert_uint_eq(c.tick_usec, 5 * USEC_PER_SEC);
	ck_assert_uint_eq(c.slow_look_usec, 30 * USEC_PER_SEC);
	config_done(&c);

	/* The whole file of the stronger directory counts, and the drop-ins lie over it. */
	tree_write(t.tree, "etc/softnetd.conf", "max_moves_per_round = 2;");
	expect_loaded(&c);
	ck_assert_int_eq(c.mode, MODE_APPLY);
	ck_assert_uint_eq(c.tick_usec, 5 * USEC_PER_SEC);
	ck_assert_uint_eq(c.max_moves_per_round, 2);
	config_done(&c);

	tree_remove(t.tree, "etc/softnetd.conf");
	tree_link(t.tree, "etc/softnetd.conf", "/dev/null");
	tree_write(t.tree, "etc/softnetd.conf.d/50-x.conf", "");
	expect_loaded(&c);
	ck_assert_int_eq(c.mode, MODE_APPLY);
	ck_assert_uint_eq(c.tick_usec, USEC_PER_SEC);
	ck_assert_uint_eq(c.slow_look_usec, 30 * USEC_PER_SEC);
	config_done(&c);
}
END_TEST

/* H09, cluster-node-tuning-operator#123: after a bad file nothing has changed, and the next good
 * one works. */
START_TEST(a_good_reload_after_a_bad_one)
{
	struct config running, next;

	tree_write(t.tree, "etc/softnetd.conf", "tick = 2;");
	expect_loaded(&running);
	tree_write(t.tree, "etc/softnetd.conf", "tick = 3; mode = ;");
	memcpy(&next, &running, sizeof(next));
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(config_load(t.dirs, &running, &t.complaints), -EINVAL);
	ck_assert_mem_eq(&next, &running, sizeof(next));
	config_tree_hush(&t);

	/* A broken drop-in alone spoils the whole, too: half of a configuration is none. */
	tree_write(t.tree, "etc/softnetd.conf", "tick = 3;");
	tree_write(t.tree, "etc/softnetd.conf.d/x.conf", "slow_lok = 3;");
	ck_assert_int_eq(config_load(t.dirs, &running, &t.complaints), -EINVAL);
	ck_assert_uint_eq(running.tick_usec, 2 * USEC_PER_SEC);
	config_tree_hush(&t);

	tree_remove(t.tree, "etc/softnetd.conf.d");
	expect_loaded(&next);
	ck_assert_uint_eq(next.tick_usec, 3 * USEC_PER_SEC);
	config_done(&running);
	config_done(&next);
}
END_TEST

START_TEST(all_complaints_are_collected)
{
	struct config c;

	tree_write(t.tree, "etc/softnetd.conf",
		   "mode = 1;\ntick = \"x\";\nprofile = \"none\";\nfoo = 1;");
	tree_write(t.tree, "run/softnetd.conf.d/a.conf", "]");
	tree_write(t.tree, "run/softnetd.conf.d/b.conf", "on_stop = 1;");
	ck_assert_int_eq(config_load(t.dirs, &c, &t.complaints), -EINVAL);
	expect_complaint(&t, "etc/softnetd.conf", 1, "mode expects");
	expect_complaint(&t, "etc/softnetd.conf", 2, "tick expects");
	expect_complaint(&t, "etc/softnetd.conf", 3, "there is no profile none");
	expect_complaint(&t, "etc/softnetd.conf", 4, "no key foo");
	expect_complaint(&t, "a.conf", 1, "syntax error");
	expect_complaint(&t, "b.conf", 1, "on_stop expects");
	ck_assert_uint_eq(t.complaints.n, 6);
}
END_TEST

START_TEST(directories)
{
	_cleanup_(strv_freep) char **all = NULL, **other = NULL, **only = NULL;

	ck_assert_int_eq(config_dirs_new(NULL, false, &all), 0);
	for (size_t i = 0; i < 4; i++)
		ck_assert(all[i] ? streq(all[i], config_default_dirs[i]) : !config_default_dirs[i]);
	ck_assert_int_eq(config_dirs_new("config", false, &other), 0);
	ck_assert_str_eq(other[0], "config");
	ck_assert_str_eq(other[1], "/run/softnetd/etc");
	ck_assert_str_eq(other[2], "/etc/softnetd");
	ck_assert_ptr_null(other[3]);
	ck_assert_int_eq(config_dirs_new("config", true, &only), 0);
	ck_assert_str_eq(only[0], "config");
	ck_assert_ptr_null(only[1]);
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, nothing_there_means_defaults);
	tcase_add_test(c, every_key);
	tcase_add_loop_test(c, times, 0, (int)ELEMENTSOF(spans));
	tcase_add_loop_test(c, refusals, 0, (int)ELEMENTSOF(refused));
	tcase_add_test(c, layers_and_drop_ins);
	tcase_add_test(c, a_good_reload_after_a_bad_one);
	tcase_add_test(c, all_complaints_are_collected);
	tcase_add_test(c, directories);
	return run_suite("config", c);
}
