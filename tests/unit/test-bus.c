/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private socket, over real sockets: the server runs in a child process with an engine made of
 * the few functions below, the test is its client.
 */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "lib/run.h"
#include "lib/tree.h"
#include "serve/bus.h"
#include "serve/manager.h"
#include "serve/socket.h"

#define NOBODY 65534

/* ---- an engine without a machine ---- */

struct engine {
	struct bus_server *server; /* a change tells all clients, as the real listener does */
	size_t status_size;
	char profile[64];
	char budget[32];
	char hold[16][32]; /* by cookie; "" was released */
	size_t n_holds;
	char holder[64]; /* of the newest */
};

static void show_hold(struct engine *e)
{
	size_t i = e->n_holds;

	while (i > 0 && !*e->hold[i])
		i--;
	snprintf(e->profile, sizeof(e->profile), "%s", i > 0 ? e->hold[i] : "balanced");
	bus_server_refresh(e->server);
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
	bus_server_event(
		e->server,
		&(struct engine_event){.kind = EVENT_CHANGE, .change = &change, .result = &result});
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
	bus_server_refresh(e->server);
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

static int serve(size_t status_size)
{
	struct engine engine = {.status_size = status_size, .profile = "balanced", .budget = "300"};
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
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
		r = bus_server_new(event, io, &engine, &engine.server);
	if (r >= 0)
		r = sd_event_loop(event);
	bus_server_free(engine.server);
	return r;
}

static void start(size_t status_size)
{
	int fd = -1;

	server = fork();
	ck_assert_int_ge(server, 0);
	if (server == 0) {
		int r = serve(status_size);

		io_free(io);
		/* Not exit(): the tree is the parent's. A leak check still runs under ASan. */
		_exit(r < 0 ? 1 : 0);
	}
	for (int i = 0; i < 500 && socket_connect(io, &fd) < 0; i++)
		usleep(10000);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void setup(void)
{
	tree = tree_new();
	ck_assert_int_eq(chmod(tree_path(tree), 0755), 0);
	io = tree_io(tree);
}

static void stop(void)
{
	int status;

	ck_assert_int_eq(kill(server, SIGTERM), 0);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	/* The socket goes with it. */
	ck_assert(!tree_has(tree, SOCKET_PATH));
}

static void teardown(void)
{
	io_free(io);
	tree_free(tree);
}

/* ---- the client ---- */

static sd_bus *connect_client(void)
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

/* A call without arguments that answers a document; the caller frees. NULL when it failed. */
static char *document(sd_bus *bus, const char *method)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *text;

	if (sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, method, NULL, &reply,
			       NULL) < 0 ||
	    sd_bus_message_read(reply, "s", &text) < 0)
		return NULL;
	return strdup(text);
}

static bool answers(void)
{
	sd_bus *bus = connect_client();
	_cleanup_free_ char *text = document(bus, "Diagnose");

	sd_bus_unref(bus);
	return text && streq(text, "{\"host\":{},\"symptoms\":[],\"blind\":[]}");
}

/* Expects SetSetting(SETTING, "", VALUE) to fail with the error NAME and a text with WORDS in it.
 */
static void refuse_set(sd_bus *bus, const char *setting, const char *value, const char *name,
		       const char *words)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

	ck_assert_int_lt(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					    "SetSetting", &error, NULL, "sss", setting, "", value),
			 0);
	ck_assert_str_eq(error.name, name);
	ck_assert_msg(strstr(error.message, words) != NULL, "%s", error.message);
}

static void expect_property(sd_bus *bus, const char *property, const char *value)
{
	_cleanup_free_ char *got = NULL;

	ck_assert_int_ge(sd_bus_get_property_string(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
						    property, NULL, &got),
			 0);
	ck_assert_str_eq(got, value);
}

START_TEST(test_reading)
{
	_cleanup_free_ char *status = NULL, *history = NULL;
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;

	start(3);
	bus = connect_client();
	expect_property(bus, "Version", SOFTNETD_VERSION);
	expect_property(bus, "Mode", "apply");
	expect_property(bus, "Profile", "balanced");
	expect_property(bus, "StatusLine", "balanced: nothing binds");
	status = document(bus, "Describe");
	ck_assert_str_eq(status, "{\"filler\":\"xxx\"}");
	history = document(bus, "History");
	ck_assert_str_eq(history, "[]");
	stop();
}
END_TEST

/* A status of the largest machines has room in one answer (irqbalance#261: no fixed buffer). */
START_TEST(test_large_answer)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	_cleanup_free_ char *status = NULL;

	start(8U << 20);
	bus = connect_client();
	status = document(bus, "Describe");
	ck_assert_ptr_nonnull(status);
	ck_assert_uint_eq(strlen(status), (8U << 20) + strlen("{\"filler\":\"\"}"));
	stop();
}
END_TEST

START_TEST(test_changing)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	const char *text;

	start(3);
	bus = connect_client();
	ck_assert_int_ge(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					    "SetSetting", NULL, NULL, "sss", "netdev_budget", "",
					    "450"),
			 0);
	ck_assert_int_ge(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					    "DescribeSettings", NULL, &reply, "s", "netdev_budget"),
			 0);
	ck_assert_int_ge(sd_bus_message_read(reply, "s", &text), 0);
	ck_assert_str_eq(text, "[{\"setting\":\"netdev_budget\",\"value\":\"450\"}]");
	refuse_set(bus, "netdev_bugdet", "450", MANAGER_ERROR_NO_SUCH_SETTING, "netdev_bugdet");
	refuse_set(bus, "netdev_budget", "many", MANAGER_ERROR_INVALID_VALUE, "no number");
	refuse_set(bus, "netdev_budget", "7", MANAGER_ERROR_READ_ONLY, "");
	/* An errno of act/ without words of its own still says something. */
	ck_assert_int_lt(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					    "ReleaseSetting", &error, NULL, "ss", "netdev_budget",
					    ""),
			 0);
	ck_assert_str_eq(error.name, MANAGER_ERROR_REFUSED);
	ck_assert_str_eq(error.message, strerror(EBUSY));
	stop();
}
END_TEST

START_TEST(test_unknown_setting_is_suggested)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;

	start(3);
	bus = connect_client();
	ck_assert_int_lt(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					    "DescribeSettings", &error, NULL, "s", "netdev_bugdet"),
			 0);
	ck_assert_str_eq(error.name, MANAGER_ERROR_NO_SUCH_SETTING);
	ck_assert_ptr_nonnull(strstr(error.message, "netdev_budget"));
	stop();
}
END_TEST

START_TEST(test_complaints_carry_file_and_line)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;

	start(3);
	bus = connect_client();
	ck_assert_int_lt(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					    "SetProfile", &error, NULL, "s", "bad"),
			 0);
	ck_assert_str_eq(error.name, MANAGER_ERROR_CONFIGURATION);
	ck_assert_str_eq(error.message, "profiles/bad.conf:7: unknown key 'netdev_bugdet'\n"
					"profiles/bad.conf:9: not a number");
	expect_property(bus, "Profile", "balanced");
	stop();
}
END_TEST

static int take_signal(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_)
{
	char *seen = userdata;
	const char *kind, *what, *text;

	if (sd_bus_message_is_signal(m, MANAGER_INTERFACE, "Changed") > 0) {
		ck_assert_int_ge(sd_bus_message_read(m, "sss", &kind, &what, &text), 0);
		ck_assert_ptr_nonnull(strstr(text, "450"));
		strcat(strcat(strcat(seen, kind), "/"), what);
	} else if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Properties",
					    "PropertiesChanged") > 0) {
		strcat(seen, "+properties");
	}
	return 0;
}

/* Also to the very client whose call made the change. */
START_TEST(test_signals)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL, *other = NULL;
	char seen[128] = "", other_seen[128] = "";

	start(3);
	bus = connect_client();
	other = connect_client();
	ck_assert_int_ge(sd_bus_add_filter(bus, NULL, take_signal, seen), 0);
	ck_assert_int_ge(sd_bus_add_filter(other, NULL, take_signal, other_seen), 0);
	expect_property(other, "Mode", "apply");
	ck_assert_int_ge(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					    "SetSetting", NULL, NULL, "sss", "netdev_budget", "",
					    "450"),
			 0);
	ck_assert_int_ge(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					    "SetProfile", NULL, NULL, "s", "throughput"),
			 0);
	expect_property(bus, "Profile", "throughput");
	expect_property(other, "Profile", "throughput");
	while (sd_bus_process(bus, NULL) > 0 || sd_bus_process(other, NULL) > 0)
		;
	ck_assert_str_eq(seen, "change/netdev_budget+properties");
	ck_assert_str_eq(other_seen, "change/netdev_budget+properties");
	stop();
}
END_TEST

/* In a child that became nobody: 0 when all was as it should be, else the line that was not. */
#define expect_or_leave(condition) \
	do {                       \
		if (!(condition))  \
			_exit(1);  \
	} while (0)

static void as_nobody(void (*f)(void))
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

/* connect_client() goes by /proc/self/fd, which nobody who was root may not follow. */
static int connect_by_path(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" SOCKET_PATH, tree_path(tree));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return fd;
}

static sd_bus *connect_as_nobody(void)
{
	sd_bus *bus = NULL;
	int fd = connect_by_path();

	expect_or_leave(fd >= 0);
	expect_or_leave(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fd, fd) >= 0 &&
			sd_bus_start(bus) >= 0);
	return bus;
}

static void nobody_reads_and_changes_nothing(void)
{
	static const char *const none[] = {"ClearProfile", "Reload", "Restore"};
	sd_bus *bus = connect_as_nobody();
	char *status = document(bus, "Describe");
	sd_bus_error error = SD_BUS_ERROR_NULL;

	expect_or_leave(status && streq(status, "{\"filler\":\"xxx\"}"));
	for (size_t i = 0; i < ELEMENTSOF(none); i++) {
		expect_or_leave(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
						   none[i], &error, NULL, "") < 0);
		expect_or_leave(sd_bus_error_has_name(&error, MANAGER_ERROR_NOT_AUTHORIZED));
		sd_bus_error_free(&error);
	}
	expect_or_leave(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, "SetSetting",
					   &error, NULL, "sss", "netdev_budget", "", "450") < 0);
	expect_or_leave(sd_bus_error_has_name(&error, MANAGER_ERROR_NOT_AUTHORIZED));
	expect_or_leave(strstr(error.message, "needs root") != NULL);
	sd_bus_error_free(&error);
	expect_or_leave(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, "Hold",
					   &error, NULL, "ss", "throughput", "") < 0);
	expect_or_leave(sd_bus_error_has_name(&error, MANAGER_ERROR_NOT_AUTHORIZED));
	sd_bus_error_free(&error);
	expect_or_leave(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					   "ReleaseHold", &error, NULL, "u", 1U) < 0);
	expect_or_leave(sd_bus_error_has_name(&error, MANAGER_ERROR_NOT_AUTHORIZED));
	sd_bus_error_free(&error);
	/* No descriptors from those who may not hold. */
	expect_or_leave(sd_bus_can_send(bus, SD_BUS_TYPE_UNIX_FD) == 0);
	expect_or_leave(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					   "ReleaseSetting", &error, NULL, "ss", "netdev_budget",
					   "") < 0);
	expect_or_leave(sd_bus_error_has_name(&error, MANAGER_ERROR_NOT_AUTHORIZED));
	sd_bus_error_free(&error);
	expect_or_leave(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, "SetProfile",
					   &error, NULL, "s", "throughput") < 0);
	expect_or_leave(sd_bus_error_has_name(&error, MANAGER_ERROR_NOT_AUTHORIZED));
	free(status);
	sd_bus_unref(bus);
}

START_TEST(test_nobody_reads_and_changes_nothing)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;

	if (geteuid() != 0)
		return; /* nobody to become */
	start(3);
	as_nobody(nobody_reads_and_changes_nothing);
	bus = connect_client();
	expect_property(bus, "Profile", "balanced");
	stop();
}
END_TEST

static void nobody_takes_all_he_can(void)
{
	sd_bus *bus[BUS_CLIENTS_PER_UID];
	char byte;

	for (size_t i = 0; i < ELEMENTSOF(bus); i++) {
		char *text;

		bus[i] = connect_as_nobody();
		text = document(bus[i], "Describe");
		expect_or_leave(text != NULL);
		free(text);
	}
	for (int i = 0; i < 8; i++) {
		int fd = connect_by_path();

		/* Accepted and closed at once, without a word. */
		expect_or_leave(fd >= 0);
		expect_or_leave(read(fd, &byte, 1) == 0);
		close(fd);
	}
	/* He is full; root is not concerned. */
	kill(getppid(), SIGUSR1);
	pause();
}

START_TEST(test_bound_per_uid)
{
	sigset_t set;
	pid_t pid;
	int sig;

	if (geteuid() != 0)
		return;
	start(3);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		expect_or_leave(setresgid(NOBODY, NOBODY, NOBODY) == 0);
		/* Only the effective uid, or he could not signal root's process. */
		expect_or_leave(setresuid(0, NOBODY, 0) == 0);
		nobody_takes_all_he_can();
		_exit(0);
	}
	ck_assert_int_eq(sigwait(&set, &sig), 0);
	ck_assert_msg(sig == SIGUSR1, "nobody failed");
	ck_assert(answers());
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	/* And his places are free again. */
	as_nobody(nobody_reads_and_changes_nothing);
	stop();
}
END_TEST

START_TEST(test_many_clients)
{
	sd_bus *bus[200];

	start(3);
	for (size_t i = 0; i < ELEMENTSOF(bus); i++)
		bus[i] = connect_client();
	for (size_t i = 0; i < ELEMENTSOF(bus); i++) {
		_cleanup_free_ char *text = document(bus[i], "Describe");

		ck_assert_ptr_nonnull(text);
	}
	for (size_t i = 0; i < ELEMENTSOF(bus); i++)
		sd_bus_unref(bus[i]);
	ck_assert(answers());
	stop();
}
END_TEST

/* ---- clients that do not play by the rules ---- */

static int raw_client(void)
{
	int fd, r;

	r = socket_connect(io, &fd);
	ck_assert_int_ge(r, 0);
	return fd;
}

/* Writes all of it, or until the other side has had enough. Returns how much went out. */
static size_t pour(int fd, const void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		ssize_t n = send(fd, (const char *)data + done, size - done, MSG_NOSIGNAL);

		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		if (errno != EAGAIN || poll(&p, 1, 2000) <= 0)
			break;
	}
	return done;
}

/* True when the other side closes within five seconds. */
static bool is_closed(int fd)
{
	char buf[4096];

	for (int i = 0; i < 500; i++) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n == 0 || (n < 0 && errno != EAGAIN))
			return true;
		if (n < 0)
			usleep(10000);
	}
	return false;
}

/* The client's half of the handshake, without waiting for answers. */
static const char handshake[] = "\0AUTH ANONYMOUS\r\nBEGIN\r\n";

START_TEST(test_garbage)
{
	static const struct {
		const char *bytes;
		size_t size;
	} garbage[] = {
		{"GET / HTTP/1.1\r\n\r\n", 18},
		{"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32},
		{"\0AUTH EXTERNAL zz\r\nBEGIN\r\n\xff\xff\xff\xff\xff\xff\xff\xff", 34},
		{"\0AUTH ANONYMOUS\r\nBEGIN\r\nl\1\0\1\xff\xff\xff\xff\1\0\0\0\xff\xff\xff\xff",
		 40},
		{"\0AUTH ANONYMOUS\r\nBEGIN\r\nl\1\0\7\0\0\0\0\1\0\0\0\0\0\0\0", 40},
		{"\0", 1},
		{"", 0},
	};
	unsigned seed = 7;

	start(3);
	for (size_t i = 0; i < ELEMENTSOF(garbage); i++) {
		int fd = raw_client();

		pour(fd, garbage[i].bytes, garbage[i].size);
		ck_assert(answers());
		close(fd);
	}
	for (int round = 0; round < 50; round++) {
		unsigned char noise[sizeof(handshake) - 1 + 512];
		int fd = raw_client();

		memcpy(noise, handshake, sizeof(handshake) - 1);
		for (size_t i = sizeof(handshake) - 1; i < sizeof(noise); i++)
			noise[i] = (unsigned char)rand_r(&seed);
		pour(fd, noise, sizeof(noise));
		close(fd);
	}
	ck_assert(answers());
	stop();
}
END_TEST

static long resident_kib(pid_t pid)
{
	char path[64], line[128];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld kB", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* A message that says it is 100 MiB long: sd-bus alone would take it. */
START_TEST(test_message_that_does_not_end)
{
	static const unsigned char head[16] = {'l', 1, 0, 1, 0,  0, 0x40, 6,
					       1,   0, 0, 0, 16, 0, 0,    0};
	static char body[1U << 20];
	size_t sent = 0, n;
	int fd;

	start(3);
	fd = raw_client();
	pour(fd, handshake, sizeof(handshake) - 1);
	pour(fd, head, sizeof(head));
	for (int i = 0; i < 100; i++) {
		n = pour(fd, body, sizeof(body));
		sent += n;
		if (n < sizeof(body))
			break;
	}
	ck_assert_uint_lt(sent, 100U << 20);
	ck_assert(is_closed(fd));
	ck_assert(answers());
	close(fd);
	stop();
}
END_TEST

/* Many who each hold back the end of a message (of 4 MiB: ASan moves the whole buffer each time
 * sd-bus reads a bit more of it). */
START_TEST(test_many_unfinished_messages)
{
	static const unsigned char head[16] = {'l', 1, 0, 1, 0,  0, 0x40, 0,
					       1,   0, 0, 0, 16, 0, 0,    0};
	static char body[64U << 10];
	int fd[20];

	start(3);
	for (size_t i = 0; i < ELEMENTSOF(fd); i++) {
		fd[i] = raw_client();
		pour(fd[i], handshake, sizeof(handshake) - 1);
		pour(fd[i], head, sizeof(head));
		pour(fd[i], body, sizeof(body));
	}
	ck_assert(answers());
	for (size_t i = 0; i < ELEMENTSOF(fd); i++)
		close(fd[i]);
	ck_assert(answers());
	stop();
}
END_TEST

static int not_reached(sd_bus_message *m _unused_, void *userdata _unused_,
		       sd_bus_error *error _unused_)
{
	ck_abort();
	return 0;
}

/* One who asks and never reads is disconnected, and nobody waits for him meanwhile. */
START_TEST(test_client_that_never_reads)
{
	sd_bus *deaf;
	long kib;

	start(256U << 10);
	kib = resident_kib(server);
	deaf = connect_client();
	free(document(deaf, "Describe"));
	for (int i = 0; i < 1000; i++) {
		if (sd_bus_call_method_async(deaf, NULL, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					     "Describe", not_reached, NULL, NULL) < 0)
			break;
		if (i % 100 == 0)
			ck_assert(answers());
	}
	usleep(200000);
	ck_assert(answers());
	ck_assert(is_closed(sd_bus_get_fd(deaf)));
	/* 1,000 answers would be 250 MiB. */
	ck_assert_int_lt(resident_kib(server) - kib, 64 << 10);
	sd_bus_unref(deaf);
	stop();
}
END_TEST

/* ---- the socket itself ---- */

START_TEST(test_stale_socket)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), other;

	tree_mkdir(tree, "run/softnetd");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" SOCKET_PATH, tree_path(tree));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd); /* the name stays behind, as after kill -9 */
	ck_assert_int_eq(socket_connect(io, &fd), -ECONNREFUSED);
	ck_assert_int_eq(socket_listen(io, &fd), 0);
	/* Somebody lives there now. */
	ck_assert_int_eq(socket_listen(io, &other), -EADDRINUSE);
	ck_assert_int_eq(socket_connect(io, &other), 0);
	close(other);
	close(fd);
	ck_assert_int_eq(socket_remove(io), 0);
	ck_assert_int_eq(socket_connect(io, &fd), -ENOENT);
}
END_TEST

START_TEST(test_foreign_file_is_left)
{
	_cleanup_free_ char *text = NULL;
	int fd;

	tree_write(tree, SOCKET_PATH, "mine");
	ck_assert_int_eq(socket_listen(io, &fd), -ENOTSOCK);
	text = tree_read(tree, SOCKET_PATH);
	ck_assert_str_eq(text, "mine");
}
END_TEST

/* sun_path holds 108 bytes; a captured tree may lie deeper. */
START_TEST(test_deep_tree)
{
	_cleanup_free_ char *path = NULL;
	struct io *deep = NULL;
	char dir[256];
	int fd, client;

	memset(dir, 'd', sizeof(dir) - 1);
	dir[sizeof(dir) - 1] = '\0';
	tree_mkdir(tree, dir);
	ck_assert_int_gt(asprintf(&path, "%s/%s", tree_path(tree), dir), 0);
	ck_assert_int_eq(io_new(path, &deep), 0);
	ck_assert_int_eq(socket_listen(deep, &fd), 0);
	ck_assert_int_eq(socket_connect(deep, &client), 0);
	close(client);
	close(fd);
	ck_assert_int_eq(socket_remove(deep), 0);
	io_free(deep);
}
END_TEST

START_TEST(test_mode)
{
	mode_t mode, old = umask(077);
	int fd;

	ck_assert_int_eq(socket_listen(io, &fd), 0);
	umask(old);
	ck_assert_int_eq(io->ops->mode(io, SOCKET_PATH, &mode), 0);
	ck_assert_int_eq(mode & 07777, 0666);
	close(fd);
}
END_TEST

static void call_with_id(sd_bus *bus, const char *method, const char *id, const char *error_name)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, method, &error, NULL,
				   "s", id);

	if (!error_name) {
		ck_assert_msg(r >= 0, "%s(%s): %s", method, id, error.message);
		return;
	}
	ck_assert_int_lt(r, 0);
	ck_assert_str_eq(error.name, error_name);
	ck_assert_uint_ge(strlen(error.message), 5);
}

START_TEST(test_explain_and_silence)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;

	start(3);
	bus = connect_client();
	call_with_id(bus, "Explain", "", NULL);
	call_with_id(bus, "Explain", "7", NULL);
	call_with_id(bus, "Explain", "8", MANAGER_ERROR_NO_SUCH_CHANGE);
	call_with_id(bus, "Silence", "netdev_budget-squeezed", NULL);
	call_with_id(bus, "Silence", "netdev", MANAGER_ERROR_INVALID_VALUE);
	call_with_id(bus, "Unsilence", "netdev", MANAGER_ERROR_NO_SUCH_CHANGE);
	stop();
}
END_TEST

/* ---- holds ---- */

static uint32_t hold(sd_bus *bus, const char *profile, const char *reason)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	uint32_t cookie;

	ck_assert_int_ge(sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, "Hold",
					    NULL, &reply, "ss", profile, reason),
			 0);
	ck_assert_int_ge(sd_bus_message_read(reply, "u", &cookie), 0);
	return cookie;
}

static int hold_process(sd_bus *bus, const char *profile, int pidfd, sd_bus_error *error)
{
	return sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, "HoldProcess", error,
				  NULL, "ssh", profile, "test", pidfd);
}

static int release_hold(sd_bus *bus, uint32_t cookie)
{
	return sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, "ReleaseHold", NULL,
				  NULL, "u", cookie);
}

/* The end of a connection or process is noticed at the server's next turn. */
static void expect_profile_soon(sd_bus *bus, const char *name)
{
	for (unsigned i = 0; i < 500; i++) {
		_cleanup_free_ char *got = NULL;

		ck_assert_int_ge(sd_bus_get_property_string(bus, NULL, MANAGER_PATH,
							    MANAGER_INTERFACE, "Profile", NULL,
							    &got),
				 0);
		if (streq(got, name))
			return;
		usleep(10000);
	}
	expect_property(bus, "Profile", name);
}

/* A process that only waits to be killed. */
static pid_t sleeper(int *ret_pidfd)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	*ret_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	ck_assert_int_ge(*ret_pidfd, 0);
	return pid;
}

static void kill_sleeper(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(test_hold_ends_with_its_client)
{
	_cleanup_(sd_bus_unrefp) sd_bus *reader = NULL;
	sd_bus *one, *two;
	char holder[64];

	start(3);
	reader = connect_client();
	one = connect_client();
	two = connect_client();
	hold(one, "throughput", "a copy");
	snprintf(holder, sizeof(holder), "pid %d: a copy", getpid());
	expect_property(reader, "StatusLine", holder);
	expect_property(reader, "Profile", "throughput");
	hold(two, "realtime", "");
	expect_property(reader, "Profile", "realtime");
	sd_bus_close_unref(two);
	expect_profile_soon(reader, "throughput");
	sd_bus_close_unref(one);
	expect_profile_soon(reader, "balanced");
	stop();
}
END_TEST

START_TEST(test_hold_is_released)
{
	_cleanup_(sd_bus_unrefp) sd_bus *one = NULL, *two = NULL;
	uint32_t cookie;

	start(3);
	one = connect_client();
	two = connect_client();
	cookie = hold(one, "throughput", "");
	ck_assert_int_lt(release_hold(two, cookie + 1), 0);
	/* Whoever may hold may end another's hold. */
	ck_assert_int_ge(release_hold(two, cookie), 0);
	expect_property(one, "Profile", "balanced");
	ck_assert_int_lt(release_hold(one, cookie), 0);
	stop();
}
END_TEST

START_TEST(test_hold_follows_a_process_and_not_the_client)
{
	_cleanup_(sd_bus_unrefp) sd_bus *reader = NULL;
	_cleanup_close_ int pidfd = -1;
	sd_bus *bus;
	pid_t pid;

	start(3);
	reader = connect_client();
	bus = connect_client();
	pid = sleeper(&pidfd);
	ck_assert_int_ge(hold_process(bus, "throughput", pidfd, NULL), 0);
	sd_bus_close_unref(bus);
	for (unsigned i = 0; i < 20; i++) {
		expect_property(reader, "Profile", "throughput");
		usleep(10000);
	}
	kill_sleeper(pid);
	expect_profile_soon(reader, "balanced");
	stop();
}
END_TEST

START_TEST(test_hold_that_cannot_be)
{
	_cleanup_(sd_bus_error_free) sd_bus_error no_pidfd = SD_BUS_ERROR_NULL,
						  ended = SD_BUS_ERROR_NULL,
						  bad = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	_cleanup_close_ int pidfd = -1;
	int ends[2];
	pid_t pid;

	start(3);
	bus = connect_client();
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_lt(hold_process(bus, "throughput", ends[0], &no_pidfd), 0);
	ck_assert_msg(strstr(no_pidfd.message, "no pidfd") != NULL, "%s", no_pidfd.message);
	close(ends[0]);
	close(ends[1]);
	pid = sleeper(&pidfd);
	ck_assert_int_lt(hold_process(bus, "bad", pidfd, &bad), 0);
	ck_assert_str_eq(bad.name, MANAGER_ERROR_CONFIGURATION);
	kill_sleeper(pid);
	ck_assert_int_lt(hold_process(bus, "throughput", pidfd, &ended), 0);
	ck_assert_msg(strstr(ended.message, "ended") != NULL, "%s", ended.message);
	expect_property(bus, "Profile", "balanced");
	stop();
}
END_TEST

/* A server that stops while somebody holds leaves nothing behind (the leak check sees it). */
START_TEST(test_stop_while_held)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	_cleanup_close_ int pidfd = -1;
	pid_t pid;

	start(3);
	bus = connect_client();
	pid = sleeper(&pidfd);
	hold(bus, "throughput", "");
	ck_assert_int_ge(hold_process(bus, "realtime", pidfd, NULL), 0);
	stop();
	kill_sleeper(pid);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("bus");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_reading);
	tcase_add_test(t, test_large_answer);
	tcase_add_test(t, test_changing);
	tcase_add_test(t, test_unknown_setting_is_suggested);
	tcase_add_test(t, test_complaints_carry_file_and_line);
	tcase_add_test(t, test_signals);
	tcase_add_test(t, test_nobody_reads_and_changes_nothing);
	tcase_add_test(t, test_bound_per_uid);
	tcase_add_test(t, test_many_clients);
	tcase_add_test(t, test_garbage);
	tcase_add_test(t, test_message_that_does_not_end);
	tcase_add_test(t, test_many_unfinished_messages);
	tcase_add_test(t, test_client_that_never_reads);
	tcase_add_test(t, test_explain_and_silence);
	tcase_add_test(t, test_hold_ends_with_its_client);
	tcase_add_test(t, test_hold_is_released);
	tcase_add_test(t, test_hold_follows_a_process_and_not_the_client);
	tcase_add_test(t, test_hold_that_cannot_be);
	tcase_add_test(t, test_stop_while_held);
	tcase_add_test(t, test_stale_socket);
	tcase_add_test(t, test_foreign_file_is_left);
	tcase_add_test(t, test_deep_tree);
	tcase_add_test(t, test_mode);
	return run_suite("bus", t);
}
