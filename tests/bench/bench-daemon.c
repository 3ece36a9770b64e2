/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon costs as a process: softnetd on generated hosts (tests/bench/hosts.h) whose queues
 * all take packets every second, in mode apply, one tick a second in real time. From exec to
 * READY=1, CPU time a minute, PSS, how often it went to sleep. System calls are
 * counted by strace(1) in a run of its own, since that slows them down; fstat(2) is left out, which is
 * called on a captured tree only.
 *
 * The hosts are files in $TMPDIR, so what a kernel spends on printing its tables is not in here.
 * Each host is measured RUNS times; the spread between runs of the same thing is the A/A row.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "bench/hosts.h"
#include "observe/observe.h"

#define RUNS         3
#define SECONDS      20
#define READY_WITHIN 30 /* seconds */

#ifndef BENCH_BUILD
#define BENCH_BUILD "build"
#endif

struct figures {
	double ready_ms, cpu_ms_per_minute, pss_kb, sleeps_per_second, calls_of_tick, calls_at_most;
};

static void die(const char *what)
{
	fprintf(stderr, "bench-daemon: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double seconds_of(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) < 0)
		die("clock_gettime");
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The number behind "NAME:" in /proc/PID/FILE, summed over all lines that begin so. */
static double proc_number(pid_t pid, const char *file, const char *name)
{
	char path[64], line[256];
	double sum = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			sum += atof(line + strlen(name) + 1);
	fclose(f);
	return sum;
}

/* A socket for NOTIFY_SOCKET, bound to PATH. */
static int notify_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = READY_WITHIN};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0)
		die("notify socket");
	return fd;
}

static void wait_for_ready(int fd)
{
	char text[1024];

	for (;;) {
		ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

		if (n < 0)
			die("softnetd did not become ready");
		text[n] = 0;
		if (strstr(text, "READY=1"))
			return;
	}
}

/* The daemon on the tree ROOT, or where that is NULL on this host, where it only watches. Its output goes
 * to the file LOG. Under strace when TRACE names a file. */
static pid_t start(const char *root, const char *log, const char *socket_path, const char *trace)
{
	const char *where = root ? "--root" : "--mode", *what = root ?: "observe";
	pid_t pid;

	fflush(stdout); /* or the child writes it once more */
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	if (!freopen(log, "w", stdout) || dup2(1, 2) < 0)
		_exit(1);
	setenv("NOTIFY_SOCKET", socket_path, 1);
	if (trace)
		execlp("strace", "strace", "-D", "-qq", "-ttt", "-e", "trace=!fstat,newfstatat",
		       "-f", "-o", trace, BENCH_BUILD "/softnetd", "--foreground", "--bus", "none",
		       "--config-dir", "config", where, what, NULL);
	else
		execl(BENCH_BUILD "/softnetd", "softnetd", "--foreground", "--bus", "none",
		      "--config-dir", "config", where, what, NULL);
	_exit(127);
}

static void stop(pid_t pid)
{
	int status;

	if (kill(pid, SIGTERM) < 0 || waitpid(pid, &status, 0) < 0)
		die("softnetd");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fprintf(stderr, "bench-daemon: softnetd ended with status %#x\n", status);
}

/* Its first seconds open the files and take the first slow look. */
static void live(struct machine *m, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		bench_second(m);
		sleep(1);
	}
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The calls of each second in strace's file from FROM on; the median is a tick's, the largest that of
 * a slow look. */
static void calls_by_second(const char *path, double from, double *ret_median, double *ret_max)
{
	double calls[SECONDS] = {}, when;
	char line[512];
	FILE *f = fopen(path, "re");

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d %lf", &when) == 1 && when >= from && when < from + SECONDS)
			calls[(unsigned)(when - from)]++;
	fclose(f);
	qsort(calls, SECONDS, sizeof(*calls), compare);
	*ret_median = calls[SECONDS / 2];
	*ret_max = calls[SECONDS - 1];
}

static struct figures run(const struct machine_spec *spec, bool traced)
{
	_cleanup_(machine_freep) struct machine *m = machine_new(spec);
	char socket_path[100], trace[110], log[4096];
	struct figures f = {};
	double begin, cpu, slept;
	clockid_t clock;
	pid_t pid;
	int fd;

	machine_write(m);
	snprintf(socket_path, sizeof(socket_path), "/tmp/bench-daemon.%d", getpid());
	snprintf(trace, sizeof(trace), "%s.strace", socket_path);
	fd = notify_socket(socket_path);
	begin = seconds_of(CLOCK_MONOTONIC);
	snprintf(log, sizeof(log), "%s/log", tree_path(m->tree));
	pid = start(tree_path(m->tree), log, socket_path, traced ? trace : NULL);
	wait_for_ready(fd);
	f.ready_ms = 1e3 * (seconds_of(CLOCK_MONOTONIC) - begin);
	close(fd);
	unlink(socket_path);

	live(m, 3);
	if (traced) {
		begin = seconds_of(CLOCK_REALTIME);
		live(m, SECONDS);
		stop(pid); /* -D: the child is softnetd itself, strace is beside it */
		calls_by_second(trace, begin, &f.calls_of_tick, &f.calls_at_most);
		unlink(trace);
		return f;
	}
	if (clock_getcpuclockid(pid, &clock) != 0)
		die("CPU clock of softnetd");
	cpu = seconds_of(clock);
	slept = proc_number(pid, "status", "voluntary_ctxt_switches");
	begin = seconds_of(CLOCK_MONOTONIC);
	live(m, SECONDS);
	begin = seconds_of(CLOCK_MONOTONIC) - begin;
	f.cpu_ms_per_minute = 1e3 * 60 * (seconds_of(clock) - cpu) / begin;
	f.sleeps_per_second =
		(proc_number(pid, "status", "voluntary_ctxt_switches") - slept) / begin;
	f.pss_kb = proc_number(pid, "smaps_rollup", "Pss");
	stop(pid);
	return f;
}

static double discovery_ms(const struct machine_spec *spec)
{
	_cleanup_(machine_freep) struct machine *m = machine_new(spec);
	_cleanup_(observer_freep) struct observer *o = NULL;
	_cleanup_(topology_freep) struct topology *t = NULL;
	double begin;

	if (observer_new(&m->io, &o) < 0)
		die("observer");
	begin = seconds_of(CLOCK_MONOTONIC);
	if (observer_topology(o, &t) < 0)
		die("topology");
	return 1e3 * (seconds_of(CLOCK_MONOTONIC) - begin);
}

static void row(const char *what, double values[RUNS], const char *goal, double limit)
{
	qsort(values, RUNS, sizeof(*values), compare);
	printf("  %-34s %10.1f %10.1f %10.1f  %5.2f  %s", what, values[RUNS / 2], values[0],
	       values[RUNS - 1], values[0] > 0 ? values[RUNS - 1] / values[0] : 1, goal);
	if (limit > 0)
		printf("%s", values[RUNS / 2] <= limit ? ": met" : ": NOT met");
	putchar('\n');
}

static void host(const struct bench_host *h, const double limit[4], const char *const goal[4])
{
	double ready[RUNS], cpu[RUNS], pss[RUNS], sleeps[RUNS], discovery[RUNS];
	bool strace = system("command -v strace >/dev/null 2>&1") == 0;

	for (unsigned i = 0; i < RUNS; i++) {
		struct figures f = run(&h->spec, false);

		discovery[i] = discovery_ms(&h->spec);
		ready[i] = f.ready_ms - discovery[i];
		cpu[i] = f.cpu_ms_per_minute;
		pss[i] = f.pss_kb;
		sleeps[i] = f.sleeps_per_second;
	}
	printf("%s: %u CPUs, %u s a run, %u runs\n", h->name, h->spec.cpus, SECONDS, RUNS);
	printf("  %-34s %10s %10s %10s  %5s  %s\n", "", "median", "min", "max", "A/A", "goal");
	row("topology discovery by itself, ms", discovery, "", 0);
	row("exec to READY beyond it, ms", ready, goal[0], limit[0]);
	row("CPU time a minute, ms", cpu, goal[1], limit[1]);
	row("PSS, kB", pss, goal[2], limit[2]);
	row("went to sleep, times a second", sleeps, goal[3], limit[3]);
	if (strace) {
		struct figures f = run(&h->spec, true);

		printf("  %-34s %10.0f %21.0f\n", "system calls a second (one run)",
		       f.calls_of_tick, f.calls_at_most);
	}
}

/* What a tick costs in system calls is asked where kernel files are read: those of a generated host are
 * new files in each second, and are opened anew. */
static void this_host(double limit)
{
	char socket_path[100], trace[110], log[110];
	double begin, median, most;
	pid_t pid;
	int fd;

	if (system("command -v strace >/dev/null 2>&1") != 0) {
		printf("system calls: not counted, strace is not installed\n");
		return;
	}
	snprintf(socket_path, sizeof(socket_path), "/tmp/bench-daemon.%d", getpid());
	snprintf(trace, sizeof(trace), "%s.strace", socket_path);
	snprintf(log, sizeof(log), "%s.log", socket_path);
	fd = notify_socket(socket_path);
	pid = start(NULL, log, socket_path, trace);
	wait_for_ready(fd);
	close(fd);
	unlink(socket_path);
	sleep(3);
	begin = seconds_of(CLOCK_REALTIME);
	sleep(SECONDS);
	stop(pid);
	calls_by_second(trace, begin, &median, &most);
	unlink(trace);
	unlink(log);
	printf("this host, mode observe, %d s: system calls a tick, median %.0f, goal %.0f: %s; %.0f with the slow look\n",
	       SECONDS, median, limit, median <= limit ? "met" : "NOT met", most);
}

int main(void)
{
	static const double small[] = {100, 0, 2560, 0}, large[] = {100, 60, 8192, 0};
	static const double none[] = {0, 0, 0, 0};
	static const char *const small_goal[] = {"100", "", "2560 (irqbalance 1.9.2: 2.6 MB)", ""};
	static const char *const large_goal[] = {"100", "60 (0.1 % of one core)", "8192", ""};
	static const char *const no_goal[] = {"", "", "", ""};

	printf("The daemon as a process, on generated hosts; A/A is the largest run by the smallest\n");
	host(&bench_hosts[0], small, small_goal);
	host(&bench_hosts[1], large, large_goal);
	host(&bench_hosts[2], none, no_goal);
	this_host(15);
	return 0;
}
