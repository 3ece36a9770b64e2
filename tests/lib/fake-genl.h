/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel's generic netlink for tests: the families "netdev" and "ethtool" over a few NICs, with
 * what kernels and drivers differ in, and with every error at any call. Its memory is shared with
 * forked children, so what a killed one wrote stays, as it does in a kernel.
 *
 *   struct fake_genl *g = fake_genl_new();
 *   struct fake_nic *eth0 = fake_genl_add(g, 2, 4);   ifindex 2, four instances
 *   io->genl = &g->genl;
 */
#pragma once

#include "base/genl.h"
#include "model/tunable.h"

#define FAKE_NICS  4
#define FAKE_NAPIS 16

struct fake_napi {
	unsigned id;
	int rx_queue, tx_queue; /* -1: none */
	unsigned irq;           /* 0: the driver does not tell */
	int pid;                /* 0: no thread */
	uint64_t setting[4];    /* TUNABLE_NAPI_THREADED … TUNABLE_IRQ_SUSPEND_TIMEOUT */
	/* of its receive queue: enum queue_stat, and which of them the driver counts */
	uint64_t stat[4];
	uint32_t stat_has;
};

struct fake_nic {
	unsigned ifindex;
	bool gone; /* pulled: ENODEV */
	bool down; /* napi-get does not list it */
	unsigned n_napis;
	struct fake_napi napi[FAKE_NAPIS];
	unsigned channels, channels_max; /* combined */
	uint32_t coalesce[6];            /* TUNABLE_COALESCE_ADAPTIVE_RX … */
	uint32_t coalesce_has;           /* bit by bit: the driver supports it; 0: none at all */
	uint32_t coalesce_max;           /* frames above: EINVAL; 0: no bound */
	uint32_t coalesce_step;          /* µs are rounded down to a multiple; 0: exact */
};

struct fake_genl {
	struct genl genl;
	struct fake_nic nic[FAKE_NICS];
	unsigned n_nics;
	bool no_netdev, no_ethtool; /* the family is missing */
	bool no_napi_set;           /* 6.8 to 6.12: lists, but tells and takes no settings */
	bool no_qstats;             /* before 6.10 */
	bool no_queues; /* the driver links no queue to an instance (virtio_net, 6.12) */
	bool cut;       /* every answer ends in the middle of its last attribute */

	/* The call numbered fail_at, among those that set something when only_sets, and all after it
	 * when onwards, give -error instead. */
	unsigned long fail_at;
	int error;
	bool only_sets, onwards;
	/* That set, by number, finds the NIC pulled. */
	unsigned long pull_at;
	/* SIGKILL before or after that set is made. */
	unsigned long die_before, die_after;

	unsigned long asked, sets; /* sets: also those that failed */
	char log[4096];            /* each set: "coalesce_rx_usecs=8 " … */
};

struct fake_genl *fake_genl_new(void);
void fake_genl_free(struct fake_genl *g);
DEFINE_CLEANUP(struct fake_genl *, fake_genl_free);

/* NAPIS instances, one a queue, ids from 8193 on; all coalescing supported, adaptive on. */
struct fake_nic *fake_genl_add(struct fake_genl *g, unsigned ifindex, unsigned napis);
/* A driver's reset: new ids, settings kept (napi->config). */
void fake_genl_reset(struct fake_genl *g, struct fake_nic *nic);
