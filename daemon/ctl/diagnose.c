/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What binds on this host, what would lift it, and the commands: with a daemon or without. */
#include <math.h>
#include <time.h>

#include "base/log.h"
#include "ctl/daemon.h"
#include "engine/engine.h"
#include "serve/show.h"

#define SECONDS_DEFAULT 3.0
/* A symptom enters on three to five ticks, so those of a short look are shorter than the daemon's.
 */
#define TICK_SECONDS 0.5
#define TICKS_MIN    2

static void pause_for(double seconds)
{
	struct timespec ts = {.tv_sec = (time_t)seconds};

	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

/* The engine's own words about what it could not read are in the document's "blind". */
static void be_quiet(enum log_level level, const char *line, void *userdata _unused_)
{
	if (level <= LOG_LEVEL_ERROR)
		ctl_fail(CTL_FAILED, "%s", line);
}

static int look(struct ctl *ctl, json_t **ret)
{
	/* No configuration: what binds does not depend on a profile, and nothing needs to be
	 * installed. Advise: nothing is written. */
	struct engine_options options = {
		.io = ctl_io(ctl), .config_dirs = NULL, .have_mode = true, .mode = MODE_ADVISE};
	_cleanup_(engine_freep) struct engine *e = NULL;
	double seconds = ctl->seconds > 0 ? ctl->seconds : SECONDS_DEFAULT;
	unsigned ticks = (unsigned)MAX(ceil(seconds / TICK_SECONDS), (double)TICKS_MIN);
	int r;

	if (!options.io)
		return CTL_FAILED;
	log_set_hook(be_quiet, NULL);
	r = engine_new(&options, NULL, NULL, &e);
	for (unsigned i = 0; r >= 0 && i <= ticks; i++) {
		if (i > 0)
			pause_for(seconds / ticks);
		r = engine_tick(e);
	}
	log_set_hook(NULL, NULL);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot look at %s: %s", ctl->root ?: "this host",
				strerror(-r));
	*ret = engine_diagnosis(e);
	return CTL_FINE;
}

int verb_diagnose(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	json_t *doc = NULL;
	int r;

	if (ctl->seconds > 0 && (ctl->host || ctl->machine))
		return ctl_usage(ctl, "--duration watches this host, not another one");
	/* Who says how long wants it watched from now on. */
	if (!ctl->root && ctl->seconds <= 0 && daemon_runs(ctl))
		r = daemon_call(ctl, "Diagnose", &doc, "");
	else
		r = look(ctl, &doc);
	if (r == CTL_FINE)
		r = ctl_print(ctl, doc, show_diagnosis);
	if (r == CTL_FINE && json_array_size(json_object_get(doc, "symptoms")) > 0)
		r = CTL_DIFFERS;
	else if (r == CTL_FINE &&
		 json_is_false(json_object_get(json_object_get(doc, "host"), "seen")))
		r = CTL_FAILED;
	json_decref(doc);
	return r;
}
