/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/restore.h"

#include "act/act-internal.h"
#include "base/log.h"

const char *restore_verdict_to_string(enum restore_verdict v)
{
	static const char *const names[] = {
		[RESTORE_WRITTEN] = "written", [RESTORE_WAS_SO] = "was-so",
		[RESTORE_FOREIGN] = "foreign", [RESTORE_GONE] = "gone",
		[RESTORE_FAILED] = "failed",
	};

	return names[v];
}

void restore_report_done(struct restore_report *r)
{
	free(TAKE_PTR(r->item));
	r->n = r->failed = 0;
}

static void conclude(struct restore_item *item, enum restore_verdict verdict, int error)
{
	item->verdict = verdict;
	item->error = error;
}

/* Done with: the entry goes, and an entry that cannot go does no harm at the next restore. */
static void drop(struct actuator *a, const struct place *p, struct restore_item *item)
{
	int r;

	if (a->dry)
		return;
	r = ledger_drop(a->ledger, p->id, p->target.identity);
	if (r < 0) {
		log_warning_errno(r, "%s is done with, but the ledger cannot be updated", p->name);
		item->error = r;
	}
}

/* The kernel's own list of what a setting may be of; NULL for the host, which is always there. */
static const char *list_of(enum scope scope)
{
	switch (scope) {
	case SCOPE_HOST:
		return NULL;
	case SCOPE_IRQ:
		return "proc/irq";
	case SCOPE_THREAD:
	case SCOPE_SOCKET:
		return "proc";
	case SCOPE_CPU:
		return "sys/devices/system/cpu";
	case SCOPE_POLICY:
		return "sys/devices/system/cpu/cpufreq";
	case SCOPE_NIC:
	case SCOPE_NAPI:
	case SCOPE_QUEUE:
		return "sys/class/net";
	}
	return NULL;
}

/* A topology without the target is believed only where the kernel's own list can be read: with a
 * broken sysfs everything would be gone. */
static bool can_tell(struct actuator *a, const struct place *p)
{
	_cleanup_(strv_freep) char **names = NULL;
	const char *list = list_of(p->tunable->scope);
	int r;

	if (!list)
		return true;
	r = a->io->ops->list(a->io, list, &names);
	return r >= 0 || r == -ENOENT;
}

static void not_found(struct actuator *a, const struct place *p, int error,
		      struct restore_item *item)
{
	if (error == -ENODEV && can_tell(a, p)) {
		conclude(item, RESTORE_GONE, 0);
		say(item->text, sizeof(item->text),
		    "%s: not there any more, so there is nothing to give %.40s back to", p->name,
		    item->original);
		drop(a, p, item);
		return;
	}
	conclude(item, RESTORE_FAILED, error);
	say(item->text, sizeof(item->text), "%s: %.40s cannot be given back now: %s", p->name,
	    item->original,
	    error != -ENXIO              ? strerror(-error)
	    : tunable_of_nic(p->tunable) ? "its interface is down"
					 : "all its CPUs are offline");
}

static void write_original(struct actuator *a, struct attempt *at, struct restore_item *item)
{
	const struct place *p = &at->place;
	int r;

	if (a->dry) {
		conclude(item, RESTORE_WRITTEN, 0);
		say(item->text, sizeof(item->text), "%s: %.40s would become %.40s again", p->name,
		    item->now, item->original);
		return;
	}
	r = write_attempt(a, at);
	if (r >= 0 && at->result->outcome != OUTCOME_UNCHANGED) {
		conclude(item, RESTORE_WRITTEN, 0);
		say(item->text, sizeof(item->text), "%s: %.60s is %.60s again", p->name, item->now,
		    item->original);
		drop(a, p, item);
		return;
	}
	/* The governor that locks it is not ours (any more): its owner decides about EPP, too. */
	if (epp_is_locked(a, p) && !ledger_find(a->ledger, TUNABLE_GOVERNOR, p->target.identity)) {
		conclude(item, RESTORE_FOREIGN, 0);
		say(item->text, sizeof(item->text),
		    "%s: %.30s cannot be given back under the governor performance, which somebody "
		    "else chose",
		    p->name, item->original);
		drop(a, p, item);
		return;
	}
	conclude(item, RESTORE_FAILED, r < 0 ? r : -EBUSY);
	say(item->text, sizeof(item->text), "%s", at->result->text);
}

static void leave_foreign(struct actuator *a, const struct topology *t, const struct place *p,
			  const char *written, struct restore_item *item)
{
	char who[200];

	conclude(item, RESTORE_FOREIGN, 0);
	culprits(t, p->tunable, who, sizeof(who));
	if (p->family->was_reset && p->family->was_reset(a, p, item->now))
		say(item->text, sizeof(item->text),
		    "%s: softnetd wrote %.40s, the kernel has reset it to its default %.40s: left",
		    p->name, written, item->now);
	else if (epp_is_locked(a, p))
		say(item->text, sizeof(item->text),
		    "%s: the governor performance, which softnetd did not choose, holds it at %.30s",
		    p->name, item->now);
	else
		say(item->text, sizeof(item->text),
		    "%s: softnetd wrote %.24s, somebody else made it %.24s (%s): left", p->name,
		    written, item->now, who);
	drop(a, p, item);
}

void give_back(struct actuator *a, const struct topology *t, const struct ledger_entry *e,
	       struct restore_item *ret)
{
	struct target target = {.scope = tunables[e->tunable].scope, .number = e->number};
	struct change change = {.tunable = e->tunable, .class = CLASS_RESTORE};
	struct result result = {0};
	struct attempt at = {.topology = t, .change = &change, .result = &result};
	const struct tunable *tunable = &tunables[e->tunable];
	int r;

	*ret = (struct restore_item){.tunable = e->tunable};
	snprintf(ret->setting, sizeof(ret->setting), "%s", tunable->id);
	snprintf(ret->identity, sizeof(ret->identity), "%s", e->identity);
	snprintf(ret->original, sizeof(ret->original), "%s", e->original);
	snprintf(target.identity, sizeof(target.identity), "%s", e->identity);
	snprintf(change.id, sizeof(change.id), "%s", e->decision);
	if (e->other_boot) {
		conclude(ret, RESTORE_GONE, 0);
		say(ret->text, sizeof(ret->text),
		    "%s: changed before the last boot; this one started from its own defaults",
		    tunable->id);
		if (!a->dry)
			ret->error = ledger_drop(a->ledger, e->tunable, ret->identity);
		return;
	}
	r = place_find(a, t, e->tunable, &target, &at.place);
	if (r >= 0)
		r = place_read(a, &at.place, at.now);
	if (r < 0) {
		not_found(a, &at.place, r == -ENOENT || r == -ESRCH ? -ENODEV : r, ret);
		return;
	}
	change.target = at.place.target;
	strcpy(ret->now, at.now);
	strcpy(at.wish, ret->original);
	if (tunable_equal(tunable, at.now, e->original)) {
		conclude(ret, RESTORE_WAS_SO, 0);
		say(ret->text, sizeof(ret->text), "%s: is %.60s already", at.place.name, at.now);
		drop(a, &at.place, ret);
	} else if (ledger_is_ours(e, at.now)) {
		write_original(a, &at, ret);
	} else {
		leave_foreign(a, t, &at.place, e->written, ret);
	}
}

/* What was entered under a key when the restore began. */
struct key {
	enum tunable_id id;
	char *identity;
};

static void keys_free(struct key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(keys[i].identity);
	free(keys);
}

static bool is_epp(enum tunable_id id)
{
	return id == TUNABLE_ENERGY_PREFERENCE;
}

/* Whether this entry waits for its pair's other half: see act/cpufreq.c. */
static bool waits(const struct ledger *l, const struct ledger_entry *e)
{
	const struct ledger_entry *governor;

	if (!is_epp(e->tunable) && e->tunable != TUNABLE_GOVERNOR)
		return false;
	governor = ledger_find(l, TUNABLE_GOVERNOR, e->identity);
	if (!governor || !ledger_find(l, TUNABLE_ENERGY_PREFERENCE, e->identity))
		return false;
	return is_epp(e->tunable) != epp_goes_first(governor);
}

/* The order of restore: last changed first, those that wait for another at the end. How many there are
 * comes back in RET_N. */
static int plan(const struct ledger *l, struct key **ret, size_t *ret_n)
{
	size_t n = ledger_size(l), k = 0;
	struct key *keys = calloc(n + 1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (int late = 0; late <= 1; late++)
		for (size_t i = n; i-- > 0;) {
			const struct ledger_entry *e = ledger_at(l, i);

			if (waits(l, e) != late)
				continue;
			keys[k] = (struct key){.id = e->tunable};
			keys[k].identity = strdup(e->identity);
			if (!keys[k++].identity) {
				keys_free(keys, k);
				return -ENOMEM;
			}
		}
	*ret = keys;
	*ret_n = k;
	return 0;
}

static const struct ledger_entry *find_key(const struct ledger *l, const struct key *key)
{
	for (size_t i = 0; i < ledger_size(l); i++) {
		const struct ledger_entry *e = ledger_at(l, i);

		if (e->tunable == key->id && streq(e->identity, key->identity))
			return e;
	}
	return NULL;
}

static void restore_key(struct actuator *a, const struct ledger *l, const struct topology *t,
			const struct key *key, struct restore_item *ret)
{
	const struct ledger_entry *e = find_key(l, key);

	if (e) {
		give_back(a, t, e, ret);
		return;
	}
	*ret = (struct restore_item){.tunable = key->id, .verdict = RESTORE_WRITTEN};
	snprintf(ret->setting, sizeof(ret->setting), "%s", tunables[key->id].id);
	snprintf(ret->identity, sizeof(ret->identity), "%s", key->identity);
	say(ret->text, sizeof(ret->text), "%s of %s: went back together with its governor",
	    ret->setting, key->identity);
}

static void report_unknown(const char *id, const char *identity, struct restore_item *ret)
{
	*ret = (struct restore_item){.tunable = _TUNABLE_MAX, .verdict = RESTORE_FAILED};
	ret->error = -EOPNOTSUPP;
	snprintf(ret->setting, sizeof(ret->setting), "%s", id);
	snprintf(ret->identity, sizeof(ret->identity), "%s", identity);
	say(ret->text, sizeof(ret->text),
	    "%.60s of %.100s: written by a newer softnetd, which alone can give it back", id,
	    identity);
}

static void count(struct restore_report *report, const struct restore_item *item, int *first)
{
	if (item->verdict == RESTORE_FAILED)
		report->failed++;
	if (item->error < 0 && *first >= 0)
		*first = item->error;
}

int restore_all(struct actuator *a, struct ledger *l, const struct topology *t,
		struct restore_report *ret)
{
	const char *id, *identity;
	struct restore_item *item;
	struct key *keys = NULL;
	size_t n = 0, n_unknown = 0;
	int first = 0, r;

	*ret = (struct restore_report){0};
	r = plan(l, &keys, &n);
	if (r < 0)
		return log_oom();
	while (ledger_unknown(l, n_unknown, &id, &identity))
		n_unknown++;
	ret->item = calloc(n + n_unknown + 1, sizeof(*ret->item));
	if (!ret->item) {
		keys_free(keys, n);
		return log_oom();
	}
	for (size_t i = 0; i < n; i++) {
		item = &ret->item[ret->n++];
		restore_key(a, l, t, &keys[i], item);
		count(ret, item, &first);
	}
	for (size_t i = 0; ledger_unknown(l, i, &id, &identity); i++) {
		item = &ret->item[ret->n++];
		report_unknown(id, identity, item);
		count(ret, item, &first);
	}
	keys_free(keys, n);
	return first;
}
