/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/links.h"

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <linux/ethtool_netlink.h>
#include <linux/rtnetlink.h>

/* A machine that starts hundreds of containers at once sends more than a socket holds: then the
 * loss itself is the news, and after so many datagrams the rest waits for the next call. */
#define DATAGRAMS_PER_CALL 256

struct links {
	struct nl_sock *socket;
	int all; /* the news that a lost message may have been */
	int news;
};

static int from_netlink(int error)
{
	switch (-error) {
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_NOMEM: /* ENOBUFS of the socket is this as well */
		return -ENOBUFS;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
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

static int take_link(struct nl_msg *msg, void *userdata)
{
	const struct nlmsghdr *header = nlmsg_hdr(msg);
	struct links *l = userdata;

	if (header->nlmsg_type == RTM_NEWLINK || header->nlmsg_type == RTM_DELLINK)
		l->news |= NEWS_LINK;
	return NL_OK;
}

static int take_ethtool(struct nl_msg *msg, void *userdata)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct links *l = userdata;

	if (!genlmsg_valid_hdr(header, 0))
		return NL_OK;
	switch (genlmsg_hdr(header)->cmd) {
	case ETHTOOL_MSG_CHANNELS_NTF:
	case ETHTOOL_MSG_RINGS_NTF:
		l->news |= NEWS_RESET;
		break;
	case ETHTOOL_MSG_COALESCE_NTF:
		l->news |= NEWS_COALESCE;
		break;
	}
	return NL_OK;
}

/* Connected to PROTOCOL, and a member of nothing yet. */
static int links_new(int protocol, int all, struct links **ret)
{
	_cleanup_(links_closep) struct links *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->all = all;
	l->socket = nl_socket_alloc();
	if (!l->socket)
		return -ENOMEM;
	r = nl_connect(l->socket, protocol);
	if (r < 0)
		return from_netlink(r);
	*ret = TAKE_PTR(l);
	return 0;
}

static int join(struct links *l, int group, nl_recvmsg_msg_cb_t take)
{
	int r;

	/* Events answer no request of ours. */
	nl_socket_disable_seq_check(l->socket);
	r = nl_socket_modify_cb(l->socket, NL_CB_VALID, NL_CB_CUSTOM, take, l);
	if (r >= 0)
		r = nl_socket_set_nonblocking(l->socket);
	if (r >= 0)
		r = nl_socket_add_memberships(l->socket, group, 0);
	return r < 0 ? from_netlink(r) : 0;
}

int links_open(struct links **ret)
{
	_cleanup_(links_closep) struct links *l = NULL;
	int r;

	r = links_new(NETLINK_ROUTE, NEWS_LINK, &l);
	if (r >= 0)
		r = join(l, RTNLGRP_LINK, take_link);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(l);
	return 0;
}

int links_open_ethtool(struct links **ret)
{
	_cleanup_(links_closep) struct links *l = NULL;
	int r, group;

	r = links_new(NETLINK_GENERIC, NEWS_RESET | NEWS_COALESCE, &l);
	if (r < 0)
		return r;
	group = genl_ctrl_resolve_grp(l->socket, ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME);
	if (group < 0)
		return from_netlink(group);
	r = join(l, group, take_ethtool);
	if (r < 0)
		return r;
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
	l->news = 0;
	for (unsigned i = 0; i < DATAGRAMS_PER_CALL; i++) {
		int r = nl_recvmsgs_default(l->socket);

		if (r >= 0)
			continue;
		r = from_netlink(r);
		if (r == -EAGAIN)
			break;
		if (r == -ENOBUFS)
			l->news = l->all;
		else if (r != -EINTR)
			return r;
	}
	return l->news;
}
