/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/receive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

enum {
	NAPI_WEIGHT = 64,             /* include/linux/netdevice.h: NAPI_POLL_WEIGHT */
	POLL_NS = 500,                /* what a poll costs beside its packets */
	MAX_RESTART = 10,             /* kernel/softirq.c: MAX_SOFTIRQ_RESTART */
	SLICE_NS = 3000000,           /* a turn of a task; the scheduler's base slice on 8 CPUs */
	BACKLOG = RECEIVE_QUEUES_MAX, /* in lists of NAPI instances, beside the queues */
	RING = 4096,
	COST_NS = 1000,
};
#define TICK_NS 1000000000ULL

/* xorshift64* (S. Vigna: An experimental exploration of Marsaglia's xorshift generators, 2016) */
static uint64_t next_random(struct receive *r)
{
	r->random ^= r->random >> 12;
	r->random ^= r->random << 25;
	r->random ^= r->random >> 27;
	return r->random * 2685821657736338717ULL;
}

double receive_random(struct receive *r)
{
	return (double)(next_random(r) >> 11) * 0x1p-53;
}

/* The sum of twelve uniform numbers: near enough, and the same on every libm. */
double receive_normal(struct receive *r)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += receive_random(r);
	return sum;
}

void receive_init(struct receive *r, unsigned hz, unsigned n_cpus, uint64_t seed)
{
	*r = (struct receive){
		.hz = hz,
		.n_cpus = n_cpus,
		.netdev_budget = 300,
		.netdev_budget_usecs = 2 * 1000000 / hz,
		.netdev_max_backlog = 1000,
		.dev_weight = 64,
		.wakeup_ns = 2000,
		.random = seed * 2 + 0x9E3779B97F4A7C15ULL,
		.cpu = calloc(n_cpus, sizeof(*r->cpu)),
	};
	if (!r->cpu)
		abort();
}

void receive_set_online(struct receive *r, unsigned cpu, bool online)
{
	struct receive_cpu *c = &r->cpu[cpu];

	c->offline = !online;
	if (online)
		return;
	/* dev_cpu_dead() gives the work to another CPU; here it waits for its queues' next interrupt. */
	for (unsigned i = 0; i < r->n_queues; i++)
		if (r->queue[i].cpu == cpu)
			r->queue[i].scheduled = false;
	c->list_n = c->list_at = c->next_n = c->backlog = 0;
	c->in_run = c->in_interrupt = c->handed_over = c->backlog_scheduled = false;
}

void receive_done(struct receive *r)
{
	free(r->cpu);
	r->cpu = NULL;
}

static uint64_t jiffies(const struct receive *r, int64_t usec)
{
	uint64_t jiffy_usec = 1000000 / r->hz;

	return MAX(((uint64_t)usec + jiffy_usec - 1) / jiffy_usec, (uint64_t)1);
}

static bool pending(const struct receive_cpu *c)
{
	return c->in_run || c->list_n > 0 || c->next_n > 0;
}

/* ____napi_schedule() */
static void schedule_napi(struct receive_cpu *c, unsigned napi)
{
	c->next[c->next_n++] = (unsigned char)napi;
}

/* __do_softirq() begins. */
static void enter_softirq(struct receive *r, struct receive_cpu *c)
{
	c->passes = 0;
	c->softirq_until = r->jiffy + jiffies(r, 2000);
}

static void enqueue_backlog(struct receive *r, unsigned cpu, unsigned n)
{
	struct receive_cpu *c = &r->cpu[cpu];
	/* Full when it is longer than the limit: one more fits than the setting says. */
	unsigned room = c->backlog > (unsigned)r->netdev_max_backlog
				? 0
				: (unsigned)r->netdev_max_backlog + 1 - c->backlog;
	unsigned taken = c->offline ? 0 : MIN(n, room);

	c->dropped += n - taken;
	c->backlog += taken;
	if (taken == 0 || c->backlog_scheduled)
		return;
	c->backlog_scheduled = true;
	c->received_rps++;
	if (!pending(c)) {
		c->in_interrupt = true;
		enter_softirq(r, c);
	}
	schedule_napi(c, BACKLOG);
}

/* N packets reach the ring; the interrupt fires unless the queue is being polled. */
static void arrive(struct receive *r, unsigned queue, unsigned n)
{
	struct receive_queue *q = &r->queue[queue];
	struct receive_cpu *c = &r->cpu[q->cpu];
	unsigned ring = q->ring ?: RING, taken;

	if (q->no_nic) {
		enqueue_backlog(r, q->backlog_cpu, n);
		return;
	}
	taken = MIN(n, ring - MIN(q->waiting, ring));
	q->missed += n - taken;
	q->packets += taken;
	q->waiting += taken;
	if (q->scheduled || taken == 0)
		return;
	q->scheduled = true;
	q->interrupts++;
	if (!pending(c)) {
		c->in_interrupt = true;
		c->debt_ns += r->wakeup_ns;
		enter_softirq(r, c);
	} else if (c->handed_over && !r->lets_ksoftirqd && !c->in_interrupt && !c->in_run) {
		c->in_interrupt = true; /* irq_exit() runs what is pending, ksoftirqd or not */
		enter_softirq(r, c);
	}
	schedule_napi(c, queue);
}

static void begin_run(struct receive *r, struct receive_cpu *c)
{
	/* list_splice: what is left of the last run, what was scheduled meanwhile, repolls */
	memmove(c->list, c->list + c->list_at, c->list_n);
	memcpy(c->list + c->list_n, c->next, c->next_n);
	c->list_n += c->next_n;
	c->list_at = c->next_n = 0;
	c->in_run = true;
	c->run_budget = r->netdev_budget;
	c->run_until = r->jiffy + jiffies(r, r->netdev_budget_usecs);
	c->run_packets = 0;
	c->net_rx++;
}

static double packet_cost(const struct receive *r, const struct receive_cpu *c, unsigned n,
			  unsigned cost)
{
	if (r->long_cost > 0 && c->run_packets > r->long_run)
		return n * (double)cost * r->long_cost;
	return n * (double)cost;
}

/* One poll; returns its nanoseconds. */
static uint64_t poll_next(struct receive *r, struct receive_cpu *c)
{
	unsigned napi = c->list[c->list_at++], weight, n;
	double cost = POLL_NS;

	c->list_n--;
	if (napi == BACKLOG) {
		weight = (unsigned)r->dev_weight;
		n = MIN(c->backlog, weight);
		c->backlog -= n;
		c->processed += n;
		cost += packet_cost(r, c, n, COST_NS);
		if (n == weight)
			schedule_napi(c, BACKLOG);
		else
			c->backlog_scheduled = false;
	} else {
		struct receive_queue *q = &r->queue[napi];
		unsigned merged;

		if (&r->cpu[q->cpu] != c) {
			q->scheduled = false; /* the next arrival interrupts where it belongs now */
			return POLL_NS;
		}
		weight = NAPI_WEIGHT;
		n = MIN(q->waiting, weight);
		q->waiting -= n;
		merged = (n + MAX(q->gro, 1U) - 1) / MAX(q->gro, 1U);
		if (q->to_backlog) {
			cost += n * 100.0;
			enqueue_backlog(r, q->backlog_cpu, merged);
		} else {
			cost += packet_cost(r, c, n, q->cost_ns ?: COST_NS);
			c->processed += merged;
		}
		if (n == weight)
			schedule_napi(c, napi);
		else
			q->scheduled = false;
	}
	c->run_budget -= n;
	c->run_packets += n;
	return (uint64_t)cost;
}

/* After a run: again, or over to ksoftirqd. */
static void end_run(struct receive *r, struct receive_cpu *c)
{
	/* The tick finds that the interrupted task's turn is over. */
	bool resched = c->tasks >= 2 && r->jiffy > c->softirq_until - jiffies(r, 2000);

	c->in_run = false;
	if (!pending(c)) {
		c->in_interrupt = c->handed_over = false;
		return;
	}
	c->passes++;
	if (r->jiffy < c->softirq_until && c->passes < MAX_RESTART && !resched)
		return;
	enter_softirq(r, c); /* the next round, whoever begins it */
	c->in_interrupt = false;
	if (c->handed_over)
		return;
	c->handed_over = true;
	c->ksoftirqd_slices++;
	c->ksoftirqd_waits_ns = c->tasks >= 1 ? SLICE_NS : 0;
	c->ksoftirqd_slice_ns = SLICE_NS;
}

/* Softirqs for up to NS nanoseconds; returns how many were used. */
static int64_t run_softirqs(struct receive *r, struct receive_cpu *c, int64_t ns)
{
	bool was_interrupt = c->in_interrupt;
	int64_t used = 0;

	while (used < ns && pending(c) && c->in_interrupt == was_interrupt) {
		if (!c->in_run)
			begin_run(r, c);
		used += (int64_t)poll_next(r, c);
		if (c->run_budget <= 0 || r->jiffy >= c->run_until) {
			c->squeezed++;
			end_run(r, c);
		} else if (c->list_n == 0) {
			end_run(r, c);
		}
	}
	return used;
}

/* What tasks do with NS nanoseconds that no softirq takes. */
static void run_tasks(struct receive_cpu *c, int64_t ns, bool ksoftirqd_waits)
{
	double share = MIN(c->tasks, 1.0);
	uint64_t busy = (uint64_t)((double)ns * share);
	uint64_t spun = (uint64_t)((double)ns * MIN(c->spin, 1 - share));

	c->task_ns += busy + spun;
	c->idle_ns += (uint64_t)ns - busy - spun;
	if (ksoftirqd_waits || c->tasks >= 2)
		c->stalled_ns += busy;
}

/* ksoftirqd's turns among the tasks; returns the nanoseconds that went by. */
static int64_t take_turn(struct receive *r, struct receive_cpu *c, int64_t ns)
{
	int64_t used;

	if (c->ksoftirqd_waits_ns > 0) {
		used = MIN(ns, (int64_t)c->ksoftirqd_waits_ns);
		c->ksoftirqd_waits_ns -= (uint64_t)used;
		c->ksoftirqd_wait_ns += (uint64_t)used;
		run_tasks(c, used, true);
		return used;
	}
	used = run_softirqs(r, c, MIN(ns, (int64_t)c->ksoftirqd_slice_ns));
	c->softirq_ns += (uint64_t)used;
	c->ksoftirqd_run_ns += (uint64_t)used;
	c->stalled_ns += c->tasks > 0 ? (uint64_t)((double)used * MIN(c->tasks, 1.0)) : 0;
	c->ksoftirqd_slice_ns -= MIN((uint64_t)used, c->ksoftirqd_slice_ns);
	if (c->ksoftirqd_slice_ns == 0) {
		c->ksoftirqd_slices++;
		c->ksoftirqd_slice_ns = SLICE_NS;
		c->ksoftirqd_waits_ns = (uint64_t)(c->tasks * SLICE_NS);
	}
	return used;
}

static void spend(struct receive *r, struct receive_cpu *c, int64_t ns)
{
	int64_t paid = MIN(c->debt_ns, ns);

	c->debt_ns -= paid;
	ns -= paid;
	while (ns > 0) {
		int64_t used;

		if (!pending(c)) {
			run_tasks(c, ns, false);
			return;
		}
		if (c->handed_over && !c->in_interrupt) {
			used = take_turn(r, c, ns);
		} else {
			used = run_softirqs(r, c, ns);
			c->softirq_ns += (uint64_t)used;
		}
		ns -= used;
	}
	c->debt_ns -= ns; /* ns is now what was used too much, below zero */
}

/* Bursts of queue Q in this jiffy. */
static unsigned bursts_due(struct receive *r, struct receive_queue *q)
{
	double due = q->pps * MAX(1 + q->deviation, 0.0) / (MAX(q->burst, 1U) * (double)r->hz);
	unsigned n;

	q->due += due;
	n = (unsigned)q->due;
	q->due -= n;
	return n;
}

static unsigned burst_size(struct receive *r, const struct receive_queue *q)
{
	double n = MAX(q->burst, 1U);

	if (q->burst_noise > 0)
		n *= MAX(1 + q->burst_noise * receive_normal(r), 0.0);
	return (unsigned)lround(n);
}

/* Arrivals are laid evenly over the jiffy, at most SLOTS times; those of one slot come together. */
enum {
	SLOTS = 8
};

static void step_jiffy(struct receive *r)
{
	int64_t slot_ns = (int64_t)(TICK_NS / r->hz / SLOTS);
	unsigned bursts[RECEIVE_QUEUES_MAX], most = 0;

	for (unsigned i = 0; i < r->n_queues; i++) {
		bursts[i] = r->queue[i].pps > 0 ? bursts_due(r, &r->queue[i]) : 0;
		most = MAX(most, bursts[i]);
	}
	/* The timer interrupt, too, runs what is pending on its way out. */
	for (unsigned i = 0; i < r->n_cpus; i++) {
		struct receive_cpu *c = &r->cpu[i];

		if (c->handed_over && !c->in_interrupt && !c->in_run && !r->lets_ksoftirqd) {
			c->in_interrupt = true;
			enter_softirq(r, c);
		}
	}
	most = MIN(most, (unsigned)SLOTS);
	if (most == 0)
		slot_ns *= SLOTS;
	for (unsigned slot = 0; slot < MAX(most, 1U); slot++) {
		for (unsigned i = 0; i < r->n_queues; i++)
			for (unsigned k = slot; k < bursts[i]; k += SLOTS)
				arrive(r, i, burst_size(r, &r->queue[i]));
		for (unsigned i = 0; i < r->n_cpus; i++)
			if (!r->cpu[i].offline)
				spend(r, &r->cpu[i],
				      most == 0 ? slot_ns : slot_ns * SLOTS / (int64_t)most);
	}
	r->jiffy++;
}

/* Weighted by how busy each CPU was, as psi_group collects them. */
static void account_pressure(struct receive *r, const uint64_t *stalled, const uint64_t *busy)
{
	double waited = 0, all = 0;

	for (unsigned i = 0; i < r->n_cpus; i++) {
		const struct receive_cpu *c = &r->cpu[i];
		double now = (double)(c->softirq_ns + c->task_ns - busy[i]);

		waited += (double)(c->stalled_ns - stalled[i]) * now;
		all += now;
	}
	if (all > 0)
		r->psi_usec += (uint64_t)MIN(waited / all / 1000, 1e6);
}

void receive_tick(struct receive *r)
{
	uint64_t stalled[CPU_ID_MAX], busy[CPU_ID_MAX];

	for (unsigned i = 0; i < r->n_cpus; i++) {
		struct receive_cpu *c = &r->cpu[i];

		stalled[i] = c->stalled_ns;
		busy[i] = c->softirq_ns + c->task_ns;
		c->spin = (c->waits * (double)r->busy_poll + c->reads * (double)r->busy_read) / 1e6;
	}
	for (unsigned i = 0; i < r->n_queues; i++) {
		struct receive_queue *q = &r->queue[i];

		if (q->request_ns > 0)
			q->pps = 1e9 / (q->request_ns - (r->busy_poll > 0 ? q->polled_ns : 0));
		if (q->noise > 0)
			q->deviation = q->memory * q->deviation + sqrt(1 - q->memory * q->memory) *
									  q->noise *
									  receive_normal(r);
	}
	for (unsigned i = 0; i < r->hz; i++)
		step_jiffy(r);
	account_pressure(r, stalled, busy);
}
