/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings and profiles as documents. */
#include "engine/describe.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/describe-parts.h"
#include "engine/internal.h"
#include "profile/profile-file.h"

static json_t *origin_text(const struct origin *o)
{
	_cleanup_free_ char *text = NULL;

	if (!o->file)
		return json_null();
	if (asprintf(&text, "%s:%u", o->file, o->line) < 0) {
		text = NULL;
		return NULL;
	}
	return text_or_null(text);
}

/* A bound of a range: the word where the numbers stand for modes. */
static json_t *bound_value(const struct tunable *t, int64_t value)
{
	return t->words && value >= t->min && value <= t->max
		       ? json_string(t->words[value - t->min])
		       : json_integer(value);
}

static json_t *profile_setting_document(enum tunable_id id, const struct profile_setting *s)
{
	static const char *const kinds[] = {"leave", "value", "range"};
	static const char *const foreign[] = {"yield", "enforce", "adopt"};
	json_t *d = json_object();

	put(d, "kind", json_string(kinds[s->kind]));
	put(d, "value", s->kind == SETTING_VALUE ? text_or_null(s->value) : json_null());
	put(d, "low", s->kind == SETTING_RANGE ? bound_value(&tunables[id], s->low) : json_null());
	put(d, "high",
	    s->kind == SETTING_RANGE ? bound_value(&tunables[id], s->high) : json_null());
	put(d, "on_foreign", json_string(foreign[s->on_foreign]));
	put(d, "origin", origin_text(&s->origin));
	return d;
}

static const struct pin *find_pin(const struct engine *e, enum tunable_id id, const char *identity)
{
	for (size_t i = 0; i < e->n_pins; i++)
		if (e->pins[i].tunable == id && streq(e->pins[i].target.identity, identity))
			return &e->pins[i];
	return NULL;
}

/* What the kernel makes of a number: whole jiffies. */
static json_t *effective_value(const struct tunable *t, const char *value, unsigned hz)
{
	int64_t number;

	if (t->granularity != GRANULARITY_JIFFY || hz == 0 || parse_i64(value, &number) < 0)
		return json_null();
	return json_integer(tunable_effective(t, number, hz));
}

/* Where the profile says what it wants of that target; NULL: it says nothing. */
static const struct origin *profile_origin(const struct engine *e, enum tunable_id id,
					   const struct target *target)
{
	const struct irq *irq;
	const struct nic_rule *rule;

	if (!e->profile)
		return NULL;
	if (id != TUNABLE_IRQ_AFFINITY)
		return e->profile->setting[id].kind == SETTING_VALUE
			       ? &e->profile->setting[id].origin
			       : NULL;
	irq = e->topology ? topology_irq_by_identity(e->topology, target->identity) : NULL;
	if (!irq || irq->nic < 0)
		return NULL;
	rule = profile_nic_rule(e->profile, e->topology->nic[irq->nic].name);
	return rule ? &rule->origin : NULL;
}

static json_t *source(const char *kind, const char *text)
{
	json_t *d = json_object();

	put(d, "kind", json_string(kind));
	put(d, "text", text_or_null(text));
	return d;
}

static json_t *source_profile(const struct engine *e, const struct origin *o, const char *more)
{
	char text[512];

	snprintf(text, sizeof(text), "profile %s%s", e->profile ? e->profile->name : "-", more);
	if (o && o->file)
		append_text(text, sizeof(text), ", %s:%u", o->file, o->line);
	return source("profile", text);
}

/* Two jiffies where the kernel's configuration decides (net/core/dev.c, netdev_budget_usecs). */
static bool kernel_default(const struct engine *e, enum tunable_id id, int64_t *ret)
{
	unsigned hz = e->topology ? e->topology->hz : 0;

	*ret = tunables[id].kernel_default;
	if (id == TUNABLE_NETDEV_BUDGET_USECS && *ret == INT64_MIN && hz > 0)
		*ret = 2 * (int64_t)USEC_PER_SEC / hz;
	return *ret != INT64_MIN;
}

json_t *engine_value_source(const struct engine *e, enum tunable_id id, const struct target *target,
			    const char *value)
{
	const struct ledger_entry *held =
		e->ledger ? ledger_find(e->ledger, id, target->identity) : NULL;
	const struct tunable *t = &tunables[id];
	const struct origin *origin = profile_origin(e, id, target);
	const struct pin *pin = find_pin(e, id, target->identity);
	char text[CHANGE_ID_MAX + VALUE_MAX];
	int64_t usual;

	const char *withdrawn = e->decider ? decider_withdrawn(e->decider, id) : NULL;

	if (held && !ledger_is_ours(held, value)) {
		snprintf(text, sizeof(text), "somebody else, after softnetd wrote %s",
			 held->written);
		return source("foreign", text);
	}
	if (pin || (held && held->class == CLASS_MANUAL))
		return source("manual", pin ? "pinned by hand" : "set by hand");
	if (held && held->class == CLASS_TRIAL) {
		snprintf(text, sizeof(text), "trial %s", held->decision);
		return source("trial", text);
	}
	if (held)
		return source_profile(e, origin, "");
	if (withdrawn && origin) {
		snprintf(text, sizeof(text), "trial %s-%s undid %s of profile %s: %s", t->id,
			 symptom_to_string(SYMPTOM_POLL_BURN), e->profile->setting[id].value,
			 e->profile->name, withdrawn);
		return source("trial", text);
	}
	if (origin && id != TUNABLE_IRQ_AFFINITY &&
	    tunable_equal(t, value, e->profile->setting[id].value))
		return source_profile(e, origin, " (it was so before)");
	if (kernel_default(e, id, &usual)) {
		snprintf(text, sizeof(text), "%" PRId64, usual);
		return tunable_equal(t, value, text)
			       ? source("kernel-default", "kernel default")
			       : source("found", "as found: sysctl.d, a program, or by hand");
	}
	return source("found", "as found");
}

/* The time of a softirq run is jiffies only while nothing says otherwise. */
static unsigned hz_of(const struct engine *e, enum tunable_id id)
{
	if (id == TUNABLE_SOFTIRQ_TIME_US && e->snapshot && e->snapshot->limits.precise)
		return 0;
	return e->topology ? e->topology->hz : 0;
}

static void put_value(json_t *d, const struct engine *e, enum tunable_id id,
		      const struct target *target)
{
	const struct tunable *t = &tunables[id];
	char value[VALUE_MAX];
	int r;

	r = observe_value(e->io, id, target, value, sizeof(value));
	put(d, "source", r < 0 ? json_null() : engine_value_source(e, id, target, value));
	put(d, "value", r < 0 ? json_null() : text_or_null(value));
	put(d, "effective", r < 0 ? json_null() : effective_value(t, value, hz_of(e, id)));
	put(d, "unit", text_or_null(t->unit));
	if (tunable_of_nic(t) && (r == -ENOENT || r == -EOPNOTSUPP))
		put(d, "error", json_string("this driver, or kernel, does not have it"));
	else if (r == -ENOENT)
		put(d, "error",
		    json_string(t->series ? "only kernels with softnetd's series have it"
					  : "this host does not have it"));
	else
		put(d, "error", r < 0 ? json_string(strerror(-r)) : json_null());
}

static json_t *setting_document(const struct engine *e, enum tunable_id id,
				const struct target *target)
{
	const struct tunable *t = &tunables[id];
	const struct ledger_entry *held =
		e->ledger ? ledger_find(e->ledger, id, target->identity) : NULL;
	const struct pin *pin = find_pin(e, id, target->identity);
	int64_t low, high;
	bool learned;
	json_t *d = json_object();

	put(d, "setting", json_string(t->id));
	put_target(d, e->topology, target, target->identity);
	put_value(d, e, id, target);
	put(d, "original", text_or_null(held ? held->original : NULL));
	put(d, "written", text_or_null(held ? held->written : NULL));
	put(d, "pinned", text_or_null(pin ? pin->value : NULL));
	put(d, "profile",
	    !e->profile ? json_null()
	    : tunable_of_nic(t)
		    ? profile_setting_document(id, profile_nic_setting(e->profile, target->nic, id))
		    : profile_setting_document(id, &e->profile->setting[id]));
	put(d, "min", t->type == VALUE_NUMBER ? json_integer(t->min) : json_null());
	put(d, "max", t->type == VALUE_NUMBER ? json_integer(t->max) : json_null());
	learned = e->actuator && act_learned_limit(e->actuator, id, &low, &high);
	put(d, "kernel_min", learned ? json_integer(low) : json_null());
	put(d, "kernel_max", learned ? json_integer(high) : json_null());
	put(d, "blocked", text_or_null(e->actuator ? act_family_blocked(e->actuator, id) : NULL));
	put(d, "family", json_string(t->family));
	put(d, "doc", json_string(t->doc));
	put(d, "path", text_or_null(t->path));
	put(d, "netlink", text_or_null(t->netlink));
	put(d, "owners", text_or_null(t->owners));
	return d;
}

static void append_setting(json_t *list, const struct engine *e, enum tunable_id id)
{
	static const struct topology nothing;
	_cleanup_free_ struct target *targets = NULL;
	int n = topology_targets(e->topology ? e->topology : &nothing, id, &targets);

	for (int i = 0; i < n; i++)
		append(list, setting_document(e, id, &targets[i]));
}

json_t *engine_settings(struct engine *e, const char *setting)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < _TUNABLE_MAX; i++)
		if (!setting || !*setting || streq(tunables[i].id, setting))
			append_setting(list, e, i);
	return list;
}

json_t *describe_settings(struct io *io, const struct topology *t, const struct ledger *ledger,
			  const char *setting)
{
	/* Only read from; an engine without configuration, profile and hands. */
	struct engine e = {
		.io = io,
		.topology = (struct topology *)t,
		.ledger = (struct ledger *)ledger,
	};

	return engine_settings(&e, setting);
}

json_t *describe_complaints(const struct complaints *c, const char *file)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->n; i++) {
		const struct complaint *one = &c->item[i];
		json_t *d = json_object();

		put(d, "file", text_or_null(one->file ?: file));
		put(d, "line", one->line ? json_integer(one->line) : json_null());
		put(d, "text", text_or_null(one->text));
		append(list, d);
	}
	if (c->more > 0) {
		json_t *d = json_object();
		char text[64];

		snprintf(text, sizeof(text), "and %u more", c->more);
		put(d, "file", text_or_null(file));
		put(d, "line", json_null());
		put(d, "text", json_string(text));
		append(list, d);
	}
	return list;
}

static json_t *nic_rule_document(const struct nic_rule *rule)
{
	json_t *d = json_object(), *settings = json_object();

	put(d, "match", text_or_null(rule->match));
	put(d, "placement", json_string(placement_to_string(rule->placement)));
	put(d, "cpus", rule->has_cpus ? cpus_text(&rule->cpus) : json_null());
	put(d, "near_cpus", rule->has_near_cpus ? cpus_text(&rule->near_cpus) : json_null());
	put(d, "napi_threads", json_string(napi_threads_names[rule->napi_threads]));
	put(d, "rps", json_string(rps_names[rule->rps]));
	for (unsigned i = 0; i < _TUNABLE_MAX; i++)
		if (rule->setting[i])
			put(settings, tunables[i].id,
			    profile_setting_document(i, rule->setting[i]));
	put(d, "settings", settings);
	put(d, "origin", origin_text(&rule->origin));
	return d;
}

static json_t *match_rule_document(const struct match_rule *m)
{
	json_t *d = json_object(), *rate = json_null();

	if (m->has_rate) {
		rate = json_array();
		append(rate, json_integer((json_int_t)m->rate_low));
		append(rate, json_integer((json_int_t)m->rate_high));
	}
	put(d, "unit", text_or_null(m->unit));
	put(d, "packet_rate", rate);
	put(d, "kernel", text_or_null(m->kernel));
	put(d, "origin", origin_text(&m->origin));
	return d;
}

static void put_profile_head(json_t *d, const struct profile *p, bool active)
{
	put(d, "profile", text_or_null(p->name));
	put(d, "active", json_boolean(active));
	put(d, "description", text_or_null(p->description));
	put(d, "inherits", text_or_null(p->inherits));
	put(d, "file", text_or_null(p->file));
}

json_t *describe_profile(const struct profile *p, bool active)
{
	json_t *d = json_object(), *settings = json_object(), *nics = json_array(),
	       *match = json_array(), *units = json_array();

	put_profile_head(d, p, active);
	for (size_t i = 0; i < p->n_matches; i++)
		append(match, match_rule_document(&p->match[i]));
	put(d, "match", match);
	put(d, "priority", json_integer(p->priority));
	put(d, "objective", json_string(objective_to_string(p->objective)));
	for (unsigned i = 0; i < _TUNABLE_MAX; i++)
		put(settings, tunables[i].id, profile_setting_document(i, &p->setting[i]));
	put(d, "settings", settings);
	for (size_t i = 0; i < p->n_nics; i++)
		append(nics, nic_rule_document(&p->nic[i]));
	put(d, "nics", nics);
	for (size_t i = 0; p->busy_poll_units && p->busy_poll_units[i]; i++)
		append(units, text_or_null(p->busy_poll_units[i]));
	put(d, "busy_poll_units", units);
	put(d, "place_despite_irqbalance", json_boolean(p->place_despite_irqbalance));
	return d;
}

json_t *describe_profile_named(const char *const *dirs, const char *name)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct complaints complaints = {};
	json_t *d;

	if (profile_load(dirs, name, &p, &complaints) >= 0) {
		d = describe_profile(p, false);
	} else {
		d = json_object();
		put(d, "profile", text_or_null(name));
		put(d, "active", json_false());
		put(d, "complaints", describe_complaints(&complaints, NULL));
	}
	complaints_done(&complaints);
	return d;
}

static json_t *profile_line(const char *const *dirs, const char *name, bool active)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct complaints complaints = {};
	json_t *d = json_object();

	if (profile_load(dirs, name, &p, &complaints) >= 0) {
		put_profile_head(d, p, active);
	} else {
		put(d, "profile", text_or_null(name));
		put(d, "active", json_boolean(active));
		put(d, "description", json_null());
		put(d, "inherits", json_null());
		put(d, "file", json_null());
	}
	put(d, "complaints", describe_complaints(&complaints, NULL));
	complaints_done(&complaints);
	return d;
}

json_t *describe_profiles(const char *const *dirs, const char *active)
{
	_cleanup_(strv_freep) char **names = NULL;
	json_t *list = json_array();

	if (profile_list(dirs, &names) < 0)
		return list;
	for (char **name = names; *name; name++)
		append(list, profile_line(dirs, *name, active && streq(*name, active)));
	return list;
}

json_t *engine_profiles(struct engine *e)
{
	return describe_profiles(e->config_dirs, e->profile ? e->profile->name : NULL);
}

json_t *engine_profile(struct engine *e, const char *name)
{
	/* The active one as it runs, not as its file may say by now. */
	if (e->profile && streq(e->profile->name, name))
		return describe_profile(e->profile, true);
	return describe_profile_named(e->config_dirs, name);
}

json_t *describe_restore(const struct restore_report *report)
{
	json_t *d = json_object(), *list = json_array();

	for (size_t i = 0; i < report->n; i++) {
		const struct restore_item *item = &report->item[i];
		json_t *line = json_object();

		put(line, "setting", text_or_null(item->setting));
		put(line, "target",
		    streq(item->identity, "host") ? json_null() : text_or_null(item->identity));
		put(line, "verdict", json_string(restore_verdict_to_string(item->verdict)));
		put(line, "original", text_or_null(item->original));
		put(line, "now", text_or_null(item->now));
		put(line, "text", text_or_null(item->text));
		append(list, line);
	}
	put(d, "restored", list);
	put(d, "failed", json_integer((json_int_t)report->failed));
	return d;
}
