/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of text, by libsmartcols, and the spelling of numbers and times in it. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/util.h"

struct sheet;

/* HEADS ends with NULL. A leading '>' aligns the column to the right, '~' lets it wrap when the
 * terminal is narrow. Without memory it returns NULL, and every other call takes NULL. */
struct sheet *sheet_new(unsigned width, const char *const *heads);
/* CELLS has as many members as HEADS; NULL is "-". */
void sheet_row(struct sheet *s, const char *const *cells);
/* Prints and frees it. */
void sheet_end(struct sheet *s, FILE *out);

#define CELL_MAX 64
/* "1234", "0.4"; NULL when V is no number. */
const char *cell_number(char buf[CELL_MAX], const json_t *v);
/* µs since the epoch as local time, without the date when it is today; NULL when V is no number. */
const char *cell_time(char buf[CELL_MAX], const json_t *v);
/* "3 d 4 h", "12 min", "5 s" */
const char *cell_duration(char buf[CELL_MAX], double seconds);
