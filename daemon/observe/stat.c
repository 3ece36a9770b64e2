/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/stat.h"

#include "observe/status.h"

/* Columns of a cpu row. guest and guest_nice are counted in user and nice already. */
enum {
	USER,
	NICE,
	SYSTEM,
	IDLE,
	IOWAIT,
	IRQ,
	SOFTIRQ,
	STEAL,
	COLUMNS
};

/* "N u n s i …", after "cpu". False when it is no such row. */
static bool read_row(struct slice line, unsigned *ret_cpu, uint64_t column[COLUMNS])
{
	struct slice word;
	uint64_t cpu;
	unsigned n = 0;

	if (!slice_word(&line, &word) || slice_decimal(word, CPU_ID_MAX - 1, &cpu) < 0)
		return false;
	memset(column, 0, COLUMNS * sizeof(*column));
	while (n < COLUMNS && slice_word(&line, &word))
		if (slice_decimal(word, UINT64_MAX, &column[n++]) < 0)
			return false;
	*ret_cpu = (unsigned)cpu;
	return n > IDLE;
}

static void fill(struct cpu_sample *c, const uint64_t column[COLUMNS])
{
	c->total = 0;
	for (unsigned i = 0; i < COLUMNS; i++)
		c->total += column[i];
	c->busy = c->total - column[IDLE] - column[IOWAIT];
	c->irq_time = column[IRQ];
	c->softirq_time = column[SOFTIRQ];
	c->steal = column[STEAL];
	c->have |= HAVE_STAT;
}

void stat_into_snapshot(const char *text, size_t length, struct snapshot *s,
			struct stat_reading *ret)
{
	_cleanup_(complaints_done) struct complaints complaints = {};
	struct slice rest = slice_of(text, length), line, word;
	unsigned number = 0;

	*ret = (struct stat_reading){};
	while (slice_line(&rest, &line)) {
		uint64_t column[COLUMNS];
		unsigned cpu;

		number++;
		if (slice_starts(line, "intr ")) {
			line.at += strlen("intr ");
			slice_word(&line, &word);
			ret->intr = line;
			continue;
		}
		if (!slice_starts(line, "cpu") || slice_starts(line, "cpu "))
			continue;
		line.at += strlen("cpu");
		if (!read_row(line, &cpu, column) || cpuset_has(&ret->online, cpu)) {
			complain(&complaints, NULL, number, "not a row of CPU times");
			continue;
		}
		cpuset_add(&ret->online, cpu);
		if (cpu < s->n_cpus)
			fill(&s->cpu[cpu], column);
	}
	if (cpuset_empty(&ret->online) && complaints.n == 0)
		complain(&complaints, NULL, 0, "has no row of a CPU");
	source_judged(s, SOURCE_STAT, &complaints);
}
