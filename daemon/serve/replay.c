/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/replay.h"

#include <time.h>

/* How far behind the question the answer may stand: whoever made the change looked at the host at
 * other instants than the recorder, and made it a tick or two later than decide() asks here. */
#define LOOK_TICKS 3

/* The same answer to the same wish is told again only after so long, as in the daemon's history. */
#define REPEAT_USEC  (600 * USEC_PER_SEC)
#define REMEMBER_MAX 256

struct told {
	char id[CHANGE_ID_MAX];
	bool planned;
	char *to;
	enum outcome outcome;
	uint64_t usec;
};

struct replay {
	struct trace_reader *reader;
	const struct profile *profile;
	void (*tell)(void *userdata, const struct replay_event *ev);
	void *userdata;

	struct window *window;
	struct decider *decider;
	bool begun, stalled;
	uint64_t start_usec, now_usec;
	/* What the tick before reported: for entering and leaving. */
	struct symptom_report reported[REPORTS_MAX];
	unsigned n_reported;
	struct unmet unmet[_TUNABLE_MAX];
	/* Interrupts that a change of ours placed; [n_placed], of the topology. */
	struct placed {
		bool on;
		struct cpuset cpus;
	} * placed;
	unsigned n_placed;
	struct told told[REMEMBER_MAX];
	unsigned told_head;
};

const char *replay_kind_to_string(int kind)
{
	static const char *const names[] = {
		[REPLAY_ENTER] = "enter",         [REPLAY_LEAVE] = "leave",
		[REPLAY_CHANGE] = "change",       [REPLAY_VERDICT] = "verdict",
		[REPLAY_ORIGINALS] = "originals", [REPLAY_GAP] = "gap",
		[REPLAY_HOST] = "host",
	};

	return names[kind];
}

static void tell(struct replay *p, struct replay_event ev)
{
	ev.usec = p->now_usec > p->start_usec ? p->now_usec - p->start_usec : 0;
	ev.topology = trace_tick(p->reader)->topology;
	p->tell(p->userdata, &ev);
}

static bool placed(void *userdata, unsigned irq, struct cpuset *ret_wanted)
{
	const struct replay *p = userdata;

	if (irq >= p->n_placed || !p->placed[irq].on)
		return false;
	*ret_wanted = p->placed[irq].cpus;
	return true;
}

/* ---- changes ---- */

/* Index of the interrupt a change is about, or -1: gone. */
static int irq_of(const struct topology *t, const struct change *c)
{
	const struct irq *irq = topology_irq_by_identity(t, c->target.identity);

	return irq ? (int)(irq - t->irq) : -1;
}

/* A word list such as "schedutil|powersave" is met by any of its words. */
static bool is_among_words(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; n > 0 && at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, word, n) == 0 && (at[n] == '|' || at[n] == '\0'))
			return true;
	}
	return false;
}

static bool is_so_already(const struct replay *p, const struct change *c)
{
	const struct trace_tick *tick = trace_tick(p->reader);
	const struct tunable *t = &tunables[c->tunable];
	const struct policy *policy;
	char value[VALUE_MAX];
	int irq;

	switch (t->scope) {
	case SCOPE_HOST:
		return tick->values->host[c->tunable].have &&
		       format_into(value, sizeof(value), "%lld",
				   (long long)tick->values->host[c->tunable].number) >= 0 &&
		       tunable_equal(t, value, c->to);
	case SCOPE_IRQ:
		irq = irq_of(tick->topology, c);
		return irq >= 0 && tick->topology->irq[irq].have_affinity &&
		       cpuset_format_list(&tick->topology->irq[irq].affinity, value,
					  sizeof(value)) >= 0 &&
		       tunable_equal(t, value, c->to);
	case SCOPE_CPU: /* limits and priorities are not recorded */
	case SCOPE_THREAD:
	case SCOPE_SOCKET:
		return false;
	case SCOPE_POLICY:
		policy = topology_policy_by_identity(tick->topology, c->target.identity);
		return policy &&
		       is_among_words(c->to, c->tunable == TUNABLE_GOVERNOR ? policy->governor
									    : policy->epp);
	case SCOPE_NIC:
	case SCOPE_NAPI:
	case SCOPE_QUEUE:
		break; /* not in a recording */
	}
	return false;
}

static bool happened(const struct replay *p, const struct change *c)
{
	int irq = irq_of(trace_tick(p->reader)->topology, c);

	if (tunables[c->tunable].scope == SCOPE_IRQ && irq < 0)
		return false;
	return trace_shows(p->reader, c->tunable, (unsigned)MAX(irq, 0), c->to, LOOK_TICKS);
}

static enum outcome answer(const struct replay *p, const struct change *c)
{
	if (is_so_already(p, c))
		return OUTCOME_UNCHANGED;
	if (c->advice_only || c->planned || !happened(p, c))
		return OUTCOME_ADVISED;
	return OUTCOME_DONE;
}

/* What the next step starts from, before the recording itself says so. */
static void follow(struct replay *p, const struct change *c)
{
	struct trace_tick *tick = trace_tick(p->reader);
	int64_t number;
	int irq;

	if (tunables[c->tunable].scope == SCOPE_HOST) {
		if (parse_i64(c->to, &number) >= 0)
			tick->values->host[c->tunable].number = number;
		return;
	}
	irq = irq_of(tick->topology, c);
	if (irq < 0 || (unsigned)irq >= p->n_placed ||
	    cpuset_parse_list(c->to, &tick->topology->irq[irq].affinity) < 0)
		return;
	p->placed[irq] = (struct placed){true, tick->topology->irq[irq].affinity};
}

static struct told *find_told(struct replay *p, const struct change *c)
{
	struct told *newest = NULL;

	for (unsigned i = 0; i < REMEMBER_MAX; i++)
		if (p->told[i].to && p->told[i].planned == c->planned &&
		    streq(p->told[i].id, c->id) && (!newest || p->told[i].usec >= newest->usec))
			newest = &p->told[i];
	return newest;
}

static int tell_change(struct replay *p, const struct change *c, enum outcome outcome)
{
	struct told *t = find_told(p, c);
	char *to;

	if (outcome == OUTCOME_UNCHANGED)
		return 0;
	if (t && t->outcome == outcome && outcome != OUTCOME_DONE && streq(t->to, c->to) &&
	    p->now_usec - t->usec < REPEAT_USEC)
		return 0;
	to = strdup(c->to);
	if (!to)
		return -ENOMEM;
	t = &p->told[p->told_head++ % REMEMBER_MAX];
	free(t->to);
	*t = (struct told){
		.planned = c->planned, .to = to, .outcome = outcome, .usec = p->now_usec};
	strcpy(t->id, c->id);
	tell(p, (struct replay_event){.kind = REPLAY_CHANGE, .change = c, .outcome = outcome});
	return 0;
}

static int carry_out(struct replay *p, const struct change *c)
{
	struct result result = {.outcome = answer(p, c)};
	const struct change *running;

	/* What comes next is news only while nothing is being tried. */
	if (c->planned && decider_trials(p->decider, &running, 1) > 0)
		return 0;
	if (result.outcome == OUTCOME_DONE)
		follow(p, c);
	decider_learn(p->decider, c, &result, p->now_usec);
	return tell_change(p, c, result.outcome);
}

static int tell_policy(struct replay *p, const struct change *changes, size_t n)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		enum outcome outcome = answer(p, &changes[i]);

		/* A host setting that the host does not have is none that could be set. */
		if (tunables[changes[i].tunable].scope == SCOPE_HOST &&
		    !trace_tick(p->reader)->values->host[changes[i].tunable].have)
			continue;
		if (outcome == OUTCOME_DONE)
			follow(p, &changes[i]);
		/* What the recording does not show as made is not in force there. */
		unmet_note(p->unmet, &changes[i], outcome, "");
		r = tell_change(p, &changes[i], outcome);
	}
	return r;
}

/* What the profile states outright, as far as the host is not so. */
static int policy(struct replay *p)
{
	_cleanup_free_ struct change *changes = calloc(CHANGES_MAX * 4, sizeof(*changes));
	const struct topology *t = trace_tick(p->reader)->topology;
	size_t n, at = 0;
	int r;

	if (!changes)
		return -ENOMEM;
	memset(p->unmet, 0, sizeof(p->unmet));
	n = decide_policy(t, p->profile, changes, CHANGES_MAX * 4);
	r = tell_policy(p, changes, n);
	while (r >= 0 && (n = decide_power(t, p->profile, &at, changes, CHANGES_MAX * 4)) > 0)
		r = tell_policy(p, changes, n);
	return r;
}

/* ---- symptoms ---- */

static bool same_matter(const struct symptom_report *a, const struct symptom_report *b)
{
	return a->symptom == b->symptom && a->nic == b->nic && a->irq == b->irq;
}

static bool is_among(const struct symptom_report *r, const struct symptom_report *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (same_matter(r, &list[i]))
			return true;
	return false;
}

static void note_symptoms(struct replay *p, const struct decisions *d)
{
	for (unsigned i = 0; i < d->n_reports; i++)
		if (!is_among(&d->report[i], p->reported, p->n_reported))
			tell(p,
			     (struct replay_event){.kind = REPLAY_ENTER, .report = &d->report[i]});
	for (unsigned i = 0; i < p->n_reported; i++)
		if (!is_among(&p->reported[i], d->report, d->n_reports))
			tell(p, (struct replay_event){.kind = REPLAY_LEAVE,
						      .report = &p->reported[i]});
	memcpy(p->reported, d->report, d->n_reports * sizeof(*p->reported));
	p->n_reported = d->n_reports;
}

/* ---- ticks ---- */

/* At the start, and when the machine became another: as the engine does. */
static int begin(struct replay *p)
{
	const struct trace_tick *tick = trace_tick(p->reader);
	struct placed *fresh = calloc(MAX(tick->topology->n_irqs, 1U), sizeof(*fresh));

	if (!fresh)
		return -ENOMEM;
	free(p->placed);
	p->placed = fresh;
	p->n_placed = tick->topology->n_irqs;
	window_reset(p->window);
	decider_reset(p->decider);
	p->n_reported = reports_on_new_host(p->reported, p->n_reported);
	if (p->begun)
		tell(p, (struct replay_event){.kind = REPLAY_HOST});
	p->begun = true;
	return policy(p);
}

static int act_on(struct replay *p, const struct decisions *d)
{
	int r = 0;

	if (d->back_to_originals) {
		if (!p->stalled)
			tell(p, (struct replay_event){.kind = REPLAY_ORIGINALS});
		for (unsigned i = 0; i < p->n_placed; i++)
			p->placed[i].on = false;
		p->stalled = true;
		return 0;
	}
	if (d->has_verdict)
		tell(p, (struct replay_event){.kind = REPLAY_VERDICT, .verdict = &d->verdict});
	for (unsigned i = 0; r >= 0 && i < d->n_changes; i++)
		r = carry_out(p, &d->change[i]);
	if (r >= 0 && p->stalled) {
		p->stalled = false;
		r = policy(p);
	}
	return r;
}

static uint64_t cpu_nsec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC * NSEC_PER_USEC + (uint64_t)ts.tv_nsec;
}

static int run_tick(struct replay *p, struct replay_sum *sum)
{
	const struct trace_tick *tick = trace_tick(p->reader);
	const struct trace_about *about = trace_about(p->reader);
	const struct decisions *decisions;
	unsigned gaps = p->window->rebaselined;
	uint64_t began;
	int r;

	p->now_usec = tick->snapshot->mono_usec;
	if (sum->ticks++ == 0)
		p->start_usec = p->now_usec;
	sum->usec = p->now_usec > p->start_usec ? p->now_usec - p->start_usec : 0;
	if (!p->begun || tick->discovered) {
		r = begin(p);
		if (r < 0)
			return r;
	}
	began = cpu_nsec();
	r = window_push(p->window, tick->snapshot);
	if (r < 0)
		return r;
	struct decide_input in = {
		.now_usec = p->now_usec,
		.snapshot = tick->snapshot,
		.window = p->window,
		.topology = tick->topology,
		.profile = p->profile,
		.values = tick->values,
		.unmet = p->unmet,
		.changes_per_hour = about->changes_per_hour,
		.moves_per_round = about->moves_per_round,
		.placed = placed,
		.userdata = p,
	};
	decide(p->decider, &in, &decisions);
	sum->decide_nsec += cpu_nsec() - began;
	if (p->window->rebaselined != gaps)
		tell(p, (struct replay_event){.kind = REPLAY_GAP});
	note_symptoms(p, decisions);
	return act_on(p, decisions);
}

static void replay_done(struct replay *p)
{
	window_free(p->window);
	decider_free(p->decider);
	free(p->placed);
	for (unsigned i = 0; i < REMEMBER_MAX; i++)
		free(p->told[i].to);
}

int replay_run(struct trace_reader *reader, const struct profile *profile, struct complaints *c,
	       void (*tell_fn)(void *userdata, const struct replay_event *ev), void *userdata,
	       struct replay_sum *ret)
{
	const struct profile leave = {.name = (char[]){"none"}};
	_cleanup_(replay_done) struct replay p = {
		.reader = reader, .tell = tell_fn, .userdata = userdata};
	int r;

	*ret = (struct replay_sum){};
	p.profile = profile ?: trace_about(reader)->profile ?: &leave;
	r = window_new(&p.window);
	if (r >= 0)
		r = decider_new(&p.decider);
	while (r >= 0 && (r = trace_read(reader, c)) > 0)
		r = run_tick(&p, ret);
	return r;
}
