/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/interrupts: no input crashes it, a row's slices lie on its line, its total is its counts'.
 */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "observe/interrupts.h"
#include "serve/decode-json.h"
#include "serve/show-decode.h"

static void check_row(const struct interrupts_reader *r)
{
	const struct interrupts_row *row = &r->row;
	struct slice rest = row->name, action;
	uint64_t total = 0;

	for (unsigned i = 0; i < (row->total_only ? 1 : r->columns.n); i++)
		total += row->counts[i];
	must(total == row->total);
	must(row->name.at >= r->row_text.at && row->name.end <= r->row_text.end &&
	     row->name.at <= row->name.end);
	must(row->chip.at >= r->row_text.at && row->chip.end <= r->row_text.end &&
	     row->chip.at <= row->chip.end);
	must(!memchr(row->name.at, '\n', slice_length(row->name)));
	while (interrupts_action(&rest, &action))
		must(action.at >= row->name.at && action.end <= row->name.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct interrupts_reader r;
	static struct irq irqs[32];
	const struct topology t = {.n_irqs = ELEMENTSOF(irqs), .irq = irqs};
	const char *text = (const char *)data;
	unsigned changed, last = 0;
	struct snapshot *s;
	json_t *doc;
	FILE *null;

	for (unsigned i = 0; i < ELEMENTSOF(irqs); i++)
		irqs[i].number = i;
	if (interrupts_begin(&r, text, size, NULL) >= 0) {
		must(r.columns.n > 0);
		while (interrupts_next(&r)) {
			must(r.row.line > last);
			last = r.row.line;
			if (interrupts_counts(&r))
				check_row(&r);
		}
	}
	must(snapshot_new(64, ELEMENTSOF(irqs), 0, &s) == 0);
	interrupts_into_snapshot(text, size, &r, &t, s, &changed);
	must(changed <= ELEMENTSOF(irqs));
	snapshot_free(s);
	doc = decode_json(DECODE_INTERRUPTS, text, size);
	must(doc != NULL);
	null = fopen("/dev/null", "w");
	must(null != NULL);
	show_decode(null, size % 120, doc);
	fclose(null);
	json_decref(doc);
	return 0;
}
