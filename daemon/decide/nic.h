/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a profile states about a NIC beside its interrupts: coalescing, its NAPI instances, and where
 * their threads run. Pure.
 */
#pragma once

#include "model/decision.h"
#include "model/profile.h"
#include "model/topology.h"

/*
 * The changes that bring NIC to what the profile states, FROM empty, in the order in which they must
 * be made: coalescing by direction, each a couple of act_apply_coupled(); then the NAPI settings;
 * then threads. A stated time or number of frames switches the adaptive coalescing of its direction
 * off, unless the profile states that, too. Returns how many; the caller frees. -ENOMEM.
 */
int nic_policy(const struct topology *t, const struct profile *p, unsigned nic,
	       struct change **ret);

/*
 * Where a NAPI thread belongs with `napi_threads = "near"`: the CPUs that share the last-level cache
 * with the one that takes its queue's interrupt, without that one where there is another (an
 * interrupt and a thread that share a CPU wait for each other: OpenWrt PR#25016), without isolated
 * and offline ones, and only those in ALLOWED (NULL: all). Empty: not known.
 */
struct cpuset nic_thread_cpus(const struct topology *t, const struct napi *napi,
			      const struct cpuset *allowed);
