/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a decision or a profile becomes a change, and how it is remembered. */
#include "engine/internal.h"

#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "decide/nic.h"

void engine_tell(struct engine *e, const struct engine_event *ev)
{
	if (e->listener)
		e->listener(e->listener_userdata, ev);
}

/* What the kernel or a driver refused of the profile's policy is shown in the status as long as it is
 * not in force. What this host does not have is no refusal. */
static void note_refusal(struct engine *e, const struct change *c, const struct result *r)
{
	char *text = e->refusal[c->tunable];

	if (c->class != CLASS_POLICY || c->symptom != SYMPTOM_NONE)
		return;
	if (r->outcome == OUTCOME_REFUSED || r->outcome == OUTCOME_DIFFERENT)
		snprintf(text, REFUSAL_MAX, "%s", r->text);
	else if (e->unmet[c->tunable].n == 0)
		text[0] = '\0';
}

void engine_note_result(struct engine *e, const struct change *c, const struct result *r)
{
	char text[640] = "";

	const struct symptom_report *report = NULL;
	const struct passed_list *passed = NULL;

	unmet_note(e->unmet, c, r->outcome, r->value);
	note_refusal(e, c, r);
	/* What was so already is no event. */
	if (r->outcome == OUTCOME_UNCHANGED || (c->implied && r->outcome == OUTCOME_UNSUPPORTED) ||
	    engine_is_repeat(e, c, r))
		return;
	if (r->outcome == OUTCOME_ADVISED && engine_hush(e, c->id))
		return;
	append_text(text, sizeof(text), "%s", c->why);
	if (r->text[0])
		append_text(text, sizeof(text), "%s%s", text[0] ? "; " : "", r->text);
	if (!c->follow_up)
		report = engine_report_of(e, c, &passed);
	engine_remember(e,
			&(struct history_entry){.kind = HISTORY_CHANGE,
						.change = (struct change *)c,
						.outcome = r->outcome,
						.error = r->error,
						.proof = verify_begin(c, r)},
			report, passed, text);
	engine_tell(e, &(struct engine_event){
			       .kind = EVENT_CHANGE, .change = c, .result = r, .report = report});
}

void engine_follow(struct engine *e, const struct change *c, const struct result *r)
{
	const struct tunable *t = &tunables[c->tunable];
	bool made = r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_PENDING ||
		    r->outcome == OUTCOME_UNCHANGED;
	int64_t v;

	if (t->scope == SCOPE_HOST) {
		if (r->value[0] && parse_i64(r->value, &v) >= 0)
			e->values.host[c->tunable].number = v;
		e->values.host[c->tunable].limited =
			act_learned_limit(e->actuator, c->tunable, &e->values.host[c->tunable].low,
					  &e->values.host[c->tunable].high);
		e->values.host[c->tunable].blocked = r->outcome == OUTCOME_READ_ONLY;
		return;
	}
	if (c->target.scope == SCOPE_NAPI && c->tunable <= TUNABLE_IRQ_SUSPEND_TIMEOUT)
		for (unsigned i = 0; i < e->topology->n_napis; i++)
			if (streq(e->topology->napi[i].identity, c->target.identity))
				(void)parse_u64(
					r->value, 10,
					&e->topology->napi[i]
						 .setting[c->tunable - TUNABLE_NAPI_THREADED]);
	/* Threads come and go with it. */
	if (c->tunable == TUNABLE_NAPI_THREADED && r->outcome == OUTCOME_DONE)
		e->napis_due = true;
	if (c->tunable != TUNABLE_IRQ_AFFINITY)
		return;
	for (unsigned i = 0; i < e->topology->n_irqs; i++) {
		struct irq *irq = &e->topology->irq[i];

		if (!streq(irq->identity, c->target.identity))
			continue;
		if (r->outcome == OUTCOME_MANAGED)
			irq->managed = true;
		if (made)
			cpuset_parse_list(c->to, &irq->affinity);
		/* By hand is as the admin wants it. */
		if (made && r->outcome != OUTCOME_UNCHANGED &&
		    (c->class == CLASS_POLICY || c->class == CLASS_TRIAL))
			engine_watch_irq(e, i);
		return;
	}
}

static struct actuator *actuator_for(struct engine *e, const struct change *c)
{
	return engine_mode(e) == MODE_APPLY && !c->advice_only ? e->actuator : e->dry;
}

int engine_change(struct engine *e, const struct change *c, struct result *ret)
{
	int r;

	r = act_apply(actuator_for(e, c), e->topology, c,
		      e->profile->setting[c->tunable].on_foreign, ret);
	engine_note_result(e, c, ret);
	engine_follow(e, c, ret);
	if (c->tunable == TUNABLE_IRQ_AFFINITY && ret->outcome != OUTCOME_ADVISED)
		engine_place_from_ledger(e);
	return r;
}

/* How many of the N changes belong together, from the first on. */
static size_t couple_size(const struct change *changes, size_t n)
{
	size_t size = 1;

	while (size < MIN(n, (size_t)COUPLE_MAX) &&
	       tunable_coupled(changes[0].tunable, changes[size].tunable) &&
	       streq(changes[0].target.identity, changes[size].target.identity))
		size++;
	return size;
}

static void change_couple(struct engine *e, const struct change *changes, size_t n)
{
	struct result results[COUPLE_MAX];

	act_apply_coupled(actuator_for(e, &changes[0]), e->topology, changes, n,
			  e->profile->setting[changes[0].tunable].on_foreign, results);
	for (size_t i = 0; i < n; i++)
		engine_note_result(e, &changes[i], &results[i]);
}

bool engine_pinned(void *userdata, enum tunable_id id, const char *identity)
{
	const struct engine *e = userdata;

	for (size_t i = 0; i < e->n_pins; i++)
		if (e->pins[i].tunable == id && streq(e->pins[i].target.identity, identity))
			return true;
	return false;
}

bool engine_placed(void *userdata, unsigned irq, struct cpuset *ret_wanted)
{
	const struct engine *e = userdata;

	if (!e->placed || irq >= e->topology->n_irqs || !e->placed[irq].on)
		return false;
	*ret_wanted = e->placed[irq].cpus;
	return true;
}

bool engine_original(void *userdata, enum tunable_id id, int64_t *ret)
{
	const struct engine *e = userdata;
	const struct ledger_entry *entry = ledger_find(e->ledger, id, "host");
	char now[32];

	snprintf(now, sizeof(now), "%lld", (long long)e->values.host[id].number);
	return entry && entry->class == CLASS_POLICY && ledger_is_ours(entry, now) &&
	       parse_i64(entry->original, ret) >= 0;
}

int engine_place_from_ledger(struct engine *e)
{
	free(e->placed);
	e->placed = calloc(MAX(e->topology->n_irqs, 1U), sizeof(*e->placed));
	if (!e->placed)
		return -ENOMEM;
	for (unsigned i = 0; i < e->topology->n_irqs && ledger_size(e->ledger) > 0; i++) {
		const struct ledger_entry *entry =
			ledger_find(e->ledger, TUNABLE_IRQ_AFFINITY, e->topology->irq[i].identity);

		if (entry)
			e->placed[i].on =
				cpuset_parse_list(entry->written, &e->placed[i].cpus) >= 0;
	}
	return 0;
}

void engine_read_values(struct engine *e)
{
	for (size_t id = 0; id < _TUNABLE_MAX; id++) {
		e->values.host[id].have = observe_number(e->io, id, &e->values.host[id].number);
		e->values.host[id].blocked =
			act_family_blocked(e->actuator, (enum tunable_id)id) != NULL;
	}
}

void engine_know_from(struct engine *e, struct change *c)
{
	if (!c->from[0] &&
	    observe_value(e->io, c->tunable, &c->target, c->from, sizeof(c->from)) < 0)
		c->from[0] = '\0';
}

static bool couple_is_pinned(const struct engine *e, const struct change *changes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (engine_pinned((void *)e, changes[i].tunable, changes[i].target.identity))
			return true;
	return false;
}

/* What the profile states about NICs beside their interrupts. What holds already is only read. */
static int policy_of_nics(struct engine *e)
{
	for (unsigned nic = 0; nic < e->topology->n_nics; nic++) {
		_cleanup_free_ struct change *changes = NULL;
		int n = nic_policy(e->topology, e->profile, nic, &changes);
		struct result r;

		if (n < 0)
			return log_oom();
		for (size_t i = 0, size; i < (size_t)n; i += size) {
			size = couple_size(&changes[i], (size_t)n - i);
			/* One that an admin set takes its couple out of the profile's hands. */
			if (couple_is_pinned(e, &changes[i], size))
				continue;
			/* The masks go by where the interrupts are when they have all moved. */
			if (changes[i].tunable == TUNABLE_RPS_CPUS && e->policy_due &&
			    engine_mode(e) == MODE_APPLY)
				continue;
			for (size_t k = 0; k < size; k++)
				engine_know_from(e, &changes[i + k]);
			if (size > 1)
				change_couple(e, &changes[i], size);
			else
				engine_change(e, &changes[i], &r);
		}
	}
	return 0;
}

/* N changes of a policy. MOVES counts those of interrupts; false when there were enough of them. */
static bool state(struct engine *e, struct change *changes, size_t n, unsigned *moves)
{
	for (size_t i = 0; i < n; i++) {
		struct result r;

		if (engine_pinned(e, changes[i].tunable, changes[i].target.identity) ||
		    decider_withdrawn(e->decider, changes[i].tunable))
			continue;
		engine_know_from(e, &changes[i]);
		if (couple_size(&changes[i], n - i) == 2) {
			engine_know_from(e, &changes[i + 1]);
			change_couple(e, &changes[i], 2);
			i++;
			continue;
		}
		if (changes[i].tunable == TUNABLE_IRQ_AFFINITY &&
		    e->config.max_moves_per_round > 0 && ++*moves > e->config.max_moves_per_round) {
			e->policy_due = true;
			return false;
		}
		engine_change(e, &changes[i], &r);
		/* A move that was made may be one of more than one round's, or the next NIC's turn
		 * comes. */
		if (changes[i].tunable == TUNABLE_IRQ_AFFINITY &&
		    (r.outcome == OUTCOME_DONE || r.outcome == OUTCOME_PENDING))
			e->policy_due = true;
	}
	return true;
}

/* One round of what the profile states: host settings, governors and CPUs at once, interrupts a few
 * a tick. Whether more interrupts have to move is left in policy_due. */
int engine_policy(struct engine *e)
{
	const size_t room = (size_t)4 * CHANGES_MAX;
	_cleanup_free_ struct change *changes = calloc(room, sizeof(*changes));
	unsigned moves = 0;
	size_t n, at = 0;

	e->policy_due = false;
	e->next_ahead_usec = 0; /* priorities and places may be others now */
	if (!changes)
		return log_oom();
	memset(e->unmet, 0, sizeof(e->unmet));
	memset(e->refusal, 0, sizeof(e->refusal));
	if (engine_mode(e) == MODE_OBSERVE || e->stalled)
		return 0;
	n = decide_policy(e->topology, e->profile, changes, room);
	state(e, changes, n, &moves);
	while ((n = decide_power(e->topology, e->profile, &at, changes, room)) > 0)
		state(e, changes, n, &moves);
	e->receive_cpus = topology_receive_cpus(e->topology);
	return policy_of_nics(e);
}

/* Interrupts arrive at CPUs that have not been looked after yet. Where they do not arrive any more
 * nothing is given back before the next profile or machine: with irqbalance they come and go. */
void engine_follow_interrupts(struct engine *e)
{
	struct cpuset now = topology_receive_cpus(e->topology);

	if (e->profile->setting[TUNABLE_CPU_RESUME_LATENCY].kind != SETTING_VALUE ||
	    cpuset_subset(&now, &e->receive_cpus))
		return;
	now = cpuset_or(&now, &e->receive_cpus);
	engine_policy(e);
	e->receive_cpus = now;
}

bool engine_entry_target(const struct engine *e, const struct ledger_entry *entry,
			 struct target *ret)
{
	if (topology_find_target(e->topology, entry->tunable, entry->identity, ret) >= 0)
		return true;
	*ret = (struct target){.scope = tunables[entry->tunable].scope, .number = entry->number};
	append_text(ret->identity, sizeof(ret->identity), "%s", entry->identity);
	return false;
}

/*
 * Looks whether everything softnetd changed still is as it left it. The road of a change does the rest:
 * what is as written needs no write, what is somebody else's now is yielded or written again as
 * on_foreign says. Adopting means that their value is the new original, and stays.
 */
void engine_sweep(struct engine *e)
{
	if (engine_mode(e) != MODE_APPLY)
		return;
	for (size_t i = ledger_size(e->ledger); i > 0; i--) {
		const struct ledger_entry *entry = ledger_at(e->ledger, i - 1);
		struct change c = {
			.tunable = entry->tunable, .class = CLASS_POLICY, .follow_up = true};
		enum on_foreign on_foreign = e->profile->setting[entry->tunable].on_foreign;
		const struct change *on_trial;
		char now[VALUE_MAX];
		struct result r;

		/* Numbers of what is gone may be somebody else's by now. */
		if (!engine_entry_target(e, entry, &c.target))
			continue;
		/* The trial itself looks after the setting it is about, in every tick. */
		if (decider_trials(e->decider, &on_trial, 1) > 0 && on_trial->tunable == c.tunable)
			continue;
		/* Nobody else can change our request; theirs stand beside it. */
		if (tunables[c.tunable].held)
			continue;
		if (observe_value(e->io, c.tunable, &c.target, now, sizeof(now)) < 0 ||
		    tunable_equal(&tunables[c.tunable], now, entry->written))
			continue;
		append_text(c.id, sizeof(c.id), "%s", entry->decision);
		append_text(c.from, sizeof(c.from), "%s", now);
		append_text(c.to, sizeof(c.to), "%s", entry->written);
		append_text(c.why, sizeof(c.why), "it was changed behind softnetd's back");
		if (on_foreign == ON_FOREIGN_ADOPT) {
			r = (struct result){.outcome = OUTCOME_FOREIGN};
			append_text(r.text, sizeof(r.text),
				    "%s: %.60s is the new original (on_foreign = \"adopt\")",
				    tunables[c.tunable].id, now);
			if (ledger_drop(e->ledger, c.tunable, c.target.identity) < 0)
				continue;
			engine_note_result(e, &c, &r);
		} else {
			act_apply(e->actuator, e->topology, &c, on_foreign, &r);
			/* It is another's number already: the host is not what it was taken for. */
			if (r.outcome == OUTCOME_UNSUPPORTED) {
				engine_note_link_change(e);
				continue;
			}
			engine_note_result(e, &c, &r);
		}
		if (r.outcome == OUTCOME_FOREIGN) {
			decider_yield(e->decider, c.tunable);
			engine_drop_pin(e, c.tunable, c.target.identity);
		}
		engine_follow(e, &c, &r);
		engine_place_from_ledger(e);
	}
}
