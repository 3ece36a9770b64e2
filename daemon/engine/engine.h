/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place where the steps meet: observe → decide → act → record. Owns everything; has no
 * event loop of its own, so softnetd.c drives it from sd-event, tests from a for loop.
 */
#pragma once

#include <jansson.h>

#include "base/complaint.h"
#include "base/io.h"
#include "model/decision.h"
#include "model/profile.h"

struct engine;
struct trial_verdict;

struct engine_options {
	struct io *io; /* must outlive the engine */
	/* NULL: no files; the defaults, and a profile that leaves everything alone. */
	const char *const *config_dirs;
	const char *profile; /* NULL: softnetd.conf's */
	bool have_mode;
	enum mode mode; /* overrides softnetd.conf's */
	bool lock;      /* take the one-daemon lock */
	/* What engine_latency_fd() of the run before was, when have_latency_fd: taken over */
	bool have_latency_fd;
	int latency_fd;
	/* A profile that is going to be held from before the first tick on, as it was before a restart;
	 * NULL: none. It is in force from the start, as if it were held. */
	const char *expected_hold;
};

/*
 * Loads configuration and profile, gives back what a crashed predecessor left, discovers the
 * machine and applies the profile's policy. -EINVAL: configuration (COMPLAINTS say where); -EBUSY:
 * another daemon runs, its pid in *RET_PID.
 */
int engine_new(const struct engine_options *o, struct complaints *c, pid_t *ret_pid,
	       struct engine **ret);
/* Gives the originals back, unless on_stop = "keep". */
int engine_stop(struct engine *e);
/* The open descriptor that holds cpu_dma_latency, -1 when there is none; still the engine's. After
 * an engine_stop() that keeps, it has to stay open somewhere, or the kernel drops the request. */
int engine_latency_fd(const struct engine *e);
void engine_free(struct engine *e);
DEFINE_CLEANUP(struct engine *, engine_free);

/* One tick: reads, decides, acts. */
int engine_tick(struct engine *e);
uint64_t engine_tick_usec(const struct engine *e);
int engine_kmsg_fd(const struct engine *e);
void engine_note_link_change(struct engine *e);
/* Channels or rings of a NIC changed: what the machine is made of is looked at again when it is quiet. */
void engine_note_driver_reset(struct engine *e);
/* The next tick has a slow look: a setting may have another value. */
void engine_look_soon(struct engine *e);

/* Two-phase: everything is read and checked first; on a complaint nothing changes. */
int engine_reload(struct engine *e, struct complaints *c);

/*
 * What the faces ask. JSON objects are new references that the caller drops. Errors: -EINVAL bad
 * value or target (ERROR_TEXT says what and what would be right), -ENOENT no such setting, -EROFS
 * in observe or advise mode, else act/'s errno. ERROR_TEXT has room for 512 bytes.
 */
json_t *engine_status(struct engine *e);
json_t *engine_settings(struct engine *e, const char *setting); /* NULL: all; array of objects */
json_t *engine_profiles(struct engine *e);
json_t *engine_profile(struct engine *e, const char *name);
json_t *engine_diagnosis(struct engine *e);
json_t *engine_history(struct engine *e);
/* One change with all that is known about it. ID is a serial of the history, or a change's id (then
 * the newest of that id), or "" (then the newest change). NULL with ERROR_TEXT when there is none. */
json_t *engine_explain(struct engine *e, const char *id, char *error_text);
/* Advice of that id is not said any more, only counted, until engine_unsilence() or the end. -EINVAL:
 * no id; or softnetd.conf silences it, which stays; -ENOSPC: too many; -ENOENT: is not silenced. */
int engine_silence(struct engine *e, const char *id, char *error_text);
int engine_unsilence(struct engine *e, const char *id, char *error_text);
/* TARGET "" is the host, or every target of a scoped setting: an IRQ number or action name, a
 * policy as "policy0" or CPU list, a CPU as "3" or "cpu3", an interrupt's thread as its pid or
 * comm. The setting is pinned until engine_release(). */
int engine_set(struct engine *e, const char *setting, const char *target, const char *value,
	       char *error_text);
int engine_release(struct engine *e, const char *setting, const char *target, char *error_text);
/* The choice by hand; NAME NULL: none any more. A hold stays above it. */
int engine_set_profile(struct engine *e, const char *name, struct complaints *c);
/*
 * PROFILE is in force until engine_release_hold(*RET_COOKIE), or until a newer hold comes, and again
 * when that one goes. HOLDER ("pid 4711") and REASON (may be "") are shown. Errors as of
 * profile_load(), -EINVAL for a REASON that is no plain text, -ENOSPC when there are too many holds,
 * each with a complaint.
 */
int engine_hold(struct engine *e, const char *profile, const char *holder, const char *reason,
		uint32_t *ret_cookie, struct complaints *c);
/* -ENOENT: no such hold. */
int engine_release_hold(struct engine *e, uint32_t cookie);
json_t *engine_restore(struct engine *e);

/* "observe", "advise", "apply"; "" without a profile. Valid until the next reload. */
const char *engine_mode_name(const struct engine *e);
const char *engine_profile_name(const struct engine *e);

/* One line for systemd's STATUS=. */
void engine_status_line(struct engine *e, char *buf, size_t size);

/* Called after each change that was made, advised, taken back or refused, and on each symptom that
 * enters or leaves: for the journal and for bus signals. */
struct engine_event {
	enum {
		EVENT_SYMPTOM_ENTER,
		EVENT_SYMPTOM_LEAVE,
		EVENT_CHANGE,
		EVENT_VERDICT,
		EVENT_RESTORE,
		EVENT_PROFILE,
		EVENT_SOURCE
	} kind;
	const struct symptom_report *report; /* of a change too, when it answers a symptom */
	const struct change *change;
	const struct result *result;
	const struct trial_verdict *verdict;
	const char *text;
	const char *why; /* EVENT_PROFILE: why it is in force */
};
void engine_set_listener(struct engine *e, void (*f)(void *userdata, const struct engine_event *ev),
			 void *userdata);
