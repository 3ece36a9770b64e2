/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-read-internal.h"

#define FIELDS_MAX  32 /* columns of "cpu" */
#define MEMBERS_MAX 32 /* keys of a line */

/* ---- what jansson reads ---- */

int trace_take_sources(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	const char *key;
	json_t *value;

	if (!json_is_object(d))
		return trace_fault(fault, "sources: not an object");
	json_object_foreach (d, key, value) {
		json_t *state = json_is_array(value) ? json_array_get(value, 0) : value;
		struct source_status *s = NULL;
		int64_t error = 0;
		int i = 0, k;

		for (int source = 0; source < _SOURCE_MAX && !s; source++)
			if (streq(source_to_string((enum source)source), key))
				s = &r->snapshot->source[source];
		if (!s)
			return trace_fault(fault, "sources: no source \"%s\"", key);
		while (trace_state_names[i] && json_is_string(state) &&
		       !streq(trace_state_names[i], json_string_value(state)))
			i++;
		if (!trace_state_names[i] || !json_is_string(state))
			return trace_fault(fault, "sources.%s: no such state", key);
		if (json_is_array(value)) {
			k = trace_number(json_array_get(value, 1), key, -4095, -1, &error, fault);
			if (k < 0)
				return k;
		}
		*s = (struct source_status){.state = (enum source_state)i, .error = (int)error};
	}
	return 0;
}

int trace_take_settings(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	const char *key;
	json_t *value;

	if (!json_is_object(d))
		return trace_fault(fault, "settings: not an object");
	json_object_foreach (d, key, value) {
		const struct tunable *t = tunable_find(key);
		int64_t v = 0;
		int k;

		if (!t || t->scope != SCOPE_HOST)
			return trace_fault(fault, "settings: no host setting \"%s\"", key);
		if (!json_is_null(value)) {
			k = trace_number(value, key, INT64_MIN, INT64_MAX, &v, fault);
			if (k < 0)
				return k;
		}
		r->values.host[tunable_index(t)].have = !json_is_null(value);
		r->values.host[tunable_index(t)].number = v;
	}
	return 0;
}

int trace_take_topology(struct trace_reader *r, struct topology *t)
{
	struct topology *old = r->tick.topology;
	struct snapshot *s;
	int k;

	k = snapshot_new(t->n_cpus, t->n_irqs, t->n_nics, &s);
	if (k < 0) {
		topology_free(t);
		return k;
	}
	if (r->snapshot) {
		s->mono_usec = r->snapshot->mono_usec;
		snapshot_free(r->snapshot);
	}
	if (old) {
		t->hz = old->hz;
		t->user_hz = old->user_hz;
		strcpy(t->kernel, old->kernel);
		topology_free(old);
	}
	r->snapshot = s;
	r->tick.snapshot = s;
	r->tick.topology = t;
	return 0;
}

static int take_have(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	struct snapshot *s = r->snapshot;
	const char *key;
	json_t *value;

	if (!json_is_object(d))
		return trace_fault(fault, "have: not an object");
	json_object_foreach (d, key, value) {
		struct cpuset set;
		unsigned bit = 0;
		int k;

		while (trace_have_names[bit] && !streq(trace_have_names[bit], key))
			bit++;
		if (!trace_have_names[bit])
			return trace_fault(fault, "have: unknown key \"%s\"", key);
		k = trace_cpus(value, key, &set, fault);
		if (k < 0)
			return k;
		for (unsigned cpu = 0; cpu < s->n_cpus; cpu++)
			s->cpu[cpu].have = (s->cpu[cpu].have & ~(1U << bit)) |
					   (uint32_t)cpuset_has(&set, cpu) << bit;
	}
	return 0;
}

static int take_event(json_t *d, struct kmsg_event *e, struct trace_fault *fault)
{
	const char *kind, *text;
	json_t *mask, *seq, *boot;
	json_error_t error;
	int64_t v = 0;
	int old, k;

	*e = (struct kmsg_event){};
	if (json_unpack_ex(d, &error, JSON_STRICT, "{s:s,s:o,s:b,s:o,s:o,s:s}", "kind", &kind,
			   "mask", &mask, "old", &old, "seq", &seq, "boot", &boot, "text",
			   &text) < 0)
		return trace_fault(fault, "events: %s", error.text);
	while (e->kind < _KMSG_KIND_MAX && !streq(kmsg_kind_to_string(e->kind), kind))
		e->kind++;
	if (e->kind == _KMSG_KIND_MAX)
		return trace_fault(fault, "events: no kind \"%s\"", kind);
	e->old = old;
	k = trace_number(mask, "events.mask", 0, UINT32_MAX, &v, fault);
	e->mask = (uint32_t)v;
	if (k >= 0)
		k = trace_number(seq, "events.seq", 0, INT64_MAX, &v, fault);
	e->seq = (uint64_t)v;
	if (k >= 0)
		k = trace_number(boot, "events.boot", 0, INT64_MAX, &v, fault);
	e->boot_usec = (uint64_t)v;
	return k < 0 ? k : trace_copy(text, "events.text", e->text, sizeof(e->text), fault);
}

static int take_events(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	struct snapshot *s = r->snapshot;
	int k;

	if (!json_is_array(d) || json_array_size(d) > SNAPSHOT_EVENTS_MAX)
		return trace_fault(fault, "events: not an array of up to %d", SNAPSHOT_EVENTS_MAX);
	for (; s->n_events < json_array_size(d); s->n_events++) {
		k = take_event(json_array_get(d, s->n_events), &s->event[s->n_events], fault);
		if (k < 0)
			return k;
	}
	return 0;
}

static int number(json_t *array, size_t i, const char *what, int64_t min, int64_t max, int64_t *ret,
		  struct trace_fault *fault)
{
	return trace_number(json_array_get(array, i), what, min, max, ret, fault);
}

static int take_online(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return trace_cpus(d, "online", &r->snapshot->online, fault);
}

static int take_known_online(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	struct topology *t = r->tick.topology;
	struct cpuset online;
	int k = trace_cpus(d, "known_online", &online, fault);

	if (k < 0)
		return k;
	if (cpuset_next(&online, t->n_cpus) < CPU_ID_MAX)
		return trace_fault(fault, "known_online: a CPU beyond %u", t->n_cpus - 1);
	t->online = online;
	for (unsigned cpu = 0; cpu < t->n_cpus; cpu++)
		t->cpu[cpu].online = cpuset_has(&online, cpu);
	return 0;
}

static int take_mask(json_t *d, bool *have, struct cpuset *set, struct trace_fault *fault)
{
	*have = !json_is_null(d);
	return *have ? trace_cpus(d, "affinity", set, fault) : 0;
}

static int take_affinity(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	json_t *group;
	int64_t index;
	size_t i;
	int k;

	if (!json_is_array(d))
		return trace_fault(fault, "affinity: not an array");
	json_array_foreach (d, i, group) {
		struct irq *irq;

		if (json_array_size(group) != 3)
			return trace_fault(fault, "affinity: wants interrupt, mask, mask");
		k = number(group, 0, "affinity", 0, (int64_t)r->tick.topology->n_irqs - 1, &index,
			   fault);
		if (k < 0)
			return k;
		irq = &r->tick.topology->irq[index];
		k = take_mask(json_array_get(group, 1), &irq->have_affinity, &irq->affinity, fault);
		if (k >= 0)
			k = take_mask(json_array_get(group, 2), &irq->have_effective,
				      &irq->effective, fault);
		if (k < 0)
			return k;
	}
	return 0;
}

/* ---- numbers, out of the line itself ---- */

static int within(int64_t v, const char *what, int64_t min, int64_t max, struct trace_fault *fault)
{
	if (v < min || v > max)
		return trace_fault(fault, "%s: %lld is outside %lld … %lld", what, (long long)v,
				   (long long)min, (long long)max);
	return 0;
}

static int no_numbers(int error, const char *what, struct trace_fault *fault)
{
	return trace_fault(fault, "%s: %s", what,
			   error == -ERANGE  ? "a number is outside of 64 bits"
			   : error == -E2BIG ? "too many numbers"
					     : "not whole numbers in arrays");
}

static int one_number(struct slice text, const char *what, int64_t min, int64_t max, int64_t *ret,
		      struct trace_fault *fault)
{
	int k = trace_integer(text, ret);

	if (k == -ERANGE)
		return trace_fault(fault, "%s: outside of 64 bits", what);
	if (k < 0)
		return trace_fault(fault, "%s: not a whole number", what);
	return within(*ret, what, min, max, fault);
}

/* Calls TAKE for each group in the array TEXT: numbers that begin with an index below N. */
static int take_groups(struct trace_reader *r, struct slice text, const char *what, unsigned n,
		       int (*take)(struct trace_reader *r, const int64_t *numbers, size_t count,
				   const char *what, struct trace_fault *fault),
		       struct trace_fault *fault)
{
	struct slice groups;
	size_t count;
	int k;

	if (trace_array(text, &groups) < 0)
		return trace_fault(fault, "%s: not an array", what);
	while ((k = trace_next_group(&groups, r->numbers, GROUP_MAX, &count)) > 0) {
		if (count == 0)
			return trace_fault(fault, "%s: an empty group", what);
		k = within(r->numbers[0], what, 0, (int64_t)n - 1, fault);
		if (k >= 0)
			k = take(r, r->numbers, count, what, fault);
		if (k < 0)
			return k;
	}
	return k < 0 ? no_numbers(k, what, fault) : 0;
}

static int take_run(struct trace_reader *r, const int64_t *numbers, size_t count, const char *what,
		    struct trace_fault *fault)
{
	const struct trace_field *f = r->field;
	struct snapshot *s = r->snapshot;
	size_t first = (size_t)numbers[0];
	int k;

	if (count < 2 || count - 1 > s->n_cpus - first)
		return trace_fault(fault, "cpu.%s: a run of %zu from CPU %zu on", what, count - 1,
				   first);
	for (size_t i = 1; i < count; i++) {
		struct cpu_sample *c = &s->cpu[first + i - 1];

		k = f->wide ? 0 : within(numbers[i], what, INT32_MIN, INT32_MAX, fault);
		if (k < 0)
			return k;
		trace_set(c, f, trace_get(c, f) + (uint64_t)numbers[i]);
	}
	return 0;
}

static int take_cpu(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	struct trace_member columns[FIELDS_MAX];
	int n = trace_members(text, columns, FIELDS_MAX), k;

	if (n < 0)
		return trace_fault(fault, "cpu: not an object of columns");
	for (int i = 0; i < n; i++) {
		r->field = NULL;
		for (size_t m = 0; m < trace_n_fields && !r->field; m++)
			if (slice_is(columns[i].key, trace_fields[m].name))
				r->field = &trace_fields[m];
		if (!r->field)
			return trace_fault(fault, "cpu: no counters \"%.*s\"",
					   (int)MIN(slice_length(columns[i].key), (size_t)40),
					   columns[i].key.at);
		k = take_groups(r, columns[i].value, r->field->name, r->snapshot->n_cpus, take_run,
				fault);
		if (k < 0)
			return k;
	}
	return 0;
}

static int take_counts(struct trace_reader *r, const int64_t *numbers, size_t count,
		       const char *what, struct trace_fault *fault)
{
	struct snapshot *s = r->snapshot;
	int k;

	if (count % 2 != 1 || count < 3)
		return trace_fault(fault, "%s: not pairs of CPU and difference", what);
	for (size_t i = 1; i < count; i += 2) {
		k = within(numbers[i], "CPU of irq", 0, (int64_t)s->n_cpus - 1, fault);
		if (k >= 0)
			k = within(numbers[i + 1], what, INT32_MIN, INT32_MAX, fault);
		if (k < 0)
			return k;
		s->irq[numbers[0]].counts[numbers[i]] += (uint32_t)numbers[i + 1];
	}
	return 0;
}

static int take_irq(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	return take_groups(r, text, "irq", r->snapshot->n_irqs, take_counts, fault);
}

static int take_pid(struct trace_reader *r, const int64_t *numbers, size_t count, const char *what,
		    struct trace_fault *fault)
{
	int k;

	if (count != 2)
		return trace_fault(fault, "%s: not a pair", what);
	k = within(numbers[1], what, 0, INT32_MAX, fault);
	if (k >= 0)
		r->snapshot->irq[numbers[0]].thread_pid = (pid_t)numbers[1];
	return k;
}

static int take_pids(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	return take_groups(r, text, "pids", r->snapshot->n_irqs, take_pid, fault);
}

static int take_thread(struct trace_reader *r, const int64_t *numbers, size_t count,
		       const char *what, struct trace_fault *fault)
{
	struct irq_sample *irq = &r->snapshot->irq[numbers[0]];

	if (count != 4)
		return trace_fault(fault, "%s: wants four numbers", what);
	irq->thread_run_ns += (uint64_t)numbers[1];
	irq->thread_wait_ns += (uint64_t)numbers[2];
	irq->thread_switches += (uint64_t)numbers[3];
	return 0;
}

static int take_threads(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	return take_groups(r, text, "threads", r->snapshot->n_irqs, take_thread, fault);
}

static int take_nic(struct trace_reader *r, const int64_t *numbers, size_t count, const char *what,
		    struct trace_fault *fault)
{
	struct nic_sample *nic = &r->snapshot->nic[numbers[0]];

	if (count != 4)
		return trace_fault(fault, "%s: wants four numbers", what);
	nic->rx_packets += (uint64_t)numbers[1];
	nic->rx_dropped += (uint64_t)numbers[2];
	nic->rx_missed += (uint64_t)numbers[3];
	return 0;
}

static int take_nics(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	return take_groups(r, text, "nic", r->snapshot->n_nics, take_nic, fault);
}

/* [first, how many] of those that are there. */
static int take_irq_run(struct trace_reader *r, const int64_t *numbers, size_t count,
			const char *what, struct trace_fault *fault)
{
	int k = count == 2 ? within(numbers[1], what, 1, r->snapshot->n_irqs - numbers[0], fault)
			   : trace_fault(fault, "%s: not a pair", what);

	for (int64_t i = 0; k >= 0 && i < numbers[1]; i++)
		r->snapshot->irq[numbers[0] + i].have = true;
	return k;
}

static int take_irq_have(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	for (unsigned i = 0; i < r->snapshot->n_irqs; i++)
		r->snapshot->irq[i].have = false;
	return take_groups(r, text, "irq_have", r->snapshot->n_irqs, take_irq_run, fault);
}

static int take_nic_run(struct trace_reader *r, const int64_t *numbers, size_t count,
			const char *what, struct trace_fault *fault)
{
	int k = count == 2 ? within(numbers[1], what, 1, r->snapshot->n_nics - numbers[0], fault)
			   : trace_fault(fault, "%s: not a pair", what);

	for (int64_t i = 0; k >= 0 && i < numbers[1]; i++)
		r->snapshot->nic[numbers[0] + i].have = true;
	return k;
}

static int take_nic_have(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	for (unsigned i = 0; i < r->snapshot->n_nics; i++)
		r->snapshot->nic[i].have = false;
	return take_groups(r, text, "nic_have", r->snapshot->n_nics, take_nic_run, fault);
}

static int take_pressure(struct slice text, const char *what, struct pressure *p,
			 struct trace_fault *fault)
{
	int64_t v[2];
	int n;

	p->have = !slice_is(text, "null");
	if (!p->have)
		return 0;
	n = trace_integers(text, v, ELEMENTSOF(v));
	if (n != 2)
		return trace_fault(fault, "%s: wants two numbers", what);
	p->some_usec += (uint64_t)v[0];
	p->full_usec += (uint64_t)v[1];
	return 0;
}

static int take_psi_cpu(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	return take_pressure(text, "psi_cpu", &r->snapshot->psi_cpu, fault);
}

static int take_psi_irq(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	return take_pressure(text, "psi_irq", &r->snapshot->psi_irq, fault);
}

static int take_unsigned(struct slice text, const char *what, unsigned *ret,
			 struct trace_fault *fault)
{
	int64_t v = 0;
	int k = one_number(text, what, 0, UINT32_MAX, &v, fault);

	*ret = (unsigned)v;
	return k;
}

static int take_events_lost(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	return take_unsigned(text, "events_lost", &r->snapshot->events_lost, fault);
}

static int take_nohz_lines(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	return take_unsigned(text, "nohz_lines", &r->snapshot->nohz_lines, fault);
}

static int take_kmsg_lost(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	int64_t v = 0;
	int k = one_number(text, "kmsg_lost", 0, INT64_MAX, &v, fault);

	r->snapshot->kmsg_records_lost = (uint64_t)v;
	return k;
}

static int take_hz(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	int64_t v = 0;
	int k = one_number(text, "hz", 0, 100000, &v, fault);

	r->tick.topology->hz = (unsigned)v;
	return k;
}

static int take_slow(struct trace_reader *r, struct slice text, struct trace_fault *fault)
{
	r->snapshot->slow = slice_is(text, "true");
	if (!r->snapshot->slow && !slice_is(text, "false"))
		return trace_fault(fault, "slow: neither true nor false");
	return 0;
}

/* Either may be NULL: missing. */
static int take_clocks(struct trace_reader *r, const struct trace_member *t,
		       const struct trace_member *boot, struct trace_fault *fault)
{
	struct snapshot *s = r->snapshot;
	int64_t step = 0, now;
	int k;

	if (!t)
		return trace_fault(fault, "t: not a whole number");
	k = one_number(t->value, "t", -CLOCK_LIMIT, CLOCK_LIMIT, &step, fault);
	if (k >= 0 && boot)
		k = one_number(boot->value, "boot", -CLOCK_LIMIT, CLOCK_LIMIT, &r->boot_offset,
			       fault);
	if (k < 0)
		return k;
	now = (int64_t)s->mono_usec + step;
	if (now < 0 || now > CLOCK_LIMIT || now + r->boot_offset < 0)
		return trace_fault(fault, "t: the clock leaves its range");
	s->mono_usec = (uint64_t)now;
	s->boot_usec = (uint64_t)(now + r->boot_offset);
	return 0;
}

/* ---- the line ---- */

static int take_topology(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	struct topology *t;
	int k = trace_topology_read(d, &t, fault);

	return k < 0 ? k : trace_take_topology(r, t);
}

static const struct {
	const char *key;
	/* One of the two: out of the line, or by jansson. */
	int (*scan)(struct trace_reader *r, struct slice text, struct trace_fault *fault);
	int (*take)(struct trace_reader *r, json_t *d, struct trace_fault *fault);
} members[] = {
	{"cpu", take_cpu, NULL},
	{"irq", take_irq, NULL},
	{"nic", take_nics, NULL},
	{"psi_cpu", take_psi_cpu, NULL},
	{"psi_irq", take_psi_irq, NULL},
	{"threads", take_threads, NULL},
	{"pids", take_pids, NULL},
	{"irq_have", take_irq_have, NULL},
	{"nic_have", take_nic_have, NULL},
	{"slow", take_slow, NULL},
	{"events_lost", take_events_lost, NULL},
	{"kmsg_lost", take_kmsg_lost, NULL},
	{"nohz_lines", take_nohz_lines, NULL},
	{"hz", take_hz, NULL},
	{"have", NULL, take_have},
	{"settings", NULL, trace_take_settings},
	{"sources", NULL, trace_take_sources},
	{"events", NULL, take_events},
	{"affinity", NULL, take_affinity},
	{"online", NULL, take_online},
	{"known_online", NULL, take_known_online},
};

static int by_jansson(struct trace_reader *r, const struct trace_member *m,
		      int (*take)(struct trace_reader *r, json_t *d, struct trace_fault *fault),
		      struct trace_fault *fault)
{
	json_error_t error;
	json_t *d = json_loadb(m->value.at, slice_length(m->value),
			       JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	int k;

	if (!d && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!d)
		return trace_fault(fault, "%.*s: no JSON: %.100s", (int)slice_length(m->key),
				   m->key.at, error.text);
	k = take(r, d, fault);
	json_decref(d);
	return k;
}

/* Differences do not show that a line is missing, or there twice; its number does. */
static int take_number(struct trace_reader *r, const struct trace_member *n,
		       struct trace_fault *fault)
{
	int64_t number = 0;
	int k;

	/* The first recordings have none. */
	if (!n)
		return r->number == 0 ? 0 : trace_fault(fault, "n: the tick has no number");
	k = one_number(n->value, "n", 1, INT64_MAX, &number, fault);
	if (k < 0)
		return k;
	if (r->ticks > 0 && (r->number == 0 || number != r->number + 1))
		return trace_fault(
			fault, "n: tick %lld follows tick %lld: lines are missing, or there twice",
			(long long)number, (long long)r->number);
	r->number = number;
	return 0;
}

/* "t", "n", "boot" and "topology" were taken before, whatever their place in the line. */
static int take_member(struct trace_reader *r, const struct trace_member *m,
		       struct trace_fault *fault)
{
	if (slice_is(m->key, "t") || slice_is(m->key, "n") || slice_is(m->key, "boot") ||
	    slice_is(m->key, "topology"))
		return 0;
	for (size_t i = 0; i < ELEMENTSOF(members); i++) {
		if (!slice_is(m->key, members[i].key))
			continue;
		return members[i].scan ? members[i].scan(r, m->value, fault)
				       : by_jansson(r, m, members[i].take, fault);
	}
	return trace_fault(fault, "unknown key \"%.*s\"",
			   (int)MIN(slice_length(m->key), (size_t)40), m->key.at);
}

static const struct trace_member *find(const struct trace_member *m, int n, const char *key)
{
	for (int i = 0; i < n; i++)
		if (slice_is(m[i].key, key))
			return &m[i];
	return NULL;
}

int trace_take_line(struct trace_reader *r, struct slice line, struct trace_fault *fault)
{
	struct trace_member m[MEMBERS_MAX];
	const struct trace_member *topology;
	int n = trace_members(line, m, MEMBERS_MAX), k = 0;

	if (n == -EEXIST)
		return trace_fault(fault, "a key stands twice");
	if (n == -E2BIG)
		return trace_fault(fault, "more than %d keys", MEMBERS_MAX);
	if (n < 0)
		return -EILSEQ;
	k = take_number(r, find(m, n, "n"), fault);
	if (k < 0)
		return k;
	r->ticks++;
	topology = find(m, n, "topology");
	r->tick.discovered = topology != NULL;
	if (topology)
		k = by_jansson(r, topology, take_topology, fault);
	if (k >= 0)
		k = take_clocks(r, find(m, n, "t"), find(m, n, "boot"), fault);
	r->snapshot->n_events = r->snapshot->events_lost = 0;
	for (int i = 0; k >= 0 && i < n; i++)
		k = take_member(r, &m[i], fault);
	return k;
}
