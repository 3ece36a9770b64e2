/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/units.h"

#include <stdio.h>

#include "base/scan.h"

#define PATH_SIZE 1024

struct unit {
	char *name;
	char *path; /* of its cgroup when it was last found; NULL: not */
	int state;
};

struct units {
	struct io *io;
	size_t n;
	struct unit *unit;
	const char *trouble;
};

/* Where the unified hierarchy is: alone, or beside the legacy ones (systemd's hybrid layout). */
static const char *const mounts[] = {"sys/fs/cgroup", "sys/fs/cgroup/unified"};

int units_new(struct io *io, const char *const *names, struct units **ret)
{
	_cleanup_(units_freep) struct units *u = calloc(1, sizeof(*u));
	size_t n = 0;

	if (!u)
		return -ENOMEM;
	u->io = io;
	while (names[n])
		n++;
	u->unit = calloc(MAX(n, (size_t)1), sizeof(*u->unit));
	if (!u->unit)
		return -ENOMEM;
	for (; u->n < n; u->n++) {
		u->unit[u->n].state = -ENODATA;
		u->unit[u->n].name = strdup(names[u->n]);
		if (!u->unit[u->n].name)
			return -ENOMEM;
	}
	*ret = TAKE_PTR(u);
	return 0;
}

void units_free(struct units *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->n; i++) {
		free(u->unit[i].name);
		free(u->unit[i].path);
	}
	free(u->unit);
	free(u);
}

static bool is_slice(const char *name)
{
	size_t n = strlen(name), k = strlen(".slice");

	return n > k && streq(name + n - k, ".slice");
}

/* 1 or 0 for a cgroup at PATH; -ENOENT when there is none. */
static int read_populated(struct io *io, const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct slice rest, line;
	char file[PATH_SIZE];
	size_t size;
	int r;

	r = format_into(file, sizeof(file), "%s/cgroup.events", path);
	if (r < 0)
		return -ENAMETOOLONG;
	r = io_read_all(io, file, &text, &size);
	/* ENODEV: the cgroup went while its file was open. */
	if (r == -ENOTDIR || r == -ENODEV)
		return -ENOENT;
	if (r < 0)
		return r;
	rest = slice_of(text, size);
	while (slice_line(&rest, &line))
		if (slice_starts(line, "populated "))
			return slice_is(line, "populated 1")   ? 1
			       : slice_is(line, "populated 0") ? 0
							       : -EBADMSG;
	return -EBADMSG;
}

/* Whether UNIT's cgroup is DIR/NAME: then it is remembered, and its state is in *RET. */
static bool try_place(struct units *u, struct unit *unit, const char *dir, int *ret)
{
	char path[PATH_SIZE];
	int r;

	if (format_into(path, sizeof(path), "%s/%s", dir, unit->name) < 0)
		return false;
	r = read_populated(u->io, path);
	if (r == -ENOENT)
		return false;
	free(unit->path);
	unit->path = strdup(path);
	*ret = unit->path ? r : -ENOMEM;
	return true;
}

/* In DIR itself and then, DEPTH levels down, in the slices in it. */
static bool search(struct units *u, struct unit *unit, const char *dir, unsigned depth, int *ret)
{
	_cleanup_(strv_freep) char **names = NULL;
	char path[PATH_SIZE];

	if (try_place(u, unit, dir, ret))
		return true;
	if (depth == 0 || io_list(u->io, dir, &names) < 0)
		return false;
	for (char **name = names; *name; name++)
		if (is_slice(*name) && !streq(*name, "user.slice") &&
		    format_into(path, sizeof(path), "%s/%s", dir, *name) >= 0 &&
		    search(u, unit, path, depth - 1, ret))
			return true;
	return false;
}

static int look_at(struct units *u, struct unit *unit, const char *mount)
{
	int r;

	/* Where it was is where it is, nearly always. */
	if (unit->path) {
		r = read_populated(u->io, unit->path);
		if (r != -ENOENT)
			return r;
	}
	free(TAKE_PTR(unit->path));
	return search(u, unit, mount, 2, &r) ? r : 0;
}

/* The mount point of the unified hierarchy; NULL when there is none. */
static const char *find_mount(struct io *io)
{
	for (size_t i = 0; i < ELEMENTSOF(mounts); i++) {
		char path[PATH_SIZE];

		if (format_into(path, sizeof(path), "%s/cgroup.controllers", mounts[i]) >= 0 &&
		    io_exists(io, path))
			return mounts[i];
	}
	return NULL;
}

int units_read(struct units *u)
{
	const char *mount;

	if (u->n == 0)
		return 0;
	mount = find_mount(u->io);
	u->trouble =
		mount ? NULL
		      : "there is no unified cgroup hierarchy in /sys/fs/cgroup: whether a unit "
			"that a profile's match names is active cannot be told";
	for (size_t i = 0; i < u->n; i++) {
		struct unit *unit = &u->unit[i];

		unit->state = mount ? look_at(u, unit, mount) : -ENOENT;
		if (unit->state == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

int units_active(const struct units *u, const char *name)
{
	for (size_t i = 0; i < u->n; i++)
		if (streq(u->unit[i].name, name))
			return u->unit[i].state;
	return -ENODATA;
}

const char *units_cgroup(const struct units *u, const char *name)
{
	for (size_t i = 0; i < u->n; i++)
		if (streq(u->unit[i].name, name))
			return u->unit[i].path;
	return NULL;
}

const char *units_trouble(const struct units *u)
{
	return u->trouble;
}
