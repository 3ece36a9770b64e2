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

/* One CPU of each core, the first that may be used; those whose core is not known count each. */
static struct cpuset one_per_core(const struct topology *t, const struct cpuset *cpus)
{
	struct cpuset first = {};

	cpuset_for_each (cpu, cpus) {
		struct cpuset self = cpuset_of(cpu);
		struct cpuset core = topology_sharing(t, &self, SHARED_CORE);

		if (cpu < t->n_cpus && !cpuset_intersects(&core, &first))
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

struct cpuset rps_plan(const struct topology *t, unsigned nic, const struct cpuset *allowed)
{
	struct cpuset usable = cpuset_minus(&t->online, &t->isolated), near, bound, cores, others;
	const struct cpuset none = {};
	unsigned queues;
	int node;

	if (nic >= t->n_nics || !*t->nic[nic].identity || t->nic[nic].rx_queues == 0)
		return none;
	queues = t->nic[nic].rx_queues;
	node = near_node(t, nic);
	if (allowed)
		usable = cpuset_and(&usable, allowed);
	near = topology_node_cpus(t, node);
	near = cpuset_and(&near, &usable);
	near = one_per_core(t, cpuset_empty(&near) ? &usable : &near);
	if (queues >= cpuset_count(&near))
		return none;
	bound = bound_cpus(t, nic);
	cores = topology_sharing(t, &bound, SHARED_CORE);
	cores = cpuset_or(&cores, &bound);
	others = cpuset_minus(&near, &cores);
	return cpuset_count(&others) >= queues ? others : near;
}
