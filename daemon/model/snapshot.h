/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sensors saw in one tick. Filled by observe/, read by everyone, no I/O here.
 *
 * Absent is not zero: a field counts only when its HAVE_ bit is set, and a source that could not be
 * read says so in its state. Arrays are indexed by CPU id, never by a file's row or column.
 */
#pragma once

#include <sys/types.h>

#include "base/cpuset.h"
#include "base/util.h"

enum source {
	SOURCE_SOFTNET,      /* /proc/net/softnet_stat */
	SOURCE_SOFTIRQS,     /* /proc/softirqs */
	SOURCE_STAT,         /* /proc/stat */
	SOURCE_NETDEV,       /* /proc/net/dev: the NICs' own receive counters, before GRO */
	SOURCE_IRQ_COUNTS,   /* per-CPU counts of the NICs' interrupts */
	SOURCE_KSOFTIRQD,    /* /proc/PID/schedstat of ksoftirqd/N */
	SOURCE_PSI_CPU,      /* /proc/pressure/cpu */
	SOURCE_PSI_IRQ,      /* /proc/pressure/irq */
	SOURCE_KMSG,         /* /dev/kmsg */
	SOURCE_TOPOLOGY,     /* CPUs, NICs, their interrupts */
	SOURCE_CPUFREQ,      /* cpufreq policies */
	SOURCE_SOFTIRQ_STAT, /* /proc/softirq_stat of the kernel series */
	SOURCE_NAPI,         /* netlink family netdev: NAPI instances and their queues */
	SOURCE_ETHTOOL,      /* netlink family ethtool: channels, rings, coalescing */
	_SOURCE_MAX,
};

const char *source_to_string(enum source s); /* "softnet", "softirqs" … */
const char *source_path(enum source s);      /* "/proc/net/softnet_stat" … for messages */

enum source_state {
	SOURCE_UNREAD, /* not looked at yet */
	SOURCE_OK,
	SOURCE_ABSENT,  /* this host does not have it: said once, nothing is wrong */
	SOURCE_STRANGE, /* there, but unreadable or not what it should be: see text */
};

struct source_status {
	enum source_state state;
	int error;      /* negative errno, or 0 */
	char text[160]; /* for an admin: what, where (file:line), what it means; "" when SOURCE_OK
			 */
};

enum softirq_vector { /* include/linux/interrupt.h; bit n of a NOHZ mask is vector n */
	SOFTIRQ_HI,
	SOFTIRQ_TIMER,
	SOFTIRQ_NET_TX,
	SOFTIRQ_NET_RX,
	SOFTIRQ_BLOCK,
	SOFTIRQ_IRQ_POLL,
	SOFTIRQ_TASKLET,
	SOFTIRQ_SCHED,
	SOFTIRQ_HRTIMER,
	SOFTIRQ_RCU,
	_SOFTIRQ_MAX,
};
extern const char *const softirq_names[_SOFTIRQ_MAX]; /* as /proc/softirqs spells them */
#define SOFTIRQ_MASK_NET ((1U << SOFTIRQ_NET_TX) | (1U << SOFTIRQ_NET_RX))

enum {
	HAVE_SOFTNET = 1 << 0,
	HAVE_RPS = 1 << 1,        /* column 10 */
	HAVE_FLOW_LIMIT = 1 << 2, /* column 11 */
	HAVE_BACKLOG = 1 << 3,    /* column 12 */
	HAVE_SOFTIRQS = 1 << 4,
	HAVE_STAT = 1 << 5,
	HAVE_KSOFTIRQD = 1 << 6,
	HAVE_SOFTIRQ_STAT = 1 << 7, /* kernel series only */
};

/* Why a run of softirqs ended with work pending, which ksoftirqd gets (softnet-sysctl(7)). When
 * several reasons held, the kernel counts the first in this order. */
enum handover {
	HANDOVER_TIME,    /* its time was used up */
	HANDOVER_RESCHED, /* another task should run */
	HANDOVER_COUNT,   /* its passes were used up */
	HANDOVER_POLICY,  /* the policy never restarts */
	_HANDOVER_MAX,
};
const char *handover_to_string(enum handover h); /* "time", "resched", "count", "policy" */

/* The limits of a run as the kernel series tells them, and what they come to there. */
struct softirq_limits {
	bool have;
	char policy[24]; /* "default" … */
	bool precise;    /* the clock in use: the scheduler's, else jiffies */
	bool timed;      /* the policy knows a time: effective_usec counts */
	uint32_t tick_usec, time_usec, effective_usec, max_restart, effective_passes;
};

struct cpu_sample {
	uint32_t have;
	/* softnet_stat; all but backlog are 32-bit counters that wrap */
	uint32_t processed, dropped, squeezed, received_rps, flow_limit;
	uint32_t backlog; /* gauge: packets queued now */
	/* /proc/softirqs: unsigned int in the kernel, wraps at 2^32 */
	uint32_t softirq[_SOFTIRQ_MAX];
	/* /proc/stat, in USER_HZ ticks */
	uint64_t busy, softirq_time, irq_time, steal, total;
	/* ksoftirqd/N: time on the CPU, time runnable but waiting, both ns; number of slices */
	uint64_t ksoftirqd_run_ns, ksoftirqd_wait_ns, ksoftirqd_slices;
	uint64_t ksoftirqd_at_usec; /* CLOCK_MONOTONIC of that reading; set by window_push() */
	/* softirq_stat: unsigned long in the kernel. Runs that left work to ksoftirqd, and
	 * ksoftirqd's own runs that left work to its next; wake-ups of ksoftirqd with no run before
	 * them; attempts to stop an idle CPU's tick that found this softirq pending, and
	 * (PREEMPT_RT, no fault) bottom halves disabled. */
	uint64_t handover[_HANDOVER_MAX], own_handover[_HANDOVER_MAX], ksoftirqd_wakes;
	uint64_t nohz_pending[_SOFTIRQ_MAX], nohz_blocked;
};

/* Counts of one NIC interrupt: counts[i] belongs to CPU id i, i < n_cpus. The counter is an
 * unsigned int in the kernel and wraps. irq is an index into topology's irqs. */
struct irq_sample {
	bool have;
	uint32_t *counts;
	/* The forced thread irq/N-… (RT, threadirqs), from /proc/PID/schedstat; thread_pid 0: none
	 * seen. */
	pid_t thread_pid;
	uint64_t thread_run_ns, thread_wait_ns, thread_switches;
};

struct pressure { /* "some" line; total is µs of stall since boot */
	bool have;
	uint64_t some_usec, full_usec;
};

struct nic_sample { /* index as in topology's nics */
	bool have;
	uint64_t rx_packets, rx_dropped, rx_missed;
};

/* Kernel-log events since the last snapshot, by kind. */
enum kmsg_kind {
	KMSG_OTHER,
	KMSG_NOHZ_PENDING, /* mask says which softirqs */
	KMSG_RCU_STALL,
	KMSG_SOFT_LOCKUP,
	KMSG_HARD_LOCKUP,
	KMSG_NETDEV_WATCHDOG,
	KMSG_RT_THROTTLING,
	KMSG_IRQ_NOBODY_CARED,
	KMSG_CLOCKSOURCE_UNSTABLE,
	_KMSG_KIND_MAX,
};
const char *kmsg_kind_to_string(enum kmsg_kind k); /* "nohz-pending", "rcu-stall" … */

struct kmsg_event {
	enum kmsg_kind kind;
	uint64_t seq;       /* sequence number of the record; 0 in a pasted file */
	uint64_t boot_usec; /* when, since boot; 0: not known */
	uint32_t mask;      /* NOHZ: pending softirq bits */
	bool old;           /* printed before this daemon started to look */
	char text[192];
};

#define SNAPSHOT_EVENTS_MAX 64
struct snapshot {
	uint64_t mono_usec; /* CLOCK_MONOTONIC when the reading began */
	uint64_t boot_usec; /* CLOCK_BOOTTIME: runs on while suspended */
	bool slow; /* a slow look: irq counts of leaks, ksoftirqd and settings were read too */
	struct source_status source[_SOURCE_MAX];

	struct cpuset online; /* as this snapshot saw it */
	unsigned n_cpus;      /* length of cpu[]: highest possible CPU id + 1 */
	struct cpu_sample *cpu;
	unsigned n_irqs;
	struct irq_sample *irq;
	unsigned n_nics;
	struct nic_sample *nic;
	struct pressure psi_cpu, psi_irq;
	struct softirq_limits limits;

	unsigned n_events;
	struct kmsg_event event[SNAPSHOT_EVENTS_MAX];
	unsigned events_lost;       /* more than fit above, in this tick */
	uint64_t kmsg_records_lost; /* overrun by the kernel's ring (EPIPE), since start */
	unsigned nohz_lines;        /* NOHZ lines of this boot seen so far, old ones too */
};

/* Allocates the arrays, all zero. N_CPUS may be 0. */
int snapshot_new(unsigned n_cpus, unsigned n_irqs, unsigned n_nics, struct snapshot **ret);
void snapshot_free(struct snapshot *s);
DEFINE_CLEANUP(struct snapshot *, snapshot_free);
/* Forgets what was seen, keeps the arrays and the source states: ready for the next tick. */
void snapshot_clear(struct snapshot *s);

/* The kernel prints ten NOHZ lines per boot for the whole machine, then no more (kernel-facts 2.1):
 * silence is then blindness, not health. */
#define NOHZ_LINES_PER_BOOT 10
