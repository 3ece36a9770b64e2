/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/observe.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/scan.h"
#include "observe/ethtool.h"
#include "observe/napis.h"
#include "observe/processes.h"
#include "observe/sockets.h"

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

static int read_coalesce(struct io *io, enum tunable_id id, unsigned ifindex, char *buf,
			 size_t size)
{
	unsigned i = id - TUNABLE_COALESCE_ADAPTIVE_RX;
	struct coalesce c;
	int r;

	r = ethtool_read_coalesce(io, ifindex, &c);
	if (r < 0)
		return r;
	if (!(c.have & (1U << i)))
		return -EOPNOTSUPP;
	return format_into(buf, size, "%u", c.value[i]);
}

static int read_napi(struct io *io, enum tunable_id id, unsigned napi, char *buf, size_t size)
{
	uint64_t v;
	int r;

	r = napi_read_setting(io, id, napi, 0, &v);
	return r < 0 ? r : format_into(buf, size, "%llu", (unsigned long long)v);
}

static int read_cpu_mask(struct io *io, const char *path, char *buf, size_t size)
{
	char mask[CPUSET_MASK_MAX + 1];
	struct cpuset cpus;
	int r;

	r = io_read_line(io, path, mask, sizeof(mask));
	if (r >= 0)
		r = cpuset_parse_mask(mask, &cpus);
	if (r < 0)
		return r;
	return cpuset_empty(&cpus) ? format_into(buf, size, "none")
				   : cpuset_format_list(&cpus, buf, size);
}

static int read_remote(struct io *io, const struct target *target, char *buf, size_t size)
{
	struct remote_file f;
	uint32_t usec;
	int r;

	r = socket_find(io, target->identity, &f);
	if (r >= 0)
		r = remote_get(io->remote, &f, &usec);
	return r < 0 ? r : format_into(buf, size, "%u", usec);
}

int observe_value(struct io *io, enum tunable_id id, const struct target *target, char *buf,
		  size_t size)
{
	char path[PATH_MAX];
	int r;

	if (target->scope != tunables[id].scope &&
	    !(tunables[id].scope == SCOPE_NAPI && target->scope == SCOPE_NIC))
		return -EINVAL;
	if (target->scope == SCOPE_NIC && tunables[id].scope == SCOPE_NIC) {
		r = read_coalesce(io, id, target->number, buf, size);
		return r < 0 ? r : 0;
	}
	if (target->scope == SCOPE_NAPI && id != TUNABLE_NAPI_THREAD_AFFINITY) {
		r = read_napi(io, id, target->number, buf, size);
		return r < 0 ? r : 0;
	}
	if (target->scope == SCOPE_SOCKET) {
		r = read_remote(io, target, buf, size);
		return r < 0 ? r : 0;
	}
	r = target_path(id, target, path, sizeof(path));
	if (r < 0)
		return r;
	if (id == TUNABLE_NAPI_THREAD_AFFINITY)
		r = task_cpus_read(io, path, buf, size);
	else if (id == TUNABLE_CPU_DMA_LATENCY)
		r = read_latency(io, path, buf, size);
	else if (tunables[id].type == VALUE_CPU_MASK)
		r = read_cpu_mask(io, path, buf, size);
	else if (tunables[id].type == VALUE_SCHED)
		r = read_sched(io, (pid_t)target->number, buf, size);
	else
		r = io_read_line(io, path, buf, size);
	return r < 0 ? r : 0;
}

bool observe_number(struct io *io, enum tunable_id id, int64_t *ret)
{
	struct target host = target_host();
	char text[64];
	int64_t v;

	if (tunables[id].scope != SCOPE_HOST || tunables[id].held ||
	    observe_value(io, id, &host, text, sizeof(text)) < 0 || parse_i64(text, &v) < 0)
		return false;
	*ret = v;
	return true;
}
