/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Governor and energy performance preference (EPP): one setting per policy, in two files.
 *
 * intel_pstate and amd-pstate, both in active mode, couple them (kernel-facts 6.2):
 *   entering `performance`  the driver forces EPP to 0. intel_pstate remembers the EPP of before
 *                           (epp_powersave), amd-pstate of some releases does not
 *   under `performance`     any EPP but 0 is EBUSY (on some machines even 0: auto-cpufreq#927)
 *   leaving `performance`   intel_pstate brings the remembered EPP back; amd-pstate may stay at 0
 *                           (slimbookbattery#112)
 * Elsewhere (acpi-cpufreq, intel_cpufreq and amd-pstate in passive mode) the two are independent.
 *
 * Therefore
 *   - setting: governor first, then EPP. It lifts the lock when `performance` is left; when it is
 *     entered EPP is 0 already, and equal is not written.
 *   - entering `performance` changes EPP: its original is in the ledger before the governor is
 *     written, and what the driver did not bring back goes back when `performance` is left.
 *   - giving back: governor first, then EPP, when the original governor is another one; EPP first,
 *     then governor, when the original is `performance`: once that is there EPP cannot be written,
 *     and intel_pstate remembers the right EPP for the day the admin leaves it.
 */
#include "act/act-internal.h"

#include <stdio.h>

#include "base/log.h"

#define PERFORMANCE "performance"
/* Such an EPP's decision in the ledger: it changed only because its governor did. */
#define EPP_WITH_GOVERNOR "with-governor"

static int cpufreq_verify(struct actuator *a _unused_, const struct place *p)
{
	/* Reading the files of a policy without an online CPU gives EBUSY (sbc-bench#139). */
	return p->policy->active ? 0 : -ENXIO;
}

/* What the host offers: in the policy's directory, or as the topology saw it last. "" when there is
 * no such list (amd-pstate and older kernels miss some). */
static void read_offer(struct actuator *a, const struct place *p, char *buf, size_t size)
{
	bool governor = p->id == TUNABLE_GOVERNOR;
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpufreq/policy%u/%s", p->target.number,
		 governor ? "scaling_available_governors"
			  : "energy_performance_available_preferences");
	if (io_read_line(a->io, path, buf, size) < 0)
		snprintf(buf, size, "%s", governor ? p->policy->governors : p->policy->epps);
}

static bool offers(const char *offer, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = strstr(offer, word); at; at = strstr(at + 1, word))
		if ((at == offer || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

/* "schedutil|powersave": the first that the host offers. Numbers are on no list, and tried. */
static int cpufreq_resolve(struct actuator *a, struct attempt *at)
{
	const struct place *p = &at->place;
	char offer[256], list[VALUE_MAX], *rest = list, *word;
	int r;

	read_offer(a, p, offer, sizeof(offer));
	if (format_into(list, sizeof(list), "%s", at->change->to) < 0)
		return answer(at->result, OUTCOME_REFUSED, -ENOSPC, "%s: value too long", p->name);
	while ((word = strsep(&rest, "|"))) {
		r = tunable_canonical(p->tunable, word, false, at->wish, sizeof(at->wish));
		if (r < 0)
			return answer(at->result, OUTCOME_REFUSED, r,
				      "%s: \"%.60s\" is no such value", p->name, word);
		if (p->id == TUNABLE_ENERGY_PREFERENCE && streq(at->wish, "default"))
			return answer(at->result, OUTCOME_REFUSED, -EINVAL,
				      "%s: \"default\" names no value that could be checked",
				      p->name);
		if (!*offer || offers(offer, at->wish) || (*at->wish >= '0' && *at->wish <= '9'))
			return 0;
	}
	return answer(at->result, OUTCOME_REFUSED, -EINVAL,
		      "%s: this host does not offer %.60s, only: %.100s", p->name, at->change->to,
		      offer);
}

static struct place other_of_pair(const struct place *p, enum tunable_id id)
{
	struct place other = *p;

	other.id = id;
	other.tunable = &tunables[id];
	(void)tunable_path(other.tunable, other.target.number, other.path, sizeof(other.path));
	say(other.name, sizeof(other.name), "%s of policy%u", other.tunable->id,
	    other.target.number);
	return other;
}

bool epp_is_locked(struct actuator *a, const struct place *p)
{
	struct place governor;
	char now[VALUE_MAX];

	if (p->id != TUNABLE_ENERGY_PREFERENCE)
		return false;
	governor = other_of_pair(p, TUNABLE_GOVERNOR);
	return place_read(a, &governor, now) >= 0 && streq(now, PERFORMANCE);
}

bool epp_goes_first(const struct ledger_entry *governor)
{
	return streq(governor->original, PERFORMANCE);
}

bool epp_waits_for_governor(const struct actuator *a, const struct ledger_entry *e)
{
	return e->tunable == TUNABLE_ENERGY_PREFERENCE && streq(e->decision, EPP_WITH_GOVERNOR) &&
	       ledger_find(a->ledger, TUNABLE_GOVERNOR, e->identity);
}

static bool cpufreq_refused(struct actuator *a, struct attempt *at, int error)
{
	const struct place *p = &at->place;

	/* intel_pstate and amd-pstate, when active, take two governors whatever the kernel has; an EPP
	 * as a number is not to every driver's taste. */
	if (error == -EINVAL) {
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: the driver %.31s does not take %.30s in its present mode", p->name,
		       *p->policy->driver ? p->policy->driver : "of this host", at->wish);
		return true;
	}
	if (error != -EBUSY || !epp_is_locked(a, p))
		return false;
	if (tunable_equal(p->tunable, at->wish, PERFORMANCE))
		answer(at->result, OUTCOME_UNCHANGED, 0,
		       "%s: reads %.30s, locked by the governor performance, which asks for the "
		       "same",
		       p->name, at->now);
	else
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: the governor performance locks it: %.30s needs another governor",
		       p->name, at->wish);
	return true;
}

/* EPP's entry for what its governor is going to do to it. */
static int enter_epp(struct actuator *a, const struct place *epp, const char *present,
		     const char *written)
{
	struct change c = {.tunable = epp->id, .target = epp->target, .class = CLASS_POLICY};

	strcpy(c.id, EPP_WITH_GOVERNOR);
	return ledger_enter(a->ledger, &c, present, written);
}

static bool crosses_performance(const struct attempt *at)
{
	return at->place.id == TUNABLE_GOVERNOR &&
	       streq(at->now, PERFORMANCE) != streq(at->wish, PERFORMANCE);
}

static int cpufreq_before(struct actuator *a, struct attempt *at, bool restoring)
{
	const struct place *p = &at->place;
	const struct ledger_entry *e;
	struct place epp;
	char now[VALUE_MAX];
	bool entering;
	int r;

	if (!crosses_performance(at))
		return 0;
	entering = !restoring && streq(at->wish, PERFORMANCE);
	epp = other_of_pair(p, TUNABLE_ENERGY_PREFERENCE);
	r = place_read(a, &epp, now);
	/* EINVAL: amd-pstate has no name for what the firmware set, and could not write it back. */
	if (r >= 0 && strlen(now) >= sizeof(at->epp_before))
		r = -EINVAL;
	if (r < 0 && (!entering || r == -ENOENT || r == -EINVAL))
		return 0;
	if (r < 0)
		return answer(at->result, OUTCOME_REFUSED, r,
			      "%s: it would change the EPP, which cannot be read now: %s", p->name,
			      strerror(-r));
	strcpy(at->epp_before, now);
	if (!entering || tunable_equal(epp.tunable, now, PERFORMANCE))
		return 0;
	e = ledger_find(a->ledger, epp.id, epp.target.identity);
	/* Somebody else's by now: that is what has to come back. */
	if (e && !ledger_is_ours(e, now))
		(void)ledger_drop(a->ledger, epp.id, epp.target.identity);
	r = enter_epp(a, &epp, now, PERFORMANCE);
	if (r < 0)
		return refuse_ledger(a, at, r);
	return 0;
}

/* What the governor did to the EPP is our doing, too. */
static void cpufreq_after(struct actuator *a, struct attempt *at)
{
	const struct ledger_entry *e;
	struct restore_item item;
	struct place epp;
	char now[VALUE_MAX];
	bool ours;
	int r = 0;

	if (!*at->epp_before)
		return;
	epp = other_of_pair(&at->place, TUNABLE_ENERGY_PREFERENCE);
	e = ledger_find(a->ledger, epp.id, epp.target.identity);
	/* Not readable: the entry made before tells both values it may have. */
	if (!e || place_read(a, &epp, now) < 0)
		return;
	ours = streq(e->decision, EPP_WITH_GOVERNOR);
	if (tunable_equal(epp.tunable, now, e->original)) {
		r = ledger_drop(a->ledger, epp.id, epp.target.identity);
	} else if (tunable_equal(epp.tunable, now, e->written)) {
		ledger_settle(a->ledger, epp.id, epp.target.identity);
	} else if (e->previous && tunable_equal(epp.tunable, now, e->previous)) {
		r = ledger_undo(a->ledger, epp.id, epp.target.identity);
	} else if (!tunable_equal(epp.tunable, now, at->epp_before)) {
		r = enter_epp(a, &epp, now, now);
		ledger_settle(a->ledger, epp.id, epp.target.identity);
	}
	if (r < 0)
		log_warning_errno(r, "Cannot bring the ledger up to date with %s", epp.name);
	if (!ours || streq(at->wish, PERFORMANCE))
		return;
	e = ledger_find(a->ledger, epp.id, epp.target.identity);
	if (!e)
		return;
	give_back(a, at->topology, e, &item);
	if (item.verdict == RESTORE_FAILED)
		log_warning("%s", item.text);
}

static bool cpufreq_was_reset(struct actuator *a, const struct place *p, const char *now _unused_)
{
	return cpuset_intersects(&p->policy->cpus, &a->returned);
}

const struct family cpufreq_family = {
	.verify = cpufreq_verify,
	.was_reset = cpufreq_was_reset,
	.resolve = cpufreq_resolve,
	.before = cpufreq_before,
	.after = cpufreq_after,
	.refused = cpufreq_refused,
};

/* "GOVERNOR+EPP" of a pair of changes. */
static char *pair_name(const struct change *governor, const struct change *epp)
{
	char *name;

	return asprintf(&name, "%s+%s", governor->to, epp->to) < 0 ? NULL : name;
}

static bool pair_was_refused(const struct actuator *a, const struct change *governor,
			     const struct change *epp)
{
	const struct memory *m = memory_find(a, TUNABLE_GOVERNOR, governor->target.identity);
	_cleanup_free_ char *name = pair_name(governor, epp);

	return m && m->refused_pair && name && streq(m->refused_pair, name);
}

static void remember_pair(struct actuator *a, const struct change *governor,
			  const struct change *epp)
{
	struct memory *m = memory_make(a, TUNABLE_GOVERNOR, governor->target.identity);

	if (!m)
		return;
	free(m->refused_pair);
	m->refused_pair = pair_name(governor, epp);
}

static bool is_refusal(const struct result *r)
{
	return r->outcome == OUTCOME_REFUSED || r->outcome == OUTCOME_DIFFERENT ||
	       r->outcome == OUTCOME_READ_ONLY;
}

/* The pair's second was refused: the first, and what the driver did to the second with it, go back
 * to BEFORE. */
static void put_pair_back(struct actuator *a, const struct topology *t, const struct change *first,
			  const char *before, struct result *ret)
{
	_cleanup_free_ struct change *back = malloc(sizeof(*back));
	_cleanup_free_ struct result *result = malloc(sizeof(*result));
	int r = -ENOMEM;

	if (back && result) {
		*back = *first;
		back->class = CLASS_RESTORE;
		strcpy(back->to, before);
		r = act_apply(a, t, back, ON_FOREIGN_YIELD, result);
		strcpy(ret->value, result->value);
	}
	if (r < 0)
		answer(ret, OUTCOME_REFUSED, r,
		       "%s of policy%u: its pair was refused, but it cannot be put back to %.30s: %s",
		       tunables[first->tunable].id, first->target.number, before, strerror(-r));
	else
		answer(ret, OUTCOME_REFUSED, -EBUSY,
		       "%s of policy%u: put back to %.30s, since its pair was refused",
		       tunables[first->tunable].id, first->target.number, before);
}

int act_apply_coupled(struct actuator *a, const struct topology *t, const struct change *changes,
		      size_t n, enum on_foreign on_foreign, struct result *ret)
{
	const struct change *first, *second;
	struct result *first_ret, *second_ret;
	char before[VALUE_MAX];
	struct place p;
	size_t lead;
	int r, r2;

	if (n == 1)
		return act_apply(a, t, changes, on_foreign, ret);
	if (tunables[changes[0].tunable].scope == SCOPE_NIC && n <= COUPLE_MAX)
		return apply_coalescing(a, t, changes, n, on_foreign, ret);
	if (n != 2 || changes[0].tunable == changes[1].tunable ||
	    tunables[changes[0].tunable].coupled != changes[1].tunable ||
	    !streq(changes[0].target.identity, changes[1].target.identity)) {
		for (size_t i = 0; i < n; i++) {
			ret[i] = (struct result){0};
			answer(&ret[i], OUTCOME_REFUSED, -EINVAL, "not a coupled pair of changes");
		}
		return -EINVAL;
	}
	lead = changes[0].tunable < changes[1].tunable ? 0 : 1;
	first = &changes[lead];
	second = &changes[1 - lead];
	first_ret = &ret[lead];
	second_ret = &ret[1 - lead];

	if (pair_was_refused(a, first, second)) {
		for (size_t i = 0; i < n; i++) {
			ret[i] = (struct result){.known = true};
			answer(&ret[i], OUTCOME_REFUSED, -EBUSY,
			       "%s of policy%u: this driver does not take %.30s with %.30s",
			       tunables[changes[i].tunable].id, first->target.number, first->to,
			       second->to);
		}
		return -EBUSY;
	}
	*before = '\0';
	if (place_find(a, t, first->tunable, &first->target, &p) >= 0)
		(void)place_read(a, &p, before);
	r = act_apply(a, t, first, on_foreign, first_ret);
	if (r < 0 && first_ret->outcome != OUTCOME_UNSUPPORTED) {
		*second_ret = (struct result){0};
		answer(second_ret, first_ret->outcome, r,
		       "%s: not changed without its pair: %.180s", tunables[second->tunable].id,
		       first_ret->text);
		second_ret->known = first_ret->known;
		return r;
	}
	r2 = act_apply(a, t, second, on_foreign, second_ret);
	if (r2 >= 0 || !is_refusal(second_ret))
		return r < 0 ? r : r2;
	p = other_of_pair(&p, second->tunable);
	if (second_ret->error == -EBUSY && epp_is_locked(a, &p))
		remember_pair(a, first, second);
	if (first_ret->outcome == OUTCOME_DONE)
		put_pair_back(a, t, first, before, first_ret);
	return r2;
}
