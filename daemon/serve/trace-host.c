/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-host.h"

#include "base/scan.h"
#include "serve/trace-format.h"

json_t *trace_text(const char *text)
{
	char shown[1024];

	slice_show(slice_of(text, strlen(text)), shown, sizeof(shown));
	return json_string(shown);
}

static json_t *masked(struct trace_mask *m, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);

	if (!copy || trace_mask(m, copy) < 0)
		return NULL;
	return trace_text(copy);
}

json_t *trace_cpu_list(const struct cpuset *set)
{
	char list[CPUSET_LIST_MAX];

	cpuset_format_list(set, list, sizeof(list));
	return json_string(list);
}

static json_t *cpus_or_null(bool have, const struct cpuset *set)
{
	return have ? trace_cpu_list(set) : json_null();
}

/* One of the columns of struct cpu. */
static json_t *column(const struct topology *t, int (*get)(const struct cpu *c))
{
	json_t *array = json_array();

	for (unsigned i = 0; i < t->n_cpus; i++)
		if (json_array_append_new(array, json_integer(get(&t->cpu[i]))) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static int get_node(const struct cpu *c)
{
	return c->node;
}

static int get_package(const struct cpu *c)
{
	return c->package;
}

static int get_core(const struct cpu *c)
{
	return c->core;
}

static int get_cache(const struct cpu *c)
{
	return c->cache;
}

static int get_smt(const struct cpu *c)
{
	return (int)c->smt;
}

static int get_capacity(const struct cpu *c)
{
	return (int)c->capacity;
}

static json_t *cpus_part(const struct topology *t)
{
	struct cpuset present = {};

	for (unsigned i = 0; i < t->n_cpus; i++)
		if (t->cpu[i].present)
			cpuset_add(&present, i);
	return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "n",
			 (json_int_t)t->n_cpus, "possible", trace_cpu_list(&t->possible), "present",
			 trace_cpu_list(&present), "online", trace_cpu_list(&t->online), "isolated",
			 trace_cpu_list(&t->isolated), "node", column(t, get_node), "package",
			 column(t, get_package), "core", column(t, get_core), "cache",
			 column(t, get_cache), "smt", column(t, get_smt), "capacity",
			 column(t, get_capacity));
}

static json_t *nic_part(struct trace_mask *m, const struct nic *n)
{
	return json_pack("{s:o,s:o,s:i,s:I,s:b,s:b,s:b}", "name", masked(m, n->name), "driver",
			 trace_text(n->driver), "node", n->node, "queues", (json_int_t)n->rx_queues,
			 "up", (int)n->up, "rps", (int)n->rps, "device", n->device[0] != '\0');
}

static json_t *irq_part(struct trace_mask *m, const struct irq *i)
{
	return json_pack("{s:I,s:i,s:i,s:s,s:b,s:b,s:o*,s:o,s:o,s:o,s:o}", "irq",
			 (json_int_t)i->number, "nic", i->nic, "queue", i->queue, "role",
			 irq_role_to_string(i->role), "managed", (int)i->managed, "shared",
			 (int)i->shared, "banned", i->banned ? json_true() : NULL, "affinity",
			 cpus_or_null(i->have_affinity, &i->affinity), "effective",
			 cpus_or_null(i->have_effective, &i->effective), "name", masked(m, i->name),
			 "identity", masked(m, i->identity));
}

static json_t *policy_part(struct trace_mask *m, const struct policy *p)
{
	return json_pack("{s:I,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "policy", (json_int_t)p->number,
			 "cpus", trace_cpu_list(&p->cpus), "active", (int)p->active, "driver",
			 trace_text(p->driver), "governor", trace_text(p->governor), "governors",
			 trace_text(p->governors), "epp",
			 p->have_epp ? trace_text(p->epp) : json_null(), "epps",
			 p->have_epp ? trace_text(p->epps) : json_null(), "identity",
			 masked(m, p->identity));
}

json_t *trace_topology(struct trace_mask *m, const struct topology *t)
{
	json_t *nics = json_array(), *irqs = json_array(), *policies = json_array();
	json_t *flags = json_array();
	bool failed = false;

	for (unsigned i = 0; i < t->n_nics; i++)
		failed |= json_array_append_new(nics, nic_part(m, &t->nic[i])) < 0;
	for (unsigned i = 0; i < t->n_irqs; i++)
		failed |= json_array_append_new(irqs, irq_part(m, &t->irq[i])) < 0;
	for (unsigned i = 0; i < t->n_policies; i++)
		failed |= json_array_append_new(policies, policy_part(m, &t->policy[i])) < 0;
	for (size_t i = 0; i < trace_n_flags; i++)
		if (*(const bool *)((const char *)t + trace_flags[i].offset))
			failed |=
				json_array_append_new(flags, json_string(trace_flags[i].name)) < 0;
	if (failed) {
		json_decref(nics);
		json_decref(irqs);
		json_decref(policies);
		json_decref(flags);
		return NULL;
	}
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "cpus", cpus_part(t), "nics", nics, "irqs",
			 irqs, "policies", policies, "flags", flags, "rivals",
			 trace_text(t->rivals));
}

static json_t *setting_part(const struct profile_setting *s)
{
	if (s->kind == SETTING_RANGE)
		return json_pack("[I,I]", (json_int_t)s->low, (json_int_t)s->high);
	return trace_text(s->value);
}

json_t *trace_profile(struct trace_mask *m, const struct profile *p)
{
	json_t *settings = json_object(), *nics = json_array();
	bool failed = false;

	for (size_t id = 0; id < _TUNABLE_MAX; id++)
		if (p->setting[id].kind != SETTING_LEAVE)
			failed |= json_object_set_new(settings, tunables[id].id,
						      setting_part(&p->setting[id])) < 0;
	for (size_t i = 0; i < p->n_nics; i++) {
		const struct nic_rule *n = &p->nic[i];

		failed |= json_array_append_new(
				  nics,
				  json_pack("{s:o,s:s,s:o,s:o}", "match", masked(m, n->match),
					    "placement", placement_to_string(n->placement), "cpus",
					    cpus_or_null(n->has_cpus, &n->cpus), "near_cpus",
					    cpus_or_null(n->has_near_cpus, &n->near_cpus))) < 0;
	}
	if (failed) {
		json_decref(settings);
		json_decref(nics);
		return NULL;
	}
	return json_pack("{s:o,s:o,s:o,s:b,s:s}", "name", trace_text(p->name), "settings", settings,
			 "nics", nics, "despite_irqbalance", (int)p->place_despite_irqbalance,
			 "objective", objective_to_string(p->objective));
}
