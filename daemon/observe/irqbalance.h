/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which interrupts irqbalance leaves alone, asked over its own socket, run/irqbalance/irqbalancePID.sock: a
 * stream on which one request, with credentials of uid 0, is answered once and closed. Only "setup" is
 * sent, which changes nothing there. The answer of 1.9.2:
 *
 *   SLEEP 10 IRQ 30 LOAD 0 DIFF 0 CLASS 5 BANNED 00000000,00000001
 *
 * where each IRQ is one that --banirq names, or irqbalance-ui did. What its policy script and its ban by
 * name exclude is not told.
 */
#pragma once

#include "base/io.h"

#define BANNED_IRQS_MAX 4096

struct irqbalance {
	bool told; /* else nothing is known */
	unsigned n;
	unsigned banned[BANNED_IRQS_MAX];
};

/* Tells the sockets in run/irqbalance from others: their names have a pid, so that one that was started anew
 * has another. 0: there is none, it does not run or was built without. */
uint64_t irqbalance_sockets(struct io *io);
/* Waits for an answer for at most half a second. RET is filled in any case; 0, -ENOENT without a socket, or
 * why it cannot be told. */
int irqbalance_ask(struct io *io, struct irqbalance *ret);
/* -EBADMSG when TEXT is no such answer. */
int irqbalance_parse(const char *text, size_t length, struct irqbalance *ret);
