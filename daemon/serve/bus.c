/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/bus.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/log.h"
#include "serve/holds.h"
#include "serve/manager.h"
#include "serve/socket.h"

struct client {
	struct manager_access access; /* first: authorize() gets back to the client from it */
	struct bus_server *server;
	struct client *next;
	sd_bus *bus;
	sd_event_source *io, *timer;
	struct ucred peer;
	uint64_t calls;      /* whole messages that came */
	size_t incoming;     /* bytes that came since the last whole message */
	uint64_t read_up_to; /* access.bytes_sent when its queue was last seen empty */
	bool doomed;         /* to be ended at its next step: its own call may be on the stack */
};

struct bus_server {
	sd_event *event;
	struct io *io;
	struct engine *engine;
	struct holds *holds;
	sd_event_source *listen;
	struct client *clients;
	unsigned n_clients;
	char mode[16], profile[128]; /* as the clients know them */
};

static void client_free(struct client *c)
{
	struct client **p = &c->server->clients;

	while (*p && *p != c)
		p = &(*p)->next;
	if (*p) {
		*p = c->next;
		c->server->n_clients--;
	}
	sd_event_source_disable_unref(c->io);
	sd_event_source_disable_unref(c->timer);
	/* Not flushed: that would wait for the client. */
	sd_bus_close_unref(c->bus);
	/* Last: the end of a hold is told to the other clients. */
	holds_drop_client(c->server->holds, c);
	free(c);
}
DEFINE_CLEANUP(struct client *, client_free);

static int authorize(struct manager_access *access, sd_bus_message *call _unused_,
		     enum manager_action action _unused_, sd_bus_error *error)
{
	const struct client *c = (const struct client *)access;

	if (manager_trusts(c->peer.uid))
		return 1;
	sd_bus_error_setf(error, MANAGER_ERROR_NOT_AUTHORIZED,
			  "Changing settings needs root; this is uid %u", c->peer.uid);
	return 0;
}

static int client_hold(struct manager_access *access, sd_bus_message *call _unused_, int pidfd,
		       const char *profile, const char *reason, uint32_t *ret_cookie,
		       struct complaints *c)
{
	struct client *client = (struct client *)access;

	return holds_add(client->server->holds, client, client->peer.pid, pidfd, profile, reason,
			 ret_cookie, c);
}

static int client_release_hold(struct manager_access *access, uint32_t cookie)
{
	return holds_release(((struct client *)access)->server->holds, cookie);
}

/* Sees every message before the object does. */
static int count_call(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_)
{
	struct client *c = userdata;

	c->calls++;
	return 0;
}

/* Whether a client let more pile up than it may. */
static bool client_lags(struct client *c)
{
	uint64_t queued = 0;

	if (sd_bus_get_n_queued_write(c->bus, &queued) < 0 || queued == 0) {
		c->read_up_to = c->access.bytes_sent;
		return false;
	}
	/* One document may always wait, however large. */
	return queued > BUS_UNREAD_MESSAGES ||
	       c->access.bytes_sent - c->read_up_to > BUS_UNREAD_MAX + c->access.last_bytes;
}

/* Bytes that the kernel holds for us from this client. */
static int bytes_waiting(const struct client *c)
{
	int n;

	return ioctl(sd_bus_get_fd(c->bus), FIONREAD, &n) < 0 ? 0 : n;
}

/*
 * Lets sd-bus do one step for this client, and ends the client when it is gone or over its bounds.
 * sd-bus itself takes messages of 128 MiB: the bytes it took in are added up until a message is
 * whole, so that no client gets to keep more than BUS_INCOMING_MAX of half a message here from one
 * step to the next.
 */
static void client_step(struct client *c)
{
	uint64_t calls = c->calls, queued = 0;
	int taken, r;

	if (c->doomed) {
		client_free(c);
		return;
	}
	sd_bus_get_n_queued_write(c->bus, &queued);
	taken = bytes_waiting(c);
	r = sd_bus_process(c->bus, NULL);
	/* With answers to write it may have written only; else it read all that waited, or a whole
	 * message, and what waits now came meanwhile. */
	if (queued > 0)
		taken -= bytes_waiting(c);
	if (r < 0) {
		if (r != -ECONNRESET && r != -ENOTCONN && r != -EPIPE)
			log_debug("Client with pid %d: %s", c->peer.pid, strerror(-r));
		client_free(c);
		return;
	}
	c->incoming = c->calls == calls ? c->incoming + (size_t)MAX(taken, 0) : 0;
	if (c->incoming > BUS_INCOMING_MAX || client_lags(c)) {
		log_debug("Client with pid %d of uid %u is over its bounds: disconnected",
			  c->peer.pid, c->peer.uid);
		client_free(c);
	} else if (!sd_bus_is_open(c->bus)) {
		client_free(c);
	}
}

static int on_client_io(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
			void *userdata)
{
	client_step(userdata);
	return 0;
}

static int on_client_timer(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	client_step(userdata);
	return 0;
}

/* Before each wait: what sd-bus wants to be woken for. */
static int on_client_prepare(sd_event_source *s, void *userdata)
{
	struct client *c = userdata;
	uint64_t until;
	int events, r;

	events = sd_bus_get_events(c->bus);
	/* A connection that failed has no events any more; the timer then ends it. */
	sd_event_source_set_io_events(s, events < 0 ? 0 : (uint32_t)events);
	r = sd_bus_get_timeout(c->bus, &until);
	if (c->doomed || events < 0 || r < 0)
		until = 0;
	else if (r == 0 || until == UINT64_MAX)
		return sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time(c->timer, until);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
}

static int start_bus(struct client *c)
{
	const int size = BUS_SOCKET_BUFFER;
	sd_id128_t id;
	int r;

	r = sd_id128_randomize(&id);
	if (r < 0)
		return r;
	/* Anonymous: sd-bus then ignores which uid the client claims (it may see itself in another
	 * user namespace); SO_PEERCRED is what counts. */
	r = sd_bus_set_server(c->bus, true, id);
	if (r < 0)
		return r;
	r = sd_bus_set_anonymous(c->bus, true);
	if (r < 0)
		return r;
	/* Only who may hold a profile sends descriptors: hundreds fit into a message that need never
	 * end, and they would be the daemon's. sd-bus ends a connection that sends some unasked. */
	r = sd_bus_negotiate_fds(c->bus, manager_trusts(c->peer.uid));
	if (r < 0)
		return r;
	r = sd_bus_start(c->bus);
	if (r < 0)
		return r;
	/* sd-bus asks for 8 MiB, and root gets them: the kernel would keep for the client what it
	 * does not read, where nobody counts. */
	if (setsockopt(sd_bus_get_fd(c->bus), SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) < 0)
		return -errno;
	r = sd_bus_add_filter(c->bus, NULL, count_call, c);
	if (r < 0)
		return r;
	return manager_attach(&c->access, c->bus);
}

static int watch_client(struct client *c)
{
	int r;

	r = sd_event_add_time(c->server->event, &c->timer, CLOCK_MONOTONIC, 0, 0, on_client_timer,
			      c);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
	if (r < 0)
		return r;
	r = sd_event_add_io(c->server->event, &c->io, sd_bus_get_fd(c->bus), EPOLLIN, on_client_io,
			    c);
	if (r < 0)
		return r;
	return sd_event_source_set_prepare(c->io, on_client_prepare);
}

/* Takes over FD in any case. */
static int client_new(struct bus_server *s, int fd, const struct ucred *peer)
{
	_cleanup_(client_freep) struct client *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		close(fd);
		return -ENOMEM;
	}
	c->server = s;
	c->peer = *peer;
	c->access.engine = s->engine;
	c->access.authorize = authorize;
	c->access.hold = client_hold;
	c->access.release_hold = client_release_hold;
	r = sd_bus_new(&c->bus);
	if (r >= 0)
		r = sd_bus_set_fd(c->bus, fd, fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = start_bus(c);
	if (r < 0)
		return r;
	r = watch_client(c);
	if (r < 0)
		return r;
	c->next = s->clients;
	s->clients = TAKE_PTR(c);
	s->n_clients++;
	return 0;
}

static bool too_many(const struct bus_server *s, uid_t uid)
{
	unsigned same = 0;

	if (s->n_clients >= BUS_CLIENTS_MAX)
		return true;
	if (uid == 0)
		return false;
	for (const struct client *c = s->clients; c; c = c->next)
		same += c->peer.uid == uid;
	return s->n_clients >= BUS_CLIENTS_OTHERS || same >= BUS_CLIENTS_PER_UID;
}

static int on_connection(sd_event_source *source _unused_, int fd, uint32_t revents _unused_,
			 void *userdata)
{
	_cleanup_close_ int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct bus_server *s = userdata;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int r;

	/* A client that left again, or no descriptor left for this one: nothing to be done about.
	 */
	if (connection < 0)
		return 0;
	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	if (too_many(s, peer.uid)) {
		log_debug("Too many clients: uid %u is turned away", peer.uid);
		return 0;
	}
	r = client_new(s, TAKE_FD(connection), &peer);
	if (r < 0)
		log_debug_errno(r, "Cannot serve a client");
	return 0;
}

int bus_server_new(sd_event *event, struct io *io, struct engine *engine, struct holds *holds,
		   struct bus_server **ret)
{
	_cleanup_(bus_server_freep) struct bus_server *s = calloc(1, sizeof(*s));
	_cleanup_close_ int fd = -1;
	int r;

	if (!s)
		return -ENOMEM;
	s->event = event;
	s->engine = engine;
	s->holds = holds;
	r = socket_listen(io, &fd);
	if (r < 0)
		return r;
	s->io = io; /* from here on there is a socket to be removed */
	r = sd_event_add_io(event, &s->listen, fd, EPOLLIN, on_connection, s);
	if (r < 0)
		return r;
	r = sd_event_source_set_io_fd_own(s->listen, true);
	if (r < 0)
		return r;
	TAKE_FD(fd);
	bus_server_refresh(s);
	*ret = TAKE_PTR(s);
	return 0;
}

void bus_server_free(struct bus_server *s)
{
	if (!s)
		return;
	while (s->clients)
		client_free(s->clients);
	sd_event_source_disable_unref(s->listen);
	if (s->io)
		socket_remove(s->io);
	free(s);
}

void bus_server_event(struct bus_server *s, const struct engine_event *event)
{
	for (struct client *c = s->clients; c; c = c->next)
		if (manager_emit_changed(c->bus, event) < 0 || client_lags(c))
			c->doomed = true;
}

void bus_server_refresh(struct bus_server *s)
{
	const char *mode = engine_mode_name(s->engine), *profile = engine_profile_name(s->engine);

	if (streq(mode, s->mode) && strncmp(profile, s->profile, sizeof(s->profile) - 1) == 0)
		return;
	snprintf(s->mode, sizeof(s->mode), "%s", mode);
	snprintf(s->profile, sizeof(s->profile), "%s", profile);
	for (struct client *c = s->clients; c; c = c->next)
		if (manager_emit_properties(c->bus) < 0 || client_lags(c))
			c->doomed = true;
}
