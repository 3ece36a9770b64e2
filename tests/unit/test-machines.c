/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement and steering on machines nobody here owns: captured ones (tests/unit/machines, see README
 * there) and generated ones, with the laws that hold on all of them and exact answers on some.
 *
 *   build/tests/test-machines --capture ROOT    prints the listing of a captured tree
 */
#include <dirent.h>
#include <stdio.h>

#include "decide/placement.h"
#include "decide/steering.h"
#include "lib/run.h"
#include "observe/topology.h"

#define FOLDER    "tests/unit/machines"
#define MOVES_MAX 4096

static struct topology *t;
static char where[256]; /* for messages */

static void release(void)
{
	topology_free(t);
	t = NULL;
}

static void make(unsigned n_cpus)
{
	release();
	t = calloc(1, sizeof(*t));
	ck_assert_ptr_nonnull(t);
	t->n_cpus = n_cpus;
	t->cpu = calloc(n_cpus, sizeof(*t->cpu));
	t->nic = calloc(2, sizeof(*t->nic));
	ck_assert(t->cpu && t->nic);
	for (unsigned i = 0; i < n_cpus; i++)
		t->cpu[i] = (struct cpu){.node = -1, .core = -1, .cache = -1, .capacity = 1024};
}

static void add_cpu(unsigned cpu, int node, int core, int cache, unsigned smt)
{
	t->cpu[cpu] = (struct cpu){.present = true,
				   .online = true,
				   .node = node,
				   .core = core,
				   .cache = cache,
				   .smt = smt,
				   .capacity = 1024};
	cpuset_add(&t->possible, cpu);
	cpuset_add(&t->online, cpu);
}

static void set_offline(unsigned cpu)
{
	t->cpu[cpu].online = false;
	cpuset_remove(&t->online, cpu);
}

/* One line a CPU: id, node, package, core, cache, smt, capacity, online. */
static void load(const char *file)
{
	char path[320], line[160];
	unsigned cpu, smt, capacity, online;
	int node, package, core, cache;
	FILE *f;

	snprintf(path, sizeof(path), FOLDER "/%s", file);
	make(CPU_ID_MAX);
	t->n_cpus = 0;
	f = fopen(path, "r");
	ck_assert_msg(f, "%s cannot be read", path);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		ck_assert_msg(sscanf(line, "%u %d %d %d %d %u %u %u", &cpu, &node, &package, &core,
				     &cache, &smt, &capacity, &online) == 8,
			      "%s: %s", path, line);
		ck_assert_uint_lt(cpu, CPU_ID_MAX);
		add_cpu(cpu, node, core, cache, smt);
		t->cpu[cpu].package = package;
		t->cpu[cpu].capacity = capacity;
		if (!online)
			set_offline(cpu);
		t->n_cpus = MAX(t->n_cpus, cpu + 1);
	}
	fclose(f);
	ck_assert_uint_gt(t->n_cpus, 0);
}

/* A NIC with so many interrupts, which may go anywhere as after request_irq(). */
static void plug(unsigned queues, int node)
{
	free(t->irq);
	t->irq = calloc(queues, sizeof(*t->irq));
	ck_assert_ptr_nonnull(t->irq);
	t->n_irqs = queues;
	t->n_nics = 1;
	t->nic[0] = (struct nic){
		.name = "eth0", .identity = "devices/x|port0", .node = node, .rx_queues = queues};
	for (unsigned i = 0; i < queues; i++)
		t->irq[i] = (struct irq){.number = 100 + i,
					 .queue = (int)i,
					 .role = IRQ_RXTX,
					 .have_affinity = true,
					 .affinity = t->possible};
}

static struct cpuset consumers; /* for PLACEMENT_NEAR */

static size_t plan(enum placement strategy, const struct cpuset *allowed)
{
	static struct move moves[MOVES_MAX];
	size_t n = placement_plan(t, 0, strategy, allowed,
				  strategy == PLACEMENT_NEAR ? &consumers : NULL, moves, MOVES_MAX);

	for (size_t i = 0; i < n; i++)
		t->irq[moves[i].irq].affinity = cpuset_of(moves[i].cpu);
	return n;
}

/* "0,8,1,9": the CPU of each interrupt. */
static const char *places(void)
{
	static char text[8192];

	text[0] = '\0';
	for (unsigned i = 0; i < t->n_irqs; i++) {
		if (cpuset_count(&t->irq[i].affinity) == 1)
			append_text(text, sizeof(text), "%s%u", i ? "," : "",
				    cpuset_first(&t->irq[i].affinity));
		else
			append_text(text, sizeof(text), "%s-", i ? "," : "");
	}
	return text;
}

static const char *list_of(const struct cpuset *s)
{
	static char text[VALUE_MAX];

	cpuset_format_list(s, text, sizeof(text));
	return text;
}

static const char *rps(void)
{
	struct cpuset mask = rps_plan(t, 0, NULL);

	return list_of(&mask);
}

/* --- the laws --- */

/* How good a CPU is for PLACEMENT_NEAR: a consumer's cache, or else its node; then the NIC's node; then
 * none of a consumer's core; then not a consumer itself. */
static unsigned nearness(unsigned cpu, int node)
{
	bool cache = false, same_node = false, core = false;
	const struct cpu *c = &t->cpu[cpu];

	cpuset_for_each (other, &consumers) {
		const struct cpu *o = &t->cpu[other];

		cache |= c->cache >= 0 && c->cache == o->cache;
		same_node |= c->node >= 0 && c->node == o->node;
		core |= c->core >= 0 && c->core == o->core;
	}
	return (cache       ? 16
		: same_node ? 8
			    : 0) +
	       (node >= 0 && c->node == node ? 4 : 0) + (core ? 0 : 2) +
	       (cpuset_has(&consumers, cpu) ? 0 : 1);
}

static struct cpuset nearest_of(const struct cpuset *usable, int node)
{
	struct cpuset ret = {};
	unsigned best = 0;

	cpuset_for_each (cpu, usable) {
		if (nearness(cpu, node) > best) {
			best = nearness(cpu, node);
			ret = (struct cpuset){};
		}
		if (nearness(cpu, node) == best)
			cpuset_add(&ret, cpu);
	}
	return ret;
}

static struct cpuset usable_of(enum placement strategy, const struct cpuset *allowed, int node)
{
	struct cpuset usable = cpuset_minus(&t->online, &t->isolated), near = {};

	if (allowed)
		usable = cpuset_and(&usable, allowed);
	if (strategy == PLACEMENT_NEAR)
		return nearest_of(&usable, node);
	cpuset_for_each (cpu, &usable)
		if (t->cpu[cpu].node == node)
			cpuset_add(&near, cpu);
	return node >= 0 && !cpuset_empty(&near) ? near : usable;
}

static unsigned on(unsigned cpu)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n_irqs; i++)
		n += cpuset_count(&t->irq[i].affinity) == 1 && cpuset_has(&t->irq[i].affinity, cpu);
	return n;
}

static void check_places(enum placement strategy, const struct cpuset *allowed, int node)
{
	struct cpuset usable = usable_of(strategy, allowed, node), used = {};
	unsigned share = cpuset_empty(&usable)
				 ? 0
				 : (t->n_irqs + cpuset_count(&usable) - 1) / cpuset_count(&usable);

	for (unsigned i = 0; i < t->n_irqs; i++) {
		unsigned cpu = cpuset_first(&t->irq[i].affinity);

		if (cpuset_empty(&usable)) {
			ck_assert_msg(cpuset_equal(&t->irq[i].affinity, &t->possible),
				      "%s: nowhere to go", where);
			continue;
		}
		ck_assert_msg(cpuset_count(&t->irq[i].affinity) == 1, "%s: IRQ %u is not bound",
			      where, i);
		ck_assert_msg(cpuset_has(&usable, cpu),
			      "%s: CPU %u is offline, isolated, not allowed or far", where, cpu);
		cpuset_add(&used, cpu);
	}
	if (strategy == PLACEMENT_PACK)
		ck_assert_msg(cpuset_count(&used) <= 1, "%s: packed on %s", where, list_of(&used));
	else
		cpuset_for_each (cpu, &used)
			ck_assert_msg(on(cpu) <= share, "%s: %u interrupts on CPU %u", where,
				      on(cpu), cpu);
}

/* One CPU goes: only what was there moves, and no more than that when it comes back. */
static void check_hotplug(enum placement strategy, const struct cpuset *allowed, int node)
{
	struct cpuset used = {};
	unsigned looked = 0;

	for (unsigned i = 0; i < t->n_irqs; i++)
		cpuset_add(&used, cpuset_first(&t->irq[i].affinity));
	cpuset_for_each (cpu, &used) {
		unsigned there = on(cpu);
		struct cpuset usable;
		size_t n;

		set_offline(cpu);
		usable = usable_of(strategy, allowed, node);
		if (!cpuset_empty(&usable)) {
			n = plan(strategy, allowed);
			ck_assert_msg(n == there, "%s: CPU %u with %u interrupts goes, %zu move",
				      where, cpu, there, n);
			ck_assert_msg(plan(strategy, allowed) == 0, "%s: moves again", where);
		}
		t->cpu[cpu].online = true;
		cpuset_add(&t->online, cpu);
		n = plan(strategy, allowed);
		ck_assert_msg(n <= there, "%s: CPU %u is back and %zu move", where, cpu, n);
		if (++looked == 8)
			break;
	}
}

static void check_rps(const struct cpuset *allowed, int node)
{
	struct cpuset usable = usable_of(PLACEMENT_SPREAD, allowed, node),
		      mask = rps_plan(t, 0, allowed);
	struct cpuset again;

	ck_assert_msg(cpuset_subset(&mask, &usable), "%s: RPS to %s", where, list_of(&mask));
	ck_assert_msg(cpuset_empty(&mask) || t->nic[0].rx_queues < cpuset_count(&usable),
		      "%s: RPS for %u queues on %u CPUs", where, t->nic[0].rx_queues,
		      cpuset_count(&usable));
	ck_assert_msg(cpuset_empty(&mask) || cpuset_count(&mask) >= t->nic[0].rx_queues,
		      "%s: RPS to fewer CPUs than queues", where);
	cpuset_for_each (a, &mask)
		cpuset_for_each (b, &mask)
			ck_assert_msg(a == b || t->cpu[a].core < 0 ||
					      t->cpu[a].core != t->cpu[b].core,
				      "%s: RPS to both threads of a core, %u and %u", where, a, b);
	again = rps_plan(t, 0, allowed);
	ck_assert(cpuset_equal(&mask, &again));
}

static void check_one(const char *name, unsigned queues, int node, const struct cpuset *allowed)
{
	static const enum placement strategies[] = {PLACEMENT_SPREAD, PLACEMENT_PACK,
						    PLACEMENT_NEAR};

	for (size_t i = 0; i < ELEMENTSOF(strategies); i++) {
		size_t n;

		snprintf(where, sizeof(where), "%s, %u queues, node %d%s, %s", name, queues, node,
			 allowed ? ", some CPUs" : "", placement_to_string(strategies[i]));
		plug(queues, node);
		ck_assert_uint_eq(plan(PLACEMENT_LEAVE, allowed), 0);
		n = plan(strategies[i], allowed);
		check_places(strategies[i], allowed, node);
		ck_assert_msg(n <= queues, "%s: %zu moves", where, n);
		ck_assert_msg(plan(strategies[i], allowed) == 0, "%s: a plan that holds moves",
			      where);
		check_rps(allowed, node);
		if (n > 0)
			check_hotplug(strategies[i], allowed, node);
	}
}

static void check_machine(const char *name)
{
	unsigned cpus = cpuset_count(&t->online);
	const unsigned queues[] = {1, 2, 3, MAX(cpus / 2, 1U), cpus, cpus + 1, cpus * 2 + 3};
	struct cpuset some = {}, isolated = t->isolated;
	int nodes = -1;

	for (unsigned i = 0; i < t->n_cpus; i++) {
		nodes = MAX(nodes, t->cpu[i].node);
		if (i % 3 == 1)
			cpuset_add(&some, i);
	}
	/* The consumers: one CPU; then a third of all, isolated ones among them. */
	consumers = cpuset_of(cpuset_first(&t->online));
	for (int round = 0; round < 2; round++) {
		for (size_t q = 0; q < ELEMENTSOF(queues); q++)
			for (int node = -1; node <= MIN(nodes, 3); node++) {
				check_one(name, MIN(queues[q], 1024U), node, NULL);
				check_one(name, MIN(queues[q], 1024U), node, &some);
			}
		/* Once more with half of it isolated: isolcpus=, nohz_full= and cpuset partitions are
		 * one set by then. */
		for (unsigned i = 0; i < t->n_cpus; i += 2)
			cpuset_add(&t->isolated, i);
		for (unsigned i = 0; i < t->n_cpus; i += 3)
			cpuset_add(&consumers, i);
	}
	t->isolated = isolated;
}

START_TEST(laws_on_captured_machines)
{
	DIR *d = opendir(FOLDER);
	struct dirent *entry;
	unsigned n = 0;

	ck_assert_msg(d, FOLDER " cannot be read");
	while ((entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || !streq(dot, ".txt"))
			continue;
		load(entry->d_name);
		check_machine(entry->d_name);
		n++;
	}
	closedir(d);
	ck_assert_uint_ge(n, 12);
}
END_TEST

/* --- generated ones --- */

/* Siblings are numbered after all first threads, as Linux does on x86. */
static void two_sockets_of_64(void)
{
	make(256);
	for (unsigned i = 0; i < 256; i++)
		add_cpu(i, (int)(i % 128 / 64), (int)(i % 128), (int)(i % 128 / 64), i / 128);
}

/* One node, twelve last-level caches of eight cores. */
static void twelve_ccx(void)
{
	make(192);
	for (unsigned i = 0; i < 192; i++)
		add_cpu(i, 0, (int)(i % 96), (int)(i % 96 / 8), i / 96);
}

static void big_little(void)
{
	make(8);
	for (unsigned i = 0; i < 8; i++) {
		add_cpu(i, 0, (int)i, (int)(i / 4), 0);
		t->cpu[i].capacity = i < 4 ? 446 : i < 7 ? 871 : 1024;
	}
}

/* Siblings switched off on a machine that numbers them side by side: 0, 2, 4 … are left. */
static void smt_off_with_holes(void)
{
	make(16);
	for (unsigned i = 0; i < 16; i++) {
		add_cpu(i, 0, (int)(i / 2), 0, i % 2);
		if (i % 2)
			set_offline(i);
	}
}

START_TEST(laws_on_generated_machines)
{
	two_sockets_of_64();
	check_machine("2 sockets of 64 cores");
	twelve_ccx();
	check_machine("12 CCX");
	big_little();
	check_machine("big.LITTLE");
	smt_off_with_holes();
	check_machine("SMT off");
}
END_TEST

START_TEST(exact_two_sockets)
{
	two_sockets_of_64();
	plug(8, 1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "64,65,66,67,68,69,70,71");
	/* RPS to the other cores of the node; eight are busy with interrupts. */
	ck_assert_str_eq(rps(), "72-127");
	plug(64, 0);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_uint_eq(on(63), 1);
	ck_assert_uint_eq(on(128), 0);
	ck_assert_str_eq(rps(), "");
	/* Two more than cores: siblings, and never the far socket. */
	plug(66, 0);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_uint_eq(on(128) + on(129), 2);
	ck_assert_uint_eq(on(64), 0);
	plug(4, 1);
	plan(PLACEMENT_PACK, NULL);
	ck_assert_str_eq(places(), "64,64,64,64");
}
END_TEST

START_TEST(exact_near)
{
	/* Next to the consumers, on other cores of their cache. */
	twelve_ccx();
	plug(4, -1);
	consumers = cpuset_of(16);
	cpuset_add(&consumers, 17);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "18,19,20,21");
	/* More queues than other cores: their siblings, then round again; the consumers' stay free. */
	plug(14, -1);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "18,19,20,21,22,23,114,115,116,117,118,119,18,19");
	/* All cores of the cache consume and are isolated: the node has others. */
	for (unsigned i = 16; i < 24; i++) {
		cpuset_add(&consumers, i);
		cpuset_add(&t->isolated, i);
		cpuset_add(&t->isolated, i + 96);
	}
	plug(2, -1);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "0,1");
	/* The same, not isolated: second threads of the consumers' cores, then themselves. */
	t->isolated = (struct cpuset){};
	plug(2, -1);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "112,113");
	for (unsigned i = 112; i < 120; i++)
		cpuset_add(&consumers, i);
	plug(2, -1);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "16,17");

	/* The consumers' socket, though the NIC is at the other; of both, the NIC's. */
	two_sockets_of_64();
	plug(2, 0);
	consumers = cpuset_of(64);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "65,66");
	cpuset_add(&consumers, 0);
	plug(2, 0);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "1,2");
	/* CPUs that this machine does not have say nothing. */
	consumers = cpuset_of(1000);
	plug(2, 1);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "64,65");

	/* Captured ones: eight nodes with a cache each; two CPUs a cache, whose numbers alternate. */
	load("64amd64-4s2n4ca2co.txt");
	consumers = cpuset_of(10);
	plug(3, 0);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "8,9,11");
	load("8em64t-2s2ca2c-buggynuma.txt");
	consumers = cpuset_of(1);
	plug(2, -1);
	plan(PLACEMENT_NEAR, NULL);
	ck_assert_str_eq(places(), "3,3");
}
END_TEST

START_TEST(exact_big_little)
{
	big_little();
	plug(4, -1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "7,4,5,6");
	plug(6, -1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "7,4,5,6,0,1");
	plug(2, -1);
	plan(PLACEMENT_PACK, NULL);
	ck_assert_str_eq(places(), "7,7");
}
END_TEST

START_TEST(exact_smt_off)
{
	smt_off_with_holes();
	plug(10, -1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "0,2,4,6,8,10,12,14,0,2");
	plug(3, -1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "0,2,4");
	ck_assert_str_eq(rps(), "6,8,10,12,14");
	/* CPU 2 goes: its interrupt goes to the first free one, the others stay. */
	set_offline(2);
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 1);
	ck_assert_str_eq(places(), "0,6,4");
}
END_TEST

/* What cannot move stays, and the others take their places around it. */
START_TEST(exact_with_immovable_vectors)
{
	smt_off_with_holes();
	plug(6, -1);
	t->irq[0].managed = true;
	t->irq[1].shared = true;
	t->irq[2].role = IRQ_OTHER;
	t->irq[0].affinity = cpuset_of(4);
	t->irq[3].affinity = cpuset_of(8); /* is well where it is */
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 2);
	ck_assert_str_eq(places(), "4,-,-,8,0,2");
	/* The NIC's one vector, shared with another device. */
	plug(1, -1);
	t->irq[0].shared = true;
	ck_assert_uint_eq(plan(PLACEMENT_SPREAD, NULL), 0);
	ck_assert_uint_eq(plan(PLACEMENT_PACK, NULL), 0);
}
END_TEST

START_TEST(exact_captured)
{
	/* Four sockets of two cores of two threads, with CPUs 2, 5, 13 and 14 offline: of two cores only
	 * the second thread is left, or none. */
	load("16em64t-4s2c2t-offlines.txt");
	plug(4, -1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "0,1,3,4");
	plug(9, -1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "0,1,3,4,6,7,10,8,9");
	/* Even CPUs are of a node that is offline itself. */
	load("offline-cpu0-node0.txt");
	plug(2, 1);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "5,7");
	plug(2, 0);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "4,5");
	load("48amd64-4d2n6c-sparse.txt");
	plug(6, 2);
	plan(PLACEMENT_SPREAD, NULL);
	ck_assert_str_eq(places(), "12,13,14,15,16,17");
	plug(6, 1);
	plan(PLACEMENT_PACK, NULL);
	ck_assert_str_eq(places(), "6,6,6,6,6,6");
}
END_TEST

/* --- the other way round --- */

static int capture(const char *root)
{
	_cleanup_(io_freep) struct io *io = NULL;
	_cleanup_(topology_freep) struct topology *host = calloc(1, sizeof(*host));
	struct source_status status = {};
	int r;

	if (!host || io_new(root, &io) < 0)
		return 1;
	r = topology_discover_cpus(io, host, &status);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", root, strerror(-r));
		return 1;
	}
	printf("# cpu node package core cache smt capacity online\n");
	for (unsigned i = 0; i < host->n_cpus; i++) {
		const struct cpu *c = &host->cpu[i];

		if (c->present)
			printf("%u %d %d %d %d %u %u %d\n", i, c->node, c->package, c->core,
			       c->cache, c->smt, c->capacity, c->online);
	}
	return 0;
}

int main(int argc, char **argv)
{
	TCase *c = tcase_create("machines");

	if (argc == 3 && streq(argv[1], "--capture"))
		return capture(argv[2]);
	tcase_set_timeout(c, 120);
	tcase_add_checked_fixture(c, NULL, release);
	tcase_add_test(c, laws_on_captured_machines);
	tcase_add_test(c, laws_on_generated_machines);
	tcase_add_test(c, exact_two_sockets);
	tcase_add_test(c, exact_near);
	tcase_add_test(c, exact_big_little);
	tcase_add_test(c, exact_smt_off);
	tcase_add_test(c, exact_with_immovable_vectors);
	tcase_add_test(c, exact_captured);
	return run_suite("machines", c);
}
