/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an admin asks for: softnetctl set, release and restore. */
#include <stdio.h>

#include "engine/describe.h"
#include "engine/internal.h"

/* Whether TEXT, as an admin wrote it, means TARGET. "" means all. */
static bool names_target(const struct topology *t, const char *text, const struct target *target)
{
	const struct policy *policy;
	const struct irq *irq;
	struct cpuset cpus;
	char name[TARGET_LABEL_MAX];

	if (!*text || streq(text, target->identity))
		return true;
	switch (target->scope) {
	case SCOPE_HOST:
		return false;
	case SCOPE_IRQ:
		irq = topology_irq_by_identity(t, target->identity);
		snprintf(name, sizeof(name), "%u", target->number);
		return streq(text, name) || (irq && streq(text, irq->name));
	case SCOPE_POLICY:
		policy = topology_policy_by_identity(t, target->identity);
		snprintf(name, sizeof(name), "policy%u", target->number);
		return streq(text, name) || (policy && cpuset_parse_list(text, &cpus) >= 0 &&
					     cpuset_equal(&cpus, &policy->cpus));
	case SCOPE_SOCKET: /* all of a process */
	case SCOPE_CPU:    /* "3", or "cpu3" by its identity */
		snprintf(name, sizeof(name), "%u", target->number);
		return streq(text, name);
	case SCOPE_THREAD:
		irq = topology_irq_by_thread(t, target->identity);
		snprintf(name, sizeof(name), "%u", target->number);
		return streq(text, name) || (irq && streq(text, irq->thread_comm));
	case SCOPE_NIC:
	case SCOPE_NAPI:
	case SCOPE_QUEUE:
		target_label(target, name);
		return streq(text, name) || streq(text, target->nic);
	}
	return false;
}

/* The targets that TEXT names; all of a scoped setting when it is empty. */
static int find_targets(const struct engine *e, const struct tunable *t, const char *text,
			struct target **ret, size_t *ret_n, char *error)
{
	static const char *const kinds[] = {
		[SCOPE_HOST] = "such setting",
		[SCOPE_IRQ] = "NIC interrupt",
		[SCOPE_POLICY] = "cpufreq policy",
		[SCOPE_NIC] = "NIC with a device",
		[SCOPE_NAPI] = "NAPI instance",
		[SCOPE_QUEUE] = "receive queue of a NIC with a device",
		[SCOPE_SOCKET] = "open socket of a unit of busy_poll_units",
		[SCOPE_CPU] = "CPU with such a limit",
		[SCOPE_THREAD] = "thread of a NIC interrupt",
	};
	_cleanup_free_ struct target *found = NULL;
	size_t n = 0;
	int all;

	if (t->scope == SCOPE_HOST && *text && !streq(text, "host")) {
		snprintf(error, 512, "%s is one value for the whole host and takes no target",
			 t->id);
		return -EINVAL;
	}
	all = topology_targets(e->topology, tunable_index(t), &found);
	if (all < 0)
		return all;
	for (int i = 0; i < all; i++)
		if (names_target(e->topology, text, &found[i]))
			found[n++] = found[i];
	if (n == 0) {
		snprintf(error, 512, "%s: this host has no %s%s%s", t->id, kinds[t->scope],
			 *text ? " " : "", text);
		return -EINVAL;
	}
	*ret = TAKE_PTR(found);
	*ret_n = n;
	return 0;
}

static int find_setting(const char *setting, const struct tunable **ret, char *error)
{
	const char *near;

	*ret = tunable_find(setting);
	if (*ret)
		return 0;
	near = nearest_name(setting, tunable_names());
	snprintf(error, 512, "no setting '%s'%s%s%s", setting, near ? "; did you mean '" : "",
		 near ? near : "", near ? "'?" : "");
	return -ENOENT;
}

static int check_value(const struct tunable *t, const char *value, char *canonical, size_t size,
		       char *error)
{
	int r = tunable_canonical(t, value, true, canonical, size);

	if (r == -ERANGE && t->type == VALUE_NUMBER)
		snprintf(error, 512, "%s: %s is outside %lld … %lld %s", t->id, value,
			 (long long)t->min, (long long)t->max, t->unit);
	else if (r == -ERANGE)
		snprintf(error, 512, "%s: '%s' is out of range", t->id, value);
	else if (r < 0)
		snprintf(error, 512, "%s: '%s' is no %s", t->id, value,
			 t->type == VALUE_NUMBER ? "number"
			 : t->type == VALUE_CPUS ? "list of CPUs such as 0-3,8"
						 : "word this setting takes");
	return r;
}

static int add_pin(struct engine *e, enum tunable_id id, const struct target *target,
		   const char *value)
{
	_cleanup_free_ char *copy = strdup(value);
	struct pin *more;

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_pins; i++)
		if (e->pins[i].tunable == id &&
		    streq(e->pins[i].target.identity, target->identity)) {
			free(e->pins[i].value);
			e->pins[i].value = TAKE_PTR(copy);
			return 0;
		}
	more = realloc(e->pins, (e->n_pins + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	e->pins = more;
	e->pins[e->n_pins++] =
		(struct pin){.tunable = id, .target = *target, .value = TAKE_PTR(copy)};
	return 0;
}

void engine_drop_pin(struct engine *e, enum tunable_id id, const char *identity)
{
	for (size_t i = 0; i < e->n_pins; i++) {
		if (e->pins[i].tunable != id || !streq(e->pins[i].target.identity, identity))
			continue;
		free(e->pins[i].value);
		e->pins[i] = e->pins[--e->n_pins];
		return;
	}
}

int engine_set(struct engine *e, const char *setting, const char *target, const char *value,
	       char *error)
{
	_cleanup_free_ struct target *targets = NULL;
	char canonical[VALUE_MAX];
	const struct tunable *t;
	int r, worst = 0;
	size_t n;

	r = find_setting(setting, &t, error);
	if (r >= 0)
		r = check_value(t, value, canonical, sizeof(canonical), error);
	if (r >= 0)
		r = find_targets(e, t, target, &targets, &n, error);
	if (r < 0)
		return r;
	if (engine_mode(e) != MODE_APPLY) {
		snprintf(error, 512, "softnetd runs in mode %s and changes nothing",
			 mode_to_string(engine_mode(e)));
		return -EROFS;
	}
	for (size_t i = 0; i < n; i++) {
		struct change c = {
			.tunable = tunable_index(t), .target = targets[i], .class = CLASS_MANUAL};
		struct result result;

		strcpy(c.to, canonical);
		append_text(c.id, sizeof(c.id), "%s-manual", t->id);
		append_text(c.why, sizeof(c.why), "set by hand");
		engine_know_from(e, &c);
		/* By hand is the last word: what somebody else wrote meanwhile is overwritten once.
		 */
		r = act_apply(e->actuator, e->topology, &c, ON_FOREIGN_ADOPT, &result);
		engine_note_result(e, &c, &result);
		engine_follow(e, &c, &result);
		if (r < 0) {
			snprintf(error, 512, "%s: %s", t->id, result.text);
			worst = r;
			continue;
		}
		r = add_pin(e, c.tunable, &c.target, canonical);
		if (r < 0)
			return r;
	}
	engine_place_from_ledger(e);
	return worst;
}

int engine_release(struct engine *e, const char *setting, const char *target, char *error)
{
	_cleanup_free_ struct target *targets = NULL;
	const struct tunable *t;
	int r, worst = 0;
	size_t n;

	r = find_setting(setting, &t, error);
	if (r >= 0)
		r = find_targets(e, t, target, &targets, &n, error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		enum tunable_id id = tunable_index(t);

		engine_drop_pin(e, id, targets[i].identity);
		if (!ledger_find(e->ledger, id, targets[i].identity))
			continue;
		r = engine_give_back(e, id, &targets[i], "released by hand");
		if (r < 0) {
			snprintf(error, 512, "%s: its original could not be given back: %s", t->id,
				 strerror(-r));
			worst = r;
		}
	}
	engine_place_from_ledger(e);
	/* What the profile states takes over again. */
	engine_policy(e);
	return worst;
}

json_t *engine_restore(struct engine *e)
{
	_cleanup_(restore_report_done) struct restore_report report = {};

	/* What failed stands in the report, setting by setting. */
	(void)engine_give_back_all(e, &report);
	/* A trial that is withdrawn has nothing in the ledger, and would come back; and what the loop
	 * may move would be moved again. */
	for (size_t id = 0; e->profile && id < _TUNABLE_MAX; id++)
		if (e->profile->setting[id].kind == SETTING_RANGE)
			decider_yield(e->decider, (enum tunable_id)id);
	return describe_restore(&report);
}
