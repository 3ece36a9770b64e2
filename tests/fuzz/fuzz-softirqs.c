/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/softirqs: no input crashes it, and every vector has one count per CPU. */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "observe/softirqs.h"
#include "serve/decode-json.h"
#include "serve/show-decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct softirqs_reader r;
	const char *text = (const char *)data, *name;
	json_t *doc, *counts;
	struct snapshot *s;
	FILE *null;

	must(snapshot_new(64, 0, 0, &s) == 0);
	softirqs_into_snapshot(text, size, &r, s);
	for (unsigned i = 0; i < s->n_cpus; i++)
		must(s->cpu[i].have == 0 || s->cpu[i].have == HAVE_SOFTIRQS);
	must(s->source[SOURCE_SOFTIRQS].state == SOURCE_OK || s->source[SOURCE_SOFTIRQS].text[0]);
	snapshot_free(s);
	doc = decode_json(DECODE_SOFTIRQS, text, size);
	must(doc != NULL);
	json_object_foreach (json_object_get(doc, "vectors"), name, counts)
		must(json_array_size(counts) == json_array_size(json_object_get(doc, "cpus")));
	null = fopen("/dev/null", "w");
	must(null != NULL);
	show_decode(null, size % 120, doc);
	fclose(null);
	json_decref(doc);
	return 0;
}
