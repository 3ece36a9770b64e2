/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symptoms of single interrupts and of a NIC's interrupts together. */
#include "decide/symptom-internal.h"

void find_leaks(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	if (!in->placed || !window_tick(in->window, 0))
		return;
	for (unsigned i = 0; i < MIN(s->n_irqs, in->window->n_irqs); i++) {
		const struct irq *irq = &in->topology->irq[i];
		struct cpuset wanted, outside;
		struct symptom_report *r;
		char where[64], mask[64];

		outside = (struct cpuset){};
		if (in->placed(in->userdata, i, &wanted))
			outside = cpuset_minus(&in->window->irq_cpus[i], &wanted);
		if (cpuset_empty(&outside)) {
			s->leaked_ticks[i] = 0;
			continue;
		}
		if (s->leaked_ticks[i] < DETECT_TICKS && ++s->leaked_ticks[i] == DETECT_TICKS)
			s->leaked_since_usec[i] = in->now_usec;
		if (s->leaked_ticks[i] < DETECT_TICKS)
			continue;
		r = report_new(out, SYMPTOM_IRQ_LEAKED);
		if (!r)
			return;
		r->irq = (int)i;
		r->nic = irq->nic;
		r->cpus = outside;
		r->since_usec = s->leaked_since_usec[i];
		evidence_add(r, "interrupts", window_tick(in->window, 0)->irq[i].total, "");
		cpu_list(&outside, where, sizeof(where));
		cpu_list(&wanted, mask, sizeof(mask));
		append_text(r->text, sizeof(r->text),
			    "IRQ %u (%s) was placed on CPU %s but fires on CPU %s", irq->number,
			    irq->name, mask, where);
	}
}

/* Seed 002: two IRQ threads of one NIC on different CPUs, each waiting for the other's softirq. What is
 * measured is the time that they are runnable and do not run (schedstat): that may as well be for another
 * task on their CPUs, and time blocked on a lock is not in it, so the text says no more than that. */
static bool pingpong(const struct decide_input *in, unsigned nic, struct cpuset *ret_cpus,
		     double *ret_wait, double *ret_share)
{
	const struct tick *t = window_tick(in->window, 0);
	double run = 0, wait = 0, seconds = 0;
	unsigned threads = 0;

	*ret_cpus = (struct cpuset){};
	for (unsigned i = 0; i < in->window->n_irqs; i++) {
		double total = 0, s = 0;

		if (in->topology->irq[i].nic != (int)nic || !t->irq[i].have_thread)
			continue;
		for (unsigned age = 0; age < MIN(in->window->filled, (unsigned)DETECT_TICKS);
		     age++) {
			const struct tick *u = window_tick(in->window, age);

			total += u->irq[i].total;
			run += u->irq[i].run_usec;
			wait += u->irq[i].wait_usec;
			s += (double)(u->end_usec - u->begin_usec) / (double)USEC_PER_SEC;
		}
		seconds = MAX(seconds, s);
		if (ratio(total, s) < PINGPONG_RATE_MIN)
			continue;
		threads++;
		*ret_cpus = cpuset_or(ret_cpus, &in->window->irq_cpus[i]);
	}
	*ret_wait = ratio(wait, seconds);
	*ret_share = ratio(wait, run);
	return threads >= 2 && cpuset_count(ret_cpus) >= 2;
}

void find_pingpong(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	if (!in->topology->threadirqs || !window_tick(in->window, 0))
		return;
	for (unsigned nic = 0; nic < MIN(s->n_nics, in->window->n_nics); nic++) {
		struct symptom_report *r;
		struct cpuset cpus;
		double wait, share;
		bool apart = pingpong(in, nic, &cpus, &wait, &share);
		char where[64];

		if (!hold(&s->pingpong[nic],
			  apart && wait >= PINGPONG_WAIT_USEC && share >= PINGPONG_WAIT_SHARE,
			  apart && wait >= PINGPONG_WAIT_USEC / 2 &&
				  share >= PINGPONG_WAIT_SHARE / 2,
			  in->now_usec))
			continue;
		r = report_new(out, SYMPTOM_IRQ_PINGPONG);
		if (!r)
			return;
		r->nic = (int)nic;
		r->cpus = cpus;
		r->since_usec = s->pingpong[nic].since_usec;
		evidence_add(r, "thread_wait_usec_per_second", wait, "µs/s");
		evidence_add(r, "wait_of_run_percent", 100 * share, "%");
		cpu_list(&cpus, where, sizeof(where));
		append_text(
			r->text, sizeof(r->text),
			"the IRQ threads of %s are apart, on CPU %s, and wait to run: %.0f µs/s, %.0f %% of their run time",
			in->topology->nic[nic].name, where, wait, 100 * share);
	}
}
