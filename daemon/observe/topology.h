/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's CPUs and the kernel's ways, into model/topology. Interrupts and NICs are
 * observe/nics, policies observe/cpufreq.
 *
 * hwloc is used here only: loaded, converted, destroyed at once. It opens files by itself, not
 * through the I/O seam; in a captured tree it is pointed to the seam's root (HWLOC_FSROOT in the
 * environment is the only way that hwloc 2 has). Its x86 part is switched off, since that binds the
 * process to one CPU after the other, isolated ones too.
 */
#pragma once

#include "base/io.h"
#include "model/snapshot.h"
#include "model/topology.h"

/*
 * Fills n_cpus, cpu[], possible, online, isolated and container. ONLINE is what /proc/stat shows
 * when it can be read, since every tick compares with that, and it is what exists: where sysfs says
 * something else, one of the two is made up (lxcfs, case A26), RET says so and CONTAINER is set.
 * What hwloc cannot tell stays -1. -ENOMEM or 0.
 */
int topology_discover_cpus(struct io *io, struct topology *t, struct source_status *ret);

/*
 * Fills kernel, hostname, rt, threadirqs, thread_backlog (by the command line), hz, user_hz and the
 * signs of a container. HZ is CONFIG_HZ of /boot/config-RELEASE; where that cannot be read it stays
 * 0, and hz_measure() may find it out.
 */
int topology_discover_host(struct io *io, struct topology *t);

/*
 * HZ by measurement: the second line of /proc/schedstat is jiffies. The first call remembers, a
 * later one (a second or more after it) compares with the clock. Returns HZ, or 0: not known (yet).
 * Needs CONFIG_SCHEDSTATS, which Debian's kernels have.
 */
struct hz_meter {
	uint64_t jiffies, mono_usec;
	bool given_up;
};
unsigned hz_measure(struct io *io, struct hz_meter *m);

/* The part of it that a slow look repeats: the online set and whether the two views of it agree.
 * RET is only touched when they do not. */
void topology_check_online(struct io *io, struct topology *t, struct source_status *ret);

/* CPUs that have a row in /proc/stat, at this moment. */
int topology_read_stat_online(struct io *io, struct cpuset *ret);
/* /sys/devices/system/cpu/FILE, a CPU list. */
int topology_read_cpu_list(struct io *io, const char *file, struct cpuset *ret);
