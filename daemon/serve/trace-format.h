/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording of a host, version 1: what trace.c writes and trace-read.c reads.
 *
 * One JSON object a line. The first line says what was recorded:
 *   "softnetd-trace"  1
 *   "softnetd"        version of the program that wrote it
 *   "kernel" "hz" "user_hz"
 *   "mode"            softnetd.conf's at that time
 *   "profile"         null, or its name and all it does not leave alone
 *   "limits"          changes per hour, moves per round
 *   "topology"        CPUs, NICs, their interrupts, cpufreq policies
 *   "settings"        {"netdev_budget": 300, …}: host settings that could be read
 *   "sources"         {"softnet": "ok", "pressure-irq": ["absent", -2], …}
 * Each further line is one tick. "t" is its CLOCK_MONOTONIC in µs since the tick before (the first:
 * since boot); "n" its number, 1, 2, 3 …, by which a line that is missing or there twice is seen: the
 * first recordings have none. Every other key is there only when something changed:
 *   "boot"            CLOCK_BOOTTIME minus CLOCK_MONOTONIC, when that moved by BOOT_SLACK_USEC
 *   "slow"            whether the slow sources were read too, from now on
 *   "topology"        the machine was looked at anew: as in the first line; whatever was known of
 *                     CPUs, interrupts and NICs begins again at zero
 *   "hz" "known_online" learnt meanwhile: HZ, the topology's online CPUs
 *   "affinity"        [[interrupt, affinity, effective], …], CPU lists or null
 *   "online"          CPU list, as this tick saw it
 *   "have"            {"softnet": CPU list, …}: where that part could be read
 *   "cpu"             {"processed": [[first CPU, difference, difference of the next CPU …], …], …}
 *   "irq_have"        [[first interrupt, how many], …]
 *   "irq"             [[interrupt, CPU, difference, CPU, difference, …], …]
 *   "pids" "threads"  [[interrupt, pid], …], [[interrupt, run ns, wait ns, switches], …]
 *   "nic_have" "nic"  as above; [[NIC, packets, dropped, missed], …]
 *   "psi_cpu" "psi_irq" [some µs, full µs], or null when absent
 *   "kmsg_lost" "nohz_lines" the new figures
 *   "events"          [{"kind", "mask", "old", "seq", "boot", "text"}, …] of this tick
 *   "events_lost"     of this tick
 *   "settings" "sources" those that changed
 * All differences are signed, modulo the counter's width. Interrupts, NICs and CPUs are numbered as
 * in the topology.
 *
 * Not in it, since people attach recordings to bug reports: the host's name, kernel messages but
 * for the classified ones, texts of errors (they may quote files), hardware addresses (they stand
 * in names such as enx001122334455 and in Hyper-V's GUIDs: see trace_mask()). Of the softirq
 * vectors only NET_RX and NET_TX are kept, of ksoftirqd not the number of its slices, of
 * /proc/softirq_stat not the line of limits (the settings say it): nothing in decide/ looks at the
 * others.
 */
#pragma once

#include "model/snapshot.h"
#include "model/topology.h"

#define TRACE_VERSION   1
#define TRACE_LINE_MAX  (4U << 20) /* bytes */
#define TRACE_IRQS_MAX  8192
#define TRACE_NICS_MAX  4096
#define TRACE_CELLS_MAX (1U << 23) /* CPUs times interrupts: what the counts take */
#define BOOT_SLACK_USEC 1000       /* two clocks are not read in the same instant */

/* A member of struct cpu_sample. */
struct trace_field {
	const char *name;
	size_t offset;
	bool wide;     /* uint64_t, else uint32_t */
	uint32_t have; /* the HAVE_ bit it needs */
};
extern const struct trace_field trace_fields[];
extern const size_t trace_n_fields;

/* The HAVE_ bits by number, ends with NULL. */
extern const char *const trace_have_names[];
/* By enum source_state. */
extern const char *const trace_state_names[];

/* The yes-or-no facts of a topology. */
struct trace_flag {
	const char *name;
	size_t offset; /* of a bool in struct topology */
};
extern const struct trace_flag trace_flags[];
extern const size_t trace_n_flags;

static inline uint64_t trace_get(const struct cpu_sample *c, const struct trace_field *f)
{
	const char *at = (const char *)c + f->offset;

	return f->wide ? *(const uint64_t *)(const void *)at : *(const uint32_t *)(const void *)at;
}

static inline void trace_set(struct cpu_sample *c, const struct trace_field *f, uint64_t value)
{
	char *at = (char *)c + f->offset;

	if (f->wide)
		*(uint64_t *)(void *)at = value;
	else
		*(uint32_t *)(void *)at = (uint32_t)value;
}
