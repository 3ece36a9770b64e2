/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The generated hosts that benchmarks measure on: one as most are, the one of the design's budgets
 * (256 CPUs, 1,000 interrupts), and twice and four times that, to see how a figure grows.
 */
#pragma once

#include "lib/machine.h"

static const struct machine_nic bench_nics[] = {
	{.name = "eth0", .kind = MACHINE_I40E, .queues = 64},
	{.name = "eth1", .kind = MACHINE_MLX5, .queues = 64, .node = 1},
	{.name = "eth2", .kind = MACHINE_ENA, .queues = 64, .node = 2},
	{.name = "eth3", .kind = MACHINE_IXGBE, .queues = 64, .node = 3},
	{.name = "eth4", .kind = MACHINE_I40E, .queues = 64},
	{.name = "eth5", .kind = MACHINE_MLX5, .queues = 64, .node = 1},
	{.name = "eth6", .kind = MACHINE_ENA, .queues = 64, .node = 2},
	{.name = "eth7", .kind = MACHINE_IXGBE, .queues = 64, .node = 3},
};
static const struct machine_nic bench_small_nic = {.name = "eth0", .kind = MACHINE_VIRTIO};

static const struct bench_host {
	const char *name;
	struct machine_spec spec;
} bench_hosts[] = {
	{"small", {.cpus = 4, .nics = &bench_small_nic, .n_nics = 1, .other_irqs = 30}},
	{"large",
	 {.cpus = 256,
	  .smt = 2,
	  .sockets = 2,
	  .nodes = 4,
	  .cpus_per_cache = 8,
	  .nics = bench_nics,
	  .n_nics = 4,
	  .other_irqs = 740}},
	{"huge",
	 {.cpus = 512,
	  .smt = 2,
	  .sockets = 2,
	  .nodes = 4,
	  .cpus_per_cache = 8,
	  .nics = bench_nics,
	  .n_nics = 8,
	  .other_irqs = 3480}},
};

/* One second of traffic on every queue. */
static inline void bench_second(struct machine *m)
{
	for (unsigned i = 0; i < m->n_irqs; i++)
		if (m->irq[i].nic >= 0)
			machine_receive(m, i, 32 * (1 + i % 7));
	machine_advance(m, USEC_PER_SEC);
	machine_write(m);
}
