/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/sheet.h"

#include <libsmartcols.h>
#include <time.h>

struct sheet {
	struct libscols_table *table;
	size_t columns;
};

static void sheet_free(struct sheet *s)
{
	scols_unref_table(s->table);
	free(s);
}
DEFINE_CLEANUP(struct sheet *, sheet_free);

struct sheet *sheet_new(unsigned width, const char *const *heads)
{
	_cleanup_(sheet_freep) struct sheet *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->table = scols_new_table();
	if (!s->table)
		return NULL;
	scols_table_enable_nolinesep(s->table, 0);
	scols_table_set_termforce(s->table, width ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
	if (width)
		scols_table_set_termwidth(s->table, width);
	for (; heads[s->columns]; s->columns++) {
		const char *head = heads[s->columns];
		int flags = 0;

		if (*head == '>')
			flags = SCOLS_FL_RIGHT;
		else if (*head == '~')
			flags = SCOLS_FL_WRAP;
		if (!scols_table_new_column(s->table, flags ? head + 1 : head, 0, flags))
			return NULL;
	}
	return TAKE_PTR(s);
}

void sheet_row(struct sheet *s, const char *const *cells)
{
	struct libscols_line *line;

	if (!s)
		return;
	line = scols_table_new_line(s->table, NULL);
	for (size_t i = 0; line && i < s->columns; i++)
		scols_line_set_data(line, i, cells[i] ?: "-");
}

void sheet_end(struct sheet *s, FILE *out)
{
	_cleanup_free_ char *text = NULL;

	if (!s)
		return;
	/* The string comes without its last newline. */
	if (!scols_table_is_empty(s->table) && scols_print_table_to_string(s->table, &text) == 0)
		fprintf(out, "%s\n", text);
	sheet_free(s);
}

const char *cell_number(char buf[CELL_MAX], const json_t *v)
{
	double value = json_number_value(v);

	if (!json_is_number(v))
		return NULL;
	/* One digit where it says something: 0.4 drops a second are not none. */
	if (json_is_integer(v) || value == 0 || value >= 10 || value <= -10)
		snprintf(buf, CELL_MAX, "%.0f", value);
	else if (value < 0.05 && value > 0)
		snprintf(buf, CELL_MAX, "<0.1");
	else
		snprintf(buf, CELL_MAX, "%.1f", value);
	return buf;
}

const char *cell_time(char buf[CELL_MAX], const json_t *v)
{
	time_t then = (time_t)(json_integer_value(v) / (json_int_t)USEC_PER_SEC), now = time(NULL);
	struct tm a, b;
	bool today;

	if (!json_is_integer(v) || !localtime_r(&then, &a) || !localtime_r(&now, &b))
		return NULL;
	today = a.tm_year == b.tm_year && a.tm_yday == b.tm_yday;
	if (strftime(buf, CELL_MAX, today ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &a) == 0)
		return NULL;
	return buf;
}

const char *cell_duration(char buf[CELL_MAX], double seconds)
{
	unsigned long long s = seconds > 0 ? (unsigned long long)seconds : 0;

	if (s >= 86400)
		snprintf(buf, CELL_MAX, "%llu d %llu h", s / 86400, s % 86400 / 3600);
	else if (s >= 3600)
		snprintf(buf, CELL_MAX, "%llu h %llu min", s / 3600, s % 3600 / 60);
	else if (s >= 60)
		snprintf(buf, CELL_MAX, "%llu min %llu s", s / 60, s % 60);
	else
		snprintf(buf, CELL_MAX, "%llu s", s);
	return buf;
}
