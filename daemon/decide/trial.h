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
 *     seen can no longer pass it. Of the objective nothing has to be gained then: the ticks without
 *     an event, which are most, could not show it;
 *   - no guard got worse: CPU time in softirq per processed packet, by the same test, above
 *     GUARD_MAX;
 *   - for squeezes: each CPU that was saturated with softirqs is so no more. As long as there is no
 *     time left, another way to count its runs is no gain;
 *   - the profile's objective allows it;
 *   - and it can be repeated: see below.
 *
 * The objective, where the profile names one that is not the symptom's own measure, is sampled beside
 * it. The cure of the symptom stays necessary, and is not enough:
 *   - the objective got worse, above OBJECTIVE_WORSE and by the same test: the change is taken back,
 *     however much the symptom gained. When the symptom gained nothing that is the end, without a
 *     further step; else the withdrawal, which takes it back in any case, tells whether it was the
 *     change. Seen with the symptom's rare events, too;
 *   - the baseline had something of it (objective_kinds[].floor): then the objective must fall as well,
 *     by its own effect_min and by the same tests, or there was no effect. No further step is tried:
 *     the symptom, which the steps are for, is cured;
 *   - the baseline had nothing of it: there is nothing to gain, and the symptom's measure decides;
 *   - no sensor shows it: the symptom's measure decides, and the verdict says so (struct judged).
 * A sensor that is not read in every tick makes each stage as long as it takes to have as many
 * readings of it as of the symptom; PATIENCE_TICKS without one, and it is missing. The same bounds the
 * wait for the symptom's own.
 *
 * `poll-burn` takes back a policy, and no step follows. Its measure is the host's busy CPUs, of which
 * POLL_BURN_FALL must become idle; its baseline has JUDGE_TICKS, since nothing is lost meanwhile. The load
 * may be none at all, but with the change not lower, beyond noise, than POLL_BURN_PACKETS of what it is
 * without: in each of the three comparisons. The guard, and the profile's objective, which are per packet,
 * say nothing where there are hardly any.
 *
 * The rank-sum test supposes that ticks know nothing of each other, but traffic has a memory: a
 * load that was high by chance for ten seconds falls just as well by itself (M. S. Bartlett: Some
 * aspects of the time-correlation problem in regard to tests of significance, 1935), and what comes in
 * spells ends when it ends. No baseline that is short enough for a right answer in time can tell. So
 * whatever fell is withdrawn for WITHDRAW_TICKS and made again for AGAIN_TICKS, and must show its
 * effect both times (the withdrawal design of single-case studies: D. H. Barlow, M. Hersen: Single
 * case experimental designs, 1984); rare events until RARE_EVENTS_MIN of them came back, for
 * RARE_TICKS at most, and RARE_TICKS again. `make bench` measures it: without the withdrawal, of trials
 * on spells of 5 to 60 s that nothing has to do with, 53 to 69 % ended as kept.
 *
 * Against drops, too, although that costs the packets of a few ticks. What would cost fewer does not
 * answer the question: to keep at once is wrong in every second spell; a baseline, or a judgement,
 * that is longer than the spells and their pauses drops more meanwhile, or never comes to an end.
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
 * a row, of the symptom or of the objective; a CPU, any of the host's, that was not saturated in any
 * tick of the baseline and is so for WORSE_TICKS in a row (decide/saturation.h), from the change on; a
 * window that was re-baselined (suspend, hotplug). A change that was kept goes back for the same
 * reason, later: decide.h.
 *
 * One trial at a time: the settings the loop moves are host-wide, so any two would overlap.
 */
#pragma once

#include "decide/objective.h"
#include "decide/saturation.h"
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
	/* exposure: all of it, also when there are more ticks than samples are kept of */
	unsigned ticks, events;
	double packets;
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
	bool rare;
	struct saturation saturation;
	struct cpuset saturated_before;      /* in some tick of the baseline */
	uint8_t still_saturated[CPU_ID_MAX]; /* of those, in so many ticks of the judgement */
	unsigned ticks;                      /* of this stage, with a sample */
	unsigned passed;                     /* of this stage */
	unsigned unread;                     /* in a row without a reading of the objective */
	unsigned silent;                     /* … of the symptom's own measure */
	unsigned worse, objective_worse;
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
/* Whether the change takes back what the profile states, and its own withdrawal is the profile's policy
 * again. */
bool trial_withdraws(const struct trial *t);
/* Packets per second of its baseline, which must be complete: the median. */
double trial_load(const struct trial *t);
/* The change that VERDICT_CHANGE asked for was chosen. */
void trial_change(struct trial *t, const struct change *c);
/* The change had no effect: TO is asked for next. The trial's change keeps where it began. */
void trial_further(struct trial *t, const char *to);
/* What it stands on is gone: a baseline is forgotten, a change is taken back in the next tick. REASON is
 * a constant. */
void trial_interrupt(struct trial *t, const char *reason);
/* Whether its change is made now (and not withdrawn), and to which value. */
bool trial_in_place(const struct trial *t);
/* It was made, and is withdrawn to be confirmed. */
bool trial_is_withdrawn(const struct trial *t);
const char *trial_value(const struct trial *t);
/* What act/ said about the change, its withdrawal, its return, or its taking back. Returns true
 * when the trial ended with it. */
bool trial_learn(struct trial *t, const struct result *r);
/* One tick. PRESENT: the symptom is not over; ACUTE: it was seen in this tick. */
enum verdict trial_tick(struct trial *t, const struct window *w, bool present, bool acute);
