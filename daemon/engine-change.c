/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a decision, a profile or an admin's wish becomes a change, and how it is remembered. */
#include "engine-internal.h"

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

static void note_result(struct engine *e, const struct change *c, const struct result *r)
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

/* The topology and the values decide/ works on follow what was just written; the slow look would
 * bring them only seconds later. */
static void follow(struct engine *e, const struct change *c, const struct result *r)
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
	note_result(e, c, ret);
	follow(e, c, ret);
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
		note_result(e, &changes[i], &results[i]);
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
	struct target host = target_host();

	for (size_t id = 0; id < _TUNABLE_MAX; id++) {
		char text[64];
		int64_t v;

		/* What is held is for profiles only, and to ask the device is a request, too. */
		if (tunables[id].scope != SCOPE_HOST || tunables[id].held)
			continue;
		e->values.host[id].have =
			observe_value(e->io, (enum tunable_id)id, &host, text, sizeof(text)) >= 0 &&
			parse_i64(text, &v) >= 0;
		if (e->values.host[id].have)
			e->values.host[id].number = v;
		e->values.host[id].blocked =
			act_family_blocked(e->actuator, (enum tunable_id)id) != NULL;
	}
}

/* What the setting is before the change, for those who will ask what was changed. */
static void know_from(struct engine *e, struct change *c)
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
				know_from(e, &changes[i + k]);
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
		know_from(e, &changes[i]);
		if (couple_size(&changes[i], n - i) == 2) {
			know_from(e, &changes[i + 1]);
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

/* Where an entry's setting is now; as it was when it was written where it is not to be found. */
static bool entry_target(const struct engine *e, const struct ledger_entry *entry,
			 struct target *ret)
{
	if (topology_find_target(e->topology, entry->tunable, entry->identity, ret) >= 0)
		return true;
	*ret = (struct target){.scope = tunables[entry->tunable].scope, .number = entry->number};
	append_text(ret->identity, sizeof(ret->identity), "%s", entry->identity);
	return false;
}

void engine_drop_pin(struct engine *e, enum tunable_id id, const char *identity)
{
	for (size_t i = 0; i < e->n_pins; i++) {
		if (e->pins[i].tunable != id || !streq(e->pins[i].target.identity, identity))
			continue;
		free(e->pins[i].value);
		e->pins[i] = e->pins[--e->n_pins];
		return;
	}
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
		if (!entry_target(e, entry, &c.target))
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
			note_result(e, &c, &r);
		} else {
			act_apply(e->actuator, e->topology, &c, on_foreign, &r);
			/* It is another's number already: the host is not what it was taken for. */
			if (r.outcome == OUTCOME_UNSUPPORTED) {
				engine_note_link_change(e);
				continue;
			}
			note_result(e, &c, &r);
		}
		if (r.outcome == OUTCOME_FOREIGN) {
			decider_yield(e->decider, c.tunable);
			engine_drop_pin(e, c.tunable, c.target.identity);
		}
		follow(e, &c, &r);
		engine_place_from_ledger(e);
	}
}

/* The same for a setting of a NIC. One that is gone waits for it. */
static bool nic_setting_wanted(const struct engine *e, const struct ledger_entry *entry)
{
	const struct nic *nic = topology_nic_of_identity(e->topology, entry->identity);
	enum tunable_id id = entry->tunable;
	const struct nic_rule *rule;
	struct cpuset cpus;

	if (!nic)
		return true;
	if (id == TUNABLE_NAPI_THREAD_AFFINITY) {
		rule = profile_nic_rule(e->profile, nic->name);
		return rule && rule->napi_threads != NAPI_THREADS_LEAVE;
	}
	if (id == TUNABLE_RPS_CPUS)
		return nic_wants_rps(e->topology, e->profile, (unsigned)(nic - e->topology->nic),
				     &cpus);
	if (profile_nic_setting(e->profile, nic->name, id)->kind == SETTING_VALUE)
		return true;
	/* Switched off for fixed values. */
	return (id == TUNABLE_COALESCE_ADAPTIVE_RX || id == TUNABLE_COALESCE_ADAPTIVE_TX) &&
	       (profile_nic_setting(e->profile, nic->name, id + 1)->kind == SETTING_VALUE ||
		profile_nic_setting(e->profile, nic->name, id + 2)->kind == SETTING_VALUE);
}

/* Whether the profile still wants a setting changed that is in the ledger. */
static bool wanted(const struct engine *e, const struct ledger_entry *entry)
{
	const struct profile_setting *setting = &e->profile->setting[entry->tunable];
	int64_t value;
	const struct irq *irq;
	const struct nic_rule *rule;

	if (engine_pinned((void *)e, entry->tunable, entry->identity))
		return true;
	if (tunable_of_nic(&tunables[entry->tunable]))
		return nic_setting_wanted(e, entry);
	if (tunables[entry->tunable].scope == SCOPE_SOCKET)
		return engine_wants_socket(e, entry->tunable, entry->identity);
	/* Threads end with ifdown, and new ones come. */
	if (entry->tunable == TUNABLE_IRQ_THREAD_PRIORITY &&
	    !topology_irq_by_thread(e->topology, entry->identity))
		return false;
	/* Instead of the CPUs' own limits. */
	if (entry->tunable == TUNABLE_CPU_DMA_LATENCY &&
	    e->profile->setting[TUNABLE_CPU_RESUME_LATENCY].kind == SETTING_VALUE &&
	    !e->topology->cpu_latency)
		return true;
	if (entry->tunable != TUNABLE_IRQ_AFFINITY)
		return setting->kind == SETTING_VALUE ||
		       (e->taking_over && entry->class == CLASS_TRIAL &&
			setting->kind == SETTING_RANGE && parse_i64(entry->written, &value) >= 0 &&
			value >= setting->low && value <= setting->high);
	irq = topology_irq_by_identity(e->topology, entry->identity);
	if (!irq || irq->nic < 0)
		return false;
	rule = profile_nic_rule(e->profile, e->topology->nic[irq->nic].name);
	return rule && rule->placement != PLACEMENT_LEAVE;
}

static int give_back(struct engine *e, enum tunable_id id, const struct target *target,
		     const char *why)
{
	struct change c = {.tunable = id, .target = *target, .class = CLASS_RESTORE};
	struct result r;
	int k;

	append_text(c.id, sizeof(c.id), "%s-restore", tunables[id].id);
	append_text(c.why, sizeof(c.why), "%s", why);
	k = act_release(e->actuator, e->topology, id, target, &r);
	strcpy(c.to, r.value);
	note_result(e, &c, &r);
	follow(e, &c, &r);
	return k;
}

/* What a look at the host says of an entry of which the profile wants nothing any more; NULL: that
 * is for a change of profile to find. */
static const char *ended(enum tunable_id id)
{
	if (tunables[id].scope == SCOPE_THREAD)
		return "the thread has ended";
	if (id == TUNABLE_RPS_CPUS)
		return "there is a receive queue for each core near the NIC now";
	return NULL;
}

void engine_forget_ended(struct engine *e)
{
	for (size_t i = ledger_size(e->ledger); i > 0; i--) {
		const struct ledger_entry *entry = ledger_at(e->ledger, i - 1);
		struct target target;

		if (!entry || !ended(entry->tunable) || wanted(e, entry))
			continue;
		(void)entry_target(e, entry, &target);
		give_back(e, entry->tunable, &target, ended(entry->tunable));
	}
}

void engine_drop_trial(struct engine *e)
{
	const struct change *c;

	if (decider_trials(e->decider, &c, 1) > 0 &&
	    ledger_find(e->ledger, c->tunable, c->target.identity))
		give_back(e, c->tunable, &c->target, "softnetd stops before its trial is over");
}

/* After a profile switch: what only the old profile wanted goes back. Newest first, as in a
 * restore. */
int engine_give_back_unwanted(struct engine *e)
{
	int worst = 0;

	for (size_t i = ledger_size(e->ledger); i > 0; i--) {
		const struct ledger_entry *entry = ledger_at(e->ledger, i - 1);
		struct target target;
		int r;

		if (!entry || wanted(e, entry))
			continue;
		(void)entry_target(e, entry, &target);
		r = give_back(e, entry->tunable, &target, "the active profile does not change it");
		if (r < 0)
			worst = r;
	}
	engine_place_from_ledger(e);
	return worst;
}

/* The symptom for which the change of ENTRY was made; its id says so. */
static enum symptom symptom_of(const struct ledger_entry *entry)
{
	struct change c = {.tunable = entry->tunable, .target = target_host()};

	for (int s = SYMPTOM_NONE + 1; s < _SYMPTOM_MAX; s++) {
		c.symptom = (enum symptom)s;
		change_name(&c);
		if (streq(c.id, entry->decision))
			return c.symptom;
	}
	return SYMPTOM_NONE;
}

void engine_adopt_kept(struct engine *e)
{
	/* In the order of the ledger: oldest first, as the decider wants them. */
	for (size_t i = 0; i < ledger_size(e->ledger); i++) {
		const struct ledger_entry *entry = ledger_at(e->ledger, i);
		int64_t from, to;

		if (entry->class == CLASS_TRIAL && tunables[entry->tunable].scope == SCOPE_HOST &&
		    parse_i64(entry->original, &from) >= 0 && parse_i64(entry->written, &to) >= 0)
			decider_adopt(e->decider, entry->tunable, symptom_of(entry), from, to);
	}
}

int engine_give_back_all(struct engine *e, struct restore_report *ret)
{
	static const enum outcome outcomes[] = {
		[RESTORE_WRITTEN] = OUTCOME_DONE,    [RESTORE_WAS_SO] = OUTCOME_UNCHANGED,
		[RESTORE_FOREIGN] = OUTCOME_FOREIGN, [RESTORE_GONE] = OUTCOME_UNSUPPORTED,
		[RESTORE_FAILED] = OUTCOME_REFUSED,
	};
	int r;

	r = restore_all(e->actuator, e->ledger, e->topology, ret);
	for (size_t i = 0; i < ret->n; i++) {
		const struct restore_item *item = &ret->item[i];

		const struct result result = {.outcome = outcomes[item->verdict],
					      .error = item->error};

		/* At the start nobody listens yet. */
		if (!e->listener && item->verdict != RESTORE_WAS_SO)
			log_warning("%s", item->text);
		engine_tell(e, &(struct engine_event){.kind = EVENT_RESTORE,
						      .result = &result,
						      .text = item->text});
		engine_remember(
			e, &(struct history_entry){.kind = HISTORY_EVENT, .error = item->error},
			NULL, NULL, item->text);
	}
	engine_place_from_ledger(e);
	engine_read_values(e);
	return r;
}

/* ---- what an admin asks for ---- */

/* Whether TEXT, as an admin wrote it, means TARGET. "" means all. */
static bool names_target(const struct topology *t, const char *text, const struct target *target)
{
	const struct policy *policy;
	const struct irq *irq;
	struct cpuset cpus;
	char name[TARGET_LABEL_MAX];

	if (!*text || streq(text, target->identity))
		return true;
	switch (target->scope) {
	case SCOPE_HOST:
		return false;
	case SCOPE_IRQ:
		irq = topology_irq_by_identity(t, target->identity);
		snprintf(name, sizeof(name), "%u", target->number);
		return streq(text, name) || (irq && streq(text, irq->name));
	case SCOPE_POLICY:
		policy = topology_policy_by_identity(t, target->identity);
		snprintf(name, sizeof(name), "policy%u", target->number);
		return streq(text, name) || (policy && cpuset_parse_list(text, &cpus) >= 0 &&
					     cpuset_equal(&cpus, &policy->cpus));
	case SCOPE_SOCKET: /* all of a process */
	case SCOPE_CPU:    /* "3", or "cpu3" by its identity */
		snprintf(name, sizeof(name), "%u", target->number);
		return streq(text, name);
	case SCOPE_THREAD:
		irq = topology_irq_by_thread(t, target->identity);
		snprintf(name, sizeof(name), "%u", target->number);
		return streq(text, name) || (irq && streq(text, irq->thread_comm));
	case SCOPE_NIC:
	case SCOPE_NAPI:
	case SCOPE_QUEUE:
		target_label(target, name);
		return streq(text, name) || streq(text, target->nic);
	}
	return false;
}

/* The targets that TEXT names; all of a scoped setting when it is empty. */
static int find_targets(const struct engine *e, const struct tunable *t, const char *text,
			struct target **ret, size_t *ret_n, char *error)
{
	static const char *const kinds[] = {
		[SCOPE_HOST] = "such setting",
		[SCOPE_IRQ] = "NIC interrupt",
		[SCOPE_POLICY] = "cpufreq policy",
		[SCOPE_NIC] = "NIC with a device",
		[SCOPE_NAPI] = "NAPI instance",
		[SCOPE_QUEUE] = "receive queue of a NIC with a device",
		[SCOPE_SOCKET] = "open socket of a unit of busy_poll_units",
		[SCOPE_CPU] = "CPU with such a limit",
		[SCOPE_THREAD] = "thread of a NIC interrupt",
	};
	_cleanup_free_ struct target *found = NULL;
	size_t n = 0;
	int all;

	if (t->scope == SCOPE_HOST && *text && !streq(text, "host")) {
		snprintf(error, 512, "%s is one value for the whole host and takes no target",
			 t->id);
		return -EINVAL;
	}
	all = topology_targets(e->topology, tunable_index(t), &found);
	if (all < 0)
		return all;
	for (int i = 0; i < all; i++)
		if (names_target(e->topology, text, &found[i]))
			found[n++] = found[i];
	if (n == 0) {
		snprintf(error, 512, "%s: this host has no %s%s%s", t->id, kinds[t->scope],
			 *text ? " " : "", text);
		return -EINVAL;
	}
	*ret = TAKE_PTR(found);
	*ret_n = n;
	return 0;
}

static int find_setting(const char *setting, const struct tunable **ret, char *error)
{
	const char *near;

	*ret = tunable_find(setting);
	if (*ret)
		return 0;
	near = nearest_name(setting, tunable_names());
	snprintf(error, 512, "no setting '%s'%s%s%s", setting, near ? "; did you mean '" : "",
		 near ? near : "", near ? "'?" : "");
	return -ENOENT;
}

static int check_value(const struct tunable *t, const char *value, char *canonical, size_t size,
		       char *error)
{
	int r = tunable_canonical(t, value, true, canonical, size);

	if (r == -ERANGE && t->type == VALUE_NUMBER)
		snprintf(error, 512, "%s: %s is outside %lld … %lld %s", t->id, value,
			 (long long)t->min, (long long)t->max, t->unit);
	else if (r == -ERANGE)
		snprintf(error, 512, "%s: '%s' is out of range", t->id, value);
	else if (r < 0)
		snprintf(error, 512, "%s: '%s' is no %s", t->id, value,
			 t->type == VALUE_NUMBER ? "number"
			 : t->type == VALUE_CPUS ? "list of CPUs such as 0-3,8"
						 : "word this setting takes");
	return r;
}

static int add_pin(struct engine *e, enum tunable_id id, const struct target *target,
		   const char *value)
{
	_cleanup_free_ char *copy = strdup(value);
	struct pin *more;

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_pins; i++)
		if (e->pins[i].tunable == id &&
		    streq(e->pins[i].target.identity, target->identity)) {
			free(e->pins[i].value);
			e->pins[i].value = TAKE_PTR(copy);
			return 0;
		}
	more = realloc(e->pins, (e->n_pins + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	e->pins = more;
	e->pins[e->n_pins++] =
		(struct pin){.tunable = id, .target = *target, .value = TAKE_PTR(copy)};
	return 0;
}

int engine_set(struct engine *e, const char *setting, const char *target, const char *value,
	       char *error)
{
	_cleanup_free_ struct target *targets = NULL;
	char canonical[VALUE_MAX];
	const struct tunable *t;
	int r, worst = 0;
	size_t n;

	r = find_setting(setting, &t, error);
	if (r >= 0)
		r = check_value(t, value, canonical, sizeof(canonical), error);
	if (r >= 0)
		r = find_targets(e, t, target, &targets, &n, error);
	if (r < 0)
		return r;
	if (engine_mode(e) != MODE_APPLY) {
		snprintf(error, 512, "softnetd runs in mode %s and changes nothing",
			 mode_to_string(engine_mode(e)));
		return -EROFS;
	}
	for (size_t i = 0; i < n; i++) {
		struct change c = {
			.tunable = tunable_index(t), .target = targets[i], .class = CLASS_MANUAL};
		struct result result;

		strcpy(c.to, canonical);
		append_text(c.id, sizeof(c.id), "%s-manual", t->id);
		append_text(c.why, sizeof(c.why), "set by hand");
		know_from(e, &c);
		/* By hand is the last word: what somebody else wrote meanwhile is overwritten once.
		 */
		r = act_apply(e->actuator, e->topology, &c, ON_FOREIGN_ADOPT, &result);
		note_result(e, &c, &result);
		follow(e, &c, &result);
		if (r < 0) {
			snprintf(error, 512, "%s: %s", t->id, result.text);
			worst = r;
			continue;
		}
		r = add_pin(e, c.tunable, &c.target, canonical);
		if (r < 0)
			return r;
	}
	engine_place_from_ledger(e);
	return worst;
}

int engine_release(struct engine *e, const char *setting, const char *target, char *error)
{
	_cleanup_free_ struct target *targets = NULL;
	const struct tunable *t;
	int r, worst = 0;
	size_t n;

	r = find_setting(setting, &t, error);
	if (r >= 0)
		r = find_targets(e, t, target, &targets, &n, error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		enum tunable_id id = tunable_index(t);

		engine_drop_pin(e, id, targets[i].identity);
		if (!ledger_find(e->ledger, id, targets[i].identity))
			continue;
		r = give_back(e, id, &targets[i], "released by hand");
		if (r < 0) {
			snprintf(error, 512, "%s: its original could not be given back: %s", t->id,
				 strerror(-r));
			worst = r;
		}
	}
	engine_place_from_ledger(e);
	/* What the profile states takes over again. */
	engine_policy(e);
	return worst;
}
