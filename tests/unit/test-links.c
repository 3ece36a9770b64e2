/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link events, in a network namespace of our own; skipped where none can be made. */
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/run.h"
#include "observe/links.h"

static bool own_namespace(void)
{
	return unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

static void set_lo(bool up)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = up ? IFF_UP : 0};

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ioctl(fd, SIOCSIFFLAGS, &request), 0);
}

static bool readable(const struct links *l)
{
	struct pollfd p = {.fd = links_fd(l), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

START_TEST(changes_are_told)
{
	_cleanup_(links_closep) struct links *l = NULL;

	ck_assert_int_eq(links_open(&l), 0);
	ck_assert(!readable(l));
	ck_assert_int_eq(links_drain(l), 0); /* does not block */
	set_lo(true);
	ck_assert(readable(l));
	ck_assert_int_eq(links_drain(l), 1);
	ck_assert(!readable(l));
	ck_assert_int_eq(links_drain(l), 0);
}
END_TEST

/* More events than the socket holds: the loss is told as a change, and the socket lives on. */
START_TEST(overrun)
{
	_cleanup_(links_closep) struct links *l = NULL;

	ck_assert_int_eq(links_open(&l), 0);
	for (unsigned i = 0; i < 2000; i++)
		set_lo(i % 2);
	for (unsigned i = 0; i < 100 && readable(l); i++)
		ck_assert_int_eq(links_drain(l), 1);
	ck_assert(!readable(l));
	set_lo(false); /* the last of them had put it up */
	ck_assert_int_eq(links_drain(l), 1);
	ck_assert_int_eq(links_drain(l), 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("links");

	tcase_set_timeout(t, 60);
	if (!own_namespace()) {
		printf("100%%: Checks: 0, Failures: 0, Errors: 0\n");
		fprintf(stderr, "links: skipped: no network namespace can be made here\n");
		return 0;
	}
	tcase_add_test(t, changes_are_told);
	tcase_add_test(t, overrun);
	return run_suite("links", t);
}
