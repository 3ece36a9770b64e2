/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control law in numbers, in simulated time: how fast the right lever is tried and how many trials
 * it takes to settle; how often chance is taken for a success on stationary noise; what a tick of
 * decide() costs. Prints what was measured and asserts nothing.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "lib/count-allocations.h"
#include "sim/host.h"

/* Process CPU time, seconds. */
static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- single causes ---- */

struct cause {
	const char *name;
	void (*begin)(struct direct *d);
	enum tunable_id lever; /* the right one */
};

/* Eight queues whose interrupts all fire on CPU 0; BURST packets each, all at the same time. */
static void queues_on_cpu0(struct direct *d, double pps, unsigned burst, unsigned cost_ns)
{
	for (unsigned i = 0; i < 8; i++)
		d->r.queue[i] = (struct receive_queue){
			.pps = pps, .burst = burst, .cost_ns = cost_ns, .burst_noise = 0.1};
}

static void many_packets(struct direct *d)
{
	queues_on_cpu0(d, 20000, 200, 1000);
}

static void slow_packets(struct direct *d)
{
	queues_on_cpu0(d, 280, 14, 100000);
}

static void full_backlog(struct direct *d)
{
	d->r.queue[0] = (struct receive_queue){
		.no_nic = true, .pps = 30000, .burst = 1500, .noise = 0.1, .burst_noise = 0.1};
}

static void full_backlog_now_and_then(struct direct *d)
{
	d->r.queue[0] = (struct receive_queue){
		.no_nic = true, .pps = 300, .burst = 1500, .burst_noise = 0.1};
}

static bool asks_for(const struct direct *d, enum tunable_id id)
{
	for (unsigned i = 0; i < d->out->n_changes; i++)
		if (d->out->change[i].tunable == id && !d->out->change[i].advice_only)
			return true;
	return false;
}

static void bench_causes(void)
{
	static const struct cause causes[] = {
		{"packets: netdev_budget", many_packets, TUNABLE_NETDEV_BUDGET},
		{"time: netdev_budget_usecs", slow_packets, TUNABLE_NETDEV_BUDGET_USECS},
		{"backlog: netdev_max_backlog", full_backlog, TUNABLE_NETDEV_MAX_BACKLOG},
		{"backlog, every 5 s", full_backlog_now_and_then, TUNABLE_NETDEV_MAX_BACKLOG},
	};

	printf("single causes (ticks of 1 s)     lever decided   first change   verdicts   kept   last change\n");
	for (size_t i = 0; i < ELEMENTSOF(causes); i++) {
		unsigned decided = 0, changed = 0;
		struct direct d;

		direct_start(&d, 250, 4, 8, i + 1);
		direct_run(&d, 20);
		causes[i].begin(&d);
		for (unsigned tick = 1; tick <= 3600; tick++) {
			direct_run(&d, 1);
			if (!decided && asks_for(&d, causes[i].lever))
				decided = tick;
			if (!changed && d.writes > 0)
				changed = tick;
		}
		printf("  %-30s %13u %14u %10u %6u %13u\n", causes[i].name, decided, changed,
		       d.verdicts, d.kept, d.writes ? d.last_write - 20 : 0);
		direct_done(&d);
	}
}

/* ---- chance ---- */

/* Stationary noise of a measure: nothing depends on any setting. */
struct noise {
	const char *name;
	enum symptom symptom;
	double mean;   /* share of runs squeezed, or of packets dropped */
	double spread; /* standard deviation of its logarithm */
	double memory; /* of a tick in the next */
	double quiet;  /* share of the ticks without any */
	/* Spells of it with nothing between them: their mean lengths in ticks, of geometric
	 * distributions; 0: one spell without an end */
	double spell, pause;
};

struct noise_state {
	double level;
	bool paused;
};

static void make_noise(struct direct *d, const struct noise *n, struct noise_state *s)
{
	struct receive_cpu *c = &d->r.cpu[0];
	double share, runs = 1000, packets = 50000;

	s->level = n->memory * s->level + sqrt(1 - n->memory * n->memory) * receive_normal(&d->r);
	share = n->mean * exp(n->spread * s->level - n->spread * n->spread / 2);
	if (n->spell > 0 && receive_random(&d->r) < 1 / (s->paused ? n->pause : n->spell))
		s->paused = !s->paused;
	if (s->paused || receive_random(&d->r) < n->quiet)
		share = 0;
	share = MIN(share, 0.95);
	packets *= 1 + 0.1 * receive_normal(&d->r);
	c->net_rx += (uint32_t)runs;
	c->processed += (uint32_t)packets;
	if (n->symptom == SYMPTOM_SQUEEZED)
		c->squeezed += (uint32_t)(runs * share + receive_random(&d->r));
	else
		c->dropped += (uint32_t)(packets * share + receive_random(&d->r));
	c->softirq_ns += (uint64_t)(300000000 * (1 + 0.1 * receive_normal(&d->r)));
	c->idle_ns += 700000000;
	d->r.queue[0].packets += (uint64_t)packets;
}

static void bench_chance(const struct noise *n, unsigned trials)
{
	unsigned kept = 0, ended = 0;
	uint64_t ticks = 0;
	struct noise_state state = {};
	struct direct d;

	direct_start(&d, 250, 2, 1, 7);
	d.no_plant = true;
	d.changes_per_hour = 0;
	/* Ticks are bounded too: some noise crosses a threshold once in a long while. */
	while (ended < trials && ticks++ < (uint64_t)trials * 1000) {
		make_noise(&d, n, &state);
		direct_see(&d);
		direct_run(&d, 1);
		if (!d.out->has_verdict)
			continue;
		ended++;
		kept += d.kept > 0;
		/* As if it were another host: what was learned on this one is not the question. */
		direct_forget(&d);
	}
	printf("  %-34s %8u %8u %8.2f %% %12.0f\n", n->name, ended, kept,
	       ended ? 100.0 * kept / ended : 0, ended ? (double)ticks / ended : 0);
	direct_done(&d);
}

static void bench_all_chance(unsigned trials)
{
	static const struct noise noises[] = {
		{"squeezes, steady", SYMPTOM_SQUEEZED, 0.3, 0.1, 0, 0, 0, 0},
		{"squeezes, wild", SYMPTOM_SQUEEZED, 0.1, 1, 0, 0, 0, 0},
		{"squeezes, wild, 3 s memory", SYMPTOM_SQUEEZED, 0.1, 1, 0.7, 0, 0, 0},
		{"squeezes, wild, 10 s memory", SYMPTOM_SQUEEZED, 0.1, 1, 0.9, 0, 0, 0},
		{"squeezes, wild, 50 s memory", SYMPTOM_SQUEEZED, 0.1, 1, 0.98, 0, 0, 0},
		{"squeezes in every other tick", SYMPTOM_SQUEEZED, 0.1, 1, 0, 0.5, 0, 0},
		{"drops, steady", SYMPTOM_BACKLOG_DROP, 0.01, 0.1, 0, 0, 0, 0},
		{"drops, wild", SYMPTOM_BACKLOG_DROP, 0.01, 1, 0, 0, 0, 0},
		{"drops, wild, 3 s memory", SYMPTOM_BACKLOG_DROP, 0.01, 1, 0.7, 0, 0, 0},
		{"drops, wild, 10 s memory", SYMPTOM_BACKLOG_DROP, 0.01, 1, 0.9, 0, 0, 0},
		{"drops, wild, 50 s memory", SYMPTOM_BACKLOG_DROP, 0.01, 1, 0.98, 0, 0, 0},
		{"drops in every other tick", SYMPTOM_BACKLOG_DROP, 0.01, 1, 0, 0.5, 0, 0},
		{"drops in every fifth tick", SYMPTOM_BACKLOG_DROP, 0.01, 1, 0, 0.8, 0, 0},
		{"squeezes, 10 s of 60", SYMPTOM_SQUEEZED, 0.3, 0.1, 0, 0, 10, 50},
		{"squeezes, 30 s of 5 min", SYMPTOM_SQUEEZED, 0.3, 0.1, 0, 0, 30, 270},
		{"drops, 5 s of 30", SYMPTOM_BACKLOG_DROP, 0.01, 0.1, 0, 0, 5, 25},
		{"drops, 10 s of 2 min", SYMPTOM_BACKLOG_DROP, 0.01, 0.1, 0, 0, 10, 110},
		{"drops, 60 s of 10 min", SYMPTOM_BACKLOG_DROP, 0.01, 0.1, 0, 0, 60, 540},
		{"drops, sparse, 20 s of 2 min", SYMPTOM_BACKLOG_DROP, 0.02, 1, 0, 0.6, 20, 100},
		{"drops, sparse, 60 s of 5 min", SYMPTOM_BACKLOG_DROP, 0.02, 1, 0, 0.6, 60, 240},
		{"drops, sparse, 3 min of 10", SYMPTOM_BACKLOG_DROP, 0.02, 1, 0, 0.7, 180, 420},
		{"drops, lone ones in spells", SYMPTOM_BACKLOG_DROP, 0.02, 1, 0, 0.85, 90, 300},
	};

	printf("chance on stationary noise            trials     kept                ticks each\n");
	for (size_t i = 0; i < ELEMENTSOF(noises); i++)
		bench_chance(&noises[i], trials);
}

/* ---- cost ---- */

/* A day of 256 busy CPUs with some squeezes and drops; only decide() and the window are timed. */
static void bench_day(void)
{
	enum {
		CPUS = 256,
		QUEUES = 64,
		DAY = 86400
	};
	struct direct d;
	double began, spent = 0;

	direct_start(&d, 250, CPUS, QUEUES, 3);
	d.no_plant = true;
	for (unsigned tick = 0; tick < DAY; tick++) {
		for (unsigned i = 0; i < CPUS; i++) {
			struct receive_cpu *c = &d.r.cpu[i];

			c->processed += 20000;
			c->net_rx += 1000;
			c->squeezed += tick / 600 % 2 && i < 8 ? 100 + tick % 7 : 0;
			c->softirq_ns += 200000000;
			c->idle_ns += 800000000;
		}
		direct_see(&d);
		began = cpu_seconds();
		direct_run(&d, 1);
		spent += cpu_seconds() - began;
	}
	printf("a day of %u CPUs, %u queues: %.1f s (%.0f µs a tick), %u changes\n", CPUS, QUEUES,
	       spent, 1e6 * spent / DAY, d.writes);
	direct_done(&d);
}

/* Calls of malloc() and its like in 600 ticks, window and decide(), beyond the first 30. */
static void bench_allocations(void)
{
	static const unsigned cpus[] = {4, 256};

	for (size_t i = 0; i < ELEMENTSOF(cpus); i++) {
		unsigned long before;
		struct direct d;

		direct_start(&d, 250, cpus[i], 8, 1);
		many_packets(&d);
		d.r.queue[0].pps = 2000000; /* CPU 0 is hot */
		direct_run(&d, 30);
		before = allocations;
		direct_run(&d, 600);
		if (COUNTED)
			printf("allocations in 600 ticks of %u CPUs, one of them hot: %lu\n",
			       cpus[i], allocations - before);
		else
			printf("allocations: not counted in this build\n");
		direct_done(&d);
	}
}

int main(int argc, char **argv)
{
	/* "bench-decide TRIALS": chance alone, with so many. */
	unsigned trials = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000;

	if (argc > 1) {
		bench_all_chance(trials);
		return 0;
	}
	bench_causes();
	bench_all_chance(trials);
	bench_allocations();
	bench_day();
	return 0;
}
