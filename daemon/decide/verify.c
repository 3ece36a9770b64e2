/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/verify.h"

#include <stdarg.h>
#include <stdio.h>

enum proof verify_begin(const struct change *c, const struct result *r)
{
	if (c->class != CLASS_POLICY ||
	    (r->outcome != OUTCOME_DONE && r->outcome != OUTCOME_PENDING))
		return PROOF_NONE;
	return tunables[c->tunable].verifiable ? PROOF_DUE : PROOF_UNVERIFIABLE;
}

static enum proof say(char *text, enum proof proof, const char *fmt, ...) _printf_(3, 4);
static enum proof say(char *text, enum proof proof, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, PROOF_TEXT_MAX, fmt, ap);
	va_end(ap);
	return proof;
}

static enum proof verify_irq(const char *written, const struct effect *seen, char *text)
{
	char list[CPUSET_LIST_MAX];
	struct cpuset wanted;

	if (cpuset_empty(&seen->fired) || cpuset_parse_list(written, &wanted) < 0 ||
	    cpuset_format_list(&seen->fired, list, sizeof(list)) < 0)
		return say(text, PROOF_DUE, "it has not fired since");
	return say(text, cpuset_subset(&seen->fired, &wanted) ? PROOF_VERIFIED : PROOF_CONTRADICTED,
		   "it fires on CPU %.60s", list);
}

/* These two drivers' powersave is a governor of the hardware's that chooses by itself. */
static bool chooses_itself(const struct policy *p)
{
	return streq(p->driver, "intel_pstate") || streq(p->driver, "amd-pstate-epp");
}

static enum proof verify_governor(const struct policy *p, const char *written,
				  const struct effect *seen, char *text)
{
	bool fast = streq(written, "performance"), slow = streq(written, "powersave");
	double mhz = (double)seen->khz / 1000;
	bool so;

	if ((!fast && !slow) || (slow && (!p || chooses_itself(p))))
		return say(text, PROOF_UNVERIFIABLE, "no frequency belongs to %.32s", written);
	if (!seen->have_frequency)
		return say(text, PROOF_UNVERIFIABLE, "this driver does not tell the frequency");
	so = fast ? (double)seen->khz >= FREQUENCY_NEAR * (double)seen->max_khz
		  : seen->khz <= 2 * seen->min_khz;
	return say(text, so ? PROOF_VERIFIED : PROOF_DUE, "seen at %.0f MHz, of %.0f to %.0f", mhz,
		   (double)seen->min_khz / 1000, (double)seen->max_khz / 1000);
}

static bool belongs_to(const struct topology *t, const struct napi *n, const char *identity)
{
	return streq(n->identity, identity) || (n->nic >= 0 && (unsigned)n->nic < t->n_nics &&
						streq(t->nic[n->nic].identity, identity));
}

static enum proof verify_threads(const struct topology *t, const char *identity,
				 const char *written, char *text)
{
	unsigned n = 0, with = 0;

	for (unsigned i = 0; i < t->n_napis; i++) {
		if (!belongs_to(t, &t->napi[i], identity))
			continue;
		n++;
		with += t->napi[i].thread > 0;
	}
	if (streq(written, "0"))
		return with == 0 ? say(text, PROOF_VERIFIED, "it has no thread")
				 : say(text, PROOF_DUE, "%u threads are still there", with);
	return n > 0 && with == n ? say(text, PROOF_VERIFIED, "its thread is there")
				  : say(text, PROOF_DUE, "%u of %u threads are there", with, n);
}

static enum proof verify_thread(const char *written, const struct effect *seen, char *text)
{
	struct cpuset wanted;

	if (!seen->have_cpu || cpuset_parse_list(written, &wanted) < 0)
		return say(text, PROOF_DUE, "its thread is not to be seen");
	if (!cpuset_has(&wanted, seen->cpu))
		return say(text, PROOF_DUE, "it last ran on CPU %u", seen->cpu);
	return say(text, PROOF_VERIFIED, "it runs on CPU %u", seen->cpu);
}

enum proof verify(const struct topology *t, enum tunable_id id, const char *identity,
		  const char *written, const struct effect *seen, char text[static PROOF_TEXT_MAX])
{
	switch (id) {
	case TUNABLE_IRQ_AFFINITY:
		return verify_irq(written, seen, text);
	case TUNABLE_GOVERNOR:
		return verify_governor(topology_policy_by_identity(t, identity), written, seen,
				       text);
	case TUNABLE_NAPI_THREADED:
		return verify_threads(t, identity, written, text);
	case TUNABLE_NAPI_THREAD_AFFINITY:
		return verify_thread(written, seen, text);
	default:
		return say(text, PROOF_UNVERIFIABLE, "no sensor shows what it does");
	}
}
