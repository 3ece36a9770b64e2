/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/rt-tasks.h"

#include <sched.h>
#include <stdio.h>

#include "base/scan.h"
#include "observe/processes.h"

static unsigned rank_of(const struct task_stat *st)
{
	if (st->policy == SCHED_DEADLINE)
		return RANK_DEADLINE;
	if (st->policy != SCHED_FIFO && st->policy != SCHED_RR)
		return 0;
	return (unsigned)MIN(st->rt_priority, RANK_DEADLINE - 1U);
}

unsigned rt_rank_read(struct io *io, pid_t pid)
{
	struct task_stat st;

	return task_stat_read(io, pid, &st) < 0 ? 0 : rank_of(&st);
}

static int add_task(struct io *io, const char *pid, const char *tid, struct rt_task **tasks,
		    size_t *n)
{
	char path[96], cpus[CPUSET_LIST_MAX];
	struct task_stat st;
	struct rt_task *more;
	uint64_t number;

	/* /proc/TID is there for each thread, though it is not listed. */
	if (slice_decimal(slice_of(tid, strlen(tid)), INT32_MAX, &number) < 0 || number == 0 ||
	    task_stat_read(io, (pid_t)number, &st) < 0 || st.kernel_thread || rank_of(&st) == 0 ||
	    format_into(path, sizeof(path), "proc/%s/task/%s/status", pid, tid) < 0 ||
	    task_cpus_read(io, path, cpus, sizeof(cpus)) < 0)
		return 0;
	more = reallocarray(*tasks, *n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*tasks = more;
	more = &more[*n];
	*more = (struct rt_task){.pid = (pid_t)number, .rank = rank_of(&st)};
	snprintf(more->comm, sizeof(more->comm), "%.15s", st.comm);
	if (cpuset_parse_list(cpus, &more->allowed) >= 0)
		++*n;
	return 0;
}

static int add_process(struct io *io, const char *pid, struct rt_task **tasks, size_t *n)
{
	_cleanup_(strv_freep) char **tids = NULL;
	char path[64];
	uint64_t number;
	int r;

	if (slice_decimal(slice_of(pid, strlen(pid)), INT32_MAX, &number) < 0 ||
	    process_is_kernel_thread(io, (pid_t)number) ||
	    format_into(path, sizeof(path), "proc/%s/task", pid) < 0)
		return 0;
	r = io_list(io, path, &tids);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (char **tid = tids; *tid; tid++) {
		r = add_task(io, pid, *tid, tasks, n);
		if (r < 0)
			return r;
	}
	return 0;
}

int rt_tasks_scan(struct io *io, struct rt_task **ret, size_t *ret_n)
{
	_cleanup_(strv_freep) char **pids = NULL;
	_cleanup_free_ struct rt_task *tasks = NULL;
	size_t n = 0;
	int r;

	*ret = NULL;
	*ret_n = 0;
	r = io_list(io, "proc", &pids);
	for (char **pid = pids; r >= 0 && *pid; pid++)
		r = add_process(io, *pid, &tasks, &n);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(tasks);
	*ret_n = n;
	return 0;
}
