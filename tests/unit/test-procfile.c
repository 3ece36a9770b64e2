/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are read again and again (base/io.h): what they say now, in a buffer that stays. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "lib/run.h"
#include "lib/tree.h"

#define LONG (1U << 20)

static struct tree *tree;
static struct io *io;
static struct procfile f;

static void setup(void)
{
	tree = tree_new();
	ck_assert_int_eq(io_new(tree_path(tree), &io), 0);
	f = PROCFILE("proc/interrupts");
}

static void teardown(void)
{
	procfile_done(&f);
	io_free(TAKE_PTR(io));
	tree_free(TAKE_PTR(tree));
}

static void write_long(char c)
{
	_cleanup_free_ char *text = malloc(LONG + 1);

	ck_assert_ptr_nonnull(text);
	memset(text, c, LONG);
	text[LONG] = '\0';
	tree_write(tree, f.path, text);
}

/* Pages of the buffer that are in memory. */
static size_t resident(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	char *start = f.text + (page - (uintptr_t)f.text % page) % page;
	size_t pages = (size_t)(f.text + f.size - start) / page;
	_cleanup_free_ unsigned char *in = calloc(pages, 1);

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(mincore(start, pages * page, in), 0);
	for (size_t i = 0; i < pages; i++)
		n += in[i] & 1;
	return n;
}

START_TEST(comes_and_goes)
{
	ck_assert_int_eq(procfile_read(io, &f), -ENOENT);
	tree_write(tree, f.path, "one\n");
	ck_assert_int_eq(procfile_read(io, &f), 0);
	ck_assert_str_eq(f.text, "one\n");
	tree_write(tree, f.path, "");
	ck_assert_int_eq(procfile_read(io, &f), 0);
	ck_assert_uint_eq(f.length, 0);
}
END_TEST

START_TEST(rests_between_reads)
{
	size_t size;
	char *text;

	write_long('a');
	ck_assert_int_eq(procfile_read(io, &f), 0);
	text = f.text;
	size = f.size;
	ck_assert_uint_ge(resident(), LONG / 65536);
	procfile_rest(&f);
	ck_assert_uint_eq(resident(), 0);
	ck_assert_uint_eq(f.length, 0);
	ck_assert_str_eq(f.text, "");
	write_long('b');
	ck_assert_int_eq(procfile_read(io, &f), 0);
	ck_assert_uint_eq(f.length, LONG);
	ck_assert(f.text[0] == 'b' && f.text[LONG / 2] == 'b' && f.text[LONG - 1] == 'b');
	ck_assert(f.text == text && f.size == size);
}
END_TEST

/* A short one is not worth a system call, and one that was never read has nothing to give. */
START_TEST(short_ones_stay)
{
	procfile_rest(&f);
	tree_write(tree, f.path, "one\n");
	ck_assert_int_eq(procfile_read(io, &f), 0);
	procfile_rest(&f);
	ck_assert_str_eq(f.text, "one\n");
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("procfile");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, comes_and_goes);
	tcase_add_test(t, rests_between_reads);
	tcase_add_test(t, short_ones_stay);
	return run_suite("procfile", t);
}
