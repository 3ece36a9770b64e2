/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/nic.h"

#include <stdio.h>

#include "decide/steering.h"

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
		c->implied = true;
		append_text(c->to, sizeof(c->to), "0");
		append_text(c->why, sizeof(c->why),
			    "profile %s states fixed coalescing, which adaptive coalescing would "
			    "overrule",
			    p->name);
	}
}

/* USABLE CPUs near HOME: of its cache, else of its node, else all. */
static struct cpuset neighbours(const struct topology *t, unsigned home,
				const struct cpuset *usable)
{
	struct cpuset cache = {}, node = {};

	cpuset_for_each (cpu, usable) {
		if (cpu >= t->n_cpus)
			continue;
		if (cpu == home ||
		    (t->cpu[cpu].cache >= 0 && t->cpu[cpu].cache == t->cpu[home].cache))
			cpuset_add(&cache, cpu);
		if (t->cpu[cpu].node == t->cpu[home].node)
			cpuset_add(&node, cpu);
	}
	if (cpuset_count(&cache) > 1)
		return cache;
	return cpuset_empty(&node) ? *usable : node;
}

void nic_thread_plan(const struct topology *t, unsigned nic, const struct cpuset *allowed,
		     unsigned *ret)
{
	struct cpuset usable = cpuset_minus(&t->online, &t->isolated);
	uint16_t used[CPU_ID_MAX] = {};

	if (allowed)
		usable = cpuset_and(&usable, allowed);
	for (unsigned i = 0; i < t->n_napis; i++) {
		const struct napi *napi = &t->napi[i];
		unsigned home, best;
		struct cpuset near;

		ret[i] = CPU_ID_MAX;
		if (napi->nic != (int)nic || napi->thread <= 0 || napi->irq < 0 ||
		    cpuset_empty(&usable))
			continue;
		home = topology_irq_home(&t->irq[napi->irq]);
		if (home >= t->n_cpus)
			continue;
		near = neighbours(t, home, &usable);
		best = cpuset_has(&near, home) ? home : cpuset_first(&near);
		cpuset_for_each (cpu, &near)
			if (used[cpu] < used[best])
				best = cpu;
		used[best]++;
		ret[i] = best;
	}
}

static void add_threads(struct list *l, const struct topology *t, const struct profile *p,
			unsigned nic)
{
	const struct nic_rule *rule = profile_nic_rule(p, t->nic[nic].name);
	_cleanup_free_ struct target *targets = NULL;
	_cleanup_free_ unsigned *cpu = NULL;
	int n;

	if (!rule || rule->napi_threads != NAPI_THREADS_NEAR || t->n_napis == 0)
		return;
	n = topology_targets(t, TUNABLE_NAPI_THREAD_AFFINITY, &targets);
	cpu = calloc(t->n_napis, sizeof(*cpu));
	if (n < 0 || !cpu) {
		l->error = -ENOMEM;
		return;
	}
	nic_thread_plan(t, nic, rule->has_cpus ? &rule->cpus : NULL, cpu);
	for (unsigned i = 0; i < t->n_napis; i++)
		for (int k = 0; k < n && cpu[i] < CPU_ID_MAX; k++) {
			struct change *c;

			if (!streq(targets[k].identity, t->napi[i].identity))
				continue;
			c = add(l, TUNABLE_NAPI_THREAD_AFFINITY, &targets[k]);
			if (!c)
				return;
			append_text(c->to, sizeof(c->to), "%u", cpu[i]);
			append_text(c->why, sizeof(c->why),
				    "profile %s: NAPI threads near their interrupts, IRQ %u for "
				    "this one",
				    p->name, t->irq[t->napi[i].irq].number);
		}
}

bool nic_wants_rps(const struct topology *t, const struct profile *p, unsigned nic,
		   struct cpuset *ret)
{
	const struct nic_rule *rule = profile_nic_rule(p, t->nic[nic].name);

	if (!rule || rule->rps != RPS_NEAR)
		return false;
	*ret = rps_plan(t, nic, rule->has_cpus ? &rule->cpus : NULL);
	return !cpuset_empty(ret);
}

static void add_steering(struct list *l, const struct topology *t, const struct profile *p,
			 unsigned nic)
{
	_cleanup_free_ struct target *targets = NULL;
	struct cpuset cpus;
	int n;

	if (!nic_wants_rps(t, p, nic, &cpus))
		return;
	n = topology_targets(t, TUNABLE_RPS_CPUS, &targets);
	if (n < 0)
		l->error = n;
	for (int i = 0; i < n; i++) {
		struct change *c;

		if (!of_nic(&targets[i], &t->nic[nic]))
			continue;
		c = add(l, TUNABLE_RPS_CPUS, &targets[i]);
		if (!c)
			return;
		l->error = MIN(cpuset_format_list(&cpus, c->to, sizeof(c->to)), l->error);
		append_text(c->why, sizeof(c->why),
			    "profile %s: %u receive queue%s of %s for more cores near it", p->name,
			    t->nic[nic].rx_queues, t->nic[nic].rx_queues == 1 ? "" : "s",
			    t->nic[nic].name);
	}
}

int nic_policy(const struct topology *t, const struct profile *p, unsigned nic, struct change **ret)
{
	struct list l = {};

	*ret = NULL;
	/* Many drivers make their queues only when they are opened (case H31, systemd#5645). */
	if (nic >= t->n_nics || !*t->nic[nic].identity || !t->nic[nic].up)
		return 0;
	for (enum tunable_id id = TUNABLE_COALESCE_ADAPTIVE_RX; id <= TUNABLE_COALESCE_TX_FRAMES;
	     id++)
		add_setting(&l, t, p, &t->nic[nic], id);
	for (enum tunable_id id = TUNABLE_NAPI_THREADED; id <= TUNABLE_IRQ_SUSPEND_TIMEOUT; id++)
		add_setting(&l, t, p, &t->nic[nic], id);
	add_threads(&l, t, p, nic);
	add_setting(&l, t, p, &t->nic[nic], TUNABLE_RPS_FLOW_CNT);
	add_steering(&l, t, p, nic);
	if (l.error < 0) {
		free(l.item);
		return l.error;
	}
	*ret = l.item;
	return (int)l.n;
}
