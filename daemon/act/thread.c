/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Priority of interrupts' threads (PREEMPT_RT, threadirqs): irq/N-…, which the kernel makes
 * SCHED_FIFO 50.
 *
 * Only a thread that is a kernel thread, of that interrupt's number and action, and the one the
 * ledger means by its start time: never one found by a command line, never ksoftirqd or rcu
 * (kernel-facts 6.4). Only from one real-time priority to another: whoever made such a thread an
 * ordinary one had a reason, and a thread that becomes real-time can hold its CPU for ever. Where a
 * thread runs is its interrupt's affinity; sched_setaffinity(2) fails on it since 6.19.
 */
#include "act/act-internal.h"

#include <sched.h>

#include "observe/processes.h"

#define COMM_MAX 15 /* TASK_COMM_LEN without its NUL */

static int thread_verify(struct actuator *a, const struct place *p)
{
	char comm[IRQ_NAME_MAX + 16];
	struct task_stat st;
	int r;

	r = task_stat_read(a->io, (pid_t)p->target.number, &st);
	if (r == -ENOENT || r == -ESRCH)
		return -ENODEV;
	if (r < 0)
		return r;
	/* setup_irq_thread() in kernel/irq/manage.c: "irq/%d-%s", cut to a comm. */
	snprintf(comm, sizeof(comm), "irq/%u-%s", p->irq->number, p->irq->name);
	if (!st.kernel_thread || st.start != p->irq->thread_start ||
	    strncmp(st.comm, comm, COMM_MAX) != 0)
		return -ENODEV;
	return 0;
}

static int parse(const char *value, int *ret_policy, int *ret_priority)
{
	const char *colon = strchr(value, ':');
	int64_t priority;

	if (!colon || parse_i64(colon + 1, &priority) < 0 || priority < 1 || priority > 99)
		return -EINVAL;
	if (!startswith(value, "fifo:") && !startswith(value, "rr:"))
		return -EINVAL;
	*ret_policy = *value == 'f' ? SCHED_FIFO : SCHED_RR;
	*ret_priority = (int)priority;
	return 0;
}

static int thread_permit(struct actuator *a _unused_, struct attempt *at)
{
	int policy, priority;

	if (parse(at->now, &policy, &priority) >= 0)
		return 0;
	return answer(at->result, OUTCOME_REFUSED, -EOPNOTSUPP,
		      "%s: is %.24s: somebody made it no real-time thread, so it is left alone",
		      at->place.name, at->now);
}

static int thread_store(struct actuator *a, const struct place *p, const char *value)
{
	int policy, priority, r;

	r = parse(value, &policy, &priority);
	return r < 0 ? r : a->io->ops->set_sched(a->io, (pid_t)p->target.number, policy, priority);
}

/* It ended meanwhile. */
static bool thread_refused(struct actuator *a _unused_, struct attempt *at, int error)
{
	if (error != -ESRCH)
		return false;
	answer(at->result, OUTCOME_UNSUPPORTED, error, "%s: it has ended", at->place.name);
	return true;
}

const struct family thread_family = {
	.verify = thread_verify,
	.permit = thread_permit,
	.store = thread_store,
	.refused = thread_refused,
};
