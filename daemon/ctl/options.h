/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options: parsing, --help and completion follow from it. */
#pragma once

#include "ctl/ctl.h"

struct option_row {
	const char *name, *arg; /* "duration", "SECONDS"; arg NULL: takes none */
	int letter;             /* in short: 'd'; other than a letter: has no short form */
	const char *help;
	enum complete complete; /* its argument */
	size_t only; /* offsetof the flag of struct verb that says who takes it; 0: all */
};

extern const struct option_row ctl_options[]; /* ends with a NULL name */

bool option_fits(const struct option_row *o, const struct verb *verb);
/* By name without dashes, or by its letter. */
const struct option_row *option_by_name(const char *name, size_t length);
const struct option_row *option_by_letter(char letter);

/* Those of a verb; VERB NULL: all. */
void options_print(const struct verb *verb);

/* Takes one by its letter; ARG NULL when it has none. CTL_USAGE after a message. */
int option_take(struct ctl *ctl, int letter, const char *arg);
/*
 * Takes options up to the first word that is none (STOP), or all of them from among the words of
 * the verb. Returns CTL_FINE with optind at the first word left, another exit code when the program
 * is done (*RET_DONE), or CTL_USAGE.
 */
int options_parse(struct ctl *ctl, int argc, char **argv, bool stop, bool *ret_done);
/* Whether all that were given are the verb's; CTL_USAGE after a message. */
int options_check(const struct ctl *ctl);
