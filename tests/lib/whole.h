/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole engine on a generated machine, with one profile, "test", and a configuration of its own. One
 * at a time in a program.
 */
#pragma once

#include "engine/engine.h"
#include "lib/machine.h"

/*
 * As engine_new() returns. CONFIG is made when it is NULL, and stays the caller's to free after the
 * engine; the text of PROFILE replaces that of a start before. MODE as in softnetd.conf.
 */
int whole_start(struct machine *m, struct tree **config, const char *mode, const char *profile,
		struct complaints *c, struct engine **ret);

/* N seconds in which nothing happens but what the test did to the machine. 0, or engine_tick()'s errno. */
int whole_ticks(struct machine *m, struct engine *e, unsigned n);
