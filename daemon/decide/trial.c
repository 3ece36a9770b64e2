/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/trial.h"

#include <math.h>

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

#define MEDIAN_TO_SIGMA 1.4826 /* of a normal distribution's absolute values */

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
	/* Of the packets that were processed: a dropped one costs next to nothing, so fewer drops
	 * would look like dearer packets. */
	ret->guard = total > 0 ? ratio(softirq, l.packets - l.drops) : 0;
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

static bool is_rare(const struct samples *s)
{
	size_t with_event = 0;

	for (size_t i = 0; i < s->n; i++)
		with_event += s->measure[i] > 0;
	return with_event * 2 <= s->n;
}

/* The standard deviation of the steps from tick to tick, in parts of the median; from their median, so
 * that the one step between two settings does not count. */
static double jitter(const struct samples *s)
{
	double steps[SAMPLES_MAX], middle = median_of(s->measure, s->n);

	if (s->n < 2 || middle <= 0)
		return 0;
	for (size_t i = 1; i < s->n; i++)
		steps[i - 1] = fabs(s->measure[i] - s->measure[i - 1]);
	return MEDIAN_TO_SIGMA * median(steps, s->n - 1) / middle;
}

/* Whether the fall is more than a random walk of the same steps would have reached meanwhile. */
static bool beyond_drift(const struct samples *before, const struct samples *after)
{
	double high = median_of(before->measure, before->n),
	       low = median_of(after->measure, after->n), steps = jitter(before);
	double ticks = (double)before->n / 2 + SETTLE_TICKS + (double)after->n / 2;

	if (low > CURED * high)
		steps = MAX(steps, jitter(after));
	else
		low = CURED * high;
	return log(high / low) >= DRIFT_SIGMAS * steps * sqrt(ticks);
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

void trial_further(struct trial *t, const char *to)
{
	t->change.to[0] = '\0';
	append_text(t->change.to, sizeof(t->change.to), "%s", to);
	for (size_t i = 0; i < t->with.n && t->baseline.n < SAMPLES_MAX; i++) {
		t->baseline.measure[t->baseline.n] = t->with.measure[i];
		t->baseline.load[t->baseline.n] = t->with.load[i];
		t->baseline.guard[t->baseline.n++] = t->with.guard[i];
	}
	t->events_before += t->events_after;
	t->packets_before += t->packets_after;
	t->ticks_before += t->ticks;
	t->with = (struct samples){};
	t->events_after = t->packets_after = 0;
	t->worse = t->saturated_with = t->stretches = 0;
	t->stretch = 0;
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

const char *trial_value(const struct trial *t)
{
	return t->made;
}

bool trial_learn(struct trial *t, const struct result *r)
{
	bool made = r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_PENDING ||
		    r->outcome == OUTCOME_UNCHANGED;

	t->ticks = 0;
	switch (t->stage) {
	case TRIAL_ASKED:
		if (made)
			memcpy(t->made, t->change.to, sizeof(t->made));
		else
			t->reason = "the next step was refused";
		/* What somebody else took over in between is theirs. */
		t->stage = made                                            ? TRIAL_SETTLING
			   : t->steps > 0 && r->outcome != OUTCOME_FOREIGN ? TRIAL_STUCK
									   : TRIAL_OFF;
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

/* By exposure: drops and squeezes come in bursts, so ticks with an event are counted, not events. */
static enum verdict judge_rare(struct trial *t)
{
	double before = t->packets_before / t->ticks_before, after = t->packets_after / t->ticks;
	bool done = t->ticks >= RARE_TICKS;

	t->before = ratio(t->events_before, t->packets_before);
	t->after = ratio(t->events_after, t->packets_after);
	/* Until the exposure is complete only a failure is certain. */
	if (poisson_fewer_probability(
		    (unsigned)t->events_before, t->packets_before, (unsigned)t->events_after,
		    done ? t->packets_after : MAX(before * RARE_TICKS, t->packets_after)) >
	    SIGNIFICANCE)
		return VERDICT_NO_EFFECT;
	if (!done)
		return VERDICT_NONE;
	if (after < LOAD_MIN * before || after > LOAD_MAX * before)
		return inconclusive(t, "the load changed during the trial");
	if (t->after > (1 - EFFECT_MIN) * t->before)
		return VERDICT_NO_EFFECT;
	return guard_worse(t) ? VERDICT_WORSE : VERDICT_KEPT;
}

static enum verdict judge(struct trial *t)
{
	t->before = median_of(t->baseline.measure, t->baseline.n);
	t->after = median_of(t->with.measure, t->with.n);
	if (t->rare)
		return judge_rare(t);
	if (!same_load(&t->baseline, &t->with))
		return inconclusive(t, "the load changed during the trial");
	if (guard_worse(t)) {
		t->reason = "each packet costs more CPU time";
		return VERDICT_WORSE;
	}
	if (!clearly_below(&t->with, &t->baseline))
		return VERDICT_NO_EFFECT;
	/* Squeezes of a CPU that has no time left with the change either: other numbers, no gain. */
	if (t->symptom == SYMPTOM_SQUEEZED && t->saturated_before &&
	    t->saturated_with * 2 > t->with.n)
		return VERDICT_NO_EFFECT;
	if (beyond_drift(&t->baseline, &t->with))
		return VERDICT_KEPT;
	if (t->symptom == SYMPTOM_BACKLOG_DROP) {
		t->stretches = 1;
		return VERDICT_NONE;
	}
	t->stage = TRIAL_WITHDRAWING;
	return VERDICT_WITHDRAW;
}

/* What a withdrawal would tell, without one: noise that comes and goes comes back. */
static enum verdict judge_long(struct trial *t, const struct sample *x)
{
	double mean, worst = (1 - EFFECT_MIN) * t->before;

	t->stretch += x->measure;
	if (t->ticks % JUDGE_TICKS != 0)
		return VERDICT_NONE;
	mean = t->stretch / JUDGE_TICKS;
	t->stretch = 0;
	t->after = MAX(t->after, mean);
	if (mean > worst)
		return VERDICT_NO_EFFECT;
	return ++t->stretches < LONG_STRETCHES ? VERDICT_NONE : VERDICT_KEPT;
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

/* And with it once more: did the measure fall? */
static enum verdict judge_again(struct trial *t)
{
	if (!same_load(&t->without, &t->again))
		return inconclusive(t, "the load changed after the change was made again");
	if (!clearly_below(&t->again, &t->without))
		return inconclusive(
			t, "making it again made nothing better: the improvement was chance");
	return VERDICT_KEPT;
}

/* Rails that do not wait for the end of the window. */
static bool plainly_worse(struct trial *t, const struct sample *x)
{
	if (!t->saturated_before && x->softirq_share >= SATURATED) {
		t->reason = "a CPU became saturated";
		t->worse++;
	} else if (x->measure > 2 * largest(t->baseline.measure, t->baseline.n) && x->measure > 0 &&
		   !t->rare) {
		t->reason = "it more than doubled";
		t->worse++;
	} else {
		t->worse = 0;
	}
	return t->worse >= WORSE_TICKS;
}

static enum verdict tick_baseline(struct trial *t, const struct sample *x, bool present, bool acute)
{
	if (!present)
		return VERDICT_CANCELLED;
	t->worse = acute ? 0 : t->worse + 1;
	if (t->baseline.n < BASELINE_TICKS)
		keep_sample(&t->baseline, x);
	t->events_before += x->events > 0;
	t->packets_before += x->packets;
	t->saturated_before |= x->softirq_share >= SATURATED;
	if (t->baseline.n < BASELINE_TICKS)
		return VERDICT_NONE;
	t->rare = is_rare(&t->baseline);
	/* Two calm ticks: it was a spike, and nothing needs to be tried. Or it comes now and then:
	 * that takes longer to see. */
	if (!t->rare && t->worse >= 2)
		return VERDICT_CANCELLED;
	if (t->rare && t->ticks < RARE_BASELINE_TICKS)
		return VERDICT_NONE;
	if (t->rare && t->events_before < RARE_EVENTS_MIN)
		return VERDICT_CANCELLED;
	t->worse = 0;
	t->ticks_before = t->ticks;
	return VERDICT_CHANGE;
}

enum verdict trial_tick(struct trial *t, const struct window *w, bool present, bool acute)
{
	enum sampled sampled;
	struct sample x;

	if (t->stage == TRIAL_OFF || t->stage == TRIAL_ASKED || t->stage == TRIAL_WITHDRAWING ||
	    t->stage == TRIAL_REAPPLYING || t->stage == TRIAL_TAKING_BACK)
		return VERDICT_NONE;
	if (t->stage == TRIAL_STUCK)
		return VERDICT_INCONCLUSIVE;
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
		return tick_baseline(t, &x, present, acute);
	case TRIAL_SETTLING:
	case TRIAL_WITHDRAWN_SETTLING:
	case TRIAL_AGAIN_SETTLING:
		if (t->ticks >= SETTLE_TICKS) {
			t->stage++; /* what settles is judged next */
			t->ticks = 0;
		}
		return VERDICT_NONE;
	case TRIAL_JUDGING:
		keep_sample(&t->with, &x);
		t->saturated_with += x.softirq_share >= SATURATED;
		t->events_after += x.events > 0;
		t->packets_after += x.packets;
		if (plainly_worse(t, &x))
			return VERDICT_WORSE;
		if (t->stretches > 0)
			return judge_long(t, &x);
		return t->ticks < JUDGE_TICKS ? VERDICT_NONE : judge(t);
	case TRIAL_WITHDRAWN:
		keep_sample(&t->without, &x);
		return t->ticks < WITHDRAW_TICKS ? VERDICT_NONE : judge_withdrawal(t);
	case TRIAL_AGAIN:
		keep_sample(&t->again, &x);
		return t->ticks < AGAIN_TICKS ? VERDICT_NONE : judge_again(t);
	default:
		return VERDICT_NONE;
	}
}
