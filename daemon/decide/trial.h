/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every change of the loop is a trial: it stays only if it measurably helped.
 *
 *   symptom entered → BASELINE_TICKS of new samples (the ones that crossed the threshold do not
 * count: what was high by chance will be lower next, whatever one does) → one change → SETTLE_TICKS
 * pass → JUDGE_TICKS of samples → verdict
 *
 * One sample is one tick's measure of the symptom, normalised by load (decide/objective.h): drops
 * per packet, or squeezes per NET_RX run, on the CPUs that had it. The change is kept when
 *   - the load is still the same kind of load (median packets within LOAD_MIN … LOAD_MAX of
 * before);
 *   - the median of the measure fell by EFFECT_MIN or more, and
 *   - the samples lie further below the baseline than its noise explains: rank-sum test at
 *     SIGNIFICANCE (decide/statistic.h), which supposes no distribution;
 *   - for rare events (most of the first baseline ticks without one) the judgement is by exposure
 *     instead: the baseline grows to RARE_BASELINE_TICKS, the judgement to RARE_TICKS, and the
 *     Poisson test compares ticks with an event per packet; it ends early when the events already
 *     seen can no longer pass it;
 *   - no guard got worse: CPU time in softirq per processed packet, by the same test, above
 *     GUARD_MAX;
 *   - for squeezes: a CPU that was saturated with softirqs is so no more. As long as there is no time
 *     left, another way to count its runs is no gain;
 *   - and the profile's objective allows it.
 *
 * The objective, where the profile names one that is not the symptom's own measure, is sampled beside
 * it. The cure of the symptom stays necessary, and is not enough:
 *   - the objective got worse, above OBJECTIVE_WORSE and by the same test: the change is taken back,
 *     however much the symptom gained. Seen with the symptom's rare events, too;
 *   - the baseline had something of it (objective_kinds[].floor): then the objective must fall as well,
 *     by its own effect_min and by the same tests, or there was no effect. No further step is tried:
 *     the symptom, which the steps are for, is cured;
 *   - the baseline had nothing of it: there is nothing to gain, and the symptom's measure decides;
 *   - no sensor shows it: the symptom's measure decides, and the verdict says so (struct judged).
 * A sensor that is not read in every tick makes each stage as long as it takes to have as many
 * readings of it as of the symptom; PATIENCE_TICKS without one, and it is missing. The same bounds the
 * wait for the symptom's own.
 *
 * The rank-sum test supposes that ticks know nothing of each other, but traffic has a memory: a
 * load that was high by chance for ten seconds falls just as well by itself, and with a memory of r
 * from tick to tick n ticks are worth n (1 - r) / (1 + r) (M. S. Bartlett: Some aspects of the
 * time-correlation problem in regard to tests of significance, 1935), of which a baseline that is
 * short enough for a right answer in time cannot tell r. So a fall counts at once only when it is
 * larger than what a random walk of the observed tick-to-tick steps would reach between the middle of
 * the baseline and the middle of the judgement (DRIFT_SIGMAS standard deviations; a load with a
 * shorter memory than a random walk drifts less). Otherwise the change is withdrawn for
 * WITHDRAW_TICKS and made again for AGAIN_TICKS, and must show its effect both times (the withdrawal
 * design of single-case studies: D. H. Barlow, M. Hersen: Single case experimental designs, 1984).
 * A change against drops, too, although that costs the packets of a few ticks: a longer look instead
 * cannot tell a cure from a load that wandered off, and any baseline that could costs more of them.
 *
 * No effect is not the end while the range goes on: these levers act by a threshold (a burst fits
 * into the backlog or does not; netdev_budget lies above 64 packets for each NAPI instance of the CPU
 * or below), so the next step is made. What had no effect is baseline too: the next step is judged
 * against all that was seen before it, so that more steps are not more chances for chance. What the
 * steps cost in terms of the objective adds up: that is judged against its first baseline. Only when
 * the last step of the range has no effect either does everything go back to where it began.
 *
 * Ended without being taken back: a setting on trial that somebody else changes meanwhile is theirs.
 *
 * Ended at once, and taken back: a measure above twice the worst of the baseline for WORSE_TICKS in
 * a row, of the symptom or of the objective; CPUs that became saturated; a window that was re-baselined (suspend, hotplug).
 *
 * One trial at a time: the settings the loop moves are host-wide, so any two would overlap.
 */
#pragma once

#include "decide/objective.h"
#include "decide/statistic.h"
#include "decide/symptom.h"

#define BASELINE_TICKS 3
#define SETTLE_TICKS   2
#define JUDGE_TICKS    8
#define WITHDRAW_TICKS 4
#define AGAIN_TICKS    6
/* Five events before and none in twice the exposure after are significant: (1/3)^5 < 0.01. */
#define RARE_BASELINE_TICKS 60
#define RARE_TICKS          120
#define RARE_EVENTS_MIN     5
#define WORSE_TICKS         3
#define SIGNIFICANCE        0.01
#define GUARD_MAX           1.25
#define OBJECTIVE_WORSE     1.1
#define PATIENCE_TICKS      8
#define LOAD_MIN            0.5
#define LOAD_MAX            2.0
#define DRIFT_SIGMAS        2.33 /* as SIGNIFICANCE, one-sided */
#define CURED               0.05 /* of the baseline: what is left may jitter as it likes */
#define SATURATED           0.95 /* softirq share of a CPU's time */

enum verdict {
	VERDICT_NONE,      /* goes on */
	VERDICT_CANCELLED, /* the symptom left during the baseline: nothing was changed */
	VERDICT_CHANGE,    /* the baseline is complete: make the change */
	VERDICT_WITHDRAW,  /* take the change back for a while, to confirm it */
	VERDICT_REAPPLY,   /* it got worse without the change: make it again */
	VERDICT_KEPT,
	VERDICT_NO_EFFECT,    /* take it back */
	VERDICT_WORSE,        /* take it back, and never again on this host as it is */
	VERDICT_INCONCLUSIVE, /* take it back: load, window or confirmation failed */
};
const char *verdict_to_string(enum verdict v); /* "kept", "no effect" … */

struct samples {
	size_t n;
	double measure[SAMPLES_MAX], load[SAMPLES_MAX], guard[SAMPLES_MAX];
	size_t n_objective; /* not every tick has one */
	double objective[SAMPLES_MAX];
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
		TRIAL_REAPPLYING, /* as ASKED */
		TRIAL_AGAIN_SETTLING,
		TRIAL_AGAIN,
		TRIAL_TAKING_BACK,
		TRIAL_STUCK, /* to be taken back, for `reason` */
	} stage;
	enum symptom symptom;
	struct judged judged; /* the objective, when it is not the symptom's own */
	bool to_gain;         /* the baseline has something of it */
	struct change change; /* from TRIAL_ASKED on */
	struct cpuset cpus;
	struct samples baseline, with, without, again;
	/* exposure, for rare events */
	double events_before, packets_before, events_after, packets_after;
	unsigned ticks_before;
	bool rare, saturated_before;
	unsigned ticks;  /* of this stage, with a sample */
	unsigned passed; /* of this stage */
	unsigned unread; /* in a row without a reading of the objective */
	unsigned silent; /* … of the symptom's own measure */
	unsigned worse, objective_worse, saturated_with;
	unsigned steps; /* made beyond the first */
	/* the numbers of the verdict, for explain */
	double before, after;
	const char *reason;   /* why inconclusive or worse; a constant */
	char made[VALUE_MAX]; /* the value of the last step that was made */
};

void trial_open(struct trial *t, enum symptom symptom, enum objective objective,
		const struct cpuset *cpus);
/* Whether the profile's objective is judged beside the symptom's measure. */
bool trial_sees_objective(const struct trial *t);
/* The change that VERDICT_CHANGE asked for was chosen. */
void trial_change(struct trial *t, const struct change *c);
/* The change had no effect: TO is asked for next. The trial's change keeps where it began. */
void trial_further(struct trial *t, const char *to);
/* What it stands on is gone: a baseline is forgotten, a change is taken back in the next tick. REASON is
 * a constant. */
void trial_interrupt(struct trial *t, const char *reason);
/* Whether its change is made now (and not withdrawn), and to which value. */
bool trial_in_place(const struct trial *t);
const char *trial_value(const struct trial *t);
/* What act/ said about the change, its withdrawal, its return, or its taking back. Returns true
 * when the trial ended with it. */
bool trial_learn(struct trial *t, const struct result *r);
/* One tick. PRESENT: the symptom is not over; ACUTE: it was seen in this tick. */
enum verdict trial_tick(struct trial *t, const struct window *w, bool present, bool acute);
