/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording through decide/, the very code that the daemon runs: what was bound when, and what
 * softnetd would have done about it. Deterministic: the same recording and profile give the same
 * events.
 *
 * Nothing of the past can be changed, so a change is answered by what the recording shows: when the
 * setting took the asked value within the next ticks (somebody, perhaps softnetd, made the change)
 * it is DONE, and its trial is judged by what followed; when it has the value already, UNCHANGED;
 * else ADVISED, and the recording goes on as it was without it. What only act/ knows is not in a
 * recording: settings that refuse a write count as ones that would have taken it, and nothing is
 * pinned.
 */
#pragma once

#include "serve/trace-read.h"

struct replay_event {
	enum {
		REPLAY_ENTER,     /* report */
		REPLAY_LEAVE,     /* report: the last one that was seen */
		REPLAY_CHANGE,    /* change, outcome; told once while nothing about it changes */
		REPLAY_VERDICT,   /* verdict */
		REPLAY_ORIGINALS, /* `stalled`: everything back to its original, then hands off */
		REPLAY_GAP,       /* suspend, or the recorder was stopped: differences begin anew */
		REPLAY_HOST,      /* CPUs, NICs or interrupts came or went */
	} kind;
	uint64_t usec; /* since the first tick */
	const struct topology *topology;
	const struct symptom_report *report;
	const struct change *change;
	enum outcome outcome;
	const struct trial_verdict *verdict;
};
const char *replay_kind_to_string(int kind); /* "enter", "leave" … */

struct replay_sum {
	unsigned ticks;
	uint64_t usec;        /* from the first tick to the last */
	uint64_t decide_nsec; /* CPU time in window_push() and decide() */
};

/* Reads R to its end. PROFILE NULL: the recorded one, or one that leaves everything alone. Returns
 * 0 or trace_read()'s error. */
int replay_run(struct trace_reader *r, const struct profile *profile, struct complaints *c,
	       void (*tell)(void *userdata, const struct replay_event *ev), void *userdata,
	       struct replay_sum *ret);
