/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/softirq_stat: columns by name, CPUs by number, and nothing out of a file that is not it. */
#include <check.h>
#include <stdio.h>

#include "lib/machine.h"
#include "lib/run.h"
#include "lib/watch.h"
#include "model/window.h"
#include "observe/softirq-stat.h"

#define LIMITS                                                                                  \
	"limits policy=default clock=jiffies tick_us=4000 time_us=2000 effective_time_us=4000 " \
	"max_restart=10 effective_passes=10\n"
#define COLUMNS                                                                                     \
	"cpu time resched count policy k_time k_resched k_count k_policy wake_raise wake_irq_exit " \
	"wake_bh_enable idle_HI idle_TIMER idle_NET_TX idle_NET_RX idle_BLOCK idle_IRQ_POLL "       \
	"idle_TASKLET idle_SCHED idle_HRTIMER idle_RCU idle_blocked"
/* as the patched kernel printed it */
#define ROW(cpu) #cpu " 2 51 7 1 4 5 3 6 1187 10 20 0 101 102 103 104 105 106 107 108 109 110"

static struct snapshot *s;

static void setup(void)
{
	ck_assert_int_eq(snapshot_new(4, 0, 0, &s), 0);
}

static void teardown(void)
{
	snapshot_free(s);
}

static void into(const char *text)
{
	snapshot_clear(s);
	softirq_stat_into_snapshot(text, strlen(text), s);
}

static uint32_t cpus_with_stat(void)
{
	uint32_t set = 0;

	for (unsigned cpu = 0; cpu < s->n_cpus; cpu++)
		set |= (s->cpu[cpu].have & HAVE_SOFTIRQ_STAT ? 1U : 0U) << cpu;
	return set;
}

static void expect_ok(void)
{
	ck_assert_msg(s->source[SOURCE_SOFTIRQ_STAT].state == SOURCE_OK, "%s",
		      s->source[SOURCE_SOFTIRQ_STAT].text);
}

static void expect_strange(const char *words)
{
	const struct source_status *status = &s->source[SOURCE_SOFTIRQ_STAT];

	ck_assert_int_eq(status->state, SOURCE_STRANGE);
	ck_assert_msg(strstr(status->text, words) != NULL, "%s", status->text);
}

START_TEST(whole)
{
	const struct cpu_sample *c = &s->cpu[2];

	into("version 1\n" LIMITS COLUMNS "\n" ROW(0) "\n" ROW(2) "\n");
	expect_ok();
	ck_assert_uint_eq(cpus_with_stat(), 1U << 0 | 1U << 2);
	ck_assert_uint_eq(c->handover[HANDOVER_TIME], 2);
	ck_assert_uint_eq(c->handover[HANDOVER_RESCHED], 51);
	ck_assert_uint_eq(c->handover[HANDOVER_COUNT], 7);
	ck_assert_uint_eq(c->handover[HANDOVER_POLICY], 1);
	ck_assert_uint_eq(c->own_handover[HANDOVER_TIME], 4);
	ck_assert_uint_eq(c->own_handover[HANDOVER_POLICY], 6);
	ck_assert_uint_eq(c->ksoftirqd_wakes, 1187 + 10 + 20);
	ck_assert_uint_eq(c->nohz_pending[SOFTIRQ_HI], 0);
	ck_assert_uint_eq(c->nohz_pending[SOFTIRQ_NET_TX], 102);
	ck_assert_uint_eq(c->nohz_pending[SOFTIRQ_NET_RX], 103);
	ck_assert_uint_eq(c->nohz_pending[SOFTIRQ_RCU], 109);
	ck_assert_uint_eq(c->nohz_blocked, 110);
	ck_assert(s->limits.have && s->limits.timed && !s->limits.precise);
	ck_assert_str_eq(s->limits.policy, "default");
	ck_assert_uint_eq(s->limits.tick_usec, 4000);
	ck_assert_uint_eq(s->limits.effective_usec, 4000);
	ck_assert_uint_eq(s->limits.effective_passes, 10);
}
END_TEST

/* What a later series may add: columns at the end of the lines, pairs at the end of the second; and
 * columns by name, wherever they stand. */
START_TEST(grown)
{
	into("version 1\nlimits policy=latency clock=local tick_us=1000 time_us=1 "
	     "effective_time_us=none max_restart=3 effective_passes=10000 burst=7\n" COLUMNS
	     " idle_FUTURE more\n" ROW(1) " 8 9\n");
	expect_ok();
	ck_assert_uint_eq(cpus_with_stat(), 1U << 1);
	ck_assert(s->limits.have && !s->limits.timed && s->limits.precise);
	into("version 1\n" LIMITS
	     "cpu idle_NET_RX wake_bh_enable time resched count policy k_time k_resched k_count "
	     "k_policy wake_raise wake_irq_exit idle_NET_TX\n"
	     "3 18446744073709551615 1 2 3 4 5 6 7 8 9 10 11 12\n");
	expect_ok();
	ck_assert_uint_eq(s->cpu[3].nohz_pending[SOFTIRQ_NET_RX], UINT64_MAX);
	ck_assert_uint_eq(s->cpu[3].handover[HANDOVER_TIME], 2);
	ck_assert_uint_eq(s->cpu[3].ksoftirqd_wakes, 1 + 10 + 11);
	/* a CPU that the topology does not count is nobody's */
	into("version 1\n" LIMITS COLUMNS "\n" ROW(0) "\n" ROW(900) "\n");
	expect_ok();
	ck_assert_uint_eq(cpus_with_stat(), 1);
}
END_TEST

START_TEST(refused)
{
	static const struct {
		const char *text, *words;
		uint32_t cpus;
		bool limits;
	} cases[] = {
		{"", "empty", 0, false},
		{"version 2\n" LIMITS COLUMNS "\n" ROW(0) "\n", ":1: \"version 2\"", 0, false},
		{"version 1 \001\n", ":1: \"version 1 ?\"", 0, false},
		{"version 1\n", "limits is not there", 0, false},
		{"version 1\n" COLUMNS "\n" ROW(0) "\n", ":2: the line of limits", 0, false},
		{"version 1\n" LIMITS, ":3: the line of column names", 0, true},
		{"version 1\n" LIMITS ROW(0) "\n", ":3: the line of column names", 0, true},
		{"version 1\n" LIMITS "cpu time resched\n0 1 2\n", "column count is missing", 0,
		 true},
		{"version 1\n" LIMITS COLUMNS " time\n" ROW(0) " 1\n", "column time is there twice",
		 0, true},
		{"version 1\n" LIMITS COLUMNS "\n", "no CPU has a row", 0, true},
		/* only the bad row is unknown */
		{"version 1\n" LIMITS COLUMNS "\n" ROW(0) "\n1 2 3\n", ":5: row refused: 3 numbers",
		 1, true},
		{"version 1\n" LIMITS COLUMNS "\n" ROW(0) " 5\n" ROW(1) "\n", ":4: row refused: 24",
		 2, true},
		{"version 1\n" LIMITS COLUMNS "\n" ROW(-1) "\n" ROW(1) "\n", "\"-1\" is no CPU", 2,
		 true},
		{"version 1\n" LIMITS COLUMNS "\n" ROW(0) "\n1 x 3\n", "\"x\" is no count", 1,
		 true},
		{"version 1\n" LIMITS COLUMNS "\n" ROW(0) "\n1 18446744073709551616 3\n",
		 "is no count", 1, true},
		{"version 1\n" LIMITS COLUMNS "\n" ROW(0) "\n" ROW(1) "\n" ROW(1) "\n",
		 "CPU 1 has two rows", 1, true},
		/* the limits are bad, the counters stand for themselves */
		{"version 1\nlimits policy=default\n" COLUMNS "\n" ROW(0) "\n", "pairs are missing",
		 1, false},
		{"version 1\nlimits policy= clock=jiffies\n" COLUMNS "\n" ROW(0) "\n", "policy=", 1,
		 false},
		{"version 1\nlimits clock=jiffies clock=local\n" COLUMNS "\n" ROW(0) "\n",
		 "clock=twice", 1, false},
		{"version 1\nlimits clock=tsc\n" COLUMNS "\n" ROW(0) "\n", "clock=", 1, false},
		{"version 1\nlimits tick_us=4294967296\n" COLUMNS "\n" ROW(0) "\n", "tick_us=", 1,
		 false},
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		into(cases[i].text);
		expect_strange(cases[i].words);
		ck_assert_msg(cpus_with_stat() == cases[i].cpus, "case %zu: CPUs %x", i,
			      cpus_with_stat());
		ck_assert_msg(s->limits.have == cases[i].limits, "case %zu", i);
	}
}
END_TEST

/* Cut off anywhere, it never gives a number that is not in the whole. */
START_TEST(cut)
{
	static const char text[] = "version 1\n" LIMITS COLUMNS "\n" ROW(0) "\n" ROW(1) "\n";

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		snapshot_clear(s);
		softirq_stat_into_snapshot(text, n, s);
		if (cpus_with_stat() & 1)
			ck_assert_uint_eq(s->cpu[0].nohz_blocked, 110);
		/* Without its newline the last number may have lost digits. */
		ck_assert(!(cpus_with_stat() & 2));
	}
}
END_TEST

START_TEST(nasty)
{
	static char big[1 << 20];

	memset(big, '9', sizeof(big));
	memcpy(big, "version 1\n" LIMITS "cpu ", sizeof("version 1\n" LIMITS "cpu ") - 1);
	softirq_stat_into_snapshot(big, sizeof(big), s);
	expect_strange("missing");
	for (size_t i = sizeof("version 1\n" LIMITS "cpu ") - 1; i < sizeof(big); i++)
		big[i] = "a "[i % 2];
	softirq_stat_into_snapshot(big, sizeof(big), s);
	expect_strange("more than 256 columns");
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 2654435761U >> 13);
	softirq_stat_into_snapshot(big, sizeof(big), s);
	ck_assert_uint_eq(cpus_with_stat(), 0);
}
END_TEST

START_TEST(differences)
{
	_cleanup_(window_freep) struct window *w = NULL;
	const struct cpu_delta *d;

	ck_assert_int_eq(window_new(&w), 0);
	for (unsigned i = 0; i < 3; i++) {
		into("version 1\n" LIMITS COLUMNS "\n" ROW(0) "\n");
		s->mono_usec = s->boot_usec = (i + 1) * USEC_PER_SEC;
		s->cpu[0].handover[HANDOVER_TIME] += i * 10ULL;
		s->cpu[0].own_handover[HANDOVER_COUNT] += i * 3ULL;
		s->cpu[0].nohz_pending[SOFTIRQ_NET_RX] += i * 2ULL;
		/* born in the second snapshot: no difference yet */
		s->cpu[1].have |= i > 0 ? HAVE_SOFTIRQ_STAT : 0;
		s->cpu[1].handover[HANDOVER_TIME] = 1000;
		ck_assert_int_eq(window_push(w, s), 0);
	}
	d = window_tick(w, 0)->cpu;
	ck_assert_uint_eq(d[0].handover[HANDOVER_TIME], 10);
	ck_assert_uint_eq(d[0].own_handovers, 3);
	ck_assert_uint_eq(d[0].nohz_net_rx, 2);
	ck_assert_uint_eq(d[0].nohz_net_tx, 0);
	ck_assert(!(window_tick(w, 1)->cpu[1].have & HAVE_SOFTIRQ_STAT));
	ck_assert_uint_eq(window_handovers(w, 0, 2).handover[HANDOVER_TIME], 20);
	ck_assert_uint_eq(window_handovers(w, 0, 2).ticks, 2);
	ck_assert_uint_eq(window_handovers(w, 1, 2).ticks, 1);
	ck_assert_uint_eq(window_handovers(w, 3, 2).ticks, 0);
	/* a 32-bit kernel's counter wrapped: nothing, never 2^64 */
	s->mono_usec = s->boot_usec = 4 * USEC_PER_SEC;
	s->cpu[0].handover[HANDOVER_TIME] = 1;
	ck_assert_int_eq(window_push(w, s), 0);
	ck_assert_uint_eq(window_tick(w, 0)->cpu[0].handover[HANDOVER_TIME], 0);
}
END_TEST

START_TEST(live)
{
	_cleanup_(machine_freep) struct machine *m =
		machine_new(&(struct machine_spec){.cpus = 2, .series = true});
	_watch_ w = watch_begin(&m->io);

	m->cpu[1].series_stat[1] = 12;
	machine_write(m);
	watch_read(&w, false);
	ck_assert_int_eq(w.snapshot->source[SOURCE_SOFTIRQ_STAT].state, SOURCE_OK);
	ck_assert_uint_eq(w.snapshot->cpu[1].handover[HANDOVER_RESCHED], 12);
	ck_assert(w.snapshot->limits.have);
	machine_set_online(m, 1, false);
	machine_write(m);
	watch_read(&w, false);
	ck_assert(!(w.snapshot->cpu[1].have & HAVE_SOFTIRQ_STAT));
}
END_TEST

START_TEST(stock_kernel)
{
	_cleanup_(machine_freep) struct machine *m = machine_new(&(struct machine_spec){.cpus = 2});
	_watch_ w = watch_begin(&m->io);
	const struct source_status *status = &w.snapshot->source[SOURCE_SOFTIRQ_STAT];

	for (unsigned i = 0; i < 3; i++) {
		watch_read(&w, i == 2);
		ck_assert_int_eq(status->state, SOURCE_ABSENT);
		ck_assert_ptr_nonnull(strstr(status->text, "does not have softnetd's series"));
		ck_assert(!w.snapshot->limits.have);
	}
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("softirq-stat");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, whole);
	tcase_add_test(t, grown);
	tcase_add_test(t, refused);
	tcase_add_test(t, cut);
	tcase_add_test(t, nasty);
	tcase_add_test(t, differences);
	tcase_add_test(t, live);
	tcase_add_test(t, stock_kernel);
	return run_suite("softirq-stat", t);
}
