/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/placement.h"

#define QUEUES_MAX 1024 /* per NIC; more are left where they are */

bool placement_movable(const struct irq *irq)
{
	return irq->nic >= 0 && irq->role != IRQ_OTHER && !irq->managed && !irq->shared &&
	       !irq->fell_silent && irq->have_affinity;
}

/* CPUs where an interrupt may go, best first, in two tiers: first threads of a core, then siblings.
 */
struct candidates {
	unsigned cpu[CPU_ID_MAX];
	size_t first, all; /* cpu[0 … first) are first threads, cpu[0 … all) is everything */
	struct cpuset set, first_set;
};

/* Narrows SET to BETTER, unless nothing would be left. */
static bool prefer(struct cpuset *set, struct cpuset better)
{
	better = cpuset_and(set, &better);
	if (cpuset_empty(&better))
		return false;
	*set = better;
	return true;
}

static void prefer_next_to(const struct topology *t, int nic_node, const struct cpuset *consumers,
			   struct cpuset *usable)
{
	struct cpuset theirs = topology_sharing(t, consumers, SHARED_CORE);

	if (!prefer(usable, topology_sharing(t, consumers, SHARED_CACHE)))
		prefer(usable, topology_sharing(t, consumers, SHARED_NODE));
	prefer(usable, topology_node_cpus(t, nic_node));
	if (!prefer(usable, cpuset_minus(&t->online, &theirs)))
		prefer(usable, cpuset_minus(&t->online, consumers));
}

static void find_candidates(const struct topology *t, const struct nic *nic,
			    const struct cpuset *allowed, const struct cpuset *consumers,
			    struct candidates *c)
{
	struct cpuset usable = cpuset_minus(&t->online, &t->isolated);

	if (allowed)
		usable = cpuset_and(&usable, allowed);
	if (consumers)
		prefer_next_to(t, nic->node, consumers, &usable);
	else
		prefer(&usable, topology_node_cpus(t, nic->node));
	*c = (struct candidates){.set = usable};
	for (int tier = 0; tier < 2; tier++) {
		/* Big cores before little ones: capacity is 1024 for all on machines of one kind.
		 */
		for (unsigned capacity = 1024;;) {
			unsigned next = 0;

			cpuset_for_each (cpu, &usable) {
				const struct cpu *info = &t->cpu[cpu];
				unsigned has = info->capacity ? info->capacity : 1024;

				if (cpu >= t->n_cpus || (info->smt > 0) != tier)
					continue;
				if (info->capacity == capacity ||
				    (capacity == 1024 && info->capacity > 1024))
					c->cpu[c->all++] = cpu;
				else if (has < capacity)
					next = MAX(next, has);
			}
			if (next == 0)
				break;
			capacity = next;
		}
		if (tier == 0)
			c->first = c->all;
	}
	for (size_t i = 0; i < c->first; i++)
		cpuset_add(&c->first_set, c->cpu[i]);
}

/* The one CPU an interrupt is bound to, or CPU_ID_MAX when its mask is wider. */
static unsigned bound_to(const struct irq *irq)
{
	unsigned cpu = cpuset_first(&irq->affinity);

	return cpuset_next(&irq->affinity, cpu + 1) == CPU_ID_MAX ? cpu : CPU_ID_MAX;
}

struct planner {
	const struct topology *t;
	struct candidates c;
	uint16_t used[CPU_ID_MAX]; /* receiving interrupts of all NICs bound to a CPU */
	uint16_t own[CPU_ID_MAX];  /* … of this NIC */
	unsigned queue_irq[QUEUES_MAX], n_queues; /* receiving vectors, by number */
	unsigned queue_cpu[QUEUES_MAX];
	struct move *moves;
	size_t n, max;
};

static void plan_move(struct planner *p, unsigned irq, unsigned cpu)
{
	if (bound_to(&p->t->irq[irq]) == cpu)
		return;
	if (p->n < p->max)
		p->moves[p->n++] = (struct move){irq, cpu};
}

/* The least used candidate, the earlier one of equals. */
static unsigned least_used(const struct planner *p, size_t among)
{
	unsigned best = p->c.cpu[0];

	for (size_t i = 1; i < among; i++) {
		unsigned cpu = p->c.cpu[i];

		if (p->own[cpu] < p->own[best] ||
		    (p->own[cpu] == p->own[best] && p->used[cpu] < p->used[best]))
			best = cpu;
	}
	return best;
}

static void count_used(struct planner *p, unsigned nic)
{
	for (unsigned i = 0; i < p->t->n_irqs; i++) {
		const struct irq *irq = &p->t->irq[i];
		unsigned cpu = bound_to(irq);

		if (irq->nic != (int)nic && irq->nic >= 0 && irq->role != IRQ_OTHER &&
		    cpu < CPU_ID_MAX)
			p->used[cpu]++;
	}
}

static void plan_spread(struct planner *p)
{
	/* As long as there are enough cores, siblings stay free; beyond all, each CPU takes its
	 * share. */
	size_t among = p->n_queues <= p->c.first ? p->c.first : p->c.all;
	const struct cpuset *good = among == p->c.first ? &p->c.first_set : &p->c.set;
	unsigned share = (unsigned)((p->n_queues + among - 1) / among);

	for (unsigned q = 0; q < p->n_queues; q++) {
		unsigned cpu = bound_to(&p->t->irq[p->queue_irq[q]]);

		p->queue_cpu[q] = CPU_ID_MAX;
		if (cpu < CPU_ID_MAX && cpuset_has(good, cpu) && p->own[cpu] < share) {
			p->queue_cpu[q] = cpu;
			p->own[cpu]++;
			p->used[cpu]++;
		}
	}
	for (unsigned q = 0; q < p->n_queues; q++) {
		if (p->queue_cpu[q] == CPU_ID_MAX) {
			p->queue_cpu[q] = least_used(p, among);
			p->own[p->queue_cpu[q]]++;
			p->used[p->queue_cpu[q]]++;
		}
		plan_move(p, p->queue_irq[q], p->queue_cpu[q]);
	}
}

static void plan_pack(struct planner *p, unsigned nic)
{
	unsigned votes[CPU_ID_MAX] = {}, best = CPU_ID_MAX;

	/* Where most of its interrupts are already, so that the fewest move. */
	for (unsigned i = 0; i < p->t->n_irqs; i++) {
		const struct irq *irq = &p->t->irq[i];
		unsigned cpu = bound_to(irq);

		if (irq->nic != (int)nic || !placement_movable(irq) || !cpuset_has(&p->c.set, cpu))
			continue;
		votes[cpu]++;
		if (best == CPU_ID_MAX || votes[cpu] > votes[best])
			best = cpu;
	}
	if (best == CPU_ID_MAX)
		best = least_used(p, p->c.first ? p->c.first : p->c.all);
	for (unsigned i = 0; i < p->t->n_irqs; i++)
		if (p->t->irq[i].nic == (int)nic && placement_movable(&p->t->irq[i]))
			plan_move(p, i, best);
}

/* A transmit vector goes with the receive vector of its queue; without a queue number, in order. */
static void place_transmit(struct planner *p, unsigned nic)
{
	unsigned order = 0;

	for (unsigned i = 0; i < p->t->n_irqs; i++) {
		const struct irq *irq = &p->t->irq[i];
		unsigned q = order;

		if (irq->nic != (int)nic || irq->role != IRQ_TX || !placement_movable(irq))
			continue;
		for (unsigned k = 0; irq->queue >= 0 && k < p->n_queues; k++)
			if (p->t->irq[p->queue_irq[k]].queue == irq->queue)
				q = k;
		if (p->n_queues > 0)
			plan_move(p, i, p->queue_cpu[q % p->n_queues]);
		order++;
	}
}

size_t placement_plan(const struct topology *t, unsigned nic, enum placement strategy,
		      const struct cpuset *allowed, const struct cpuset *consumers,
		      struct move *moves, size_t max)
{
	struct planner p = {.t = t, .moves = moves, .max = max};

	if (strategy == PLACEMENT_LEAVE || nic >= t->n_nics)
		return 0;
	find_candidates(t, &t->nic[nic], allowed, consumers, &p.c);
	if (p.c.all == 0)
		return 0;
	count_used(&p, nic);
	if (strategy == PLACEMENT_PACK) {
		plan_pack(&p, nic);
		return p.n;
	}
	for (unsigned i = 0; i < t->n_irqs; i++) {
		const struct irq *irq = &t->irq[i];

		if (irq->nic == (int)nic && irq->role != IRQ_TX && placement_movable(irq) &&
		    p.n_queues < QUEUES_MAX)
			p.queue_irq[p.n_queues++] = i;
	}
	if (p.n_queues == 0)
		return 0;
	plan_spread(&p);
	place_transmit(&p, nic);
	return p.n;
}
