/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/saturation.h"

void saturation_tick(struct saturation *s, const struct window *w)
{
	const struct tick *t = window_tick(w, 0);

	for (unsigned cpu = 0; t && cpu < MIN(w->n_cpus, (unsigned)CPU_ID_MAX); cpu++) {
		const struct cpu_delta *d = &t->cpu[cpu];

		if (!(d->have & HAVE_STAT) || d->total == 0)
			continue;
		if ((double)(d->softirq_time + d->irq_time) < SATURATED * (double)d->total)
			s->ticks[cpu] = 0;
		else if (s->ticks[cpu] < UINT8_MAX)
			s->ticks[cpu]++;
	}
}

struct cpuset saturation_cpus(const struct saturation *s)
{
	struct cpuset set = {};

	for (unsigned cpu = 0; cpu < CPU_ID_MAX; cpu++)
		if (s->ticks[cpu] > 0)
			cpuset_add(&set, cpu);
	return set;
}

int saturation_find(const struct saturation *s, unsigned ticks, const struct cpuset *except)
{
	for (unsigned cpu = 0; cpu < CPU_ID_MAX; cpu++)
		if (s->ticks[cpu] >= ticks && !cpuset_has(except, cpu))
			return (int)cpu;
	return -1;
}
