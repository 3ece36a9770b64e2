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

/* Field 4 is the parent, field 9 the flags; the comm in field 2 may hold blanks and brackets. */
static bool is_kernel_thread(struct io *io, const char *pid)
{
	char path[64], text[1024];
	struct slice rest, word;
	const char *bracket;
	uint64_t flags, parent;

	if (format_into(path, sizeof(path), "proc/%s/stat", pid) < 0 ||
	    io_read_line(io, path, text, sizeof(text)) < 0)
		return false;
	bracket = strrchr(text, ')');
	if (!bracket)
		return false;
	rest = slice_of(bracket + 1, strlen(bracket + 1));
	for (unsigned field = 3; slice_word(&rest, &word); field++) {
		if (field == 4 && slice_decimal(word, INT32_MAX, &parent) >= 0 &&
		    parent == KTHREADD_PID)
			return true;
		if (field == 9)
			return slice_decimal(word, UINT32_MAX, &flags) >= 0 && (flags & PF_KTHREAD);
	}
	return false;
}

bool process_is_kernel_thread(struct io *io, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)pid);
	return is_kernel_thread(io, name);
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

static int add_irq_thread(struct processes *p, unsigned irq, pid_t pid)
{
	struct irq_thread *more = p->irq_thread;

	if (p->n_irq_threads % 32 == 0)
		more = realloc(more, (p->n_irq_threads + 32) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->irq_thread = more;
	p->irq_thread[p->n_irq_threads++] = (struct irq_thread){irq, pid};
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
		if (!*rest && n < p->n_cpus && is_kernel_thread(io, name))
			p->ksoftirqd[n] = (pid_t)pid;
	} else if (numbered(comm, "irq/", &n, &rest)) {
		/* "irq/30-eth0"; "irq/30-s-eth0" is the second half of a handler that was forced.
		 */
		if (*rest == '-' && !startswith(rest, "-s-") && is_kernel_thread(io, name))
			return add_irq_thread(p, (unsigned)n, (pid_t)pid);
	} else if (startswith(comm, "napi/")) {
		if (is_kernel_thread(io, name))
			return add_napi_thread(p, comm, (pid_t)pid);
	} else if (numbered(comm, "backlog_napi/", &n, &rest)) {
		p->backlog_napi |= is_kernel_thread(io, name);
	} else {
		for (size_t i = 0; i < ELEMENTSOF(rivals); i++)
			if (rivals[i].comm && streq(comm, rivals[i].comm) &&
			    !is_kernel_thread(io, name))
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
