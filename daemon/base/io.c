/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/io.h"
#include "base/remote.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define READ_ALL_MAX (64U << 20)

/* openat2(2) says EAGAIN when a rename or mount anywhere on the host came between while it followed
 * a "..": as all of sysfs's links have, and so it happens on a busy host. */
#define OPEN_TRIES 1000

/* What stands in a captured tree may be anything. A FIFO or a device would hold the reader until
 * somebody writes, or for ever: only files and directories are taken. */
static int check_captured(int fd, int flags)
{
	struct stat st;

	if (flags & O_PATH)
		return fd;
	if (fstat(fd, &st) >= 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return fd;
	close(fd);
	return -ENXIO;
}

/* openat2(2) keeps a captured tree's links inside it; glibc 2.36 has no wrapper. */
static int open_in_root(const struct io *io, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	unsigned tries = 0;
	int fd;

	do {
		if (io->live)
			fd = openat(io->root, path, flags | O_CLOEXEC, mode);
		else
			fd = (int)syscall(SYS_openat2, io->root, path, &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN && !io->live && ++tries < OPEN_TRIES);
	if (fd < 0)
		return -errno;
	return io->live ? fd : check_captured(fd, flags);
}

static int real_open(struct io *io, const char *path, int flags, mode_t mode)
{
	int fd = open_in_root(io, path, flags, mode);

	/* The umask is the business of whoever started us. A file of somebody else's stays as it is. */
	if (fd >= 0 && (flags & O_CREAT))
		(void)fchmod(fd, mode);
	return fd;
}

static ssize_t real_read(struct io *io _unused_, int fd, void *buf, size_t size, off_t offset)
{
	ssize_t n;

	do {
		n = offset < 0 ? read(fd, buf, size) : pread(fd, buf, size, offset);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int real_write(struct io *io _unused_, int fd, const void *buf, size_t size)
{
	ssize_t n;

	do {
		n = write(fd, buf, size);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}

static int live_store(struct io *io, const char *path, const char *value)
{
	_cleanup_close_ int fd = open_in_root(io, path, O_WRONLY | O_NOCTTY, 0);

	if (fd < 0)
		return fd;
	return real_write(io, fd, value, strlen(value));
}

static int real_sync(struct io *io _unused_, int fd)
{
	return fsync(fd) < 0 ? -errno : 0;
}

/* The directory of PATH, and its last part in *RET_NAME (points into PATH). */
static int open_parent(const struct io *io, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	*ret_name = slash ? slash + 1 : path;
	if (!slash)
		return open_in_root(io, ".", O_PATH | O_DIRECTORY, 0);
	if ((size_t)(slash - path) >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	return open_in_root(io, *dir ? dir : ".", O_PATH | O_DIRECTORY, 0);
}

static int real_rename(struct io *io, const char *from, const char *to)
{
	_cleanup_close_ int from_dir = -1, to_dir = -1;
	const char *from_name, *to_name;

	from_dir = open_parent(io, from, &from_name);
	if (from_dir < 0)
		return from_dir;
	to_dir = open_parent(io, to, &to_name);
	if (to_dir < 0)
		return to_dir;
	return renameat(from_dir, from_name, to_dir, to_name) < 0 ? -errno : 0;
}

static int real_unlink(struct io *io, const char *path)
{
	const char *name;
	_cleanup_close_ int dir = open_parent(io, path, &name);

	if (dir < 0)
		return dir;
	return unlinkat(dir, name, 0) < 0 ? -errno : 0;
}

static int real_mkdir(struct io *io, const char *path, mode_t mode)
{
	const char *name;
	_cleanup_close_ int dir = open_parent(io, path, &name);

	if (dir < 0)
		return dir;
	if (mkdirat(dir, name, mode) < 0)
		return -errno;
	(void)fchmodat(dir, name, mode, 0);
	return 0;
}

/* A captured file is replaced whole and at once, as a kernel file changes: kill -9 in between must
 * not leave half a value that no kernel would show. */
static int tree_store(struct io *io, const char *path, const char *value)
{
	_cleanup_close_ int fd = -1;
	char next[PATH_MAX];
	size_t n = strlen(value);
	mode_t mode;
	int r;

	r = io->ops->mode(io, path, &mode);
	if (r < 0)
		return r;
	if (!S_ISREG(mode))
		return -EINVAL;
	if (!(mode & 0222))
		return -EACCES;
	r = format_into(next, sizeof(next), "%s.softnetd-new", path);
	if (r < 0)
		return -ENAMETOOLONG;
	fd = open_in_root(io, next, O_WRONLY | O_CREAT | O_TRUNC, mode & 0777);
	if (fd < 0)
		return fd;
	r = real_write(io, fd, value, n);
	if (r >= 0 && n > 0 && value[n - 1] != '\n')
		r = real_write(io, fd, "\n", 1);
	if (r >= 0)
		r = real_rename(io, next, path);
	if (r < 0)
		real_unlink(io, next);
	return r;
}

static ssize_t real_readlink(struct io *io, const char *path, char *buf, size_t size)
{
	const char *name;
	_cleanup_close_ int dir = open_parent(io, path, &name);
	ssize_t n;

	if (dir < 0)
		return dir;
	n = readlinkat(dir, name, buf, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return n;
}

static int real_realpath(struct io *io, const char *path, char **ret)
{
	char link[64], root[PATH_MAX], full[PATH_MAX];
	_cleanup_close_ int fd = open_in_root(io, path, O_PATH, 0);
	size_t skip;
	ssize_t n;

	if (fd < 0)
		return fd;
	/* Asked of this process's own /proc, also for a captured tree: it is our descriptor's name.
	 */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", io->root);
	n = readlink(link, root, sizeof(root) - 1);
	if (n < 0)
		return -errno;
	root[n] = '\0';
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, full, sizeof(full) - 1);
	if (n < 0)
		return -errno;
	full[n] = '\0';
	skip = streq(root, "/") ? 1 : strlen(root) + 1;
	if (!startswith(full, root))
		return -EXDEV;
	*ret = strdup(strlen(full) >= skip ? full + skip : "");
	return *ret ? 0 : -ENOMEM;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int real_list(struct io *io, const char *path, char ***ret)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	_cleanup_(strv_freep) char **names = NULL;
	_cleanup_close_ int fd = open_in_root(io, path, O_RDONLY | O_DIRECTORY, 0);
	size_t n = 0, room = 0;
	struct dirent *entry;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	TAKE_FD(fd);
	for (;;) {
		errno = 0;
		entry = readdir(dir);
		if (!entry && errno)
			return -errno;
		if (n + 1 >= room) {
			char **more;

			room = MAX(room * 2, (size_t)16);
			more = realloc(names, room * sizeof(*names));
			if (!more)
				return -ENOMEM;
			names = more;
		}
		names[n] = NULL;
		if (!entry)
			break;
		if (streq(entry->d_name, ".") || streq(entry->d_name, ".."))
			continue;
		names[n] = strdup(entry->d_name);
		if (!names[n])
			return -ENOMEM;
		names[++n] = NULL;
	}
	qsort(names, n, sizeof(*names), compare_names);
	*ret = TAKE_PTR(names);
	return (int)n;
}

static int real_mode(struct io *io, const char *path, mode_t *ret)
{
	_cleanup_close_ int fd = open_in_root(io, path, O_PATH, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = st.st_mode;
	return 0;
}

static uint64_t real_now(struct io *io _unused_, clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) < 0)
		return 0;
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / NSEC_PER_USEC;
}

static int live_set_affinity(struct io *io _unused_, pid_t pid, const struct cpuset *cpus)
{
	/* The kernel's mask is an array of longs, as ours is of 64-bit words. */
	_Static_assert(sizeof(cpus->word[0]) == sizeof(long), "32-bit longs");

	return sched_setaffinity(pid, sizeof(cpus->word), (const cpu_set_t *)cpus->word) < 0
		       ? -errno
		       : 0;
}

/* glibc 2.36 has no wrapper, and the kernel's header collides with its own. */
struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static int live_set_sched(struct io *io _unused_, pid_t pid, int policy, int priority)
{
	struct sched_attributes attr = {.size = sizeof(attr)};

	if (syscall(SYS_sched_getattr, pid, &attr, sizeof(attr), 0) < 0)
		return -errno;
	attr.size = sizeof(attr);
	attr.policy = (uint32_t)policy;
	attr.priority = (uint32_t)priority;
	return syscall(SYS_sched_setattr, pid, &attr, 0) < 0 ? -errno : 0;
}

static int tree_set_sched(struct io *io _unused_, pid_t pid _unused_, int policy _unused_,
			  int priority _unused_)
{
	return -EOPNOTSUPP;
}

#define COMMON_OPS                                                                    \
	.open = real_open, .read = real_read, .write = real_write, .sync = real_sync, \
	.rename = real_rename, .unlink = real_unlink, .mkdir = real_mkdir,            \
	.readlink = real_readlink, .realpath = real_realpath, .list = real_list,      \
	.mode = real_mode, .now = real_now

static const struct io_ops live_ops = {
	COMMON_OPS,
	.store = live_store,
	.set_sched = live_set_sched,
	.set_affinity = live_set_affinity,
};
static const struct io_ops tree_ops = {COMMON_OPS, .store = tree_store,
				       .set_sched = tree_set_sched};

int io_new(const char *path, struct io **ret)
{
	_cleanup_free_ struct io *io = calloc(1, sizeof(*io));

	if (!io)
		return -ENOMEM;
	io->live = !path || streq(path, "/");
	io->ops = io->live ? &live_ops : &tree_ops;
	io->root = open(io->live ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (io->root < 0)
		return -errno;
	io->remote = io->live ? &remote_live : NULL;
	if (io->live && genl_new(&io->genl) < 0) {
		closep(&io->root);
		return -ENOMEM;
	}
	*ret = TAKE_PTR(io);
	return 0;
}

void io_free(struct io *io)
{
	if (!io)
		return;
	closep(&io->root);
	genl_free(io->genl);
	free(io);
}

bool io_exists(struct io *io, const char *path)
{
	mode_t mode;

	return io->ops->mode(io, path, &mode) >= 0;
}

int io_read_line(struct io *io, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = io_open(io, path, O_RDONLY | O_NOCTTY);
	size_t used = 0;
	char *start;

	if (fd < 0)
		return fd;
	for (;;) {
		ssize_t n = io->ops->read(io, fd, buf + used, size - used, (off_t)used);

		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		used += (size_t)n;
		if (used == size)
			return -EFBIG;
		/* The newline ends it: no read is spent to see that nothing follows. */
		if (buf[used - 1] == '\n')
			break;
	}
	buf[used] = '\0';
	start = strstrip(buf);
	used = strlen(start);
	memmove(buf, start, used + 1);
	return (int)used;
}

int io_read_u64(struct io *io, const char *path, uint64_t *ret)
{
	char text[64];
	int r;

	r = io_read_line(io, path, text, sizeof(text));
	if (r < 0)
		return r;
	return parse_u64(text, 10, ret);
}

/* Grows BUF so that at least 4 KiB are free behind USED. */
static int make_room(char **buf, size_t *size, size_t used)
{
	char *more;
	size_t want;

	if (*size - used > 4096)
		return 0;
	want = MAX(*size * 2, (size_t)16384);
	if (want > READ_ALL_MAX)
		return -EFBIG;
	more = realloc(*buf, want);
	if (!more)
		return -ENOMEM;
	*buf = more;
	*size = want;
	return 0;
}

/* Reads to the end: a short read of a seq_file is not its end, only a read of nothing is; but of a
 * SINGLE record it is. */
static int read_to_end(struct io *io, int fd, bool single, char **buf, size_t *size,
		       size_t *ret_length)
{
	size_t used = 0;

	for (;;) {
		ssize_t n;
		int r;

		r = make_room(buf, size, used);
		if (r < 0)
			return r;
		n = io->ops->read(io, fd, *buf + used, *size - used - 1, (off_t)used);
		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		used += (size_t)n;
		if (single && used < *size - 1)
			break;
	}
	(*buf)[used] = '\0';
	*ret_length = used;
	return 0;
}

int io_read_all(struct io *io, const char *path, char **ret, size_t *ret_size)
{
	_cleanup_close_ int fd = io_open(io, path, O_RDONLY | O_NOCTTY);
	_cleanup_free_ char *buf = NULL;
	size_t size = 0, length;
	int r;

	if (fd < 0)
		return fd;
	r = read_to_end(io, fd, false, &buf, &size, &length);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(buf);
	if (ret_size)
		*ret_size = length;
	return 0;
}

static void procfile_close(struct procfile *f)
{
	closep(&f->fd);
	f->fd = -1;
}

/* Whoever plays a captured tree forward may put a new file in the place of the old one (mv), which is
 * how a file is changed whole. Kernel files are never replaced. */
static bool was_replaced(const struct io *io, int fd)
{
	struct stat st;

	return !io->live && fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink == 0;
}

int procfile_read(struct io *io, struct procfile *f)
{
	int r;

	if (was_replaced(io, f->fd))
		procfile_close(f);
	if (f->fd < 0) {
		f->fd = io_open(io, f->path, O_RDONLY | O_NOCTTY);
		if (f->fd < 0)
			return TAKE_FD(f->fd);
	}
	r = read_to_end(io, f->fd, f->single, &f->text, &f->size, &f->length);
	if (r < 0)
		procfile_close(f);
	return r;
}

#define REST_MIN (256U << 10)

void procfile_rest(struct procfile *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t before = (page - (uintptr_t)f->text % page) % page;

	if (f->size < REST_MIN)
		return;
	/* Whole pages inside the buffer; where it fails they just stay. */
	(void)madvise(f->text + before, (f->size - before) / page * page, MADV_DONTNEED);
	*f->text = '\0';
	f->length = 0;
}

void procfile_done(struct procfile *f)
{
	procfile_close(f);
	free(TAKE_PTR(f->text));
	f->size = f->length = 0;
}
