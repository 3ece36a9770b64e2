/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history as documents: all of it in a line each, or one change with all that is known of it. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "engine/describe-parts.h"
#include "engine/internal.h"

static json_t *history_document(const struct engine *e, const struct history_entry *h)
{
	static const char *const kinds[] = {"event", "change", "verdict"};
	json_t *d = h->change ? change_document(e->topology, h->change) : json_object();

	put(d, "serial", json_integer((json_int_t)h->serial));
	put(d, "time", json_integer((json_int_t)h->realtime_usec));
	put(d, "kind", json_string(kinds[h->kind]));
	put(d, "outcome",
	    h->kind == HISTORY_CHANGE ? json_string(outcome_to_string(h->outcome)) : json_null());
	put(d, "error", h->error < 0 ? json_string(strerror(-h->error)) : json_null());
	put_proof(d, h->proof, h->proof_text);
	put(d, "text", text_or_null(h->text));
	return d;
}

json_t *engine_history(struct engine *e)
{
	json_t *list = json_array();
	uint64_t first = e->history_serial > HISTORY_MAX ? e->history_serial - HISTORY_MAX + 1 : 1;

	for (uint64_t serial = first; serial <= e->history_serial; serial++) {
		const struct history_entry *h = engine_history_at(e, serial);

		if (h)
			append(list, history_document(e, h));
	}
	return list;
}

/* ---- one change ---- */

static bool begins_a_story(const struct history_entry *h)
{
	return h->kind == HISTORY_CHANGE && !h->change->follow_up;
}

static bool same_id(const struct history_entry *a, const struct history_entry *b)
{
	return a->change && b->change && streq(a->change->id, b->change->id);
}

/* Where the story begins that H belongs to; H itself when the beginning was overwritten. */
static const struct history_entry *beginning(const struct engine *e, const struct history_entry *h)
{
	for (uint64_t serial = h->serial; serial > 0; serial--) {
		const struct history_entry *x = engine_history_at(e, serial);

		if (!x)
			break;
		if (same_id(x, h) && begins_a_story(x))
			return x;
	}
	return h;
}

/* The serial behind the story's last entry: the same id begins a new one there. */
static uint64_t story_end(const struct engine *e, const struct history_entry *first)
{
	for (uint64_t serial = first->serial + 1; serial <= e->history_serial; serial++) {
		const struct history_entry *x = engine_history_at(e, serial);

		if (x && same_id(x, first) && begins_a_story(x))
			return serial;
	}
	return e->history_serial + 1;
}

static bool same_setting(const struct change *a, const struct change *b)
{
	return a->tunable == b->tunable && streq(a->target.identity, b->target.identity);
}

/* What put an end to the change from outside the story: somebody else's value, a change by hand, a
 * restore. */
static json_t *overridden_document(const struct engine *e, const struct history_entry *first,
				   uint64_t end)
{
	for (uint64_t serial = first->serial + 1; serial < end; serial++) {
		const struct history_entry *x = engine_history_at(e, serial);
		const char *by = NULL;
		json_t *d;

		if (!x || x->kind != HISTORY_CHANGE || !same_setting(x->change, first->change))
			continue;
		if (x->outcome == OUTCOME_FOREIGN)
			by = "somebody else";
		else if (!same_id(x, first) && x->change->class == CLASS_MANUAL)
			by = "hand";
		else if (x->change->class == CLASS_RESTORE)
			by = "restore";
		if (!by)
			continue;
		d = json_object();
		put(d, "by", json_string(by));
		put(d, "serial", json_integer((json_int_t)x->serial));
		put(d, "time", json_integer((json_int_t)x->realtime_usec));
		put(d, "text", text_or_null(x->text));
		return d;
	}
	return json_null();
}

static json_t *step_document(const struct history_entry *h)
{
	json_t *d = json_object();

	put(d, "serial", json_integer((json_int_t)h->serial));
	put(d, "time", json_integer((json_int_t)h->realtime_usec));
	put(d, "from", text_or_null(h->change->from));
	put(d, "to", text_or_null(h->change->to));
	put(d, "outcome", json_string(outcome_to_string(h->outcome)));
	put(d, "text", text_or_null(h->text));
	return d;
}

static json_t *verdict_document(const struct history_entry *h)
{
	json_t *d = json_object();

	put(d, "verdict", json_string(h->verdict));
	put(d, "before", isnan(h->before) ? json_null() : json_real(h->before));
	put(d, "after", isnan(h->after) ? json_null() : json_real(h->after));
	put(d, "judged", judged_document(&h->judged));
	put(d, "serial", json_integer((json_int_t)h->serial));
	put(d, "time", json_integer((json_int_t)h->realtime_usec));
	put(d, "text", text_or_null(h->text));
	return d;
}

static void put_grounds(json_t *d, const struct grounds *g, enum symptom symptom)
{
	json_t *evidence = json_object();

	put(d, "where", g ? text_or_null(g->scope) : json_null());
	for (unsigned i = 0; g && i < g->n_evidence; i++)
		put(evidence, g->evidence[i].name, json_real(g->evidence[i].value));
	if (g && symptom == SYMPTOM_SQUEEZED)
		put(evidence, "cause", json_string(squeeze_cause_to_string(g->cause)));
	put(d, "evidence", evidence);
	put(d, "alternatives", passed_document(g ? &g->passed : NULL));
}

static json_t *now_document(const struct engine *e, const struct change *c)
{
	struct target target;
	char now[VALUE_MAX];

	if (!target_by_identity(e->topology, c->tunable, c->target.identity, &target) ||
	    observe_value(e->io, c->tunable, &target, now, sizeof(now)) < 0)
		return json_null();
	return text_or_null(now);
}

static json_t *explain(const struct engine *e, const struct history_entry *h)
{
	const struct history_entry *first = beginning(e, h);
	json_t *d = history_document(e, first), *steps = json_array(), *verdict = NULL;
	uint64_t end = story_end(e, first);

	put_grounds(d, first->grounds, first->change->symptom);
	for (uint64_t serial = first->serial + 1; serial < end; serial++) {
		const struct history_entry *x = engine_history_at(e, serial);

		if (!x || !same_id(x, first))
			continue;
		if (x->kind == HISTORY_CHANGE)
			append(steps, step_document(x));
		if (x->kind != HISTORY_VERDICT)
			continue;
		json_decref(verdict);
		verdict = verdict_document(x);
	}
	put(d, "steps", steps);
	put(d, "verdict", verdict ? verdict : json_null());
	put(d, "overridden", overridden_document(e, first, end));
	put(d, "now", now_document(e, first->change));
	return d;
}

static const struct history_entry *newest_change(const struct engine *e)
{
	for (uint64_t serial = e->history_serial; serial > 0; serial--) {
		const struct history_entry *h = engine_history_at(e, serial);

		if (!h)
			break;
		if (h->change)
			return h;
	}
	return NULL;
}

json_t *engine_explain(struct engine *e, const char *id, char *error_text)
{
	const struct history_entry *h;
	uint64_t serial;

	if (!*id) {
		h = newest_change(e);
		if (!h)
			snprintf(error_text, 512, "nothing was changed or advised so far");
	} else if (parse_u64(id, 10, &serial) >= 0) {
		h = engine_history_at(e, serial);
		if (!h)
			snprintf(
				error_text, 512,
				"the history has no entry %llu; it holds %llu to %llu",
				(unsigned long long)serial,
				(unsigned long long)(e->history_serial > HISTORY_MAX
							     ? e->history_serial - HISTORY_MAX + 1
							     : MIN(e->history_serial, UINT64_C(1))),
				(unsigned long long)e->history_serial);
	} else {
		h = engine_history_find(e, id);
		if (!h)
			snprintf(
				error_text, 512,
				"the history has no change of that id; \"softnetctl history\" shows "
				"what there is");
	}
	if (!h)
		return NULL;
	return h->change ? explain(e, h) : history_document(e, h);
}
