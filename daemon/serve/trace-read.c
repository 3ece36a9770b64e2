/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-read.h"

#include <inttypes.h>
#include <jansson.h>

#include "serve/trace-format.h"
#include "serve/trace-host.h"
#include "serve/trace-lines.h"

#define CLOCK_LIMIT (INT64_C(1) << 60) /* µs: any later is no clock */

struct trace_reader {
	struct trace_about about;
	struct profile *profile;
	struct trace_tick tick;
	struct snapshot *snapshot;
	struct values values;
	int64_t boot_offset;
	bool torn;
	struct trace_lines lines;
	unsigned line; /* the number of the one read last */
};

void trace_reader_free(struct trace_reader *r)
{
	if (!r)
		return;
	profile_free(r->profile);
	topology_free(r->tick.topology);
	snapshot_free(r->snapshot);
	trace_lines_done(&r->lines);
	free(r);
}

const struct trace_about *trace_about(const struct trace_reader *r)
{
	return &r->about;
}

struct trace_tick *trace_tick(struct trace_reader *r)
{
	return &r->tick;
}

bool trace_torn(const struct trace_reader *r)
{
	return r->torn;
}

/* ---- lines ---- */

/* The next line as JSON: 1, 0 at the end, or an error with a complaint. */
static int next_line(struct trace_reader *r, struct complaints *c, json_t **ret)
{
	struct trace_line line;
	json_error_t error;
	int k;

	k = trace_lines_peek(&r->lines, 0, &line);
	if (k < 0) {
		complain(c, NULL, r->line + 1, "cannot be read: %s", strerror(-k));
		return k;
	}
	if (k == 0)
		return 0;
	r->line++;
	if (line.length > TRACE_LINE_MAX) {
		complain(c, NULL, r->line, "longer than %u bytes", TRACE_LINE_MAX);
		return -EBADMSG;
	}
	*ret = json_loadb(line.at, line.length, JSON_REJECT_DUPLICATES, &error);
	trace_lines_take(&r->lines, &line);
	if (*ret)
		return 1;
	if (json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!line.whole && r->line > 1) {
		r->torn = true;
		return 0;
	}
	complain(c, NULL, r->line, "no JSON: %.120s", error.text);
	return -EBADMSG;
}

/* ---- the first line ---- */

static int take_sources(struct trace_reader *r, json_t *d, struct trace_fault *fault)
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

static int take_settings(struct trace_reader *r, json_t *d, struct trace_fault *fault)
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

/* Takes over T; the counters begin again at zero, the clock and the host's constants go on. */
static int take_topology(struct trace_reader *r, struct topology *t)
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

static int read_limits(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	json_t *changes = json_object_get(d, "changes_per_hour");
	json_t *moves = json_object_get(d, "moves_per_round");
	int64_t v;
	int k;

	if (json_object_size(d) != 2)
		return trace_fault(fault, "limits: wants changes_per_hour and moves_per_round");
	k = trace_number(changes, "limits.changes_per_hour", 0, INT32_MAX, &v, fault);
	if (k < 0)
		return k;
	r->about.changes_per_hour = (unsigned)v;
	k = trace_number(moves, "limits.moves_per_round", 0, INT32_MAX, &v, fault);
	if (k < 0)
		return k;
	r->about.moves_per_round = (unsigned)v;
	return 0;
}

static int read_head(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	json_t *hz, *user_hz, *profile, *limits, *topology, *settings, *sources;
	const char *writer, *kernel, *mode;
	int64_t hz_number, user_hz_number;
	struct topology *t;
	json_error_t error;
	json_int_t version;
	char text[64];
	int k;

	if (json_unpack_ex(d, &error, JSON_STRICT, "{s:I,s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o}",
			   "softnetd-trace", &version, "softnetd", &writer, "kernel", &kernel, "hz",
			   &hz, "user_hz", &user_hz, "mode", &mode, "profile", &profile, "limits",
			   &limits, "topology", &topology, "settings", &settings, "sources",
			   &sources) < 0)
		return trace_fault(fault, "%s", error.text);
	k = trace_copy(writer, "softnetd", text, sizeof(text), fault);
	if (k >= 0)
		k = trace_number(hz, "hz", 0, 100000, &hz_number, fault);
	if (k >= 0)
		k = trace_number(user_hz, "user_hz", 0, 100000, &user_hz_number, fault);
	if (k >= 0 && mode_from_string(mode, &r->about.mode) < 0)
		k = trace_fault(fault, "mode: \"%s\"", mode);
	if (k >= 0)
		k = read_limits(r, limits, fault);
	if (k >= 0 && !json_is_null(profile))
		k = trace_profile_read(profile, r->line, &r->profile, fault);
	r->about.profile = r->profile;
	if (k >= 0)
		k = trace_topology_read(topology, &t, fault);
	if (k >= 0)
		k = take_topology(r, t);
	if (k < 0)
		return k;
	t->hz = (unsigned)hz_number;
	t->user_hz = (unsigned)user_hz_number;
	k = trace_copy(kernel, "kernel", t->kernel, sizeof(t->kernel), fault);
	if (k >= 0)
		k = take_settings(r, settings, fault);
	return k < 0 ? k : take_sources(r, sources, fault);
}

/* Tells a recording of another version from what is none at all. */
static int check_version(json_t *d, struct complaints *c)
{
	json_t *version = json_object_get(d, "softnetd-trace");

	if (!json_is_integer(version)) {
		complain(c, NULL, 1, "not a recording of softnetctl record");
		return -EBADMSG;
	}
	if (json_integer_value(version) == TRACE_VERSION)
		return 0;
	complain(c, NULL, 1,
		 "a recording of version %" JSON_INTEGER_FORMAT "; this program reads version %d",
		 json_integer_value(version), TRACE_VERSION);
	return -EPROTO;
}

int trace_reader_new(FILE *in, struct complaints *c, struct trace_reader **ret)
{
	_cleanup_(trace_reader_freep) struct trace_reader *r = calloc(1, sizeof(*r));
	struct trace_fault fault;
	json_t *d;
	int k;

	if (!r)
		return -ENOMEM;
	r->lines.in = in;
	k = next_line(r, c, &d);
	if (k == 0) {
		complain(c, NULL, 0, "is empty");
		return -ENODATA;
	}
	if (k < 0)
		return k;
	k = check_version(d, c);
	if (k >= 0) {
		k = read_head(r, d, &fault);
		if (k == -EBADMSG)
			complain(c, NULL, r->line, "%s", fault.text);
	}
	json_decref(d);
	if (k < 0)
		return k;
	r->tick.values = &r->values;
	*ret = TAKE_PTR(r);
	return 0;
}

/* ---- ticks ---- */

static int number(json_t *array, size_t i, const char *what, int64_t min, int64_t max, int64_t *ret,
		  struct trace_fault *fault)
{
	return trace_number(json_array_get(array, i), what, min, max, ret, fault);
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

static int take_run(struct snapshot *s, const struct trace_field *f, json_t *run,
		    struct trace_fault *fault)
{
	int64_t min = f->wide ? INT64_MIN : INT32_MIN, max = f->wide ? INT64_MAX : INT32_MAX;
	size_t n = json_array_size(run);
	int64_t first, grown;
	int k;

	k = number(run, 0, f->name, 0, (int64_t)s->n_cpus - 1, &first, fault);
	if (k < 0)
		return k;
	if (n < 2 || n - 1 > s->n_cpus - (size_t)first)
		return trace_fault(fault, "cpu.%s: a run of %zu from CPU %lld on", f->name, n - 1,
				   (long long)first);
	for (size_t i = 1; i < n; i++) {
		struct cpu_sample *c = &s->cpu[(size_t)first + i - 1];

		k = number(run, i, f->name, min, max, &grown, fault);
		if (k < 0)
			return k;
		trace_set(c, f, trace_get(c, f) + (uint64_t)grown);
	}
	return 0;
}

static int take_cpu(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	const char *key;
	json_t *runs, *run;
	size_t i;
	int k;

	if (!json_is_object(d))
		return trace_fault(fault, "cpu: not an object");
	json_object_foreach (d, key, runs) {
		const struct trace_field *f = NULL;

		for (size_t n = 0; n < trace_n_fields && !f; n++)
			if (streq(trace_fields[n].name, key))
				f = &trace_fields[n];
		if (!f || !json_is_array(runs))
			return trace_fault(fault, "cpu: no counters \"%s\"", key);
		json_array_foreach (runs, i, run) {
			k = take_run(r->snapshot, f, run, fault);
			if (k < 0)
				return k;
		}
	}
	return 0;
}

/* Runs of [first, how many] out of N. */
static int take_have_runs(json_t *d, const char *what, unsigned n, void *at, size_t size,
			  struct trace_fault *fault)
{
	json_t *run;
	size_t i;
	int k;

	if (!json_is_array(d))
		return trace_fault(fault, "%s: not an array", what);
	for (unsigned m = 0; m < n; m++)
		*(bool *)((char *)at + m * size) = false;
	json_array_foreach (d, i, run) {
		int64_t first, count;

		k = number(run, 0, what, 0, (int64_t)n - 1, &first, fault);
		if (k >= 0)
			k = number(run, 1, what, 1, (int64_t)n - first, &count, fault);
		if (k < 0)
			return k;
		for (int64_t m = first; m < first + count; m++)
			*(bool *)((char *)at + (size_t)m * size) = true;
	}
	return 0;
}

static int take_irq_have(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	struct snapshot *s = r->snapshot;

	return take_have_runs(d, "irq_have", s->n_irqs, &s->irq[0].have, sizeof(s->irq[0]), fault);
}

static int take_nic_have(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	struct snapshot *s = r->snapshot;

	return take_have_runs(d, "nic_have", s->n_nics, &s->nic[0].have, sizeof(s->nic[0]), fault);
}

static int take_counts(struct snapshot *s, json_t *group, unsigned irq, struct trace_fault *fault)
{
	size_t n = json_array_size(group);
	int64_t cpu, grown;
	int k;

	if (n % 2 != 1 || n < 3)
		return trace_fault(fault, "irq: not pairs of CPU and difference");
	for (size_t i = 1; i < n; i += 2) {
		k = number(group, i, "CPU of irq", 0, (int64_t)s->n_cpus - 1, &cpu, fault);
		if (k >= 0)
			k = number(group, i + 1, "irq", INT32_MIN, INT32_MAX, &grown, fault);
		if (k < 0)
			return k;
		s->irq[irq].counts[cpu] += (uint32_t)grown;
	}
	return 0;
}

static int take_pid(struct snapshot *s, json_t *group, unsigned irq, struct trace_fault *fault)
{
	int64_t pid;
	int k;

	if (json_array_size(group) != 2)
		return trace_fault(fault, "pids: not a pair");
	k = number(group, 1, "pids", 0, INT32_MAX, &pid, fault);
	if (k >= 0)
		s->irq[irq].thread_pid = (pid_t)pid;
	return k;
}

/* Three differences behind the index. */
static int take_three(json_t *group, const char *what, uint64_t *a, uint64_t *b, uint64_t *c,
		      struct trace_fault *fault)
{
	uint64_t *const to[] = {a, b, c};
	int64_t grown;
	int k;

	if (json_array_size(group) != 4)
		return trace_fault(fault, "%s: wants four numbers", what);
	for (size_t i = 0; i < 3; i++) {
		k = number(group, i + 1, what, INT64_MIN, INT64_MAX, &grown, fault);
		if (k < 0)
			return k;
		*to[i] += (uint64_t)grown;
	}
	return 0;
}

static int take_thread(struct snapshot *s, json_t *group, unsigned i, struct trace_fault *fault)
{
	struct irq_sample *irq = &s->irq[i];

	return take_three(group, "threads", &irq->thread_run_ns, &irq->thread_wait_ns,
			  &irq->thread_switches, fault);
}

static int take_nic(struct snapshot *s, json_t *group, unsigned i, struct trace_fault *fault)
{
	struct nic_sample *nic = &s->nic[i];

	return take_three(group, "nic", &nic->rx_packets, &nic->rx_dropped, &nic->rx_missed, fault);
}

/* An array of arrays that each begin with an index below N. */
static int take_groups(struct trace_reader *r, json_t *d, const char *what, unsigned n,
		       int (*take)(struct snapshot *s, json_t *group, unsigned i,
				   struct trace_fault *fault),
		       struct trace_fault *fault)
{
	json_t *group;
	int64_t index;
	size_t i;
	int k;

	if (!json_is_array(d))
		return trace_fault(fault, "%s: not an array", what);
	json_array_foreach (d, i, group) {
		k = number(group, 0, what, 0, (int64_t)n - 1, &index, fault);
		if (k >= 0)
			k = take(r->snapshot, group, (unsigned)index, fault);
		if (k < 0)
			return k;
	}
	return 0;
}

static int take_irq(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return take_groups(r, d, "irq", r->snapshot->n_irqs, take_counts, fault);
}

static int take_pids(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return take_groups(r, d, "pids", r->snapshot->n_irqs, take_pid, fault);
}

static int take_threads(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return take_groups(r, d, "threads", r->snapshot->n_irqs, take_thread, fault);
}

static int take_nics(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return take_groups(r, d, "nic", r->snapshot->n_nics, take_nic, fault);
}

static int take_pressure(json_t *d, const char *what, struct pressure *p, struct trace_fault *fault)
{
	int64_t some, full;
	int k;

	p->have = !json_is_null(d);
	if (!p->have)
		return 0;
	if (json_array_size(d) != 2)
		return trace_fault(fault, "%s: wants two numbers", what);
	k = number(d, 0, what, INT64_MIN, INT64_MAX, &some, fault);
	if (k >= 0)
		k = number(d, 1, what, INT64_MIN, INT64_MAX, &full, fault);
	if (k < 0)
		return k;
	p->some_usec += (uint64_t)some;
	p->full_usec += (uint64_t)full;
	return 0;
}

static int take_psi_cpu(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return take_pressure(d, "psi_cpu", &r->snapshot->psi_cpu, fault);
}

static int take_psi_irq(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return take_pressure(d, "psi_irq", &r->snapshot->psi_irq, fault);
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

static int take_unsigned(json_t *d, const char *what, unsigned *ret, struct trace_fault *fault)
{
	int64_t v;
	int k = trace_number(d, what, 0, UINT32_MAX, &v, fault);

	if (k >= 0)
		*ret = (unsigned)v;
	return k;
}

static int take_events_lost(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return take_unsigned(d, "events_lost", &r->snapshot->events_lost, fault);
}

static int take_nohz_lines(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	return take_unsigned(d, "nohz_lines", &r->snapshot->nohz_lines, fault);
}

static int take_kmsg_lost(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	int64_t v = 0;
	int k = trace_number(d, "kmsg_lost", 0, INT64_MAX, &v, fault);

	r->snapshot->kmsg_records_lost = (uint64_t)v;
	return k;
}

static int take_hz(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	int64_t v;
	int k = trace_number(d, "hz", 0, 100000, &v, fault);

	if (k >= 0)
		r->tick.topology->hz = (unsigned)v;
	return k;
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

static int take_slow(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	if (!json_is_boolean(d))
		return trace_fault(fault, "slow: neither true nor false");
	r->snapshot->slow = json_is_true(d);
	return 0;
}

/* "t", "boot" and "topology" come first whatever their place in the line: see take_line(). */
static const struct {
	const char *key;
	int (*take)(struct trace_reader *r, json_t *d, struct trace_fault *fault);
} members[] = {
	{"cpu", take_cpu},
	{"irq", take_irq},
	{"nic", take_nics},
	{"have", take_have},
	{"slow", take_slow},
	{"settings", take_settings},
	{"sources", take_sources},
	{"psi_cpu", take_psi_cpu},
	{"psi_irq", take_psi_irq},
	{"irq_have", take_irq_have},
	{"nic_have", take_nic_have},
	{"pids", take_pids},
	{"threads", take_threads},
	{"events", take_events},
	{"events_lost", take_events_lost},
	{"kmsg_lost", take_kmsg_lost},
	{"nohz_lines", take_nohz_lines},
	{"affinity", take_affinity},
	{"online", take_online},
	{"known_online", take_known_online},
	{"hz", take_hz},
};

static int take_member(struct trace_reader *r, const char *key, json_t *d,
		       struct trace_fault *fault)
{
	if (streq(key, "t") || streq(key, "boot") || streq(key, "topology"))
		return 0;
	for (size_t i = 0; i < ELEMENTSOF(members); i++)
		if (streq(members[i].key, key))
			return members[i].take(r, d, fault);
	return trace_fault(fault, "unknown key \"%s\"", key);
}

static int take_clocks(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	struct snapshot *s = r->snapshot;
	json_t *offset = json_object_get(d, "boot");
	int64_t step = 0, now;
	int k;

	k = trace_number(json_object_get(d, "t"), "t", -CLOCK_LIMIT, CLOCK_LIMIT, &step, fault);
	if (k >= 0 && offset)
		k = trace_number(offset, "boot", -CLOCK_LIMIT, CLOCK_LIMIT, &r->boot_offset, fault);
	if (k < 0)
		return k;
	now = (int64_t)s->mono_usec + step;
	if (now < 0 || now > CLOCK_LIMIT || now + r->boot_offset < 0)
		return trace_fault(fault, "t: the clock leaves its range");
	s->mono_usec = (uint64_t)now;
	s->boot_usec = (uint64_t)(now + r->boot_offset);
	return 0;
}

static int take_line(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	json_t *topology = json_object_get(d, "topology"), *value;
	struct topology *t;
	const char *key;
	int k = 0;

	if (!json_is_object(d))
		return trace_fault(fault, "not an object");
	r->tick.discovered = topology != NULL;
	if (topology) {
		k = trace_topology_read(topology, &t, fault);
		if (k >= 0)
			k = take_topology(r, t);
	}
	if (k >= 0)
		k = take_clocks(r, d, fault);
	if (k < 0)
		return k;
	r->snapshot->n_events = r->snapshot->events_lost = 0;
	json_object_foreach (d, key, value) {
		k = take_member(r, key, value, fault);
		if (k < 0)
			return k;
	}
	return 1;
}

int trace_read(struct trace_reader *r, struct complaints *c)
{
	struct trace_fault fault;
	json_t *d;
	int k;

	k = next_line(r, c, &d);
	if (k <= 0)
		return k;
	k = take_line(r, d, &fault);
	json_decref(d);
	if (k == -EBADMSG)
		complain(c, NULL, r->line, "%s", fault.text);
	r->tick.line = r->line;
	return k;
}

/* ---- looking ahead ---- */

static bool shows(json_t *d, enum tunable_id id, unsigned irq, const char *value)
{
	const struct tunable *t = &tunables[id];
	char text[32];
	json_t *group;
	size_t i;

	if (t->scope == SCOPE_HOST) {
		json_t *v = json_object_get(json_object_get(d, "settings"), t->id);

		snprintf(text, sizeof(text), "%" PRId64, (int64_t)json_integer_value(v));
		return json_is_integer(v) && tunable_equal(t, text, value);
	}
	json_array_foreach (json_object_get(d, "affinity"), i, group) {
		const char *list = json_string_value(json_array_get(group, 1));

		if (json_integer_value(json_array_get(group, 0)) == irq && list &&
		    tunable_equal(t, list, value))
			return true;
	}
	return false;
}

bool trace_shows(struct trace_reader *r, enum tunable_id id, unsigned irq, const char *value,
		 unsigned ticks)
{
	const char *key = tunables[id].scope == SCOPE_HOST ? tunables[id].id : "\"affinity\"";
	struct trace_line line = {};
	bool found = false;

	if (tunables[id].scope == SCOPE_POLICY)
		return false;
	while (!found && ticks-- > 0 && trace_lines_peek(&r->lines, line.next, &line) > 0 &&
	       line.whole) {
		/* Most lines need not be parsed twice. A topology made anew ends the view: its
		 * interrupts are others. */
		if (memmem(line.at, line.length, "\"topology\"", strlen("\"topology\"")))
			break;
		if (memmem(line.at, line.length, key, strlen(key))) {
			json_t *d = json_loadb(line.at, line.length, 0, NULL);

			found = shows(d, id, irq, value);
			json_decref(d);
		}
	}
	return found;
}
