/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

static struct files *of(struct io *io)
{
	return (struct files *)((char *)io - offsetof(struct files, io));
}

static int find(const struct files *f, const char *path)
{
	for (unsigned i = 0; i < f->n; i++)
		if (streq(f->file[i].path, path))
			return (int)i;
	return -ENOENT;
}

static int make(struct files *f, const char *path)
{
	int i = find(f, path);

	if (i >= 0)
		return i;
	if (f->n == FILES_MAX || strlen(path) >= sizeof(f->file->path))
		return -ENOSPC;
	i = (int)f->n++;
	strcpy(f->file[i].path, path);
	f->file[i].fd = memfd_create("file", MFD_CLOEXEC);
	if (f->file[i].fd < 0)
		abort();
	return i;
}

static int files_open(struct io *io, const char *path, int flags, mode_t mode _unused_)
{
	struct files *f = of(io);
	char link[32];
	int i, fd;

	/* sync() of a directory has nothing to do here. */
	if (flags & O_DIRECTORY)
		return memfd_create("directory", MFD_CLOEXEC);
	i = flags & O_CREAT ? make(f, path) : find(f, path);
	if (i < 0)
		return i;
	/* By its link, for a place in the file of its own. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->file[i].fd);
	fd = open(link, (flags & (O_ACCMODE | O_TRUNC)) | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t files_read(struct io *io _unused_, int fd, void *buf, size_t size, off_t offset)
{
	ssize_t n = offset < 0 ? read(fd, buf, size) : pread(fd, buf, size, offset);

	return n < 0 ? -errno : n;
}

static int files_write(struct io *io _unused_, int fd, const void *buf, size_t size)
{
	return write(fd, buf, size) == (ssize_t)size ? 0 : -EIO;
}

static int files_store(struct io *io, const char *path, const char *value)
{
	if (find(of(io), path) < 0)
		return -ENOENT;
	of(io)->stored++;
	files_put(of(io), path, value, strlen(value));
	return 0;
}

static int files_sync(struct io *io _unused_, int fd _unused_)
{
	return 0;
}

static int files_unlink(struct io *io, const char *path)
{
	struct files *f = of(io);
	int i = find(f, path);

	if (i < 0)
		return i;
	close(f->file[i].fd);
	f->file[i] = f->file[--f->n];
	return 0;
}

static int files_rename(struct io *io, const char *from, const char *to)
{
	struct files *f = of(io);

	if (find(f, from) < 0)
		return -ENOENT;
	(void)files_unlink(io, to);
	strcpy(f->file[find(f, from)].path, to);
	return 0;
}

static int files_mkdir(struct io *io _unused_, const char *path _unused_, mode_t mode _unused_)
{
	return -EEXIST;
}

static ssize_t files_readlink(struct io *io _unused_, const char *path _unused_, char *buf _unused_,
			      size_t size _unused_)
{
	return -ENOENT;
}

static int files_realpath(struct io *io _unused_, const char *path _unused_, char **ret _unused_)
{
	return -ENOENT;
}

/* The files right in the folder PATH, and the folders that lie there. */
static int files_list(struct io *io, const char *path, char ***ret)
{
	struct files *f = of(io);
	char **names = calloc(f->n + 1, sizeof(char *));
	size_t length = strlen(path), n = 0;

	if (!names)
		abort();
	for (unsigned i = 0; i < f->n; i++) {
		const char *name = f->file[i].path + length + 1;
		bool known = false;

		if (strncmp(f->file[i].path, path, length) != 0 || f->file[i].path[length] != '/')
			continue;
		names[n] = strndup(name, strcspn(name, "/"));
		for (size_t k = 0; k < n; k++)
			known |= streq(names[k], names[n]);
		if (known)
			free(TAKE_PTR(names[n]));
		else
			n++;
	}
	*ret = names;
	return 0;
}

static int files_mode(struct io *io, const char *path, mode_t *ret)
{
	if (find(of(io), path) < 0)
		return -ENOENT;
	*ret = 0644;
	return 0;
}

static int files_set_sched(struct io *io _unused_, pid_t pid _unused_, int policy _unused_,
			   int priority _unused_)
{
	return -EOPNOTSUPP;
}

static uint64_t files_now(struct io *io _unused_, clockid_t clock _unused_)
{
	return 1000 * USEC_PER_SEC;
}

void files_init(struct files *f)
{
	static const struct io_ops ops = {
		.open = files_open,
		.read = files_read,
		.write = files_write,
		.store = files_store,
		.set_sched = files_set_sched,
		.sync = files_sync,
		.rename = files_rename,
		.unlink = files_unlink,
		.mkdir = files_mkdir,
		.readlink = files_readlink,
		.realpath = files_realpath,
		.list = files_list,
		.mode = files_mode,
		.now = files_now,
	};

	*f = (struct files){.io = {.ops = &ops, .root = -1}};
}

void files_done(struct files *f)
{
	for (unsigned i = 0; i < f->n; i++)
		close(f->file[i].fd);
	f->n = 0;
}

void files_put(struct files *f, const char *path, const void *data, size_t size)
{
	int i = make(f, path);

	if (i < 0 || ftruncate(f->file[i].fd, 0) < 0 ||
	    pwrite(f->file[i].fd, data, size, 0) != (ssize_t)size)
		abort();
}

char *files_get(struct files *f, const char *path, size_t *ret_size)
{
	char *text;
	size_t size;

	if (io_read_all(&f->io, path, &text, &size) < 0)
		return NULL;
	if (ret_size)
		*ret_size = size;
	return text;
}
