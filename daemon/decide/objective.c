/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/objective.h"

#include <stdio.h>

#include "decide/poll-burn.h"
#include "decide/symptom-internal.h"

const struct objective_kind objective_kinds[_MEASURE_MAX] = {
	[OBJECTIVE_DROPS] = {"dropped packets", "%", DROPS_FLOOR, EFFECT_MIN},
	[OBJECTIVE_SQUEEZES] = {"squeezed runs", "%", SQUEEZES_FLOOR, EFFECT_MIN},
	[OBJECTIVE_WAIT] = {"softirqs' wait per packet", "µs", WAIT_FLOOR, EFFECT_MIN},
	[OBJECTIVE_WAKEUP] = {"tasks' wait for a CPU", "%", WAKEUP_FLOOR, EFFECT_MIN},
	[OBJECTIVE_CPU] = {"CPU time per packet", "µs", 0, CPU_EFFECT_MIN},
	[OBJECTIVE_BUSY] = {"busy CPUs", "CPUs", 0, POLL_BURN_FALL},
};

enum objective objective_of(enum symptom s)
{
	switch (s) {
	case SYMPTOM_BACKLOG_DROP:
		return OBJECTIVE_DROPS;
	case SYMPTOM_SOFTIRQ_HOG:
		return OBJECTIVE_WAKEUP;
	case SYMPTOM_KSOFTIRQD_LAG:
		return OBJECTIVE_WAIT;
	case SYMPTOM_POLL_BURN:
		return OBJECTIVE_BUSY;
	default:
		return OBJECTIVE_SQUEEZES;
	}
}

static enum measured measure_wait(const struct window *w, const struct cpuset *cpus, unsigned ticks,
				  double *ret)
{
	const struct tick *t = window_tick(w, 0);
	double waited = 0;
	unsigned span = 0;

	cpuset_for_each (cpu, cpus) {
		const struct cpu_delta *d = cpu < w->n_cpus ? &t->cpu[cpu] : NULL;

		if (!d || !(d->have & HAVE_KSOFTIRQD))
			continue;
		waited += (double)d->ksoftirqd_wait_ns / NSEC_PER_USEC;
		span = MAX(span, window_ticks(w, d->ksoftirqd_usec));
	}
	if (span == 0 || span > ticks)
		return MEASURED_NOT_DUE;
	*ret = ratio(waited, window_load(w, cpus, span).packets);
	return MEASURED;
}

static enum measured measure_cpu(const struct window *w, const struct cpuset *cpus,
				 const struct load *l, double *ret)
{
	double usec = 0;
	bool seen = false;

	cpuset_for_each (cpu, cpus) {
		struct cpu_sum s = window_cpu(w, cpu, 1);

		seen |= s.total > 0;
		usec += ratio((double)(s.softirq_time + s.irq_time), (double)s.total) * s.seconds *
			(double)USEC_PER_SEC;
	}
	*ret = ratio(usec, l->packets - l->drops);
	return seen ? MEASURED : MEASURED_BLIND;
}

enum measured objective_measure(enum objective o, const struct window *w, const struct cpuset *cpus,
				unsigned ticks, double *ret)
{
	const struct tick *t = window_tick(w, 0);
	struct load l = window_load(w, cpus, 1);

	switch (o) {
	case OBJECTIVE_DROPS:
		*ret = ratio(l.drops, l.packets);
		return MEASURED;
	case OBJECTIVE_WAIT:
		return measure_wait(w, cpus, ticks, ret);
	case OBJECTIVE_WAKEUP:
		if (!t->psi_cpu_have)
			return MEASURED_BLIND;
		*ret = ratio((double)t->psi_cpu_usec, (double)(t->end_usec - t->begin_usec));
		return MEASURED;
	case OBJECTIVE_CPU:
		return measure_cpu(w, cpus, &l, ret);
	case OBJECTIVE_BUSY:
		return poll_burn_busy(w, cpus, 1, ret) ? MEASURED : MEASURED_BLIND;
	default:
		*ret = l.runs > 0 ? ratio(l.squeezes, l.runs) : ratio(l.squeezes, l.packets);
		return MEASURED;
	}
}

void objective_format(enum objective o, double value, char *buf, size_t size)
{
	const char *unit = objective_kinds[o].unit;

	snprintf(buf, size, "%.3g %s", streq(unit, "%") ? 100 * value : value, unit);
}
