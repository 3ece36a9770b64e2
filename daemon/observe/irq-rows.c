/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/irq-rows.h"

#define IRQ_NUMBER_MAX 65536 /* beyond it a text is not believed */

static uint32_t hash(struct slice s)
{
	uint32_t h = UINT32_C(2166136261);

	for (const char *c = s.at; c < s.end; c++)
		h = (h ^ (unsigned char)*c) * UINT32_C(16777619);
	return h ?: 1;
}

/* The end of a line, from its last two blanks on: holds the action in all layouts, and no count in
 * most. Only when it differs are the counts read to get at the action itself. */
static struct slice tail_of(struct slice line)
{
	struct slice tail = {line.end, line.end};

	while (tail.at - 1 > line.at && !(is_blank(tail.at[-1]) && is_blank(tail.at[-2])))
		tail.at--;
	return tail;
}

static int make_room(struct irq_rows *rows, unsigned number)
{
	unsigned n = (number + 256) / 256 * 256;
	struct irq_row_seen *more;

	if (number < rows->n)
		return 0;
	more = realloc(rows->seen, n * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + rows->n, 0, (n - rows->n) * sizeof(*more));
	rows->seen = more;
	rows->n = n;
	return 0;
}

/* 1: new. 0: known, or of no interest. */
static int look(struct irq_rows *rows, struct interrupts_reader *r)
{
	struct irq_row_seen *seen;
	uint32_t tail, name;
	int error;

	if (r->row.irq >= IRQ_NUMBER_MAX)
		return 0;
	error = make_room(rows, r->row.irq);
	if (error < 0)
		return error;
	seen = &rows->seen[r->row.irq];
	tail = hash(tail_of(r->row_line));
	if (tail == seen->tail)
		return 0;
	if (!interrupts_counts(r) || slice_length(r->row.name) == 0)
		return 0;
	name = hash(r->row.name);
	seen->tail = tail;
	if (name == seen->name)
		return 0;
	seen->name = name;
	return 1;
}

int irq_rows_look(struct irq_rows *rows, const char *text, size_t length,
		  struct interrupts_reader *r, const struct topology *t)
{
	unsigned next = 0;
	int n = 0, error;

	if (interrupts_begin(r, text, length, NULL) < 0)
		return 0;
	while (interrupts_next(r)) {
		if (!r->row.numbered)
			continue;
		while (next < t->n_irqs && t->irq[next].number < r->row.irq)
			next++;
		if (next < t->n_irqs && t->irq[next].number == r->row.irq) {
			if (r->row.irq < rows->n)
				rows->seen[r->row.irq] = (struct irq_row_seen){};
			continue;
		}
		error = look(rows, r);
		if (error < 0)
			return error;
		n += error;
	}
	return n;
}

void irq_rows_done(struct irq_rows *rows)
{
	free(rows->seen);
	*rows = (struct irq_rows){};
}
