/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc/softirq_stat of the kernel series adds to the evidence: why runs of softirqs end with
 * work left, and network softirqs that keep an idle CPU's tick, without the kernel log's cap of
 * ten. And what cannot be judged on a kernel that does not tell whether anybody waits.
 */
#include "decide/symptom-internal.h"

static const char *const reasons[_HANDOVER_MAX] = {
	[HANDOVER_TIME] = "their time is used up",
	[HANDOVER_RESCHED] = "another task should run",
	[HANDOVER_COUNT] = "their passes are used up",
	[HANDOVER_POLICY] = "the policy never restarts them",
};

double handovers_per_second(const struct window *w, unsigned cpu)
{
	struct handover_sum sum = window_handovers(w, cpu, DETECT_TICKS);
	double n = 0;

	if (sum.ticks == 0)
		return -1;
	for (size_t i = 0; i < _HANDOVER_MAX; i++)
		n += (double)sum.handover[i];
	return ratio(n, sum.seconds);
}

void add_handovers(struct symptom_report *r, const struct decide_input *in)
{
	double by[_HANDOVER_MAX] = {}, all = 0, own = 0, wakes = 0, seconds = 0;
	size_t most = 0;

	cpuset_for_each (cpu, &r->cpus) {
		struct handover_sum sum = window_handovers(in->window, cpu, DETECT_TICKS);

		for (size_t i = 0; i < _HANDOVER_MAX; i++)
			by[i] += (double)sum.handover[i];
		own += (double)sum.own;
		wakes += (double)sum.ksoftirqd_wakes;
		seconds = MAX(seconds, sum.seconds);
	}
	if (seconds <= 0)
		return;
	for (size_t i = 0; i < _HANDOVER_MAX; i++) {
		all += by[i];
		most = by[i] > by[most] ? i : most;
	}
	evidence_add(r, "handovers_per_second", all / seconds, "/s");
	evidence_add(r, "own_handovers_per_second", own / seconds, "/s");
	evidence_add(r, "other_wakes_per_second", wakes / seconds, "/s");
	if (all / seconds < HANDOVERS_MIN) {
		r->handed = HANDED_NEVER;
		append_text(r->text, sizeof(r->text), "; no run there ends at a limit");
		return;
	}
	r->handed = (enum handed)(HANDED_TIME + most);
	evidence_add(r, "main_reason_percent", 100 * by[most] / all, "%");
	append_text(r->text, sizeof(r->text),
		    "; %.0f runs/s leave work to ksoftirqd, mostly because %s", all / seconds,
		    reasons[most]);
}

void take_nohz_counters(struct symptoms *s, const struct decide_input *in)
{
	const struct tick *t = window_tick(in->window, 0);
	struct cpuset cpus = {};
	uint32_t mask = 0;
	double n = 0;

	for (unsigned cpu = 0; t && cpu < in->window->n_cpus; cpu++) {
		const struct cpu_delta *d = &t->cpu[cpu];

		if (!(d->have & HAVE_SOFTIRQ_STAT) || d->nohz_net_rx + d->nohz_net_tx == 0)
			continue;
		cpuset_add(&cpus, cpu);
		mask |= d->nohz_net_rx ? 1U << SOFTIRQ_NET_RX : 0;
		mask |= d->nohz_net_tx ? 1U << SOFTIRQ_NET_TX : 0;
		n += (double)d->nohz_net_rx + (double)d->nohz_net_tx;
	}
	if (!mask)
		return;
	nohz_begin(s, in->now_usec);
	s->nohz_mask = mask;
	s->nohz_counted += n;
	s->nohz_cpus = cpuset_or(&s->nohz_cpus, &cpus);
}

static void add_name(const struct cpuset *cpus, const char *what, unsigned *n, char *names,
		     size_t size)
{
	char list[48];

	if (cpuset_empty(cpus))
		return;
	cpu_list(cpus, list, sizeof(list));
	append_text(names, size, "%s%s CPU %s", *n > 0 ? ", " : "", what, list);
	(*n)++;
}

unsigned add_unjudged(struct symptoms *s, const struct decide_input *in, unsigned n, char *names,
		      size_t size)
{
	const struct tick *t = window_tick(in->window, 0);
	bool no_pressure = t && !t->psi_cpu_have;
	bool no_ksoftirqd = in->snapshot->source[SOURCE_KSOFTIRQD].state == SOURCE_ABSENT;
	struct cpuset hog = {}, lag = {};

	for (unsigned cpu = 0; cpu < in->window->n_cpus; cpu++) {
		double share = 0, handovers = 0;

		if (no_pressure) {
			struct cpu_sum sum = window_cpu(in->window, cpu, DETECT_TICKS);

			share = ratio((double)sum.softirq_time, (double)sum.total);
		}
		if (no_ksoftirqd)
			handovers = handovers_per_second(in->window, cpu);
		if (hold(&s->hog_unjudged[cpu], no_pressure && share >= HOG_SHARE,
			 no_pressure && share >= HOG_SHARE / 2, in->now_usec))
			cpuset_add(&hog, cpu);
		if (hold(&s->lag_unjudged[cpu], no_ksoftirqd && handovers >= HANDOVERS_MIN,
			 no_ksoftirqd && handovers >= HANDOVERS_MIN / 2, in->now_usec))
			cpuset_add(&lag, cpu);
	}
	add_name(&hog, "whether tasks wait behind the softirqs (no pressure-cpu) of", &n, names,
		 size);
	add_name(&lag, "whether work handed over waits (no ksoftirqd) on", &n, names, size);
	return n;
}
