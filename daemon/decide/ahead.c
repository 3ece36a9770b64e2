/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/ahead.h"

static bool goes_first(const struct rt_task *task, const struct irq *irq, unsigned cpu)
{
	return task->rank > irq->thread_rank && cpuset_has(&task->allowed, cpu);
}

struct ahead ahead_of_nic(const struct topology *t, unsigned nic, const struct rt_task *tasks,
			  size_t n)
{
	struct ahead a = {};

	for (size_t k = 0; k < n; k++) {
		bool first = false;

		for (unsigned i = 0; i < t->n_irqs; i++) {
			const struct irq *irq = &t->irq[i];
			unsigned cpu = topology_irq_home(irq);

			/* A thread of rank 0 is one that somebody took the priority from, or that could
			 * not be read: whose turn it is cannot be told. */
			if (irq->nic != (int)nic || irq->role == IRQ_OTHER || irq->thread <= 0 ||
			    irq->thread_rank == 0 || cpu >= CPU_ID_MAX ||
			    !goes_first(&tasks[k], irq, cpu))
				continue;
			first = true;
			cpuset_add(&a.cpus, cpu);
			if (a.thread_rank == 0 || irq->thread_rank < a.thread_rank)
				a.thread_rank = irq->thread_rank;
		}
		if (!first)
			continue;
		a.tasks++;
		if (!a.task || tasks[k].rank > a.task->rank)
			a.task = &tasks[k];
	}
	return a;
}
