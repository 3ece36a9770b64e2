/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/decode-json.h"

#include "base/complaint.h"
#include "base/scan.h"
#include "observe/interrupts.h"
#include "observe/kmsg.h"
#include "observe/softirqs.h"
#include "observe/softnet.h"

/* Names and texts of a dump longer than this are cut. */
#define TEXT_MAX 1024

const char *const decode_kind_names[_DECODE_KIND_MAX + 1] = {
	[DECODE_SOFTNET_STAT] = "softnet-stat",
	[DECODE_SOFTIRQS] = "softirqs",
	[DECODE_INTERRUPTS] = "interrupts",
	[DECODE_KMSG] = "kmsg",
};

/* JSON holds UTF-8 only, a dump may hold anything. */
static json_t *text_json(struct slice s)
{
	char buf[TEXT_MAX];

	slice_show(s, buf, sizeof(buf));
	return json_string(buf);
}

static json_t *u64_json(uint64_t v)
{
	return json_integer((json_int_t)MIN(v, (uint64_t)INT64_MAX));
}

static json_t *u64_or_null(bool have, uint64_t v)
{
	return have ? u64_json(v) : json_null();
}

static int add_warning(json_t *warnings, unsigned line, const char *text)
{
	return json_array_append_new(warnings,
				     json_pack("{s:o, s:o}", "line", u64_or_null(line > 0, line),
					       "text", text_json(slice_of(text, strlen(text)))));
}

/* NULL when there is no memory. */
static json_t *warnings_json(const struct complaints *c)
{
	_cleanup_(json_decrefp) json_t *warnings = json_array();
	char more[64];

	for (unsigned i = 0; i < c->n; i++)
		if (add_warning(warnings, c->item[i].line, c->item[i].text ? c->item[i].text : "") <
		    0)
			return NULL;
	if (c->more > 0) {
		format_into(more, sizeof(more), "%u more lines are wrong", c->more);
		if (add_warning(warnings, 0, more) < 0)
			return NULL;
	}
	return TAKE_PTR(warnings);
}

/* The document of KIND: HEAD and ITEMS, both taken, under their keys, and the warnings. */
static json_t *document(enum decode_kind kind, const char *head_key, json_t *head, const char *key,
			json_t *items, const struct complaints *c)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "kind", decode_kind_names[kind], head_key, head,
			 key, items, "warnings", warnings_json(c));
}

static json_t *cpus_json(const struct cpu_columns *columns)
{
	_cleanup_(json_decrefp) json_t *cpus = json_array();

	for (unsigned i = 0; i < columns->n; i++)
		if (json_array_append_new(cpus, u64_json(columns->cpu[i])) < 0)
			return NULL;
	return TAKE_PTR(cpus);
}

static json_t *softnet_row_json(const struct softnet_row *r)
{
	uint32_t have = softnet_row_have(r);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpu",
			 u64_or_null(softnet_row_has_cpu(r), r->cpu), "row", u64_json(r->row),
			 "processed", u64_json(r->processed), "dropped", u64_json(r->dropped),
			 "time_squeeze", u64_json(r->squeezed), "received_rps",
			 u64_or_null(have & HAVE_RPS, r->received_rps), "flow_limit",
			 u64_or_null(have & HAVE_FLOW_LIMIT, r->flow_limit), "backlog",
			 u64_or_null(have & HAVE_BACKLOG, r->backlog));
}

static json_t *decode_softnet(const char *text, size_t size, struct complaints *c)
{
	_cleanup_(softnet_done) struct softnet_table t = {};
	_cleanup_(json_decrefp) json_t *rows = json_array();
	unsigned columns = 0;

	if (softnet_parse(text, size, &t, c) < 0)
		return NULL;
	if (t.n_rows == 0 && c->n == 0)
		complain(c, NULL, 0, "the file is empty");
	for (unsigned i = 0; i < t.n; i++) {
		columns = MAX(columns, t.rows[i].columns);
		if (json_array_append_new(rows, softnet_row_json(&t.rows[i])) < 0)
			return NULL;
	}
	return document(DECODE_SOFTNET_STAT, "columns", u64_or_null(columns > 0, columns), "cpus",
			TAKE_PTR(rows), c);
}

static json_t *counts_json(const uint32_t *counts, unsigned n)
{
	_cleanup_(json_decrefp) json_t *array = json_array();

	for (unsigned i = 0; i < n; i++)
		if (json_array_append_new(array, u64_json(counts[i])) < 0)
			return NULL;
	return TAKE_PTR(array);
}

/* Collects the rows into VECTORS. Returns 0 or -ENOMEM. */
static int collect_vectors(struct softirqs_reader *r, json_t *vectors, struct complaints *c)
{
	while (softirqs_next(r)) {
		char name[64];

		slice_show(r->row.name, name, sizeof(name));
		if (json_object_get(vectors, name)) {
			complain(c, NULL, r->row.line, "row refused: %s has a row already", name);
			continue;
		}
		if (json_object_set_new(vectors, name, counts_json(r->row.counts, r->columns.n)) <
		    0)
			return -ENOMEM;
	}
	return 0;
}

static json_t *decode_softirqs(const char *text, size_t size, struct complaints *c)
{
	_cleanup_free_ struct softirqs_reader *r = calloc(1, sizeof(*r));
	_cleanup_(json_decrefp) json_t *vectors = json_object();

	if (!r || !vectors)
		return NULL;
	if (softirqs_begin(r, text, size, c) < 0)
		r->columns.n = 0;
	else if (collect_vectors(r, vectors, c) < 0)
		return NULL;
	return document(DECODE_SOFTIRQS, "cpus", cpus_json(&r->columns), "vectors",
			TAKE_PTR(vectors), c);
}

static json_t *interrupt_json(const struct interrupts_row *row)
{
	_cleanup_(json_decrefp) json_t *actions = json_array();
	struct slice rest = row->name, action;

	while (row->numbered && interrupts_action(&rest, &action))
		if (json_array_append_new(actions, text_json(action)) < 0)
			return NULL;
	return json_pack("{s:o, s:o, s:o, s:o}", "irq",
			 row->numbered ? u64_json(row->irq) : text_json(row->label), "name",
			 text_json(row->name), "actions", TAKE_PTR(actions), "total",
			 u64_json(row->total));
}

static json_t *decode_interrupts(const char *text, size_t size, struct complaints *c)
{
	_cleanup_free_ struct interrupts_reader *r = calloc(1, sizeof(*r));
	_cleanup_(json_decrefp) json_t *irqs = json_array();

	if (!r)
		return NULL;
	if (interrupts_begin(r, text, size, c) < 0) {
		r->columns.n = 0;
	} else {
		while (interrupts_next(r))
			if (interrupts_counts(r) &&
			    json_array_append_new(irqs, interrupt_json(&r->row)) < 0)
				return NULL;
	}
	return document(DECODE_INTERRUPTS, "cpus", cpus_json(&r->columns), "irqs", TAKE_PTR(irqs),
			c);
}

/* Names of the set bits; a bit that no vector has is "bit 10". */
static json_t *vectors_json(uint32_t mask)
{
	_cleanup_(json_decrefp) json_t *vectors = json_array();

	for (unsigned bit = 0; bit < 32; bit++) {
		char name[16];

		if (!(mask >> bit & 1))
			continue;
		if (bit < _SOFTIRQ_MAX)
			format_into(name, sizeof(name), "%s", softirq_names[bit]);
		else
			format_into(name, sizeof(name), "bit %u", bit);
		if (json_array_append_new(vectors, json_string(name)) < 0)
			return NULL;
	}
	return TAKE_PTR(vectors);
}

struct kmsg_decoding {
	json_t *events;
	struct complaints *complaints;
	unsigned nohz_lines;
	bool no_memory;
};

static void add_event(unsigned line, const struct kmsg_event *e, void *userdata)
{
	struct kmsg_decoding *d = userdata;
	bool nohz = e->kind == KMSG_NOHZ_PENDING;
	bool network = nohz ? e->mask & SOFTIRQ_MASK_NET : e->kind == KMSG_NETDEV_WATCHDOG;
	json_t *event;

	event = json_pack("{s:o, s:s, s:o, s:o, s:b, s:o}", "line", u64_json(line), "kind",
			  kmsg_kind_to_string(e->kind), "mask", u64_or_null(nohz, e->mask),
			  "vectors", vectors_json(e->mask), "network", (int)network, "text",
			  text_json(slice_of(e->text, strlen(e->text))));
	if (json_array_append_new(d->events, event) < 0)
		d->no_memory = true;
	if (nohz && ++d->nohz_lines == NOHZ_LINES_PER_BOOT)
		complain(
			d->complaints, NULL, line,
			"the tenth NOHZ line: the kernel prints ten per boot, no more will come until "
			"reboot, and silence after it does not mean that the trouble is over");
}

static json_t *decode_kmsg(const char *text, size_t size, struct complaints *c)
{
	_cleanup_(json_decrefp) json_t *events = json_array();
	struct kmsg_decoding d = {.events = events, .complaints = c};

	kmsg_parse_log(text, size, add_event, &d, c);
	if (d.no_memory)
		return NULL;
	return json_pack("{s:s, s:o, s:o}", "kind", decode_kind_names[DECODE_KMSG], "events",
			 TAKE_PTR(events), "warnings", warnings_json(c));
}

json_t *decode_json(enum decode_kind kind, const char *text, size_t size)
{
	_cleanup_(complaints_done) struct complaints c = {};

	switch (kind) {
	case DECODE_SOFTNET_STAT:
		return decode_softnet(text, size, &c);
	case DECODE_SOFTIRQS:
		return decode_softirqs(text, size, &c);
	case DECODE_INTERRUPTS:
		return decode_interrupts(text, size, &c);
	case DECODE_KMSG:
		return decode_kmsg(text, size, &c);
	case _DECODE_KIND_MAX:
		break;
	}
	return NULL;
}
