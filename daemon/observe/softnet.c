/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/softnet.h"

#include "observe/status.h"

/* Broken rows included, no machine has more lines; keeps a hostile file from eating memory. */
#define LINES_MAX (4 * CPU_ID_MAX)

/* Widths of this and more count as one. */
#define WIDTHS 64

/* What the rows of a file say about each other's widths; see softnet.h. */
struct widths {
	bool uniform;        /* all rows have the same width */
	bool proved[WIDTHS]; /* some row of this width has no odd row behind it */
};

static bool whole(unsigned columns)
{
	return columns == 9 || columns == 10 || columns == 11 || columns == 13 || columns >= 15;
}

/* A line whose words are hex, whatever else is wrong with it, takes part in the reckoning of
 * widths. */
static bool hex_row(const struct softnet_row *r)
{
	return r->fault == SOFTNET_GOOD || r->fault == SOFTNET_CUT || r->fault == SOFTNET_SHORT;
}

static bool odd_row(const struct softnet_row *r)
{
	return hex_row(r) && !whole(r->columns);
}

uint32_t softnet_row_have(const struct softnet_row *r)
{
	uint32_t have = HAVE_SOFTNET;

	if (r->columns >= 10)
		have |= HAVE_RPS;
	if (r->columns >= 11)
		have |= HAVE_FLOW_LIMIT;
	if (r->columns >= 12)
		have |= HAVE_BACKLOG;
	return have;
}

static bool parse_hex(struct slice word, uint32_t *ret)
{
	uint32_t v = 0;

	for (const char *c = word.at; c < word.end; c++) {
		if (is_digit(*c))
			v = v << 4 | (uint32_t)(*c - '0');
		else if (*c >= 'a' && *c <= 'f')
			v = v << 4 | (uint32_t)(*c - 'a' + 10);
		else if (*c >= 'A' && *c <= 'F')
			v = v << 4 | (uint32_t)(*c - 'A' + 10);
		else
			return false;
	}
	*ret = v;
	return true;
}

/* Reads the words of LINE into R, up to the verdicts that need no other row. */
static void parse_row(struct slice line, struct softnet_row *r)
{
	uint32_t *const field[] = {
		[0] = &r->processed,    [1] = &r->dropped,     [2] = &r->squeezed,
		[9] = &r->received_rps, [10] = &r->flow_limit, [11] = &r->backlog,
		[12] = &r->cpu,
	};
	struct slice word, not_hex = {}, too_long = {}, brief = {};
	bool full = false; /* a word of 8 digits is there */

	while (slice_word(&line, &word)) {
		uint32_t v = 0;

		if (!parse_hex(word, &v)) {
			not_hex = word;
		} else if (slice_length(word) > 8) {
			too_long = word;
		} else {
			if (slice_length(word) == 8)
				full = true;
			else
				brief = word;
			if (r->columns < ELEMENTSOF(field) && field[r->columns])
				*field[r->columns] = v;
		}
		r->columns++;
	}
	if (not_hex.at) {
		r->fault = full ? SOFTNET_NOT_HEX : SOFTNET_NO_ROW;
		r->bad = not_hex;
	} else if (too_long.at) {
		r->fault = SOFTNET_TOO_LONG;
		r->bad = too_long;
	} else if (full && brief.at) {
		r->fault = SOFTNET_CUT;
		r->bad = brief;
	} else if (r->columns < 3) {
		r->fault = SOFTNET_SHORT;
	}
}

static int add_row(struct softnet_table *t, struct softnet_row **ret)
{
	if (t->n == t->room) {
		unsigned room = MAX(2 * t->room, 64U);
		struct softnet_row *more = reallocarray(t->rows, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->rows = more;
		t->room = room;
	}
	*ret = &t->rows[t->n++];
	**ret = (struct softnet_row){};
	return 0;
}

static int read_rows(struct slice text, struct softnet_table *t, struct complaints *c)
{
	struct softnet_row *r;
	struct slice line;

	for (unsigned n = 1; slice_line(&text, &line); n++) {
		if (line.at == line.end)
			continue;
		if (t->n == LINES_MAX) {
			complain(c, NULL, n, "more than %u lines: the rest is not read", LINES_MAX);
			t->scraps = true;
			break;
		}
		if (add_row(t, &r) < 0)
			return -ENOMEM;
		r->line = n;
		parse_row(line, r);
	}
	return 0;
}

static bool *proof(struct widths *w, unsigned columns)
{
	return &w->proved[MIN(columns, WIDTHS - 1U)];
}

static void weigh_widths(const struct softnet_table *t, struct widths *w)
{
	unsigned width = 0;

	*w = (struct widths){.uniform = true};
	for (unsigned i = 0; i < t->n; i++) {
		const struct softnet_row *r = &t->rows[i];

		if (!hex_row(r))
			continue;
		if (width > 0 && r->columns != width)
			w->uniform = false;
		width = r->columns;
		if (i + 1 == t->n || !odd_row(&t->rows[i + 1]))
			*proof(w, width) = true;
	}
}

/* Equal pieces of equal rows: 6 rows of 5 columns may be 3 of 10, or 2 of 15. Only 3 and 5 columns
 * divide a width that kernels have printed. */
static void warn_of_even_pieces(const struct softnet_table *t, struct complaints *c)
{
	static const unsigned widths[] = {9, 10, 15};
	unsigned columns = t->n > 0 ? t->rows[0].columns : 0;

	for (unsigned i = 0; columns > 0 && i < ELEMENTSOF(widths); i++) {
		unsigned pieces = widths[i] / columns;

		if (pieces < 2 || widths[i] % columns || t->n % pieces)
			continue;
		complain(
			c, NULL, t->rows[0].line,
			"%u rows of %u columns: taken as they stand, but they may be %u rows of %u, "
			"each broken into %u lines",
			t->n, columns, t->n / pieces, widths[i], pieces);
		return;
	}
}

/* Marks what was broken over lines. Returns whether all rows have one width: then nothing was. */
static bool find_torn(struct softnet_table *t)
{
	struct widths w;

	weigh_widths(t, &w);
	if (w.uniform)
		return true;
	for (unsigned i = 0; i < t->n; i++) {
		struct softnet_row *r = &t->rows[i];
		unsigned sum = r->columns;

		if (!hex_row(r))
			continue;
		if (odd_row(r)) {
			if (r->fault == SOFTNET_GOOD)
				r->fault = SOFTNET_TORN;
			continue;
		}
		for (unsigned k = i + 1; k < t->n && odd_row(&t->rows[k]); k++)
			sum += t->rows[k].columns;
		if (sum > r->columns && whole(sum) && (!*proof(&w, r->columns) || *proof(&w, sum)))
			r->fault = SOFTNET_TORN;
	}
	return false;
}

static void find_bad_cpus(struct softnet_table *t)
{
	struct cpuset seen = {};

	for (unsigned i = 0; i < t->n; i++) {
		struct softnet_row *r = &t->rows[i];

		if (r->fault != SOFTNET_GOOD || !softnet_row_has_cpu(r))
			continue;
		if (r->cpu >= CPU_ID_MAX)
			r->fault = SOFTNET_BAD_CPU;
		else if (cpuset_has(&seen, r->cpu))
			r->fault = SOFTNET_CPU_TWICE;
		else
			cpuset_add(&seen, r->cpu);
	}
}

static void complain_of_row(struct complaints *c, const struct softnet_row *r)
{
	char bad[32];

	slice_show(r->bad, bad, sizeof(bad));
	switch (r->fault) {
	case SOFTNET_GOOD:
		break;
	case SOFTNET_NO_ROW:
		complain(c, NULL, r->line, "not a row of softnet_stat: \"%s\" is not a hex number",
			 bad);
		break;
	case SOFTNET_NOT_HEX:
		complain(c, NULL, r->line, "row refused: \"%s\" is not a hex number", bad);
		break;
	case SOFTNET_TOO_LONG:
		complain(c, NULL, r->line, "row refused: \"%s\" has more than 8 hex digits", bad);
		break;
	case SOFTNET_CUT:
		complain(
			c, NULL, r->line,
			"row refused: \"%s\" has fewer than 8 digits beside words that have 8: cut off",
			bad);
		break;
	case SOFTNET_SHORT:
		complain(c, NULL, r->line, "row refused: %u column%s, at least 3 are needed",
			 r->columns, r->columns == 1 ? "" : "s");
		break;
	case SOFTNET_TORN:
		complain(
			c, NULL, r->line,
			"row refused: %u columns beside rows of other widths: a row that was broken "
			"over lines, or cut off",
			r->columns);
		break;
	case SOFTNET_BAD_CPU:
		complain(c, NULL, r->line, "row refused: CPU id %u (column 13) is above %u", r->cpu,
			 CPU_ID_MAX - 1);
		break;
	case SOFTNET_CPU_TWICE:
		complain(c, NULL, r->line, "row refused: CPU %u (column 13) has a row already",
			 r->cpu);
		break;
	}
}

/* The n-th row of the file is the n-th online CPU: so a refused row counts, and what is only a
 * piece of the line before it does not. */
static void number_rows(struct softnet_table *t)
{
	bool after_torn = false;

	for (unsigned i = 0; i < t->n; i++) {
		struct softnet_row *r = &t->rows[i];
		bool piece = after_torn && odd_row(r);

		after_torn = r->fault == SOFTNET_TORN || piece;
		r->row = t->n_rows;
		if (r->fault == SOFTNET_NO_ROW)
			continue;
		if (!piece)
			t->n_rows++;
		if (r->fault == SOFTNET_TORN || r->fault == SOFTNET_SHORT)
			t->scraps = true;
	}
}

/* Says what is refused, and closes the gaps. */
static void keep_good(struct softnet_table *t, struct complaints *c)
{
	unsigned good = 0;

	for (unsigned i = 0; i < t->n; i++) {
		if (t->rows[i].fault == SOFTNET_GOOD) {
			t->rows[good++] = t->rows[i];
			continue;
		}
		complain_of_row(c, &t->rows[i]);
		t->refused++;
	}
	t->n = good;
}

int softnet_parse(const char *text, size_t length, struct softnet_table *t, struct complaints *c)
{
	bool uniform;
	int r;

	t->n = t->n_rows = t->refused = 0;
	t->scraps = false;
	r = read_rows(slice_of(text, length), t, c);
	if (r < 0)
		return r;
	uniform = find_torn(t);
	find_bad_cpus(t);
	number_rows(t);
	keep_good(t, c);
	if (uniform && t->refused == 0)
		warn_of_even_pieces(t, c);
	return 0;
}

void softnet_done(struct softnet_table *t)
{
	free(t->rows);
	*t = (struct softnet_table){};
}

static void fill_cpu(struct cpu_sample *cpu, const struct softnet_row *r)
{
	cpu->have |= softnet_row_have(r);
	cpu->processed = r->processed;
	cpu->dropped = r->dropped;
	cpu->squeezed = r->squeezed;
	cpu->received_rps = r->received_rps;
	cpu->flow_limit = r->flow_limit;
	cpu->backlog = r->backlog;
}

/* Fills the rows that name no CPU. */
static void fill_by_position(const struct softnet_table *t, const struct cpuset *online,
			     struct snapshot *s, struct complaints *c)
{
	unsigned n_online = cpuset_count(online), cpu, n = 0;
	const struct softnet_row *first = NULL;

	for (unsigned i = 0; i < t->n && !first; i++)
		if (!softnet_row_has_cpu(&t->rows[i]))
			first = &t->rows[i];
	if (!first)
		return;
	if (t->scraps || t->n_rows != n_online) {
		complain(c, NULL, first->line,
			 "rows without a CPU id cannot be told apart: %u rows%s, %u online CPUs",
			 t->n_rows, t->scraps ? ", some of them broken" : "", n_online);
		return;
	}
	cpu = cpuset_first(online);
	for (unsigned i = 0; i < t->n; i++) {
		const struct softnet_row *r = &t->rows[i];

		for (; n < r->row; n++)
			cpu = cpuset_next(online, cpu + 1);
		if (!softnet_row_has_cpu(r) && cpu < s->n_cpus)
			fill_cpu(&s->cpu[cpu], r);
	}
}

int softnet_into_snapshot(const char *text, size_t length, const struct cpuset *online,
			  struct softnet_table *t, struct snapshot *s)
{
	_cleanup_(complaints_done) struct complaints c = {};
	int r;

	r = softnet_parse(text, length, t, &c);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < t->n; i++) {
		const struct softnet_row *row = &t->rows[i];

		if (!softnet_row_has_cpu(row))
			continue;
		if (row->cpu < s->n_cpus)
			fill_cpu(&s->cpu[row->cpu], row);
		else
			complain(&c, NULL, row->line, "CPU %u is beyond the possible CPUs",
				 row->cpu);
	}
	fill_by_position(t, online, s, &c);
	if (t->n == 0 && c.n == 0)
		complain(&c, NULL, 0, "the file is empty");
	source_judged(s, SOURCE_SOFTNET, &c);
	return 0;
}
