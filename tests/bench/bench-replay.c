/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A day of a host with 256 CPUs through `replay`: 86,400 ticks, of which a quarter have squeezes.
 * Goal (design, "Budgets"): 10 s. Ten minutes are written by trace_write() and read 144 times over;
 * since lines are differences, that is a recording as good as any.
 */
#include <stdio.h>
#include <time.h>

#include "serve/replay.h"

#define CPUS   256
#define QUEUES 64
#define BLOCK  600 /* ticks */
#define DAY    86400

static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

static unsigned below(unsigned n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (unsigned)((random_state * UINT64_C(2685821657736338717) >> 32) % n);
}

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static struct topology *make_topology(void)
{
	struct topology *t = must(calloc(1, sizeof(*t)));

	t->n_cpus = CPUS;
	t->cpu = must(calloc(CPUS, sizeof(*t->cpu)));
	t->n_irqs = QUEUES;
	t->irq = must(calloc(QUEUES, sizeof(*t->irq)));
	t->n_nics = 1;
	t->nic = must(calloc(1, sizeof(*t->nic)));
	t->hz = 250;
	t->user_hz = 100;
	for (unsigned i = 0; i < CPUS; i++) {
		t->cpu[i] = (struct cpu){.present = true,
					 .online = true,
					 .node = i / 64 % 2,
					 .core = (int)(i % 128),
					 .smt = i / 128,
					 .capacity = 1024};
		cpuset_add(&t->possible, i);
		cpuset_add(&t->online, i);
	}
	t->nic[0] = (struct nic){.ifindex = 2, .name = "eth0", .up = true, .rx_queues = QUEUES};
	for (unsigned i = 0; i < QUEUES; i++) {
		struct irq *irq = &t->irq[i];

		*irq = (struct irq){.number = 100 + i,
				    .queue = (int)i,
				    .role = IRQ_RXTX,
				    .have_affinity = true,
				    .affinity = cpuset_of(i)};
		snprintf(irq->name, sizeof(irq->name), "eth0-TxRx-%u", i);
		snprintf(irq->identity, sizeof(irq->identity), "devices/pci0|%s", irq->name);
	}
	return t;
}

/* One second of a busy day: 64 CPUs receive, all work, the first one is squeezed for a quarter of
 * the time. */
static void second(struct snapshot *s, const struct topology *t, unsigned tick)
{
	s->mono_usec += USEC_PER_SEC - 50 + below(100);
	s->boot_usec = s->mono_usec;
	s->slow = true;
	s->online = t->online;
	for (unsigned i = 0; i < _SOURCE_MAX; i++)
		s->source[i].state = SOURCE_OK;
	for (unsigned i = 0; i < CPUS; i++) {
		struct cpu_sample *c = &s->cpu[i];
		unsigned packets = i < QUEUES ? 20000 + below(10000) : below(200);

		c->have = HAVE_SOFTNET | HAVE_RPS | HAVE_BACKLOG | HAVE_SOFTIRQS | HAVE_STAT |
			  HAVE_KSOFTIRQD;
		c->processed += packets;
		c->softirq[SOFTIRQ_NET_RX] += packets / 20;
		c->softirq[SOFTIRQ_NET_TX] += below(5);
		c->softirq_time += packets / 1000;
		c->busy += 30 + below(30);
		c->total += 99 + below(3);
		c->ksoftirqd_run_ns += i < QUEUES ? below(100000) : 0;
		s->nic[0].rx_packets += packets;
	}
	s->cpu[0].squeezed += tick % BLOCK < BLOCK / 4 ? 500 + below(100) : 0;
	s->nic[0].have = true;
	for (unsigned i = 0; i < QUEUES; i++) {
		s->irq[i].have = true;
		s->irq[i].counts[i] += 1000 + below(500);
	}
}

/* The first line and a block of ticks, read over and over. */
struct loop {
	char *text;
	size_t size, block, at;
	unsigned blocks; /* still to come, with the one being read */
};

static ssize_t loop_read(void *cookie, char *buf, size_t size)
{
	struct loop *l = cookie;
	size_t n;

	if (l->at == l->size && l->blocks > 1) {
		l->at = l->block;
		l->blocks--;
	}
	n = MIN(size, l->size - l->at);
	memcpy(buf, l->text + l->at, n);
	l->at += n;
	return (ssize_t)n;
}

/* The block comes many times over, so its ticks must not be numbered: {"t":1000000,"n":7,… */
static void forget_numbers(struct loop *l)
{
	size_t to = 0, block = l->block;

	for (size_t from = 0; from < l->size; from++) {
		const char *at = l->text + from;

		if (from == block)
			l->block = to;
		if (from > 0 && strncmp(at, ",\"n\":", 5) == 0 && l->text[to - 1] != '}' &&
		    memrchr(l->text, '{', to) == memrchr(l->text, '\n', to) + 1)
			from += 4 + strspn(at + 5, "0123456789");
		else
			l->text[to++] = *at;
	}
	l->size = to;
}

static void write_block(struct loop *l)
{
	const struct profile profile = {
		.name = (char[]){"bench"},
		.setting[TUNABLE_NETDEV_BUDGET] = {.kind = SETTING_RANGE, .low = 300, .high = 1200},
	};
	const struct trace_about about = {.profile = &profile};
	_cleanup_(trace_writer_freep) struct trace_writer *w = NULL;
	_cleanup_(topology_freep) struct topology *t = make_topology();
	_cleanup_(snapshot_freep) struct snapshot *s = NULL;
	struct values values = {};
	FILE *out = must(open_memstream(&l->text, &l->size));

	values.host[TUNABLE_NETDEV_BUDGET].have = true;
	values.host[TUNABLE_NETDEV_BUDGET].number = 300;
	if (snapshot_new(CPUS, QUEUES, 1, &s) < 0 || trace_writer_new(out, &about, &w) < 0)
		abort();
	for (unsigned tick = 0; tick <= BLOCK; tick++) {
		second(s, t, tick);
		if (trace_write(w, t, false, s, &values) < 0)
			abort();
		/* The first tick is absolute, and not repeated. */
		if (tick == 0)
			l->block = (size_t)trace_writer_bytes(w);
	}
	fclose(out);
	forget_numbers(l);
}

static void count(void *userdata, const struct replay_event *ev _unused_)
{
	++*(unsigned *)userdata;
}

static double seconds_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(void)
{
	_cleanup_(trace_reader_freep) struct trace_reader *reader = NULL;
	_cleanup_(complaints_done) struct complaints c = {};
	struct loop loop = {.blocks = DAY / BLOCK};
	double cpu, wall, bytes;
	struct replay_sum sum;
	unsigned events = 0;
	FILE *in;

	write_block(&loop);
	bytes = (double)(loop.size - loop.block);
	in = must(fopencookie(&loop, "r", (cookie_io_functions_t){.read = loop_read}));
	wall = seconds_of(CLOCK_MONOTONIC);
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	if (trace_reader_new(in, &c, &reader) < 0 ||
	    replay_run(reader, NULL, &c, count, &events, &sum) < 0) {
		fprintf(stderr, "bench-replay: line %u: %s\n", c.item[0].line,
			c.n ? c.item[0].text : "");
		return 1;
	}
	wall = seconds_of(CLOCK_MONOTONIC) - wall;
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("replay of a day, %d CPUs: %u ticks of %.0f bytes (%.0f MB), %u events\n", CPUS,
	       sum.ticks, bytes / BLOCK, bytes / BLOCK * DAY / 1e6, events);
	printf("  whole                  %7.2f s CPU, %.2f s on the clock (goal 10 s)\n", cpu,
	       wall);
	printf("  window and decide      %7.2f s CPU, %.0f µs a tick\n",
	       (double)sum.decide_nsec / 1e9, (double)sum.decide_nsec / 1e3 / sum.ticks);
	printf("  reading JSON           %7.2f s CPU, %.0f µs a tick\n",
	       cpu - (double)sum.decide_nsec / 1e9,
	       (cpu * 1e6 - (double)sum.decide_nsec / 1e3) / sum.ticks);
	fclose(in);
	free(loop.text);
	return 0;
}
