/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tick of window and decide() allocates nothing once it runs: in peace, with a symptom, through a
 * trial and after it.
 */
#include "lib/count-allocations.h"
#include "lib/run.h"
#include "sim/host.h"

static struct direct d;

static void teardown(void)
{
	direct_done(&d);
	d = (struct direct){};
}

static unsigned long during(unsigned seconds)
{
	unsigned long before = allocations;

	direct_run(&d, seconds);
	return allocations - before;
}

static const unsigned cpus[] = {4, 256};

START_TEST(ticks_allocate_nothing)
{
	direct_start(&d, 250, cpus[_i], 8, 1);
	direct_run(&d, 30);
	if (COUNTED)
		ck_assert_uint_gt(allocations, 0); /* they are counted at all */
	ck_assert_uint_eq(during(60), 0);
	for (unsigned i = 0; i < 8; i++)
		d.r.queue[i] = (struct receive_queue){.pps = 20000, .burst = 200};
	ck_assert_uint_eq(during(60), 0); /* squeezed: a whole trial, kept */
	ck_assert_uint_eq(d.kept, 1);
	d.r.queue[0].pps = 2000000; /* CPU 0 is full: falls back */
	ck_assert_uint_eq(during(600), 0);
	ck_assert(direct_reported(&d, SYMPTOM_HOT_CPU));
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("allocations");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, ticks_allocate_nothing, 0, 2);
	return run_suite("allocations", t);
}
