/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "decide/placement.h"
#include "lib/run.h"

#define MOVES_MAX 1024

static struct topology *machine;

/* Linux numbers the siblings of a two-way SMT machine after all first threads, as here. */
static void build(unsigned nodes, unsigned cores_per_node, unsigned threads, unsigned queues,
		  int nic_node)
{
	unsigned cores = nodes * cores_per_node;

	machine = calloc(1, sizeof(*machine));
	ck_assert_ptr_nonnull(machine);
	machine->n_cpus = cores * threads;
	machine->cpu = calloc(machine->n_cpus, sizeof(*machine->cpu));
	machine->n_irqs = queues;
	machine->irq = calloc(queues + 1, sizeof(*machine->irq));
	machine->n_nics = 1;
	machine->nic = calloc(2, sizeof(*machine->nic));
	ck_assert(machine->cpu && machine->irq && machine->nic);
	for (unsigned i = 0; i < machine->n_cpus; i++) {
		machine->cpu[i] = (struct cpu){.present = true,
					       .online = true,
					       .node = (int)(i % cores / cores_per_node),
					       .core = (int)(i % cores),
					       .smt = i / cores,
					       .capacity = 1024};
		cpuset_add(&machine->online, i);
	}
	machine->nic[0] = (struct nic){.name = "eth0", .node = nic_node};
	machine->nic[1] = (struct nic){.name = "eth1", .node = nic_node};
	for (unsigned i = 0; i < queues; i++)
		machine->irq[i] = (struct irq){.number = 100 + i,
					       .queue = (int)i,
					       .role = IRQ_RXTX,
					       .have_affinity = true,
					       .affinity = machine->online};
}

static void teardown(void)
{
	topology_free(machine);
	machine = NULL;
}

static size_t plan(enum placement strategy, const struct cpuset *allowed)
{
	static struct move moves[MOVES_MAX];
	size_t n = placement_plan(machine, 0, strategy, allowed, NULL, moves, MOVES_MAX);

	for (size_t i = 0; i < n; i++)
		machine->irq[moves[i].irq].affinity = cpuset_of(moves[i].cpu);
	return n;
}

static unsigned cpu_of(unsigned irq)
{
	ck_assert_uint_eq(cpuset_count(&machine->irq[irq].affinity), 1);
	return cpuset_first(&machine->irq[irq].affinity);
}

static unsigned used(unsigned cpu)
{
	unsigned n = 0;

	for (unsigned i = 0; i < machine->n_irqs; i++)
		n += cpuset_count(&machine->irq[i].affinity) == 1 &&
		     cpuset_has(&machine->irq[i].affinity, cpu);
	return n;
}

START_TEST(spread_takes_one_core_a_queue_near_the_nic)
{
	build(2, 8, 2, 8, 1);
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 8);
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_int_eq(machine->cpu[cpu_of(i)].node, 1);
		ck_assert_uint_eq(machine->cpu[cpu_of(i)].smt, 0);
		ck_assert_uint_eq(used(cpu_of(i)), 1);
	}
}
END_TEST

START_TEST(a_plan_that_holds_moves_nothing)
{
	build(2, 8, 2, 8, 1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 0);
	/* Any other one-to-one order on good cores holds as well. */
	struct cpuset first = machine->irq[0].affinity;

	machine->irq[0].affinity = machine->irq[5].affinity;
	machine->irq[5].affinity = first;
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 0);
}
END_TEST

START_TEST(siblings_come_after_all_cores_then_round_again)
{
	build(2, 4, 2, 8, 0);
	plan(PLACEMENT_SPREAD, NULL);
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_int_eq(machine->cpu[cpu_of(i)].node, 0);
		ck_assert_uint_eq(used(cpu_of(i)), 1);
	}
	teardown();
	build(2, 4, 2, 20, 0); /* 20 queues on 8 near threads: 2 or 3 each, never on the far node */
	plan(PLACEMENT_SPREAD, NULL);
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_int_eq(machine->cpu[cpu_of(i)].node, 0);
		ck_assert_uint_ge(used(cpu_of(i)), 2);
		ck_assert_uint_le(used(cpu_of(i)), 3);
	}
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 0);
}
END_TEST

START_TEST(never_on_isolated_or_offline_cpus)
{
	build(1, 8, 1, 8, -1);
	for (unsigned i = 2; i < 8; i++)
		cpuset_add(&machine->isolated, i);
	cpuset_remove(&machine->online, 1);
	plan(PLACEMENT_SPREAD, NULL);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(cpu_of(i), 0);
	/* Nowhere to go: nothing moves. */
	cpuset_add(&machine->isolated, 0);
	machine->irq[0].affinity = machine->online;
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 0);
}
END_TEST

START_TEST(managed_shared_and_control_vectors_stay)
{
	build(1, 4, 1, 4, -1);
	machine->irq[0].managed = true;
	machine->irq[1].shared = true;
	machine->irq[2].role = IRQ_OTHER;
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 1);
	ck_assert_uint_eq(cpuset_count(&machine->irq[0].affinity), 4);
	ck_assert_uint_eq(cpuset_count(&machine->irq[1].affinity), 4);
	ck_assert_uint_eq(cpuset_count(&machine->irq[2].affinity), 4);
	ck_assert_uint_eq(plan(PLACEMENT_LEAVE, NULL), 0);
}
END_TEST

START_TEST(transmit_goes_with_the_receive_vector_of_its_queue)
{
	build(1, 4, 1, 8, -1);
	for (unsigned i = 0; i < 8; i++) {
		machine->irq[i].role = i % 2 ? IRQ_TX : IRQ_RX;
		machine->irq[i].queue = (int)(i / 2);
	}
	plan(PLACEMENT_SPREAD, NULL);
	for (unsigned i = 0; i < 8; i += 2)
		ck_assert_uint_eq(cpu_of(i), cpu_of(i + 1));
	ck_assert_uint_eq(used(0), 2);
}
END_TEST

START_TEST(second_nic_uses_the_cores_the_first_left_free)
{
	static struct move moves[MOVES_MAX];
	size_t n;

	build(1, 8, 1, 8, -1);
	machine->n_nics = 2;
	for (unsigned i = 4; i < 8; i++)
		machine->irq[i].nic = 1;
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 4);
	n = placement_plan(machine, 1, PLACEMENT_SPREAD, NULL, NULL, moves, MOVES_MAX);
	ck_assert_uint_eq(n, 4);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(used(moves[i].cpu), 0);
}
END_TEST

START_TEST(pack_goes_where_most_already_are)
{
	build(1, 4, 1, 4, -1);
	machine->irq[0].affinity = cpuset_of(1);
	machine->irq[1].affinity = cpuset_of(2);
	machine->irq[2].affinity = cpuset_of(2);
	ck_assert_uint_eq(plan(PLACEMENT_PACK, NULL), 2);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(cpu_of(i), 2);
	ck_assert_uint_eq(plan(PLACEMENT_PACK, NULL), 0);
}
END_TEST

START_TEST(allowed_cpus_of_the_rule_bound_both_strategies)
{
	struct cpuset allowed = {};

	build(2, 4, 1, 4, 0);
	cpuset_add(&allowed, 6);
	cpuset_add(&allowed, 7);
	plan(PLACEMENT_SPREAD, &allowed); /* all far from the NIC: the admin's word is stronger */
	for (unsigned i = 0; i < 4; i++)
		ck_assert(cpuset_has(&allowed, cpu_of(i)));
	ck_assert_uint_eq(used(6), 2);
	plan(PLACEMENT_PACK, &allowed);
	ck_assert(used(6) == 4 || used(7) == 4);
}
END_TEST

START_TEST(big_cores_first)
{
	build(1, 8, 1, 4, -1);
	for (unsigned i = 0; i < 4; i++)
		machine->cpu[i].capacity = 400;
	plan(PLACEMENT_SPREAD, NULL);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_ge(cpu_of(i), 4);
}
END_TEST

START_TEST(one_cpu_gone_moves_only_what_was_on_it)
{
	build(1, 8, 1, 6, -1);
	plan(PLACEMENT_SPREAD, NULL);
	cpuset_remove(&machine->online, cpu_of(2));
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 1);
}
END_TEST

START_TEST(large_machine)
{
	build(2, 64, 2, 256, 1);
	plan(PLACEMENT_SPREAD, NULL);
	for (unsigned i = 0; i < 256; i++) {
		ck_assert_int_eq(machine->cpu[cpu_of(i)].node, 1);
		ck_assert_uint_eq(used(cpu_of(i)), 2);
	}
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("placement");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, spread_takes_one_core_a_queue_near_the_nic);
	tcase_add_test(t, a_plan_that_holds_moves_nothing);
	tcase_add_test(t, siblings_come_after_all_cores_then_round_again);
	tcase_add_test(t, never_on_isolated_or_offline_cpus);
	tcase_add_test(t, managed_shared_and_control_vectors_stay);
	tcase_add_test(t, transmit_goes_with_the_receive_vector_of_its_queue);
	tcase_add_test(t, second_nic_uses_the_cores_the_first_left_free);
	tcase_add_test(t, pack_goes_where_most_already_are);
	tcase_add_test(t, allowed_cpus_of_the_rule_bound_both_strategies);
	tcase_add_test(t, big_cores_first);
	tcase_add_test(t, one_cpu_gone_moves_only_what_was_on_it);
	tcase_add_test(t, large_machine);
	return run_suite("placement", t);
}
