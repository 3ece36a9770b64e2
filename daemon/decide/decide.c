/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/decide.h"

#include <math.h>
#include <stdio.h>

#include "decide/lever.h"
#include "decide/poll-burn.h"
#include "decide/placement.h"
#include "decide/symptom.h"
#include "decide/trial.h"

#define HOUR_USEC (3600 * USEC_PER_SEC)

/* A change that was kept. The loop moves fewer settings than that. */
#define KEPT_MAX 8
struct kept {
	enum tunable_id tunable;
	enum symptom symptom;
	int64_t from, to;        /* where the first trial that was kept began; and it ended */
	struct cpuset saturated; /* before the last of them */
	bool adopted;     /* of the run before; SATURATED is what was so when this one started */
	unsigned looking; /* … and it is looked for in so many more ticks */
};

/* A policy that was taken back. Only the settings of poll-burn are ever. */
#define WITHDRAWN_MAX 2

struct decider {
	struct symptoms symptoms;
	struct kept kept[KEPT_MAX]; /* newest last */
	unsigned n_kept;
	struct saturation saturation; /* of the host, always */
	struct trial trial;
	struct lever_memory memory;
	uint64_t changed[64]; /* when the loop asked for a change, newest at changed_head */
	unsigned changed_head;
	struct withdrawn {
		enum tunable_id tunable;
		double burned; /* CPUs; 0: it is somebody else's now */
		int64_t usec;  /* the profile's value */
		uint64_t pays_since_usec;
		char text[128];
	} withdrawn[WITHDRAWN_MAX];
	unsigned n_withdrawn;
	struct change found[CHANGES_MAX]; /* of lever_find(): too large for a stack */
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
	trial_interrupt(&d->trial, "the host or the profile changed");
	d->memory = (struct lever_memory){};
	d->n_withdrawn = 0;
	memset(d->symptoms.not_burning, 0, sizeof(d->symptoms.not_burning));
}

const char *decider_withdrawn(const struct decider *d, enum tunable_id id)
{
	const struct trial *t = &d->trial;

	for (unsigned i = 0; i < d->n_withdrawn; i++)
		if (d->withdrawn[i].tunable == id)
			return d->withdrawn[i].text;
	return trial_withdraws(t) && trial_in_place(t) && t->stage != TRIAL_STUCK &&
			       t->change.tunable == id
		       ? "it may burn CPU time for nothing, which is on trial"
		       : NULL;
}

/* The setting on trial stays as it is now. */
static struct withdrawn *remember_withdrawn(struct decider *d)
{
	struct withdrawn *w = &d->withdrawn[0];

	while (w < &d->withdrawn[d->n_withdrawn] && w->tunable != d->trial.change.tunable)
		w++;
	if (w == &d->withdrawn[d->n_withdrawn] && d->n_withdrawn < WITHDRAWN_MAX)
		d->n_withdrawn++;
	*w = (struct withdrawn){.tunable = d->trial.change.tunable};
	return w;
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

/* The change on trial the other way round (or, with AGAIN, once more). */
static void ask(struct decider *d, bool again, const char *why)
{
	struct change c = d->trial.change;

	c.follow_up = true;
	if (!again) {
		memcpy(c.from, d->trial.change.to, sizeof(c.from));
		memcpy(c.to, d->trial.change.from, sizeof(c.to));
		if (trial_withdraws(&d->trial))
			c.class = CLASS_POLICY;
	}
	c.why[0] = '\0';
	append_text(c.why, sizeof(c.why), "%s", why);
	add_change(d, &c);
}

/* "…, squeezed went from 80 % to 0 %; dropped packets from 2 % to 0.1 %" */
static void tell_measures(const struct trial *t, char *buf, size_t size)
{
	const char *what = objective_kinds[t->judged.objective].what;
	char before[32], after[32];

	objective_format(objective_of(t->symptom), t->before, before, sizeof(before));
	objective_format(objective_of(t->symptom), t->after, after, sizeof(after));
	append_text(buf, size, ", %s went from %s to %s", symptom_to_string(t->symptom), before,
		    after);
	if (t->judged.blind) {
		append_text(buf, size, "; no sensor here shows the profile's objective, %s", what);
	} else if (t->judged.objective != OBJECTIVE_SYMPTOM) {
		objective_format(t->judged.objective, t->judged.before, before, sizeof(before));
		objective_format(t->judged.objective, t->judged.after, after, sizeof(after));
		append_text(buf, size, "; %s from %s to %s", what, before, after);
	}
}

static void note_verdict(struct decider *d, enum verdict v)
{
	struct trial_verdict *out = &d->out.verdict;
	const struct trial *t = &d->trial;

	d->out.has_verdict = true;
	*out = (struct trial_verdict){.change = t->change,
				      .verdict = verdict_to_string(v),
				      .before = t->before,
				      .after = t->after,
				      .judged = t->judged};
	append_text(out->text, sizeof(out->text), "%s: %s", tunables[t->change.tunable].id,
		    out->verdict);
	if (t->reason)
		append_text(out->text, sizeof(out->text), " (%s)", t->reason);
	if (!t->reason || (trial_sees_objective(t) && v != VERDICT_INCONCLUSIVE))
		tell_measures(t, out->text, sizeof(out->text));
	if (v == VERDICT_KEPT && trial_withdraws(t))
		append_text(out->text, sizeof(out->text), "; the profile's %s is undone: %s",
			    t->change.from, decider_withdrawn(d, t->change.tunable));
}

/* The setting on trial was set by hand since: the pin is the last word, also where it says what the trial
 * had made of it. */
static bool is_pinned(const struct decider *d, const struct decide_input *in)
{
	return (trial_in_place(&d->trial) || trial_is_withdrawn(&d->trial)) && in->pinned &&
	       in->pinned(in->userdata, d->trial.change.tunable, d->trial.change.target.identity);
}

/* Whether the setting on trial is no longer what the trial made of it, or gave back while it is withdrawn:
 * an admin, another daemon, or our own profile. Then it is not the trial's to write. */
static bool is_overridden(const struct decider *d, const struct decide_input *in)
{
	enum tunable_id id = d->trial.change.tunable;
	const struct profile_setting *s = &in->profile->setting[id];
	int64_t value;

	if (!in->values->host[id].have)
		return false;
	if (trial_is_withdrawn(&d->trial))
		return parse_i64(d->trial.change.from, &value) >= 0 &&
		       in->values->host[id].number != value;
	if (!trial_in_place(&d->trial))
		return false;
	/* Of a withdrawal: another profile. */
	if (trial_withdraws(&d->trial)
		    ? s->kind != SETTING_VALUE ||
			      !tunable_equal(&tunables[id], s->value, d->trial.change.from)
		    : s->kind == SETTING_VALUE)
		return true;
	return parse_i64(trial_value(&d->trial), &value) >= 0 &&
	       in->values->host[id].number != value;
}

static void take_back(struct decider *d, enum verdict v)
{
	note_verdict(d, v);
	/* A withdrawn change that was not confirmed is back already. */
	if (trial_is_withdrawn(&d->trial)) {
		d->trial.stage = TRIAL_OFF;
		return;
	}
	d->trial.stage = TRIAL_TAKING_BACK;
	ask(d, false, d->out.verdict.text);
}

/* What somebody else wrote stays, but where the profile says "enforce": and that stands for what was proved,
 * not for a trial, so the original comes back. */
static void end_overridden(struct decider *d, const struct decide_input *in, bool pinned)
{
	struct lever_memory *m = &d->memory;
	enum tunable_id id = d->trial.change.tunable;
	const struct profile_setting *s = &in->profile->setting[id];
	bool enforce = s->kind == SETTING_RANGE && s->on_foreign == ON_FOREIGN_ENFORCE;

	if (d->trial.stage != TRIAL_STUCK) {
		d->trial.reason = pinned ? "it was set by hand meanwhile"
					 : "somebody else changed it meanwhile";
		/* Theirs stays, also when the policy is looked at again. */
		if (trial_withdraws(&d->trial))
			strcpy(remember_withdrawn(d)->text,
			       "somebody else changed it while it was taken back on trial");
	}
	m->retired[id] |= ++m->overridden[id] >= OVERRIDDEN_MAX;
	m->not_before[id] = in->now_usec + DWELL_USEC;
	if (enforce && !pinned && d->trial.stage != TRIAL_STUCK) {
		take_back(d, VERDICT_INCONCLUSIVE);
		return;
	}
	note_verdict(d, VERDICT_INCONCLUSIVE);
	d->trial.stage = TRIAL_OFF;
}

static void forget_kept(struct decider *d, unsigned i)
{
	memmove(&d->kept[i], &d->kept[i + 1], (--d->n_kept - i) * sizeof(*d->kept));
}

static void remember_kept(struct decider *d, int64_t from, int64_t to)
{
	struct kept k = {.tunable = d->trial.change.tunable,
			 .symptom = d->trial.symptom,
			 .from = from,
			 .to = to,
			 .saturated = d->trial.saturated_before};

	for (unsigned i = 0; i < d->n_kept; i++) {
		if (d->kept[i].tunable != k.tunable)
			continue;
		if (d->kept[i].to == from)
			k.from = d->kept[i].from;
		forget_kept(d, i);
		break;
	}
	if (k.from == k.to) /* the way back */
		return;
	if (d->n_kept == KEPT_MAX)
		forget_kept(d, 0);
	d->kept[d->n_kept++] = k;
}

void decider_adopt(struct decider *d, enum tunable_id id, enum symptom symptom, int64_t from,
		   int64_t to)
{
	if (from == to || d->n_kept == KEPT_MAX)
		return;
	d->kept[d->n_kept++] = (struct kept){.tunable = id,
					     .symptom = symptom,
					     .from = from,
					     .to = to,
					     .adopted = true,
					     .looking = FALLBACK_TICKS};
	d->memory.direction[id] =
		tunable_rank(&tunables[id], to) > tunable_rank(&tunables[id], from) ? 1 : -1;
}

/* Kept, and given back since: the lever rests, and at last for good. */
static void note_fallback(struct decider *d, enum tunable_id id, uint64_t now)
{
	struct lever_memory *m = &d->memory;

	m->retired[id] |= ++m->fallbacks[id] >= FALLBACKS_MAX;
	m->not_before[id] = now + DWELL_USEC;
	m->direction[id] = 0;
}

/* It stays. Up for one symptom, down for another, up again … is not a search for the best value. */
static void keep(struct decider *d, uint64_t now)
{
	struct lever_memory *m = &d->memory;
	enum tunable_id id = d->trial.change.tunable;
	struct withdrawn *w;
	int64_t from, to;
	int direction;

	m->without_effect[id] = m->inconclusive[id] = m->overridden[id] = 0;
	/* What is as it was before softnetd needs no watch. */
	if (trial_withdraws(&d->trial)) {
		w = remember_withdrawn(d);
		w->burned = d->trial.before - d->trial.after;
		(void)parse_i64(d->trial.change.from, &w->usec);
		append_text(w->text, sizeof(w->text), "it burned %.2f CPUs for %.0f packets/s",
			    w->burned, trial_load(&d->trial));
		return;
	}
	if (parse_i64(d->trial.change.from, &from) < 0 || parse_i64(d->trial.change.to, &to) < 0)
		return;
	remember_kept(d, from, to);
	direction = tunable_rank(&tunables[id], to) > tunable_rank(&tunables[id], from) ? 1 : -1;
	if (m->direction[id] == -direction) {
		m->not_before[id] = now + (HOUR_USEC << MIN(m->reversals[id], (uint8_t)6));
		m->retired[id] |= ++m->reversals[id] >= REVERSALS_MAX;
	}
	m->direction[id] = (int8_t)direction;
}

/* One arbiter (bpftune#128 raised and refused to raise in the same second): while tasks starve
 * behind the softirqs of a CPU, its squeezes and what it hands over to ksoftirqd are what protects
 * them, and nothing is raised for the sake of those. */
static bool protects_tasks(const struct decider *d, const struct symptom_report *r)
{
	if (r->symptom != SYMPTOM_SQUEEZED && r->symptom != SYMPTOM_KSOFTIRQD_LAG)
		return false;
	for (unsigned i = 0; i < d->out.n_reports; i++)
		if (d->out.report[i].symptom == SYMPTOM_SOFTIRQ_HOG &&
		    cpuset_intersects(&d->out.report[i].cpus, &r->cpus))
			return true;
	return false;
}

/* The baseline is complete: which lever is right is asked only now, with all that was seen. */
static void make_change(struct decider *d, const struct decide_input *in)
{
	for (unsigned i = 0; i < d->out.n_reports; i++) {
		struct change c;

		if (d->out.report[i].symptom != d->trial.symptom ||
		    protects_tasks(d, &d->out.report[i]))
			continue;
		if (lever_find(in, &d->out.report[i], &d->memory, &c, 1, &d->out.passed[i]) == 1 &&
		    c.class == CLASS_TRIAL && !c.advice_only && d->out.n_changes < CHANGES_MAX) {
			trial_change(&d->trial, &c);
			add_change(d, &c);
			return;
		}
	}
	d->trial.stage = TRIAL_OFF;
}

/* No effect at this value: is there a next one to try? Not when there was one, but not of the kind
 * that the profile asks for. V becomes inconclusive when the hour's changes are used up, since the
 * rest of the range was not tried. */
static bool go_further(struct decider *d, const struct decide_input *in, enum verdict *v)
{
	struct change c = d->trial.change;

	if (d->trial.reason || !lever_further(in, &d->trial.change, c.to))
		return false;
	if (!budget_left(d, in)) {
		d->trial.reason = "this hour's changes are used up";
		*v = VERDICT_INCONCLUSIVE;
		return false;
	}
	c.follow_up = true;
	memcpy(c.from, d->trial.change.to, sizeof(c.from));
	c.why[0] = '\0';
	append_text(c.why, sizeof(c.why), "no effect at %s: one step further", c.from);
	trial_further(&d->trial, c.to);
	add_change(d, &c);
	return true;
}

static void judge(struct decider *d, const struct decide_input *in)
{
	struct lever_memory *m = &d->memory;
	enum tunable_id id = d->trial.change.tunable;
	bool present = false, acute = false, pinned = is_pinned(d, in);
	enum verdict v;

	if (pinned || is_overridden(d, in)) {
		end_overridden(d, in, pinned);
		return;
	}
	for (unsigned i = 0; i < d->out.n_reports; i++) {
		const struct symptom_report *r = &d->out.report[i];

		if (r->symptom != d->trial.symptom)
			continue;
		present = true;
		acute |= r->acute;
		/* More CPUs may turn out to have it until the baseline is complete. */
		if (d->trial.stage == TRIAL_BASELINE)
			d->trial.cpus = cpuset_or(&d->trial.cpus, &r->cpus);
	}
	v = trial_tick(&d->trial, in->window, present, acute);
	if (v == VERDICT_NO_EFFECT && go_further(d, in, &v))
		return;
	switch (v) {
	case VERDICT_NONE:
		return;
	case VERDICT_CANCELLED:
		d->trial.stage = TRIAL_OFF;
		return;
	case VERDICT_CHANGE:
		make_change(d, in);
		return;
	case VERDICT_WITHDRAW:
		ask(d, false,
		    trial_withdraws(&d->trial)
			    ? "fewer CPUs are busy without it: it comes back to see whether more are again, since a load may fall by itself"
			    : "it seems to help: withdrawn to see whether it gets worse again, since a load may fall by itself");
		return;
	case VERDICT_REAPPLY:
		ask(d, true,
		    trial_withdraws(&d->trial)
			    ? "with it, more CPUs are busy again: taken back once more to see whether they become idle"
			    : "without it, it got worse again: made once more to see whether it gets better");
		return;
	case VERDICT_KEPT:
		keep(d, in->now_usec);
		note_verdict(d, v);
		d->trial.stage = TRIAL_OFF;
		return;
	case VERDICT_NO_EFFECT:
		m->retired[id] =
			++m->without_effect[id] >= (trial_withdraws(&d->trial) ? 1 : NO_EFFECT_MAX);
		d->symptoms.not_burning[id] |= trial_withdraws(&d->trial);
		m->not_before[id] = in->now_usec + DWELL_USEC;
		take_back(d, v);
		return;
	case VERDICT_WORSE:
		m->retired[id] = true;
		take_back(d, v);
		return;
	case VERDICT_INCONCLUSIVE:
		/* Each time in a row the pause doubles: a load that never holds still is not
		 * chased. */
		m->not_before[id] =
			in->now_usec + (RETRY_USEC << MIN(m->inconclusive[id], (uint8_t)6));
		m->inconclusive[id] = (uint8_t)MIN(m->inconclusive[id] + 1, 6);
		m->retired[id] |=
			trial_withdraws(&d->trial) && m->inconclusive[id] >= WITHDRAWALS_MAX;
		take_back(d, v);
		return;
	}
}

/* Of the host where the symptom is the host's. */
static void open_trial(struct decider *d, const struct decide_input *in,
		       const struct symptom_report *r)
{
	trial_open(&d->trial, r->symptom,
		   r->symptom == SYMPTOM_POLL_BURN ? OBJECTIVE_SYMPTOM : in->profile->objective,
		   cpuset_empty(&r->cpus) ? &in->topology->online : &r->cpus);
}

static void pull_levers(struct decider *d, const struct decide_input *in, unsigned report)
{
	const struct symptom_report *r = &d->out.report[report];
	struct change *found = d->found;
	size_t n = lever_find(in, r, &d->memory, found, CHANGES_MAX, &d->out.passed[report]);
	unsigned moves = 0;

	for (size_t i = 0; i < n; i++) {
		struct change *c = &found[i];

		if (c->class == CLASS_TRIAL && !c->advice_only) {
			if (d->trial.stage == TRIAL_OFF && budget_left(d, in))
				open_trial(d, in, r);
			c->planned = true;
		} else if (!c->advice_only && in->moves_per_round > 0 &&
			   ++moves > in->moves_per_round) {
			continue;
		}
		add_change(d, c);
	}
}

static void fall_back(struct decider *d, const struct decide_input *in, unsigned i, int cpu)
{
	struct trial_verdict *v = &d->out.verdict;
	const struct kept k = d->kept[i];
	struct change c = {.tunable = k.tunable,
			   .target = target_host(),
			   .class = CLASS_TRIAL,
			   .symptom = k.symptom,
			   .follow_up = true};

	append_text(c.from, sizeof(c.from), "%lld", (long long)k.to);
	append_text(c.to, sizeof(c.to), "%lld", (long long)k.from);
	change_name(&c);
	*v = (struct trial_verdict){
		.change = c, .verdict = "fallen back", .before = NAN, .after = NAN};
	append_text(
		v->text, sizeof(v->text),
		"%s: fallen back (CPU %d is saturated with softirqs for %d ticks, as it was not %s)",
		tunables[k.tunable].id, cpu, FALLBACK_TICKS,
		k.adopted ? "when softnetd started" : "before this was kept");
	d->out.has_verdict = true;
	append_text(c.why, sizeof(c.why), "%s", v->text);
	add_change(d, &c);
	note_fallback(d, k.tunable, in->now_usec);
	forget_kept(d, i);
	/* The next one as much later; and no baseline is measured over this. */
	d->saturation = (struct saturation){};
	d->trial = (struct trial){};
}

/* A CPU that has no time left when softnetd starts had none before the trial, as far as anybody can
 * tell: that is no reason to take back what the run before proved. */
static void look_at_adopted(struct decider *d)
{
	struct cpuset now = saturation_cpus(&d->saturation);

	for (unsigned i = 0; i < d->n_kept; i++) {
		if (d->kept[i].looking == 0)
			continue;
		d->kept[i].looking--;
		d->kept[i].saturated = cpuset_or(&d->kept[i].saturated, &now);
	}
}

static void watch_kept(struct decider *d, const struct decide_input *in)
{
	saturation_tick(&d->saturation, in->window);
	look_at_adopted(d);
	/* A trial looks after itself, and its end is told first. */
	if ((d->trial.stage != TRIAL_OFF && d->trial.stage != TRIAL_BASELINE) || d->out.has_verdict)
		return;
	for (unsigned i = d->n_kept; i > 0; i--) {
		const struct kept *k = &d->kept[i - 1];
		int cpu;

		/* Somebody else's by now, or given back with the profile that gave its range. */
		if (!in->values->host[k->tunable].have ||
		    in->values->host[k->tunable].number != k->to ||
		    (in->pinned && in->pinned(in->userdata, k->tunable, "host"))) {
			forget_kept(d, i - 1);
			continue;
		}
		cpu = saturation_find(&d->saturation, FALLBACK_TICKS, &k->saturated);
		if (cpu >= 0) {
			fall_back(d, in, i - 1, cpu);
			return;
		}
	}
}

/* Packets have come for which polling is worth its time. Not while anything is on trial, which it would
 * disturb. */
static void bring_back(struct decider *d, const struct decide_input *in)
{
	for (unsigned i = 0; i < d->n_withdrawn && d->trial.stage == TRIAL_OFF; i++) {
		struct withdrawn *w = &d->withdrawn[i];
		uint8_t *returned = &d->memory.returned[w->tunable];
		double packets;

		if (w->burned <= 0 || !poll_burn_pays(in, w->burned, w->usec, &packets)) {
			w->pays_since_usec = 0;
			continue;
		}
		if (!w->pays_since_usec)
			w->pays_since_usec = in->now_usec;
		if (in->now_usec - w->pays_since_usec < POLL_BURN_USEC << *returned)
			continue;
		*returned = (uint8_t)MIN(*returned + 1, RETURNS_MAX);
		append_text(d->out.returns, sizeof(d->out.returns),
			    "%s: %.0f packets/s arrive now, for which it is worth polling: the "
			    "profile's value is written again",
			    tunables[w->tunable].id, packets);
		*w = d->withdrawn[--d->n_withdrawn];
		return;
	}
}

void decide(struct decider *d, const struct decide_input *in, const struct decisions **ret)
{
	d->out.n_reports = d->out.n_changes = 0;
	for (unsigned i = 0; i < REPORTS_MAX; i++)
		d->out.passed[i].n = 0;
	d->out.back_to_originals = d->out.has_verdict = false;
	d->out.returns[0] = '\0';
	*ret = &d->out;

	if (d->symptoms.n_irqs != in->topology->n_irqs ||
	    d->symptoms.n_nics != in->topology->n_nics || !d->symptoms.leaked_ticks)
		if (symptoms_fit(&d->symptoms, in->topology) < 0)
			return;
	symptoms_find(&d->symptoms, in, &d->out);
	if (d->out.back_to_originals) {
		d->trial = (struct trial){};
		while (d->n_kept > 0)
			note_fallback(d, d->kept[--d->n_kept].tunable, in->now_usec);
		return;
	}
	judge(d, in);
	watch_kept(d, in);
	bring_back(d, in);
	for (unsigned i = 0; i < d->out.n_reports; i++)
		if (d->out.report[i].acute && !protects_tasks(d, &d->out.report[i]))
			pull_levers(d, in, i);
}

void decider_yield(struct decider *d, enum tunable_id id)
{
	d->memory.retired[id] = true;
	if (d->trial.stage != TRIAL_OFF && d->trial.stage != TRIAL_BASELINE &&
	    d->trial.change.tunable == id)
		d->trial.stage = TRIAL_OFF;
}

void decider_learn(struct decider *d, const struct change *c, const struct result *r,
		   uint64_t now_usec)
{
	if ((c->class != CLASS_TRIAL && !c->follow_up) || c->advice_only || c->planned)
		return;
	if (r->outcome == OUTCOME_ADVISED) {
		/* Nothing was changed, so there is nothing to judge; the advice stands while the
		 * symptom does. */
		d->trial.stage = TRIAL_OFF;
		return;
	}
	if (r->outcome == OUTCOME_FOREIGN) {
		decider_yield(d, c->tunable);
		return;
	}
	/* A kept change that fell back is nobody's trial. */
	if (d->trial.stage == TRIAL_OFF || d->trial.stage == TRIAL_BASELINE)
		return;
	if (d->trial.stage == TRIAL_ASKED) {
		if (r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_PENDING) {
			d->changed_head = (d->changed_head + 1) % ELEMENTSOF(d->changed);
			d->changed[d->changed_head] = now_usec;
		} else {
			d->memory.not_before[c->tunable] = now_usec + RETRY_USEC;
		}
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

static void say_where(struct change *c, const struct profile *p, const struct profile_setting *s,
		      const char *why)
{
	append_text(c->why, sizeof(c->why), "profile %s says so (%s:%u)%s", p->name,
		    s->origin.file ? s->origin.file : "built in", s->origin.line, why);
	change_name(c);
}

/* No CPU has a limit of its own here: the host's stands for all of them. "0" is no limit there, and
 * would be none at all here. */
static bool policy_host_latency(const struct topology *t, const struct profile *p,
				struct change *ret)
{
	const struct profile_setting *s = &p->setting[TUNABLE_CPU_RESUME_LATENCY];

	if (s->kind != SETTING_VALUE || streq(s->value, "0") || t->cpu_latency ||
	    p->setting[TUNABLE_CPU_DMA_LATENCY].kind != SETTING_LEAVE)
		return false;
	*ret = (struct change){
		.tunable = TUNABLE_CPU_DMA_LATENCY, .target = target_host(), .class = CLASS_POLICY};
	append_text(ret->to, sizeof(ret->to), "%s", streq(s->value, "n/a") ? "0" : s->value);
	say_where(ret, p, s, " as cpu_resume_latency, and no CPU here has a limit of its own");
	return true;
}

/* A CPU that packets arrive at may not sleep too deeply. */
static bool policy_cpu_latency(const struct topology *t, const struct profile *p, unsigned cpu,
			       struct change *ret)
{
	const struct profile_setting *s = &p->setting[TUNABLE_CPU_RESUME_LATENCY];

	if (s->kind != SETTING_VALUE || !t->cpu_latency)
		return false;
	*ret = (struct change){.tunable = TUNABLE_CPU_RESUME_LATENCY,
			       .target = cpu_target(cpu),
			       .class = CLASS_POLICY};
	append_text(ret->to, sizeof(ret->to), "%s", s->value);
	say_where(ret, p, s, ", and interrupts of NICs arrive there");
	return true;
}

static bool policy_thread(const struct irq *irq, const struct profile *p, struct change *ret)
{
	const struct profile_setting *s = &p->setting[TUNABLE_IRQ_THREAD_PRIORITY];

	if (s->kind != SETTING_VALUE || irq->thread <= 0 || irq->nic < 0 || irq->role == IRQ_OTHER)
		return false;
	*ret = (struct change){.tunable = TUNABLE_IRQ_THREAD_PRIORITY,
			       .target = irq_thread_target(irq),
			       .class = CLASS_POLICY};
	append_text(ret->to, sizeof(ret->to), "%s", s->value);
	say_where(ret, p, s, "");
	return true;
}

size_t decide_power(const struct topology *t, const struct profile *p, size_t *at,
		    struct change *changes, size_t max)
{
	struct cpuset receive = topology_receive_cpus(t);
	size_t n = 0;

	/* A policy's pair is not split. */
	for (; *at < t->n_policies && n + COUPLED_MAX <= max; (*at)++)
		n += policy_power(&t->policy[*at], p, &changes[n], max - n);
	for (; *at >= t->n_policies && *at < t->n_policies + t->n_cpus && n < max; (*at)++) {
		unsigned cpu = (unsigned)(*at - t->n_policies);

		if (cpuset_has(&receive, cpu))
			n += policy_cpu_latency(t, p, cpu, &changes[n]);
	}
	for (; *at >= t->n_policies + t->n_cpus && *at < t->n_policies + t->n_cpus + t->n_irqs &&
	       n < max;
	     (*at)++)
		n += policy_thread(&t->irq[*at - t->n_policies - t->n_cpus], p, &changes[n]);
	return n;
}

static size_t policy_placement(const struct topology *t, const struct profile *p, unsigned nic,
			       struct change *changes, size_t max)
{
	const struct nic_rule *rule = profile_nic_rule(p, t->nic[nic].name);
	struct move moves[CHANGES_MAX];
	char why[160], list[CPUSET_LIST_MAX];
	size_t n;

	if (!rule || rule->placement == PLACEMENT_LEAVE ||
	    (topology_irqbalance_moves(t, nic) && !p->place_despite_irqbalance))
		return 0;
	n = placement_plan(t, nic, rule->placement, rule->has_cpus ? &rule->cpus : NULL,
			   rule->has_near_cpus ? &rule->near_cpus : NULL, moves,
			   MIN(max, ELEMENTSOF(moves)));
	snprintf(why, sizeof(why), "profile %s: placement %s for %s", p->name,
		 placement_to_string(rule->placement), t->nic[nic].name);
	if (rule->has_near_cpus) {
		cpuset_format_list(&rule->near_cpus, list, sizeof(list));
		append_text(why, sizeof(why), ", whose packets CPUs %.64s consume", list);
	}
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
	if (n < max)
		n += policy_host_latency(t, p, &changes[n]);
	/* One NIC at a time: the next one's plan counts on where this one's interrupts went. */
	for (unsigned i = 0, before = (unsigned)n; i < t->n_nics && n < max && n == before; i++)
		n += policy_placement(t, p, i, &changes[n], max - n);
	return n;
}

size_t decider_trials(const struct decider *d, const struct change **ret, size_t max)
{
	if (d->trial.stage == TRIAL_OFF || d->trial.stage == TRIAL_BASELINE || max == 0)
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
