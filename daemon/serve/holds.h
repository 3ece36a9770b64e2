/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long clients hold a profile; that they do, and which one counts, is the engine's. A hold ends
 * when it is released, and by itself with what it follows: its client's connection, or the process of
 * a pidfd, and then not with the connection: a command that runs on under a client that was killed
 * keeps its profile, also over a restart of the daemon (serve/holds-file.h).
 */
#pragma once

#include <systemd/sd-event.h>

#include "base/complaint.h"
#include "base/io.h"
#include "engine/engine.h"

struct holds;

/* EVENT, IO and ENGINE must outlive the holds. */
int holds_new(sd_event *event, struct io *io, struct engine *engine, struct holds **ret);
/* Those that the daemon before kept are in force again, of processes that still are the same. What cannot be
 * taken up is logged. */
void holds_take_up(struct holds *h);
/* The profile that will be in force by them, for struct engine_options; the caller frees. NULL: none,
 * or not known, which holds_take_up() says. */
char *holds_expected(struct io *io);
/* Ends watching; the engine's holds stay, since it stops too, and so does what is kept of them. To be called
 * before the clients go. */
void holds_forget(struct holds *h);
void holds_free(struct holds *h);
DEFINE_CLEANUP(struct holds *, holds_free);

/*
 * CLIENT is only compared, PID is shown. PIDFD -1: the hold follows the client; else it is copied.
 * Errors as of engine_hold(); -EBADF for what is no pidfd and -ESRCH for one whose process has ended,
 * each with a complaint.
 */
int holds_add(struct holds *h, const void *client, pid_t pid, int pidfd, const char *profile,
	      const char *reason, uint32_t *ret_cookie, struct complaints *c);
/* Whoever may hold may end another's hold. -ENOENT: no such hold. */
int holds_release(struct holds *h, uint32_t cookie);
bool holds_has_client(const struct holds *h, const void *client);
/* CLIENT is gone. */
void holds_drop_client(struct holds *h, const void *client);
