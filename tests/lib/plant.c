/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/plant.h"

#include <stdio.h>

#define CHECK_MEMORY(p)          \
	do {                     \
		if (!(p))        \
			abort(); \
	} while (0)

void plant_init(struct plant *p, unsigned n_cpus, bool smt, unsigned n_queues)
{
	struct topology *t = calloc(1, sizeof(*t));

	CHECK_MEMORY(t);
	*p = (struct plant){.now_usec = 1000 * USEC_PER_SEC, .outcome = OUTCOME_DONE, .pinned = -1};
	t->n_cpus = n_cpus;
	t->cpu = calloc(n_cpus, sizeof(*t->cpu));
	t->n_irqs = n_queues;
	t->irq = calloc(n_queues + 1, sizeof(*t->irq));
	t->n_nics = 1;
	t->nic = calloc(1, sizeof(*t->nic));
	CHECK_MEMORY(t->cpu && t->irq && t->nic);
	t->hz = 250;
	t->user_hz = 100;
	for (unsigned i = 0; i < n_cpus; i++) {
		t->cpu[i] = (struct cpu){.present = true,
					 .online = true,
					 .core = (int)(smt ? i / 2 : i),
					 .smt = smt ? i % 2 : 0,
					 .capacity = 1024};
		cpuset_add(&t->possible, i);
		cpuset_add(&t->online, i);
	}
	t->nic[0] = (struct nic){
		.ifindex = 2, .name = "eth0", .node = -1, .up = true, .rx_queues = n_queues};
	for (unsigned i = 0; i < n_queues; i++) {
		struct irq *irq = &t->irq[i];

		*irq = (struct irq){.number = 30 + i,
				    .nic = 0,
				    .queue = (int)i,
				    .role = IRQ_RXTX,
				    .have_affinity = true,
				    .affinity = t->online};
		snprintf(irq->name, sizeof(irq->name), "eth0-TxRx-%u", i);
		snprintf(irq->identity, sizeof(irq->identity), "devices/pci0|%s", irq->name);
	}
	p->topology = t;
	p->profile = calloc(1, sizeof(*p->profile));
	CHECK_MEMORY(p->profile && (p->profile->name = strdup("test")));
	static const int64_t defaults[_TUNABLE_MAX] = {
		[TUNABLE_NETDEV_BUDGET] = 300,
		[TUNABLE_NETDEV_BUDGET_USECS] = 8000,
		[TUNABLE_NETDEV_MAX_BACKLOG] = 1000,
		[TUNABLE_DEV_WEIGHT] = 64,
	};
	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		p->values.host[i].have = defaults[i] != 0;
		p->values.host[i].number = defaults[i];
	}
	CHECK_MEMORY(window_new(&p->window) >= 0 && decider_new(&p->decider) >= 0 &&
		     snapshot_new(n_cpus, n_queues, 1, &p->snapshot) >= 0);
}

void plant_done(struct plant *p)
{
	topology_free(p->topology);
	profile_free(p->profile);
	snapshot_free(p->snapshot);
	window_free(p->window);
	decider_free(p->decider);
}

void plant_range(struct plant *p, enum tunable_id id, int64_t low, int64_t high)
{
	p->profile->setting[id].kind = SETTING_RANGE;
	p->profile->setting[id].low = low;
	p->profile->setting[id].high = high;
}

static bool placed(void *userdata, unsigned irq, struct cpuset *ret)
{
	struct plant *p = userdata;

	*ret = p->placed[irq];
	return p->is_placed[irq];
}

static bool pinned(void *userdata, enum tunable_id id, const char *identity _unused_)
{
	const struct plant *p = userdata;

	return p->pinned == (int)id;
}

/* Given back, it is nobody's. */
static bool original(void *userdata, enum tunable_id id, int64_t *ret)
{
	const struct plant *p = userdata;

	*ret = p->original[id];
	return p->ours[id] && p->values.host[id].number != p->original[id];
}

static void advance(struct plant *p)
{
	struct snapshot *s = p->snapshot;

	p->now_usec += USEC_PER_SEC;
	s->mono_usec = s->boot_usec = p->now_usec;
	s->online = p->topology->online;
	for (unsigned i = 0; i < _SOURCE_MAX; i++)
		s->source[i].state =
			i == SOURCE_SOFTIRQ_STAT && !p->series ? SOURCE_ABSENT : SOURCE_OK;
	for (unsigned i = 0; i < s->n_cpus; i++) {
		struct cpu_sample *c = &s->cpu[i];
		const struct plant_cpu *r = &p->cpu[i];

		c->have =
			HAVE_SOFTNET | HAVE_SOFTIRQS | HAVE_BACKLOG | (p->no_stat ? 0 : HAVE_STAT);
		c->processed += (uint32_t)r->packets;
		c->dropped += (uint32_t)r->drops;
		c->squeezed += (uint32_t)r->squeezes;
		c->softirq[SOFTIRQ_NET_RX] += (uint32_t)r->runs;
		c->softirq_time += (uint64_t)(r->softirq * 100);
		c->busy += (uint64_t)(r->busy * 100);
		c->total += 100;
		if (p->series) {
			c->have |= HAVE_SOFTIRQ_STAT;
			for (size_t h = 0; h < _HANDOVER_MAX; h++)
				c->handover[h] += (uint64_t)r->handover[h];
			c->nohz_pending[SOFTIRQ_NET_RX] += (uint64_t)r->nohz_net_rx;
		}
		if (r->lag_run > 0 || r->lag_wait > 0) {
			c->have |= HAVE_KSOFTIRQD;
			c->ksoftirqd_run_ns += (uint64_t)(r->lag_run * 1e9);
			c->ksoftirqd_wait_ns += (uint64_t)(r->lag_wait * 1e9);
		}
	}
	s->psi_cpu.have = p->psi >= 0;
	s->psi_cpu.some_usec += p->psi > 0 ? (uint64_t)(p->psi * 1e6) : 0;
	s->nic[0].have = !p->no_nic_counters;
	s->nic[0].rx_packets += (uint64_t)p->nic_packets;
	for (unsigned i = 0; i < s->n_irqs; i++) {
		s->irq[i].have = true;
		for (unsigned cpu = 0; cpu < MIN(s->n_cpus, 8U); cpu++)
			s->irq[i].counts[cpu] += (uint32_t)p->irq[i].rate[cpu];
		if (p->irq[i].run_usec > 0) {
			s->irq[i].thread_pid = (pid_t)(100 + i);
			s->irq[i].thread_run_ns += (uint64_t)(p->irq[i].run_usec * 1000);
			s->irq[i].thread_wait_ns += (uint64_t)(p->irq[i].wait_usec * 1000);
		}
	}
}

void plant_run(struct plant *p, unsigned seconds)
{
	for (; seconds > 0; seconds--) {
		advance(p);
		CHECK_MEMORY(window_push(p->window, p->snapshot) >= 0);
		struct decide_input in = {
			.now_usec = p->now_usec,
			.snapshot = p->snapshot,
			.window = p->window,
			.topology = p->topology,
			.profile = p->profile,
			.values = &p->values,
			.changes_per_hour = p->changes_per_hour,
			.moves_per_round = p->moves_per_round,
			.unmet = p->unmet,
			.placed = placed,
			.pinned = pinned,
			.original = original,
			.userdata = p,
		};
		decide(p->decider, &in, &p->out);
		for (unsigned i = 0; i < p->out->n_changes; i++) {
			const struct change *c = &p->out->change[i];
			struct result r = {.outcome =
						   c->advice_only ? OUTCOME_ADVISED : p->outcome};

			if (c->planned)
				continue;
			if (r.outcome == OUTCOME_DONE) {
				p->writes++;
				if (tunables[c->tunable].scope == SCOPE_HOST)
					parse_i64(c->to, &p->values.host[c->tunable].number);
			}
			decider_learn(p->decider, c, &r, p->now_usec);
		}
		p->snapshot->n_events = 0;
	}
}

void plant_event(struct plant *p, enum kmsg_kind kind, uint32_t mask, bool old)
{
	struct kmsg_event *e = &p->snapshot->event[p->snapshot->n_events++];

	*e = (struct kmsg_event){.kind = kind, .mask = mask, .old = old};
	snprintf(e->text, sizeof(e->text), "test event %s", kmsg_kind_to_string(kind));
}

const struct symptom_report *plant_report(const struct plant *p, enum symptom symptom)
{
	for (unsigned i = 0; i < p->out->n_reports; i++)
		if (p->out->report[i].symptom == symptom)
			return &p->out->report[i];
	return NULL;
}

const struct change *plant_change(const struct plant *p, enum tunable_id id)
{
	for (unsigned i = 0; i < p->out->n_changes; i++)
		if (p->out->change[i].tunable == id)
			return &p->out->change[i];
	return NULL;
}
