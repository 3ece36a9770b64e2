/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/softirqs.h"

#include "observe/status.h"

int softirqs_begin(struct softirqs_reader *r, const char *text, size_t length, struct complaints *c)
{
	r->rest = slice_of(text, length);
	r->line = 0;
	r->complaints = c;
	return cpu_columns_read(&r->rest, &r->line, &r->columns, c);
}

/* The counts behind a row's name. */
static bool read_counts(struct softirqs_reader *r, struct slice line)
{
	struct slice word;
	unsigned n = 0;

	for (; slice_word(&line, &word); n++) {
		uint64_t v;

		if (slice_decimal(word, UINT32_MAX, &v) < 0) {
			char bad[32];

			slice_show(word, bad, sizeof(bad));
			complain(r->complaints, NULL, r->line,
				 "row refused: \"%s\" is not a count of 32 bits", bad);
			return false;
		}
		if (n < r->columns.n)
			r->row.counts[n] = (uint32_t)v;
	}
	if (n == r->columns.n)
		return true;
	complain(
		r->complaints, NULL, r->line,
		"row refused: %u counts, and the header names %u CPUs: broken over lines or cut off?",
		n, r->columns.n);
	return false;
}

bool softirqs_next(struct softirqs_reader *r)
{
	struct slice line, name;

	while (slice_line(&r->rest, &line)) {
		r->line++;
		if (!slice_word(&line, &name))
			continue;
		if (slice_length(name) < 2 || name.end[-1] != ':') {
			complain(r->complaints, NULL, r->line,
				 "line refused: it does not begin with a vector's name");
			continue;
		}
		name.end--;
		r->row.line = r->line;
		r->row.name = name;
		if (read_counts(r, line))
			return true;
	}
	return false;
}

/* -1 for a vector this program does not know. */
static int vector_by_name(struct slice name)
{
	if (slice_is(name, "BLOCK_IOPOLL")) /* its name up to Linux 4.4 */
		return SOFTIRQ_IRQ_POLL;
	for (int v = 0; v < _SOFTIRQ_MAX; v++)
		if (slice_is(name, softirq_names[v]))
			return v;
	return -1;
}

static void complain_of_missing(unsigned seen, struct complaints *c)
{
	char names[96] = "";
	size_t used = 0;

	for (unsigned v = 0; v < _SOFTIRQ_MAX; v++) {
		int n;

		if (seen & 1U << v)
			continue;
		n = format_into(names + used, sizeof(names) - used, "%s%s", used ? " " : "",
				softirq_names[v]);
		used += n > 0 ? (size_t)n : 0;
	}
	if (used > 0)
		complain(c, NULL, 0, "no row for %s", names);
}

void softirqs_into_snapshot(const char *text, size_t length, struct softirqs_reader *r,
			    struct snapshot *s)
{
	_cleanup_(complaints_done) struct complaints c = {};
	unsigned seen = 0;

	if (softirqs_begin(r, text, length, &c) < 0) {
		source_judged(s, SOURCE_SOFTIRQS, &c);
		return;
	}
	while (softirqs_next(r)) {
		int v = vector_by_name(r->row.name);

		if (v < 0)
			continue;
		seen |= 1U << v;
		for (unsigned i = 0; i < r->columns.n; i++)
			if (r->columns.cpu[i] < s->n_cpus)
				s->cpu[r->columns.cpu[i]].softirq[v] = r->row.counts[i];
	}
	if ((seen & SOFTIRQ_MASK_NET) == SOFTIRQ_MASK_NET)
		for (unsigned i = 0; i < r->columns.n; i++)
			if (r->columns.cpu[i] < s->n_cpus)
				s->cpu[r->columns.cpu[i]].have |= HAVE_SOFTIRQS;
	complain_of_missing(seen, &c);
	source_judged(s, SOURCE_SOFTIRQS, &c);
}
