/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/window.h"

/* Ticks that took longer than this against the clock are a suspend or a stopped machine: the rates
 * of such a pair mean nothing. */
#define TICK_MAX_USEC (60 * USEC_PER_SEC)
#define SUSPEND_USEC  (1 * USEC_PER_SEC)

int window_new(struct window **ret)
{
	struct window *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*ret = w;
	return 0;
}

static void tick_done(struct tick *t)
{
	free(t->cpu);
	free(t->before);
	free(t->irq);
	*t = (struct tick){};
}

void window_free(struct window *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < WINDOW_TICKS; i++)
		tick_done(&w->tick[i]);
	snapshot_free(w->last);
	free(w->irq_cpus);
	free(w->total);
	free(w);
}

void window_reset(struct window *w)
{
	w->filled = 0;
	w->head = 0;
	snapshot_free(TAKE_PTR(w->last));
}

const struct tick *window_tick(const struct window *w, unsigned age)
{
	if (age >= w->filled)
		return NULL;
	return &w->tick[(w->head + WINDOW_TICKS - age) % WINDOW_TICKS];
}

static int resize(struct window *w, const struct snapshot *s)
{
	window_reset(w);
	w->n_cpus = s->n_cpus;
	w->n_irqs = s->n_irqs;
	w->n_nics = s->n_nics;
	free(w->irq_cpus);
	free(w->total);
	w->irq_cpus = calloc(MAX(s->n_irqs, 1U), sizeof(*w->irq_cpus));
	w->total = calloc(MAX(s->n_cpus, 1U), sizeof(*w->total));
	if (!w->irq_cpus || !w->total)
		return -ENOMEM;
	for (size_t i = 0; i < WINDOW_TICKS; i++) {
		struct tick *t = &w->tick[i];

		tick_done(t);
		t->cpu = calloc(MAX(s->n_cpus, 1U), sizeof(*t->cpu));
		t->before = calloc(MAX(s->n_cpus, 1U), sizeof(*t->before));
		t->irq = calloc(MAX(s->n_irqs, 1U), sizeof(*t->irq));
		if (!t->cpu || !t->before || !t->irq)
			return -ENOMEM;
	}
	return 0;
}

/* ksoftirqd's numbers stay until they are read again: they are not in every snapshot. */
static void remember_cpu(struct cpu_sample *last, const struct cpu_sample *now, uint64_t now_usec)
{
	struct cpu_sample before = *last;

	*last = *now;
	last->ksoftirqd_at_usec = now_usec;
	if ((now->have & HAVE_KSOFTIRQD) || !(before.have & HAVE_KSOFTIRQD))
		return;
	last->have |= HAVE_KSOFTIRQD;
	last->ksoftirqd_run_ns = before.ksoftirqd_run_ns;
	last->ksoftirqd_wait_ns = before.ksoftirqd_wait_ns;
	last->ksoftirqd_slices = before.ksoftirqd_slices;
	last->ksoftirqd_at_usec = before.ksoftirqd_at_usec;
}

/* Copies what the next difference needs; events are used in their own tick only. */
static int remember(struct window *w, const struct snapshot *s)
{
	struct cpu_sample *cpu;
	struct irq_sample *irq;
	struct nic_sample *nic;

	if (!w->last) {
		int r = snapshot_new(s->n_cpus, s->n_irqs, s->n_nics, &w->last);

		if (r < 0)
			return r;
	}
	cpu = w->last->cpu;
	irq = w->last->irq;
	nic = w->last->nic;
	*w->last = *s;
	w->last->cpu = cpu;
	w->last->irq = irq;
	w->last->nic = nic;
	for (unsigned i = 0; i < s->n_cpus; i++)
		remember_cpu(&cpu[i], &s->cpu[i], s->mono_usec);
	memcpy(nic, s->nic, s->n_nics * sizeof(*nic));
	for (unsigned i = 0; i < s->n_irqs; i++) {
		uint32_t *counts = irq[i].counts;

		irq[i] = s->irq[i];
		irq[i].counts = counts;
		if (irq[i].have)
			memcpy(counts, s->irq[i].counts, s->n_cpus * sizeof(uint32_t));
	}
	return 0;
}

/* /proc/stat's times can step back a little on some kernels (iowait, steal): that is 0, not 2^64.
 * So is the tick in which an unsigned long of a 32-bit kernel wraps. */
static uint32_t forward(uint64_t now, uint64_t before)
{
	return now > before ? (uint32_t)MIN(now - before, (uint64_t)UINT32_MAX) : 0;
}

static void cpu_difference(const struct cpu_sample *a, const struct cpu_sample *b,
			   uint64_t now_usec, struct cpu_delta *d)
{
	*d = (struct cpu_delta){.have = a->have & b->have};
	if (d->have & HAVE_SOFTNET) {
		d->processed = b->processed - a->processed;
		d->dropped = b->dropped - a->dropped;
		d->squeezed = b->squeezed - a->squeezed;
	}
	if (d->have & HAVE_RPS)
		d->received_rps = b->received_rps - a->received_rps;
	if (d->have & HAVE_FLOW_LIMIT)
		d->flow_limit = b->flow_limit - a->flow_limit;
	if (d->have & HAVE_BACKLOG)
		d->backlog = b->backlog;
	if (d->have & HAVE_SOFTIRQS) {
		d->net_rx = b->softirq[SOFTIRQ_NET_RX] - a->softirq[SOFTIRQ_NET_RX];
		d->net_tx = b->softirq[SOFTIRQ_NET_TX] - a->softirq[SOFTIRQ_NET_TX];
	}
	if (d->have & HAVE_STAT) {
		d->busy = forward(b->busy, a->busy);
		d->softirq_time = forward(b->softirq_time, a->softirq_time);
		d->irq_time = forward(b->irq_time, a->irq_time);
		d->steal = forward(b->steal, a->steal);
		d->total = forward(b->total, a->total);
	}
	/* A ksoftirqd that was born again starts from zero: no difference. */
	if ((d->have & HAVE_KSOFTIRQD) && b->ksoftirqd_run_ns >= a->ksoftirqd_run_ns &&
	    now_usec > a->ksoftirqd_at_usec) {
		d->ksoftirqd_run_ns = b->ksoftirqd_run_ns - a->ksoftirqd_run_ns;
		d->ksoftirqd_wait_ns = b->ksoftirqd_wait_ns - a->ksoftirqd_wait_ns;
		d->ksoftirqd_usec = now_usec - a->ksoftirqd_at_usec;
	} else {
		d->have &= ~(uint32_t)HAVE_KSOFTIRQD;
	}
	if (d->have & HAVE_SOFTIRQ_STAT) {
		uint64_t own = 0, own_before = 0;

		for (size_t i = 0; i < _HANDOVER_MAX; i++) {
			d->handover[i] = forward(b->handover[i], a->handover[i]);
			own += b->own_handover[i];
			own_before += a->own_handover[i];
		}
		d->own_handovers = forward(own, own_before);
		d->ksoftirqd_wakes = forward(b->ksoftirqd_wakes, a->ksoftirqd_wakes);
		d->nohz_net_tx =
			forward(b->nohz_pending[SOFTIRQ_NET_TX], a->nohz_pending[SOFTIRQ_NET_TX]);
		d->nohz_net_rx =
			forward(b->nohz_pending[SOFTIRQ_NET_RX], a->nohz_pending[SOFTIRQ_NET_RX]);
	}
}

static void irq_difference(struct window *w, const struct irq_sample *a, const struct irq_sample *b,
			   struct irq_delta *d, struct cpuset *where)
{
	*d = (struct irq_delta){.have = a->have && b->have};
	*where = (struct cpuset){};
	if (!d->have)
		return;
	for (unsigned cpu = 0; cpu < w->n_cpus; cpu++) {
		uint32_t grown = b->counts[cpu] - a->counts[cpu];

		/* More than 2^31 interrupts in one tick is a counter that was reset, not a wrap. */
		if (grown == 0 || grown > INT32_MAX)
			continue;
		d->total += grown;
		cpuset_add(where, cpu);
	}
	d->have_thread = a->thread_pid > 0 && a->thread_pid == b->thread_pid;
	if (!d->have_thread)
		return;
	d->run_usec = forward(b->thread_run_ns / NSEC_PER_USEC, a->thread_run_ns / NSEC_PER_USEC);
	d->wait_usec =
		forward(b->thread_wait_ns / NSEC_PER_USEC, a->thread_wait_ns / NSEC_PER_USEC);
	d->switches = forward(b->thread_switches, a->thread_switches);
}

static void pressure_difference(const struct pressure *a, const struct pressure *b, bool *have,
				uint64_t *usec)
{
	*have = a->have && b->have && b->some_usec >= a->some_usec;
	*usec = *have ? b->some_usec - a->some_usec : 0;
}

static void add_to_total(struct cpu_total *total, const struct cpu_delta *d, uint64_t usec)
{
	total->usec += usec;
	if (d->have & HAVE_SOFTNET) {
		total->ticks++;
		total->processed += d->processed;
		total->dropped += d->dropped;
		total->squeezed += d->squeezed;
		total->flow_limit += d->flow_limit;
		total->dropped_ticks += d->dropped > 0;
		total->squeezed_ticks += d->squeezed > 0;
	}
	total->net_rx += d->net_rx;
	total->softirq_time += d->softirq_time;
	total->irq_time += d->irq_time;
	total->busy += d->busy;
	total->total += d->total;
}

/* A CPU that went away while its row still counted in the other snapshot: its own difference is
 * dropped (HAVE_SOFTNET is missing in one of the two), and so is everyone's whose layout has no CPU
 * column, where rows shift up (below#8190). observe/ clears HAVE_SOFTNET for those. */
static void difference(struct window *w, const struct snapshot *s, struct tick *t)
{
	const struct snapshot *last = w->last;

	t->begin_usec = last->mono_usec;
	t->end_usec = s->mono_usec;
	for (unsigned i = 0; i < s->n_cpus; i++) {
		cpu_difference(&last->cpu[i], &s->cpu[i], s->mono_usec, &t->cpu[i]);
		t->before[i] = w->total[i];
		add_to_total(&w->total[i], &t->cpu[i], t->end_usec - t->begin_usec);
	}
	for (unsigned i = 0; i < s->n_irqs; i++)
		irq_difference(w, &last->irq[i], &s->irq[i], &t->irq[i], &w->irq_cpus[i]);
	t->nic_rx_packets = 0;
	t->nic_have = false;
	for (unsigned i = 0; i < s->n_nics; i++) {
		const struct nic_sample *a = &last->nic[i], *b = &s->nic[i];

		if (!a->have || !b->have || b->rx_packets < a->rx_packets)
			continue;
		t->nic_rx_packets += b->rx_packets - a->rx_packets;
		t->nic_have = true;
	}
	pressure_difference(&last->psi_cpu, &s->psi_cpu, &t->psi_cpu_have, &t->psi_cpu_usec);
	pressure_difference(&last->psi_irq, &s->psi_irq, &t->psi_irq_have, &t->psi_irq_usec);
	t->valid = true;
}

/* Whether the time between two snapshots is an ordinary tick. */
static bool ordinary(const struct snapshot *a, const struct snapshot *b)
{
	uint64_t mono, boot;

	if (b->mono_usec <= a->mono_usec || b->boot_usec < a->boot_usec)
		return false;
	mono = b->mono_usec - a->mono_usec;
	boot = b->boot_usec - a->boot_usec;
	return mono <= TICK_MAX_USEC && boot < mono + SUSPEND_USEC;
}

int window_push(struct window *w, const struct snapshot *s)
{
	int r;

	if (!w->tick[0].cpu || w->n_cpus != s->n_cpus || w->n_irqs != s->n_irqs ||
	    w->n_nics != s->n_nics) {
		r = resize(w, s);
		if (r < 0)
			return r;
		return remember(w, s);
	}
	if (w->last) {
		if (!ordinary(w->last, s)) {
			w->rebaselined++;
			w->filled = 0;
		} else {
			w->head = (w->head + 1) % WINDOW_TICKS;
			difference(w, s, &w->tick[w->head]);
			w->filled = MIN(w->filled + 1, (unsigned)WINDOW_TICKS);
		}
	}
	return remember(w, s);
}

unsigned window_ticks(const struct window *w, uint64_t usec)
{
	uint64_t covered = 0;
	unsigned n = 0;

	while (n < w->filled && covered < usec) {
		const struct tick *t = window_tick(w, n++);

		covered += t->end_usec - t->begin_usec;
	}
	return covered < usec ? n + 1 : n;
}

struct cpu_sum window_cpu(const struct window *w, unsigned cpu, unsigned ticks)
{
	unsigned n = MIN(ticks, w->filled);
	const struct cpu_total *from, *to;

	if (n == 0 || cpu >= w->n_cpus)
		return (struct cpu_sum){};
	from = &window_tick(w, n - 1)->before[cpu];
	to = &w->total[cpu];
	return (struct cpu_sum){
		.ticks = to->ticks - from->ticks,
		.processed = to->processed - from->processed,
		.dropped = to->dropped - from->dropped,
		.squeezed = to->squeezed - from->squeezed,
		.flow_limit = to->flow_limit - from->flow_limit,
		.net_rx = to->net_rx - from->net_rx,
		.softirq_time = to->softirq_time - from->softirq_time,
		.irq_time = to->irq_time - from->irq_time,
		.busy = to->busy - from->busy,
		.total = to->total - from->total,
		.dropped_ticks = to->dropped_ticks - from->dropped_ticks,
		.squeezed_ticks = to->squeezed_ticks - from->squeezed_ticks,
		.seconds = (double)(to->usec - from->usec) / (double)USEC_PER_SEC,
	};
}

struct handover_sum window_handovers(const struct window *w, unsigned cpu, unsigned ticks)
{
	struct handover_sum sum = {};

	for (unsigned age = 0; cpu < w->n_cpus && age < MIN(ticks, w->filled); age++) {
		const struct tick *t = window_tick(w, age);
		const struct cpu_delta *d = &t->cpu[cpu];

		if (!(d->have & HAVE_SOFTIRQ_STAT))
			continue;
		sum.ticks++;
		sum.seconds += (double)(t->end_usec - t->begin_usec) / (double)USEC_PER_SEC;
		for (size_t i = 0; i < _HANDOVER_MAX; i++)
			sum.handover[i] += d->handover[i];
		sum.own += d->own_handovers;
		sum.ksoftirqd_wakes += d->ksoftirqd_wakes;
	}
	return sum;
}
