/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interrupt that falls silent when its affinity is written: some virtual functions get none any more
 * at a CPU that the hypervisor does not take (Hyper-V vPCI, LIS/lis-next#458, case D19). The kernel says
 * nothing about it, and a NIC with one queue has no packet left that would tell.
 *
 * So what fired at a good rate in each tick before it was moved, and from then on not once, is taken for dead
 * by our hand: it gets its original back, and is left alone until the host or the profile changes. The load
 * may have ended in that very second; then a placement is lost that nobody needs at the moment, and that is
 * the cheaper mistake. What was not seen to fire before (all that is placed when softnetd starts) cannot be
 * judged so. Nor can a NIC that defers its interrupts, which are silent while it is busy. Pure.
 */
#pragma once

#include "model/profile.h"
#include "model/topology.h"
#include "model/window.h"

#define SILENCE_BEFORE 8  /* ticks in a row, each with … */
#define SILENCE_RATE   10 /* … so many interrupts a second or more */
#define SILENCE_AFTER  5  /* ticks without one; the first tick lies partly before the move */

struct irq_watch {
	bool on;
	uint8_t ticks; /* since the move */
	double rate;   /* interrupts a second before */
};

/* Interrupt IRQ of T was moved just now. */
void irq_watch_begin(struct irq_watch *watch, const struct topology *t, const struct profile *p,
		     const struct window *w, unsigned irq);
/* After each tick, while it is on. True: it is silent, and the watch over. */
bool irq_watch_tick(struct irq_watch *watch, const struct window *w, unsigned irq);
