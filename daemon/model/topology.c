/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/topology.h"

#include <stdio.h>

const char *irq_role_to_string(enum irq_role r)
{
	static const char *const names[] = {"other", "rx", "rxtx", "tx"};

	return names[r];
}

void topology_free(struct topology *t)
{
	if (!t)
		return;
	free(t->cpu);
	free(t->irq);
	free(t->nic);
	free(t->policy);
	free(t);
}

const struct irq *topology_irq(const struct topology *t, unsigned number)
{
	for (unsigned i = 0; i < t->n_irqs; i++)
		if (t->irq[i].number == number)
			return &t->irq[i];
	return NULL;
}

const struct irq *topology_irq_by_identity(const struct topology *t, const char *identity)
{
	for (unsigned i = 0; i < t->n_irqs; i++)
		if (streq(t->irq[i].identity, identity))
			return &t->irq[i];
	return NULL;
}

const struct nic *topology_nic(const struct topology *t, const char *name)
{
	for (unsigned i = 0; i < t->n_nics; i++)
		if (streq(t->nic[i].name, name))
			return &t->nic[i];
	return NULL;
}

const struct policy *topology_policy_by_identity(const struct topology *t, const char *identity)
{
	for (unsigned i = 0; i < t->n_policies; i++)
		if (streq(t->policy[i].identity, identity))
			return &t->policy[i];
	return NULL;
}

static struct target scoped_target(enum scope scope, unsigned number, const char *identity)
{
	struct target t = {.scope = scope, .number = number};

	strcpy(t.identity, identity); /* both are IDENTITY_MAX long */
	return t;
}

struct target irq_target(const struct irq *irq)
{
	return scoped_target(SCOPE_IRQ, irq->number, irq->identity);
}

struct target irq_thread_target(const struct irq *irq)
{
	struct target t = {.scope = SCOPE_THREAD, .number = (unsigned)irq->thread};

	snprintf(t.identity, sizeof(t.identity), "%s|%d|%llu", irq->thread_comm, (int)irq->thread,
		 (unsigned long long)irq->thread_start);
	return t;
}

const struct irq *topology_irq_by_thread(const struct topology *t, const char *identity)
{
	for (unsigned i = 0; i < t->n_irqs; i++) {
		struct target target = irq_thread_target(&t->irq[i]);

		if (t->irq[i].thread > 0 && streq(target.identity, identity))
			return &t->irq[i];
	}
	return NULL;
}

struct target cpu_target(unsigned cpu)
{
	struct target t = {.scope = SCOPE_CPU, .number = cpu};

	snprintf(t.identity, sizeof(t.identity), "cpu%u", cpu);
	return t;
}

int topology_cpu_by_identity(const struct topology *t, const char *identity)
{
	for (unsigned cpu = 0; startswith(identity, "cpu") && cpu < t->n_cpus; cpu++) {
		struct target target = cpu_target(cpu);

		if (t->cpu[cpu].present && streq(target.identity, identity))
			return (int)cpu;
	}
	return -1;
}

struct cpuset topology_receive_cpus(const struct topology *t)
{
	struct cpuset cpus = {};

	for (unsigned i = 0; i < t->n_irqs; i++) {
		const struct irq *irq = &t->irq[i];

		if (irq->nic < 0 || !t->nic[irq->nic].up ||
		    (irq->role != IRQ_RX && irq->role != IRQ_RXTX))
			continue;
		if (irq->have_effective && !cpuset_empty(&irq->effective))
			cpus = cpuset_or(&cpus, &irq->effective);
		else if (irq->have_affinity)
			cpus = cpuset_or(&cpus, &irq->affinity);
	}
	return cpuset_and(&cpus, &t->online);
}

struct target policy_target(const struct policy *p)
{
	return scoped_target(SCOPE_POLICY, p->number, p->identity);
}
