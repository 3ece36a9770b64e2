/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings through decide/: the same decisions as the engine took on the living host, the same
 * decisions every time, and those that stand in tests/replay/NAME.expect.
 *
 * "test-replay DIR" writes the recordings of all stories (tests/lib/story.h) into DIR instead: how
 * those in tests/replay were made. Their .expect is what `softnetctl replay` says.
 */
#include <stdio.h>

#include "engine/engine.h"
#include "lib/config-tree.h"
#include "lib/run.h"
#include "lib/story.h"
#include "profile/profile-file.h"
#include "serve/recorder.h"
#include "serve/replay.h"

/* ---- the profile of the stories, as softnetd reads it ---- */

static struct config_tree files;
static struct profile *profile;

/* The profile of a story is in force, and loaded. */
static void use_profile(const struct story *story)
{
	tree_write(files.tree, "vendor/profiles/story.conf", story_profile_of(story));
	profile_free(profile);
	profile = NULL;
	profile_load(files.dirs, "story", &profile, &files.complaints);
	expect_silence(&files);
}

static void setup(void)
{
	config_tree_init(&files);
	tree_write(files.tree, "vendor/softnetd.conf",
		   "profile = \"story\";\nmode = \"advise\";\n");
}

static void teardown(void)
{
	profile_free(profile);
	profile = NULL;
	config_tree_done(&files);
}

/* ---- what was decided, as text ---- */

static void line(FILE *out, uint64_t usec, const char *what, const char *name, const char *more)
{
	fprintf(out, "%6.1f %s %s %s\n", (double)usec / (double)USEC_PER_SEC, what, name, more);
}

static void change_line(FILE *out, uint64_t usec, const struct change *c, enum outcome outcome)
{
	char more[2 * VALUE_MAX + 64];

	snprintf(more, sizeof(more), "%s > %s, %s", c->from, c->to, outcome_to_string(outcome));
	line(out, usec, "change", c->id, more);
}

/* The engine in advise mode tells a step when it is planned, and not again when it is due. */
static bool is_due(const struct replay_event *ev)
{
	return ev->change && ev->change->class == CLASS_TRIAL && !ev->change->planned &&
	       !ev->change->advice_only && ev->outcome == OUTCOME_ADVISED;
}

static void note_replayed(void *userdata, const struct replay_event *ev)
{
	FILE *out = userdata;

	if (is_due(ev))
		return;
	if (ev->report)
		line(out, ev->usec, replay_kind_to_string(ev->kind),
		     symptom_to_string(ev->report->symptom), ev->report->text);
	else if (ev->change)
		change_line(out, ev->usec, ev->change, ev->outcome);
	else if (ev->verdict)
		line(out, ev->usec, "verdict", ev->verdict->change.id, ev->verdict->text);
}

/* The decisions over RECORDING; the caller frees. */
static char *replayed(const char *recording, size_t size, const struct profile *with)
{
	_cleanup_(trace_reader_freep) struct trace_reader *reader = NULL;
	_cleanup_(complaints_done) struct complaints c = {};
	struct replay_sum sum;
	char *text = NULL;
	size_t length;
	FILE *in = fmemopen((char *)recording, size, "r"), *out = open_memstream(&text, &length);
	int r;

	ck_assert(in && out);
	r = trace_reader_new(in, &c, &reader);
	if (r >= 0)
		r = replay_run(reader, with, &c, note_replayed, out, &sum);
	ck_assert_msg(r == 0, "line %u: %s", c.item[0].line, c.n ? c.item[0].text : "");
	ck_assert(!trace_torn(reader));
	fclose(in);
	fclose(out);
	return text;
}

/* ---- a story, recorded, and with an engine beside it ---- */

struct scene {
	struct recorder *recorder;
	FILE *recording;
	char *text;
	size_t size;
	/* the engine's */
	bool with_engine;
	struct engine *engine;
	struct machine *machine;
	uint64_t start_usec;
	FILE *said;
	char *said_text;
	size_t said_size;
};

static void note_lived(void *userdata, const struct engine_event *ev)
{
	struct scene *s = userdata;
	uint64_t usec = s->machine->mono_usec - s->start_usec;

	if (ev->kind == EVENT_SYMPTOM_ENTER || ev->kind == EVENT_SYMPTOM_LEAVE)
		line(s->said, usec, ev->kind == EVENT_SYMPTOM_ENTER ? "enter" : "leave",
		     symptom_to_string(ev->report->symptom), ev->report->text);
	else if (ev->kind == EVENT_CHANGE)
		change_line(s->said, usec, ev->change, ev->result->outcome);
	else if (ev->kind == EVENT_VERDICT)
		line(s->said, usec, "verdict", ev->change->id, ev->text);
}

static void start(struct machine *m, void *userdata)
{
	struct scene *s = userdata;
	const struct trace_about about = {.mode = MODE_ADVISE,
					  .profile = profile,
					  .changes_per_hour = 30,
					  .moves_per_round = 4};

	s->machine = m;
	s->start_usec = m->mono_usec;
	s->recording = open_memstream(&s->text, &s->size);
	ck_assert_ptr_nonnull(s->recording);
	ck_assert_int_eq(recorder_new(&m->io, s->recording, &about, &s->recorder), 0);
	if (!s->with_engine)
		return;
	struct engine_options options = {.io = &m->io, .config_dirs = files.dirs};

	s->said = open_memstream(&s->said_text, &s->said_size);
	ck_assert_ptr_nonnull(s->said);
	ck_assert_int_eq(engine_new(&options, &files.complaints, NULL, &s->engine), 0);
	engine_set_listener(s->engine, note_lived, s);
}

static void tick(void *userdata)
{
	struct scene *s = userdata;

	ck_assert_int_eq(recorder_tick(s->recorder), 0);
	if (s->engine)
		ck_assert_int_eq(engine_tick(s->engine), 0);
}

static void scene_done(struct scene *s)
{
	if (s->recorder)
		recorder_free(s->recorder);
	if (s->engine)
		engine_free(s->engine);
	free(s->text);
	free(s->said_text);
}

static void play(struct scene *s, const struct story *story)
{
	use_profile(story);
	story_play(story, start, tick, s);
	fclose(s->recording);
	if (s->said)
		fclose(s->said);
}

/* Without the policy that the engine states before anybody listens. */
static void drop_start(char *text)
{
	char *from = text;

	while (startswith(from, "   0.0 change")) {
		char *next = strchr(from, '\n');

		if (!strstr(from, "-policy "))
			break;
		from = next + 1;
	}
	memmove(text, from, strlen(from) + 1);
}

START_TEST(replay_decides_as_the_engine_did)
{
	const struct story *story = &stories[_i];
	_cleanup_(scene_done) struct scene s = {.with_engine = true};
	_cleanup_free_ char *again = NULL;

	if (story->intervenes)
		return;
	play(&s, story);
	again = replayed(s.text, s.size, NULL);
	drop_start(again);
	ck_assert_msg(streq(again, s.said_text), "%s, replayed:\n%slived:\n%s", story->name, again,
		      s.said_text);
	ck_assert_msg(strlen(again) > 0, "nothing happened in %s", story->name);
}
END_TEST

START_TEST(replay_is_the_same_every_time)
{
	_cleanup_(scene_done) struct scene s = {};
	_cleanup_free_ char *one = NULL, *two = NULL;

	play(&s, &stories[_i]);
	one = replayed(s.text, s.size, NULL);
	two = replayed(s.text, s.size, NULL);
	ck_assert_str_eq(one, two);
}
END_TEST

/* The recorded profile and the same one given by name decide the same. */
START_TEST(profile_comes_back_as_it_was)
{
	_cleanup_(scene_done) struct scene s = {};
	_cleanup_free_ char *recorded = NULL, *given = NULL;

	play(&s, &stories[_i]);
	recorded = replayed(s.text, s.size, NULL);
	given = replayed(s.text, s.size, profile);
	ck_assert_str_eq(recorded, given);
}
END_TEST

/* A change that is to be seen is made, judged and kept; one that is not stays advice. */
START_TEST(changes_are_answered_by_what_the_recording_shows)
{
	for (size_t i = 0; i < n_stories; i++) {
		_cleanup_(scene_done) struct scene s = {};
		_cleanup_free_ char *text = NULL;

		play(&s, &stories[i]);
		text = replayed(s.text, s.size, NULL);
		if (streq(stories[i].name, "squeezed-packets")) {
			ck_assert_ptr_nonnull(strstr(text, "300 > 450, done"));
			ck_assert_ptr_nonnull(strstr(text, "450 > 300, done"));
			ck_assert_ptr_nonnull(strstr(text, "netdev_budget: kept"));
		} else if (streq(stories[i].name, "squeezed-time")) {
			ck_assert_ptr_nonnull(strstr(text, "8000 > 12000, done"));
			ck_assert_ptr_nonnull(strstr(text, "netdev_budget_usecs: kept"));
			ck_assert_ptr_nonnull(strstr(text, "CPU time per packet from"));
		} else if (streq(stories[i].name, "drops-no-cure")) {
			ck_assert_ptr_nonnull(strstr(text, "1000 > 1500, done"));
			ck_assert_ptr_nonnull(strstr(text, "netdev_max_backlog: no effect"));
			ck_assert_ptr_nonnull(strstr(text, "1500 > 1000, done"));
		} else if (streq(stories[i].name, "hot-cpu")) {
			ck_assert_ptr_nonnull(strstr(text, "-hot-cpu 0 > 1, advised"));
			ck_assert_ptr_nonnull(strstr(text, "-hot-cpu 0 > 1, done"));
		} else {
			ck_assert_ptr_null(strstr(text, ", done"));
		}
	}
}
END_TEST

static const char *write_to;

START_TEST(write_story)
{
	_cleanup_(scene_done) struct scene s = {};
	char path[512];
	FILE *f;

	play(&s, &stories[_i]);
	snprintf(path, sizeof(path), "%s/%s.trace", write_to, stories[_i].name);
	f = fopen(path, "w");
	ck_assert_msg(f && fwrite(s.text, 1, s.size, f) == s.size && fclose(f) == 0, "%s: %s", path,
		      strerror(errno));
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("replay");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	if (argc == 2) {
		write_to = argv[1];
		tcase_add_loop_test(t, write_story, 0, (int)n_stories);
		return run_suite("stories", t);
	}
	tcase_add_loop_test(t, replay_decides_as_the_engine_did, 0, (int)n_stories);
	tcase_add_loop_test(t, replay_is_the_same_every_time, 0, (int)n_stories);
	tcase_add_loop_test(t, profile_comes_back_as_it_was, 0, (int)n_stories);
	tcase_add_test(t, changes_are_answered_by_what_the_recording_shows);
	return run_suite("replay", t);
}
