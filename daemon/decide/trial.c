/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/trial.h"

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

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* The newest tick, as one sample. */
struct sample {
	double measure, load, guard, events, packets, softirq_share;
};

enum sampled {
	SAMPLE_TAKEN,
	SAMPLE_NOT_DUE,
	SAMPLE_LOST
};

/* What the symptom is measured by, 0 … 1, less is better. */
static enum sampled measure(const struct trial *t, const struct window *w, const struct load *l,
			    struct sample *x)
{
	const struct tick *tick = window_tick(w, 0);
	double wait = 0, time = 0;

	switch (t->symptom) {
	case SYMPTOM_BACKLOG_DROP:
		x->events = l->drops;
		x->measure = ratio(l->drops, l->packets);
		return SAMPLE_TAKEN;
	case SYMPTOM_SOFTIRQ_HOG:
		/* Share of the time in which some task waited for a CPU. */
		if (!tick->psi_cpu_have)
			return SAMPLE_LOST;
		x->measure = ratio((double)tick->psi_cpu_usec,
				   (double)(tick->end_usec - tick->begin_usec));
		x->events = (double)tick->psi_cpu_usec;
		return SAMPLE_TAKEN;
	case SYMPTOM_KSOFTIRQD_LAG:
		cpuset_for_each (cpu, &t->cpus) {
			const struct cpu_delta *d = &tick->cpu[cpu];

			if (cpu >= w->n_cpus || !(d->have & HAVE_KSOFTIRQD))
				continue;
			wait += (double)d->ksoftirqd_wait_ns;
			time += (double)d->ksoftirqd_usec * 1000;
		}
		if (time == 0)
			return SAMPLE_NOT_DUE;
		x->measure = ratio(wait, time);
		x->events = wait;
		return SAMPLE_TAKEN;
	default:
		x->events = l->squeezes;
		x->measure =
			l->runs > 0 ? ratio(l->squeezes, l->runs) : ratio(l->squeezes, l->packets);
		return SAMPLE_TAKEN;
	}
}

static enum sampled take_sample(const struct trial *t, const struct window *w, struct sample *ret)
{
	struct load l;
	double softirq = 0, total = 0, worst = 0;

	if (!window_tick(w, 0))
		return SAMPLE_LOST;
	l = window_load(w, &t->cpus, 1);
	cpuset_for_each (cpu, &t->cpus) {
		struct cpu_sum s = window_cpu(w, cpu, 1);

		softirq += (double)(s.softirq_time + s.irq_time);
		total += (double)s.total;
		worst = MAX(worst, ratio((double)(s.softirq_time + s.irq_time), (double)s.total));
	}
	*ret = (struct sample){
		.load = ratio(l.packets, l.seconds), .packets = l.packets, .softirq_share = worst};
	ret->guard = total > 0 ? ratio(softirq, l.packets) : 0;
	return measure(t, w, &l, ret);
}

static void keep_sample(struct samples *s, const struct sample *x)
{
	if (s->n == SAMPLES_MAX)
		return;
	s->measure[s->n] = x->measure;
	s->load[s->n] = x->load;
	s->guard[s->n++] = x->guard;
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

static bool is_rare(const struct trial *t)
{
	size_t with_event = 0;

	for (size_t i = 0; i < t->baseline.n; i++)
		with_event += t->baseline.measure[i] > 0;
	return with_event * 2 <= t->baseline.n;
}

static bool is_noisy(const struct samples *s)
{
	double low = s->n ? s->measure[0] : 0;

	for (size_t i = 0; i < s->n; i++)
		low = MIN(low, s->measure[i]);
	return largest(s->measure, s->n) - low > NOISY * median_of(s->measure, s->n);
}

/* Whether LOWER is below UPPER by the effect and beyond the noise. */
static bool clearly_below(const struct samples *lower, const struct samples *upper)
{
	double low = median_of(lower->measure, lower->n),
	       high = median_of(upper->measure, upper->n);

	return low <= (1 - EFFECT_MIN) * high &&
	       rank_sum_probability(lower->measure, lower->n, upper->measure, upper->n) <=
		       SIGNIFICANCE;
}

static bool same_load(const struct samples *a, const struct samples *b)
{
	double before = median_of(a->load, a->n), after = median_of(b->load, b->n);

	return before > 0 && after >= LOAD_MIN * before && after <= LOAD_MAX * before;
}

/* The price: CPU time per packet. Absent CPU times give zeros on both sides, which is no worsening.
 */
static bool guard_worse(const struct trial *t)
{
	const struct samples *a = &t->baseline, *b = &t->with;
	double before = median_of(a->guard, a->n), after = median_of(b->guard, b->n);

	return before > 0 && after > GUARD_MAX * before &&
	       rank_sum_probability(a->guard, a->n, b->guard, b->n) <= SIGNIFICANCE;
}

void trial_open(struct trial *t, enum symptom symptom, const struct cpuset *cpus)
{
	*t = (struct trial){.stage = TRIAL_BASELINE, .symptom = symptom, .cpus = *cpus};
}

void trial_change(struct trial *t, const struct change *c)
{
	t->change = *c;
	t->stage = TRIAL_ASKED;
}

bool trial_learn(struct trial *t, const struct result *r)
{
	bool made = r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_PENDING ||
		    r->outcome == OUTCOME_UNCHANGED;

	t->ticks = 0;
	switch (t->stage) {
	case TRIAL_ASKED:
		t->stage = made ? TRIAL_SETTLING : TRIAL_OFF;
		break;
	case TRIAL_WITHDRAWING:
		t->stage = made ? TRIAL_WITHDRAWN_SETTLING : TRIAL_OFF;
		break;
	case TRIAL_REAPPLYING:
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

static enum verdict judge_rare(struct trial *t)
{
	double p;

	t->before = ratio(t->events_before, t->packets_before);
	t->after = ratio(t->events_after, t->packets_after);
	/* Drops and squeezes come in bursts: ticks with an event are counted, not events. */
	p = poisson_fewer_probability((unsigned)t->events_before, t->packets_before,
				      (unsigned)t->events_after, t->packets_after);
	if (p > SIGNIFICANCE || t->after > (1 - EFFECT_MIN) * t->before)
		return VERDICT_NO_EFFECT;
	return guard_worse(t) ? VERDICT_WORSE : VERDICT_KEPT;
}

static enum verdict judge(struct trial *t)
{
	t->before = median_of(t->baseline.measure, t->baseline.n);
	t->after = median_of(t->with.measure, t->with.n);
	if (!same_load(&t->baseline, &t->with))
		return inconclusive(t, "the load changed during the trial");
	if (is_rare(t))
		return t->ticks < RARE_TICKS ? VERDICT_NONE : judge_rare(t);
	if (guard_worse(t)) {
		t->reason = "each packet costs more CPU time";
		return VERDICT_WORSE;
	}
	if (!clearly_below(&t->with, &t->baseline))
		return VERDICT_NO_EFFECT;
	if (is_noisy(&t->baseline) && t->symptom != SYMPTOM_BACKLOG_DROP) {
		t->stage = TRIAL_WITHDRAWING;
		return VERDICT_WITHDRAW;
	}
	return VERDICT_KEPT;
}

/* Without the change again: did the measure rise? */
static enum verdict judge_withdrawal(struct trial *t)
{
	if (!same_load(&t->with, &t->without))
		return inconclusive(t, "the load changed while the change was withdrawn");
	if (!clearly_below(&t->with, &t->without))
		return inconclusive(
			t, "taking it back made nothing worse: the improvement was chance");
	t->stage = TRIAL_REAPPLYING;
	return VERDICT_REAPPLY;
}

/* Rails that do not wait for the end of the window. */
static bool plainly_worse(struct trial *t, const struct sample *x)
{
	if (!t->saturated_before && x->softirq_share >= SATURATED) {
		t->reason = "a CPU became saturated";
		t->worse++;
	} else if (x->measure > 2 * largest(t->baseline.measure, t->baseline.n) && x->measure > 0 &&
		   !is_rare(t)) {
		t->reason = "it more than doubled";
		t->worse++;
	} else {
		t->worse = 0;
	}
	return t->worse >= WORSE_TICKS;
}

static enum verdict tick_baseline(struct trial *t, const struct sample *x, bool acute)
{
	/* Two calm ticks: it was a spike, and nothing needs to be tried. */
	t->worse = acute ? 0 : t->worse + 1;
	if (t->worse >= 2)
		return VERDICT_CANCELLED;
	keep_sample(&t->baseline, x);
	t->events_before += x->events > 0;
	t->packets_before += x->packets;
	t->saturated_before |= x->softirq_share >= SATURATED;
	if (t->baseline.n < BASELINE_TICKS)
		return VERDICT_NONE;
	t->worse = 0;
	return VERDICT_CHANGE;
}

enum verdict trial_tick(struct trial *t, const struct window *w, bool acute)
{
	enum sampled sampled;
	struct sample x;

	if (t->stage == TRIAL_OFF || t->stage == TRIAL_ASKED || t->stage == TRIAL_WITHDRAWING ||
	    t->stage == TRIAL_REAPPLYING || t->stage == TRIAL_TAKING_BACK)
		return VERDICT_NONE;
	/* A re-baselined window has lost the ticks that would be judged. */
	sampled = take_sample(t, w, &x);
	if (sampled == SAMPLE_NOT_DUE)
		return VERDICT_NONE;
	if (sampled == SAMPLE_LOST)
		return t->stage == TRIAL_BASELINE
			       ? VERDICT_CANCELLED
			       : inconclusive(
					 t, "the measurement was interrupted (suspend or hotplug)");
	t->ticks++;
	switch (t->stage) {
	case TRIAL_BASELINE:
		return tick_baseline(t, &x, acute);
	case TRIAL_SETTLING:
	case TRIAL_WITHDRAWN_SETTLING:
		if (t->ticks >= SETTLE_TICKS) {
			t->stage = t->stage == TRIAL_SETTLING ? TRIAL_JUDGING : TRIAL_WITHDRAWN;
			t->ticks = 0;
		}
		return VERDICT_NONE;
	case TRIAL_JUDGING:
		keep_sample(&t->with, &x);
		t->events_after += x.events > 0;
		t->packets_after += x.packets;
		if (plainly_worse(t, &x))
			return VERDICT_WORSE;
		return t->ticks < JUDGE_TICKS ? VERDICT_NONE : judge(t);
	case TRIAL_WITHDRAWN:
		keep_sample(&t->without, &x);
		return t->ticks < WITHDRAW_TICKS ? VERDICT_NONE : judge_withdrawal(t);
	default:
		return VERDICT_NONE;
	}
}
