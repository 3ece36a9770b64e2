/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration, and which profile is in force: how holds, a choice by hand, rules and the default
 * become a switch. */
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "engine/internal.h"
#include "profile/profile-file.h"
#include "profile/schema.h"

/* The packet rate is that of so many of the newest ticks, in status and for the rules alike. */
#define RATE_TICKS 5

const char *const engine_no_dirs[] = {NULL};

/* For a look at a host where nothing needs to be installed: softnetctl diagnose. */
static int load_nothing(struct config *config, struct profile **profile)
{
	_cleanup_(profile_freep) struct profile *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->name = strdup("none");
	if (!p->name)
		return -ENOMEM;
	r = config_load(engine_no_dirs, config, NULL);
	if (r < 0)
		return r;
	*profile = TAKE_PTR(p);
	return 0;
}

/* The profile is the one chosen by hand, else the configuration's: it has to be good even while
 * another one is in force. */
int engine_load(struct engine *e, struct config *config, struct profile **profile,
		struct complaints *c)
{
	int r;

	if (e->config_dirs == engine_no_dirs)
		return load_nothing(config, profile);
	r = config_load(e->config_dirs, config, c);
	if (r < 0)
		return r;
	r = profile_load(e->config_dirs,
			 e->profile_override ? e->profile_override : config->profile, profile, c);
	if (r < 0)
		config_done(config);
	return r;
}

/* A profile that cannot be used has no rules, which is no reason not to run; but it is said. */
static int load_rules(struct engine *e, struct chooser **ret, struct units **ret_units)
{
	_cleanup_(profiles_freep) struct profile **profiles = NULL;
	_cleanup_(chooser_freep) struct chooser *chooser = NULL;
	_cleanup_free_ const char **names = NULL;
	struct complaints complaints = {};
	int r;

	r = profiles_with_match(e->config_dirs, &profiles, &complaints);
	if (complaints.n > 0)
		log_warning("These profiles cannot be used, and their match rules do not count:");
	complaints_log(&complaints, LOG_LEVEL_WARNING);
	complaints_done(&complaints);
	if (r < 0)
		return r;
	r = chooser_new(profiles, e->chooser, &chooser);
	if (r < 0)
		return r;
	profiles = NULL;
	r = chooser_units(chooser, &names);
	if (r >= 0)
		r = units_new(e->io, names, ret_units);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(chooser);
	return units_read(*ret_units);
}

bool engine_packet_rate(const struct engine *e, double *ret)
{
	double sum = 0;
	bool have = false;

	for (unsigned i = 0; e->window && i < e->window->n_cpus; i++) {
		struct cpu_sum s = window_cpu(e->window, i, RATE_TICKS);

		if (s.ticks == 0 || s.seconds <= 0)
			continue;
		sum += (double)s.processed / s.seconds;
		have = true;
	}
	*ret = sum;
	return have;
}

static int unit_active(void *userdata, const char *name)
{
	return units_active(userdata, name);
}

/* RET's profile is valid as long as CHOOSER, FALLBACK, the holds and the choice by hand. */
static void ask(const struct engine *e, struct chooser *chooser, struct units *units,
		const char *fallback, struct choice *ret)
{
	struct choose_input in = {
		.now_usec = io_now(e->io, CLOCK_MONOTONIC),
		.by_hand = e->profile_override,
		.fallback = fallback,
		.topology = e->topology,
		.unit = unit_active,
		.userdata = units,
	};

	if (e->expected_hold) {
		in.hold = e->expected_hold;
		in.hold_text = "as before the restart";
	} else if (e->n_holds > 0) {
		in.hold = e->hold[e->n_holds - 1].profile;
		in.hold_text = e->hold[e->n_holds - 1].text;
	}
	in.have_rate = engine_packet_rate(e, &in.packets_per_second);
	choose(chooser, &in, ret);
}

static void note_choice(struct engine *e, const struct choice *choice)
{
	e->choice = *choice;
	e->choice.profile = NULL;
}

/* From here on nothing can fail because of a file: PROFILE is whole. */
static void switch_to(struct engine *e, struct profile *profile)
{
	bool other = !streq(profile->name, e->profile->name);
	char text[512];

	profile_free(e->profile);
	e->profile = profile;
	decider_reset(e->decider);
	(void)engine_watch_anew(e);
	act_forget(e->actuator);
	act_forget(e->dry);
	free(TAKE_PTR(e->refused));
	if (other) {
		snprintf(text, sizeof(text), "profile %s is in force: %s", profile->name,
			 e->choice.why);
		engine_remember(e, &(struct history_entry){.kind = HISTORY_EVENT}, NULL, NULL,
				text);
	}
	if (engine_mode(e) == MODE_APPLY)
		engine_give_back_unwanted(e);
	engine_policy(e);
	engine_tell(e, &(struct engine_event){
			       .kind = EVENT_PROFILE, .text = profile->name, .why = e->choice.why});
}

/* The profile in force stays when the chosen one cannot be loaded; that is said once. */
static void refuse(struct engine *e, const struct choice *choice, const struct complaints *c)
{
	if (e->refused && streq(e->refused, choice->profile))
		return;
	free(e->refused);
	e->refused = strdup(choice->profile);
	log_warning("Profile %s should be in force (%s) but cannot be loaded; %s stays:",
		    choice->profile, choice->why, e->profile->name);
	complaints_log(c, LOG_LEVEL_WARNING);
}

void engine_choose(struct engine *e)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct complaints complaints = {};
	struct choice choice;

	if (e->config_dirs == engine_no_dirs)
		return;
	ask(e, e->chooser, e->units, e->config.profile, &choice);
	if (streq(choice.profile, e->profile->name)) {
		note_choice(e, &choice);
		free(TAKE_PTR(e->refused));
		return;
	}
	/* Tried again at the next reload, or when another one was chosen meanwhile. */
	if (e->refused && streq(e->refused, choice.profile))
		return;
	if (profile_load(e->config_dirs, choice.profile, &profile, &complaints) >= 0) {
		note_choice(e, &choice);
		switch_to(e, TAKE_PTR(profile));
	} else {
		refuse(e, &choice, &complaints);
	}
	complaints_done(&complaints);
}

int engine_choose_first(struct engine *e)
{
	struct profile *profile = NULL;
	struct complaints complaints = {};
	struct choice choice;
	int r;

	r = engine_silence_as_configured(e);
	if (r >= 0)
		r = load_rules(e, &e->chooser, &e->units);
	if (r < 0)
		return log_error_errno(r, "Cannot set up what the configuration says");
	ask(e, e->chooser, e->units, e->config.profile, &choice);
	if (e->config_dirs == engine_no_dirs || streq(choice.profile, e->profile->name)) {
		note_choice(e, &choice);
		return 0;
	}
	if (profile_load(e->config_dirs, choice.profile, &profile, &complaints) >= 0) {
		note_choice(e, &choice);
		profile_free(e->profile);
		e->profile = profile;
	} else {
		refuse(e, &choice, &complaints);
	}
	complaints_done(&complaints);
	return 0;
}

/* The profile in force may have been chosen by a rule: one that became bad has no rules, and would
 * silently make place for the default. One that is gone may. */
static int check_profile_in_force(const struct engine *e, struct complaints *c)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;

	if (e->config_dirs == engine_no_dirs ||
	    profile_exists(e->config_dirs, e->profile->name, NULL, NULL) < 0)
		return 0;
	return profile_load(e->config_dirs, e->profile->name, &profile, c);
}

int engine_reload(struct engine *e, struct complaints *c)
{
	_cleanup_(chooser_freep) struct chooser *chooser = NULL;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(config_done) struct config config = {};
	enum mode was = engine_mode(e);
	struct choice choice;
	int r;

	r = engine_load(e, &config, &profile, c);
	if (r >= 0)
		r = check_profile_in_force(e, c);
	if (r >= 0)
		r = load_rules(e, &chooser, &units);
	if (r < 0)
		return r;
	ask(e, chooser, units, config.profile, &choice);
	if (e->config_dirs != engine_no_dirs && !streq(choice.profile, profile->name)) {
		profile_free(TAKE_PTR(profile));
		r = profile_load(e->config_dirs, choice.profile, &profile, c);
		if (r < 0)
			return r;
	}
	/* All is read and good. */
	note_choice(e, &choice);
	config_done(&e->config);
	e->config = config;
	config = (struct config){};
	chooser_free(e->chooser);
	e->chooser = TAKE_PTR(chooser);
	units_free(e->units);
	e->units = TAKE_PTR(units);
	if (engine_silence_as_configured(e) < 0)
		log_oom(); /* it is said then */
	if (was != MODE_APPLY && engine_mode(e) == MODE_APPLY)
		engine_selftest(e);
	if (was == MODE_APPLY && engine_mode(e) != MODE_APPLY) {
		_cleanup_(restore_report_done) struct restore_report report = {};

		engine_give_back_all(e, &report);
	}
	switch_to(e, TAKE_PTR(profile));
	return 0;
}

int engine_set_profile(struct engine *e, const char *name, struct complaints *c)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_free_ char *override = NULL;
	struct choice choice;
	int r;

	/* NULL or "": no choice by hand any more. */
	if (name && *name) {
		override = strdup(name);
		if (!override)
			return -ENOMEM;
	}
	r = profile_load(e->config_dirs, override ? override : e->config.profile, &profile, c);
	if (r < 0)
		return r;
	free(e->profile_override);
	e->profile_override = TAKE_PTR(override);
	free(TAKE_PTR(e->refused));
	ask(e, e->chooser, e->units, e->config.profile, &choice);
	if (streq(choice.profile, profile->name)) {
		note_choice(e, &choice);
		switch_to(e, TAKE_PTR(profile));
	} else {
		engine_choose(e); /* a hold stays above it, or a rule comes to its right */
	}
	return 0;
}

int engine_hold(struct engine *e, const char *profile, const char *holder, const char *reason,
		uint32_t *ret_cookie, struct complaints *c)
{
	_cleanup_(profile_freep) struct profile *good = NULL;
	char excerpt[HOLD_TEXT_MAX / 2];
	struct hold h = {};
	int r;

	if (!text_ok(reason)) {
		complain(c, NULL, 0, "the reason holds a control character or broken UTF-8");
		return -EINVAL;
	}
	if (e->n_holds == HOLDS_MAX) {
		complain(c, NULL, 0, "there are %d holds already", HOLDS_MAX);
		return -ENOSPC;
	}
	r = profile_load(e->config_dirs, profile, &good, c);
	if (r < 0)
		return r;
	h.profile = strdup(profile);
	if (!h.profile)
		return -ENOMEM;
	append_text(h.text, sizeof(h.text), "%s%s%s", holder, *reason ? ": " : "",
		    text_excerpt(reason, excerpt, sizeof(excerpt)));
	free(TAKE_PTR(e->refused)); /* it can be loaded now */
	h.cookie = ++e->hold_cookie;
	h.realtime_usec = io_now(e->io, CLOCK_REALTIME);
	e->hold[e->n_holds++] = h;
	*ret_cookie = h.cookie;
	engine_choose(e);
	return 0;
}

int engine_release_hold(struct engine *e, uint32_t cookie)
{
	for (size_t i = 0; i < e->n_holds; i++) {
		if (e->hold[i].cookie != cookie)
			continue;
		free(e->hold[i].profile);
		memmove(&e->hold[i], &e->hold[i + 1], (--e->n_holds - i) * sizeof(*e->hold));
		engine_choose(e);
		return 0;
	}
	return -ENOENT;
}

void engine_choice_done(struct engine *e)
{
	for (size_t i = 0; i < e->n_holds; i++)
		free(e->hold[i].profile);
	free(e->expected_hold);
	chooser_free(e->chooser);
	units_free(e->units);
	free(e->refused);
}
