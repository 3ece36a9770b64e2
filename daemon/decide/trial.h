/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a change of the loop helped. One trial at a time: the settings the loop moves are
 * host-wide, so any two would overlap.
 *
 *   change made → SETTLE_TICKS pass → JUDGE_TICKS are compared with up to as many before the change
 *   (those under the symptom)
 *
 * The measure is the symptom's own, per packet (drops) or per NET_RX run (squeezes), on the CPUs
 * that had it, so that a load that merely shrank is no success: when fewer than LOAD_MIN of the
 * packets come any more, nothing can be judged and the change is taken back.
 *
 * This is the plain comparison. Noise of the baseline, exclusion of the samples that triggered the
 * trial, confirmation by withdrawal and other objectives are not in it yet.
 */
#pragma once

#include "decide/symptom.h"

#define SETTLE_TICKS 2
#define JUDGE_TICKS  5
#define EFFECT_MIN   0.3 /* the measure must fall by this share */
#define LOAD_MIN     0.5
#define RETRY_USEC   (60 * USEC_PER_SEC) /* after a trial that could not be judged */

enum verdict {
	VERDICT_NONE,
	VERDICT_KEPT,
	VERDICT_NO_EFFECT,
	VERDICT_INCONCLUSIVE
};

struct trial {
	enum {
		TRIAL_OFF,
		TRIAL_ASKED,
		TRIAL_SETTLING,
		TRIAL_JUDGING,
		TRIAL_TAKING_BACK
	} stage;
	struct change change;
	struct cpuset cpus;
	struct load before, after;
	unsigned ticks; /* in this stage */
};

/* The measure of a symptom under a load: 0 … 1; less is better. */
double trial_measure(enum symptom s, const struct load *l);

void trial_begin(struct trial *t, const struct change *c, const struct cpuset *cpus,
		 const struct window *w);
/* What act/ said about the change, or about taking it back. */
void trial_learn(struct trial *t, const struct result *r);
/* One tick: VERDICT_NONE while it still runs. After another verdict the caller ends the trial, or
 * asks for the change to be taken back. */
enum verdict trial_tick(struct trial *t, const struct window *w);
