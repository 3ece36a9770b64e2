/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recording's format: what is written comes back, what is private does not get in, and what no
 * writer wrote is refused by line. */
#include <stdio.h>

#include "lib/machine.h"
#include "lib/run.h"
#include "lib/watch.h"
#include "serve/trace-format.h"
#include "serve/trace-mask.h"
#include "serve/trace-read.h"

#define _machine_ _cleanup_(machine_freep) struct machine

static struct profile *profile;

static void setup(void)
{
	profile = calloc(1, sizeof(*profile));
	ck_assert_ptr_nonnull(profile);
	profile->name = strdup("test");
	profile->setting[TUNABLE_NETDEV_BUDGET] =
		(struct profile_setting){.kind = SETTING_RANGE, .low = 300, .high = 1200};
	profile->setting[TUNABLE_GOVERNOR] = (struct profile_setting){
		.kind = SETTING_VALUE, .value = strdup("schedutil|powersave")};
	profile->n_nics = 2;
	profile->nic = calloc(2, sizeof(*profile->nic));
	profile->nic[0] = (struct nic_rule){.match = strdup("eth*"),
					    .placement = PLACEMENT_PACK,
					    .has_cpus = true,
					    .cpus = cpuset_of(1)};
	profile->nic[1] = (struct nic_rule){.match = strdup("wlan*"),
					    .placement = PLACEMENT_NEAR,
					    .has_near_cpus = true,
					    .near_cpus = cpuset_of(2)};
	profile->place_despite_irqbalance = true;
	profile->objective = OBJECTIVE_WAIT;
}

static void teardown(void)
{
	profile_free(profile);
}

/* ---- a writer beside an observer, and a reader behind it ---- */

struct tape {
	struct trace_writer *writer;
	FILE *out;
	char *text;
	size_t size;
};

static void tape_begin(struct tape *t)
{
	const struct trace_about about = {.mode = MODE_APPLY,
					  .profile = profile,
					  .changes_per_hour = 30,
					  .moves_per_round = 4};

	t->out = open_memstream(&t->text, &t->size);
	ck_assert_ptr_nonnull(t->out);
	ck_assert_int_eq(trace_writer_new(t->out, &about, &t->writer), 0);
}

static void tape_done(struct tape *t)
{
	trace_writer_free(t->writer);
	fclose(t->out);
	free(t->text);
}
#define _tape_ _cleanup_(tape_done) struct tape

static size_t tape_tick(struct tape *t, struct watch *w, bool discovered, const struct values *v)
{
	uint64_t before = trace_writer_bytes(t->writer);

	ck_assert_int_eq(trace_write(t->writer, w->topology, discovered, w->snapshot, v), 0);
	return (size_t)(trace_writer_bytes(t->writer) - before);
}

static struct trace_reader *open_text(const char *text, size_t size, FILE **ret_in,
				      struct complaints *c)
{
	struct trace_reader *r = NULL;

	*ret_in = fmemopen((char *)text, size, "r");
	ck_assert_ptr_nonnull(*ret_in);
	trace_reader_new(*ret_in, c, &r);
	return r;
}

static void same_cpu(const struct cpu_sample *a, const struct cpu_sample *b)
{
	ck_assert_uint_eq(a->have, b->have);
	for (size_t i = 0; i < trace_n_fields; i++)
		if (a->have & trace_fields[i].have)
			ck_assert_msg(trace_get(a, &trace_fields[i]) ==
					      trace_get(b, &trace_fields[i]),
				      "%s", trace_fields[i].name);
}

static void same_snapshot(const struct snapshot *a, const struct snapshot *b)
{
	ck_assert_uint_eq(a->mono_usec, b->mono_usec);
	ck_assert_uint_lt(llabs((long long)(a->boot_usec - b->boot_usec)), BOOT_SLACK_USEC);
	ck_assert_int_eq(a->slow, b->slow);
	ck_assert(cpuset_equal(&a->online, &b->online));
	ck_assert_uint_eq(a->n_cpus, b->n_cpus);
	ck_assert_uint_eq(a->n_irqs, b->n_irqs);
	ck_assert_uint_eq(a->n_nics, b->n_nics);
	for (size_t i = 0; i < _SOURCE_MAX; i++) {
		ck_assert_int_eq(a->source[i].state, b->source[i].state);
		ck_assert_int_eq(a->source[i].error, b->source[i].error);
	}
	for (unsigned i = 0; i < a->n_cpus; i++)
		same_cpu(&a->cpu[i], &b->cpu[i]);
	for (unsigned i = 0; i < a->n_irqs; i++) {
		ck_assert_int_eq(a->irq[i].have, b->irq[i].have);
		if (a->irq[i].have)
			ck_assert_mem_eq(a->irq[i].counts, b->irq[i].counts,
					 a->n_cpus * sizeof(uint32_t));
		ck_assert_int_eq(a->irq[i].thread_pid, b->irq[i].thread_pid);
		if (a->irq[i].thread_pid == 0)
			continue;
		ck_assert_uint_eq(a->irq[i].thread_run_ns, b->irq[i].thread_run_ns);
		ck_assert_uint_eq(a->irq[i].thread_wait_ns, b->irq[i].thread_wait_ns);
		ck_assert_uint_eq(a->irq[i].thread_switches, b->irq[i].thread_switches);
	}
	for (unsigned i = 0; i < a->n_nics; i++) {
		ck_assert_int_eq(a->nic[i].have, b->nic[i].have);
		if (!a->nic[i].have)
			continue;
		ck_assert_uint_eq(a->nic[i].rx_packets, b->nic[i].rx_packets);
		ck_assert_uint_eq(a->nic[i].rx_dropped, b->nic[i].rx_dropped);
		ck_assert_uint_eq(a->nic[i].rx_missed, b->nic[i].rx_missed);
	}
	ck_assert_int_eq(a->psi_cpu.have, b->psi_cpu.have);
	ck_assert_int_eq(a->psi_irq.have, b->psi_irq.have);
	if (a->psi_cpu.have)
		ck_assert_uint_eq(a->psi_cpu.some_usec, b->psi_cpu.some_usec);
	ck_assert_uint_eq(a->n_events, b->n_events);
	for (unsigned i = 0; i < a->n_events; i++) {
		ck_assert_int_eq(a->event[i].kind, b->event[i].kind);
		ck_assert_uint_eq(a->event[i].mask, b->event[i].mask);
		ck_assert_int_eq(a->event[i].old, b->event[i].old);
		ck_assert_uint_eq(a->event[i].seq, b->event[i].seq);
		ck_assert_uint_eq(a->event[i].boot_usec, b->event[i].boot_usec);
		ck_assert_str_eq(a->event[i].text, b->event[i].text);
	}
	ck_assert_uint_eq(a->events_lost, b->events_lost);
	ck_assert_uint_eq(a->kmsg_records_lost, b->kmsg_records_lost);
	ck_assert_uint_eq(a->nohz_lines, b->nohz_lines);
}

static void same_topology(const struct topology *a, const struct topology *b)
{
	ck_assert_uint_eq(a->n_cpus, b->n_cpus);
	ck_assert_mem_eq(a->cpu, b->cpu, a->n_cpus * sizeof(*a->cpu));
	ck_assert(cpuset_equal(&a->possible, &b->possible));
	ck_assert(cpuset_equal(&a->online, &b->online));
	ck_assert(cpuset_equal(&a->isolated, &b->isolated));
	ck_assert_uint_eq(a->hz, b->hz);
	ck_assert_uint_eq(a->user_hz, b->user_hz);
	for (size_t i = 0; i < trace_n_flags; i++)
		ck_assert_int_eq(*((const bool *)a + trace_flags[i].offset),
				 *((const bool *)b + trace_flags[i].offset));
	ck_assert_str_eq(a->kernel, b->kernel);
	ck_assert_str_eq(a->rivals, b->rivals);
	ck_assert_uint_eq(a->n_irqs, b->n_irqs);
	for (unsigned i = 0; i < a->n_irqs; i++) {
		const struct irq *x = &a->irq[i], *y = &b->irq[i];

		ck_assert_uint_eq(x->number, y->number);
		ck_assert_int_eq(x->nic, y->nic);
		ck_assert_int_eq(x->queue, y->queue);
		ck_assert_int_eq(x->role, y->role);
		ck_assert_int_eq(x->managed, y->managed);
		ck_assert_int_eq(x->shared, y->shared);
		ck_assert_int_eq(x->banned, y->banned);
		ck_assert_int_eq(x->have_affinity, y->have_affinity);
		ck_assert_int_eq(x->have_effective, y->have_effective);
		ck_assert(cpuset_equal(&x->affinity, &y->affinity));
		ck_assert(cpuset_equal(&x->effective, &y->effective));
		ck_assert_str_eq(x->name, y->name);
		ck_assert_str_eq(x->identity, y->identity);
	}
	ck_assert_uint_eq(a->n_nics, b->n_nics);
	for (unsigned i = 0; i < a->n_nics; i++) {
		const struct nic *x = &a->nic[i], *y = &b->nic[i];

		ck_assert_str_eq(x->name, y->name);
		ck_assert_str_eq(x->driver, y->driver);
		ck_assert_int_eq(x->device[0] != '\0', y->device[0] != '\0');
		ck_assert_int_eq(x->node, y->node);
		ck_assert_uint_eq(x->rx_queues, y->rx_queues);
		ck_assert_int_eq(x->up, y->up);
	}
	ck_assert_uint_eq(a->n_policies, b->n_policies);
	for (unsigned i = 0; i < a->n_policies; i++) {
		const struct policy *x = &a->policy[i], *y = &b->policy[i];

		ck_assert_uint_eq(x->number, y->number);
		ck_assert(cpuset_equal(&x->cpus, &y->cpus));
		ck_assert_int_eq(x->active, y->active);
		ck_assert_str_eq(x->governor, y->governor);
		ck_assert_str_eq(x->governors, y->governors);
		ck_assert_int_eq(x->have_epp, y->have_epp);
		ck_assert_str_eq(x->epp, y->epp);
		ck_assert_str_eq(x->epps, y->epps);
		ck_assert_str_eq(x->identity, y->identity);
	}
}

static void stir(struct machine *m, unsigned second)
{
	for (unsigned cpu = 0; cpu < m->spec.cpus; cpu++) {
		if ((cpu + second) % 3 == 0)
			continue;
		m->cpu[cpu].processed += 1000 * cpu + second;
		m->cpu[cpu].dropped += second % 4;
		m->cpu[cpu].backlog = (cpu * second) % 5;
		m->cpu[cpu].softirq[3] += 17;
		m->cpu[cpu].user += 3;
	}
	m->cpu[0].squeezed -= 3; /* begins below zero: the counter wraps */
	m->cpu[0].steal -= second == 7 ? 1 : 0;
	for (unsigned i = 0; i < m->n_irqs; i += 2)
		machine_fire(m, i, 3 + second);
	m->rx[0].rx_packets += UINT64_C(5000000000);
	m->psi_cpu_usec += 100 * second;
}

/*
 * Everything that observe/ can see on a host goes in and comes out as it was: counters that wrap or
 * step back, a CPU that leaves, a source that fails, a suspend, settings and affinities that
 * change, a machine found anew.
 */
START_TEST(what_is_written_comes_back)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_I40E, .queues = 3, .node = -1},
		{.name = "eth1", .kind = MACHINE_VIRTIO, .queues = 2, .managed = true},
		{.name = "veth0", .kind = MACHINE_VETH}};
	_machine_ *m = machine_new(&(struct machine_spec){.cpus = 8,
							  .possible = 12,
							  .smt = 2,
							  .sockets = 2,
							  .nodes = 2,
							  .nics = nics,
							  .n_nics = 3,
							  .isolated = "7",
							  .cpufreq = "intel_pstate",
							  .cpus_per_policy = 2,
							  .rt = true,
							  .series = true,
							  .irqbalance = true});
	_cleanup_(complaints_done) struct complaints c = {};
	_cleanup_(trace_reader_freep) struct trace_reader *r = NULL;
	_watch_ w = watch_begin(&m->io);
	_tape_ tape = {};
	struct values values = {};
	FILE *in = NULL;
	size_t read_to = 0;

	tape_begin(&tape);
	machine_kmsg(m, 4, "NOHZ tick-stop error: local softirq work is pending, handler #08!!!");
	values.host[TUNABLE_NETDEV_BUDGET].have = true;
	values.host[TUNABLE_NETDEV_BUDGET].number = 300;
	for (unsigned second = 0; second < 40; second++) {
		bool discovered = second == 12 || second == 33;

		stir(m, second);
		if (second == 10)
			machine_set_online(m, 5, false);
		if (second == 15)
			values.host[TUNABLE_NETDEV_BUDGET].number = 450;
		if (second == 18)
			values.host[TUNABLE_NETDEV_BUDGET].have = false;
		if (second == 20)
			tree_write(m->tree, "proc/irq/26/smp_affinity_list", "3\n");
		if (second == 22)
			m->suspended_usec += 500 * USEC_PER_SEC;
		if (second == 25)
			tree_remove(m->tree, "proc/pressure/cpu");
		m->cpu[second % 4].series_stat[second % 22] += second * 5000000000ULL;
		if (second == 31)
			machine_set_online(m, 5, true);
		machine_advance(m, USEC_PER_SEC + second);
		machine_write(m);
		if (discovered)
			watch_rediscover(&w);
		/* irqbalance leaves one alone from the first look on, and another from the last. */
		if (second == 0 || discovered) {
			w.topology->irqbalance_told = true;
			w.topology->irq[second == 33 ? 2 : 1].banned = true;
		}
		watch_read(&w, second % 5 == 0);
		w.snapshot->kmsg_records_lost = second / 10;
		w.snapshot->events_lost = second == 11 ? 7 : 0;
		tape_tick(&tape, &w, discovered, &values);

		/* A reader from the start each time would cost a square; this one reads behind. */
		if (!r) {
			r = open_text(tape.text, tape.size, &in, &c);
			ck_assert_msg(r, "%u: %s", c.item[0].line, c.n ? c.item[0].text : "");
			ck_assert_int_eq(trace_about(r)->mode, MODE_APPLY);
			ck_assert_uint_eq(trace_about(r)->changes_per_hour, 30);
			ck_assert_uint_eq(trace_about(r)->moves_per_round, 4);
			trace_reader_free(TAKE_PTR(r));
			fclose(in);
		}
		read_to++;
		r = open_text(tape.text, tape.size, &in, &c);
		for (size_t i = 0; i < read_to; i++)
			ck_assert_msg(trace_read(r, &c) == 1, "%u: %s", c.item[0].line,
				      c.n ? c.item[0].text : "");
		ck_assert_int_eq(trace_tick(r)->discovered, discovered);
		same_snapshot(w.snapshot, trace_tick(r)->snapshot);
		same_topology(w.topology, trace_tick(r)->topology);
		for (size_t id = 0; id < _TUNABLE_MAX; id++) {
			ck_assert_int_eq(values.host[id].have,
					 trace_tick(r)->values->host[id].have);
			if (values.host[id].have)
				ck_assert_int_eq(values.host[id].number,
						 trace_tick(r)->values->host[id].number);
		}
		ck_assert_int_eq(trace_read(r, &c), 0);
		ck_assert(!trace_torn(r));
		trace_reader_free(TAKE_PTR(r));
		fclose(in);
	}
}
END_TEST

START_TEST(the_profile_comes_back)
{
	_machine_ *m = machine_new(&(struct machine_spec){});
	_cleanup_(complaints_done) struct complaints c = {};
	_cleanup_(trace_reader_freep) struct trace_reader *r = NULL;
	_watch_ w = watch_begin(&m->io);
	_tape_ tape = {};
	const struct profile *p;
	FILE *in;

	tape_begin(&tape);
	watch_read(&w, true);
	tape_tick(&tape, &w, false, &(struct values){});
	r = open_text(tape.text, tape.size, &in, &c);
	ck_assert_ptr_nonnull(r);
	p = trace_about(r)->profile;
	ck_assert_str_eq(p->name, "test");
	ck_assert_int_eq(p->setting[TUNABLE_NETDEV_BUDGET].kind, SETTING_RANGE);
	ck_assert_int_eq(p->setting[TUNABLE_NETDEV_BUDGET].low, 300);
	ck_assert_int_eq(p->setting[TUNABLE_NETDEV_BUDGET].high, 1200);
	ck_assert_int_eq(p->setting[TUNABLE_GOVERNOR].kind, SETTING_VALUE);
	ck_assert_str_eq(p->setting[TUNABLE_GOVERNOR].value, "schedutil|powersave");
	ck_assert_int_eq(p->setting[TUNABLE_DEV_WEIGHT].kind, SETTING_LEAVE);
	ck_assert_uint_eq(p->n_nics, 2);
	ck_assert_str_eq(p->nic[0].match, "eth*");
	ck_assert(!p->nic[0].has_near_cpus);
	ck_assert_int_eq(p->nic[1].placement, PLACEMENT_NEAR);
	ck_assert(p->nic[1].has_near_cpus && cpuset_has(&p->nic[1].near_cpus, 2));
	ck_assert_int_eq(p->nic[0].placement, PLACEMENT_PACK);
	ck_assert(p->nic[0].has_cpus && cpuset_has(&p->nic[0].cpus, 1));
	ck_assert(p->place_despite_irqbalance);
	ck_assert_int_eq(p->objective, OBJECTIVE_WAIT);
	fclose(in);
}
END_TEST

/* ---- size ---- */

/* The header says which hosts: an idle one with 2 CPUs, and a busy one with 256. */
START_TEST(ticks_are_small)
{
	static const struct machine_nic virtio = {.name = "eth0", .kind = MACHINE_VIRTIO};
	static const struct machine_nic mlx = {.name = "eth0", .kind = MACHINE_MLX5, .queues = 63};
	_machine_ *small = machine_new(&(struct machine_spec){.nics = &virtio, .n_nics = 1});
	_machine_ *large = machine_new(
		&(struct machine_spec){.cpus = 256, .smt = 2, .nics = &mlx, .n_nics = 1});
	_watch_ a = watch_begin(&small->io);
	_watch_ b = watch_begin(&large->io);
	_tape_ idle = {};
	_tape_ busy = {};

	tape_begin(&idle);
	tape_begin(&busy);
	for (unsigned second = 0; second < 20; second++) {
		size_t small_size, large_size;

		machine_receive(small, machine_irq(small, "virtio0-input.0"), 3);
		for (unsigned i = 0; i < large->n_irqs; i++)
			if (large->irq[i].nic == 0)
				machine_receive(large, i, 20000 + 13 * i + second);
		for (unsigned cpu = 0; cpu < 256; cpu++) {
			large->cpu[cpu].processed += 3000 + cpu;
			large->cpu[cpu].softirq[3] += 100 + cpu;
			large->cpu[cpu].user += 50 + cpu % 7;
			machine_busy(large, cpu, 300000 + 1000 * cpu);
		}
		machine_advance(small, USEC_PER_SEC);
		machine_advance(large, USEC_PER_SEC);
		machine_write(small);
		machine_write(large);
		watch_read(&a, true);
		watch_read(&b, true);
		small_size = tape_tick(&idle, &a, false, &(struct values){});
		large_size = tape_tick(&busy, &b, false, &(struct values){});
		if (second == 0)
			continue;
		ck_assert_msg(small_size < 150, "%zu bytes", small_size);
		ck_assert_msg(large_size < 8192, "%zu bytes", large_size);
	}
}
END_TEST

/* ---- what does not get in ---- */

START_TEST(addresses_are_masked)
{
	static const struct {
		const char *text, *masked;
	} cases[] = {
		{"eth0-TxRx-3", "eth0-TxRx-3"},
		{"i40e-0000:00:03.0:misc", "i40e-0000:00:03.0:misc"},
		{"devices/pci10000:e0/10000:e0:06.0/10000:e1:00.0|mlx5_comp0@pci:10000:e1:00.0",
		 "devices/pci10000:e0/10000:e0:06.0/10000:e1:00.0|mlx5_comp0@pci:10000:e1:00.0"},
		{"enx001122aabbcc", "enx000000000001"},
		{"enx001122aabbcd", "enx000000000002"},
		{"enx001122AABBCC and again", "enx000000000001 and again"},
		{"00:11:22:aa:bb:cc", "00:00:00:00:00:03"},
		{"devices/VMBUS:01/000d3a6c-b9a5-000d-3a6c-b9a5000d3a6c|eth",
		 "devices/VMBUS:01/00000000-0000-0000-0000-000000000004|eth"},
		{"server 192.168.17.4: timed out", "server 000.000.00.5: timed out"},
		{"Linux 6.12.117 handler #08!!!", "Linux 6.12.117 handler #08!!!"},
		{"", ""},
	};
	struct trace_mask m = {};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char text[128];

		strcpy(text, cases[i].text);
		ck_assert_int_eq(trace_mask(&m, text), 0);
		ck_assert_str_eq(text, cases[i].masked);
	}
	trace_mask_done(&m);
}
END_TEST

START_TEST(nothing_private_is_recorded)
{
	static const struct machine_nic nic = {.name = "enx001122aabbcc", .kind = MACHINE_SINGLE};
	_machine_ *m = machine_new(&(struct machine_spec){.nics = &nic, .n_nics = 1});
	_watch_ w = watch_begin(&m->io);
	_tape_ tape = {};

	tape_begin(&tape);
	strcpy(w.topology->hostname, "db7.example.net");
	machine_kmsg(m, 6, "audit: user alice logged in from 10.1.2.3");
	machine_kmsg(m, 4, "NETDEV WATCHDOG: enx001122aabbcc (r8152): transmit queue 0 timed out");
	machine_write(m);
	watch_read(&w, true);
	snprintf(w.snapshot->source[SOURCE_NETDEV].text, 160, "/proc/net/dev:3: enx001122aabbcc");
	w.snapshot->source[SOURCE_NETDEV].state = SOURCE_STRANGE;
	tape_tick(&tape, &w, false, &(struct values){});
	ck_assert_ptr_nonnull(strstr(tape.text, "NETDEV WATCHDOG: enx000000000001"));
	ck_assert_ptr_nonnull(strstr(tape.text, "\"name\":\"enx000000000001\""));
	ck_assert_ptr_null(strstr(tape.text, "001122aabbcc"));
	ck_assert_ptr_null(strstr(tape.text, "db7"));
	ck_assert_ptr_null(strstr(tape.text, "alice"));
	ck_assert_ptr_null(strstr(tape.text, "/proc"));
}
END_TEST

/* ---- what nobody wrote ---- */

#define CPUS                                                                                      \
	"{\"n\":2,\"possible\":\"0-1\",\"present\":\"0-1\",\"online\":\"0-1\",\"isolated\":\"\"," \
	"\"node\":[0,0],\"package\":[0,0],\"core\":[0,1],\"cache\":[0,0],\"smt\":[0,0],"          \
	"\"capacity\":[1024,1024]}"
#define IRQ                                                                                     \
	"{\"irq\":30,\"nic\":0,\"queue\":0,\"role\":\"rx\",\"managed\":false,\"shared\":false," \
	"\"affinity\":\"0-1\",\"effective\":null,\"name\":\"eth0\",\"identity\":\"x|eth0\"}"
#define NIC                                                                                       \
	"{\"name\":\"eth0\",\"driver\":\"x\",\"node\":-1,\"queues\":1,\"up\":true,\"rps\":false," \
	"\"device\":true}"
#define TOPOLOGY                                                    \
	"{\"cpus\":" CPUS ",\"nics\":[" NIC "],\"irqs\":[" IRQ "]," \
	"\"policies\":[],\"flags\":[],\"rivals\":\"\"}"
#define HEAD_WITH(topology, profile)                                                                 \
	"{\"softnetd-trace\":1,\"softnetd\":\"0.1\",\"kernel\":\"6.12\",\"hz\":250,\"user_hz\":100," \
	"\"mode\":\"advise\",\"profile\":" profile ",\"limits\":{\"changes_per_hour\":30,"           \
	"\"moves_per_round\":4},\"topology\":" topology                                              \
	",\"settings\":{\"netdev_budget\":300},\"sources\":{\"softnet\":\"ok\"}}\n"
#define HEAD HEAD_WITH(TOPOLOGY, "null")

static const struct {
	const char *text;
	unsigned line;
	const char *complaint;
} refused[] = {
	{"\n", 1, "no JSON"},
	{"[]\n", 1, "not a recording"},
	{"{}\n", 1, "not a recording"},
	{"{\"softnetd-trace\":\"1\"}\n", 1, "not a recording"},
	{"{\"softnetd-trace\":2}\n", 1, "version 2"},
	{"{\"softnetd-trace\":1}\n", 1, "softnetd"},
	{"{\"softnetd-trace\":1", 1, "no JSON"},
	{HEAD_WITH("{}", "null"), 1, "cpus"},
	{HEAD_WITH("[]", "null"), 1, "topology"},
	{HEAD_WITH(TOPOLOGY, "{}"), 1, "profile"},
	{HEAD_WITH(TOPOLOGY, "{\"name\":\"x\",\"settings\":{\"nonsense\":\"1\"},\"nics\":[],"
			     "\"despite_irqbalance\":false}"),
	 1, "no setting \"nonsense\""},
	{HEAD_WITH(TOPOLOGY, "{\"name\":\"x\",\"settings\":{\"netdev_budget\":[900,300]},"
			     "\"nics\":[],\"despite_irqbalance\":false}"),
	 1, "netdev_budget: not a range"},
	{HEAD_WITH(TOPOLOGY, "{\"name\":\"\\u001b[2J\",\"settings\":{},\"nics\":[],"
			     "\"despite_irqbalance\":false}"),
	 1, "control characters"},
	{HEAD "\n", 2, "no JSON object"},
	{HEAD "{\"t\":1}x\n", 2, "no JSON"},
	{HEAD "[]\n", 2, "no JSON object"},
	{HEAD "{}\n", 2, "t: not a whole number"},
	{HEAD "{\"t\":1,\"n\":1}\n{\"t\":1,\"n\":1}\n", 3, "tick 1 follows tick 1"},
	{HEAD "{\"t\":1,\"n\":7}\n{\"t\":1,\"n\":9}\n", 3, "tick 9 follows tick 7"},
	{HEAD "{\"t\":1,\"n\":7}\n{\"t\":1}\n", 3, "the tick has no number"},
	{HEAD "{\"t\":1}\n{\"t\":1,\"n\":2}\n", 3, "tick 2 follows tick 0"},
	{HEAD "{\"t\":1.5}\n", 2, "t: not a whole number"},
	{HEAD "{\"t\":1e300}\n", 2, "t: not a whole number"},
	{HEAD "{\"t\":9223372036854775807}\n", 2, "outside"},
	{HEAD "{\"t\":99999999999999999999}\n", 2, "outside of 64 bits"},
	{HEAD "{\"t\":-9223372036854775809}\n", 2, "outside of 64 bits"},
	{HEAD "{\"t\":01}\n", 2, "t: not a whole number"},
	{HEAD "{\"t\":1 2}\n", 2, "t: not a whole number"},
	{HEAD "{\"t\":1,}\n", 2, "no JSON object"},
	{HEAD "{\"t\":1]\n", 2, "no JSON object"},
	{HEAD "{\"t\":1,\"nic\":[[0,1,2,3],]}\n", 2, "not whole numbers in arrays"},
	{HEAD "{\"t\":1,\"nic\":[[0,1,2,3]4]}\n", 2, "not whole numbers in arrays"},
	{HEAD "{\"t\":1,\"nic\":[[0,1,2,3.5]]}\n", 2, "not whole numbers in arrays"},
	{HEAD "{\"t\":1,\"nic\":[[]]}\n", 2, "an empty group"},
	{HEAD "{\"t\":1,\"nic\":{}}\n", 2, "nic: not an array"},
	{HEAD "{\"t\":1,\"events\":[}]}\n", 2, "no JSON"},
	{HEAD "{\"t\":1,\"have\":{\"stat\":\"0\",\"stat\":\"1\"}}\n", 2, "no JSON"},
	{HEAD "{\"t\":1,\"t\":2}\n", 2, "twice"},
	{HEAD "{\"t\":5}\n{\"t\":-6}\n", 3, "clock"},
	{HEAD "{\"t\":5}\n{\"t\":1,\"what\":1}\n", 3, "unknown key \"what\""},
	{HEAD "{\"t\":1,\"\\u001b[2J\":1}\n", 2, "unknown key \"\\u001b[2J\""},
	{HEAD "{\"t\":1,\"cpu\":[]}\n", 2, "cpu: not an object"},
	{HEAD "{\"t\":1,\"cpu\":{\"nonsense\":[]}}\n", 2, "no counters \"nonsense\""},
	{HEAD "{\"t\":1,\"cpu\":{\"dropped\":[[2,1]]}}\n", 2, "2 is outside 0 … 1"},
	{HEAD "{\"t\":1,\"cpu\":{\"dropped\":[[-1,1]]}}\n", 2, "-1 is outside 0 … 1"},
	{HEAD "{\"t\":1,\"cpu\":{\"dropped\":[[1,1,1]]}}\n", 2, "a run of 2 from CPU 1"},
	{HEAD "{\"t\":1,\"cpu\":{\"dropped\":[[0]]}}\n", 2, "a run of 0"},
	{HEAD "{\"t\":1,\"cpu\":{\"dropped\":[0,1]}}\n", 2, "dropped: not whole numbers"},
	{HEAD "{\"t\":1,\"cpu\":{\"dropped\":[[0,2147483648]]}}\n", 2, "outside"},
	{HEAD "{\"t\":1,\"have\":{\"everything\":\"0\"}}\n", 2, "unknown key \"everything\""},
	{HEAD "{\"t\":1,\"have\":{\"softnet\":\"0-9999\"}}\n", 2, "not a list of CPUs"},
	{HEAD "{\"t\":1,\"irq\":[[1,0,1]]}\n", 2, "1 is outside 0 … 0"},
	{HEAD "{\"t\":1,\"irq\":[[0,2,1]]}\n", 2, "2 is outside 0 … 1"},
	{HEAD "{\"t\":1,\"irq\":[[0,0]]}\n", 2, "not pairs"},
	{HEAD "{\"t\":1,\"irq_have\":[[0,2]]}\n", 2, "2 is outside 1 … 1"},
	{HEAD "{\"t\":1,\"nic\":[[0,1]]}\n", 2, "four numbers"},
	{HEAD "{\"t\":1,\"pids\":[[0,-1]]}\n", 2, "outside"},
	{HEAD "{\"t\":1,\"psi_cpu\":[1]}\n", 2, "two numbers"},
	{HEAD "{\"t\":1,\"events\":[{}]}\n", 2, "events"},
	{HEAD "{\"t\":1,\"events\":[{\"kind\":\"x\",\"mask\":0,\"old\":false,\"seq\":0,"
	      "\"boot\":0,\"text\":\"\"}]}\n",
	 2, "no kind \"x\""},
	{HEAD "{\"t\":1,\"sources\":{\"softnet\":\"fine\"}}\n", 2, "no such state"},
	{HEAD "{\"t\":1,\"sources\":{\"crystal\":\"ok\"}}\n", 2, "no source"},
	{HEAD "{\"t\":1,\"settings\":{\"irq_affinity\":1}}\n", 2, "no host setting"},
	{HEAD "{\"t\":1,\"affinity\":[[0,\"0\"]]}\n", 2, "affinity"},
	{HEAD "{\"t\":1,\"known_online\":\"2\"}\n", 2, "beyond"},
	{HEAD "{\"t\":1,\"topology\":null}\n", 2, "topology"},
	{HEAD "{\"t\":1,\"slow\":1}\n", 2, "slow"},
	{HEAD "{\"t\":1}\n{\"t\":1}\n{\"t\":\n{\"t\":1}\n", 4, "no JSON"},
};

START_TEST(faulty_lines_are_refused_by_number)
{
	_cleanup_(complaints_done) struct complaints c = {};
	_cleanup_(trace_reader_freep) struct trace_reader *r = NULL;
	FILE *in;
	int k = 1;

	r = open_text(refused[_i].text, strlen(refused[_i].text), &in, &c);
	while (r && k > 0)
		k = trace_read(r, &c);
	ck_assert_msg(!r || k < 0, "read to the end");
	ck_assert_uint_eq(c.n, 1);
	ck_assert_msg(c.item[0].line == refused[_i].line &&
			      strstr(c.item[0].text, refused[_i].complaint),
		      "%u: %s", c.item[0].line, c.item[0].text);
	fclose(in);
}
END_TEST

START_TEST(a_good_one_is_read)
{
	static const char text[] =
		HEAD "{\"t\":1000,\"cpu\":{\"dropped\":[[1,-1]]},\"have\":{\"softnet\":\"0-1\"}}\n"
		     "{\"t\":1000000,\"cpu\":{\"dropped\":[[0,1,2]]}}\n";
	_cleanup_(complaints_done) struct complaints c = {};
	_cleanup_(trace_reader_freep) struct trace_reader *r = NULL;
	FILE *in;

	r = open_text(text, strlen(text), &in, &c);
	ck_assert_ptr_nonnull(r);
	ck_assert_ptr_null(trace_about(r)->profile);
	ck_assert_int_eq(trace_read(r, &c), 1);
	ck_assert_uint_eq(trace_tick(r)->snapshot->cpu[1].dropped, UINT32_MAX);
	ck_assert_int_eq(trace_read(r, &c), 1);
	ck_assert_uint_eq(trace_tick(r)->snapshot->cpu[0].dropped, 1);
	ck_assert_uint_eq(trace_tick(r)->snapshot->cpu[1].dropped, 1);
	ck_assert_uint_eq(trace_tick(r)->snapshot->mono_usec, 1001000);
	ck_assert_uint_eq(trace_tick(r)->line, 3);
	ck_assert_int_eq(trace_read(r, &c), 0);
	ck_assert_int_eq(trace_read(r, &c), 0);
	fclose(in);
}
END_TEST

/* Cut at every byte: all whole lines are read, a broken last one is left out and said, and only
 * the first line must be whole. */
START_TEST(a_torn_end_is_no_fault)
{
	static const char text[] =
		HEAD "{\"t\":1,\"psi_cpu\":[1,2]}\n{\"t\":1,\"nic\":[[0,1,2,3]]}\n";
	size_t head = strlen(HEAD);

	for (size_t size = 1; size <= strlen(text); size++) {
		_cleanup_(complaints_done) struct complaints c = {};
		_cleanup_(trace_reader_freep) struct trace_reader *r = NULL;
		unsigned ticks = 0, whole = 0;
		FILE *in;
		int k;

		for (size_t i = head; i < size; i++)
			whole += text[i] == '\n';
		r = open_text(text, size, &in, &c);
		/* All of a line but its newline is a whole line. */
		if (size < head - 1) {
			ck_assert_ptr_null(r);
			ck_assert_uint_eq(c.n, 1);
			fclose(in);
			continue;
		}
		ck_assert_ptr_nonnull(r);
		while ((k = trace_read(r, &c)) > 0)
			ticks++;
		ck_assert_int_eq(k, 0);
		if (size > head && text[size - 1] == '}' && text[size] == '\n')
			whole++;
		ck_assert_uint_eq(ticks, whole);
		ck_assert_int_eq(trace_torn(r),
				 size > head && text[size - 1] != '\n' &&
					 !(text[size - 1] == '}' && text[size] == '\n'));
		fclose(in);
	}
}
END_TEST

/* A line without an end costs a bounded amount of memory, and is refused. */
START_TEST(an_endless_line_is_refused)
{
	_cleanup_(complaints_done) struct complaints c = {};
	_cleanup_(trace_reader_freep) struct trace_reader *r = NULL;
	size_t size = strlen(HEAD) + 3 * TRACE_LINE_MAX;
	_cleanup_free_ char *text = malloc(size);
	FILE *in;

	ck_assert_ptr_nonnull(text);
	memset(text, ' ', size);
	memcpy(text, HEAD, strlen(HEAD));
	r = open_text(text, size, &in, &c);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(trace_read(r, &c), -EBADMSG);
	ck_assert_uint_eq(c.item[0].line, 2);
	ck_assert_ptr_nonnull(strstr(c.item[0].text, "longer than"));
	fclose(in);
}
END_TEST

START_TEST(the_future_is_seen_as_far_as_asked)
{
	static const char text[] = HEAD
		"{\"t\":1}\n{\"t\":1}\n{\"t\":1,\"settings\":{\"netdev_budget\":450}}\n"
		"{\"t\":1,\"affinity\":[[0,\"1\",\"1\"]]}\n{\"t\":1,\"topology\":" TOPOLOGY "}\n"
		"{\"t\":1,\"settings\":{\"netdev_budget\":900}}\n";
	_cleanup_(complaints_done) struct complaints c = {};
	_cleanup_(trace_reader_freep) struct trace_reader *r = NULL;
	FILE *in;

	r = open_text(text, strlen(text), &in, &c);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(trace_read(r, &c), 1);
	ck_assert(!trace_shows(r, TUNABLE_NETDEV_BUDGET, 0, "450", 1));
	ck_assert(trace_shows(r, TUNABLE_NETDEV_BUDGET, 0, "450", 2));
	ck_assert(!trace_shows(r, TUNABLE_NETDEV_BUDGET, 0, "300", 9));
	ck_assert(!trace_shows(r, TUNABLE_NETDEV_BUDGET_USECS, 0, "450", 9));
	ck_assert(trace_shows(r, TUNABLE_IRQ_AFFINITY, 0, "1", 3));
	ck_assert(!trace_shows(r, TUNABLE_IRQ_AFFINITY, 1, "1", 3));
	ck_assert(!trace_shows(r, TUNABLE_IRQ_AFFINITY, 0, "0", 3));
	/* behind a machine found anew nothing is seen */
	ck_assert(!trace_shows(r, TUNABLE_NETDEV_BUDGET, 0, "900", 9));
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(trace_read(r, &c), 1);
	ck_assert_int_eq(trace_tick(r)->values->host[TUNABLE_NETDEV_BUDGET].number, 900);
	ck_assert(trace_shows(r, TUNABLE_NETDEV_BUDGET, 0, "900", 9) == false);
	ck_assert_int_eq(trace_read(r, &c), 0);
	fclose(in);
}
END_TEST

START_TEST(a_full_disk_is_said)
{
	_machine_ *m = machine_new(&(struct machine_spec){});
	_watch_ w = watch_begin(&m->io);
	const struct trace_about about = {.mode = MODE_ADVISE};
	_cleanup_(trace_writer_freep) struct trace_writer *writer = NULL;
	FILE *full = fopen("/dev/full", "w");

	if (!full)
		return;
	watch_read(&w, true);
	ck_assert_int_eq(trace_writer_new(full, &about, &writer), 0);
	ck_assert_int_eq(trace_write(writer, w.topology, false, w.snapshot, &(struct values){}),
			 -ENOSPC);
	fclose(full);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("trace");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, what_is_written_comes_back);
	tcase_add_test(t, the_profile_comes_back);
	tcase_add_test(t, ticks_are_small);
	tcase_add_test(t, addresses_are_masked);
	tcase_add_test(t, nothing_private_is_recorded);
	tcase_add_loop_test(t, faulty_lines_are_refused_by_number, 0, (int)ELEMENTSOF(refused));
	tcase_add_test(t, a_good_one_is_read);
	tcase_add_test(t, a_torn_end_is_no_fault);
	tcase_add_test(t, an_endless_line_is_refused);
	tcase_add_test(t, the_future_is_seen_as_far_as_asked);
	tcase_add_test(t, a_full_disk_is_said);
	return run_suite("trace", t);
}
