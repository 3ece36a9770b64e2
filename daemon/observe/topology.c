/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/topology.h"

#include <ctype.h>
#include <hwloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/scan.h"
#include "observe/stat.h"

#define CPU_DIR "sys/devices/system/cpu"

static void strange(struct source_status *status, int error, const char *fmt, ...) _printf_(3, 4);
static void strange(struct source_status *status, int error, const char *fmt, ...)
{
	va_list ap;

	status->state = SOURCE_STRANGE;
	status->error = error;
	va_start(ap, fmt);
	vsnprintf(status->text, sizeof(status->text), fmt, ap);
	va_end(ap);
}

int topology_read_cpu_list(struct io *io, const char *file, struct cpuset *ret)
{
	char path[128], text[CPUSET_LIST_MAX];
	int r;

	*ret = (struct cpuset){};
	r = format_into(path, sizeof(path), CPU_DIR "/%s", file);
	if (r >= 0)
		r = io_read_line(io, path, text, sizeof(text));
	if (r < 0)
		return r;
	/* nohz_full's mask is a null pointer where the option was not given. */
	if (streq(text, "(null)"))
		return 0;
	return cpuset_parse_list(text, ret);
}

/* Judged by the same eyes as in every tick: a row that is refused there is no CPU here. */
int topology_read_stat_online(struct io *io, struct cpuset *ret)
{
	_cleanup_(snapshot_freep) struct snapshot *s = NULL;
	_cleanup_free_ char *text = NULL;
	struct stat_reading reading;
	size_t length;
	int r;

	*ret = (struct cpuset){};
	r = io_read_all(io, "proc/stat", &text, &length);
	if (r < 0)
		return r;
	r = snapshot_new(0, 0, 0, &s);
	if (r < 0)
		return r;
	stat_into_snapshot(text, length, s, &reading);
	*ret = reading.online;
	return cpuset_empty(ret) ? -EBADMSG : 0;
}

/* What hwloc may only be told by the environment, for the time of one load. An admin's own word for
 * the same variable stays. */
struct environment {
	const char *name;
	char value[64];
	bool ours;
};

static void environment_set(struct environment *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		e[i].ours = e[i].value[0] && !getenv(e[i].name);
		if (e[i].ours)
			setenv(e[i].name, e[i].value, 1);
	}
}

static void environment_unset(struct environment *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (e[i].ours)
			unsetenv(e[i].name);
}

static void hwloc_topology_destroyp(hwloc_topology_t *h)
{
	if (*h)
		hwloc_topology_destroy(*h);
}

static int load(struct io *io, hwloc_topology_t *ret)
{
	_cleanup_(hwloc_topology_destroyp) hwloc_topology_t h = NULL;
	struct environment environment[] = {
		{.name = "HWLOC_FSROOT"},
		/* Its complaints about odd machines are a box of text on stderr. */
		{.name = "HWLOC_HIDE_ERRORS", .value = "2"},
	};
	int r;

	if (!io->live)
		snprintf(environment[0].value, sizeof(environment[0].value), "/proc/self/fd/%d",
			 io->root);
	environment_set(environment, ELEMENTSOF(environment));
	r = hwloc_topology_init(&h);
	if (r < 0)
		h = NULL;
	else
		hwloc_topology_set_components(h, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
	if (r >= 0)
		r = hwloc_topology_set_flags(h, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
							HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING |
							HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
							HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
							HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
	if (r >= 0)
		r = hwloc_topology_load(h);
	environment_unset(environment, ELEMENTSOF(environment));
	if (r < 0)
		return -EIO;
	*ret = TAKE_PTR(h);
	return 0;
}

/* The largest cache above a CPU. */
static hwloc_obj_t last_cache(hwloc_obj_t pu)
{
	hwloc_obj_t found = NULL;

	for (hwloc_obj_t o = pu->parent; o; o = o->parent)
		if (hwloc_obj_type_is_dcache(o->type))
			found = o;
	return found;
}

/* Small numbers for cache objects: the CPUs of a hybrid may have their last caches on different
 * levels, so hwloc's number within one level is not enough. */
static int number_of(hwloc_obj_t *seen, unsigned *n, hwloc_obj_t o)
{
	unsigned i;

	if (!o)
		return -1;
	for (i = 0; i < *n; i++)
		if (seen[i] == o)
			return (int)i;
	seen[(*n)++] = o;
	return (int)i;
}

/*
 * hwloc believes what sysfs says, up to assertions that end the process. A kernel's files deserve
 * that; those of a captured tree are looked at first.
 */
static bool fit_for_hwloc(struct io *io)
{
	static const char *const lists[] = {
		"sys/devices/system/node/online",
		"sys/devices/system/node/possible",
		CPU_DIR "/online",
		CPU_DIR "/possible",
		CPU_DIR "/present",
	};
	char text[CPUSET_LIST_MAX];
	struct cpuset set;

	if (io->live)
		return true;
	for (size_t i = 0; i < ELEMENTSOF(lists); i++) {
		int r = io_read_line(io, lists[i], text, sizeof(text));

		if (r == -ENOENT)
			continue;
		if (r < 0 || cpuset_parse_list(text, &set) < 0 || cpuset_empty(&set))
			return false;
	}
	return true;
}

/* Returns how many online CPUs hwloc knows. */
static int convert(struct io *io, struct topology *t)
{
	_cleanup_(hwloc_topology_destroyp) hwloc_topology_t h = NULL;
	_cleanup_free_ hwloc_obj_t *caches = NULL;
	unsigned n_caches = 0;
	int r, known = 0;

	if (!fit_for_hwloc(io))
		return -EBADMSG;
	r = load(io, &h);
	if (r < 0)
		return r;
	caches = calloc(MAX(t->n_cpus, 1U), sizeof(*caches));
	if (!caches)
		return -ENOMEM;
	for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(h, HWLOC_OBJ_PU, pu));) {
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(h, HWLOC_OBJ_CORE, pu);
		hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(h, HWLOC_OBJ_PACKAGE, pu);
		struct cpu *c;

		if (!cpuset_has(&t->online, pu->os_index))
			continue;
		c = &t->cpu[pu->os_index];
		c->node = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1;
		c->package = package ? (int)package->logical_index : -1;
		c->core = core ? (int)core->logical_index : -1;
		c->smt = core ? pu->sibling_rank : 0;
		c->cache = number_of(caches, &n_caches, last_cache(pu));
		known++;
	}
	return known;
}

/* /proc/stat and sysfs, read again when they differ: a CPU may have gone in between. */
void topology_check_online(struct io *io, struct topology *t, struct source_status *status)
{
	char list[2][64];
	struct cpuset sysfs, stat;
	int r_sysfs, r_stat;

	for (unsigned attempt = 0; attempt < 3; attempt++) {
		r_stat = topology_read_stat_online(io, &stat);
		r_sysfs = topology_read_cpu_list(io, "online", &sysfs);
		if (r_stat < 0 || r_sysfs < 0 || cpuset_equal(&stat, &sysfs))
			break;
	}
	t->online = r_stat >= 0 ? stat : sysfs;
	if (r_sysfs < 0)
		strange(status, r_sysfs, "/" CPU_DIR "/online: %s", strerror(-r_sysfs));
	if (r_stat < 0 || r_sysfs < 0 || cpuset_equal(&stat, &sysfs))
		return;
	t->container = true;
	for (unsigned i = 0; i < 2; i++)
		if (cpuset_format_list(i ? &stat : &sysfs, list[i], sizeof(list[i])) < 0)
			snprintf(list[i], sizeof(list[i]), "%u CPUs",
				 cpuset_count(i ? &stat : &sysfs));
	strange(status, -EBADMSG,
		"/" CPU_DIR
		"/online says %s, /proc/stat has %s: one of them is a container's own view",
		list[0], list[1]);
}

static struct cpuset read_isolated(struct io *io, bool *ret_nohz_full)
{
	char text[CPUSET_LIST_MAX];
	struct cpuset all = {}, one;

	if (topology_read_cpu_list(io, "isolated", &one) >= 0)
		all = one;
	*ret_nohz_full = topology_read_cpu_list(io, "nohz_full", &one) >= 0 && !cpuset_empty(&one);
	if (*ret_nohz_full)
		all = cpuset_or(&all, &one);
	/* Isolated cpuset partitions; the file of the root cgroup exists since 6.7. */
	if (io_read_line(io, "sys/fs/cgroup/cpuset.cpus.isolated", text, sizeof(text)) >= 0 &&
	    cpuset_parse_list(text, &one) >= 0)
		all = cpuset_or(&all, &one);
	return all;
}

static unsigned read_capacity(struct io *io, unsigned cpu)
{
	char path[96];
	uint64_t v;

	if (format_into(path, sizeof(path), CPU_DIR "/cpu%u/cpu_capacity", cpu) < 0 ||
	    io_read_u64(io, path, &v) < 0 || v == 0 || v > 1024)
		return 1024;
	return (unsigned)v;
}

int topology_discover_cpus(struct io *io, struct topology *t, struct source_status *ret)
{
	struct cpuset all;
	unsigned top = 0;
	int r;

	*ret = (struct source_status){.state = SOURCE_OK};
	topology_check_online(io, t, ret);
	r = topology_read_cpu_list(io, "possible", &t->possible);
	if (r < 0) {
		t->possible = t->online;
		if (ret->state == SOURCE_OK)
			strange(ret, r, "/" CPU_DIR "/possible: %s", strerror(-r));
	}
	t->possible = cpuset_or(&t->possible, &t->online);
	t->isolated = read_isolated(io, &t->nohz_full);
	all = t->possible;
	cpuset_for_each (cpu, &all)
		top = cpu + 1;
	t->n_cpus = top;
	t->cpu = calloc(MAX(top, 1U), sizeof(*t->cpu));
	if (!t->cpu)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < top; cpu++)
		t->cpu[cpu] = (struct cpu){
			.present = cpuset_has(&t->possible, cpu),
			.online = cpuset_has(&t->online, cpu),
			.isolated = cpuset_has(&t->isolated, cpu),
			.node = -1,
			.package = -1,
			.core = -1,
			.cache = -1,
			.capacity = 1024,
		};
	cpuset_for_each (cpu, &t->online)
		t->cpu[cpu].capacity = read_capacity(io, cpu);
	for (unsigned cpu = 0; cpu < top; cpu++) {
		char path[96];

		tunable_path(&tunables[TUNABLE_CPU_RESUME_LATENCY], cpu, path, sizeof(path));
		t->cpu_latency |= t->cpu[cpu].online && io_exists(io, path);
	}
	r = convert(io, t);
	if (r == -ENOMEM)
		return r;
	if (r <= 0 && ret->state == SOURCE_OK)
		strange(ret, r < 0 ? r : -ENODATA,
			"/" CPU_DIR ": hwloc finds no CPU: cores, caches and nodes are not known");
	return 0;
}

/* The first line of TEXT that begins with KEY, behind KEY; NULL when there is none. */
static const char *line_after(const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (startswith(line, key))
			return line + strlen(key);
	}
	return NULL;
}

static unsigned configured_hz(struct io *io, const char *release)
{
	_cleanup_free_ char *text = NULL;
	struct slice rest, word;
	const char *value;
	char path[128];
	uint64_t hz;

	if (format_into(path, sizeof(path), "boot/config-%s", release) < 0 ||
	    io_read_all(io, path, &text, NULL) < 0)
		return 0;
	value = line_after(text, "CONFIG_HZ=");
	if (!value)
		return 0;
	rest = slice_of(value, strcspn(value, "\n"));
	return slice_word(&rest, &word) && slice_decimal(word, 10000, &hz) >= 0 ? (unsigned)hz : 0;
}

/* Whether the kernel was started with the word, alone or with a value that means yes. */
static bool on_command_line(const char *cmdline, const char *option)
{
	struct slice rest = slice_of(cmdline, strlen(cmdline)), word;

	while (slice_word(&rest, &word)) {
		/* What follows is init's. */
		if (slice_is(word, "--"))
			return false;
		if (!slice_starts(word, option))
			continue;
		word.at += strlen(option);
		if (word.at == word.end)
			return true;
		if (slice_is(word, "=1") || slice_is(word, "=y") || slice_is(word, "=on"))
			return true;
	}
	return false;
}

/* Images made for containers are booted as virtual machines too, with their marks left in them: who
 * is in the initial PID namespace (its inode is PROC_PID_INIT_INO, include/linux/proc_ns.h) is in
 * none. */
static bool in_container(struct io *io)
{
	static const char *const marks[] = {"run/systemd/container", "run/.containerenv",
					    ".dockerenv"};
	char target[64];

	if (io->ops->readlink(io, "proc/self/ns/pid", target, sizeof(target)) >= 0 &&
	    streq(target, "pid:[4026531836]"))
		return false;
	for (size_t i = 0; i < ELEMENTSOF(marks); i++)
		if (io_exists(io, marks[i]))
			return true;
	return false;
}

int topology_discover_host(struct io *io, struct topology *t)
{
	_cleanup_free_ char *cmdline = NULL;
	char text[16];
	int r;

	if (io_read_line(io, "proc/sys/kernel/osrelease", t->kernel, sizeof(t->kernel)) < 0)
		t->kernel[0] = '\0';
	if (io_read_line(io, "proc/sys/kernel/hostname", t->hostname, sizeof(t->hostname)) < 0)
		t->hostname[0] = '\0';
	t->rt = io_read_line(io, "sys/kernel/realtime", text, sizeof(text)) >= 0 &&
		streq(text, "1");
	t->threadirqs = t->rt;
	r = io_read_all(io, "proc/cmdline", &cmdline, NULL);
	if (r == -ENOMEM)
		return r;
	if (r >= 0) {
		strstrip(cmdline);
		t->threadirqs |= on_command_line(cmdline, "threadirqs");
		t->thread_backlog = on_command_line(cmdline, "thread_backlog_napi");
	}
	/* USER_HZ is 100 wherever Linux has users left; a captured tree cannot be asked. */
	t->user_hz = io->live ? (unsigned)sysconf(_SC_CLK_TCK) : 100;
	t->hz = *t->kernel ? configured_hz(io, t->kernel) : 0;
	t->container |= in_container(io);
	return 0;
}

static int read_jiffies(struct io *io, uint64_t *ret)
{
	_cleanup_close_ int fd = io_open(io, "proc/schedstat", 0);
	struct slice rest, line, word;
	char text[64];
	ssize_t n;

	if (fd < 0)
		return fd;
	/* Only the head: the rest is one block of lines per CPU. */
	n = io->ops->read(io, fd, text, sizeof(text), 0);
	if (n < 0)
		return (int)n;
	rest = slice_of(text, (size_t)n);
	while (slice_line(&rest, &line))
		if (slice_word(&line, &word) && slice_is(word, "timestamp") &&
		    slice_word(&line, &word))
			return slice_decimal(word, UINT64_MAX, ret);
	return -EBADMSG;
}

unsigned hz_measure(struct io *io, struct hz_meter *m)
{
	static const unsigned usual[] = {100, 250, 300, 1000};
	uint64_t now = io_now(io, CLOCK_MONOTONIC), jiffies = 0, usec;
	double hz;

	if (m->given_up || (m->mono_usec > 0 && now < m->mono_usec + USEC_PER_SEC))
		return 0;
	if (read_jiffies(io, &jiffies) < 0) {
		m->given_up = true;
		return 0;
	}
	usec = now - m->mono_usec;
	if (m->mono_usec > 0 && jiffies > m->jiffies) {
		hz = (double)(jiffies - m->jiffies) * 1e6 / (double)usec;
		for (size_t i = 0; i < ELEMENTSOF(usual); i++)
			if (hz > usual[i] * 0.98 && hz < usual[i] * 1.02)
				return usual[i];
	}
	m->jiffies = jiffies;
	m->mono_usec = now;
	return 0;
}
