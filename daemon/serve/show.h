/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The documents of engine/describe.h drawn as text, for softnetctl and for softnetd --live: what
 * --json prints and what a person reads come from one model.
 *
 * WIDTH is that of the terminal, 0: unlimited. Any document is taken, also one of another version
 * with keys missing: what is not there is shown as "-".
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Tables need a UTF-8 locale to know how wide "µs" is: takes the user's if it is one, else C.UTF-8.
 * Numbers stay in C. To be called once at the start of a program. */
void show_init(void);

void show_status(FILE *out, unsigned width, json_t *status);
/* Part of show_status(): the chain of each NIC's NAPI instances, channels, coalescing. */
void show_queues(FILE *out, unsigned width, const json_t *nics);
void show_settings(FILE *out, unsigned width, json_t *settings);
void show_profiles(FILE *out, unsigned width, json_t *profiles);
void show_profile(FILE *out, unsigned width, json_t *profile);
void show_history(FILE *out, unsigned width, json_t *history);
void show_explanation(FILE *out, unsigned width, json_t *explanation);
void show_diagnosis(FILE *out, unsigned width, json_t *diagnosis);
void show_restore(FILE *out, unsigned width, json_t *report);
/* One line per complaint: "file:line: text". */
void show_complaints(FILE *out, unsigned width, json_t *complaints);

/* Tables longer than this are folded to their busiest rows, and say so. */
#define SHOW_ROWS_MAX 16
