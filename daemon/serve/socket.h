/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private socket, run/softnetd/bus under the root of an I/O seam: made, reached and removed. It
 * is addressed through a descriptor of its directory, so that a captured tree deep in a file system
 * fits into the 108 bytes of a socket address, and links in the tree cannot lead out of it.
 */
#pragma once

#include "base/io.h"

#define SOCKET_PATH "run/softnetd/bus"

/* A listening, non-blocking stream socket with mode 0666. A stale one is replaced; -EADDRINUSE when
 * somebody answers there, -ENOTSOCK when something else has the name. */
int socket_listen(struct io *io, int *ret);
/* -ENOENT or -ECONNREFUSED: no daemon. */
int socket_connect(struct io *io, int *ret);
int socket_remove(struct io *io);
