/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a profile states about a NIC beside its interrupts: coalescing, its NAPI instances, where their
 * threads run, and the steering of its queues. Pure.
 */
#pragma once

#include "model/decision.h"
#include "model/profile.h"
#include "model/topology.h"

/*
 * The changes that bring NIC to what the profile states, FROM empty, in the order in which they must
 * be made: coalescing by direction, each a couple of act_apply_coupled(); then the NAPI settings;
 * then threads; then the steering of its queues (decide/steering.h). A stated time or number of frames
 * switches the adaptive coalescing of its direction off, unless the profile states that, too. None for
 * virtual NICs and for those that are down: what a driver takes before it is opened is undefined (case
 * H31). Returns how many; the caller frees. -ENOMEM.
 */
int nic_policy(const struct topology *t, const struct profile *p, unsigned nic,
	       struct change **ret);

/* Whether the profile wants the NIC's queues steered, and rps_plan() finds a use in it: to RET. */
bool nic_wants_rps(const struct topology *t, const struct profile *p, unsigned nic,
		   struct cpuset *ret);

/*
 * Where the NAPI threads of NIC belong with `napi_threads = "near"`: one on one CPU, the one that
 * takes its queue's interrupt, where its packets are in the cache; and where several would meet
 * there, the least used of the CPUs that share that one's last-level cache (its NUMA node, where
 * nothing shares one): threads that the scheduler leaves together on one CPU while others idle are
 * case G06. Never on isolated and offline CPUs, and only on those in ALLOWED (NULL: all). CPU has
 * T->n_napis members; CPU_ID_MAX: leave it, since its interrupt is not known, or nothing is allowed.
 */
void nic_thread_plan(const struct topology *t, unsigned nic, const struct cpuset *allowed,
		     unsigned *cpu);
