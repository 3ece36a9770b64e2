/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/snapshot.h"

static const struct {
	const char *name, *path;
} sources[_SOURCE_MAX] = {
	[SOURCE_SOFTNET] = {"softnet", "/proc/net/softnet_stat"},
	[SOURCE_SOFTIRQS] = {"softirqs", "/proc/softirqs"},
	[SOURCE_STAT] = {"cpu-time", "/proc/stat"},
	[SOURCE_NETDEV] = {"nic-counters", "/proc/net/dev"},
	[SOURCE_IRQ_COUNTS] = {"irq-counts", "/proc/interrupts"},
	[SOURCE_KSOFTIRQD] = {"ksoftirqd", "/proc/PID/schedstat"},
	[SOURCE_PSI_CPU] = {"pressure-cpu", "/proc/pressure/cpu"},
	[SOURCE_PSI_IRQ] = {"pressure-irq", "/proc/pressure/irq"},
	[SOURCE_KMSG] = {"kernel-log", "/dev/kmsg"},
	[SOURCE_TOPOLOGY] = {"topology", "/sys/devices/system/cpu"},
	[SOURCE_CPUFREQ] = {"cpufreq", "/sys/devices/system/cpu/cpufreq"},
	[SOURCE_SOFTIRQ_STAT] = {"softirq-stat", "/proc/softirq_stat"},
	[SOURCE_NAPI] = {"napi", "generic netlink, family netdev"},
	[SOURCE_ETHTOOL] = {"ethtool", "generic netlink, family ethtool"},
};

const char *source_to_string(enum source s)
{
	return sources[s].name;
}

const char *source_path(enum source s)
{
	return sources[s].path;
}

const char *const softirq_names[_SOFTIRQ_MAX] = {
	"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
	"IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU",
};

const char *handover_to_string(enum handover h)
{
	static const char *const names[_HANDOVER_MAX] = {
		[HANDOVER_TIME] = "time",
		[HANDOVER_RESCHED] = "resched",
		[HANDOVER_COUNT] = "count",
		[HANDOVER_POLICY] = "policy",
	};

	return names[h];
}

const char *kmsg_kind_to_string(enum kmsg_kind k)
{
	static const char *const names[_KMSG_KIND_MAX] = {
		[KMSG_OTHER] = "other",
		[KMSG_NOHZ_PENDING] = "nohz-pending",
		[KMSG_RCU_STALL] = "rcu-stall",
		[KMSG_SOFT_LOCKUP] = "soft-lockup",
		[KMSG_HARD_LOCKUP] = "hard-lockup",
		[KMSG_NETDEV_WATCHDOG] = "netdev-watchdog",
		[KMSG_RT_THROTTLING] = "rt-throttling",
		[KMSG_IRQ_NOBODY_CARED] = "irq-nobody-cared",
		[KMSG_CLOCKSOURCE_UNSTABLE] = "clocksource-unstable",
	};

	return names[k];
}

int snapshot_new(unsigned n_cpus, unsigned n_irqs, unsigned n_nics, struct snapshot **ret)
{
	_cleanup_(snapshot_freep) struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cpu = calloc(MAX(n_cpus, 1U), sizeof(*s->cpu));
	s->irq = calloc(MAX(n_irqs, 1U), sizeof(*s->irq));
	s->nic = calloc(MAX(n_nics, 1U), sizeof(*s->nic));
	if (!s->cpu || !s->irq || !s->nic)
		return -ENOMEM;
	s->n_cpus = n_cpus;
	s->n_nics = n_nics;
	for (; s->n_irqs < n_irqs; s->n_irqs++) {
		s->irq[s->n_irqs].counts = calloc(MAX(n_cpus, 1U), sizeof(uint32_t));
		if (!s->irq[s->n_irqs].counts)
			return -ENOMEM;
	}
	*ret = TAKE_PTR(s);
	return 0;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->n_irqs; i++)
		free(s->irq[i].counts);
	free(s->irq);
	free(s->cpu);
	free(s->nic);
	free(s);
}

void snapshot_clear(struct snapshot *s)
{
	memset(s->cpu, 0, s->n_cpus * sizeof(*s->cpu));
	memset(s->nic, 0, s->n_nics * sizeof(*s->nic));
	for (unsigned i = 0; i < s->n_irqs; i++)
		s->irq[i] = (struct irq_sample){.counts = s->irq[i].counts};
	s->online = (struct cpuset){};
	s->psi_cpu = s->psi_irq = (struct pressure){};
	s->limits = (struct softirq_limits){};
	s->n_events = s->events_lost = 0;
}
