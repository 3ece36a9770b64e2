/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/story.h"

#include <stdio.h>

const char story_profile[] = "netdev_budget = [300, 1200];\n"
			     "netdev_budget_usecs = [8000, 24000];\n"
			     "netdev_max_backlog = [1000, 1500];\n"
			     "nics = ({ match = \"*\"; placement = \"spread\"; });\n";

static const struct machine_nic nic4[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 4}};

/* PACKETS in RUNS on the CPU where queue Q arrives; SHARE of its time in softirq, in percent.
 * Returns the CPU. */
static unsigned arrive(struct machine *m, unsigned q, unsigned packets, unsigned runs,
		       unsigned share)
{
	char name[32];
	unsigned irq, cpu;

	snprintf(name, sizeof(name), "i40e-eth0-TxRx-%u", q);
	irq = machine_irq(m, name);
	machine_fire(m, irq, runs);
	cpu = cpuset_first(&m->irq[irq].effective);
	m->cpu[cpu].processed += packets;
	m->cpu[cpu].softirq[3] += runs;
	m->rx[0].rx_packets += packets;
	machine_busy(m, cpu, share * 10000);
	return cpu;
}

/* An ordinary second: a little on each queue. */
static void calm(struct machine *m, unsigned from_queue)
{
	for (unsigned q = from_queue; q < 4; q++)
		arrive(m, q, 50 + q, 5, 1);
}

/* Queue interrupts 0 … 3 on CPUs 0 … 3, as most drivers leave them. */
static void one_cpu_each(struct machine *m)
{
	for (unsigned q = 0; q < 4; q++) {
		char name[32], path[64];

		snprintf(name, sizeof(name), "i40e-eth0-TxRx-%u", q);
		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list",
			 m->irq[machine_irq(m, name)].number);
		tree_printf(m->tree, path, "%u\n", q);
	}
}

static void all_on_cpu_0(struct machine *m)
{
	for (unsigned i = 0; i < m->n_irqs; i++) {
		char path[64];

		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", m->irq[i].number);
		tree_write(m->tree, path, "0\n");
	}
}

/* 290 NIC packets a run, four of five runs squeezed: the packet budget binds. */
static void squeeze(struct machine *m, unsigned second)
{
	unsigned cpu = arrive(m, 0, 28900 + 7 * (second % 13), 100, 50);

	m->cpu[cpu].squeezed += 79 + second % 3;
	calm(m, 1);
}

/* Somebody makes each change when it is due: it is made, withdrawn to confirm it, and made again. */
static bool is_made(struct machine *m, unsigned second, const char *path, const char *to,
		    const char *from)
{
	if (second == 17 || second == 34)
		tree_write(m->tree, path, to);
	if (second == 28)
		tree_write(m->tree, path, from);
	return (second >= 17 && second < 28) || second >= 34;
}

/* … and it is what was needed. */
static void squeezed_and_cured(struct machine *m, unsigned second)
{
	if (second <= 10 || second > 60)
		calm(m, 0);
	else if (is_made(m, second, "proc/sys/net/core/netdev_budget", "450\n", "300\n"))
		arrive(m, 0, 28900 + 7 * (second % 13), 80, 50);
	else
		squeeze(m, second);
}

/* 100 NIC packets a run, most runs squeezed: their time is up. A jiffy more of it, and the runs end
 * by themselves, with fewer of them for the same packets. */
static void time_is_up_and_cured(struct machine *m, unsigned second)
{
	unsigned cpu;

	if (second <= 10 || second > 60) {
		calm(m, 0);
	} else if (is_made(m, second, "proc/sys/net/core/netdev_budget_usecs", "12000\n",
			   "8000\n")) {
		arrive(m, 0, 9900 + 3 * (second % 13), 60, 40);
	} else {
		cpu = arrive(m, 0, 9900 + 3 * (second % 13), 100, 60);
		m->cpu[cpu].squeezed += 79 + second % 3;
	}
}

static void with_hz_250(struct machine *m)
{
	one_cpu_each(m);
	tree_write(m->tree, "boot/config-6.12.117+deb13-amd64", "CONFIG_HZ=250\n");
}

/* The same, but nobody listens. */
static void squeezed_for_long(struct machine *m, unsigned second)
{
	if (second <= 10 || second > 40)
		calm(m, 0);
	else
		squeeze(m, second);
}

/* The backlog overflows, a larger one changes nothing, and it is taken back. */
static void drops_without_cure(struct machine *m, unsigned second)
{
	unsigned cpu;

	if (second <= 5) {
		calm(m, 0);
		return;
	}
	if (second == 12)
		tree_write(m->tree, "proc/sys/net/core/netdev_max_backlog", "1500\n");
	if (second == 21)
		tree_write(m->tree, "proc/sys/net/core/netdev_max_backlog", "1000\n");
	cpu = arrive(m, 0, 20000, 400, 60);
	m->cpu[cpu].dropped += 500 + second % 7;
	calm(m, 1);
}

/* All queues on CPU 0, which is full; then they are spread, and it is not. */
static void one_cpu_takes_all(struct machine *m, unsigned second)
{
	if (second == 20)
		one_cpu_each(m);
	for (unsigned q = 0; q < 4; q++)
		arrive(m, q, 10000, 300, 0);
	for (unsigned cpu = 0; cpu < 4; cpu++)
		machine_busy(m, cpu, second > 20 ? 230000 : cpu == 0 ? 920000 : 0);
}

/* The log says NOHZ with network bits; counters are calm. Seed 002's host has forced threads. */
static void nohz_lines(struct machine *m)
{
	one_cpu_each(m);
	machine_kmsg(m, 4, "NOHZ tick-stop error: local softirq work is pending, handler #08!!!");
	machine_kmsg(m, 4, "NOHZ tick-stop error: local softirq work is pending, handler #80!!!");
	machine_kmsg(m, 6, "nfs: server backup.example.net not responding");
}

static void only_calm(struct machine *m, unsigned second _unused_)
{
	calm(m, 0);
}

/* An hour of sleep in the middle of a baseline: nothing is judged across it. */
static void suspended(struct machine *m, unsigned second)
{
	if (second == 14)
		m->suspended_usec += 3600 * USEC_PER_SEC;
	if (second <= 10)
		calm(m, 0);
	else
		squeeze(m, second);
}

/* A CPU goes and comes back while another is squeezed. */
static void hotplug(struct machine *m, unsigned second)
{
	if (second == 15)
		machine_set_online(m, 3, false);
	if (second == 30)
		machine_set_online(m, 3, true);
	if (second <= 10)
		calm(m, 0);
	else
		squeeze(m, second);
}

/* The kernel reports a stall: hands off, whatever else binds. */
static void stall_line(struct machine *m)
{
	one_cpu_each(m);
	machine_kmsg(m, 3, "rcu: INFO: rcu_sched self-detected stall on CPU");
}

#define HOST                                                           \
	{                                                              \
		.cpus = 4, .nics = nic4, .n_nics = 1, .other_irqs = 4, \
	}

const struct story stories[] = {
	{"squeezed-packets", 75, true, HOST, one_cpu_each, squeezed_and_cured, NULL},
	{"squeezed-unheard", 60, false, HOST, one_cpu_each, squeezed_for_long, NULL},
	{"drops-no-cure", 50, true, HOST, one_cpu_each, drops_without_cure, NULL},
	{"hot-cpu", 45, true, HOST, all_on_cpu_0, one_cpu_takes_all, NULL},
	{"nohz", 75, false, HOST, nohz_lines, only_calm, NULL},
	{"suspend", 30, false, HOST, one_cpu_each, suspended, NULL},
	{"hotplug", 45, false, HOST, one_cpu_each, hotplug, NULL},
	{"stalled", 30, false, HOST, stall_line, squeezed_for_long, NULL},
	{"squeezed-time", 75, true, HOST, with_hz_250, time_is_up_and_cured,
	 "netdev_budget = [300, 1200];\nnetdev_budget_usecs = [8000, 24000];\n"
	 "objective = \"cpu\";\n"},
};
const size_t n_stories = ELEMENTSOF(stories);

const char *story_profile_of(const struct story *story)
{
	return story->profile ?: story_profile;
}

void story_play(const struct story *story, void (*start)(struct machine *m, void *userdata),
		void (*tick)(void *userdata), void *userdata)
{
	_cleanup_(machine_freep) struct machine *m = machine_new(&story->spec);

	if (story->begin)
		story->begin(m);
	machine_write(m);
	start(m, userdata);
	tick(userdata);
	for (unsigned second = 1; second <= story->seconds; second++) {
		story->second(m, second);
		machine_advance(m, USEC_PER_SEC);
		machine_write(m);
		tick(userdata);
	}
}
