/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NIC → queue → NAPI → IRQ → CPU → thread, as kernels and drivers tell it, or do not. */
#include <stdio.h>

#include "decide/nic.h"
#include "lib/fake-genl.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "observe/ethtool.h"
#include "observe/napis.h"
#include "observe/queue-stats.h"
#include "serve/show.h"
#include "observe/observe.h"

static struct machine *m;
static struct fake_genl *g;
static struct fake_nic *eth0;
static struct observer *o;
static struct topology *t;

static void boot(enum machine_nic_kind kind, unsigned queues)
{
	struct machine_nic nic = {.name = "eth0", .kind = kind, .queues = queues};

	m = machine_new(&(struct machine_spec){.cpus = 4, .nics = &nic, .n_nics = 1});
	g = fake_genl_new();
	m->io.genl = &g->genl;
	eth0 = fake_genl_add(g, 2, queues);
}

static void look(void)
{
	topology_free(TAKE_PTR(t));
	if (!o)
		ck_assert_int_eq(observer_new(&m->io, &o), 0);
	ck_assert_int_eq(observer_topology(o, &t), 0);
}

static void teardown(void)
{
	topology_free(TAKE_PTR(t));
	observer_free(TAKE_PTR(o));
	fake_genl_free(TAKE_PTR(g));
	machine_free(TAKE_PTR(m));
}

/* The source's text in a fresh snapshot; "" when all is well. */
static const char *said(enum source source, bool slow)
{
	static char text[160];
	struct snapshot *s;

	ck_assert_int_eq(observer_snapshot_new(t, &s), 0);
	ck_assert_int_eq(observer_read(o, t, slow, s), 0);
	snprintf(text, sizeof(text), "%s", s->source[source].text);
	snapshot_free(s);
	return text;
}

static unsigned irq_number(int index)
{
	ck_assert_int_ge(index, 0);
	return t->irq[index].number;
}

static unsigned named(const char *name)
{
	return m->irq[machine_irq(m, name)].number;
}

/* A driver that tells everything (ice, mlx5). */
START_TEST(driver_tells_all)
{
	boot(MACHINE_I40E, 4);
	/* Crosswise, so that neither order nor names can have been used. */
	for (unsigned i = 0; i < 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), "i40e-eth0-TxRx-%u", 3 - i);
		eth0->napi[i].rx_queue = (int)(3 - i);
		eth0->napi[i].irq = named(name);
		eth0->napi[i].pid = 900 + (int)i;
	}
	look();
	ck_assert_uint_eq(t->n_napis, 4);
	ck_assert(t->napis_told);
	for (unsigned i = 0; i < 4; i++) {
		char identity[IDENTITY_MAX + 16];

		ck_assert_uint_eq(t->napi[i].id, 8193 + i);
		ck_assert_int_eq(t->napi[i].rx_queue, 3 - (int)i);
		ck_assert(!t->napi[i].by_order);
		ck_assert_uint_eq(irq_number(t->napi[i].irq), eth0->napi[i].irq);
		ck_assert_int_eq(t->napi[i].thread, 900 + (int)i);
		ck_assert_uint_eq(t->napi[i].own_settings, 0xf);
		snprintf(identity, sizeof(identity), "%s|rx%u", t->nic[0].identity, 3 - i);
		ck_assert_str_eq(t->napi[i].identity, identity);
	}
	ck_assert(t->nic[0].channels.have);
	ck_assert_uint_eq(t->nic[0].channels.combined, 4);
	ck_assert_str_eq(said(SOURCE_NAPI, false), "");
	ck_assert_str_eq(said(SOURCE_ETHTOOL, false), "");
}
END_TEST

/* What each queue lost, of the drivers that tell (qstats-get, 6.10): the last queue comes first, transmit
 * queues in between. */
START_TEST(queues_count_for_themselves)
{
	_cleanup_free_ struct queue_stats *s = NULL;
	_cleanup_free_ char *shown = NULL;
	json_t *nics;
	size_t n, size;
	FILE *out;

	boot(MACHINE_VIRTIO, 3);
	for (unsigned i = 0; i < 3; i++) {
		eth0->napi[i].stat[QUEUE_PACKETS] = 1000 + i;
		eth0->napi[i].stat[QUEUE_HW_OVERRUNS] = UINT64_C(5000000000) * i;
		eth0->napi[i].stat_has = 1U << QUEUE_PACKETS | 1U << QUEUE_HW_OVERRUNS;
	}
	eth0->napi[1].stat_has = 0;
	ck_assert_int_eq(queue_stats_read(&m->io, 2, &s, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(s[0].queue, 0);
	ck_assert_uint_eq(s[1].queue, 2);
	ck_assert_uint_eq(s[1].have, 1U << QUEUE_PACKETS | 1U << QUEUE_HW_OVERRUNS);
	ck_assert_uint_eq(s[0].value[QUEUE_PACKETS], 1000);
	ck_assert_uint_eq(s[1].value[QUEUE_PACKETS], 1002);
	ck_assert_uint_eq(s[1].value[QUEUE_HW_OVERRUNS], UINT64_C(10000000000));
	nics = json_pack("[{s:s,s:[{s:i,s:i,s:n},{s:i,s:I,s:i}]}]", "nic", "eth0", "queues",
			 "rx_queue", 0, "rx_hw_drop_overruns", 0, "rx_alloc_fail", "rx_queue", 2,
			 "rx_hw_drop_overruns", (json_int_t)s[1].value[QUEUE_HW_OVERRUNS],
			 "rx_alloc_fail", 7);
	out = open_memstream(&shown, &size);
	show_queues(out, 100, nics);
	fclose(out);
	json_decref(nics);
	ck_assert_str_eq(shown,
			 "eth0: lost since the queues began: rx2 10000000000 for a full ring, "
			 "rx2 7 for want of memory\n");
}
END_TEST

/* Each way not to be told. */
START_TEST(queues_that_do_not_count)
{
	static const int errors[] = {EPERM, EINTR, ENOMEM, ENODEV, ETIMEDOUT};
	struct queue_stats *s;
	size_t n;

	boot(MACHINE_VIRTIO, 2);
	ck_assert_int_eq(queue_stats_read(&m->io, 2, &s, &n), 0);
	ck_assert(n == 0 && !s);
	eth0->napi[0].stat_has = 1;
	g->cut = true;
	ck_assert_int_eq(queue_stats_read(&m->io, 2, &s, &n), 0);
	ck_assert(n == 0 && !s);
	g->cut = false;
	for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
		g->fail_at = g->asked + 1;
		g->error = errors[i];
		ck_assert_int_eq(queue_stats_read(&m->io, 2, &s, &n), -errors[i]);
		ck_assert(n == 0 && !s);
	}
	g->fail_at = 0;
	eth0->gone = true;
	ck_assert_int_eq(queue_stats_read(&m->io, 2, &s, &n), -ENODEV);
	g->no_qstats = true;
	ck_assert_int_eq(queue_stats_read(&m->io, 2, &s, &n), -EOPNOTSUPP);
	g->no_netdev = true;
	ck_assert_int_eq(queue_stats_read(&m->io, 2, &s, &n), -ENOENT);
	m->io.genl = NULL;
	ck_assert_int_eq(queue_stats_read(&m->io, 2, &s, &n), -EOPNOTSUPP);
}
END_TEST

/* virtio_net of 6.12: neither queues nor interrupts, and no settings of their own. */
START_TEST(driver_tells_nothing)
{
	boot(MACHINE_VIRTIO, 4);
	g->no_queues = g->no_napi_set = true;
	look();
	ck_assert_uint_eq(t->n_napis, 4);
	for (unsigned i = 0; i < 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), "virtio0-input.%u", i);
		ck_assert_int_eq(t->napi[i].rx_queue, (int)i);
		ck_assert(t->napi[i].by_order);
		ck_assert_uint_eq(irq_number(t->napi[i].irq), named(name));
		ck_assert_uint_eq(t->napi[i].own_settings, 0);
	}
}
END_TEST

/* Instances of channels that are not in use are the last; and where the numbers fit nothing, no
 * queue is made up. */
START_TEST(order_needs_numbers_that_fit)
{
	boot(MACHINE_VIRTIO, 2);
	g->no_queues = true;
	eth0->n_napis = eth0->channels_max = 4;
	eth0->napi[2] = (struct fake_napi){.id = 8195, .rx_queue = -1, .tx_queue = -1};
	eth0->napi[3] = (struct fake_napi){.id = 8196, .rx_queue = -1, .tx_queue = -1};
	look();
	ck_assert_int_eq(t->napi[1].rx_queue, 1);
	ck_assert_int_eq(t->napi[2].rx_queue, -1);
	ck_assert_int_eq(t->napi[2].irq, -1);
	ck_assert_ptr_nonnull(strstr(t->napi[3].identity, "|napi3"));
	eth0->channels_max = 8;
	look();
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(t->napi[i].rx_queue, -1);
		ck_assert_int_eq(t->napi[i].irq, -1);
	}
}
END_TEST

/* 6.1 has no such family: threads are known by their names, if they are kernel threads. */
START_TEST(family_is_missing)
{
	boot(MACHINE_VIRTIO, 2);
	g->no_netdev = g->no_ethtool = true;
	machine_process(m, 701, "napi/eth0-8194", "", true);
	machine_process(m, 700, "napi/eth0-8193", "", true);
	machine_process(m, 702, "napi/eth0-0", "", true);     /* only transmits */
	machine_process(m, 703, "napi/eth0-8195", "", false); /* somebody's joke */
	machine_process(m, 704, "napi/eth9-8196", "", true);  /* a NIC that we do not know */
	machine_process(m, 705, "napi/-", "", true);
	look();
	ck_assert(!t->napis_told);
	ck_assert_uint_eq(t->n_napis, 2);
	ck_assert_int_eq(t->napi[0].thread, 700);
	ck_assert_int_eq(t->napi[0].rx_queue, 0);
	ck_assert_int_eq(t->napi[1].thread, 701);
	ck_assert_uint_eq(irq_number(t->napi[1].irq), named("virtio0-input.1"));
	ck_assert(!t->nic[0].channels.have);
	ck_assert_ptr_nonnull(strstr(said(SOURCE_NAPI, true), "this kernel does not list them"));
	ck_assert_ptr_nonnull(strstr(said(SOURCE_ETHTOOL, true), "family ethtool"));
}
END_TEST

/* Answers that are cut, and every errno at every request: unknown, and never a crash. */
START_TEST(answers_that_are_none)
{
	static const int errors[] = {EPERM, EINVAL, ENOBUFS, EAGAIN, EIO, ETIMEDOUT, ENOMEM};
	unsigned long requests;

	boot(MACHINE_VIRTIO, 2);
	g->cut = true;
	g->no_napi_set = true; /* then the last attribute is the NIC's */
	look();
	ck_assert_uint_eq(t->n_napis, 0);
	ck_assert_ptr_nonnull(
		strstr(said(SOURCE_NAPI, false), "2 NAPI instances without id or NIC"));
	g->cut = false;
	g->asked = 0;
	look();
	requests = g->asked;
	ck_assert_uint_gt(requests, 2);
	for (unsigned long at = 1; at <= requests; at++)
		for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
			struct topology *found = NULL;
			int r;

			g->asked = 0;
			g->fail_at = at;
			g->error = errors[i];
			r = observer_topology(o, &found);
			ck_assert(r == 0 || (r == -ENOMEM && errors[i] == ENOMEM));
			topology_free(found);
		}
}
END_TEST

/* Nothing is asked on a fast tick; a slow look asks once while all is as it was. */
START_TEST(costs_nothing_per_tick)
{
	boot(MACHINE_I40E, 4);
	look();
	said(SOURCE_NAPI, true);
	g->asked = 0;
	for (unsigned i = 0; i < 10; i++)
		said(SOURCE_NAPI, false);
	ck_assert_uint_eq(g->asked, 0);
	said(SOURCE_NAPI, true);
	ck_assert_uint_eq(g->asked, 1);
	ck_assert(!observer_napis_changed(o));
}
END_TEST

/* A reset gives new ids: seen at the next slow look, or at once after a link event, without a new
 * topology. */
START_TEST(reset_is_seen)
{
	boot(MACHINE_I40E, 4);
	look();
	said(SOURCE_NAPI, true);
	fake_genl_reset(g, eth0);
	said(SOURCE_NAPI, false);
	ck_assert(!observer_napis_changed(o));
	observer_note_link_change(o);
	said(SOURCE_NAPI, false);
	ck_assert(observer_napis_changed(o));
	ck_assert(!observer_napis_changed(o));
	ck_assert(!observer_topology_changed(o));
	ck_assert_uint_eq(t->napi[0].id, eth0->napi[0].id);
	ck_assert_int_eq(t->napi[0].rx_queue, 0);
}
END_TEST

START_TEST(values_are_read)
{
	struct target *targets;
	char value[64];
	int n;

	boot(MACHINE_I40E, 2);
	eth0->napi[1].setting[2] = UINT64_C(5000000000); /* does not fit four bytes */
	eth0->coalesce[1] = 77;
	eth0->coalesce_has = 0x2; /* rx_usecs only */
	look();
	n = topology_targets(t, TUNABLE_GRO_FLUSH_TIMEOUT, &targets);
	ck_assert_int_eq(n, 2);
	ck_assert_int_eq(
		observe_value(&m->io, TUNABLE_GRO_FLUSH_TIMEOUT, &targets[1], value, sizeof(value)),
		0);
	ck_assert_str_eq(value, "5000000000");
	free(targets);
	n = topology_targets(t, TUNABLE_COALESCE_RX_USECS, &targets);
	ck_assert_int_eq(n, 1);
	ck_assert_int_eq(
		observe_value(&m->io, TUNABLE_COALESCE_RX_USECS, targets, value, sizeof(value)), 0);
	ck_assert_str_eq(value, "77");
	ck_assert_int_eq(
		observe_value(&m->io, TUNABLE_COALESCE_TX_USECS, targets, value, sizeof(value)),
		-EOPNOTSUPP);
	eth0->gone = true;
	ck_assert_int_eq(
		observe_value(&m->io, TUNABLE_COALESCE_RX_USECS, targets, value, sizeof(value)),
		-ENODEV);
	free(targets);
	/* Without instances that can be set one by one: the device's file, where there is one. */
	eth0->gone = false;
	g->no_napi_set = true;
	look();
	n = topology_targets(t, TUNABLE_GRO_FLUSH_TIMEOUT, &targets);
	ck_assert_int_eq(n, 1);
	ck_assert_int_eq(targets[0].scope, SCOPE_NIC);
	free(targets);
	ck_assert_int_eq(topology_targets(t, TUNABLE_IRQ_SUSPEND_TIMEOUT, &targets), 0);
	free(targets);
}
END_TEST

/* Case G06: six NAPI threads on one CPU while the others idle. */
START_TEST(threads_belong_near_their_interrupts)
{
	struct cpuset allowed = cpuset_of(3);
	unsigned cpu[4];

	boot(MACHINE_I40E, 4);
	for (unsigned i = 0; i < 4; i++)
		eth0->napi[i].pid = 900 + (int)i;
	look();
	for (unsigned i = 0; i < t->n_cpus; i++)
		t->cpu[i].cache = (int)(i / 2);
	/* Interrupts apart: each thread with its own. Bound ones count where they are bound to. */
	for (unsigned q = 0; q < 4; q++) {
		struct irq *irq = &t->irq[t->napi[q].irq];

		irq->have_effective = irq->have_affinity = true;
		irq->affinity = q % 2 ? cpuset_of(3 - q) : t->online;
		irq->effective = q % 2 ? cpuset_of(0) : cpuset_of(3 - q);
	}
	nic_thread_plan(t, 0, NULL, cpu);
	for (unsigned q = 0; q < 4; q++)
		ck_assert_uint_eq(cpu[q], 3 - q);
	/* All interrupts on CPU 3: two of its cache share the threads. */
	for (unsigned q = 0; q < 4; q++)
		t->irq[t->napi[q].irq].affinity = cpuset_of(3);
	nic_thread_plan(t, 0, NULL, cpu);
	ck_assert_uint_eq(cpu[0], 3);
	ck_assert_uint_eq(cpu[1], 2);
	ck_assert_uint_eq(cpu[2], 3);
	ck_assert_uint_eq(cpu[3], 2);
	/* Nothing shares a cache: the node's CPUs do. */
	for (unsigned i = 0; i < t->n_cpus; i++)
		t->cpu[i].cache = (int)i;
	nic_thread_plan(t, 0, NULL, cpu);
	ck_assert_uint_eq(cpu[0], 3);
	ck_assert_uint_eq(cpu[1], 0);
	ck_assert_uint_eq(cpu[2], 1);
	ck_assert_uint_eq(cpu[3], 2);
	/* Isolated, or not allowed. */
	t->isolated = cpuset_of(3);
	nic_thread_plan(t, 0, NULL, cpu);
	for (unsigned q = 0; q < 4; q++)
		ck_assert_uint_ne(cpu[q], 3);
	nic_thread_plan(t, 0, &allowed, cpu);
	for (unsigned q = 0; q < 4; q++)
		ck_assert_uint_eq(cpu[q], CPU_ID_MAX);
	/* No interrupt known, or no thread. */
	t->isolated = (struct cpuset){};
	t->napi[0].irq = -1;
	t->napi[1].thread = 0;
	nic_thread_plan(t, 0, NULL, cpu);
	ck_assert_uint_eq(cpu[0], CPU_ID_MAX);
	ck_assert_uint_eq(cpu[1], CPU_ID_MAX);
	ck_assert_uint_eq(cpu[2], 3);
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("napis");

	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, driver_tells_all);
	tcase_add_test(c, queues_count_for_themselves);
	tcase_add_test(c, queues_that_do_not_count);
	tcase_add_test(c, driver_tells_nothing);
	tcase_add_test(c, order_needs_numbers_that_fit);
	tcase_add_test(c, family_is_missing);
	tcase_add_test(c, answers_that_are_none);
	tcase_add_test(c, costs_nothing_per_tick);
	tcase_add_test(c, reset_is_seen);
	tcase_add_test(c, values_are_read);
	tcase_add_test(c, threads_belong_near_their_interrupts);
	return run_suite("napis", c);
}
