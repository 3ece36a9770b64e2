/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/observe.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "observe/processes.h"

/* A binary s32: the lowest of all requests, not only ours. */
static int read_latency(struct io *io, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = io_open(io, path, O_RDONLY);
	int32_t value;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = io->ops->read(io, fd, &value, sizeof(value), -1);
	if (n < 0)
		return (int)n;
	if (n != sizeof(value))
		return -EBADMSG;
	return format_into(buf, size, "%d", value);
}

/* In a spelling of our own: the kernel has none. */
static int read_sched(struct io *io, pid_t pid, char *buf, size_t size)
{
	static const char *const policies[] = {
		"other", "fifo", "rr", "batch", NULL, "idle", "deadline"}; /* SCHED_… of sched(7) */
	struct task_stat st;
	bool realtime;
	int r;

	r = task_stat_read(io, pid, &st);
	if (r < 0)
		return r;
	if (st.policy >= ELEMENTSOF(policies) || !policies[st.policy])
		return -EBADMSG;
	realtime = st.policy == SCHED_FIFO || st.policy == SCHED_RR;
	return format_into(buf, size, "%s:%lld", policies[st.policy],
			   realtime ? (long long)st.rt_priority : (long long)st.nice);
}

int observe_value(struct io *io, enum tunable_id id, const struct target *target, char *buf,
		  size_t size)
{
	char path[PATH_MAX];
	int r;

	if (target->scope != tunables[id].scope)
		return -EINVAL;
	r = tunable_path(&tunables[id], target->number, path, sizeof(path));
	if (r < 0)
		return r;
	if (id == TUNABLE_CPU_DMA_LATENCY)
		r = read_latency(io, path, buf, size);
	else if (tunables[id].type == VALUE_SCHED)
		r = read_sched(io, (pid_t)target->number, buf, size);
	else
		r = io_read_line(io, path, buf, size);
	return r < 0 ? r : 0;
}
