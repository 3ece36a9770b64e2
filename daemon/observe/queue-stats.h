/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each receive queue of a NIC counted, as far as its driver tells by the family "netdev" (qstats-get,
 * since Linux 6.10; virtio_net, bnxt, mlx5, gve, ena …): packets, and the three ways to lose one before
 * softnet_stat sees it. Asked for status, not in a tick. Counters begin with the queue and are its own,
 * unlike those of /proc/net/dev; what a driver does not count is unknown, not 0.
 */
#pragma once

#include "base/io.h"

enum queue_stat {
	QUEUE_PACKETS,
	QUEUE_ALLOC_FAIL,  /* no memory for it */
	QUEUE_HW_DROPS,    /* by the NIC, whatever for */
	QUEUE_HW_OVERRUNS, /* among these: the ring was full, so the CPU came too late */
	_QUEUE_STAT_MAX,
};

/* "rx_packets", …: as in the kernel's netlink specification. */
const char *queue_stat_to_string(enum queue_stat s);

struct queue_stats {
	unsigned queue;
	uint32_t have; /* bit by enum queue_stat */
	uint64_t value[_QUEUE_STAT_MAX];
};

/* Those of the receive queues of IFINDEX that are told, by queue, in RET, which the caller frees. 0 with none
 * when the driver counts nothing; -ENOENT without the family; -EOPNOTSUPP by a kernel or on a tree that has
 * no such statistics; -ENODEV, -ENOMEM. */
int queue_stats_read(struct io *io, unsigned ifindex, struct queue_stats **ret, size_t *ret_n);
