/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/nic.h"

#include <stdio.h>

struct list {
	struct change *item;
	size_t n, room;
	int error;
};

static struct change *add(struct list *l, enum tunable_id id, const struct target *target)
{
	struct change *c;

	if (l->n == l->room) {
		size_t room = MAX(l->room * 2, (size_t)8);
		struct change *more = reallocarray(l->item, room, sizeof(*more));

		if (!more) {
			l->error = -ENOMEM;
			return NULL;
		}
		l->item = more;
		l->room = room;
	}
	c = &l->item[l->n++];
	*c = (struct change){.tunable = id, .target = *target, .class = CLASS_POLICY};
	change_name(c);
	return c;
}

static void add_stated(struct list *l, const struct profile *p, enum tunable_id id,
		       const struct target *target, const struct profile_setting *s)
{
	struct change *c = add(l, id, target);

	if (!c)
		return;
	append_text(c->to, sizeof(c->to), "%s", s->value);
	append_text(c->why, sizeof(c->why), "profile %s says so (%s:%u)", p->name,
		    s->origin.file ? s->origin.file : "built in", s->origin.line);
}

static bool of_nic(const struct target *target, const struct nic *nic)
{
	return streq(target->nic, nic->name);
}

/* Whether a fixed value of the direction that LEAD switches is stated. */
static bool fixes(const struct profile *p, const char *nic, enum tunable_id lead)
{
	return profile_nic_setting(p, nic, lead + 1)->kind == SETTING_VALUE ||
	       profile_nic_setting(p, nic, lead + 2)->kind == SETTING_VALUE;
}

/* All targets of NIC for one setting. */
static void add_setting(struct list *l, const struct topology *t, const struct profile *p,
			const struct nic *nic, enum tunable_id id)
{
	const struct profile_setting *s = profile_nic_setting(p, nic->name, id);
	bool lead = id == TUNABLE_COALESCE_ADAPTIVE_RX || id == TUNABLE_COALESCE_ADAPTIVE_TX;
	bool implied = lead && s->kind != SETTING_VALUE && fixes(p, nic->name, id);
	_cleanup_free_ struct target *targets = NULL;
	struct change *c;
	int n;

	if (s->kind != SETTING_VALUE && !implied)
		return;
	n = topology_targets(t, id, &targets);
	if (n < 0)
		l->error = n;
	for (int i = 0; i < n; i++) {
		if (!of_nic(&targets[i], nic))
			continue;
		if (!implied) {
			add_stated(l, p, id, &targets[i], s);
			continue;
		}
		c = add(l, id, &targets[i]);
		if (!c)
			return;
		append_text(c->to, sizeof(c->to), "0");
		append_text(c->why, sizeof(c->why),
			    "profile %s states fixed coalescing, which adaptive coalescing would "
			    "overrule",
			    p->name);
	}
}

struct cpuset nic_thread_cpus(const struct topology *t, const struct napi *napi,
			      const struct cpuset *allowed)
{
	struct cpuset usable = cpuset_minus(&t->online, &t->isolated), near = {}, others;
	const struct irq *irq = napi->irq >= 0 ? &t->irq[napi->irq] : NULL;
	struct cpuset taken = {};
	unsigned home;

	if (!irq || (!irq->have_effective && !irq->have_affinity))
		return near;
	/* Where the mask is the whole machine the effective CPU is the kernel's choice, and moves. */
	if (irq->have_effective && !cpuset_empty(&irq->effective))
		taken = irq->effective;
	else
		taken = irq->affinity;
	home = cpuset_first(&taken);
	if (home >= t->n_cpus)
		return near;
	if (allowed)
		usable = cpuset_and(&usable, allowed);
	cpuset_for_each (cpu, &usable)
		if (cpu < t->n_cpus && t->cpu[cpu].cache >= 0 &&
		    t->cpu[cpu].cache == t->cpu[home].cache)
			cpuset_add(&near, cpu);
	if (cpuset_empty(&near) && cpuset_has(&usable, home))
		cpuset_add(&near, home);
	others = near;
	cpuset_remove(&others, home);
	return cpuset_empty(&others) ? near : others;
}

static void add_threads(struct list *l, const struct topology *t, const struct profile *p,
			unsigned nic)
{
	const struct nic_rule *rule = profile_nic_rule(p, t->nic[nic].name);
	_cleanup_free_ struct target *targets = NULL;
	int n;

	if (!rule || rule->napi_threads != NAPI_THREADS_NEAR)
		return;
	n = topology_targets(t, TUNABLE_NAPI_THREAD_AFFINITY, &targets);
	if (n < 0)
		l->error = n;
	for (unsigned i = 0; i < t->n_napis; i++) {
		const struct napi *napi = &t->napi[i];
		struct cpuset cpus;
		struct change *c;

		if (napi->nic != (int)nic || napi->thread <= 0)
			continue;
		cpus = nic_thread_cpus(t, napi, rule->has_cpus ? &rule->cpus : NULL);
		for (int k = 0; k < n && !cpuset_empty(&cpus); k++) {
			if (!streq(targets[k].identity, napi->identity))
				continue;
			c = add(l, TUNABLE_NAPI_THREAD_AFFINITY, &targets[k]);
			if (!c || cpuset_format_list(&cpus, c->to, sizeof(c->to)) < 0)
				return;
			append_text(c->why, sizeof(c->why),
				    "profile %s: NAPI threads near their interrupts, IRQ %u for "
				    "this one",
				    p->name, t->irq[napi->irq].number);
		}
	}
}

int nic_policy(const struct topology *t, const struct profile *p, unsigned nic, struct change **ret)
{
	struct list l = {};

	*ret = NULL;
	if (nic >= t->n_nics || !*t->nic[nic].identity)
		return 0;
	for (enum tunable_id id = TUNABLE_COALESCE_ADAPTIVE_RX; id <= TUNABLE_COALESCE_TX_FRAMES;
	     id++)
		add_setting(&l, t, p, &t->nic[nic], id);
	for (enum tunable_id id = TUNABLE_NAPI_THREADED; id <= TUNABLE_IRQ_SUSPEND_TIMEOUT; id++)
		add_setting(&l, t, p, &t->nic[nic], id);
	add_threads(&l, t, p, nic);
	if (l.error < 0) {
		free(l.item);
		return l.error;
	}
	*ret = l.item;
	return (int)l.n;
}
