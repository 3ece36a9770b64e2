/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/ethtool.h"

#include <stdio.h>

/* The kernel's header has an enum of the same name as ours. */
#define tunable_id ethtool_tunable_id
#include <linux/ethtool_netlink.h>
#undef tunable_id

#define FAMILY "ethtool"
/* Of every message of the family. */
#define HEADER 1

_Static_assert(ETHTOOL_A_COALESCE_HEADER == HEADER && ETHTOOL_A_CHANNELS_HEADER == HEADER &&
		       ETHTOOL_A_RINGS_HEADER == HEADER,
	       "the header is not the first attribute");

static const uint16_t coalesce_attributes[COALESCE_SETTINGS] = {
	[TUNABLE_COALESCE_ADAPTIVE_RX - TUNABLE_COALESCE_ADAPTIVE_RX] =
		ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX,
	[TUNABLE_COALESCE_RX_USECS - TUNABLE_COALESCE_ADAPTIVE_RX] = ETHTOOL_A_COALESCE_RX_USECS,
	[TUNABLE_COALESCE_RX_FRAMES - TUNABLE_COALESCE_ADAPTIVE_RX] =
		ETHTOOL_A_COALESCE_RX_MAX_FRAMES,
	[TUNABLE_COALESCE_ADAPTIVE_TX - TUNABLE_COALESCE_ADAPTIVE_RX] =
		ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX,
	[TUNABLE_COALESCE_TX_USECS - TUNABLE_COALESCE_ADAPTIVE_RX] = ETHTOOL_A_COALESCE_TX_USECS,
	[TUNABLE_COALESCE_TX_FRAMES - TUNABLE_COALESCE_ADAPTIVE_RX] =
		ETHTOOL_A_COALESCE_TX_MAX_FRAMES,
};

static void request(struct genl_request *q, uint8_t command, unsigned ifindex)
{
	size_t nest;

	*q = (struct genl_request){.family = FAMILY, .command = command};
	nest = genl_nest_begin(q, HEADER);
	genl_put_u32(q, ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
	genl_nest_end(q, nest);
}

static bool read_u32(const struct nlattr *a, uint32_t *ret)
{
	uint64_t v;

	if (!genl_uint(a, &v) || v > UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static int take_channels(const void *attrs, size_t length, void *userdata)
{
	const struct nlattr *a[ETHTOOL_A_CHANNELS_MAX + 1];
	struct nic_numbers *n = userdata;

	genl_parse(attrs, length, a, ETHTOOL_A_CHANNELS_MAX);
	n->have |= read_u32(a[ETHTOOL_A_CHANNELS_RX_COUNT], &n->rx);
	n->have |= read_u32(a[ETHTOOL_A_CHANNELS_TX_COUNT], &n->tx);
	n->have |= read_u32(a[ETHTOOL_A_CHANNELS_COMBINED_COUNT], &n->combined);
	(void)read_u32(a[ETHTOOL_A_CHANNELS_RX_MAX], &n->rx_max);
	(void)read_u32(a[ETHTOOL_A_CHANNELS_TX_MAX], &n->tx_max);
	(void)read_u32(a[ETHTOOL_A_CHANNELS_COMBINED_MAX], &n->combined_max);
	return 0;
}

static int take_rings(const void *attrs, size_t length, void *userdata)
{
	const struct nlattr *a[ETHTOOL_A_RINGS_TX + 1];
	struct nic_numbers *n = userdata;

	genl_parse(attrs, length, a, ETHTOOL_A_RINGS_TX);
	n->have |= read_u32(a[ETHTOOL_A_RINGS_RX], &n->rx);
	n->have |= read_u32(a[ETHTOOL_A_RINGS_TX], &n->tx);
	(void)read_u32(a[ETHTOOL_A_RINGS_RX_MAX], &n->rx_max);
	(void)read_u32(a[ETHTOOL_A_RINGS_TX_MAX], &n->tx_max);
	return 0;
}

static int take_coalesce(const void *attrs, size_t length, void *userdata)
{
	const struct nlattr *a[ETHTOOL_A_COALESCE_MAX + 1];
	struct coalesce *c = userdata;

	genl_parse(attrs, length, a, ETHTOOL_A_COALESCE_MAX);
	for (size_t i = 0; i < COALESCE_SETTINGS; i++)
		if (read_u32(a[coalesce_attributes[i]], &c->value[i]))
			c->have |= 1U << i;
	return 0;
}

int ethtool_read_coalesce(struct io *io, unsigned ifindex, struct coalesce *ret)
{
	struct genl_request q;

	*ret = (struct coalesce){};
	request(&q, ETHTOOL_MSG_COALESCE_GET, ifindex);
	return genl_ask(io->genl, &q, take_coalesce, ret);
}

void ethtool_coalesce_request(struct genl_request *q, enum tunable_id id, unsigned ifindex,
			      uint32_t value)
{
	uint16_t attribute = coalesce_attributes[id - TUNABLE_COALESCE_ADAPTIVE_RX];

	request(q, ETHTOOL_MSG_COALESCE_SET, ifindex);
	if (id == TUNABLE_COALESCE_ADAPTIVE_RX || id == TUNABLE_COALESCE_ADAPTIVE_TX)
		genl_put_u8(q, attribute, (uint8_t)value);
	else
		genl_put_u32(q, attribute, value);
}

/* The family itself is missing, or cannot be asked: a driver's refusal is none of these. */
static bool cannot_ask(int error)
{
	return error == -ENOENT || error == -EPROTONOSUPPORT || error == -EIO ||
	       error == -ETIMEDOUT;
}

void ethtool_discover(struct io *io, struct topology *t, struct source_status *status)
{
	struct genl_request q;
	int r = 0;

	if (!io->genl)
		return;
	for (unsigned i = 0; i < t->n_nics && !cannot_ask(r); i++) {
		struct nic *nic = &t->nic[i];

		if (!*nic->device)
			continue;
		request(&q, ETHTOOL_MSG_CHANNELS_GET, nic->ifindex);
		r = genl_ask(io->genl, &q, take_channels, &nic->channels);
		if (cannot_ask(r))
			break;
		request(&q, ETHTOOL_MSG_RINGS_GET, nic->ifindex);
		r = genl_ask(io->genl, &q, take_rings, &nic->rings);
	}
	*status = (struct source_status){.state = SOURCE_OK};
	if (!cannot_ask(r))
		return;
	status->state = r == -ENOENT || r == -EPROTONOSUPPORT ? SOURCE_ABSENT : SOURCE_STRANGE;
	status->error = r;
	snprintf(status->text, sizeof(status->text),
		 "generic netlink, family ethtool: %s: channels, rings and coalescing are unknown",
		 r == -ENOENT ? "this kernel does not have it" : strerror(-r));
}
