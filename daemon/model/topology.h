/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine is made of, as far as the receive path cares: CPUs, cpufreq policies, NICs and
 * their interrupts. Filled by observe/topology (hwloc is used only there) and observe/nic; a plain
 * value without I/O, so that placement can be tested on machines nobody here owns.
 */
#pragma once

#include <sys/types.h>

#include "base/cpuset.h"
#include "base/util.h"
#include "model/tunable.h"

struct cpu {
	bool present; /* this id exists */
	bool online;
	bool isolated; /* isolcpus, nohz_full or an isolated cpuset partition: never placed on */
	int node;      /* NUMA node, -1: not known */
	int package;
	int core;  /* logical core number, unique in the machine; siblings share it; -1 not known */
	int cache; /* logical number of the last-level cache; -1 not known */
	unsigned smt;      /* 0: first thread of its core, 1: second … */
	unsigned capacity; /* cpu_capacity of hybrid machines, else 1024 */
};

enum irq_role {
	IRQ_OTHER, /* not a NIC's, or a NIC's control vector (config, misc, mgmnt, async) */
	IRQ_RX,    /* receives */
	IRQ_RXTX,  /* one vector for both directions */
	IRQ_TX,    /* transmits only */
};
const char *irq_role_to_string(enum irq_role r);

#define IRQ_NAME_MAX 96
struct irq {
	unsigned number; /* now: reused by the kernel after a driver reset */
	int nic;         /* index into nics, -1 */
	int queue;       /* as far as the name tells, -1 not known (bnxt cuts it off) */
	enum irq_role role;
	bool managed;     /* the kernel moves it, nobody else may (no w bit; EIO or EPERM) */
	bool shared;      /* more than one action: left alone */
	bool banned;      /* irqbalance says that it leaves it alone */
	bool fell_silent; /* when softnetd moved it: left alone (decide/silence.h) */
	bool have_affinity, have_effective;
	struct cpuset affinity;      /* smp_affinity_list */
	struct cpuset effective;     /* effective_affinity_list: the truth */
	char name[IRQ_NAME_MAX];     /* action */
	char identity[IDENTITY_MAX]; /* see struct target */
	/* Its thread irq/N-…; thread 0: none. Pids are reused: with its start time it is this one.
	 */
	pid_t thread;
	uint64_t thread_start;
	char thread_comm[16];
	unsigned thread_rank; /* struct rt_task's; 0 as well where it could not be read */
};

/*
 * A task of user space with a real-time policy. RANK is who goes first on a CPU: 1 to 99 is the priority
 * of SCHED_FIFO and SCHED_RR, RANK_DEADLINE goes before them (sched(7)), 0 is none of these.
 */
#define RANK_DEADLINE 100U
struct rt_task {
	pid_t pid; /* the thread's own */
	unsigned rank;
	struct cpuset allowed;
	char comm[16];
};

struct nic {
	unsigned ifindex;
	char name[16];
	char device[256]; /* sysfs device path relative to the root; "" for a virtual NIC */
	char driver[32];
	int node; /* NUMA node, -1 */
	bool up;
	unsigned rx_queues;          /* 0 not known */
	bool rps;                    /* some rps_cpus mask is not zero */
	int carrier;                 /* 1, 0, or -1: not known, as of every NIC that is down */
	char identity[IDENTITY_MAX]; /* see struct target; "" for a virtual NIC */
	/* By the family ethtool: what is set, and the driver's limits. HAVE says which were told. */
	struct nic_numbers {
		bool have;
		uint32_t rx, tx, combined, rx_max, tx_max, combined_max;
	} channels, rings; /* rings: descriptors, no combined */
};

#define NAPI_SETTINGS (TUNABLE_IRQ_SUSPEND_TIMEOUT - TUNABLE_NAPI_THREADED + 1)
/* A NAPI instance with an id, as netdev-genl's napi-get shows them; of a NIC that is up. */
struct napi {
	unsigned id;            /* now: a driver's reset gives another */
	int nic;                /* index into nics */
	int rx_queue, tx_queue; /* -1: none, or not known */
	bool by_order; /* the driver does not tell the queue: the n-th instance serves the n-th */
	int irq;       /* index into irqs, -1 not known */
	pid_t thread;  /* napi/NAME-ID; 0: none */
	/* Which of TUNABLE_NAPI_THREADED … TUNABLE_IRQ_SUSPEND_TIMEOUT the kernel told of this one,
	 * so that they can be set one by one: bit n is the n-th of them. */
	uint32_t own_settings;
	uint64_t setting[NAPI_SETTINGS]; /* those that it has; as of the last slow look */
	char identity[IDENTITY_MAX];
};
#define NAPI_SETTING(id) (1U << ((id)-TUNABLE_NAPI_THREADED))

/* An open IP socket or epoll instance of a unit that the profile names. */
#define SOCK_UNIT_MAX 256
struct sock {
	pid_t pid;
	int fd; /* now */
	bool epoll;
	char unit[SOCK_UNIT_MAX];
	char identity[IDENTITY_MAX];
};

struct policy {             /* a cpufreq policy */
	unsigned number;    /* policyN */
	struct cpuset cpus; /* related CPUs */
	bool active;        /* has an online CPU; others read EBUSY */
	char driver[32];
	char governor[32];
	char governors[256]; /* scaling_available_governors, blank separated */
	bool have_epp;
	char epp[32];
	char epps[160]; /* energy_performance_available_preferences */
	char identity[IDENTITY_MAX];
};

struct topology {
	unsigned n_cpus; /* length of cpu[]: highest possible id + 1 */
	struct cpu *cpu;
	struct cpuset possible, online, isolated;
	unsigned n_irqs;
	struct irq *irq; /* NICs' interrupts only, ordered by number */
	unsigned n_nics;
	struct nic *nic;
	bool napis_told; /* the kernel lists them; else those with threads are known */
	unsigned n_napis;
	struct napi *napi; /* ordered by NIC, then by id */
	unsigned n_socks;  /* as of the last slow look */
	struct sock *sock;
	unsigned n_policies;
	struct policy *policy;
	unsigned hz;         /* kernel's HZ: CONFIG_HZ, or measured; 0 not known (yet) */
	unsigned user_hz;    /* unit of /proc/stat */
	bool rt;             /* /sys/kernel/realtime says 1 */
	bool threadirqs;     /* on the command line, or rt */
	bool thread_backlog; /* backlog NAPI threads */
	bool irq_threads;    /* forced IRQ threads are there to be seen */
	bool cpu_latency;    /* CPUs have limits of their own for their wake-up (CONFIG_PM) */
	bool nohz_full;      /* some CPU runs without its tick (nohz_full=) */
	bool container;  /* we seem to run in one: sources may be the host's, writes will fail */
	char kernel[96]; /* osrelease */
	char hostname[65];
	/* Other programs that place interrupts or set governors, "irqbalance, tuned" or "" */
	char rivals[128];
	bool irqbalance;
	bool irqbalance_told; /* it answered: BANNED of the interrupts is what it said */
};

void topology_free(struct topology *t);
DEFINE_CLEANUP(struct topology *, topology_free);

/* NULL when there is none. */
const struct irq *topology_irq(const struct topology *t, unsigned number);
const struct irq *topology_irq_by_identity(const struct topology *t, const char *identity);
const struct nic *topology_nic(const struct topology *t, const char *name);
const struct policy *topology_policy_by_identity(const struct topology *t, const char *identity);

/*
 * All targets that a setting has on this machine, and how many; the caller frees. A NAPI setting of
 * a NIC whose instances cannot be set one by one has the NIC as its target, if there is a file.
 * Virtual NICs have none. -ENOMEM.
 */
int topology_targets(const struct topology *t, enum tunable_id id, struct target **ret);
/* The target of a setting that has IDENTITY now. -ENODEV: there is none; -ENXIO: its NIC is there,
 * but down; -ENOTUNIQ: there are several NICs of that name; -EIO: its queues could not be read. */
int topology_find_target(const struct topology *t, enum tunable_id id, const char *identity,
			 struct target *ret);
/* The NIC that a NIC's or NAPI's identity belongs to; NULL when it is not there. */
const struct nic *topology_nic_of_identity(const struct topology *t, const char *identity);

/* The target of a scoped setting. */
struct target irq_target(const struct irq *irq);
struct target policy_target(const struct policy *p);
/* Only for an interrupt that has a thread. */
struct target irq_thread_target(const struct irq *irq);
const struct irq *topology_irq_by_thread(const struct topology *t, const char *identity);
struct target cpu_target(unsigned cpu);
/* The CPU of a SCOPE_CPU identity, when this machine has it; else -1. */
int topology_cpu_by_identity(const struct topology *t, const char *identity);
/* The CPU that takes an interrupt: where it is bound to, and is going to be at its next one; else
 * where it is now. CPU_ID_MAX: not known. */
unsigned topology_irq_home(const struct irq *irq);
/* Whether irqbalance runs and may move interrupts of that NIC that softnetd would place. */
bool topology_irqbalance_moves(const struct topology *t, unsigned nic);
/* The CPUs of that NUMA node; none for -1. */
struct cpuset topology_node_cpus(const struct topology *t, int node);
/* The CPUs that share their last-level cache, their node or their core with one of AMONG, and those
 * themselves; without the CPUs of which that is not known. */
enum shared {
	SHARED_CACHE,
	SHARED_NODE,
	SHARED_CORE
};
struct cpuset topology_sharing(const struct topology *t, const struct cpuset *among,
			       enum shared what);
/* The CPUs that take the receive interrupts of NICs that are up: where they arrive, or where the
 * mask sends them when the host does not tell. */
struct cpuset topology_receive_cpus(const struct topology *t);
