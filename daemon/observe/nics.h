/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NICs and their interrupts. Which interrupt belongs to which NIC is told by sysfs: msi_irqs of the
 * NIC's device (of its parent for virtio: the netdev hangs below virtioN, the vectors belong to the
 * PCI device), or its "irq" line; and only where both are missing (platform devices; the msi_irqs
 * bug of kernel 5.17) by the action's name, which may hold an interface name of long ago (case
 * C22).
 */
#pragma once

#include "base/io.h"
#include "model/topology.h"
#include "observe/interrupts.h"

/* The actions of all numbered interrupts that have one, ordered by number. */
struct action_table {
	struct action_entry {
		unsigned number;
		char *actions; /* as /proc/interrupts prints them: "virtio3, virtio0" */
	} * entry;
	size_t n, room;
	unsigned n_rows; /* of /proc/interrupts, labelled ones too; 0: it was not readable */
};

/* From TEXT of /proc/interrupts (NULL: it cannot be read), else from /sys/kernel/irq/N/actions. R
 * is memory for the walk. -ENOMEM or 0: with neither, the table is empty. */
int action_table_read(struct io *io, const char *text, size_t length, struct interrupts_reader *r,
		      struct action_table *ret);
void action_table_done(struct action_table *t);
/* NULL when the interrupt has no action. */
const char *action_table_find(const struct action_table *t, unsigned number);

/*
 * Fills T->nic (ordered by ifindex) and T->irq (ordered by number). Identities are
 * "<device path>|<action>"; where a driver gives several vectors of a device one name (bnxt, cpsw)
 * the second and later ones get "#2", "#3" … in the order of their numbers. Queues of which a
 * driver keeps handlers though they are not in use (mlx5, case C24) are IRQ_OTHER. -ENOMEM, or 0,
 * or the errno with which /sys/class/net could not be listed.
 */
int nics_discover(struct io *io, const struct action_table *actions, struct topology *t);

/* Whether there is a link, again. */
void nic_read_carrier(struct io *io, struct nic *nic);

/* Reads affinity and effective affinity of one interrupt again. */
void irq_read_affinity(struct io *io, struct irq *irq);

/*
 * A number that changes when a NIC with a device comes, goes, is renamed, goes up or down, or gets
 * another number of receive queues;
 * virtual interfaces, which containers make and remove all the time, do not change it.
 */
uint64_t nics_signature(struct io *io);
