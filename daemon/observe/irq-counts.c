/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/irq-counts.h"

#include "observe/status.h"

#define TABLE_ROWS_PER_FILE 3
/* The kernel never prints more than a page; a captured file may have all of it. */
#define PER_CPU_COUNT_MAX (CPU_ID_MAX * 11 + 1)

int irq_counts_init(struct irq_counts *c, const struct topology *t, unsigned n_rows)
{
	irq_counts_done(c);
	c->n_rows = n_rows;
	c->cpu_of_column = calloc(MAX(t->n_cpus, 1U), sizeof(*c->cpu_of_column));
	c->irq = calloc(MAX(t->n_irqs, 1U), sizeof(*c->irq));
	c->page = malloc(PER_CPU_COUNT_MAX + 1);
	if (!c->cpu_of_column || !c->irq || !c->page)
		return -ENOMEM;
	c->n_cpus = t->n_cpus;
	c->table_status.state = SOURCE_OK;
	cpuset_for_each (cpu, &t->possible)
		c->cpu_of_column[c->n_columns++] = (uint16_t)cpu;
	for (; c->n_irqs < t->n_irqs; c->n_irqs++) {
		struct irq_memory *m = &c->irq[c->n_irqs];

		m->fd = -1;
		m->counts = calloc(MAX(t->n_cpus, 1U), sizeof(*m->counts));
		if (!m->counts)
			return -ENOMEM;
	}
	return 0;
}

void irq_counts_done(struct irq_counts *c)
{
	for (unsigned i = 0; i < c->n_irqs; i++) {
		closep(&c->irq[i].fd);
		free(c->irq[i].counts);
	}
	free(c->irq);
	free(c->cpu_of_column);
	free(c->page);
	*c = (struct irq_counts){};
}

/* Reads the totals of our interrupts from INTR: the n-th number is interrupt n's. Returns how many
 * have fired, or are not known to be still. */
static unsigned find_fired(struct irq_counts *c, const struct topology *t, struct slice intr)
{
	unsigned number = 0, fired = 0, i;
	struct slice word;
	uint64_t total;

	for (i = 0; i < c->n_irqs && slice_word(&intr, &word); number++) {
		struct irq_memory *m = &c->irq[i];

		if (t->irq[i].number != number)
			continue;
		if (slice_decimal(word, UINT32_MAX, &total) < 0)
			break;
		m->fired = !m->known || !m->have_total || m->total != (uint32_t)total;
		m->total = (uint32_t)total;
		m->have_total = true;
		fired += m->fired;
		i++;
	}
	for (; i < c->n_irqs; i++) {
		c->irq[i].have_total = false;
		c->irq[i].fired = true;
		fired++;
	}
	return fired;
}

/* "12,0,34\n", one number per possible CPU. Writing and judging in one pass: this is most of a
 * tick's work on a large host. */
static bool parse_counts(const struct irq_counts *c, const char *text, uint32_t *counts)
{
	unsigned column = 0;

	for (;;) {
		uint64_t v = 0;
		unsigned digits = 0;

		for (; is_digit(*text); text++, digits++)
			v = v * 10 + (uint64_t)(*text - '0');
		if (digits == 0 || digits > 10 || v > UINT32_MAX || column == c->n_columns)
			return false;
		counts[c->cpu_of_column[column++]] = (uint32_t)v;
		if (*text == '\n')
			return column == c->n_columns;
		if (*text++ != ',')
			return false;
	}
}

/* One sysfs file. The whole of it comes with one read(2), so none is spent to see its end. */
static int read_counts(struct irq_counts *c, struct io *io, unsigned number, struct irq_memory *m)
{
	char path[64];
	ssize_t n;

	if (m->fd < 0) {
		format_into(path, sizeof(path), "sys/kernel/irq/%u/per_cpu_count", number);
		m->fd = io_open(io, path, 0);
		if (m->fd < 0)
			return TAKE_FD(m->fd);
	}
	m->known = false;
	n = io->ops->read(io, m->fd, c->page, PER_CPU_COUNT_MAX, 0);
	if (n < 0) {
		closep(&m->fd);
		m->fd = -1;
		return (int)n;
	}
	c->page[n] = '\0';
	m->known = parse_counts(c, c->page, m->counts);
	return m->known ? 0 : -EBADMSG;
}

static int read_files(struct irq_counts *c, struct io *io, const struct topology *t,
		      struct snapshot *s)
{
	for (unsigned i = 0; i < c->n_irqs; i++) {
		struct irq_memory *m = &c->irq[i];
		int r;

		if (m->fired) {
			r = read_counts(c, io, t->irq[i].number, m);
			if (r < 0)
				return r;
		}
		memcpy(s->irq[i].counts, m->counts, c->n_cpus * sizeof(*m->counts));
		s->irq[i].have = true;
	}
	s->source[SOURCE_IRQ_COUNTS] = c->table_status;
	return 0;
}

static bool read_table(struct irq_counts *c, struct io *io, const struct topology *t,
		       struct procfile *table, struct interrupts_reader *r, struct snapshot *s,
		       unsigned *ret_changed)
{
	int error = procfile_read(io, table);

	if (error < 0) {
		source_failed(s, SOURCE_IRQ_COUNTS, error);
		c->table_status = s->source[SOURCE_IRQ_COUNTS];
		return false;
	}
	for (unsigned i = 0; i < c->n_irqs; i++)
		s->irq[i].have = false;
	interrupts_into_snapshot(table->text, table->length, r, t, s, ret_changed);
	for (unsigned i = 0; i < c->n_irqs; i++) {
		c->irq[i].known = s->irq[i].have;
		if (s->irq[i].have)
			memcpy(c->irq[i].counts, s->irq[i].counts, c->n_cpus * sizeof(uint32_t));
	}
	if (c->n_irqs == 0 && s->source[SOURCE_IRQ_COUNTS].state == SOURCE_OK)
		s->source[SOURCE_IRQ_COUNTS] = (struct source_status){
			.state = SOURCE_ABSENT,
			.error = -ENOENT,
			.text = "/proc/interrupts: no interrupt belongs to a NIC: there is none to place",
		};
	c->table_status = s->source[SOURCE_IRQ_COUNTS];
	return true;
}

void irq_counts_read(struct irq_counts *c, struct io *io, const struct topology *t,
		     struct slice intr, bool whole, struct procfile *table,
		     struct interrupts_reader *r, struct snapshot *s, bool *ret_table,
		     unsigned *ret_changed)
{
	unsigned fired = find_fired(c, t, intr);
	int error = 0;

	*ret_table = false;
	*ret_changed = 0;
	if (c->blind && !whole)
		return;
	if (!whole &&
	    (fired == 0 ||
	     (!c->table_only && (c->n_rows == 0 || fired * TABLE_ROWS_PER_FILE <= c->n_rows)))) {
		error = read_files(c, io, t, s);
		if (error >= 0)
			return;
		/* What a file could not tell the table may: the interrupt is gone, or the kernel
		 * has no such files. */
	}
	*ret_table = read_table(c, io, t, table, r, s, ret_changed);
	if (error < 0 && *ret_table && *ret_changed == 0)
		c->table_only = true;
	c->blind = !*ret_table && (error < 0 || c->table_only);
}
