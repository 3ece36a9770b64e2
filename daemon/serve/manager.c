/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/manager.h"

#include <stdio.h>
#include <unistd.h>

#include "serve/journal.h"

const char *manager_action_name(enum manager_action action)
{
	static const char *const names[_ACTION_MAX] = {
		[ACTION_SWITCH_PROFILE] = "org.softnetd1.switch-profile",
		[ACTION_HOLD] = "org.softnetd1.hold",
		[ACTION_SET] = "org.softnetd1.set",
		[ACTION_RESTORE] = "org.softnetd1.restore",
	};

	return names[action];
}

bool manager_trusts(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/*
 * Whether CALL may do ACTION now. Otherwise *RET is what its handler has to return: an error, or that
 * the call is taken care of (refused, or it comes again).
 */
static bool allowed(struct manager_access *access, sd_bus_message *call, enum manager_action action,
		    sd_bus_error *error, int *ret)
{
	int r;

	r = access->authorize(access, call, action, error);
	*ret = r < 0 ? r : 1;
	return r > 0;
}

static int out_of_memory(sd_bus_error *error)
{
	return sd_bus_error_set_const(error, SD_BUS_ERROR_NO_MEMORY, "Out of memory");
}

/* Answers CALL with DOC, which it takes over. */
static int reply_document(struct manager_access *access, sd_bus_message *call, json_t *doc,
			  sd_bus_error *error)
{
	_cleanup_free_ char *text = NULL;

	if (doc)
		text = json_dumps(doc, JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY);
	json_decref(doc);
	if (!text)
		return out_of_memory(error);
	access->last_bytes = strlen(text);
	access->bytes_sent += access->last_bytes;
	return sd_bus_reply_method_return(call, "s", text);
}

static int method_describe(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;

	return reply_document(access, call, engine_status(access->engine), error);
}

static int method_describe_settings(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	const char *setting;
	int r;

	r = sd_bus_message_read(call, "s", &setting);
	if (r < 0)
		return r;
	if (*setting && !tunable_find(setting)) {
		const char *near = nearest_name(setting, tunable_names());

		return sd_bus_error_setf(
			error, MANAGER_ERROR_NO_SUCH_SETTING, "No setting \"%s\"%s%s%s", setting,
			near ? "; did you mean \"" : "", near ?: "", near ? "\"?" : "");
	}
	return reply_document(access, call,
			      engine_settings(access->engine, *setting ? setting : NULL), error);
}

static int method_describe_profiles(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;

	return reply_document(access, call, engine_profiles(access->engine), error);
}

static int method_describe_profile(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	const char *name;
	int r;

	r = sd_bus_message_read(call, "s", &name);
	if (r < 0)
		return r;
	return reply_document(access, call, engine_profile(access->engine, name), error);
}

static int method_diagnose(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;

	return reply_document(access, call, engine_diagnosis(access->engine), error);
}

static int method_history(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;

	return reply_document(access, call, engine_history(access->engine), error);
}

static int method_explain(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	char text[512] = "";
	const char *id;
	json_t *doc;
	int r;

	r = sd_bus_message_read(call, "s", &id);
	if (r < 0)
		return r;
	doc = engine_explain(access->engine, id, text);
	if (!doc && *text)
		return sd_bus_error_set(error, MANAGER_ERROR_NO_SUCH_CHANGE, text);
	return reply_document(access, call, doc, error);
}

/* What engine_set() and engine_release() say, as an error of the bus. */
static int setting_error(sd_bus_error *error, int r, const char *text)
{
	const char *name;

	switch (r) {
	case -ENOENT:
		name = MANAGER_ERROR_NO_SUCH_SETTING;
		break;
	case -EINVAL:
	case -ERANGE:
		name = MANAGER_ERROR_INVALID_VALUE;
		break;
	case -EROFS:
		name = MANAGER_ERROR_READ_ONLY;
		break;
	case -ENOMEM:
		return out_of_memory(error);
	default:
		name = MANAGER_ERROR_REFUSED;
	}
	return sd_bus_error_set(error, name, *text ? text : strerror(-r));
}

/* All complaints as one text of lines, each with its file and line. */
static int complaints_error(sd_bus_error *error, int r, const struct complaints *c)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *f;

	f = open_memstream(&text, &size);
	if (!f)
		return out_of_memory(error);
	for (unsigned i = 0; i < c->n; i++) {
		const struct complaint *one = &c->item[i];

		if (i > 0)
			fputc('\n', f);
		if (one->file && one->line > 0)
			fprintf(f, "%s:%u: ", one->file, one->line);
		else if (one->file)
			fprintf(f, "%s: ", one->file);
		fputs(one->text, f);
	}
	if (c->more > 0)
		fprintf(f, "\nand %u more", c->more);
	if (c->n == 0)
		fputs(strerror(-r), f);
	if (fclose(f) != 0)
		return out_of_memory(error);
	return sd_bus_error_set(error, MANAGER_ERROR_CONFIGURATION, text);
}

static int method_set_setting(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	const char *setting, *target, *value;
	char text[512] = "";
	int r;

	if (!allowed(access, call, ACTION_SET, error, &r))
		return r;
	r = sd_bus_message_read(call, "sss", &setting, &target, &value);
	if (r < 0)
		return r;
	r = engine_set(access->engine, setting, target, value, text);
	if (r < 0)
		return setting_error(error, r, text);
	return sd_bus_reply_method_return(call, NULL);
}

static int method_release_setting(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	const char *setting, *target;
	char text[512] = "";
	int r;

	if (!allowed(access, call, ACTION_SET, error, &r))
		return r;
	r = sd_bus_message_read(call, "ss", &setting, &target);
	if (r < 0)
		return r;
	r = engine_release(access->engine, setting, target, text);
	if (r < 0)
		return setting_error(error, r, text);
	return sd_bus_reply_method_return(call, NULL);
}

/* NAME NULL: the configuration's profile again. */
static int choose_profile(struct manager_access *access, sd_bus_message *call, const char *name,
			  sd_bus_error *error)
{
	struct complaints complaints = {};
	int r;

	r = engine_set_profile(access->engine, name, &complaints);
	if (r < 0)
		r = complaints_error(error, r, &complaints);
	else
		r = sd_bus_reply_method_return(call, NULL);
	complaints_done(&complaints);
	return r;
}

static int method_set_profile(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	const char *name;
	int r;

	if (!allowed(access, call, ACTION_SWITCH_PROFILE, error, &r))
		return r;
	r = sd_bus_message_read(call, "s", &name);
	if (r < 0)
		return r;
	return choose_profile(access, call, name, error);
}

static int method_clear_profile(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	int r;

	if (!allowed(access, call, ACTION_SWITCH_PROFILE, error, &r))
		return r;
	return choose_profile(access, call, NULL, error);
}

/* PIDFD -1: the caller itself. */
static int hold(struct manager_access *access, sd_bus_message *call, int pidfd, const char *profile,
		const char *reason, sd_bus_error *error)
{
	struct complaints complaints = {};
	uint32_t cookie = 0;
	int r;

	r = access->hold(access, call, pidfd, profile, reason, &cookie, &complaints);
	if (r < 0)
		r = complaints_error(error, r, &complaints);
	else
		r = sd_bus_reply_method_return(call, "u", cookie);
	complaints_done(&complaints);
	return r;
}

static int method_hold(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	const char *profile, *reason;
	int r;

	if (!allowed(access, call, ACTION_HOLD, error, &r))
		return r;
	r = sd_bus_message_read(call, "ss", &profile, &reason);
	if (r < 0)
		return r;
	return hold(access, call, -1, profile, reason, error);
}

static int method_hold_process(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	const char *profile, *reason;
	int pidfd, r;

	if (!allowed(access, call, ACTION_HOLD, error, &r))
		return r;
	/* The descriptor is the message's. */
	r = sd_bus_message_read(call, "ssh", &profile, &reason, &pidfd);
	if (r < 0)
		return r;
	return hold(access, call, pidfd, profile, reason, error);
}

static int method_release_hold(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	uint32_t cookie;
	int r;

	if (!allowed(access, call, ACTION_HOLD, error, &r))
		return r;
	r = sd_bus_message_read(call, "u", &cookie);
	if (r < 0)
		return r;
	if (access->release_hold(access, cookie) < 0)
		return sd_bus_error_setf(error, MANAGER_ERROR_NO_SUCH_HOLD, "No hold %u", cookie);
	return sd_bus_reply_method_return(call, NULL);
}

static int set_silence(sd_bus_message *call, struct manager_access *access, sd_bus_error *error,
		       int (*set)(struct engine *e, const char *id, char *error_text))
{
	char text[512] = "";
	const char *id;
	int r;

	if (!allowed(access, call, ACTION_SET, error, &r))
		return r;
	r = sd_bus_message_read(call, "s", &id);
	if (r < 0)
		return r;
	r = set(access->engine, id, text);
	if (r == -ENOENT)
		return sd_bus_error_set(error, MANAGER_ERROR_NO_SUCH_CHANGE, text);
	if (r < 0)
		return setting_error(error, r, text);
	return sd_bus_reply_method_return(call, NULL);
}

static int method_silence(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	return set_silence(call, userdata, error, engine_silence);
}

static int method_unsilence(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	return set_silence(call, userdata, error, engine_unsilence);
}

static int method_reload(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	struct complaints complaints = {};
	int r;

	if (!allowed(access, call, ACTION_SWITCH_PROFILE, error, &r))
		return r;
	r = engine_reload(access->engine, &complaints);
	if (r < 0)
		r = complaints_error(error, r, &complaints);
	else
		r = sd_bus_reply_method_return(call, NULL);
	complaints_done(&complaints);
	return r;
}

static int method_restore(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct manager_access *access = userdata;
	int r;

	if (!allowed(access, call, ACTION_RESTORE, error, &r))
		return r;
	return reply_document(access, call, engine_restore(access->engine), error);
}

static int property_version(sd_bus *bus _unused_, const char *path _unused_,
			    const char *interface _unused_, const char *property _unused_,
			    sd_bus_message *reply, void *userdata _unused_,
			    sd_bus_error *error _unused_)
{
	return sd_bus_message_append(reply, "s", SOFTNETD_VERSION);
}

static int property_mode(sd_bus *bus _unused_, const char *path _unused_,
			 const char *interface _unused_, const char *property _unused_,
			 sd_bus_message *reply, void *userdata, sd_bus_error *error _unused_)
{
	struct manager_access *access = userdata;

	return sd_bus_message_append(reply, "s", engine_mode_name(access->engine));
}

static int property_profile(sd_bus *bus _unused_, const char *path _unused_,
			    const char *interface _unused_, const char *property _unused_,
			    sd_bus_message *reply, void *userdata, sd_bus_error *error _unused_)
{
	struct manager_access *access = userdata;

	return sd_bus_message_append(reply, "s", engine_profile_name(access->engine));
}

static int property_status_line(sd_bus *bus _unused_, const char *path _unused_,
				const char *interface _unused_, const char *property _unused_,
				sd_bus_message *reply, void *userdata, sd_bus_error *error _unused_)
{
	struct manager_access *access = userdata;
	char line[512];

	engine_status_line(access->engine, line, sizeof(line));
	return sd_bus_message_append(reply, "s", line);
}

/* UNPRIVILEGED: sd-bus would else ask for CAP_SYS_ADMIN; authorize() decides here. */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", property_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Mode", "s", property_mode, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Profile", "s", property_profile, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("StatusLine", "s", property_status_line, 0, 0),
	SD_BUS_METHOD_WITH_ARGS("Describe", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", status),
				method_describe, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DescribeSettings", SD_BUS_ARGS("s", setting),
				SD_BUS_RESULT("s", settings), method_describe_settings,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DescribeProfiles", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", profiles),
				method_describe_profiles, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DescribeProfile", SD_BUS_ARGS("s", profile),
				SD_BUS_RESULT("s", description), method_describe_profile,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Diagnose", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", diagnosis),
				method_diagnose, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("History", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", history),
				method_history, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Explain", SD_BUS_ARGS("s", id), SD_BUS_RESULT("s", explanation),
				method_explain, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Silence", SD_BUS_ARGS("s", id), SD_BUS_NO_RESULT, method_silence,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Unsilence", SD_BUS_ARGS("s", id), SD_BUS_NO_RESULT,
				method_unsilence, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SetSetting", SD_BUS_ARGS("s", setting, "s", target, "s", value),
				SD_BUS_NO_RESULT, method_set_setting, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("ReleaseSetting", SD_BUS_ARGS("s", setting, "s", target),
				SD_BUS_NO_RESULT, method_release_setting,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SetProfile", SD_BUS_ARGS("s", profile), SD_BUS_NO_RESULT,
				method_set_profile, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("ClearProfile", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT,
				method_clear_profile, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Hold", SD_BUS_ARGS("s", profile, "s", reason),
				SD_BUS_RESULT("u", cookie), method_hold,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("HoldProcess", SD_BUS_ARGS("s", profile, "s", reason, "h", pidfd),
				SD_BUS_RESULT("u", cookie), method_hold_process,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("ReleaseHold", SD_BUS_ARGS("u", cookie), SD_BUS_NO_RESULT,
				method_release_hold, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_reload,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Restore", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", report),
				method_restore, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_ARGS("s", kind, "s", what, "s", text), 0),
	SD_BUS_VTABLE_END,
};

int manager_attach(struct manager_access *access, sd_bus *bus)
{
	return sd_bus_add_object_vtable(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, vtable, access);
}

const char *manager_event_kind(const struct engine_event *event)
{
	switch (event->kind) {
	case EVENT_SYMPTOM_ENTER:
		return "symptom-enter";
	case EVENT_SYMPTOM_LEAVE:
		return "symptom-leave";
	case EVENT_CHANGE:
		return "change";
	case EVENT_VERDICT:
		return "verdict";
	case EVENT_RESTORE:
		return "restore";
	case EVENT_PROFILE:
		return "profile";
	case EVENT_SOURCE:
		return "source";
	}
	return "other";
}

int manager_emit_changed(sd_bus *bus, const struct engine_event *event)
{
	const char *what = "";
	char text[1024];

	journal_message(event, text, sizeof(text));
	if (event->change)
		what = tunables[event->change->tunable].id;
	else if (event->report)
		what = symptom_to_string(event->report->symptom);
	return sd_bus_emit_signal(bus, MANAGER_PATH, MANAGER_INTERFACE, "Changed", "sss",
				  manager_event_kind(event), what, text);
}

int manager_emit_properties(sd_bus *bus)
{
	return sd_bus_emit_properties_changed(bus, MANAGER_PATH, MANAGER_INTERFACE, "Mode",
					      "Profile", NULL);
}
