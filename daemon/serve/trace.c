/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace.h"

#include <jansson.h>

#include "serve/trace-format.h"
#include "serve/trace-host.h"
#include "serve/trace-mask.h"

struct trace_writer {
	FILE *out;
	struct trace_about about;
	struct trace_mask mask;
	bool begun;
	uint64_t bytes;
	json_int_t ticks;

	/* What the reader knows by now. */
	struct snapshot *last; /* a counter that could not be read keeps its last figure */
	int64_t boot_offset;
	struct values values;
	unsigned hz;
	struct cpuset known_online;
	struct known_irq {
		bool have_affinity, have_effective;
		struct cpuset affinity, effective;
	} * irq; /* [last->n_irqs] */
};

int trace_writer_new(FILE *out, const struct trace_about *about, struct trace_writer **ret)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->out = out;
	w->about = *about;
	*ret = w;
	return 0;
}

void trace_writer_free(struct trace_writer *w)
{
	if (!w)
		return;
	trace_mask_done(&w->mask);
	snapshot_free(w->last);
	free(w->irq);
	free(w);
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->bytes;
}

/* ---- a line, with the lack of memory noted once ---- */

struct line {
	json_t *object;
	bool failed;
};

static void line_done(struct line *l)
{
	json_decref(l->object);
}

/* Both take over VALUE. */
static void set(struct line *l, const char *key, json_t *value)
{
	l->failed |= json_object_set_new(l->object, key, value) < 0;
}

static void append(struct line *l, json_t *array, json_t *value)
{
	l->failed |= json_array_append_new(array, value) < 0;
}

static void append_number(struct line *l, json_t *array, int64_t value)
{
	append(l, array, json_integer(value));
}

/* Takes over ARRAY; an empty one is left out. */
static void set_unless_empty(struct line *l, const char *key, json_t *array)
{
	if (array && json_array_size(array) == 0)
		json_decref(array);
	else
		set(l, key, array);
}

/* The array [FIRST], at the end of ARRAY; owned by it, NULL without memory. */
static json_t *append_group(struct line *l, json_t *array, int64_t first)
{
	json_t *group = json_array();

	append_number(l, group, first);
	append(l, array, group);
	return l->failed ? NULL : group;
}

static int put_line(struct trace_writer *w, const struct line *l)
{
	_cleanup_free_ char *text = NULL;
	size_t length;

	if (l->failed)
		return -ENOMEM;
	text = json_dumps(l->object, JSON_COMPACT);
	if (!text)
		return -ENOMEM;
	length = strlen(text);
	if (length >= TRACE_LINE_MAX)
		return -E2BIG;
	text[length++] = '\n'; /* in place of the NUL */
	if (fwrite(text, 1, length, w->out) != length)
		return errno ? -errno : -EIO;
	w->bytes += length;
	return 0;
}

/* ---- what changed ---- */

/* At most so many CPUs without a difference stand inside a run: "0,0," is shorter than "],[12,". */
#define GAP_MAX 2

static json_t *field_runs(struct line *l, struct snapshot *last, const struct snapshot *s,
			  const struct trace_field *f)
{
	json_t *runs = json_array(), *run = NULL;
	unsigned end = 0; /* the CPU behind the run */

	for (unsigned i = 0; i < s->n_cpus; i++) {
		uint64_t before, now;
		int64_t grown;

		if (!(s->cpu[i].have & f->have))
			continue;
		before = trace_get(&last->cpu[i], f);
		now = trace_get(&s->cpu[i], f);
		if (before == now)
			continue;
		grown = f->wide ? (int64_t)(now - before) : (int32_t)(uint32_t)(now - before);
		if (!run || i - end > GAP_MAX) {
			run = append_group(l, runs, i);
			end = i;
		}
		for (; end < i; end++)
			append_number(l, run, 0);
		append_number(l, run, grown);
		end = i + 1;
		trace_set(&last->cpu[i], f, now);
	}
	return runs;
}

static void note_cpus(struct line *l, struct snapshot *last, const struct snapshot *s)
{
	json_t *have = json_object(), *cpu = json_object();

	for (unsigned bit = 0; trace_have_names[bit]; bit++) {
		struct cpuset now = {};
		bool changed = false;

		for (unsigned i = 0; i < s->n_cpus; i++) {
			changed |= (s->cpu[i].have ^ last->cpu[i].have) >> bit & 1;
			if (s->cpu[i].have >> bit & 1)
				cpuset_add(&now, i);
		}
		if (changed)
			l->failed |= json_object_set_new(have, trace_have_names[bit],
							 trace_cpu_list(&now)) < 0;
	}
	for (unsigned i = 0; i < s->n_cpus; i++)
		last->cpu[i].have = s->cpu[i].have;
	for (size_t i = 0; i < trace_n_fields; i++) {
		json_t *runs = field_runs(l, last, s, &trace_fields[i]);

		if (runs && json_array_size(runs) == 0)
			json_decref(runs);
		else
			l->failed |= json_object_set_new(cpu, trace_fields[i].name, runs) < 0;
	}
	if (json_object_size(have) > 0)
		set(l, "have", json_incref(have));
	if (json_object_size(cpu) > 0)
		set(l, "cpu", json_incref(cpu));
	json_decref(have);
	json_decref(cpu);
}

/* [[first, how many], …] of what has HAS. */
static json_t *have_runs(struct line *l, unsigned n,
			 bool (*has)(const struct snapshot *s, unsigned), const struct snapshot *s)
{
	json_t *runs = json_array();

	for (unsigned i = 0; i < n;) {
		unsigned first = i;

		if (!has(s, i)) {
			i++;
			continue;
		}
		while (i < n && has(s, i))
			i++;
		append_number(l, append_group(l, runs, first), i - first);
	}
	return runs;
}

static bool irq_has(const struct snapshot *s, unsigned i)
{
	return s->irq[i].have;
}

static bool nic_has(const struct snapshot *s, unsigned i)
{
	return s->nic[i].have;
}

static void note_counts(struct line *l, json_t *array, unsigned i, unsigned n_cpus,
			uint32_t *before, const uint32_t *now)
{
	json_t *group = NULL;

	for (unsigned cpu = 0; cpu < n_cpus; cpu++) {
		if (before[cpu] == now[cpu])
			continue;
		if (!group)
			group = append_group(l, array, i);
		append_number(l, group, cpu);
		append_number(l, group, (int32_t)(now[cpu] - before[cpu]));
		before[cpu] = now[cpu];
	}
}

static void note_thread(struct line *l, json_t *pids, json_t *threads, unsigned i,
			struct irq_sample *before, const struct irq_sample *now)
{
	json_t *group;

	if (before->thread_pid != now->thread_pid)
		append_number(l, append_group(l, pids, i), now->thread_pid);
	before->thread_pid = now->thread_pid;
	if (now->thread_pid == 0 || (before->thread_run_ns == now->thread_run_ns &&
				     before->thread_wait_ns == now->thread_wait_ns &&
				     before->thread_switches == now->thread_switches))
		return;
	group = append_group(l, threads, i);
	append_number(l, group, (int64_t)(now->thread_run_ns - before->thread_run_ns));
	append_number(l, group, (int64_t)(now->thread_wait_ns - before->thread_wait_ns));
	append_number(l, group, (int64_t)(now->thread_switches - before->thread_switches));
	before->thread_run_ns = now->thread_run_ns;
	before->thread_wait_ns = now->thread_wait_ns;
	before->thread_switches = now->thread_switches;
}

static void note_irqs(struct line *l, struct snapshot *last, const struct snapshot *s)
{
	json_t *counts = json_array(), *pids = json_array(), *threads = json_array();
	bool changed = false;

	for (unsigned i = 0; i < s->n_irqs; i++) {
		struct irq_sample *before = &last->irq[i];
		const struct irq_sample *now = &s->irq[i];

		changed |= before->have != now->have;
		before->have = now->have;
		if (now->have)
			note_counts(l, counts, i, s->n_cpus, before->counts, now->counts);
		note_thread(l, pids, threads, i, before, now);
	}
	if (changed)
		set(l, "irq_have", have_runs(l, s->n_irqs, irq_has, s));
	set_unless_empty(l, "irq", counts);
	set_unless_empty(l, "pids", pids);
	set_unless_empty(l, "threads", threads);
}

static void note_nics(struct line *l, struct snapshot *last, const struct snapshot *s)
{
	json_t *nics = json_array();
	bool changed = false;

	for (unsigned i = 0; i < s->n_nics; i++) {
		struct nic_sample *before = &last->nic[i];
		const struct nic_sample *now = &s->nic[i];
		json_t *group;

		changed |= before->have != now->have;
		before->have = now->have;
		if (!now->have ||
		    (before->rx_packets == now->rx_packets &&
		     before->rx_dropped == now->rx_dropped && before->rx_missed == now->rx_missed))
			continue;
		group = append_group(l, nics, i);
		append_number(l, group, (int64_t)(now->rx_packets - before->rx_packets));
		append_number(l, group, (int64_t)(now->rx_dropped - before->rx_dropped));
		append_number(l, group, (int64_t)(now->rx_missed - before->rx_missed));
		*before = *now;
	}
	if (changed)
		set(l, "nic_have", have_runs(l, s->n_nics, nic_has, s));
	set_unless_empty(l, "nic", nics);
}

static void note_pressure(struct line *l, const char *key, struct pressure *before,
			  const struct pressure *now)
{
	if (!now->have) {
		if (before->have)
			set(l, key, json_null());
		before->have = false;
		return;
	}
	if (before->have && before->some_usec == now->some_usec &&
	    before->full_usec == now->full_usec)
		return;
	set(l, key,
	    json_pack("[I,I]", (json_int_t)(now->some_usec - before->some_usec),
		      (json_int_t)(now->full_usec - before->full_usec)));
	*before = *now;
}

static void note_log(struct trace_writer *w, struct line *l, const struct snapshot *s)
{
	json_t *events = json_array();

	for (unsigned i = 0; i < s->n_events; i++) {
		const struct kmsg_event *e = &s->event[i];
		char text[sizeof(e->text)];

		/* What was not classified is nobody's business. */
		if (e->kind == KMSG_OTHER)
			continue;
		memcpy(text, e->text, sizeof(text));
		l->failed |= trace_mask(&w->mask, text) < 0;
		append(l, events,
		       json_pack("{s:s,s:I,s:b,s:I,s:I,s:o}", "kind", kmsg_kind_to_string(e->kind),
				 "mask", (json_int_t)e->mask, "old", (int)e->old, "seq",
				 (json_int_t)e->seq, "boot", (json_int_t)e->boot_usec, "text",
				 trace_text(text)));
	}
	set_unless_empty(l, "events", events);
	if (s->events_lost > 0)
		set(l, "events_lost", json_integer(s->events_lost));
	if (s->kmsg_records_lost != w->last->kmsg_records_lost)
		set(l, "kmsg_lost", json_integer((json_int_t)s->kmsg_records_lost));
	if (s->nohz_lines != w->last->nohz_lines)
		set(l, "nohz_lines", json_integer(s->nohz_lines));
	w->last->kmsg_records_lost = s->kmsg_records_lost;
	w->last->nohz_lines = s->nohz_lines;
}

static json_t *source_value(const struct source_status *s)
{
	const char *state = trace_state_names[s->state];

	return s->error ? json_pack("[s,i]", state, s->error) : json_string(state);
}

/* Both give an empty object when nothing changed. */
static json_t *changed_sources(struct trace_writer *w, struct line *l, const struct snapshot *s)
{
	json_t *sources = json_object();

	for (size_t i = 0; i < _SOURCE_MAX; i++) {
		struct source_status *before = &w->last->source[i];
		const struct source_status *now = &s->source[i];

		if (before->state == now->state && before->error == now->error)
			continue;
		before->state = now->state;
		before->error = now->error;
		l->failed |= json_object_set_new(sources, source_to_string((enum source)i),
						 source_value(now)) < 0;
	}
	return sources;
}

static json_t *changed_settings(struct trace_writer *w, struct line *l, const struct values *v)
{
	json_t *settings = json_object();

	for (size_t id = 0; id < _TUNABLE_MAX; id++) {
		bool have = v->host[id].have;

		if (have == w->values.host[id].have &&
		    (!have || v->host[id].number == w->values.host[id].number))
			continue;
		w->values.host[id] = v->host[id];
		l->failed |= json_object_set_new(settings, tunables[id].id,
						 have ? json_integer(v->host[id].number)
						      : json_null()) < 0;
	}
	return settings;
}

/* Takes over OBJECT. */
static void set_unless_no_member(struct line *l, const char *key, json_t *object)
{
	if (object && json_object_size(object) == 0)
		json_decref(object);
	else
		set(l, key, object);
}

/* ---- the topology ---- */

static int know_topology(struct trace_writer *w, const struct topology *t)
{
	struct snapshot *last;
	struct known_irq *irq;
	int r;

	if (t->n_irqs > TRACE_IRQS_MAX || t->n_nics > TRACE_NICS_MAX ||
	    (uint64_t)t->n_irqs * t->n_cpus > TRACE_CELLS_MAX)
		return -E2BIG;
	r = snapshot_new(t->n_cpus, t->n_irqs, t->n_nics, &last);
	if (r < 0)
		return r;
	irq = calloc(MAX(t->n_irqs, 1U), sizeof(*irq));
	if (!irq) {
		snapshot_free(last);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < t->n_irqs; i++)
		irq[i] = (struct known_irq){t->irq[i].have_affinity, t->irq[i].have_effective,
					    t->irq[i].affinity, t->irq[i].effective};
	snapshot_free(w->last);
	free(w->irq);
	w->last = last;
	w->irq = irq;
	w->known_online = t->online;
	return 0;
}

/* What a slow look refreshed in place. */
static void note_refreshed(struct trace_writer *w, struct line *l, const struct topology *t)
{
	json_t *affinities = json_array();

	for (unsigned i = 0; i < t->n_irqs; i++) {
		const struct irq *now = &t->irq[i];
		struct known_irq *k = &w->irq[i];
		json_t *group;

		if (k->have_affinity == now->have_affinity &&
		    k->have_effective == now->have_effective &&
		    (!now->have_affinity || cpuset_equal(&k->affinity, &now->affinity)) &&
		    (!now->have_effective || cpuset_equal(&k->effective, &now->effective)))
			continue;
		*k = (struct known_irq){now->have_affinity, now->have_effective, now->affinity,
					now->effective};
		group = append_group(l, affinities, i);
		append(l, group, now->have_affinity ? trace_cpu_list(&now->affinity) : json_null());
		append(l, group,
		       now->have_effective ? trace_cpu_list(&now->effective) : json_null());
	}
	set_unless_empty(l, "affinity", affinities);
	if (!cpuset_equal(&w->known_online, &t->online))
		set(l, "known_online", trace_cpu_list(&t->online));
	w->known_online = t->online;
}

/* ---- lines ---- */

static int write_head(struct trace_writer *w, const struct topology *t, const struct snapshot *s,
		      const struct values *v)
{
	_cleanup_(line_done) struct line l = {.object = json_object()};
	const struct trace_about *a = &w->about;

	set(&l, "softnetd-trace", json_integer(TRACE_VERSION));
	set(&l, "softnetd", json_string(SOFTNETD_VERSION));
	set(&l, "kernel", trace_text(t->kernel));
	set(&l, "hz", json_integer(t->hz));
	set(&l, "user_hz", json_integer(t->user_hz));
	set(&l, "mode", json_string(mode_to_string(a->mode)));
	set(&l, "profile", a->profile ? trace_profile(&w->mask, a->profile) : json_null());
	set(&l, "limits",
	    json_pack("{s:I,s:I}", "changes_per_hour", (json_int_t)a->changes_per_hour,
		      "moves_per_round", (json_int_t)a->moves_per_round));
	set(&l, "topology", trace_topology(&w->mask, t));
	set(&l, "settings", changed_settings(w, &l, v));
	set(&l, "sources", changed_sources(w, &l, s));
	w->hz = t->hz;
	return put_line(w, &l);
}

static void note_clocks(struct trace_writer *w, struct line *l, const struct snapshot *s)
{
	int64_t offset = (int64_t)(s->boot_usec - s->mono_usec);

	set(l, "t", json_integer((json_int_t)(s->mono_usec - w->last->mono_usec)));
	set(l, "n", json_integer(++w->ticks));
	w->last->mono_usec = s->mono_usec;
	if (llabs(offset - w->boot_offset) < BOOT_SLACK_USEC)
		return;
	set(l, "boot", json_integer(offset));
	w->boot_offset = offset;
}

static int write_tick(struct trace_writer *w, const struct topology *t, bool discovered,
		      const struct snapshot *s, const struct values *v)
{
	_cleanup_(line_done) struct line l = {.object = json_object()};

	note_clocks(w, &l, s);
	if (s->slow != w->last->slow)
		set(&l, "slow", json_boolean(s->slow));
	w->last->slow = s->slow;
	if (discovered)
		set(&l, "topology", trace_topology(&w->mask, t));
	else
		note_refreshed(w, &l, t);
	if (t->hz != w->hz)
		set(&l, "hz", json_integer(t->hz));
	w->hz = t->hz;
	if (!cpuset_equal(&w->last->online, &s->online))
		set(&l, "online", trace_cpu_list(&s->online));
	w->last->online = s->online;
	note_cpus(&l, w->last, s);
	note_irqs(&l, w->last, s);
	note_nics(&l, w->last, s);
	note_pressure(&l, "psi_cpu", &w->last->psi_cpu, &s->psi_cpu);
	note_pressure(&l, "psi_irq", &w->last->psi_irq, &s->psi_irq);
	note_log(w, &l, s);
	set_unless_no_member(&l, "settings", changed_settings(w, &l, v));
	set_unless_no_member(&l, "sources", changed_sources(w, &l, s));
	return put_line(w, &l);
}

int trace_write(struct trace_writer *w, const struct topology *t, bool discovered,
		const struct snapshot *s, const struct values *v)
{
	bool first = !w->begun;
	int r = 0;

	if (first || discovered) {
		uint64_t mono = w->last ? w->last->mono_usec : 0;

		r = know_topology(w, t);
		if (r < 0)
			return r;
		w->last->mono_usec = mono; /* time does not begin again */
	}
	if (first)
		r = write_head(w, t, s, v);
	w->begun = true;
	if (r >= 0)
		r = write_tick(w, t, discovered && !first, s, v);
	if (r >= 0 && fflush(w->out) != 0)
		r = -errno;
	return r;
}
