/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private socket and the system bus in a test, over real sockets: the server runs in a child
 * process with an engine made of the few functions below, the test is its client. The files of serve/
 * that make up the two are built into the test, with those functions under names of their own, beside
 * the real engine of other tests.
 */
#pragma once

#define engine_status       fake_engine_status
#define engine_settings     fake_engine_settings
#define engine_profiles     fake_engine_profiles
#define engine_profile      fake_engine_profile
#define engine_diagnosis    fake_engine_diagnosis
#define engine_history      fake_engine_history
#define engine_explain      fake_engine_explain
#define engine_silence      fake_engine_silence
#define engine_unsilence    fake_engine_unsilence
#define engine_restore      fake_engine_restore
#define engine_set          fake_engine_set
#define engine_release      fake_engine_release
#define engine_set_profile  fake_engine_set_profile
#define engine_reload       fake_engine_reload
#define engine_status_line  fake_engine_status_line
#define engine_mode_name    fake_engine_mode_name
#define engine_profile_name fake_engine_profile_name
#define engine_hold         fake_engine_hold
#define engine_release_hold fake_engine_release_hold
#include "serve/manager.c"
#include "serve/holds.c"
#include "serve/bus.c"
#include "serve/callers.c"
#include "serve/system-bus.c"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "lib/run.h"
#include "lib/tree.h"

#define NOBODY 65534
/* So long a loaded machine may take for anything; nothing waits it out when all is well. */
#define PATIENCE_USEC (60 * USEC_PER_SEC)

/* ---- an engine without a machine ---- */

struct engine {
	/* A change tells all clients, as the real listener does. */
	struct bus_server *server;
	struct system_bus *system_bus;
	size_t status_size;
	char profile[64];
	char budget[32];
	char hold[16][32]; /* by cookie; "" was released */
	size_t n_holds;
	char holder[64]; /* of the newest */
};

static _unused_ void show_profile(struct engine *e)
{
	if (e->server)
		bus_server_refresh(e->server);
	if (e->system_bus)
		system_bus_refresh(e->system_bus);
}

static _unused_ void show_hold(struct engine *e)
{
	size_t i = e->n_holds;

	while (i > 0 && !*e->hold[i])
		i--;
	snprintf(e->profile, sizeof(e->profile), "%s", i > 0 ? e->hold[i] : "balanced");
	show_profile(e);
}

json_t *engine_status(struct engine *e)
{
	_cleanup_free_ char *filler = calloc(1, e->status_size + 1);

	ck_assert_ptr_nonnull(filler);
	memset(filler, 'x', e->status_size);
	return json_pack("{s:s}", "filler", filler);
}

json_t *engine_settings(struct engine *e, const char *setting)
{
	return json_pack("[{s:s, s:s}]", "setting", setting ?: "all", "value", e->budget);
}

json_t *engine_profiles(struct engine *e _unused_)
{
	return json_array();
}

json_t *engine_profile(struct engine *e _unused_, const char *name)
{
	return json_pack("{s:s}", "profile", name);
}

json_t *engine_diagnosis(struct engine *e _unused_)
{
	return json_pack("{s:{}, s:[], s:[]}", "host", "symptoms", "blind");
}

json_t *engine_history(struct engine *e _unused_)
{
	return json_array();
}

json_t *engine_explain(struct engine *e _unused_, const char *id, char *error)
{
	if (*id && !streq(id, "7")) {
		snprintf(error, 512, "no change '%s'", id);
		return NULL;
	}
	return json_pack("{s:i}", "serial", 7);
}

int engine_silence(struct engine *e _unused_, const char *id, char *error)
{
	if (streq(id, "netdev_budget-squeezed"))
		return 0;
	snprintf(error, 512, "no id");
	return -EINVAL;
}

int engine_unsilence(struct engine *e _unused_, const char *id _unused_, char *error)
{
	snprintf(error, 512, "not silenced");
	return -ENOENT;
}

json_t *engine_restore(struct engine *e _unused_)
{
	return json_pack("{s:[], s:i}", "restored", "failed", 0);
}

int engine_set(struct engine *e, const char *setting, const char *target _unused_,
	       const char *value, char *error)
{
	static const struct change change = {.tunable = TUNABLE_NETDEV_BUDGET, .to = "450"};
	static const struct result result = {.outcome = OUTCOME_DONE, .value = "450"};
	static const struct engine_event event = {
		.kind = EVENT_CHANGE, .change = &change, .result = &result};

	if (!streq(setting, "netdev_budget")) {
		snprintf(error, 512, "no setting '%s'", setting);
		return -ENOENT;
	}
	if (streq(value, "many")) {
		snprintf(error, 512, "netdev_budget: 'many' is no number");
		return -EINVAL;
	}
	if (streq(value, "7"))
		return -EROFS;
	snprintf(e->budget, sizeof(e->budget), "%s", value);
	bus_server_event(e->server, &event);
	if (e->system_bus)
		system_bus_event(e->system_bus, &event);
	return 0;
}

int engine_release(struct engine *e _unused_, const char *setting _unused_,
		   const char *target _unused_, char *error _unused_)
{
	return -EBUSY;
}

int engine_set_profile(struct engine *e, const char *name, struct complaints *c)
{
	if (name && streq(name, "bad")) {
		complain(c, "profiles/bad.conf", 7, "unknown key 'netdev_bugdet'");
		complain(c, "profiles/bad.conf", 9, "not a number");
		return -EINVAL;
	}
	snprintf(e->profile, sizeof(e->profile), "%s", name ?: "balanced");
	show_profile(e);
	return 0;
}

/* The profile of the newest hold; its cookies are places in the list. */
int engine_hold(struct engine *e, const char *profile, const char *holder, const char *reason,
		uint32_t *ret_cookie, struct complaints *c)
{
	if (streq(profile, "bad")) {
		complain(c, NULL, 0, "there is no profile bad");
		return -ENOENT;
	}
	*ret_cookie = (uint32_t)++e->n_holds;
	snprintf(e->hold[e->n_holds], sizeof(*e->hold), "%s", profile);
	snprintf(e->holder, sizeof(e->holder), "%s: %s", holder, reason);
	show_hold(e);
	return 0;
}

int engine_release_hold(struct engine *e, uint32_t cookie)
{
	if (cookie > e->n_holds || !*e->hold[cookie])
		return -ENOENT;
	e->hold[cookie][0] = '\0';
	show_hold(e);
	return 0;
}

int engine_reload(struct engine *e _unused_, struct complaints *c _unused_)
{
	return 0;
}

void engine_status_line(struct engine *e, char *buf, size_t size)
{
	if (*e->holder)
		snprintf(buf, size, "%s", e->holder);
	else
		snprintf(buf, size, "%s: nothing binds", e->profile);
}

const char *engine_mode_name(const struct engine *e _unused_)
{
	return "apply";
}

const char *engine_profile_name(const struct engine *e)
{
	return e->profile;
}

/* ---- the server ---- */

static struct tree *tree;
static struct io *io;
static pid_t server;
static char *bus_address; /* NULL: no message bus */

/* READY is told when the socket listens, and closed. */
static _unused_ int serve(size_t status_size, int ready)
{
	struct engine engine = {.status_size = status_size, .profile = "balanced", .budget = "300"};
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(holds_freep) struct holds *holds = NULL;
	sigset_t term;
	int r;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	signal(SIGPIPE, SIG_IGN);
	r = sd_event_new(&event);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = holds_new(event, io, &engine, &holds);
	if (r >= 0)
		r = bus_server_new(event, io, &engine, holds, &engine.server);
	if (r >= 0 && bus_address)
		r = system_bus_new(event, &engine, holds, bus_address, &engine.system_bus);
	if (r >= 0)
		holds_take_up(holds);
	if (r >= 0)
		r = write(ready, "", 1) == 1 ? 0 : -EPIPE;
	close(ready);
	if (r >= 0)
		r = sd_event_loop(event);
	if (holds)
		holds_forget(holds);
	bus_server_free(TAKE_PTR(engine.server));
	system_bus_free(TAKE_PTR(engine.system_bus));
	return r;
}

static _unused_ void start(size_t status_size)
{
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	server = fork();
	ck_assert_int_ge(server, 0);
	if (server == 0) {
		int r;

		close(ready[0]);
		r = serve(status_size, ready[1]);
		io_free(io);
		free(bus_address);
		/* Not exit(): the tree is the parent's. A leak check still runs under ASan. */
		_exit(r < 0 ? 1 : 0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

static _unused_ void setup(void)
{
	tree = tree_new();
	ck_assert_int_eq(chmod(tree_path(tree), 0755), 0);
	io = tree_io(tree);
}

static _unused_ void stop(void)
{
	int status;

	ck_assert_int_eq(kill(server, SIGTERM), 0);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	/* The socket goes with it. */
	ck_assert(!tree_has(tree, SOCKET_PATH));
}

static _unused_ void teardown(void)
{
	io_free(io);
	tree_free(tree);
}

/* ---- the client ---- */

static _unused_ sd_bus *connect_client(void)
{
	sd_bus *bus;
	int fd, r;

	r = socket_connect(io, &fd);
	ck_assert_msg(r >= 0, "connect: %s", strerror(-r));
	ck_assert_int_ge(sd_bus_new(&bus), 0);
	ck_assert_int_ge(sd_bus_set_fd(bus, fd, fd), 0);
	ck_assert_int_ge(sd_bus_start(bus), 0);
	return bus;
}

/* What a call's destination is: on the private socket there is nobody else. */
static _unused_ const char *bus_name(sd_bus *bus)
{
	return sd_bus_is_bus_client(bus) > 0 ? MANAGER_NAME : NULL;
}

/* A call without arguments that answers a document; the caller frees. NULL when it failed. */
static _unused_ char *document(sd_bus *bus, const char *method)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *text;

	if (sd_bus_call_method(bus, bus_name(bus), MANAGER_PATH, MANAGER_INTERFACE, method, NULL,
			       &reply, NULL) < 0 ||
	    sd_bus_message_read(reply, "s", &text) < 0)
		return NULL;
	return strdup(text);
}

static _unused_ bool answers(void)
{
	sd_bus *bus = connect_client();
	_cleanup_free_ char *text = document(bus, "Diagnose");

	sd_bus_unref(bus);
	return text && streq(text, "{\"host\":{},\"symptoms\":[],\"blind\":[]}");
}

/* Expects SetSetting(SETTING, "", VALUE) to fail with the error NAME and a text with WORDS in it.
 */
static _unused_ void refuse_set(sd_bus *bus, const char *setting, const char *value,
				const char *name, const char *words)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

	ck_assert_int_lt(sd_bus_call_method(bus, bus_name(bus), MANAGER_PATH, MANAGER_INTERFACE,
					    "SetSetting", &error, NULL, "sss", setting, "", value),
			 0);
	ck_assert_str_eq(error.name, name);
	ck_assert_msg(strstr(error.message, words) != NULL, "%s", error.message);
}

static _unused_ void expect_property(sd_bus *bus, const char *property, const char *value)
{
	_cleanup_free_ char *got = NULL;

	ck_assert_int_ge(sd_bus_get_property_string(bus, bus_name(bus), MANAGER_PATH,
						    MANAGER_INTERFACE, property, NULL, &got),
			 0);
	ck_assert_str_eq(got, value);
}

/* For what the server notices at one of its next turns: each change of the profile is a signal. A
 * client of the message bus must have asked for it. */
static _unused_ void expect_profile_soon(sd_bus *bus, const char *name)
{
	for (;;) {
		_cleanup_free_ char *got = NULL;
		int r;

		ck_assert_int_ge(sd_bus_get_property_string(bus, bus_name(bus), MANAGER_PATH,
							    MANAGER_INTERFACE, "Profile", NULL,
							    &got),
				 0);
		if (streq(got, name))
			return;
		/* After any news it is asked again. */
		r = sd_bus_process(bus, NULL);
		if (r == 0) {
			r = sd_bus_wait(bus, PATIENCE_USEC);
			ck_assert_msg(r > 0, "the profile stays %s", got);
		}
		ck_assert_int_ge(r, 0);
	}
}

/* ---- somebody else ---- */

/* In a child: ends it at once when something is not as it should be. */
#define expect_or_leave(condition)                                                              \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                               \
		}                                                                               \
	} while (0)

/* Runs F as nobody, in a child. */
static _unused_ void as_nobody(void (*f)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* /proc/self is root's after a change of uid unless the process is dumpable. */
		expect_or_leave(setresgid(NOBODY, NOBODY, NOBODY) == 0);
		expect_or_leave(setresuid(NOBODY, NOBODY, NOBODY) == 0);
		f();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
