/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which writes are possible here, asked without writing. */
#include <check.h>
#include <sys/stat.h>

#include "act/selftest.h"
#include "lib/act-host.h"
#include "lib/run.h"

static struct act_host *h;
static struct fault_io *f;
static struct selftest s;

static void setup(void)
{
	h = act_host_new(EPP_FREE);
	f = fault_io_new(&h->io);
}

static void teardown(void)
{
	fault_io_free(f);
	act_host_free(h);
}

/* Runs it, and nothing was written whatever it found. */
static void run(void)
{
	_cleanup_free_ char *before = host_dump(h);

	fault_io_reset(f);
	selftest_run(&f->io, h->topology, &s);
	for (unsigned kind = 0; kind < _FAULT_MAX; kind++)
		if (FAULT_WRITES & FAULT_BIT(kind))
			ck_assert_uint_eq(f->count[kind], 0);
	ck_assert_uint_gt(f->count[FAULT_OPEN], 0);
	ck_assert_uint_eq(h->writes, 0);
	host_expect(h, before, "after the self-test");
}

static void expect(enum tunable_id id, unsigned possible, unsigned refused)
{
	ck_assert_msg(s.setting[id].possible == possible && s.setting[id].refused == refused,
		      "%s: %u possible, %u refused", tunables[id].id, s.setting[id].possible,
		      s.setting[id].refused);
}

START_TEST(test_all_possible)
{
	char text[256];

	run();
	expect(TUNABLE_NETDEV_BUDGET, 1, 0);
	expect(TUNABLE_IRQ_AFFINITY, 3, 0);
	expect(TUNABLE_GOVERNOR, 2, 0);
	expect(TUNABLE_ENERGY_PREFERENCE, 2, 0);
	/* Not on this host: neither possible nor refused. */
	expect(TUNABLE_SOFTIRQ_TIME_US, 0, 0);
	for (unsigned i = 0; i < _TUNABLE_MAX; i++)
		ck_assert(!selftest_refusal(&s, i, text, sizeof(text)));
}
END_TEST

/* A container: /proc/sys read-only, and with it everything but what the network namespace has. */
START_TEST(test_read_only)
{
	char text[256];

	f->kinds = FAULT_BIT(FAULT_OPEN);
	f->pattern = "proc/irq/*";
	f->error = EROFS;
	run();
	expect(TUNABLE_NETDEV_BUDGET, 1, 0);
	expect(TUNABLE_IRQ_AFFINITY, 0, 3);
	expect(TUNABLE_GOVERNOR, 2, 0);
	ck_assert(selftest_refusal(&s, TUNABLE_IRQ_AFFINITY, text, sizeof(text)));
	ck_assert_str_eq(text, "irq_affinity (3 of 3): Read-only file system "
			       "(/proc/irq/30/smp_affinity_list)");
}
END_TEST

START_TEST(test_some_refused)
{
	char text[256];

	f->kinds = FAULT_BIT(FAULT_OPEN);
	f->pattern = "*policy2/scaling_governor";
	f->error = EACCES;
	run();
	expect(TUNABLE_GOVERNOR, 1, 1);
	expect(TUNABLE_ENERGY_PREFERENCE, 2, 0);
	ck_assert(selftest_refusal(&s, TUNABLE_GOVERNOR, text, sizeof(text)));
	ck_assert_ptr_nonnull(strstr(text, "governor (1 of 2): Permission denied (/sys/devices/"));
}
END_TEST

/* An interrupt that the kernel places is not refused: nobody is meant to write it. */
START_TEST(test_managed_interrupt)
{
	tree_mode(h->tree, "proc/irq/31/smp_affinity_list", 0444);
	run();
	expect(TUNABLE_IRQ_AFFINITY, 2, 0);
}
END_TEST

/* A file that goes between being named and being opened is a setting that is not there. */
START_TEST(test_vanished)
{
	tree_remove(h->tree, "proc/sys/net/core/dev_weight");
	run();
	expect(TUNABLE_DEV_WEIGHT, 0, 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("selftest");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_all_possible);
	tcase_add_test(t, test_read_only);
	tcase_add_test(t, test_some_refused);
	tcase_add_test(t, test_managed_interrupt);
	tcase_add_test(t, test_vanished);
	return run_suite("selftest", t);
}
