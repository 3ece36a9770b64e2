/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <stdio.h>

#include "base/log.h"
#include "lib/act-host.h"
#include "lib/silent.h"

#define CORE   "proc/sys/net/core/"
#define POLICY "sys/devices/system/cpu/cpufreq/policy"
#define LEDGER "run/softnetd/ledger.json"

static struct act_host *h;
static char *original;
static struct restore_report report;

static void setup(void)
{
	h = act_host_new(EPP_INTEL);
	original = host_dump(h);
}

static void teardown(void)
{
	restore_report_done(&report);
	free(original);
	act_host_free(h);
}

static void apply(enum tunable_id id, struct target target, const char *to)
{
	struct change c = host_change(id, target, to);
	struct act_session s;
	struct result ret;

	ck_assert_int_eq(act_session_open(&h->io, &s), 0);
	ck_assert_int_eq(act_apply(s.actuator, h->topology, &c, ON_FOREIGN_YIELD, &ret), 0);
	act_session_close(&s);
}

static int restore(void)
{
	restore_report_done(&report);
	return host_restore(h, &h->io, &report);
}

static const struct restore_item *item(enum tunable_id id)
{
	for (size_t i = 0; i < report.n; i++)
		if (report.item[i].tunable == id)
			return &report.item[i];
	ck_abort_msg("no item for %u", id);
	return NULL;
}

static void expect(const char *path, const char *value)
{
	_cleanup_free_ char *now = tree_read(h->tree, path);

	ck_assert_msg(streq(now, value), "%s is \"%s\", not \"%s\"", path, now, value);
}

/* H05: restore is what stop and the next start do, and every line can be printed. */
START_TEST(case_h05_everything_comes_back)
{
	host_cycle(h, &h->io, NULL);
	ck_assert_int_eq(restore(), 0);
	ck_assert_uint_eq(report.failed, 0);
	/* budget, two interrupts, a pair, an EPP; the rest was back before */
	ck_assert_uint_eq(report.n, 7);
	for (size_t i = 0; i < report.n; i++) {
		ck_assert_int_eq(report.item[i].verdict, RESTORE_WRITTEN);
		ck_assert_str_eq(report.item[i].setting, tunables[report.item[i].tunable].id);
		ck_assert(*report.item[i].text && *report.item[i].identity);
	}
	host_expect(h, original, "restore");
	host_expect_no_ledger(h, "restore");
	ck_assert_int_eq(restore(), 0);
	ck_assert_uint_eq(report.n, 0);
}
END_TEST

/* lpmd#126: the second time as the first. */
START_TEST(again_and_again)
{
	for (int i = 0; i < 5; i++) {
		host_cycle(h, &h->io, NULL);
		ck_assert_int_eq(restore(), 0);
		host_expect(h, original, "restore");
		host_expect_no_ledger(h, "restore");
	}
}
END_TEST

START_TEST(three_ways)
{
	apply(TUNABLE_NETDEV_BUDGET, target_host(), "450");
	apply(TUNABLE_DEV_WEIGHT, target_host(), "128");
	apply(TUNABLE_BUSY_POLL, target_host(), "50");
	tree_write(h->tree, CORE "dev_weight", "64\n"); /* somebody put it back */
	tree_write(h->tree, CORE "busy_poll", "25\n");  /* somebody wants something else */
	strcpy(h->topology->rivals, "tuned");
	ck_assert_int_eq(restore(), 0);
	ck_assert_int_eq(item(TUNABLE_NETDEV_BUDGET)->verdict, RESTORE_WRITTEN);
	ck_assert_str_eq(item(TUNABLE_NETDEV_BUDGET)->now, "450");
	ck_assert_str_eq(item(TUNABLE_NETDEV_BUDGET)->original, "300");
	ck_assert_int_eq(item(TUNABLE_DEV_WEIGHT)->verdict, RESTORE_WAS_SO);
	ck_assert_int_eq(item(TUNABLE_BUSY_POLL)->verdict, RESTORE_FOREIGN);
	ck_assert_ptr_nonnull(strstr(item(TUNABLE_BUSY_POLL)->text, "tuned"));
	ck_assert_ptr_nonnull(strstr(item(TUNABLE_BUSY_POLL)->text, "25"));
	expect(CORE "netdev_budget", "300");
	expect(CORE "busy_poll", "25");
	host_expect_no_ledger(h, "three ways");
	/* the last changed first */
	ck_assert_int_eq(report.item[0].tunable, TUNABLE_BUSY_POLL);
	ck_assert_int_eq(report.item[2].tunable, TUNABLE_NETDEV_BUDGET);
}
END_TEST

START_TEST(what_is_gone_is_skipped)
{
	apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "1");
	apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 32), "3");
	/* The driver was reset: 31 is a disk's now; 32 is somewhere else, with our value. */
	snprintf(h->topology->irq[1].identity, IDENTITY_MAX, "devices/pci|nvme0q1");
	h->topology->irq[2].number = 40;
	tree_write(h->tree, "proc/irq/40/smp_affinity_list", "3\n");
	tree_write(h->tree, "sys/kernel/irq/40/actions", "eth0-TxRx-2\n");
	tree_remove(h->tree, "proc/irq/32");
	ck_assert_int_eq(restore(), 0);
	ck_assert_uint_eq(report.n, 2);
	ck_assert_int_eq(report.item[0].verdict, RESTORE_WRITTEN);
	ck_assert_int_eq(report.item[1].verdict, RESTORE_GONE);
	expect("proc/irq/31/smp_affinity_list", "1"); /* never written to */
	expect("proc/irq/40/smp_affinity_list", "1");
	host_expect_no_ledger(h, "gone");
}
END_TEST

/* After hotplug a policy of that number may be one of other CPUs: it never was ours. */
START_TEST(a_reused_policy_number_is_not_written)
{
	struct policy *p = &h->topology->policy[0];

	apply(TUNABLE_GOVERNOR, host_policy(h, 0), "performance");
	cpuset_remove(&p->cpus, 1);
	snprintf(p->identity, sizeof(p->identity), "cpus:0");
	ck_assert_int_eq(restore(), 0);
	ck_assert_int_eq(item(TUNABLE_GOVERNOR)->verdict, RESTORE_GONE);
	expect(POLICY "0/scaling_governor", "performance");
	host_expect_no_ledger(h, "reused");
}
END_TEST

/* A broken sysfs shows no interrupts at all: that proves nothing, so the entry is kept. */
START_TEST(a_blind_topology_drops_nothing)
{
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&h->io);
	unsigned n = h->topology->n_irqs;

	apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "1");
	h->topology->n_irqs = 0;
	f->kinds = FAULT_BIT(FAULT_LIST);
	f->error = EACCES;
	ck_assert_int_lt(host_restore(h, &f->io, &report), 0);
	ck_assert_int_eq(report.item[0].verdict, RESTORE_FAILED);
	ck_assert(tree_has(h->tree, LEDGER));
	h->topology->n_irqs = n;
	ck_assert_int_eq(restore(), 0);
	host_expect(h, original, "seeing again");
}
END_TEST

START_TEST(another_boot)
{
	apply(TUNABLE_NETDEV_BUDGET, target_host(), "450");
	tree_write(h->tree, "proc/sys/kernel/random/boot_id", "other\n");
	ck_assert_int_eq(restore(), 0);
	ck_assert_int_eq(item(TUNABLE_NETDEV_BUDGET)->verdict, RESTORE_GONE);
	ck_assert_ptr_nonnull(strstr(item(TUNABLE_NETDEV_BUDGET)->text, "boot"));
	/* sysctl.d may well say 450 in this boot */
	expect(CORE "netdev_budget", "450");
	host_expect_no_ledger(h, "another boot");
}
END_TEST

START_TEST(a_newer_softnetds_entry_is_kept)
{
	_cleanup_free_ char *text = NULL;
	char *name;

	apply(TUNABLE_NETDEV_BUDGET, target_host(), "450");
	text = tree_read(h->tree, LEDGER);
	name = strstr(text, "\"netdev_budget\"");
	ck_assert_ptr_nonnull(name);
	memcpy(name, "\"netdev_wonder\"", strlen("\"netdev_wonder\""));
	tree_write(h->tree, LEDGER, text);
	apply(TUNABLE_DEV_WEIGHT, target_host(), "128");
	ck_assert_int_eq(restore(), -EOPNOTSUPP);
	ck_assert_uint_eq(report.failed, 1);
	ck_assert_uint_eq(report.n, 2);
	ck_assert_int_eq(report.item[1].tunable, _TUNABLE_MAX);
	ck_assert_str_eq(report.item[1].setting, "netdev_wonder");
	ck_assert_int_eq(report.item[1].verdict, RESTORE_FAILED);
	expect(CORE "dev_weight", "64");
	ck_assert(tree_has(h->tree, LEDGER));
}
END_TEST

START_TEST(what_cannot_be_written_now_is_kept)
{
	static const int errors[] = {EIO, EPERM, EROFS, EBUSY, ENOSPC, EINVAL, EACCES};
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&h->io);

	apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "1");
	apply(TUNABLE_NETDEV_BUDGET, target_host(), "450");
	f->pattern = "proc/irq/31/*";
	f->kinds = FAULT_BIT(FAULT_STORE);
	for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
		f->error = errors[i];
		restore_report_done(&report);
		ck_assert_int_eq(host_restore(h, &f->io, &report), -errors[i]);
		ck_assert_int_eq(item(TUNABLE_IRQ_AFFINITY)->verdict, RESTORE_FAILED);
		ck_assert_uint_eq(report.failed, 1);
		/* one that fails keeps none of the others */
		expect(CORE "netdev_budget", "300");
		ck_assert(tree_has(h->tree, LEDGER));
	}
	ck_assert_int_eq(restore(), 0);
	host_expect(h, original, "errors over");
	host_expect_no_ledger(h, "errors over");
}
END_TEST

/* A full /run does not keep the host from its originals. */
START_TEST(full_disk)
{
	static const int errors[] = {ENOSPC, EROFS, EIO};
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&h->io);

	f->pattern = "run/*";
	f->kinds = FAULT_WRITES;
	for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
		f->error = errors[i];
		host_cycle(h, &h->io, NULL);
		restore_report_done(&report);
		ck_assert_int_eq(host_restore(h, &f->io, &report), -errors[i]);
		ck_assert_uint_eq(report.failed, 0);
		host_expect(h, original, "full disk");
		/* the ledger is still the old one, and finds nothing to do */
		ck_assert_int_eq(restore(), 0);
		host_expect(h, original, "room again");
		host_expect_no_ledger(h, "room again");
	}
}
END_TEST

START_TEST(inactive_policy_waits)
{
	apply(TUNABLE_GOVERNOR, host_policy(h, 2), "powersave");
	h->topology->policy[1].active = false;
	ck_assert_int_eq(restore(), -ENXIO);
	ck_assert_ptr_nonnull(strstr(item(TUNABLE_GOVERNOR)->text, "offline"));
	h->topology->policy[1].active = true;
	ck_assert_int_eq(restore(), 0);
	host_expect(h, original, "online again");
}
END_TEST

/* An EPP of ours under somebody else's governor `performance`: EBUSY for good. */
START_TEST(epp_under_a_foreign_governor)
{
	apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "performance");
	tree_write(h->tree, POLICY "0/scaling_governor", "performance\n");
	ck_assert_int_eq(restore(), 0);
	ck_assert_int_eq(item(TUNABLE_ENERGY_PREFERENCE)->verdict, RESTORE_FOREIGN);
	ck_assert_ptr_nonnull(strstr(item(TUNABLE_ENERGY_PREFERENCE)->text, "governor"));
	host_expect_no_ledger(h, "foreign governor");
}
END_TEST

/* A killed daemon had written the second value to the ledger, but not yet to the kernel. */
START_TEST(between_two_writes)
{
	struct change c = host_change(TUNABLE_NETDEV_BUDGET, target_host(), "675");
	struct act_session s;

	apply(TUNABLE_NETDEV_BUDGET, target_host(), "450");
	ck_assert_int_eq(act_session_open(&h->io, &s), 0);
	ck_assert_int_eq(ledger_enter(s.ledger, &c, "450", "675"), 0);
	act_session_close(&s);
	ck_assert_int_eq(restore(), 0);
	ck_assert_int_eq(item(TUNABLE_NETDEV_BUDGET)->verdict, RESTORE_WRITTEN);
	host_expect(h, original, "between two writes");
}
END_TEST

START_TEST(dry_restore)
{
	_cleanup_(actuator_freep) struct actuator *dry = NULL;
	_cleanup_(ledger_freep) struct ledger *l = NULL;
	_cleanup_free_ char *changed = NULL;

	host_cycle(h, &h->io, NULL);
	changed = host_dump(h);
	ck_assert_int_eq(ledger_open(&h->io, false, NULL, &l), 0);
	ck_assert_int_eq(actuator_new(&h->io, l, ACT_DRY_RUN, &dry), 0);
	ck_assert_int_eq(restore_all(dry, l, h->topology, &report), 0);
	ck_assert_uint_eq(report.n, 7);
	host_expect(h, changed, "dry restore");
	ck_assert_uint_eq(ledger_size(l), 7);
	ck_assert(tree_has(h->tree, LEDGER));
}
END_TEST

START_TEST(verdicts_have_names)
{
	ck_assert_str_eq(restore_verdict_to_string(RESTORE_WRITTEN), "written");
	ck_assert_str_eq(restore_verdict_to_string(RESTORE_WAS_SO), "was-so");
	ck_assert_str_eq(restore_verdict_to_string(RESTORE_FOREIGN), "foreign");
	ck_assert_str_eq(restore_verdict_to_string(RESTORE_GONE), "gone");
	ck_assert_str_eq(restore_verdict_to_string(RESTORE_FAILED), "failed");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("restore");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	log_set_hook(silent, NULL);
	host_use_memory();
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, case_h05_everything_comes_back);
	tcase_add_test(t, again_and_again);
	tcase_add_test(t, three_ways);
	tcase_add_test(t, what_is_gone_is_skipped);
	tcase_add_test(t, a_reused_policy_number_is_not_written);
	tcase_add_test(t, a_blind_topology_drops_nothing);
	tcase_add_test(t, another_boot);
	tcase_add_test(t, a_newer_softnetds_entry_is_kept);
	tcase_add_test(t, what_cannot_be_written_now_is_kept);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, inactive_policy_waits);
	tcase_add_test(t, epp_under_a_foreign_governor);
	tcase_add_test(t, between_two_writes);
	tcase_add_test(t, dry_restore);
	tcase_add_test(t, verdicts_have_names);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
