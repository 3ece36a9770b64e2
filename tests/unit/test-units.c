/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units by their cgroups, in the places where systemd puts them. */
#include <check.h>
#include <stdio.h>

#include "lib/fault-io.h"
#include "lib/run.h"
#include "lib/tree.h"
#include "observe/units.h"

static struct tree *tree;
static struct io *io;
static struct units *u;

static void setup(void)
{
	tree = tree_new();
	io = tree_io(tree);
	tree_write(tree, "sys/fs/cgroup/cgroup.controllers", "cpu io memory\n");
}

static void teardown(void)
{
	units_free(TAKE_PTR(u));
	io_free(io);
	tree_free(tree);
}

static void cgroup(const char *path, bool populated)
{
	char file[256];

	snprintf(file, sizeof(file), "sys/fs/cgroup/%s/cgroup.events", path);
	tree_printf(tree, file, "populated %d\nfrozen 0\n", populated);
}

static int active(const char *name)
{
	const char *const names[] = {name, NULL};

	units_free(TAKE_PTR(u));
	ck_assert_int_eq(units_new(io, names, &u), 0);
	ck_assert_int_eq(units_active(u, name), -ENODATA);
	ck_assert_int_eq(units_read(u), 0);
	return units_active(u, name);
}

START_TEST(where_units_are)
{
	cgroup("system.slice", true);
	cgroup("system.slice/nginx.service", true);
	cgroup("system.slice/idle.service", false);
	cgroup("system.slice/system-getty.slice/getty@tty1.service", true);
	cgroup("trading.slice/trading-feed.slice/feed.service", true);
	cgroup("machine.slice/vm1.scope", true);
	cgroup("user.slice/user-1000.slice/app.service", true);
	cgroup("init.scope", true);
	ck_assert_int_eq(active("nginx.service"), 1);
	ck_assert_int_eq(active("idle.service"), 0);
	ck_assert_int_eq(active("getty@tty1.service"), 1);
	ck_assert_int_eq(active("feed.service"), 1);
	ck_assert_int_eq(active("vm1.scope"), 1);
	ck_assert_int_eq(active("init.scope"), 1);
	ck_assert_int_eq(active("system.slice"), 1);
	ck_assert_int_eq(active("trading-feed.slice"), 0); /* no cgroup.events of its own here */
	ck_assert_int_eq(active("app.service"), 0);        /* a user's */
	ck_assert_int_eq(active("nowhere.service"), 0);
	ck_assert_ptr_null(units_trouble(u));
}
END_TEST

START_TEST(units_come_go_and_move)
{
	static const char *const names[] = {"web.service", "db.service", NULL};

	ck_assert_int_eq(units_new(io, names, &u), 0);
	ck_assert_int_eq(units_read(u), 0);
	ck_assert_int_eq(units_active(u, "web.service"), 0);
	cgroup("system.slice/web.service", true);
	ck_assert_int_eq(units_read(u), 0);
	ck_assert_int_eq(units_active(u, "web.service"), 1);
	ck_assert_int_eq(units_active(u, "db.service"), 0);
	tree_remove(tree, "sys/fs/cgroup/system.slice/web.service");
	cgroup("web.slice/web.service", true);
	ck_assert_int_eq(units_read(u), 0);
	ck_assert_int_eq(units_active(u, "web.service"), 1);
	cgroup("web.slice/web.service", false);
	ck_assert_int_eq(units_read(u), 0);
	ck_assert_int_eq(units_active(u, "web.service"), 0);
	tree_remove(tree, "sys/fs/cgroup/web.slice");
	ck_assert_int_eq(units_read(u), 0);
	ck_assert_int_eq(units_active(u, "web.service"), 0);
}
END_TEST

START_TEST(layouts_of_the_hierarchy)
{
	cgroup("system.slice/web.service", true);
	tree_remove(tree, "sys/fs/cgroup/cgroup.controllers");
	ck_assert_int_eq(active("web.service"), -ENOENT); /* legacy: nothing can be told */
	ck_assert_ptr_nonnull(units_trouble(u));
	tree_write(tree, "sys/fs/cgroup/unified/cgroup.controllers", "");
	ck_assert_int_eq(active("web.service"), 0);
	cgroup("unified/system.slice/web.service", true);
	ck_assert_int_eq(active("web.service"), 1);
	ck_assert_ptr_null(units_trouble(u));
}
END_TEST

START_TEST(strange_files)
{
	tree_write(tree, "sys/fs/cgroup/system.slice/web.service/cgroup.events", "");
	ck_assert_int_eq(active("web.service"), -EBADMSG);
	tree_write(tree, "sys/fs/cgroup/system.slice/web.service/cgroup.events", "populated 2\n");
	ck_assert_int_eq(active("web.service"), -EBADMSG);
	tree_write(tree, "sys/fs/cgroup/system.slice/web.service/cgroup.events",
		   "frozen 0\npopulated 1\n");
	ck_assert_int_eq(active("web.service"), 1);
}
END_TEST

/* A unit that is there costs one file; a host whose profiles name none costs nothing. */
START_TEST(reads_no_more_than_needed)
{
	static const char *const names[] = {"web.service", NULL}, *const none[] = {NULL};
	struct fault_io *f = fault_io_new(io);
	uint64_t before;

	cgroup("system.slice/web.service", true);
	ck_assert_int_eq(units_new(&f->io, none, &u), 0);
	before = f->total;
	ck_assert_int_eq(units_read(u), 0);
	ck_assert_uint_eq(f->total, before);
	units_free(TAKE_PTR(u));
	ck_assert_int_eq(units_new(&f->io, names, &u), 0);
	ck_assert_int_eq(units_read(u), 0);
	before = f->count[FAULT_OPEN] + f->count[FAULT_LIST];
	ck_assert_int_eq(units_read(u), 0);
	ck_assert_uint_le(f->count[FAULT_OPEN] + f->count[FAULT_LIST] - before, 2);
	units_free(TAKE_PTR(u));
	fault_io_free(f);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, where_units_are);
	tcase_add_test(t, units_come_go_and_move);
	tcase_add_test(t, layouts_of_the_hierarchy);
	tcase_add_test(t, strange_files);
	tcase_add_test(t, reads_no_more_than_needed);
	return run_suite("units", t);
}
