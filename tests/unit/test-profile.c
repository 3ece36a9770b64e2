/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/config-tree.h"
#include "lib/run.h"
#include "profile/conf.h"
#include "profile/profile-file.h"
#include "profile/schema.h"

static struct config_tree t;

static void setup(void)
{
	config_tree_init(&t);
}

static void teardown(void)
{
	config_tree_done(&t);
}

/* Loads NAME, which must work and be said nothing about. */
static struct profile *load(const char *name)
{
	struct profile *p = NULL;
	int r = profile_load(t.dirs, name, &p, &t.complaints);

	expect_silence(&t);
	ck_assert_int_eq(r, 0);
	ck_assert_str_eq(p->name, name);
	return p;
}

/* Loads NAME, which must fail with ERROR and leave the result alone. */
static void refuse(const char *name, int error)
{
	struct profile *const untouched = (struct profile *)&t, *p = untouched;

	config_tree_hush(&t);
	ck_assert_int_eq(profile_load(t.dirs, name, &p, &t.complaints), error);
	ck_assert_ptr_eq(p, untouched);
	ck_assert_uint_gt(t.complaints.n, 0);
	/* Nobody has to listen. */
	ck_assert_int_eq(profile_load(t.dirs, name, &p, NULL), error);
}

/* TEXT as vendor profile "x" must be refused with a complaint about LINE that has WHY in it. */
static void refuse_text(const char *text, unsigned line, const char *why)
{
	tree_write(t.tree, "vendor/profiles/x.conf", text);
	refuse("x", -EINVAL);
	expect_complaint(&t, "vendor/profiles/x.conf", line, why);
}

static void expect_value(const struct profile *p, enum tunable_id id, const char *value)
{
	ck_assert_int_eq(p->setting[id].kind, SETTING_VALUE);
	ck_assert_str_eq(p->setting[id].value, value);
}

static void expect_range(const struct profile *p, enum tunable_id id, int64_t low, int64_t high)
{
	ck_assert_int_eq(p->setting[id].kind, SETTING_RANGE);
	ck_assert_int_eq(p->setting[id].low, low);
	ck_assert_int_eq(p->setting[id].high, high);
}

START_TEST(every_form_of_a_value)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	const struct profile_setting *s;

	tree_write(t.tree, "vendor/profiles/x.conf",
		   "description = \"Für alles\";\n"
		   "netdev_budget = 600\n"
		   "netdev_budget_usecs = [2000, 20000];\n"
		   "netdev_max_backlog = (1000, 8000);\n"
		   "dev_weight = \"leave\";\n"
		   "busy_poll = 0x32;\n"
		   "softirq_restart_policy = \"latency\";\n"
		   "softirq_clock = 1;\n"
		   "governor = \"schedutil | powersave\";\n"
		   "energy_preference = 128;\n"
		   "busy_read = { value = 50; on_foreign = \"enforce\"; };\n"
		   "irq_affinity = { on_foreign = \"adopt\"; };\n");
	p = load("x");
	ck_assert_str_eq(p->description, "Für alles");
	ck_assert(!p->inherits && !p->place_despite_irqbalance && p->n_nics == 0);
	expect_value(p, TUNABLE_NETDEV_BUDGET, "600");
	expect_range(p, TUNABLE_NETDEV_BUDGET_USECS, 2000, 20000);
	expect_range(p, TUNABLE_NETDEV_MAX_BACKLOG, 1000, 8000);
	ck_assert_int_eq(p->setting[TUNABLE_DEV_WEIGHT].kind, SETTING_LEAVE);
	expect_value(p, TUNABLE_BUSY_POLL, "50");
	expect_value(p, TUNABLE_SOFTIRQ_RESTART_POLICY, "2");
	expect_value(p, TUNABLE_SOFTIRQ_CLOCK, "1");
	expect_value(p, TUNABLE_GOVERNOR, "schedutil|powersave");
	expect_value(p, TUNABLE_ENERGY_PREFERENCE, "balance_performance");
	expect_value(p, TUNABLE_BUSY_READ, "50");
	ck_assert_int_eq(p->setting[TUNABLE_BUSY_READ].on_foreign, ON_FOREIGN_ENFORCE);
	ck_assert_int_eq(p->setting[TUNABLE_IRQ_AFFINITY].kind, SETTING_LEAVE);
	ck_assert_int_eq(p->setting[TUNABLE_IRQ_AFFINITY].on_foreign, ON_FOREIGN_ADOPT);
	ck_assert_int_eq(p->setting[TUNABLE_NETDEV_BUDGET].on_foreign, ON_FOREIGN_YIELD);
	/* what is not mentioned is left alone, and came from nowhere */
	s = &p->setting[TUNABLE_SOFTIRQ_TIME_US];
	ck_assert(s->kind == SETTING_LEAVE && !s->origin.file);
	s = &p->setting[TUNABLE_NETDEV_MAX_BACKLOG];
	ck_assert_uint_eq(s->origin.line, 4);
	ck_assert(strstr(s->origin.file, "vendor/profiles/x.conf"));
	ck_assert(strstr(p->file, "vendor/profiles/x.conf"));
}
END_TEST

START_TEST(nic_rules)
{
	_cleanup_(profile_freep) struct profile *p = NULL;

	tree_write(t.tree, "vendor/profiles/x.conf",
		   "placement = \"pack\";\n"
		   "nics = (\n"
		   "  { match = \"eth*\"; placement = \"spread\"; cpus = \"0-3,8\"; },\n"
		   "  { match = \"wlan0\"; placement = \"leave\"; }\n"
		   ");\n"
		   "place_despite_irqbalance = true;\n");
	p = load("x");
	ck_assert(p->place_despite_irqbalance);
	ck_assert_uint_eq(p->n_nics, 3);
	ck_assert_int_eq(profile_nic_rule(p, "eth1")->placement, PLACEMENT_SPREAD);
	ck_assert(profile_nic_rule(p, "eth1")->has_cpus);
	ck_assert_uint_eq(cpuset_count(&profile_nic_rule(p, "eth1")->cpus), 5);
	ck_assert_uint_eq(profile_nic_rule(p, "eth1")->origin.line, 3);
	ck_assert_int_eq(profile_nic_rule(p, "wlan0")->placement, PLACEMENT_LEAVE);
	ck_assert_int_eq(profile_nic_rule(p, "enp1s0")->placement, PLACEMENT_PACK);
	ck_assert_uint_eq(profile_nic_rule(p, "enp1s0")->origin.line, 1);
}
END_TEST

START_TEST(match_rules)
{
	_cleanup_(profile_freep) struct profile *p = NULL, *heir = NULL;

	tree_write(t.tree, "vendor/profiles/x.conf",
		   "match = (\n"
		   "  { unit = \"a.service\"; packet_rate = [10000, 50000]; },\n"
		   "  { kernel = \"rt\"; }, { unit = \"system-getty.slice\"; },\n"
		   "  { unit = \"dev\\\\x2dsda@1:2.scope\"; packet_rate = (1, 2); }\n"
		   ");\n"
		   "priority = 7;\nobjective = \"drops\";\n");
	p = load("x");
	ck_assert_int_eq(p->objective, OBJECTIVE_DROPS);
	ck_assert_int_eq(p->priority, 7);
	ck_assert_uint_eq(p->n_matches, 4);
	ck_assert_str_eq(p->match[0].unit, "a.service");
	ck_assert(p->match[0].has_rate);
	ck_assert_uint_eq(p->match[0].rate_low, 10000);
	ck_assert_uint_eq(p->match[0].rate_high, 50000);
	ck_assert_ptr_null(p->match[0].kernel);
	ck_assert_uint_eq(p->match[0].origin.line, 2);
	ck_assert_str_eq(p->match[1].kernel, "rt");
	ck_assert(!p->match[1].has_rate);
	ck_assert_str_eq(p->match[3].unit, "dev\\x2dsda@1:2.scope");
	/* Not for heirs; and a drop-in can forget them. */
	tree_write(t.tree, "vendor/profiles/y.conf", "inherits = \"x\"; busy_poll = 1;");
	heir = load("y");
	ck_assert_uint_eq(heir->n_matches, 0);
	ck_assert_int_eq(heir->priority, 0);
	ck_assert_int_eq(heir->objective, OBJECTIVE_DROPS); /* … but this is */
	profile_free(heir);
	tree_write(t.tree, "etc/profiles/x.conf.d/10.conf", "match = ();");
	heir = load("x");
	ck_assert_uint_eq(heir->n_matches, 0);
	ck_assert_int_eq(heir->priority, 7);
}
END_TEST

/* A profile that cannot be used has no say, and the others have. */
START_TEST(profiles_that_match)
{
	struct profile **list;

	tree_write(t.tree, "vendor/profiles/a.conf", "match = ( { kernel = \"rt\"; } );");
	tree_write(t.tree, "vendor/profiles/b.conf", "match = ( { kernal = \"rt\"; } );");
	tree_write(t.tree, "vendor/profiles/c.conf",
		   "match = ( { kernel = \"rt\"; } ); priority = 1;");
	tree_write(t.tree, "vendor/profiles/d.conf", "busy_poll = 1;");
	ck_assert_int_eq(profiles_with_match(t.dirs, &list, &t.complaints), 0);
	expect_complaint(&t, "vendor/profiles/b.conf", 1, "did you mean kernel?");
	ck_assert_str_eq(list[0]->name, "c");
	ck_assert_str_eq(list[1]->name, "a");
	ck_assert_ptr_null(list[2]);
	profiles_free(list);
}
END_TEST

/* Line, text, and what the complaint must say. */
static const struct {
	const char *text;
	unsigned line;
	const char *why;
} refused[] = {
	/* keys */
	{"\nnetdev_budgett = 300;", 2, "did you mean netdev_budget?"},
	{"zzzzzzzz = 1;", 1, "a profile has no key zzzzzzzz"},
	{"tick = 1;", 1, "belongs into softnetd.conf"},
	{"nics = ( { match = \"a\"; placment = \"pack\"; } );", 1, "did you mean placement?"},
	{"busy_poll = { valeu = 1; };", 1, "did you mean value?"},
	{"netdev_budget = 300;\nnetdev_budget = 400;", 2, "given before in the same file"},
	/* types */
	{"netdev_budget = \"300\";", 1, "a number from 16 to 8192 (packets)"},
	{"netdev_budget = 300.5;", 1, "not a fraction"},
	{"netdev_budget = true;", 1, "not true or false"},
	{"netdev_budget = { value = { value = 300; }; };", 1, "not a group"},
	{"netdev_budget = { };", 1, "says nothing"},
	{"governor = 3;", 1, "a word such as \"performance\""},
	{"governor = [1, 2];", 1, "not a list"},
	{"softirq_restart_policy = [\"throughput\", \"latency\"];", 1,
	 "\"latency\" comes before \"throughput\""},
	{"softirq_restart_policy = [\"latency\", \"latency\"];", 1, "a range of one"},
	{"softirq_restart_policy = [\"latency\", \"latancy\"];", 1, "did you mean"},
	{"softirq_restart_policy = 5;", 1, "is 5, outside 0 to 4"},
	{"softirq_clock = [0, 1];", 1, "one of \"jiffies\", \"precise\""},
	{"irq_affinity = \"0-3\";", 1, "only { on_foreign"},
	{"irq_affinity = [0, 3];", 1, "only { on_foreign"},
	{"description = 5;", 1, "description expects a string"},
	{"objective = \"latency\";", 1, "objective expects"},
	{"place_despite_irqbalance = \"yes\";", 1, "true or false, not a string"},
	{"placement = 1;", 1, "\"spread\", \"pack\" or \"near\", not a number"},
	{"nics = { match = \"a\"; };", 1, "nics expects a list of groups"},
	{"nics = ( \"eth0\" );", 1, "nics expects a list of groups"},
	{"nics = \"eth0\";", 1, "nics expects a list of groups"},
	/* values */
	{"netdev_budget = 8193;", 1, "netdev_budget is 8193, outside 16 to 8192 packets"},
	{"netdev_budget = -1;", 1, "outside 16 to 8192 packets"},
	{"netdev_budget_usecs = 300000;", 1, "outside 2000 to 40000 µs"},
	{"netdev_budget = [300];", 1, "a range has two numbers"},
	{"netdev_budget = [];", 1, "a range has two numbers"},
	{"netdev_budget = [1, 2, 3];", 1, "a range has two numbers"},
	{"netdev_budget = (300, \"600\");", 1, "two whole numbers"},
	{"netdev_budget = [600, 300];", 1, "ends (300) below where it begins (600)"},
	{"netdev_budget = [300, 9000];", 1, "netdev_budget is 9000, outside"},
	{"netdev_budget = [600, 600];", 1, "write netdev_budget = 600"},
	{"energy_preference = 256;", 1, "outside 0 to 255"},
	{"energy_preference = \"balanced_power\";", 1, "did you mean \"balance_power\"?"},
	{"energy_preference = \"frugal\";", 1, "not \"frugal\""},
	{"energy_preference = \"power|300\";", 1, "not \"300\""},
	{"governor = \"performence\";", 1, "did you mean \"performance\"?"},
	{"governor = \"schedutil|\";", 1, "not \"\""},
	{"governor = \"\";", 1, "not \"\""},
	{"governor = \"a b\";", 1, "not \"a b\""},
	{"governor = \"x\\x1b[31m\";", 1, "control character"},
	{"description = \"x\\x1b[31m\";", 1, "control character"},
	{"description = \"\xff\";", 1, "broken UTF-8"},
	{"softirq_restart_policy = \"latancy\";", 1, "did you mean \"latency\"?"},
	{"softirq_restart_policy = \"latency|defer\";", 1, "one of"},
	{"on_foreign = \"enforc\";", 1, "did you mean \"enforce\"?"},
	{"busy_poll = {\n value = 1;\n on_foreign = \"x\"; };", 3, "\"yield\", \"enforce\" or"},
	{"placement = \"packed\";", 1, "did you mean \"pack\"?"},
	{"nics = ( { match = \"a\"; } );", 1, "needs match, and placement or something else"},
	{"nics = ( { placement = \"pack\"; } );", 1,
	 "needs match, and placement or something else"},
	{"nics = ( { match = \"\"; placement = \"pack\"; } );", 1,
	 "needs match, and placement or something else"},
	{"nics = ( { match = \"a\"; placement = \"pack\"; cpus = \"3-1\"; } );", 1, "\"0-3,8\""},
	{"nics = ( { match = \"a\"; placement = \"pack\"; cpus = \"9999\"; } );", 1, "beyond 2047"},
	{"nics = ( { match = \"a\"; placement = \"pack\"; cpus = \"\"; } );", 1, "is empty"},
	{"nics = ( { match = \"a\"; placement = \"pack\"; },\n"
	 "{ match = \"a\"; placement = \"leave\"; } );",
	 2, "stands in line 1 already"},
	{"placement = \"near\";", 1, "belongs into an entry of nics, with near_cpus"},
	{"nics = ( { match = \"a\"; placement = \"near\"; } );", 1, "needs near_cpus"},
	{"nics = ( { match = \"a\"; placement = \"pack\"; near_cpus = \"1\"; } );", 1,
	 "near_cpus needs placement = \"near\""},
	{"placement = \"pack\"; nics = ( { match = \"a\"; rps = \"near\"; near_cpus = \"1\"; } );",
	 1, "near_cpus needs placement = \"near\""},
	{"nics = ( { match = \"a\"; placement = \"near\"; near_cpus = \"x\"; } );", 1, "\"0-3,8\""},
	{"near_cpus = \"1\";", 1, "it belongs into an entry of nics"},
	{"match = ( { unti = \"a.service\"; } );", 1, "did you mean unit?"},
	{"match = ( { } );", 1, "needs unit, packet_rate or kernel"},
	{"match = { unit = \"a.service\"; };", 1, "match expects a list of groups"},
	{"match = ( \"a.service\" );", 1, "match expects a list of groups"},
	{"match = ( { unit = \"nginx\"; } );", 1, "one service, scope or slice"},
	{"match = ( { unit = \"a.timer\"; } );", 1, "one service, scope or slice"},
	{"match = ( { unit = \"../a.service\"; } );", 1, "one service, scope or slice"},
	{"match = ( { unit = \"nginx*.service\"; } );", 1, "one service, scope or slice"},
	{"match = ( { unit = \".service\"; } );", 1, "one service, scope or slice"},
	{"match = ( { unit = 5; } );", 1, "unit expects a string"},
	{"match = ( { kernel = \"\"; } );", 1, "a pattern for the release"},
	{"match = ( { packet_rate = 5; } );", 1, "packet_rate expects [low, high]"},
	{"match = ( { packet_rate = [5]; } );", 1, "packet_rate expects [low, high]"},
	{"match = ( { packet_rate = [5, 5]; } );", 1, "packet_rate expects [low, high]"},
	{"match = ( { packet_rate = [9, 5]; } );", 1, "packet_rate expects [low, high]"},
	{"match = ( { packet_rate = [0, 5]; } );", 1, "packet_rate expects [low, high]"},
	{"match = ( { packet_rate = [1.5, 2.5]; } );", 1, "packet_rate expects [low, high]"},
	{"match = ( { packet_rate = (1, \"2\"); } );", 1, "packet_rate expects [low, high]"},
	{"unit = \"a.service\";", 1, "belongs into an entry of match"},
	{"priority = -1;", 1, "outside 0 to 1000"},
	{"priority = 1001;", 1, "outside 0 to 1000"},
	{"inherits = \"nowhere\";", 1, "there is no profile nowhere"},
	{"\ninherits = \"../../etc/passwd\";", 2, "not the name of a profile"},
	/* the file itself */
	{"netdev_budget = ;", 1, "syntax error"},
	{"a = 1\n\n}", 3, "syntax error"},
	{"# fine\n@include \"/etc/passwd\"\n", 2, "@include is not allowed"},
	{" \t @include \"/etc/passwd\"", 1, "@include is not allowed"},
	{"netdev_budget = 4294967596;", 1, "4294967596 is too large"},
	{"netdev_budget = 4294967596 busy_poll = 1;", 1, "4294967596 is too large"},
	{"netdev_budget = 4294967596busy_poll = 1;", 1, "is too large"},
	{"netdev_budget = 0x10000012c;", 1, "0x10000012c is too large"},
	{"netdev_budget = 99999999999999999999L;", 1, "is too large"},
	{"netdev_budget = [300,\n 4294967596];", 2, "4294967596 is too large"},
	{"\n/* begins\n\n\nnetdev_budget = 300;", 2, "never ends"},
	{"\n\ndescription = \"begins\nand goes on", 3, "never ends"},
};

START_TEST(refusals)
{
	refuse_text(refused[_i].text, refused[_i].line, refused[_i].why);
}
END_TEST

/* What looks dangerous and is not. */
START_TEST(harmless)
{
	_cleanup_(profile_freep) struct profile *p = NULL;

	tree_write(t.tree, "vendor/profiles/x.conf",
		   "/* @include \"x\" 4294967596 */ # @include \"y\" 4294967596\n"
		   "description = \"@include \\\" 4294967596 /* \"; // \"\n"
		   "netdev_budget = 300L; # the last line without newline");
	p = load("x");
	ck_assert_str_eq(p->description, "@include \" 4294967596 /* ");
	expect_value(p, TUNABLE_NETDEV_BUDGET, "300");
}
END_TEST

/* Complaints become JSON: what they quote is cut between characters. */
START_TEST(long_words_are_quoted_whole)
{
	for (int n = 58; n < 66; n++) {
		tree_printf(t.tree, "vendor/profiles/x.conf",
			    "on_foreign = \"%0*dµµµ\"; governor = \"%0*dµµµ\";", n, 0, n, 0);
		refuse("x", -EINVAL);
		ck_assert_uint_eq(t.complaints.n, 2);
		for (unsigned i = 0; i < 2; i++)
			ck_assert_msg(text_ok(t.complaints.item[i].text), "%s",
				      t.complaints.item[i].text);
	}
}
END_TEST

START_TEST(all_complaints_are_collected)
{
	tree_write(t.tree, "vendor/profiles/base.conf", "busy_poll = 9999;\n");
	tree_write(t.tree, "vendor/profiles/x.conf",
		   "inherits = \"base\";\nnetdev_bugdet = 1;\nbusy_read = \"on\";\n");
	tree_write(t.tree, "etc/profiles/x.conf.d/10-broken.conf", "a = = 1;");
	tree_write(t.tree, "etc/profiles/x.conf.d/20-more.conf", "\n\ndev_weight = -5;");
	refuse("x", -EINVAL);
	expect_complaint(&t, "vendor/profiles/base.conf", 1, "outside 0 to 1000");
	expect_complaint(&t, "vendor/profiles/x.conf", 2, "did you mean netdev_budget");
	expect_complaint(&t, "vendor/profiles/x.conf", 3, "busy_read expects");
	expect_complaint(&t, "10-broken.conf", 1, "syntax error");
	expect_complaint(&t, "20-more.conf", 3, "dev_weight is -5");
	ck_assert_uint_eq(t.complaints.n, 5);
}
END_TEST

START_TEST(hostile_files)
{
	static const char binary[] = "netdev_budget = 300;\n\0\x7f\x45LF";
	_cleanup_free_ char *huge = malloc(CONF_SIZE_MAX + 2), *deep = malloc(300001);
	char path[512];

	tree_bytes(t.tree, "vendor/profiles/x.conf", binary, sizeof(binary));
	refuse("x", -EINVAL);
	expect_complaint(&t, "x.conf", 2, "NUL byte");

	memset(huge, '#', CONF_SIZE_MAX + 1);
	huge[CONF_SIZE_MAX + 1] = '\0';
	refuse_text(huge, 0, "larger than");

	/* Every shape of nesting, deep enough to end a recursive reader. */
	for (const char *shape = "([{"; *shape; shape++) {
		memset(deep, *shape, 300000);
		deep[300000] = '\0';
		memcpy(deep, "a =", 3);
		refuse_text(deep, 1, "nested more than");
	}
	for (size_t i = 0; i + 3 <= 300000; i += 3)
		memcpy(deep + i, "a={", 3);
	refuse_text(deep, 1, "nested more than");

	/* More complaints than anybody wants to read are counted, not kept. */
	deep[0] = '\0';
	for (size_t i = 0, n = 0; i < 1000; i++)
		n += (size_t)sprintf(deep + n, "k%zu=1\n", i);
	refuse_text(deep, 64, "has no key");
	ck_assert_uint_eq(t.complaints.n, COMPLAINTS_MAX);
	ck_assert_uint_eq(t.complaints.more, 1000 - COMPLAINTS_MAX);

	tree_remove(t.tree, "vendor/profiles/x.conf");
	snprintf(path, sizeof(path), "%s/vendor/profiles/x.conf", tree_path(t.tree));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	refuse("x", -EINVAL); /* and does not hang */
	expect_complaint(&t, "x.conf", 0, "is a FIFO");

	tree_remove(t.tree, "vendor/profiles/x.conf");
	tree_mkdir(t.tree, "vendor/profiles/x.conf");
	refuse("x", -EINVAL);
	expect_complaint(&t, "x.conf", 0, "is a directory");

	tree_remove(t.tree, "vendor/profiles/x.conf");
	tree_link(t.tree, "vendor/profiles/x.conf", "/dev/zero");
	refuse("x", -EINVAL);
	expect_complaint(&t, "x.conf", 0, "is a device");

	tree_remove(t.tree, "vendor/profiles/x.conf");
	tree_link(t.tree, "vendor/profiles/x.conf", "nowhere");
	refuse("x", -EINVAL);
	expect_complaint(&t, "x.conf", 0, "a link to a file that does not exist");

	tree_remove(t.tree, "vendor/profiles/x.conf");
	tree_link(t.tree, "vendor/profiles/x.conf", "x.conf");
	refuse("x", -EINVAL);
	expect_complaint(&t, "x.conf", 0, "cannot be read: Too many levels");
}
END_TEST

START_TEST(unreadable_files)
{
	if (geteuid() == 0) {
		/* root reads everything: look as somebody else. Each test is a process of its own.
		 */
		ck_assert_int_eq(chmod(tree_path(t.tree), 0755), 0);
		tree_write(t.tree, "vendor/profiles/x.conf", "busy_poll = 1;");
		tree_mode(t.tree, "vendor/profiles/x.conf", 0600);
		ck_assert_int_eq(seteuid(65534), 0);
	} else {
		tree_write(t.tree, "vendor/profiles/x.conf", "busy_poll = 1;");
		tree_mode(t.tree, "vendor/profiles/x.conf", 0);
	}
	refuse("x", -EINVAL);
	expect_complaint(&t, "x.conf", 0, "cannot be read: Permission denied");
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

START_TEST(stronger_directories_mask)
{
	struct profile *p;

	tree_write(t.tree, "vendor/profiles/x.conf", "busy_poll = 1; busy_read = 1;");
	tree_write(t.tree, "run/profiles/x.conf", "busy_poll = 2;");
	p = load("x");
	expect_value(p, TUNABLE_BUSY_POLL, "2");
	ck_assert_int_eq(p->setting[TUNABLE_BUSY_READ].kind, SETTING_LEAVE); /* not merged */
	profile_free(p);

	tree_write(t.tree, "etc/profiles/x.conf", "busy_poll = 3;");
	p = load("x");
	expect_value(p, TUNABLE_BUSY_POLL, "3");
	ck_assert(strstr(p->file, "/etc/profiles/x.conf"));
	profile_free(p);

	/* A broken file of the admin is not answered with the vendor's. */
	tree_write(t.tree, "etc/profiles/x.conf", "busy_poll = ;");
	refuse("x", -EINVAL);

	tree_write(t.tree, "etc/profiles/x.conf", "");
	refuse("x", -ENOENT);
	tree_remove(t.tree, "etc/profiles/x.conf");
	tree_link(t.tree, "etc/profiles/x.conf", "/dev/null");
	refuse("x", -ENOENT);
	expect_complaint(&t, NULL, 0, "there is no profile x");
}
END_TEST

START_TEST(drop_ins)
{
	struct profile *p;

	tree_write(t.tree, "vendor/profiles/x.conf",
		   "description = \"old\"; busy_poll = 1; busy_read = 1; netdev_budget = 301;\n"
		   "nics = ( { match = \"eth0\"; placement = \"pack\"; } );");
	tree_write(t.tree, "etc/profiles/x.conf.d/10-a.conf", "busy_poll = 10; busy_read = 10;");
	tree_write(t.tree, "vendor/profiles/x.conf.d/20-b.conf", "busy_poll = 20;");
	tree_write(t.tree, "vendor/profiles/x.conf.d/30-c.conf", "busy_poll = 30;");
	tree_link(t.tree, "run/profiles/x.conf.d/30-c.conf", "/dev/null"); /* masks */
	tree_write(t.tree, "vendor/profiles/x.conf.d/40-d.conf", "netdev_budget = 340;");
	tree_write(t.tree, "etc/profiles/x.conf.d/40-d.conf", "dev_weight = 65;"); /* replaces */
	tree_write(t.tree, "etc/profiles/x.conf.d/50-e.conf",
		   "nics = ( { match = \"wlan0\"; placement = \"spread\"; } );\n"
		   "netdev_budget = { on_foreign = \"adopt\"; };");
	/* no drop-ins, by their names */
	tree_write(t.tree, "etc/profiles/x.conf.d/60-f.conf~", "rubbish");
	tree_write(t.tree, "etc/profiles/x.conf.d/.70-g.conf", "rubbish");
	tree_write(t.tree, "etc/profiles/x.conf.d/80-h.conf.dpkg-old", "rubbish");
	p = load("x");
	expect_value(p, TUNABLE_BUSY_POLL, "20"); /* by name, not by directory */
	ck_assert(
		strstr(p->setting[TUNABLE_BUSY_POLL].origin.file, "vendor/profiles/x.conf.d/20-b"));
	expect_value(p, TUNABLE_BUSY_READ, "10");
	expect_value(p, TUNABLE_DEV_WEIGHT, "65");
	expect_value(p, TUNABLE_NETDEV_BUDGET, "301"); /* value kept, on_foreign replaced */
	ck_assert_int_eq(p->setting[TUNABLE_NETDEV_BUDGET].on_foreign, ON_FOREIGN_ADOPT);
	ck_assert_str_eq(p->description, "old");
	ck_assert_uint_eq(p->n_nics, 1);
	ck_assert_str_eq(p->nic[0].match, "wlan0");
	ck_assert(strstr(p->file, "/vendor/profiles/x.conf"));
	profile_free(p);

	tree_write(t.tree, "etc/profiles/x.conf.d/a b.conf", "busy_poll = 5;");
	refuse("x", -EINVAL);
	expect_complaint(&t, "etc/profiles/x.conf.d", 0, "letters, digits");
	tree_remove(t.tree, "etc/profiles/x.conf.d");
	tree_write(t.tree, "etc/profiles/x.conf.d", "busy_poll = 5;");
	refuse("x", -EINVAL);
	expect_complaint(&t, "etc/profiles/x.conf.d", 0, "Not a directory");

	/* Drop-ins alone make no profile. */
	tree_remove(t.tree, "etc/profiles/x.conf.d");
	tree_write(t.tree, "etc/profiles/y.conf.d/10.conf", "busy_poll = 5;");
	refuse("y", -ENOENT);
}
END_TEST

START_TEST(inheritance)
{
	_cleanup_(profile_freep) struct profile *p = NULL;

	tree_write(
		t.tree, "vendor/profiles/grand.conf",
		"description = \"grand\"; on_foreign = \"adopt\"; busy_poll = 1; busy_read = 1;\n"
		"netdev_budget = { value = [300, 600]; on_foreign = \"yield\"; };\n"
		"dev_weight = 100;\n"
		"placement = \"spread\"; nics = ( { match = \"eth0\"; placement = \"pack\"; } );");
	tree_write(t.tree, "etc/profiles/grand.conf.d/10.conf", "busy_read = 2;");
	tree_write(t.tree, "vendor/profiles/base.conf",
		   "inherits = \"grand\"; description = \"base\"; busy_poll = 3;");
	tree_write(t.tree, "vendor/profiles/x.conf",
		   "on_foreign = \"enforce\"; dev_weight = \"leave\"; netdev_budget = 700;\n"
		   "inherits = \"grand\"; ");
	tree_write(t.tree, "etc/profiles/x.conf.d/10.conf", "inherits = \"base\";");
	p = load("x");
	ck_assert_str_eq(p->inherits, "base");
	ck_assert_ptr_null(p->description); /* an ancestor's would be untrue */
	expect_value(p, TUNABLE_BUSY_POLL, "3");
	expect_value(p, TUNABLE_BUSY_READ, "2"); /* the ancestor with its drop-ins */
	ck_assert(strstr(p->setting[TUNABLE_BUSY_READ].origin.file, "grand.conf.d/10.conf"));
	ck_assert_int_eq(p->setting[TUNABLE_DEV_WEIGHT].kind, SETTING_LEAVE);
	ck_assert_ptr_null(p->setting[TUNABLE_DEV_WEIGHT].value);
	expect_value(p, TUNABLE_NETDEV_BUDGET, "700");
	/* A setting's own on_foreign beats the general one, wherever it stands. */
	ck_assert_int_eq(p->setting[TUNABLE_NETDEV_BUDGET].on_foreign, ON_FOREIGN_YIELD);
	ck_assert_int_eq(p->setting[TUNABLE_BUSY_POLL].on_foreign, ON_FOREIGN_ENFORCE);
	ck_assert_int_eq(profile_nic_rule(p, "eth0")->placement, PLACEMENT_PACK);
	ck_assert_int_eq(profile_nic_rule(p, "eth1")->placement, PLACEMENT_SPREAD);
}
END_TEST

START_TEST(inherited_rules_can_be_forgotten)
{
	_cleanup_(profile_freep) struct profile *p = NULL;

	tree_write(t.tree, "vendor/profiles/base.conf",
		   "nics = ( { match = \"eth0\"; placement = \"pack\"; } );");
	tree_write(t.tree, "vendor/profiles/x.conf", "inherits = \"base\"; nics = ();");
	p = load("x");
	ck_assert_uint_eq(p->n_nics, 0);
}
END_TEST

START_TEST(inherit_loops)
{
	char name[32], text[64];

	tree_write(t.tree, "vendor/profiles/a.conf", "\ninherits = \"b\";");
	tree_write(t.tree, "vendor/profiles/b.conf", "inherits = \"c\";");
	tree_write(t.tree, "vendor/profiles/c.conf", "inherits = \"b\";");
	tree_write(t.tree, "vendor/profiles/self.conf", "inherits = \"self\";");
	refuse("a", -ELOOP);
	expect_complaint(&t, "c.conf", 1, "inherit each other: b → c → b");
	refuse("self", -ELOOP);
	expect_complaint(&t, "self.conf", 1, "self → self");
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "vendor/profiles/n%d.conf", i);
		snprintf(text, sizeof(text), "inherits = \"n%d\";", i + 1);
		tree_write(t.tree, name, text);
	}
	refuse("n0", -ELOOP);
	expect_complaint(&t, "n7.conf", 1, "more than 8 profiles");
}
END_TEST

/* H07, tuned#851: a profile that does not exist is a loud error that helps. */
START_TEST(unknown_profiles)
{
	static const char *const strange[] = {"",   ".",   "..",       "../x",   "/etc/passwd",
					      "-x", "a b", "\x1b[31m", "x/../x", "\xff",
					      NULL};
	char longest[CONF_NAME_MAX + 2];

	refuse("balanced", -ENOENT);
	expect_complaint(&t, NULL, 0, "there is no profile balanced, nor any other (--config-dir");
	tree_write(t.tree, "vendor/profiles/balanced.conf", "busy_poll = 0;");
	tree_write(t.tree, "vendor/profiles/x.conf", "\n\ninherits = \"balancd\";");
	refuse("balancd", -ENOENT);
	expect_complaint(&t, NULL, 0, "did you mean balanced?");
	refuse("x", -EINVAL);
	expect_complaint(&t, "x.conf", 3, "there is no profile balancd; did you mean balanced?");
	for (const char *const *s = strange; *s; s++) {
		refuse(*s, -ENOENT);
		expect_complaint(&t, NULL, 0, "not the name of a profile");
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	refuse(longest, -ENOENT);
	/* one less is a name */
	longest[sizeof(longest) - 2] = '\0';
	tree_printf(t.tree, "vendor/profiles/long.conf", "inherits = \"%s\";", longest);
	refuse("long", -EINVAL);
	expect_complaint(&t, "long.conf", 1, "there is no profile aaaa");
}
END_TEST

START_TEST(lists)
{
	_cleanup_(strv_freep) char **names = NULL, **none = NULL;
	static const char *const nowhere[] = {"/nonexistent", NULL};

	tree_write(t.tree, "vendor/profiles/b.conf", "busy_poll = 0;");
	tree_write(t.tree, "vendor/profiles/c.conf", "busy_poll = 0;");
	tree_link(t.tree, "etc/profiles/c.conf", "/dev/null");
	tree_write(t.tree, "etc/profiles/a.conf", "busy_poll = 0;");
	tree_write(t.tree, "etc/profiles/b.conf", "busy_poll = 0;");
	tree_write(t.tree, "run/profiles/masked.conf", "");
	tree_write(t.tree, "run/profiles/README", "x");
	tree_write(t.tree, "run/profiles/b.conf.d/x.conf", "busy_poll = 0;");
	ck_assert_int_eq(profile_list(t.dirs, &names), 0);
	ck_assert_str_eq(names[0], "a");
	ck_assert_str_eq(names[1], "b");
	ck_assert_ptr_null(names[2]);
	ck_assert_int_eq(profile_list(nowhere, &none), 0);
	ck_assert_ptr_null(none[0]);
}
END_TEST

START_TEST(one_file_alone)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	char path[512];
	int r;

	tree_write(t.tree, "vendor/profiles/base.conf", "busy_poll = 7;");
	tree_write(t.tree, "etc/profiles/mine.conf.d/10.conf", "busy_poll = 8;");
	tree_write(t.tree, "mine.conf", "inherits = \"base\"; busy_read = 5;");
	snprintf(path, sizeof(path), "%s/mine.conf", tree_path(t.tree));
	r = profile_load_file(t.dirs, path, &p, &t.complaints);
	expect_silence(&t);
	ck_assert_int_eq(r, 0);
	ck_assert_str_eq(p->name, "mine");
	ck_assert_str_eq(p->file, path);
	expect_value(p, TUNABLE_BUSY_POLL, "7");
	expect_value(p, TUNABLE_BUSY_READ, "5");

	/* As it would be once installed: it inherits itself. */
	tree_write(t.tree, "mine.conf", "inherits = \"mine\";");
	tree_write(t.tree, "vendor/profiles/mine.conf", "busy_poll = 7;");
	ck_assert_int_eq(profile_load_file(t.dirs, path, &p, &t.complaints), -ELOOP);
	tree_remove(t.tree, "mine.conf");
	ck_assert_int_eq(profile_load_file(t.dirs, path, &p, &t.complaints), -ENOENT);
	expect_complaint(&t, "mine.conf", 0, "cannot be read: No such file");
	expect_value(p, TUNABLE_BUSY_POLL, "7"); /* untouched by both failures */
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, every_form_of_a_value);
	tcase_add_test(c, nic_rules);
	tcase_add_test(c, match_rules);
	tcase_add_test(c, profiles_that_match);
	tcase_add_loop_test(c, refusals, 0, (int)ELEMENTSOF(refused));
	tcase_add_test(c, harmless);
	tcase_add_test(c, long_words_are_quoted_whole);
	tcase_add_test(c, all_complaints_are_collected);
	tcase_add_test(c, hostile_files);
	tcase_add_test(c, unreadable_files);
	tcase_add_test(c, stronger_directories_mask);
	tcase_add_test(c, drop_ins);
	tcase_add_test(c, inheritance);
	tcase_add_test(c, inherited_rules_can_be_forgotten);
	tcase_add_test(c, inherit_loops);
	tcase_add_test(c, unknown_profiles);
	tcase_add_test(c, lists);
	tcase_add_test(c, one_file_alone);
	return run_suite("profile", c);
}
