/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of the generic netlink family "netdev", which the headers of Debian 12 (Linux 6.1) do not
 * have yet. They are ABI: taken from include/uapi/linux/netdev.h of 6.12 and 7.3, where the later
 * ones follow the earlier ones. Whether a kernel knows one is never told by its version, but by
 * what it answers: an attribute that does not come back is unknown.
 *
 * The family "ethtool" is in linux/ethtool_netlink.h of 6.1 already, as far as softnetd needs it.
 */
#pragma once

#define NETDEV_FAMILY "netdev"

enum { /* commands: NETDEV_CMD_… */
	UAPI_NETDEV_QUEUE_GET = 10,
	UAPI_NETDEV_NAPI_GET = 11,
	UAPI_NETDEV_QSTATS_GET = 12, /* since 6.10 */
	UAPI_NETDEV_NAPI_SET = 14,   /* since 6.13 */
};

enum {                                     /* NETDEV_A_NAPI_… */
	UAPI_NAPI_IFINDEX = 1,             /* u32 */
	UAPI_NAPI_ID = 2,                  /* u32 */
	UAPI_NAPI_IRQ = 3,                 /* u32, only where the driver told it */
	UAPI_NAPI_PID = 4,                 /* u32, only with a thread */
	UAPI_NAPI_DEFER_HARD_IRQS = 5,     /* u32; from here on since 6.13 */
	UAPI_NAPI_GRO_FLUSH_TIMEOUT = 6,   /* uint, ns */
	UAPI_NAPI_IRQ_SUSPEND_TIMEOUT = 7, /* uint, ns */
	UAPI_NAPI_THREADED = 8,            /* u32 or uint, since 6.17 */
	UAPI_NAPI_MAX = UAPI_NAPI_THREADED,
};

enum { /* NETDEV_A_QUEUE_… */
	UAPI_QUEUE_ID = 1,
	UAPI_QUEUE_IFINDEX = 2,
	UAPI_QUEUE_TYPE = 3, /* 0: receive, 1: transmit */
	UAPI_QUEUE_NAPI_ID = 4,
	UAPI_QUEUE_MAX = UAPI_QUEUE_NAPI_ID,
};

enum {                           /* NETDEV_A_QSTATS_… */
	UAPI_QSTATS_IFINDEX = 1, /* u32 */
	UAPI_QSTATS_QUEUE_TYPE = 2,
	UAPI_QSTATS_QUEUE_ID = 3,
	UAPI_QSTATS_SCOPE = 4,      /* uint; without it: sums of a device */
	UAPI_QSTATS_RX_PACKETS = 8, /* uint, as all that follow */
	UAPI_QSTATS_RX_ALLOC_FAIL = 12,
	UAPI_QSTATS_RX_HW_DROPS = 13,
	UAPI_QSTATS_RX_HW_DROP_OVERRUNS = 14,
	UAPI_QSTATS_MAX = UAPI_QSTATS_RX_HW_DROP_OVERRUNS,
};
#define UAPI_QSTATS_SCOPE_QUEUE 1

#define UAPI_QUEUE_RX 0
#define UAPI_QUEUE_TX 1
