/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds of a profile over the private socket: they end with what they follow. */
#include "lib/bus-fixture.h"

static uint32_t hold_client(sd_bus *bus, const char *profile, const char *reason)
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

static int drop_hold(sd_bus *bus, uint32_t cookie)
{
	return sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, "ReleaseHold", NULL,
				  NULL, "u", cookie);
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
	hold_client(one, "throughput", "a copy");
	snprintf(holder, sizeof(holder), "pid %d: a copy", getpid());
	expect_property(reader, "StatusLine", holder);
	expect_property(reader, "Profile", "throughput");
	hold_client(two, "realtime", "");
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
	cookie = hold_client(one, "throughput", "");
	ck_assert_int_lt(drop_hold(two, cookie + 1), 0);
	/* Whoever may hold may end another's hold. */
	ck_assert_int_ge(drop_hold(two, cookie), 0);
	expect_property(one, "Profile", "balanced");
	ck_assert_int_lt(drop_hold(one, cookie), 0);
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
	hold_client(bus, "throughput", "");
	ck_assert_int_ge(hold_process(bus, "realtime", pidfd, NULL), 0);
	stop();
	kill_sleeper(pid);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("bus-holds");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_hold_ends_with_its_client);
	tcase_add_test(t, test_hold_is_released);
	tcase_add_test(t, test_hold_follows_a_process_and_not_the_client);
	tcase_add_test(t, test_hold_that_cannot_be);
	tcase_add_test(t, test_stop_while_held);
	return run_suite("bus-holds", t);
}
