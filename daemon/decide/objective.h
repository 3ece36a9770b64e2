/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trial is judged by: one number per tick, less is better, normalised by load. A symptom has
 * its own; a profile may ask for another (softnetd-profile(5), "objective").
 *
 *   drops     of the packets that arrived at the CPUs, those that a backlog dropped
 *   squeezes  of the NET_RX runs there, those that ended squeezed (without /proc/softirqs: per packet)
 *   wait      ksoftirqd's time runnable but not running, µs per packet (/proc/PID/schedstat,
 *             sched_info.run_delay): what was handed over and then waited
 *   wakeup    share of the time in which some task of the host waited for a CPU (/proc/pressure/cpu,
 *             "some")
 *   cpu       CPU time in interrupts and softirqs, µs per packet that was processed: a dropped one
 *             costs next to nothing, so fewer drops would look like dearer packets
 *   busy      CPUs of the host that are busy, not per packet: what poll-burn is about. 1.5 are one and a
 *             half
 */
#pragma once

#include "model/decision.h"
#include "model/window.h"

/* Below its floor an objective shows nothing: there is nothing to gain, and nothing was lost. A
 * change for the better is EFFECT_MIN or more, CPU time varies less: CPU_EFFECT_MIN. */
#define EFFECT_MIN     0.3
#define CPU_EFFECT_MIN 0.1
#define DROPS_FLOOR    0.0001
#define SQUEEZES_FLOOR 0.02
#define WAIT_FLOOR     0.1 /* µs per packet */
#define WAKEUP_FLOOR   0.01

struct objective_kind {
	const char *what; /* "CPU time per packet" */
	const char *unit; /* "%": a share; else its unit */
	/* A share of what it was, but for OBJECTIVE_BUSY, where so many CPUs are meant. */
	double floor, effect_min;
};
extern const struct objective_kind objective_kinds[_MEASURE_MAX];

/* A symptom's own measure; never OBJECTIVE_SYMPTOM. */
enum objective objective_of(enum symptom s);

enum measured {
	MEASURED,
	MEASURED_NOT_DUE, /* this sensor is not read in every tick */
	MEASURED_BLIND,   /* no sensor shows it */
};

/*
 * O, not OBJECTIVE_SYMPTOM, on CPUS in the newest tick, which must exist. A reading that covers
 * more than the newest TICKS ticks is about another time, and not due.
 */
enum measured objective_measure(enum objective o, const struct window *w, const struct cpuset *cpus,
				unsigned ticks, double *ret);

/* "12.3 %", "4.56 µs" */
void objective_format(enum objective o, double value, char *buf, size_t size);
