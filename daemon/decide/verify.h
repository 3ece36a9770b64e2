/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a profile states outright is no trial: nobody measures whether it helps. What can be seen is
 * whether the host acts on it, and only of the settings that the table calls verifiable:
 *
 *   irq_affinity           the interrupt's counter grows on the CPUs it was given, and on no other
 *   governor               performance: the policy's CPU runs at FREQUENCY_NEAR of its highest
 *                          frequency or more; powersave, by drivers that do not choose themselves:
 *                          at no more than the lowest and as much again. An idle CPU may show less
 *                          under any governor, so another frequency contradicts nothing. Other
 *                          governors have no frequency of their own
 *   napi_threaded          the instance's thread is there, or is gone
 *   napi_thread_affinity   the thread runs, or ran last, where it may; one that has not run since
 *                          is still where it was
 *
 * All else is unverifiable: the kernel takes and returns the number, and no sensor shows what it is
 * good for. Pure.
 */
#pragma once

#include "model/decision.h"
#include "model/topology.h"

#define FREQUENCY_NEAR 0.9

/* What was seen of one setting's target. */
struct effect {
	struct cpuset fired; /* irq_affinity: where it grew in the newest tick */
	bool have_frequency;
	uint64_t khz, min_khz, max_khz; /* governor: now, and the hardware's bounds */
	bool have_cpu;
	unsigned cpu; /* napi_thread_affinity */
};

/* Just written: PROOF_NONE when C is no policy or R did not make it, else DUE or UNVERIFIABLE. */
enum proof verify_begin(const struct change *c, const struct result *r);

#define PROOF_TEXT_MAX 96
/* What WRITTEN, canonical, does to the target of that identity. TEXT says it for an admin. */
enum proof verify(const struct topology *t, enum tunable_id id, const char *identity,
		  const char *written, const struct effect *seen, char text[static PROOF_TEXT_MAX]);
