/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/host.h"

#include <stdio.h>

#define MUST(x)                                                                  \
	do {                                                                     \
		int must_r = (x);                                                \
		if (must_r < 0) {                                                \
			fprintf(stderr, "sim: %s: %s\n", #x, strerror(-must_r)); \
			abort();                                                 \
		}                                                                \
	} while (0)

/* A count of nanoseconds in the units of /proc/stat. */
static uint64_t stat_ticks(uint64_t ns)
{
	return ns / 10000000;
}

/* ---- live ---- */

/* One of each verdict, and no other. */
static void count_verdict(const struct trial_verdict *v, unsigned *kept, unsigned *without_effect,
			  unsigned *worse, unsigned *inconclusive, unsigned *fallen_back)
{
	unsigned *count = streq(v->verdict, "kept")           ? kept
			  : streq(v->verdict, "no effect")    ? without_effect
			  : streq(v->verdict, "worse")        ? worse
			  : streq(v->verdict, "inconclusive") ? inconclusive
			  : streq(v->verdict, "fallen back")  ? fallen_back
							      : NULL;

	if (!count)
		abort();
	++*count;
}

static void listen(void *userdata, const struct engine_event *ev)
{
	struct live *l = userdata;

	if (ev->kind == EVENT_CHANGE &&
	    (ev->result->outcome == OUTCOME_DONE || ev->result->outcome == OUTCOME_PENDING)) {
		l->writes++;
		l->last_write = l->ticks;
	}
	if (ev->kind == EVENT_VERDICT) {
		l->verdicts++;
		if (l->kept == 0)
			snprintf(l->text, sizeof(l->text), "at %u: %s", l->ticks, ev->text);
		snprintf(l->last_text, sizeof(l->last_text), "%s", ev->text);
		count_verdict(ev->verdict, &l->kept, &l->without_effect, &l->worse,
			      &l->inconclusive, &l->fallen_back);
	}
}

void live_boot(struct live *l, const struct machine_spec *spec)
{
	*l = (struct live){.m = machine_new(spec), .config = tree_new()};
	tree_write(l->config, "softnetd.conf", "mode = \"apply\";\nprofile = \"test\";\n");
	l->dirs[0] = tree_path(l->config);
	receive_init(&l->r, 250, l->m->spec.cpus, 1);
	tree_printf(l->m->tree, "boot/config-6.12.117+deb13-amd64", "CONFIG_HZ=%u\n", l->r.hz);
}

void live_start(struct live *l, const char *profile)
{
	pid_t pid;

	tree_write(l->config, "profiles/test.conf", profile);
	struct engine_options o = {.io = &l->m->io, .config_dirs = l->dirs, .lock = true};
	if (engine_new(&o, &l->complaints, &pid, &l->e) < 0) {
		for (size_t i = 0; i < l->complaints.n; i++)
			fprintf(stderr, "sim: %s:%u: %s\n", l->complaints.item[i].file,
				l->complaints.item[i].line, l->complaints.item[i].text);
		abort();
	}
	engine_set_listener(l->e, listen, l);
}

void live_done(struct live *l)
{
	complaints_done(&l->complaints);
	engine_free(TAKE_PTR(l->e));
	if (l->m)
		machine_free(TAKE_PTR(l->m));
	if (l->config)
		tree_free(TAKE_PTR(l->config));
	receive_done(&l->r);
}

struct receive_queue *live_queue(struct live *l, const char *name)
{
	unsigned i = l->r.n_queues++;

	l->irq[i] = name ? (int)machine_irq(l->m, name) : -1;
	l->r.queue[i].no_nic = !name;
	return &l->r.queue[i];
}

long live_setting(const struct live *l, const char *name)
{
	char path[64];
	_cleanup_free_ char *text = NULL;

	snprintf(path, sizeof(path), "proc/sys/net/core/%s", name);
	text = tree_read(l->m->tree, path);
	return strtol(text, NULL, 10);
}

void live_write_setting(struct live *l, const char *name, long value)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/sys/net/core/%s", name);
	tree_printf(l->m->tree, path, "%ld\n", value);
}

static void settings_in(struct live *l)
{
	l->r.netdev_budget = live_setting(l, "netdev_budget");
	l->r.netdev_budget_usecs = live_setting(l, "netdev_budget_usecs");
	l->r.netdev_max_backlog = live_setting(l, "netdev_max_backlog");
	l->r.dev_weight = live_setting(l, "dev_weight");
	l->r.busy_poll = live_setting(l, "busy_poll");
	l->r.busy_read = live_setting(l, "busy_read");
	for (unsigned i = 0; i < l->r.n_queues; i++)
		if (l->irq[i] >= 0)
			l->r.queue[i].cpu = cpuset_first(&l->m->irq[l->irq[i]].effective);
}

static void counters_out(struct live *l)
{
	for (unsigned i = 0; i < l->r.n_cpus; i++) {
		const struct receive_cpu *c = &l->r.cpu[i];
		struct machine_cpu *m = &l->m->cpu[i];

		m->processed = c->processed;
		m->dropped = c->dropped;
		m->squeezed = c->squeezed;
		m->received_rps = c->received_rps;
		m->backlog = c->backlog;
		m->softirq[SOFTIRQ_NET_RX] = c->net_rx;
		m->softirq_time = stat_ticks(c->softirq_ns);
		m->user = stat_ticks(c->task_ns);
		m->idle = stat_ticks(c->idle_ns);
		m->ksoftirqd_run_ns = c->ksoftirqd_run_ns;
		m->ksoftirqd_wait_ns = c->ksoftirqd_wait_ns;
		m->ksoftirqd_slices = c->ksoftirqd_slices;
	}
	for (unsigned i = 0; i < l->r.n_queues; i++) {
		struct receive_queue *q = &l->r.queue[i], *was = &l->was[i];

		if (l->irq[i] < 0)
			continue;
		/* One that is polled without end: the driver looks at its affinity, too. */
		machine_fire(
			l->m, (unsigned)l->irq[i],
			MAX((unsigned)(q->interrupts - was->interrupts), q->scheduled ? 1U : 0U));
		if (l->m->irq[l->irq[i]].nic >= 0) {
			struct machine_nic_counters *n = &l->m->rx[l->m->irq[l->irq[i]].nic];

			n->rx_packets += q->packets - was->packets;
			n->rx_missed += q->missed - was->missed;
		}
		*was = *q;
	}
	l->m->psi_cpu_usec = l->r.psi_usec;
	l->m->mono_usec += USEC_PER_SEC;
	l->m->realtime_usec += USEC_PER_SEC;
	machine_write(l->m);
}

void live_run(struct live *l, unsigned seconds)
{
	for (; seconds > 0; seconds--) {
		settings_in(l);
		receive_tick(&l->r);
		counters_out(l);
		l->ticks++;
		MUST(engine_tick(l->e));
	}
}

bool live_reported(const struct live *l, enum symptom s)
{
	for (unsigned i = 0; i < l->e->n_reported; i++)
		if (l->e->reported[i].symptom == s)
			return true;
	return false;
}

/* ---- direct ---- */

static struct topology *make_topology(unsigned hz, unsigned n_cpus, unsigned n_queues)
{
	struct topology *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->n_cpus = n_cpus;
	t->cpu = calloc(n_cpus, sizeof(*t->cpu));
	t->n_irqs = n_queues;
	t->irq = calloc(n_queues + 1, sizeof(*t->irq));
	t->n_nics = 1;
	t->nic = calloc(1, sizeof(*t->nic));
	if (!t->cpu || !t->irq || !t->nic)
		abort();
	t->hz = hz;
	t->user_hz = 100;
	for (unsigned i = 0; i < n_cpus; i++) {
		t->cpu[i] = (struct cpu){
			.present = true, .online = true, .core = (int)i, .capacity = 1024};
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
	return t;
}

static void settings_reset(struct direct *d)
{
	d->values.host[TUNABLE_NETDEV_BUDGET].number = 300;
	d->values.host[TUNABLE_NETDEV_BUDGET_USECS].number = 2 * 1000000 / d->r.hz;
	d->values.host[TUNABLE_NETDEV_MAX_BACKLOG].number = 1000;
}

void direct_forget(struct direct *d)
{
	settings_reset(d);
	window_reset(d->window);
	decider_free(d->decider);
	MUST(decider_new(&d->decider));
	d->kept = d->verdicts = 0;
}

static void set_range(struct direct *d, enum tunable_id id, int64_t low, int64_t high)
{
	d->profile->setting[id].kind = SETTING_RANGE;
	d->profile->setting[id].low = low;
	d->profile->setting[id].high = high;
	d->values.host[id].have = true;
}

void direct_start(struct direct *d, unsigned hz, unsigned n_cpus, unsigned n_queues, uint64_t seed)
{
	*d = (struct direct){
		.now_usec = 1000 * USEC_PER_SEC, .changes_per_hour = 30, .moves_per_round = 4};
	receive_init(&d->r, hz, n_cpus, seed);
	d->topology = make_topology(hz, n_cpus, n_queues);
	d->profile = calloc(1, sizeof(*d->profile));
	if (!d->profile || !(d->profile->name = strdup("test")))
		abort();
	set_range(d, TUNABLE_NETDEV_BUDGET, 300, 1200);
	set_range(d, TUNABLE_NETDEV_BUDGET_USECS, 2000, 20000);
	set_range(d, TUNABLE_NETDEV_MAX_BACKLOG, 1000, 8000);
	settings_reset(d);
	MUST(window_new(&d->window));
	MUST(decider_new(&d->decider));
	MUST(snapshot_new(n_cpus, n_queues, 1, &d->snapshot));
	d->r.n_queues = MIN(n_queues, (unsigned)RECEIVE_QUEUES_MAX);
	for (unsigned i = 0; i < d->r.n_queues; i++)
		d->r.queue[i].cpu = i % n_cpus;
}

void direct_done(struct direct *d)
{
	topology_free(d->topology);
	profile_free(d->profile);
	snapshot_free(d->snapshot);
	window_free(d->window);
	decider_free(d->decider);
	receive_done(&d->r);
}

void direct_see(struct direct *d)
{
	struct snapshot *s = d->snapshot;

	s->nic[0] = (struct nic_sample){.have = true};
	for (unsigned i = 0; i < _SOURCE_MAX; i++)
		s->source[i].state = SOURCE_OK;
	s->online = d->topology->online;
	s->psi_cpu.have = true;
	s->psi_cpu.some_usec = d->r.psi_usec;
	for (unsigned i = 0; i < s->n_cpus; i++) {
		const struct receive_cpu *c = &d->r.cpu[i];

		s->cpu[i] = (struct cpu_sample){
			.have = HAVE_SOFTNET | HAVE_SOFTIRQS | HAVE_STAT | HAVE_BACKLOG |
				(d->ticks % 10 == 0 ? HAVE_KSOFTIRQD : 0),
			.processed = c->processed,
			.dropped = c->dropped,
			.squeezed = c->squeezed,
			.backlog = c->backlog,
			.softirq[SOFTIRQ_NET_RX] = c->net_rx,
			.softirq_time = stat_ticks(c->softirq_ns),
			.busy = stat_ticks(c->softirq_ns + c->task_ns),
			.total = stat_ticks(c->softirq_ns + c->task_ns + c->idle_ns),
			.ksoftirqd_run_ns = c->ksoftirqd_run_ns,
			.ksoftirqd_wait_ns = c->ksoftirqd_wait_ns,
			.ksoftirqd_slices = c->ksoftirqd_slices,
		};
	}
	for (unsigned i = 0; i < d->r.n_queues; i++) {
		const struct receive_queue *q = &d->r.queue[i];

		s->irq[i].have = true;
		s->irq[i].counts[q->cpu] = (uint32_t)q->interrupts;
		s->nic[0].rx_packets += q->packets;
	}
}

/* Thresholds that were crossed in this tick. */
static void count_entered(struct direct *d)
{
	for (unsigned i = 0; i < d->out->n_reports; i++)
		d->entered += d->out->report[i].since_usec == d->now_usec &&
			      d->out->report[i].symptom != SYMPTOM_BLIND;
}

static void execute(struct direct *d, const struct change *c)
{
	struct result r = {.outcome = c->advice_only ? OUTCOME_ADVISED : OUTCOME_DONE};

	if (c->planned)
		return;
	if (r.outcome == OUTCOME_DONE) {
		d->writes++;
		d->last_write = d->ticks;
		if (tunables[c->tunable].scope == SCOPE_HOST)
			parse_i64(c->to, &d->values.host[c->tunable].number);
	}
	decider_learn(d->decider, c, &r, d->now_usec);
}

void direct_run(struct direct *d, unsigned seconds)
{
	for (; seconds > 0; seconds--) {
		d->r.netdev_budget = d->values.host[TUNABLE_NETDEV_BUDGET].number;
		d->r.netdev_budget_usecs = d->values.host[TUNABLE_NETDEV_BUDGET_USECS].number;
		d->r.netdev_max_backlog = d->values.host[TUNABLE_NETDEV_MAX_BACKLOG].number;
		if (!d->no_plant) {
			receive_tick(&d->r);
			direct_see(d);
		}
		d->ticks++;
		d->now_usec += USEC_PER_SEC;
		d->snapshot->mono_usec = d->snapshot->boot_usec = d->now_usec;
		MUST(window_push(d->window, d->snapshot));
		struct decide_input in = {
			.now_usec = d->now_usec,
			.snapshot = d->snapshot,
			.window = d->window,
			.topology = d->topology,
			.profile = d->profile,
			.values = &d->values,
			.changes_per_hour = d->changes_per_hour,
			.moves_per_round = d->moves_per_round,
		};
		decide(d->decider, &in, &d->out);
		count_entered(d);
		if (d->out->has_verdict) {
			d->verdicts++;
			count_verdict(&d->out->verdict, &d->kept, &d->without_effect, &d->worse,
				      &d->inconclusive, &d->fallen_back);
		}
		for (unsigned i = 0; i < d->out->n_changes; i++)
			execute(d, &d->out->change[i]);
	}
}

int64_t direct_setting(const struct direct *d, enum tunable_id id)
{
	return d->values.host[id].number;
}

bool direct_reported(const struct direct *d, enum symptom s)
{
	for (unsigned i = 0; i < d->out->n_reports; i++)
		if (d->out->report[i].symptom == s)
			return true;
	return false;
}
