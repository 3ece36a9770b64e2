/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/journal.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "base/log.h"
#include "decide/decide.h"
#include "decide/verify.h"

/* The ids of config/softnetd.catalog; made once by `systemd-id128 new`, never reused for another
 * meaning. */
#define ID_SYMPTOM_ENTER "e6892fd00b5a4c6ba9b594c677698124"
#define ID_SYMPTOM_LEAVE "c0f6ecc2ea0042deaa86801bbf112fdb"
#define ID_CHANGED       "a8db88cf791f4a0a9508527fcc57b0ee"
#define ID_ADVISED       "c652cc9294d249d8ab6badcb9324849c"
#define ID_REFUSED       "afaad680a5f0469782b87549ff242dd5"
#define ID_RESTORED      "188e757b4dee49729c8d0c8e99aac617"
#define ID_VERDICT       "d6263f8bcce44146abcadc9872a7045f"
#define ID_PROFILE       "66990435e5f84e3aad443d61a5d14d55"

#define FIELDS_MAX 32
struct entry {
	struct iovec field[FIELDS_MAX];
	size_t n;
};

/* VALUE NULL or "": no field. What finds no memory or no place is left out. */
static void add(struct entry *e, const char *name, const char *value)
{
	char *text;

	if (!value || !*value || e->n == FIELDS_MAX)
		return;
	if (asprintf(&text, "%s=%s", name, value) < 0)
		return;
	e->field[e->n++] = (struct iovec){.iov_base = text, .iov_len = strlen(text)};
}

static void entry_done(struct entry *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->field[i].iov_base);
}

static void change_message(const struct change *c, const struct result *r, char *buf, size_t size)
{
	const struct tunable *t = &tunables[c->tunable];
	const char *unit = *t->unit ? " " : "";
	const char *now = r && r->value[0] ? r->value : c->to;
	char label[TARGET_LABEL_MAX];

	append_text(buf, size, "%s", t->id);
	if (tunable_of_nic(t)) {
		target_label(&c->target, label);
		append_text(buf, size, "@%s", label);
	} else if (c->target.scope != SCOPE_HOST)
		append_text(buf, size, "@%s%u",
			    c->target.scope == SCOPE_POLICY   ? "policy"
			    : c->target.scope == SCOPE_CPU    ? "cpu"
			    : c->target.scope == SCOPE_THREAD ? "pid "
							      : "",
			    c->target.number);
	if (c->class == CLASS_RESTORE)
		append_text(buf, size, ": given back, now %s%s%s", now, unit, t->unit);
	else
		append_text(buf, size, ": %s → %s%s%s", *c->from ? c->from : "?", c->to, unit,
			    t->unit);
	if (r && r->outcome != OUTCOME_DONE)
		append_text(buf, size, " (%s)", outcome_to_string(r->outcome));
	if (r && verify_begin(c, r) == PROOF_UNVERIFIABLE)
		append_text(buf, size, " (unverifiable)");
	if (*c->why)
		append_text(buf, size, ": %s", c->why);
	if (r && r->text[0])
		append_text(buf, size, "; %s", r->text);
}

void journal_message(const struct engine_event *event, char *buf, size_t size)
{
	buf[0] = '\0';
	switch (event->kind) {
	case EVENT_SYMPTOM_ENTER:
		append_text(buf, size, "%s: %s", symptom_to_string(event->report->symptom),
			    event->report->text);
		break;
	case EVENT_SYMPTOM_LEAVE:
		append_text(buf, size, "%s is over", symptom_to_string(event->report->symptom));
		break;
	case EVENT_CHANGE:
		change_message(event->change, event->result, buf, size);
		break;
	case EVENT_PROFILE:
		append_text(buf, size, "Profile %s is in force%s%s", event->text ?: "",
			    event->why ? ": " : "", event->why ?: "");
		break;
	case EVENT_VERDICT:
	case EVENT_RESTORE:
	case EVENT_SOURCE:
		append_text(buf, size, "%s", event->text ?: "");
		break;
	}
}

static const char *message_id(const struct engine_event *event)
{
	switch (event->kind) {
	case EVENT_SYMPTOM_ENTER:
		return ID_SYMPTOM_ENTER;
	case EVENT_SYMPTOM_LEAVE:
		return ID_SYMPTOM_LEAVE;
	case EVENT_RESTORE:
		return ID_RESTORED;
	case EVENT_PROFILE:
		return ID_PROFILE;
	case EVENT_VERDICT:
		return ID_VERDICT;
	case EVENT_SOURCE:
		return NULL;
	case EVENT_CHANGE:
		break;
	}
	switch (event->result->outcome) {
	case OUTCOME_DONE:
	case OUTCOME_PENDING:
	case OUTCOME_UNCHANGED:
		return event->change->class == CLASS_RESTORE ? ID_RESTORED : ID_CHANGED;
	case OUTCOME_ADVISED:
		return ID_ADVISED;
	default:
		return ID_REFUSED;
	}
}

static enum log_level level_of(const struct engine_event *event)
{
	if (event->kind == EVENT_SYMPTOM_ENTER)
		return event->report->symptom == SYMPTOM_STALLED ? LOG_LEVEL_WARNING
								 : LOG_LEVEL_NOTICE;
	if (event->result)
		switch (event->result->outcome) {
		case OUTCOME_REFUSED:
		case OUTCOME_DIFFERENT:
		case OUTCOME_FOREIGN:
			return LOG_LEVEL_WARNING;
		case OUTCOME_DONE:
		case OUTCOME_PENDING:
			return LOG_LEVEL_NOTICE;
		default:
			return LOG_LEVEL_INFO;
		}
	return LOG_LEVEL_INFO;
}

static void add_change(struct entry *e, const struct change *c, const struct result *r)
{
	add(e, "SOFTNETD_SETTING", tunables[c->tunable].id);
	add(e, "SOFTNETD_TARGET", c->target.identity);
	add(e, "SOFTNETD_OLD", c->from);
	add(e, "SOFTNETD_NEW", r && r->value[0] ? r->value : c->to);
	add(e, "SOFTNETD_REASON", c->why);
	add(e, "SOFTNETD_OUTCOME", r ? outcome_to_string(r->outcome) : NULL);
	add(e, "SOFTNETD_PROOF", r ? proof_to_string(verify_begin(c, r)) : NULL);
	add(e, "SOFTNETD_DECISION_ID", c->id);
	if (r && r->error < 0)
		add(e, "SOFTNETD_ERROR", strerror(-r->error));
	if (c->symptom != SYMPTOM_NONE)
		add(e, "SOFTNETD_SYMPTOM", symptom_to_string(c->symptom));
}

/* The symptom's numbers, each in a field of its own. */
static void add_report(struct entry *e, const struct symptom_report *r)
{
	char cpus[CPUSET_LIST_MAX], name[96], value[32];

	if (cpuset_format_list(&r->cpus, cpus, sizeof(cpus)) >= 0)
		add(e, "SOFTNETD_CPUS", cpus);
	for (unsigned i = 0; i < r->n_evidence; i++) {
		snprintf(name, sizeof(name), "SOFTNETD_%s", r->evidence[i].name);
		for (char *c = name; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		snprintf(value, sizeof(value), "%.6g", r->evidence[i].value);
		add(e, name, value);
	}
}

static void add_verdict(struct entry *e, const struct trial_verdict *v)
{
	char value[32];

	add(e, "SOFTNETD_VERDICT", v->verdict);
	if (!isnan(v->before)) {
		snprintf(value, sizeof(value), "%.6g", v->before);
		add(e, "SOFTNETD_BEFORE", value);
		snprintf(value, sizeof(value), "%.6g", v->after);
		add(e, "SOFTNETD_AFTER", value);
	}
	if (v->judged.objective == OBJECTIVE_SYMPTOM)
		return;
	add(e, "SOFTNETD_OBJECTIVE", objective_to_string(v->judged.objective));
	if (v->judged.blind)
		return;
	snprintf(value, sizeof(value), "%.6g", v->judged.before);
	add(e, "SOFTNETD_OBJECTIVE_BEFORE", value);
	snprintf(value, sizeof(value), "%.6g", v->judged.after);
	add(e, "SOFTNETD_OBJECTIVE_AFTER", value);
}

static int send_entry(const char *profile, const struct engine_event *event, const char *message)
{
	_cleanup_(entry_done) struct entry e = {};
	char priority[16];

	snprintf(priority, sizeof(priority), "%d", level_of(event));
	add(&e, "MESSAGE", message);
	add(&e, "PRIORITY", priority);
	add(&e, "MESSAGE_ID", message_id(event));
	add(&e, "SYSLOG_IDENTIFIER", "softnetd");
	add(&e, "SOFTNETD_PROFILE", profile);
	if (event->change)
		add_change(&e, event->change, event->result);
	/* A change that answers a symptom has both, and its name once. */
	if (event->report && !event->change)
		add(&e, "SOFTNETD_SYMPTOM", symptom_to_string(event->report->symptom));
	if (event->report)
		add_report(&e, event->report);
	if (event->verdict)
		add_verdict(&e, event->verdict);
	if (event->kind == EVENT_PROFILE)
		add(&e, "SOFTNETD_REASON", event->why);
	return sd_journal_sendv(e.field, (int)e.n);
}

void journal_event(const char *profile, const struct engine_event *event)
{
	char message[1024];

	/* The engine logs these itself when they change. */
	if (event->kind == EVENT_SOURCE)
		return;
	journal_message(event, message, sizeof(message));
	if (getenv("JOURNAL_STREAM") && !isatty(STDERR_FILENO) &&
	    send_entry(profile, event, message) >= 0)
		return;
	(void)log_full(level_of(event), 0, "%s", message);
}
