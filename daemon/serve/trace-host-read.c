/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-host.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/scan.h"
#include "serve/trace-format.h"

#define POLICIES_MAX  CPU_ID_MAX
#define NIC_RULES_MAX 256

int trace_fault(struct trace_fault *f, const char *fmt, ...)
{
	char text[sizeof(f->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* Keys of a hostile file are among the words. */
	slice_show(slice_of(text, strlen(text)), f->text, sizeof(f->text));
	return -EBADMSG;
}

int trace_number(const json_t *d, const char *what, int64_t min, int64_t max, int64_t *ret,
		 struct trace_fault *fault)
{
	int64_t v = 0;

	if (!json_is_integer(d))
		return trace_fault(fault, "%s: not a whole number", what);
	v = json_integer_value(d);
	if (v < min || v > max)
		return trace_fault(fault, "%s: %lld is outside %lld … %lld", what, (long long)v,
				   (long long)min, (long long)max);
	*ret = v;
	return 0;
}

int trace_cpus(const json_t *d, const char *what, struct cpuset *ret, struct trace_fault *fault)
{
	if (!json_is_string(d) || cpuset_parse_list(json_string_value(d), ret) < 0)
		return trace_fault(fault, "%s: not a list of CPUs such as \"0-3,8\"", what);
	return 0;
}

int trace_copy(const char *text, const char *what, char *buf, size_t size,
	       struct trace_fault *fault)
{
	char shown[1024];
	size_t n = strlen(text);

	if (n >= size || n >= sizeof(shown))
		return trace_fault(fault, "%s: longer than %zu bytes", what,
				   MIN(size, sizeof(shown)) - 1);
	slice_show(slice_of(text, n), shown, sizeof(shown));
	if (!streq(shown, text))
		return trace_fault(fault, "%s: holds control characters", what);
	memcpy(buf, text, n + 1);
	return 0;
}

/* json_unpack_ex(), with its error in FAULT; every format here is strict. */
static int unpack_failed(const json_error_t *e, const char *what, struct trace_fault *fault)
{
	return trace_fault(fault, "%s: %s", what, e->text);
}
#define UNPACK(d, what, fault, ...)                                        \
	({                                                                 \
		json_error_t _error;                                       \
		json_unpack_ex((d), &_error, JSON_STRICT, __VA_ARGS__) < 0 \
			? unpack_failed(&_error, (what), (fault))          \
			: 0;                                               \
	})

static int within(const struct cpuset *set, unsigned n_cpus, const char *what,
		  struct trace_fault *fault)
{
	if (cpuset_next(set, n_cpus) < CPU_ID_MAX)
		return trace_fault(fault, "%s: CPU %u of %u", what, cpuset_next(set, n_cpus),
				   n_cpus);
	return 0;
}

static int read_column(json_t *d, const char *what, const struct topology *t, int64_t min,
		       int64_t max, void (*put)(struct cpu *c, int v), struct trace_fault *fault)
{
	int64_t v = 0;
	int r;

	if (!json_is_array(d) || json_array_size(d) != t->n_cpus)
		return trace_fault(fault, "topology.cpus.%s: wants %u numbers", what, t->n_cpus);
	for (unsigned i = 0; i < t->n_cpus; i++) {
		r = trace_number(json_array_get(d, i), what, min, max, &v, fault);
		if (r < 0)
			return r;
		put(&t->cpu[i], (int)v);
	}
	return 0;
}

static void put_node(struct cpu *c, int v)
{
	c->node = v;
}

static void put_package(struct cpu *c, int v)
{
	c->package = v;
}

static void put_core(struct cpu *c, int v)
{
	c->core = v;
}

static void put_cache(struct cpu *c, int v)
{
	c->cache = v;
}

static void put_smt(struct cpu *c, int v)
{
	c->smt = (unsigned)v;
}

static void put_capacity(struct cpu *c, int v)
{
	c->capacity = (unsigned)v;
}

static int read_cpu_sets(struct topology *t, json_t *possible, json_t *present_list, json_t *online,
			 json_t *isolated, struct trace_fault *fault)
{
	const struct {
		json_t *d;
		const char *what;
		struct cpuset *set;
	} sets[] = {
		{possible, "possible", &t->possible},
		{online, "online", &t->online},
		{isolated, "isolated", &t->isolated},
		{present_list, "present", &(struct cpuset){}},
	};
	int r;

	for (size_t i = 0; i < ELEMENTSOF(sets); i++) {
		r = trace_cpus(sets[i].d, sets[i].what, sets[i].set, fault);
		if (r >= 0)
			r = within(sets[i].set, t->n_cpus, sets[i].what, fault);
		if (r < 0)
			return r;
	}
	for (unsigned i = 0; i < t->n_cpus; i++) {
		t->cpu[i].present = cpuset_has(sets[3].set, i);
		t->cpu[i].online = cpuset_has(&t->online, i);
		t->cpu[i].isolated = cpuset_has(&t->isolated, i);
	}
	return 0;
}

static int read_cpus(json_t *d, struct topology *t, struct trace_fault *fault)
{
	json_t *n = NULL, *possible = NULL, *present = NULL, *online = NULL, *isolated = NULL;
	json_t *node = NULL, *package = NULL, *core = NULL, *cache = NULL, *smt = NULL;
	json_t *capacity = NULL;
	int64_t count = 0;
	int r;

	r = UNPACK(d, "topology.cpus", fault, "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "n",
		   &n, "possible", &possible, "present", &present, "online", &online, "isolated",
		   &isolated, "node", &node, "package", &package, "core", &core, "cache", &cache,
		   "smt", &smt, "capacity", &capacity);
	if (r >= 0)
		r = trace_number(n, "topology.cpus.n", 1, CPU_ID_MAX, &count, fault);
	if (r < 0)
		return r;
	t->n_cpus = (unsigned)count;
	t->cpu = calloc(MAX(t->n_cpus, 1U), sizeof(*t->cpu));
	if (!t->cpu)
		return -ENOMEM;
	r = read_column(node, "node", t, -1, INT16_MAX, put_node, fault);
	if (r >= 0)
		r = read_column(package, "package", t, -1, INT16_MAX, put_package, fault);
	if (r >= 0)
		r = read_column(core, "core", t, -1, INT16_MAX, put_core, fault);
	if (r >= 0)
		r = read_column(cache, "cache", t, -1, INT16_MAX, put_cache, fault);
	if (r >= 0)
		r = read_column(smt, "smt", t, 0, INT16_MAX, put_smt, fault);
	if (r >= 0)
		r = read_column(capacity, "capacity", t, 0, UINT16_MAX, put_capacity, fault);
	return r < 0 ? r : read_cpu_sets(t, possible, present, online, isolated, fault);
}

static int read_nic(json_t *d, struct nic *n, struct trace_fault *fault)
{
	const char *name, *driver;
	json_t *node, *queues;
	int up, rps, device, r;
	int64_t v = 0;

	r = UNPACK(d, "topology.nics", fault, "{s:s,s:s,s:o,s:o,s:b,s:b,s:b}", "name", &name,
		   "driver", &driver, "node", &node, "queues", &queues, "up", &up, "rps", &rps,
		   "device", &device);
	if (r >= 0)
		r = trace_copy(name, "name of a NIC", n->name, sizeof(n->name), fault);
	if (r >= 0)
		r = trace_copy(driver, "driver of a NIC", n->driver, sizeof(n->driver), fault);
	if (r >= 0)
		r = trace_number(node, "node of a NIC", -1, INT16_MAX, &v, fault);
	if (r < 0)
		return r;
	n->node = (int)v;
	r = trace_number(queues, "queues of a NIC", 0, UINT16_MAX, &v, fault);
	if (r < 0)
		return r;
	n->rx_queues = (unsigned)v;
	n->up = up;
	n->rps = rps;
	/* Where it is plugged in was not recorded; whether it is a device at all matters. */
	if (device)
		strcpy(n->device, "recorded");
	return 0;
}

static int read_role(const char *text, enum irq_role *ret)
{
	for (int role = IRQ_OTHER; role <= IRQ_TX; role++)
		if (streq(irq_role_to_string((enum irq_role)role), text)) {
			*ret = (enum irq_role)role;
			return 0;
		}
	return -EINVAL;
}

static int read_mask(json_t *d, const char *what, bool *have, struct cpuset *set,
		     struct trace_fault *fault)
{
	*have = !json_is_null(d);
	return *have ? trace_cpus(d, what, set, fault) : 0;
}

static int read_irq(json_t *d, const struct topology *t, struct irq *i, struct trace_fault *fault)
{
	json_t *number, *nic, *queue, *affinity, *effective;
	const char *role, *name, *identity;
	int managed, shared, banned = false, r;
	int64_t v = 0;

	r = UNPACK(d, "topology.irqs", fault, "{s:o,s:o,s:o,s:s,s:b,s:b,s?b,s:o,s:o,s:s,s:s}",
		   "irq", &number, "nic", &nic, "queue", &queue, "role", &role, "managed", &managed,
		   "shared", &shared, "banned", &banned, "affinity", &affinity, "effective",
		   &effective, "name", &name, "identity", &identity);
	if (r >= 0)
		r = trace_number(number, "number of an interrupt", 0, INT32_MAX, &v, fault);
	if (r < 0)
		return r;
	i->number = (unsigned)v;
	r = trace_number(nic, "nic of an interrupt", -1, (int64_t)t->n_nics - 1, &v, fault);
	if (r < 0)
		return r;
	i->nic = (int)v;
	r = trace_number(queue, "queue of an interrupt", -1, UINT16_MAX, &v, fault);
	if (r < 0)
		return r;
	i->queue = (int)v;
	i->managed = managed;
	i->shared = shared;
	i->banned = banned;
	if (read_role(role, &i->role) < 0)
		return trace_fault(fault, "role of an interrupt: \"%s\"", role);
	r = read_mask(affinity, "affinity", &i->have_affinity, &i->affinity, fault);
	if (r >= 0)
		r = read_mask(effective, "effective", &i->have_effective, &i->effective, fault);
	if (r >= 0)
		r = trace_copy(name, "name of an interrupt", i->name, sizeof(i->name), fault);
	if (r >= 0)
		r = trace_copy(identity, "identity of an interrupt", i->identity,
			       sizeof(i->identity), fault);
	return r;
}

static int read_policy(json_t *d, struct policy *p, struct trace_fault *fault)
{
	const char *driver, *governor, *governors, *identity;
	json_t *number, *cpus, *epp, *epps;
	int active, r;
	int64_t v = 0;

	r = UNPACK(d, "topology.policies", fault, "{s:o,s:o,s:b,s:s,s:s,s:s,s:o,s:o,s:s}", "policy",
		   &number, "cpus", &cpus, "active", &active, "driver", &driver, "governor",
		   &governor, "governors", &governors, "epp", &epp, "epps", &epps, "identity",
		   &identity);
	if (r >= 0)
		r = trace_number(number, "number of a policy", 0, CPU_ID_MAX, &v, fault);
	if (r < 0)
		return r;
	p->number = (unsigned)v;
	p->active = active;
	p->have_epp = !json_is_null(epp);
	if (p->have_epp && (!json_is_string(epp) || !json_is_string(epps)))
		return trace_fault(fault, "epp of a policy: neither text nor null");
	const struct {
		const char *text, *what;
		char *buf;
		size_t size;
	} texts[] = {
		{driver, "driver of a policy", p->driver, sizeof(p->driver)},
		{governor, "governor", p->governor, sizeof(p->governor)},
		{governors, "governors", p->governors, sizeof(p->governors)},
		{json_string_value(epp) ?: "", "epp", p->epp, sizeof(p->epp)},
		{json_string_value(epps) ?: "", "epps", p->epps, sizeof(p->epps)},
		{identity, "identity of a policy", p->identity, sizeof(p->identity)},
	};
	r = trace_cpus(cpus, "cpus of a policy", &p->cpus, fault);
	for (size_t i = 0; r >= 0 && i < ELEMENTSOF(texts); i++)
		r = trace_copy(texts[i].text, texts[i].what, texts[i].buf, texts[i].size, fault);
	return r;
}

static int read_flags(json_t *d, struct topology *t, struct trace_fault *fault)
{
	json_t *flag;
	size_t i;

	json_array_foreach (d, i, flag) {
		const char *name = json_string_value(flag);
		bool known = false;

		for (size_t k = 0; name && k < trace_n_flags; k++)
			if (streq(trace_flags[k].name, name))
				known = *(bool *)((char *)t + trace_flags[k].offset) = true;
		if (!known)
			return trace_fault(fault, "topology.flags: unknown flag \"%s\"",
					   name ?: "");
	}
	return 0;
}

/* Room for the members of array D, at most MAX. */
static int make_room(json_t *d, const char *what, size_t max, size_t size, void **ret,
		     unsigned *ret_n, struct trace_fault *fault)
{
	size_t n = json_array_size(d);

	if (!json_is_array(d))
		return trace_fault(fault, "topology.%s: not an array", what);
	if (n > max)
		return trace_fault(fault, "topology.%s: more than %zu", what, max);
	*ret = calloc(MAX(n, (size_t)1), size);
	if (!*ret)
		return -ENOMEM;
	*ret_n = (unsigned)n;
	return 0;
}

int trace_topology_read(json_t *d, struct topology **ret, struct trace_fault *fault)
{
	_cleanup_(topology_freep) struct topology *t = calloc(1, sizeof(*t));
	json_t *cpus, *nics, *irqs, *policies, *flags;
	const char *rivals;
	int r;

	if (!t)
		return -ENOMEM;
	r = UNPACK(d, "topology", fault, "{s:o,s:o,s:o,s:o,s:o,s:s}", "cpus", &cpus, "nics", &nics,
		   "irqs", &irqs, "policies", &policies, "flags", &flags, "rivals", &rivals);
	if (r >= 0)
		r = read_cpus(cpus, t, fault);
	if (r >= 0)
		r = make_room(nics, "nics", TRACE_NICS_MAX, sizeof(*t->nic), (void **)&t->nic,
			      &t->n_nics, fault);
	if (r >= 0)
		r = make_room(irqs, "irqs", MIN(TRACE_IRQS_MAX, TRACE_CELLS_MAX / t->n_cpus),
			      sizeof(*t->irq), (void **)&t->irq, &t->n_irqs, fault);
	if (r >= 0)
		r = make_room(policies, "policies", POLICIES_MAX, sizeof(*t->policy),
			      (void **)&t->policy, &t->n_policies, fault);
	for (unsigned i = 0; r >= 0 && i < t->n_nics; i++)
		r = read_nic(json_array_get(nics, i), &t->nic[i], fault);
	for (unsigned i = 0; r >= 0 && i < t->n_irqs; i++)
		r = read_irq(json_array_get(irqs, i), t, &t->irq[i], fault);
	for (unsigned i = 0; r >= 0 && i < t->n_policies; i++)
		r = read_policy(json_array_get(policies, i), &t->policy[i], fault);
	if (r >= 0 && !json_is_array(flags))
		r = trace_fault(fault, "topology.flags: not an array");
	if (r >= 0)
		r = read_flags(flags, t, fault);
	if (r >= 0)
		r = trace_copy(rivals, "topology.rivals", t->rivals, sizeof(t->rivals), fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

/* ---- the profile ---- */

static int set_origin(struct origin *o, unsigned line)
{
	o->file = strdup("recording");
	o->line = line;
	return o->file ? 0 : -ENOMEM;
}

static int read_setting(const char *key, json_t *d, unsigned line, struct profile *p,
			struct trace_fault *fault)
{
	const struct tunable *t = tunable_find(key);
	struct profile_setting *s;
	char text[256];
	int r;

	if (!t)
		return trace_fault(fault, "profile.settings: no setting \"%s\"", key);
	s = &p->setting[tunable_index(t)];
	if (json_is_array(d)) {
		if (t->type != VALUE_NUMBER || json_array_size(d) != 2)
			return trace_fault(fault, "profile.settings.%s: not a range", key);
		s->kind = SETTING_RANGE;
		r = trace_number(json_array_get(d, 0), key, t->min, t->max, &s->low, fault);
		if (r >= 0)
			r = trace_number(json_array_get(d, 1), key, t->min, t->max, &s->high,
					 fault);
		if (r >= 0 && tunable_rank(t, s->low) > tunable_rank(t, s->high))
			return trace_fault(fault, "profile.settings.%s: not a range", key);
		return r < 0 ? r : set_origin(&s->origin, line);
	}
	if (!json_is_string(d))
		return trace_fault(fault, "profile.settings.%s: neither range nor text", key);
	r = trace_copy(json_string_value(d), key, text, sizeof(text), fault);
	if (r < 0)
		return r;
	if (t->type == VALUE_NUMBER && tunable_canonical(t, text, true, (char[64]){}, 64) < 0)
		return trace_fault(fault, "profile.settings.%s: no such value \"%s\"", key, text);
	s->kind = SETTING_VALUE;
	s->value = strdup(text);
	return s->value ? set_origin(&s->origin, line) : -ENOMEM;
}

static int read_rule(json_t *d, struct nic_rule *n, struct trace_fault *fault)
{
	const char *match, *placement;
	char text[64];
	json_t *cpus, *near = NULL;
	int r;

	/* Recordings from before placement "near" do not have near_cpus. */
	r = UNPACK(d, "profile.nics", fault, "{s:s,s:s,s:o,s?o}", "match", &match, "placement",
		   &placement, "cpus", &cpus, "near_cpus", &near);
	if (r >= 0)
		r = trace_copy(match, "match of profile.nics", text, sizeof(text), fault);
	if (r < 0)
		return r;
	if (placement_from_string(placement, &n->placement) < 0)
		return trace_fault(fault, "profile.nics: no placement \"%s\"", placement);
	n->match = strdup(text);
	if (!n->match)
		return -ENOMEM;
	r = read_mask(cpus, "cpus of profile.nics", &n->has_cpus, &n->cpus, fault);
	if (r >= 0 && near)
		r = read_mask(near, "near_cpus of profile.nics", &n->has_near_cpus, &n->near_cpus,
			      fault);
	if (r >= 0 && (n->placement == PLACEMENT_NEAR) != n->has_near_cpus)
		r = trace_fault(fault, "profile.nics: placement near and near_cpus go together");
	return r;
}

int trace_profile_read(json_t *d, unsigned line, struct profile **ret, struct trace_fault *fault)
{
	_cleanup_(profile_freep) struct profile *p = calloc(1, sizeof(*p));
	json_t *settings, *nics, *value;
	char text[128];
	const char *name, *key, *objective = objective_names[OBJECTIVE_SYMPTOM];
	int despite, r;

	if (!p)
		return -ENOMEM;
	/* Recordings from before profiles had an objective do not say it. */
	r = UNPACK(d, "profile", fault, "{s:s,s:o,s:o,s:b,s?s}", "name", &name, "settings",
		   &settings, "nics", &nics, "despite_irqbalance", &despite, "objective",
		   &objective);
	if (r >= 0)
		r = trace_copy(name, "profile.name", text, sizeof(text), fault);
	if (r < 0)
		return r;
	p->name = strdup(text);
	if (!p->name)
		return -ENOMEM;
	p->place_despite_irqbalance = despite;
	if (objective_from_string(objective, &p->objective) < 0)
		return trace_fault(fault, "profile: no such objective");
	if (!json_is_object(settings) || !json_is_array(nics) ||
	    json_array_size(nics) > NIC_RULES_MAX)
		return trace_fault(fault, "profile: settings is no object or nics no array");
	json_object_foreach (settings, key, value) {
		r = read_setting(key, value, line, p, fault);
		if (r < 0)
			return r;
	}
	p->nic = calloc(MAX(json_array_size(nics), (size_t)1), sizeof(*p->nic));
	if (!p->nic)
		return -ENOMEM;
	for (; p->n_nics < json_array_size(nics); p->n_nics++) {
		r = read_rule(json_array_get(nics, p->n_nics), &p->nic[p->n_nics], fault);
		if (r < 0) {
			p->n_nics++;
			return r;
		}
	}
	*ret = TAKE_PTR(p);
	return 0;
}
