/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open IP sockets and epoll instances of the processes of named systemd units, for busy polling on
 * kernels where net.core.busy_read reaches only sockets that are made later.
 *
 * Processes are those of the unit's own cgroup. Per process the lowest descriptors are looked at first:
 * listening sockets, from which accepted ones inherit, are mostly among them. At most SOCKETS_MAX of all
 * are known, at most DESCRIPTORS_MAX are looked at: these are five system calls each.
 */
#pragma once

#include "base/io.h"
#include "base/remote.h"
#include "model/topology.h"

#define SOCKETS_MAX     128
#define DESCRIPTORS_MAX 1024

struct sockets_status {
	unsigned left_out; /* there are at least so many more descriptors */
	bool no_epoll;     /* this kernel takes no parameters of epoll instances */
	char trouble[256]; /* why some or all of them cannot be seen; "": nothing */
};

/* Fills T->sock anew with those of UNITS, which ends with NULL; NULL: none. -ENOMEM or 0. */
int sockets_discover(struct io *io, const char *const *units, struct topology *t,
		     struct sockets_status *ret);

/* Whether two identities mean the same socket, which several processes may have. Instances of epoll are
 * only told apart. */
bool socket_same_file(const char *a, const char *b);

/* The file that IDENTITY of a SCOPE_SOCKET target means, with the descriptor that it has now, by looking
 * through the process's. -EINVAL no such identity; -ENODEV the process or the file is gone; -EPERM. */
int socket_find(struct io *io, const char *identity, struct remote_file *ret);
