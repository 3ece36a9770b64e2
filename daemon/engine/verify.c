/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the host acts on what the profile states: decide/verify.h, kept for each policy in the
 * ledger until it is written again or given back. What was seen once is not looked for again; an
 * interrupt that leaves its place later is the symptom `irq-leaked`.
 */
#include <stdio.h>

#include "engine/internal.h"
#include "observe/cpufreq.h"
#include "observe/processes.h"

static void proven_done(struct proven *p)
{
	free(p->identity);
}

void engine_verify_done(struct engine *e)
{
	for (size_t i = 0; i < e->n_proven; i++)
		proven_done(&e->proven[i]);
	free(e->proven);
}

const struct proven *engine_proven(const struct engine *e, enum tunable_id id, const char *identity)
{
	for (size_t i = 0; i < e->n_proven; i++)
		if (e->proven[i].tunable == id && streq(e->proven[i].identity, identity))
			return &e->proven[i];
	return NULL;
}

/* Numbers of interrupts are of the topology that was. */
void engine_verify_anew(struct engine *e)
{
	for (size_t i = 0; i < e->n_proven; i++)
		e->proven[i].irq = -1;
}

static struct effect look(const struct engine *e, struct proven *p)
{
	struct effect seen = {};
	struct target target;
	struct task_stat st;

	if (p->tunable == TUNABLE_IRQ_AFFINITY) {
		if (p->irq < 0) {
			const struct irq *irq = topology_irq_by_identity(e->topology, p->identity);

			p->irq = irq ? (int)(irq - e->topology->irq) : -1;
		}
		if (p->irq >= 0 && (unsigned)p->irq < e->window->n_irqs &&
		    window_tick(e->window, 0) && window_tick(e->window, 0)->irq[p->irq].have)
			seen.fired = e->window->irq_cpus[p->irq];
		return seen;
	}
	if (topology_find_target(e->topology, p->tunable, p->identity, &target) < 0)
		return seen;
	if (p->tunable == TUNABLE_GOVERNOR)
		seen.have_frequency = cpufreq_now(e->io, target.number, &seen.khz, &seen.min_khz,
						  &seen.max_khz) >= 0;
	if (p->tunable == TUNABLE_NAPI_THREAD_AFFINITY &&
	    task_stat_read(e->io, (pid_t)target.number, &st) >= 0 && st.cpu < CPU_ID_MAX) {
		seen.have_cpu = true;
		seen.cpu = (unsigned)st.cpu;
	}
	return seen;
}

/* The newest change of that setting says so, too. */
static void tell_history(struct engine *e, const struct proven *p)
{
	for (uint64_t serial = e->history_serial; serial > 0; serial--) {
		struct history_entry *h = &e->history[(serial - 1) % HISTORY_MAX];

		if (h->serial != serial)
			return;
		if (h->kind != HISTORY_CHANGE || h->proof == PROOF_NONE ||
		    h->change->tunable != p->tunable ||
		    !streq(h->change->target.identity, p->identity))
			continue;
		h->proof = p->proof;
		snprintf(h->proof_text, sizeof(h->proof_text), "%s", p->text);
		return;
	}
}

static void judge(struct engine *e, struct proven *p, const char *written)
{
	const struct effect seen = look(e, p);
	enum proof was = p->proof;
	char text[PROOF_TEXT_MAX];

	p->proof = verify(e->topology, p->tunable, p->identity, written, &seen, text);
	if (p->proof == was && streq(p->text, text))
		return;
	strcpy(p->text, text);
	tell_history(e, p);
}

static bool is_about(const struct proven *p, const struct ledger_entry *entry)
{
	return p->tunable == entry->tunable && streq(p->identity, entry->identity);
}

/* The one of ENTRY, moved to place AT, where the ledger has it. NULL: no memory, or none. */
static struct proven *proven_at(struct engine *e, size_t at, const struct ledger_entry *entry)
{
	struct proven *more, found;

	for (size_t i = at; i < e->n_proven; i++) {
		if (!is_about(&e->proven[i], entry))
			continue;
		found = e->proven[i];
		e->proven[i] = e->proven[at];
		e->proven[at] = found;
		return &e->proven[at];
	}
	more = reallocarray(e->proven, e->n_proven + 1, sizeof(*more));
	if (!more)
		return NULL;
	e->proven = more;
	found = (struct proven){
		.tunable = entry->tunable, .irq = -1, .identity = strdup(entry->identity)};
	if (!found.identity)
		return NULL;
	if (at < e->n_proven)
		more[e->n_proven] = more[at];
	more[at] = found;
	e->n_proven++;
	return &more[at];
}

void engine_verify(struct engine *e, bool slow)
{
	size_t n = 0;

	if (engine_mode(e) != MODE_APPLY)
		return;
	if (!slow) {
		/* Only that which is gone with the tick. */
		for (size_t i = 0; i < e->n_proven; i++) {
			struct proven *p = &e->proven[i];
			const struct ledger_entry *entry;

			if (p->proof != PROOF_DUE || p->tunable != TUNABLE_IRQ_AFFINITY ||
			    p->irq < 0 || cpuset_empty(&e->window->irq_cpus[p->irq]))
				continue;
			entry = ledger_find(e->ledger, p->tunable, p->identity);
			if (entry && entry->realtime_usec == p->written_usec)
				judge(e, p, entry->written);
		}
		return;
	}
	for (size_t i = 0; i < ledger_size(e->ledger); i++) {
		const struct ledger_entry *entry = ledger_at(e->ledger, i);
		struct proven *p;

		if (!entry || entry->class != CLASS_POLICY || entry->other_boot)
			continue;
		p = proven_at(e, n, entry);
		if (!p)
			return; /* it stays "due" until there is memory again */
		n++;
		if (p->written_usec != entry->realtime_usec) {
			p->written_usec = entry->realtime_usec;
			p->proof = PROOF_NONE;
		}
		if (p->proof != PROOF_VERIFIED && p->proof != PROOF_UNVERIFIABLE)
			judge(e, p, entry->written);
	}
	/* What was given back, or is somebody else's. */
	while (e->n_proven > n)
		proven_done(&e->proven[--e->n_proven]);
}
