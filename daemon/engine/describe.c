/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs and what it sees: status, diagnosis, history. Settings and profiles have a file of
 * their own, engine/describe-settings.c. */
#include "engine/describe.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "engine/describe-parts.h"
#include "decide/placement.h"
#include "engine/internal.h"

/* Rates in status are over so many of the newest ticks: long enough to be read, short enough to
 * show what happens now. */
#define STATUS_TICKS 5
#define ADVICE_USEC  (600 * USEC_PER_SEC)

static double percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static json_t *rate(bool have, uint64_t count, double seconds)
{
	return have && seconds > 0 ? json_real((double)count / seconds) : json_null();
}

/* The time covered by the newest TICKS ticks. */
static double window_seconds(const struct window *w, unsigned ticks)
{
	uint64_t usec = 0;

	for (unsigned age = 0; w && age < MIN(ticks, w->filled); age++) {
		const struct tick *t = window_tick(w, age);

		usec += t->end_usec - t->begin_usec;
	}
	return (double)usec / (double)USEC_PER_SEC;
}

static json_t *host_document(const struct engine *e)
{
	const struct topology *t = e->topology;
	json_t *host = json_object();

	if (!t)
		return host;
	put(host, "hostname", text_or_null(t->hostname));
	put(host, "kernel", text_or_null(t->kernel));
	put(host, "captured", json_boolean(!e->io->live));
	put(host, "cpus_online", json_integer(cpuset_count(&t->online)));
	put(host, "cpus_isolated", cpus_or_null(&t->isolated));
	put(host, "nics", json_integer(t->n_nics));
	put(host, "hz", t->hz ? json_integer(t->hz) : json_null());
	put(host, "realtime", json_boolean(t->rt));
	put(host, "threadirqs", json_boolean(t->threadirqs));
	put(host, "container", json_boolean(t->container));
	return host;
}

static json_t *daemon_document(const struct engine *e)
{
	json_t *d = json_object();
	uint64_t now = io_now(e->io, CLOCK_BOOTTIME);

	put(d, "version", json_string(SOFTNETD_VERSION));
	put(d, "pid", json_integer(getpid()));
	put(d, "mode", json_string(mode_to_string(engine_mode(e))));
	put(d, "profile", text_or_null(e->profile ? e->profile->name : NULL));
	put(d, "profile_file", text_or_null(e->profile ? e->profile->file : NULL));
	put(d, "profile_chosen_by", text_or_null(e->choice.why));
	put(d, "uptime_seconds",
	    json_integer((json_int_t)((now - MIN(now, e->started_usec)) / USEC_PER_SEC)));
	put(d, "ticks", json_integer((json_int_t)e->ticks));
	put(d, "tick_seconds", json_real((double)e->config.tick_usec / (double)USEC_PER_SEC));
	return d;
}

static json_t *cpu_document(const struct engine *e, unsigned id)
{
	const struct cpu *cpu = &e->topology->cpu[id];
	const struct tick *newest = e->window ? window_tick(e->window, 0) : NULL;
	struct handover_sum handed = {};
	struct cpu_sum sum = {};
	uint32_t have = 0;
	json_t *c = json_object();

	if (newest && id < e->window->n_cpus) {
		sum = window_cpu(e->window, id, STATUS_TICKS);
		handed = window_handovers(e->window, id, STATUS_TICKS);
		have = newest->cpu[id].have;
	}
	put(c, "cpu", json_integer(id));
	put(c, "node", cpu->node >= 0 ? json_integer(cpu->node) : json_null());
	put(c, "isolated", json_boolean(cpu->isolated));
	put(c, "processed_per_second", rate(have & HAVE_SOFTNET, sum.processed, sum.seconds));
	put(c, "dropped_per_second", rate(have & HAVE_SOFTNET, sum.dropped, sum.seconds));
	put(c, "squeezed_per_second", rate(have & HAVE_SOFTNET, sum.squeezed, sum.seconds));
	put(c, "flow_limited_per_second",
	    rate(have & HAVE_FLOW_LIMIT, sum.flow_limit, sum.seconds));
	put(c, "net_rx_per_second", rate(have & HAVE_SOFTIRQS, sum.net_rx, sum.seconds));
	put(c, "softirq_percent",
	    have & HAVE_STAT ? json_real(percent(sum.softirq_time, sum.total)) : json_null());
	put(c, "backlog",
	    have & HAVE_BACKLOG ? json_integer(newest->cpu[id].backlog) : json_null());
	put(c, "handovers_per_second",
	    rate(have & HAVE_SOFTIRQ_STAT,
		 handed.handover[HANDOVER_TIME] + handed.handover[HANDOVER_RESCHED] +
			 handed.handover[HANDOVER_COUNT] + handed.handover[HANDOVER_POLICY],
		 handed.seconds));
	return c;
}

/* What a run of softirqs is allowed, as the kernel series says; null on other kernels. */
static json_t *limits_document(const struct engine *e)
{
	const struct softirq_limits *l = e->snapshot ? &e->snapshot->limits : NULL;
	json_t *d;

	if (!l || !l->have)
		return json_null();
	d = json_object();
	put(d, "policy", json_string(l->policy));
	put(d, "clock", json_string(l->precise ? "precise" : "jiffies"));
	put(d, "time_us", json_integer(l->time_usec));
	put(d, "effective_time_us", l->timed ? json_integer(l->effective_usec) : json_null());
	put(d, "max_restart", json_integer(l->max_restart));
	put(d, "effective_passes", json_integer(l->effective_passes));
	return d;
}

static json_t *cpus_document(const struct engine *e)
{
	json_t *cpus = json_array();

	for (unsigned id = 0; e->topology && id < e->topology->n_cpus; id++)
		if (cpuset_has(&e->topology->online, id))
			append(cpus, cpu_document(e, id));
	return cpus;
}

static json_t *irq_rate(const struct engine *e, unsigned index)
{
	const struct window *w = e->window;
	uint64_t total = 0;
	bool have = false;

	if (!w || index >= w->n_irqs)
		return json_null();
	for (unsigned age = 0; age < MIN((unsigned)STATUS_TICKS, w->filled); age++) {
		const struct tick *t = window_tick(w, age);

		have = have || t->irq[index].have;
		total += t->irq[index].total;
	}
	return rate(have, total, window_seconds(w, STATUS_TICKS));
}

/* CPUs that took this interrupt in the newest tick: the mask is a wish, this is what happened. */
static json_t *irq_fired_on(const struct engine *e, unsigned index)
{
	const struct tick *newest = e->window ? window_tick(e->window, 0) : NULL;

	if (!newest || index >= e->window->n_irqs || !newest->irq[index].have)
		return json_null();
	return cpus_text(&e->window->irq_cpus[index]);
}

/* Where interrupts really arrive: "managed" and "pending" are explained by design, "Settings". */
static const char *irq_state(const struct engine *e, const struct irq *irq)
{
	struct target target = irq_target(irq);

	if (irq->managed || (e->actuator && act_is_managed(e->actuator, &target)))
		return "managed";
	if (irq->shared)
		return "shared";
	if (irq->fell_silent)
		return "silent";
	if (!irq->have_affinity || !irq->have_effective)
		return "unknown";
	if (cpuset_subset(&irq->effective, &irq->affinity))
		return "settled";
	/* The kernel moves an interrupt when it next fires. */
	return "pending";
}

static json_t *irq_document(const struct engine *e, unsigned index)
{
	const struct irq *irq = &e->topology->irq[index];
	json_t *d = json_object();

	put(d, "irq", json_integer(irq->number));
	put(d, "name", text_or_null(irq->name));
	put(d, "role", json_string(irq_role_to_string(irq->role)));
	put(d, "queue", irq->queue >= 0 ? json_integer(irq->queue) : json_null());
	put(d, "affinity", irq->have_affinity ? cpus_text(&irq->affinity) : json_null());
	put(d, "effective", irq->have_effective ? cpus_text(&irq->effective) : json_null());
	put(d, "fired_on", irq_fired_on(e, index));
	put(d, "state", json_string(irq_state(e, irq)));
	put(d, "per_second", irq_rate(e, index));
	return d;
}

/* Null: nobody, as far as is known. */
static json_t *goes_first_document(const struct engine *e, unsigned nic)
{
	const struct ahead_news *a = nic < e->n_ahead ? &e->ahead[nic] : NULL;
	json_t *d;

	if (!a || a->tasks == 0)
		return json_null();
	d = json_object();
	put(d, "task", json_integer(a->pid));
	put(d, "comm", text_or_null(a->comm));
	put(d, "tasks", json_integer(a->tasks));
	put(d, "rank", json_integer(a->rank));
	put(d, "thread_rank", json_integer(a->thread_rank));
	put(d, "cpus", cpus_text(&a->cpus));
	put(d, "text", text_or_null(a->text));
	return d;
}

static json_t *nic_document(const struct engine *e, unsigned index)
{
	const struct nic *nic = &e->topology->nic[index];
	const struct nic_rule *rule = e->profile ? profile_nic_rule(e->profile, nic->name) : NULL;
	json_t *d = json_object(), *irqs = json_array();

	put(d, "nic", text_or_null(nic->name));
	put(d, "driver", text_or_null(nic->driver));
	put(d, "virtual", json_boolean(!*nic->device));
	put(d, "node", nic->node >= 0 ? json_integer(nic->node) : json_null());
	put(d, "ifindex", json_integer(nic->ifindex));
	put(d, "up", json_boolean(nic->up));
	put(d, "carrier", nic->carrier < 0 ? json_null() : json_boolean(nic->carrier));
	put(d, "rx_queues", nic->rx_queues ? json_integer(nic->rx_queues) : json_null());
	put(d, "rps", json_boolean(nic->rps));
	put(d, "placement",
	    json_string(placement_to_string(rule ? rule->placement : PLACEMENT_LEAVE)));
	for (unsigned i = 0; i < e->topology->n_irqs; i++)
		if (e->topology->irq[i].nic == (int)index)
			append(irqs, irq_document(e, i));
	put(d, "irqs", irqs);
	put(d, "goes_first", goes_first_document(e, index));
	describe_queues(e, index, d);
	return d;
}

static json_t *nics_document(const struct engine *e)
{
	json_t *nics = json_array();

	for (unsigned i = 0; e->topology && i < e->topology->n_nics; i++)
		append(nics, nic_document(e, i));
	return nics;
}

static json_t *evidence_document(const struct symptom_report *r)
{
	json_t *d = json_object();

	for (unsigned i = 0; i < r->n_evidence; i++)
		put(d, r->evidence[i].name, json_real(r->evidence[i].value));
	if (r->symptom == SYMPTOM_SQUEEZED)
		put(d, "cause", json_string(squeeze_cause_to_string(r->cause)));
	put(d, "text", text_or_null(r->text));
	return d;
}

static json_t *symptom_document(const struct engine *e, const struct symptom_report *r)
{
	char scope[CPUSET_LIST_MAX + 8];
	json_t *d = json_object();

	report_scope(e->topology, r, scope, sizeof(scope));
	put(d, "symptom", json_string(symptom_to_string(r->symptom)));
	put(d, "scope", text_or_null(scope));
	put(d, "evidence", evidence_document(r));
	return d;
}

/* blind is no limit that binds: it has its own place in both documents. */
static bool binds(const struct symptom_report *r)
{
	return r->symptom != SYMPTOM_NONE && r->symptom != SYMPTOM_BLIND;
}

static json_t *symptoms_document(const struct engine *e)
{
	json_t *symptoms = json_array();
	uint64_t now = io_now(e->io, CLOCK_MONOTONIC);

	for (unsigned i = 0; e->decisions && i < e->decisions->n_reports; i++) {
		const struct symptom_report *r = &e->decisions->report[i];
		uint64_t age = now - MIN(now, r->since_usec);
		json_t *d;

		if (!binds(r))
			continue;
		d = symptom_document(e, r);
		put(d, "for_seconds", json_integer((json_int_t)(age / USEC_PER_SEC)));
		put(d, "acute", json_boolean(r->acute));
		append(symptoms, d);
	}
	return symptoms;
}

static json_t *held_document(const struct engine *e, const struct ledger_entry *l)
{
	const struct tunable *t = &tunables[l->tunable];
	const struct history_entry *h = engine_history_find(e, l->decision);
	const struct proven *proven = engine_proven(e, l->tunable, l->identity);
	struct target target;
	char now[VALUE_MAX];
	const char *state;
	json_t *d = json_object();
	bool found = target_by_identity(e->topology, l->tunable, l->identity, &target);

	if (!found)
		state = "gone";
	else if (observe_value(e->io, l->tunable, &target, now, sizeof(now)) < 0)
		state = "unreadable";
	else if (t->held) /* the figure is the lowest of everybody's requests */
		state = engine_latency_fd(e) >= 0 ? "held" : "gone";
	else
		state = tunable_equal(t, now, l->written) ? "held" : "foreign";
	put(d, "setting", json_string(t->id));
	put_target(d, e->topology, found ? &target : NULL, l->identity);
	put(d, "original", text_or_null(l->original));
	put(d, "written", text_or_null(l->written));
	put(d, "now",
	    streq(state, "held") || streq(state, "foreign") ? json_string(now) : json_null());
	put(d, "state", json_string(state));
	put(d, "source",
	    streq(state, "held") || streq(state, "foreign")
		    ? engine_value_source(e, l->tunable, &target, now)
		    : json_null());
	put(d, "class", json_string(change_class_to_string(l->class)));
	if (l->class != CLASS_POLICY)
		put_proof(d, PROOF_NONE, "");
	else if (proven)
		put_proof(d, proven->proof, proven->text);
	else
		put_proof(d, tunables[l->tunable].verifiable ? PROOF_DUE : PROOF_UNVERIFIABLE, "");
	put(d, "decision", text_or_null(l->decision));
	put(d, "why", text_or_null(h ? h->change->why : NULL));
	put(d, "since", json_integer((json_int_t)l->realtime_usec));
	return d;
}

static json_t *changes_document(const struct engine *e)
{
	json_t *changes = json_array();

	for (size_t i = 0; e->ledger && i < ledger_size(e->ledger); i++)
		append(changes, held_document(e, ledger_at(e->ledger, i)));
	return changes;
}

static json_t *sources_document(const struct engine *e)
{
	static const char *const states[] = {"unread", "ok", "absent", "strange"};
	json_t *sources = json_array();

	for (unsigned i = 0; e->snapshot && i < _SOURCE_MAX; i++) {
		const struct source_status *s = &e->snapshot->source[i];
		json_t *d = json_object();

		put(d, "source", json_string(source_to_string(i)));
		put(d, "path", text_or_null(source_path(i)));
		put(d, "state", json_string(states[s->state]));
		put(d, "text", text_or_null(s->text));
		append(sources, d);
	}
	return sources;
}

static json_t *blind_entry(const char *source, const char *state, const char *text)
{
	json_t *d = json_object();

	put(d, "source", json_string(source));
	put(d, "state", json_string(state));
	put(d, "text", text_or_null(text));
	return d;
}

/* Whether any counter of any CPU moved in the ticks that are held. */
static bool counters_moved(const struct window *w)
{
	for (unsigned age = 0; age < w->filled; age++) {
		const struct tick *t = window_tick(w, age);

		for (unsigned i = 0; i < w->n_cpus; i++)
			if (t->cpu[i].processed || t->cpu[i].net_rx || t->cpu[i].total)
				return true;
	}
	return false;
}

static json_t *blind_document(const struct engine *e)
{
	json_t *blind = json_array();

	for (unsigned i = 0; e->snapshot && i < _SOURCE_MAX; i++) {
		const struct source_status *s = &e->snapshot->source[i];

		if (s->state == SOURCE_STRANGE)
			append(blind, blind_entry(source_to_string(i), "strange", s->text));
		else if (s->state == SOURCE_ABSENT)
			append(blind, blind_entry(source_to_string(i), "absent", s->text));
	}
	/* Case B05: the kernel says it ten times per boot and never again. */
	if (e->snapshot && e->snapshot->nohz_lines >= NOHZ_LINES_PER_BOOT &&
	    e->snapshot->source[SOURCE_SOFTIRQ_STAT].state != SOURCE_OK)
		append(blind, blind_entry(source_to_string(SOURCE_KMSG), "used-up",
					  "all NOHZ lines of this boot are used up: silence until "
					  "reboot says nothing"));
	if (!e->window || e->window->filled == 0)
		append(blind,
		       blind_entry("rates", "absent", "fewer than two readings so far: no rates"));
	else if (!e->io->live && !counters_moved(e->window))
		append(blind, blind_entry("rates", "absent",
					  "no counter of the captured tree changed between two "
					  "readings: no rates, only what one reading shows"));
	return blind;
}

static json_t *rivals_document(const struct engine *e)
{
	char rivals[sizeof(e->topology->rivals)], *save = NULL;
	json_t *list = json_array();

	if (!e->topology)
		return list;
	strcpy(rivals, e->topology->rivals);
	for (char *name = strtok_r(rivals, ", ", &save); name; name = strtok_r(NULL, ", ", &save))
		append(list, json_string(name));
	return list;
}

/* What irqbalance moves of the NICs that the profile would place, and how it is told to leave them. Null:
 * it does not run. */
static json_t *irqbalance_document(const struct engine *e)
{
	const struct topology *t = e->topology;
	json_t *d, *moves = json_array();

	if (!t || !t->irqbalance) {
		json_decref(moves);
		return json_null();
	}
	d = json_object();
	put(d, "told", json_boolean(t->irqbalance_told));
	for (unsigned nic = 0; nic < t->n_nics; nic++) {
		const struct nic_rule *rule = profile_nic_rule(e->profile, t->nic[nic].name);
		_cleanup_free_ char *option = NULL;
		json_t *m, *irqs;
		size_t size;
		FILE *f;

		if (!rule || rule->placement == PLACEMENT_LEAVE ||
		    !topology_irqbalance_moves(t, nic))
			continue;
		/* An admin pastes it: a number that is cut would be another interrupt's. */
		f = open_memstream(&option, &size);
		if (!f)
			continue;
		m = json_object();
		irqs = json_array();
		for (unsigned i = 0; i < t->n_irqs; i++) {
			const struct irq *irq = &t->irq[i];

			if (irq->nic != (int)nic || !placement_movable(irq) || irq->banned)
				continue;
			append(irqs, json_integer(irq->number));
			fprintf(f, "%s--banirq=%u", json_array_size(irqs) > 1 ? " " : "",
				irq->number);
		}
		fclose(f);
		put(m, "nic", text_or_null(t->nic[nic].name));
		put(m, "irqs", irqs);
		put(m, "option", text_or_null(option));
		append(moves, m);
	}
	put(d, "moves", moves);
	return d;
}

/* What udev sets of NICs when they appear, by file and line. */
static json_t *link_files_document(const struct engine *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->link_claims.n; i++) {
		const struct link_claim *c = &e->link_claims.claim[i];
		json_t *d = json_object();

		put(d, "file", text_or_null(c->file));
		put(d, "line", json_integer(c->line));
		put(d, "key", json_string(c->key));
		put(d, "value", text_or_null(c->value));
		put(d, "of", json_string(c->of));
		/* Coalescing is no setting of every build of softnetd. */
		put(d, "setting",
		    c->setting && tunable_find(c->setting) ? json_string(c->setting) : json_null());
		append(list, d);
	}
	return list;
}

/* What keeps the daemon from acting, as far as it knows: one entry each. */
static json_t *obstacles_document(const struct engine *e)
{
	enum tunable_id retired[_TUNABLE_MAX];
	const char *seen = NULL, *why;
	json_t *list = json_array();
	char text[512];
	size_t n;

	if (e->stalled)
		append(list, json_string("hands off: the kernel log tells of a stalled machine"));
	if (e->ledger && ledger_trouble(e->ledger))
		append(list, json_string(ledger_trouble(e->ledger)));
	if (e->refused) {
		snprintf(text, sizeof(text), "profile %s is chosen, but cannot be loaded",
			 e->refused);
		append(list, json_string(text));
	}
	if (*e->sockets.trouble)
		append(list, json_string(e->sockets.trouble));
	if (e->units && units_trouble(e->units))
		append(list, json_string(units_trouble(e->units)));
	for (unsigned i = 0; e->actuator && i < _TUNABLE_MAX; i++) {
		why = act_family_blocked(e->actuator, i);
		/* What a write was answered with is known better than what the self-test says. */
		if (!why && engine_mode(e) == MODE_APPLY &&
		    selftest_refusal(&e->selftest, i, text, sizeof(text)))
			append(list, json_string(text));
		if (!why || (seen && streq(seen, tunables[i].family)))
			continue;
		seen = tunables[i].family;
		snprintf(text, sizeof(text), "%s: %s", seen, why);
		append(list, json_string(text));
	}
	for (unsigned i = 0; i < _TUNABLE_MAX; i++)
		if (*e->refusal[i])
			append(list, json_string(e->refusal[i]));
	for (unsigned i = 0; e->decider && i < _TUNABLE_MAX; i++) {
		why = decider_withdrawn(e->decider, i);
		if (!why)
			continue;
		snprintf(text, sizeof(text), "%s: the profile's value is undone: %s",
			 tunables[i].id, why);
		append(list, json_string(text));
	}
	n = e->decider ? decider_retired(e->decider, retired, ELEMENTSOF(retired)) : 0;
	for (size_t i = 0; i < n; i++) {
		snprintf(
			text, sizeof(text),
			"%s: its trials did not help, left alone until something about the host changes",
			tunables[retired[i]].id);
		append(list, json_string(text));
	}
	return list;
}

static json_t *trials_document(const struct engine *e)
{
	const struct change *trial[CHANGES_MAX];
	json_t *list = json_array();
	size_t n = e->decider ? decider_trials(e->decider, trial, ELEMENTSOF(trial)) : 0;

	for (size_t i = 0; i < n; i++)
		append(list, change_document(e->topology, trial[i]));
	return list;
}

static json_t *holds_document(const struct engine *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->n_holds; i++) {
		const struct hold *h = &e->hold[i];
		json_t *d = json_object();

		put(d, "cookie", json_integer(h->cookie));
		put(d, "profile", text_or_null(h->profile));
		put(d, "by", text_or_null(h->text));
		put(d, "since", json_integer((json_int_t)h->realtime_usec));
		append(list, d);
	}
	return list;
}

static json_t *pins_document(const struct engine *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->n_pins; i++) {
		json_t *d = json_object();

		put(d, "setting", json_string(tunables[e->pins[i].tunable].id));
		put_target(d, e->topology, &e->pins[i].target, e->pins[i].target.identity);
		put(d, "value", text_or_null(e->pins[i].value));
		append(list, d);
	}
	return list;
}

static json_t *advice_document(const struct change *c)
{
	char command[VALUE_MAX + 320];
	json_t *d = json_object();

	put(d, "id", json_string(c->id));
	put(d, "setting", json_string(tunables[c->tunable].id));
	put(d, "from", text_or_null(c->from));
	put(d, "to", text_or_null(c->to));
	put(d, "why", text_or_null(c->why));
	put(d, "command",
	    change_command(c, command, sizeof(command)) < 0 ? json_null() : json_string(command));
	return d;
}

static bool has_advice(const json_t *advice, const char *id)
{
	const json_t *a;
	size_t i;

	json_array_foreach (advice, i, a)
		if (streq(json_string_value(json_object_get(a, "id")), id))
			return true;
	return false;
}

/* What was not made, and why it may still be made by hand. */
static bool is_advice(enum outcome o)
{
	return o == OUTCOME_ADVISED || o == OUTCOME_READ_ONLY;
}

/* What was decided for a symptom in this tick, and what was advised since it came. A lever is named
 * while the symptom is acute, and the same advice is remembered once in ADVICE_USEC: so long it
 * stands, while the symptom does. */
static json_t *advice_for(const struct engine *e, const struct symptom_report *r, bool only_advice)
{
	json_t *advice = json_array();
	uint64_t mono = io_now(e->io, CLOCK_MONOTONIC), real = io_now(e->io, CLOCK_REALTIME);
	uint64_t age = MAX(mono - MIN(mono, r->since_usec), (uint64_t)ADVICE_USEC);

	for (unsigned i = 0; i < e->decisions->n_changes; i++) {
		const struct change *c = &e->decisions->change[i];

		if (only_advice && !c->advice_only)
			continue;
		if (c->symptom == r->symptom && !has_advice(advice, c->id) &&
		    !engine_is_silenced(e, c->id))
			append(advice, advice_document(c));
	}
	for (uint64_t serial = e->history_serial; serial > 0; serial--) {
		const struct history_entry *h = engine_history_at(e, serial);

		if (!h || real - MIN(real, h->realtime_usec) > age)
			break;
		if (h->kind == HISTORY_CHANGE && is_advice(h->outcome) &&
		    h->change->symptom == r->symptom && !has_advice(advice, h->change->id) &&
		    !engine_is_silenced(e, h->change->id))
			append(advice, advice_document(h->change));
	}
	return advice;
}

/* Of all symptoms: what softnetd does not do itself. In apply mode a step that is planned is not
 * advice. */
static json_t *all_advice(const struct engine *e)
{
	json_t *all = json_array();

	for (unsigned i = 0; e->decisions && i < e->decisions->n_reports; i++) {
		const struct symptom_report *r = &e->decisions->report[i];
		json_t *advice;

		if (!binds(r))
			continue;
		advice = advice_for(e, r, engine_mode(e) == MODE_APPLY);
		json_array_extend(all, advice);
		json_decref(advice);
	}
	return all;
}

static json_t *silenced_document(const struct engine *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->n_silenced; i++) {
		json_t *d = json_object();

		put(d, "id", json_string(e->silenced[i].id));
		put(d, "by", json_string(e->silenced[i].by_config ? "configuration" : "hand"));
		put(d, "count", json_integer((json_int_t)e->silenced[i].count));
		append(list, d);
	}
	return list;
}

/* Which settings this host has, and whether they could be written at the start. */
static json_t *selftest_document(const struct engine *e)
{
	json_t *list = json_array();

	for (unsigned i = 0; engine_mode(e) == MODE_APPLY && i < _TUNABLE_MAX; i++) {
		const struct selftest_setting *s = &e->selftest.setting[i];
		json_t *d;

		if (s->possible + s->refused == 0)
			continue;
		d = json_object();
		put(d, "setting", json_string(tunables[i].id));
		put(d, "possible", json_integer(s->possible));
		put(d, "refused", json_integer(s->refused));
		put(d, "error", s->refused ? json_string(strerror(-s->error)) : json_null());
		put(d, "path", s->refused ? text_or_null(s->path) : json_null());
		append(list, d);
	}
	return list;
}

json_t *engine_status(struct engine *e)
{
	json_t *d = json_object();

	put(d, "host", host_document(e));
	put(d, "daemon", daemon_document(e));
	put(d, "window_seconds", json_real(window_seconds(e->window, STATUS_TICKS)));
	put(d, "cpus", cpus_document(e));
	put(d, "softirq_limits", limits_document(e));
	put(d, "nics", nics_document(e));
	put(d, "open_sockets", describe_sockets(e));
	put(d, "symptoms", symptoms_document(e));
	put(d, "changes", changes_document(e));
	put(d, "trials", trials_document(e));
	put(d, "advice", all_advice(e));
	put(d, "silenced", silenced_document(e));
	put(d, "holds", holds_document(e));
	put(d, "pinned", pins_document(e));
	put(d, "writable", selftest_document(e));
	put(d, "obstacles", obstacles_document(e));
	put(d, "rivals", rivals_document(e));
	put(d, "irqbalance", irqbalance_document(e));
	put(d, "link_files", link_files_document(e));
	put(d, "sources", sources_document(e));
	put(d, "blind", blind_document(e));
	return d;
}

json_t *engine_diagnosis(struct engine *e)
{
	json_t *d = json_object(), *symptoms = json_array(), *host = host_document(e);

	put(host, "seconds", json_real(window_seconds(e->window, WINDOW_TICKS)));
	/* Without it "nothing binds" would be a guess. */
	put(host, "seen", json_boolean(e->snapshot->source[SOURCE_SOFTNET].state == SOURCE_OK));
	put(d, "host", host);
	for (unsigned i = 0; e->decisions && i < e->decisions->n_reports; i++) {
		const struct symptom_report *r = &e->decisions->report[i];
		json_t *s;

		if (!binds(r))
			continue;
		s = symptom_document(e, r);
		put(s, "advice", advice_for(e, r, false));
		put(s, "passed_over", passed_document(&e->decisions->passed[i]));
		append(symptoms, s);
	}
	put(d, "symptoms", symptoms);
	put(d, "blind", blind_document(e));
	return d;
}

const char *engine_mode_name(const struct engine *e)
{
	return mode_to_string(engine_mode(e));
}

const char *engine_profile_name(const struct engine *e)
{
	return e->profile && e->profile->name ? e->profile->name : "";
}

void engine_status_line(struct engine *e, char *buf, size_t size)
{
	const char *glue = "";
	double packets;
	size_t held = e->ledger ? ledger_size(e->ledger) : 0, used;

	snprintf(buf, size, "%s, %s: ", e->profile ? e->profile->name : "no profile",
		 mode_to_string(engine_mode(e)));
	used = strlen(buf);
	for (unsigned i = 0; e->decisions && i < e->decisions->n_reports && used < size; i++) {
		const struct symptom_report *r = &e->decisions->report[i];

		if (!binds(r))
			continue;
		snprintf(buf + used, size - used, "%s%s", glue, symptom_to_string(r->symptom));
		used += strlen(buf + used);
		glue = ", ";
	}
	if (!*glue) {
		snprintf(buf + used, size - used, "nothing binds");
		used += strlen(buf + used);
	}
	if (engine_packet_rate(e, &packets)) {
		snprintf(buf + used, size - used, "; %.0f packets/s", packets);
		used += strlen(buf + used);
	}
	snprintf(buf + used, size - used, "; %zu setting%s changed", held, held == 1 ? "" : "s");
}
