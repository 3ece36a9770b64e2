/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The road that every change takes, and what is remembered on it. */
#include "act/act-internal.h"

#include <ctype.h>
#include <stdarg.h>

#include "base/log.h"
#include "observe/observe.h"
#include "observe/sockets.h"

int actuator_new(struct io *io, struct ledger *ledger, unsigned flags, struct actuator **ret)
{
	struct actuator *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->io = io;
	a->latency_fd = -1;
	a->ledger = ledger;
	a->dry = flags & ACT_DRY_RUN;
	*ret = a;
	return 0;
}

static void memory_done(struct memory *m)
{
	free(m->identity);
	free(m->refused_pair);
	free(m->refused_value);
	free(m->rounded_wish);
	free(m->rounded_to);
}

void actuator_free(struct actuator *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_memory; i++)
		memory_done(&a->memory[i]);
	free(a->memory);
	free(a->full_until);
	closep(&a->latency_fd);
	free(a);
}

struct memory *memory_find(const struct actuator *a, enum tunable_id id, const char *identity)
{
	for (size_t i = 0; i < a->n_memory; i++)
		if (a->memory[i].tunable == id && streq(a->memory[i].identity, identity))
			return &a->memory[i];
	return NULL;
}

struct memory *memory_make(struct actuator *a, enum tunable_id id, const char *identity)
{
	struct memory *m = memory_find(a, id, identity), *more;

	if (m)
		return m;
	more = realloc(a->memory, (a->n_memory + 1) * sizeof(*more));
	if (!more)
		return NULL;
	a->memory = more;
	m = &more[a->n_memory];
	*m = (struct memory){.tunable = id, .identity = strdup(identity)};
	if (!m->identity)
		return NULL;
	a->n_memory++;
	return m;
}

void act_forget(struct actuator *a)
{
	size_t kept = 0;

	memset(a->limit, 0, sizeof(a->limit));
	memset(a->blocked, 0, sizeof(a->blocked));
	memset(a->writable, 0, sizeof(a->writable));
	free(TAKE_PTR(a->full_until));
	for (size_t i = 0; i < a->n_memory; i++) {
		struct memory *m = &a->memory[i];

		m->managed = m->unsupported = false;
		free(TAKE_PTR(m->refused_value));
		free(TAKE_PTR(m->rounded_wish));
		free(TAKE_PTR(m->rounded_to));
		free(TAKE_PTR(m->refused_pair));
		if (m->yielded || m->n_foreign > 0)
			a->memory[kept++] = *m;
		else
			memory_done(m);
	}
	a->n_memory = kept;
}

void act_host_changed(struct actuator *a, const struct cpuset *came, bool affinities_reset)
{
	a->returned = *came;
	a->affinities_reset = affinities_reset;
}

bool act_is_managed(const struct actuator *a, const struct target *target)
{
	const struct memory *m = memory_find(a, TUNABLE_IRQ_AFFINITY, target->identity);

	return m && m->managed;
}

bool act_learned_limit(const struct actuator *a, enum tunable_id id, int64_t *ret_low,
		       int64_t *ret_high)
{
	const struct limit *l = &a->limit[id];

	if (!l->have_low && !l->have_high)
		return false;
	*ret_low = l->have_low ? l->low_good : tunables[id].min;
	*ret_high = l->have_high ? l->high_good : tunables[id].max;
	return true;
}

const char *act_family_blocked(const struct actuator *a, enum tunable_id id)
{
	return *a->blocked[id] ? a->blocked[id] : NULL;
}

static void make_printable(char *text)
{
	for (; *text; text++)
		if (!isascii((unsigned char)*text) || !isprint((unsigned char)*text))
			*text = '?';
}

void say(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	make_printable(buf);
}

int answer(struct result *ret, enum outcome outcome, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ret->text, sizeof(ret->text), fmt, ap);
	va_end(ap);
	make_printable(ret->text);
	ret->outcome = outcome;
	ret->error = error;
	return error;
}

void culprits(const struct topology *t, const struct tunable *tunable, char *buf, size_t size)
{
	say(buf, size, "often %s%s%s", tunable->owners, *t->rivals ? "; running here: " : "",
	    t->rivals);
}

static int find_irq(const struct topology *t, struct place *p)
{
	const struct irq *found = topology_irq_by_identity(t, p->target.identity);

	p->family = &irq_family;
	say(p->name, sizeof(p->name), "%s of %s", p->tunable->id, p->target.identity);
	if (!found)
		return -ENODEV;
	/* Some drivers' names are cut to be all the same (bnxt): whose is the original then? */
	for (const struct irq *i = found + 1; i < t->irq + t->n_irqs; i++)
		if (streq(i->identity, found->identity))
			return -ENOTUNIQ;
	p->irq = found;
	p->target.number = found->number;
	say(p->name, sizeof(p->name), "%s of IRQ %u (%s)", p->tunable->id, found->number,
	    found->name);
	return 0;
}

static int find_policy(const struct topology *t, struct place *p)
{
	p->family = &cpufreq_family;
	p->policy = topology_policy_by_identity(t, p->target.identity);
	say(p->name, sizeof(p->name), "%s of %s", p->tunable->id, p->target.identity);
	if (!p->policy)
		return -ENODEV;
	p->target.number = p->policy->number;
	say(p->name, sizeof(p->name), "%s of policy%u (%s)", p->tunable->id, p->policy->number,
	    p->policy->identity);
	return 0;
}

static int find_nic(const struct topology *t, struct place *p)
{
	struct target found;
	char label[TARGET_LABEL_MAX];
	int r;

	say(p->name, sizeof(p->name), "%s of %s", p->tunable->id, p->target.identity);
	r = topology_find_target(t, p->id, p->target.identity, &found);
	if (r < 0)
		return r;
	p->target = found;
	p->nic = topology_nic_of_identity(t, found.identity);
	target_label(&found, label);
	say(p->name, sizeof(p->name), "%s of %s", p->tunable->id, label);
	if (p->id == TUNABLE_NAPI_THREAD_AFFINITY)
		p->family = &napi_thread_family;
	else if (p->tunable->scope == SCOPE_QUEUE)
		p->family = &queue_family;
	else if (p->tunable->scope == SCOPE_NIC)
		p->family = &coalesce_family;
	else
		p->family = found.scope == SCOPE_NAPI ? &napi_family : &nic_file_family;
	return 0;
}

static int find_host(struct place *p)
{
	p->family = p->tunable->held ? &dma_latency_family : &sysctl_family;
	say(p->name, sizeof(p->name), "%s", p->tunable->id);
	return streq(p->target.identity, "host") ? 0 : -ENODEV;
}

static int find_cpu(const struct topology *t, struct place *p)
{
	int cpu = topology_cpu_by_identity(t, p->target.identity);

	p->family = &cpu_latency_family;
	say(p->name, sizeof(p->name), "%s of %s", p->tunable->id, p->target.identity);
	if (cpu < 0)
		return -ENODEV;
	p->target.number = (unsigned)cpu;
	return 0;
}

static int find_thread(const struct topology *t, struct place *p)
{
	p->family = &thread_family;
	p->irq = topology_irq_by_thread(t, p->target.identity);
	say(p->name, sizeof(p->name), "%s of %s", p->tunable->id, p->target.identity);
	if (!p->irq)
		return -ENODEV;
	p->target.number = (unsigned)p->irq->thread;
	say(p->name, sizeof(p->name), "%s of %s (pid %d)", p->tunable->id, p->irq->thread_comm,
	    (int)p->irq->thread);
	return 0;
}

/* By looking into the process, not by the topology: a restore knows no units. */
static int find_socket(struct actuator *a, struct place *p)
{
	struct remote_file f;
	int r;

	p->family = &socket_family;
	say(p->name, sizeof(p->name), "%s of %s", p->tunable->id, p->target.identity);
	r = socket_find(a->io, p->target.identity, &f);
	if (r < 0)
		return r;
	p->target.number = (unsigned)f.pid;
	p->target.fd = f.fd;
	say(p->name, sizeof(p->name), "%s of pid %d, descriptor %d", p->tunable->id, (int)f.pid,
	    f.fd);
	return 0;
}

int place_find(struct actuator *a, const struct topology *t, enum tunable_id id,
	       const struct target *target, struct place *p)
{
	int r = -EINVAL;

	*p = (struct place){.tunable = &tunables[id], .id = id, .target = *target};
	switch (p->tunable->scope) {
	case SCOPE_HOST:
		r = find_host(p);
		break;
	case SCOPE_IRQ:
		r = find_irq(t, p);
		break;
	case SCOPE_POLICY:
		r = find_policy(t, p);
		break;
	case SCOPE_NIC:
	case SCOPE_NAPI:
	case SCOPE_QUEUE:
		r = find_nic(t, p);
		break;
	case SCOPE_CPU:
		r = find_cpu(t, p);
		break;
	case SCOPE_SOCKET:
		r = find_socket(a, p);
		break;
	case SCOPE_THREAD:
		r = find_thread(t, p);
		break;
	}
	if (r < 0)
		return r;
	r = target_path(p->id, &p->target, p->path, sizeof(p->path));
	if (r < 0 && !(r == -ENOENT && p->family->store))
		return r;
	return p->family->verify ? p->family->verify(a, p) : 0;
}

int place_read(struct actuator *a, const struct place *p, char value[static VALUE_MAX])
{
	int r = p->family->read ? p->family->read(a, p, value)
				: observe_value(a->io, p->id, &p->target, value, VALUE_MAX);

	if (r < 0)
		value[0] = '\0';
	return r < 0 ? r : 0;
}

int place_store(struct actuator *a, const struct place *p, const char *value)
{
	a->reason[0] = '\0';
	return p->family->store ? p->family->store(a, p, value) : io_store(a->io, p->path, value);
}

/* What an error of reading or writing means where the target may go away at any time. */
static bool is_gone(const struct place *p, int error)
{
	bool file = !p->family->store || p->id == TUNABLE_NAPI_THREAD_AFFINITY ||
		    p->tunable->scope == SCOPE_QUEUE;

	if (p->tunable->scope == SCOPE_SOCKET)
		return error == -ENODEV;
	return tunable_of_nic(p->tunable) && (error == -ENODEV || error == -ENXIO ||
					      (file && (error == -ENOENT || error == -ESRCH)));
}

static int refuse_place(struct attempt *at, int error)
{
	const char *name = at->place.name;
	bool of_nic = tunable_of_nic(at->place.tunable);

	switch (error) {
	case -ENODEV:
		return answer(at->result, OUTCOME_UNSUPPORTED, error,
			      "%s: this host does not have it, or not any more", name);
	case -ENXIO:
		return answer(at->result, OUTCOME_UNSUPPORTED, error, "%s: %s", name,
			      of_nic ? "its interface is down" : "all its CPUs are offline");
	case -ENOTUNIQ:
		return answer(
			at->result, OUTCOME_REFUSED, error,
			"%s: several %s have this name, so none can be given back: left alone",
			name, of_nic ? "NICs" : "interrupts");
	default:
		return answer(at->result, OUTCOME_REFUSED, error, "%s: cannot be found: %s", name,
			      strerror(-error));
	}
}

static int refuse_read(struct attempt *at, int error)
{
	if (tunable_of_nic(at->place.tunable) || at->place.tunable->scope == SCOPE_SOCKET) {
		if (error == -EOPNOTSUPP || error == -ENOENT)
			return answer(at->result, OUTCOME_UNSUPPORTED, error,
				      "%s: this driver, or kernel, does not have it",
				      at->place.name);
		if (error == -ENODEV || error == -ESRCH)
			return answer(at->result, OUTCOME_UNSUPPORTED, error, "%s: is gone",
				      at->place.name);
	}
	if (error == -ENOENT)
		return answer(at->result, OUTCOME_UNSUPPORTED, error,
			      "%s: this kernel does not have it (/%s)", at->place.name,
			      at->place.path);
	return answer(at->result, OUTCOME_REFUSED, error,
		      "%s: cannot be read, so it could not be given back: %s", at->place.name,
		      strerror(-error));
}

int refuse_ledger(struct actuator *a, struct attempt *at, int error)
{
	const char *trouble = ledger_trouble(a->ledger);

	return answer(at->result, OUTCOME_REFUSED, error,
		      "%s: not changed, since the ledger cannot be written: %s", at->place.name,
		      trouble ? trouble : strerror(-error));
}

void refuse_family(struct actuator *a, struct attempt *at, int error)
{
	const struct place *p = &at->place;
	bool no_right = error == -EACCES || error == -EPERM;

	if (error == -ENOENT || error == -ENODEV) {
		answer(at->result, OUTCOME_UNSUPPORTED, error, "%s: this host does not have it",
		       p->name);
	} else if (error == -EROFS || (no_right && !a->writable[p->id])) {
		say(a->blocked[p->id], sizeof(a->blocked[p->id]),
		    "%s cannot be written here: %s (%s)", p->tunable->id,
		    no_right ? "no root, a container or a sandbox"
			     : "mounted read-only by a container or a sandbox",
		    strerror(-error));
		answer(at->result, OUTCOME_READ_ONLY, error, "%s", a->blocked[p->id]);
	} else {
		answer(at->result, OUTCOME_REFUSED, error, "%s: the kernel refused %.60s: %s",
		       p->name, at->wish, strerror(-error));
	}
}

/* Counts a change by somebody else; true when there were so many that it is a fight. */
static bool is_fight(struct actuator *a, struct memory *m)
{
	uint64_t now = io_now(a->io, CLOCK_MONOTONIC);

	if (!m)
		return false;
	if (m->n_foreign == FOREIGN_MAX) {
		memmove(m->foreign_usec, m->foreign_usec + 1,
			sizeof(m->foreign_usec) - sizeof(m->foreign_usec[0]));
		m->n_foreign--;
	}
	m->foreign_usec[m->n_foreign++] = now;
	return m->n_foreign == FOREIGN_MAX && now - m->foreign_usec[0] <= FOREIGN_WINDOW_USEC;
}

static int yield_setting(struct actuator *a, struct attempt *at, const struct ledger_entry *e,
			 struct memory *m, bool fight)
{
	const struct place *p = &at->place;
	char who[224];
	int r;

	culprits(at->topology, p->tunable, who, sizeof(who));
	answer(at->result, OUTCOME_FOREIGN, -EPERM,
	       "%s: softnetd wrote %.24s, somebody else made it %.24s%s (%s): it is theirs now",
	       p->name, e->written, at->now, fight ? ", again and again" : "", who);
	if (a->dry)
		return -EPERM;
	if (m) {
		m->yielded = true;
		m->gave_up = fight;
	}
	r = ledger_drop(a->ledger, p->id, p->target.identity);
	if (r < 0)
		log_warning_errno(r, "%s is somebody else's now, but the ledger cannot be updated",
				  p->name);
	return -EPERM;
}

/* Asked by hand: whatever was before, the admin's word counts. */
static void forget_yield(struct memory *m)
{
	m->yielded = m->gave_up = false;
	m->n_foreign = 0;
}

/* Whether somebody else has changed the setting since softnetd did, and what then. */
static int check_foreign(struct actuator *a, struct attempt *at, enum on_foreign on_foreign)
{
	const struct place *p = &at->place;
	const struct ledger_entry *e = ledger_find(a->ledger, p->id, p->target.identity);
	struct memory *m = memory_find(a, p->id, p->target.identity);
	bool nobodys, fight;
	int r;

	if (at->change->class == CLASS_MANUAL) {
		if (m && !a->dry)
			forget_yield(m);
		if (on_foreign == ON_FOREIGN_YIELD)
			on_foreign = ON_FOREIGN_ADOPT;
	}
	if (!e) {
		if (!m || !m->yielded || (on_foreign != ON_FOREIGN_YIELD && !m->gave_up))
			return 0;
		at->result->known = true;
		return answer(at->result, OUTCOME_FOREIGN, -EPERM,
			      "%s: somebody else changed it after softnetd did: left alone",
			      p->name);
	}
	if (ledger_is_ours(e, at->now))
		return 0;
	if (a->affinities_reset && p->tunable->scope == SCOPE_IRQ)
		return 0;
	nobodys = tunable_equal(p->tunable, at->now, e->original) ||
		  (p->family->was_reset && p->family->was_reset(a, p, at->now));
	if (a->dry)
		return nobodys || on_foreign != ON_FOREIGN_YIELD
			       ? 0
			       : yield_setting(a, at, e, NULL, false);
	m = memory_make(a, p->id, p->target.identity);
	/* Whoever puts the original back again and again is in a fight with us, too. */
	fight = is_fight(a, m);
	if (fight || (!nobodys && on_foreign == ON_FOREIGN_YIELD))
		return yield_setting(a, at, e, m, fight);
	if (nobodys || on_foreign == ON_FOREIGN_ENFORCE)
		return 0;
	/* Adopt. Between this and the next entry nothing of ours is on the host. */
	r = ledger_drop(a->ledger, p->id, p->target.identity);
	if (r < 0)
		return refuse_ledger(a, at, r);
	return 0;
}

/* Hard caps hold for every wish but the way back: a host may have started beyond them. */
static int check_caps(struct attempt *at)
{
	const struct tunable *t = at->place.tunable;
	char canonical[VALUE_MAX];
	int r;

	r = tunable_canonical(t, at->wish, true, canonical, sizeof(canonical));
	if (r == -ERANGE && t->type == VALUE_NUMBER)
		return answer(at->result, OUTCOME_REFUSED, r,
			      "%s: %.24s is outside of %lld to %lld, which softnetd never leaves",
			      at->place.name, at->wish, (long long)t->min, (long long)t->max);
	if (r < 0)
		return answer(at->result, OUTCOME_REFUSED, r, "%s: cannot be set to \"%.60s\"",
			      at->place.name, at->wish);
	return 0;
}

static int resolve(struct actuator *a, struct attempt *at)
{
	int r;

	if (at->place.family->resolve)
		return at->place.family->resolve(a, at);
	r = tunable_canonical(at->place.tunable, at->change->to, false, at->wish, sizeof(at->wish));
	if (r < 0)
		return answer(at->result, OUTCOME_REFUSED, r, "%s: \"%.60s\" is no such value: %s",
			      at->place.name, at->change->to, strerror(-r));
	return 0;
}

/* A setting that cannot be written here at all: that was said when it was found out. */
static int check_blocked(struct actuator *a, struct attempt *at)
{
	const struct place *p = &at->place;

	if (!*a->blocked[p->id])
		return 0;
	at->result->known = true;
	return answer(at->result, OUTCOME_READ_ONLY, -EROFS, "%s", a->blocked[p->id]);
}

int act_apply(struct actuator *a, const struct topology *t, const struct change *c,
	      enum on_foreign on_foreign, struct result *ret)
{
	struct attempt at = {.topology = t, .change = c, .result = ret};
	const struct place *p = &at.place;
	const struct ledger_entry *e;
	bool restoring;
	int r;

	*ret = (struct result){.outcome = OUTCOME_REFUSED};
	if ((unsigned)c->tunable >= _TUNABLE_MAX)
		return answer(ret, OUTCOME_UNSUPPORTED, -ENOENT, "no such setting");
	r = place_find(a, t, c->tunable, &c->target, &at.place);
	if (r < 0)
		return refuse_place(&at, r);
	r = resolve(a, &at);
	if (r < 0)
		return r;
	r = place_read(a, p, at.now);
	if (r < 0)
		return refuse_read(&at, r);
	strcpy(ret->value, at.now);
	if (strlen(at.now) < sizeof(ret->before))
		strcpy(ret->before, at.now);
	if (tunable_equal(p->tunable, at.now, at.wish))
		return answer(ret, OUTCOME_UNCHANGED, 0, "%s: is %.60s already", p->name, at.now);
	r = check_blocked(a, &at);
	if (r < 0)
		return r;
	e = ledger_find(a->ledger, p->id, p->target.identity);
	restoring = e && tunable_equal(p->tunable, at.wish, e->original);
	if (restoring) {
		strcpy(at.wish, e->original); /* as the kernel spelled it */
	} else {
		r = check_caps(&at);
		if (r >= 0 && p->family->permit)
			r = p->family->permit(a, &at);
		if (r < 0)
			return r;
	}
	r = check_foreign(a, &at, on_foreign);
	if (r < 0)
		return r;
	if (a->dry || c->advice_only)
		return answer(ret, OUTCOME_ADVISED, 0, "%s: %.60s would become %.60s", p->name,
			      at.now, at.wish);
	r = write_attempt(a, &at);
	if (r < 0 || !restoring)
		return r;
	r = ledger_drop(a->ledger, p->id, p->target.identity);
	if (r < 0)
		log_warning_errno(r, "%s is back, but the ledger cannot be updated", p->name);
	return 0;
}

/*
 * The setting does not hold what was wished: what was there before goes back. THEN: what it holds,
 * NULL when that is not known. Returns true when it holds NOW again; else the ledger keeps the
 * entry.
 */
static bool put_back(struct actuator *a, struct attempt *at, const char *then, bool entered)
{
	const struct place *p = &at->place;
	char again[VALUE_MAX];
	int r;

	if (!then || !tunable_equal(p->tunable, then, at->now)) {
		/* Neither the one nor the other, but our doing: a restore must know that. */
		if (then && !tunable_equal(p->tunable, then, at->wish) &&
		    ledger_enter(a->ledger, at->change, at->now, then) >= 0)
			entered = true;
		/* Only what is read says whether it worked. */
		(void)place_store(a, p, at->now);
		if (place_read(a, p, again) < 0 || !tunable_equal(p->tunable, again, at->now)) {
			strcpy(at->result->value, again);
			return false;
		}
	}
	strcpy(at->result->value, at->now);
	if (!entered)
		return true;
	r = ledger_undo(a->ledger, p->id, p->target.identity);
	if (r < 0)
		log_warning_errno(r, "%s is as it was, but the ledger cannot be updated", p->name);
	return true;
}

/* The NIC was pulled while it was changed: there is nothing left to put back. */
static int target_left(struct actuator *a, struct attempt *at, int error, bool entered)
{
	const struct place *p = &at->place;
	int r = entered ? ledger_undo(a->ledger, p->id, p->target.identity) : 0;

	if (r < 0)
		log_warning_errno(r, "%s is gone, but the ledger cannot be updated", p->name);
	*at->result->value = '\0';
	return answer(at->result, OUTCOME_UNSUPPORTED, error,
		      "%s: went away while it was about to become %.40s", p->name, at->wish);
}

/* The store failed, could not be checked, or had another effect. */
static int fail_attempt(struct actuator *a, struct attempt *at, int stored, int checked,
			const char *then, bool entered)
{
	const struct place *p = &at->place;
	struct result *ret = at->result;
	bool back;

	if (is_gone(p, checked))
		return target_left(a, at, checked, entered);
	back = put_back(a, at, checked < 0 ? NULL : then, entered);
	if (stored < 0) {
		if (!p->family->refused || !p->family->refused(a, at, stored))
			refuse_family(a, at, stored);
	} else if (checked < 0) {
		answer(ret, OUTCOME_REFUSED, checked, "%s: %.60s cannot be read back: %s", p->name,
		       at->wish, strerror(-checked));
	} else {
		answer(ret, OUTCOME_DIFFERENT, -EIO, "%s: wrote %.40s, but it reads %.40s: %s%.40s",
		       p->name, at->wish, then, back ? "put back to " : "was ", at->now);
	}
	if (!back)
		answer(ret, ret->outcome, ret->error ? ret->error : -EIO,
		       "%s: could not be set to %.40s (%s), nor put back to %.40s: it %s%.24s, and the "
		       "ledger remembers",
		       p->name, at->wish, strerror(ret->error ? -ret->error : EIO), at->now,
		       *ret->value ? "is " : "cannot be read", ret->value);
	return ret->error;
}

int write_attempt(struct actuator *a, struct attempt *at)
{
	const struct place *p = &at->place;
	const struct ledger_entry *e = ledger_find(a->ledger, p->id, p->target.identity);
	/* The entry there covers the way back already, and so a full disk does not hinder it. */
	bool restoring = e && tunable_equal(p->tunable, at->wish, e->original);
	char then[VALUE_MAX];
	int stored, checked, r;
	bool ok, rounded = false;

	if (!restoring) {
		r = ledger_enter(a->ledger, at->change, at->now, at->wish);
		if (r < 0)
			return refuse_ledger(a, at, r);
	}
	r = p->family->before ? p->family->before(a, at, restoring) : 0;
	if (r < 0) {
		if (!restoring)
			(void)ledger_undo(a->ledger, p->id, p->target.identity);
		return r;
	}
	stored = place_store(a, p, at->wish);
	checked = place_read(a, p, then);
	ok = stored >= 0 && checked >= 0 && tunable_equal(p->tunable, then, at->wish);
	if (!ok && stored >= 0 && checked >= 0 && p->family->settles_for &&
	    p->family->settles_for(a, at, then, restoring)) {
		ok = restoring || ledger_enter(a->ledger, at->change, at->now, then) >= 0;
		rounded = ok;
	}
	if (!ok) {
		r = fail_attempt(a, at, stored, checked, then, !restoring);
		if (p->family->after)
			p->family->after(a, at);
		return r;
	}
	a->writable[p->id] = true;
	strcpy(at->result->value, then);
	ledger_settle(a->ledger, p->id, p->target.identity);
	if (p->family->after)
		p->family->after(a, at);
	if (rounded)
		answer(at->result, OUTCOME_DONE, 0,
		       "%s: %.60s became %.60s, which this host makes of %.60s", p->name, at->now,
		       then, at->wish);
	else
		answer(at->result, OUTCOME_DONE, 0, "%s: %.60s became %.60s", p->name, at->now,
		       at->wish);
	if (p->family->settled)
		p->family->settled(a, at);
	return 0;
}

int act_release(struct actuator *a, const struct topology *t, enum tunable_id id,
		const struct target *target, struct result *ret)
{
	const struct ledger_entry *e, *epp;
	struct restore_item item;
	struct memory *m;

	*ret = (struct result){.outcome = OUTCOME_UNCHANGED};
	if ((unsigned)id >= _TUNABLE_MAX)
		return answer(ret, OUTCOME_UNSUPPORTED, -ENOENT, "no such setting");
	m = memory_find(a, id, target->identity);
	if (m && !a->dry)
		forget_yield(m);
	e = ledger_find(a->ledger, id, target->identity);
	if (!e)
		return answer(ret, OUTCOME_UNCHANGED, 0, "%s: nothing to give back",
			      tunables[id].id);
	if (epp_waits_for_governor(a, e))
		return answer(ret, OUTCOME_UNCHANGED, 0,
			      "%s: changed with the governor, and goes back with it",
			      tunables[id].id);
	if (id == TUNABLE_GOVERNOR && epp_goes_first(e)) {
		epp = ledger_find(a->ledger, TUNABLE_ENERGY_PREFERENCE, target->identity);
		if (epp)
			give_back(a, t, epp, &item);
		if (epp && item.verdict == RESTORE_FAILED)
			log_warning("%s", item.text);
		e = ledger_find(a->ledger, id, target->identity);
	}
	give_back(a, t, e, &item);
	strcpy(ret->value, item.now);
	switch (item.verdict) {
	case RESTORE_WRITTEN:
		return answer(ret, a->dry ? OUTCOME_ADVISED : OUTCOME_DONE, 0, "%s", item.text);
	case RESTORE_WAS_SO:
		return answer(ret, OUTCOME_UNCHANGED, 0, "%s", item.text);
	case RESTORE_FOREIGN:
		return answer(ret, OUTCOME_FOREIGN, -EPERM, "%s", item.text);
	case RESTORE_GONE:
		return answer(ret, OUTCOME_UNSUPPORTED, -ENODEV, "%s", item.text);
	case RESTORE_FAILED:
		break;
	}
	return answer(ret, OUTCOME_REFUSED, item.error, "%s", item.text);
}
