/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who goes before a NIC's interrupt threads: with forced threads (PREEMPT_RT, threadirqs) packets are received
 * at the thread's priority, SCHED_FIFO 50 unless somebody chose another (kernel/irq/manage.c,
 * sched_set_fifo()). An application with more that may run on the same CPU keeps it from them as long as it
 * likes: so the channel-access servers of EPICS, whose threads begin at 51 (epics-base#553, case G18).
 *
 * That may be what the admin wants, so no priority is changed for it; it is only said. Pure.
 */
#pragma once

#include "model/topology.h"

struct ahead {
	unsigned tasks;             /* that go first; 0: none, and the rest means nothing */
	const struct rt_task *task; /* the first among them */
	unsigned thread_rank;       /* the lowest of the NIC's threads that they go before */
	struct cpuset cpus;         /* where those threads run */
};

/* TASKS and the ranks of T's interrupt threads as they are now. */
struct ahead ahead_of_nic(const struct topology *t, unsigned nic, const struct rt_task *tasks,
			  size_t n);
