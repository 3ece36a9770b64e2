/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what was seen to what to do: pure. No I/O, no clock, no allocation after decider_new(): the
 * same code runs live, in advise mode, over a recording and in simulated time.
 *
 * Which limit binds is decide/symptom; what would lift it is decide/lever; which CPU an interrupt
 * belongs on is decide/placement; whether a change of the loop helped is decide/trial.
 */
#pragma once

#include "model/decision.h"
#include "model/profile.h"
#include "model/topology.h"
#include "model/window.h"

/* The present values of the settings, as observed: what decide/ may step from. */
struct values {
	struct {
		bool have;
		bool blocked; /* exists, but cannot be written here */
		int64_t number;
		bool limited; /* the kernel taught a narrower range than the table's */
		int64_t low, high;
	} host[_TUNABLE_MAX]; /* SCOPE_HOST only */
};

struct decide_input {
	uint64_t now_usec; /* CLOCK_MONOTONIC */
	const struct snapshot *snapshot;
	const struct window *window;
	const struct topology *topology;
	const struct profile *profile;
	const struct values *values;
	unsigned changes_per_hour; /* of the loop; 0: no bound */
	unsigned moves_per_round;  /* interrupts moved in one tick; 0: no bound */
	/* By setting: what of the profile's policy this host is not brought to; NULL: not known. */
	const struct unmet *unmet;
	/* Interrupts that softnetd placed and that have fired since: index into topology's irqs. */
	bool (*placed)(void *userdata, unsigned irq, struct cpuset *ret_wanted);
	/* A setting that softnetctl set pinned: the loop keeps its hands off. */
	bool (*pinned)(void *userdata, enum tunable_id id, const char *identity);
	/* A host setting that holds what softnetd wrote because the profile states it: what it was
	 * before. False when it is anybody else's; NULL: not known. */
	bool (*original)(void *userdata, enum tunable_id id, int64_t *ret);
	void *userdata;
};

#define REPORTS_MAX 16
#define CHANGES_MAX 16
struct decisions {
	unsigned n_reports;
	struct symptom_report report[REPORTS_MAX];
	/* By report: levers that were passed over when one was looked for in this tick. */
	struct passed_list passed[REPORTS_MAX];
	unsigned n_changes;
	struct change change[CHANGES_MAX];
	struct change low_rate[6]; /* scratch of `low-rate`: too large for a stack */
	bool back_to_originals;    /* `stalled`: everything goes back, then hands off */
	/* Why the policy is due, since what was taken away comes back: "" when nothing does. */
	char returns[160];
	bool has_verdict; /* a trial ended in this tick */
	struct trial_verdict {
		struct change change;
		/* "kept", "no effect", "worse", "inconclusive"; "fallen back": kept before */
		const char *verdict;
		double before,
			after; /* the symptom's measure: decide/objective.h; NAN: not measured */
		struct judged judged;
		char text[320];
	} verdict;
};

/* Rails between trials of one lever (softnetd(8), "Control law"). */
#define RETRY_USEC     (60 * USEC_PER_SEC)  /* after a trial that could not be judged; doubles */
#define DWELL_USEC     (600 * USEC_PER_SEC) /* after a trial without effect */
#define NO_EFFECT_MAX  2                    /* … so many, and the lever is retired */
#define OVERRIDDEN_MAX 2                    /* so often changed by somebody else on trial: theirs */
#define REVERSALS_MAX  3 /* kept in one direction, then in the other: two symptoms disagree */
/*
 * `poll-burn` takes away what the profile states, so it does not ask often: a withdrawal without effect
 * is no second time tried on this host as it is, nor is one that could not be judged so many times in a
 * row.
 */
#define WITHDRAWALS_MAX 3
/*
 * What it took away comes back when packets come, so many that polling would not be suspected (poll-burn.h),
 * for POLL_BURN_USEC; each time twice as long, up to so many times.
 */
#define RETURNS_MAX 6
/*
 * What was kept stays under watch: when a CPU that was not saturated before the trial (in no tick of
 * its baseline) is so for FALLBACK_TICKS in a row, the newest kept change goes back to where its trial
 * began, the next after as long again. The load may be to blame, and not the setting; so the lever
 * may be tried again after DWELL_USEC, and is retired only after FALLBACKS_MAX of these. `stalled` is
 * one, too, and takes everything back at once.
 */
#define FALLBACK_TICKS 10
#define FALLBACKS_MAX  2

struct decider;

int decider_new(struct decider **ret);
void decider_free(struct decider *d);
DEFINE_CLEANUP(struct decider *, decider_free);

/* One tick. RET is owned by the decider and valid until the next call. */
void decide(struct decider *d, const struct decide_input *in, const struct decisions **ret);

/* What became of a change that decide() asked for. Must be called for each before the next
 * decide(). */
void decider_learn(struct decider *d, const struct change *c, const struct result *r,
		   uint64_t now_usec);

/*
 * What the decider of the run before kept and left in place, host settings of the loop: under watch as
 * if this one had kept it for SYMPTOM (SYMPTOM_NONE: not known). FROM is where it goes back to, TO what
 * it is now. Which CPUs were saturated before its trial is not handed on: taken for them are those
 * that are so in the first FALLBACK_TICKS ticks of this run.
 */
void decider_adopt(struct decider *d, enum tunable_id id, enum symptom symptom, int64_t from,
		   int64_t to);

/* A setting turned out to be somebody else's now: a trial of it ends, and the loop leaves it alone. */
void decider_yield(struct decider *d, enum tunable_id id);

/* Why the loop keeps back what the profile states of ID, with the numbers; NULL: it does not. Until the
 * host or the profile changes: decider_reset(). */
const char *decider_withdrawn(const struct decider *d, enum tunable_id id);

/* Policy changes that would bring the host to what the profile states, given the topology, but for
 * what decide_power() gives. Fills up to MAX changes, FROM empty (act/ reads it); interrupts of one
 * NIC only, so call again with the topology updated until no more come. Returns how many. Pure;
 * used at start, on a profile switch and on a re-plan. */
size_t decide_policy(const struct topology *t, const struct profile *p, struct change *changes,
		     size_t max);

/* The same for what each cpufreq policy, each CPU and each interrupt's thread has: more than fits
 * into one array on a large host. *AT is 0 at first and remembers where to go on; call until
 * nothing more comes. MAX is COUPLED_MAX or more: settings that belong together stand together. */
#define COUPLED_MAX 2
size_t decide_power(const struct topology *t, const struct profile *p, size_t *at,
		    struct change *changes, size_t max);

/* The host changed (NIC, CPU, profile): retired levers may be tried again, trials end. */
void decider_reset(struct decider *d);

/* For status: what is in flight, and which levers were retired. */
size_t decider_trials(const struct decider *d, const struct change **ret, size_t max);
size_t decider_retired(const struct decider *d, enum tunable_id *ret, size_t max);
