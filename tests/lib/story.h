/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stories of the receive path, told second by second on a generated host: what tests/replay holds
 * recordings of. Where somebody changes a setting in one, that is its own doing, at a fixed second,
 * and the counters follow as they would.
 */
#pragma once

#include "lib/machine.h"
#include "model/profile.h"

struct story {
	const char *name; /* tests/replay/NAME.trace */
	unsigned seconds;
	bool intervenes; /* settings change in it, which an engine in advise mode would not follow
			  */
	struct machine_spec spec;
	void (*begin)(struct machine *m); /* before the first look; may be NULL */
	void (*second)(struct machine *m, unsigned second);
	const char *profile; /* its file; NULL: story_profile */
};

extern const struct story stories[];
extern const size_t n_stories;

/* Plays STORY: calls TICK once before the first second passes, then after each. */
void story_play(const struct story *story, void (*start)(struct machine *m, void *userdata),
		void (*tick)(void *userdata), void *userdata);

const char *story_profile_of(const struct story *story);
/* The profile that goes with most of them, as a file: three ranges, and `spread` for all NICs. */
extern const char story_profile[];
