/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings table and the window. */
#include <stdio.h>

#include "lib/run.h"
#include "model/decision.h"
#include "model/window.h"

static void expect_value(enum tunable_id id, const char *text, const char *canonical)
{
	char buf[VALUE_MAX];

	ck_assert_msg(tunable_canonical(&tunables[id], text, true, buf, sizeof(buf)) == 0,
		      "'%s' refused", text);
	ck_assert_str_eq(buf, canonical);
}

START_TEST(every_setting_is_whole)
{
	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		const struct tunable *t = &tunables[i];

		ck_assert_ptr_nonnull(t->id);
		ck_assert_ptr_eq(tunable_find(t->id), t);
		ck_assert_ptr_nonnull(t->doc);
		ck_assert_ptr_nonnull(t->family);
		ck_assert_ptr_nonnull(t->owners);
		ck_assert_ptr_nonnull(t->unit);
		ck_assert(strspn(t->id, "abcdefghijklmnopqrstuvwxyz_") == strlen(t->id));
		if (t->path)
			ck_assert_int_eq(strchr(t->path, '%') != NULL, t->scope != SCOPE_HOST);
		/* Where it is, it must be. */
		ck_assert(t->path || (t->netlink && tunable_of_nic(t)) || t->scope == SCOPE_SOCKET);
		/* In pairs, or the third names the first. */
		if (t->coupled != _TUNABLE_MAX)
			ck_assert(
				tunables[t->coupled].coupled == i ||
				tunable_coupled(tunables[t->coupled].coupled, (enum tunable_id)i));
		if (t->type == VALUE_NUMBER)
			ck_assert_int_lt(t->min, t->max);
	}
}
END_TEST

START_TEST(values_have_one_spelling)
{
	expect_value(TUNABLE_NETDEV_BUDGET, " 0600\n", "600");
	expect_value(TUNABLE_SOFTIRQ_RESTART_POLICY, "latency", "2");
	expect_value(TUNABLE_IRQ_AFFINITY, "3,1,2", "1-3");
	expect_value(TUNABLE_GOVERNOR, "schedutil|powersave", "schedutil|powersave");
	expect_value(TUNABLE_ENERGY_PREFERENCE, "128", "balance_performance");
	expect_value(TUNABLE_ENERGY_PREFERENCE, "77", "77");
	ck_assert(tunable_equal(&tunables[TUNABLE_ENERGY_PREFERENCE], "0", "performance"));
	ck_assert(tunable_equal(&tunables[TUNABLE_IRQ_AFFINITY], "0-3", "0,1,2,3\n"));
	ck_assert(!tunable_equal(&tunables[TUNABLE_NETDEV_BUDGET], "300", "301"));
	ck_assert(!tunable_equal(&tunables[TUNABLE_NETDEV_BUDGET], "rubbish", "300"));
}
END_TEST

START_TEST(impossible_values_are_refused)
{
	char buf[VALUE_MAX] = "untouched";

	ck_assert_int_eq(tunable_canonical(&tunables[TUNABLE_NETDEV_BUDGET], "300000", true, buf,
					   sizeof(buf)),
			 -ERANGE);
	ck_assert_int_eq(tunable_canonical(&tunables[TUNABLE_NETDEV_BUDGET], "300000", false, buf,
					   sizeof(buf)),
			 0);
	ck_assert_int_eq(
		tunable_canonical(&tunables[TUNABLE_NETDEV_BUDGET], "many", true, buf, sizeof(buf)),
		-EINVAL);
	ck_assert_int_eq(
		tunable_canonical(&tunables[TUNABLE_NETDEV_BUDGET], "", true, buf, sizeof(buf)),
		-EINVAL);
	ck_assert_int_eq(
		tunable_canonical(&tunables[TUNABLE_IRQ_AFFINITY], "", true, buf, sizeof(buf)),
		-EINVAL);
	ck_assert_int_eq(
		tunable_canonical(&tunables[TUNABLE_GOVERNOR], "a b; rm", true, buf, sizeof(buf)),
		-EINVAL);
	ck_assert_int_eq(tunable_canonical(&tunables[TUNABLE_ENERGY_PREFERENCE], "256", true, buf,
					   sizeof(buf)),
			 -ERANGE);
}
END_TEST

/* kernel-facts 1.3: netdev_budget_usecs is rounded up to jiffies; a smaller step is none. */
START_TEST(steps_are_whole_jiffies)
{
	const struct tunable *t = &tunables[TUNABLE_NETDEV_BUDGET_USECS];

	ck_assert_int_eq(tunable_step(t, 8000, true, 8000, 24000, 250), 12000);
	ck_assert_int_eq(tunable_step(t, 12000, true, 8000, 24000, 250), 16000);
	ck_assert_int_eq(tunable_step(t, 2000, true, 2000, 20000, 1000), 3000);
	ck_assert_int_eq(tunable_step(t, 20000, true, 20000, 40000, 100), 30000);
	ck_assert_int_eq(tunable_step(t, 8000, true, 8000, 10000, 250), 8000); /* no jiffy fits */
	ck_assert_int_eq(tunable_step(t, 12000, false, 8000, 24000, 250), 8000);
	ck_assert_int_eq(tunable_step(t, 8000, false, 8000, 24000, 250), 8000);
	ck_assert_int_eq(tunable_effective(t, 1, 250), 4000);
	ck_assert_int_eq(tunable_effective(t, 8001, 250), 12000);
	ck_assert_int_eq(tunable_effective(t, 8001, 0), 8001);
	ck_assert_int_eq(tunable_effective(&tunables[TUNABLE_NETDEV_BUDGET], 301, 250), 301);
}
END_TEST

START_TEST(steps_stay_inside)
{
	const struct tunable *t = &tunables[TUNABLE_NETDEV_BUDGET];

	ck_assert_int_eq(tunable_step(t, 300, true, 300, 1200, 250), 450);
	ck_assert_int_eq(tunable_step(t, 1000, true, 300, 1200, 250), 1200);
	ck_assert_int_eq(tunable_step(t, 1200, true, 300, 1200, 250), 1200);
	ck_assert_int_eq(tunable_step(t, 100, true, 300, 1200, 250), 300); /* led back into it */
	ck_assert_int_eq(tunable_step(t, 50000, true, 300, 1200, 250),
			 50000); /* wild sysctl.d value: not upwards */
	ck_assert_int_eq(tunable_step(t, 8000, true, 0, INT64_MAX, 250),
			 8192); /* the table's own cap */
	ck_assert_int_eq(tunable_step(t, 300, false, 300, 1200, 250), 300);
}
END_TEST

START_TEST(commands_are_exact)
{
	struct change c = {.tunable = TUNABLE_GOVERNOR,
			   .target = {.scope = SCOPE_POLICY, .number = 2},
			   .to = "performance"};
	char buf[512];

	ck_assert_int_eq(change_command(&c, buf, sizeof(buf)), 0);
	ck_assert_str_eq(
		buf, "echo performance > /sys/devices/system/cpu/cpufreq/policy2/scaling_governor");
	c = (struct change){.tunable = TUNABLE_IRQ_AFFINITY,
			    .target = {.scope = SCOPE_IRQ, .number = 30},
			    .to = "3"};
	ck_assert_int_eq(change_command(&c, buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "echo 3 > /proc/irq/30/smp_affinity_list");
	ck_assert_int_eq(change_command(&c, buf, 8), -ENOSPC);
}
END_TEST

static struct window *w;
static struct snapshot *s;

static void window_setup(void)
{
	ck_assert_int_eq(window_new(&w), 0);
	ck_assert_int_eq(snapshot_new(2, 1, 1, &s), 0);
	s->mono_usec = s->boot_usec = 100 * USEC_PER_SEC;
}

static void window_teardown(void)
{
	window_free(w);
	snapshot_free(s);
}

static void push(uint64_t usec)
{
	s->mono_usec += usec;
	s->boot_usec += usec;
	ck_assert_int_eq(window_push(w, s), 0);
}

START_TEST(counters_wrap_at_32_bits)
{
	s->cpu[0].have = HAVE_SOFTNET;
	s->cpu[0].squeezed = 0xf0000769; /* case A12 */
	s->cpu[0].processed = 0xfffffff0;
	push(USEC_PER_SEC);
	s->cpu[0].processed = 0x10;
	s->cpu[0].squeezed = 0x00000001;
	push(USEC_PER_SEC);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].processed, 0x20);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].squeezed, 0x1 + (0xffffffff - 0xf0000769) + 1);
}
END_TEST

START_TEST(gauges_are_not_counters)
{
	s->cpu[0].have = HAVE_SOFTNET | HAVE_BACKLOG;
	s->cpu[0].backlog = 900;
	push(USEC_PER_SEC);
	s->cpu[0].backlog = 3;
	push(USEC_PER_SEC);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].backlog, 3);
}
END_TEST

START_TEST(a_cpu_that_comes_or_goes_has_no_difference)
{
	s->cpu[0].have = s->cpu[1].have = HAVE_SOFTNET;
	s->cpu[1].processed = 1000000;
	push(USEC_PER_SEC);
	s->cpu[1] = (struct cpu_sample){};
	push(USEC_PER_SEC);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[1].have & HAVE_SOFTNET, 0);
	s->cpu[1].have = HAVE_SOFTNET;
	s->cpu[1].processed = 1000500;
	push(USEC_PER_SEC);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[1].have & HAVE_SOFTNET, 0);
	ck_assert_uint_eq(window_cpu(w, 1, 3).processed, 0);
	s->cpu[1].processed = 1000600;
	push(USEC_PER_SEC);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[1].processed, 100);
}
END_TEST

START_TEST(a_suspend_or_a_clock_jump_rebaselines)
{
	s->cpu[0].have = HAVE_SOFTNET;
	push(USEC_PER_SEC);
	push(USEC_PER_SEC);
	ck_assert_uint_eq(w->filled, 1);
	s->boot_usec += 3600 * USEC_PER_SEC; /* asleep for an hour */
	s->cpu[0].processed += 5;
	push(USEC_PER_SEC);
	ck_assert_uint_eq(w->filled, 0);
	ck_assert_uint_eq(w->rebaselined, 1);
	push(USEC_PER_SEC);
	ck_assert_uint_eq(w->filled, 1);
	push(3600 * USEC_PER_SEC); /* the machine stood still */
	ck_assert_uint_eq(w->filled, 0);
	s->mono_usec -= 10 * USEC_PER_SEC;
	ck_assert_int_eq(window_push(w, s), 0);
	ck_assert_uint_eq(w->filled, 0);
}
END_TEST

START_TEST(the_window_is_a_ring)
{
	s->cpu[0].have = HAVE_SOFTNET;
	for (unsigned i = 0; i <= 3 * WINDOW_TICKS; i++) {
		s->cpu[0].processed += i;
		push(USEC_PER_SEC);
	}
	ck_assert_uint_eq(w->filled, WINDOW_TICKS);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].processed, 3 * WINDOW_TICKS);
	ck_assert_uint_eq(window_tick(w, 5)->cpu[0].processed, 3 * WINDOW_TICKS - 5);
	ck_assert_ptr_null(window_tick(w, WINDOW_TICKS));
	ck_assert(window_cpu(w, 0, 4).seconds > 3.99 && window_cpu(w, 0, 4).seconds < 4.01);
	ck_assert_uint_eq(window_cpu(w, 99, 4).ticks, 0);
}
END_TEST

/* Sums are differences of running totals: they say what the ticks themselves say, also where numbers
 * are missing, a counter wraps, and the window began anew. */
START_TEST(sums_are_those_of_the_ticks)
{
	for (unsigned i = 0; i < 4 * WINDOW_TICKS; i++) {
		s->cpu[0].have = HAVE_SOFTNET | HAVE_STAT;
		s->cpu[0].have &= i % 7 == 3 ? ~(uint32_t)HAVE_SOFTNET : UINT32_MAX;
		s->cpu[0].processed += 0x30000000 + i;
		s->cpu[0].squeezed += i % 3 == 0 ? i : 0;
		s->cpu[0].dropped += i % 5 == 0 ? 1 : 0;
		s->cpu[0].busy += i % 11;
		s->cpu[0].total += 100;
		push(i == 2 * WINDOW_TICKS + 5 ? 3600 * USEC_PER_SEC : USEC_PER_SEC + i);
		for (unsigned ticks = 0; ticks <= WINDOW_TICKS + 1; ticks++) {
			struct cpu_sum sum = window_cpu(w, 0, ticks), want = {};
			uint64_t usec = 0;

			for (unsigned age = 0; age < MIN(ticks, w->filled); age++) {
				const struct tick *t = window_tick(w, age);
				const struct cpu_delta *d = &t->cpu[0];

				usec += t->end_usec - t->begin_usec;
				want.busy += d->busy;
				want.total += d->total;
				want.ticks += !!(d->have & HAVE_SOFTNET);
				want.processed += d->processed;
				want.squeezed += d->squeezed;
				want.squeezed_ticks += d->squeezed > 0;
				want.dropped_ticks += d->dropped > 0;
			}
			ck_assert_uint_eq(sum.ticks, want.ticks);
			ck_assert_uint_eq(sum.processed, want.processed);
			ck_assert_uint_eq(sum.squeezed, want.squeezed);
			ck_assert_uint_eq(sum.squeezed_ticks, want.squeezed_ticks);
			ck_assert_uint_eq(sum.dropped_ticks, want.dropped_ticks);
			ck_assert_uint_eq(sum.busy, want.busy);
			ck_assert_uint_eq(sum.total, want.total);
			ck_assert(sum.seconds == (double)usec / (double)USEC_PER_SEC);
		}
	}
	ck_assert_uint_eq(w->rebaselined, 1);
}
END_TEST

START_TEST(a_reset_interrupt_counter_is_no_storm)
{
	s->irq[0].have = true;
	s->irq[0].counts[1] = 5000;
	push(USEC_PER_SEC);
	s->irq[0].counts[0] = 7;
	s->irq[0].counts[1] = 12;
	push(USEC_PER_SEC);
	ck_assert_uint_eq(window_tick(w, 0)->irq[0].total, 7);
	ck_assert(cpuset_has(&w->irq_cpus[0], 0) && !cpuset_has(&w->irq_cpus[0], 1));
}
END_TEST

/* ksoftirqd is read on slow looks only. */
START_TEST(readings_that_skip_ticks_keep_their_own_time)
{
	s->cpu[0].have = HAVE_KSOFTIRQD;
	s->cpu[0].ksoftirqd_run_ns = 1000;
	push(USEC_PER_SEC);
	s->cpu[0].have = 0;
	for (unsigned i = 0; i < 9; i++) {
		push(USEC_PER_SEC);
		ck_assert_uint_eq(window_tick(w, 0)->cpu[0].have, 0);
	}
	s->cpu[0].have = HAVE_KSOFTIRQD;
	s->cpu[0].ksoftirqd_run_ns = 5000;
	s->cpu[0].ksoftirqd_wait_ns = 700;
	push(USEC_PER_SEC);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].have, HAVE_KSOFTIRQD);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].ksoftirqd_run_ns, 4000);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].ksoftirqd_usec, 10 * USEC_PER_SEC);
	s->cpu[0].ksoftirqd_run_ns = 10; /* born again */
	push(USEC_PER_SEC);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].have, 0);
}
END_TEST

START_TEST(other_sizes_start_anew)
{
	struct snapshot *bigger;

	push(USEC_PER_SEC);
	push(USEC_PER_SEC);
	ck_assert_int_eq(snapshot_new(4, 3, 2, &bigger), 0);
	bigger->mono_usec = bigger->boot_usec = s->mono_usec + USEC_PER_SEC;
	ck_assert_int_eq(window_push(w, bigger), 0);
	ck_assert_uint_eq(w->filled, 0);
	ck_assert_uint_eq(w->n_cpus, 4);
	snapshot_free(bigger);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("tunable"), *windows = tcase_create("window");
	Suite *suite = suite_create("model");
	SRunner *runner;
	int failed;

	tcase_add_test(t, every_setting_is_whole);
	tcase_add_test(t, values_have_one_spelling);
	tcase_add_test(t, impossible_values_are_refused);
	tcase_add_test(t, steps_are_whole_jiffies);
	tcase_add_test(t, steps_stay_inside);
	tcase_add_test(t, commands_are_exact);
	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(windows, window_setup, window_teardown);
	tcase_add_test(windows, counters_wrap_at_32_bits);
	tcase_add_test(windows, gauges_are_not_counters);
	tcase_add_test(windows, a_cpu_that_comes_or_goes_has_no_difference);
	tcase_add_test(windows, a_suspend_or_a_clock_jump_rebaselines);
	tcase_add_test(windows, the_window_is_a_ring);
	tcase_add_test(windows, sums_are_those_of_the_ticks);
	tcase_add_test(windows, a_reset_interrupt_counter_is_no_storm);
	tcase_add_test(windows, readings_that_skip_ticks_keep_their_own_time);
	tcase_add_test(windows, other_sizes_start_anew);
	suite_add_tcase(suite, windows);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
