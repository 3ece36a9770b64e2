/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seam beside struct io for what the kernel tells and takes by generic netlink: the families
 * "netdev" (NAPI instances and their queues) and "ethtool" (channels, rings, coalescing). One
 * request at a time, answered before the call returns. There is the live kernel (libnl), and in
 * tests a fake; a captured tree has none (io->genl is NULL).
 *
 * Errors are those of the kernel: -EOPNOTSUPP a driver that does not have it, -ENODEV a NIC that
 * went away, -EINVAL, -ERANGE, -EPERM …; and of the way there: -ENOENT a family that this kernel
 * does not have, -EPROTONOSUPPORT no generic netlink at all, -ETIMEDOUT. None is logged here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

#define GENL_ATTRS_MAX  256
#define GENL_REASON_MAX 96

struct genl_request {
	const char *family;
	uint8_t command;
	bool dump; /* all objects: one answer for each */
	size_t length;
	bool overflow; /* more attributes than fit: the request is refused with -EMSGSIZE */
	char reason[GENL_REASON_MAX]; /* the kernel's own words for a refusal (extended ack); "" */
	unsigned char attrs[GENL_ATTRS_MAX] __attribute__((aligned(4)));
};

void genl_put_u8(struct genl_request *q, uint16_t type, uint8_t v);
void genl_put_u32(struct genl_request *q, uint16_t type, uint32_t v);
/* The kernel's "uint": four bytes where the value fits, else eight. */
void genl_put_uint(struct genl_request *q, uint16_t type, uint64_t v);
/* A nest is open from the one to the other: the return value of the first belongs into the second. */
size_t genl_nest_begin(struct genl_request *q, uint16_t type);
void genl_nest_end(struct genl_request *q, size_t begin);

/* Attributes by type, 0 … MAX; NULL: not there. Unknown types are passed over. Those that are cut
 * are as if they were not there. */
struct nlattr;
void genl_parse(const void *attrs, size_t length, const struct nlattr **ret, size_t max);
/* An unsigned number of one, two, four or eight bytes; false when A is NULL or something else. */
bool genl_uint(const struct nlattr *a, uint64_t *ret);
/* What is inside a nest. */
void genl_parse_nest(const struct nlattr *a, const struct nlattr **ret, size_t max);

/* Called for each answer with its attributes. A negative return value ends the request with it. */
typedef int (*genl_reply)(const void *attrs, size_t length, void *userdata);

struct genl;
struct genl_ops {
	/* REPLY may be NULL. */
	int (*ask)(struct genl *g, struct genl_request *q, genl_reply reply, void *userdata);
	void (*free)(struct genl *g);
};
struct genl {
	const struct genl_ops *ops;
};

/* Opens no socket before the first request. */
int genl_new(struct genl **ret);
void genl_free(struct genl *g);
DEFINE_CLEANUP(struct genl *, genl_free);

/* G may be NULL: -EOPNOTSUPP. */
int genl_ask(struct genl *g, struct genl_request *q, genl_reply reply, void *userdata);
