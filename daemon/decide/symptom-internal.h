/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of symptoms share; for decide/symptom*.c only. */
#pragma once

#include "decide/symptom.h"

static inline double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

void evidence_add(struct symptom_report *r, const char *name, double value, const char *unit);
/* NULL when there are REPORTS_MAX already. */
struct symptom_report *report_new(struct decisions *out, enum symptom symptom);
/* Hysteresis: ENTER turns it on; only LEAVE_TICKS ticks in a row without STAY turn it off. Returns
 * whether it is on. */
bool hold(struct symptom_cpu *c, bool enter, bool stay, uint64_t now);
/* "0-3,8", or "200 CPUs" when the list does not fit. */
void cpu_list(const struct cpuset *set, char *buf, size_t size);

/*
 * Of a per-CPU symptom: which CPUs have it, since when, whether it was seen in this tick, and whether
 * there was anything to see. A tick without numbers of a CPU (after a suspend, a hotplug, between two
 * readings) neither begins nor confirms its symptom; and a report that no CPU has numbers for says
 * what it said last, not "0/s".
 */
struct found {
	struct cpuset cpus;
	uint64_t since;
	bool acute, seen;
};
/* One CPU in this tick: HAVE numbers of it, which ENTER or STAY; returns whether it has the symptom. A
 * CPU that went offline has none any more. */
bool found_visit(struct found *f, const struct decide_input *in, unsigned cpu,
		 struct symptom_cpu *c, bool have, bool enter, bool stay);
/* The report of FOUND, to be filled and then given to report_done(). NULL when no CPU has it, and when
 * the last report was given again. */
struct symptom_report *found_report(const struct found *f, struct symptoms *s,
				    struct decisions *out, enum symptom symptom);
void report_done(struct symptoms *s, const struct symptom_report *r);

/* Whether CPU received packets in the newest TICKS ticks, more than now and then: else what it does in
 * softirqs is nothing that this program is about. */
bool receives(const struct decide_input *in, unsigned cpu, unsigned ticks);

/* symptom-handover.c: what the kernel series counts, on the CPUs of R. Adds evidence, says it in
 * R's text and sets R->handed. */
void add_handovers(struct symptom_report *r, const struct decide_input *in);
/* Runs of CPU that left work to ksoftirqd, per second; negative: not counted here. */
double handovers_per_second(const struct window *w, unsigned cpu);
/* NET_TX or NET_RX was pending when a CPU's tick was to be stopped, by the kernel's counters. */
void take_nohz_counters(struct symptoms *s, const struct decide_input *in);
/* Appends to NAMES what could not be told although it mattered; returns how many. */
unsigned add_unjudged(struct symptoms *s, const struct decide_input *in, unsigned n, char *names,
		      size_t size);

/* symptom-irq.c */
void find_leaks(struct symptoms *s, const struct decide_input *in, struct decisions *out);
void find_pingpong(struct symptoms *s, const struct decide_input *in, struct decisions *out);
/* symptom-log.c */
/* Network softirqs were left pending just now. */
void nohz_begin(struct symptoms *s, uint64_t now);
void find_log_events(struct symptoms *s, const struct decide_input *in, struct decisions *out);
void find_blind(struct symptoms *s, const struct decide_input *in, struct decisions *out);
/* low-rate.c */
void find_low_rate(struct symptoms *s, const struct decide_input *in, struct decisions *out);
/* poll-burn.c */
void find_poll_burn(struct symptoms *s, const struct decide_input *in, struct decisions *out);
/* symptom-wait.c */
void find_ksoftirqd_lag(struct symptoms *s, const struct decide_input *in, struct decisions *out);
void find_softirq_hog(struct symptoms *s, const struct decide_input *in, struct decisions *out);
