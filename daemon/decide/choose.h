/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which profile is in force, and why: a hold over a choice by hand over the profiles' `match` rules
 * over softnetd.conf's. Pure: no I/O, no clock, no allocation after chooser_new().
 *
 * Rules do not flap. A packet rate counts as high when it lay above the rule's upper bound for
 * RATE_USEC without a break, and as low again when it lay below the lower one for as long; and what
 * the rules choose stays for RULES_DWELL_USEC, whatever they say meanwhile. Holds and choices by hand act
 * at once; the rules are followed under them, so that the end of a hold finds them up to date.
 */
#pragma once

#include "model/profile.h"
#include "model/topology.h"

#define RATE_USEC        (10 * USEC_PER_SEC)
#define RULES_DWELL_USEC (60 * USEC_PER_SEC)

enum chosen_by {
	CHOSEN_BY_HOLD,
	CHOSEN_BY_HAND,
	CHOSEN_BY_MATCH,
	CHOSEN_BY_DEFAULT
};

struct choice {
	const char *profile; /* points into the input or the chooser */
	enum chosen_by by;
	char why[256]; /* "hold by …", "manual", "match unit nginx.service", "default" */
};

struct choose_input {
	uint64_t now_usec;     /* CLOCK_MONOTONIC */
	const char *hold;      /* the newest hold's profile; NULL: none */
	const char *hold_text; /* who holds and why */
	const char *by_hand;   /* NULL: none */
	const char *fallback;  /* softnetd.conf's */
	const struct topology *topology;
	bool have_rate;
	double packets_per_second; /* of the whole host */
	/* 1 active, 0 not, negative: cannot be told, which fits no rule. */
	int (*unit)(void *userdata, const char *name);
	void *userdata;
};

struct chooser;

/*
 * Takes over PROFILES (profiles_with_match(): in the order to be asked, ending with NULL). OLD, may
 * be NULL, is the chooser until now: its rates' classes and dwell time go on where the new rules
 * say the same. -ENOMEM: PROFILES stays the caller's.
 */
int chooser_new(struct profile **profiles, const struct chooser *old, struct chooser **ret);
void chooser_free(struct chooser *c);
DEFINE_CLEANUP(struct chooser *, chooser_free);

void choose(struct chooser *c, const struct choose_input *in, struct choice *ret);

/* Each unit that some rule names: what the sensor has to look at. Ends with NULL; the strings are
 * the chooser's, the caller frees the array. */
int chooser_units(const struct chooser *c, const char ***ret);
