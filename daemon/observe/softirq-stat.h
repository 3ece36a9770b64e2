/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/softirq_stat of the kernel series (kernel/patches: "proc: Add /proc/softirq_stat";
 * softnet-sysctl(7)): why softirqs were left to ksoftirqd, which softirqs kept an idle CPU's tick,
 * and the limits of a run. Its first line is the version; under version 1 columns and pairs are
 * only ever added at the end, and a column belongs to its name, never to its place. A row begins
 * with the CPU's number and only online CPUs have one.
 */
#pragma once

#include "base/complaint.h"
#include "model/snapshot.h"

/*
 * The live sensor. HAVE_SOFTIRQ_STAT is set for CPUs whose row was good, S->limits when that line
 * was; what was wrong is in S->source[SOURCE_SOFTIRQ_STAT], with its line. A file of another
 * version, without one of the columns that are needed, or with one twice gives nothing at all; a
 * CPU with two rows has none. CPUs beyond S->n_cpus are skipped.
 */
void softirq_stat_into_snapshot(const char *text, size_t length, struct snapshot *s);
