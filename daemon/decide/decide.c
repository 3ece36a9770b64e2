/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/decide.h"

#include <stdio.h>

#include "decide/lever.h"
#include "decide/placement.h"
#include "decide/symptom.h"
#include "decide/trial.h"

#define HOUR_USEC (3600 * USEC_PER_SEC)

struct decider {
	struct symptoms symptoms;
	struct trial trial;
	struct lever_memory memory;
	uint64_t changed[64]; /* when the loop asked for a change, newest at changed_head */
	unsigned changed_head;
	struct decisions out;
};

int decider_new(struct decider **ret)
{
	struct decider *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	symptoms_init(&d->symptoms);
	*ret = d;
	return 0;
}

void decider_free(struct decider *d)
{
	if (!d)
		return;
	symptoms_done(&d->symptoms);
	free(d);
}

void decider_reset(struct decider *d)
{
	d->trial = (struct trial){};
	d->memory = (struct lever_memory){};
}

static bool budget_left(const struct decider *d, const struct decide_input *in)
{
	unsigned recent = 0;

	if (in->changes_per_hour == 0)
		return true;
	for (size_t i = 0; i < ELEMENTSOF(d->changed); i++)
		if (d->changed[i] && in->now_usec - d->changed[i] < HOUR_USEC)
			recent++;
	return recent < MIN(in->changes_per_hour, (unsigned)ELEMENTSOF(d->changed));
}

static void add_change(struct decider *d, const struct change *c)
{
	if (d->out.n_changes < CHANGES_MAX)
		d->out.change[d->out.n_changes++] = *c;
}

/* Takes the change on trial back: same setting, the other way round. */
static void take_back(struct decider *d, const char *why)
{
	struct change back = d->trial.change;

	memcpy(back.from, d->trial.change.to, sizeof(back.from));
	memcpy(back.to, d->trial.change.from, sizeof(back.to));
	back.why[0] = '\0';
	append_text(back.why, sizeof(back.why), "%s", why);
	d->trial.stage = TRIAL_TAKING_BACK;
	add_change(d, &back);
}

static void judge(struct decider *d, const struct decide_input *in)
{
	const enum tunable_id id = d->trial.change.tunable;
	const enum symptom symptom = d->trial.change.symptom;
	enum verdict v = trial_tick(&d->trial, in->window);
	char why[200];

	switch (v) {
	case VERDICT_NONE:
		return;
	case VERDICT_KEPT:
		d->trial.stage = TRIAL_OFF;
		return;
	case VERDICT_NO_EFFECT:
		d->memory.retired[id] = true;
		snprintf(why, sizeof(why),
			 "no effect: %s went from %.2f %% to %.2f %%; not tried again",
			 symptom_to_string(symptom), 100 * trial_measure(symptom, &d->trial.before),
			 100 * trial_measure(symptom, &d->trial.after));
		take_back(d, why);
		return;
	case VERDICT_INCONCLUSIVE:
		d->memory.not_before[id] = in->now_usec + RETRY_USEC;
		take_back(d, "the load changed during the trial: its effect cannot be judged");
		return;
	}
}

static void pull_levers(struct decider *d, const struct decide_input *in,
			const struct symptom_report *r)
{
	struct change found[CHANGES_MAX];
	size_t n = lever_find(in, r, &d->memory, found, CHANGES_MAX);
	unsigned moves = 0;

	for (size_t i = 0; i < n; i++) {
		struct change *c = &found[i];

		if (c->advice_only) {
			add_change(d, c);
			continue;
		}
		if (c->class == CLASS_TRIAL) {
			if (d->trial.stage != TRIAL_OFF || d->out.n_changes == CHANGES_MAX ||
			    !budget_left(d, in))
				continue;
			trial_begin(&d->trial, c, &r->cpus, in->window);
		} else if (in->moves_per_round > 0 && ++moves > in->moves_per_round) {
			continue;
		}
		add_change(d, c);
	}
}

void decide(struct decider *d, const struct decide_input *in, const struct decisions **ret)
{
	d->out.n_reports = d->out.n_changes = 0;
	d->out.back_to_originals = false;
	*ret = &d->out;

	if (d->symptoms.n_irqs != in->topology->n_irqs ||
	    d->symptoms.n_nics != in->topology->n_nics || !d->symptoms.leaked_ticks)
		if (symptoms_fit(&d->symptoms, in->topology) < 0)
			return;
	symptoms_find(&d->symptoms, in, &d->out);
	if (d->out.back_to_originals) {
		d->trial = (struct trial){};
		return;
	}
	judge(d, in);
	for (unsigned i = 0; i < d->out.n_reports; i++)
		if (d->out.report[i].acute)
			pull_levers(d, in, &d->out.report[i]);
}

void decider_learn(struct decider *d, const struct change *c, const struct result *r,
		   uint64_t now_usec)
{
	if (c->class != CLASS_TRIAL || c->advice_only)
		return;
	if (r->outcome == OUTCOME_ADVISED) {
		/* Nothing was changed, so there is nothing to judge; the advice stands while the
		 * symptom does. */
		d->trial.stage = TRIAL_OFF;
		return;
	}
	if (r->outcome != OUTCOME_DONE && r->outcome != OUTCOME_PENDING) {
		d->memory.not_before[c->tunable] = now_usec + RETRY_USEC;
	} else if (d->trial.stage == TRIAL_ASKED) {
		d->changed_head = (d->changed_head + 1) % ELEMENTSOF(d->changed);
		d->changed[d->changed_head] = now_usec;
	}
	trial_learn(&d->trial, r);
}

static bool policy_host(const struct profile *p, enum tunable_id id, struct change *ret)
{
	const struct profile_setting *s = &p->setting[id];

	if (tunables[id].scope != SCOPE_HOST || s->kind != SETTING_VALUE)
		return false;
	*ret = (struct change){.tunable = id, .target = target_host(), .class = CLASS_POLICY};
	append_text(ret->to, sizeof(ret->to), "%s", s->value);
	append_text(ret->why, sizeof(ret->why), "profile %s says so (%s:%u)", p->name,
		    s->origin.file ? s->origin.file : "built in", s->origin.line);
	change_name(ret);
	return true;
}

static size_t policy_power(const struct policy *pol, const struct profile *p,
			   struct change *changes, size_t max)
{
	static const enum tunable_id ids[] = {TUNABLE_GOVERNOR, TUNABLE_ENERGY_PREFERENCE};
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTSOF(ids) && n < max; i++) {
		const struct profile_setting *s = &p->setting[ids[i]];
		struct change *c = &changes[n];

		if (s->kind != SETTING_VALUE || !pol->active ||
		    (ids[i] == TUNABLE_ENERGY_PREFERENCE && !pol->have_epp))
			continue;
		*c = (struct change){
			.tunable = ids[i], .target = policy_target(pol), .class = CLASS_POLICY};
		append_text(c->to, sizeof(c->to), "%s", s->value);
		append_text(c->why, sizeof(c->why), "profile %s says so (%s:%u)", p->name,
			    s->origin.file ? s->origin.file : "built in", s->origin.line);
		change_name(c);
		n++;
	}
	return n;
}

static size_t policy_placement(const struct topology *t, const struct profile *p, unsigned nic,
			       struct change *changes, size_t max)
{
	const struct nic_rule *rule = profile_nic_rule(p, t->nic[nic].name);
	struct move moves[CHANGES_MAX];
	char why[160];
	size_t n;

	if (!rule || rule->placement == PLACEMENT_LEAVE ||
	    (t->irqbalance && !p->place_despite_irqbalance))
		return 0;
	n = placement_plan(t, nic, rule->placement, rule->has_cpus ? &rule->cpus : NULL, moves,
			   MIN(max, ELEMENTSOF(moves)));
	snprintf(why, sizeof(why), "profile %s: placement %s for %s", p->name,
		 placement_to_string(rule->placement), t->nic[nic].name);
	for (size_t i = 0; i < n; i++)
		move_to_change(t, moves[i].irq, moves[i].cpu, SYMPTOM_NONE, why, &changes[i]);
	return n;
}

size_t decide_policy(const struct topology *t, const struct profile *p, struct change *changes,
		     size_t max)
{
	size_t n = 0;

	for (size_t id = 0; id < _TUNABLE_MAX && n < max; id++)
		n += policy_host(p, (enum tunable_id)id, &changes[n]);
	for (unsigned i = 0; i < t->n_policies && n < max; i++)
		n += policy_power(&t->policy[i], p, &changes[n], max - n);
	/* One NIC at a time: the next one's plan counts on where this one's interrupts went. */
	for (unsigned i = 0, before = (unsigned)n; i < t->n_nics && n < max && n == before; i++)
		n += policy_placement(t, p, i, &changes[n], max - n);
	return n;
}

size_t decider_trials(const struct decider *d, const struct change **ret, size_t max)
{
	if (d->trial.stage == TRIAL_OFF || max == 0)
		return 0;
	ret[0] = &d->trial.change;
	return 1;
}

size_t decider_retired(const struct decider *d, enum tunable_id *ret, size_t max)
{
	size_t n = 0;

	for (size_t id = 0; id < _TUNABLE_MAX && n < max; id++)
		if (d->memory.retired[id])
			ret[n++] = (enum tunable_id)id;
	return n;
}
