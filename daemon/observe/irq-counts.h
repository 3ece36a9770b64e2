/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the NICs' interrupts came on which CPU, each tick and cheaply. /proc/interrupts makes
 * the kernel print every row; /sys/kernel/irq/N/per_cpu_count prints one. So:
 *
 *   - an interrupt whose total in /proc/stat's "intr" line stands still did not come: its counts
 * are those of the last tick, and nothing is read;
 *   - the others are read from their sysfs files, which stay open, unless they are so many that the
 *     whole table is cheaper: a sysfs file costs about as much as TABLE_ROWS_PER_FILE rows
 * (measured on 6.18, 2 CPUs: 2.3 µs a file, 0.9 µs a row; on many CPUs sysfs prints a number
 * through snprintf(), the table through a cheaper routine);
 *   - where a sysfs file is missing, or cut at the end of its page (it holds a page of text, less
 * than a host of some hundred CPUs needs), the whole table is read for good.
 */
#pragma once

#include "base/io.h"
#include "model/snapshot.h"
#include "model/topology.h"
#include "observe/interrupts.h"

struct irq_counts {
	unsigned n_irqs, n_cpus;
	unsigned n_rows; /* of /proc/interrupts, when it was last read */
	bool table_only;
	bool blind; /* neither files nor table: tried again when the whole is asked for */
	struct source_status table_status; /* what the last look at the table said */
	unsigned n_columns;                /* numbers in a per_cpu_count: one per possible CPU */
	uint16_t *cpu_of_column;
	struct irq_memory {
		int fd;     /* of per_cpu_count; -1: not open */
		bool known; /* counts are those of the last reading */
		bool have_total;
		bool fired; /* in this tick, or not known to be still */
		uint32_t total;
		uint32_t *counts;
	} * irq;
	char *page;
};

/* For the interrupts of T; N_ROWS of /proc/interrupts (0: not known). -ENOMEM or 0. */
int irq_counts_init(struct irq_counts *c, const struct topology *t, unsigned n_rows);
void irq_counts_done(struct irq_counts *c);

/*
 * Fills S->irq[]. INTR is what stat_into_snapshot() found. WHOLE: reads the table in any case, into
 * TABLE, with R as memory; TABLE's text is then good for the caller too when *RET_TABLE is true.
 * *RET_CHANGED counts interrupts of T that are gone or somebody else's now. Sets
 * S->source[SOURCE_IRQ_COUNTS].
 */
void irq_counts_read(struct irq_counts *c, struct io *io, const struct topology *t,
		     struct slice intr, bool whole, struct procfile *table,
		     struct interrupts_reader *r, struct snapshot *s, bool *ret_table,
		     unsigned *ret_changed);
