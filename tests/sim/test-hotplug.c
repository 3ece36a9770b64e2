/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes away while it is being changed: a NIC, whose interrupt numbers are somebody else's a moment
 * later, and CPUs. The real engine, in simulated time; each says how the host ends, how many writes that
 * took, and how much was said.
 */
#include <stdio.h>

#include "base/log.h"
#include "lib/run.h"
#include "sim/host.h"

static const struct machine_nic nics[] = {{.name = "eth0", .kind = MACHINE_IXGBE, .queues = 8},
					  {.name = "eth1", .kind = MACHINE_IXGBE, .queues = 8}};
static const struct machine_spec spec = {.cpus = 4, .nics = nics, .n_nics = 2};
static const char profile[] = "netdev_budget = [300, 1200];\nplacement = \"spread\";\n";

static struct live l;
static unsigned lines, errors;
static char newest[1024];

#define BUDGET live_setting(&l, "netdev_budget")

static void listen(enum log_level level, const char *line, void *userdata _unused_)
{
	lines++;
	errors += level <= LOG_LEVEL_WARNING;
	snprintf(newest, sizeof(newest), "%s", line);
}

static void setup(void)
{
	lines = errors = 0;
	log_set_hook(listen, NULL);
}

static void teardown(void)
{
	log_set_hook(NULL, NULL);
	live_done(&l);
	l = (struct live){};
}

static unsigned irq_of(const char *nic, unsigned queue)
{
	char name[32];

	snprintf(name, sizeof(name), "%s-TxRx-%u", nic, queue);
	return machine_irq(l.m, name);
}

/* Every interrupt of eth0 on CPU AT, with bursts that one run's budget cannot take. */
static void squeeze_eth0(unsigned at)
{
	for (unsigned q = 0; q < 8; q++) {
		char name[32], path[64];
		struct receive_queue *r;
		unsigned irq = irq_of("eth0", q);

		snprintf(name, sizeof(name), "eth0-TxRx-%u", q);
		r = live_queue(&l, name);
		r->pps = 20000;
		r->burst = 200;
		r->burst_noise = 0.1;
		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", l.m->irq[irq].number);
		tree_printf(l.m->tree, path, "%u\n", at);
		machine_fire(l.m, irq, 1);
	}
}

static void silence(void)
{
	for (unsigned i = 0; i < l.r.n_queues; i++) {
		l.r.queue[i].pps = 0;
		l.irq[i] = -1; /* the plant's queue has no interrupt any more */
	}
}

/* Until the trial has made its change. */
static void run_to_the_change(void)
{
	for (unsigned i = 0; i < 60 && BUDGET == 300; i++)
		live_run(&l, 1);
	ck_assert_int_eq(BUDGET, 450);
}

static char *affinity_of(unsigned number)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", number);
	return tree_read(l.m->tree, path);
}

/* The NIC is gone for three seconds before anybody hears of it, or at once. */
START_TEST(nic_vanishes_during_a_trial)
{
	unsigned number[8], writes;

	live_boot(&l, &spec);
	squeeze_eth0(0);
	live_start(&l, "netdev_budget = [300, 1200];\n"
		       "nics = ( { match = \"eth1\"; placement = \"spread\"; },\n"
		       "         { match = \"eth0\"; placement = \"pack\"; cpus = \"2\"; } );\n");
	live_run(&l, 5); /* eth0 is packed on CPU 2: its interrupts are in the ledger */
	ck_assert_uint_ge(ledger_size(l.e->ledger), 8);
	run_to_the_change();
	for (unsigned q = 0; q < 8; q++)
		number[q] = l.m->irq[irq_of("eth0", q)].number;
	writes = l.writes;
	lines = errors = 0;
	machine_unplug(l.m, 0);
	silence();
	if (_i)
		live_run(&l, 3);
	engine_note_link_change(l.e);
	live_run(&l, 10);
	/* What was not judged does not stay; and it is no success. It ends since the host is another one,
	 * not because of the load that the NIC took with it. */
	ck_assert_ptr_nonnull(strstr(l.last_text, "the host or the profile changed"));
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(l.kept, 0);
	ck_assert_uint_eq(l.inconclusive, 1);
	ck_assert_uint_eq(l.writes, writes + 1);
	/* Its numbers are a disk's: nobody touches them, and nothing of eth0 is owed any more. */
	for (unsigned q = 0; q < 8; q++) {
		_cleanup_free_ char *list = affinity_of(number[q]);

		ck_assert_str_eq(list, "0-3");
	}
	for (size_t i = 0; i < ledger_size(l.e->ledger); i++)
		ck_assert_msg(!strstr(ledger_at(l.e->ledger, i)->identity, "eth0"), "%s",
			      ledger_at(l.e->ledger, i)->identity);
	live_run(&l, 600);
	ck_assert_uint_eq(l.writes, writes + 1);
	ck_assert_msg(lines <= 12 && errors <= 6, "%u lines, %u warnings, the last: %s", lines,
		      errors, newest);
	ck_assert_int_eq(engine_stop(l.e), 0);
	for (unsigned q = 0; q < 8; q++) {
		_cleanup_free_ char *list = affinity_of(number[q]);

		ck_assert_str_eq(list, "0-3");
	}
	ck_assert(!tree_has(l.m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* What was set by hand of a NIC goes with it: one that comes into its place finds the profile. */
START_TEST(a_pin_goes_with_its_nic)
{
	char number[16], error[512];

	live_boot(&l, &spec);
	live_start(&l, "nics = ( { match = \"eth0\"; placement = \"pack\"; cpus = \"2\"; } );\n");
	live_run(&l, 5);
	snprintf(number, sizeof(number), "%u", l.m->irq[irq_of("eth0", 1)].number);
	ck_assert_int_eq(engine_set(l.e, "irq_affinity", number, "1", error), 0);
	ck_assert_int_eq(engine_set(l.e, "netdev_budget", "", "400", error), 0);
	ck_assert_uint_eq(l.e->n_pins, 2);
	machine_unplug(l.m, 0);
	engine_note_link_change(l.e);
	live_run(&l, 10);
	ck_assert_uint_eq(l.e->n_pins, 1);
	ck_assert_int_eq(l.e->pins[0].tunable, TUNABLE_NETDEV_BUDGET);
	ck_assert_int_eq(engine_stop(l.e), 0);
}
END_TEST

/* The CPU that is squeezed goes, and its interrupts with it to another one. */
START_TEST(squeezed_cpu_goes_offline_during_its_trial)
{
	live_boot(&l, &spec);
	squeeze_eth0(3);
	live_start(&l, "netdev_budget = [300, 1200];\n");
	run_to_the_change();
	lines = errors = 0;
	machine_set_online(l.m, 3, false);
	receive_set_online(&l.r, 3, false);
	for (unsigned q = 0; q < 8; q++) {
		char path[64];

		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list",
			 l.m->irq[irq_of("eth0", q)].number);
		tree_write(l.m->tree, path, "1\n");
	}
	live_run(&l, 5);
	ck_assert_ptr_nonnull(strstr(l.last_text, "the host or the profile changed"));
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(l.kept, 0);
	ck_assert_uint_eq(l.inconclusive, 1);
	/* It is tried again on the CPU that has the load now, and helps there. */
	live_run(&l, 180);
	ck_assert_int_eq(BUDGET, 675);
	ck_assert_uint_eq(l.kept, 1);
	ck_assert_uint_eq(l.writes, 6); /* 450 and back; 450, 675, withdrawn, 675 */
	ck_assert_uint_le(l.last_write, 120);
	ck_assert_msg(lines <= 16 && errors == 0, "%u lines, %u warnings, the last: %s", lines,
		      errors, newest);
	ck_assert_int_eq(engine_stop(l.e), 0);
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* A CPU that comes and goes all the time: trials end, and there are not many. */
START_TEST(cpu_that_flaps)
{
	live_boot(&l, &spec);
	squeeze_eth0(0);
	live_start(&l, "netdev_budget = [300, 1200];\n");
	for (unsigned i = 0; i < 600; i++) {
		if (i % 7 == 0) {
			bool online = i / 7 % 2;

			machine_set_online(l.m, 3, online);
			receive_set_online(&l.r, 3, online);
		}
		live_run(&l, 1);
	}
	/* It did try, and each trial that was cut short is inconclusive: every change went back. */
	ck_assert_msg(strstr(l.last_text, "the host or the profile changed") != NULL, "%s",
		      l.last_text);
	ck_assert_uint_ge(l.inconclusive, 2);
	ck_assert_uint_eq(l.verdicts, l.inconclusive);
	ck_assert_uint_eq(l.writes, 2 * l.inconclusive);
	ck_assert_uint_le(l.writes, 60);
	ck_assert_uint_eq(ledger_size(l.e->ledger), 0);
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_msg(errors == 0, "%u warnings, the last: %s", errors, newest);
	ck_assert_int_eq(engine_stop(l.e), 0);
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* Only what the device that went had is dropped. */
START_TEST(nic_goes_and_its_twin_keeps_its_place)
{
	unsigned before, after;

	live_boot(&l, &spec);
	live_start(&l, profile);
	live_run(&l, 5);
	before = (unsigned)ledger_size(l.e->ledger);
	machine_unplug(l.m, 0);
	engine_note_link_change(l.e);
	live_run(&l, 10);
	after = (unsigned)ledger_size(l.e->ledger);
	ck_assert_uint_gt(after, 0);
	ck_assert_uint_lt(after, before);
	ck_assert_uint_le(l.last_write, 5); /* nothing is moved for it */
	for (size_t i = 0; i < after; i++)
		ck_assert_ptr_nonnull(strstr(ledger_at(l.e->ledger, i)->identity, "eth1"));
	ck_assert_int_eq(engine_stop(l.e), 0);
	ck_assert(!tree_has(l.m->tree, "run/softnetd/ledger.json"));
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("hotplug");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, nic_vanishes_during_a_trial, 0, 2);
	tcase_add_test(t, a_pin_goes_with_its_nic);
	tcase_add_test(t, squeezed_cpu_goes_offline_during_its_trial);
	tcase_add_test(t, cpu_that_flaps);
	tcase_add_test(t, nic_goes_and_its_twin_keeps_its_place);
	return run_suite("hotplug", t);
}
