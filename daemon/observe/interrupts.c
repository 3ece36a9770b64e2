/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/interrupts.h"

#include "observe/status.h"

int interrupts_begin(struct interrupts_reader *r, const char *text, size_t length,
		     struct complaints *c)
{
	r->text = r->rest = slice_of(text, length);
	r->line = 0;
	r->longest = 0;
	r->complaints = c;
	return cpu_columns_read(&r->rest, &r->line, &r->columns, c);
}

/* Cuts the label off LINE; false when its first word is none. */
static bool take_label(struct slice *line, struct slice *ret)
{
	if (!slice_word(line, ret) || slice_length(*ret) < 2 || ret->end[-1] != ':')
		return false;
	ret->end--;
	return true;
}

bool interrupts_next(struct interrupts_reader *r)
{
	struct slice line;

	while (slice_line(&r->rest, &line)) {
		struct slice label;
		uint64_t irq = 0;

		r->line++;
		r->row_line = line;
		if (line.at == line.end)
			continue;
		if (cpu_columns_line(line)) {
			complain(r->complaints, NULL, r->line,
				 "a second table begins here: only the first is read");
			r->rest.at = r->rest.end;
			return false;
		}
		if (!take_label(&line, &label)) {
			complain(
				r->complaints, NULL, r->line,
				"line refused: it begins with no interrupt and colon (the rest of a "
				"broken line?)");
			continue;
		}
		r->row.line = r->line;
		r->row.label = label;
		r->row.numbered = slice_decimal(label, UINT32_MAX, &irq) >= 0;
		r->row.irq = (unsigned)irq;
		r->row_text = line;
		return true;
	}
	return false;
}

/*
 * Reads decimal words off TEXT into COUNTS, at most MAX. Returns how many, or -ERANGE. This loop
 * sees most of the file's bytes, hence no slice per word.
 */
static int read_counts(struct slice *text, uint32_t *counts, unsigned max, uint64_t *ret_total)
{
	static const char eight_blanks[] = "        ";
	const char *at = text->at, *end = text->end;
	uint64_t total = 0;
	unsigned n;

	for (n = 0; n < max; n++) {
		const char *word;
		uint64_t v = 0;

		/* A column is eleven wide, and most are 0. */
		if (end - at >= 8 && memcmp(at, eight_blanks, 8) == 0)
			at += 8;
		while (at < end && is_blank(*at))
			at++;
		for (word = at; word < end && is_digit(*word); word++) {
			v = v * 10 + (uint64_t)(*word - '0');
			if (v > UINT32_MAX)
				return -ERANGE;
		}
		if (word == at || (word < end && !is_blank(*word)))
			break; /* no number: where the text begins */
		counts[n] = (uint32_t)v;
		total += v;
		at = word;
	}
	text->at = at;
	*ret_total = total;
	return (int)n;
}

static bool is_number(struct slice word)
{
	uint64_t v;

	return slice_decimal(word, UINT64_MAX, &v) != -EINVAL;
}

/* x86: "65536-edge". */
static bool is_hwirq_and_flow(struct slice word)
{
	const char *c = word.at;

	while (c < word.end && is_digit(*c))
		c++;
	return c > word.at && c + 1 < word.end && *c == '-';
}

static bool is_flow(struct slice word)
{
	return slice_length(word) > 1 && word.at[0] == '-';
}

/* Cuts a flow name off the start of REST if one stands there. */
static void skip_flow(struct slice *rest)
{
	struct slice ahead = *rest, word;

	if (slice_word(&ahead, &word) && is_flow(word))
		*rest = ahead;
}

static bool is_trigger(struct slice word)
{
	return slice_is(word, "Level") || slice_is(word, "Edge");
}

/* True when what follows a plain number shows that it is the hwirq: Level or Edge, a flow name, an
 * action behind two blanks, or nothing. Cuts off all but the action. A number followed by one blank
 * and something else belongs to the chip's name. */
static bool skip_hwirq_tail(struct slice *rest)
{
	struct slice ahead = *rest, word;

	if (!slice_word(&ahead, &word))
		return true;
	if (is_trigger(word)) {
		skip_flow(&ahead);
		*rest = ahead;
		return true;
	}
	if (is_flow(word)) {
		*rest = ahead;
		return true;
	}
	return word.at - rest->at >= 2;
}

/* Parts what follows the counts of a numbered row into chip and actions; see the header. */
static void split_text(struct slice text, struct slice *chip, struct slice *name)
{
	struct slice rest = slice_strip(text), word;
	const char *start = rest.at, *chip_end;

	*chip = *name = (struct slice){rest.end, rest.end};
	if (!slice_word(&rest, &word))
		return;
	for (;;) {
		chip_end = rest.at;
		if (!slice_word(&rest, &word))
			break;
		if (is_trigger(word)) {
			skip_flow(&rest);
			break;
		}
		if (is_hwirq_and_flow(word) || is_flow(word))
			break;
		if (is_number(word) && skip_hwirq_tail(&rest))
			break;
		if (word.at - chip_end >= 2) {
			rest.at = word.at; /* an action, no structure in front of it */
			break;
		}
	}
	*chip = (struct slice){start, chip_end};
	*name = slice_strip(rest);
}

static size_t longest_line(struct slice text)
{
	size_t longest = 0;
	const char *start = text.at;

	while (start < text.end) {
		const char *newline = memchr(start, '\n', (size_t)(text.end - start));
		const char *end = newline ? newline : text.end;

		longest = MAX(longest, (size_t)(end - start));
		start = end + 1;
	}
	return longest;
}

/* Was the row at hand broken, and is the next line its rest? */
static bool goes_on(struct interrupts_reader *r)
{
	struct slice ahead = r->rest, next, words, word;
	size_t length;

	if (!slice_line(&ahead, &next))
		return false;
	words = next;
	if (take_label(&words, &word) || cpu_columns_line(next))
		return false;
	if (!slice_word(&next, &word))
		return false;
	if (r->row.name.at == r->row.name.end)
		return true;
	if (r->longest == 0)
		r->longest = longest_line(r->text);
	/* Blanks at the end of the row count: a mail program breaks behind them. */
	length = (size_t)(r->rest.at - 1 - r->row_line.at);
	return length + 1 + slice_length(word) > r->longest;
}

/* Counted once for the machine: x86's ERR and MIS up to 7.2, ARM's Err, PowerPC's BAD. */
static bool counts_the_machine(struct slice label)
{
	static const char *const labels[] = {"ERR", "MIS", "Err", "BAD"};

	for (size_t i = 0; i < ELEMENTSOF(labels); i++)
		if (slice_is(label, labels[i]))
			return true;
	return false;
}

bool interrupts_counts(struct interrupts_reader *r)
{
	struct interrupts_row *row = &r->row;
	struct slice text = r->row_text, word, ahead;
	unsigned n_cpus = r->columns.n;
	char label[24];
	int n;

	slice_show(row->label, label, sizeof(label));
	n = read_counts(&text, row->counts, n_cpus, &row->total);
	if (n < 0) {
		complain(r->complaints, NULL, row->line, "row %s refused: a count beyond 32 bits",
			 label);
		return false;
	}
	ahead = text;
	if (!slice_word(&ahead, &word))
		word = (struct slice){text.end, text.end};
	row->total_only = n == 1 && n_cpus > 1 && counts_the_machine(row->label);
	if (!row->total_only && ((unsigned)n < n_cpus || is_number(word))) {
		complain(
			r->complaints, NULL, row->line,
			"row %s refused: %s counts than the header's %u CPUs (broken over lines, or "
			"cut off?)",
			label, (unsigned)n < n_cpus ? "fewer" : "more", n_cpus);
		return false;
	}
	if (row->numbered) {
		split_text(text, &row->chip, &row->name);
	} else {
		row->chip = (struct slice){text.end, text.end};
		row->name = slice_strip(text);
	}
	if (goes_on(r)) {
		complain(r->complaints, NULL, row->line,
			 "row %s refused: it seems to go on in line %u, its name would be cut",
			 label, row->line + 1);
		return false;
	}
	return true;
}

bool interrupts_action(struct slice *name, struct slice *ret)
{
	const char *comma;

	*name = slice_strip(*name);
	if (name->at == name->end)
		return false;
	comma = memmem(name->at, slice_length(*name), ", ", 2);
	*ret = (struct slice){name->at, comma ? comma : name->end};
	name->at = comma ? comma + 2 : name->end;
	*ret = slice_strip(*ret);
	return true;
}

/* Is the row's first action still what the topology calls this interrupt? Its name may be cut, and
 * lists shared actions without blanks when it comes from sysfs. */
static bool same_action(const struct irq *irq, struct slice name)
{
	size_t length = strnlen(irq->name, sizeof(irq->name));
	struct slice first;

	if (!interrupts_action(&name, &first))
		return length == 0;
	if (slice_length(first) >= sizeof(irq->name) - 1)
		return memcmp(first.at, irq->name, length) == 0;
	return length >= slice_length(first) &&
	       memcmp(first.at, irq->name, slice_length(first)) == 0 &&
	       (irq->name[slice_length(first)] == '\0' || irq->name[slice_length(first)] == ',');
}

static void fill_irq(const struct interrupts_reader *r, struct irq_sample *sample, unsigned n_cpus)
{
	for (unsigned i = 0; i < r->columns.n; i++)
		if (r->columns.cpu[i] < n_cpus)
			sample->counts[r->columns.cpu[i]] = r->row.counts[i];
	sample->have = true;
}

void interrupts_into_snapshot(const char *text, size_t length, struct interrupts_reader *r,
			      const struct topology *t, struct snapshot *s, unsigned *ret_changed)
{
	_cleanup_(complaints_done) struct complaints c = {};
	unsigned n = MIN(t->n_irqs, s->n_irqs), next = 0, found = 0;

	if (interrupts_begin(r, text, length, &c) >= 0) {
		while (interrupts_next(r)) {
			if (!r->row.numbered)
				continue;
			/* Both are ordered by number, so this walks each once. */
			while (next < n && t->irq[next].number < r->row.irq)
				next++;
			if (next == n)
				break;
			if (t->irq[next].number != r->row.irq || !interrupts_counts(r))
				continue;
			if (!same_action(&t->irq[next], r->row.name))
				continue;
			memset(s->irq[next].counts, 0, s->n_cpus * sizeof(*s->irq[next].counts));
			fill_irq(r, &s->irq[next], s->n_cpus);
			next++;
			found++;
		}
	}
	*ret_changed = t->n_irqs - found;
	source_judged(s, SOURCE_IRQ_COUNTS, &c);
}
