/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The object /org/softnetd1 with the interface org.softnetd1.Manager, apart from the way it is
 * reached: the private socket (serve/bus.h) gives every connection one, a system bus would give all
 * its callers one.
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
 * change something ask the caller's authorize() first.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "engine.h"

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

/* One way in. Must outlive the buses it was attached to. */
struct manager_access {
	struct engine *engine;
	/* 1: may change things; 0: may not, ERROR is set; negative errno. */
	int (*authorize)(struct manager_access *access, sd_bus_message *call, sd_bus_error *error);
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
