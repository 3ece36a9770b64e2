/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/observe.h"

#include <stdio.h>
#include <time.h>

#include "observe/cpufreq.h"
#include "observe/ethtool.h"
#include "observe/irq-counts.h"
#include "observe/irqbalance.h"
#include "observe/irq-rows.h"
#include "observe/kmsg.h"
#include "observe/napis.h"
#include "observe/netdev.h"
#include "observe/nics.h"
#include "observe/pressure.h"
#include "observe/processes.h"
#include "observe/softirq-stat.h"
#include "observe/softirqs.h"
#include "observe/softnet.h"
#include "observe/stat.h"
#include "observe/status.h"
#include "observe/topology.h"

/* ksoftirqd is looked at on a fast tick where a CPU spent so much of the last one in softirqs. */
#define HOT_PERCENT 10

struct cpu_memory {
	uint64_t softirq_time, total; /* of the last tick */
};

/* The forced thread of an interrupt, and what it had used when the interrupt last came. */
struct thread_memory {
	pid_t pid; /* 0: none */
	bool read;
	uint64_t schedstat[3];
};

struct observer {
	struct io *io;

	/* Files that stay open. */
	struct procfile stat, softnet, softirqs, softirq_stat, netdev, psi_cpu, psi_irq, interrupts;
	struct kmsg_reader kmsg;
	struct irq_counts irq_counts;

	/* Memory for parsers. */
	struct softnet_table softnet_table;
	struct softirqs_reader softirqs_reader;
	struct interrupts_reader interrupts_reader;

	/* What the last topology was made from. */
	unsigned n_cpus, n_irqs;
	struct cpu_memory *cpu;
	struct thread_memory *thread; /* [n_irqs] */
	struct processes processes;
	struct irq_rows rows;
	uint64_t nics;       /* nics_signature() */
	uint64_t napis;      /* signature of napis_discover() */
	uint64_t irqbalance; /* its sockets, see irqbalance_sockets() */
	struct hz_meter hz;

	struct source_status source[_SOURCE_MAX];
	bool unreadable[_SOURCE_MAX]; /* tried again on slow looks only */
	bool looked;                  /* the first reading is done */
	bool sought;                  /* ksoftirqd: looked for again, and not found */
	bool link_noted, changed, napis_changed;
};

int observer_new(struct io *io, struct observer **ret)
{
	_cleanup_(observer_freep) struct observer *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	o->io = io;
	o->stat = PROCFILE_SINGLE("proc/stat");
	o->softnet = PROCFILE("proc/net/softnet_stat");
	o->softirqs = PROCFILE_SINGLE("proc/softirqs");
	o->softirq_stat = PROCFILE_SINGLE("proc/softirq_stat");
	o->netdev = PROCFILE("proc/net/dev");
	o->psi_cpu = PROCFILE_SINGLE("proc/pressure/cpu");
	o->psi_irq = PROCFILE_SINGLE("proc/pressure/irq");
	o->interrupts = PROCFILE("proc/interrupts");
	r = kmsg_reader_init(&o->kmsg, io);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(o);
	return 0;
}

void observer_free(struct observer *o)
{
	if (!o)
		return;
	procfile_done(&o->stat);
	procfile_done(&o->softnet);
	procfile_done(&o->softirqs);
	procfile_done(&o->softirq_stat);
	procfile_done(&o->netdev);
	procfile_done(&o->psi_cpu);
	procfile_done(&o->psi_irq);
	procfile_done(&o->interrupts);
	kmsg_reader_done(&o->kmsg);
	irq_counts_done(&o->irq_counts);
	irq_rows_done(&o->rows);
	processes_done(&o->processes);
	softnet_done(&o->softnet_table);
	free(o->cpu);
	free(o->thread);
	free(o);
}

int observer_kmsg_fd(const struct observer *o)
{
	return kmsg_reader_fd(&o->kmsg);
}

void observer_note_link_change(struct observer *o)
{
	o->link_noted = true;
}

void observer_note_reset(struct observer *o)
{
	o->changed = true;
}

bool observer_topology_changed(const struct observer *o)
{
	return o->changed;
}

bool observer_napis_changed(struct observer *o)
{
	return TAKE(o->napis_changed, false);
}

/* --- what the machine is made of --- */

static const struct irq_thread *find_thread(const struct processes *p, unsigned irq)
{
	for (unsigned i = 0; i < p->n_irq_threads; i++)
		if (p->irq_thread[i].irq == irq)
			return &p->irq_thread[i];
	return NULL;
}

static int discover_processes(struct observer *o, struct topology *t)
{
	int r;

	r = processes_scan(o->io, t->n_cpus, &o->processes);
	if (r == -ENOMEM)
		return r;
	t->thread_backlog |= o->processes.backlog_napi;
	t->irqbalance = o->processes.rivals & RIVAL_IRQBALANCE;
	rivals_to_string(o->processes.rivals, t->rivals, sizeof(t->rivals));
	o->unreadable[SOURCE_KSOFTIRQD] = false;
	return 0;
}

static int discover_interrupts(struct observer *o, struct topology *t)
{
	_cleanup_(action_table_done) struct action_table actions = {};
	struct source_status *status = &o->source[SOURCE_TOPOLOGY];
	bool table = procfile_read(o->io, &o->interrupts) >= 0;
	int r;

	r = action_table_read(o->io, table ? o->interrupts.text : NULL, o->interrupts.length,
			      &o->interrupts_reader, &actions);
	if (r < 0)
		return r;
	r = nics_discover(o->io, &actions, t);
	if (r == -ENOMEM)
		return r;
	if (r < 0 && status->state == SOURCE_OK) {
		status->state = SOURCE_STRANGE;
		status->error = r;
		snprintf(status->text, sizeof(status->text), "/sys/class/net: %s", strerror(-r));
	}
	r = irq_counts_init(&o->irq_counts, t, actions.n_rows);
	if (r < 0)
		return r;
	if (table) {
		r = irq_rows_look(&o->rows, o->interrupts.text, o->interrupts.length,
				  &o->interrupts_reader, t);
		if (r < 0)
			return r;
	}
	free(o->thread);
	o->thread = calloc(MAX(t->n_irqs, 1U), sizeof(*o->thread));
	if (!o->thread)
		return -ENOMEM;
	for (unsigned i = 0; i < t->n_irqs; i++) {
		const struct irq_thread *thread = find_thread(&o->processes, t->irq[i].number);

		o->thread[i].pid = thread ? thread->pid : 0;
		t->irq_threads |= thread != NULL;
		if (!thread)
			continue;
		t->irq[i].thread = thread->pid;
		t->irq[i].thread_start = thread->start;
		strcpy(t->irq[i].thread_comm, thread->comm);
	}
	o->nics = nics_signature(o->io);
	return 0;
}

/* What it is told to leave alone; as of this discovery. */
static void ask_irqbalance(struct observer *o, struct topology *t)
{
	_cleanup_free_ struct irqbalance *answer = NULL;

	o->irqbalance = irqbalance_sockets(o->io);
	if (!o->irqbalance)
		return;
	answer = malloc(sizeof(*answer));
	if (!answer || irqbalance_ask(o->io, answer) < 0)
		return;
	t->irqbalance_told = true;
	for (unsigned i = 0; i < t->n_irqs; i++)
		for (unsigned k = 0; k < answer->n; k++)
			t->irq[i].banned |= answer->banned[k] == t->irq[i].number;
}

static int discover(struct observer *o, struct topology *t)
{
	struct cpu_memory *cpu;
	int r;

	r = topology_discover_cpus(o->io, t, &o->source[SOURCE_TOPOLOGY]);
	if (r < 0)
		return r;
	r = topology_discover_host(o->io, t);
	if (r < 0)
		return r;
	r = discover_processes(o, t);
	if (r < 0)
		return r;
	r = discover_interrupts(o, t);
	if (r < 0)
		return r;
	ethtool_discover(o->io, t, &o->source[SOURCE_ETHTOOL]);
	r = napis_discover(o->io, &o->processes, t, &o->source[SOURCE_NAPI], &o->napis);
	if (r < 0)
		return r;
	r = cpufreq_discover(o->io, t, &o->source[SOURCE_CPUFREQ]);
	if (r < 0)
		return r;
	ask_irqbalance(o, t);
	if (!t->hz)
		hz_measure(o->io, &o->hz);
	cpu = calloc(MAX(t->n_cpus, 1U), sizeof(*cpu));
	if (!cpu)
		return -ENOMEM;
	free(o->cpu);
	o->cpu = cpu;
	o->n_cpus = t->n_cpus;
	o->n_irqs = t->n_irqs;
	return 0;
}

int observer_topology(struct observer *o, struct topology **ret)
{
	_cleanup_(topology_freep) struct topology *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	o->changed = o->link_noted = o->sought = false;
	o->hz = (struct hz_meter){};
	r = discover(o, t);
	if (r < 0) {
		/* Half of what is remembered fits the machine of before, half the new one. */
		irq_counts_done(&o->irq_counts);
		o->n_cpus = o->n_irqs = 0;
		return r;
	}
	*ret = TAKE_PTR(t);
	return 0;
}

int observer_look_at_napis(struct observer *o, struct topology *t)
{
	int r;

	/* Without a list of the kernel's they are found by their threads. */
	if (!t->napis_told && processes_scan(o->io, o->n_cpus, &o->processes) == -ENOMEM)
		return -ENOMEM;
	r = napis_discover(o->io, &o->processes, t, &o->source[SOURCE_NAPI], &o->napis);
	o->napis_changed = false;
	return r;
}

int observer_snapshot_new(const struct topology *t, struct snapshot **ret)
{
	return snapshot_new(t->n_cpus, t->n_irqs, t->n_nics, ret);
}

/* --- one reading --- */

/* True when FILE's text is there to be parsed. A source that could not be read is left in peace
 * until the next slow look. */
static bool have_text(struct observer *o, struct snapshot *s, enum source source,
		      struct procfile *file)
{
	int r;

	if (o->unreadable[source] && !s->slow && o->looked)
		return false;
	r = procfile_read(o->io, file);
	o->unreadable[source] = r < 0;
	if (r < 0)
		source_failed(s, source, r);
	return r >= 0;
}

/* The online CPUs come from /proc/stat, which is read anyway; where it is not there, from sysfs. */
static void read_stat(struct observer *o, struct snapshot *s, struct stat_reading *ret)
{
	*ret = (struct stat_reading){};
	if (have_text(o, s, SOURCE_STAT, &o->stat))
		stat_into_snapshot(o->stat.text, o->stat.length, s, ret);
	s->online = ret->online;
	if (cpuset_empty(&s->online))
		topology_read_cpu_list(o->io, "online", &s->online);
}

/*
 * Rows of less than 13 columns (before 5.10) have no CPU id: they count only when the online set
 * was the same before and after (case A24).
 */
static int read_softnet(struct observer *o, struct snapshot *s)
{
	const struct softnet_table *table = &o->softnet_table;
	struct cpuset online = s->online, after;
	int r;

	if (!have_text(o, s, SOURCE_SOFTNET, &o->softnet))
		return 0;
	r = softnet_into_snapshot(o->softnet.text, o->softnet.length, &online, &o->softnet_table,
				  s);
	if (r < 0 || table->n == 0 || softnet_row_has_cpu(&table->rows[0]))
		return r;
	if (topology_read_stat_online(o->io, &after) < 0 &&
	    topology_read_cpu_list(o->io, "online", &after) < 0)
		after = (struct cpuset){};
	if (cpuset_equal(&online, &after))
		return 0;
	for (unsigned cpu = 0; cpu < s->n_cpus; cpu++)
		s->cpu[cpu].have &=
			~(uint32_t)(HAVE_SOFTNET | HAVE_RPS | HAVE_FLOW_LIMIT | HAVE_BACKLOG);
	return 0;
}

static void read_pressure(struct observer *o, struct snapshot *s, enum source source,
			  struct procfile *file, struct pressure *ret)
{
	if (!have_text(o, s, source, file)) {
		struct source_status *status = &s->source[source];

		if (status->state == SOURCE_ABSENT)
			snprintf(status->text, sizeof(status->text),
				 "%s: not on this kernel: needs %s", source_path(source),
				 source == SOURCE_PSI_IRQ ? "CONFIG_IRQ_TIME_ACCOUNTING and psi=1"
							  : "CONFIG_PSI and psi=1");
		return;
	}
	if (pressure_parse(file->text, file->length, ret))
		source_ok(s, source);
	else
		source_strange(s, source, "%s: has no total", source_path(source));
}

/* The kernel series' own file: on any other kernel it is not missing, there is no such thing. */
static void read_softirq_stat(struct observer *o, struct snapshot *s)
{
	struct source_status *status = &s->source[SOURCE_SOFTIRQ_STAT];

	if (have_text(o, s, SOURCE_SOFTIRQ_STAT, &o->softirq_stat))
		softirq_stat_into_snapshot(o->softirq_stat.text, o->softirq_stat.length, s);
	else if (status->state == SOURCE_ABSENT)
		snprintf(status->text, sizeof(status->text),
			 "%s: this kernel does not have softnetd's series",
			 source_path(SOURCE_SOFTIRQ_STAT));
}

static bool is_hot(const struct observer *o, const struct snapshot *s, unsigned cpu)
{
	const struct cpu_memory *before = &o->cpu[cpu];
	const struct cpu_sample *now = &s->cpu[cpu];

	if (!(now->have & HAVE_STAT) || before->total == 0 || now->total <= before->total ||
	    now->softirq_time < before->softirq_time)
		return false;
	return (now->softirq_time - before->softirq_time) * 100 >=
	       (now->total - before->total) * HOT_PERCENT;
}

/* Of every CPU on a slow look, else of hot CPUs only: three system calls each. */
static void read_ksoftirqd(struct observer *o, struct snapshot *s)
{
	unsigned wanted = 0, missing = 0;
	int error = -ESRCH;
	uint64_t v[3];

	for (unsigned cpu = 0; cpu < MIN(s->n_cpus, o->n_cpus); cpu++) {
		struct cpu_sample *c = &s->cpu[cpu];
		bool look = s->slow ? cpuset_has(&s->online, cpu) : is_hot(o, s, cpu);
		int r;

		o->cpu[cpu] = (struct cpu_memory){c->softirq_time, c->total};
		if (!look || (o->unreadable[SOURCE_KSOFTIRQD] && !s->slow))
			continue;
		wanted++;
		r = o->processes.ksoftirqd[cpu] > 0
			    ? schedstat_read(o->io, o->processes.ksoftirqd[cpu], v)
			    : -ESRCH;
		if (r < 0) {
			missing++;
			error = r;
			continue;
		}
		c->ksoftirqd_run_ns = v[0];
		c->ksoftirqd_wait_ns = v[1];
		c->ksoftirqd_slices = v[2];
		c->have |= HAVE_KSOFTIRQD;
	}
	if (!s->slow)
		return;
	o->unreadable[SOURCE_KSOFTIRQD] = missing > 0 && missing == wanted;
	if (wanted > 0 && missing == 0) {
		source_ok(s, SOURCE_KSOFTIRQD);
	} else if (missing == wanted) {
		s->source[SOURCE_KSOFTIRQD] = (struct source_status){SOURCE_ABSENT, error, ""};
		snprintf(s->source[SOURCE_KSOFTIRQD].text, sizeof(s->source[SOURCE_KSOFTIRQD].text),
			 "/proc/PID/schedstat of ksoftirqd: %s",
			 error == -ESRCH ? "no such threads to be seen" : strerror(-error));
	} else {
		source_strange(s, SOURCE_KSOFTIRQD,
			       "/proc/PID/schedstat of ksoftirqd: missing on %u of %u CPUs",
			       missing, wanted);
	}
}

/* A ksoftirqd that has another pid now is looked for once: all of /proc is much to read. */
static int look_for_ksoftirqd(struct observer *o, const struct snapshot *s)
{
	bool missing = false;

	cpuset_for_each (cpu, &s->online)
		if (cpu < MIN(s->n_cpus, o->n_cpus))
			missing |= !(s->cpu[cpu].have & HAVE_KSOFTIRQD);
	if (!missing || o->sought) {
		o->sought = missing;
		return 0;
	}
	o->sought = true;
	o->unreadable[SOURCE_KSOFTIRQD] = false;
	return processes_scan(o->io, o->n_cpus, &o->processes) == -ENOMEM ? -ENOMEM : 0;
}

/* An interrupt that did not come left its thread asleep. */
static void read_irq_threads(struct observer *o, struct snapshot *s)
{
	for (unsigned i = 0; i < o->n_irqs; i++) {
		struct thread_memory *m = &o->thread[i];
		uint64_t v[3];

		if (m->pid == 0)
			continue;
		if (s->slow || o->irq_counts.irq[i].fired || !m->read) {
			if (schedstat_read(o->io, m->pid, v) < 0) {
				/* Gone, and likely born again with another pid; or never readable.
				 */
				o->changed |= m->read;
				m->pid = 0;
				continue;
			}
			m->read = true;
			memcpy(m->schedstat, v, sizeof(v));
		}
		s->irq[i].thread_pid = m->pid;
		s->irq[i].thread_run_ns = m->schedstat[0];
		s->irq[i].thread_wait_ns = m->schedstat[1];
		s->irq[i].thread_switches = m->schedstat[2];
	}
}

static int read_interrupts(struct observer *o, const struct topology *t, struct slice intr,
			   struct snapshot *s)
{
	bool table;
	unsigned gone;
	int fresh;

	irq_counts_read(&o->irq_counts, o->io, t, intr, s->slow || o->link_noted || !o->looked,
			&o->interrupts, &o->interrupts_reader, s, &table, &gone);
	/* A table that is not what it should be tells nothing about what is gone. */
	if (!table || s->source[SOURCE_IRQ_COUNTS].state == SOURCE_STRANGE)
		return 0;
	fresh = irq_rows_look(&o->rows, o->interrupts.text, o->interrupts.length,
			      &o->interrupts_reader, t);
	if (fresh < 0)
		return fresh;
	if (gone > 0 || fresh > 0)
		o->changed = true;
	return 0;
}

/* Instances came, went, or got other ids or threads: a driver was reset, channels were changed, or
 * threads switched on or off. */
static int look_at_napis(struct observer *o, struct topology *t, struct snapshot *s)
{
	int r;

	if (!t->napis_told || napis_refresh(o->io, t, o->napis))
		return 0;
	r = napis_discover(o->io, &o->processes, t, &s->source[SOURCE_NAPI], &o->napis);
	o->napis_changed = true;
	return r;
}

/* The rest of the slow look: what is not a counter. */
static int look_around(struct observer *o, struct topology *t, struct snapshot *s)
{
	for (unsigned i = 0; i < t->n_irqs; i++)
		irq_read_affinity(o->io, &t->irq[i]);
	topology_check_online(o->io, t, &s->source[SOURCE_TOPOLOGY]);
	if (!cpuset_equal(&t->online, &s->online))
		o->changed = true;
	for (unsigned cpu = 0; cpu < t->n_cpus; cpu++)
		t->cpu[cpu].online = cpuset_has(&t->online, cpu);
	if (irqbalance_sockets(o->io) != o->irqbalance)
		o->changed = true;
	if (t->hz == 0)
		t->hz = hz_measure(o->io, &o->hz);
	return look_for_ksoftirqd(o, s);
}

int observer_read(struct observer *o, struct topology *t, bool slow, struct snapshot *s)
{
	struct stat_reading stat;
	int r;

	memcpy(s->source, o->source, sizeof(s->source));
	s->mono_usec = io_now(o->io, CLOCK_MONOTONIC);
	s->boot_usec = io_now(o->io, CLOCK_BOOTTIME);
	s->slow = slow;

	read_stat(o, s, &stat);
	r = read_softnet(o, s);
	if (r < 0)
		return r;
	if (have_text(o, s, SOURCE_SOFTIRQS, &o->softirqs))
		softirqs_into_snapshot(o->softirqs.text, o->softirqs.length, &o->softirqs_reader,
				       s);
	read_softirq_stat(o, s);
	r = read_interrupts(o, t, stat.intr, s);
	if (r < 0)
		return r;
	if (have_text(o, s, SOURCE_NETDEV, &o->netdev))
		netdev_into_snapshot(o->netdev.text, o->netdev.length, t, s);
	read_pressure(o, s, SOURCE_PSI_CPU, &o->psi_cpu, &s->psi_cpu);
	read_pressure(o, s, SOURCE_PSI_IRQ, &o->psi_irq, &s->psi_irq);
	kmsg_reader_read(&o->kmsg, s);
	read_ksoftirqd(o, s);
	read_irq_threads(o, s);

	if (!cpuset_equal(&s->online, &t->online))
		o->changed = true;
	if ((slow || o->link_noted) && nics_signature(o->io) != o->nics)
		o->changed = true;
	if (slow || o->link_noted) {
		for (unsigned i = 0; i < t->n_nics; i++)
			if (*t->nic[i].device)
				nic_read_carrier(o->io, &t->nic[i]);
		r = look_at_napis(o, t, s);
		if (r < 0)
			return r;
	}
	o->link_noted = false;
	if (slow) {
		r = look_around(o, t, s);
		if (r < 0)
			return r;
		procfile_rest(&o->interrupts);
	}
	memcpy(o->source, s->source, sizeof(o->source));
	o->looked = true;
	return 0;
}
