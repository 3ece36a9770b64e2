/* SPDX-License-Identifier: GPL-2.0-or-later */
/* softnet_stat: no input crashes it, and no row is invented: what a row says stands on its line. */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "base/scan.h"
#include "observe/softnet.h"
#include "serve/decode-json.h"
#include "serve/show-decode.h"

/* Looks the row up in the text, by another road than the parser's. */
static void check_row(const char *text, size_t size, const struct softnet_row *r)
{
	struct slice rest = slice_of(text, size), line = {}, word;
	unsigned columns = 0;

	for (unsigned n = 0; n < r->line; n++)
		must(slice_line(&rest, &line));
	for (; slice_word(&line, &word); columns++) {
		char copy[9] = "", *end;
		unsigned long v;

		must(slice_length(word) <= 8);
		memcpy(copy, word.at, slice_length(word));
		v = strtoul(copy, &end, 16);
		must(*end == '\0');
		must(columns != 0 || v == r->processed);
		must(columns != 1 || v == r->dropped);
		must(columns != 2 || v == r->squeezed);
		must(columns != 12 || v == r->cpu);
	}
	must(columns == r->columns && columns >= 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct softnet_table t;
	const char *text = (const char *)data;
	struct cpuset online = {}, seen = {};
	struct snapshot *s;
	json_t *doc;
	FILE *null;

	must(softnet_parse(text, size, &t, NULL) == 0);
	for (unsigned i = 0; i < t.n && i < 16; i++)
		check_row(text, size, &t.rows[i]);
	for (unsigned i = 0; i < t.n; i++) {
		must(i == 0 ||
		     (t.rows[i].line > t.rows[i - 1].line && t.rows[i].row > t.rows[i - 1].row));
		must(t.rows[i].row < t.n_rows);
		if (!softnet_row_has_cpu(&t.rows[i]))
			continue;
		must(t.rows[i].cpu < CPU_ID_MAX && !cpuset_has(&seen, t.rows[i].cpu));
		cpuset_add(&seen, t.rows[i].cpu);
	}
	for (unsigned i = 0; i < t.n_rows; i++)
		cpuset_add(&online, 2 * i);
	must(snapshot_new(64, 0, 0, &s) == 0);
	must(softnet_into_snapshot(text, size, &online, &t, s) == 0);
	must(s->source[SOURCE_SOFTNET].state == SOURCE_OK || s->source[SOURCE_SOFTNET].text[0]);
	snapshot_free(s);
	doc = decode_json(DECODE_SOFTNET_STAT, text, size);
	must(doc != NULL);
	null = fopen("/dev/null", "w");
	must(null != NULL);
	show_decode(null, size % 120, doc);
	fclose(null);
	json_decref(doc);
	return 0;
}
