/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Busy polling of open sockets: which the units of the profile have is looked at with each slow look; new
 * ones get what the profile states, and those that are gone leave the ledger without a word, since that is
 * what sockets do.
 */
#include "engine/internal.h"

#include "engine/describe-parts.h"
#include "observe/sockets.h"

static bool wants_any(const struct engine *e)
{
	const struct profile *p = e->profile;

	return p->busy_poll_units && *p->busy_poll_units &&
	       (p->setting[TUNABLE_SOCKET_BUSY_POLL].kind == SETTING_VALUE ||
		p->setting[TUNABLE_EPOLL_BUSY_POLL].kind == SETTING_VALUE);
}

bool engine_wants_socket(const struct engine *e, enum tunable_id id, const char *identity)
{
	if (!wants_any(e) || e->profile->setting[id].kind != SETTING_VALUE)
		return false;
	for (unsigned i = 0; i < e->topology->n_socks; i++) {
		const struct sock *sock = &e->topology->sock[i];

		if (!streq(sock->identity, identity))
			continue;
		for (char **unit = e->profile->busy_poll_units; *unit; unit++)
			if (streq(*unit, sock->unit))
				return true;
	}
	return false;
}

/*
 * The process whose socket was changed has ended, or is not the first that has it any more, but another
 * one of the units has the same: the original goes over to that one. False: there is none.
 */
static bool rehome(struct engine *e, const struct ledger_entry *entry)
{
	enum tunable_id id = entry->tunable;
	struct change c = {.tunable = id, .class = entry->class};
	char now[VALUE_MAX], original[VALUE_MAX] = "", written[VALUE_MAX] = "";
	char identity[IDENTITY_MAX] = "";

	for (unsigned i = 0; i < e->topology->n_socks; i++) {
		const struct sock *sock = &e->topology->sock[i];

		if (!socket_same_file(sock->identity, entry->identity) ||
		    topology_find_target(e->topology, id, sock->identity, &c.target) < 0 ||
		    !engine_wants_socket(e, id, sock->identity) ||
		    observe_value(e->io, id, &c.target, now, sizeof(now)) < 0 ||
		    !ledger_is_ours(entry, now))
			continue;
		append_text(c.id, sizeof(c.id), "%s", entry->decision);
		append_text(identity, sizeof(identity), "%s", entry->identity);
		append_text(original, sizeof(original), "%s", entry->original);
		append_text(written, sizeof(written), "%s", entry->written);
		/* In this order: two entries for one socket do no harm, none would. */
		if (ledger_enter(e->ledger, &c, original, written) < 0)
			return false;
		ledger_settle(e->ledger, id, sock->identity);
		(void)ledger_drop(e->ledger, id, identity);
		return true;
	}
	return false;
}

/* Closed, or not the unit's any more. */
static void give_back_gone(struct engine *e)
{
	for (size_t i = ledger_size(e->ledger); i > 0; i--) {
		const struct ledger_entry *entry = ledger_at(e->ledger, i - 1);
		enum tunable_id id = entry->tunable;
		struct target target = {.scope = SCOPE_SOCKET, .number = entry->number};
		struct result r;

		if (tunables[id].scope != SCOPE_SOCKET || engine_pinned(e, id, entry->identity) ||
		    engine_wants_socket(e, id, entry->identity) || rehome(e, entry))
			continue;
		append_text(target.identity, sizeof(target.identity), "%s", entry->identity);
		(void)act_release(e->actuator, e->topology, id, &target, &r);
	}
}

static void state(struct engine *e, enum tunable_id id)
{
	const struct profile_setting *s = &e->profile->setting[id];
	_cleanup_free_ struct target *targets = NULL;
	int n;

	/* That was said when it was found out. */
	if (act_family_blocked(e->actuator, id))
		return;
	n = topology_targets(e->topology, id, &targets);

	for (int i = 0; s->kind == SETTING_VALUE && i < n; i++) {
		struct change c = {.tunable = id, .target = targets[i], .class = CLASS_POLICY};
		struct result r;

		/* What is in the ledger is the sweep's to look after. */
		if (ledger_find(e->ledger, id, targets[i].identity) ||
		    engine_pinned(e, id, targets[i].identity))
			continue;
		append_text(c.to, sizeof(c.to), "%s", s->value);
		append_text(c.why, sizeof(c.why), "profile %s says so (%s:%u)", e->profile->name,
			    s->origin.file ? s->origin.file : "built in", s->origin.line);
		change_name(&c);
		engine_change(e, &c, &r);
		if (r.outcome == OUTCOME_READ_ONLY)
			return;
	}
}

int engine_look_at_sockets(struct engine *e)
{
	bool wanted = wants_any(e);
	int r;

	/* No shell command would do it, so there is nothing to advise. */
	if (engine_mode(e) != MODE_APPLY || e->stalled)
		return 0;
	r = sockets_discover(e->io,
			     wanted ? (const char *const *)e->profile->busy_poll_units : NULL,
			     e->topology, &e->sockets);
	if (r < 0)
		return r;
	give_back_gone(e);
	if (wanted) {
		state(e, TUNABLE_SOCKET_BUSY_POLL);
		state(e, TUNABLE_EPOLL_BUSY_POLL);
	}
	return 0;
}

json_t *describe_sockets(const struct engine *e)
{
	unsigned sockets = 0, epolls = 0, held[2] = {0, 0};
	json_t *d, *units;

	if (!wants_any(e))
		return json_null();
	for (unsigned i = 0; i < e->topology->n_socks; i++) {
		const struct sock *sock = &e->topology->sock[i];
		enum tunable_id id =
			sock->epoll ? TUNABLE_EPOLL_BUSY_POLL : TUNABLE_SOCKET_BUSY_POLL;

		*(sock->epoll ? &epolls : &sockets) += 1;
		held[sock->epoll] += ledger_find(e->ledger, id, sock->identity) != NULL;
	}
	d = json_object();
	units = json_array();
	for (char **unit = e->profile->busy_poll_units; *unit; unit++)
		append(units, json_string(*unit));
	put(d, "units", units);
	put(d, "sockets", json_integer(sockets));
	put(d, "sockets_set", json_integer(held[0]));
	put(d, "epolls", json_integer(epolls));
	put(d, "epolls_set", json_integer(held[1]));
	put(d, "epoll_possible", json_boolean(!e->sockets.no_epoll));
	put(d, "left_out", json_integer(e->sockets.left_out));
	return d;
}
