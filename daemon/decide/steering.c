/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/steering.h"

/* The node whose CPUs are near; -1: any. */
static int near_node(const struct topology *t, unsigned nic)
{
	int node = t->nic[nic].node;

	for (unsigned i = 0; node < 0 && i < t->n_irqs; i++) {
		unsigned home = topology_irq_home(&t->irq[i]);

		if (t->irq[i].nic == (int)nic && t->irq[i].role != IRQ_OTHER && home < t->n_cpus)
			node = t->cpu[home].node;
	}
	return node;
}

/* One CPU of each core, the first that may be used. */
static struct cpuset one_per_core(const struct topology *t, const struct cpuset *cpus)
{
	struct cpuset first = {};

	cpuset_for_each (cpu, cpus) {
		bool taken = false;

		cpuset_for_each (other, &first)
			taken |= t->cpu[cpu].core >= 0 && t->cpu[other].core == t->cpu[cpu].core;
		if (!taken)
			cpuset_add(&first, cpu);
	}
	return first;
}

/* Where the NIC's receive interrupts are bound to, one CPU each. */
static struct cpuset bound_cpus(const struct topology *t, unsigned nic)
{
	struct cpuset bound = {};

	for (unsigned i = 0; i < t->n_irqs; i++) {
		const struct irq *irq = &t->irq[i];

		if (irq->nic == (int)nic && (irq->role == IRQ_RX || irq->role == IRQ_RXTX) &&
		    irq->have_affinity && cpuset_count(&irq->affinity) == 1)
			bound = cpuset_or(&bound, &irq->affinity);
	}
	return bound;
}

/* Without the cores that have a CPU in TAKEN. */
static struct cpuset without_cores(const struct topology *t, const struct cpuset *cpus,
				   const struct cpuset *taken)
{
	struct cpuset left = *cpus;

	cpuset_for_each (cpu, cpus)
		cpuset_for_each (other, taken)
			if (other == cpu || (other < t->n_cpus && t->cpu[cpu].core >= 0 &&
					     t->cpu[other].core == t->cpu[cpu].core))
				cpuset_remove(&left, cpu);
	return left;
}

struct cpuset rps_plan(const struct topology *t, unsigned nic, const struct cpuset *allowed)
{
	struct cpuset usable = cpuset_minus(&t->online, &t->isolated), near = {}, bound, others;
	const struct cpuset none = {};
	unsigned queues;
	int node;

	if (nic >= t->n_nics || !*t->nic[nic].identity || t->nic[nic].rx_queues == 0)
		return none;
	queues = t->nic[nic].rx_queues;
	node = near_node(t, nic);
	if (allowed)
		usable = cpuset_and(&usable, allowed);
	cpuset_for_each (cpu, &usable)
		if (cpu < t->n_cpus && (node < 0 || t->cpu[cpu].node == node))
			cpuset_add(&near, cpu);
	near = one_per_core(t, cpuset_empty(&near) ? &usable : &near);
	if (queues >= cpuset_count(&near))
		return none;
	bound = bound_cpus(t, nic);
	others = without_cores(t, &near, &bound);
	return cpuset_count(&others) >= queues ? others : near;
}
