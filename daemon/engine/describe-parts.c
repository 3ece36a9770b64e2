/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/describe-parts.h"

#include <stdio.h>

json_t *text_or_null(const char *text)
{
	_cleanup_free_ char *plain = NULL;
	json_t *value;

	if (!text || !*text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	plain = strdup(text);
	if (!plain)
		return NULL;
	for (char *c = plain; *c; c++)
		if (*c & 0x80)
			*c = '?';
	return json_string(plain);
}

json_t *cpus_text(const struct cpuset *set)
{
	char list[CPUSET_LIST_MAX];

	if (cpuset_format_list(set, list, sizeof(list)) < 0)
		return json_null();
	return json_string(list);
}

json_t *cpus_or_null(const struct cpuset *set)
{
	return cpuset_empty(set) ? json_null() : cpus_text(set);
}

void put_target(json_t *d, const struct topology *t, const struct target *target,
		const char *identity)
{
	const struct policy *policy;
	const struct irq *irq;
	char text[TARGET_LABEL_MAX];

	put(d, "scope", target ? json_string(scope_to_string(target->scope)) : json_null());
	if (!target || target->scope == SCOPE_HOST) {
		put(d, "target", json_null());
		put(d, "name", target ? json_null() : text_or_null(identity));
		return;
	}
	if (target->scope == SCOPE_IRQ) {
		irq = t ? topology_irq_by_identity(t, target->identity) : NULL;
		snprintf(text, sizeof(text), "%u", target->number);
		put(d, "target", json_string(text));
		put(d, "name", text_or_null(irq ? irq->name : identity));
		return;
	}
	if (target->scope == SCOPE_NIC || target->scope == SCOPE_NAPI ||
	    target->scope == SCOPE_QUEUE) {
		target_label(target, text);
		put(d, "target", json_string(text));
		put(d, "name", text_or_null(identity));
		return;
	}
	if (target->scope == SCOPE_CPU || target->scope == SCOPE_THREAD ||
	    target->scope == SCOPE_SOCKET) {
		irq = t && target->scope == SCOPE_THREAD
			      ? topology_irq_by_thread(t, target->identity)
			      : NULL;
		snprintf(text, sizeof(text), "%u", target->number);
		put(d, "target", json_string(text));
		put(d, "name", text_or_null(irq ? irq->thread_comm : target->identity));
		return;
	}
	policy = t ? topology_policy_by_identity(t, target->identity) : NULL;
	snprintf(text, sizeof(text), "policy%u", target->number);
	put(d, "target", json_string(text));
	put(d, "name", policy ? cpus_text(&policy->cpus) : text_or_null(identity));
}

bool target_by_identity(const struct topology *t, enum tunable_id id, const char *identity,
			struct target *ret)
{
	static const struct topology nothing;

	return topology_find_target(t ? t : &nothing, id, identity, ret) >= 0;
}

json_t *change_document(const struct topology *t, const struct change *c)
{
	json_t *d = json_object();

	put(d, "id", json_string(c->id));
	put(d, "setting", json_string(tunables[c->tunable].id));
	put_target(d, t, &c->target, c->target.identity);
	put(d, "from", text_or_null(c->from));
	put(d, "to", text_or_null(c->to));
	put(d, "class", json_string(change_class_to_string(c->class)));
	put(d, "symptom",
	    c->symptom == SYMPTOM_NONE ? json_null() : json_string(symptom_to_string(c->symptom)));
	put(d, "why", text_or_null(c->why));
	return d;
}

void report_scope(const struct topology *t, const struct symptom_report *r, char *buf, size_t size)
{
	char cpus[CPUSET_LIST_MAX];

	if (r->nic >= 0 && t && (unsigned)r->nic < t->n_nics)
		snprintf(buf, size, "nic %s", t->nic[r->nic].name);
	else if (r->irq >= 0 && t && (unsigned)r->irq < t->n_irqs)
		snprintf(buf, size, "irq %u", t->irq[r->irq].number);
	else if (!cpuset_empty(&r->cpus) && cpuset_format_list(&r->cpus, cpus, sizeof(cpus)) >= 0)
		snprintf(buf, size, "cpu %s", cpus);
	else
		snprintf(buf, size, "host");
}

json_t *passed_document(const struct passed_list *passed)
{
	json_t *list = json_array();

	for (unsigned i = 0; passed && i < passed->n; i++) {
		json_t *d = json_object();

		put(d, "setting", json_string(tunables[passed->item[i].tunable].id));
		put(d, "why_not", json_string(passed->item[i].reason));
		append(list, d);
	}
	return list;
}

json_t *judged_document(const struct judged *j)
{
	json_t *d;

	if (j->objective == OBJECTIVE_SYMPTOM)
		return json_null();
	d = json_object();
	put(d, "objective", json_string(objective_to_string(j->objective)));
	put(d, "seen", json_boolean(!j->blind));
	put(d, "before", j->blind ? json_null() : json_real(j->before));
	put(d, "after", j->blind ? json_null() : json_real(j->after));
	return d;
}

void put_proof(json_t *d, enum proof proof, const char *text)
{
	put(d, "proof", text_or_null(proof_to_string(proof)));
	put(d, "proof_text", proof == PROOF_NONE ? json_null() : text_or_null(text));
}
