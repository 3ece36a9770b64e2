/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/machine-internal.h"

#include <fcntl.h>
#include <time.h>

#define KSOFTIRQD_PID 100 /* of CPU 0; CPU n has + n */

static void write_list(struct machine *m, const char *path, const struct cpuset *s)
{
	char list[CPUSET_LIST_MAX];

	cpuset_format_list(s, list, sizeof(list));
	tree_printf(m->tree, path, "%s\n", list);
}

/* "00000000,0000000f": 32-bit words from the highest possible CPU down. */
static void write_mask(struct machine *m, const char *path, const struct cpuset *s)
{
	struct text t;
	FILE *f = text_file(&t);

	for (int w = (int)(m->spec.possible - 1) / 32; w >= 0; w--)
		fprintf(f, "%08x%s", (unsigned)(s->word[w / 2] >> (w % 2 * 32)), w ? "," : "\n");
	text_to(&t, m, path);
}

static struct cpuset online_set(const struct machine *m)
{
	struct cpuset s = {};

	for (unsigned i = 0; i < m->spec.cpus; i++)
		if (m->cpu[i].online)
			cpuset_add(&s, i);
	return s;
}

/* CPUs for which SAME says they belong together with CPU. */
static struct cpuset group(const struct machine *m, unsigned cpu,
			   unsigned (*id)(const struct machine *m, unsigned cpu))
{
	struct cpuset s = {};

	for (unsigned i = 0; i < m->spec.cpus; i++)
		if (id(m, i) == id(m, cpu) && m->cpu[i].online)
			cpuset_add(&s, i);
	return s;
}

static unsigned core_of(const struct machine *m, unsigned cpu)
{
	return cpu % (m->spec.cpus / m->spec.smt);
}

static unsigned socket_of(const struct machine *m, unsigned cpu)
{
	return core_of(m, cpu) * m->spec.sockets / (m->spec.cpus / m->spec.smt);
}

static unsigned node_of(const struct machine *m, unsigned cpu)
{
	return core_of(m, cpu) * m->spec.nodes / (m->spec.cpus / m->spec.smt);
}

static unsigned cache_of(const struct machine *m, unsigned cpu)
{
	return core_of(m, cpu) / m->spec.cpus_per_cache;
}

static unsigned policy_of(const struct machine *m, unsigned cpu)
{
	return cpu / m->spec.cpus_per_policy;
}

static void write_cpu_topology(struct machine *m, unsigned cpu)
{
	static const struct {
		const char *name;
		unsigned (*id)(const struct machine *m, unsigned cpu);
	} groups[] = {{"thread_siblings", core_of},
		      {"core_cpus", core_of},
		      {"core_siblings", socket_of},
		      {"package_cpus", socket_of}};
	struct cpuset set;

	if (!m->cpu[cpu].online) { /* the kernel takes these directories away */
		tree_remove(m->tree, PATH("sys/devices/system/cpu/cpu%u/topology", cpu));
		tree_remove(m->tree, PATH("sys/devices/system/cpu/cpu%u/cache", cpu));
		return;
	}
	tree_printf(m->tree, PATH("sys/devices/system/cpu/cpu%u/topology/core_id", cpu), "%u\n",
		    core_of(m, cpu));
	tree_printf(m->tree, PATH("sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu),
		    "%u\n", socket_of(m, cpu));
	for (size_t i = 0; i < ELEMENTSOF(groups); i++) {
		set = group(m, cpu, groups[i].id);
		write_mask(m, PATH("sys/devices/system/cpu/cpu%u/topology/%s", cpu, groups[i].name),
			   &set);
		write_list(
			m,
			PATH("sys/devices/system/cpu/cpu%u/topology/%s_list", cpu, groups[i].name),
			&set);
	}
	set = group(m, cpu, cache_of);
	write_mask(m, PATH("sys/devices/system/cpu/cpu%u/cache/index0/shared_cpu_map", cpu), &set);
	write_list(m, PATH("sys/devices/system/cpu/cpu%u/cache/index0/shared_cpu_list", cpu), &set);
	tree_write(m->tree, PATH("sys/devices/system/cpu/cpu%u/cache/index0/level", cpu), "3\n");
	tree_write(m->tree, PATH("sys/devices/system/cpu/cpu%u/cache/index0/type", cpu),
		   "Unified\n");
	tree_write(m->tree, PATH("sys/devices/system/cpu/cpu%u/cache/index0/size", cpu),
		   "32768K\n");
	tree_printf(m->tree, PATH("sys/devices/system/cpu/cpu%u/cache/index0/id", cpu), "%u\n",
		    cache_of(m, cpu));
}

static void write_policies(struct machine *m)
{
	for (unsigned p = 0; p < m->spec.cpus; p += m->spec.cpus_per_policy) {
		struct cpuset related = {}, affected = {};
		struct text t;
		FILE *f;

		for (unsigned i = p; i < MIN(p + m->spec.cpus_per_policy, m->spec.cpus); i++) {
			cpuset_add(&related, i);
			if (m->cpu[i].online)
				cpuset_add(&affected, i);
		}
		f = text_file(&t);
		cpuset_for_each (i, &related)
			fprintf(f, "%u ", i);
		fputc('\n', f);
		text_to(&t, m, PATH("sys/devices/system/cpu/cpufreq/policy%u/related_cpus", p));
		f = text_file(&t);
		cpuset_for_each (i, &affected)
			fprintf(f, "%u ", i);
		fputc('\n', f);
		text_to(&t, m, PATH("sys/devices/system/cpu/cpufreq/policy%u/affected_cpus", p));
	}
}

static void make_policies(struct machine *m)
{
	bool epp =
		streq(m->spec.cpufreq, "intel_pstate") || streq(m->spec.cpufreq, "amd-pstate-epp");

	for (unsigned i = 0; i < m->spec.cpus; i++)
		tree_link(m->tree, PATH("sys/devices/system/cpu/cpu%u/cpufreq", i),
			  PATH("../cpufreq/policy%u", policy_of(m, i) * m->spec.cpus_per_policy));
	for (unsigned p = 0; p < m->spec.cpus; p += m->spec.cpus_per_policy) {
		const char *dir = PATH("sys/devices/system/cpu/cpufreq/policy%u", p);

		tree_printf(m->tree, PATH("%s/scaling_driver", dir), "%s\n", m->spec.cpufreq);
		tree_write(m->tree, PATH("%s/scaling_governor", dir),
			   epp ? "powersave\n" : "schedutil\n");
		tree_write(m->tree, PATH("%s/scaling_available_governors", dir),
			   epp ? "performance powersave\n" : "performance schedutil powersave \n");
		tree_write(m->tree, PATH("%s/scaling_cur_freq", dir), "2400000\n");
		if (!epp)
			continue;
		tree_write(m->tree, PATH("%s/energy_performance_preference", dir),
			   "balance_performance\n");
		tree_write(m->tree, PATH("%s/energy_performance_available_preferences", dir),
			   "default performance balance_performance balance_power power \n");
	}
	write_policies(m);
}

static void make_cpus(struct machine *m)
{
	struct cpuset present = {}, possible = {};

	for (unsigned i = 0; i < m->spec.possible; i++)
		cpuset_add(&possible, i);
	for (unsigned i = 0; i < m->spec.cpus; i++)
		cpuset_add(&present, i);
	write_list(m, "sys/devices/system/cpu/possible", &possible);
	write_list(m, "sys/devices/system/cpu/present", &present);
	tree_printf(m->tree, "sys/devices/system/cpu/isolated", "%s\n", m->spec.isolated ?: "");
	tree_write(m->tree, "sys/devices/system/cpu/nohz_full", "\n");
	tree_mkdir(m->tree, "sys/devices/system/cpu/cpufreq");
	for (unsigned i = 0; i < m->spec.cpus; i++) {
		if (i > 0)
			tree_write(m->tree, PATH("sys/devices/system/cpu/cpu%u/online", i), "1\n");
		tree_write(m->tree, PATH("sys/devices/system/cpu/cpu%u/uevent", i), "");
		tree_write(m->tree,
			   PATH("sys/devices/system/cpu/cpu%u/power/pm_qos_resume_latency_us", i),
			   "0\n");
	}
	if (m->spec.cpufreq)
		make_policies(m);
}

/* Everything that hotplug changes. */
static void write_online(struct machine *m)
{
	struct cpuset online = online_set(m), nodes = {};

	write_list(m, "sys/devices/system/cpu/online", &online);
	for (unsigned i = 0; i < m->spec.cpus; i++)
		write_cpu_topology(m, i);
	for (unsigned n = 0; n < m->spec.nodes; n++) {
		struct cpuset cpus = {};

		cpuset_add(&nodes, n);
		for (unsigned i = 0; i < m->spec.cpus; i++)
			if (node_of(m, i) == n && m->cpu[i].online)
				cpuset_add(&cpus, i);
		write_mask(m, PATH("sys/devices/system/node/node%u/cpumap", n), &cpus);
		write_list(m, PATH("sys/devices/system/node/node%u/cpulist", n), &cpus);
		tree_printf(m->tree, PATH("sys/devices/system/node/node%u/meminfo", n),
			    "Node %u MemTotal:       16384000 kB\n", n);
	}
	write_list(m, "sys/devices/system/node/online", &nodes);
	if (m->spec.cpufreq)
		write_policies(m);
}

/* Where a NIC's device is, relative to the root. */
static const char *nic_bus_device(const struct machine *m, unsigned n)
{
	static char path[128];

	switch (m->nic[n].kind) {
	case MACHINE_VIRTIO_MMIO:
		snprintf(path, sizeof(path), "sys/devices/platform/a00%x00.virtio_mmio", n);
		break;
	case MACHINE_CPSW:
		snprintf(path, sizeof(path), "sys/devices/platform/4848%x000.ethernet", n);
		break;
	case MACHINE_HYPERV:
		snprintf(path, sizeof(path), "sys/devices/LNXSYSTM:00/vmbus/0000000%x-0000-4000",
			 n);
		break;
	default:
		snprintf(path, sizeof(path), "sys/devices/pci0000:00/0000:00:%02x.0", n + 3);
	}
	return path;
}

static const char *driver_of(enum machine_nic_kind k)
{
	switch (k) {
	case MACHINE_VIRTIO:
	case MACHINE_VIRTIO_MMIO:
		return "virtio_net";
	case MACHINE_I40E:
		return "i40e";
	case MACHINE_IXGBE:
		return "ixgbe";
	case MACHINE_MLX5:
		return "mlx5_core";
	case MACHINE_BNXT:
		return "bnxt_en";
	case MACHINE_ENA:
		return "ena";
	case MACHINE_SINGLE:
		return "e1000e";
	case MACHINE_INTX:
		return "8139too";
	case MACHINE_CPSW:
		return "cpsw";
	case MACHINE_HYPERV:
		return "hv_netvsc";
	default:
		return NULL;
	}
}

static bool is_virtio(enum machine_nic_kind k)
{
	return k == MACHINE_VIRTIO || k == MACHINE_VIRTIO_MMIO;
}

static bool has_msi(enum machine_nic_kind k)
{
	return k == MACHINE_VIRTIO || (k >= MACHINE_I40E && k <= MACHINE_SINGLE);
}

/* A relative link from FROM's directory to TO, both relative to the root. */
static void link_relative(struct machine *m, const char *from, const char *to)
{
	char target[768] = "";
	const char *a = from, *b = to;

	for (const char *x = from, *y = to; *x && *x == *y; x++, y++)
		if (*x == '/') {
			a = x + 1;
			b = y + 1;
		}
	for (const char *slash = strchr(a, '/'); slash; slash = strchr(slash + 1, '/'))
		strcat(target, "../");
	strncat(target, b, sizeof(target) - strlen(target) - 1);
	tree_link(m->tree, from, target);
}

static void make_nic(struct machine *m, unsigned n)
{
	const struct machine_nic *nic = &m->nic[n];
	const char *bus = nic_bus_device(m, n);
	char device[256] = "", dir[320];

	if (is_virtio(nic->kind))
		path_of(device, sizeof(device), "%s/virtio%u", bus, n);
	else if (nic->kind != MACHINE_VETH)
		path_of(device, sizeof(device), "%s", bus);
	path_of(dir, sizeof(dir), "%s/net/%s", *device ? device : "sys/devices/virtual", nic->name);
	tree_printf(m->tree, PATH("%s/ifindex", dir), "%u\n", n + 2);
	tree_printf(m->tree, PATH("%s/flags", dir), "0x%x\n", nic->down ? 0x1002 : 0x1003);
	tree_write(m->tree, PATH("%s/operstate", dir), nic->down ? "down\n" : "up\n");
	for (unsigned q = 0; q < nic->queues; q++) {
		const struct cpuset none = {};

		write_mask(m, PATH("%s/queues/rx-%u/rps_cpus", dir, q), &none);
		tree_write(m->tree, PATH("%s/queues/rx-%u/rps_flow_cnt", dir, q), "0\n");
		tree_mkdir(m->tree, PATH("%s/queues/tx-%u", dir, q));
	}
	link_relative(m, PATH("sys/class/net/%s", nic->name), dir);
	if (!*device)
		return;
	link_relative(m, PATH("%s/device", dir), device);
	tree_mkdir(m->tree, PATH("sys/bus/any/drivers/%s", driver_of(nic->kind)));
	link_relative(m, PATH("%s/driver", device),
		      PATH("sys/bus/any/drivers/%s", driver_of(nic->kind)));
	if (startswith(bus, "sys/devices/pci")) {
		tree_printf(m->tree, PATH("%s/numa_node", bus), "%d\n", nic->node);
		tree_write(m->tree, PATH("%s/class", bus), "0x020000\n");
	}
}

static void add_irq(struct machine *m, int nic, const char *fmt, ...) _printf_(3, 4);
static void add_irq(struct machine *m, int nic, const char *fmt, ...)
{
	struct machine_irq *irq;
	va_list ap;

	m->irq = realloc(m->irq, (m->n_irqs + 1) * sizeof(*m->irq));
	if (!m->irq)
		abort();
	irq = &m->irq[m->n_irqs];
	*irq = (struct machine_irq){
		.number = FIRST_IRQ + m->n_irqs,
		.nic = nic,
		.managed = nic >= 0 && m->nic[nic].managed,
		.affinity = online_set(m),
		.effective = cpuset_of(m->n_irqs % m->spec.cpus),
		.counts = calloc(m->spec.possible, sizeof(uint32_t)),
	};
	if (!irq->counts)
		abort();
	va_start(ap, fmt);
	vsnprintf(irq->name, sizeof(irq->name), fmt, ap);
	va_end(ap);
	m->n_irqs++;
}

static void make_irqs_of(struct machine *m, int n)
{
	const struct machine_nic *nic = &m->nic[n];
	const char *name = nic->irq_name ?: nic->name;
	const char *pci = strrchr(nic_bus_device(m, (unsigned)n), '/') + 1;

	switch (nic->kind) {
	case MACHINE_VIRTIO:
		add_irq(m, n, "virtio%d-config", n);
		for (unsigned q = 0; q < nic->queues; q++) {
			add_irq(m, n, "virtio%d-input.%u", n, q);
			add_irq(m, n, "virtio%d-output.%u", n, q);
		}
		break;
	case MACHINE_VIRTIO_MMIO:
		add_irq(m, n, "virtio%d", n);
		break;
	case MACHINE_I40E:
		add_irq(m, n, "i40e-%s:misc", pci);
		for (unsigned q = 0; q < nic->queues; q++)
			add_irq(m, n, "i40e-%s-TxRx-%u", name, q);
		break;
	case MACHINE_IXGBE:
		for (unsigned q = 0; q < nic->queues; q++)
			add_irq(m, n, "%s-TxRx-%u", name, q);
		add_irq(m, n, "%s", name);
		break;
	case MACHINE_MLX5:
		add_irq(m, n, "mlx5_async0@pci:%s", pci);
		for (unsigned q = 0; q < nic->queues; q++)
			add_irq(m, n, "mlx5_comp%u@pci:%s", q, pci);
		break;
	case MACHINE_BNXT:
		for (unsigned q = 0; q < nic->queues; q++) {
			char whole[64];

			snprintf(whole, sizeof(whole), "%s-TxRx-%u", name, q);
			add_irq(m, n, "%.17s", whole);
		}
		break;
	case MACHINE_ENA:
		add_irq(m, n, "ena-mgmnt@pci:%s", pci);
		for (unsigned q = 0; q < nic->queues; q++)
			add_irq(m, n, "%s-Tx-Rx-%u", name, q);
		break;
	case MACHINE_SINGLE:
	case MACHINE_INTX:
		add_irq(m, n, "%s", name);
		break;
	case MACHINE_CPSW:
		add_irq(m, n, "%s", pci);
		add_irq(m, n, "%s", pci);
		break;
	case MACHINE_HYPERV:
	case MACHINE_VETH:
		break;
	}
}

/* "a, b" of /proc/interrupts is "a,b" in sysfs. */
static void write_actions(struct machine *m, const struct machine_irq *irq)
{
	char actions[sizeof(irq->name)], *to = actions;

	for (const char *c = irq->name; *c; c++)
		if (!(*c == ' ' && c > irq->name && c[-1] == ','))
			*to++ = *c;
	*to = '\0';
	tree_printf(m->tree, PATH("sys/kernel/irq/%u/actions", irq->number), "%s\n", actions);
}

void machine_layout_irqs(struct machine *m)
{
	for (unsigned i = 0; i < m->n_irqs; i++) {
		struct machine_irq *irq = &m->irq[i];
		unsigned old = irq->laid_out - 1;

		if (irq->laid_out == 0)
			continue;
		tree_remove(m->tree, PATH("proc/irq/%u", old));
		tree_remove(m->tree, PATH("sys/kernel/irq/%u", old));
		for (unsigned n = 0; n < m->spec.n_nics; n++)
			tree_remove(m->tree, PATH("%s/msi_irqs/%u", nic_bus_device(m, n), old));
	}
	for (unsigned i = 0; i < m->n_irqs; i++) {
		struct machine_irq *irq = &m->irq[i];
		mode_t mode = irq->managed ? 0444 : 0644;

		irq->laid_out = irq->number + 1;
		irq->written_sum = UINT64_MAX;
		write_list(m, PATH("proc/irq/%u/smp_affinity_list", irq->number), &irq->affinity);
		write_mask(m, PATH("proc/irq/%u/smp_affinity", irq->number), &irq->affinity);
		tree_mode(m->tree, PATH("proc/irq/%u/smp_affinity_list", irq->number), mode);
		tree_mode(m->tree, PATH("proc/irq/%u/smp_affinity", irq->number), mode);
		write_list(m, PATH("proc/irq/%u/effective_affinity_list", irq->number),
			   &irq->effective);
		tree_mode(m->tree, PATH("proc/irq/%u/effective_affinity_list", irq->number), 0444);
		if (!m->spec.no_irq_sysfs)
			write_actions(m, irq);
		if (irq->nic >= 0 && has_msi(m->nic[irq->nic].kind))
			tree_write(m->tree,
				   PATH("%s/msi_irqs/%u", nic_bus_device(m, (unsigned)irq->nic),
					irq->number),
				   "msix\n");
		if (irq->nic >= 0 && m->nic[irq->nic].kind == MACHINE_INTX)
			tree_printf(m->tree, PATH("%s/irq", nic_bus_device(m, (unsigned)irq->nic)),
				    "%u\n", irq->number);
	}
}

void machine_unplug(struct machine *m, unsigned nic)
{
	struct cpuset all = {};
	unsigned disks = 0;

	for (unsigned cpu = 0; cpu < m->spec.cpus; cpu++)
		cpuset_add(&all, cpu);
	m->nic[nic].gone = true;
	tree_remove(m->tree, PATH("sys/class/net/%s", m->nic[nic].name));
	for (unsigned i = 0; i < m->n_irqs; i++) {
		struct machine_irq *irq = &m->irq[i];

		if (irq->nic != (int)nic) {
			/* what was written last, whether it has fired since or not */
			_cleanup_free_ char *list = tree_read(
				m->tree, PATH("proc/irq/%u/smp_affinity_list", irq->number));

			cpuset_parse_list(list, &irq->affinity);
			continue;
		}
		irq->nic = -1;
		irq->managed = false;
		irq->affinity = all;
		path_of(irq->name, sizeof(irq->name), "disk%u", disks++);
		memset(irq->counts, 0, m->spec.possible * sizeof(*irq->counts));
	}
	machine_layout_irqs(m);
	tree_remove(m->tree, nic_bus_device(m, nic));
	machine_write(m);
}

void machine_process(struct machine *m, int pid, const char *comm, const char *cmdline, bool kernel)
{
	tree_printf(m->tree, PATH("proc/%d/comm", pid), "%s\n", comm);
	tree_write(m->tree, PATH("proc/%d/cmdline", pid), cmdline);
	/* Field 9 is PF_…: PF_KTHREAD is 0x00200000. */
	tree_printf(
		m->tree, PATH("proc/%d/stat", pid),
		"%d (%s) S %d 0 0 0 -1 %u 0 0 0 0 1 19 0 0 20 0 1 0 20 0 0 18446744073709551615 0 0 0 0 0 0 0 "
		"2147483647 0 1 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, comm, kernel ? 2 : 1, kernel ? 69238848U : 4194560U);
	tree_write(m->tree, PATH("proc/%d/schedstat", pid), "0 0 0\n");
}

static void make_settings(struct machine *m)
{
	static const struct {
		const char *path, *value;
		bool series;
	} settings[] = {
		{"proc/sys/net/core/netdev_budget", "300", false},
		{"proc/sys/net/core/netdev_budget_usecs", "8000", false},
		{"proc/sys/net/core/dev_weight", "64", false},
		{"proc/sys/net/core/netdev_max_backlog", "1000", false},
		{"proc/sys/net/core/rps_sock_flow_entries", "0", false},
		{"proc/sys/net/core/busy_poll", "0", false},
		{"proc/sys/net/core/busy_read", "0", false},
		{"proc/sys/net/core/busy_read_follow", "0", true},
		{"proc/sys/net/core/busy_poll_budget", "8", true},
		{"proc/sys/kernel/softirq_time_us", "2000", true},
		{"proc/sys/kernel/softirq_clock", "0", true},
		{"proc/sys/kernel/softirq_max_restart", "10", true},
		{"proc/sys/kernel/softirq_restart_policy", "0", true},
	};

	for (size_t i = 0; i < ELEMENTSOF(settings); i++)
		if (!settings[i].series || m->spec.series)
			tree_printf(m->tree, settings[i].path, "%s\n", settings[i].value);
	tree_printf(m->tree, "proc/sys/kernel/osrelease", "%s\n", m->spec.kernel);
	tree_write(m->tree, "proc/sys/kernel/hostname", "testhost\n");
	tree_write(m->tree, "proc/sys/kernel/random/boot_id",
		   "6d0e1f5c-0000-4000-8000-000000000001\n");
	tree_printf(m->tree, "proc/cmdline", "%s\n", m->spec.cmdline);
	tree_mkdir(m->tree, "run");
	tree_mkdir(m->tree, "sys/class/net");
	if (m->spec.rt)
		tree_write(m->tree, "sys/kernel/realtime", "1\n");
}

static struct machine *machine_of(struct io *io)
{
	return (struct machine *)((char *)io - offsetof(struct machine, io));
}

static uint64_t machine_now(struct io *io, clockid_t clock)
{
	const struct machine *m = machine_of(io);

	switch (clock) {
	case CLOCK_REALTIME:
		return m->realtime_usec;
	case CLOCK_BOOTTIME:
		return m->mono_usec + m->suspended_usec;
	default:
		return m->mono_usec;
	}
}

static void fill_in_defaults(struct machine *m, const struct machine_spec *spec)
{
	struct machine_spec *s = &m->spec;

	*s = *spec;
	s->cpus = s->cpus ?: 2;
	s->possible = MAX(s->possible, s->cpus);
	s->sockets = s->sockets ?: 1;
	s->nodes = s->nodes ?: 1;
	s->smt = s->smt ?: 1;
	s->cpus_per_cache = s->cpus_per_cache ?: MAX(s->cpus / s->smt / s->sockets, 1U);
	s->cpus_per_policy = s->cpus_per_policy ?: 1;
	s->softnet_columns = s->softnet_columns ?: 15;
	s->cmdline = s->cmdline ?: "quiet";
	s->kernel = s->kernel ?: "6.12.117+deb13-amd64";
	m->nic = calloc(s->n_nics + 1, sizeof(*m->nic));
	m->rx = calloc(s->n_nics + 1, sizeof(*m->rx));
	m->cpu = calloc(s->possible, sizeof(*m->cpu));
	if (!m->nic || !m->rx || !m->cpu)
		abort();
	for (size_t n = 0; n < s->n_nics; n++) {
		m->nic[n] = s->nics[n];
		m->nic[n].queues = MAX(m->nic[n].queues, 1U);
	}
	s->nics = m->nic;
}

struct machine *machine_new(const struct machine_spec *spec)
{
	struct machine *m = calloc(1, sizeof(*m));
	struct io *io;

	if (!m)
		abort();
	fill_in_defaults(m, spec);
	m->tree = tree_new();
	m->mono_usec = 1000 * USEC_PER_SEC;
	m->realtime_usec = UINT64_C(1700000000) * USEC_PER_SEC;

	/* A seam like tree_io()'s, but for the clock. */
	io = tree_io(m->tree);
	m->ops = *io->ops;
	m->ops.now = machine_now;
	m->io = (struct io){.ops = &m->ops, .root = TAKE_FD(io->root), .live = false};
	io_free(io);

	for (unsigned i = 0; i < m->spec.cpus; i++) {
		m->cpu[i].online = true;
		m->cpu[i].ksoftirqd = KSOFTIRQD_PID + (int)i;
		if (!m->spec.no_ksoftirqd)
			machine_process(m, m->cpu[i].ksoftirqd, PATH("ksoftirqd/%u", i), "", true);
	}
	machine_process(m, 1, "systemd", "/sbin/init", false);
	if (m->spec.irqbalance)
		machine_process(m, 4000, "irqbalance", "/usr/sbin/irqbalance", false);
	make_cpus(m);
	write_online(m);
	for (unsigned n = 0; n < m->spec.n_nics; n++) {
		make_nic(m, n);
		make_irqs_of(m, (int)n);
	}
	for (unsigned i = 0; i < m->spec.other_irqs; i++)
		add_irq(m, -1, "nvme0q%u", i);
	machine_layout_irqs(m);
	make_settings(m);
	if (!m->spec.no_kmsg) {
		tree_write(m->tree, "dev/kmsg", "");
		machine_kmsg(m, 5, "Linux version %s", m->spec.kernel);
	}
	machine_write(m);
	return m;
}

void machine_free(struct machine *m)
{
	for (unsigned i = 0; i < m->n_irqs; i++)
		free(m->irq[i].counts);
	free(m->irq);
	free(m->cpu);
	free(m->rx);
	free(m->nic);
	closep(&m->io.root);
	tree_free(m->tree);
	free(m);
}

void machine_busy(struct machine *m, unsigned cpu, uint64_t usec)
{
	m->cpu[cpu].used_usec += usec;
}

void machine_advance(struct machine *m, uint64_t usec)
{
	for (unsigned i = 0; i < m->spec.cpus; i++) {
		struct machine_cpu *c = &m->cpu[i];
		uint64_t used = MIN(c->used_usec, usec);

		if (!c->online)
			continue;
		c->softirq_time += used / 10000;
		c->idle += (usec - used) / 10000;
		c->used_usec = 0;
	}
	m->mono_usec += usec;
	m->realtime_usec += usec;
}

unsigned machine_irq(const struct machine *m, const char *name)
{
	for (unsigned i = 0; i < m->n_irqs; i++)
		if (streq(m->irq[i].name, name))
			return i;
	fprintf(stderr, "machine: no interrupt is called %s\n", name);
	abort();
}

static void settle_affinity(struct machine *m, struct machine_irq *irq)
{
	_cleanup_free_ char *text =
		tree_read(m->tree, PATH("proc/irq/%u/smp_affinity_list", irq->number));
	struct cpuset online = online_set(m), wanted;

	if (cpuset_parse_list(text, &wanted) < 0 || cpuset_equal(&wanted, &irq->affinity))
		return;
	irq->affinity = wanted;
	wanted = cpuset_and(&wanted, &online);
	if (!cpuset_empty(&wanted))
		irq->effective = cpuset_of(cpuset_first(&wanted));
	write_mask(m, PATH("proc/irq/%u/smp_affinity", irq->number), &irq->affinity);
	write_list(m, PATH("proc/irq/%u/effective_affinity_list", irq->number), &irq->effective);
}

void machine_fire(struct machine *m, unsigned irq, unsigned times)
{
	if (times == 0)
		return;
	settle_affinity(m, &m->irq[irq]);
	m->irq[irq].counts[cpuset_first(&m->irq[irq].effective)] += times;
}

void machine_receive(struct machine *m, unsigned irq, unsigned packets)
{
	unsigned cpu, runs = (packets + 31) / 32;

	machine_fire(m, irq, runs);
	cpu = cpuset_first(&m->irq[irq].effective);
	m->cpu[cpu].processed += packets;
	m->cpu[cpu].softirq[3] += runs;
	if (m->irq[irq].nic >= 0)
		m->rx[m->irq[irq].nic].rx_packets += packets;
}

void machine_set_online(struct machine *m, unsigned cpu, bool online)
{
	struct cpuset all;

	m->cpu[cpu].online = online;
	tree_write(m->tree, PATH("sys/devices/system/cpu/cpu%u/online", cpu),
		   online ? "1\n" : "0\n");
	write_online(m);
	all = online_set(m);
	for (unsigned i = 0; i < m->n_irqs; i++) {
		struct machine_irq *irq = &m->irq[i];

		if (cpuset_intersects(&irq->effective, &all))
			continue;
		/* "IRQ 19: no longer affine to CPU0" */
		irq->effective = cpuset_of(cpuset_first(&all));
		write_list(m, PATH("proc/irq/%u/effective_affinity_list", irq->number),
			   &irq->effective);
	}
	machine_write(m);
}

void machine_kmsg(struct machine *m, unsigned level, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL, *line = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (asprintf(&line, "%u,%u,%llu,-;%s\n", level, m->kmsg_seq++,
		     (unsigned long long)m->mono_usec, text) < 0)
		abort();
	tree_append(m->tree, "dev/kmsg", line);
}
