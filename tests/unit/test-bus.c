/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The private socket: reading, changing, and clients that do not play by the rules. */
#include "lib/bus-fixture.h"

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

/* The server notices at its next turns that places are free again. */
static void nobody_gets_in_soon(void)
{
	for (int i = 0; i < 6000; i++) {
		sd_bus *bus = connect_as_nobody();
		char *text = document(bus, "Describe");

		free(text);
		sd_bus_unref(bus);
		if (text)
			return;
		usleep(10000);
	}
	_exit(1);
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
	as_nobody(nobody_gets_in_soon);
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

/* Whether the other side closes: that ends the wait. */
static bool is_closed(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char buf[4096];

	while (poll(&p, 1, (int)(PATIENCE_USEC / USEC_PER_MSEC)) > 0) {
		ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN))
			return true;
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

/* WHAT is VmRSS, or VmHWM for the most there ever was. */
static long memory_kib(pid_t pid, const char *what)
{
	char path[64], line[128];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (startswith(line, what) && sscanf(line, "%*s %ld kB", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* The head of a call that says it is so many MiB long, up to 100: sd-bus alone would take it. ASan
 * moves sd-bus's whole buffer each time a bit more of the message is read, so there it is a small one. */
#ifdef __SANITIZE_ADDRESS__
#define LONG_MIB 4
#else
#define LONG_MIB 100
#endif
#define HEAD_OF(mib)                                                                         \
	{                                                                                    \
		'l', 1, 0, 1, 0, 0, ((mib) << 4) & 0xff, (mib) >> 4, 1, 0, 0, 0, 16, 0, 0, 0 \
	}

START_TEST(test_message_that_does_not_end)
{
	static const unsigned char head[16] = HEAD_OF(LONG_MIB);
	static char body[1U << 20];
	long kib _unused_;
	int fd;

	start(3);
	kib = memory_kib(server, "VmRSS");
	fd = raw_client();
	pour(fd, handshake, sizeof(handshake) - 1);
	pour(fd, head, sizeof(head));
	for (int i = 0; i < LONG_MIB; i++)
		if (pour(fd, body, sizeof(body)) < sizeof(body))
			break;
	ck_assert(is_closed(fd));
	ck_assert(answers());
	/* sd-bus reads as long as there is something to read, so that a fast sender may get all of
	 * it through; it must not stay. (ASan keeps freed memory for a while.) */
#ifndef __SANITIZE_ADDRESS__
	ck_assert_int_lt(memory_kib(server, "VmRSS") - kib, 16 << 10);
#endif
	close(fd);
	stop();
}
END_TEST

/* Many who each hold back the end of a message cost little together. */
START_TEST(test_many_unfinished_messages)
{
	static const unsigned char head[16] = HEAD_OF(4);
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
	kib = memory_kib(server, "VmHWM");
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
	ck_assert_int_lt(memory_kib(server, "VmHWM") - kib, 64 << 10);
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
	tcase_add_test(t, test_stale_socket);
	tcase_add_test(t, test_foreign_file_is_left);
	tcase_add_test(t, test_deep_tree);
	tcase_add_test(t, test_mode);
	return run_suite("bus", t);
}
