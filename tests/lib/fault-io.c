/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/fault-io.h"

#include <fnmatch.h>
#include <signal.h>
#include <unistd.h>

static const char *const kind_names[_FAULT_MAX] = {
	[FAULT_OPEN] = "open",         [FAULT_READ] = "read",   [FAULT_WRITE] = "write",
	[FAULT_STORE] = "store",       [FAULT_SYNC] = "sync",   [FAULT_RENAME] = "rename",
	[FAULT_UNLINK] = "unlink",     [FAULT_MKDIR] = "mkdir", [FAULT_READLINK] = "readlink",
	[FAULT_REALPATH] = "realpath", [FAULT_LIST] = "list",   [FAULT_MODE] = "mode",
};

const char *fault_kind_to_string(enum fault_kind k)
{
	return kind_names[k];
}

static struct fault_io *of(struct io *io)
{
	return (struct fault_io *)((char *)io - offsetof(struct fault_io, io));
}

static const char *path_of(const struct fault_io *f, int fd)
{
	return fd >= 0 && fd < f->n_paths && f->paths[fd] ? f->paths[fd] : "";
}

/* Counts the operation, and says whether the rule hits it. */
static bool hit(struct fault_io *f, enum fault_kind kind, const char *path)
{
	f->count[kind]++;
	f->total++;
	if (!((f->kinds ? f->kinds : FAULT_ALL) & FAULT_BIT(kind)))
		return false;
	if (f->pattern && fnmatch(f->pattern, path, 0) != 0)
		return false;
	f->fitting++;
	if (f->at != 0 && f->fitting != f->at && !(f->onwards && f->fitting > f->at))
		return false;
	f->hits++;
	if (f->hook)
		f->hook(f->userdata);
	return true;
}

static void die(void)
{
	kill(getpid(), SIGKILL);
	pause();
}

/* What happens before the inner call: true when the operation must not be made, with its result. */
static bool before(struct fault_io *f, bool is_hit, int *ret)
{
	if (!is_hit)
		return false;
	if (f->death == FAULT_DIE_BEFORE || f->death == FAULT_DIE_HALFWAY)
		die();
	if (f->death == FAULT_LIVE && f->error) {
		*ret = -f->error;
		return true;
	}
	return false;
}

static void after(struct fault_io *f, bool is_hit)
{
	if (is_hit && f->death == FAULT_DIE_AFTER)
		die();
}

static int fault_open(struct io *io, const char *path, int flags, mode_t mode)
{
	struct fault_io *f = of(io);
	bool h = hit(f, FAULT_OPEN, path);
	int fd;

	if (before(f, h, &fd))
		return fd;
	fd = f->inner->ops->open(f->inner, path, flags, mode);
	if (fd >= f->n_paths) {
		int n = MAX(fd + 1, 64 + f->n_paths * 2);

		f->paths = realloc(f->paths, (size_t)n * sizeof(char *));
		if (!f->paths)
			abort();
		memset(f->paths + f->n_paths, 0, (size_t)(n - f->n_paths) * sizeof(char *));
		f->n_paths = n;
	}
	if (fd >= 0) {
		free(f->paths[fd]);
		f->paths[fd] = strdup(path);
	}
	after(f, h);
	return fd;
}

static ssize_t fault_read(struct io *io, int fd, void *buf, size_t size, off_t offset)
{
	struct fault_io *f = of(io);
	bool h = hit(f, FAULT_READ, path_of(f, fd));
	ssize_t n;
	int r;

	if (before(f, h, &r))
		return r;
	if (h && f->short_read)
		size = MIN(size, f->short_read);
	n = f->inner->ops->read(f->inner, fd, buf, size, offset);
	after(f, h);
	return n;
}

static int fault_write(struct io *io, int fd, const void *buf, size_t size)
{
	struct fault_io *f = of(io);
	bool h = hit(f, FAULT_WRITE, path_of(f, fd));
	int r;

	if (h && f->death == FAULT_DIE_HALFWAY)
		f->inner->ops->write(f->inner, fd, buf, size / 2);
	if (before(f, h, &r))
		return r;
	r = f->inner->ops->write(f->inner, fd, buf, size);
	after(f, h);
	return r;
}

/* The operations that are one call with a path first look all the same. */
#define WITH_PATH(kind, path, call)   \
	struct fault_io *f = of(io);  \
	bool h = hit(f, kind, path);  \
	int r;                        \
                                      \
	if (before(f, h, &r))         \
		return r;             \
	r = (int)f->inner->ops->call; \
	after(f, h);                  \
	return r

static int fault_store(struct io *io, const char *path, const char *value)
{
	WITH_PATH(FAULT_STORE, path, store(f->inner, path, value));
}

static int fault_sync(struct io *io, int fd)
{
	WITH_PATH(FAULT_SYNC, path_of(f, fd), sync(f->inner, fd));
}

static int fault_rename(struct io *io, const char *from, const char *to)
{
	WITH_PATH(FAULT_RENAME, to, rename(f->inner, from, to));
}

static int fault_unlink(struct io *io, const char *path)
{
	WITH_PATH(FAULT_UNLINK, path, unlink(f->inner, path));
}

static int fault_mkdir(struct io *io, const char *path, mode_t mode)
{
	WITH_PATH(FAULT_MKDIR, path, mkdir(f->inner, path, mode));
}

static ssize_t fault_readlink(struct io *io, const char *path, char *buf, size_t size)
{
	WITH_PATH(FAULT_READLINK, path, readlink(f->inner, path, buf, size));
}

static int fault_realpath(struct io *io, const char *path, char **ret)
{
	WITH_PATH(FAULT_REALPATH, path, realpath(f->inner, path, ret));
}

static int fault_list(struct io *io, const char *path, char ***ret)
{
	WITH_PATH(FAULT_LIST, path, list(f->inner, path, ret));
}

static int fault_mode(struct io *io, const char *path, mode_t *ret)
{
	WITH_PATH(FAULT_MODE, path, mode(f->inner, path, ret));
}

static uint64_t fault_now(struct io *io, clockid_t clock)
{
	return io_now(of(io)->inner, clock);
}

static int forward_set_sched(struct io *io, pid_t pid, int policy, int priority)
{
	struct fault_io *f = of(io);

	return f->inner->ops->set_sched(f->inner, pid, policy, priority);
}

static const struct io_ops fault_ops = {
	.open = fault_open,
	.read = fault_read,
	.write = fault_write,
	.store = fault_store,
	.set_sched = forward_set_sched,
	.sync = fault_sync,
	.rename = fault_rename,
	.unlink = fault_unlink,
	.mkdir = fault_mkdir,
	.readlink = fault_readlink,
	.realpath = fault_realpath,
	.list = fault_list,
	.mode = fault_mode,
	.now = fault_now,
};

struct fault_io *fault_io_new(struct io *inner)
{
	struct fault_io *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->io = (struct io){.ops = &fault_ops, .root = inner->root, .live = inner->live};
	f->inner = inner;
	return f;
}

void fault_io_free(struct fault_io *f)
{
	for (int i = 0; i < f->n_paths; i++)
		free(f->paths[i]);
	free(f->paths);
	free(f);
}

void fault_io_reset(struct fault_io *f)
{
	memset(f->count, 0, sizeof(f->count));
	f->total = f->fitting = f->hits = 0;
}
