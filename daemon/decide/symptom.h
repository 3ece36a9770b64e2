/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which limit binds: from windows of differences to symptoms, each with an enter and a leave
 * threshold and the numbers that led to it. Rates over a window, never lifetime counts
 * (netdata#984: alarms for one squeeze in an hour; case A06: one drop since boot).
 */
#pragma once

#include "decide/decide.h"

/*
 * Thresholds. Per packet or per NET_RX run where that makes sense, so that they fit a small router
 * and a 256-CPU server alike.
 */
enum {
	DETECT_TICKS = 3, /* a symptom enters on what the last three ticks show */
	DETECT_GROWN = 2, /* … in at least two of which the counter grew */
	LEAVE_TICKS = 10, /* it leaves after ten calm ticks */
	CAUSE_TICKS = 2,  /* a cause is read from the ticks that are wholly under it */
	HOT_TICKS = 5,
};
/* backlog-drop: share of arrivals that were dropped; a burst of one tick counts from BURST on */
#define DROP_SHARE_ENTER   0.0001
#define DROP_SHARE_BURST   0.01
#define DROP_BURST_PACKETS 1000
/* squeezed: share of NET_RX runs that ended squeezed. time_squeeze counts "budget or time used up"
 * also when nothing was left to do (kernel-facts 0.7), so a CPU with little traffic is never
 * squeezed. */
#define SQUEEZE_SHARE_ENTER 0.05
#define SQUEEZE_SHARE_LEAVE 0.02
#define SQUEEZE_RATE_MIN    10.0   /* per second */
#define SQUEEZE_PACKETS_MIN 1000.0 /* packets per second on that CPU */
/* … and where /proc/softirqs cannot be read: squeezes per packet */
#define SQUEEZE_PER_PACKET 0.001
/* The cause can be told only when most runs end squeezed and the squeezed CPUs do most of the work.
 * Packets per run are the NICs' own, before GRO. */
#define CAUSE_SHARE_MIN    0.5
#define CAUSE_CPUS_MIN     0.8
#define CAUSE_PACKETS_FROM 0.9 /* of netdev_budget */
#define CAUSE_TIME_BELOW   0.6
/* hot-cpu: share of the CPU's time in softirq, against the median busy share of the others */
#define HOT_ENTER  0.80
#define HOT_LEAVE  0.60
#define HOT_OTHERS 0.40
/* irq-pingpong: time the NIC's IRQ threads wait for a CPU, of the time they run; and per second */
#define PINGPONG_WAIT_SHARE 0.10
#define PINGPONG_WAIT_USEC  1000.0
#define PINGPONG_RATE_MIN   100.0
/* ksoftirqd-lag: share of the wall clock that ksoftirqd is runnable but does not run; and of its
 * time */
#define LAG_WAIT  0.05
#define LAG_SHARE 0.2
/* softirq-hog: share of a CPU in softirq, and of the time in which some task waits (PSI) */
#define HOG_SHARE   0.5
#define HOG_WAITING 0.2
/* With the kernel series: fewer runs per second that leave work to ksoftirqd are no sign that their
 * limits bind. */
#define HANDOVERS_MIN 10.0
/* nohz-net: how long one line is news. Lines are not incidents. */
#define NOHZ_FRESH_USEC (60 * USEC_PER_SEC)
/* stalled: how long softnetd keeps its hands off afterwards */
#define HANDS_OFF_USEC (600 * USEC_PER_SEC)

/* A CPU that gets fewer packets than this may be busy with softirqs, but not with ours: timers, RCU,
 * block and tasklets run there, too */
#define RECEIVES_MIN 100.0 /* per second */

struct symptom_cpu {
	bool on;
	uint8_t calm;
	uint64_t since_usec;
};

struct symptoms {
	struct symptom_cpu drop[CPU_ID_MAX], squeeze[CPU_ID_MAX], hot[CPU_ID_MAX], lag[CPU_ID_MAX],
		hog[CPU_ID_MAX], hog_unjudged[CPU_ID_MAX], lag_unjudged[CPU_ID_MAX];
	struct symptom_report last[_SYMPTOM_MAX]; /* of those by CPU, with numbers */
	uint64_t nohz_usec; /* last network NOHZ line, or count of the kernel series; 0: none */
	uint64_t nohz_since_usec;
	unsigned nohz_lines; /* network lines since it entered */
	double nohz_counted; /* … and by the kernel series, on these CPUs */
	struct cpuset nohz_cpus;
	uint32_t nohz_mask;
	uint64_t stalled_usec, stalled_since_usec;
	char stalled_text[192];
	uint64_t blind_since_usec;
	/* low-rate.c */
	bool rate_is_low;
	uint64_t rate_since_usec; /* since when it is the other; 0: it is not */
	uint64_t low_since_usec;
	/* poll-burn.c */
	bool polls_burn;
	uint64_t poll_turn_usec; /* since when it looks so, not long enough yet; 0: it does not */
	uint64_t burn_since_usec;
	bool not_burning[_TUNABLE_MAX]; /* a trial has shown so */
	/* by interrupt, while the topology stays as it is */
	unsigned n_irqs;
	uint8_t *leaked_ticks;
	uint64_t *leaked_since_usec;
	unsigned n_nics;
	struct symptom_cpu *pingpong;
};

void symptoms_init(struct symptoms *s);
void symptoms_done(struct symptoms *s);
/* -ENOMEM; forgets what belongs to interrupts and NICs that may be others now. */
int symptoms_fit(struct symptoms *s, const struct topology *t);

/* Adds reports to OUT; at most one per symptom, CPUs together, but one per NIC or IRQ where those
 * are what it is about. */
void symptoms_find(struct symptoms *s, const struct decide_input *in, struct decisions *out);

/* Sums of the CPUs in SET over the newest TICKS ticks: what a trial compares. */
struct load {
	double seconds;
	double packets, drops, squeezes, runs; /* over the whole time */
};
struct load window_load(const struct window *w, const struct cpuset *set, unsigned ticks);
