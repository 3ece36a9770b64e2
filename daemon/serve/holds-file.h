/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The holds that follow a process, over a restart of the daemon: run/softnetd/holds.json, replaced whole
 * whenever they change, gone with the last. A process is known again by its pid and the time it began
 * (field 22 of /proc/PID/stat), both of which a reboot makes void: the boot id is in the file. Holds of
 * clients are not kept: their connection ends with the daemon.
 */
#pragma once

#include <sys/types.h>

#include "base/io.h"
#include "base/util.h"

struct kept_hold {
	pid_t pid;
	uint64_t start; /* clock ticks since boot */
	char *profile, *reason;
};

struct kept_holds {
	size_t n;
	struct kept_hold *hold; /* oldest first */
};
void kept_holds_done(struct kept_holds *h);

/* More than there can be is malformed. */
#define KEPT_HOLDS_MAX 64

/* Takes in one more, with copies of the texts. */
int kept_holds_add(struct kept_holds *h, pid_t pid, uint64_t start, const char *profile,
		   const char *reason);
/* Makes the file say what H says. A file that was there stays whole when this fails. -ENOMEDIUM: which
 * boot this is cannot be told (a captured tree without its id). */
int kept_holds_write(struct io *io, const struct kept_holds *h);
/* 0, with none when there is no file; -ESTALE of another boot, -ENOMEDIUM when that cannot be told;
 * -EBADMSG for what was not written by kept_holds_write(), of which nothing is used; else what reading
 * it said. RET is empty on error. */
int kept_holds_read(struct io *io, struct kept_holds *ret);

/* When a process of this host began. -ESRCH: there is none. */
int process_start(pid_t pid, uint64_t *ret);
