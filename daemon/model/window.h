/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between snapshots, over the last WINDOW_TICKS ticks: what decide/ works on. Counters
 * are compared modulo their width; gauges are kept as they are. A CPU, IRQ or NIC that comes or
 * goes, a suspend, or a clock that jumped gives no difference for that tick (the pair is
 * re-baselined), never a wrong one. No I/O; allocates only when the machine changes its size.
 */
#pragma once

#include "model/snapshot.h"

#define WINDOW_TICKS 16

struct cpu_delta {
	uint32_t have; /* HAVE_ bits good in both snapshots */
	uint32_t processed, dropped, squeezed, received_rps, flow_limit;
	uint32_t backlog;                                    /* gauge of the later one */
	uint32_t net_rx, net_tx;                             /* softirq runs */
	uint32_t busy, softirq_time, irq_time, steal, total; /* USER_HZ ticks */
	/* Only when have & HAVE_KSOFTIRQD. It is not read in every tick: the difference is to the
	 * reading before, ksoftirqd_usec ago. */
	uint64_t ksoftirqd_run_ns, ksoftirqd_wait_ns, ksoftirqd_usec;
	/* Only when have & HAVE_SOFTIRQ_STAT. */
	uint32_t handover[_HANDOVER_MAX], own_handovers, ksoftirqd_wakes;
	uint32_t nohz_net_tx, nohz_net_rx;
};

struct irq_delta {
	bool have, have_thread;
	uint32_t total; /* interrupts in this tick, all CPUs */
	/* of its forced thread: time on a CPU, time runnable but waiting, times scheduled in */
	uint32_t run_usec, wait_usec, switches;
};

/* Of one CPU, since the window got its size; usec is the time that the ticks cover. */
struct cpu_total {
	uint64_t usec, processed, dropped, squeezed, flow_limit, net_rx;
	uint64_t softirq_time, irq_time, busy, total;
	uint32_t ticks, dropped_ticks, squeezed_ticks;
};

struct tick {
	uint64_t begin_usec, end_usec; /* CLOCK_MONOTONIC */
	bool valid;
	struct cpu_delta *cpu;    /* [n_cpus] */
	struct cpu_total *before; /* [n_cpus]: up to this tick, without it */
	struct irq_delta *irq;    /* [n_irqs] */
	uint64_t nic_rx_packets;  /* sum over the NICs with a device; valid when nic_have */
	bool nic_have;
	bool psi_cpu_have, psi_irq_have;
	uint64_t psi_cpu_usec, psi_irq_usec;
};

struct window {
	unsigned n_cpus, n_irqs, n_nics;
	unsigned filled; /* valid ticks held, newest first by window_tick(w, 0) */
	unsigned head;
	struct tick tick[WINDOW_TICKS];
	struct cpu_total *total; /* [n_cpus]: with the newest tick */
	struct snapshot *last;   /* copy of what was pushed last */
	struct cpuset *irq_cpus; /* [n_irqs]: CPUs where the counter grew in the newest tick */
	unsigned rebaselined;    /* how often a difference was dropped, since start */
};

int window_new(struct window **ret);
void window_free(struct window *w);
DEFINE_CLEANUP(struct window *, window_free);

/* Takes in the next snapshot. A change of sizes (hotplug, new NIC) empties the window. Returns
 * -ENOMEM or 0. */
int window_push(struct window *w, const struct snapshot *s);
/* Forgets the past: after a topology change or a resume. */
void window_reset(struct window *w);

/* AGE 0 is the newest; NULL when there is none. */
const struct tick *window_tick(const struct window *w, unsigned age);

/* How many of the newest ticks cover the last USEC; more than there are when they do not. */
unsigned window_ticks(const struct window *w, uint64_t usec);

/* Sums over the newest TICKS ticks (fewer when fewer are held). SECONDS is the time they cover.
 * Cheap for any TICKS: the difference of two running totals. All zero for an unknown CPU. */
struct cpu_sum {
	unsigned ticks; /* in how many of them this CPU had softnet data */
	uint64_t processed, dropped, squeezed, flow_limit, net_rx;
	uint64_t softirq_time, irq_time, busy, total;
	unsigned dropped_ticks, squeezed_ticks; /* in how many ticks it grew */
	double seconds;
};
struct cpu_sum window_cpu(const struct window *w, unsigned cpu, unsigned ticks);

/* The same of /proc/softirq_stat: in how many ticks it was there, and over how long. */
struct handover_sum {
	unsigned ticks;
	double seconds;
	uint64_t handover[_HANDOVER_MAX], own, ksoftirqd_wakes;
};
struct handover_sum window_handovers(const struct window *w, unsigned cpu, unsigned ticks);
