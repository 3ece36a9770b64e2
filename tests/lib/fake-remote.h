/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open files of other processes, for io->remote: sockets that several processes may have, and epoll
 * instances. The links of /proc/PID/fd are written into the tree; what a file holds is here.
 */
#pragma once

#include "base/remote.h"
#include "lib/machine.h"

#define FAKE_FILES_MAX 512

struct fake_remote {
	struct remote remote; /* what io->remote gets */
	struct machine *m;
	struct fake_file {
		int pid, fd;
		bool epoll;
		uint64_t inode;
		uint32_t *usec; /* shared by those of one inode */
	} file[FAKE_FILES_MAX];
	unsigned n;
	uint32_t value[FAKE_FILES_MAX];
	unsigned sets;
	int get_error, set_error; /* negative; 0: none */
};

struct fake_remote *fake_remote_new(struct machine *m);
/* A process with a start time, without files. */
void fake_remote_process(struct fake_remote *r, int pid, uint64_t start);
/* A socket of that inode, or an epoll instance (inode 0), opened as FD; returns where its value is. */
uint32_t *fake_remote_open(struct fake_remote *r, int pid, int fd, uint64_t inode, uint32_t usec);
void fake_remote_close(struct fake_remote *r, int pid, int fd);
/* All of its files are closed, and /proc/PID goes. */
void fake_remote_exit(struct fake_remote *r, int pid);
