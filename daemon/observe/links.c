/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/links.h"

#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <linux/rtnetlink.h>

/* A machine that starts hundreds of containers at once sends more than a socket holds: then the
 * loss itself is the news, and after so many datagrams the rest waits for the next call. */
#define DATAGRAMS_PER_CALL 256

struct links {
	struct nl_sock *socket;
	bool changed;
};

static int from_netlink(int error)
{
	switch (-error) {
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_NOMEM: /* ENOBUFS of the socket is this as well */
		return -ENOBUFS;
	case NLE_PERM:
		return -EPERM;
	case NLE_INTR:
		return -EINTR;
	case NLE_PROTO_MISMATCH:
	case NLE_AF_NOSUPPORT:
		return -EAFNOSUPPORT;
	default:
		return -EIO;
	}
}

static int take_message(struct nl_msg *msg, void *userdata)
{
	const struct nlmsghdr *header = nlmsg_hdr(msg);
	struct links *l = userdata;

	if (header->nlmsg_type == RTM_NEWLINK || header->nlmsg_type == RTM_DELLINK)
		l->changed = true;
	return NL_OK;
}

int links_open(struct links **ret)
{
	_cleanup_(links_closep) struct links *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->socket = nl_socket_alloc();
	if (!l->socket)
		return -ENOMEM;
	/* Events answer no request of ours. */
	nl_socket_disable_seq_check(l->socket);
	r = nl_socket_modify_cb(l->socket, NL_CB_VALID, NL_CB_CUSTOM, take_message, l);
	if (r >= 0)
		r = nl_connect(l->socket, NETLINK_ROUTE);
	if (r >= 0)
		r = nl_socket_set_nonblocking(l->socket);
	if (r >= 0)
		r = nl_socket_add_memberships(l->socket, RTNLGRP_LINK, 0);
	if (r < 0)
		return from_netlink(r);
	*ret = TAKE_PTR(l);
	return 0;
}

void links_close(struct links *l)
{
	if (l->socket)
		nl_socket_free(l->socket);
	free(l);
}

int links_fd(const struct links *l)
{
	return nl_socket_get_fd(l->socket);
}

int links_drain(struct links *l)
{
	l->changed = false;
	for (unsigned i = 0; i < DATAGRAMS_PER_CALL; i++) {
		int r = nl_recvmsgs_default(l->socket);

		if (r >= 0)
			continue;
		r = from_netlink(r);
		if (r == -EAGAIN)
			break;
		if (r == -ENOBUFS)
			l->changed = true;
		else if (r != -EINTR)
			return r;
	}
	return l->changed;
}
