/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPU an interrupt belongs on: pure, on any topology.
 *
 *   spread  one queue per physical core near the NIC (its NUMA node), then SMT siblings there, then
 *           round again: remote memory costs more than sharing a core
 *   pack    all of a NIC's interrupts on one CPU (the cure of seed 002)
 *   near    next to the CPUs that consume the packets, as spread: on the cores that share a last-level
 *           cache with one of them, whose data is warm there (their NUMA node, where no usable CPU
 *           shares one; anywhere, where the node has none either). Of several such caches those on the
 *           NIC's own node. Not on the consumers' own cores, which have their work, as long as there
 *           are others; then on their siblings; then on themselves
 *
 * Only a NIC's own queue vectors move: kernel-managed, shared and control vectors stay, and those that
 * fell silent when they were moved. Offline and isolated CPUs are never used. An interrupt that already
 * is where the strategy could have put it stays there, so a plan that holds asks for nothing, and a
 * change of the machine moves the fewest.
 */
#pragma once

#include "model/profile.h"
#include "model/topology.h"

struct move {
	unsigned irq; /* index into the topology's irqs */
	unsigned cpu;
};

/*
 * The moves that bring NIC to STRATEGY on the CPUs in ALLOWED (NULL: all), at most MAX; returns how
 * many. CONSUMERS are for PLACEMENT_NEAR alone, and NULL with the others; they may be isolated, which
 * those that get an interrupt never are. PLACEMENT_LEAVE and a NIC without movable interrupts give none.
 * The counts of interrupts that other NICs already have on a CPU are taken into account.
 */
size_t placement_plan(const struct topology *t, unsigned nic, enum placement strategy,
		      const struct cpuset *allowed, const struct cpuset *consumers,
		      struct move *moves, size_t max);

/* Whether placement may move this interrupt at all. */
bool placement_movable(const struct irq *irq);
