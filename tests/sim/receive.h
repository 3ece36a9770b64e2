/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's receive path in simulated time: packets arrive at NIC queues, interrupts raise
 * NET_RX, net_rx_action() polls, ksoftirqd takes over, tasks want the same CPUs. The settings are
 * inputs and may change between two ticks; what /proc would count comes out. It advances in jiffies,
 * and inside a jiffy from one arrival to the next; equal seeds give equal runs.
 *
 * Modelled (kernel/softirq.c, net/core/dev.c, 6.1 to 7.x):
 *   - NAPI: an interrupt only while a queue is not being polled; 64 packets a poll; a queue that
 *     used its weight is polled again in the next run only (repoll), so one queue alone never uses up
 *     netdev_budget: its runs end after one poll, unsqueezed, and NET_RX is raised again;
 *     A driver that is polled on a CPU outside its interrupt's affinity lets go (i40e, mlx5 and others);
 *   - net_rx_action(): ends squeezed when the budget or the time in jiffies is used up, checked after
 *     each poll, also when nothing is left to do;
 *   - __do_softirq(): ten passes, two milliseconds in jiffies, need_resched; then ksoftirqd;
 *   - ksoftirqd as a task beside others, in turns; interrupts run what is pending meanwhile, unless
 *     `lets_ksoftirqd` (6.1's ksoftirqd_running());
 *   - the backlog: RPS, veth and loopback packets, netdev_max_backlog, dev_weight; drops;
 *   - busy polling, as time that tasks spin instead of being idle: busy_poll or busy_read microseconds at
 *     each wait (include/net/busy_poll.h);
 *   - GRO (softnet_stat counts after it, the NIC before it), full rings, interrupts that follow their
 *     affinity, CPUs that went away, C-states (an interrupt that meets an idle CPU waits).
 *
 * Known to differ from a kernel:
 *   - scheduling is round robin in fixed slices: no vruntime, no wake-up preemption, no migration of
 *     tasks, so a task that could flee from a CPU full of softirqs stays and waits;
 *   - a packet costs a fixed time: no caches, no locks, no memory bandwidth, no SMT siblings (a cost
 *     that depends on the length of a run can be set, for the scenarios that need harm);
 *   - RPS chooses one fixed CPU per queue, the inter-processor interrupt costs nothing;
 *   - no transport above: nothing retransmits, no sender slows down when packets are lost;
 *   - other softirq vectors, NET_TX and threaded NAPI do not exist here;
 *   - a busy poll finds nothing, ever: it spins for its whole time, while the packets are taken by
 *     interrupts as without it; a kernel's ends when it finds one, takes it outside of the softirqs, and
 *     makes way for other tasks at once. What polling is good for is set by the test (polled_ns). And all
 *     sockets follow busy_read at once, as with the kernel series' busy_read_follow;
 *   - /proc/stat is exact, where a kernel without IRQ_TIME_ACCOUNTING samples it at the tick;
 *   - pressure stall information is computed per tick and weighted by busy time, not in the kernel's
 *     own 2 s periods.
 */
#pragma once

#include "base/cpuset.h"

#define RECEIVE_QUEUES_MAX 64

struct receive_queue {
	/* what the test says; may be changed between ticks */
	unsigned cpu;       /* where its interrupt fires */
	double pps;         /* mean arrivals per second */
	unsigned burst;     /* packets that arrive together; 0: 1 */
	double noise;       /* standard deviation of a tick's rate, of the mean; 0: steady */
	double memory;      /* how much of a tick's deviation lives on in the next, 0 … 1 */
	double burst_noise; /* the same for single bursts */
	unsigned cost_ns;   /* per packet; 0: 1000 */
	unsigned ring;      /* 0: 4096 */
	unsigned gro;       /* packets merged into one; 0: 1 */
	bool to_backlog;    /* RPS: the packet is only queued, for backlog_cpu */
	/* A requester that waits for each answer: a request takes so long, and so much less while waiting
	 * tasks poll; it sets pps. 0: none */
	double request_ns, polled_ns;
	bool no_nic; /* veth, loopback: no interrupt, no NIC counter; straight to the backlog */
	unsigned backlog_cpu;
	/* counted since start */
	uint64_t packets, missed, interrupts;
	/* inside */
	double deviation, due;
	unsigned waiting;
	bool scheduled;
};

struct receive_cpu {
	/* what the test says */
	bool offline;
	double tasks; /* runnable tasks; 0.3: one that is runnable 30 % of the time */
	double waits; /* per second: poll() of its tasks that finds nothing, and may spin on the NIC */
	double reads; /* the same of blocking reads */
	/* counted since start */
	uint32_t processed, dropped, squeezed, received_rps, net_rx;
	uint64_t softirq_ns, task_ns, idle_ns, stalled_ns;
	uint64_t ksoftirqd_run_ns, ksoftirqd_wait_ns, ksoftirqd_slices;
	unsigned backlog;
	/* inside */
	double spin; /* share of its time that its tasks poll, if there is as much left */
	bool backlog_scheduled;
	bool in_run; /* a NET_RX run goes on over the end of a jiffy */
	int64_t run_budget;
	uint64_t run_until; /* jiffy */
	unsigned run_packets;
	unsigned passes;
	uint64_t softirq_until; /* jiffy */
	bool handed_over;       /* ksoftirqd is to do it */
	bool in_interrupt;      /* softirqs run on the way out of an interrupt */
	uint64_t ksoftirqd_waits_ns, ksoftirqd_slice_ns;
	int64_t debt_ns; /* a poll is not cut at the end of its time */
	unsigned char list[RECEIVE_QUEUES_MAX + 1], next[RECEIVE_QUEUES_MAX + 1];
	unsigned list_at, list_n, next_n;
};

struct receive {
	unsigned hz, n_cpus, n_queues;
	/* settings */
	int64_t netdev_budget, netdev_budget_usecs, netdev_max_backlog, dev_weight;
	int64_t busy_poll, busy_read;
	bool lets_ksoftirqd;
	unsigned wakeup_ns; /* an idle CPU's way out of its C-state */
	unsigned long_run;  /* packets of a run beyond which each costs … */
	double long_cost;   /* … so many times as much: caches that run over; 0: no difference */
	struct receive_queue queue[RECEIVE_QUEUES_MAX];
	struct receive_cpu *cpu;
	uint64_t psi_usec; /* some task waited for a CPU */
	uint64_t jiffy, random;
};

/* The settings of an untouched kernel of that HZ. SEED: any number. */
void receive_init(struct receive *r, unsigned hz, unsigned n_cpus, uint64_t seed);
void receive_done(struct receive *r);
void receive_set_online(struct receive *r, unsigned cpu, bool online);
/* One second. */
void receive_tick(struct receive *r);

/* Random numbers of the plant's own sequence: 0 … 1, and normal with mean 0 and deviation 1. */
double receive_random(struct receive *r);
double receive_normal(struct receive *r);
