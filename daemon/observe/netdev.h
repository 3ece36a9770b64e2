/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/net/dev: receive counters as the drivers count them, before GRO: what softnet_stat's column
 * 1 cannot tell (kernel-facts 1.4). net/core/net-procfs.c, dev_seq_printf_stats().
 *
 * "drop" is rx_dropped + rx_missed_errors and grows at idle too, from unknown protocols (case G14);
 * "fifo" is what the NIC's own ring lost, where the driver says so: that is nic_sample.rx_missed.
 * Only the reader's own network namespace is shown.
 */
#pragma once

#include "model/snapshot.h"
#include "model/topology.h"

/* Fills S->nic[] for the NICs of T, found by name. Names T does not know are passed over: virtual
 * interfaces come and go. S->source[SOURCE_NETDEV] becomes SOURCE_OK or SOURCE_STRANGE. */
void netdev_into_snapshot(const char *text, size_t length, const struct topology *t,
			  struct snapshot *s);
