/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The small parsers: /proc/stat, /proc/net/dev, /proc/pressure. */
#include "lib/run.h"
#include "observe/netdev.h"
#include "observe/pressure.h"
#include "observe/stat.h"

static struct snapshot *snapshot(unsigned n_cpus, unsigned n_nics)
{
	struct snapshot *s;

	ck_assert_int_eq(snapshot_new(n_cpus, 0, n_nics, &s), 0);
	return s;
}

static void stat_text(struct snapshot *s, const char *text, struct stat_reading *ret)
{
	snapshot_clear(s);
	stat_into_snapshot(text, strlen(text), s, ret);
}

START_TEST(stat_by_name)
{
	_cleanup_(snapshot_freep) struct snapshot *s = snapshot(4, 0);
	struct stat_reading r;

	stat_text(s,
		  "cpu  10 20 30 40 50 60 70 80 0 0\n"
		  "cpu3 1 2 4 8 16 32 64 128 256 512\n"
		  "cpu0 5 5 5 5\n"
		  "cpu9 1 1 1 1 1 1 1 1\n"
		  "intr 99 7 0 12\n"
		  "ctxt 5\n",
		  &r);
	ck_assert_int_eq(s->source[SOURCE_STAT].state, SOURCE_OK);
	ck_assert(cpuset_has(&r.online, 0) && cpuset_has(&r.online, 3) && cpuset_has(&r.online, 9));
	ck_assert_uint_eq(cpuset_count(&r.online), 3);
	/* guest is in user already */
	ck_assert_uint_eq(s->cpu[3].total, 255);
	ck_assert_uint_eq(s->cpu[3].busy, 255 - 8 - 16);
	ck_assert_uint_eq(s->cpu[3].irq_time, 32);
	ck_assert_uint_eq(s->cpu[3].softirq_time, 64);
	ck_assert_uint_eq(s->cpu[3].steal, 128);
	/* four columns are all that some kernel had */
	ck_assert_uint_eq(s->cpu[0].total, 20);
	ck_assert_uint_eq(s->cpu[0].softirq_time, 0);
	ck_assert_uint_eq(s->cpu[0].have, HAVE_STAT);
	ck_assert_uint_eq(s->cpu[1].have, 0);
	ck_assert_uint_eq(slice_length(r.intr), strlen(" 7 0 12"));
}
END_TEST

START_TEST(stat_strange)
{
	_cleanup_(snapshot_freep) struct snapshot *s = snapshot(2, 0);
	struct stat_reading r;

	stat_text(s, "", &r);
	ck_assert_int_eq(s->source[SOURCE_STAT].state, SOURCE_STRANGE);
	ck_assert(cpuset_empty(&r.online));
	stat_text(s, "cpu  1 2 3 4\ncpu0 1 2 x 4\ncpu1 1 2 3 4\n", &r);
	ck_assert_int_eq(s->source[SOURCE_STAT].state, SOURCE_STRANGE);
	ck_assert_ptr_nonnull(strstr(s->source[SOURCE_STAT].text, "/proc/stat:2:"));
	ck_assert_uint_eq(s->cpu[0].have, 0);
	ck_assert_uint_eq(s->cpu[1].have, HAVE_STAT);
	/* the same CPU twice, an id out of bounds, a row that is cut */
	stat_text(s, "cpu1 1 2 3 4\ncpu1 1 2 3 4\ncpu2048 1 2 3 4\ncpu0 1 2 3\n", &r);
	ck_assert_ptr_nonnull(strstr(s->source[SOURCE_STAT].text, "(and 2 more)"));
	ck_assert_uint_eq(cpuset_count(&r.online), 1);
}
END_TEST

START_TEST(netdev_by_name)
{
	_cleanup_(snapshot_freep) struct snapshot *s = snapshot(1, 3);
	struct nic nics[] = {{.name = "eth0"}, {.name = "eth1"}, {.name = "eth10"}};
	struct topology t = {.n_nics = 3, .nic = nics};
	const char *text =
		"Inter-|   Receive                                                |  Transmit\n"
		" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
		"    lo:    3267      29    0    0    0     0          0         0     3267      29    0\n"
		" eth10:    1      1000    0    5    6     0          0         0     3267      29    0\n"
		"  eth0:12345678901234 4000000000    0    1    2     0          0   0 0 0 0\n"
		"veth123: 1 1 1 1 1 1 1 1\n";

	netdev_into_snapshot(text, strlen(text), &t, s);
	ck_assert_int_eq(s->source[SOURCE_NETDEV].state, SOURCE_OK);
	ck_assert(s->nic[0].have && s->nic[2].have && !s->nic[1].have);
	ck_assert_uint_eq(s->nic[0].rx_packets, 4000000000);
	ck_assert_uint_eq(s->nic[0].rx_dropped, 1);
	ck_assert_uint_eq(s->nic[0].rx_missed, 2);
	ck_assert_uint_eq(s->nic[2].rx_packets, 1000);

	snapshot_clear(s);
	text = "eth1: 1 2 3\neth0: 1 2 3 4 5\n";
	netdev_into_snapshot(text, strlen(text), &t, s);
	ck_assert_int_eq(s->source[SOURCE_NETDEV].state, SOURCE_STRANGE);
	ck_assert(!s->nic[1].have);
	ck_assert(s->nic[0].have);

	snapshot_clear(s);
	netdev_into_snapshot("", 0, &t, s);
	ck_assert_int_eq(s->source[SOURCE_NETDEV].state, SOURCE_STRANGE);
}
END_TEST

START_TEST(pressure)
{
	struct pressure p = {};
	const char *cpu = "some avg10=46.95 avg60=28.76 avg300=14.37 total=104093530\n"
			  "full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n",
		   *irq = "full avg10=0.00 avg60=0.00 avg300=0.00 total=345\n";

	ck_assert(pressure_parse(cpu, strlen(cpu), &p));
	ck_assert_uint_eq(p.some_usec, 104093530);
	ck_assert_uint_eq(p.full_usec, 12);
	ck_assert(pressure_parse(irq, strlen(irq), &p));
	ck_assert_uint_eq(p.some_usec, 345);
	ck_assert_uint_eq(p.full_usec, 345);
	ck_assert(!pressure_parse("", 0, &p));
	ck_assert(!pressure_parse("some total=-1\n", 14, &p));
	ck_assert(!pressure_parse("some avg10=0.00 total=\n", 23, &p));
	ck_assert_uint_eq(p.some_usec, 345);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("sensors");

	tcase_add_test(t, stat_by_name);
	tcase_add_test(t, stat_strange);
	tcase_add_test(t, netdev_by_name);
	tcase_add_test(t, pressure);
	return run_suite("sensors", t);
}
