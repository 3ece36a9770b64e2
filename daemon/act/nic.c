/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What belongs to a NIC or its NAPI instances: coalescing (ethtool), the settings of an instance
 * (netdev-genl) or, where the kernel does not tell instances apart, of the device (sysfs), and the
 * CPUs of NAPI threads.
 *
 * What a driver may answer, beside success, and what it means (net/ethtool/coalesce.c, netlink.c,
 * net/core/netdev-genl.c of 6.12 and 7.3):
 *
 *   EOPNOTSUPP  this driver does not have it: remembered, never asked for again
 *   EINVAL, ERANGE, EOVERFLOW
 *               this value is not to its taste: that value is remembered, others may be
 *   EBUSY, EAGAIN
 *               the device is in the middle of something: later
 *   ENETDOWN    only while it is up
 *   ENODEV, ENOENT, ENXIO
 *               the NIC went away meanwhile, or the instance with its channel
 *
 * A driver may round what it takes to what its hardware counts in. What it made of the wish is then
 * what softnetd wrote, and the same wish asks for nothing the next time.
 */
#include "act/act-internal.h"

#include "observe/ethtool.h"
#include "observe/napis.h"
#include "observe/processes.h"

/* Between two looks at the topology an interface may have got another's name. */
static int nic_verify(struct actuator *a, const struct place *p)
{
	char path[64];
	uint64_t ifindex;

	if (p->target.scope != SCOPE_NIC)
		return 0;
	snprintf(path, sizeof(path), "sys/class/net/%s/ifindex", p->target.nic);
	return io_read_u64(a->io, path, &ifindex) >= 0 && ifindex == p->target.number ? 0 : -ENODEV;
}

static int nic_resolve(struct actuator *a, struct attempt *at)
{
	const struct place *p = &at->place;
	const struct memory *m = memory_find(a, p->id, p->target.identity);
	int r;

	r = tunable_canonical(p->tunable, at->change->to, false, at->wish, sizeof(at->wish));
	if (r < 0)
		return answer(at->result, OUTCOME_REFUSED, r, "%s: \"%.60s\" is no such value: %s",
			      p->name, at->change->to, strerror(-r));
	if (m && m->rounded_wish && streq(m->rounded_wish, at->wish))
		snprintf(at->wish, sizeof(at->wish), "%s", m->rounded_to);
	return 0;
}

static int nic_permit(struct actuator *a, struct attempt *at)
{
	const struct place *p = &at->place;
	struct memory *m = memory_find(a, p->id, p->target.identity);

	/* By hand it may be tried again: that is how one finds out. */
	if (!m || at->change->class == CLASS_MANUAL)
		return 0;
	at->result->known = true;
	if (m->unsupported)
		return answer(at->result, OUTCOME_UNSUPPORTED, -EOPNOTSUPP,
			      "%s: this driver does not have it", p->name);
	if (m->refused_value && streq(m->refused_value, at->wish))
		return answer(at->result, OUTCOME_REFUSED, -EINVAL,
			      "%s: this driver has refused %.24s before: not tried again", p->name,
			      at->wish);
	at->result->known = false;
	return 0;
}

static void remember(char **into, const char *value)
{
	free(*into);
	*into = strdup(value);
}

static bool nic_refused(struct actuator *a, struct attempt *at, int error)
{
	const struct place *p = &at->place;
	const char *colon = *a->reason ? ": " : "";
	struct memory *m;

	switch (error) {
	case -EOPNOTSUPP:
		m = memory_make(a, p->id, p->target.identity);
		if (m)
			m->unsupported = true;
		answer(at->result, OUTCOME_UNSUPPORTED, error,
		       "%s: this driver does not have it%s%s", p->name, colon, a->reason);
		return true;
	case -EINVAL:
	case -ERANGE:
	case -EOVERFLOW:
		m = memory_make(a, p->id, p->target.identity);
		if (m)
			remember(&m->refused_value, at->wish);
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: this driver does not take %.24s%s%s; it stays %.24s", p->name, at->wish,
		       colon, a->reason, at->now);
		return true;
	case -EBUSY:
	case -EAGAIN:
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: the device is busy with another change: try again later%s%s", p->name,
		       colon, a->reason);
		return true;
	case -ENETDOWN:
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: this driver takes it only while the interface is up", p->name);
		return true;
	default:
		return false;
	}
}

/* Not further away than a quarter: more is no rounding. */
static bool is_rounding(const struct attempt *at, const char *then)
{
	int64_t wish, got;

	return !at->place.tunable->words && parse_i64(at->wish, &wish) >= 0 &&
	       parse_i64(then, &got) >= 0 && wish > 0 && got > 0 &&
	       (got > wish ? got - wish : wish - got) <= wish / 4 + 1;
}

static bool coalesce_settles_for(struct actuator *a, struct attempt *at, const char *then,
				 bool restoring)
{
	const struct place *p = &at->place;
	struct memory *m;

	if (restoring || !is_rounding(at, then))
		return false;
	m = memory_make(a, p->id, p->target.identity);
	if (!m)
		return false;
	remember(&m->rounded_wish, at->wish);
	remember(&m->rounded_to, then);
	return m->rounded_wish && m->rounded_to;
}

static int coalesce_store(struct actuator *a, const struct place *p, const char *value)
{
	struct genl_request q;
	uint64_t v;
	int r;

	r = parse_u64(value, 10, &v);
	if (r < 0 || v > UINT32_MAX)
		return r < 0 ? r : -ERANGE;
	ethtool_coalesce_request(&q, p->id, p->target.number, (uint32_t)v);
	r = genl_ask(a->io->genl, &q, NULL, NULL);
	memcpy(a->reason, q.reason, sizeof(a->reason));
	return r;
}

static int napi_store(struct actuator *a, const struct place *p, const char *value)
{
	struct genl_request q;
	uint64_t v;
	int r;

	r = parse_u64(value, 10, &v);
	if (r < 0)
		return r;
	napi_set_request(&q, p->id, p->target.number, v);
	r = genl_ask(a->io->genl, &q, NULL, NULL);
	memcpy(a->reason, q.reason, sizeof(a->reason));
	return r == -ENOENT ? -ENODEV : r;
}

/* The id may be another NIC's by now. */
static int napi_verify(struct actuator *a, const struct place *p)
{
	uint64_t v;

	/* Other errors are the reader's to tell. */
	return napi_read_setting(a->io, p->id, p->target.number, p->nic->ifindex, &v) == -ENODEV
		       ? -ENODEV
		       : 0;
}

/* The pid may be another task's by now: only a kernel thread of that name is one. */
static int thread_verify(struct actuator *a, const struct place *p)
{
	char path[64], comm[64];

	snprintf(path, sizeof(path), "proc/%u/comm", p->target.number);
	if (io_read_line(a->io, path, comm, sizeof(comm)) < 0 || !startswith(comm, "napi/") ||
	    !process_is_kernel_thread(a->io, (pid_t)p->target.number))
		return -ENODEV;
	return 0;
}

static int thread_permit(struct actuator *a _unused_, struct attempt *at)
{
	const struct place *p = &at->place;
	struct cpuset wish, usable;
	int r;

	r = cpuset_parse_list(at->wish, &wish);
	if (r < 0)
		return answer(at->result, OUTCOME_REFUSED, r, "%s: \"%.60s\" is no list of CPUs",
			      p->name, at->wish);
	usable = cpuset_and(&wish, &at->topology->online);
	if (cpuset_empty(&usable))
		return answer(at->result, OUTCOME_REFUSED, -EINVAL,
			      "%s: none of the CPUs %.60s is online", p->name, at->wish);
	return 0;
}

static int thread_store(struct actuator *a, const struct place *p, const char *value)
{
	struct cpuset cpus;
	int r;

	r = cpuset_parse_list(value, &cpus);
	if (r < 0)
		return r;
	r = io_set_affinity(a->io, (pid_t)p->target.number, &cpus);
	return r == -ESRCH ? -ENODEV : r;
}

static bool thread_refused(struct actuator *a _unused_, struct attempt *at, int error)
{
	if (error != -EINVAL)
		return false;
	answer(at->result, OUTCOME_REFUSED, error,
	       "%s: the kernel finds no CPU in %.60s that this thread may use", at->place.name,
	       at->wish);
	return true;
}

const struct family coalesce_family = {
	.verify = nic_verify,
	.resolve = nic_resolve,
	.permit = nic_permit,
	.store = coalesce_store,
	.refused = nic_refused,
	.settles_for = coalesce_settles_for,
};

const struct family napi_family = {
	.verify = napi_verify,
	.resolve = nic_resolve,
	.permit = nic_permit,
	.store = napi_store,
	.refused = nic_refused,
};

/* The files of a whole device. */
const struct family nic_file_family = {
	.verify = nic_verify,
	.resolve = nic_resolve,
	.permit = nic_permit,
	.refused = nic_refused,
};

const struct family napi_thread_family = {
	.verify = thread_verify,
	.permit = thread_permit,
	.store = thread_store,
	.refused = thread_refused,
};

/* --- receive queues: files whose NIC may go at any time, and a queue with its channel --- */

static int queue_verify(struct actuator *a, const struct place *p)
{
	char path[64];
	uint64_t ifindex;

	snprintf(path, sizeof(path), "sys/class/net/%s/ifindex", p->nic->name);
	return io_read_u64(a->io, path, &ifindex) >= 0 && ifindex == p->nic->ifindex ? 0 : -ENODEV;
}

static int queue_permit(struct actuator *a, struct attempt *at)
{
	struct cpuset wish, usable;

	if (at->place.id != TUNABLE_RPS_CPUS)
		return nic_permit(a, at);
	if (streq(at->wish, "none") || cpuset_parse_list(at->wish, &wish) < 0)
		return 0;
	usable = cpuset_and(&wish, &at->topology->online);
	/* The kernel would take it, and make it none. */
	if (cpuset_empty(&usable))
		return answer(at->result, OUTCOME_REFUSED, -EINVAL,
			      "%s: none of the CPUs %.60s is online", at->place.name, at->wish);
	return 0;
}

static int queue_store(struct actuator *a, const struct place *p, const char *value)
{
	char text[VALUE_MAX];
	int r;

	r = tunable_file_text(p->tunable, value, text, sizeof(text));
	return r < 0 ? r : io_store(a->io, p->path, text);
}

/* A queue that comes with a channel has net.core.rps_default_mask (6.3; before that none). */
static bool queue_was_reset(struct actuator *a, const struct place *p, const char *now)
{
	char text[CPUSET_MASK_MAX + 1], list[VALUE_MAX];
	struct cpuset cpus;

	if (p->id != TUNABLE_RPS_CPUS)
		return streq(now, "0");
	if (io_read_line(a->io, "proc/sys/net/core/rps_default_mask", text, sizeof(text)) < 0 ||
	    cpuset_parse_mask(text, &cpus) < 0)
		cpus = (struct cpuset){};
	return (cpuset_empty(&cpus) || cpuset_format_list(&cpus, list, sizeof(list)) >= 0) &&
	       tunable_equal(p->tunable, now, cpuset_empty(&cpus) ? "none" : list);
}

/* The kernel leaves out CPUs that are offline: an original from before they went has them still. */
static bool queue_settles_for(struct actuator *a _unused_, struct attempt *at, const char *then,
			      bool restoring _unused_)
{
	struct cpuset wish, got;

	if (at->place.id != TUNABLE_RPS_CPUS || cpuset_parse_list(at->wish, &wish) < 0)
		return false;
	if (cpuset_parse_list(streq(then, "none") ? "" : then, &got) < 0)
		return false;
	wish = cpuset_and(&wish, &at->topology->online);
	return cpuset_equal(&wish, &got);
}

static bool queue_refused(struct actuator *a, struct attempt *at, int error)
{
	const struct place *p = &at->place;

	if (error != -EINVAL)
		return false;
	if (p->id == TUNABLE_RPS_CPUS)
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: the kernel takes none of the CPUs %.60s: all are isolated", p->name,
		       at->wish);
	else
		return nic_refused(a, at, error);
	return true;
}

const struct family queue_family = {
	.verify = queue_verify,
	.permit = queue_permit,
	.store = queue_store,
	.was_reset = queue_was_reset,
	.settles_for = queue_settles_for,
	.refused = queue_refused,
};

/* --- one direction's coalescing --- */

static bool is_adaptive(enum tunable_id id)
{
	return id == TUNABLE_COALESCE_ADAPTIVE_RX || id == TUNABLE_COALESCE_ADAPTIVE_TX;
}

static bool is_refusal(const struct result *r)
{
	return r->outcome == OUTCOME_REFUSED || r->outcome == OUTCOME_DIFFERENT ||
	       r->outcome == OUTCOME_READ_ONLY || r->outcome == OUTCOME_FOREIGN;
}

/* To what the road read on its way. */
static void roll_back(struct actuator *a, const struct topology *t, const struct change *c,
		      const char *cause, struct result *ret)
{
	char before[sizeof(ret->before)];
	_cleanup_free_ struct change *back = malloc(sizeof(*back));
	_cleanup_free_ struct result *result = malloc(sizeof(*result));
	char label[TARGET_LABEL_MAX];
	int r = -ENOMEM;

	strcpy(before, ret->before);
	target_label(&c->target, label);
	if (back && result) {
		*back = *c;
		back->class = CLASS_RESTORE;
		strcpy(back->to, before);
		r = act_apply(a, t, back, ON_FOREIGN_YIELD, result);
		strcpy(ret->value, result->value);
	}
	if (r < 0)
		answer(ret, OUTCOME_REFUSED, r, "%s of %s: cannot be put back to %.30s: %s",
		       tunables[c->tunable].id, label, before, strerror(-r));
	else
		answer(ret, OUTCOME_REFUSED, -ECANCELED, "%s of %s: put back to %.30s, since %s",
		       tunables[c->tunable].id, label, before, cause);
}

/* Why the couple cannot be as wished, as far as that is known without a write; "" else. */
static void foresee(struct actuator *a, const struct change *changes, size_t n,
		    enum on_foreign on_foreign, char *cause, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		const struct change *c = &changes[i];
		const struct memory *m = memory_find(a, c->tunable, c->target.identity);

		if (m && m->refused_value &&
		    tunable_equal(&tunables[c->tunable], m->refused_value, c->to))
			snprintf(cause, size, "%s was refused before", tunables[c->tunable].id);
		if (m && m->yielded && (on_foreign == ON_FOREIGN_YIELD || m->gave_up))
			snprintf(cause, size, "%s is somebody else's", tunables[c->tunable].id);
	}
}

/* Whether the driver has any of the fixed values among CHANGES. */
static bool has_fixed(struct actuator *a, const struct topology *t, const struct change *changes,
		      size_t n)
{
	char now[VALUE_MAX];
	struct place p;

	for (size_t i = 0; i < n; i++) {
		const struct change *c = &changes[i];
		const struct memory *m = memory_find(a, c->tunable, c->target.identity);

		if (!is_adaptive(c->tunable) && !(m && m->unsupported) &&
		    place_find(a, t, c->tunable, &c->target, &p) >= 0 &&
		    place_read(a, &p, now) >= 0)
			return true;
	}
	return false;
}

/* From the member FROM on nothing was tried. */
static void leave_rest(const struct change *changes, size_t from, size_t n, const char *cause,
		       bool known, struct result *ret)
{
	for (size_t i = from; i < n; i++) {
		ret[i] = (struct result){.known = known};
		answer(&ret[i], OUTCOME_REFUSED, -ECANCELED, "%s: not tried, since %s",
		       tunables[changes[i].tunable].id, cause);
	}
}

int apply_coalescing(struct actuator *a, const struct topology *t, const struct change *changes,
		     size_t n, enum on_foreign on_foreign, struct result *ret)
{
	bool fixed = has_fixed(a, t, changes, n), taken = false;
	char cause[64] = "";
	size_t tried = 0;
	int worst = 0;

	foresee(a, changes, n, on_foreign, cause, sizeof(cause));
	if (*cause) {
		leave_rest(changes, 0, n, cause, false, ret);
		return -ECANCELED;
	}
	for (; tried < n && !*cause; tried++) {
		const struct change *c = &changes[tried];
		int r;

		if (c->implied && !fixed) {
			ret[tried] = (struct result){};
			answer(&ret[tried], OUTCOME_UNSUPPORTED, -EOPNOTSUPP,
			       "%s: left, since this driver takes no fixed value",
			       tunables[c->tunable].id);
			continue;
		}
		r = act_apply(a, t, c, on_foreign, &ret[tried]);
		taken |= !is_adaptive(c->tunable) && r >= 0;
		if (r < 0)
			worst = r;
		if (is_refusal(&ret[tried]))
			snprintf(cause, sizeof(cause), "%s was refused", tunables[c->tunable].id);
	}
	/* It showed values, and then took none. */
	if (!*cause && fixed && !taken && changes[0].implied)
		snprintf(cause, sizeof(cause), "this driver takes no fixed value");
	if (!*cause)
		return worst;
	leave_rest(changes, tried, n, cause, ret[tried - 1].known, ret);
	for (size_t i = tried; i > 0; i--)
		if (ret[i - 1].outcome == OUTCOME_DONE)
			roll_back(a, t, &changes[i - 1], cause, &ret[i - 1]);
	return worst < 0 ? worst : -EOPNOTSUPP;
}
