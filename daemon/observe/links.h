/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * News of network interfaces, from two senders:
 *
 *   RTNLGRP_LINK            one came, went, was renamed or changed its state: that is when drivers ask
 *                           for interrupts anew (case D11)
 *   "monitor" of "ethtool"  somebody changed channels, rings or coalescing, by netlink or ioctl. It
 *                           exists since 5.6 (net/ethtool/netlink.c, ethnl_default_notify())
 *
 * Only that something changed is told, never what: the observer looks for itself, and a lost message
 * (ENOBUFS) is a change too. The family "netdev" has a group as well, "mgmt"; it tells of devices that
 * come and go, as RTNLGRP_LINK does, and nothing of NAPI instances and queues (up to 7.3).
 */
#pragma once

#include "base/util.h"

struct links;

/* What links_drain() returns: one or more of these. */
enum {
	NEWS_LINK = 1,
	NEWS_RESET = 2,    /* channels or rings: a driver is reset for that */
	NEWS_COALESCE = 4, /* also by ourselves */
};

/* A non-blocking socket. Only for a live host. Negative errno: there will be no news, and the slow
 * look has to do. links_open_ethtool(): -ENOENT for a kernel without the family. */
int links_open(struct links **ret);
int links_open_ethtool(struct links **ret);
void links_close(struct links *l);
DEFINE_CLEANUP(struct links *, links_close);

/* For the event loop: readable when something changed. */
int links_fd(const struct links *l);

/* Takes in all that has come. The news; 0: none; a negative errno when the socket is of no more use. */
int links_drain(struct links *l);
