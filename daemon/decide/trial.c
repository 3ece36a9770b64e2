/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/trial.h"

double trial_measure(enum symptom s, const struct load *l)
{
	switch (s) {
	case SYMPTOM_BACKLOG_DROP:
		return l->packets > 0 ? l->drops / l->packets : 0;
	case SYMPTOM_SQUEEZED:
		if (l->runs > 0)
			return l->squeezes / l->runs;
		return l->packets > 0 ? l->squeezes / l->packets : 0;
	default:
		return 0;
	}
}

/* How long, up to JUDGE_TICKS, the symptom has been there without a break: ticks from before its
 * onset would water down what the change is compared with. */
static unsigned ticks_affected(enum symptom s, const struct cpuset *cpus, const struct window *w)
{
	unsigned n = 0;
	double before = 0;

	while (n < MIN((unsigned)JUDGE_TICKS, w->filled)) {
		struct load l = window_load(w, cpus, n + 1);
		double grown = s == SYMPTOM_BACKLOG_DROP ? l.drops : l.squeezes;

		if (grown <= before)
			break;
		before = grown;
		n++;
	}
	return MAX(n, 1U);
}

void trial_begin(struct trial *t, const struct change *c, const struct cpuset *cpus,
		 const struct window *w)
{
	*t = (struct trial){
		.stage = TRIAL_ASKED,
		.change = *c,
		.cpus = *cpus,
		.before = window_load(w, cpus, ticks_affected(c->symptom, cpus, w)),
	};
}

void trial_learn(struct trial *t, const struct result *r)
{
	bool made = r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_PENDING;

	if (t->stage == TRIAL_ASKED) {
		t->stage = made ? TRIAL_SETTLING : TRIAL_OFF;
		t->ticks = 0;
	} else if (t->stage == TRIAL_TAKING_BACK) {
		t->stage = TRIAL_OFF;
	}
}

enum verdict trial_tick(struct trial *t, const struct window *w)
{
	double before, after;

	if (t->stage != TRIAL_SETTLING && t->stage != TRIAL_JUDGING)
		return VERDICT_NONE;
	/* A re-baselined window has lost the ticks that would be judged. */
	if (!window_tick(w, 0))
		return VERDICT_INCONCLUSIVE;
	t->ticks++;
	if (t->stage == TRIAL_SETTLING) {
		if (t->ticks >= SETTLE_TICKS) {
			t->stage = TRIAL_JUDGING;
			t->ticks = 0;
		}
		return VERDICT_NONE;
	}
	if (t->ticks < JUDGE_TICKS)
		return VERDICT_NONE;
	t->after = window_load(w, &t->cpus, JUDGE_TICKS);
	if (t->before.seconds <= 0 || t->after.seconds <= 0 ||
	    t->after.packets / t->after.seconds < LOAD_MIN * t->before.packets / t->before.seconds)
		return VERDICT_INCONCLUSIVE;
	before = trial_measure(t->change.symptom, &t->before);
	after = trial_measure(t->change.symptom, &t->after);
	return after <= (1 - EFFECT_MIN) * before ? VERDICT_KEPT : VERDICT_NO_EFFECT;
}
