/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/callers.h"

#include <stdio.h>

#define POLKIT_NAME      "org.freedesktop.PolicyKit1"
#define POLKIT_PATH      "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE "org.freedesktop.PolicyKit1.Authority"
/* CheckAuthorizationFlags of polkit's D-Bus interface. */
#define POLKIT_ALLOW_USER_INTERACTION 1U

/* polkit may have to be started … */
#define POLKIT_ANSWER_USEC (30 * USEC_PER_SEC)
/* … or somebody has to type a password. */
#define PASSWORD_USEC (300 * USEC_PER_SEC)

struct caller {
	struct callers *callers;
	struct caller *next;
	char *name; /* ":1.42": never given to anybody else while the bus lives */
	bool known; /* uid and pid are */
	uid_t uid;
	pid_t pid;
	sd_bus_slot *leaving;     /* the bus tells when the name is gone */
	sd_bus_slot *credentials; /* the bus was asked who that is */
};

/* A call that changes something, from when it came until it is known whether it may. */
struct question {
	struct caller *caller;
	struct question *next;
	sd_bus_message *call;
	enum manager_action action;
	sd_bus_slot *polkit; /* was asked */
	enum {
		UNDECIDED,
		MAY,
		MAY_NOT
	} verdict;
	sd_bus_error error; /* why not */
};

struct callers {
	sd_bus *bus;
	struct holds *holds;
	struct caller *first;
	struct question *questions;
	unsigned n_callers;
};

int callers_new(sd_bus *bus, struct holds *holds, struct callers **ret)
{
	struct callers *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->bus = bus;
	c->holds = holds;
	*ret = c;
	return 0;
}

static void question_free(struct question *q)
{
	struct question **p = &q->caller->callers->questions;

	while (*p && *p != q)
		p = &(*p)->next;
	if (*p)
		*p = q->next;
	sd_bus_slot_unref(q->polkit);
	sd_bus_message_unref(q->call);
	sd_bus_error_free(&q->error);
	free(q);
}

/* Its questions and holds go with it. */
static void caller_free(struct caller *one)
{
	struct callers *c = one->callers;
	struct caller **p = &c->first;
	struct question *next;

	while (*p && *p != one)
		p = &(*p)->next;
	if (*p) {
		*p = one->next;
		c->n_callers--;
	}
	for (struct question *q = c->questions; q; q = next) {
		next = q->next;
		if (q->caller == one)
			question_free(q);
	}
	sd_bus_slot_unref(one->leaving);
	sd_bus_slot_unref(one->credentials);
	holds_drop_client(c->holds, one);
	free(one->name);
	free(one);
}
DEFINE_CLEANUP(struct caller *, caller_free);

void callers_free(struct callers *c)
{
	if (!c)
		return;
	while (c->first)
		caller_free(c->first);
	free(c);
}

/* Hands the call to the object again, which then finds the verdict. */
static void decide(struct question *q, int verdict)
{
	int r;

	q->verdict = verdict;
	r = sd_bus_message_rewind(q->call, true);
	if (r >= 0)
		r = sd_bus_enqueue_for_read(sd_bus_message_get_bus(q->call), q->call);
	if (r >= 0)
		return;
	sd_bus_reply_method_errno(q->call, r, NULL);
	question_free(q);
}

static void refuse(struct question *q, const char *name, const char *text)
{
	sd_bus_error_set(&q->error, name, text);
	decide(q, MAY_NOT);
}

/* polkit did not answer the question itself. */
static void refuse_unanswered(struct question *q, const sd_bus_error *e)
{
	char text[512];

	if (sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	    sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		snprintf(text, sizeof(text),
			 "Changing settings needs root: there is no polkit on this bus that could "
			 "permit it to uid %u",
			 q->caller->uid);
	else
		snprintf(text, sizeof(text),
			 "Changing settings needs root: polkit does not tell whether uid %u may "
			 "(%s: %s)",
			 q->caller->uid, manager_action_name(q->action), e->message ?: e->name);
	refuse(q, MANAGER_ERROR_NOT_AUTHORIZED, text);
}

static int on_polkit(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_)
{
	int authorized = 0, challenge = 0;
	struct question *q = userdata;
	char text[512];
	int r;

	if (sd_bus_message_is_method_error(m, NULL)) {
		refuse_unanswered(q, sd_bus_message_get_error(m));
		return 1;
	}
	r = sd_bus_message_enter_container(m, 'r', "bba{ss}");
	if (r >= 0)
		r = sd_bus_message_read(m, "bb", &authorized, &challenge);
	if (r < 0) {
		refuse_unanswered(
			q, &SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_INVALID_ARGS, "strange answer"));
	} else if (authorized) {
		decide(q, MAY);
	} else if (challenge) {
		snprintf(text, sizeof(text),
			 "Changing settings needs root, or an administrator's password, and "
			 "nobody is there to ask uid %u for it (%s)",
			 q->caller->uid, manager_action_name(q->action));
		refuse(q, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, text);
	} else {
		snprintf(text, sizeof(text),
			 "Changing settings needs root, and polkit does not permit it to uid %u "
			 "(%s)",
			 q->caller->uid, manager_action_name(q->action));
		refuse(q, MANAGER_ERROR_NOT_AUTHORIZED, text);
	}
	return 1;
}

static bool too_many_wait(const struct callers *c, uid_t uid)
{
	unsigned all = 0, same = 0;

	for (const struct question *q = c->questions; q; q = q->next)
		if (q->polkit) {
			all++;
			same += q->caller->uid == uid;
		}
	return all >= QUESTIONS_MAX || same >= QUESTIONS_PER_UID;
}

static int ask_polkit(struct question *q)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	bool interactive = sd_bus_message_get_allow_interactive_authorization(q->call) > 0;
	struct callers *c = q->caller->callers;
	int r;

	r = sd_bus_message_new_method_call(c->bus, &m, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE,
					   "CheckAuthorization");
	if (r >= 0)
		/* subject, action, no details, flags, no id to cancel it by */
		r = sd_bus_message_append(m, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
					  q->caller->name, manager_action_name(q->action), 0,
					  interactive ? POLKIT_ALLOW_USER_INTERACTION : 0, "");
	if (r < 0)
		return r;
	return sd_bus_call_async(c->bus, &q->polkit, m, on_polkit, q,
				 interactive ? PASSWORD_USEC : POLKIT_ANSWER_USEC);
}

/* The caller is known now. */
static void judge(struct question *q)
{
	int r;

	if (manager_trusts(q->caller->uid)) {
		decide(q, MAY);
		return;
	}
	if (too_many_wait(q->caller->callers, q->caller->uid)) {
		refuse(q, SD_BUS_ERROR_LIMITS_EXCEEDED,
		       "Too many questions wait for polkit's answer already");
		return;
	}
	r = ask_polkit(q);
	if (r < 0)
		refuse(q, MANAGER_ERROR_NOT_AUTHORIZED,
		       "Changing settings needs root: polkit cannot be asked");
}

/* Both are in what GetConnectionCredentials() answers; pid 0 when the bus does not know it. */
static int read_credentials(sd_bus_message *m, uid_t *ret_uid, pid_t *ret_pid)
{
	uint32_t uid = 0, pid = 0;
	bool have_uid = false;
	const char *key;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "{sv}");
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r < 0)
			break;
		if (streq(key, "UnixUserID")) {
			r = sd_bus_message_read(m, "v", "u", &uid);
			have_uid = r >= 0;
		} else if (streq(key, "ProcessID")) {
			r = sd_bus_message_read(m, "v", "u", &pid);
		} else {
			r = sd_bus_message_skip(m, "v");
		}
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	if (r < 0)
		return r;
	if (!have_uid)
		return -ENODATA;
	*ret_uid = uid;
	*ret_pid = (pid_t)pid;
	return 0;
}

static int on_credentials(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_)
{
	struct caller *one = userdata;
	struct question *next;

	one->credentials = sd_bus_slot_unref(one->credentials);
	/* It left meanwhile, or the bus is strange: nobody is let through. */
	if (sd_bus_message_is_method_error(m, NULL) ||
	    read_credentials(m, &one->uid, &one->pid) < 0) {
		for (struct question *q = one->callers->questions; q; q = q->next)
			if (q->caller == one)
				sd_bus_reply_method_errorf(q->call, MANAGER_ERROR_NOT_AUTHORIZED,
							   "Changing settings needs root, and the "
							   "bus does not tell who asks");
		caller_free(one);
		return 1;
	}
	one->known = true;
	for (struct question *q = one->callers->questions; q; q = next) {
		next = q->next;
		if (q->caller == one)
			judge(q);
	}
	return 1;
}

static int on_leaving(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_)
{
	const char *name, *before, *now;

	if (sd_bus_message_read(m, "sss", &name, &before, &now) >= 0 && !*now)
		caller_free(userdata);
	return 0;
}

static struct caller *find_caller(const struct callers *c, const char *name)
{
	for (struct caller *one = c->first; one; one = one->next)
		if (streq(one->name, name))
			return one;
	return NULL;
}

static bool has_question(const struct caller *one)
{
	for (const struct question *q = one->callers->questions; q; q = q->next)
		if (q->caller == one)
			return true;
	return false;
}

/* Makes room: who only is remembered can be asked for again. */
static bool forget_an_idle_one(struct callers *c)
{
	for (struct caller *one = c->first; one; one = one->next)
		if (!has_question(one) && !holds_has_client(c->holds, one)) {
			caller_free(one);
			return true;
		}
	return false;
}

static int caller_new(struct callers *c, const char *name, struct caller **ret)
{
	_cleanup_(caller_freep) struct caller *one = NULL;
	char rule[256];
	int r;

	if (c->n_callers >= CALLERS_MAX && !forget_an_idle_one(c))
		return -ENOBUFS;
	r = format_into(rule, sizeof(rule),
			"type='signal',sender='org.freedesktop.DBus',"
			"interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'",
			name);
	if (r < 0)
		return r;
	one = calloc(1, sizeof(*one));
	if (!one)
		return -ENOMEM;
	one->callers = c;
	one->name = strdup(name);
	if (!one->name)
		return -ENOMEM;
	/* In this order: whose credentials come was there after the bus began to watch it. */
	r = sd_bus_add_match_async(c->bus, &one->leaving, rule, on_leaving, NULL, one);
	if (r < 0)
		return r;
	r = sd_bus_call_method_async(c->bus, &one->credentials, "org.freedesktop.DBus",
				     "/org/freedesktop/DBus", "org.freedesktop.DBus",
				     "GetConnectionCredentials", on_credentials, one, "s", name);
	if (r < 0)
		return r;
	one->next = c->first;
	c->first = one;
	c->n_callers++;
	*ret = TAKE_PTR(one);
	return 0;
}

static int ask(struct caller *one, sd_bus_message *call, enum manager_action action)
{
	struct question *q = calloc(1, sizeof(*q)), **end = &one->callers->questions;

	if (!q)
		return -ENOMEM;
	q->caller = one;
	q->call = sd_bus_message_ref(call);
	q->action = action;
	while (*end)
		end = &(*end)->next;
	*end = q;
	if (one->known)
		judge(q);
	return 0;
}

static int take_verdict(struct question *q, sd_bus_error *error)
{
	bool may = q->verdict == MAY;

	if (!may)
		sd_bus_error_copy(error, &q->error);
	question_free(q);
	return may;
}

int callers_authorize(struct callers *c, sd_bus_message *call, enum manager_action action,
		      sd_bus_error *error)
{
	const char *name = sd_bus_message_get_sender(call);
	struct caller *one;
	int r;

	for (struct question *q = c->questions; q; q = q->next)
		if (q->call == call)
			return take_verdict(q, error);
	if (!name)
		return -EBADMSG;
	one = find_caller(c, name);
	/* Not before a call that came earlier. */
	if (one && one->known && manager_trusts(one->uid) && !has_question(one))
		return 1;
	if (!one) {
		r = caller_new(c, name, &one);
		if (r == -ENOBUFS)
			return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
						"Too many others ask for changes");
		if (r < 0)
			return r;
	}
	return ask(one, call, action);
}

int callers_hold(struct callers *c, sd_bus_message *call, int pidfd, const char *profile,
		 const char *reason, uint32_t *ret_cookie, struct complaints *complaints)
{
	const struct caller *one = find_caller(c, sd_bus_message_get_sender(call));

	/* It was there a moment ago, when it was authorized. */
	if (!one)
		return -ENOTCONN;
	return holds_add(c->holds, one, one->pid, pidfd, profile, reason, ret_cookie, complaints);
}
