/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A receive path in memory, for tests of decide/: rates go in per CPU, snapshots come out once a
 * second, and decide() is asked. Nothing reacts by itself; a test changes the rates when it wants a
 * lever to have had an effect.
 */
#pragma once

#include "decide/decide.h"

struct plant_cpu {
	double packets, drops, squeezes, runs; /* per second */
	double lag_run, lag_wait; /* ksoftirqd: share of the time; read when not both 0 */
	double softirq, busy;     /* shares of the CPU's time; busy includes softirq */
	/* per second, where `series` */
	double handover[_HANDOVER_MAX], nohz_net_rx;
};

struct plant {
	struct topology *topology;
	struct profile *profile;
	struct values values;
	struct snapshot *snapshot;
	struct window *window;
	struct decider *decider;
	const struct decisions *out;
	struct plant_cpu cpu[64];
	double psi;         /* share of the time some task waits; negative: no PSI here */
	double nic_packets; /* per second, of the first NIC */
	struct {
		double rate[8];             /* interrupts per second on CPU 0 … 7 */
		double run_usec, wait_usec; /* per second, of its thread */
	} irq[32];
	uint64_t now_usec;
	unsigned changes_per_hour, moves_per_round;
	enum outcome outcome; /* what act/ answers; DONE also makes the change in values */
	bool no_nic_counters;
	bool series;                    /* /proc/softirq_stat is there */
	unsigned writes;                /* changes that were DONE */
	const struct unmet *unmet;      /* may be NULL */
	int pinned;                     /* a setting, -1: none */
	bool ours[_TUNABLE_MAX];        /* a policy wrote what it holds … */
	int64_t original[_TUNABLE_MAX]; /* … and this was there before */
	bool no_stat;                   /* no /proc/stat */
	struct cpuset placed[32];
	bool is_placed[32];
};

/* N_CPUS CPUs, two threads a core when SMT, one NIC "eth0" with N_QUEUES combined vectors; the
 * default values of an HZ=250 kernel; a profile that leaves everything. */
void plant_init(struct plant *p, unsigned n_cpus, bool smt, unsigned n_queues);
void plant_done(struct plant *p);
void plant_range(struct plant *p, enum tunable_id id, int64_t low, int64_t high);
/* SECONDS ticks of one second each; every change that decide() asks for is answered. */
void plant_run(struct plant *p, unsigned seconds);
void plant_event(struct plant *p, enum kmsg_kind kind, uint32_t mask, bool old);
/* The report of SYMPTOM in the last tick, or NULL. */
const struct symptom_report *plant_report(const struct plant *p, enum symptom symptom);
/* The change of TUNABLE that the last tick asked for, or NULL. */
const struct change *plant_change(const struct plant *p, enum tunable_id id);
