/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seam beside struct io for open sockets and epoll instances of other processes: a copy of their
 * descriptor is taken by pidfd_getfd(2), asked or told, and closed at once. There is the live kernel, and
 * in tests a fake; a captured tree has none (io->remote is NULL).
 *
 * Errors: -ENODEV the process has ended, is another one of the same pid, or its descriptor is another file
 * by now; -EPERM no right to look into that process (it takes CAP_SYS_PTRACE; raising SO_BUSY_POLL takes
 * CAP_NET_ADMIN), or a system call filter; -EOPNOTSUPP no IP socket, an epoll instance on a kernel before
 * 6.9, or no seam. None is logged here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

struct remote_file {
	pid_t pid;
	uint64_t start; /* of the process, clock ticks since boot: field 22 of its stat */
	int fd;
	bool epoll;     /* else a socket */
	uint64_t inode; /* of a socket; epoll instances have none of their own */
};

struct remote;
struct remote_ops {
	/* SO_BUSY_POLL, or busy_poll_usecs of the epoll instance, in µs. */
	int (*get)(struct remote *r, const struct remote_file *f, uint32_t *ret);
	/* The other parameters of an epoll instance stay as they are. */
	int (*set)(struct remote *r, const struct remote_file *f, uint32_t usec);
};
struct remote {
	const struct remote_ops *ops;
};

/* The running kernel's; a constant. */
extern struct remote remote_live;

/* R may be NULL: -EOPNOTSUPP. */
int remote_get(struct remote *r, const struct remote_file *f, uint32_t *ret);
int remote_set(struct remote *r, const struct remote_file *f, uint32_t usec);
