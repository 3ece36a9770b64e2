/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one look costs: CPU time of observer_read() and window_push(), on the hosts of hosts.h, whose
 * NIC queues all fire between two ticks. Beside it the
 * least that any program could spend: reading the same files, which stay open, and looking at
 * nothing.
 *
 * The hosts are files in a temporary directory: what a kernel needs to print its tables is in
 * neither figure. (On a real host it is the larger part: see observe/irq-counts.h.)
 */
#include <stdio.h>
#include <time.h>

#include "bench/hosts.h"
#include "lib/fault-io.h"
#include "model/window.h"
#include "observe/observe.h"

#define FAST_RUNS 60
#define SLOW_RUNS 20

static void must(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "bench-tick: %s: %s\n", what, strerror(-r));
	exit(1);
}

/* Process CPU time, µs. */
static double cpu_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct runs {
	double usec[MAX(FAST_RUNS, SLOW_RUNS)];
	unsigned n;
};

static double median(struct runs *r)
{
	qsort(r->usec, r->n, sizeof(*r->usec), compare);
	return r->usec[r->n / 2];
}

/* The files of a look: those that stay open, and those that are opened each time. */
struct files {
	struct procfile *open;
	char **each;
	size_t n_open, n_each;
	struct io *io;
};

static void keep_open(struct files *f, const char *path, bool single)
{
	f->open = realloc(f->open, (f->n_open + 1) * sizeof(*f->open));
	if (!f->open)
		abort();
	f->open[f->n_open++] = single ? PROCFILE_SINGLE(strdup(path)) : PROCFILE(strdup(path));
}

static void open_each_time(struct files *f, const char *path)
{
	f->each = realloc(f->each, (f->n_each + 1) * sizeof(*f->each));
	if (!f->each)
		abort();
	f->each[f->n_each++] = strdup(path);
}

static void files_done(struct files *f)
{
	for (size_t i = 0; i < f->n_open; i++) {
		free((char *)f->open[i].path);
		procfile_done(&f->open[i]);
	}
	for (size_t i = 0; i < f->n_each; i++)
		free(f->each[i]);
	free(f->open);
	free(f->each);
}

static void read_files(struct files *f)
{
	char buf[16384];

	for (size_t i = 0; i < f->n_open; i++)
		procfile_read(f->io, &f->open[i]);
	for (size_t i = 0; i < f->n_each; i++)
		io_read_line(f->io, f->each[i], buf, sizeof(buf));
}

static struct files files_of(struct machine *m, const struct topology *t, bool slow)
{
	struct files f = {.io = &m->io};
	char path[96];

	keep_open(&f, "proc/stat", true);
	keep_open(&f, "proc/net/softnet_stat", false);
	keep_open(&f, "proc/softirqs", true);
	keep_open(&f, "proc/net/dev", false);
	keep_open(&f, "proc/pressure/cpu", true);
	if (slow)
		keep_open(&f, "proc/interrupts", false);
	for (unsigned i = 0; i < t->n_irqs; i++) {
		if (!slow) {
			snprintf(path, sizeof(path), "sys/kernel/irq/%u/per_cpu_count",
				 t->irq[i].number);
			keep_open(&f, path, true);
			continue;
		}
		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", t->irq[i].number);
		open_each_time(&f, path);
		snprintf(path, sizeof(path), "proc/irq/%u/effective_affinity_list",
			 t->irq[i].number);
		open_each_time(&f, path);
	}
	for (unsigned cpu = 0; slow && cpu < m->spec.cpus; cpu++) {
		snprintf(path, sizeof(path), "proc/%d/schedstat", m->cpu[cpu].ksoftirqd);
		open_each_time(&f, path);
	}
	return f;
}

static void measure(struct machine *m, struct observer *o, struct topology *t, bool slow)
{
	_cleanup_(snapshot_freep) struct snapshot *s = NULL;
	_cleanup_(window_freep) struct window *w = NULL;
	_cleanup_(files_done) struct files files = files_of(m, t, slow);
	struct runs look = {}, limit = {};
	double looked, limited;

	must(observer_snapshot_new(t, &s), "snapshot");
	must(window_new(&w), "window");
	/* The first two open the files and make the buffers. */
	for (unsigned i = 0; i < (slow ? SLOW_RUNS : FAST_RUNS) + 2; i++) {
		double begin, middle, end;

		bench_second(m);
		begin = cpu_usec();
		snapshot_clear(s);
		must(observer_read(o, t, slow || i == 0, s), "observer_read");
		must(window_push(w, s), "window_push");
		middle = cpu_usec();
		read_files(&files);
		end = cpu_usec();
		if (i < 2)
			continue;
		look.usec[look.n++] = middle - begin;
		limit.usec[limit.n++] = end - middle;
	}
	looked = median(&look);
	limited = median(&limit);
	printf("  %s  %8.0f  %8.0f  %8.0f   %8.0f  %5.2f", slow ? "slow look" : "fast tick", looked,
	       look.usec[0], look.usec[look.n - 1], limited, looked / limited);
}

/* Operations on the I/O seam in one look; each is a system call, but opening also takes a close(2),
 * and list, mode and realpath take some more. */
static void count(struct machine *m, bool slow)
{
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&m->io);
	_cleanup_(observer_freep) struct observer *o = NULL;
	_cleanup_(topology_freep) struct topology *t = NULL;
	_cleanup_(snapshot_freep) struct snapshot *s = NULL;

	must(observer_new(&f->io, &o), "observer");
	must(observer_topology(o, &t), "topology");
	must(observer_snapshot_new(t, &s), "snapshot");
	for (unsigned i = 0; i < 3; i++) {
		bench_second(m);
		fault_io_reset(f);
		snapshot_clear(s);
		must(observer_read(o, t, slow || i == 0, s), "observer_read");
	}
	printf("  %8lu  (%lu read, %lu open)\n", f->total, f->count[FAULT_READ],
	       f->count[FAULT_OPEN]);
}

static void host(const char *what, const struct machine_spec *spec)
{
	_cleanup_(machine_freep) struct machine *m = machine_new(spec);
	_cleanup_(observer_freep) struct observer *o = NULL;
	_cleanup_(topology_freep) struct topology *t = NULL;
	double begin, end;

	must(observer_new(&m->io, &o), "observer");
	begin = cpu_usec();
	must(observer_topology(o, &t), "topology");
	end = cpu_usec();
	printf("%s: %u CPUs, %u interrupts, %u of them NICs'; discovery %.1f ms\n", what,
	       m->spec.cpus, m->n_irqs, t->n_irqs, (end - begin) / 1e3);
	printf("             median µs       min       max   only read  ratio      calls\n");
	measure(m, o, t, false);
	count(m, false);
	measure(m, o, t, true);
	count(m, true);
}

int main(void)
{
	printf("One look, CPU time of the process (%u fast ticks, %u slow looks each)\n", FAST_RUNS,
	       SLOW_RUNS);
	for (size_t i = 0; i < ELEMENTSOF(bench_hosts); i++)
		host(bench_hosts[i].name, &bench_hosts[i].spec);
	return 0;
}
