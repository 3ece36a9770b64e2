/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes back, and when: with the profile that wanted it, with its trial, with its thread, at the end. */
#include "base/log.h"
#include "decide/nic.h"
#include "engine/internal.h"

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

int engine_give_back(struct engine *e, enum tunable_id id, const struct target *target,
		     const char *why)
{
	struct change c = {.tunable = id, .target = *target, .class = CLASS_RESTORE};
	struct result r;
	int k;

	append_text(c.id, sizeof(c.id), "%s-restore", tunables[id].id);
	append_text(c.why, sizeof(c.why), "%s", why);
	k = act_release(e->actuator, e->topology, id, target, &r);
	strcpy(c.to, r.value);
	engine_note_result(e, &c, &r);
	engine_follow(e, &c, &r);
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
		(void)engine_entry_target(e, entry, &target);
		engine_give_back(e, entry->tunable, &target, ended(entry->tunable));
	}
}

void engine_drop_trial(struct engine *e)
{
	const struct change *c;

	if (decider_trials(e->decider, &c, 1) > 0 &&
	    ledger_find(e->ledger, c->tunable, c->target.identity))
		engine_give_back(e, c->tunable, &c->target,
				 "softnetd stops before its trial is over");
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
		(void)engine_entry_target(e, entry, &target);
		r = engine_give_back(e, entry->tunable, &target,
				     "the active profile does not change it");
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
