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

/* ---- over a restart ---- */

#define HOLDS "run/softnetd/holds.json"
#define BOOT  "11111111-2222-3333-4444-555555555555"

static void boot_id(const char *id)
{
	tree_printf(tree, "proc/sys/kernel/random/boot_id", "%s\n", id);
}

/* What a daemon that is gone left behind, for PID as begun at START. */
static void left_behind(const char *boot, pid_t pid, uint64_t start_time, const char *profile)
{
	boot_id(BOOT);
	tree_printf(tree, HOLDS,
		    "{\"version\":1,\"boot_id\":\"%s\",\"holds\":[{\"pid\":%d,\"start\":%llu,"
		    "\"profile\":\"%s\",\"reason\":\"test\"}]}",
		    boot, (int)pid, (unsigned long long)start_time, profile);
}

/* SIGTERM or SIGKILL: the hold is there again, in its old order, and ends with its process. */
START_TEST(test_hold_outlives_a_restart)
{
	_cleanup_(sd_bus_unrefp) sd_bus *reader = NULL;
	_cleanup_close_ int one = -1, two = -1;
	pid_t first, second;
	sd_bus *bus;

	boot_id(BOOT);
	start(3);
	bus = connect_client();
	first = sleeper(&one);
	second = sleeper(&two);
	ck_assert_int_ge(hold_process(bus, "throughput", one, NULL), 0);
	ck_assert_int_ge(hold_process(bus, "realtime", two, NULL), 0);
	hold_client(bus, "powersave", ""); /* this one ends with its connection */
	sd_bus_close_unref(bus);
	if (_i) {
		ck_assert_int_eq(kill(server, SIGKILL), 0);
		ck_assert_int_eq(waitpid(server, NULL, 0), server);
	} else {
		stop();
	}
	start(3);
	reader = connect_client();
	expect_profile_soon(reader, "realtime");
	kill_sleeper(second);
	expect_profile_soon(reader, "throughput");
	kill_sleeper(first);
	expect_profile_soon(reader, "balanced");
	/* Nothing is kept of what ended. */
	for (unsigned i = 0; i < 500 && tree_has(tree, HOLDS); i++)
		usleep(10000);
	ck_assert(!tree_has(tree, HOLDS));
	stop();
}
END_TEST

START_TEST(test_hold_ended_while_nobody_looked)
{
	_cleanup_(sd_bus_unrefp) sd_bus *reader = NULL;
	_cleanup_close_ int pidfd = -1;
	uint64_t began;
	pid_t pid = sleeper(&pidfd);

	ck_assert_int_eq(process_start(pid, &began), 0);
	left_behind(BOOT, pid, began, "throughput");
	kill_sleeper(pid);
	start(3);
	reader = connect_client();
	expect_property(reader, "Profile", "balanced");
	ck_assert(!tree_has(tree, HOLDS));
	stop();
}
END_TEST

/* The same pid, but not the same process, boot, or a profile that there is. */
START_TEST(test_hold_that_is_not_taken_up)
{
	_cleanup_(sd_bus_unrefp) sd_bus *reader = NULL;
	_cleanup_close_ int pidfd = -1;
	pid_t pid = sleeper(&pidfd);
	uint64_t began;

	ck_assert_int_eq(process_start(pid, &began), 0);
	switch (_i) {
	case 0: /* all is well: what the others differ from */
		left_behind(BOOT, pid, began, "throughput");
		break;
	case 1:
		left_behind(BOOT, pid, began - 1, "throughput");
		break;
	case 2:
		left_behind("66666666-2222-3333-4444-555555555555", pid, began, "throughput");
		break;
	case 3:
		left_behind(BOOT, pid, began, "bad");
		break;
	case 4:
		left_behind(BOOT, pid, began, "throughput");
		tree_remove(tree, "proc/sys/kernel/random/boot_id");
		break;
	}
	start(3);
	reader = connect_client();
	expect_property(reader, "Profile", _i == 0 ? "throughput" : "balanced");
	ck_assert_int_eq(tree_has(tree, HOLDS), _i == 0);
	stop();
	kill_sleeper(pid);
}
END_TEST

START_TEST(test_malformed_holds_file)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"7",
		"\xff\x00",
		"{\"version\":1}",
		"{\"version\":2,\"boot_id\":\"" BOOT "\",\"holds\":[]}",
		"{\"version\":1,\"boot_id\":7,\"holds\":[]}",
		"{\"version\":1,\"boot_id\":\"" BOOT "\",\"holds\":{}}",
		"{\"version\":1,\"boot_id\":\"" BOOT "\",\"holds\":[7]}",
		"{\"version\":1,\"boot_id\":\"" BOOT "\",\"holds\":[{\"pid\":-1,\"start\":1,"
		"\"profile\":\"a\",\"reason\":\"\"}]}",
		"{\"version\":1,\"boot_id\":\"" BOOT
		"\",\"holds\":[{\"pid\":99999999999,\"start\":1,"
		"\"profile\":\"a\",\"reason\":\"\"}]}",
		"{\"version\":1,\"boot_id\":\"" BOOT "\",\"holds\":[{\"pid\":1,\"start\":-1,"
		"\"profile\":\"a\",\"reason\":\"\"}]}",
		"{\"version\":1,\"boot_id\":\"" BOOT "\",\"holds\":[{\"pid\":1,\"start\":1,"
		"\"profile\":null,\"reason\":\"\"}]}",
	};
	_cleanup_(sd_bus_unrefp) sd_bus *reader = NULL;

	boot_id(BOOT);
	tree_write(tree, HOLDS, texts[_i]);
	start(3);
	reader = connect_client();
	expect_property(reader, "Profile", "balanced");
	/* It is not looked at for ever. */
	ck_assert(!tree_has(tree, HOLDS));
	stop();
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
	tcase_add_loop_test(t, test_hold_outlives_a_restart, 0, 2);
	tcase_add_test(t, test_hold_ended_while_nobody_looked);
	tcase_add_loop_test(t, test_hold_that_is_not_taken_up, 0, 5);
	tcase_add_loop_test(t, test_malformed_holds_file, 0, 14);
	return run_suite("bus-holds", t);
}
