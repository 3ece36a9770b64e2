/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What softnetd would have seen and done on a recorded host. */
#include "serve/replay.h"

#include <math.h>

#include "ctl/ctl.h"
#include "engine/describe-parts.h"
#include "profile/profile-file.h"

#define EVENTS_MAX 100000 /* of one answer: a recording of days, or a hostile one */

struct events {
	json_t *array;
	unsigned left_out;
};

static json_t *evidence(const struct symptom_report *r)
{
	json_t *d = json_object();

	for (unsigned i = 0; i < r->n_evidence; i++)
		put(d, r->evidence[i].name, json_real(r->evidence[i].value));
	return d;
}

static void put_report(json_t *d, const struct topology *t, const struct symptom_report *r)
{
	put(d, "symptom", json_string(symptom_to_string(r->symptom)));
	if (r->symptom == SYMPTOM_SQUEEZED)
		put(d, "cause", json_string(squeeze_cause_to_string(r->cause)));
	put(d, "cpus", cpus_or_null(&r->cpus));
	put(d, "nic", r->nic >= 0 ? text_or_null(t->nic[r->nic].name) : json_null());
	put(d, "irq", r->irq >= 0 ? json_integer(t->irq[r->irq].number) : json_null());
	put(d, "text", text_or_null(r->text));
	put(d, "evidence", evidence(r));
}

static void put_change(json_t *d, const struct replay_event *ev)
{
	char command[VALUE_MAX + 128];

	put(d, "outcome", json_string(outcome_to_string(ev->outcome)));
	put(d, "planned", json_boolean(ev->change->planned));
	put(d, "allowed", json_boolean(!ev->change->advice_only));
	put(d, "change", change_document(ev->topology, ev->change));
	put(d, "command",
	    change_command(ev->change, command, sizeof(command)) >= 0 ? text_or_null(command)
								      : json_null());
}

static void put_verdict(json_t *d, const struct replay_event *ev)
{
	const struct trial_verdict *v = ev->verdict;

	put(d, "verdict", json_string(v->verdict));
	put(d, "before", isnan(v->before) ? json_null() : json_real(v->before));
	put(d, "after", isnan(v->after) ? json_null() : json_real(v->after));
	put(d, "judged", judged_document(&v->judged));
	put(d, "text", text_or_null(v->text));
	put(d, "change", change_document(ev->topology, &v->change));
}

static void note_event(void *userdata, const struct replay_event *ev)
{
	struct events *events = userdata;
	json_t *d;

	if (json_array_size(events->array) >= EVENTS_MAX) {
		events->left_out++;
		return;
	}
	d = json_object();
	put(d, "seconds", json_real((double)ev->usec / (double)USEC_PER_SEC));
	put(d, "event", json_string(replay_kind_to_string(ev->kind)));
	if (ev->report)
		put_report(d, ev->topology, ev->report);
	if (ev->change)
		put_change(d, ev);
	if (ev->verdict)
		put_verdict(d, ev);
	append(events->array, d);
}

/* ---- as text ---- */

static const char *text_of(const json_t *d, const char *key)
{
	return json_string_value(json_object_get(d, key));
}

static void show_change(FILE *out, const json_t *d, const char **why)
{
	const json_t *c = json_object_get(d, "change");
	const char *target = text_of(c, "target"), *name = text_of(c, "name");
	const char *reason = text_of(c, "why");
	const char *what =
		json_is_true(json_object_get(d, "planned")) ? "planned" : text_of(d, "outcome");

	fprintf(out, "%-8s %s", what ?: "-", text_of(c, "setting") ?: "-");
	if (target)
		fprintf(out, " of %s%s%s%s", target, name ? " (" : "", name ?: "", name ? ")" : "");
	if (text_of(c, "from"))
		fprintf(out, ", %s", text_of(c, "from"));
	fprintf(out, " → %s\n", text_of(c, "to") ?: "-");
	/* Several moves have one reason. */
	if (reason && (!*why || !streq(*why, reason)))
		fprintf(out, "%21s%s\n", "", reason);
	*why = reason;
}

static void show_event(FILE *out, const json_t *d, const char **why)
{
	const char *event = text_of(d, "event") ?: "-";

	fprintf(out, "%9.1f s  ", json_number_value(json_object_get(d, "seconds")));
	if (streq(event, "change"))
		return show_change(out, d, why);
	*why = NULL;
	if (streq(event, "enter"))
		fprintf(out, "enter    %s: %s\n", text_of(d, "symptom") ?: "-",
			text_of(d, "text") ?: "-");
	else if (streq(event, "leave"))
		fprintf(out, "leave    %s\n", text_of(d, "symptom") ?: "-");
	else if (streq(event, "verdict"))
		fprintf(out, "verdict  %s\n", text_of(d, "text") ?: "-");
	else if (streq(event, "originals"))
		fputs("stalled  everything back to its original, and hands off\n", out);
	else if (streq(event, "gap"))
		fputs("gap      suspended, or nothing was recorded: differences begin anew\n", out);
	else
		fputs("host     CPUs, NICs or interrupts are others now\n", out);
}

static void show_replay(FILE *out, unsigned width _unused_, json_t *doc)
{
	const json_t *r = json_object_get(doc, "recording");
	json_int_t more = json_integer_value(json_object_get(doc, "left_out"));
	const char *why = NULL;
	json_t *event;
	size_t i;

	fprintf(out,
		"kernel %s, HZ %lld, %lld CPUs, %lld NICs with %lld interrupts\n"
		"profile %s; changes that the recording does not show as made count as advice\n",
		text_of(r, "kernel") ?: "-", json_integer_value(json_object_get(r, "hz")),
		json_integer_value(json_object_get(r, "cpus")),
		json_integer_value(json_object_get(r, "nics")),
		json_integer_value(json_object_get(r, "irqs")), text_of(doc, "profile") ?: "none");
	json_array_foreach (json_object_get(doc, "events"), i, event)
		show_event(out, event, &why);
	if (more > 0)
		fprintf(out, "… and %lld events more\n", more);
	fprintf(out, "%lld ticks, %.1f s%s\n", json_integer_value(json_object_get(doc, "ticks")),
		json_number_value(json_object_get(doc, "seconds")),
		json_is_true(json_object_get(doc, "torn")) ? "; the last line broke off" : "");
}

/* ---- the verb ---- */

static int complain_about(const char *path, const struct complaints *c, int error)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct complaint *item = &c->item[i];

		if (item->line > 0)
			ctl_fail(CTL_FAILED, "%s:%u: %s", item->file ?: path, item->line,
				 item->text);
		else
			ctl_fail(CTL_FAILED, "%s: %s", item->file ?: path, item->text);
	}
	if (c->n == 0)
		ctl_fail(CTL_FAILED, "%s: %s", path, strerror(-error));
	return CTL_FAILED;
}

/* As of its end: HZ may be learnt only while it runs. */
static json_t *about_recording(struct trace_reader *reader)
{
	const struct trace_about *about = trace_about(reader);
	const struct topology *t = trace_tick(reader)->topology;

	return json_pack("{s:s,s:I,s:I,s:I,s:I,s:s,s:o}", "kernel", t->kernel, "hz",
			 (json_int_t)t->hz, "cpus", (json_int_t)cpuset_count(&t->online), "nics",
			 (json_int_t)t->n_nics, "irqs", (json_int_t)t->n_irqs, "mode",
			 mode_to_string(about->mode), "profile",
			 text_or_null(about->profile ? about->profile->name : NULL));
}

static int replay(struct ctl *ctl, const char *path, FILE *in, const struct profile *profile)
{
	_cleanup_(trace_reader_freep) struct trace_reader *reader = NULL;
	_cleanup_(complaints_done) struct complaints c = {};
	struct events events = {};
	struct replay_sum sum;
	json_t *doc;
	int r;

	r = trace_reader_new(in, &c, &reader);
	if (r < 0)
		return complain_about(path, &c, r);
	events.array = json_array();
	r = replay_run(reader, profile, &c, note_event, &events, &sum);
	if (r < 0) {
		json_decref(events.array);
		return complain_about(path, &c, r);
	}
	if (sum.ticks == 0) {
		json_decref(events.array);
		return ctl_fail(
			CTL_FAILED,
			"%s: there is no tick in this recording: it ended before its first look",
			path);
	}
	if (!profile)
		profile = trace_about(reader)->profile;
	doc = json_pack("{s:o,s:o,s:o,s:I,s:I,s:f,s:b}", "recording", about_recording(reader),
			"profile", text_or_null(profile ? profile->name : NULL), "events",
			events.array, "left_out", (json_int_t)events.left_out, "ticks",
			(json_int_t)sum.ticks, "seconds", (double)sum.usec / (double)USEC_PER_SEC,
			"torn", (int)trace_torn(reader));
	r = ctl_print(ctl, doc, show_replay);
	json_decref(doc);
	return r;
}

int verb_replay(struct ctl *ctl, int argc _unused_, char **argv)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	const char *path = argv[1];
	FILE *in;
	int r;

	if (ctl->profile) {
		_cleanup_(complaints_done) struct complaints c = {};

		r = profile_load(ctl_config_dirs(ctl), ctl->profile, &profile, &c);
		if (r < 0)
			return complain_about(ctl->profile, &c, r);
	}
	in = streq(path, "-") ? stdin : fopen(path, "re");
	if (!in)
		return ctl_fail(CTL_FAILED, "Cannot open %s: %s", path, strerror(errno));
	r = replay(ctl, path, in, profile);
	if (in != stdin)
		fclose(in);
	return r;
}
