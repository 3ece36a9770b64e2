/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are missing, empty, binary, huge; calls that fail with any errno at any place: the
 * observer never crashes, never gives up, and every source that has no good data says why.
 */
#include <stdio.h>

#include "lib/fault-io.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "lib/watch.h"

#define _machine_ _cleanup_(machine_freep) struct machine
#define _fault_   _cleanup_(fault_io_freep) struct fault_io

/* One of each kind of file that the observer reads. */
static struct machine *machine(void)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_I40E, .queues = 2},
		{.name = "eth1", .kind = MACHINE_VIRTIO},
		{.name = "eth2", .kind = MACHINE_INTX},
	};
	struct machine *m = machine_new(&(struct machine_spec){.cpus = 2,
							       .nics = nics,
							       .n_nics = 3,
							       .cpufreq = "intel_pstate",
							       .psi_irq = true,
							       .rt = true});

	machine_process(m, 300, "irq/25-i40e-eth0-TxRx-0", "", true);
	tree_write(m->tree, "boot/config-6.12.117+deb13-amd64", "CONFIG_HZ=250\n");
	tree_write(m->tree, "sys/fs/cgroup/cpuset.cpus.isolated", "\n");
	tree_write(m->tree, "run/irqbalance/irqbalance1.sock", "");
	return m;
}

static void expect_reasons(const struct snapshot *s, const char *what)
{
	for (unsigned i = 0; i < _SOURCE_MAX; i++) {
		const struct source_status *status = &s->source[i];

		if (status->state == SOURCE_ABSENT || status->state == SOURCE_STRANGE)
			ck_assert_msg(*status->text && status->error < 0, "%s: %s says nothing",
				      what, source_to_string(i));
		else if (status->state == SOURCE_OK)
			ck_assert_msg(!*status->text, "%s: %s is fine and says %s", what,
				      source_to_string(i), status->text);
	}
}

/* Discovery, a fast tick, a slow look, a fast tick. */
static void live(struct io *io, const char *what)
{
	_watch_ w = watch_begin(io);

	watch_read(&w, false);
	watch_read(&w, true);
	expect_reasons(w.snapshot, what);
	watch_read(&w, false);
	expect_reasons(w.snapshot, what);
}

static void one_file_each(void (*spoil)(struct tree *t, const char *path))
{
	_cleanup_(strv_freep) char **files = NULL;
	_machine_ *m = machine();

	files = tree_files(m->tree);
	for (char **file = files; *file; file++) {
		_cleanup_free_ char *before = NULL;
		size_t length;

		ck_assert_int_eq(io_read_all(&m->io, *file, &before, &length), 0);
		spoil(m->tree, *file);
		live(&m->io, *file);
		tree_bytes(m->tree, *file, before, length);
	}
}

static void take_away(struct tree *t, const char *path)
{
	tree_remove(t, path);
}

static void empty(struct tree *t, const char *path)
{
	tree_write(t, path, "");
}

static void binary(struct tree *t, const char *path)
{
	char bytes[4096];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 37 ^ i >> 3);
	tree_bytes(t, path, bytes, sizeof(bytes));
}

static void digits(struct tree *t, const char *path)
{
	static char text[300000];

	memset(text, '9', sizeof(text) - 1);
	for (size_t i = 100; i < sizeof(text) - 1; i += i / 7)
		text[i] = i % 2 ? '\n' : ' ';
	tree_write(t, path, text);
}

/* The second half is gone, as after a short read or a full disk. */
static void half(struct tree *t, const char *path)
{
	_cleanup_free_ char *text = tree_read(t, path);

	tree_bytes(t, path, text, strlen(text) / 2);
}

START_TEST(missing_files) /* A28 */
{
	one_file_each(take_away);
}
END_TEST

START_TEST(empty_files)
{
	one_file_each(empty);
}
END_TEST

START_TEST(binary_files)
{
	one_file_each(binary);
}
END_TEST

START_TEST(endless_digits)
{
	one_file_each(digits);
}
END_TEST

START_TEST(halves)
{
	one_file_each(half);
}
END_TEST

/* All of them at once. */
START_TEST(everything_is_binary)
{
	_cleanup_(strv_freep) char **files = NULL;
	_machine_ *m = machine();

	files = tree_files(m->tree);
	for (char **file = files; *file; file++)
		binary(m->tree, *file);
	live(&m->io, "binary");
}
END_TEST

START_TEST(errno_at_each_operation)
{
	static const int errors[] = {EIO, EACCES, EBUSY, ENODEV, EMFILE, EPERM, ESTALE};
	_machine_ *m = machine();
	unsigned long n;

	/* Up to the n-th operation every run is the same: the first without a hit had less. */
	for (n = 1;; n++) {
		_fault_ *f = fault_io_new(&m->io);
		char what[64];

		f->at = n;
		f->error = errors[n % ELEMENTSOF(errors)];
		snprintf(what, sizeof(what), "errno %d at operation %lu", f->error, n);
		live(&f->io, what);
		if (f->hits == 0)
			break;
	}
	ck_assert_uint_gt(n, 300);
}
END_TEST

START_TEST(errno_from_some_operation_on)
{
	_machine_ *m = machine();
	_fault_ *probe = fault_io_new(&m->io);

	live(&probe->io, "nothing wrong");
	for (unsigned long n = 1; n <= probe->total; n += 13) {
		_fault_ *f = fault_io_new(&m->io);

		f->at = n;
		f->onwards = true;
		f->error = EIO;
		live(&f->io, "all fails");
	}
}
END_TEST

/* A read gives less than was asked for, at every read: seq_files may do so. */
START_TEST(short_reads)
{
	_machine_ *m = machine();
	_fault_ *f = fault_io_new(&m->io);

	m->cpu[1].processed = 12345;
	machine_write(m);
	f->kinds = FAULT_BIT(FAULT_READ);
	f->pattern = "proc/net/*";
	f->short_read = 7;
	_watch_ w = watch_begin(&f->io);
	watch_read(&w, true);
	ck_assert_int_eq(w.snapshot->source[SOURCE_SOFTNET].state, SOURCE_OK);
	ck_assert_int_eq(w.snapshot->source[SOURCE_NETDEV].state, SOURCE_OK);
	ck_assert_uint_eq(w.snapshot->cpu[1].processed, 12345);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("observe-hostile");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, missing_files);
	tcase_add_test(t, empty_files);
	tcase_add_test(t, binary_files);
	tcase_add_test(t, endless_digits);
	tcase_add_test(t, halves);
	tcase_add_test(t, everything_is_binary);
	tcase_add_test(t, errno_at_each_operation);
	tcase_add_test(t, errno_from_some_operation_on);
	tcase_add_test(t, short_reads);
	return run_suite("observe-hostile", t);
}
