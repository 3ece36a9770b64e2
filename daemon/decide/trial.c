/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/trial.h"

#include <math.h>

#include "decide/poll-burn.h"

const char *verdict_to_string(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "running",
		[VERDICT_CANCELLED] = "cancelled",
		[VERDICT_CHANGE] = "change",
		[VERDICT_WITHDRAW] = "withdrawn to confirm",
		[VERDICT_REAPPLY] = "confirmed",
		[VERDICT_KEPT] = "kept",
		[VERDICT_NO_EFFECT] = "no effect",
		[VERDICT_WORSE] = "worse",
		[VERDICT_INCONCLUSIVE] = "inconclusive",
	};

	return names[v];
}

#define DEARER "each packet costs more CPU time"
#define MISSED "the profile's objective got worse"
#define FULL   "a CPU became saturated"
#define FEWER  "fewer packets arrived without it"

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* The newest tick, as one sample. */
struct sample {
	double measure, load, guard, packets;
	bool has_objective;
	double objective;
};

enum sampled {
	SAMPLE_TAKEN,
	SAMPLE_NOT_DUE,
	SAMPLE_LOST
};

/* The profile's objective, where it is not the symptom's own: not in every tick, and from the start
 * not at all where its sensor is missing. */
static enum sampled take_objective(struct trial *t, const struct window *w, struct sample *x)
{
	enum measured m;

	if (!trial_sees_objective(t))
		return SAMPLE_TAKEN;
	m = objective_measure(t->judged.objective, w, &t->cpus, t->passed, &x->objective);
	x->has_objective = m == MEASURED;
	t->unread = m == MEASURED ? 0 : t->unread + 1;
	if (m == MEASURED || (m == MEASURED_NOT_DUE && t->unread < PATIENCE_TICKS))
		return SAMPLE_TAKEN;
	if (t->stage != TRIAL_BASELINE || t->baseline.n_objective > 0)
		return SAMPLE_LOST;
	t->judged.blind = true;
	return SAMPLE_TAKEN;
}

static enum sampled take_sample(struct trial *t, const struct window *w, struct sample *ret)
{
	struct load l;

	if (!window_tick(w, 0))
		return SAMPLE_LOST;
	l = window_load(w, &t->cpus, 1);
	*ret = (struct sample){.load = ratio(l.packets, l.seconds), .packets = l.packets};
	if (objective_measure(OBJECTIVE_CPU, w, &t->cpus, t->passed, &ret->guard) != MEASURED)
		ret->guard = 0;
	switch (objective_measure(objective_of(t->symptom), w, &t->cpus, t->passed,
				  &ret->measure)) {
	case MEASURED_NOT_DUE:
		return SAMPLE_NOT_DUE;
	case MEASURED_BLIND:
		return SAMPLE_LOST;
	case MEASURED:
		break;
	}
	return take_objective(t, w, ret);
}

static void count_exposure(struct samples *s, const struct sample *x)
{
	s->ticks++;
	s->events += x->measure > 0;
	s->packets += x->packets;
}

static void keep_sample(struct samples *s, const struct sample *x)
{
	count_exposure(s, x);
	if (x->has_objective && s->n_objective < SAMPLES_MAX)
		s->objective[s->n_objective++] = x->objective;
	if (s->n == SAMPLES_MAX)
		return;
	s->measure[s->n] = x->measure;
	s->load[s->n] = x->load;
	s->guard[s->n++] = x->guard;
}

/* Whether S has N of all that is judged. */
static bool is_full(const struct trial *t, const struct samples *s, size_t n)
{
	return s->n >= n && (!trial_sees_objective(t) || s->n_objective >= n);
}

static double median_of(const double *values, size_t n)
{
	double copy[SAMPLES_MAX];

	memcpy(copy, values, n * sizeof(*copy));
	return median(copy, n);
}

static double largest(const double *values, size_t n)
{
	double m = 0;

	for (size_t i = 0; i < n; i++)
		m = MAX(m, values[i]);
	return m;
}

static bool is_rare(const struct samples *s)
{
	size_t with_event = 0;

	for (size_t i = 0; i < s->n; i++)
		with_event += s->measure[i] > 0;
	return with_event * 2 <= s->n;
}

/* One series before and after: of the symptom's measure, or of the objective. */
struct pair {
	const double *before, *after;
	size_t n, m;
	double high, low; /* their medians */
};

static struct pair pair_of(const double *before, size_t n, const double *after, size_t m)
{
	return (struct pair){before, after, n, m, median_of(before, n), median_of(after, m)};
}

static struct pair measures(const struct samples *before, const struct samples *after)
{
	return pair_of(before->measure, before->n, after->measure, after->n);
}

static struct pair objectives(const struct samples *before, const struct samples *after)
{
	return pair_of(before->objective, before->n_objective, after->objective,
		       after->n_objective);
}

/* Whether it fell by EFFECT and beyond the noise. */
static bool fell(const struct pair *p, double effect)
{
	return p->low <= (1 - effect) * p->high &&
	       rank_sum_probability(p->after, p->m, p->before, p->n) <= SIGNIFICANCE;
}

/* Whether the symptom's own measure fell. Of busy CPUs no share, since all other work is among them. */
static bool own_fell(const struct trial *t, const struct pair *p)
{
	if (!trial_withdraws(t))
		return fell(p, EFFECT_MIN);
	return p->high - p->low >= POLL_BURN_FALL &&
	       rank_sum_probability(p->after, p->m, p->before, p->n) <= SIGNIFICANCE;
}

/* Of BEFORE and AFTER: the symptom's measure fell and, where the baseline has something to gain of
 * it, the objective. */
static bool both_fell(const struct trial *t, const struct samples *before,
		      const struct samples *after)
{
	struct pair own = measures(before, after), objective = objectives(before, after);

	return own_fell(t, &own) &&
	       (!t->to_gain || fell(&objective, objective_kinds[t->judged.objective].effect_min));
}

/* Whether the objective rose from BEFORE to AFTER, beyond the noise of single ticks. */
static bool objective_rose(const struct trial *t, const struct samples *before,
			   const struct samples *after, struct pair *ret)
{
	*ret = objectives(before, after);
	return trial_sees_objective(t) && ret->low > objective_kinds[t->judged.objective].floor &&
	       ret->low > OBJECTIVE_WORSE * ret->high &&
	       rank_sum_probability(ret->before, ret->n, ret->after, ret->m) <= SIGNIFICANCE;
}

/* Whether it is the same kind of load in A, without the change, and B, with it. */
static bool same_load(const struct trial *t, const struct samples *a, const struct samples *b)
{
	double before = median_of(a->load, a->n), after = median_of(b->load, b->n);

	/* A host without packets is what poll-burn is about. Fewer: see lost_packets(). */
	if (trial_withdraws(t))
		return after <= MAX(LOAD_MAX * before, RECEIVES_MIN);
	return before > 0 && after >= LOAD_MIN * before && after <= LOAD_MAX * before;
}

/* Whether fewer packets arrive in B, without polling, than in A, with it: somebody who waits for each
 * answer gets them later. */
static bool lost_packets(const struct trial *t, const struct samples *a, const struct samples *b)
{
	return trial_withdraws(t) &&
	       median_of(b->load, b->n) < POLL_BURN_PACKETS * median_of(a->load, a->n) &&
	       rank_sum_probability(b->load, b->n, a->load, a->n) <= SIGNIFICANCE;
}

/* The price: CPU time per packet. Absent CPU times give zeros on both sides, which is no worsening.
 */
static bool guard_worse(const struct trial *t, const struct samples *a, const struct samples *b)
{
	double before = median_of(a->guard, a->n), after = median_of(b->guard, b->n);

	/* Polls are no softirqs, so packets become dearer without them by this count; all of a CPU's
	 * time is what such a trial is judged by. */
	return !trial_withdraws(t) && before > 0 && after > GUARD_MAX * before &&
	       rank_sum_probability(a->guard, a->n, b->guard, b->n) <= SIGNIFICANCE;
}

void trial_open(struct trial *t, enum symptom symptom, enum objective objective,
		const struct cpuset *cpus)
{
	*t = (struct trial){.stage = TRIAL_BASELINE,
			    .symptom = symptom,
			    .judged.objective = objective,
			    .cpus = *cpus};
	if (t->judged.objective == objective_of(symptom))
		t->judged.objective = OBJECTIVE_SYMPTOM;
}

bool trial_withdraws(const struct trial *t)
{
	return t->symptom == SYMPTOM_POLL_BURN;
}

double trial_load(const struct trial *t)
{
	return median_of(t->baseline.load, t->baseline.n);
}

/* Nothing is lost while a poll burns, so there is time for as many samples before as after. */
static size_t baseline_ticks(const struct trial *t)
{
	return trial_withdraws(t) ? JUDGE_TICKS : BASELINE_TICKS;
}

bool trial_sees_objective(const struct trial *t)
{
	return t->judged.objective != OBJECTIVE_SYMPTOM && !t->judged.blind;
}

void trial_change(struct trial *t, const struct change *c)
{
	t->change = *c;
	t->stage = TRIAL_ASKED;
}

void trial_further(struct trial *t, const char *to)
{
	t->change.to[0] = '\0';
	append_text(t->change.to, sizeof(t->change.to), "%s", to);
	for (size_t i = 0; i < t->with.n && t->baseline.n < SAMPLES_MAX; i++) {
		t->baseline.measure[t->baseline.n] = t->with.measure[i];
		t->baseline.load[t->baseline.n] = t->with.load[i];
		t->baseline.guard[t->baseline.n++] = t->with.guard[i];
	}
	t->baseline.events += t->with.events;
	t->baseline.packets += t->with.packets;
	t->baseline.ticks += t->with.ticks;
	t->with = (struct samples){};
	t->worse = t->objective_worse = 0;
	memset(t->still_saturated, 0, sizeof(t->still_saturated));
	t->steps++;
	t->stage = TRIAL_ASKED;
}

void trial_interrupt(struct trial *t, const char *reason)
{
	if (!trial_in_place(t)) {
		*t = (struct trial){};
		return;
	}
	t->stage = TRIAL_STUCK;
	t->reason = reason;
}

bool trial_in_place(const struct trial *t)
{
	return t->stage == TRIAL_SETTLING || t->stage == TRIAL_JUDGING ||
	       t->stage == TRIAL_AGAIN_SETTLING || t->stage == TRIAL_AGAIN ||
	       t->stage == TRIAL_STUCK;
}

bool trial_is_withdrawn(const struct trial *t)
{
	return t->stage == TRIAL_WITHDRAWN_SETTLING || t->stage == TRIAL_WITHDRAWN;
}

const char *trial_value(const struct trial *t)
{
	return t->made;
}

bool trial_learn(struct trial *t, const struct result *r)
{
	bool made = r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_PENDING ||
		    r->outcome == OUTCOME_UNCHANGED;

	t->ticks = t->passed = t->unread = t->silent = t->worse = t->objective_worse = 0;
	switch (t->stage) {
	case TRIAL_ASKED:
		if (made)
			memcpy(t->made, t->change.to, sizeof(t->made));
		else
			t->reason = "the next step was refused";
		t->stage = made ? TRIAL_SETTLING : t->steps > 0 ? TRIAL_STUCK : TRIAL_OFF;
		break;
	case TRIAL_WITHDRAWING:
		t->stage = made ? TRIAL_WITHDRAWN_SETTLING : TRIAL_OFF;
		break;
	case TRIAL_REAPPLYING:
		t->stage = made ? TRIAL_AGAIN_SETTLING : TRIAL_OFF;
		break;
	case TRIAL_TAKING_BACK:
		t->stage = TRIAL_OFF;
		break;
	default:
		break;
	}
	return t->stage == TRIAL_OFF;
}

static enum verdict inconclusive(struct trial *t, const char *reason)
{
	t->reason = reason;
	return VERDICT_INCONCLUSIVE;
}

static enum verdict worse(struct trial *t, const char *reason)
{
	t->reason = reason;
	return VERDICT_WORSE;
}

/* By exposure: drops and squeezes come in bursts, so ticks with an event are counted, not events.
 * The probability that B has so few although nothing is different. */
static double fewer(const struct samples *a, const struct samples *b, double exposure_b)
{
	return poisson_fewer_probability(a->events, a->packets, b->events, exposure_b);
}

static bool rare_fell(const struct samples *a, const struct samples *b)
{
	return fewer(a, b, b->packets) <= SIGNIFICANCE &&
	       ratio(b->events, b->packets) <= (1 - EFFECT_MIN) * ratio(a->events, a->packets);
}

static bool same_exposure(const struct samples *a, const struct samples *b)
{
	double before = a->packets / a->ticks, after = b->packets / b->ticks;

	return after >= LOAD_MIN * before && after <= LOAD_MAX * before;
}

/* Whether B, with the change, can still turn out to have fewer than A, without: until its exposure
 * is complete only a failure is certain. */
static bool rare_may_fall(const struct samples *a, const struct samples *b)
{
	return fewer(a, b, MAX(a->packets / a->ticks * RARE_TICKS, b->packets)) <= SIGNIFICANCE;
}

static enum verdict judge_rare(struct trial *t)
{
	const struct samples *a = &t->baseline, *b = &t->with;

	t->before = ratio(a->events, a->packets);
	t->after = ratio(b->events, b->packets);
	if (!rare_may_fall(a, b))
		return VERDICT_NO_EFFECT;
	if (b->ticks < RARE_TICKS)
		return VERDICT_NONE;
	if (!same_exposure(a, b))
		return inconclusive(t, "the load changed during the trial");
	if (!rare_fell(a, b))
		return VERDICT_NO_EFFECT;
	if (guard_worse(t, a, b))
		return worse(t, DEARER);
	t->stage = TRIAL_WITHDRAWING;
	return VERDICT_WITHDRAW;
}

/* Squeezes of a CPU that has no time left with the change either: other numbers, no gain. */
static bool still_saturated(const struct trial *t)
{
	cpuset_for_each (cpu, &t->cpus)
		if (t->still_saturated[cpu] * 2U > t->with.ticks)
			return true;
	return false;
}

static enum verdict judge(struct trial *t)
{
	struct pair own = measures(&t->baseline, &t->with), objective;
	bool rose = objective_rose(t, &t->baseline, &t->with, &objective);

	t->before = own.high;
	t->after = own.low;
	t->judged.before = objective.high;
	t->judged.after = objective.low;
	if (t->rare)
		return judge_rare(t);
	if (lost_packets(t, &t->baseline, &t->with))
		return inconclusive(t, FEWER);
	if (!same_load(t, &t->baseline, &t->with))
		return inconclusive(t, "the load changed during the trial");
	if (guard_worse(t, &t->baseline, &t->with))
		return worse(t, DEARER);
	if (!own_fell(t, &own)) {
		/* No further step on such a road. */
		t->reason = rose ? MISSED : NULL;
		return VERDICT_NO_EFFECT;
	}
	if (t->symptom == SYMPTOM_SQUEEZED && still_saturated(t))
		return VERDICT_NO_EFFECT;
	if (!rose && !both_fell(t, &t->baseline, &t->with)) {
		t->reason = "the symptom is cured, but the profile's objective gained nothing";
		return VERDICT_NO_EFFECT;
	}
	t->stage = TRIAL_WITHDRAWING;
	return VERDICT_WITHDRAW;
}

/* Without the change again: did the measure rise? */
static enum verdict judge_withdrawal(struct trial *t)
{
	const struct samples *a = &t->without, *b = &t->with;
	struct pair objective;
	bool rose;

	if (t->rare && (a->events < RARE_EVENTS_MIN || !rare_fell(a, b)) && a->ticks < RARE_TICKS)
		return VERDICT_NONE;
	if (lost_packets(t, a, b))
		return inconclusive(t, FEWER);
	if (t->rare ? !same_exposure(b, a) : !same_load(t, a, b))
		return inconclusive(t, "the load changed while the change was withdrawn");
	rose = objective_rose(t, a, b, &objective);
	if (rose)
		return worse(t, MISSED);
	if (t->rare ? a->events < RARE_EVENTS_MIN || !rare_fell(a, b) : !both_fell(t, a, b))
		return inconclusive(
			t, "taking it back made nothing worse: the improvement was chance");
	t->stage = TRIAL_REAPPLYING;
	return VERDICT_REAPPLY;
}

/* And with it once more: did the measure fall, and is the price still the same? */
static enum verdict judge_again(struct trial *t)
{
	const struct samples *a = &t->without, *b = &t->again;
	struct pair objective;

	if (t->rare && rare_may_fall(a, b) && b->ticks < RARE_TICKS)
		return VERDICT_NONE;
	if (lost_packets(t, a, b))
		return inconclusive(t, FEWER);
	if (t->rare ? !same_exposure(a, b) : !same_load(t, a, b))
		return inconclusive(t, "the load changed after the change was made again");
	if (guard_worse(t, a, b))
		return worse(t, DEARER);
	if (objective_rose(t, a, b, &objective))
		return worse(t, MISSED);
	if (t->rare ? !rare_fell(a, b) : !both_fell(t, a, b))
		return inconclusive(
			t, "making it again made nothing better: the improvement was chance");
	return VERDICT_KEPT;
}

/* Rails that do not wait for the end of the window. */
static enum verdict plainly_worse(struct trial *t, const struct sample *x)
{
	const struct samples *b = &t->baseline;
	bool doubled = !t->rare && x->measure > 0 && x->measure > 2 * largest(b->measure, b->n);

	t->worse = doubled ? t->worse + 1 : 0;
	if (t->worse >= WORSE_TICKS) {
		t->before = median_of(b->measure, b->n);
		t->after = x->measure;
		/* Polling that is off does not do that. */
		return trial_withdraws(t) ? inconclusive(t, "other work came meanwhile")
					  : worse(t, "it more than doubled");
	}
	if (!x->has_objective)
		return VERDICT_NONE;
	doubled = x->objective > objective_kinds[t->judged.objective].floor &&
		  x->objective > 2 * largest(b->objective, b->n_objective);
	t->objective_worse = doubled ? t->objective_worse + 1 : 0;
	t->judged.after = x->objective;
	return t->objective_worse >= WORSE_TICKS ? worse(t, MISSED) : VERDICT_NONE;
}

/* A CPU that had time left before the change has none: every CPU, since the settings are host-wide;
 * from the change on, and also while it is withdrawn, which then proves nothing. */
static enum verdict tick_saturation(struct trial *t, const struct window *w)
{
	int cpu;

	saturation_tick(&t->saturation, w);
	cpu = saturation_find(&t->saturation, WORSE_TICKS, &t->saturated_before);
	if (cpu < 0)
		return VERDICT_NONE;
	return trial_in_place(t) ? worse(t, FULL)
				 : inconclusive(t, FULL " while the change was withdrawn");
}

/* … and those that had none. */
static void count_saturated(struct trial *t)
{
	cpuset_for_each (cpu, &t->cpus)
		if (t->saturation.ticks[cpu] > 0 && cpuset_has(&t->saturated_before, cpu))
			t->still_saturated[cpu]++;
}

static enum verdict tick_baseline(struct trial *t, const struct sample *x, bool present, bool acute)
{
	if (!present)
		return VERDICT_CANCELLED;
	t->worse = acute ? 0 : t->worse + 1;
	if (is_full(t, &t->baseline, baseline_ticks(t)))
		count_exposure(&t->baseline, x);
	else
		keep_sample(&t->baseline, x);
	if (!is_full(t, &t->baseline, baseline_ticks(t)))
		return VERDICT_NONE;
	t->rare = is_rare(&t->baseline);
	/* Two calm ticks: it was a spike, and nothing needs to be tried. Or it comes now and then:
	 * that takes longer to see. */
	if (!t->rare && t->worse >= 2)
		return VERDICT_CANCELLED;
	if (t->rare && t->ticks < RARE_BASELINE_TICKS)
		return VERDICT_NONE;
	if (t->rare && t->baseline.events < RARE_EVENTS_MIN)
		return VERDICT_CANCELLED;
	t->worse = 0;
	t->judged.before = median_of(t->baseline.objective, t->baseline.n_objective);
	t->to_gain = !t->rare && trial_sees_objective(t) &&
		     t->judged.before > objective_kinds[t->judged.objective].floor;
	return VERDICT_CHANGE;
}

enum verdict trial_tick(struct trial *t, const struct window *w, bool present, bool acute)
{
	enum sampled sampled;
	enum verdict v;
	struct sample x;

	if (t->stage == TRIAL_OFF || t->stage == TRIAL_ASKED || t->stage == TRIAL_WITHDRAWING ||
	    t->stage == TRIAL_REAPPLYING || t->stage == TRIAL_TAKING_BACK)
		return VERDICT_NONE;
	if (t->stage == TRIAL_STUCK)
		return VERDICT_INCONCLUSIVE;
	t->passed++;
	if (t->stage != TRIAL_BASELINE) {
		v = tick_saturation(t, w);
		if (v != VERDICT_NONE)
			return v;
	} else {
		struct cpuset now;

		saturation_tick(&t->saturation, w);
		now = saturation_cpus(&t->saturation);
		t->saturated_before = cpuset_or(&t->saturated_before, &now);
	}
	/* A re-baselined window has lost the ticks that would be judged. */
	sampled = take_sample(t, w, &x);
	if (sampled == SAMPLE_NOT_DUE && ++t->silent < PATIENCE_TICKS)
		return VERDICT_NONE;
	if (sampled != SAMPLE_TAKEN)
		return t->stage == TRIAL_BASELINE
			       ? VERDICT_CANCELLED
			       : inconclusive(
					 t, "the measurement was interrupted (suspend or hotplug)");
	t->silent = 0;
	t->ticks++;
	switch (t->stage) {
	case TRIAL_BASELINE:
		return tick_baseline(t, &x, present, acute);
	case TRIAL_SETTLING:
	case TRIAL_WITHDRAWN_SETTLING:
	case TRIAL_AGAIN_SETTLING:
		if (t->ticks >= SETTLE_TICKS) {
			t->stage++; /* what settles is judged next */
			t->ticks = t->passed = 0;
		}
		return VERDICT_NONE;
	case TRIAL_JUDGING:
		keep_sample(&t->with, &x);
		count_saturated(t);
		v = plainly_worse(t, &x);
		if (v != VERDICT_NONE)
			return v;
		return is_full(t, &t->with, JUDGE_TICKS) ? judge(t) : VERDICT_NONE;
	case TRIAL_WITHDRAWN:
		keep_sample(&t->without, &x);
		return is_full(t, &t->without, WITHDRAW_TICKS) ? judge_withdrawal(t) : VERDICT_NONE;
	case TRIAL_AGAIN:
		keep_sample(&t->again, &x);
		v = plainly_worse(t, &x);
		if (v != VERDICT_NONE)
			return v;
		return is_full(t, &t->again, AGAIN_TICKS) ? judge_again(t) : VERDICT_NONE;
	default:
		return VERDICT_NONE;
	}
}
