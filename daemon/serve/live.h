/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * softnetd --live: the status on the terminal, painted again after each tick, and below it what was
 * seen and done since the start. Log lines go into that view while it stands. Where stdout is no
 * terminal, lines are only ever appended.
 */
#pragma once

#include "engine/engine.h"

struct live;

int live_new(struct live **ret);
/* Leaves the last picture on the terminal; log lines go to stderr again. */
void live_free(struct live *l);
DEFINE_CLEANUP(struct live *, live_free);

void live_tick(struct live *l, struct engine *e);
