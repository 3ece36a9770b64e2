/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-format.h"

#include <stddef.h>

#define FIELD(key, member, bit)                                                    \
	{                                                                          \
		key, offsetof(struct cpu_sample, member),                          \
			sizeof(((struct cpu_sample *)0)->member) == 8, HAVE_##bit, \
	}

const struct trace_field trace_fields[] = {
	FIELD("processed", processed, SOFTNET),
	FIELD("dropped", dropped, SOFTNET),
	FIELD("squeezed", squeezed, SOFTNET),
	FIELD("rps", received_rps, RPS),
	FIELD("flow_limit", flow_limit, FLOW_LIMIT),
	FIELD("backlog", backlog, BACKLOG),
	FIELD("net_rx", softirq[SOFTIRQ_NET_RX], SOFTIRQS),
	FIELD("net_tx", softirq[SOFTIRQ_NET_TX], SOFTIRQS),
	FIELD("busy", busy, STAT),
	FIELD("softirq", softirq_time, STAT),
	FIELD("irq", irq_time, STAT),
	FIELD("steal", steal, STAT),
	FIELD("total", total, STAT),
	FIELD("ksoftirqd_run", ksoftirqd_run_ns, KSOFTIRQD),
	FIELD("ksoftirqd_wait", ksoftirqd_wait_ns, KSOFTIRQD),
	FIELD("handover_time", handover[HANDOVER_TIME], SOFTIRQ_STAT),
	FIELD("handover_resched", handover[HANDOVER_RESCHED], SOFTIRQ_STAT),
	FIELD("handover_count", handover[HANDOVER_COUNT], SOFTIRQ_STAT),
	FIELD("handover_policy", handover[HANDOVER_POLICY], SOFTIRQ_STAT),
	FIELD("own_handover_time", own_handover[HANDOVER_TIME], SOFTIRQ_STAT),
	FIELD("own_handover_resched", own_handover[HANDOVER_RESCHED], SOFTIRQ_STAT),
	FIELD("own_handover_count", own_handover[HANDOVER_COUNT], SOFTIRQ_STAT),
	FIELD("own_handover_policy", own_handover[HANDOVER_POLICY], SOFTIRQ_STAT),
	FIELD("ksoftirqd_wakes", ksoftirqd_wakes, SOFTIRQ_STAT),
	FIELD("nohz_net_tx", nohz_pending[SOFTIRQ_NET_TX], SOFTIRQ_STAT),
	FIELD("nohz_net_rx", nohz_pending[SOFTIRQ_NET_RX], SOFTIRQ_STAT),
};
const size_t trace_n_fields = ELEMENTSOF(trace_fields);

const char *const trace_have_names[] = {
	"softnet", "rps",       "flow_limit",   "backlog", "softirqs",
	"stat",    "ksoftirqd", "softirq_stat", NULL,
};

const char *const trace_state_names[] = {
	[SOURCE_UNREAD] = "unread",
	[SOURCE_OK] = "ok",
	[SOURCE_ABSENT] = "absent",
	[SOURCE_STRANGE] = "strange",
	NULL,
};

#define FLAG(member)                                       \
	{                                                  \
#member, offsetof(struct topology, member) \
	}

const struct trace_flag trace_flags[] = {
	FLAG(rt),        FLAG(threadirqs), FLAG(thread_backlog), FLAG(irq_threads),
	FLAG(container), FLAG(irqbalance), FLAG(nohz_full),      FLAG(cpu_latency),
};
const size_t trace_n_flags = ELEMENTSOF(trace_flags);
