/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/processes.h"

#include <stdio.h>

#include "base/scan.h"

#define PF_KTHREAD   0x00200000 /* include/linux/sched.h */
#define KTHREADD_PID 2

static const struct {
	const char *comm; /* 15 bytes at most: TASK_COMM_LEN */
	const char *name;
	unsigned rival;
} rivals[] = {
	{"irqbalance", "irqbalance", RIVAL_IRQBALANCE},
	{"tuned", "tuned", RIVAL_TUNED},
	{"power-profiles-", "power-profiles-daemon", RIVAL_POWER_PROFILES},
	{"auto-cpufreq", "auto-cpufreq", RIVAL_AUTO_CPUFREQ},
	{"gamemoded", "gamemoded", RIVAL_GAMEMODE},
	{"bpftune", "bpftune", RIVAL_BPFTUNE},
	{NULL, "tlp", RIVAL_TLP},
};

/* Field 2 is the comm, which may hold blanks and brackets; 4 the parent, 9 the flags, 19 nice, 22
 * the start, 39 the CPU, 40 and 41 priority and policy (proc(5)). */
int task_stat_read(struct io *io, pid_t pid, struct task_stat *ret)
{
	uint64_t flags = 0, parent = 0;
	struct task_stat st = {};
	char path[64], text[1024];
	const char *open, *close;
	struct slice rest, word;
	unsigned got = 0;
	int r;

	format_into(path, sizeof(path), "proc/%d/stat", (int)pid);
	r = io_read_line(io, path, text, sizeof(text));
	if (r < 0)
		return r;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open)
		return -EBADMSG;
	slice_show((struct slice){open + 1, close}, st.comm, sizeof(st.comm));
	rest = slice_of(close + 1, strlen(close + 1));
	for (unsigned field = 3; slice_word(&rest, &word); field++) {
		bool negative = slice_starts(word, "-");
		uint64_t v;

		word.at += negative;
		/* Only nice can be below zero of those that count; the kernel prints it in two digits. */
		if (field == 3 || slice_decimal(word, field == 19 ? INT64_MAX : UINT64_MAX, &v) < 0)
			continue;
		got += field == 4 || field == 9 || field == 22 || field == 39 || field == 40 ||
		       field == 41;
		if (field == 4)
			parent = v;
		else if (field == 9)
			flags = v;
		else if (field == 19)
			st.nice = negative ? -(int64_t)v : (int64_t)v;
		else if (field == 22)
			st.start = v;
		else if (field == 39)
			st.cpu = v;
		else if (field == 40)
			st.rt_priority = v;
		else if (field == 41)
			st.policy = v;
	}
	if (got != 6)
		return -EBADMSG;
	st.kernel_thread = parent == KTHREADD_PID || (flags & PF_KTHREAD);
	*ret = st;
	return 0;
}

/* "Cpus_allowed_list:	0-3", a line */
int task_cpus_read(struct io *io, const char *path, char *buf, size_t size)
{
	static const char key[] = "Cpus_allowed_list:";
	_cleanup_free_ char *text = NULL;
	char *at, *end;
	int r;

	r = io_read_all(io, path, &text, NULL);
	if (r < 0)
		return r;
	at = strstr(text, key);
	if (!at)
		return -EBADMSG;
	at += strlen(key);
	end = strchr(at, '\n');
	if (end)
		*end = '\0';
	return format_into(buf, size, "%s", strstrip(at));
}

static bool is_kernel_thread(struct io *io, uint64_t pid)
{
	struct task_stat st;

	return task_stat_read(io, (pid_t)pid, &st) >= 0 && st.kernel_thread;
}

bool process_is_kernel_thread(struct io *io, pid_t pid)
{
	return is_kernel_thread(io, (uint64_t)pid);
}

/* "PREFIX123…": the number, and what stands behind it. */
static bool numbered(const char *comm, const char *prefix, uint64_t *ret, const char **ret_rest)
{
	struct slice digits;

	if (!startswith(comm, prefix))
		return false;
	digits.at = digits.end = comm + strlen(prefix);
	while (is_digit(*digits.end))
		digits.end++;
	*ret_rest = digits.end;
	return slice_decimal(digits, INT32_MAX, ret) >= 0;
}

static int add_irq_thread(struct io *io, struct processes *p, unsigned irq, pid_t pid,
			  const char *comm)
{
	struct task_stat st;
	struct irq_thread *more = p->irq_thread;

	if (task_stat_read(io, pid, &st) < 0 || !st.kernel_thread)
		return 0;
	if (p->n_irq_threads % 32 == 0)
		more = realloc(more, (p->n_irq_threads + 32) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->irq_thread = more;
	more = &p->irq_thread[p->n_irq_threads++];
	*more = (struct irq_thread){.irq = irq, .pid = pid, .start = st.start};
	snprintf(more->comm, sizeof(more->comm), "%.15s", comm);
	return 0;
}

/* "napi/eth0-8193": an interface's name may hold dashes itself. */
static int add_napi_thread(struct processes *p, const char *comm, pid_t pid)
{
	const char *name = comm + strlen("napi/"), *dash = strrchr(name, '-');
	struct napi_thread thread = {.pid = pid}, *more;
	uint64_t id;

	if (!dash || dash == name || (size_t)(dash - name) >= sizeof(thread.nic) ||
	    slice_decimal(slice_of(dash + 1, strlen(dash + 1)), INT32_MAX, &id) < 0)
		return 0;
	memcpy(thread.nic, name, (size_t)(dash - name));
	thread.id = (unsigned)id;
	more = reallocarray(p->napi_thread, p->n_napi_threads + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->napi_thread = more;
	p->napi_thread[p->n_napi_threads++] = thread;
	return 0;
}

static int consider(struct io *io, const char *name, struct processes *p)
{
	char path[64], comm[128];
	uint64_t pid, n;
	const char *rest;

	if (slice_decimal(slice_of(name, strlen(name)), INT32_MAX, &pid) < 0 || pid == 0)
		return 0;
	if (format_into(path, sizeof(path), "proc/%s/comm", name) < 0 ||
	    io_read_line(io, path, comm, sizeof(comm)) < 0)
		return 0;
	if (numbered(comm, "ksoftirqd/", &n, &rest)) {
		if (!*rest && n < p->n_cpus && is_kernel_thread(io, pid))
			p->ksoftirqd[n] = (pid_t)pid;
	} else if (numbered(comm, "irq/", &n, &rest)) {
		/* "irq/30-eth0"; "irq/30-s-eth0" is the second half of a handler that was forced.
		 */
		if (*rest == '-' && !startswith(rest, "-s-"))
			return add_irq_thread(io, p, (unsigned)n, (pid_t)pid, comm);
	} else if (startswith(comm, "napi/")) {
		if (is_kernel_thread(io, pid))
			return add_napi_thread(p, comm, (pid_t)pid);
	} else if (numbered(comm, "backlog_napi/", &n, &rest)) {
		p->backlog_napi |= is_kernel_thread(io, pid);
	} else {
		for (size_t i = 0; i < ELEMENTSOF(rivals); i++)
			if (rivals[i].comm && streq(comm, rivals[i].comm) &&
			    !is_kernel_thread(io, pid))
				p->rivals |= rivals[i].rival;
	}
	return 0;
}

int processes_scan(struct io *io, unsigned n_cpus, struct processes *ret)
{
	_cleanup_(strv_freep) char **names = NULL;
	int r;

	processes_done(ret);
	ret->ksoftirqd = calloc(MAX(n_cpus, 1U), sizeof(*ret->ksoftirqd));
	if (!ret->ksoftirqd)
		return -ENOMEM;
	ret->n_cpus = n_cpus;
	if (io_exists(io, "run/tlp"))
		ret->rivals |= RIVAL_TLP;
	r = io_list(io, "proc", &names);
	if (r < 0)
		return r;
	for (char **name = names; *name; name++) {
		r = consider(io, *name, ret);
		if (r < 0)
			return r;
	}
	return 0;
}

void processes_done(struct processes *p)
{
	free(p->ksoftirqd);
	free(p->irq_thread);
	free(p->napi_thread);
	*p = (struct processes){};
}

void rivals_to_string(unsigned set, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (size_t i = 0; i < ELEMENTSOF(rivals); i++) {
		int n;

		if (!(set & rivals[i].rival))
			continue;
		n = format_into(buf + used, size - used, "%s%s", used ? ", " : "", rivals[i].name);
		if (n < 0)
			return;
		used += (size_t)n;
	}
}

int schedstat_read(struct io *io, pid_t pid, uint64_t ret[3])
{
	char path[64], text[128];
	struct slice rest, word;
	uint64_t value[3];
	int r;

	format_into(path, sizeof(path), "proc/%d/schedstat", (int)pid);
	r = io_read_line(io, path, text, sizeof(text));
	if (r < 0)
		return r;
	rest = slice_of(text, (size_t)r);
	for (size_t i = 0; i < ELEMENTSOF(value); i++)
		if (!slice_word(&rest, &word) || slice_decimal(word, UINT64_MAX, &value[i]) < 0)
			return -EBADMSG;
	memcpy(ret, value, sizeof(value));
	return 0;
}
