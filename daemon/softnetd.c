/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon: options, event loop, order of start and stop. Everything else is the engine's. */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/engine.h"
#include "observe/links.h"
#include "profile/profile-file.h"
#include "serve/bus.h"
#include "serve/holds.h"
#include "serve/journal.h"
#include "serve/live.h"
#include "serve/show.h"
#include "serve/system-bus.h"

/* A line in the kernel log brings the next tick forward (a stall is to be answered at once), but
 * only once in this time: a chatty kernel is no reason to wake up more often. */
#define HURRY_EVERY_USEC (10 * USEC_PER_SEC)
/* systemd keeps STATUS= for whoever asks; it need not know every packet rate. */
#define STATUS_EVERY_USEC (10 * USEC_PER_SEC)

struct options {
	const char *root, *profile, *config_dir, *bus;
	bool have_mode, live;
	enum mode mode;
};

struct daemon {
	struct io *io;
	char **config_dirs;
	struct engine *engine;
	sd_event *event;
	sd_event_source *tick, *kmsg;
	int kmsg_fd; /* that `kmsg` looks at */
	struct news {
		struct links *links; /* NULL: none */
		sd_event_source *source;
	} link, ethtool;
	struct holds *holds;
	struct bus_server *bus;
	struct system_bus *system_bus;
	struct live *live;
	uint64_t hurried_usec, status_usec, watchdog_usec, fed_usec;
};

static void print_help(void)
{
	puts("softnetd [OPTIONS]\n"
	     "Keeps the receive path of this host healthy: watches what the softirq machinery does,\n"
	     "works out which limit binds, moves one setting, and gives everything back when it stops.\n"
	     "\n"
	     "      --foreground      Stay in the foreground (softnetd always does)\n"
	     "      --live            Show on the terminal what is seen and done\n"
	     "      --profile NAME    Use this profile instead of softnetd.conf's\n"
	     "      --mode MODE       observe, advise or apply instead of softnetd.conf's\n"
	     "      --dry-run         The same as --mode advise: decide, write nothing\n"
	     "      --config-dir DIR  Read the shipped configuration from DIR, not " PREFIX
	     "/lib/softnetd\n"
	     "      --root DIR        Work on the captured tree DIR instead of this host\n"
	     "      --bus ADDRESS     Be org.softnetd1 on this message bus: system (the default for\n"
	     "                        this host), none (that for a captured tree), or an address\n"
	     "  -h, --help            Show this help\n"
	     "      --version         Show the version\n"
	     "\n"
	     "SIGHUP reads the configuration again, SIGUSR1 writes the status to the log, SIGTERM and\n"
	     "SIGINT end it. See softnetd(8).");
}

/* Returns 0 to go on, 1 when the program is done, or -EINVAL after a message. */
static int parse_options(int argc, char **argv, struct options *o)
{
	enum {
		FOREGROUND = 256,
		LIVE,
		PROFILE,
		MODE,
		DRY_RUN,
		CONFIG_DIR,
		ROOT,
		BUS,
		VERSION
	};
	static const struct option long_options[] = {
		{"foreground", no_argument, NULL, FOREGROUND},
		{"live", no_argument, NULL, LIVE},
		{"profile", required_argument, NULL, PROFILE},
		{"mode", required_argument, NULL, MODE},
		{"dry-run", no_argument, NULL, DRY_RUN},
		{"config-dir", required_argument, NULL, CONFIG_DIR},
		{"root", required_argument, NULL, ROOT},
		{"bus", required_argument, NULL, BUS},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, VERSION},
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) >= 0) {
		switch (c) {
		case FOREGROUND:
			break;
		case LIVE:
			o->live = true;
			break;
		case PROFILE:
			o->profile = optarg;
			break;
		case MODE:
			if (mode_from_string(optarg, &o->mode) < 0) {
				log_error("--mode is observe, advise or apply, not \"%s\"", optarg);
				return -EINVAL;
			}
			o->have_mode = true;
			break;
		case DRY_RUN:
			o->mode = MODE_ADVISE;
			o->have_mode = true;
			break;
		case CONFIG_DIR:
			o->config_dir = optarg;
			break;
		case ROOT:
			o->root = optarg;
			break;
		case BUS:
			o->bus = optarg;
			break;
		case 'h':
			print_help();
			return 1;
		case VERSION:
			puts("softnetd " SOFTNETD_VERSION);
			return 1;
		default:
			return -EINVAL;
		}
	}
	if (optind < argc) {
		log_error("softnetd takes no words, only options: \"%s\"", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

#define LATENCY_NAME "cpu_dma_latency"

/* A run that kept its settings left its request of /dev/cpu_dma_latency with the service manager,
 * which hands it to this one. From now on it is ours alone. */
static bool take_latency_fd(int *ret)
{
	_cleanup_(strv_freep) char **names = NULL;
	int n = sd_listen_fds_with_names(true, &names);
	bool found = false;

	for (int i = 0; i < n; i++) {
		if (!found && streq(names[i], LATENCY_NAME)) {
			*ret = SD_LISTEN_FDS_START + i;
			found = true;
		} else {
			close(SD_LISTEN_FDS_START + i);
		}
	}
	if (found)
		sd_notify(false, "FDSTOREREMOVE=1\nFDNAME=" LATENCY_NAME);
	return found;
}

/* What was kept at the stop has to outlive this process. */
static void leave_latency_fd(struct daemon *d)
{
	int fd = engine_latency_fd(d->engine);

	if (fd < 0)
		return;
	if (sd_pid_notify_with_fds(0, false, "FDSTORE=1\nFDNAME=" LATENCY_NAME, &fd, 1) <= 0)
		log_warning(
			"cpu_dma_latency cannot be kept: nobody holds its descriptor from here on");
}

static int start_engine(struct daemon *d, const struct options *o)
{
	struct engine_options eo = {
		.io = d->io,
		.config_dirs = (const char *const *)d->config_dirs,
		.profile = o->profile,
		.have_mode = o->have_mode,
		.mode = o->mode,
		.lock = true,
	};
	_cleanup_free_ char *expected_hold = holds_expected(d->io);
	struct complaints complaints = {};
	pid_t other = 0;
	int r;

	eo.expected_hold = expected_hold;
	eo.have_latency_fd = take_latency_fd(&eo.latency_fd);
	if (d->io->live && geteuid() != 0) {
		log_notice("Not root: softnetd only observes, changing settings needs root");
		eo.have_mode = true;
		eo.mode = MODE_OBSERVE;
		eo.lock = false;
	}
	r = engine_new(&eo, &complaints, &other, &d->engine);
	if (r == -EROFS || r == -EACCES || r == -EPERM) {
		/* Without a ledger nothing can be promised back, so nothing is changed. */
		log_warning("No ledger can be kept in /run/softnetd (%s): softnetd only observes",
			    strerror(-r));
		eo.have_mode = true;
		eo.mode = MODE_OBSERVE;
		eo.lock = false;
		complaints_done(&complaints);
		complaints = (struct complaints){};
		r = engine_new(&eo, &complaints, &other, &d->engine);
	}
	complaints_log(&complaints, LOG_LEVEL_ERROR);
	if (r == -EBUSY)
		log_error("softnetd runs already, with pid %d", other);
	else if (r < 0 && complaints.n == 0)
		log_error_errno(r, "Cannot start");
	complaints_done(&complaints);
	return r;
}

static void on_engine_event(void *userdata, const struct engine_event *ev)
{
	struct daemon *d = userdata;

	journal_event(engine_profile_name(d->engine), ev);
	if (d->bus)
		bus_server_event(d->bus, ev);
	if (d->system_bus)
		system_bus_event(d->system_bus, ev);
	d->status_usec = 0;
}

static void tell_status(struct daemon *d, uint64_t now)
{
	char line[512];

	if (d->status_usec && now - d->status_usec < STATUS_EVERY_USEC)
		return;
	d->status_usec = now;
	engine_status_line(d->engine, line, sizeof(line));
	sd_notifyf(false, "STATUS=%s", line);
}

/* Fed from the tick and nowhere else: a loop that turns but does not tick is dead. */
static void feed_watchdog(struct daemon *d, uint64_t now)
{
	if (!d->watchdog_usec || now - d->fed_usec < d->watchdog_usec / 4)
		return;
	d->fed_usec = now;
	sd_notify(false, "WATCHDOG=1");
}

static int schedule_tick(struct daemon *d, uint64_t usec)
{
	int r;

	r = sd_event_source_set_time(d->tick, usec);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(d->tick, SD_EVENT_ONESHOT);
}

static void refresh_buses(struct daemon *d)
{
	if (d->bus)
		bus_server_refresh(d->bus);
	if (d->system_bus)
		system_bus_refresh(d->system_bus);
}

static int watch_log(struct daemon *d);

static int on_tick(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct daemon *d = userdata;
	uint64_t now;
	int r;

	r = sd_event_now(d->event, CLOCK_MONOTONIC, &now);
	if (r < 0)
		return r;
	/* Logged where it failed; the next tick may find memory again. */
	(void)engine_tick(d->engine);
	r = watch_log(d);
	if (r < 0)
		log_warning_errno(r, "No news of the kernel log between the ticks");
	refresh_buses(d);
	if (d->live)
		live_tick(d->live, d->engine);
	tell_status(d, now);
	feed_watchdog(d, now);
	if (d->kmsg && now - d->hurried_usec >= HURRY_EVERY_USEC)
		sd_event_source_set_enabled(d->kmsg, SD_EVENT_ON);
	return schedule_tick(d, now + engine_tick_usec(d->engine));
}

/* The tick reads the log; until the next hurry is allowed nobody looks at the descriptor. */
static int on_kmsg(sd_event_source *s, int fd _unused_, uint32_t revents _unused_, void *userdata)
{
	struct daemon *d = userdata;
	int r;

	r = sd_event_now(d->event, CLOCK_MONOTONIC, &d->hurried_usec);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(s, SD_EVENT_OFF);
	if (r < 0)
		return r;
	return schedule_tick(d, d->hurried_usec);
}

/* The reader of the log closes its descriptor when the source fails and opens another when it comes
 * back: the loop then has to look at that one (case B37). */
static int watch_log(struct daemon *d)
{
	int fd = engine_kmsg_fd(d->engine), r;

	if (d->kmsg && fd == d->kmsg_fd)
		return 0;
	d->kmsg = sd_event_source_disable_unref(d->kmsg);
	d->kmsg_fd = fd;
	if (fd < 0)
		return 0;
	r = sd_event_add_io(d->event, &d->kmsg, fd, EPOLLIN, on_kmsg, d);
	/* A log that is a plain file cannot be waited for; the ticks read it all the same. */
	return r == -EPERM ? 0 : r;
}

/* The negative return value of a sender that says no more. */
static int take_news(struct daemon *d, struct news *n)
{
	int news = links_drain(n->links);

	if (news < 0) {
		sd_event_source_set_enabled(n->source, SD_EVENT_OFF);
		return news;
	}
	if (news & NEWS_LINK)
		engine_note_link_change(d->engine);
	if (news & NEWS_RESET)
		engine_note_driver_reset(d->engine);
	if (news & NEWS_COALESCE)
		engine_look_soon(d->engine);
	return 0;
}

static int on_link(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		   void *userdata)
{
	struct daemon *d = userdata;
	int r = take_news(d, &d->link);

	if (r < 0)
		log_warning_errno(
			r, "No more news of network interfaces; they are looked for now and then");
	return 0;
}

static int on_ethtool(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		      void *userdata)
{
	struct daemon *d = userdata;
	int r = take_news(d, &d->ethtool);

	if (r < 0)
		log_warning_errno(r, "No more news of channels, rings and coalescing; they are "
				     "looked for now and then");
	return 0;
}

static int on_reload(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
		     void *userdata)
{
	struct daemon *d = userdata;
	struct complaints complaints = {};
	uint64_t now = io_now(d->io, CLOCK_MONOTONIC);
	int r;

	sd_notifyf(false,
		   "RELOADING=1\nMONOTONIC_USEC=%" PRIu64
		   "\nSTATUS=Reading the configuration again",
		   now);
	r = engine_reload(d->engine, &complaints);
	complaints_log(&complaints, LOG_LEVEL_ERROR);
	complaints_done(&complaints);
	if (r < 0)
		log_error("The configuration is not used; softnetd goes on with the one it has");
	refresh_buses(d);
	d->status_usec = 0;
	tell_status(d, now);
	sd_notify(false, "READY=1");
	return 0;
}

static int on_dump(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
		   void *userdata)
{
	struct daemon *d = userdata;
	_cleanup_free_ char *text = NULL;
	char *save = NULL;
	json_t *doc;
	size_t n;
	FILE *f;

	f = open_memstream(&text, &n);
	if (!f)
		return 0;
	doc = engine_status(d->engine);
	show_status(f, 0, doc);
	json_decref(doc);
	if (fclose(f) != 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		log_info("%s", line);
	return 0;
}

static int add_signals(struct daemon *d)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
	static const sd_event_signal_handler_t handlers[] = {NULL, NULL, on_reload, on_dump};
	sigset_t set;
	int r;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	for (size_t i = 0; i < ELEMENTSOF(signals); i++)
		sigaddset(&set, signals[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	/* Without a handler sd-event ends the loop, and the userdata is the loop's result. */
	for (size_t i = 0; i < ELEMENTSOF(signals); i++) {
		r = sd_event_add_signal(d->event, NULL, signals[i], handlers[i],
					handlers[i] ? d : NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_news(struct daemon *d, struct news *n, int (*open)(struct links **),
		    const char *what, sd_event_io_handler_t handler)
{
	int r = open(&n->links);

	if (r < 0) {
		log_warning_errno(r, "No news of %s; they are looked for now and then", what);
		return 0;
	}
	return sd_event_add_io(d->event, &n->source, links_fd(n->links), EPOLLIN, handler, d);
}

static void news_done(struct news *n)
{
	sd_event_source_disable_unref(n->source);
	if (n->links)
		links_close(n->links);
}

/* A captured tree has no news, and a live host without them is still looked at now and then. */
static int add_links(struct daemon *d)
{
	int r;

	if (!d->io->live)
		return 0;
	r = add_news(d, &d->link, links_open, "network interfaces", on_link);
	if (r < 0)
		return r;
	return add_news(d, &d->ethtool, links_open_ethtool, "channels, rings and coalescing",
			on_ethtool);
}

static int add_sources(struct daemon *d)
{
	uint64_t tick = engine_tick_usec(d->engine);
	int r;

	/* A tenth of a tick of slack lets the kernel wake us together with others. */
	r = sd_event_add_time_relative(d->event, &d->tick, CLOCK_MONOTONIC, 0, tick / 10, on_tick,
				       d);
	if (r < 0)
		return r;
	r = watch_log(d);
	if (r < 0)
		return r;
	return add_links(d);
}

/* Root alone may have the name on the system's bus. */
static bool wants_bus(const struct daemon *d, const struct options *o)
{
	if (o->bus)
		return !streq(o->bus, "none");
	return d->io->live && geteuid() == 0;
}

/* The daemon works without its socket and without a bus; only softnetctl then cannot reach it. */
static int add_buses(struct daemon *d, const struct options *o)
{
	const char *address = o->bus && !streq(o->bus, "system") ? o->bus : NULL;
	int r;

	r = holds_new(d->event, d->io, d->engine, &d->holds);
	if (r < 0)
		return r;
	r = bus_server_new(d->event, d->io, d->engine, d->holds, &d->bus);
	if (r < 0)
		log_warning_errno(r, "No socket for softnetctl at /run/softnetd/bus");
	r = wants_bus(d, o) ? system_bus_new(d->event, d->engine, d->holds, address, &d->system_bus)
			    : 0;
	if (r < 0)
		return r;
	/* Clients are told, so there must be a way to tell them. */
	holds_take_up(d->holds);
	return 0;
}

static int run(struct daemon *d, const struct options *o)
{
	int r;

	r = io_new(o->root, &d->io);
	if (r < 0)
		return log_error_errno(r, "Cannot open %s", o->root ?: "/");
	r = config_dirs_new(o->config_dir, false, &d->config_dirs);
	if (r < 0)
		return log_oom();
	r = sd_event_new(&d->event);
	if (r >= 0)
		r = add_signals(d);
	if (r < 0)
		return log_error_errno(r, "Cannot set up the event loop");
	if (o->live) {
		r = live_new(&d->live);
		if (r < 0)
			return log_oom();
	}
	r = start_engine(d, o);
	if (r < 0)
		return r;
	engine_set_listener(d->engine, on_engine_event, d);
	r = add_buses(d, o);
	if (r >= 0)
		r = add_sources(d);
	if (r < 0)
		return log_error_errno(r, "Cannot set up the event loop");
	if (sd_watchdog_enabled(false, &d->watchdog_usec) <= 0)
		d->watchdog_usec = 0;
	tell_status(d, io_now(d->io, CLOCK_MONOTONIC));
	sd_notify(false, "READY=1");
	r = sd_event_loop(d->event);
	if (r < 0)
		log_error_errno(r, "The event loop failed");
	return r;
}

/* In the reverse order of the start: nobody can ask for a change any more when things go back. */
static int stop(struct daemon *d)
{
	int r = 0;

	sd_notify(false, "STOPPING=1\nSTATUS=Stopping");
	if (d->holds)
		holds_forget(d->holds);
	bus_server_free(TAKE_PTR(d->bus));
	system_bus_free(TAKE_PTR(d->system_bus));
	holds_free(TAKE_PTR(d->holds));
	live_free(TAKE_PTR(d->live));
	if (d->engine) {
		r = engine_stop(d->engine);
		if (r < 0)
			log_error_errno(r, "Not everything could be given back");
		leave_latency_fd(d);
		engine_set_listener(d->engine, NULL, NULL);
	}
	sd_event_source_disable_unref(d->tick);
	sd_event_source_disable_unref(d->kmsg);
	news_done(&d->link);
	news_done(&d->ethtool);
	engine_free(d->engine);
	sd_event_unref(d->event);
	strv_free(d->config_dirs);
	if (d->io)
		io_free(d->io);
	return r;
}

int main(int argc, char **argv)
{
	struct options options = {};
	struct daemon daemon = {};
	int r, k;

	show_init();
	r = parse_options(argc, argv, &options);
	if (r != 0)
		return r > 0 ? EXIT_SUCCESS : 2;
	r = run(&daemon, &options);
	k = stop(&daemon);
	return r < 0 || k < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
