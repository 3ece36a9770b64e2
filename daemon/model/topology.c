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
	free(t->napi);
	free(t->policy);
	free(t->sock);
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

unsigned topology_irq_home(const struct irq *irq)
{
	unsigned cpu = cpuset_first(&irq->affinity);

	if (irq->have_affinity && cpu < CPU_ID_MAX &&
	    cpuset_next(&irq->affinity, cpu + 1) == CPU_ID_MAX)
		return cpu;
	return irq->have_effective ? cpuset_first(&irq->effective) : CPU_ID_MAX;
}

bool topology_irqbalance_moves(const struct topology *t, unsigned nic)
{
	for (unsigned i = 0; t->irqbalance && i < t->n_irqs; i++) {
		const struct irq *irq = &t->irq[i];

		if (irq->nic == (int)nic && irq->role != IRQ_OTHER && !irq->managed &&
		    !irq->shared && !irq->banned)
			return true;
	}
	return false;
}

struct cpuset topology_node_cpus(const struct topology *t, int node)
{
	struct cpuset cpus = {};

	for (unsigned cpu = 0; node >= 0 && cpu < t->n_cpus; cpu++)
		if (t->cpu[cpu].node == node)
			cpuset_add(&cpus, cpu);
	return cpus;
}

static int part(const struct cpu *c, enum shared what)
{
	return what == SHARED_CACHE ? c->cache : what == SHARED_NODE ? c->node : c->core;
}

struct cpuset topology_sharing(const struct topology *t, const struct cpuset *among,
			       enum shared what)
{
	struct cpuset cpus = {}, parts = {};

	cpuset_for_each (cpu, among) {
		int p = cpu < t->n_cpus ? part(&t->cpu[cpu], what) : -1;

		if (p >= 0 && p < CPU_ID_MAX)
			cpuset_add(&parts, (unsigned)p);
	}
	for (unsigned cpu = 0; cpu < t->n_cpus; cpu++) {
		int p = part(&t->cpu[cpu], what);

		if (p >= 0 && p < CPU_ID_MAX && cpuset_has(&parts, (unsigned)p))
			cpuset_add(&cpus, cpu);
	}
	return cpus;
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

static struct target nic_target(const struct nic *nic)
{
	struct target t = scoped_target(SCOPE_NIC, nic->ifindex, nic->identity);

	strcpy(t.nic, nic->name);
	return t;
}

static bool has_own(const struct napi *napi, enum tunable_id id)
{
	return id == TUNABLE_NAPI_THREAD_AFFINITY ? napi->thread > 0
						  : napi->own_settings & NAPI_SETTING(id);
}

static struct target napi_target(const struct topology *t, const struct napi *napi,
				 enum tunable_id id)
{
	unsigned number = id == TUNABLE_NAPI_THREAD_AFFINITY ? (unsigned)napi->thread : napi->id;
	struct target target = scoped_target(SCOPE_NAPI, number, napi->identity);

	strcpy(target.nic, t->nic[napi->nic].name);
	return target;
}

static struct target queue_target(const struct nic *nic, unsigned queue)
{
	struct target t = {.scope = SCOPE_QUEUE, .number = queue};

	append_text(t.identity, sizeof(t.identity), "%s|rx%u", nic->identity, queue);
	strcpy(t.nic, nic->name);
	return t;
}

static struct target sock_target(const struct sock *sock)
{
	struct target t = scoped_target(SCOPE_SOCKET, (unsigned)sock->pid, sock->identity);

	t.fd = sock->fd;
	return t;
}

static size_t targets_of_nic(const struct topology *t, enum tunable_id id, unsigned nic,
			     struct target *ret)
{
	size_t n = 0;

	if (!*t->nic[nic].identity)
		return 0;
	if (tunables[id].scope == SCOPE_NIC) {
		ret[0] = nic_target(&t->nic[nic]);
		return 1;
	}
	if (tunables[id].scope == SCOPE_QUEUE) {
		for (unsigned queue = 0; queue < t->nic[nic].rx_queues; queue++)
			ret[n++] = queue_target(&t->nic[nic], queue);
		return n;
	}
	for (unsigned i = 0; i < t->n_napis; i++)
		if (t->napi[i].nic == (int)nic && has_own(&t->napi[i], id))
			ret[n++] = napi_target(t, &t->napi[i], id);
	if (n == 0 && id != TUNABLE_NAPI_THREAD_AFFINITY && tunables[id].path)
		ret[n++] = nic_target(&t->nic[nic]);
	return n;
}

int topology_targets(const struct topology *t, enum tunable_id id, struct target **ret)
{
	size_t max = (size_t)1 + t->n_irqs + t->n_policies + t->n_cpus + t->n_nics + t->n_napis +
		     t->n_socks;
	size_t n = 0;
	struct target *found;

	for (unsigned i = 0; i < t->n_nics; i++)
		max += t->nic[i].rx_queues;
	found = calloc(max, sizeof(*found));
	if (!found)
		return -ENOMEM;
	switch (tunables[id].scope) {
	case SCOPE_HOST:
		found[n++] = target_host();
		break;
	case SCOPE_IRQ:
		for (unsigned i = 0; i < t->n_irqs; i++)
			found[n++] = irq_target(&t->irq[i]);
		break;
	case SCOPE_POLICY:
		for (unsigned i = 0; i < t->n_policies; i++)
			found[n++] = policy_target(&t->policy[i]);
		break;
	case SCOPE_CPU:
		for (unsigned i = 0; t->cpu_latency && i < t->n_cpus; i++)
			if (t->cpu[i].present)
				found[n++] = cpu_target(i);
		break;
	case SCOPE_THREAD:
		for (unsigned i = 0; i < t->n_irqs; i++)
			if (t->irq[i].thread > 0)
				found[n++] = irq_thread_target(&t->irq[i]);
		break;
	case SCOPE_SOCKET:
		for (unsigned i = 0; i < t->n_socks; i++)
			if (t->sock[i].epoll == (id == TUNABLE_EPOLL_BUSY_POLL))
				found[n++] = sock_target(&t->sock[i]);
		break;
	case SCOPE_NIC:
	case SCOPE_NAPI:
	case SCOPE_QUEUE:
		for (unsigned i = 0; i < t->n_nics; i++)
			n += targets_of_nic(t, id, i, found + n);
		break;
	}
	*ret = found;
	return (int)n;
}

const struct nic *topology_nic_of_identity(const struct topology *t, const char *identity)
{
	for (unsigned i = 0; i < t->n_nics; i++) {
		const char *own = t->nic[i].identity;
		size_t n = strlen(own);

		if (n > 0 && strncmp(own, identity, n) == 0 &&
		    (identity[n] == '\0' || identity[n] == '|'))
			return &t->nic[i];
	}
	return NULL;
}

static int find_nic_target(const struct topology *t, enum tunable_id id, const char *identity,
			   struct target *ret)
{
	const struct nic *nic = topology_nic_of_identity(t, identity);

	if (!nic)
		return -ENODEV;
	/* Representors may share device and port: whose would the original be? */
	for (const struct nic *other = nic + 1; other < t->nic + t->n_nics; other++)
		if (streq(other->identity, nic->identity))
			return -ENOTUNIQ;
	if (tunables[id].scope == SCOPE_QUEUE) {
		for (unsigned queue = 0; queue < nic->rx_queues; queue++) {
			*ret = queue_target(nic, queue);
			if (streq(ret->identity, identity))
				return 0;
		}
		return nic->rx_queues > 0 ? -ENODEV : -EIO;
	}
	if (streq(nic->identity, identity)) {
		*ret = nic_target(nic);
		return 0;
	}
	for (unsigned i = 0; i < t->n_napis; i++)
		if (streq(t->napi[i].identity, identity) && has_own(&t->napi[i], id)) {
			*ret = napi_target(t, &t->napi[i], id);
			return 0;
		}
	/* A NAPI's settings outlast ifdown in the kernel, and so do the threads of drivers that keep
	 * their instances (virtio_net); other threads have ended, which is seen when it is up again.
	 */
	return nic->up && (t->napis_told || id == TUNABLE_NAPI_THREAD_AFFINITY) ? -ENODEV : -ENXIO;
}

int topology_find_target(const struct topology *t, enum tunable_id id, const char *identity,
			 struct target *ret)
{
	const struct policy *policy;
	const struct irq *irq;
	int cpu;

	switch (tunables[id].scope) {
	case SCOPE_HOST:
		*ret = target_host();
		return streq(identity, ret->identity) ? 0 : -ENODEV;
	case SCOPE_IRQ:
		irq = topology_irq_by_identity(t, identity);
		if (irq)
			*ret = irq_target(irq);
		return irq ? 0 : -ENODEV;
	case SCOPE_POLICY:
		policy = topology_policy_by_identity(t, identity);
		if (policy)
			*ret = policy_target(policy);
		return policy ? 0 : -ENODEV;
	case SCOPE_CPU:
		cpu = topology_cpu_by_identity(t, identity);
		if (cpu >= 0)
			*ret = cpu_target((unsigned)cpu);
		return cpu >= 0 ? 0 : -ENODEV;
	case SCOPE_THREAD:
		irq = topology_irq_by_thread(t, identity);
		if (irq)
			*ret = irq_thread_target(irq);
		return irq ? 0 : -ENODEV;
	case SCOPE_SOCKET:
		for (unsigned i = 0; i < t->n_socks; i++)
			if (streq(t->sock[i].identity, identity)) {
				*ret = sock_target(&t->sock[i]);
				return 0;
			}
		return -ENODEV;
	case SCOPE_NIC:
	case SCOPE_NAPI:
	case SCOPE_QUEUE:
		return find_nic_target(t, id, identity, ret);
	}
	return -EINVAL;
}
