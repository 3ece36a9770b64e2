/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/low-rate.h"

#include "decide/symptom-internal.h"

#define RATE_TICKS 10 /* that a rate is averaged over */

/* The fastest there is. */
static const char fast[] = "performance";

/* Why a policy is not in force; NULL: this host does not have it, so it never will be. */
static const char *reason_of(enum outcome o)
{
	switch (o) {
	case OUTCOME_FOREIGN:
		return "somebody else changed it, and softnetd leaves it to them";
	case OUTCOME_READ_ONLY:
		return "softnetd cannot write it here";
	case OUTCOME_ADVISED:
		return "softnetd writes nothing in this mode";
	case OUTCOME_UNSUPPORTED:
	case OUTCOME_MANAGED:
		return NULL;
	default:
		return "the kernel did not take it";
	}
}

static void advise(const struct decide_input *in, enum tunable_id id, const struct target *target,
		   const char *from, const char *to, const char *why, struct change *ret)
{
	*ret = (struct change){.tunable = id,
			       .target = *target,
			       .class = CLASS_POLICY,
			       .symptom = SYMPTOM_LOW_RATE,
			       .advice_only = true};
	append_text(ret->from, sizeof(ret->from), "%s", from);
	append_text(ret->to, sizeof(ret->to), "%s", to);
	append_text(ret->why, sizeof(ret->why), "packets come one by one: profile %s, %s",
		    in->profile->name, why);
	change_name(ret);
}

/* The first policy whose governor, or energy preference, is not the fastest although it could be. */
static const struct policy *slow_policy(const struct topology *t, enum tunable_id id)
{
	for (unsigned i = 0; i < t->n_policies; i++) {
		const struct policy *p = &t->policy[i];

		if (!p->active)
			continue;
		if (id == TUNABLE_GOVERNOR && strstr(p->governors, fast) &&
		    !streq(p->governor, fast))
			return p;
		if (id == TUNABLE_ENERGY_PREFERENCE && p->have_epp && strstr(p->epps, fast) &&
		    !tunable_equal(&tunables[id], p->epp, fast))
			return p;
	}
	return NULL;
}

static bool is_power(enum tunable_id id)
{
	return id == TUNABLE_GOVERNOR || id == TUNABLE_ENERGY_PREFERENCE;
}

/* NULL when RET is filled; "" when there is nothing to say. */
static const char *look_at(const struct decide_input *in, enum tunable_id id, struct change *ret)
{
	enum setting_kind kind = in->profile->setting[id].kind;
	const struct unmet *u = in->unmet ? &in->unmet[id] : NULL;
	const struct policy *p;
	struct target target;

	if (!tunables[id].for_latency || kind == SETTING_RANGE)
		return "";
	if (is_power(id) && kind != SETTING_LEAVE && in->topology->n_policies == 0)
		return "this host does not have it";
	if (kind == SETTING_VALUE) {
		if (!u || u->n == 0 ||
		    (in->pinned && in->pinned(in->userdata, id, u->target.identity)))
			return "";
		if (!reason_of(u->outcome))
			return "this host does not have it";
		advise(in, id, &u->target, u->now, u->to, reason_of(u->outcome), ret);
		return NULL;
	}
	p = is_power(id) ? slow_policy(in->topology, id) : NULL;
	if (!p)
		return "";
	target = policy_target(p);
	if (in->pinned && in->pinned(in->userdata, id, target.identity))
		return "";
	advise(in, id, &target, id == TUNABLE_GOVERNOR ? p->governor : p->epp, fast,
	       "which leaves it alone", ret);
	return NULL;
}

size_t low_rate_levers(const struct decide_input *in, struct change *changes, size_t max,
		       struct passed_list *passed)
{
	size_t n = 0;

	for (size_t id = 0; id < _TUNABLE_MAX && n < max; id++) {
		const char *reason = look_at(in, (enum tunable_id)id, &changes[n]);

		if (!reason)
			n++;
		else if (*reason && passed && passed->n < PASSED_MAX)
			passed->item[passed->n++] =
				(struct passed){.tunable = (enum tunable_id)id, .reason = reason};
	}
	return n;
}

/* Whether the host's packet rate is low, for long enough. */
static bool rate_is_low(struct symptoms *s, const struct decide_input *in, double *ret_rate)
{
	struct load l = window_load(in->window, &in->topology->online, RATE_TICKS);
	bool low = s->rate_is_low;

	*ret_rate = ratio(l.packets, l.seconds);
	/* Not known is neither. */
	if (l.seconds <= 0) {
		s->rate_since_usec = 0;
		return low;
	}
	low = low ? *ret_rate >= LOW_RATE_MIN / 2 && *ret_rate <= LOW_RATE_MAX * 2
		  : *ret_rate >= LOW_RATE_MIN && *ret_rate <= LOW_RATE_MAX;
	if (low == s->rate_is_low) {
		s->rate_since_usec = 0;
		return low;
	}
	if (!s->rate_since_usec)
		s->rate_since_usec = in->now_usec;
	if (in->now_usec - s->rate_since_usec >= LOW_RATE_USEC) {
		s->rate_is_low = low;
		s->rate_since_usec = 0;
	}
	return s->rate_is_low;
}

void find_low_rate(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	enum objective objective = in->profile->objective;
	double rate;
	bool low = rate_is_low(s, in, &rate);
	struct symptom_report *r;
	size_t n = 0;

	if (low && (objective == OBJECTIVE_WAIT || objective == OBJECTIVE_WAKEUP))
		n = low_rate_levers(in, out->low_rate, ELEMENTSOF(out->low_rate), NULL);
	if (n == 0) {
		s->low_since_usec = 0;
		return;
	}
	if (!s->low_since_usec)
		s->low_since_usec = in->now_usec;
	r = report_new(out, SYMPTOM_LOW_RATE);
	if (!r)
		return;
	r->since_usec = s->low_since_usec;
	evidence_add(r, "packets_per_second", rate, "/s");
	evidence_add(r, "settings_not_in_force", (double)n, "");
	append_text(
		r->text, sizeof(r->text),
		"%.0f packets/s come one by one: what they wait for is a CPU that wakes up and speeds up; of "
		"profile %.32s not in force:",
		rate, in->profile->name);
	for (size_t i = 0; i < n; i++)
		append_text(r->text, sizeof(r->text), "%s %s (%.16s)", i ? "," : "",
			    tunables[out->low_rate[i].tunable].id,
			    out->low_rate[i].from[0] ? out->low_rate[i].from : "not known");
}
