/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what the sensors see into a file, for replay and for bug reports. */
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "profile/profile-file.h"
#include "serve/recorder.h"
#include "serve/sheet.h"

/* What softnetd would do here is worth recording, but no reason not to record. */
static void read_profile(struct ctl *ctl, struct config *config, struct profile **profile)
{
	struct complaints c = {};
	int r;

	r = config_load(ctl_config_dirs(ctl), config, &c);
	if (r >= 0)
		r = profile_load(ctl_config_dirs(ctl), config->profile, profile, &c);
	if (r < 0)
		ctl_fail(CTL_FINE, "No profile in the recording: %s%s%s",
			 c.n > 0 && c.item[0].file ? c.item[0].file : "",
			 c.n > 0 && c.item[0].file ? ": " : "",
			 c.n > 0 && c.item[0].text ? c.item[0].text : strerror(-r));
	complaints_done(&c);
}

static FILE *open_output(const char *path)
{
	_cleanup_close_ int fd = -1;
	FILE *f;

	if (streq(path, "-"))
		return stdout;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST) {
		ctl_fail(CTL_FAILED, "%s exists: a recording never overwrites a file", path);
		return NULL;
	}
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f) {
		ctl_fail(CTL_FAILED, "Cannot create %s: %s", path, strerror(errno));
		return NULL;
	}
	TAKE_FD(fd);
	return f;
}

/* Until the next tick is due: true when a signal came instead. */
static bool stopped(const sigset_t *signals, uint64_t start_usec, unsigned ticks)
{
	uint64_t due = start_usec + ticks * USEC_PER_SEC, now;
	struct timespec ts;

	do {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		now = (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / NSEC_PER_USEC;
		now = MIN(now, due);
		ts.tv_sec = (time_t)((due - now) / USEC_PER_SEC);
		ts.tv_nsec = (long)((due - now) % USEC_PER_SEC * NSEC_PER_USEC);
		if (sigtimedwait(signals, NULL, &ts) > 0)
			return true;
	} while (errno == EINTR);
	return false;
}

/* Whole ticks until the time is over or a signal comes: those that end a program wait meanwhile. */
static int watch(struct ctl *ctl, struct recorder *r)
{
	struct timespec ts;
	uint64_t start;
	sigset_t signals;
	int k;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	start = (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / NSEC_PER_USEC;
	do {
		k = recorder_tick(r);
		if (k < 0)
			return k;
		if (ctl->seconds > 0 && recorder_ticks(r) > ctl->seconds)
			return 0;
	} while (!stopped(&signals, start, recorder_ticks(r)));
	return 0;
}

static void show_recording(FILE *out, unsigned width _unused_, json_t *doc)
{
	json_int_t ticks = json_integer_value(json_object_get(doc, "ticks"));
	json_int_t bytes = json_integer_value(json_object_get(doc, "bytes"));

	fprintf(out, "%s: %lld ticks, %lld bytes\n",
		json_string_value(json_object_get(doc, "file")), (long long)ticks,
		(long long)bytes);
}

static int tell_end(struct ctl *ctl, const struct recorder *r)
{
	json_t *doc;
	int k;

	if (streq(ctl->output, "-"))
		return CTL_FINE;
	doc = json_pack("{s:s,s:I,s:I}", "file", ctl->output, "ticks",
			(json_int_t)recorder_ticks(r), "bytes", (json_int_t)recorder_bytes(r));
	k = ctl_print(ctl, doc, show_recording);
	json_decref(doc);
	return k;
}

static int record(struct ctl *ctl, const struct trace_about *about)
{
	_cleanup_(recorder_freep) struct recorder *r = NULL;
	struct io *io = ctl_io(ctl);
	FILE *out;
	int k;

	if (!io)
		return CTL_FAILED;
	out = open_output(ctl->output);
	if (!out)
		return CTL_FAILED;
	k = recorder_new(io, out, about, &r);
	if (k >= 0) {
		if (isatty(STDERR_FILENO))
			fputs("Recording; Ctrl-C ends it.\n", stderr);
		k = watch(ctl, r);
	}
	if (out != stdout && fclose(out) != 0 && k >= 0)
		k = -errno;
	if (k < 0) {
		if (out != stdout && (!r || recorder_ticks(r) == 0))
			unlink(ctl->output);
		return ctl_fail(CTL_FAILED, "Cannot record: %s", strerror(-k));
	}
	return tell_end(ctl, r);
}

int verb_record(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	struct trace_about about = {.mode = MODE_ADVISE};
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(config_done) struct config config = {};

	if (!ctl->output)
		return ctl_usage(ctl, "record wants -o FILE, or -o - for standard output");
	read_profile(ctl, &config, &profile);
	about.profile = profile;
	if (profile) {
		about.mode = config.mode;
		about.changes_per_hour = config.max_changes_per_hour;
		about.moves_per_round = config.max_moves_per_round;
	}
	return record(ctl, &about);
}
