/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace-read-internal.h"

#include <inttypes.h>

void trace_reader_free(struct trace_reader *r)
{
	if (!r)
		return;
	profile_free(r->profile);
	topology_free(r->tick.topology);
	snapshot_free(r->snapshot);
	trace_lines_done(&r->lines);
	free(r);
}

const struct trace_about *trace_about(const struct trace_reader *r)
{
	return &r->about;
}

struct trace_tick *trace_tick(struct trace_reader *r)
{
	return &r->tick;
}

bool trace_torn(const struct trace_reader *r)
{
	return r->torn;
}

/* ---- lines ---- */

/* The next line: 1, 0 at the end, or an error with a complaint. */
static int next_line(struct trace_reader *r, struct complaints *c, struct trace_line *ret)
{
	int k;

	k = trace_lines_peek(&r->lines, 0, ret);
	if (k < 0)
		complain(c, NULL, r->line + 1, "cannot be read: %s", strerror(-k));
	if (k <= 0)
		return k;
	r->line++;
	if (ret->length > TRACE_LINE_MAX) {
		complain(c, NULL, r->line, "longer than %u bytes", TRACE_LINE_MAX);
		return -EBADMSG;
	}
	return 1;
}

/* ---- the first line ---- */

static int read_limits(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	json_t *changes = json_object_get(d, "changes_per_hour");
	json_t *moves = json_object_get(d, "moves_per_round");
	int64_t v;
	int k;

	if (json_object_size(d) != 2)
		return trace_fault(fault, "limits: wants changes_per_hour and moves_per_round");
	k = trace_number(changes, "limits.changes_per_hour", 0, INT32_MAX, &v, fault);
	if (k < 0)
		return k;
	r->about.changes_per_hour = (unsigned)v;
	k = trace_number(moves, "limits.moves_per_round", 0, INT32_MAX, &v, fault);
	if (k < 0)
		return k;
	r->about.moves_per_round = (unsigned)v;
	return 0;
}

static int read_head(struct trace_reader *r, json_t *d, struct trace_fault *fault)
{
	json_t *hz, *user_hz, *profile, *limits, *topology, *settings, *sources;
	const char *writer, *kernel, *mode;
	int64_t hz_number, user_hz_number;
	struct topology *t;
	json_error_t error;
	json_int_t version;
	char text[64];
	int k;

	if (json_unpack_ex(d, &error, JSON_STRICT, "{s:I,s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o}",
			   "softnetd-trace", &version, "softnetd", &writer, "kernel", &kernel, "hz",
			   &hz, "user_hz", &user_hz, "mode", &mode, "profile", &profile, "limits",
			   &limits, "topology", &topology, "settings", &settings, "sources",
			   &sources) < 0)
		return trace_fault(fault, "%s", error.text);
	k = trace_copy(writer, "softnetd", text, sizeof(text), fault);
	if (k >= 0)
		k = trace_number(hz, "hz", 0, 100000, &hz_number, fault);
	if (k >= 0)
		k = trace_number(user_hz, "user_hz", 0, 100000, &user_hz_number, fault);
	if (k >= 0 && mode_from_string(mode, &r->about.mode) < 0)
		k = trace_fault(fault, "mode: \"%s\"", mode);
	if (k >= 0)
		k = read_limits(r, limits, fault);
	if (k >= 0 && !json_is_null(profile))
		k = trace_profile_read(profile, r->line, &r->profile, fault);
	r->about.profile = r->profile;
	if (k >= 0)
		k = trace_topology_read(topology, &t, fault);
	if (k >= 0)
		k = trace_take_topology(r, t);
	if (k < 0)
		return k;
	t->hz = (unsigned)hz_number;
	t->user_hz = (unsigned)user_hz_number;
	k = trace_copy(kernel, "kernel", t->kernel, sizeof(t->kernel), fault);
	if (k >= 0)
		k = trace_take_settings(r, settings, fault);
	return k < 0 ? k : trace_take_sources(r, sources, fault);
}

/* Tells a recording of another version from what is none at all. */
static int check_version(json_t *d, struct complaints *c)
{
	json_t *version = json_object_get(d, "softnetd-trace");

	if (!json_is_integer(version)) {
		complain(c, NULL, 1, "not a recording of softnetctl record");
		return -EBADMSG;
	}
	if (json_integer_value(version) == TRACE_VERSION)
		return 0;
	complain(c, NULL, 1,
		 "a recording of version %" JSON_INTEGER_FORMAT "; this program reads version %d",
		 json_integer_value(version), TRACE_VERSION);
	return -EPROTO;
}

static int read_first_line(struct trace_reader *r, struct complaints *c)
{
	struct trace_fault fault;
	struct trace_line line;
	json_error_t error;
	json_t *d;
	int k;

	k = next_line(r, c, &line);
	if (k == 0) {
		complain(c, NULL, 0, "is empty");
		return -ENODATA;
	}
	if (k < 0)
		return k;
	d = json_loadb(line.at, line.length, JSON_REJECT_DUPLICATES, &error);
	if (!d && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!d) {
		complain(c, NULL, r->line, "no JSON: %.120s", error.text);
		return -EBADMSG;
	}
	trace_lines_take(&r->lines, &line);
	k = check_version(d, c);
	if (k >= 0) {
		k = read_head(r, d, &fault);
		if (k == -EBADMSG)
			complain(c, NULL, r->line, "%s", fault.text);
	}
	json_decref(d);
	return k;
}

int trace_reader_new(FILE *in, struct complaints *c, struct trace_reader **ret)
{
	_cleanup_(trace_reader_freep) struct trace_reader *r = calloc(1, sizeof(*r));
	int k;

	if (!r)
		return -ENOMEM;
	r->lines.in = in;
	r->tick.values = &r->values;
	k = read_first_line(r, c);
	if (k < 0)
		return k;
	*ret = TAKE_PTR(r);
	return 0;
}

/* ---- ticks ---- */

int trace_read(struct trace_reader *r, struct complaints *c)
{
	struct trace_fault fault;
	struct trace_line line;
	int k;

	k = next_line(r, c, &line);
	if (k <= 0)
		return k;
	r->tick.line = r->line;
	k = trace_take_line(r, slice_of(line.at, line.length), &fault);
	trace_lines_take(&r->lines, &line);
	if (k >= 0)
		return 1;
	if (k == -EILSEQ && !line.whole) {
		r->torn = true;
		return 0;
	}
	if (k == -EILSEQ) {
		complain(c, NULL, r->line, "no JSON object");
		return -EBADMSG;
	}
	if (k == -EBADMSG)
		complain(c, NULL, r->line, "%s", fault.text);
	return k;
}

/* ---- looking ahead ---- */

static bool shows(json_t *d, enum tunable_id id, unsigned irq, const char *value)
{
	const struct tunable *t = &tunables[id];
	char text[32];
	json_t *group;
	size_t i;

	if (t->scope == SCOPE_HOST) {
		json_t *v = json_object_get(json_object_get(d, "settings"), t->id);

		snprintf(text, sizeof(text), "%" PRId64, (int64_t)json_integer_value(v));
		return json_is_integer(v) && tunable_equal(t, text, value);
	}
	json_array_foreach (json_object_get(d, "affinity"), i, group) {
		const char *list = json_string_value(json_array_get(group, 1));

		if (json_integer_value(json_array_get(group, 0)) == irq && list &&
		    tunable_equal(t, list, value))
			return true;
	}
	return false;
}

bool trace_shows(struct trace_reader *r, enum tunable_id id, unsigned irq, const char *value,
		 unsigned ticks)
{
	const char *key = tunables[id].scope == SCOPE_HOST ? tunables[id].id : "\"affinity\"";
	struct trace_line line = {};
	bool found = false;

	if (tunables[id].scope != SCOPE_HOST && tunables[id].scope != SCOPE_IRQ)
		return false;
	while (!found && ticks-- > 0 && trace_lines_peek(&r->lines, line.next, &line) > 0 &&
	       line.whole) {
		/* Most lines need not be parsed twice. A topology made anew ends the view: its
		 * interrupts are others. */
		if (memmem(line.at, line.length, "\"topology\"", strlen("\"topology\"")))
			break;
		if (memmem(line.at, line.length, key, strlen(key))) {
			json_t *d = json_loadb(line.at, line.length, 0, NULL);

			found = shows(d, id, irq, value);
			json_decref(d);
		}
	}
	return found;
}
