/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a symptom says when there is little to see: no packets, no numbers, no CPU. */
#include "decide/symptom.h"
#include "lib/plant.h"
#include "lib/run.h"

static struct plant p;

static void setup(void)
{
	plant_init(&p, 4, false, 4);
	for (unsigned i = 0; i < 4; i++)
		p.cpu[i] = (struct plant_cpu){
			.packets = 5000, .runs = 2000, .softirq = 0.05, .busy = 0.1};
	p.nic_packets = 20000;
}

static void teardown(void)
{
	plant_done(&p);
}

static const struct {
	enum symptom symptom;
	struct plant_cpu cpu;
	double psi;
} by_cpu[] = {
	{SYMPTOM_BACKLOG_DROP, {.packets = 5000, .drops = 500, .runs = 500}, 0},
	{SYMPTOM_SQUEEZED, {.packets = 29000, .runs = 100, .squeezes = 80, .softirq = 0.5}, 0},
	{SYMPTOM_HOT_CPU, {.packets = 5000, .runs = 500, .softirq = 0.9, .busy = 0.9}, 0},
	{SYMPTOM_KSOFTIRQD_LAG,
	 {.packets = 5000, .runs = 500, .lag_run = 0.1, .lag_wait = 0.2, .busy = 0.5},
	 0},
	{SYMPTOM_SOFTIRQ_HOG, {.packets = 5000, .runs = 500, .softirq = 0.7, .busy = 0.9}, 0.5},
};

static const struct symptom_report *enter(int i)
{
	p.psi = by_cpu[i].psi;
	plant_run(&p, 10);
	ck_assert(!plant_report(&p, by_cpu[i].symptom));
	p.cpu[1] = by_cpu[i].cpu;
	plant_run(&p, 6);
	return plant_report(&p, by_cpu[i].symptom);
}

/* Timers, RCU and block devices use softirqs, too, and ksoftirqd: nothing of ours waits for them. */
START_TEST(softirqs_without_packets_are_not_ours)
{
	struct plant_cpu alone = by_cpu[_i].cpu;

	ck_assert_ptr_nonnull(enter(_i)); /* with packets it is one */
	teardown();
	setup();
	alone.packets = 2;
	alone.runs = 2;
	p.psi = by_cpu[_i].psi;
	plant_run(&p, 10);
	p.cpu[1] = alone;
	for (unsigned i = 0; i < 60; i++) {
		plant_run(&p, 1);
		ck_assert_uint_eq(p.out->n_reports, 0);
	}
}
END_TEST

START_TEST(waiting_softirqs_say_how_many_packets_wait)
{
	const struct symptom_report *r = enter(3);

	ck_assert_msg(strstr(r->text, "softirqs handed over to ksoftirqd on CPU 1 wait for it, and "
				      "5000 packets/s with them"),
		      "%s", r->text);
}
END_TEST

/* After a suspend or a hotplug there is nothing to compare with for a tick: that is not 0 a second. */
START_TEST(no_numbers_say_what_was_said_last)
{
	const struct symptom_report *r = enter(_i);
	char text[256];
	uint64_t since;

	ck_assert_ptr_nonnull(r);
	memcpy(text, r->text, sizeof(text));
	since = r->since_usec;
	window_reset(p.window);
	plant_run(&p, 1);
	r = plant_report(&p, by_cpu[_i].symptom);
	ck_assert_ptr_nonnull(r);
	ck_assert_str_eq(r->text, text);
	ck_assert_uint_gt(r->n_evidence, 0);
	ck_assert_uint_eq(r->since_usec, since);
	ck_assert(!r->acute);
	/* And it goes on, without having ended. */
	for (unsigned i = 0; i < 8; i++) {
		plant_run(&p, 1);
		r = plant_report(&p, by_cpu[_i].symptom);
		ck_assert_ptr_nonnull(r);
		ck_assert_uint_eq(r->since_usec, since);
		ck_assert_msg(!strstr(r->text, " 0 ") && !strstr(r->text, " 0/s"), "%s", r->text);
	}
	ck_assert(r->acute);
}
END_TEST

/* But a symptom that nobody can see any more is over after the usual ticks. */
START_TEST(no_numbers_for_long_end_it)
{
	ck_assert_ptr_nonnull(enter(_i));
	for (unsigned i = 0; i < LEAVE_TICKS; i++) {
		window_reset(p.window);
		plant_run(&p, 1);
	}
	ck_assert(!plant_report(&p, by_cpu[_i].symptom));
}
END_TEST

START_TEST(cpu_that_went_offline_has_no_symptom)
{
	ck_assert_ptr_nonnull(enter(_i));
	cpuset_remove(&p.topology->online, 1);
	p.cpu[1] = (struct plant_cpu){};
	plant_run(&p, 1);
	ck_assert(!plant_report(&p, by_cpu[_i].symptom));
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, softirqs_without_packets_are_not_ours, 2, 5);
	tcase_add_test(t, waiting_softirqs_say_how_many_packets_wait);
	tcase_add_loop_test(t, no_numbers_say_what_was_said_last, 0, 5);
	tcase_add_loop_test(t, no_numbers_for_long_end_it, 0, 5);
	tcase_add_loop_test(t, cpu_that_went_offline_has_no_symptom, 0, 5);
	return run_suite("symptom", t);
}
