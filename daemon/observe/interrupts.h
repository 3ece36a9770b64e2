/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/interrupts: a header of "CPUn" for every online CPU; one row per interrupt; then rows of
 * the architecture (NMI, LOC, ERR …). kernel/irq/proc.c, show_interrupts() up to 7.2,
 * irq_seq_show() since 7.3, which moved blanks, allows 4-letter labels and gives ERR and MIS a
 * count per CPU.
 *
 * A numbered row is, after its counts, "CHIP [HWIRQ][ Level| Edge][-FLOW]  ACTION, ACTION …":
 *   PCI-MSI 65536-edge      eth0-rx-0       x86: hwirq and flow name are one word
 *   PCI-MSIX-0000:00:03.0   1-edge      virtio1-input.0
 *   GICv3  79 Edge      virtio0             GENERIC_IRQ_SHOW_LEVEL: arm, riscv, powerpc …
 *   SiFive PLIC 412 Level     1004b800.serial:rx err   a chip and an action with blanks (case C10)
 *   IO-APIC-edge      timer                 old kernels, no hwirq (case C16)
 *   MIPS   7  timer                         hwirq alone: two blanks stand before an action
 * The chip ends where the first of HWIRQ, Level/Edge or -FLOW is found; without any of them, at the
 * first two blanks. No action is legal: the driver is gone (case C15).
 *
 * Refused, with its line: a row with fewer or more counts than the header has columns (ERR, MIS and
 * BAD may have exactly one, for the whole machine), a count beyond 32 bits, a line without a label.
 * Such a line may be the rest of a row that a terminal or mail broke, and then that row's name is
 * cut: it is refused as well when it has no action, or when it had no room for the next line's
 * first word (no line of the file is as long as the two together). A header broken over two lines
 * (case C08) makes the whole table worthless: -EINVAL. A second header ends the table.
 */
#pragma once

#include "base/complaint.h"
#include "base/scan.h"
#include "model/snapshot.h"
#include "model/topology.h"
#include "observe/columns.h"

struct interrupts_row {
	unsigned line;
	struct slice label; /* "24", "NMI", "IPI0" */
	bool numbered;      /* the label is an interrupt number: irq */
	unsigned irq;
	/* Valid after interrupts_counts(): */
	bool total_only;   /* ERR, MIS: one count for the machine, counts[] is not set */
	uint64_t total;    /* sum of the counts */
	struct slice chip; /* "PCI-MSI"; empty for labelled rows */
	struct slice name; /* everything behind the structure: "virtio3, virtio0"; may be empty */
	uint32_t counts[CPU_ID_MAX]; /* counts[i] belongs to columns.cpu[i] */
};

/* A walk over one text: plain memory, no ownership, no allocation. 12 KiB: keep it with the sensor.
 */
struct interrupts_reader {
	struct slice text, rest;
	unsigned line;
	struct complaints *complaints;
	struct cpu_columns columns;
	struct slice row_line; /* the line at hand */
	struct slice row_text; /* what follows its label */
	size_t longest;        /* length of the longest line; 0: not asked yet */
	struct interrupts_row row;
};

/* Reads the header; -EINVAL when there is none or it is broken. TEXT must outlive the walk. */
int interrupts_begin(struct interrupts_reader *r, const char *text, size_t length,
		     struct complaints *c);
/* The next row that has a label; its counts are not looked at yet, so that a caller who wants few
 * rows pays for few. False at the end. */
bool interrupts_next(struct interrupts_reader *r);
/* Reads the counts and the name of the row at hand. False, with a complaint, when it is refused. */
bool interrupts_counts(struct interrupts_reader *r);

/* The next action of NAME ("virtio3, virtio0": two), cut off it. False at the end. */
bool interrupts_action(struct slice *name, struct slice *ret);

/*
 * The slow look: fills S->irq[] of all interrupts in T from the whole table. Columns of CPUs beyond
 * S->n_cpus are skipped. An interrupt of T that has no good row keeps have = false; *RET_CHANGED
 * counts those and the ones whose action is not the name in T any more (the number was given to
 * someone else; such a row is not filled): not 0 means that the topology is to be made anew.
 * S->source[SOURCE_IRQ_COUNTS] becomes SOURCE_OK, or SOURCE_STRANGE with the first line that is
 * wrong.
 */
void interrupts_into_snapshot(const char *text, size_t length, struct interrupts_reader *r,
			      const struct topology *t, struct snapshot *s, unsigned *ret_changed);
