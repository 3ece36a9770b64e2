/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one seam between softnetd and a kernel: everything observe/ reads and act/ writes goes
 * through a struct io. There is the live host, a captured tree (--root DIR: DIR/proc, DIR/sys,
 * DIR/dev, DIR/run), and in tests a wrapper that fails or kills at the n-th operation.
 *
 * Paths are relative to the root ("proc/net/softnet_stat"); in a captured tree symbolic links
 * cannot lead out of it. All calls return 0 or more, or a negative errno; none logs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpuset.h"
#include "base/genl.h"
#include "base/util.h"

struct io;
struct remote;

struct io_ops {
	/* FLAGS are open(2)'s; O_CLOEXEC is added. With O_CREAT the file has MODE afterwards, whatever
	 * the umask. Returns a descriptor that the caller closes. */
	int (*open)(struct io *io, const char *path, int flags, mode_t mode);
	/* OFFSET -1 reads at the current position (character devices such as /dev/kmsg). */
	ssize_t (*read)(struct io *io, int fd, void *buf, size_t size, off_t offset);
	/* The whole buffer or an error: a short write is -EIO. */
	int (*write)(struct io *io, int fd, const void *buf, size_t size);
	/* One value into one kernel file by exactly one write(2), as sysctl and sysfs want it. The
	 * file must exist. In a captured tree the file's content is replaced whole. */
	int (*store)(struct io *io, const char *path, const char *value);
	int (*sync)(struct io *io, int fd);
	int (*rename)(struct io *io, const char *from, const char *to);
	int (*unlink)(struct io *io, const char *path);
	/* MODE whatever the umask. */
	int (*mkdir)(struct io *io, const char *path, mode_t mode);
	/* Terminates BUF; -ENAMETOOLONG when SIZE is too small. */
	ssize_t (*readlink)(struct io *io, const char *path, char *buf, size_t size);
	/* The path with every link resolved, relative to the root, without a leading slash. */
	int (*realpath)(struct io *io, const char *path, char **ret);
	/* The names in a directory without "." and "..", in strverscmp(3) order: cpu2 before cpu10.
	 */
	int (*list)(struct io *io, const char *path, char ***ret);
	/* The mode bits of a file. */
	int (*mode)(struct io *io, const char *path, mode_t *ret);
	/* Policy (SCHED_FIFO, SCHED_RR) and priority of a thread of this host; what else belongs to
	 * its scheduling stays. A captured tree has no threads: -EOPNOTSUPP. */
	int (*set_sched)(struct io *io, pid_t pid, int policy, int priority);
	/* Microseconds of CLOCK. */
	uint64_t (*now)(struct io *io, clockid_t clock);
	/* sched_setaffinity(2). NULL, as for a captured tree: -EOPNOTSUPP. The way back is
	 * proc/PID/status. */
	int (*set_affinity)(struct io *io, pid_t pid, const struct cpuset *cpus);
};

struct io {
	const struct io_ops *ops;
	int root;  /* directory descriptor */
	bool live; /* false for a captured tree: no netlink, no /proc of other processes, no
		    * syscalls that would ask the running kernel */
	struct remote *remote; /* NULL: none; not owned. See base/remote.h */
	struct genl *genl;     /* NULL: no generic netlink; the live host's is owned */
};

/* PATH NULL or "/" is the live host. */
int io_new(const char *path, struct io **ret);
void io_free(struct io *io);
DEFINE_CLEANUP(struct io *, io_free);

static inline int io_open(struct io *io, const char *path, int flags)
{
	return io->ops->open(io, path, flags, 0600);
}
static inline int io_store(struct io *io, const char *path, const char *value)
{
	return io->ops->store(io, path, value);
}
static inline int io_list(struct io *io, const char *path, char ***ret)
{
	return io->ops->list(io, path, ret);
}
static inline int io_set_affinity(struct io *io, pid_t pid, const struct cpuset *cpus)
{
	return io->ops->set_affinity ? io->ops->set_affinity(io, pid, cpus) : -EOPNOTSUPP;
}
static inline uint64_t io_now(struct io *io, clockid_t clock)
{
	return io->ops->now(io, clock);
}
bool io_exists(struct io *io, const char *path);

/*
 * A file of one line, with blanks and newlines at both ends cut, into BUF: returns the length.
 * -ENODATA for an empty file is *not* given: an empty file is a value (isolated, cpulists).
 * -EFBIG when it does not fit.
 */
int io_read_line(struct io *io, const char *path, char *buf, size_t size);
int io_read_u64(struct io *io, const char *path, uint64_t *ret);
/* Any file, whole, NUL-terminated; the caller frees. -EFBIG above 64 MiB. */
int io_read_all(struct io *io, const char *path, char **ret, size_t *ret_size);

/*
 * A file that stays open and is read again and again from its start, into a buffer that grows to
 * fit and then stays: no open, no allocation per tick in the steady state.
 */
struct procfile {
	const char *path; /* not owned */
	bool single;      /* the kernel prints it as one record (single_open()): a read that leaves
			   * room in the buffer was all of it, and none is spent to see the end */
	int fd;           /* -1: not open now */
	char *text;       /* NUL-terminated after a good read */
	size_t size, length;
};
#define PROCFILE(p)        ((struct procfile){.path = (p), .fd = -1})
#define PROCFILE_SINGLE(p) ((struct procfile){.path = (p), .single = true, .fd = -1})

/* Returns 0 and sets text and length, or a negative errno (the file is then closed, and opened anew
 * at the next call: it may come back). */
int procfile_read(struct io *io, struct procfile *f);
/* The next read is far off: gives the pages of a long text back until then. The text is gone, the buffer
 * stays. (/proc/interrupts of 512 CPUs has 20 MB, and is read every ten seconds.) */
void procfile_rest(struct procfile *f);
void procfile_done(struct procfile *f);
