/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole host as a captured tree: CPUs, caches, NUMA nodes, NICs with their interrupts, cpufreq
 * policies, ksoftirqd, kernel log, settings; with counters that a test moves on between ticks.
 *
 *   struct machine_nic nics[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 4}};
 *   struct machine *m = machine_new(&(struct machine_spec){.cpus = 4, .nics = nics, .n_nics = 1});
 *   observer_new(&m->io, &o); …     the I/O seam is on the tree, with the machine's own clock
 *   machine_receive(m, machine_irq(m, "i40e-eth0-TxRx-0"), 5000);
 *   m->cpu[0].dropped += 7;         any counter may be changed by hand
 *   machine_advance(m, USEC_PER_SEC);  the clock goes on, /proc/stat with it …
 *   machine_write(m);                  … and now the files show all of it
 *
 * It is a set of files, no simulation: nothing happens that the test did not ask for.
 */
#pragma once

#include "base/cpuset.h"
#include "base/io.h"
#include "lib/tree.h"

enum machine_nic_kind {
	MACHINE_VIRTIO, /* virtioN-config, virtioN-input.Q, virtioN-output.Q; PCI above it has the
			   IRQs */
	MACHINE_VIRTIO_MMIO, /* one IRQ "virtioN", no msi_irqs (case C14) */
	MACHINE_I40E,        /* i40e-0000:00:03.0:misc, i40e-NAME-TxRx-Q */
	MACHINE_IXGBE,       /* NAME-TxRx-Q, then the link interrupt that is just NAME */
	MACHINE_MLX5,        /* mlx5_async0@pci:…, mlx5_compQ@pci:… */
	MACHINE_BNXT,        /* NAME-TxRx-Q cut to 17 bytes (case C20) */
	MACHINE_ENA,         /* ena-mgmnt@pci:…, NAME-Tx-Rx-Q (case C12) */
	MACHINE_SINGLE,      /* one MSI vector, NAME */
	MACHINE_INTX,        /* one line IRQ NAME, no msi_irqs */
	MACHINE_CPSW,        /* platform device, two IRQs of one and the same name (seed 002) */
	MACHINE_HYPERV,      /* a device, no IRQ of its own (case C02) */
	MACHINE_VETH,        /* virtual: no device */
};

struct machine_nic {
	const char *name;
	enum machine_nic_kind kind;
	unsigned queues;      /* 0: 1 */
	int node;             /* NUMA node; -1 is the kernel's "none" */
	const char *irq_name; /* interface name at the time of request_irq (case C22); NULL: name */
	bool managed;         /* affinity files without w */
	bool down;
	bool gone; /* machine_unplug() */
};

struct machine_spec {
	unsigned cpus;           /* present; 0: 2 */
	unsigned possible;       /* 0: as many as there are (case A30: more) */
	unsigned sockets, nodes; /* 0: 1 */
	unsigned smt;            /* threads per core; 0: 1. Siblings are cpu and cpu + cpus / smt */
	unsigned cpus_per_cache; /* cores that share a last-level cache; 0: a socket's */
	unsigned softnet_columns; /* 9, 10, 11, 13, 15; 0: 15 */
	const struct machine_nic *nics;
	size_t n_nics;
	unsigned other_irqs;      /* interrupts of other devices ("nvme0qN") */
	const char *isolated;     /* isolcpus list; NULL: an empty file */
	const char *cpufreq;      /* scaling_driver; NULL: no cpufreq */
	unsigned cpus_per_policy; /* 0: 1 */
	const char *cmdline;      /* NULL: "quiet" */
	const char *kernel;       /* NULL: 6.12.117 */
	bool no_psi;
	bool psi_irq; /* needs CONFIG_IRQ_TIME_ACCOUNTING */
	bool no_ksoftirqd;
	bool no_kmsg;
	bool no_irq_sysfs; /* no /sys/kernel/irq */
	bool no_stat_intr; /* /proc/stat without its intr line */
	bool rt;
	bool series;     /* the settings of the kernel series exist */
	bool irqbalance; /* runs */
};

struct machine_cpu {
	bool online;
	uint32_t processed, dropped, squeezed, received_rps, flow_limit, backlog;
	uint32_t softirq[10]; /* HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU */
	uint64_t user, nice, system, idle, iowait, irq, softirq_time, steal; /* 1/100 s */
	int ksoftirqd;                                                       /* pid */
	uint64_t ksoftirqd_run_ns, ksoftirqd_wait_ns, ksoftirqd_slices;
	uint64_t used_usec; /* of the time not yet accounted: inside only */
};

struct machine_irq {
	unsigned number;
	char name[96]; /* actions, comma-separated as the kernel prints them; "" is none */
	int nic;       /* index, -1: another device */
	bool managed;
	struct cpuset affinity, effective;
	uint32_t *counts;     /* by CPU id, `possible` long */
	unsigned laid_out;    /* number its files have now, + 1: inside only */
	uint64_t written_sum; /* inside only */
};

struct machine_nic_counters {
	uint64_t rx_packets, rx_dropped, rx_missed;
};

struct machine {
	struct io io; /* what observer_new(), actuator_new() and engine_new() get */
	struct tree *tree;
	struct machine_spec spec; /* with the defaults filled in; names are owned */
	struct machine_nic *nic;
	struct machine_nic_counters *rx;
	struct machine_cpu *cpu; /* spec.possible long */
	unsigned n_irqs;
	struct machine_irq *irq;
	uint64_t psi_cpu_usec, psi_irq_usec;
	uint64_t mono_usec, suspended_usec, realtime_usec; /* the clock of `io` */
	unsigned kmsg_seq;
	struct io_ops ops;
};

struct machine *machine_new(const struct machine_spec *spec);
void machine_free(struct machine *m);
DEFINE_CLEANUP(struct machine *, machine_free);

/* Writes every counter file anew from the fields above. */
void machine_write(struct machine *m);
/* Makes /proc/irq, /sys/kernel/irq and msi_irqs fit the irq array: after a test changed numbers,
 * names or owners (driver reset, reused numbers). */
void machine_layout_irqs(struct machine *m);

/* The NIC goes, with its device and its interrupts; the kernel gives their numbers at once to interrupts
 * of another device, "diskN", which may go to any CPU. Nobody is told. */
void machine_unplug(struct machine *m, unsigned nic);

/* Time passes. CPUs are idle but for what machine_busy() said since the last call. */
void machine_advance(struct machine *m, uint64_t usec);
/* The CPU spends USEC of the time that machine_advance() adds next in softirq context. */
void machine_busy(struct machine *m, unsigned cpu, uint64_t usec);

/* Index of the first IRQ of that name; ends the program when there is none. */
unsigned machine_irq(const struct machine *m, const char *name);
/* Fires IRQ (an index) so often, where its effective affinity points. A pending move takes effect
 * first, as on x86: smp_affinity_list as it stands in the tree now. */
void machine_fire(struct machine *m, unsigned irq, unsigned times);
/* PACKETS arrive on a NIC queue's IRQ: one interrupt and one NET_RX run per 32, counted everywhere.
 */
void machine_receive(struct machine *m, unsigned irq, unsigned packets);

/* CPU hotplug: masks, rows and columns follow at once. */
void machine_set_online(struct machine *m, unsigned cpu, bool online);
/* A kernel line of that level into dev/kmsg, as a /dev/kmsg record. */
void machine_kmsg(struct machine *m, unsigned level, const char *fmt, ...) _printf_(3, 4);
/* A user process: comm, argv[0], and whether it is a kernel thread. */
void machine_process(struct machine *m, int pid, const char *comm, const char *cmdline,
		     bool kernel);
