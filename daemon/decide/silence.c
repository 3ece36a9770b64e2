/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/silence.h"

/* Whether NIC leaves its interrupts off between polls, as far as is known. */
static bool defers(const struct topology *t, const struct profile *p, unsigned nic)
{
	static const enum tunable_id ids[] = {TUNABLE_NAPI_DEFER_HARD_IRQS,
					      TUNABLE_IRQ_SUSPEND_TIMEOUT};

	for (size_t i = 0; i < ELEMENTSOF(ids); i++) {
		if (profile_nic_setting(p, t->nic[nic].name, ids[i])->kind == SETTING_VALUE)
			return true;
		for (unsigned n = 0; n < t->n_napis; n++)
			if (t->napi[n].nic == (int)nic &&
			    (t->napi[n].own_settings & (1U << (ids[i] - TUNABLE_NAPI_THREADED))) &&
			    t->napi[n].setting[ids[i] - TUNABLE_NAPI_THREADED] > 0)
				return true;
	}
	return false;
}

void irq_watch_begin(struct irq_watch *watch, const struct topology *t, const struct profile *p,
		     const struct window *w, unsigned irq)
{
	double seconds = 0, total = 0;

	*watch = (struct irq_watch){};
	if (irq >= w->n_irqs || w->filled < SILENCE_BEFORE || t->irq[irq].nic < 0 ||
	    defers(t, p, (unsigned)t->irq[irq].nic))
		return;
	for (unsigned age = 0; age < SILENCE_BEFORE; age++) {
		const struct tick *tick = window_tick(w, age);
		double s = (double)(tick->end_usec - tick->begin_usec) / (double)USEC_PER_SEC;

		if (!tick->irq[irq].have || tick->irq[irq].total < SILENCE_RATE * s)
			return;
		seconds += s;
		total += tick->irq[irq].total;
	}
	*watch = (struct irq_watch){.on = true, .rate = total / seconds};
}

bool irq_watch_tick(struct irq_watch *watch, const struct window *w, unsigned irq)
{
	const struct tick *t = window_tick(w, 0);

	if (!watch->on)
		return false;
	/* The window began anew: nothing is known about this tick. */
	if (!t || irq >= w->n_irqs || !t->irq[irq].have)
		return false;
	if (watch->ticks++ == 0)
		return false;
	if (t->irq[irq].total > 0) {
		watch->on = false;
		return false;
	}
	if (watch->ticks <= SILENCE_AFTER)
		return false;
	watch->on = false;
	return true;
}
