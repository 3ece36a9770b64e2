/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every change of the loop is a trial: it stays only if it measurably helped.
 *
 *   symptom entered → BASELINE_TICKS of new samples (the ones that crossed the threshold do not
 * count: what was high by chance will be lower next, whatever one does) → one change → SETTLE_TICKS
 * pass → JUDGE_TICKS of samples → verdict
 *
 * One sample is one tick's measure of the symptom, normalised by load: drops per packet, or
 * squeezes per NET_RX run, on the CPUs that had it. The change is kept when
 *   - the load is still the same kind of load (median packets within LOAD_MIN … LOAD_MAX of
 * before);
 *   - the median of the measure fell by EFFECT_MIN or more, and
 *   - the samples lie further below the baseline than its noise explains: rank-sum test at
 *     SIGNIFICANCE (decide/statistic.h), which supposes no distribution;
 *   - for rare events (most baseline ticks without one) the judgement is by exposure instead:
 * RARE_TICKS of packets, and the Poisson test on events per packet;
 *   - no guard got worse: CPU time in softirq per packet, by the same test, above GUARD_MAX.
 * A keep on a noisy baseline is confirmed by withdrawing the change once: the measure must rise
 * again. A baseline with drops is never withdrawn for that: it would cost packets.
 *
 * Ended at once, and taken back: a measure above twice the worst of the baseline for WORSE_TICKS in
 * a row; CPUs that became saturated; a window that was re-baselined (suspend, hotplug).
 *
 * One trial at a time: the settings the loop moves are host-wide, so any two would overlap.
 */
#pragma once

#include "decide/statistic.h"
#include "decide/symptom.h"

#define BASELINE_TICKS 3
#define SETTLE_TICKS   2
#define JUDGE_TICKS    8
#define WITHDRAW_TICKS 4
#define RARE_TICKS     60
#define WORSE_TICKS    3
#define EFFECT_MIN     0.3
#define SIGNIFICANCE   0.01
#define GUARD_MAX      1.25
#define LOAD_MIN       0.5
#define LOAD_MAX       2.0
#define NOISY          0.5  /* (max - min) / median of the baseline */
#define SATURATED      0.95 /* softirq share of a CPU's time */

enum verdict {
	VERDICT_NONE,      /* goes on */
	VERDICT_CANCELLED, /* the symptom left during the baseline: nothing was changed */
	VERDICT_CHANGE,    /* the baseline is complete: make the change */
	VERDICT_WITHDRAW,  /* take the change back for a while, to confirm it */
	VERDICT_REAPPLY,   /* confirmed: make it again; it is kept */
	VERDICT_KEPT,
	VERDICT_NO_EFFECT,    /* take it back */
	VERDICT_WORSE,        /* take it back, and never again on this host as it is */
	VERDICT_INCONCLUSIVE, /* take it back: load, window or confirmation failed */
};
const char *verdict_to_string(enum verdict v); /* "kept", "no effect" … */

struct samples {
	size_t n;
	double measure[SAMPLES_MAX], load[SAMPLES_MAX], guard[SAMPLES_MAX];
};

struct trial {
	enum trial_stage {
		TRIAL_OFF,
		TRIAL_BASELINE,
		TRIAL_ASKED, /* a change was asked of act/, and its answer is due */
		TRIAL_SETTLING,
		TRIAL_JUDGING,
		TRIAL_WITHDRAWING, /* as ASKED, for the withdrawal */
		TRIAL_WITHDRAWN_SETTLING,
		TRIAL_WITHDRAWN,
		TRIAL_REAPPLYING, /* as ASKED; kept when it comes back */
		TRIAL_TAKING_BACK,
	} stage;
	enum symptom symptom;
	struct change change; /* from TRIAL_ASKED on */
	struct cpuset cpus;
	struct samples baseline, with, without;
	/* exposure, for rare events */
	double events_before, packets_before, events_after, packets_after;
	bool saturated_before;
	unsigned ticks, worse;
	/* the numbers of the verdict, for explain */
	double before, after;
	const char *reason; /* why inconclusive or worse; a constant */
};

void trial_open(struct trial *t, enum symptom symptom, const struct cpuset *cpus);
/* The change that VERDICT_CHANGE asked for was chosen. */
void trial_change(struct trial *t, const struct change *c);
/* What act/ said about the change, its withdrawal, its return, or its taking back. Returns true
 * when the trial ended with it. */
bool trial_learn(struct trial *t, const struct result *r);
/* One tick. ACUTE: the symptom was seen in it. */
enum verdict trial_tick(struct trial *t, const struct window *w, bool acute);
