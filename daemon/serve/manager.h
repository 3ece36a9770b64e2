/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The object /org/softnetd1 with the interface org.softnetd1.Manager, apart from the way it is
 * reached: the private socket (serve/bus.h) gives every connection one, the system bus
 * (serve/system-bus.h) gives all its callers one.
 *
 *   Version, Mode, Profile s       properties; Mode and Profile emit PropertiesChanged
 *   StatusLine s                   the line of STATUS=; emits nothing, it changes every second
 *   Describe() → s                 status
 *   DescribeSettings(s) → s        one setting, or all for ""
 *   DescribeProfiles() → s         DescribeProfile(s) → s
 *   Diagnose() → s                 History() → s
 *   Explain(s) → s                 a serial or a change's id; "": the newest change
 *   Silence(s) Unsilence(s)        an advice's id
 *   SetSetting(sss)                setting, target ("": host, or all targets), value
 *   ReleaseSetting(ss)             setting, target
 *   SetProfile(s) ClearProfile() Reload()
 *   Hold(ss) → u                   profile, reason: in force while the caller stays connected
 *   HoldProcess(ssh) → u           … while the process of the pidfd runs
 *   ReleaseHold(u)                 the number that these two answered
 *   Restore() → s                  gives everything back
 *   Changed(sss)                   signal: kind of event, what, one line of text
 *
 * Documents are JSON as softnetctl(1) describes them. Reading is for everyone; the calls that
 * change something ask authorize() first. org.softnetd1(5) describes all of it for users.
 */
#pragma once

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "engine/engine.h"

#define MANAGER_NAME      "org.softnetd1"
#define MANAGER_PATH      "/org/softnetd1"
#define MANAGER_INTERFACE "org.softnetd1.Manager"

#define MANAGER_ERROR_NOT_AUTHORIZED  "org.softnetd1.Error.NotAuthorized"
#define MANAGER_ERROR_NO_SUCH_SETTING "org.softnetd1.Error.NoSuchSetting"
#define MANAGER_ERROR_INVALID_VALUE   "org.softnetd1.Error.InvalidValue"
#define MANAGER_ERROR_NO_SUCH_CHANGE  "org.softnetd1.Error.NoSuchChange"
#define MANAGER_ERROR_NO_SUCH_HOLD    "org.softnetd1.Error.NoSuchHold"
#define MANAGER_ERROR_READ_ONLY       "org.softnetd1.Error.ReadOnly"      /* observe, advise */
#define MANAGER_ERROR_CONFIGURATION   "org.softnetd1.Error.Configuration" /* file:line: text */
#define MANAGER_ERROR_REFUSED         "org.softnetd1.Error.Refused"       /* the kernel said no */

/* What a call does, as far as permissions go: each has a polkit action. */
enum manager_action {
	ACTION_SWITCH_PROFILE, /* SetProfile, ClearProfile, Reload */
	ACTION_HOLD,           /* Hold, HoldProcess, ReleaseHold */
	ACTION_SET,            /* SetSetting, ReleaseSetting, Silence, Unsilence */
	ACTION_RESTORE,
	_ACTION_MAX
};
/* "org.softnetd1.set" */
const char *manager_action_name(enum manager_action action);
/* Who needs no polkit: root, and who could as well be the daemon (a user with a captured tree). */
bool manager_trusts(uid_t uid);

/* One way in. Must outlive the buses it was attached to. */
struct manager_access {
	struct engine *engine;
	/* 1: may do that; 0: may not, and ERROR is set, or it is not known yet, and the same call will
	 * be handed to the object again; negative errno. */
	int (*authorize)(struct manager_access *access, sd_bus_message *call,
			 enum manager_action action, sd_bus_error *error);
	/* A hold for the caller (serve/holds.h); PIDFD -1: as long as the caller is there. */
	int (*hold)(struct manager_access *access, sd_bus_message *call, int pidfd,
		    const char *profile, const char *reason, uint32_t *ret_cookie,
		    struct complaints *c);
	int (*release_hold)(struct manager_access *access, uint32_t cookie);
	/* Of documents handed to sd-bus, all and the last one: for bounds on unread data. */
	uint64_t bytes_sent, last_bytes;
};

int manager_attach(struct manager_access *access, sd_bus *bus);

/* Signals for one connection. */
int manager_emit_changed(sd_bus *bus, const struct engine_event *event);
int manager_emit_properties(sd_bus *bus);

/* "symptom-enter", "symptom-leave", "change", "restore", "profile", "source" */
const char *manager_event_kind(const struct engine_event *event);
