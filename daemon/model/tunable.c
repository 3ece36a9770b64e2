/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tunable.h"

#include <ctype.h>
#include <stdio.h>

#define HOST_DEPENDENT INT64_MIN

static const char *const clock_words[] = {"jiffies", "precise", NULL};
static const char *const policy_words[] = {"default", "count",      "latency",
					   "defer",   "throughput", NULL};
/* defer, latency, default, throughput, count: the last two let tasks wait for the end of the run.
 */
static const int8_t policy_order[] = {3, 2, 0, 4, 1};
static const char *const governor_words[] = {"performance", "powersave",    "schedutil", "ondemand",
					     "userspace",   "conservative", NULL};
static const char *const threaded_words[] = {"disabled", "enabled", "busy-poll", NULL};
static const char *const switch_words[] = {"off", "on", NULL};
static const char *const latency_known[] = {"n/a", NULL};
static const char *const epp_known[] = {"default",       "performance", "balance_performance",
					"balance_power", "power",       NULL};

/*
 * Caps: a busy receive path is no reason to hold a CPU for long. bpftune drove netdev_budget_usecs
 * to 300 ms on Kubernetes nodes (bpftune#178); 20 ms is the kernel's own default at HZ=100, and 5
 * times the two jiffies of HZ=250 rounds to 40 ms. A backlog of 100,000 packets is 2 s of a 50 kpps
 * flow: beyond that, queueing is worse than dropping.
 */
const struct tunable tunables[_TUNABLE_MAX] = {
	[TUNABLE_SOFTIRQ_TIME_US] =
		{
			.id = "softirq_time_us",
			.path = "proc/sys/kernel/softirq_time_us",
			.family = "softirq",
			.unit = "µs",
			.min = 0,
			.max = 100000,
			.kernel_default = 2000,
			.series = true,
			.granularity = GRANULARITY_JIFFY,
			.doc = "time budget of one run of pending softirqs, checked after each pass",
			.owners = "sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_SOFTIRQ_CLOCK] =
		{
			.id = "softirq_clock",
			.path = "proc/sys/kernel/softirq_clock",
			.family = "softirq",
			.unit = "",
			.min = 0,
			.max = 1,
			.kernel_default = 0,
			.series = true,
			.words = clock_words,
			.doc = "clock of the time budget: jiffies (whole ticks) or precise (nanoseconds)",
			.owners = "sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_SOFTIRQ_MAX_RESTART] =
		{
			.id = "softirq_max_restart",
			.path = "proc/sys/kernel/softirq_max_restart",
			.family = "softirq",
			.unit = "passes",
			.min = 1,
			.max = 1000,
			.kernel_default = 10,
			.series = true,
			.doc = "passes over the pending softirqs before ksoftirqd takes over",
			.owners = "sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_SOFTIRQ_RESTART_POLICY] =
		{
			.id = "softirq_restart_policy",
			.path = "proc/sys/kernel/softirq_restart_policy",
			.family = "softirq",
			.unit = "",
			.min = 0,
			.max = 4,
			.kernel_default = 0,
			.series = true,
			.words = policy_words,
			.order = policy_order,
			.doc = "what lets softirqs run again at once: default, count, latency, defer or throughput",
			.owners = "sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_NETDEV_BUDGET] =
		{
			.id = "netdev_budget",
			.path = "proc/sys/net/core/netdev_budget",
			.family = "receive budget",
			.unit = "packets",
			.min = 16,
			.max = 8192,
			.kernel_default = 300,
			.doc = "packets that one NET_RX run may take from all NAPI instances of a CPU",
			.owners = "bpftune, TuneD, sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_NETDEV_BUDGET_USECS] =
		{
			.id = "netdev_budget_usecs",
			.path = "proc/sys/net/core/netdev_budget_usecs",
			.family = "receive budget",
			.unit = "µs",
			.min = 2000,
			.max = 40000,
			.kernel_default = HOST_DEPENDENT,
			.granularity = GRANULARITY_JIFFY,
			.doc = "time that one NET_RX run may take; the kernel's floor and default are two jiffies",
			.owners = "bpftune, TuneD, sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_DEV_WEIGHT] =
		{
			.id = "dev_weight",
			.path = "proc/sys/net/core/dev_weight",
			.family = "receive budget",
			.unit = "packets",
			.min = 16,
			.max = 1024,
			.kernel_default = 64,
			.doc = "packets that the backlog of a CPU may process in one NAPI poll",
			.owners = "TuneD, sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_NETDEV_MAX_BACKLOG] =
		{
			.id = "netdev_max_backlog",
			.path = "proc/sys/net/core/netdev_max_backlog",
			.family = "receive budget",
			.unit = "packets",
			.min = 64,
			.max = 100000,
			.kernel_default = 1000,
			.doc = "packets that may wait in a CPU's backlog (RPS, veth, loopback) before they are dropped",
			.owners = "bpftune, TuneD, sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_BUSY_POLL] =
		{
			.id = "busy_poll",
			.path = "proc/sys/net/core/busy_poll",
			.family = "busy polling",
			.unit = "µs",
			.min = 0,
			.max = 1000,
			.kernel_default = 0,
			.doc = "time that poll, select and epoll may spin on the NIC before they sleep; 0 is off",
			.owners = "TuneD, sysctl.d",
			.for_latency = true,
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_BUSY_READ] =
		{
			.id = "busy_read",
			.path = "proc/sys/net/core/busy_read",
			.family = "busy polling",
			.unit = "µs",
			.min = 0,
			.max = 1000,
			.kernel_default = 0,
			.doc = "time that a blocking read may spin on the NIC; reaches only sockets created afterwards",
			.owners = "TuneD, sysctl.d",
			.for_latency = true,
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_BUSY_READ_FOLLOW] =
		{
			.id = "busy_read_follow",
			.path = "proc/sys/net/core/busy_read_follow",
			.family = "busy polling",
			.unit = "",
			.min = 0,
			.max = 1,
			.kernel_default = 0,
			.series = true,
			.doc = "1: open sockets that never set SO_BUSY_POLL follow busy_read too",
			.owners = "sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_BUSY_POLL_BUDGET] =
		{
			.id = "busy_poll_budget",
			.path = "proc/sys/net/core/busy_poll_budget",
			.family = "busy polling",
			.unit = "packets",
			.min = 1,
			.max = 64,
			.kernel_default = 8,
			.series = true,
			.doc = "packets that one busy poll may take where the socket did not say",
			.owners = "sysctl.d",
			.coupled = _TUNABLE_MAX,
		},
	/* For kernels where busy_read reaches only sockets made later: see observe/sockets.h. */
	[TUNABLE_SOCKET_BUSY_POLL] =
		{
			.id = "socket_busy_poll",
			.family = "busy polling",
			.unit = "µs",
			.scope = SCOPE_SOCKET,
			.min = 0,
			.max = 1000,
			.kernel_default = HOST_DEPENDENT,
			.undo = "setting SO_BUSY_POLL again, as long as the socket is open",
			.doc = "time that a blocking read of an open socket of busy_poll_units may spin on the NIC",
			.owners = "the application itself",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_EPOLL_BUSY_POLL] =
		{
			.id = "epoll_busy_poll",
			.family = "busy polling",
			.unit = "µs",
			.scope = SCOPE_SOCKET,
			.min = 0,
			.max = 1000,
			.kernel_default = 0,
			.undo = "EPIOCSPARAMS with the original, as long as the instance is open",
			.doc = "time that epoll_wait of an open epoll instance of busy_poll_units may spin (kernel 6.9)",
			.owners = "the application itself",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_IRQ_AFFINITY] =
		{
			.id = "irq_affinity",
			.path = "proc/irq/%u/smp_affinity_list",
			.family = "interrupts",
			.unit = "CPUs",
			.scope = SCOPE_IRQ,
			.type = VALUE_CPUS,
			.kernel_default = HOST_DEPENDENT,
			.doc = "CPUs that may take an interrupt",
			.owners = "irqbalance, TuneD, systemd .link files, driver scripts",
			.verifiable = true,
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_GOVERNOR] =
		{
			.id = "governor",
			.path = "sys/devices/system/cpu/cpufreq/policy%u/scaling_governor",
			.family = "CPU power",
			.unit = "",
			.scope = SCOPE_POLICY,
			.type = VALUE_WORD,
			.kernel_default = HOST_DEPENDENT,
			.known = governor_words,
			.doc = "cpufreq governor; a list \"a|b\" takes the first that the host offers",
			.owners = "power-profiles-daemon, TuneD, TLP, auto-cpufreq, cpupower",
			.for_latency = true,
			.verifiable = true,
			.coupled = TUNABLE_ENERGY_PREFERENCE,
		},
	[TUNABLE_ENERGY_PREFERENCE] =
		{
			.id = "energy_preference",
			.path = "sys/devices/system/cpu/cpufreq/policy%u/energy_performance_preference",
			.family = "CPU power",
			.unit = "",
			.scope = SCOPE_POLICY,
			.type = VALUE_EPP,
			.min = 0,
			.max = 255,
			.kernel_default = HOST_DEPENDENT,
			.known = epp_known,
			.doc = "energy performance preference (EPP): a word or 0 (performance) to 255 (power)",
			.owners = "power-profiles-daemon, TuneD, TLP, auto-cpufreq",
			.for_latency = true,
			.coupled = TUNABLE_GOVERNOR,
		},
	/*
	 * NICs and their NAPI instances. Caps: interrupts that are held back longer than some hundred
	 * microseconds cost more latency than they save work; 10 ms of gro_flush_timeout is 50 times what
	 * its users set (20 to 200 µs). irq_suspend_timeout is a safety net under an application that
	 * polls, and may be longer (Documentation/networking/napi.rst of 6.13).
	 */
	[TUNABLE_NAPI_THREADED] =
		{
			.id = "napi_threaded",
			.path = "sys/class/net/%s/threaded",
			.netlink = "netdev napi-set threaded",
			.family = "NAPI",
			.unit = "",
			.scope = SCOPE_NAPI,
			.min = 0,
			.max = 2,
			.kernel_default = 0,
			.words = threaded_words,
			.doc = "whether packets are taken by a kernel thread of the queue's own instead of in softirq context",
			.owners = "OpenWrt packet steering, udev rules",
			.verifiable = true,
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_NAPI_DEFER_HARD_IRQS] =
		{
			.id = "napi_defer_hard_irqs",
			.path = "sys/class/net/%s/napi_defer_hard_irqs",
			.netlink = "netdev napi-set defer-hard-irqs",
			.family = "NAPI",
			.unit = "polls",
			.scope = SCOPE_NAPI,
			.min = 0,
			.max = 1000,
			.kernel_default = 0,
			.doc = "empty polls, gro_flush_timeout apart, before a queue's interrupt is switched on again",
			.owners = "applications that busy poll, udev rules",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_GRO_FLUSH_TIMEOUT] =
		{
			.id = "gro_flush_timeout",
			.path = "sys/class/net/%s/gro_flush_timeout",
			.netlink = "netdev napi-set gro-flush-timeout",
			.family = "NAPI",
			.unit = "ns",
			.scope = SCOPE_NAPI,
			.min = 0,
			.max = 10000000,
			.kernel_default = 0,
			.doc = "time that GRO may hold packets for more of their flow, and between deferred polls; 0 is off",
			.owners = "applications that busy poll, udev rules",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_IRQ_SUSPEND_TIMEOUT] =
		{
			.id = "irq_suspend_timeout",
			.netlink = "netdev napi-set irq-suspend-timeout",
			.family = "NAPI",
			.unit = "ns",
			.scope = SCOPE_NAPI,
			.min = 0,
			.max = 100000000,
			.kernel_default = 0,
			.doc = "time that a queue's interrupt stays off while its application finds packets by busy polling",
			.owners = "applications that busy poll",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_NAPI_THREAD_AFFINITY] =
		{
			.id = "napi_thread_affinity",
			.path = "proc/%u/status",
			.family = "NAPI",
			.unit = "CPUs",
			.scope = SCOPE_NAPI,
			.type = VALUE_CPUS,
			.kernel_default = HOST_DEPENDENT,
			.doc = "CPUs that a NAPI thread may run on",
			.owners = "OpenWrt packet steering, taskset in scripts",
			.verifiable = true,
			.coupled = _TUNABLE_MAX,
		},
	/*
	 * Receive packet steering (Documentation/networking/scaling.rst). A queue's table of flows is
	 * 8 bytes an entry, the host's 4: the caps are some MB. "Whether it pays" is decide/steering.h's.
	 */
	[TUNABLE_RPS_CPUS] =
		{
			.id = "rps_cpus",
			.path = "sys/class/net/%s/queues/rx-%u/rps_cpus",
			.family = "steering",
			.unit = "CPUs",
			.scope = SCOPE_QUEUE,
			.type = VALUE_CPU_MASK,
			.kernel_default = HOST_DEPENDENT,
			.doc = "CPUs to which a receive queue hands its packets by flow (RPS); none: it keeps them",
			.owners = "systemd .link files, OpenWrt packet steering, TuneD, scripts",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_RPS_FLOW_CNT] =
		{
			.id = "rps_flow_cnt",
			.path = "sys/class/net/%s/queues/rx-%u/rps_flow_cnt",
			.family = "steering",
			.unit = "flows",
			.scope = SCOPE_QUEUE,
			.granularity = GRANULARITY_POWER_OF_TWO,
			.min = 0,
			.max = 65536,
			.kernel_default = 0,
			.doc = "flows of a receive queue that follow the CPU of their reader (RFS); needs rps_sock_flow_entries",
			.owners = "scripts, perftune.py",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_RPS_SOCK_FLOW_ENTRIES] =
		{
			.id = "rps_sock_flow_entries",
			.path = "proc/sys/net/core/rps_sock_flow_entries",
			.family = "steering",
			.unit = "flows",
			.granularity = GRANULARITY_POWER_OF_TWO,
			.min = 0,
			.max = 1048576,
			.kernel_default = 0,
			.doc = "flows of the host whose reader's CPU is remembered (RFS); 0 is off",
			.owners = "sysctl.d, TuneD, perftune.py",
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_COALESCE_ADAPTIVE_RX] =
		{
			.id = "coalesce_adaptive_rx",
			.netlink = "ethtool coalesce adaptive-rx",
			.family = "Coalescing",
			.unit = "",
			.scope = SCOPE_NIC,
			.min = 0,
			.max = 1,
			.kernel_default = HOST_DEPENDENT,
			.words = switch_words,
			.doc = "whether the driver itself moves the receive coalescing with the load",
			.owners = "TuneD, ethtool in scripts, systemd .link files",
			.coupled = TUNABLE_COALESCE_RX_USECS,
		},
	[TUNABLE_COALESCE_RX_USECS] =
		{
			.id = "coalesce_rx_usecs",
			.netlink = "ethtool coalesce rx-usecs",
			.family = "Coalescing",
			.unit = "µs",
			.scope = SCOPE_NIC,
			.min = 0,
			.max = 10000,
			.kernel_default = HOST_DEPENDENT,
			.doc = "time that a NIC may wait for more packets before it interrupts",
			.owners = "TuneD, ethtool in scripts, systemd .link files",
			.for_latency = true,
			.coupled = TUNABLE_COALESCE_ADAPTIVE_RX,
		},
	[TUNABLE_COALESCE_RX_FRAMES] =
		{
			.id = "coalesce_rx_frames",
			.netlink = "ethtool coalesce rx-frames",
			.family = "Coalescing",
			.unit = "packets",
			.scope = SCOPE_NIC,
			.min = 0,
			.max = 4096,
			.kernel_default = HOST_DEPENDENT,
			.doc = "packets that a NIC may collect before it interrupts",
			.owners = "TuneD, ethtool in scripts, systemd .link files",
			.coupled = TUNABLE_COALESCE_ADAPTIVE_RX,
		},
	[TUNABLE_COALESCE_ADAPTIVE_TX] =
		{
			.id = "coalesce_adaptive_tx",
			.netlink = "ethtool coalesce adaptive-tx",
			.family = "Coalescing",
			.unit = "",
			.scope = SCOPE_NIC,
			.min = 0,
			.max = 1,
			.kernel_default = HOST_DEPENDENT,
			.words = switch_words,
			.doc = "whether the driver itself moves the transmit coalescing with the load",
			.owners = "TuneD, ethtool in scripts, systemd .link files",
			.coupled = TUNABLE_COALESCE_TX_USECS,
		},
	[TUNABLE_COALESCE_TX_USECS] =
		{
			.id = "coalesce_tx_usecs",
			.netlink = "ethtool coalesce tx-usecs",
			.family = "Coalescing",
			.unit = "µs",
			.scope = SCOPE_NIC,
			.min = 0,
			.max = 10000,
			.kernel_default = HOST_DEPENDENT,
			.doc = "time that a NIC may wait before it reports sent packets",
			.owners = "TuneD, ethtool in scripts, systemd .link files",
			.coupled = TUNABLE_COALESCE_ADAPTIVE_TX,
		},
	[TUNABLE_COALESCE_TX_FRAMES] =
		{
			.id = "coalesce_tx_frames",
			.netlink = "ethtool coalesce tx-frames",
			.family = "Coalescing",
			.unit = "packets",
			.scope = SCOPE_NIC,
			.min = 0,
			.max = 4096,
			.kernel_default = HOST_DEPENDENT,
			.doc = "packets that a NIC may send before it reports them",
			.owners = "TuneD, ethtool in scripts, systemd .link files",
			.coupled = TUNABLE_COALESCE_ADAPTIVE_TX,
		},
	[TUNABLE_CPU_RESUME_LATENCY] =
		{
			.id = "cpu_resume_latency",
			.path = "sys/devices/system/cpu/cpu%u/power/pm_qos_resume_latency_us",
			.family = "CPU power",
			.unit = "µs",
			.scope = SCOPE_CPU,
			.type = VALUE_LATENCY,
			.min = 0,
			.max = 100000,
			.kernel_default = 0,
			.known = latency_known,
			.doc = "time that a CPU which takes NIC interrupts may need to wake up; 0: no limit, n/a: none, it never sleeps",
			.owners = "TuneD, power management scripts",
			.for_latency = true,
			.coupled = _TUNABLE_MAX,
		},
	[TUNABLE_CPU_DMA_LATENCY] =
		{
			.id = "cpu_dma_latency",
			.path = "dev/cpu_dma_latency",
			.family = "CPU power",
			.unit = "µs",
			.min = 0,
			.max = 100000,
			.kernel_default = CPU_DMA_LATENCY_NONE,
			.held = true,
			.undo = "closing its descriptor; the kernel does that also when softnetd is killed",
			.doc = "time that any CPU of the host may need to wake up; 0: none, they never sleep",
			.owners =
				"TuneD, audio servers, KVM tools: requests of others stand beside it, and the lowest counts",
			.for_latency = true,
			.coupled = _TUNABLE_MAX,
		},
	/* Above 90 are the kernel's own: migration and stop threads, watchdogs. */
	[TUNABLE_IRQ_THREAD_PRIORITY] =
		{
			.id = "irq_thread_priority",
			.path = "proc/%u/stat",
			.family = "interrupts",
			.unit = "",
			.scope = SCOPE_THREAD,
			.type = VALUE_SCHED,
			.min = 1,
			.max = 90,
			.kernel_default = 50,
			.undo = "sched_setattr(2) with the policy and priority that it had",
			.doc = "FIFO priority of the threads of NICs' queue interrupts, where they have threads (PREEMPT_RT, threadirqs)",
			.owners = "TuneD, rtirq, chrt in scripts",
			.coupled = _TUNABLE_MAX,
		},
};

const struct tunable *tunable_find(const char *id)
{
	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		if (streq(tunables[i].id, id))
			return &tunables[i];
	return NULL;
}

const char *const *tunable_names(void)
{
	static const char *names[_TUNABLE_MAX + 1];

	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		names[i] = tunables[i].id;
	return names;
}

const char *scope_to_string(enum scope s)
{
	static const char *const names[] = {"host", "irq",  "policy", "cpu",   "thread",
					    "nic",  "napi", "queue",  "socket"};

	return names[s];
}

/* What intel_pstate and amd-pstate mean by the words (kernel-facts 6.2; auto-cpufreq#45). "default"
 * is whatever the firmware set: it equals no number. */
static const struct {
	const char *word;
	unsigned number;
} epp_words[] = {
	{"performance", 0},
	{"balance_performance", 128},
	{"balance_power", 192},
	{"power", 255},
};

/* roundup_pow_of_two(), and 0 stays 0. */
static int64_t round_to_power(int64_t v)
{
	int64_t power = 1;

	while (power < v && power <= INT64_MAX / 2)
		power *= 2;
	return v <= 0 ? v : power;
}

static int canonical_number(const struct tunable *t, const char *text, bool check_caps, char *buf,
			    size_t size)
{
	int64_t v;
	int r;

	r = parse_i64(text, &v);
	if (r == -EINVAL && t->words)
		for (v = 0; t->words[v]; v++)
			if (streq(t->words[v], text)) {
				r = 0;
				break;
			}
	if (r < 0)
		return r;
	if (check_caps && (v < t->min || v > t->max))
		return -ERANGE;
	if (t->granularity == GRANULARITY_POWER_OF_TWO)
		v = round_to_power(v);
	r = format_into(buf, size, "%lld", (long long)v);
	return r < 0 ? r : 0;
}

static int canonical_word(const char *text, char *buf, size_t size)
{
	int r;

	if (!*text)
		return -EINVAL;
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-|", *c))
			return -EINVAL;
	r = format_into(buf, size, "%s", text);
	return r < 0 ? r : 0;
}

static int canonical_epp(const char *text, char *buf, size_t size)
{
	uint64_t v;
	int r;

	if (isdigit((unsigned char)*text)) {
		r = parse_u64(text, 10, &v);
		if (r < 0)
			return r;
		if (v > 255)
			return -ERANGE;
		for (size_t i = 0; i < ELEMENTSOF(epp_words); i++)
			if (epp_words[i].number == v)
				return canonical_word(epp_words[i].word, buf, size);
		r = format_into(buf, size, "%u", (unsigned)v);
		return r < 0 ? r : 0;
	}
	return canonical_word(text, buf, size);
}

static int canonical_latency(const struct tunable *t, const char *text, bool check_caps, char *buf,
			     size_t size)
{
	return streq(text, "n/a") ? MIN(format_into(buf, size, "%s", text), 0)
				  : canonical_number(t, text, check_caps, buf, size);
}

static int canonical_cpus(const struct tunable *t, const char *text, bool check_caps, char *buf,
			  size_t size)
{
	bool may_be_none = t->type == VALUE_CPU_MASK;
	struct cpuset set;
	int r;

	r = cpuset_parse_list(may_be_none && streq(text, "none") ? "" : text, &set);
	if (r < 0)
		return r;
	if (may_be_none && cpuset_empty(&set))
		return MIN(format_into(buf, size, "none"), 0);
	if (check_caps && cpuset_empty(&set))
		return -EINVAL;
	r = cpuset_format_list(&set, buf, size);
	return r < 0 ? r : 0;
}

/* "fifo:50", "rr:10"; for others the nice value stands behind the colon. */
static int canonical_sched(const struct tunable *t, const char *text, bool check_caps, char *buf,
			   size_t size)
{
	static const char *const policies[] = {"fifo", "rr", "other", "batch", "idle", "deadline"};
	const char *colon = strchr(text, ':');
	char number[24];
	int r;

	if (!colon) {
		r = canonical_number(t, text, check_caps, number, sizeof(number));
		return r < 0 ? r : MIN(format_into(buf, size, "fifo:%s", number), 0);
	}
	for (size_t i = 0; i < ELEMENTSOF(policies); i++) {
		if (!startswith(text, policies[i]) || text + strlen(policies[i]) != colon)
			continue;
		if (check_caps && i > 0)
			return -EINVAL;
		r = canonical_number(t, colon + 1, check_caps, number, sizeof(number));
		return r < 0 ? r : MIN(format_into(buf, size, "%s:%s", policies[i], number), 0);
	}
	return -EINVAL;
}

int tunable_canonical(const struct tunable *t, const char *text, bool check_caps, char *buf,
		      size_t size)
{
	char plain[VALUE_MAX];
	const char *word;

	if (strlen(text) >= sizeof(plain))
		return -ENOSPC;
	strcpy(plain, text);
	word = strstrip(plain);
	switch (t->type) {
	case VALUE_NUMBER:
		return canonical_number(t, word, check_caps, buf, size);
	case VALUE_CPUS:
	case VALUE_CPU_MASK:
		return canonical_cpus(t, word, check_caps, buf, size);
	case VALUE_WORD:
		return canonical_word(word, buf, size);
	case VALUE_LATENCY:
		return canonical_latency(t, word, check_caps, buf, size);
	case VALUE_SCHED:
		return canonical_sched(t, word, check_caps, buf, size);
	case VALUE_EPP:
		return canonical_epp(word, buf, size);
	}
	return -EINVAL;
}

int tunable_file_text(const struct tunable *t, const char *value, char *buf, size_t size)
{
	struct cpuset set;
	int r;

	if (t->type != VALUE_CPU_MASK)
		return MIN(format_into(buf, size, "%s", value), 0);
	r = cpuset_parse_list(streq(value, "none") ? "" : value, &set);
	if (r < 0)
		return r;
	return MIN(cpuset_format_mask(&set, buf, size), 0);
}

bool tunable_equal(const struct tunable *t, const char *a, const char *b)
{
	char ca[VALUE_MAX], cb[VALUE_MAX];

	if (tunable_canonical(t, a, false, ca, sizeof(ca)) < 0 ||
	    tunable_canonical(t, b, false, cb, sizeof(cb)) < 0)
		return streq(a, b);
	return streq(ca, cb);
}

static int64_t jiffy_usec(unsigned hz)
{
	return hz > 0 ? (int64_t)USEC_PER_SEC / hz : 1;
}

int64_t tunable_effective(const struct tunable *t, int64_t value, unsigned hz)
{
	int64_t jiffy = jiffy_usec(hz);

	if (t->granularity != GRANULARITY_JIFFY || hz == 0 || value <= 0)
		return value;
	return (value + jiffy - 1) / jiffy * jiffy;
}

int64_t tunable_rank(const struct tunable *t, int64_t value)
{
	if (!t->order)
		return value;
	for (int64_t i = 0; i <= t->max - t->min; i++)
		if (t->order[i] == value)
			return i;
	return -1;
}

/* One place further; from a value outside of LOW … HIGH to the nearest inside, if that is the way.
 */
static int64_t step_in_order(const struct tunable *t, int64_t value, bool up, int64_t low,
			     int64_t high)
{
	int64_t lo = tunable_rank(t, low), hi = tunable_rank(t, high), at = tunable_rank(t, value);
	int64_t next = CLAMP(at + (up ? 1 : -1), lo, hi);

	if (lo < 0 || hi < 0 || at < 0 || (up ? next <= at : next >= at))
		return value;
	return t->order[next];
}

int64_t tunable_step(const struct tunable *t, int64_t value, bool up, int64_t low, int64_t high,
		     unsigned hz)
{
	int64_t lo = MAX(low, t->min), hi = MIN(high, t->max), next;

	if (t->order)
		return step_in_order(t, value, up, low, high);
	if (up)
		next = value + MAX(value / 2, (int64_t)1);
	else
		next = value - MAX(value / 3, (int64_t)1);
	if (t->granularity == GRANULARITY_JIFFY && hz > 0) {
		int64_t jiffy = jiffy_usec(hz);

		/* Whole jiffies, and at least one of them: less is no step at all to the kernel. */
		if (up)
			next = MAX(next / jiffy * jiffy, tunable_effective(t, value, hz) + jiffy);
		else
			next = MIN(tunable_effective(t, next, hz),
				   tunable_effective(t, value, hz) - jiffy);
		if (up && next > hi)
			next = hi / jiffy * jiffy;
		if (!up && next < lo)
			next = tunable_effective(t, lo, hz);
	}
	next = CLAMP(next, lo, hi);
	/* A value outside the range is led back into it, never further away. */
	if (up ? next <= value : next >= value)
		return value;
	if (tunable_effective(t, next, hz) == tunable_effective(t, value, hz))
		return value;
	return next;
}

int tunable_path(const struct tunable *t, unsigned number, char *buf, size_t size)
{
	const char *hole = t->path ? strstr(t->path, "%u") : NULL;
	int r;

	if (!t->path || strstr(t->path, "%s"))
		return -ENOENT;
	if (!hole)
		r = format_into(buf, size, "%s", t->path);
	else
		r = format_into(buf, size, "%.*s%u%s", (int)(hole - t->path), t->path, number,
				hole + 2);
	return r < 0 ? r : 0;
}

bool tunable_coupled(enum tunable_id a, enum tunable_id b)
{
	enum tunable_id of_a = tunables[a].coupled, of_b = tunables[b].coupled;

	return of_a == b || of_b == a || (of_a == of_b && of_a != _TUNABLE_MAX);
}

void target_label(const struct target *t, char buf[static TARGET_LABEL_MAX])
{
	const char *queue = strrchr(t->identity, '|');

	if ((t->scope == SCOPE_NAPI || t->scope == SCOPE_QUEUE) && queue)
		snprintf(buf, TARGET_LABEL_MAX, "%s:%.24s", t->nic, queue + 1);
	else
		snprintf(buf, TARGET_LABEL_MAX, "%s", t->nic);
}

int target_path(enum tunable_id id, const struct target *target, char *buf, size_t size)
{
	const char *path = tunables[id].path;
	const char *hole = path ? strstr(path, "%s") : NULL, *rest, *number;
	int r;

	if (!hole)
		return tunable_path(&tunables[id], target->number, buf, size);
	rest = hole + 2;
	number = strstr(rest, "%u");
	if (number)
		r = format_into(buf, size, "%.*s%s%.*s%u%s", (int)(hole - path), path, target->nic,
				(int)(number - rest), rest, target->number, number + 2);
	else
		r = format_into(buf, size, "%.*s%s%s", (int)(hole - path), path, target->nic, rest);
	return r < 0 ? r : 0;
}
