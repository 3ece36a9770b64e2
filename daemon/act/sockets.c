/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open sockets and epoll instances of other processes. One that is gone has nothing to give back to. Of
 * two threads of its process that close and open meanwhile nothing can be promised but this: a copy of
 * the descriptor is looked at, by inode, before it is told anything.
 */
#include "act/act-internal.h"

#include "observe/sockets.h"

static int socket_store(struct actuator *a, const struct place *p, const char *value)
{
	struct remote_file f;
	uint64_t usec;
	int r;

	r = parse_u64(value, 10, &usec);
	if (r >= 0 && usec > INT32_MAX)
		r = -ERANGE;
	if (r >= 0)
		r = socket_find(a->io, p->target.identity, &f);
	return r < 0 ? r : remote_set(a->io->remote, &f, (uint32_t)usec);
}

static bool socket_refused(struct actuator *a, struct attempt *at, int error)
{
	const struct place *p = &at->place;

	if (error != -EPERM && error != -EACCES)
		return false;
	say(a->blocked[p->id], sizeof(a->blocked[p->id]),
	    "%s cannot be set here: raising it takes CAP_NET_ADMIN, and reaching other processes "
	    "CAP_SYS_PTRACE",
	    p->tunable->id);
	answer(at->result, OUTCOME_READ_ONLY, error, "%s", a->blocked[p->id]);
	return true;
}

const struct family socket_family = {
	.store = socket_store,
	.refused = socket_refused,
};
