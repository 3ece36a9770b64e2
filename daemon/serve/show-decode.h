/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A decoded dump (serve/decode-json.h) drawn as text: the table, what its figures mean, and what
 * could not be read. Says what a dump can prove and no more: its counts run since boot, so they
 * tell of today's trouble only when two dumps are compared.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

void show_decode(FILE *out, unsigned width, json_t *doc);
