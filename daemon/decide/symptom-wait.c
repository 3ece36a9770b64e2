/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symptoms of waiting: packets that wait for ksoftirqd, tasks that wait for softirqs. On a stock
 * kernel the evidence is ksoftirqd's run delay (/proc/PID/schedstat) and pressure stall
 * information; where those are missing these symptoms do not exist, and status says that the
 * sources are absent.
 */
#include "decide/symptom-internal.h"

/* ksoftirqd is read every few ticks: the newest reading of a CPU inside the window. */
static const struct cpu_delta *newest_ksoftirqd(const struct window *w, unsigned cpu,
						unsigned *ret_age)
{
	for (unsigned age = 0; age < w->filled; age++) {
		const struct cpu_delta *d = &window_tick(w, age)->cpu[cpu];

		if (d->have & HAVE_KSOFTIRQD) {
			*ret_age = age;
			return d;
		}
	}
	return NULL;
}

void find_ksoftirqd_lag(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	struct found found = {};
	struct symptom_report *r;
	double worst_wait = 0, worst_share = 0;
	struct load l;
	char cpus[64];

	for (unsigned cpu = 0; cpu < in->window->n_cpus; cpu++) {
		unsigned age = 0;
		const struct cpu_delta *d = newest_ksoftirqd(in->window, cpu, &age);
		double wait =
			d ? ratio((double)d->ksoftirqd_wait_ns, (double)d->ksoftirqd_usec * 1000)
			  : 0;
		double share = d ? ratio((double)d->ksoftirqd_wait_ns,
					 (double)(d->ksoftirqd_wait_ns + d->ksoftirqd_run_ns))
				 : 0;
		bool stay = wait >= LAG_WAIT / 2 && share >= LAG_SHARE / 2;
		bool enter = d && age == 0 && wait >= LAG_WAIT && share >= LAG_SHARE &&
			     receives(in, cpu, window_ticks(in->window, d->ksoftirqd_usec));

		/* An old reading neither starts nor ends anything. */
		if (!found_visit(&found, in, cpu, &s->lag[cpu], d, enter, age > 0 || stay))
			continue;
		if (wait > worst_wait) {
			worst_wait = wait;
			worst_share = share;
		}
	}
	r = found_report(&found, s, out, SYMPTOM_KSOFTIRQD_LAG);
	if (!r)
		return;
	evidence_add(r, "wait_ms_per_second", 1000 * worst_wait, "ms/s");
	evidence_add(r, "wait_share_percent", 100 * worst_share, "%");
	l = window_load(in->window, &found.cpus, DETECT_TICKS);
	evidence_add(r, "packets_per_second", ratio(l.packets, l.seconds), "/s");
	cpu_list(&found.cpus, cpus, sizeof(cpus));
	append_text(
		r->text, sizeof(r->text),
		"softirqs handed over to ksoftirqd on CPU %s wait for it, and %.0f packets/s with them: %.0f ms of "
		"each second runnable but not running (%.0f %% of its time)",
		cpus, ratio(l.packets, l.seconds), 1000 * worst_wait, 100 * worst_share);
	report_done(s, r);
}

/* Share of the time in which some task waited for a CPU, over the newest ticks; negative: not
 * known. */
static double tasks_waiting(const struct window *w)
{
	double waited = 0, all = 0;

	for (unsigned age = 0; age < MIN(w->filled, (unsigned)DETECT_TICKS); age++) {
		const struct tick *t = window_tick(w, age);

		if (!t->psi_cpu_have)
			return -1;
		waited += (double)t->psi_cpu_usec;
		all += (double)(t->end_usec - t->begin_usec);
	}
	return all > 0 ? waited / all : -1;
}

void find_softirq_hog(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	struct found found = {};
	struct symptom_report *r;
	double waiting = tasks_waiting(in->window), worst = 0;
	char cpus[64];

	for (unsigned cpu = 0; cpu < in->window->n_cpus; cpu++) {
		struct cpu_sum sum = window_cpu(in->window, cpu, DETECT_TICKS);
		double share = ratio((double)sum.softirq_time, (double)sum.total);

		if (!found_visit(&found, in, cpu, &s->hog[cpu], sum.total > 0 && waiting >= 0,
				 share >= HOG_SHARE && waiting >= HOG_WAITING &&
					 receives(in, cpu, DETECT_TICKS),
				 share >= HOG_SHARE / 2 && waiting >= HOG_WAITING / 2))
			continue;
		worst = MAX(worst, share);
	}
	r = found_report(&found, s, out, SYMPTOM_SOFTIRQ_HOG);
	if (!r)
		return;
	evidence_add(r, "softirq_percent", 100 * worst, "%");
	evidence_add(r, "tasks_waiting_percent", 100 * waiting, "%");
	cpu_list(&found.cpus, cpus, sizeof(cpus));
	append_text(
		r->text, sizeof(r->text),
		"softirqs take %.0f %% of CPU %s while tasks wait for a CPU %.0f %% of the time",
		100 * worst, cpus, 100 * waiting);
	report_done(s, r);
}
