/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether systemd units have processes, without asking systemd: a unit's cgroup exists and its
 * cgroup.events says "populated 1" (cgroup-v2.rst, "[Un]populated Notification"). Works in early
 * boot, without a bus, and on captured trees.
 *
 * A service lies in its slice: system.slice/NAME, an instance of a template in
 * system.slice/system-PREFIX.slice/NAME, and with Slice= anywhere; looked for are all slices of the
 * top level and those one level below them. User managers' units (user.slice) are not.
 */
#pragma once

#include "base/io.h"

struct units;

/* NAMES ends with NULL; it is copied. IO must outlive the units. */
int units_new(struct io *io, const char *const *names, struct units **ret);
void units_free(struct units *u);
DEFINE_CLEANUP(struct units *, units_free);

/* Looks at all of them; reads nothing when there are none. 0, or -ENOMEM. */
int units_read(struct units *u);

/* As units_read() found it: 1 it has processes, 0 it has none, -ENODATA not looked at yet, else why
 * it cannot be told. */
int units_active(const struct units *u, const char *name);

/* Its cgroup's path relative to the root, as units_read() found it; NULL: it has none. */
const char *units_cgroup(const struct units *u, const char *name);

/* What keeps all of them from being told, for an admin; NULL when nothing does, or none was named. */
const char *units_trouble(const struct units *u);
