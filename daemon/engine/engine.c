/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/engine.h"

#include <time.h>

#include "base/log.h"
#include "engine/internal.h"

/* How long a machine must be quiet after a hotplug or link change before it is looked at again: a
 * driver reset brings dozens of events. */
#define REPLAN_USEC (2 * USEC_PER_SEC)

static int discover(struct engine *e)
{
	_cleanup_(topology_freep) struct topology *t = NULL;
	_cleanup_(snapshot_freep) struct snapshot *s = NULL;
	struct sock *sock = NULL;
	unsigned n_socks = 0;
	int r;

	r = observer_topology(e->observer, &t);
	if (r < 0)
		return log_error_errno(r, "Cannot find out what this machine is made of");
	r = observer_snapshot_new(t, &s);
	if (r >= 0)
		r = link_claims_read(e->io, &e->link_claims);
	if (r < 0)
		return log_oom();
	/* Processes go on whatever happens to the machine. */
	if (e->topology) {
		sock = TAKE_PTR(e->topology->sock);
		n_socks = e->topology->n_socks;
	}
	topology_free(e->topology);
	snapshot_free(e->snapshot);
	e->topology = TAKE_PTR(t);
	e->topology->sock = sock;
	e->topology->n_socks = n_socks;
	e->discovered_online = e->topology->online;
	e->snapshot = TAKE_PTR(s);
	window_reset(e->window);
	decider_reset(e->decider);
	engine_verify_anew(e);
	e->decisions = NULL;
	e->n_reported = reports_on_new_host(e->reported, e->n_reported);
	if (engine_watch_anew(e) < 0 || engine_ahead_anew(e) < 0)
		return log_oom();
	return engine_place_from_ledger(e);
}

/* Why a stop leaves the settings as they are, and the start after it takes them over; NULL: it does
 * not. */
static const char *keeps(const struct engine *e)
{
	if (e->config.keep_on_stop)
		return "on_stop = \"keep\"";
	return ledger_keep_once(e->io) ? "asked for by /run/softnetd/keep" : NULL;
}

/* What a predecessor left behind when it was killed goes back first, whatever the mode: it is
 * somebody else's original. What was kept was left on purpose and is taken over. */
static int clean_up_after_crash(struct engine *e)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	const char *trouble = ledger_trouble(e->ledger), *why = keeps(e);
	size_t n = ledger_size(e->ledger);

	if (trouble)
		log_warning("%s", trouble);
	if (n == 0)
		return 0;
	if (why && engine_mode(e) == MODE_APPLY) {
		log_notice("%zu changed settings of the last run are kept (%s)", n, why);
		return 0;
	}
	log_notice("The last run ended without giving back %zu settings: restoring them", n);
	engine_give_back_all(e, &report);
	return 0;
}

/* One line for each reason: a sandbox that is too narrow refuses many settings at once. */
static void log_refusals(const struct selftest *s)
{
	bool said[_TUNABLE_MAX] = {};

	for (unsigned i = 0; i < _TUNABLE_MAX; i++) {
		char names[512] = "";

		if (said[i] || s->setting[i].refused == 0)
			continue;
		for (unsigned j = i; j < _TUNABLE_MAX; j++) {
			const struct selftest_setting *one = &s->setting[j];

			if (one->refused == 0 || one->error != s->setting[i].error)
				continue;
			said[j] = true;
			append_text(names, sizeof(names), "%s%s", *names ? ", " : "",
				    tunables[j].id);
			if (one->possible > 0)
				append_text(names, sizeof(names), " (%u of %u)", one->refused,
					    one->possible + one->refused);
		}
		log_warning(
			"Cannot be written here: %s: %s (/%s). That is a container, or the sandbox "
			"of softnetd.service: ReadWritePaths=, to which \"systemctl edit softnetd\" adds",
			names, strerror(-s->setting[i].error), s->setting[i].path);
	}
}

void engine_selftest(struct engine *e)
{
	selftest_run(e->io, e->topology, &e->selftest);
	log_refusals(&e->selftest);
}

int engine_new(const struct engine_options *o, struct complaints *c, pid_t *ret_pid,
	       struct engine **ret)
{
	_cleanup_(engine_freep) struct engine *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return log_oom();
	e->io = o->io;
	e->config_dirs = o->config_dirs ? o->config_dirs : engine_no_dirs;
	e->have_mode_override = o->have_mode;
	e->mode_override = o->mode;
	if (o->profile) {
		e->profile_override = strdup(o->profile);
		if (!e->profile_override)
			return log_oom();
	}
	if (o->expected_hold) {
		e->expected_hold = strdup(o->expected_hold);
		if (!e->expected_hold)
			return log_oom();
	}
	r = engine_load(e, &e->config, &e->profile, c);
	if (r < 0)
		return r;
	r = ledger_open(e->io, o->lock, ret_pid, &e->ledger);
	if (r < 0)
		return r;
	r = observer_new(e->io, &e->observer);
	if (r >= 0)
		r = window_new(&e->window);
	if (r >= 0)
		r = decider_new(&e->decider);
	if (r >= 0)
		r = actuator_new(e->io, e->ledger, 0, &e->actuator);
	if (r >= 0)
		r = actuator_new(e->io, e->ledger, ACT_DRY_RUN, &e->dry);
	if (r < 0)
		return log_error_errno(r, "Cannot set up the engine");
	if (o->have_latency_fd)
		act_adopt_latency(e->actuator, o->latency_fd);
	e->started_usec = io_now(e->io, CLOCK_BOOTTIME);
	r = discover(e);
	if (r >= 0)
		r = engine_choose_first(e);
	if (r < 0)
		return r;
	if (engine_mode(e) == MODE_APPLY)
		engine_selftest(e);
	if (o->lock) {
		r = clean_up_after_crash(e);
		if (r < 0)
			return r;
		/* Kept settings that today's profile does not want. */
		e->taking_over = ledger_kept(e->io);
		if (ledger_size(e->ledger) > 0)
			engine_give_back_unwanted(e);
		if (e->taking_over)
			engine_adopt_kept(e);
		e->taking_over = false;
		ledger_keep_done(e->io);
	}
	engine_read_values(e);
	r = engine_policy(e);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(e);
	return 0;
}

int engine_stop(struct engine *e)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	const char *why = keeps(e);
	int r;

	if (why) {
		engine_drop_trial(e);
		if (ledger_size(e->ledger) == 0)
			return 0;
		log_notice(
			"%zu changed settings stay as they are (%s); softnetctl restore gives them back",
			ledger_size(e->ledger), why);
		r = ledger_keep_stopped(e->io);
		if (r < 0)
			log_warning_errno(
				r,
				"The next start gives back what trials proved, for it cannot be told");
		return 0;
	}
	if (ledger_size(e->ledger) == 0)
		return 0;
	/* A NIC that is up again and a CPU that is back may not be known yet, and this is the last chance to
	 * give them back what was theirs. What cannot be found out anew is as it was known. */
	(void)discover(e);
	return engine_give_back_all(e, &report);
}

int engine_latency_fd(const struct engine *e)
{
	return e->actuator ? act_latency_fd(e->actuator) : -1;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	engine_forget(e);
	engine_verify_done(e);
	for (size_t i = 0; i < e->n_pins; i++)
		free(e->pins[i].value);
	free(e->pins);
	free(e->placed);
	free(e->ahead);
	free(e->watch);
	engine_choice_done(e);
	actuator_free(e->actuator);
	actuator_free(e->dry);
	decider_free(e->decider);
	window_free(e->window);
	snapshot_free(e->snapshot);
	topology_free(e->topology);
	link_claims_done(&e->link_claims);
	observer_free(e->observer);
	ledger_free(e->ledger);
	profile_free(e->profile);
	config_done(&e->config);
	free(e->profile_override);
	free(e);
}

/* ---- one tick ---- */

static void note_sources(struct engine *e)
{
	for (size_t i = 0; i < _SOURCE_MAX; i++) {
		const struct source_status *s = &e->snapshot->source[i];
		enum source_state was = e->source_seen[i];

		if (s->state == was)
			continue;
		e->source_seen[i] = s->state;
		if (s->state == SOURCE_STRANGE)
			log_warning("%s", s->text);
		else if (s->state == SOURCE_ABSENT)
			log_info("%s", s->text);
		else if (was == SOURCE_STRANGE || was == SOURCE_ABSENT)
			log_info("%s can be read again", source_path((enum source)i));
		else
			continue;
		engine_tell(e, &(struct engine_event){.kind = EVENT_SOURCE, .text = s->text});
	}
}

static bool same_matter(const struct symptom_report *a, const struct symptom_report *b)
{
	return a->symptom == b->symptom && a->nic == b->nic && a->irq == b->irq;
}

static bool is_among(const struct symptom_report *r, const struct symptom_report *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (same_matter(r, &list[i]))
			return true;
	return false;
}

static void note_symptoms(struct engine *e)
{
	const struct decisions *d = e->decisions;

	for (unsigned i = 0; i < d->n_reports; i++)
		if (!is_among(&d->report[i], e->reported, e->n_reported))
			engine_tell(e, &(struct engine_event){.kind = EVENT_SYMPTOM_ENTER,
							      .report = &d->report[i],
							      .text = d->report[i].text});
	for (unsigned i = 0; i < e->n_reported; i++)
		if (!is_among(&e->reported[i], d->report, d->n_reports))
			engine_tell(e, &(struct engine_event){.kind = EVENT_SYMPTOM_LEAVE,
							      .report = &e->reported[i],
							      .text = e->reported[i].text});
	memcpy(e->reported, d->report, d->n_reports * sizeof(*e->reported));
	e->n_reported = d->n_reports;
}

/* `stalled`: back to the originals at once, and nothing more until the kernel has been quiet again.
 */
static void hands_off(struct engine *e)
{
	_cleanup_(restore_report_done) struct restore_report report = {};

	if (e->stalled)
		return;
	e->stalled = true;
	if (engine_mode(e) != MODE_APPLY || ledger_size(e->ledger) == 0)
		return;
	log_warning("The kernel reports a stall: all changed settings go back to their originals");
	engine_give_back_all(e, &report);
}

static void carry_out(struct engine *e, uint64_t now)
{
	if (e->decisions->has_verdict) {
		const struct trial_verdict *v = &e->decisions->verdict;

		engine_remember(e,
				&(struct history_entry){.kind = HISTORY_VERDICT,
							.change = (struct change *)&v->change,
							.outcome = OUTCOME_UNCHANGED,
							.verdict = v->verdict,
							.before = v->before,
							.after = v->after,
							.judged = v->judged},
				NULL, NULL, v->text);
		engine_tell(e, &(struct engine_event){.kind = EVENT_VERDICT,
						      .change = &v->change,
						      .verdict = v,
						      .text = v->text});
	}
	for (unsigned i = 0; i < e->decisions->n_changes; i++) {
		const struct change *c = &e->decisions->change[i];
		struct result result;

		/* In apply mode the next step is made when its baseline is complete, and told then.
		 */
		if (c->planned && engine_mode(e) == MODE_APPLY)
			continue;
		if (engine_mode(e) == MODE_OBSERVE) {
			result = (struct result){.outcome = OUTCOME_ADVISED};
			decider_learn(e->decider, c, &result, now);
			continue;
		}
		engine_change(e, c, &result);
		decider_learn(e->decider, c, &result, now);
	}
}

static unsigned receive_queues(const struct topology *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n_nics; i++)
		if (*t->nic[i].identity)
			n += t->nic[i].rx_queues;
	return n;
}

/* CPUs, NICs or interrupts came or went: look again once it is quiet. */
static int follow_hotplug(struct engine *e, uint64_t now)
{
	struct cpuset before, came;
	unsigned queues;
	int r;

	if (observer_topology_changed(e->observer)) {
		if (!e->replan_usec)
			e->replan_usec = now + REPLAN_USEC;
	}
	if (!e->replan_usec || now < e->replan_usec)
		return 0;
	e->replan_usec = 0;
	before = e->discovered_online;
	queues = receive_queues(e->topology);
	r = discover(e);
	if (r < 0)
		return r;
	engine_drop_vanished(e);
	came = cpuset_minus(&e->topology->online, &before);
	act_forget(e->actuator);
	act_forget(e->dry);
	e->next_slow_usec = 0;
	engine_forget_ended(e);
	/* Until all rounds of the policy are done: see engine_tick(). */
	act_host_changed(e->actuator, &came,
			 !cpuset_equal(&e->topology->online, &before) ||
				 receive_queues(e->topology) != queues);
	return engine_policy(e);
}

/* NAPI instances came with other ids or threads: what the profile states about them is due again.
 */
static int follow_napis(struct engine *e)
{
	int r;

	if (TAKE(e->napis_due, false)) {
		r = observer_look_at_napis(e->observer, e->topology);
		if (r < 0)
			return log_oom();
		e->policy_due = true;
	}
	/* With a NIC that came or went the whole machine is looked at again, and that brings it. */
	if (observer_napis_changed(e->observer) && !observer_topology_changed(e->observer))
		e->policy_due = true;
	return 0;
}

/* A symptom deserves slow looks: affinities and ksoftirqd are evidence. So does a trial that is judged
 * by ksoftirqd's waiting, also when its symptom is gone. */
static bool needs_slow_looks(const struct engine *e)
{
	const struct change *on_trial;

	if (decider_trials(e->decider, &on_trial, 1) > 0 &&
	    (e->profile->objective == OBJECTIVE_WAIT || on_trial->symptom == SYMPTOM_KSOFTIRQD_LAG))
		return true;
	for (unsigned i = 0; i < e->decisions->n_reports; i++)
		if (e->decisions->report[i].symptom != SYMPTOM_BLIND &&
		    e->decisions->report[i].symptom != SYMPTOM_NOHZ_NET &&
		    e->decisions->report[i].symptom != SYMPTOM_LOW_RATE &&
		    e->decisions->report[i].symptom != SYMPTOM_POLL_BURN)
			return true;
	return false;
}

int engine_tick(struct engine *e)
{
	uint64_t now = io_now(e->io, CLOCK_MONOTONIC);
	bool slow = now >= e->next_slow_usec;
	const struct change *on_trial;
	int r;

	r = follow_hotplug(e, now);
	if (r < 0)
		return r;
	snapshot_clear(e->snapshot);
	r = observer_read(e->observer, e->topology, slow, e->snapshot);
	if (r < 0)
		return log_error_errno(r, "Cannot read the sensors");
	r = follow_napis(e);
	if (r < 0)
		return r;
	if (slow) {
		e->next_slow_usec = now + e->config.slow_look_usec;
		/* What a hotplug made of a setting is looked at when the machine is quiet again. */
		if (!e->replan_usec && !observer_topology_changed(e->observer))
			engine_sweep(e);
		engine_follow_interrupts(e);
		r = engine_look_at_sockets(e);
		if (r < 0)
			return log_oom();
		r = units_read(e->units);
		if (r < 0)
			return log_oom();
	}
	/* A setting on trial is looked at every time: a value that somebody else wrote would be
	 * judged as ours. */
	if (slow || decider_trials(e->decider, &on_trial, 1) > 0)
		engine_read_values(e);
	r = window_push(e->window, e->snapshot);
	if (r < 0)
		return log_oom();
	note_sources(e);
	free(TAKE_PTR(e->expected_hold)); /* it is held by now, or over */
	engine_choose(e);

	struct decide_input in = {
		.now_usec = now,
		.snapshot = e->snapshot,
		.window = e->window,
		.topology = e->topology,
		.profile = e->profile,
		.values = &e->values,
		.unmet = e->unmet,
		.changes_per_hour = e->config.max_changes_per_hour,
		.moves_per_round = e->config.max_moves_per_round,
		.placed = engine_placed,
		.pinned = engine_pinned,
		.original = engine_original,
		.userdata = e,
	};
	decide(e->decider, &in, &e->decisions);
	note_symptoms(e);
	if (e->decisions->back_to_originals) {
		hands_off(e);
	} else {
		if (e->stalled) {
			e->stalled = false;
			e->policy_due = true;
		}
		carry_out(e, now);
		if (*e->decisions->returns) {
			log_notice("%s", e->decisions->returns);
			e->policy_due = true;
		}
		if (e->policy_due)
			engine_policy(e);
	}
	if (!e->policy_due)
		act_host_changed(e->actuator, &(struct cpuset){}, false);
	engine_watch_irqs(e);
	engine_verify(e, slow);
	if (engine_look_ahead(e) < 0)
		return log_oom();
	if (needs_slow_looks(e))
		e->next_slow_usec = MIN(e->next_slow_usec, now + 2 * e->config.tick_usec);
	e->ticks++;
	return 0;
}

uint64_t engine_tick_usec(const struct engine *e)
{
	return e->config.tick_usec;
}

int engine_kmsg_fd(const struct engine *e)
{
	return observer_kmsg_fd(e->observer);
}

void engine_note_link_change(struct engine *e)
{
	observer_note_link_change(e->observer);
}

void engine_note_driver_reset(struct engine *e)
{
	observer_note_reset(e->observer);
}

void engine_look_soon(struct engine *e)
{
	e->next_slow_usec = 0;
}

void engine_set_listener(struct engine *e, void (*f)(void *userdata, const struct engine_event *ev),
			 void *userdata)
{
	e->listener = f;
	e->listener_userdata = userdata;
}
