/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpufreq policies: /sys/devices/system/cpu/cpufreq/policyN. Every file is optional (case E07); a
 * policy whose CPUs are all offline has an empty affected_cpus and answers EBUSY (case E10): it is
 * listed as inactive.
 */
#pragma once

#include "base/io.h"
#include "model/snapshot.h"
#include "model/topology.h"

/* Fills T->policy, ordered by number. RET says what was found: absent without a cpufreq driver
 * (most virtual machines). -ENOMEM or 0. */
int cpufreq_discover(struct io *io, struct topology *t, struct source_status *ret);

/* In kHz: a policy's frequency now (scaling_cur_freq), and what its hardware is able to
 * (cpuinfo_min_freq, cpuinfo_max_freq). 0 or a negative errno; -EBADMSG when one is no number. */
int cpufreq_now(struct io *io, unsigned policy, uint64_t *ret, uint64_t *ret_min,
		uint64_t *ret_max);
