/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking through /proc/PID: ksoftirqd/N, forced IRQ threads, backlog NAPI threads, and programs
 * that move the same settings as we do. A kernel thread is known by PF_KTHREAD in its stat (or by
 * kthreadd as its parent), a program by its exact comm: never by a command line, which anyone may
 * choose.
 */
#pragma once

#include <sys/types.h>

#include "base/io.h"
#include "model/snapshot.h"
#include "model/topology.h"

struct irq_thread {
	unsigned irq;
	pid_t pid;
	uint64_t start; /* struct task_stat's */
	char comm[16];
};

/* The thread "napi/NAME-ID" of a NAPI instance. */
struct napi_thread {
	char nic[16]; /* the interface's name when the thread was made */
	unsigned id;
	pid_t pid;
};

enum { /* struct processes.rivals */
	RIVAL_IRQBALANCE = 1 << 0,
	RIVAL_TUNED = 1 << 1,
	RIVAL_POWER_PROFILES = 1 << 2,
	RIVAL_AUTO_CPUFREQ = 1 << 3,
	RIVAL_GAMEMODE = 1 << 4,
	RIVAL_BPFTUNE = 1 << 5,
	RIVAL_TLP = 1 << 6, /* runs no daemon: known by /run/tlp */
};

struct processes {
	unsigned n_cpus;
	pid_t *ksoftirqd;              /* by CPU id; 0: none seen */
	struct irq_thread *irq_thread; /* primary handlers, ordered by pid */
	unsigned n_irq_threads;
	struct napi_thread *napi_thread;
	unsigned n_napi_threads;
	bool backlog_napi;
	unsigned rivals;
};

/* What /proc/PID/stat says of a task. */
struct task_stat {
	char comm[64];
	bool kernel_thread; /* by PF_KTHREAD, or kthreadd is its parent */
	int64_t nice;
	uint64_t start;               /* clock ticks since boot */
	uint64_t cpu;                 /* where it runs, or ran last */
	uint64_t rt_priority, policy; /* SCHED_… */
};
/* 0 or a negative errno; -EBADMSG when it is no such line. */
int task_stat_read(struct io *io, pid_t pid, struct task_stat *ret);
/* The CPUs that a task may use, "0-3", from PATH, its status file. */
int task_cpus_read(struct io *io, const char *path, char *buf, size_t size);

/*
 * Looks through all of /proc once; RET is filled anew. Some processes may end meanwhile: they are
 * passed over. Returns 0, or a negative errno when /proc cannot be listed (RET is then empty), or
 * -ENOMEM.
 */
int processes_scan(struct io *io, unsigned n_cpus, struct processes *ret);
void processes_done(struct processes *p);

/* Whether PID is a kernel thread, as far as it can be told. */
bool process_is_kernel_thread(struct io *io, pid_t pid);

/* "irqbalance, tuned" or "". */
void rivals_to_string(unsigned rivals, char *buf, size_t size);

/* /proc/PID/schedstat: time on a CPU, time runnable but waiting (both ns), number of slices. 0 or a
 * negative errno; -EBADMSG when it is not three numbers. */
int schedstat_read(struct io *io, pid_t pid, uint64_t ret[3]);
