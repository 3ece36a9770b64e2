/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	char path[PATH_MAX];
	int root;
};

static void die(const char *what, const char *path)
{
	fprintf(stderr, "tree: cannot %s %s: %s\n", what, path, strerror(errno));
	abort();
}

struct tree *tree_new(void)
{
	struct tree *t = calloc(1, sizeof(*t));
	const char *tmp = getenv("TMPDIR");

	if (!t)
		abort();
	snprintf(t->path, sizeof(t->path), "%s/softnetd-tree-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(t->path))
		die("make", t->path);
	t->root = open(t->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (t->root < 0)
		die("open", t->path);
	return t;
}

static int remove_one(const char *path, const struct stat *st _unused_, int flag _unused_,
		      struct FTW *ftw _unused_)
{
	return remove(path);
}

/* A directory without w or x would keep its content from a user who is not root. */
static int open_up(const char *path, const struct stat *st, int flag, struct FTW *ftw _unused_)
{
	if (flag == FTW_D || flag == FTW_DNR)
		return (st->st_mode & 0700) == 0700 ? 0 : chmod(path, 0700);
	return 0;
}

static void remove_all(const char *path)
{
	if (nftw(path, open_up, 32, FTW_PHYS) < 0 && errno != ENOENT)
		die("open", path);
	if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		die("remove", path);
}

void tree_free(struct tree *t)
{
	remove_all(t->path);
	close(t->root);
	free(t);
}

const char *tree_path(const struct tree *t)
{
	return t->path;
}

struct io *tree_io(const struct tree *t)
{
	struct io *io;
	int r = io_new(t->path, &io);

	if (r < 0) {
		errno = -r;
		die("open", t->path);
	}
	return io;
}

static void make_directories(struct tree *t, const char *path, bool whole)
{
	char dir[PATH_MAX];

	for (const char *p = path; *p; p++) {
		const char *end = strchr(p, '/');

		if (!end && !whole)
			return;
		if (!end)
			end = p + strlen(p);
		snprintf(dir, sizeof(dir), "%.*s", (int)(end - path), path);
		if (mkdirat(t->root, dir, 0755) < 0 && errno != EEXIST)
			die("make", dir);
		p = end;
		if (!*p)
			return;
	}
}

static void put(struct tree *t, const char *path, const void *data, size_t size, int flags)
{
	mode_t mode = 0;
	struct stat st;
	ssize_t n;
	int fd;

	make_directories(t, path, false);
	/* The kernel may change a file that nobody else may write. */
	if (fstatat(t->root, path, &st, 0) == 0 && !(st.st_mode & 0200)) {
		mode = st.st_mode & 07777;
		fchmodat(t->root, path, mode | 0200, 0);
	}
	fd = openat(t->root, path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	if (fd < 0)
		die("write", path);
	n = write(fd, data, size);
	if (n < 0 || (size_t)n != size)
		die("write", path);
	/* Cut only afterwards: no reader in another thread or process sees an empty file in
	 * between. */
	if (!(flags & O_APPEND) && ftruncate(fd, (off_t)size) < 0)
		die("cut", path);
	close(fd);
	if (mode)
		fchmodat(t->root, path, mode, 0);
}

void tree_bytes(struct tree *t, const char *path, const void *data, size_t size)
{
	put(t, path, data, size, 0);
}

void tree_write(struct tree *t, const char *path, const char *text)
{
	put(t, path, text, strlen(text), 0);
}

void tree_append(struct tree *t, const char *path, const char *text)
{
	put(t, path, text, strlen(text), O_APPEND);
}

void tree_printf(struct tree *t, const char *path, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	tree_write(t, path, text);
}

void tree_link(struct tree *t, const char *path, const char *target)
{
	make_directories(t, path, false);
	if (symlinkat(target, t->root, path) == 0)
		return;
	if (errno != EEXIST || unlinkat(t->root, path, 0) < 0 ||
	    symlinkat(target, t->root, path) < 0)
		die("link", path);
}

void tree_mkdir(struct tree *t, const char *path)
{
	make_directories(t, path, true);
}

void tree_mode(struct tree *t, const char *path, mode_t mode)
{
	if (fchmodat(t->root, path, mode, 0) < 0)
		die("chmod", path);
}

void tree_remove(struct tree *t, const char *path)
{
	char full[PATH_MAX];

	if (format_into(full, sizeof(full), "%s/%s", t->path, path) < 0)
		abort();
	remove_all(full);
}

char *tree_read(const struct tree *t, const char *path)
{
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_cleanup_free_ char *text = NULL;
	char *result;
	int r;

	r = io_read_all(io, path, &text, NULL);
	if (r < 0) {
		errno = -r;
		die("read", path);
	}
	result = strdup(strstrip(text));
	if (!result)
		abort();
	return result;
}

bool tree_has(const struct tree *t, const char *path)
{
	return faccessat(t->root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void add_files(const struct tree *t, const char *dir, char ***files, size_t *n)
{
	int fd = openat(t->root, *dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		die("list", dir);
	while ((e = readdir(d))) {
		char *path;

		if (streq(e->d_name, ".") || streq(e->d_name, ".."))
			continue;
		if (asprintf(&path, "%s%s%s", dir, *dir ? "/" : "", e->d_name) < 0)
			abort();
		if (e->d_type == DT_DIR)
			add_files(t, path, files, n);
		if (e->d_type != DT_REG) {
			free(path);
			continue;
		}
		*files = realloc(*files, (*n + 2) * sizeof(char *));
		if (!*files)
			abort();
		(*files)[(*n)++] = path;
		(*files)[*n] = NULL;
	}
	closedir(d);
}

static int compare(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

char **tree_files(const struct tree *t)
{
	char **files = calloc(1, sizeof(char *));
	size_t n = 0;

	if (!files)
		abort();
	add_files(t, "", &files, &n);
	qsort(files, n, sizeof(*files), compare);
	return files;
}
