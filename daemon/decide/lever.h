/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What would lift the limit that binds: per symptom a short list of levers in order (design,
 * "Symptom → lever"), of which the first that this host, profile and history leave open is taken. A
 * lever that the profile does not allow is still named, as advice.
 */
#pragma once

#include "decide/symptom.h"

struct lever_memory {
	bool retired[_TUNABLE_MAX]; /* made it worse, or did not help too often: not until the host
				       changes */
	uint8_t without_effect[_TUNABLE_MAX];
	uint8_t inconclusive[_TUNABLE_MAX]; /* in a row */
	uint8_t overridden[_TUNABLE_MAX];   /* by somebody else, while on trial */
	uint8_t fallbacks[_TUNABLE_MAX];    /* kept, and given back since */
	int8_t direction[_TUNABLE_MAX];     /* of the last that was kept: 1 up, -1 down */
	uint8_t reversals[_TUNABLE_MAX];
	uint8_t returned[_TUNABLE_MAX];    /* how often what was taken away came back */
	uint64_t not_before[_TUNABLE_MAX]; /* CLOCK_MONOTONIC */
};

/* Fills up to MAX changes for one report: host settings give one (a trial), placement one per
 * interrupt. Returns how many. PASSED, may be NULL, gets the symptom's other levers, each with the
 * reason why it was not taken. */
size_t lever_find(const struct decide_input *in, const struct symptom_report *r,
		  const struct lever_memory *m, struct change *changes, size_t max,
		  struct passed_list *passed);

/* The step after the one that C made, in the same direction: its new value in TO. False at the end of
 * the range, and when the setting is not what C made of it. */
bool lever_further(const struct decide_input *in, const struct change *c, char to[VALUE_MAX]);

/* One move of PLACEMENT as a change; WHY is copied. */
void move_to_change(const struct topology *t, unsigned irq, unsigned cpu, enum symptom symptom,
		    const char *why, struct change *ret);
