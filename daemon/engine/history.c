/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of decisions: what was done, on what grounds, what was said already, and what nobody
 * wants to hear. Bounded: a ring, and a list of ids. */
#include <stdio.h>
#include <time.h>

#include "engine/describe-parts.h"
#include "engine/internal.h"

#define REPEAT_USEC (600 * USEC_PER_SEC)

static void entry_done(struct history_entry *h)
{
	free(h->change);
	free(h->text);
	free(h->grounds);
}

void engine_forget(struct engine *e)
{
	for (size_t i = 0; i < HISTORY_MAX; i++)
		entry_done(&e->history[i]);
	free(e->silenced);
}

const struct history_entry *engine_history_at(const struct engine *e, uint64_t serial)
{
	const struct history_entry *h = &e->history[(serial - 1) % HISTORY_MAX];

	return serial > 0 && h->serial == serial ? h : NULL;
}

const struct history_entry *engine_history_find(const struct engine *e, const char *id)
{
	for (uint64_t serial = e->history_serial; serial > 0; serial--) {
		const struct history_entry *h = engine_history_at(e, serial);

		if (!h)
			break;
		if (h->kind == HISTORY_CHANGE && streq(h->change->id, id))
			return h;
	}
	return NULL;
}

static struct grounds *grounds_new(const struct engine *e, const struct symptom_report *r,
				   const struct passed_list *passed)
{
	struct grounds *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	report_scope(e->topology, r, g->scope, sizeof(g->scope));
	g->cause = r->cause;
	g->n_evidence = r->n_evidence;
	memcpy(g->evidence, r->evidence, sizeof(g->evidence));
	if (passed)
		g->passed = *passed;
	return g;
}

void engine_remember(struct engine *e, const struct history_entry *entry,
		     const struct symptom_report *report, const struct passed_list *passed,
		     const char *text)
{
	struct history_entry *slot = &e->history[e->history_serial % HISTORY_MAX], h = *entry;

	h.text = strdup(text);
	h.grounds = report ? grounds_new(e, report, passed) : NULL;
	h.change = entry->change ? malloc(sizeof(*h.change)) : NULL;
	if (!h.text || (entry->change && !h.change)) {
		entry_done(&h); /* a line of history is not worth more than the loop */
		return;
	}
	if (h.change)
		*h.change = *entry->change;
	h.serial = ++e->history_serial;
	h.realtime_usec = io_now(e->io, CLOCK_REALTIME);
	entry_done(slot);
	*slot = h;
}

/* An advice while its symptom lasts, or a refusal, is one line of history and one of log, not one
 * per tick (bpftune#155). */
bool engine_is_repeat(struct engine *e, const struct change *c, const struct result *r)
{
	const struct history_entry *h = engine_history_find(e, c->id);

	if (!h || h->outcome != r->outcome || h->error != r->error || !streq(h->change->to, c->to))
		return false;
	if (r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_PENDING)
		return false;
	return r->known || io_now(e->io, CLOCK_REALTIME) - h->realtime_usec < REPEAT_USEC;
}

/* Reports of NICs and interrupts are one each: the one that the interrupt is of. */
static bool answers(const struct engine *e, const struct change *c, const struct symptom_report *r)
{
	const struct topology *t = e->topology;

	if (r->symptom != c->symptom)
		return false;
	if (c->target.scope != SCOPE_IRQ)
		return true;
	for (unsigned i = 0; i < t->n_irqs; i++)
		if (streq(t->irq[i].identity, c->target.identity))
			return (r->irq < 0 || r->irq == (int)i) &&
			       (r->nic < 0 || r->nic == t->irq[i].nic);
	return false;
}

const struct symptom_report *engine_report_of(const struct engine *e, const struct change *c,
					      const struct passed_list **ret_passed)
{
	if (c->symptom == SYMPTOM_NONE)
		return NULL;
	for (unsigned i = 0; e->decisions && i < e->decisions->n_reports; i++)
		if (answers(e, c, &e->decisions->report[i])) {
			*ret_passed = &e->decisions->passed[i];
			return &e->decisions->report[i];
		}
	return NULL;
}

/* ---- silence ---- */

static struct silenced *find_silenced(const struct engine *e, const char *id)
{
	for (size_t i = 0; i < e->n_silenced; i++)
		if (streq(e->silenced[i].id, id))
			return &e->silenced[i];
	return NULL;
}

bool engine_is_silenced(const struct engine *e, const char *id)
{
	return find_silenced(e, id) != NULL;
}

bool engine_hush(struct engine *e, const char *id)
{
	struct silenced *s = find_silenced(e, id);
	uint64_t now = io_now(e->io, CLOCK_MONOTONIC);

	if (!s)
		return false;
	/* As often as it would have been said. */
	if (s->count == 0 || now - s->said_usec >= REPEAT_USEC) {
		s->count++;
		s->said_usec = now;
	}
	return true;
}

static int add_silenced(struct engine *e, const char *id, bool by_config)
{
	struct silenced *s = find_silenced(e, id), *more;

	if (s) {
		s->by_config |= by_config;
		return 0;
	}
	if (e->n_silenced == SILENCED_MAX)
		return -ENOSPC;
	more = realloc(e->silenced, (e->n_silenced + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	e->silenced = more;
	s = &e->silenced[e->n_silenced++];
	*s = (struct silenced){.by_config = by_config};
	append_text(s->id, sizeof(s->id), "%s", id);
	return 0;
}

static bool is_configured(const struct engine *e, const char *id)
{
	for (char **s = e->config.silence; s && *s; s++)
		if (streq(*s, id))
			return true;
	return false;
}

int engine_silence_as_configured(struct engine *e)
{
	int r = 0;

	for (size_t i = e->n_silenced; i > 0; i--)
		if (e->silenced[i - 1].by_config && !is_configured(e, e->silenced[i - 1].id))
			e->silenced[i - 1] = e->silenced[--e->n_silenced];
	for (char **s = e->config.silence; s && *s && r >= 0; s++)
		r = add_silenced(e, *s, true);
	return r;
}

int engine_silence(struct engine *e, const char *id, char *error_text)
{
	int r;

	if (!change_id_ok(id)) {
		snprintf(error_text, 512,
			 "this is no id of an advice; \"softnetctl status\" and \"softnetctl "
			 "diagnose --json\" show them");
		return -EINVAL;
	}
	r = add_silenced(e, id, false);
	if (r == -ENOSPC)
		snprintf(error_text, 512, "%d ids are silenced already", SILENCED_MAX);
	return r;
}

int engine_unsilence(struct engine *e, const char *id, char *error_text)
{
	struct silenced *s = find_silenced(e, id);

	if (!s) {
		snprintf(error_text, 512, "it is not silenced");
		return -ENOENT;
	}
	if (s->by_config) {
		snprintf(error_text, 512, "softnetd.conf silences it");
		return -EINVAL;
	}
	*s = e->silenced[--e->n_silenced];
	return 0;
}
