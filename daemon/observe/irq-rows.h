/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which interrupts of other devices were seen: so that a slow look can tell a new NIC queue from a
 * serial port that is opened every minute. A row is new when its number is no NIC's and it has
 * another action than the last time it was seen, however long ago that is.
 */
#pragma once

#include "model/topology.h"
#include "observe/interrupts.h"

struct irq_rows {
	struct irq_row_seen {
		uint32_t tail,
			name; /* hashes of the end of the line, and of the action; 0: never seen */
	} * seen;             /* by number */
	unsigned n;
};

/* Looks through TEXT of /proc/interrupts: takes in what is new, and forgets the numbers that are in
 * T now. Returns how many rows were new; -ENOMEM. */
int irq_rows_look(struct irq_rows *rows, const char *text, size_t length,
		  struct interrupts_reader *r, const struct topology *t);
void irq_rows_done(struct irq_rows *rows);
