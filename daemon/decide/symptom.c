/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "decide/symptom-internal.h"

void symptoms_init(struct symptoms *s)
{
	*s = (struct symptoms){};
}

void symptoms_done(struct symptoms *s)
{
	free(s->leaked_ticks);
	free(s->leaked_since_usec);
	free(s->pingpong);
	s->leaked_ticks = NULL;
	s->leaked_since_usec = NULL;
	s->pingpong = NULL;
}

int symptoms_fit(struct symptoms *s, const struct topology *t)
{
	symptoms_done(s);
	s->leaked_ticks = calloc(MAX(t->n_irqs, 1U), sizeof(*s->leaked_ticks));
	s->leaked_since_usec = calloc(MAX(t->n_irqs, 1U), sizeof(*s->leaked_since_usec));
	s->pingpong = calloc(MAX(t->n_nics, 1U), sizeof(*s->pingpong));
	if (!s->leaked_ticks || !s->leaked_since_usec || !s->pingpong) {
		s->n_irqs = s->n_nics = 0;
		return -ENOMEM;
	}
	s->n_irqs = t->n_irqs;
	s->n_nics = t->n_nics;
	return 0;
}

struct load window_load(const struct window *w, const struct cpuset *set, unsigned ticks)
{
	struct load l = {};

	cpuset_for_each (cpu, set) {
		struct cpu_sum sum = window_cpu(w, cpu, ticks);

		l.seconds = MAX(l.seconds, sum.seconds);
		l.packets += (double)(sum.processed + sum.dropped);
		l.drops += (double)sum.dropped;
		l.squeezes += (double)sum.squeezed;
		l.runs += (double)sum.net_rx;
	}
	return l;
}

void evidence_add(struct symptom_report *r, const char *name, double value, const char *unit)
{
	if (r->n_evidence < EVIDENCE_MAX)
		r->evidence[r->n_evidence++] = (struct evidence){name, value, unit};
}

struct symptom_report *report_new(struct decisions *out, enum symptom symptom)
{
	struct symptom_report *r;

	if (out->n_reports == REPORTS_MAX)
		return NULL;
	r = &out->report[out->n_reports++];
	*r = (struct symptom_report){.symptom = symptom, .nic = -1, .irq = -1, .acute = true};
	return r;
}

bool hold(struct symptom_cpu *c, bool enter, bool stay, uint64_t now)
{
	if (!c->on) {
		if (enter)
			*c = (struct symptom_cpu){.on = true, .since_usec = now};
	} else if (stay) {
		c->calm = 0;
	} else if (++c->calm >= LEAVE_TICKS) {
		c->on = false;
	}
	return c->on;
}

void cpu_list(const struct cpuset *set, char *buf, size_t size)
{
	char full[CPUSET_LIST_MAX];

	cpuset_format_list(set, full, sizeof(full));
	if (strlen(full) < size)
		strcpy(buf, full);
	else
		snprintf(buf, size, "%u CPUs", cpuset_count(set));
}

bool found_visit(struct found *f, const struct decide_input *in, unsigned cpu,
		 struct symptom_cpu *c, bool have, bool enter, bool stay)
{
	/* Unknown which are there: the topology's. */
	const struct cpuset *online =
		cpuset_empty(&in->snapshot->online) ? &in->topology->online : &in->snapshot->online;

	if (!cpuset_has(online, cpu)) {
		c->on = false;
		return false;
	}
	if (!hold(c, have && enter, have && stay, in->now_usec))
		return false;
	if (cpuset_empty(&f->cpus) || c->since_usec < f->since)
		f->since = c->since_usec;
	cpuset_add(&f->cpus, cpu);
	f->acute |= c->calm == 0;
	f->seen |= have;
	return true;
}

struct symptom_report *found_report(const struct found *f, struct symptoms *s,
				    struct decisions *out, enum symptom symptom)
{
	struct symptom_report *r = cpuset_empty(&f->cpus) ? NULL : report_new(out, symptom);

	if (!r)
		return NULL;
	if (!f->seen)
		*r = s->last[symptom];
	r->cpus = f->cpus;
	r->since_usec = f->since;
	r->acute = f->acute;
	return f->seen ? r : NULL;
}

void report_done(struct symptoms *s, const struct symptom_report *r)
{
	s->last[r->symptom] = *r;
}

bool receives(const struct decide_input *in, unsigned cpu, unsigned ticks)
{
	struct cpu_sum sum = window_cpu(in->window, cpu, ticks);

	return ratio((double)(sum.processed + sum.dropped), sum.seconds) >= RECEIVES_MIN;
}

/* Whether the newest tick has numbers of CPU. */
static bool has_numbers(const struct decide_input *in, unsigned cpu, uint32_t which)
{
	const struct tick *t = window_tick(in->window, 0);

	return t && (t->cpu[cpu].have & which);
}

static bool drops_enter(const struct cpu_sum *s)
{
	double share = ratio((double)s->dropped, (double)(s->processed + s->dropped));

	if (s->dropped_ticks >= DETECT_GROWN && share >= DROP_SHARE_ENTER)
		return true;
	return s->processed + s->dropped >= DROP_BURST_PACKETS && share >= DROP_SHARE_BURST;
}

static void find_drops(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	struct found found = {};
	struct symptom_report *r;
	struct load l;
	uint64_t flow_limited = 0;
	char cpus[64];

	for (unsigned cpu = 0; cpu < in->window->n_cpus; cpu++) {
		struct cpu_sum sum = window_cpu(in->window, cpu, DETECT_TICKS);
		struct cpu_sum now = window_cpu(in->window, cpu, 1);

		if (found_visit(&found, in, cpu, &s->drop[cpu], has_numbers(in, cpu, HAVE_SOFTNET),
				drops_enter(&sum), now.dropped > 0))
			flow_limited += sum.flow_limit;
	}
	r = found_report(&found, s, out, SYMPTOM_BACKLOG_DROP);
	if (!r)
		return;
	l = window_load(in->window, &found.cpus, DETECT_TICKS);
	evidence_add(r, "drops_per_second", ratio(l.drops, l.seconds), "/s");
	evidence_add(r, "drop_share_percent", 100 * ratio(l.drops, l.packets), "%");
	evidence_add(r, "packets_per_second", ratio(l.packets, l.seconds), "/s");
	if (flow_limited > 0)
		evidence_add(r, "flow_limited_per_second", ratio((double)flow_limited, l.seconds),
			     "/s");
	cpu_list(&found.cpus, cpus, sizeof(cpus));
	append_text(r->text, sizeof(r->text),
		    "the backlog of CPU %s overflows: %.0f packets/s dropped (%.2f %% of arrivals)",
		    cpus, ratio(l.drops, l.seconds), 100 * ratio(l.drops, l.packets));
	report_done(s, r);
}

static bool squeezed(const struct cpu_sum *s, double share_from, double rate_from)
{
	if (s->seconds <= 0 || ratio((double)s->squeezed, s->seconds) < rate_from)
		return false;
	if (s->net_rx > 0)
		return ratio((double)s->squeezed, (double)s->net_rx) >= share_from;
	return ratio((double)s->squeezed, (double)s->processed) >= SQUEEZE_PER_PACKET;
}

static bool squeezed_in_tick(const struct tick *t, unsigned cpu)
{
	const struct cpu_delta *d = &t->cpu[cpu];
	double seconds = (double)(t->end_usec - t->begin_usec) / (double)USEC_PER_SEC;
	struct cpu_sum s = {.processed = d->processed,
			    .squeezed = d->squeezed,
			    .net_rx = d->net_rx,
			    .seconds = seconds};

	return (d->have & HAVE_SOFTNET) && d->squeezed > 0 &&
	       ratio(d->processed, seconds) >= SQUEEZE_PACKETS_MIN &&
	       squeezed(&s, SQUEEZE_SHARE_ENTER, SQUEEZE_RATE_MIN);
}

/* Squeezes that go from CPU to CPU: no single one of them has enough ticks (bpftune#125). Which CPUs
 * had them, or none when the machine as a whole is not squeezed. */
static struct cpuset squeezed_in_turns(const struct decide_input *in)
{
	struct cpuset some = {}, cpus = {}, none = {};
	unsigned ticks = 0;
	struct load all;

	for (unsigned cpu = 0; cpu < in->window->n_cpus; cpu++)
		if (window_cpu(in->window, cpu, DETECT_TICKS).squeezed > 0)
			cpuset_add(&some, cpu);
	if (cpuset_empty(&some))
		return none;
	for (unsigned age = 0; age < MIN(in->window->filled, (unsigned)DETECT_TICKS); age++) {
		const struct tick *t = window_tick(in->window, age);
		bool any = false;

		cpuset_for_each (cpu, &some) {
			if (!squeezed_in_tick(t, cpu))
				continue;
			cpuset_add(&cpus, cpu);
			any = true;
		}
		ticks += any;
	}
	if (ticks < DETECT_GROWN)
		return none;
	all = window_load(in->window, &in->topology->online, DETECT_TICKS);
	return ratio(all.squeezes, all.runs > 0 ? all.runs : all.packets) >=
			       (all.runs > 0 ? SQUEEZE_SHARE_ENTER : SQUEEZE_PER_PACKET)
		       ? cpus
		       : none;
}

/* Column 1 of softnet_stat is counted after GRO and again per VLAN round, so it cannot tell which
 * limit hit: the NICs' own packets per NET_RX run can, but only as an average over all runs. */
static enum squeeze_cause squeeze_cause(const struct decide_input *in, const struct load *l,
					double *ret_per_run)
{
	struct load all;
	double nic_packets = 0, per_run, budget;

	*ret_per_run = 0;
	for (unsigned age = 0; age < MIN(in->window->filled, (unsigned)CAUSE_TICKS); age++) {
		const struct tick *t = window_tick(in->window, age);

		if (!t->nic_have)
			return CAUSE_UNKNOWN;
		nic_packets += (double)t->nic_rx_packets;
	}
	all = window_load(in->window, &in->topology->online, CAUSE_TICKS);
	if (ratio(l->squeezes, l->runs) < CAUSE_SHARE_MIN ||
	    ratio(l->runs, all.runs) < CAUSE_CPUS_MIN)
		return CAUSE_UNKNOWN;
	/* Mostly veth, loopback or tunnel traffic: the NICs' counters say nothing about these runs.
	 */
	if (nic_packets < all.packets / 2 || !in->values->host[TUNABLE_NETDEV_BUDGET].have)
		return CAUSE_UNKNOWN;
	per_run = ratio(nic_packets, all.runs);
	budget = (double)in->values->host[TUNABLE_NETDEV_BUDGET].number;
	*ret_per_run = per_run;
	if (per_run >= CAUSE_PACKETS_FROM * budget)
		return CAUSE_PACKETS;
	if (per_run <= CAUSE_TIME_BELOW * budget)
		return CAUSE_TIME;
	return CAUSE_UNKNOWN;
}

static void find_squeezes(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	static const char *const causes[] = {
		[CAUSE_UNKNOWN] = "which limit they hit cannot be told",
		[CAUSE_PACKETS] = "they hit the packet budget",
		[CAUSE_TIME] = "they hit the time limit",
	};
	struct cpuset in_turns = squeezed_in_turns(in);
	struct found found = {};
	struct symptom_report *r;
	double per_run;
	struct load l;
	char cpus[64];

	for (unsigned cpu = 0; cpu < in->window->n_cpus; cpu++) {
		struct cpu_sum sum = window_cpu(in->window, cpu, DETECT_TICKS);
		struct cpu_sum now = window_cpu(in->window, cpu, 1);
		bool enter = sum.squeezed_ticks >= DETECT_GROWN &&
			     ratio((double)sum.processed, sum.seconds) >= SQUEEZE_PACKETS_MIN &&
			     squeezed(&sum, SQUEEZE_SHARE_ENTER, SQUEEZE_RATE_MIN);

		enter |= cpuset_has(&in_turns, cpu);
		found_visit(&found, in, cpu, &s->squeeze[cpu], has_numbers(in, cpu, HAVE_SOFTNET),
			    enter, squeezed(&now, SQUEEZE_SHARE_LEAVE, SQUEEZE_RATE_MIN / 2));
	}
	r = found_report(&found, s, out, SYMPTOM_SQUEEZED);
	if (!r)
		return;
	l = window_load(in->window, &found.cpus, CAUSE_TICKS);
	r->cause = squeeze_cause(in, &l, &per_run);
	evidence_add(r, "squeezes_per_second", ratio(l.squeezes, l.seconds), "/s");
	/* The two files are not read in the same instant: 101 % of the runs are all. */
	if (l.runs > 0)
		evidence_add(r, "squeezed_runs_percent", 100 * MIN(ratio(l.squeezes, l.runs), 1.0),
			     "%");
	evidence_add(r, "packets_per_second", ratio(l.packets, l.seconds), "/s");
	if (per_run > 0)
		evidence_add(r, "nic_packets_per_run", per_run, "packets");
	cpu_list(&found.cpus, cpus, sizeof(cpus));
	snprintf(
		r->text, sizeof(r->text),
		"NET_RX runs on CPU %s end before their work is done: %.0f squeezes/s, %.0f %% of the runs; %s",
		cpus, ratio(l.squeezes, l.seconds), 100 * MIN(ratio(l.squeezes, l.runs), 1.0),
		causes[r->cause]);
	report_done(s, r);
}

/* Median busy share of the online CPUs but SKIP, to a thousandth: counted, since glibc's qsort()
 * allocates for more than 1 KiB. */
static double others_busy(const struct decide_input *in, unsigned skip)
{
	enum {
		PARTS = 1000
	};
	uint16_t count[PARTS + 1] = {};
	unsigned n = 0, below = 0, part = 0;

	cpuset_for_each (cpu, &in->topology->online) {
		struct cpu_sum sum = window_cpu(in->window, cpu, HOT_TICKS);

		if (cpu == skip || sum.total == 0)
			continue;
		count[(unsigned)(PARTS * MIN(ratio((double)sum.busy, (double)sum.total), 1.0))]++;
		n++;
	}
	if (n == 0)
		return 1; /* nowhere to go */
	while ((below += count[part]) <= n / 2)
		part++;
	return (double)part / PARTS;
}

static void find_hot(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	struct found found = {};
	struct symptom_report *r;
	double worst = 0, others = 0;
	char cpus[64];

	for (unsigned cpu = 0; cpu < in->window->n_cpus; cpu++) {
		struct cpu_sum sum = window_cpu(in->window, cpu, HOT_TICKS);
		double share = ratio((double)(sum.softirq_time + sum.irq_time), (double)sum.total);
		bool have = in->window->filled >= HOT_TICKS && has_numbers(in, cpu, HAVE_STAT);
		bool enter = have && share >= HOT_ENTER && receives(in, cpu, HOT_TICKS) &&
			     others_busy(in, cpu) <= HOT_OTHERS;

		if (!found_visit(&found, in, cpu, &s->hot[cpu], have, enter, share >= HOT_LEAVE))
			continue;
		if (share > worst) {
			worst = share;
			others = others_busy(in, cpu);
		}
	}
	r = found_report(&found, s, out, SYMPTOM_HOT_CPU);
	if (!r)
		return;
	evidence_add(r, "softirq_percent", 100 * worst, "%");
	evidence_add(r, "others_busy_percent", 100 * others, "%");
	cpu_list(&found.cpus, cpus, sizeof(cpus));
	snprintf(
		r->text, sizeof(r->text),
		"CPU %s spends %.0f %% of its time in softirqs while the median of the others is %.0f %% busy",
		cpus, 100 * worst, 100 * others);
	report_done(s, r);
}

void symptoms_find(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	find_log_events(s, in, out);
	find_drops(s, in, out);
	find_squeezes(s, in, out);
	find_hot(s, in, out);
	find_ksoftirqd_lag(s, in, out);
	find_softirq_hog(s, in, out);
	find_leaks(s, in, out);
	find_pingpong(s, in, out);
	find_low_rate(s, in, out);
	find_poll_burn(s, in, out);
	find_blind(s, in, out);
}
