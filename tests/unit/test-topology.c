/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host is made of, as the observer finds it out from a captured tree. */
#include <stdio.h>

#include "lib/machine.h"
#include "lib/run.h"
#include "lib/watch.h"

#define _machine_ _cleanup_(machine_freep) struct machine

static const struct source_status *status(struct watch *w, enum source source)
{
	watch_read(w, true);
	return &w->snapshot->source[source];
}

START_TEST(cores_caches_nodes)
{
	_machine_ *m = machine_new(&(struct machine_spec){
		.cpus = 16, .smt = 2, .sockets = 2, .nodes = 2, .cpus_per_cache = 2});
	_watch_ w = watch_begin(&m->io);
	const struct cpu *cpu = w.topology->cpu;

	ck_assert_uint_eq(w.topology->n_cpus, 16);
	ck_assert_uint_eq(cpuset_count(&w.topology->online), 16);
	for (unsigned i = 0; i < 8; i++) { /* CPU i and i + 8 are siblings */
		ck_assert_int_eq(cpu[i].core, cpu[i + 8].core);
		ck_assert_uint_eq(cpu[i].smt, 0);
		ck_assert_uint_eq(cpu[i + 8].smt, 1);
		ck_assert_int_eq(cpu[i].package, (int)i / 4);
		ck_assert_int_eq(cpu[i].node, (int)i / 4);
		ck_assert_int_eq(cpu[i].cache, cpu[i + 8].cache);
		ck_assert_uint_eq(cpu[i].capacity, 1024);
		for (unsigned k = 0; k < i; k++) {
			ck_assert_int_ne(cpu[i].core, cpu[k].core);
			ck_assert_int_eq(cpu[i].cache == cpu[k].cache, i / 2 == k / 2);
		}
	}
	ck_assert_str_eq(status(&w, SOURCE_TOPOLOGY)->text, "");
}
END_TEST

START_TEST(hybrid_capacity)
{
	_machine_ *m = machine_new(&(struct machine_spec){.cpus = 4});

	tree_write(m->tree, "sys/devices/system/cpu/cpu2/cpu_capacity", "446\n");
	tree_write(m->tree, "sys/devices/system/cpu/cpu3/cpu_capacity", "0\n");
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->cpu[2].capacity, 446);
	ck_assert_uint_eq(w.topology->cpu[3].capacity, 1024);
}
END_TEST

/* Where hwloc finds nothing, the CPUs are there all the same. */
START_TEST(no_topology_files)
{
	_machine_ *m = machine_new(&(struct machine_spec){.cpus = 3});

	for (unsigned i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u", i);
		tree_remove(m->tree, path);
	}
	tree_remove(m->tree, "sys/devices/system/node");
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(cpuset_count(&w.topology->online), 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(w.topology->cpu[i].online);
		ck_assert_int_eq(w.topology->cpu[i].cache, -1);
		ck_assert_uint_eq(w.topology->cpu[i].smt, 0);
	}
}
END_TEST

START_TEST(isolated_sets)
{
	static const struct {
		const char *isolated, *nohz_full, *partition, *right;
	} cases[] = {
		{"\n", "\n", NULL, ""},     /* D13: empty is empty, not CPU 0 */
		{"", "(null)\n", NULL, ""}, /* nohz_full without the option */
		{"2-3\n", "", NULL, "2-3"}, /* isolcpus */
		{"", "4\n", "6-7\n", "4,6-7"}, {"nonsense\n", "5\n", NULL, "5"},
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_machine_ *m = machine_new(&(struct machine_spec){.cpus = 8});
		char list[64];

		tree_write(m->tree, "sys/devices/system/cpu/isolated", cases[i].isolated);
		tree_write(m->tree, "sys/devices/system/cpu/nohz_full", cases[i].nohz_full);
		if (cases[i].partition)
			tree_write(m->tree, "sys/fs/cgroup/cpuset.cpus.isolated",
				   cases[i].partition);
		_watch_ w = watch_begin(&m->io);
		cpuset_format_list(&w.topology->isolated, list, sizeof(list));
		ck_assert_str_eq(list, cases[i].right);
		for (unsigned cpu = 0; cpu < 8; cpu++)
			ck_assert_int_eq(w.topology->cpu[cpu].isolated,
					 cpuset_has(&w.topology->isolated, cpu));
	}
}
END_TEST

/* A26: lxcfs shows one CPU in sysfs and two in /proc/stat. */
START_TEST(container_mismatch)
{
	_machine_ *m = machine_new(&(struct machine_spec){.cpus = 2});

	tree_write(m->tree, "sys/devices/system/cpu/online", "0\n");
	_watch_ w = watch_begin(&m->io);
	ck_assert(w.topology->container);
	ck_assert_uint_eq(cpuset_count(&w.topology->online), 2);
	ck_assert_int_eq(status(&w, SOURCE_TOPOLOGY)->state, SOURCE_STRANGE);
	ck_assert_ptr_nonnull(
		strstr(w.snapshot->source[SOURCE_TOPOLOGY].text, "says 0, /proc/stat has 0-1"));
	/* It is so at every look: no reason to discover again and again. */
	ck_assert(!observer_topology_changed(w.observer));
}
END_TEST

START_TEST(container_marks)
{
	_machine_ *m = machine_new(&(struct machine_spec){});

	tree_write(m->tree, ".dockerenv", "");
	{
		_watch_ w = watch_begin(&m->io);
		ck_assert(w.topology->container);
	}
	/* an image that was made for containers, booted as a machine */
	tree_link(m->tree, "proc/self/ns/pid", "pid:[4026531836]");
	_watch_ w = watch_begin(&m->io);
	ck_assert(!w.topology->container);
}
END_TEST

/* A30: two CPUs are online, 128 are possible. */
START_TEST(more_possible_than_online)
{
	struct machine_nic nic = {.name = "eth0", .kind = MACHINE_SINGLE};
	_machine_ *m = machine_new(
		&(struct machine_spec){.cpus = 2, .possible = 128, .nics = &nic, .n_nics = 1});
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_cpus, 128);
	ck_assert_uint_eq(cpuset_count(&w.topology->online), 2);
	machine_receive(m, 0, 640);
	m->cpu[1].softirq[3] = 77;
	machine_write(m);
	watch_read(&w, false);
	ck_assert_uint_eq(w.snapshot->cpu[0].softirq[SOFTIRQ_NET_RX], 20);
	ck_assert_uint_eq(w.snapshot->cpu[1].softirq[SOFTIRQ_NET_RX], 77);
	ck_assert(w.snapshot->irq[0].have);
	ck_assert_uint_eq(w.snapshot->irq[0].counts[0], 20);
	ck_assert(!(w.snapshot->cpu[2].have & (HAVE_SOFTNET | HAVE_STAT)));
	ck_assert(!observer_topology_changed(w.observer));
}
END_TEST

START_TEST(policies)
{
	_machine_ *m = machine_new(
		&(struct machine_spec){.cpus = 4, .cpufreq = "intel_pstate", .cpus_per_policy = 2});

	/* E10: all CPUs of policy 2 are offline; E07: files that a driver does not have */
	machine_set_online(m, 2, false);
	machine_set_online(m, 3, false);
	tree_remove(m->tree, "sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors");
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->n_policies, 2);
	ck_assert(w.topology->policy[0].active);
	ck_assert(!w.topology->policy[1].active);
	ck_assert_str_eq(w.topology->policy[1].identity, "cpus:2-3");
	ck_assert_str_eq(w.topology->policy[0].driver, "intel_pstate");
	ck_assert_str_eq(w.topology->policy[0].governor, "powersave");
	ck_assert_str_eq(w.topology->policy[0].governors, "");
	ck_assert(w.topology->policy[0].have_epp);
	ck_assert_str_eq(w.topology->policy[0].epp, "balance_performance");
	ck_assert_int_eq(status(&w, SOURCE_CPUFREQ)->state, SOURCE_OK);
}
END_TEST

START_TEST(no_cpufreq) /* E06 */
{
	_machine_ *m = machine_new(&(struct machine_spec){});
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_policies, 0);
	ck_assert_int_eq(status(&w, SOURCE_CPUFREQ)->state, SOURCE_ABSENT);
	ck_assert_str_ne(w.snapshot->source[SOURCE_CPUFREQ].text, "");
}
END_TEST

START_TEST(kernel_facts)
{
	_machine_ *m = machine_new(&(struct machine_spec){
		.kernel = "6.12.9-test",
		.cmdline = "quiet threadirqs thread_backlog_napi=1 -- nothing"});

	tree_write(m->tree, "boot/config-6.12.9-test",
		   "# CONFIG_HZ_100 is not set\nCONFIG_HZ=250\n");
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->hz, 250);
	ck_assert_uint_eq(w.topology->user_hz, 100);
	ck_assert_str_eq(w.topology->kernel, "6.12.9-test");
	ck_assert_str_eq(w.topology->hostname, "testhost");
	ck_assert(w.topology->threadirqs && w.topology->thread_backlog && !w.topology->rt);
	ck_assert(!w.topology->irq_threads);
}
END_TEST

START_TEST(words_behind_the_dashes_are_inits)
{
	_machine_ *m = machine_new(
		&(struct machine_spec){.cmdline = "nothreadirqs threadirqsx -- threadirqs"});
	_watch_ w = watch_begin(&m->io);

	ck_assert(!w.topology->threadirqs);
	ck_assert_uint_eq(w.topology->hz, 0);
}
END_TEST

/* Without a config HZ is measured, from the jiffies in /proc/schedstat. */
START_TEST(hz_by_schedstat)
{
	_machine_ *m = machine_new(&(struct machine_spec){});

	tree_write(m->tree, "proc/schedstat", "version 15\ntimestamp 4295000000\ncpu0 0 0\n");
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->hz, 0);
	machine_advance(m, 10 * USEC_PER_SEC);
	watch_read(&w, true);
	ck_assert_uint_eq(w.topology->hz, 0); /* stood still: a capture */
	tree_write(m->tree, "proc/schedstat", "version 15\ntimestamp 4295002510\ncpu0 0 0\n");
	machine_advance(m, 10 * USEC_PER_SEC);
	watch_read(&w, true);
	ck_assert_uint_eq(w.topology->hz, 250);
}
END_TEST

START_TEST(rivals_by_comm)
{
	_machine_ *m = machine_new(&(struct machine_spec){.irqbalance = true});

	machine_process(m, 500, "tuned", "/usr/bin/python3 /usr/sbin/tuned", false);
	machine_process(m, 501, "sh", "irqbalance power-profiles-daemon", false);
	machine_process(m, 502, "bpftune", "", true); /* a kernel thread is no program */
	_watch_ w = watch_begin(&m->io);
	ck_assert(w.topology->irqbalance);
	ck_assert_str_eq(w.topology->rivals, "irqbalance, tuned");
}
END_TEST

START_TEST(irqbalance_comes)
{
	_machine_ *m = machine_new(&(struct machine_spec){});
	_watch_ w = watch_begin(&m->io);

	watch_read(&w, true);
	ck_assert(!observer_topology_changed(w.observer));
	machine_process(m, 4000, "irqbalance", "", false);
	tree_write(m->tree, "run/irqbalance/irqbalance4000.sock", "");
	watch_read(&w, true);
	ck_assert(observer_topology_changed(w.observer));
	watch_rediscover(&w);
	ck_assert(w.topology->irqbalance);
	ck_assert(!observer_topology_changed(w.observer));
}
END_TEST

/* Nothing at all: every source says so, nothing fails. */
START_TEST(empty_root)
{
	_cleanup_(tree_freep) struct tree *t = tree_new();
	_cleanup_(io_freep) struct io *io = tree_io(t);
	_watch_ w = watch_begin(io);

	ck_assert_uint_eq(w.topology->n_cpus, 0);
	for (unsigned slow = 0; slow < 2; slow++) {
		watch_read(&w, slow);
		for (unsigned i = 0; i < _SOURCE_MAX; i++) {
			const struct source_status *s = &w.snapshot->source[i];

			if (i == SOURCE_KSOFTIRQD && !slow)
				continue;
			/* Netlink is no part of a tree: nobody asked. */
			if (i == SOURCE_NAPI || i == SOURCE_ETHTOOL) {
				ck_assert_int_eq(s->state, SOURCE_UNREAD);
				continue;
			}
			ck_assert_msg(s->state == SOURCE_ABSENT || s->state == SOURCE_STRANGE,
				      "%s: %d", source_to_string(i), s->state);
			ck_assert_str_ne(s->text, "");
		}
	}
	ck_assert(!observer_topology_changed(w.observer));
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("topology");

	tcase_set_timeout(t, 60); /* many files, on machines that have other work */
	tcase_add_test(t, cores_caches_nodes);
	tcase_add_test(t, hybrid_capacity);
	tcase_add_test(t, no_topology_files);
	tcase_add_test(t, isolated_sets);
	tcase_add_test(t, container_mismatch);
	tcase_add_test(t, container_marks);
	tcase_add_test(t, more_possible_than_online);
	tcase_add_test(t, policies);
	tcase_add_test(t, no_cpufreq);
	tcase_add_test(t, kernel_facts);
	tcase_add_test(t, words_behind_the_dashes_are_inits);
	tcase_add_test(t, hz_by_schedstat);
	tcase_add_test(t, rivals_by_comm);
	tcase_add_test(t, irqbalance_comes);
	tcase_add_test(t, empty_root);
	return run_suite("topology", t);
}
