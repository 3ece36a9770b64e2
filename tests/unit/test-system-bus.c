/* SPDX-License-Identifier: GPL-2.0-or-later */
/* org.softnetd1 on a message bus: reading, changing with and without polkit, clients that leave, and
 * a bus that comes late, goes, and comes back. */
#include "lib/bus-fixture.h"

#include "lib/message-bus.h"

static pid_t bus_daemon; /* 0: does not run */

static void setup_bus(void)
{
	setup();
	bus_address = message_bus_address(tree);
	bus_daemon = message_bus_start(tree);
}

static void stop_bus(void)
{
	message_bus_stop(bus_daemon);
	bus_daemon = 0;
}

static void teardown_bus(void)
{
	if (bus_daemon)
		stop_bus();
	free(TAKE_PTR(bus_address));
	teardown();
}

/* ---- clients ---- */

static int nothing(sd_bus_message *m _unused_, void *userdata _unused_,
		   sd_bus_error *error _unused_)
{
	return 0;
}

/* Waits until somebody is org.softnetd1, or nobody is any more. */
static void await_name(sd_bus *bus, bool there)
{
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	int r;

	r = sd_bus_add_match(bus, &slot,
			     "type='signal',sender='org.freedesktop.DBus',"
			     "member='NameOwnerChanged',arg0='" MANAGER_NAME "'",
			     nothing, NULL);
	ck_assert_int_ge(r, 0);
	for (;;) {
		int has = 0;
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

		r = sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				       "org.freedesktop.DBus", "NameHasOwner", NULL, &reply, "s",
				       MANAGER_NAME);
		ck_assert_int_ge(r, 0);
		ck_assert_int_ge(sd_bus_message_read(reply, "b", &has), 0);
		if (!!has == there)
			return;
		/* After any news it is asked again. */
		r = sd_bus_process(bus, NULL);
		ck_assert_int_ge(r, 0);
		if (r == 0)
			ck_assert_int_gt(sd_bus_wait(bus, PATIENCE_USEC), 0);
	}
}

/* A client of the bus that hears the manager's signals; FILTER sees them. */
static sd_bus *bus_client(sd_bus_message_handler_t filter, void *userdata)
{
	sd_bus *bus = message_bus_client(bus_address);

	ck_assert_ptr_nonnull(bus);
	await_name(bus, true);
	ck_assert_int_ge(sd_bus_add_match(bus, NULL, "type='signal',sender='" MANAGER_NAME "'",
					  filter ?: nothing, userdata),
			 0);
	return bus;
}

static int call(sd_bus *bus, const char *method, sd_bus_error *error, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	va_list ap;
	int r;

	r = sd_bus_message_new_method_call(bus, &m, MANAGER_NAME, MANAGER_PATH, MANAGER_INTERFACE,
					   method);
	va_start(ap, types);
	if (r >= 0 && *types)
		r = sd_bus_message_appendv(m, types, ap);
	va_end(ap);
	return r < 0 ? r : sd_bus_call(bus, m, 0, error, NULL);
}

static bool budget_is(sd_bus *bus, const char *value)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *text;
	char want[64];

	snprintf(want, sizeof(want), "\"value\":\"%s\"", value);
	return sd_bus_call_method(bus, bus_name(bus), MANAGER_PATH, MANAGER_INTERFACE,
				  "DescribeSettings", NULL, &reply, "s", "netdev_budget") >= 0 &&
	       sd_bus_message_read(reply, "s", &text) >= 0 && strstr(text, want);
}

/* ---- reading ---- */

START_TEST(test_reading_on_the_bus)
{
	_cleanup_free_ char *status = NULL, *xml = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	const char *text;

	start(3);
	bus = bus_client(NULL, NULL);
	expect_property(bus, "Version", SOFTNETD_VERSION);
	expect_property(bus, "Mode", "apply");
	expect_property(bus, "StatusLine", "balanced: nothing binds");
	status = document(bus, "Describe");
	ck_assert_str_eq(status, "{\"filler\":\"xxx\"}");
	ck_assert_int_ge(sd_bus_call_method(bus, MANAGER_NAME, MANAGER_PATH,
					    "org.freedesktop.DBus.Introspectable", "Introspect",
					    NULL, &reply, ""),
			 0);
	ck_assert_int_ge(sd_bus_message_read(reply, "s", &text), 0);
	ck_assert_ptr_nonnull(strstr(text, "<method name=\"SetSetting\">"));
	stop();
	await_name(bus, false);
}
END_TEST

static void nobody_reads(void)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = message_bus_client(bus_address);
	_cleanup_free_ char *status = NULL;

	expect_or_leave(bus != NULL);
	status = document(bus, "Describe");
	expect_or_leave(status && streq(status, "{\"filler\":\"xxx\"}"));
	/* Nor may anybody be softnetd but root (config/org.softnetd1.conf). */
	expect_or_leave(sd_bus_request_name(bus, MANAGER_NAME, SD_BUS_NAME_REPLACE_EXISTING) ==
			-EACCES);
}

START_TEST(test_nobody_reads_on_the_bus)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;

	if (geteuid() != 0)
		return; /* nobody to become */
	start(3);
	bus = bus_client(NULL, NULL);
	as_nobody(nobody_reads);
	stop();
}
END_TEST

static int note_signal(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_)
{
	char *seen = userdata;
	const char *kind, *what, *text;

	if (sd_bus_message_is_signal(m, MANAGER_INTERFACE, "Changed") > 0) {
		ck_assert_int_ge(sd_bus_message_read(m, "sss", &kind, &what, &text), 0);
		strcat(strcat(strcat(seen, kind), "/"), what);
	} else if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Properties",
					    "PropertiesChanged") > 0) {
		strcat(seen, "+properties");
	}
	return 0;
}

START_TEST(test_signals_on_the_bus)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL, *other = NULL;
	char seen[128] = "";

	start(3);
	bus = bus_client(note_signal, seen);
	other = bus_client(NULL, NULL);
	ck_assert_int_ge(call(other, "SetSetting", NULL, "sss", "netdev_budget", "", "450"), 0);
	ck_assert_int_ge(call(other, "SetProfile", NULL, "s", "throughput"), 0);
	expect_profile_soon(bus, "throughput");
	while (sd_bus_process(bus, NULL) > 0)
		;
	ck_assert_str_eq(seen, "change/netdev_budget+properties");
	stop();
}
END_TEST

/* ---- changing ---- */

START_TEST(test_errors_on_the_bus)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;

	start(3);
	bus = bus_client(NULL, NULL);
	refuse_set(bus, "netdev_bugdet", "450", MANAGER_ERROR_NO_SUCH_SETTING, "netdev_bugdet");
	refuse_set(bus, "netdev_budget", "many", MANAGER_ERROR_INVALID_VALUE, "no number");
	refuse_set(bus, "netdev_budget", "7", MANAGER_ERROR_READ_ONLY, "");
	stop();
}
END_TEST

static int count_answer(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_)
{
	ck_assert(!sd_bus_message_is_method_error(m, NULL));
	++*(unsigned *)userdata;
	return 1;
}

/* Calls that come while it is not known yet who asks are done in the order in which they came. */
START_TEST(test_order_of_calls)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	unsigned answers_seen = 0;
	char value[16];

	start(3);
	bus = bus_client(NULL, NULL);
	for (unsigned i = 1; i <= 100; i++) {
		snprintf(value, sizeof(value), "%u", 1000 + i);
		ck_assert_int_ge(sd_bus_call_method_async(bus, NULL, MANAGER_NAME, MANAGER_PATH,
							  MANAGER_INTERFACE, "SetSetting",
							  count_answer, &answers_seen, "sss",
							  "netdev_budget", "", value),
				 0);
	}
	while (answers_seen < 100) {
		int r = sd_bus_process(bus, NULL);

		ck_assert_int_ge(r, 0);
		if (r == 0)
			ck_assert_int_gt(sd_bus_wait(bus, PATIENCE_USEC), 0);
	}
	ck_assert(budget_is(bus, "1100"));
	stop();
}
END_TEST

/* Every call that changes something, as nobody would make it, and the action that it needs. */
static const struct {
	const char *method, *action, *types, *word[3];
} changes[] = {
	{"SetSetting", "org.softnetd1.set", "sss", {"netdev_budget", "", "450"}},
	{"ReleaseSetting", "org.softnetd1.set", "ss", {"netdev_budget", ""}},
	{"Silence", "org.softnetd1.set", "s", {"netdev_budget-squeezed"}},
	{"Unsilence", "org.softnetd1.set", "s", {"netdev_budget-squeezed"}},
	{"SetProfile", "org.softnetd1.switch-profile", "s", {"throughput"}},
	{"ClearProfile", "org.softnetd1.switch-profile", "", {}},
	{"Reload", "org.softnetd1.switch-profile", "", {}},
	{"Hold", "org.softnetd1.hold", "ss", {"throughput", ""}},
	{"Restore", "org.softnetd1.restore", "", {}},
};

static int change_number(sd_bus *bus, size_t i, bool interactive, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	expect_or_leave(sd_bus_message_new_method_call(bus, &m, MANAGER_NAME, MANAGER_PATH,
						       MANAGER_INTERFACE, changes[i].method) >= 0);
	for (size_t w = 0; changes[i].types[w]; w++)
		expect_or_leave(sd_bus_message_append(m, "s", changes[i].word[w]) >= 0);
	if (interactive)
		expect_or_leave(sd_bus_message_set_allow_interactive_authorization(m, true) >= 0);
	return sd_bus_call(bus, m, PATIENCE_USEC, error, NULL);
}

/* All changes are refused with ERROR and a text with WORDS; none is made. */
static void expect_all_refused(const char *name, const char *words)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = message_bus_client(bus_address);

	expect_or_leave(bus != NULL);
	for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

		expect_or_leave(change_number(bus, i, false, &error) < 0);
		if (!sd_bus_error_has_name(&error, name) || !strstr(error.message, words)) {
			fprintf(stderr, "%s: %s: %s\n", changes[i].method, error.name,
				error.message);
			_exit(1);
		}
		expect_or_leave(strstr(error.message, "needs root") != NULL);
	}
	expect_or_leave(budget_is(bus, "300"));
}

static void nobody_without_polkit(void)
{
	expect_all_refused(MANAGER_ERROR_NOT_AUTHORIZED, "no polkit on this bus");
}

START_TEST(test_no_polkit)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;

	if (geteuid() != 0)
		return;
	start(3);
	bus = bus_client(NULL, NULL);
	as_nobody(nobody_without_polkit);
	expect_property(bus, "Profile", "balanced");
	/* Root needs none. */
	ck_assert_int_ge(call(bus, "SetSetting", NULL, "sss", "netdev_budget", "", "450"), 0);
	stop();
}
END_TEST

static void nobody_is_not_permitted(void)
{
	expect_all_refused(MANAGER_ERROR_NOT_AUTHORIZED, "polkit does not permit it to uid 65534");
}

static void nobody_is_challenged(void)
{
	expect_all_refused(SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, "password");
}

static void nobody_is_not_known(void)
{
	expect_all_refused(MANAGER_ERROR_NOT_AUTHORIZED, "is not registered");
}

static void nobody_gets_a_strange_answer(void)
{
	expect_all_refused(MANAGER_ERROR_NOT_AUTHORIZED, "strange answer");
}

START_TEST(test_polkit_refuses)
{
	static const struct {
		enum polkit_answer answer;
		void (*client)(void);
	} refusals[] = {
		{POLKIT_NO, nobody_is_not_permitted},
		{POLKIT_CHALLENGE, nobody_is_challenged},
		{POLKIT_UNKNOWN, nobody_is_not_known},
		{POLKIT_STRANGE, nobody_gets_a_strange_answer},
	};
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;

	if (geteuid() != 0)
		return;
	start(3);
	bus = bus_client(NULL, NULL);
	for (size_t i = 0; i < ELEMENTSOF(refusals); i++) {
		struct fake_polkit polkit = fake_polkit_start(bus_address, refusals[i].answer);

		as_nobody(refusals[i].client);
		fake_polkit_stop(&polkit);
	}
	expect_property(bus, "Profile", "balanced");
	stop();
}
END_TEST

static int nobodys_name; /* a pipe: who nobody is on the bus */

static void nobody_changes(void)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = message_bus_client(bus_address);
	const char *name;

	expect_or_leave(bus && sd_bus_get_unique_name(bus, &name) >= 0);
	dprintf(nobodys_name, "%s", name);
	for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
		int r = change_number(bus, i, i % 2, &error);

		/* Two of them the engine of this test always refuses, for reasons of its own. */
		if (streq(changes[i].method, "ReleaseSetting"))
			expect_or_leave(sd_bus_error_has_name(&error, MANAGER_ERROR_REFUSED));
		else if (streq(changes[i].method, "Unsilence"))
			expect_or_leave(
				sd_bus_error_has_name(&error, MANAGER_ERROR_NO_SUCH_CHANGE));
		else
			expect_or_leave(r >= 0);
	}
	expect_or_leave(budget_is(bus, "450"));
}

/* Each call asks for its own action, for the very caller, and for a dialog only if that may be. */
START_TEST(test_polkit_permits)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	struct fake_polkit polkit;
	char name[32] = "";
	int ends[2];

	if (geteuid() != 0)
		return;
	start(3);
	bus = bus_client(NULL, NULL);
	polkit = fake_polkit_start(bus_address, POLKIT_YES);
	ck_assert_int_eq(pipe(ends), 0);
	nobodys_name = ends[1];
	as_nobody(nobody_changes);
	ck_assert_int_gt(read(ends[0], name, sizeof(name) - 1), 0);
	for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
		_cleanup_free_ char *question = fake_polkit_question(&polkit), *want = NULL;

		ck_assert_int_ge(
			asprintf(&want, "%s %s %u", name, changes[i].action, (unsigned)(i % 2)), 0);
		ck_assert_str_eq(question, want);
	}
	close(ends[0]);
	close(ends[1]);
	/* He held a profile and has left. */
	expect_profile_soon(bus, "balanced");
	fake_polkit_stop(&polkit);
	stop();
}
END_TEST

static int not_answered(sd_bus_message *m, void *userdata _unused_, sd_bus_error *error _unused_)
{
	/* The end of the connection ends the waiting, too. */
	expect_or_leave(sd_bus_message_is_method_error(m, SD_BUS_ERROR_NO_REPLY));
	return 1;
}

/* As many questions as may wait, and one more. */
static void nobody_asks_on_and_on(void)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = message_bus_client(bus_address);
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

	expect_or_leave(bus != NULL);
	for (unsigned i = 0; i < QUESTIONS_PER_UID; i++)
		expect_or_leave(sd_bus_call_method_async(
					bus, NULL, MANAGER_NAME, MANAGER_PATH, MANAGER_INTERFACE,
					"SetProfile", not_answered, NULL, "s", "throughput") >= 0);
	expect_or_leave(change_number(bus, 0, false, &error) < 0);
	expect_or_leave(sd_bus_error_has_name(&error, SD_BUS_ERROR_LIMITS_EXCEEDED));
	/* Reading goes on meanwhile. */
	expect_or_leave(budget_is(bus, "300"));
}

START_TEST(test_polkit_never_answers)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	struct fake_polkit polkit;

	if (geteuid() != 0)
		return;
	start(3);
	bus = bus_client(NULL, NULL);
	polkit = fake_polkit_start(bus_address, POLKIT_NEVER);
	/* The questions of who left are forgotten: the second one can ask as many. */
	as_nobody(nobody_asks_on_and_on);
	as_nobody(nobody_asks_on_and_on);
	ck_assert_int_ge(call(bus, "SetSetting", NULL, "sss", "netdev_budget", "", "450"), 0);
	expect_property(bus, "Profile", "balanced");
	fake_polkit_stop(&polkit);
	stop();
}
END_TEST

/* ---- holds ---- */

START_TEST(test_hold_ends_with_the_name)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	sd_bus *holder;
	char text[64];

	start(3);
	bus = bus_client(NULL, NULL);
	holder = bus_client(NULL, NULL);
	ck_assert_int_ge(call(holder, "Hold", NULL, "ss", "throughput", "a copy"), 0);
	expect_profile_soon(bus, "throughput");
	snprintf(text, sizeof(text), "pid %d: a copy", getpid());
	expect_property(bus, "StatusLine", text);
	sd_bus_close_unref(holder);
	expect_profile_soon(bus, "balanced");
	stop();
}
END_TEST

START_TEST(test_hold_of_a_process_on_the_bus)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	sd_bus *holder;
	int pidfd, ends[2];
	pid_t pid;

	start(3);
	bus = bus_client(NULL, NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		for (;;)
			pause();
	/* After the fork: the child's copy would keep its connection open. */
	holder = bus_client(NULL, NULL);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	ck_assert_int_ge(call(holder, "HoldProcess", NULL, "ssh", "throughput", "", pidfd), 0);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_lt(call(holder, "HoldProcess", NULL, "ssh", "realtime", "", ends[0]), 0);
	/* It outlives the holder's name, and does not outlive the process. */
	ck_assert_int_ge(call(holder, "Hold", NULL, "ss", "realtime", ""), 0);
	expect_profile_soon(bus, "realtime");
	sd_bus_close_unref(holder);
	expect_profile_soon(bus, "throughput");
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	expect_profile_soon(bus, "balanced");
	close(pidfd);
	close(ends[0]);
	close(ends[1]);
	stop();
}
END_TEST

/* More names than are remembered ask for changes one after the other, some holding meanwhile. */
START_TEST(test_many_callers)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	sd_bus *others[CALLERS_MAX + 16];

	start(3);
	bus = bus_client(NULL, NULL);
	ck_assert_int_ge(call(bus, "Hold", NULL, "ss", "throughput", ""), 0);
	for (size_t i = 0; i < ELEMENTSOF(others); i++) {
		others[i] = message_bus_client(bus_address);
		ck_assert_ptr_nonnull(others[i]);
		ck_assert_int_ge(
			call(others[i], "SetSetting", NULL, "sss", "netdev_budget", "", "450"), 0);
	}
	/* Who holds is never forgotten. */
	expect_property(bus, "Profile", "throughput");
	for (size_t i = 0; i < ELEMENTSOF(others); i++)
		sd_bus_flush_close_unref(others[i]);
	expect_property(bus, "Profile", "throughput");
	stop();
}
END_TEST

/* ---- the life of the bus ---- */

START_TEST(test_bus_comes_late)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;

	stop_bus();
	tree_remove(tree, "system-bus");
	start(3);
	ck_assert(answers());
	bus_daemon = message_bus_start(tree);
	bus = bus_client(NULL, NULL);
	expect_property(bus, "Profile", "balanced");
	stop();
}
END_TEST

START_TEST(test_bus_restarts)
{
	_cleanup_(sd_bus_unrefp) sd_bus *private = NULL;
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	sd_bus *holder;

	start(3);
	private = connect_client();
	for (int i = 0; i < 3; i++) {
		holder = bus_client(NULL, NULL);
		ck_assert_int_ge(call(holder, "Hold", NULL, "ss", "throughput", ""), 0);
		expect_profile_soon(private, "throughput");
		stop_bus();
		/* All its clients are gone with it. */
		expect_profile_soon(private, "balanced");
		sd_bus_unref(holder);
		bus_daemon = message_bus_start(tree);
	}
	bus = bus_client(NULL, NULL);
	expect_property(bus, "Profile", "balanced");
	stop();
}
END_TEST

static int count_newcomer(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_)
{
	const char *name, *before, *now;

	ck_assert_int_ge(sd_bus_message_read(m, "sss", &name, &before, &now), 0);
	if (*name == ':' && *now)
		++*(unsigned *)userdata;
	return 0;
}

/* Tried again by and by. */
START_TEST(test_name_is_taken)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = message_bus_client(bus_address);
	unsigned newcomers = 0;

	ck_assert_int_ge(sd_bus_request_name(bus, MANAGER_NAME, 0), 0);
	ck_assert_int_ge(sd_bus_add_match(bus, NULL,
					  "type='signal',sender='org.freedesktop.DBus',"
					  "member='NameOwnerChanged'",
					  count_newcomer, &newcomers),
			 0);
	start(3);
	/* softnetd, and softnetd again: it was refused once. */
	while (newcomers < 2) {
		int r = sd_bus_process(bus, NULL);

		ck_assert_int_ge(r, 0);
		if (r == 0)
			ck_assert_int_gt(sd_bus_wait(bus, PATIENCE_USEC), 0);
	}
	ck_assert(answers());
	ck_assert_int_ge(sd_bus_release_name(bus, MANAGER_NAME), 0);
	await_name(bus, true);
	expect_property(bus, "Profile", "balanced");
	stop();
}
END_TEST

START_TEST(test_no_address)
{
	free(bus_address);
	bus_address = strdup("nonsense");
	start(3);
	ck_assert(answers());
	stop();
}
END_TEST

/* ---- strangers ---- */

START_TEST(test_garbage_on_the_bus)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_free_ char *long_text = NULL;
	size_t size = 4U << 20;

	start(3);
	bus = bus_client(NULL, NULL);
	ck_assert_int_lt(call(bus, "SetSetting", NULL, "u", 7), 0);
	ck_assert_int_lt(call(bus, "SetSetting", NULL, ""), 0);
	ck_assert_int_lt(call(bus, "Hold", NULL, "sss", "throughput", "", ""), 0);
	ck_assert_int_lt(call(bus, "ReleaseHold", NULL, "u", UINT32_MAX), 0);
	ck_assert_int_lt(call(bus, "HoldProcess", NULL, "ss", "throughput", ""), 0);
	ck_assert_int_lt(call(bus, "Frobnicate", NULL, ""), 0);
	ck_assert_int_lt(call(bus, "Explain", NULL, "s", "\033[2J\n\t\""), 0);
	ck_assert_int_lt(sd_bus_set_property(bus, MANAGER_NAME, MANAGER_PATH, MANAGER_INTERFACE,
					     "Profile", NULL, "s", "throughput"),
			 0);
	ck_assert_int_lt(sd_bus_call_method(bus, MANAGER_NAME, "/org/softnetd1/none",
					    MANAGER_INTERFACE, "Describe", NULL, NULL, ""),
			 0);
	long_text = malloc(size + 1);
	ck_assert_ptr_nonnull(long_text);
	memset(long_text, 'x', size);
	long_text[size] = '\0';
	refuse_set(bus, long_text, "1", MANAGER_ERROR_NO_SUCH_SETTING, "no setting");
	ck_assert(budget_is(bus, "300"));
	expect_property(bus, "Profile", "balanced");
	stop();
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("system-bus");

	if (!message_bus_possible()) {
		puts("skipped: no dbus-daemon here\n0%: Checks: 0, Failures: 0, Errors: 0");
		return 0;
	}
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup_bus, teardown_bus);
	tcase_add_test(t, test_reading_on_the_bus);
	tcase_add_test(t, test_nobody_reads_on_the_bus);
	tcase_add_test(t, test_signals_on_the_bus);
	tcase_add_test(t, test_errors_on_the_bus);
	tcase_add_test(t, test_order_of_calls);
	tcase_add_test(t, test_no_polkit);
	tcase_add_test(t, test_polkit_refuses);
	tcase_add_test(t, test_polkit_permits);
	tcase_add_test(t, test_polkit_never_answers);
	tcase_add_test(t, test_hold_ends_with_the_name);
	tcase_add_test(t, test_hold_of_a_process_on_the_bus);
	tcase_add_test(t, test_many_callers);
	tcase_add_test(t, test_bus_comes_late);
	tcase_add_test(t, test_bus_restarts);
	tcase_add_test(t, test_name_is_taken);
	tcase_add_test(t, test_no_address);
	tcase_add_test(t, test_garbage_on_the_bus);
	return run_suite("system-bus", t);
}
