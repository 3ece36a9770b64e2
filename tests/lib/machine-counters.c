/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a machine that count. */
#include "lib/machine-internal.h"

static const char *const vectors[10] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					"IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

static void write_softnet(struct machine *m)
{
	struct text t;
	FILE *f = text_file(&t);

	for (unsigned i = 0; i < m->spec.cpus; i++) {
		const struct machine_cpu *c = &m->cpu[i];
		uint32_t column[15] = {
			[0] = c->processed,
			[1] = c->dropped,
			[2] = c->squeezed,
			[9] = c->received_rps,
			[10] = c->flow_limit,
			[11] = c->backlog,
			[12] = i,
			[13] = c->backlog,
		};

		if (!c->online)
			continue;
		for (unsigned k = 0; k < m->spec.softnet_columns; k++)
			fprintf(f, "%s%08x", k ? " " : "", column[k]);
		fputc('\n', f);
	}
	text_to(&t, m, "proc/net/softnet_stat");
}

static void write_softirqs(struct machine *m)
{
	struct text t;
	FILE *f = text_file(&t);

	fprintf(f, "                    ");
	for (unsigned i = 0; i < m->spec.possible; i++)
		fprintf(f, "CPU%-8u", i);
	fputc('\n', f);
	for (unsigned v = 0; v < ELEMENTSOF(vectors); v++) {
		fprintf(f, "%12s:", vectors[v]);
		for (unsigned i = 0; i < m->spec.possible; i++)
			fprintf(f, " %10u", m->cpu[i].softirq[v]);
		fputc('\n', f);
	}
	text_to(&t, m, "proc/softirqs");
}

static uint64_t irq_sum(const struct machine *m, const struct machine_irq *irq)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < m->spec.possible; i++)
		sum += irq->counts[i];
	return sum;
}

static const struct machine_irq *irq_by_number(const struct machine *m, unsigned number)
{
	for (unsigned i = 0; i < m->n_irqs; i++)
		if (m->irq[i].number == number)
			return &m->irq[i];
	return NULL;
}

/* show_all_irqs() of fs/proc/stat.c: one sum per IRQ number, with zeros in the gaps. */
static void write_intr(struct machine *m, FILE *f)
{
	unsigned top = 0;
	uint64_t total = 0;

	for (unsigned i = 0; i < m->n_irqs; i++) {
		top = MAX(top, m->irq[i].number);
		total += irq_sum(m, &m->irq[i]);
	}
	fprintf(f, "intr %llu", (unsigned long long)total);
	for (unsigned n = 0; n <= top; n++) {
		/* Numbers mostly follow the array. */
		const struct machine_irq *irq = n >= FIRST_IRQ && n - FIRST_IRQ < m->n_irqs &&
								m->irq[n - FIRST_IRQ].number == n
							? &m->irq[n - FIRST_IRQ]
							: irq_by_number(m, n);

		fprintf(f, " %u", irq ? (unsigned)irq_sum(m, irq) : 0);
	}
	fputc('\n', f);
}

static void write_stat(struct machine *m)
{
	struct text t;
	FILE *f = text_file(&t);
	struct machine_cpu all = {};

#define ROW(c)                                                                  \
	(unsigned long long)(c)->user, (unsigned long long)(c)->nice,           \
		(unsigned long long)(c)->system, (unsigned long long)(c)->idle, \
		(unsigned long long)(c)->iowait, (unsigned long long)(c)->irq,  \
		(unsigned long long)(c)->softirq_time, (unsigned long long)(c)->steal
	for (unsigned i = 0; i < m->spec.cpus; i++) {
		const struct machine_cpu *c = &m->cpu[i];

		all.user += c->user, all.nice += c->nice, all.system += c->system,
			all.idle += c->idle;
		all.iowait += c->iowait, all.irq += c->irq, all.softirq_time += c->softirq_time;
		all.steal += c->steal;
	}
	fprintf(f, "cpu  %llu %llu %llu %llu %llu %llu %llu %llu 0 0\n", ROW(&all));
	for (unsigned i = 0; i < m->spec.cpus; i++)
		if (m->cpu[i].online)
			fprintf(f, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu 0 0\n", i,
				ROW(&m->cpu[i]));
#undef ROW
	if (!m->spec.no_stat_intr)
		write_intr(m, f);
	fprintf(f,
		"ctxt 123456\nbtime 1700000000\nprocesses 4242\nprocs_running 1\nprocs_blocked 0\n");
	text_to(&t, m, "proc/stat");
}

static int compare_numbers(const void *a, const void *b)
{
	const struct machine_irq *x = *(struct machine_irq *const *)a,
				 *y = *(struct machine_irq *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void write_interrupts(struct machine *m)
{
	_cleanup_free_ struct machine_irq **order = calloc(m->n_irqs + 1, sizeof(*order));
	struct text t;
	FILE *f = text_file(&t);

	if (!order)
		abort();
	fprintf(f, "           ");
	for (unsigned i = 0; i < m->spec.cpus; i++)
		if (m->cpu[i].online)
			fprintf(f, "CPU%-8u", i);
	fputc('\n', f);
	for (unsigned k = 0; k < m->n_irqs; k++)
		order[k] = &m->irq[k];
	qsort(order, m->n_irqs, sizeof(*order), compare_numbers);
	for (unsigned k = 0; k < m->n_irqs; k++) {
		const struct machine_irq *irq = order[k];

		fprintf(f, "%3u:", irq->number);
		for (unsigned i = 0; i < m->spec.cpus; i++)
			if (m->cpu[i].online)
				fprintf(f, " %10u", irq->counts[i]);
		fprintf(f, "  PCI-MSI %u-edge", 524288 + k);
		fprintf(f, *irq->name ? "      %s\n" : "%s\n", irq->name);
	}
	fprintf(f, "NMI:");
	for (unsigned i = 0; i < m->spec.cpus; i++)
		if (m->cpu[i].online)
			fprintf(f, " %10u", 0U);
	fprintf(f, "   Non-maskable interrupts\nERR:          0\nMIS:          0\n");
	text_to(&t, m, "proc/interrupts");
}

static void write_irq_counts(struct machine *m)
{
	for (unsigned k = 0; k < m->n_irqs; k++) {
		struct machine_irq *irq = &m->irq[k];
		struct text t;
		FILE *f;

		if (irq->written_sum == irq_sum(m, irq))
			continue;
		irq->written_sum = irq_sum(m, irq);
		if (m->spec.no_irq_sysfs)
			continue;
		f = text_file(&t);
		for (unsigned i = 0; i < m->spec.possible; i++)
			fprintf(f, "%s%u", i ? "," : "", irq->counts[i]);
		fputc('\n', f);
		text_to(&t, m, PATH("sys/kernel/irq/%u/per_cpu_count", irq->number));
	}
}

static void write_netdev(struct machine *m)
{
	struct text t;
	FILE *f = text_file(&t);

	fprintf(f,
		"Inter-|   Receive                                                |  Transmit\n"
		" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
		"drop fifo colls carrier compressed\n"
		"    lo:    1000      10    0    0    0     0          0         0     1000      10    0 "
		"   0    0     0       0          0\n");
	for (unsigned n = 0; n < m->spec.n_nics; n++)
		if (!m->nic[n].gone)
			fprintf(f,
				"%6s: %7llu %7llu    0 %4llu %4llu     0          0         0        0       0 "
				"   0    0    0     0       0          0\n",
				m->nic[n].name, (unsigned long long)m->rx[n].rx_packets * 64,
				(unsigned long long)m->rx[n].rx_packets,
				(unsigned long long)m->rx[n].rx_dropped,
				(unsigned long long)m->rx[n].rx_missed);
	text_to(&t, m, "proc/net/dev");
}

void machine_write(struct machine *m)
{
	write_softnet(m);
	write_softirqs(m);
	write_stat(m);
	write_interrupts(m);
	write_irq_counts(m);
	write_netdev(m);
	for (unsigned i = 0; i < m->spec.cpus; i++)
		if (!m->spec.no_ksoftirqd)
			tree_printf(m->tree, PATH("proc/%d/schedstat", m->cpu[i].ksoftirqd),
				    "%llu %llu %llu\n",
				    (unsigned long long)m->cpu[i].ksoftirqd_run_ns,
				    (unsigned long long)m->cpu[i].ksoftirqd_wait_ns,
				    (unsigned long long)m->cpu[i].ksoftirqd_slices);
	if (!m->spec.no_psi)
		tree_printf(m->tree, "proc/pressure/cpu",
			    "some avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n"
			    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
			    (unsigned long long)m->psi_cpu_usec);
	if (!m->spec.no_psi && m->spec.psi_irq)
		tree_printf(m->tree, "proc/pressure/irq",
			    "full avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n",
			    (unsigned long long)m->psi_irq_usec);
}
