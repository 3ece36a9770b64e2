/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ctl.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profile/profile-file.h"
#include "serve/show.h"

const struct verb ctl_verbs[] = {
	{
		.name = "status",
		.args = "",
		.help = "Show what softnetd sees, what binds, and what it changed",
		.more = "One screen: profile and mode, each CPU's packets, drops and squeezes, the NICs\n"
			"and where their interrupts arrive, what binds and by which numbers, the settings\n"
			"that are changed and why, and what cannot be seen on this host.",
		.method = "Describe",
		.run = verb_status,
	},
	{
		.name = "diagnose",
		.args = "",
		.help = "Look once: which limit binds, what would lift it, the commands",
		.more = "Asks softnetd when it runs; with -d or --root, or without softnetd, it watches by\n"
			"itself for 3 seconds or as long as -d says. Nothing is ever written.\n"
			"Exit status 0: nothing binds, 5: something does.",
		.method = "Diagnose",
		.duration = true,
		.run = verb_diagnose,
	},
	{
		.name = "get",
		.args = "[SETTING[@TARGET]]",
		.help = "Show settings: value, what the profile wants, original",
		.more = "A TARGET is an interrupt's number or action name, a cpufreq policy such as\n"
			"policy0, a CPU's number, or the pid or name of an interrupt's thread. Without softnetd, the\n"
			"kernel's values are shown.",
		.method = "DescribeSettings",
		.max_args = 1,
		.run = verb_get,
	},
	{
		.name = "set",
		.args = "SETTING[@TARGET] VALUE",
		.help = "Change a setting and pin it: softnetd leaves it until release",
		.more = "Without a TARGET, a setting of interrupts or policies is changed for all of them.\n"
			"Needs root. The original comes back by release, by restore, or when softnetd\n"
			"stops.",
		.method = "SetSetting",
		.min_args = 2,
		.max_args = 2,
		.run = verb_set,
	},
	{
		.name = "release",
		.args = "SETTING[@TARGET]",
		.help = "Give a setting back: its original, or what the profile states",
		.more = "Needs root.",
		.method = "ReleaseSetting",
		.min_args = 1,
		.max_args = 1,
		.run = verb_release,
	},
	{
		.name = "profile",
		.args = "list|show|check|set|clear …",
		.help = "Work with profiles",
		.more = "  profile list         Show all profiles; the active one is marked\n"
			"  profile show NAME    Show every value and the file and line it comes from\n"
			"  profile check FILE   Check a file without using it\n"
			"  profile set NAME     Use a profile until clear, or until softnetd stops\n"
			"  profile clear        Back to the profile of softnetd.conf\n"
			"set and clear need softnetd and root; the others need neither.",
		.method = "DescribeProfiles, DescribeProfile, SetProfile, ClearProfile",
		.min_args = 1,
		.max_args = 2,
		.run = verb_profile,
	},
	{
		.name = "run",
		.args = "PROFILE [--reason TEXT] [--best-effort] [--] COMMAND …",
		.help = "Run a command with a profile in force",
		.more = "The profile is in force before the command begins and until it ends, also when\n"
			"softnetctl is killed meanwhile; of several holds the newest counts. Signals are\n"
			"handed on. Needs root; the command runs as the same user.\n"
			"Exit status: that of the command, 128 + N when signal N ended it, 127 when there\n"
			"is no such command and 126 when it cannot be executed. Without softnetd (3), root\n"
			"(4) or that profile (1) the command is not run, unless with --best-effort.",
		.method = "HoldProcess",
		.min_args = 1,
		.max_args = UINT_MAX,
		.command = true,
		.run = verb_run,
	},
	{
		.name = "history",
		.args = "",
		.help = "Show what softnetd did since it started",
		.more = "Oldest first. softnetd keeps the newest 256 entries.",
		.method = "History",
		.lines = true,
		.run = verb_history,
	},
	{
		.name = "explain",
		.args = "[ID]",
		.help = "Tell the story of one change: why, what else, what came of it",
		.more = "ID is a number of history, or a change's id as history and status show it (then the\n"
			"newest of that id); without one, the newest change.",
		.method = "Explain",
		.max_args = 1,
		.run = verb_explain,
	},
	{
		.name = "silence",
		.args = "ID",
		.help = "Do not say this advice any more",
		.more = "It is neither logged nor shown, only counted (in status), until unsilence or until\n"
			"softnetd stops; `silence` in softnetd.conf lasts. Needs root.",
		.method = "Silence",
		.min_args = 1,
		.max_args = 1,
		.run = verb_silence,
	},
	{
		.name = "unsilence",
		.args = "ID",
		.help = "Say that advice again",
		.more = "Needs root.",
		.method = "Unsilence",
		.min_args = 1,
		.max_args = 1,
		.run = verb_unsilence,
	},
	{
		.name = "reload",
		.args = "",
		.help = "Make softnetd read its configuration again",
		.more = "Everything is read and checked first; with a fault in any file nothing changes.\n"
			"Needs root.",
		.method = "Reload",
		.run = verb_reload,
	},
	{
		.name = "restore",
		.args = "",
		.help = "Give back the original of every setting softnetd changed",
		.more = "Works without softnetd too: after a crash, from the ledger it left. A setting that\n"
			"somebody else changed meanwhile is left alone and named. softnetd, when it runs,\n"
			"goes on with its profile at the next reload or profile change. Needs root.",
		.method = "Restore",
		.run = verb_restore,
	},
	{
		.name = "decode",
		.args = "KIND FILE|-",
		.help = "Explain a pasted dump: softnet-stat, softirqs, interrupts or kmsg",
		.more = "KIND is what the dump was taken from: softnet-stat (/proc/net/softnet_stat),\n"
			"softirqs (/proc/softirqs), interrupts (/proc/interrupts) or kmsg (dmesg, journal,\n"
			"syslog or /dev/kmsg). FILE may come from any machine; - reads standard input.\n"
			"Lines that cannot be trusted are named and left out.",
		.min_args = 2,
		.max_args = 2,
		.run = verb_decode,
	},
	{
		.name = "record",
		.args = "-o FILE [-d SECONDS]",
		.help = "Write what is to be seen on this host into a file, for replay",
		.more = "Once a second until Ctrl-C, or for so many SECONDS; - writes to standard output.\n"
			"Needs no softnetd and changes nothing; a FILE that exists is not overwritten. What\n"
			"only root may read is missing from the recording of somebody else. The host's name,\n"
			"addresses and other lines of the kernel log are not in it.",
		.duration = true,
		.output = true,
		.run = verb_record,
	},
	{
		.name = "replay",
		.args = "FILE|-",
		.help = "Show what softnetd would have found and done on a recorded host",
		.more = "Runs the recording through the very code that decides in softnetd, with the profile\n"
			"that was recorded or another one of this host. Nothing of the past can be changed: a\n"
			"change that the recording shows as made is judged by what followed, every other one\n"
			"is advice without effect.",
		.min_args = 1,
		.max_args = 1,
		.profile = true,
		.run = verb_replay,
	},
	{
		.name = "version",
		.args = "",
		.help = "Show the versions of this program and of the softnetd that runs",
		.run = verb_version,
	},
	{.name = NULL},
};

static const struct option long_options[] = {
	{"json", no_argument, NULL, 'j'},
	{"root", required_argument, NULL, 'R'},
	{"config-dir", required_argument, NULL, 'C'},
	{"duration", required_argument, NULL, 'd'},
	{"output", required_argument, NULL, 'o'},
	{"profile", required_argument, NULL, 'P'},
	{"lines", required_argument, NULL, 'n'},
	{"reason", required_argument, NULL, 'r'},
	{"best-effort", no_argument, NULL, 'b'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{},
};

/* VERB NULL: those of all verbs. */
static void print_options(const struct verb *verb)
{
	if (!verb || verb->duration)
		puts("  -d, --duration SECONDS  Watch for so long before answering");
	if (!verb || verb->output)
		puts("  -o, --output FILE       Write to FILE, - for standard output");
	if (!verb || verb->profile)
		puts("      --profile NAME      Decide by the profile NAME, not by the recorded one");
	if (!verb || verb->lines)
		puts("  -n, --lines N           Show only the newest N");
	if (!verb || verb->command)
		puts("      --reason TEXT       Why the profile is held, for status\n"
		     "      --best-effort       Run the command also when its profile cannot be held");
	puts("      --json              Print JSON, for programs\n"
	     "      --root DIR          Look at a captured tree (DIR/proc, DIR/sys), not this host\n"
	     "      --config-dir DIR    Read the shipped profiles from DIR, not " PREFIX
	     "/lib/softnetd\n"
	     "  -h, --help              Show this help, or that of the verb\n"
	     "      --version           Show the version");
}

static void print_help(void)
{
	puts("softnetctl [OPTIONS] VERB …\n"
	     "Shows and steers softnetd, which keeps the receive path of this host healthy.\n\n"
	     "Verbs:");
	for (const struct verb *v = ctl_verbs; v->name; v++) {
		char left[64];

		/* By bytes: "…" is three, but such words do not fit in any case. */
		snprintf(left, sizeof(left), "%s %s", v->name, v->args);
		if (strlen(left) <= 22)
			printf("  %-22s %s\n", left, v->help);
		else
			printf("  %s\n  %-22s %s\n", left, "", v->help);
	}
	puts("\nOptions:");
	print_options(NULL);
	puts("\nExit status: 0 fine, 1 failed, 2 usage, 3 softnetd is not running, 4 not authorised,\n"
	     "5 something binds (diagnose). See softnetctl(1).");
}

static void print_verb_help(const struct verb *v)
{
	printf("softnetctl [OPTIONS] %s %s\n%s.\n", v->name, v->args, v->help);
	if (v->more)
		printf("\n%s\n", v->more);
	if (v->method)
		printf("\nDaemon call: org.softnetd1.Manager.%s\n", v->method);
	puts("\nOptions:");
	print_options(v);
}

static int verror(enum ctl_exit code, const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("softnetctl: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	return code;
}

int ctl_fail(enum ctl_exit code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verror(code, fmt, ap);
	va_end(ap);
	return code;
}

int ctl_usage(const struct ctl *ctl, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verror(CTL_USAGE, fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try \"softnetctl %s%s--help\".\n", ctl->verb ? ctl->verb->name : "",
		ctl->verb ? " " : "");
	return CTL_USAGE;
}

struct io *ctl_io(struct ctl *ctl)
{
	int r;

	if (ctl->io || ctl->io_failed)
		return ctl->io;
	r = io_new(ctl->root, &ctl->io);
	ctl->io_failed = r < 0; /* said once */
	if (r < 0)
		ctl_fail(CTL_FAILED, "Cannot open %s: %s", ctl->root ?: "/", strerror(-r));
	return ctl->io;
}

const char *const *ctl_config_dirs(struct ctl *ctl)
{
	if (!ctl->dirs && config_dirs_new(ctl->config_dir, false, &ctl->dirs) < 0)
		ctl_fail(CTL_FAILED, "Out of memory");
	return (const char *const *)ctl->dirs;
}

static unsigned terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

int ctl_print(struct ctl *ctl, json_t *doc, void (*text)(FILE *out, unsigned width, json_t *doc))
{
	if (!doc)
		return ctl_fail(CTL_FAILED, "Out of memory");
	if (ctl->json) {
		json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY);
		putchar('\n');
	} else {
		text(stdout, terminal_width(), doc);
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		return ctl_fail(CTL_FAILED, "Cannot write the answer: %s", strerror(errno));
	return CTL_FINE;
}

static const struct verb *find_verb(const char *name)
{
	for (const struct verb *v = ctl_verbs; v->name; v++)
		if (streq(v->name, name))
			return v;
	return NULL;
}

static int unknown_verb(const struct ctl *ctl, const char *name)
{
	const char *names[ELEMENTSOF(ctl_verbs)];
	const char *near;
	size_t n = 0;

	for (const struct verb *v = ctl_verbs; v->name; v++)
		names[n++] = v->name;
	names[n] = NULL;
	near = nearest_name(name, names);
	if (near)
		return ctl_usage(ctl, "No verb \"%s\"; did you mean \"%s\"?", name, near);
	return ctl_usage(ctl, "No verb \"%s\"", name);
}

static int parse_seconds(const char *text, double *ret)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end || errno || !isfinite(value) || value <= 0 || value > 86400)
		return -EINVAL;
	*ret = value;
	return 0;
}

/*
 * Takes options up to the first word that is none (STOP), or all of them from among the words of
 * the verb. Returns CTL_FINE with optind at the first word left, another exit code when the program
 * is done (*RET_DONE), or CTL_USAGE.
 */
static int parse_options(struct ctl *ctl, int argc, char **argv, bool stop, bool *ret_done)
{
	int c;

	while ((c = getopt_long(argc, argv, stop ? "+:hd:o:n:" : ":hd:o:n:", long_options, NULL)) >=
	       0) {
		switch (c) {
		case 'j':
			ctl->json = true;
			break;
		case 'R':
			ctl->root = optarg;
			break;
		case 'C':
			ctl->config_dir = optarg;
			break;
		case 'd':
			if (parse_seconds(optarg, &ctl->seconds) < 0)
				return ctl_usage(ctl,
						 "\"%s\" is no number of seconds (up to 86400)",
						 optarg);
			break;
		case 'o':
			ctl->output = optarg;
			break;
		case 'P':
			ctl->profile = optarg;
			break;
		case 'n':
			if (parse_u32(optarg, 10, &ctl->lines) < 0 || ctl->lines == 0)
				return ctl_usage(ctl, "\"%s\" is no number of lines", optarg);
			break;
		case 'r':
			ctl->reason = optarg;
			break;
		case 'b':
			ctl->best_effort = true;
			break;
		case 'h':
			if (ctl->verb)
				print_verb_help(ctl->verb);
			else
				print_help();
			*ret_done = true;
			return CTL_FINE;
		case 'V':
			puts("softnetctl " SOFTNETD_VERSION);
			*ret_done = true;
			return CTL_FINE;
		case ':':
			return ctl_usage(ctl, "Option %s needs a value", argv[optind - 1]);
		default:
			return ctl_usage(ctl, "No option \"%s\"", argv[optind - 1]);
		}
	}
	return CTL_FINE;
}

/* "run [OPTION…] WORD [OPTION…] [--] COMMAND …": options end at the command, whose own may look like
 * ours. Leaves optind at the command. */
static int parse_word(struct ctl *ctl, int *argc, char ***argv, bool *ret_done)
{
	int r;

	r = parse_options(ctl, *argc, *argv, true, ret_done);
	if (r != CTL_FINE || *ret_done)
		return r;
	if (optind >= *argc)
		return ctl_usage(ctl, "%s wants %s", ctl->verb->name, ctl->verb->args);
	*argc -= optind;
	*argv += optind;
	ctl->word = (*argv)[0];
	optind = 0;
	return parse_options(ctl, *argc, *argv, true, ret_done);
}

static int run(struct ctl *ctl, int argc, char **argv)
{
	const struct verb *verb;
	unsigned words;
	bool done = false;
	int r;

	r = parse_options(ctl, argc, argv, true, &done);
	if (r != CTL_FINE || done)
		return r;
	if (optind >= argc)
		return ctl_usage(ctl, "Say what to do");
	verb = find_verb(argv[optind]);
	if (!verb)
		return unknown_verb(ctl, argv[optind]);
	ctl->verb = verb;

	/* The verb's words follow its name; getopt starts anew behind it, and puts options before
	 * words so that "get --json netdev_budget" and "get netdev_budget --json" are the same. */
	argc -= optind;
	argv += optind;
	optind = 0;
	if (verb->command)
		r = parse_word(ctl, &argc, &argv, &done);
	else
		r = parse_options(ctl, argc, argv, false, &done);
	if (r != CTL_FINE || done)
		return r;
	argc -= optind - 1;
	argv += optind - 1;
	words = (unsigned)argc - 1;
	if (ctl->seconds > 0 && !verb->duration)
		return ctl_usage(ctl, "%s takes no --duration", verb->name);
	if (ctl->output && !verb->output)
		return ctl_usage(ctl, "%s takes no --output", verb->name);
	if (ctl->profile && !verb->profile)
		return ctl_usage(ctl, "%s takes no --profile", verb->name);
	if (ctl->lines > 0 && !verb->lines)
		return ctl_usage(ctl, "%s takes no --lines", verb->name);
	if ((ctl->reason || ctl->best_effort) && !verb->command)
		return ctl_usage(ctl, "%s takes no --%s", verb->name,
				 ctl->reason ? "reason" : "best-effort");
	if (words < verb->min_args)
		return ctl_usage(ctl, "%s wants %s", verb->name, verb->args);
	if (words > verb->max_args)
		return ctl_usage(ctl, "%s: too many words, from \"%s\" on", verb->name,
				 argv[1 + verb->max_args]);
	return verb->run(ctl, argc, argv);
}

int main(int argc, char **argv)
{
	struct ctl ctl = {};
	int r;

	show_init();
	r = run(&ctl, argc, argv);
	sd_bus_flush_close_unref(ctl.bus);
	strv_free(ctl.dirs);
	if (ctl.io)
		io_free(ctl.io);
	return r;
}
