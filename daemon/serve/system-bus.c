/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/system-bus.h"

#include <stdio.h>
#include <systemd/sd-bus.h>

#include "base/log.h"
#include "serve/callers.h"
#include "serve/manager.h"

enum state {
	STATE_NEW,     /* nothing is known yet */
	STATE_ABSENT,  /* nobody answers */
	STATE_REFUSED, /* the bus does not give us the name */
	STATE_NAMED,
};

struct system_bus {
	struct manager_access access; /* first: authorize_caller() gets back from it */
	sd_event *event;
	struct holds *holds;
	char *address; /* NULL: the default */
	enum state state;
	sd_bus *bus; /* NULL: between two attempts */
	struct callers *callers;
	sd_event_source *retry;
	uint64_t retry_usec;         /* how long to wait, next time */
	char mode[16], profile[128]; /* as the bus knows them */
};

/* Once per change. WHY is an errno, for STATE_REFUSED. */
static void set_state(struct system_bus *s, enum state state, int why)
{
	enum state before = s->state;

	if (state == before)
		return;
	s->state = state;
	switch (state) {
	case STATE_NAMED:
		if (before != STATE_NEW)
			log_info("The message bus is there: " MANAGER_NAME " is on it");
		break;
	case STATE_ABSENT:
		log_info("%s message bus: " MANAGER_NAME " is reached by its own socket only",
			 before == STATE_NAMED ? "No more" : "No");
		break;
	case STATE_REFUSED:
		log_warning_errno(why, "The message bus does not let us be " MANAGER_NAME
				       " (is " MANAGER_NAME ".conf in share/dbus-1/system.d?)");
		break;
	case STATE_NEW:
		break;
	}
}

static int authorize_caller(struct manager_access *access, sd_bus_message *call,
			    enum manager_action action, sd_bus_error *error)
{
	return callers_authorize(((struct system_bus *)access)->callers, call, action, error);
}

static int hold_for_caller(struct manager_access *access, sd_bus_message *call, int pidfd,
			   const char *profile, const char *reason, uint32_t *ret_cookie,
			   struct complaints *c)
{
	return callers_hold(((struct system_bus *)access)->callers, call, pidfd, profile, reason,
			    ret_cookie, c);
}

static int release_hold_on_bus(struct manager_access *access, uint32_t cookie)
{
	return holds_release(((struct system_bus *)access)->holds, cookie);
}

static void disconnect(struct system_bus *s)
{
	sd_bus *bus = TAKE_PTR(s->bus);

	/* Calls that wait hold references to the bus, and the end of a hold is an event. */
	callers_free(TAKE_PTR(s->callers));
	if (bus)
		sd_bus_detach_event(bus);
	/* Not flushed: that would wait. */
	sd_bus_close_unref(bus);
}

/* The next attempt, at once or when its time has come. */
static int schedule(struct system_bus *s, bool now)
{
	int r;

	r = sd_event_source_set_time_relative(s->retry, now ? 0 : s->retry_usec);
	if (r < 0)
		return r;
	if (!now)
		s->retry_usec = MIN(s->retry_usec * 2, SYSTEM_BUS_RETRY_MAX);
	return sd_event_source_set_enabled(s->retry, SD_EVENT_ONESHOT);
}

/* Not in here: sd-bus is on the stack. The first attempt after a working bus is made at once: what
 * restarts is often back already, and else its socket is waited for. */
static int on_disconnected(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_)
{
	struct system_bus *s = userdata;
	bool named = s->state == STATE_NAMED;

	if (named)
		set_state(s, STATE_ABSENT, 0);
	callers_free(TAKE_PTR(s->callers));
	return schedule(s, named);
}

static int on_name(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);
	struct system_bus *s = userdata;
	uint32_t answer = 0;

	/* Anything else is a bus that goes away while it is asked: tried again. */
	if (e) {
		if (sd_bus_error_has_name(e, SD_BUS_ERROR_ACCESS_DENIED))
			set_state(s, STATE_REFUSED, -EACCES);
		return 1;
	}
	/* 1: ours, 4: it was already (DBUS_REQUEST_NAME_REPLY_*); 3: somebody else's. */
	if (sd_bus_message_read(m, "u", &answer) < 0 || (answer != 1 && answer != 4)) {
		set_state(s, STATE_REFUSED, -EEXIST);
		return 1;
	}
	set_state(s, STATE_NAMED, 0);
	s->retry_usec = SYSTEM_BUS_RETRY_MIN;
	sd_event_source_set_enabled(s->retry, SD_EVENT_OFF);
	return 1;
}

static int set_address(struct system_bus *s)
{
	const char *address = s->address ?: getenv("DBUS_SYSTEM_BUS_ADDRESS");
	int r;

	r = sd_bus_set_address(s->bus, address ?: "unix:path=/run/dbus/system_bus_socket");
	if (r < 0)
		return r;
	return sd_bus_set_bus_client(s->bus, true);
}

static int connect_bus(struct system_bus *s)
{
	int r;

	r = sd_bus_new(&s->bus);
	if (r < 0)
		return r;
	r = set_address(s);
	if (r < 0)
		return r;
	r = sd_bus_set_watch_bind(s->bus, true);
	if (r < 0)
		return r;
	r = sd_bus_negotiate_fds(s->bus, true);
	if (r < 0)
		return r;
	r = callers_new(s->bus, s->holds, &s->callers);
	if (r < 0)
		return r;
	r = sd_bus_match_signal_async(s->bus, NULL, "org.freedesktop.DBus.Local",
				      "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
				      "Disconnected", on_disconnected, NULL, s);
	if (r < 0)
		return r;
	r = manager_attach(&s->access, s->bus);
	if (r < 0)
		return r;
	r = sd_bus_start(s->bus);
	if (r < 0)
		return r;
	/* Sent as soon as the bus takes it: both of what follows never wait. */
	r = sd_bus_request_name_async(s->bus, NULL, MANAGER_NAME, 0, on_name, s);
	if (r < 0)
		return r;
	return sd_bus_attach_event(s->bus, s->event, SD_EVENT_PRIORITY_NORMAL);
}

/* Until the name is ours, each of these gives up what the last one began. */
static int on_retry(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata)
{
	struct system_bus *s = userdata;
	int r;

	/* The second attempt: the first one came to nothing. */
	if (s->bus && s->state == STATE_NEW)
		set_state(s, STATE_ABSENT, 0);
	disconnect(s);
	r = connect_bus(s);
	if (r < 0) {
		if (r == -EINVAL)
			log_warning("\"%s\" is no address of a message bus",
				    s->address ?: getenv("DBUS_SYSTEM_BUS_ADDRESS") ?: "");
		set_state(s, STATE_ABSENT, 0);
		disconnect(s);
		/* It will not get any better. */
		if (r == -EINVAL)
			return 0;
	}
	return schedule(s, false);
}

int system_bus_new(sd_event *event, struct engine *engine, struct holds *holds, const char *address,
		   struct system_bus **ret)
{
	_cleanup_(system_bus_freep) struct system_bus *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->event = event;
	s->holds = holds;
	s->retry_usec = SYSTEM_BUS_RETRY_MIN;
	s->access.engine = engine;
	s->access.authorize = authorize_caller;
	s->access.hold = hold_for_caller;
	s->access.release_hold = release_hold_on_bus;
	if (address) {
		s->address = strdup(address);
		if (!s->address)
			return -ENOMEM;
	}
	r = sd_event_add_time_relative(event, &s->retry, CLOCK_MONOTONIC, 0, 0, on_retry, s);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(s->retry, SD_EVENT_ONESHOT);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

void system_bus_free(struct system_bus *s)
{
	if (!s)
		return;
	disconnect(s);
	sd_event_source_disable_unref(s->retry);
	free(s->address);
	free(s);
}

/* A bus that takes nothing any more must not make us keep everything. */
static bool is_hung(struct system_bus *s)
{
	uint64_t unsent = 0;

	return sd_bus_get_n_queued_write(s->bus, &unsent) >= 0 && unsent > SYSTEM_BUS_UNSENT_MAX;
}

static bool can_tell(struct system_bus *s)
{
	if (!s->bus || s->state != STATE_NAMED)
		return false;
	if (!is_hung(s))
		return true;
	set_state(s, STATE_ABSENT, 0);
	schedule(s, false);
	return false;
}

void system_bus_event(struct system_bus *s, const struct engine_event *event)
{
	if (can_tell(s))
		(void)manager_emit_changed(s->bus, event);
}

void system_bus_refresh(struct system_bus *s)
{
	const char *mode = engine_mode_name(s->access.engine),
		   *profile = engine_profile_name(s->access.engine);

	if (streq(mode, s->mode) && strncmp(profile, s->profile, sizeof(s->profile) - 1) == 0)
		return;
	snprintf(s->mode, sizeof(s->mode), "%s", mode);
	snprintf(s->profile, sizeof(s->profile), "%s", profile);
	if (can_tell(s))
		(void)manager_emit_properties(s->bus);
}
