/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profile/profile-file.h"
#include "serve/show.h"

void ctl_print_help(void)
{
	puts("softnetctl [OPTIONS] VERB …\n"
	     "Shows and steers softnetd, which keeps the receive path of this host healthy.\n\n"
	     "Verbs:");
	for (const struct verb *v = ctl_verbs; v->name; v++) {
		char left[64];

		if (v->hidden)
			continue;
		/* By bytes: "…" is three, but such words do not fit in any case. */
		snprintf(left, sizeof(left), "%s %s", v->name, v->args);
		if (strlen(left) <= 22)
			printf("  %-22s %s\n", left, v->help);
		else
			printf("  %s\n  %-22s %s\n", left, "", v->help);
	}
	puts("\nOptions:");
	options_print(NULL);
	puts("\nExit status: 0 fine, 1 failed, 2 usage, 3 softnetd is not running, 4 not authorised,\n"
	     "5 something binds (diagnose). See softnetctl(1).");
}

void ctl_print_verb_help(const struct verb *v)
{
	printf("softnetctl [OPTIONS] %s %s\n%s.\n", v->name, v->args, v->help);
	if (v->more)
		printf("\n%s\n", v->more);
	if (v->method)
		printf("\nDaemon call: org.softnetd1.Manager.%s\n", v->method);
	puts("\nOptions:");
	options_print(v);
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

const struct verb *ctl_find_verb(const char *name)
{
	for (const struct verb *v = ctl_verbs; v->name; v++)
		if (streq(v->name, name))
			return v;
	return NULL;
}

static int unknown_verb(const struct ctl *ctl, const char *name)
{
	const char *names[64];
	const char *near;
	size_t n = 0;

	for (const struct verb *v = ctl_verbs; v->name; v++)
		if (!v->hidden)
			names[n++] = v->name;
	names[n] = NULL;
	near = nearest_name(name, names);
	if (near)
		return ctl_usage(ctl, "No verb \"%s\"; did you mean \"%s\"?", name, near);
	return ctl_usage(ctl, "No verb \"%s\"", name);
}

/* "run [OPTION…] WORD [OPTION…] [--] COMMAND …": options end at the command, whose own may look like
 * ours. Leaves optind at the command. */
static int parse_word(struct ctl *ctl, int *argc, char ***argv, bool *ret_done)
{
	int r;

	r = options_parse(ctl, *argc, *argv, true, ret_done);
	if (r != CTL_FINE || *ret_done)
		return r;
	if (optind >= *argc)
		return ctl_usage(ctl, "%s wants %s", ctl->verb->name, ctl->verb->args);
	*argc -= optind;
	*argv += optind;
	ctl->word = (*argv)[0];
	optind = 0;
	return options_parse(ctl, *argc, *argv, true, ret_done);
}

static int run(struct ctl *ctl, int argc, char **argv)
{
	const struct verb *verb;
	unsigned words;
	bool done = false;
	int r;

	r = options_parse(ctl, argc, argv, true, &done);
	if (r != CTL_FINE || done)
		return r;
	if (optind >= argc)
		return ctl_usage(ctl, "Say what to do");
	verb = ctl_find_verb(argv[optind]);
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
		r = options_parse(ctl, argc, argv, false, &done);
	if (r != CTL_FINE || done)
		return r;
	argc -= optind - 1;
	argv += optind - 1;
	words = (unsigned)argc - 1;
	r = options_check(ctl);
	if (r != CTL_FINE)
		return r;
	if (!!ctl->host + !!ctl->machine + !!ctl->root > 1)
		return ctl_usage(ctl, "Only one of --host, --machine and --root can be looked at");
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
