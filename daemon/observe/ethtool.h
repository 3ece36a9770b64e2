/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the family "ethtool" of generic netlink tells about a NIC: channels, rings, coalescing. Never
 * the text of the program ethtool (TuneD#726). A driver that does not have something answers
 * EOPNOTSUPP, or leaves the attribute out.
 */
#pragma once

#include "base/io.h"
#include "model/snapshot.h"
#include "model/topology.h"

/* Coalescing: value i belongs to TUNABLE_COALESCE_ADAPTIVE_RX + i, and counts when bit i of HAVE is
 * set. */
#define COALESCE_SETTINGS (TUNABLE_COALESCE_TX_FRAMES - TUNABLE_COALESCE_ADAPTIVE_RX + 1)
struct coalesce {
	uint32_t have;
	uint32_t value[COALESCE_SETTINGS];
};

/* Channels and rings of all NICs with a device. STATUS says when the family is missing; without
 * generic netlink (a captured tree) it stays as it is. */
void ethtool_discover(struct io *io, struct topology *t, struct source_status *status);

/* 0; -EOPNOTSUPP the driver has no coalescing; -ENODEV the NIC is gone; else as genl_ask(). */
int ethtool_read_coalesce(struct io *io, unsigned ifindex, struct coalesce *ret);

/* The request that sets one of the coalescing settings: for act/. */
void ethtool_coalesce_request(struct genl_request *q, enum tunable_id id, unsigned ifindex,
			      uint32_t value);
