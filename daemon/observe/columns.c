/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/columns.h"

/* The number in "CPU12". -EINVAL when WORD is no such thing, -ERANGE for CPU_ID_MAX and above. */
static int cpu_word(struct slice word, unsigned *ret)
{
	uint64_t id;
	int r;

	if (!slice_starts(word, "CPU"))
		return -EINVAL;
	word.at += 3;
	r = slice_decimal(word, CPU_ID_MAX - 1, &id);
	if (r >= 0)
		*ret = (unsigned)id;
	return r;
}

bool cpu_columns_line(struct slice line)
{
	struct slice word;
	unsigned n, id;

	for (n = 0; slice_word(&line, &word); n++)
		if (cpu_word(word, &id) == -EINVAL)
			return false;
	return n > 0;
}

/* The words of the header LINE. */
static int read_words(struct slice line, unsigned number, struct cpu_columns *ret,
		      struct complaints *c)
{
	struct cpuset seen = {};
	struct slice word;

	ret->n = 0;
	while (slice_word(&line, &word)) {
		unsigned id;

		if (cpu_word(word, &id) < 0) {
			complain(c, NULL, number, "header refused: a CPU id of %u or more",
				 CPU_ID_MAX);
			return -EINVAL;
		}
		if (cpuset_has(&seen, id)) {
			complain(c, NULL, number, "header refused: CPU%u stands there twice", id);
			return -EINVAL;
		}
		cpuset_add(&seen, id);
		ret->cpu[ret->n++] = (uint16_t)id;
	}
	return 0;
}

int cpu_columns_read(struct slice *rest, unsigned *line, struct cpu_columns *ret,
		     struct complaints *c)
{
	struct slice header, next, ahead;
	unsigned strange = 0; /* first line that is neither blank nor the header */

	for (;;) {
		if (!slice_line(rest, &header)) {
			complain(
				c, NULL, strange, "%s",
				strange ? "no header: a table begins with a line that names the CPUs"
					: "the file is empty");
			return -EINVAL;
		}
		++*line;
		if (cpu_columns_line(header))
			break;
		if (!strange && header.at < header.end)
			strange = *line;
	}
	if (strange)
		complain(c, NULL, strange, "not part of the table: skipped up to its header");
	ahead = *rest;
	if (slice_line(&ahead, &next) && cpu_columns_line(next)) {
		complain(
			c, NULL, *line + 1,
			"the header goes on here: a terminal or mail broke the lines of this table, "
			"it cannot be read");
		return -EINVAL;
	}
	return read_words(header, *line, ret, c);
}
