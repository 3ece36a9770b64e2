/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The road of a change, and each way it can end; the cases of kinds d, e, f and h about writing. */
#include <check.h>
#include <stdio.h>

#include "base/log.h"
#include "lib/act-host.h"
#include "lib/silent.h"

#define CORE   "proc/sys/net/core/"
#define POLICY "sys/devices/system/cpu/cpufreq/policy"

/* One of each, in a fixture, so that a test is what it says. */
static struct act_host *h;
static struct act_session s;
static struct fault_io *f;
static struct result ret, pair[2];

static void open_host(enum epp_kind epp)
{
	h = act_host_new(epp);
	f = fault_io_new(&h->io);
	ck_assert_int_eq(act_session_open(&f->io, &s), 0);
}

static void setup(void)
{
	open_host(EPP_INTEL);
}

static void close_host(void)
{
	act_session_close(&s);
	fault_io_free(f);
	act_host_free(h);
}

static void reopen_host(enum epp_kind epp)
{
	close_host();
	open_host(epp);
}

static int apply_as(enum change_class class, enum tunable_id id, struct target target,
		    const char *to, enum on_foreign on_foreign)
{
	struct change c = host_change(id, target, to);
	int r;

	c.class = class;
	r = act_apply(s.actuator, h->topology, &c, on_foreign, &ret);
	ck_assert_int_eq(r, ret.error);
	ck_assert_msg(*ret.text, "an outcome without a text");
	return r;
}

static int apply(enum tunable_id id, struct target target, const char *to)
{
	return apply_as(CLASS_POLICY, id, target, to, ON_FOREIGN_YIELD);
}

static int apply_pair(unsigned policy, const char *governor, const char *epp)
{
	struct change c[2] = {
		host_change(TUNABLE_GOVERNOR, host_policy(h, policy), governor),
		host_change(TUNABLE_ENERGY_PREFERENCE, host_policy(h, policy), epp),
	};

	return act_apply_coupled(s.actuator, h->topology, c, 2, ON_FOREIGN_YIELD, pair);
}

static int release(enum tunable_id id, struct target target)
{
	return act_release(s.actuator, h->topology, id, &target, &ret);
}

static void expect(const char *path, const char *value)
{
	_cleanup_free_ char *now = tree_read(h->tree, path);

	ck_assert_msg(streq(now, value), "%s is \"%s\", not \"%s\" (%s)", path, now, value,
		      ret.text);
}

static const struct ledger_entry *entry(enum tunable_id id, struct target target)
{
	return ledger_find(s.ledger, id, target.identity);
}

#define expect_outcome(o)                                                                   \
	ck_assert_msg(ret.outcome == (o), "%s, not %s: %s", outcome_to_string(ret.outcome), \
		      outcome_to_string(o), ret.text)
#define expect_text(part) \
	ck_assert_msg(strstr(ret.text, part), "no \"%s\" in \"%s\"", part, ret.text)

START_TEST(a_setting_is_changed_and_given_back)
{
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "450"), 0);
	expect_outcome(OUTCOME_DONE);
	ck_assert_str_eq(ret.value, "450");
	expect(CORE "netdev_budget", "450");
	ck_assert_str_eq(entry(TUNABLE_NETDEV_BUDGET, target_host())->original, "300");
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "675"), 0);
	ck_assert_str_eq(entry(TUNABLE_NETDEV_BUDGET, target_host())->original, "300");
	ck_assert_str_eq(entry(TUNABLE_NETDEV_BUDGET, target_host())->written, "675");
	ck_assert_ptr_null(entry(TUNABLE_NETDEV_BUDGET, target_host())->previous);
	ck_assert_int_eq(release(TUNABLE_NETDEV_BUDGET, target_host()), 0);
	expect_outcome(OUTCOME_DONE);
	expect(CORE "netdev_budget", "300");
	ck_assert_ptr_null(entry(TUNABLE_NETDEV_BUDGET, target_host()));
	ck_assert_int_eq(release(TUNABLE_NETDEV_BUDGET, target_host()), 0);
	expect_outcome(OUTCOME_UNCHANGED);
}
END_TEST

/* tuned#98, #184: what is equal in another spelling is not written. */
START_TEST(equal_is_not_written)
{
	tree_write(h->tree, "proc/irq/30/smp_affinity_list", "0,1,2,3\n");
	fault_io_reset(f);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), " 300\n"), 0);
	expect_outcome(OUTCOME_UNCHANGED);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "0-3"), 0);
	expect_outcome(OUTCOME_UNCHANGED);
	ck_assert_uint_eq(f->count[FAULT_STORE] + f->count[FAULT_WRITE] + f->count[FAULT_RENAME],
			  0);
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
}
END_TEST

/* The original is on disk before the write, and one store is all that is made. */
START_TEST(ledger_first)
{
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = EIO;
	f->at = 1;
	fault_io_reset(f);
	ck_assert_int_eq(apply(TUNABLE_DEV_WEIGHT, target_host(), "128"), -EIO);
	ck_assert_uint_ge(f->count[FAULT_SYNC], 2);
	expect(CORE "dev_weight", "64");
	ck_assert_uint_eq(ledger_size(s.ledger), 0); /* taken back */
	ck_assert(!tree_has(h->tree, "run/softnetd/ledger.json"));
	fault_io_reset(f);
	f->error = 0;
	ck_assert_int_eq(apply(TUNABLE_DEV_WEIGHT, target_host(), "128"), 0);
	ck_assert_uint_eq(f->count[FAULT_STORE], 1);
}
END_TEST

START_TEST(no_ledger_no_change)
{
	_cleanup_free_ char *original = host_dump(h);

	f->pattern = "run/*";
	f->kinds = FAULT_BIT(FAULT_WRITE);
	f->error = ENOSPC;
	ck_assert_int_eq(apply(TUNABLE_DEV_WEIGHT, target_host(), "128"), -ENOSPC);
	expect_outcome(OUTCOME_REFUSED);
	expect_text("ledger");
	ck_assert_int_eq(apply_pair(0, "performance", "performance"), -ENOSPC);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), -ENOSPC);
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	host_expect(h, original, "full disk");
}
END_TEST

START_TEST(dry_run_changes_nothing)
{
	_cleanup_(actuator_freep) struct actuator *dry = NULL;
	_cleanup_free_ char *original = host_dump(h), *changed = NULL;
	struct change c = host_change(TUNABLE_NETDEV_BUDGET, target_host(), "450");
	struct target host = target_host();

	ck_assert_int_eq(actuator_new(&f->io, s.ledger, ACT_DRY_RUN, &dry), 0);
	ck_assert_int_eq(act_apply(dry, h->topology, &c, ON_FOREIGN_YIELD, &ret), 0);
	expect_outcome(OUTCOME_ADVISED);
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	host_expect(h, original, "dry run");
	/* and what a real one did is not undone, nor somebody else's change answered */
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "450"), 0);
	changed = host_dump(h);
	ck_assert_int_eq(act_release(dry, h->topology, c.tunable, &host, &ret), 0);
	expect_outcome(OUTCOME_ADVISED);
	host_expect(h, changed, "dry release");
	tree_write(h->tree, CORE "netdev_budget", "999\n");
	strcpy(c.to, "675");
	ck_assert_int_eq(act_apply(dry, h->topology, &c, ON_FOREIGN_YIELD, &ret), -EPERM);
	expect_outcome(OUTCOME_FOREIGN);
	ck_assert_ptr_nonnull(entry(TUNABLE_NETDEV_BUDGET, target_host()));
	/* the profile forbids it: the same in apply mode */
	c.advice_only = true;
	ck_assert_int_eq(act_apply(s.actuator, h->topology, &c, ON_FOREIGN_ENFORCE, &ret), 0);
	expect_outcome(OUTCOME_ADVISED);
	expect(CORE "netdev_budget", "999");
}
END_TEST

START_TEST(hard_caps)
{
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "100000"), -ERANGE);
	expect_outcome(OUTCOME_REFUSED);
	expect_text("8192");
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "1"), -ERANGE);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "many"), -EINVAL);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), ""), -EINVAL);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "450; reboot"), -EINVAL);
	expect(CORE "netdev_budget", "300");
}
END_TEST

/* F09: hosts start with 50000-60000; that is left, or given back exactly, beyond every cap. */
START_TEST(case_f09_wild_originals_come_back)
{
	tree_write(h->tree, CORE "netdev_budget", "50000\n");
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "50000"), 0);
	expect_outcome(OUTCOME_UNCHANGED);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "8192"), 0);
	/* A trial that is taken back is a change to the original, too. */
	ck_assert_int_eq(apply_as(CLASS_RESTORE, TUNABLE_NETDEV_BUDGET, target_host(), "50000",
				  ON_FOREIGN_YIELD),
			 0);
	expect_outcome(OUTCOME_DONE);
	expect(CORE "netdev_budget", "50000");
	ck_assert_ptr_null(entry(TUNABLE_NETDEV_BUDGET, target_host()));
}
END_TEST

/* F14: the limit is learned from EINVAL, and nothing at or beyond it is tried again. */
START_TEST(case_f14_learned_limits)
{
	int64_t low, high;

	h->backlog_ceiling = 5000;
	ck_assert(!act_learned_limit(s.actuator, TUNABLE_NETDEV_MAX_BACKLOG, &low, &high));
	ck_assert_int_eq(apply(TUNABLE_NETDEV_MAX_BACKLOG, target_host(), "8000"), -EINVAL);
	expect_outcome(OUTCOME_REFUSED);
	ck_assert(!ret.known);
	ck_assert(act_learned_limit(s.actuator, TUNABLE_NETDEV_MAX_BACKLOG, &low, &high));
	ck_assert_int_eq(high, 1000);
	ck_assert_int_eq(low, tunables[TUNABLE_NETDEV_MAX_BACKLOG].min);
	fault_io_reset(f);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_MAX_BACKLOG, target_host(), "8000"), -EINVAL);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_MAX_BACKLOG, target_host(), "9000"), -EINVAL);
	ck_assert(ret.known);
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	/* Between the known good and the refused: an explicit wish tries, and the bound moves. */
	ck_assert_int_eq(apply(TUNABLE_NETDEV_MAX_BACKLOG, target_host(), "4000"), 0);
	act_learned_limit(s.actuator, TUNABLE_NETDEV_MAX_BACKLOG, &low, &high);
	ck_assert_int_eq(high, 4000);
	/* downwards: netdev_budget_usecs below two jiffies */
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET_USECS, target_host(), "4000"), -EINVAL);
	act_learned_limit(s.actuator, TUNABLE_NETDEV_BUDGET_USECS, &low, &high);
	ck_assert_int_eq(low, 8000);
	/* The host changed: a new kernel's view. */
	act_forget(s.actuator);
	h->backlog_ceiling = 0;
	ck_assert_int_eq(apply(TUNABLE_NETDEV_MAX_BACKLOG, target_host(), "8000"), 0);
}
END_TEST

/* F17: what one key says about writability says nothing about the next. */
START_TEST(case_f17_read_only_per_key)
{
	tree_write(h->tree, "proc/sys/kernel/softirq_max_restart", "10\n");
	f->pattern = "proc/sys/kernel/*";
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = EROFS;
	ck_assert_int_eq(apply(TUNABLE_SOFTIRQ_MAX_RESTART, target_host(), "20"), -EROFS);
	expect_outcome(OUTCOME_READ_ONLY);
	ck_assert(!ret.known);
	ck_assert_ptr_nonnull(act_family_blocked(s.actuator, TUNABLE_SOFTIRQ_MAX_RESTART));
	ck_assert_ptr_null(act_family_blocked(s.actuator, TUNABLE_NETDEV_BUDGET));
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "450"), 0);
	fault_io_reset(f);
	ck_assert_int_eq(apply(TUNABLE_SOFTIRQ_MAX_RESTART, target_host(), "30"), -EROFS);
	ck_assert(ret.known); /* said once */
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	f->error = 0;
	act_forget(s.actuator);
	ck_assert_int_eq(apply(TUNABLE_SOFTIRQ_MAX_RESTART, target_host(), "30"), 0);
}
END_TEST

/* Not root: one message for all interrupts, and no word about "managed". */
START_TEST(all_interrupts_are_read_only)
{
	f->pattern = "proc/irq/*";
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = EACCES;
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), -EACCES);
	expect_outcome(OUTCOME_READ_ONLY);
	fault_io_reset(f);
	ck_assert_int_lt(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "1"), 0);
	expect_outcome(OUTCOME_READ_ONLY);
	ck_assert(ret.known);
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	ck_assert(!act_is_managed(s.actuator, &(struct target){.identity = "x"}));
}
END_TEST

/* D01: EIO (6.1), EPERM (6.12): managed, remembered, never tried again. */
START_TEST(case_d01_eio_is_managed)
{
	const struct target irq = host_irq(h, 31);

	f->pattern = "proc/irq/31/*";
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = _i;
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, irq, "1"), -_i);
	expect_outcome(OUTCOME_MANAGED);
	ck_assert(!ret.known);
	ck_assert(act_is_managed(s.actuator, &irq));
	ck_assert_ptr_null(entry(TUNABLE_IRQ_AFFINITY, irq));
	f->error = 0;
	fault_io_reset(f);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_lt(apply(TUNABLE_IRQ_AFFINITY, irq, "1"), 0);
		expect_outcome(OUTCOME_MANAGED);
		ck_assert(ret.known);
	}
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	act_forget(s.actuator);
	ck_assert(!act_is_managed(s.actuator, &irq));
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, irq, "1"), 0);
}
END_TEST

/* D03: 6.12 takes the w away, and a service without CAP_DAC_OVERRIDE gets EACCES. */
START_TEST(case_d03_permission_denied_is_managed)
{
	h->topology->irq[1].managed = true;
	ck_assert_int_lt(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "1"), 0);
	expect_outcome(OUTCOME_MANAGED);
	/* The topology is older than the driver's reset. */
	h->topology->irq[1].managed = false;
	act_forget(s.actuator);
	tree_mode(h->tree, "proc/irq/31/smp_affinity_list", 0444);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "1"), 0);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "1"), -EACCES);
	expect_outcome(OUTCOME_MANAGED);
	ck_assert_ptr_null(act_family_blocked(s.actuator, TUNABLE_IRQ_AFFINITY));
}
END_TEST

/* D05: ENOSPC: the vectors of that CPU are used up; it is left for ten minutes. */
START_TEST(case_d05_vectors_used_up)
{
	f->pattern = "proc/irq/*";
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = ENOSPC;
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), -ENOSPC);
	expect_outcome(OUTCOME_REFUSED);
	expect_text("vectors");
	f->error = 0;
	fault_io_reset(f);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "2"), -ENOSPC);
	ck_assert(ret.known);
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	/* With another CPU beside it there is room. */
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "2-3"), 0);
	h->clock_usec += 601 * USEC_PER_SEC;
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), 0);
}
END_TEST

/* A move still in progress is no property of the interrupt. */
START_TEST(ebusy_is_tried_again)
{
	f->pattern = "proc/irq/*";
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = EBUSY;
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), -EBUSY);
	expect_outcome(OUTCOME_REFUSED);
	ck_assert(!ret.known);
	f->error = 0;
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), 0);
}
END_TEST

/* D09, E14: a rival moves it every minute: after three times it is theirs, said once. */
START_TEST(case_d09_a_fight_is_given_up)
{
	strcpy(h->topology->rivals, "irqbalance");
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(apply_as(CLASS_POLICY, TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2",
					  ON_FOREIGN_ENFORCE),
				 i == 2 ? -EPERM : 0);
		if (i < 2)
			ck_assert(ret.outcome == OUTCOME_DONE || ret.outcome == OUTCOME_PENDING);
		tree_write(h->tree, "proc/irq/30/smp_affinity_list", i % 2 ? "1\n" : "3\n");
		h->clock_usec += 60 * USEC_PER_SEC;
		if (i == 1) { /* the third foreign change is met by the next apply */
			tree_write(h->tree, "proc/irq/30/smp_affinity_list", "0\n");
			ck_assert_int_eq(apply_as(CLASS_POLICY, TUNABLE_IRQ_AFFINITY,
						  host_irq(h, 30), "2", ON_FOREIGN_ENFORCE),
					 0);
			tree_write(h->tree, "proc/irq/30/smp_affinity_list", "3\n");
		}
	}
	expect_outcome(OUTCOME_FOREIGN);
	expect_text("again and again");
	expect_text("irqbalance");
	ck_assert(!ret.known);
	ck_assert_ptr_null(entry(TUNABLE_IRQ_AFFINITY, host_irq(h, 30)));
	fault_io_reset(f);
	ck_assert_int_eq(apply_as(CLASS_POLICY, TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2",
				  ON_FOREIGN_ENFORCE),
			 -EPERM);
	ck_assert(ret.known);
	act_forget(s.actuator); /* a link event is no peace treaty */
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), -EPERM);
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	/* Only this setting is affected. */
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "2"), 0);
	/* The admin's word. */
	ck_assert_int_eq(apply_as(CLASS_MANUAL, TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2",
				  ON_FOREIGN_YIELD),
			 0);
	expect("proc/irq/30/smp_affinity_list", "2");
}
END_TEST

/* E14: TLP puts back what was the original; that is a fight, too. Slow changes are none. */
START_TEST(case_e14_the_original_put_back_again_and_again)
{
	int r = 0;
	unsigned times;

	for (times = 0; times < 10 && r >= 0; times++) {
		h->clock_usec += 301 * USEC_PER_SEC;
		r = apply(TUNABLE_NETDEV_BUDGET, target_host(), "450");
		tree_write(h->tree, CORE "netdev_budget", "300\n");
	}
	ck_assert_int_eq(r, 0);
	for (times = 0; times < 10 && r >= 0; times++) {
		h->clock_usec += 60 * USEC_PER_SEC;
		r = apply(TUNABLE_NETDEV_BUDGET, target_host(), "450");
		tree_write(h->tree, CORE "netdev_budget", "300\n");
	}
	ck_assert_int_eq(r, -EPERM);
	expect_outcome(OUTCOME_FOREIGN);
	ck_assert_uint_le(times, 3);
}
END_TEST

START_TEST(foreign_yield)
{
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "450"), 0);
	tree_write(h->tree, CORE "netdev_budget", "600\n");
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "675"), -EPERM);
	expect_outcome(OUTCOME_FOREIGN);
	expect_text("450");
	expect_text("600");
	expect_text("TuneD");
	ck_assert_str_eq(ret.value, "600");
	expect(CORE "netdev_budget", "600");
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "675"), -EPERM);
	ck_assert(ret.known);
	/* A profile that says enforce is another matter. */
	ck_assert_int_eq(apply_as(CLASS_POLICY, TUNABLE_NETDEV_BUDGET, target_host(), "675",
				  ON_FOREIGN_ENFORCE),
			 0);
	ck_assert_str_eq(entry(TUNABLE_NETDEV_BUDGET, target_host())->original, "600");
}
END_TEST

START_TEST(foreign_enforce_and_adopt)
{
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "450"), 0);
	tree_write(h->tree, CORE "netdev_budget", "600\n");
	ck_assert_int_eq(apply_as(CLASS_POLICY, TUNABLE_NETDEV_BUDGET, target_host(), "450",
				  ON_FOREIGN_ENFORCE),
			 0);
	expect(CORE "netdev_budget", "450");
	ck_assert_str_eq(entry(TUNABLE_NETDEV_BUDGET, target_host())->original, "300");

	ck_assert_int_eq(apply(TUNABLE_DEV_WEIGHT, target_host(), "128"), 0);
	tree_write(h->tree, CORE "dev_weight", "100\n");
	ck_assert_int_eq(
		apply_as(CLASS_POLICY, TUNABLE_DEV_WEIGHT, target_host(), "128", ON_FOREIGN_ADOPT),
		0);
	ck_assert_int_eq(release(TUNABLE_DEV_WEIGHT, target_host()), 0);
	expect(CORE "dev_weight", "100");

	/* by hand: what is there becomes the original */
	tree_write(h->tree, CORE "netdev_budget", "700\n");
	ck_assert_int_eq(apply_as(CLASS_MANUAL, TUNABLE_NETDEV_BUDGET, target_host(), "512",
				  ON_FOREIGN_YIELD),
			 0);
	ck_assert_int_eq(release(TUNABLE_NETDEV_BUDGET, target_host()), 0);
	expect(CORE "netdev_budget", "700");
}
END_TEST

/* D11: request_irq() at ifup gives the default mask: nobody's wish, and placed again. */
START_TEST(case_d11_a_driver_reset_is_nobody)
{
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 32), "3"), 0); /* was 1 */
	tree_write(h->tree, "proc/irq/32/smp_affinity_list", "0-3\n");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 32), "3"), 0);
	expect("proc/irq/32/smp_affinity_list", "3");
	ck_assert_str_eq(entry(TUNABLE_IRQ_AFFINITY, host_irq(h, 32))->original, "1");
}
END_TEST

/* tuned#215: a number that the kernel has given to another interrupt is never written. */
START_TEST(reused_irq_numbers)
{
	struct target old = host_irq(h, 31);

	/* In the topology: the identity leads to its new number. */
	h->topology->irq[1].number = 33;
	tree_write(h->tree, "proc/irq/33/smp_affinity_list", "0-3\n");
	tree_write(h->tree, "sys/kernel/irq/33/actions", "eth0-TxRx-1\n");
	tree_write(h->tree, "sys/kernel/irq/31/actions", "nvme0q1\n");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, old, "1"), 0);
	expect("proc/irq/33/smp_affinity_list", "1");
	expect("proc/irq/31/smp_affinity_list", "0,2-3");
	/* Behind the topology's back. */
	tree_write(h->tree, "sys/kernel/irq/30/actions", "nvme0q0\n");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "1"), -ENODEV);
	expect_outcome(OUTCOME_UNSUPPORTED);
	expect("proc/irq/30/smp_affinity_list", "0-3");
	/* Gone. */
	snprintf(old.identity, sizeof(old.identity), "devices/usb1|dongle");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, old, "1"), -ENODEV);
	/* Two of one name: whose original would it be? */
	strcpy(h->topology->irq[2].identity, h->topology->irq[0].identity);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "1"), -ENOTUNIQ);
	h->topology->irq[1].shared = true;
	tree_write(h->tree, "proc/irq/33/smp_affinity_list", "0-3\n");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 33), "1"), -EOPNOTSUPP);
}
END_TEST

/* D13: an empty list is no CPU, and never CPU 0. */
START_TEST(case_d13_no_cpu)
{
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), ""), -EINVAL);
	expect_outcome(OUTCOME_REFUSED);
	expect("proc/irq/30/smp_affinity_list", "0-3");
}
END_TEST

/* D15: one interrupt's error is its own; 840 others go on. */
START_TEST(case_d15_errors_are_per_interrupt)
{
	f->pattern = "proc/irq/31/*";
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = EIO;
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "1"), 0);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "1"), -EIO);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 32), "2"), 0);
	expect("proc/irq/32/smp_affinity_list", "2");
	ck_assert_uint_eq(ledger_size(s.ledger), 2);
}
END_TEST

/* D17: a mask of offline CPUs only. */
START_TEST(case_d17_offline_cpus)
{
	cpuset_remove(&h->topology->online, 3);
	fault_io_reset(f);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "3"), -EINVAL);
	expect_text("online");
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2-3"), 0);
	/* offline since the last look: the kernel says so */
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = EINVAL;
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "2"), -EINVAL);
	expect_text("online");
	f->error = 0; /* and it may come back */
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "2"), 0);
}
END_TEST

/* A CPU beyond nr_cpu_ids, which a list of another machine may have (kernel-facts 6.1). */
START_TEST(cpu_beyond_the_kernels)
{
	static const int errors[] = {ERANGE, EOVERFLOW};

	f->pattern = "proc/irq/*";
	f->kinds = FAULT_BIT(FAULT_STORE);
	for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
		f->error = errors[i];
		fault_io_reset(f);
		ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), -errors[i]);
		expect_outcome(OUTCOME_REFUSED);
		expect_text("no such CPU as in 2");
	}
}
END_TEST

/* A driver in active mode that lists governors it does not take (kernel-facts 6.2). */
START_TEST(governor_that_the_driver_does_not_take)
{
	f->pattern = "*scaling_governor";
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = EINVAL;
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "performance"), -EINVAL);
	expect_outcome(OUTCOME_REFUSED);
	expect_text("does not take performance in its present mode");
}
END_TEST

/* tuned#364: the mask is taken at once, the interrupt moves when it fires. */
START_TEST(pending_until_it_fires)
{
	struct irq *irq = &h->topology->irq[0];
	struct cpuset wished = cpuset_of(2);

	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), 0);
	expect_outcome(OUTCOME_PENDING);
	ck_assert_ptr_nonnull(entry(TUNABLE_IRQ_AFFINITY, host_irq(h, 30)));
	tree_write(h->tree, "proc/irq/31/effective_affinity_list", "2\n");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "2"), 0);
	expect_outcome(OUTCOME_DONE);
	tree_remove(h->tree, "proc/irq/32/effective_affinity_list");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 32), "2"), 0);
	expect_outcome(OUTCOME_DONE);

	ck_assert(act_irq_settled(irq, &wished)); /* this host cannot tell */
	irq->have_effective = true;
	ck_assert(!act_irq_settled(irq, &wished)); /* nowhere yet */
	irq->effective = cpuset_of(0);
	ck_assert(!act_irq_settled(irq, &wished));
	irq->effective = cpuset_of(2);
	ck_assert(act_irq_settled(irq, &wished));
	cpuset_add(&irq->effective, 3);
	ck_assert(!act_irq_settled(irq, &wished));
}
END_TEST

START_TEST(another_value_is_put_back)
{
	h->twist_path = "proc/irq/30/smp_affinity_list";
	h->twist_value = "1";
	/* The kernel makes it 1, whatever is written, the old value too. */
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), -EIO);
	expect_outcome(OUTCOME_DIFFERENT);
	expect_text("ledger");
	ck_assert_str_eq(ret.value, "1");
	ck_assert_str_eq(entry(TUNABLE_IRQ_AFFINITY, host_irq(h, 30))->written, "1");
	h->twist_path = NULL;
	ck_assert_int_eq(release(TUNABLE_IRQ_AFFINITY, host_irq(h, 30)), 0);
	expect("proc/irq/30/smp_affinity_list", "0-3");
}
END_TEST

/* A store that half succeeded is undone. */
START_TEST(short_store)
{
	h->writes = 0;
	h->short_at = 2; /* the ledger's, then the setting's */
	ck_assert_int_eq(apply(TUNABLE_NETDEV_MAX_BACKLOG, target_host(), "20000"), -EIO);
	expect_outcome(OUTCOME_REFUSED);
	ck_assert_uint_eq(h->stores, 2); /* the half, and the way back */
	expect(CORE "netdev_max_backlog", "1000");
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
}
END_TEST

START_TEST(settings_this_host_does_not_have)
{
	struct target policy = {.scope = SCOPE_POLICY, .number = 0, .identity = "cpus:0"};

	ck_assert_int_eq(apply(TUNABLE_SOFTIRQ_TIME_US, target_host(), "1000"), -ENOENT);
	expect_outcome(OUTCOME_UNSUPPORTED);
	tree_remove(h->tree, POLICY "0/energy_performance_preference");
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "power"), -ENOENT);
	expect_outcome(OUTCOME_UNSUPPORTED);
	/* E06: a VM without cpufreq has no such target at all */
	h->topology->n_policies = 0;
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, policy, "performance"), -ENODEV);
	expect_outcome(OUTCOME_UNSUPPORTED);
	h->topology->n_policies = 2;
	/* The wrong kind of target. */
	ck_assert_int_lt(apply(TUNABLE_NETDEV_BUDGET, host_irq(h, 30), "450"), 0);
	expect(CORE "netdev_budget", "300");
}
END_TEST

/* E02: under performance every EPP is EBUSY, performance itself too: that is what was wished. */
START_TEST(case_e02_locked_by_the_governor)
{
	h->epp_stuck = true;
	tree_write(h->tree, POLICY "0/scaling_governor", "performance\n");
	tree_write(h->tree, POLICY "0/energy_performance_preference", "balance_performance\n");
	ck_assert_int_eq(apply_pair(0, "performance", "performance"), 0);
	ck_assert_int_eq(pair[1].outcome, OUTCOME_UNCHANGED);
	ck_assert_ptr_nonnull(strstr(pair[1].text, "locked by the governor"));
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	/* equal is not written at all, so it cannot be EBUSY */
	ck_assert_int_eq(apply_pair(2, "performance", "performance"), 0);
	ck_assert_uint_eq(h->stores, 0);
}
END_TEST

/* E04: governor first when leaving performance; and what amd-pstate leaves behind goes back. */
START_TEST(case_e04_order_when_leaving_performance)
{
	reopen_host(EPP_AMD);
	ck_assert_int_eq(apply_pair(2, "powersave", "power"), 0);
	expect(POLICY "2/scaling_governor", "powersave");
	expect(POLICY "2/energy_performance_preference", "power");
	ck_assert_int_eq(pair[0].outcome, OUTCOME_DONE);
	ck_assert_int_eq(pair[1].outcome, OUTCOME_DONE);

	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "performance"), 0);
	expect(POLICY "0/energy_performance_preference", "performance"); /* the driver's doing */
	ck_assert_str_eq(entry(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0))->original,
			 "balance_performance");
	/* Alone it cannot go back, and need not. */
	ck_assert_int_eq(release(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0)), 0);
	expect_outcome(OUTCOME_UNCHANGED);
	ck_assert_int_eq(release(TUNABLE_GOVERNOR, host_policy(h, 0)), 0);
	expect(POLICY "0/scaling_governor", "powersave");
	expect(POLICY "0/energy_performance_preference", "balance_performance");
	ck_assert_ptr_null(entry(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0)));
}
END_TEST

/* The pair of policy2 comes from performance: its EPP goes back before the lock is shut again. */
START_TEST(release_towards_performance)
{
	ck_assert_int_eq(apply_pair(2, "powersave", "power"), 0);
	ck_assert_int_eq(release(TUNABLE_GOVERNOR, host_policy(h, 2)), 0);
	expect(POLICY "2/scaling_governor", "performance");
	expect(POLICY "2/energy_performance_preference", "performance");
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	/* and the EPP that intel_pstate keeps for later is the admin's, not ours */
	expect("hidden/policy2", "balance_performance");
}
END_TEST

/* A pair that the driver does not take: nothing is left of it, and it is not tried again. */
START_TEST(refused_pair_is_put_back)
{
	reopen_host((enum epp_kind)_i);
	ck_assert_int_eq(apply_pair(0, "performance", "power"), -EBUSY);
	ck_assert_int_eq(pair[0].outcome, OUTCOME_REFUSED);
	ck_assert_int_eq(pair[1].outcome, OUTCOME_REFUSED);
	ck_assert_ptr_nonnull(strstr(pair[0].text, "put back"));
	ck_assert_ptr_nonnull(strstr(pair[1].text, "locks"));
	expect(POLICY "0/scaling_governor", "powersave");
	expect(POLICY "0/energy_performance_preference", "balance_performance");
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	h->stores = 0;
	ck_assert_int_eq(apply_pair(0, "performance", "power"), -EBUSY);
	ck_assert(pair[0].known && pair[1].known);
	ck_assert_uint_eq(h->stores, 0);
	ck_assert_int_eq(apply_pair(0, "performance", "performance"), 0);
}
END_TEST

/* A passive driver takes both, in any combination. */
START_TEST(independent_pair)
{
	reopen_host(EPP_FREE);
	ck_assert_int_eq(apply_pair(0, "performance", "power"), 0);
	expect(POLICY "0/scaling_governor", "performance");
	expect(POLICY "0/energy_performance_preference", "power");
	ck_assert_int_eq(apply_pair(0, "powersave", "balance_performance"), 0);
	ck_assert_uint_eq(ledger_size(s.ledger), 0); /* back at the originals */
}
END_TEST

/* No EPP, or somebody else's, is no reason to leave the governor alone. */
START_TEST(pair_without_epp)
{
	tree_remove(h->tree, POLICY "0/energy_performance_preference");
	tree_remove(h->tree, POLICY "0/energy_performance_available_preferences");
	h->epp = EPP_FREE;
	ck_assert_int_lt(apply_pair(0, "performance", "performance"), 0);
	ck_assert_int_eq(pair[0].outcome, OUTCOME_DONE);
	ck_assert_int_eq(pair[1].outcome, OUTCOME_UNSUPPORTED);
	expect(POLICY "0/scaling_governor", "performance");
}
END_TEST

START_TEST(pair_of_strangers)
{
	struct change c[2] = {host_change(TUNABLE_GOVERNOR, host_policy(h, 0), "performance"),
			      host_change(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 2), "power")};

	ck_assert_int_eq(act_apply_coupled(s.actuator, h->topology, c, 2, ON_FOREIGN_YIELD, pair),
			 -EINVAL);
	c[1] = host_change(TUNABLE_NETDEV_BUDGET, target_host(), "450");
	ck_assert_int_eq(act_apply_coupled(s.actuator, h->topology, c, 2, ON_FOREIGN_YIELD, pair),
			 -EINVAL);
	/* EPP named first is written second all the same */
	c[0] = host_change(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 2), "power");
	c[1] = host_change(TUNABLE_GOVERNOR, host_policy(h, 2), "powersave");
	ck_assert_int_eq(act_apply_coupled(s.actuator, h->topology, c, 2, ON_FOREIGN_YIELD, pair),
			 0);
	expect(POLICY "2/energy_performance_preference", "power");
}
END_TEST

/* E10: a policy whose CPUs are all offline reads EBUSY: it is not even looked at. */
START_TEST(case_e10_inactive_policy)
{
	h->topology->policy[1].active = false;
	fault_io_reset(f);
	ck_assert_int_eq(apply_pair(2, "powersave", "power"), -ENXIO);
	ck_assert_int_eq(pair[0].outcome, OUTCOME_UNSUPPORTED);
	ck_assert_uint_eq(f->total, 0);
}
END_TEST

/* E16: EPP as a number or a word is the same. */
START_TEST(case_e16_numbers_and_words)
{
	tree_write(h->tree, POLICY "0/energy_performance_preference", "128\n");
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "balance_performance"),
			 0);
	expect_outcome(OUTCOME_UNCHANGED);
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "192"), 0);
	expect(POLICY "0/energy_performance_preference", "balance_power");
	/* HWP takes numbers that have no word, and shows them as numbers */
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "64"), 0);
	expect(POLICY "0/energy_performance_preference", "64");
	ck_assert_int_eq(release(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0)), 0);
	expect(POLICY "0/energy_performance_preference", "128");
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "300"), -ERANGE);
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "default"), -EINVAL);
}
END_TEST

/* "a|b" is the first that the host offers; without one nothing is written. */
START_TEST(governor_lists)
{
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 2), "schedutil|powersave"), 0);
	expect(POLICY "2/scaling_governor", "powersave");
	fault_io_reset(f);
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "schedutil|ondemand"), -EINVAL);
	expect_outcome(OUTCOME_REFUSED);
	expect_text("performance powersave");
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "perf"), -EINVAL);
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "power"), -EINVAL);
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "fast"), -EINVAL);
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "|"), -EINVAL);
	ck_assert_uint_eq(f->count[FAULT_STORE], 0);
	/* E07: each file is optional */
	tree_remove(h->tree, POLICY "0/scaling_available_governors");
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "schedutil|powersave"), 0);
	expect(POLICY "0/scaling_governor", "schedutil");
}
END_TEST

/* An EPP that somebody set while we own it: that is what the governor's end has to bring back. */
START_TEST(foreign_epp_before_the_governor)
{
	reopen_host(EPP_AMD);
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "power"), 0);
	tree_write(h->tree, POLICY "0/energy_performance_preference", "balance_power\n");
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "performance"), 0);
	ck_assert_int_eq(release(TUNABLE_GOVERNOR, host_policy(h, 0)), 0);
	expect(POLICY "0/energy_performance_preference", "balance_power");
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
}
END_TEST

/* A governor that is refused leaves an EPP of ours as it was, with its own original. */
START_TEST(refused_governor_keeps_the_epp)
{
	ck_assert_int_eq(apply(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0), "power"), 0);
	f->pattern = "*/scaling_governor";
	f->kinds = FAULT_BIT(FAULT_STORE);
	f->error = EIO;
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "performance"), -EIO);
	f->error = 0;
	expect(POLICY "0/energy_performance_preference", "power");
	ck_assert_str_eq(entry(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0))->written, "power");
	ck_assert_ptr_null(entry(TUNABLE_GOVERNOR, host_policy(h, 0)));
	ck_assert_int_eq(release(TUNABLE_ENERGY_PREFERENCE, host_policy(h, 0)), 0);
	expect(POLICY "0/energy_performance_preference", "balance_performance");
}
END_TEST

/* What a release can find. */
START_TEST(release_of_what_is_not_ours_any_more)
{
	struct target irq = host_irq(h, 31);

	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "450"), 0);
	tree_write(h->tree, CORE "netdev_budget", "300\n");
	ck_assert_int_eq(release(TUNABLE_NETDEV_BUDGET, target_host()), 0);
	expect_outcome(OUTCOME_UNCHANGED);
	ck_assert_int_eq(apply(TUNABLE_NETDEV_BUDGET, target_host(), "450"), 0);
	tree_write(h->tree, CORE "netdev_budget", "999\n");
	ck_assert_int_eq(release(TUNABLE_NETDEV_BUDGET, target_host()), -EPERM);
	expect_outcome(OUTCOME_FOREIGN);
	expect(CORE "netdev_budget", "999");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, irq, "1"), 0);
	tree_write(h->tree, "sys/kernel/irq/31/actions", "nvme0q1\n");
	ck_assert_int_eq(release(TUNABLE_IRQ_AFFINITY, irq), -ENODEV);
	expect_outcome(OUTCOME_UNSUPPORTED);
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	/* no sysfs of interrupts: the topology's word, as long as the number exists */
	tree_remove(h->tree, "sys/kernel/irq");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "1"), 0);
	tree_remove(h->tree, "proc/irq/32");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 32), "2"), -ENODEV);
}
END_TEST

/* E18: the original governor of each policy, not somebody's idea of a default. */
START_TEST(case_e18_the_original_governor)
{
	tree_write(h->tree, POLICY "0/scaling_available_governors", "schedutil performance\n");
	tree_write(h->tree, POLICY "0/scaling_governor", "schedutil\n");
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "performance"), 0);
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 2), "powersave"), 0);
	ck_assert_int_eq(release(TUNABLE_GOVERNOR, host_policy(h, 0)), 0);
	ck_assert_int_eq(release(TUNABLE_GOVERNOR, host_policy(h, 2)), 0);
	expect(POLICY "0/scaling_governor", "schedutil");
	expect(POLICY "2/scaling_governor", "performance");
	expect(POLICY "0/energy_performance_preference", "balance_performance");
}
END_TEST

/* A read error of the EPP that a governor is going to change: no way back, so no change. */
START_TEST(governor_whose_epp_cannot_be_read)
{
	f->pattern = "*/policy0/energy_performance_preference";
	f->kinds = FAULT_BIT(FAULT_READ);
	f->error = EIO;
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "performance"), -EIO);
	expect_outcome(OUTCOME_REFUSED);
	expect(POLICY "0/scaling_governor", "powersave");
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	/* amd-pstate cannot name some values: those could not be written back either */
	f->error = EINVAL;
	ck_assert_int_eq(apply(TUNABLE_GOVERNOR, host_policy(h, 0), "performance"), 0);
}
END_TEST

/* Names from drivers end in texts, and texts in JSON and terminals. */
START_TEST(texts_are_printable)
{
	struct irq *irq = &h->topology->irq[0];

	snprintf(irq->name, sizeof(irq->name), "eth\x1b[31m\xff");
	tree_write(h->tree, "sys/kernel/irq/30/actions", "eth\x1b[31m\xff\n");
	ck_assert_int_eq(apply(TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2"), 0);
	for (const char *c = ret.text; *c; c++)
		ck_assert(*c >= ' ' && *c <= '~');
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("act");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	log_set_hook(silent, NULL);
	host_use_memory();
	tcase_add_checked_fixture(t, setup, close_host);
	tcase_add_test(t, a_setting_is_changed_and_given_back);
	tcase_add_test(t, equal_is_not_written);
	tcase_add_test(t, ledger_first);
	tcase_add_test(t, no_ledger_no_change);
	tcase_add_test(t, dry_run_changes_nothing);
	tcase_add_test(t, hard_caps);
	tcase_add_test(t, case_f09_wild_originals_come_back);
	tcase_add_test(t, case_f14_learned_limits);
	tcase_add_test(t, case_f17_read_only_per_key);
	tcase_add_test(t, all_interrupts_are_read_only);
	tcase_add_loop_test(t, case_d01_eio_is_managed, EIO, EIO + 1);
	tcase_add_loop_test(t, case_d01_eio_is_managed, EPERM, EPERM + 1);
	tcase_add_test(t, case_d03_permission_denied_is_managed);
	tcase_add_test(t, case_d05_vectors_used_up);
	tcase_add_test(t, ebusy_is_tried_again);
	tcase_add_test(t, case_d09_a_fight_is_given_up);
	tcase_add_test(t, case_e14_the_original_put_back_again_and_again);
	tcase_add_test(t, foreign_yield);
	tcase_add_test(t, foreign_enforce_and_adopt);
	tcase_add_test(t, case_d11_a_driver_reset_is_nobody);
	tcase_add_test(t, reused_irq_numbers);
	tcase_add_test(t, case_d13_no_cpu);
	tcase_add_test(t, case_d15_errors_are_per_interrupt);
	tcase_add_test(t, case_d17_offline_cpus);
	tcase_add_test(t, cpu_beyond_the_kernels);
	tcase_add_test(t, governor_that_the_driver_does_not_take);
	tcase_add_test(t, pending_until_it_fires);
	tcase_add_test(t, another_value_is_put_back);
	tcase_add_test(t, short_store);
	tcase_add_test(t, settings_this_host_does_not_have);
	tcase_add_test(t, case_e02_locked_by_the_governor);
	tcase_add_test(t, case_e04_order_when_leaving_performance);
	tcase_add_test(t, release_towards_performance);
	tcase_add_loop_test(t, refused_pair_is_put_back, EPP_INTEL, EPP_AMD + 1);
	tcase_add_test(t, independent_pair);
	tcase_add_test(t, pair_without_epp);
	tcase_add_test(t, pair_of_strangers);
	tcase_add_test(t, case_e10_inactive_policy);
	tcase_add_test(t, case_e16_numbers_and_words);
	tcase_add_test(t, governor_lists);
	tcase_add_test(t, foreign_epp_before_the_governor);
	tcase_add_test(t, refused_governor_keeps_the_epp);
	tcase_add_test(t, release_of_what_is_not_ours_any_more);
	tcase_add_test(t, case_e18_the_original_governor);
	tcase_add_test(t, governor_whose_epp_cannot_be_read);
	tcase_add_test(t, texts_are_printable);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
