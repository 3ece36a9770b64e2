/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/genl.h"

#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>
#include <sys/time.h>

/* --- attributes --- */

static void put(struct genl_request *q, uint16_t type, const void *data, size_t size)
{
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = type};

	if (q->overflow || q->length + NLA_HDRLEN + NLA_ALIGN(size) > sizeof(q->attrs)) {
		q->overflow = true;
		return;
	}
	memset(q->attrs + q->length, 0, NLA_HDRLEN + NLA_ALIGN(size));
	memcpy(q->attrs + q->length, &a, sizeof(a));
	if (size > 0)
		memcpy(q->attrs + q->length + NLA_HDRLEN, data, size);
	q->length += NLA_HDRLEN + NLA_ALIGN(size);
}

void genl_put_u8(struct genl_request *q, uint16_t type, uint8_t v)
{
	put(q, type, &v, sizeof(v));
}

void genl_put_u32(struct genl_request *q, uint16_t type, uint32_t v)
{
	put(q, type, &v, sizeof(v));
}

void genl_put_uint(struct genl_request *q, uint16_t type, uint64_t v)
{
	if (v <= UINT32_MAX)
		genl_put_u32(q, type, (uint32_t)v);
	else
		put(q, type, &v, sizeof(v));
}

size_t genl_nest_begin(struct genl_request *q, uint16_t type)
{
	size_t begin = q->length;

	put(q, type | NLA_F_NESTED, NULL, 0);
	return begin;
}

void genl_nest_end(struct genl_request *q, size_t begin)
{
	uint16_t length = (uint16_t)(q->length - begin);

	if (!q->overflow)
		memcpy(q->attrs + begin + offsetof(struct nlattr, nla_len), &length,
		       sizeof(length));
}

void genl_parse(const void *attrs, size_t length, const struct nlattr **ret, size_t max)
{
	const struct nlattr *a;
	int rest;

	for (size_t i = 0; i <= max; i++)
		ret[i] = NULL;
	nla_for_each_attr(a, (struct nlattr *)attrs, (int)length,
			  rest) if ((size_t)nla_type(a) <= max) ret[nla_type(a)] = a;
}

void genl_parse_nest(const struct nlattr *a, const struct nlattr **ret, size_t max)
{
	if (a)
		genl_parse(nla_data(a), (size_t)nla_len(a), ret, max);
	else
		genl_parse("", 0, ret, max);
}

bool genl_uint(const struct nlattr *a, uint64_t *ret)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	if (!a)
		return false;
	switch (nla_len(a)) {
	case 1:
		*ret = *(const uint8_t *)nla_data(a);
		return true;
	case 2:
		memcpy(&v16, nla_data(a), sizeof(v16));
		*ret = v16;
		return true;
	case 4:
		memcpy(&v32, nla_data(a), sizeof(v32));
		*ret = v32;
		return true;
	case 8: /* aligned to four bytes only */
		memcpy(&v64, nla_data(a), sizeof(v64));
		*ret = v64;
		return true;
	default:
		return false;
	}
}

int genl_ask(struct genl *g, struct genl_request *q, genl_reply reply, void *userdata)
{
	q->reason[0] = '\0';
	if (!g)
		return -EOPNOTSUPP;
	if (q->overflow)
		return -EMSGSIZE;
	return g->ops->ask(g, q, reply, userdata);
}

void genl_free(struct genl *g)
{
	if (g)
		g->ops->free(g);
}

/* --- the live kernel --- */

/* The kernel answers while it takes the request: this long only a lock that somebody else holds
 * (a driver that resets under rtnl) can take. Well below the unit's watchdog. */
#define TIMEOUT_SEC 5

struct live {
	struct genl genl;
	struct nl_sock *socket; /* NULL: not open */
	struct {
		const char *name;
		int id; /* 0: not asked yet */
	} family[2];
};

/* One request on its way. */
struct exchange {
	struct genl_request *request;
	genl_reply reply;
	void *userdata;
	bool done;
	int error;
};

static int take_answer(struct nl_msg *msg, void *userdata)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct exchange *x = userdata;

	if (x->reply && x->error >= 0)
		x->error = x->reply(genlmsg_attrdata(header, 0), (size_t)genlmsg_attrlen(header, 0),
				    x->userdata);
	return NL_OK;
}

static int take_ack(struct nl_msg *msg _unused_, void *userdata)
{
	((struct exchange *)userdata)->done = true;
	return NL_STOP;
}

/* The end of a dump carries the error that ended it early. */
static int take_end(struct nl_msg *msg, void *userdata)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct exchange *x = userdata;
	int error;

	x->done = true;
	if (nlmsg_datalen(header) >= (int)sizeof(error)) {
		memcpy(&error, nlmsg_data(header), sizeof(error));
		if (error < 0 && x->error >= 0)
			x->error = error;
	}
	return NL_STOP;
}

/* The objects changed while they were listed. */
static int take_interrupted(struct nl_msg *msg _unused_, void *userdata)
{
	struct exchange *x = userdata;

	if (x->error >= 0)
		x->error = -EAGAIN;
	return NL_OK;
}

static void read_reason(const struct nlmsghdr *header, struct genl_request *q)
{
	const struct nlattr *attrs[NLMSGERR_ATTR_MSG + 1];
	size_t skip = NLMSG_ALIGN(sizeof(struct nlmsgerr));

	/* The request is not sent back with the error: NETLINK_CAP_ACK. */
	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS) || !(header->nlmsg_flags & NLM_F_CAPPED) ||
	    (size_t)nlmsg_datalen(header) <= skip)
		return;
	genl_parse((const char *)nlmsg_data(header) + skip, (size_t)nlmsg_datalen(header) - skip,
		   attrs, NLMSGERR_ATTR_MSG);
	if (attrs[NLMSGERR_ATTR_MSG])
		(void)nla_strlcpy(q->reason, attrs[NLMSGERR_ATTR_MSG], sizeof(q->reason));
}

static int take_error(struct sockaddr_nl *from _unused_, struct nlmsgerr *e, void *userdata)
{
	struct exchange *x = userdata;

	read_reason((const struct nlmsghdr *)((const char *)e - NLMSG_HDRLEN), x->request);
	x->error = e->error;
	x->done = true;
	return NL_STOP;
}

static int from_netlink(int error)
{
	switch (-error) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_AGAIN: /* the socket's timeout */
		return -ETIMEDOUT;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_PROTO_MISMATCH:
	case NLE_AF_NOSUPPORT:
	case NLE_OPNOTSUPP:
		return -EPROTONOSUPPORT;
	default:
		return -EIO;
	}
}

static void live_close(struct live *l)
{
	nl_socket_free(TAKE_PTR(l->socket));
	for (size_t i = 0; i < ELEMENTSOF(l->family); i++)
		l->family[i].id = 0;
}

static int live_open(struct live *l)
{
	struct timeval timeout = {.tv_sec = TIMEOUT_SEC};
	int on = 1, r, fd;

	if (l->socket)
		return 0;
	l->socket = nl_socket_alloc();
	if (!l->socket)
		return -ENOMEM;
	r = genl_connect(l->socket);
	if (r < 0) {
		live_close(l);
		return from_netlink(r);
	}
	fd = nl_socket_get_fd(l->socket);
	/* The words of a refusal are welcome, but not needed. */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0) {
		r = -errno;
		live_close(l);
		return r;
	}
	return 0;
}

static int family_id(struct live *l, const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(l->family); i++) {
		int id = l->family[i].id;

		if (id > 0 && streq(l->family[i].name, name))
			return id;
		if (id > 0)
			continue;
		id = genl_ctrl_resolve(l->socket, name);
		if (id < 0)
			return from_netlink(id);
		l->family[i].name = name;
		l->family[i].id = id;
		return id;
	}
	return -ENOSPC;
}

static int receive(struct live *l, struct exchange *x)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int r;

	if (!cb)
		return -ENOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, take_answer, x);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, take_ack, x);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, take_end, x);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, take_interrupted, x);
	nl_cb_err(cb, NL_CB_CUSTOM, take_error, x);
	do {
		r = nl_recvmsgs(l->socket, cb);
	} while (!x->done && r >= 0);
	nl_cb_put(cb);
	return x->done ? x->error : from_netlink(r);
}

static int live_ask(struct genl *g, struct genl_request *q, genl_reply reply, void *userdata)
{
	struct live *l = (struct live *)g;
	struct exchange x = {.request = q, .reply = reply, .userdata = userdata};
	struct nl_msg *msg;
	int r, family;

	r = live_open(l);
	if (r < 0)
		return r;
	family = family_id(l, q->family);
	if (family < 0)
		return family;
	msg = nlmsg_alloc();
	if (!msg)
		return -ENOMEM;
	r = -ENOMEM;
	if (genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, q->dump ? NLM_F_DUMP : NLM_F_ACK,
			q->command, 1) &&
	    nlmsg_append(msg, q->attrs, q->length, NLMSG_ALIGNTO) >= 0)
		r = nl_send_auto(l->socket, msg);
	nlmsg_free(msg);
	if (r < 0)
		r = r == -ENOMEM ? r : from_netlink(r);
	else
		r = receive(l, &x);
	/* What may still come for this request must not be taken for an answer to the next. */
	if (!x.done)
		live_close(l);
	return r;
}

static void live_free(struct genl *g)
{
	struct live *l = (struct live *)g;

	live_close(l);
	free(l);
}

static const struct genl_ops live_ops = {.ask = live_ask, .free = live_free};

int genl_new(struct genl **ret)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->genl.ops = &live_ops;
	*ret = &l->genl;
	return 0;
}
