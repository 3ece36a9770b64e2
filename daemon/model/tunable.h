/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one table of settings. Everything that names a setting — profile keys, CLI and D-Bus names,
 * completion, the man page's table, the reader in observe/, the writer in act/ — is derived from
 * it. A setting is described here once, and nowhere else.
 *
 * Sources: design "Settings"; kernel-facts 1.3 (budgets), 1.5 (busy polling), 4.1 (softirq series),
 * 6.1 (IRQ affinity), 6.2 (cpufreq).
 */
#pragma once

#include "base/cpuset.h"
#include "base/util.h"

enum tunable_id {
	/* softirq: kernels with the series of kernel/ only */
	TUNABLE_SOFTIRQ_TIME_US,
	TUNABLE_SOFTIRQ_CLOCK,
	TUNABLE_SOFTIRQ_MAX_RESTART,
	TUNABLE_SOFTIRQ_RESTART_POLICY,
	/* receive budget */
	TUNABLE_NETDEV_BUDGET,
	TUNABLE_NETDEV_BUDGET_USECS,
	TUNABLE_DEV_WEIGHT,
	TUNABLE_NETDEV_MAX_BACKLOG,
	/* busy polling */
	TUNABLE_BUSY_POLL,
	TUNABLE_BUSY_READ,
	TUNABLE_BUSY_READ_FOLLOW,
	TUNABLE_BUSY_POLL_BUDGET,
	TUNABLE_SOCKET_BUSY_POLL,
	TUNABLE_EPOLL_BUSY_POLL,
	/* interrupts */
	TUNABLE_IRQ_AFFINITY,
	/* CPU power */
	TUNABLE_GOVERNOR,
	TUNABLE_ENERGY_PREFERENCE,
	TUNABLE_CPU_RESUME_LATENCY,
	TUNABLE_CPU_DMA_LATENCY,
	TUNABLE_IRQ_THREAD_PRIORITY,
	/* NAPI */
	TUNABLE_NAPI_THREADED,
	TUNABLE_NAPI_DEFER_HARD_IRQS,
	TUNABLE_GRO_FLUSH_TIMEOUT,
	TUNABLE_IRQ_SUSPEND_TIMEOUT,
	TUNABLE_NAPI_THREAD_AFFINITY,
	/* steering */
	TUNABLE_RPS_CPUS,
	TUNABLE_RPS_FLOW_CNT,
	TUNABLE_RPS_SOCK_FLOW_ENTRIES,
	/* coalescing */
	TUNABLE_COALESCE_ADAPTIVE_RX,
	TUNABLE_COALESCE_RX_USECS,
	TUNABLE_COALESCE_RX_FRAMES,
	TUNABLE_COALESCE_ADAPTIVE_TX,
	TUNABLE_COALESCE_TX_USECS,
	TUNABLE_COALESCE_TX_FRAMES,
	_TUNABLE_MAX,
};

enum scope {
	SCOPE_HOST,   /* one value for the machine */
	SCOPE_IRQ,    /* one value per interrupt */
	SCOPE_POLICY, /* one value per cpufreq policy */
	SCOPE_CPU,    /* one value per CPU */
	SCOPE_THREAD, /* one value per thread of an interrupt */
	SCOPE_NIC,    /* one value per NIC */
	SCOPE_NAPI,   /* one value per NAPI instance; where the kernel does not tell them apart and
		       * there is a file for the device: one per NIC */
	SCOPE_QUEUE,  /* one value per receive queue of a NIC */
	SCOPE_SOCKET, /* one value per open socket or epoll instance of a named unit */
};

enum value_type {
	VALUE_NUMBER,  /* decimal, min … max */
	VALUE_CPUS,    /* a CPU list; compared as a set */
	VALUE_WORD,    /* a word the kernel offers in a list of its own (governor) */
	VALUE_LATENCY, /* pm_qos_resume_latency_us: µs, "0" no limit at all, "n/a" none tolerated */
	VALUE_SCHED,   /* "fifo:50"; a number alone is a FIFO priority */
	VALUE_CPU_MASK, /* CPUs, "none" when there are none; its file spells them as a hexadecimal mask,
			 * and leaves out those that are offline */
	VALUE_EPP, /* energy performance preference: a word or 0 … 255; compared as a number */
};

enum granularity {
	GRANULARITY_ONE,
	GRANULARITY_JIFFY,        /* microseconds that the kernel rounds up to whole jiffies */
	GRANULARITY_POWER_OF_TWO, /* sizes of tables that the kernel rounds up so: 0, 1, 2, 4 … */
};

struct tunable {
	const char *id; /* snake_case: profile key, CLI name, D-Bus name */
	/* Relative to the root; for IRQ, policy and queue with one %u for the number, for a NIC and
	 * its queues with one %s for its name; NULL: no file. */
	const char *path;
	const char *netlink; /* where it is in generic netlink, for an admin; NULL: it is not */
	const char *family;  /* heading in listings and man page */
	const char *unit;    /* "µs", "packets", "" … */
	const char *doc;     /* one line, for an admin */
	const char
		*owners; /* who else commonly writes it: named when the value turns out foreign */
	enum scope scope;
	enum value_type type;
	enum granularity granularity;
	int64_t min,
		max; /* hard caps of softnetd: never written outside, whatever a profile says */
	int64_t kernel_default;   /* INT64_MIN: depends on the host */
	const char *const *words; /* VALUE_NUMBER with names (0 = first), or NULL */
	/* VALUE_NUMBER with names: all of its numbers, from the one that yields most to the one
	 * that yields least, so that the loop can step and a profile can give a range ["from",
	 * "to"]; NULL: they have no order */
	const int8_t *order;
	const char *const *known; /* VALUE_WORD, VALUE_EPP: the words of mainline kernels, to catch
				   * typing slips; a host may offer fewer */
	bool for_latency; /* decides how long a packet waits that comes alone (decide/low-rate.h) */
	bool verifiable;  /* some sensor shows whether the host acts on it (decide/verify.h) */
	bool held; /* holds only as long as a descriptor is open: the kernel itself gives it back when
		    * its holder ends, however it ends */
	const char *undo; /* how it is undone, where that is not "the original is written again"; or
			   * NULL */
	bool series;      /* exists only with the kernel series: absence is not worth a warning */
	/* Written with it, in table order; _TUNABLE_MAX: none. Of three, the third names the first.
	 */
	enum tunable_id coupled;
};

extern const struct tunable tunables[_TUNABLE_MAX];

/* Numbers of softirq_clock and softirq_restart_policy that others have to know. */
/* Of cpu_dma_latency, when nobody asks for anything: PM_QOS_CPU_LATENCY_DEFAULT_VALUE, 2000 s in
 * µs. */
#define CPU_DMA_LATENCY_NONE   2000000000
#define SOFTIRQ_CLOCK_PRECISE  1
#define SOFTIRQ_POLICY_LATENCY 2

/* NULL when no setting has that id. */
const struct tunable *tunable_find(const char *id);
static inline enum tunable_id tunable_index(const struct tunable *t)
{
	return (enum tunable_id)(t - tunables);
}
/* All ids, ending with NULL: for suggestions and completion. */
const char *const *tunable_names(void);
const char *scope_to_string(enum scope s);

/*
 * Values travel as text in the kernel's spelling. VALUE_MAX holds any of them; an odd-CPUs list on
 * the largest host is the longest.
 */
#define VALUE_MAX 4096

/*
 * Puts TEXT (what an admin or a kernel file says) into the spelling that is written and compared:
 * numbers plain decimal (names of VALUE_NUMBER words become numbers, what must be a power of two
 * becomes the next one), CPU lists sorted, EPP words as the kernel spells them. Errors: -EINVAL not
 * such a value, -ERANGE outside the hard caps, -ENOSPC buffer too small. Caps are checked only when
 * CHECK_CAPS: what a kernel says may be anything.
 */
int tunable_canonical(const struct tunable *t, const char *text, bool check_caps, char *buf,
		      size_t size);

/* VALUE as it is written into the setting's file: itself, but for a VALUE_CPU_MASK. -EINVAL, -ENOSPC. */
int tunable_file_text(const struct tunable *t, const char *value, char *buf, size_t size);

/* Whether two values mean the same: "0f" / "f", "performance" / "0", "4000" / "8000" never. */
bool tunable_equal(const struct tunable *t, const char *a, const char *b);

/*
 * The value the kernel really uses: µs rounded up to whole jiffies for GRANULARITY_JIFFY. HZ 0
 * (unknown) returns the value itself.
 */
int64_t tunable_effective(const struct tunable *t, int64_t value, unsigned hz);

/* Where VALUE stands among the others: itself, or its place in the setting's order; -1 when that
 * does not have it. */
int64_t tunable_rank(const struct tunable *t, int64_t value);

/* The next value from VALUE towards more (UP) or less that makes a difference to the kernel: a
 * factor of 1.5, whole jiffies where that is the granularity, the next of its order where it has
 * one, clamped to LOW … HIGH. Returns VALUE itself when there is no step left. */
int64_t tunable_step(const struct tunable *t, int64_t value, bool up, int64_t low, int64_t high,
		     unsigned hz);

/* The path for NUMBER (ignored for SCOPE_HOST). -ENOENT: it has none, or that of a NIC. */
int tunable_path(const struct tunable *t, unsigned number, char *buf, size_t size);

/* Whether the two are written together when a profile states both: see act_apply_coupled(). */
bool tunable_coupled(enum tunable_id a, enum tunable_id b);
/* Whether the setting belongs to a NIC, to its NAPI instances or to its queues. */
static inline bool tunable_of_nic(const struct tunable *t)
{
	return t->scope == SCOPE_NIC || t->scope == SCOPE_NAPI || t->scope == SCOPE_QUEUE;
}

/*
 * What a setting belongs to. NUMBER is only good for now: IRQ numbers and policy numbers are reused
 * by the kernel. IDENTITY is what stays, and what the ledger stores (design, "Ownership"):
 *   SCOPE_HOST: "host"
 *
 *   SCOPE_IRQ: "<sysfs device path>|<action name>", and "#2", "#3" … behind it where a driver gives
 *   several vectors of a device one name; "devices/pci0000:00/0000:00:03.0|virtio1-input.0"
 *
 *   SCOPE_POLICY: "cpus:<related CPU list>"; "cpus:0-1"
 *
 *   SCOPE_CPU: "cpu<id>"; "cpu3"
 *
 *   SCOPE_THREAD: "<comm>|<pid>|<start time in ticks since boot>"; "irq/30-eth0|212|1543"
 *
 *   SCOPE_NIC: "<sysfs device path>|port<dev_port>"; "devices/pci0000:00/0000:00:03.0|port0"
 *
 *   SCOPE_NAPI: its NIC's, and "|rx<queue>", "|tx<queue>" for one that serves no receive queue, or
 *   "|napi<order>" where nothing tells the queue. Never the NAPI id: a driver's reset gives new ones
 *
 *   SCOPE_QUEUE: its NIC's, and "|rx<queue>"
 *
 *   SCOPE_SOCKET: "<pid>|<start time in ticks since boot>|socket:<inode>"; an epoll instance has no
 *   number of its own, so "…|epoll:<descriptor>": closed, and another opened under that number by the
 *   same process, it cannot be told from the first
 */
#define IDENTITY_MAX 320
struct target {
	enum scope scope; /* the setting's; SCOPE_NIC for a NAPI setting of a whole device */
	unsigned number;  /* IRQ, policy, ifindex, NAPI id, queue, or pid of a thread or socket */
	char identity[IDENTITY_MAX];
	int fd;       /* SCOPE_SOCKET: its descriptor now */
	char nic[16]; /* SCOPE_NIC, SCOPE_NAPI, SCOPE_QUEUE: the interface's name now */
};
/* What an admin calls a NIC, NAPI or queue target: "eth0", "eth0:rx3". */
#define TARGET_LABEL_MAX 48
void target_label(const struct target *t, char buf[static TARGET_LABEL_MAX]);
/* The file of a setting at its target. -ENOENT: it has none. */
int target_path(enum tunable_id id, const struct target *target, char *buf, size_t size);
static inline struct target target_host(void)
{
	return (struct target){.scope = SCOPE_HOST, .identity = "host"};
}
