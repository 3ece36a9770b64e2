/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts that fall silent by our hand (decide/silence.h) get their original back. */
#include "base/log.h"
#include "engine/internal.h"

void engine_watch_irq(struct engine *e, unsigned irq)
{
	if (e->watch)
		irq_watch_begin(&e->watch[irq], e->topology, e->profile, e->window, irq);
}

int engine_watch_anew(struct engine *e)
{
	free(e->watch);
	e->watch = calloc(MAX(e->topology->n_irqs, 1U), sizeof(*e->watch));
	for (unsigned i = 0; i < e->topology->n_irqs; i++)
		e->topology->irq[i].fell_silent = false;
	return e->watch ? 0 : -ENOMEM;
}

static void bring_back(struct engine *e, unsigned index, double rate)
{
	struct irq *irq = &e->topology->irq[index];
	const struct target target = irq_target(irq);
	char why[256] = "";

	/* Somebody else's by now, or given back. */
	if (!ledger_find(e->ledger, TUNABLE_IRQ_AFFINITY, irq->identity))
		return;
	append_text(why, sizeof(why),
		    "IRQ %u (%s) came %.0f times a second before it was moved, and not once in %u "
		    "ticks since: left alone until the host or the profile changes",
		    irq->number, irq->name, rate, SILENCE_AFTER);
	log_warning("%s", why);
	irq->fell_silent = true;
	engine_give_back(e, TUNABLE_IRQ_AFFINITY, &target, why);
	engine_place_from_ledger(e);
}

void engine_watch_irqs(struct engine *e)
{
	for (unsigned i = 0; e->watch && i < e->topology->n_irqs; i++)
		if (irq_watch_tick(&e->watch[i], e->window, i))
			bring_back(e, i, e->watch[i].rate);
}
