/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link and ethtool events, in a network namespace of our own; skipped where none can be made. */
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
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
	ck_assert_int_eq(links_drain(l), NEWS_LINK);
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
		ck_assert_int_eq(links_drain(l), NEWS_LINK);
	ck_assert(!readable(l));
	set_lo(false); /* the last of them had put it up */
	ck_assert_int_eq(links_drain(l), NEWS_LINK);
	ck_assert_int_eq(links_drain(l), 0);
}
END_TEST

static int ethtool(const char *name, void *command)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_data = command};

	ck_assert_int_ge(fd, 0);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

/* Drivers of the kernel itself that have these: tun coalesces, and veth has channels. */
START_TEST(coalescing_is_told)
{
	_cleanup_close_ int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	_cleanup_(links_closep) struct links *l = NULL;
	struct ifreq request = {.ifr_name = "t0", .ifr_flags = IFF_TAP | IFF_NO_PI};
	struct ethtool_coalesce c = {.cmd = ETHTOOL_SCOALESCE, .rx_max_coalesced_frames = 4};
	int r = links_open_ethtool(&l);

	if (fd < 0 || r == -ENOENT || ioctl(fd, TUNSETIFF, &request) < 0) {
		fprintf(stderr, "links: coalescing is skipped: no tun here\n");
		return;
	}
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(links_drain(l), 0); /* does not block */
	ck_assert_int_eq(ethtool("t0", &c), 0);
	ck_assert(readable(l));
	ck_assert_int_eq(links_drain(l), NEWS_COALESCE);
	ck_assert_int_eq(links_drain(l), 0);
	/* More than the socket holds. */
	for (unsigned i = 0; i < 4000; i++) {
		c.rx_max_coalesced_frames = i % 16;
		ck_assert_int_eq(ethtool("t0", &c), 0);
	}
	ck_assert_int_ge(links_drain(l), NEWS_COALESCE);
	for (unsigned i = 0; i < 100 && readable(l); i++)
		ck_assert_int_gt(links_drain(l), 0);
	ck_assert(!readable(l));
}
END_TEST

static int add_veth(void)
{
	struct nl_sock *s = nl_socket_alloc();
	struct rtnl_link *link = rtnl_link_veth_alloc(), *peer;
	int r = -NLE_NOMEM;

	if (s && link) {
		rtnl_link_set_name(link, "v0");
		rtnl_link_set_num_tx_queues(link, 2);
		rtnl_link_set_num_rx_queues(link, 2);
		peer = rtnl_link_veth_get_peer(link); /* a reference of our own */
		rtnl_link_set_name(peer, "v1");
		rtnl_link_put(peer);
		r = nl_connect(s, NETLINK_ROUTE);
	}
	if (r >= 0)
		r = rtnl_link_add(s, link, NLM_F_CREATE | NLM_F_EXCL);
	if (link)
		rtnl_link_veth_release(link);
	nl_socket_free(s);
	return r;
}

START_TEST(channels_are_told)
{
	_cleanup_(links_closep) struct links *l = NULL;
	struct ethtool_channels c = {.cmd = ETHTOOL_SCHANNELS, .rx_count = 2, .tx_count = 2};
	int r = links_open_ethtool(&l);

	if (r == -ENOENT || add_veth() < 0) {
		fprintf(stderr, "links: channels are skipped: no veth here\n");
		return;
	}
	ck_assert_int_eq(r, 0);
	/* One of the two is a change, whatever it begins with. */
	ck_assert_int_eq(ethtool("v0", &c), 0);
	c.rx_count = c.tx_count = 1;
	ck_assert_int_eq(ethtool("v0", &c), 0);
	ck_assert_int_eq(links_drain(l), NEWS_RESET);
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
	tcase_add_test(t, coalescing_is_told);
	tcase_add_test(t, channels_are_told);
	return run_suite("links", t);
}
