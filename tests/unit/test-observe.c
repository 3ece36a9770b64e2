/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ticks: what the observer reads, what it leaves out, and what it makes of a world that changes. */
#include <stdio.h>

#include "lib/fault-io.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "lib/watch.h"
#include "model/window.h"

#define _machine_ _cleanup_(machine_freep) struct machine
#define _fault_   _cleanup_(fault_io_freep) struct fault_io

static const struct machine_nic i40e = {.name = "eth0", .kind = MACHINE_I40E, .queues = 4};
static const struct machine_nic virtio = {.name = "eth0", .kind = MACHINE_VIRTIO};

static struct machine *machine(const struct machine_nic *nic, unsigned cpus)
{
	return machine_new(&(struct machine_spec){
		.cpus = cpus, .nics = nic, .n_nics = 1, .other_irqs = 30, .psi_irq = true});
}

static void second(struct machine *m)
{
	machine_advance(m, USEC_PER_SEC);
	machine_write(m);
}

START_TEST(one_tick)
{
	_machine_ *m = machine(&i40e, 4);
	_watch_ w = watch_begin(&m->io);
	const struct snapshot *s;
	unsigned queue = watch_irq(&w, "i40e-eth0-TxRx-2");

	watch_read(&w, true);
	m->cpu[2].dropped = 5;
	m->cpu[2].squeezed = 6;
	m->cpu[2].received_rps = 7;
	m->cpu[2].flow_limit = 8;
	m->cpu[2].backlog = 9;
	m->psi_cpu_usec = 1000;
	m->psi_irq_usec = 2000;
	m->rx[0].rx_missed = 3;
	machine_receive(m, machine_irq(m, "i40e-eth0-TxRx-2"), 6400);
	machine_busy(m, cpuset_first(&m->irq[machine_irq(m, "i40e-eth0-TxRx-2")].effective),
		     400000);
	second(m);
	watch_read(&w, false);

	s = w.snapshot;
	for (unsigned i = 0; i < _SOURCE_MAX; i++)
		ck_assert_msg(s->source[i].state == SOURCE_OK || i == SOURCE_SOFTIRQ_STAT ||
				      i == SOURCE_CPUFREQ || i == SOURCE_NAPI ||
				      i == SOURCE_ETHTOOL, /* a tree has no netlink */
			      "%s: %s", source_to_string(i), s->source[i].text);
	ck_assert_uint_eq(s->mono_usec, m->mono_usec);
	ck_assert_uint_eq(cpuset_count(&s->online), 4);
	ck_assert_uint_eq(s->cpu[2].dropped, 5);
	ck_assert_uint_eq(s->cpu[2].squeezed, 6);
	ck_assert_uint_eq(s->cpu[2].received_rps, 7);
	ck_assert_uint_eq(s->cpu[2].flow_limit, 8);
	ck_assert_uint_eq(s->cpu[2].backlog, 9);
	ck_assert_uint_eq(s->psi_cpu.some_usec, 1000);
	ck_assert_uint_eq(s->psi_irq.some_usec, 2000);
	ck_assert_uint_eq(s->nic[0].rx_packets, 6400);
	ck_assert_uint_eq(s->nic[0].rx_missed, 3);
	ck_assert(s->irq[queue].have);
	for (unsigned cpu = 0; cpu < 4; cpu++) {
		bool here = cpuset_has(&w.topology->irq[queue].effective, cpu);

		ck_assert_uint_eq(s->irq[queue].counts[cpu], here ? 200 : 0);
		ck_assert_uint_eq(s->cpu[cpu].softirq[SOFTIRQ_NET_RX], here ? 200 : 0);
		ck_assert_uint_eq(s->cpu[cpu].softirq_time, here ? 40 : 0);
		ck_assert_uint_eq(s->cpu[cpu].total, 100);
		/* only where it is busy on a fast tick */
		ck_assert_int_eq((s->cpu[cpu].have & HAVE_KSOFTIRQD) != 0, false);
	}
	ck_assert(!observer_topology_changed(w.observer));
}
END_TEST

START_TEST(suspended_time)
{
	_machine_ *m = machine(&virtio, 2);
	_watch_ w = watch_begin(&m->io);

	m->suspended_usec = 7 * USEC_PER_SEC;
	watch_read(&w, false);
	ck_assert_uint_eq(w.snapshot->boot_usec - w.snapshot->mono_usec, 7 * USEC_PER_SEC);
}
END_TEST

/* Whichever way the counts are read, they are the same. */
START_TEST(counts_by_files_and_by_table)
{
	struct machine_spec spec = {.cpus = 4, .nics = &i40e, .n_nics = 1, .psi_irq = true};

	for (unsigned way = 0; way < 5; way++) {
		spec.other_irqs = way == 1 ? 0 : 30; /* 1: a table so small that it is cheaper */
		spec.no_irq_sysfs = way == 2;
		spec.no_stat_intr = way == 3;
		_machine_ *m = machine_new(&spec);
		_fault_ *f = fault_io_new(&m->io);
		_watch_ w = watch_begin(&f->io);

		if (way == 4) /* cut at the end of its page */
			tree_write(m->tree, "sys/kernel/irq/26/per_cpu_count", "12,4");
		for (unsigned tick = 0; tick < 3; tick++) {
			for (unsigned q = 0; q < 4; q++)
				machine_receive(m, q + 1, 3200 * (q + tick));
			second(m);
			if (way == 4)
				tree_write(m->tree, "sys/kernel/irq/26/per_cpu_count", "12,4");
			fault_io_reset(f);
			f->pattern = way == 0 || way == 3 ? "proc/interrupts" : "sys/kernel/irq/*";
			watch_read(&w, tick == 0);
			if (tick > 0 && way != 4)
				ck_assert_uint_eq(f->fitting, way == 2 && tick == 1 ? 1 : 0);
			for (unsigned i = 0; i < w.topology->n_irqs; i++) {
				ck_assert(w.snapshot->irq[i].have);
				for (unsigned cpu = 0; cpu < 4; cpu++)
					ck_assert_uint_eq(w.snapshot->irq[i].counts[cpu],
							  m->irq[i].counts[cpu]);
			}
			ck_assert_int_eq(w.snapshot->source[SOURCE_IRQ_COUNTS].state, SOURCE_OK);
		}
		ck_assert(!observer_topology_changed(w.observer));
	}
}
END_TEST

/* What did not fire is not read, and still has its counts. */
START_TEST(silent_interrupts_cost_nothing)
{
	_machine_ *m = machine(&i40e, 4);
	_fault_ *f = fault_io_new(&m->io);
	_watch_ w = watch_begin(&f->io);

	machine_receive(m, 1, 3200);
	second(m);
	watch_read(&w, true);
	watch_read(&w, false); /* opens what it needs */
	f->pattern = "sys/kernel/irq/*/per_cpu_count";
	fault_io_reset(f);
	machine_receive(m, 3, 3200);
	second(m);
	watch_read(&w, false);
	ck_assert_uint_eq(f->fitting, 2); /* open, read */
	ck_assert_uint_eq(w.snapshot->irq[1].counts[cpuset_first(&m->irq[1].effective)], 100);
	ck_assert_uint_eq(w.snapshot->irq[3].counts[cpuset_first(&m->irq[3].effective)], 100);
	fault_io_reset(f);
	second(m);
	watch_read(&w, false);
	ck_assert_uint_eq(f->fitting, 0);
	ck_assert_uint_eq(w.snapshot->irq[3].counts[cpuset_first(&m->irq[3].effective)], 100);
}
END_TEST

/* Design 8: at most 15 system calls a tick on a small host where nothing is wrong. */
START_TEST(few_system_calls)
{
	_machine_ *m = machine(&virtio, 4);
	_fault_ *f = fault_io_new(&m->io);
	_watch_ w = watch_begin(&f->io);

	watch_read(&w, true);
	for (unsigned tick = 0; tick < 3; tick++) {
		for (unsigned i = 0; i < m->n_irqs; i++)
			machine_receive(m, i, 320);
		second(m);
		fault_io_reset(f);
		watch_read(&w, false);
	}
	ck_assert_uint_le(f->total, 15);
	/* Only a captured kernel log is opened anew each time, /dev/kmsg is not. */
	ck_assert_uint_eq(f->count[FAULT_OPEN], 1);
	ck_assert_uint_eq(f->count[FAULT_READ] + f->count[FAULT_OPEN], f->total);
}
END_TEST

/* A24: CPU 2 goes away between two ticks, and within one, with and without the CPU's column. */
static void take_cpu_2(void *m)
{
	machine_set_online(m, 2, false);
}

START_TEST(cpu_goes_away)
{
	for (unsigned way = 0; way < 4; way++) {
		bool narrow = way & 1, within = way & 2;
		_machine_ *m =
			machine_new(&(struct machine_spec){.cpus = 4,
							   .softnet_columns = narrow ? 11 : 15,
							   .nics = &virtio,
							   .n_nics = 1});
		_fault_ *f = fault_io_new(&m->io);
		_watch_ w = watch_begin(&f->io);
		_cleanup_(window_freep) struct window *window = NULL;
		const struct tick *t;

		ck_assert_int_eq(window_new(&window), 0);
		for (unsigned cpu = 0; cpu < 4; cpu++)
			m->cpu[cpu].processed = 1000000 * (cpu + 1);
		second(m);
		watch_read(&w, true);
		ck_assert_int_eq(window_push(window, w.snapshot), 0);
		second(m);
		if (within) {
			f->kinds = FAULT_BIT(FAULT_READ);
			f->pattern = "proc/net/softnet_stat";
			f->at = 1;
			f->fitting = 0;
			f->hook = take_cpu_2;
			f->userdata = m;
		} else {
			take_cpu_2(m);
		}
		for (unsigned tick = 0; tick < 2; tick++) {
			watch_read(&w, false);
			ck_assert_int_eq(window_push(window, w.snapshot), 0);
			t = window_tick(window, 0);
			ck_assert_ptr_nonnull(t);
			for (unsigned cpu = 0; cpu < 4; cpu++) {
				if (w.snapshot->cpu[cpu].have & HAVE_SOFTNET)
					ck_assert_uint_eq(w.snapshot->cpu[cpu].processed,
							  1000000 * (cpu + 1));
				ck_assert_uint_eq(t->cpu[cpu].processed, 0);
			}
			ck_assert(!(w.snapshot->cpu[2].have & HAVE_SOFTNET));
			/* Without a column nobody knows whose rows these are, while it happens. */
			ck_assert_int_eq((w.snapshot->cpu[3].have & HAVE_SOFTNET) != 0,
					 !(narrow && within && tick == 0));
			second(m);
		}
		ck_assert(observer_topology_changed(w.observer));
		watch_rediscover(&w);
		ck_assert(!observer_topology_changed(w.observer));
		ck_assert(!w.topology->cpu[2].online);
		ck_assert_uint_eq(w.topology->n_cpus, 4);
		machine_set_online(m, 2, true);
		watch_read(&w, false);
		ck_assert(observer_topology_changed(w.observer));
	}
}
END_TEST

/* The driver was reset: other numbers, the same identities; an old number is another device's now.
 */
START_TEST(numbers_are_reused)
{
	_machine_ *m = machine(&i40e, 4);
	_watch_ w = watch_begin(&m->io);
	char identity[IDENTITY_MAX];
	unsigned old;

	watch_read(&w, true);
	strcpy(identity, w.topology->irq[watch_irq(&w, "i40e-eth0-TxRx-1")].identity);
	old = m->irq[2].number;
	for (unsigned i = 0; i < 5; i++)
		m->irq[i].number += 500;
	m->irq[5].number = old; /* nvme0q0 */
	m->irq[5].counts[0] = 4711;
	machine_layout_irqs(m);
	second(m);
	watch_read(&w, true);
	ck_assert(observer_topology_changed(w.observer));
	ck_assert(!w.snapshot->irq[2].have);
	watch_rediscover(&w);
	ck_assert_ptr_nonnull(topology_irq_by_identity(w.topology, identity));
	ck_assert_uint_eq(topology_irq_by_identity(w.topology, identity)->number, old + 500);
	ck_assert_ptr_null(topology_irq(w.topology, old));
	second(m);
	watch_read(&w, true);
	ck_assert(!observer_topology_changed(w.observer));
	for (unsigned i = 0; i < w.topology->n_irqs; i++)
		ck_assert(w.snapshot->irq[i].have);
}
END_TEST

/* Between slow looks: the file of an interrupt that is gone answers ENODEV, and the table knows
 * why. */
START_TEST(interrupt_gone_on_a_fast_tick)
{
	_machine_ *m = machine(&i40e, 4);
	_fault_ *f = fault_io_new(&m->io);
	_watch_ w = watch_begin(&f->io);

	machine_receive(m, 1, 3200);
	second(m);
	watch_read(&w, true);
	for (unsigned i = 0; i < 5; i++)
		m->irq[i].number += 500;
	machine_layout_irqs(m);
	second(m);
	f->kinds = FAULT_BIT(FAULT_READ);
	f->pattern = "sys/kernel/irq/*";
	f->error = ENODEV;
	watch_read(&w, false);
	ck_assert(observer_topology_changed(w.observer));
}
END_TEST

/* A serial port that is opened now and then is new once; a NIC's queue always is. */
START_TEST(rows_of_other_devices)
{
	_machine_ *m = machine(&i40e, 4);
	_watch_ w = watch_begin(&m->io);
	struct machine_irq *tty = &m->irq[m->n_irqs - 1];
	unsigned all = m->n_irqs;

	for (unsigned round = 0; round < 3; round++) {
		m->n_irqs = all - 1;
		second(m);
		watch_read(&w, true);
		ck_assert(!observer_topology_changed(w.observer));
		m->n_irqs = all;
		second(m);
		watch_read(&w, true);
		ck_assert(!observer_topology_changed(w.observer));
	}
	snprintf(tty->name, sizeof(tty->name), "eth1-rx-0");
	second(m);
	watch_read(&w, true);
	ck_assert(observer_topology_changed(w.observer));
	watch_rediscover(&w);
	tty->name[0] = '\0'; /* rows without a name are nobody's */
	for (unsigned round = 0; round < 3; round++) {
		tty->counts[round]++;
		second(m);
		watch_read(&w, true);
		ck_assert(!observer_topology_changed(w.observer));
	}
}
END_TEST

START_TEST(link_events)
{
	_machine_ *m = machine(&i40e, 4);
	_watch_ w = watch_begin(&m->io);

	watch_read(&w, true);
	/* A container's interface is no change of the machine. */
	tree_write(m->tree, "sys/devices/virtual/net/veth7/ifindex", "700\n");
	tree_link(m->tree, "sys/class/net/veth7", "../../devices/virtual/net/veth7");
	observer_note_link_change(w.observer);
	watch_read(&w, false);
	ck_assert(!observer_topology_changed(w.observer));
	/* Going down is; and without an event the slow look finds it. */
	tree_write(m->tree, "sys/class/net/eth0/flags", "0x1002\n");
	watch_read(&w, false);
	ck_assert(!observer_topology_changed(w.observer));
	observer_note_link_change(w.observer);
	watch_read(&w, false);
	ck_assert(observer_topology_changed(w.observer));
	watch_rediscover(&w);
	ck_assert(!w.topology->nic[0].up);
	tree_write(m->tree, "sys/class/net/eth0/flags", "0x1003\n");
	watch_read(&w, true);
	ck_assert(observer_topology_changed(w.observer));
}
END_TEST

START_TEST(ksoftirqd)
{
	_machine_ *m = machine(&virtio, 4);
	_fault_ *f = fault_io_new(&m->io);
	machine_process(m, 90, "ksoftirqd/1", "", false); /* only looks like one */
	_watch_ w = watch_begin(&f->io);

	for (unsigned cpu = 0; cpu < 4; cpu++)
		m->cpu[cpu].ksoftirqd_run_ns = 1000 * (cpu + 1);
	second(m);
	watch_read(&w, true);
	for (unsigned cpu = 0; cpu < 4; cpu++) {
		ck_assert(w.snapshot->cpu[cpu].have & HAVE_KSOFTIRQD);
		ck_assert_uint_eq(w.snapshot->cpu[cpu].ksoftirqd_run_ns, 1000 * (cpu + 1));
	}
	/* On a fast tick where a CPU is busy with softirqs. */
	machine_busy(m, 2, 300000);
	second(m);
	watch_read(&w, false);
	for (unsigned cpu = 0; cpu < 4; cpu++)
		ck_assert_int_eq((w.snapshot->cpu[cpu].have & HAVE_KSOFTIRQD) != 0, cpu == 2);
	/* Another pid: found again at the next but one slow look, and /proc is not searched for
	 * ever. */
	tree_remove(m->tree, "proc/103");
	machine_process(m, 203, "ksoftirqd/3", "", true);
	watch_read(&w, true);
	ck_assert_int_eq(w.snapshot->source[SOURCE_KSOFTIRQD].state, SOURCE_STRANGE);
	watch_read(&w, true);
	ck_assert_int_eq(w.snapshot->source[SOURCE_KSOFTIRQD].state, SOURCE_OK);
	tree_remove(m->tree, "proc/203");
	watch_read(&w, true);
	f->pattern = "proc";
	fault_io_reset(f);
	for (unsigned i = 0; i < 5; i++)
		watch_read(&w, true);
	ck_assert_uint_eq(f->count[FAULT_LIST] > 0 ? f->fitting : 0, 0);
}
END_TEST

START_TEST(irq_threads)
{
	struct machine_nic nic = {.name = "eth0", .kind = MACHINE_CPSW};
	_machine_ *m = machine_new(
		&(struct machine_spec){.cpus = 2, .nics = &nic, .n_nics = 1, .rt = true});
	char comm[64];

	snprintf(comm, sizeof(comm), "irq/%u-48480000.ethernet", m->irq[0].number);
	machine_process(m, 300, comm, "", true);
	snprintf(comm, sizeof(comm), "irq/%u-s-48480000.ethernet", m->irq[1].number);
	machine_process(m, 301, comm, "", true);
	tree_write(m->tree, "proc/300/schedstat", "5000 6000 7\n");
	_watch_ w = watch_begin(&m->io);
	ck_assert(w.topology->rt && w.topology->threadirqs && w.topology->irq_threads);
	watch_read(&w, false);
	ck_assert_int_eq(w.snapshot->irq[0].thread_pid, 300);
	ck_assert_uint_eq(w.snapshot->irq[0].thread_run_ns, 5000);
	ck_assert_uint_eq(w.snapshot->irq[0].thread_wait_ns, 6000);
	ck_assert_uint_eq(w.snapshot->irq[0].thread_switches, 7);
	ck_assert_int_eq(w.snapshot->irq[1].thread_pid, 0);
	machine_fire(m, 0, 3);
	second(m);
	tree_write(m->tree, "proc/300/schedstat", "9000 6000 10\n");
	watch_read(&w, false);
	ck_assert_uint_eq(w.snapshot->irq[0].thread_switches, 10);
	/* The driver asked for its interrupt again: a new thread. */
	tree_remove(m->tree, "proc/300");
	machine_fire(m, 0, 3);
	second(m);
	watch_read(&w, false);
	ck_assert_int_eq(w.snapshot->irq[0].thread_pid, 0);
	ck_assert(observer_topology_changed(w.observer));
}
END_TEST

START_TEST(pressure_switched_off)
{
	_machine_ *m = machine(&virtio, 2);
	_fault_ *f = fault_io_new(&m->io);
	_watch_ w = watch_begin(&f->io);

	f->kinds = FAULT_BIT(FAULT_READ);
	f->pattern = "proc/pressure/*";
	f->error = EOPNOTSUPP; /* psi=0 */
	watch_read(&w, true);
	ck_assert_int_eq(w.snapshot->source[SOURCE_PSI_CPU].state, SOURCE_ABSENT);
	ck_assert(!w.snapshot->psi_cpu.have);
	/* no retry storm: not on fast ticks */
	fault_io_reset(f);
	for (unsigned i = 0; i < 5; i++)
		watch_read(&w, false);
	ck_assert_uint_eq(f->hits, 0);
	ck_assert_int_eq(w.snapshot->source[SOURCE_PSI_CPU].state, SOURCE_ABSENT);
	f->error = 0;
	watch_read(&w, true);
	ck_assert_int_eq(w.snapshot->source[SOURCE_PSI_CPU].state, SOURCE_OK);
	ck_assert(w.snapshot->psi_cpu.have);
}
END_TEST

START_TEST(kernel_log)
{
	_machine_ *m = machine(&virtio, 2);

	machine_kmsg(m, 4, "NOHZ tick-stop error: local softirq work is pending, handler #08!!!");
	_watch_ w = watch_begin(&m->io);
	watch_read(&w, false);
	ck_assert_int_eq(w.snapshot->source[SOURCE_KMSG].state, SOURCE_OK);
	ck_assert_uint_eq(w.snapshot->n_events, 1);
	ck_assert_int_eq(w.snapshot->event[0].kind, KMSG_NOHZ_PENDING);
	ck_assert_uint_eq(w.snapshot->event[0].mask, 8);
	ck_assert_int_eq(observer_kmsg_fd(w.observer), -1);
	watch_read(&w, false);
	ck_assert_uint_eq(w.snapshot->n_events, 0);
	machine_kmsg(m, 3, "rcu: INFO: rcu_preempt self-detected stall on CPU");
	watch_read(&w, false);
	ck_assert_uint_eq(w.snapshot->n_events, 1);
	ck_assert_int_eq(w.snapshot->event[0].kind, KMSG_RCU_STALL);
	ck_assert_uint_eq(w.snapshot->nohz_lines, 1);
}
END_TEST

START_TEST(settings)
{
	_machine_ *m = machine_new(
		&(struct machine_spec){.nics = &virtio, .n_nics = 1, .cpufreq = "amd-pstate-epp"});
	_watch_ w = watch_begin(&m->io);
	struct target host = target_host(), irq = irq_target(&w.topology->irq[0]),
		      policy = policy_target(&w.topology->policy[1]);
	char value[VALUE_MAX];

	ck_assert_int_eq(observe_value(&m->io, TUNABLE_NETDEV_BUDGET, &host, value, sizeof(value)),
			 0);
	ck_assert_str_eq(value, "300");
	ck_assert_int_eq(observe_value(&m->io, TUNABLE_IRQ_AFFINITY, &irq, value, sizeof(value)),
			 0);
	ck_assert_str_eq(value, "0-1");
	ck_assert_int_eq(observe_value(&m->io, TUNABLE_GOVERNOR, &policy, value, sizeof(value)), 0);
	ck_assert_str_eq(value, "powersave");
	ck_assert_int_eq(
		observe_value(&m->io, TUNABLE_ENERGY_PREFERENCE, &policy, value, sizeof(value)), 0);
	ck_assert_str_eq(value, "balance_performance");
	ck_assert_int_eq(
		observe_value(&m->io, TUNABLE_SOFTIRQ_TIME_US, &host, value, sizeof(value)),
		-ENOENT);
	ck_assert_int_eq(observe_value(&m->io, TUNABLE_GOVERNOR, &host, value, sizeof(value)),
			 -EINVAL);
	ck_assert_int_lt(observe_value(&m->io, TUNABLE_IRQ_AFFINITY, &irq, value, 2), 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("observe");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, one_tick);
	tcase_add_test(t, suspended_time);
	tcase_add_test(t, counts_by_files_and_by_table);
	tcase_add_test(t, silent_interrupts_cost_nothing);
	tcase_add_test(t, few_system_calls);
	tcase_add_test(t, cpu_goes_away);
	tcase_add_test(t, numbers_are_reused);
	tcase_add_test(t, interrupt_gone_on_a_fast_tick);
	tcase_add_test(t, rows_of_other_devices);
	tcase_add_test(t, link_events);
	tcase_add_test(t, ksoftirqd);
	tcase_add_test(t, irq_threads);
	tcase_add_test(t, pressure_switched_off);
	tcase_add_test(t, kernel_log);
	tcase_add_test(t, settings);
	return run_suite("observe", t);
}
