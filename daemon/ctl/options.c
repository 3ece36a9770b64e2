/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/options.h"

#include <getopt.h>
#include <math.h>

/* Letters of options that have no short form: beyond all characters. */
enum {
	OPTION_JSON = 256,
	OPTION_ROOT,
	OPTION_CONFIG_DIR,
	OPTION_PROFILE,
	OPTION_REASON,
	OPTION_BEST_EFFORT,
	OPTION_VERSION,
};

#define ONLY(flag) offsetof(struct verb, flag)

const struct option_row ctl_options[] = {
	{"duration", "SECONDS", 'd', "Watch for so long before answering", COMPLETE_NOTHING,
	 ONLY(duration)},
	{"output", "FILE", 'o', "Write to FILE, - for standard output", COMPLETE_FILE,
	 ONLY(output)},
	{"profile", "NAME", OPTION_PROFILE, "Decide by the profile NAME, not by the recorded one",
	 COMPLETE_PROFILE, ONLY(profile)},
	{"lines", "N", 'n', "Show only the newest N", COMPLETE_NOTHING, ONLY(lines)},
	{"reason", "TEXT", OPTION_REASON, "Why the profile is held, for status", COMPLETE_NOTHING,
	 ONLY(command)},
	{"best-effort", NULL, OPTION_BEST_EFFORT,
	 "Run the command also when its profile cannot be held", COMPLETE_NOTHING, ONLY(command)},
	{"host", "[USER@]HOST", 'H', "Ask the softnetd of another host, by ssh", COMPLETE_HOST,
	 ONLY(remote)},
	{"machine", "NAME", 'M', "Ask that of a local container", COMPLETE_NOTHING, ONLY(remote)},
	{"json", NULL, OPTION_JSON, "Print JSON, for programs", COMPLETE_NOTHING, 0},
	{"root", "DIR", OPTION_ROOT, "Look at a captured tree (DIR/proc, DIR/sys), not this host",
	 COMPLETE_DIRECTORY, 0},
	{"config-dir", "DIR", OPTION_CONFIG_DIR,
	 "Read the shipped profiles from DIR, not " PREFIX "/lib/softnetd", COMPLETE_DIRECTORY, 0},
	{"help", NULL, 'h', "Show this help, or that of the verb", COMPLETE_NOTHING, 0},
	{"version", NULL, OPTION_VERSION, "Show the version", COMPLETE_NOTHING, 0},
	{},
};
#define N_OPTIONS (ELEMENTSOF(ctl_options) - 1)

bool option_fits(const struct option_row *o, const struct verb *verb)
{
	return o->only == 0 || *(const bool *)((const char *)verb + o->only);
}

const struct option_row *option_by_name(const char *name, size_t length)
{
	for (const struct option_row *o = ctl_options; o->name; o++)
		if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
			return o;
	return NULL;
}

const struct option_row *option_by_letter(char letter)
{
	for (const struct option_row *o = ctl_options; o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

void options_print(const struct verb *verb)
{
	for (const struct option_row *o = ctl_options; o->name; o++) {
		char letter[8] = "   ", left[64];

		if (verb && !option_fits(o, verb))
			continue;
		if (o->letter < 256)
			snprintf(letter, sizeof(letter), "-%c,", o->letter);
		snprintf(left, sizeof(left), "%s --%s%s%s", letter, o->name, o->arg ? " " : "",
			 o->arg ?: "");
		printf("  %-23s %s\n", left, o->help);
	}
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

int option_take(struct ctl *ctl, int letter, const char *arg)
{
	switch (letter) {
	case OPTION_JSON:
		ctl->json = true;
		break;
	case OPTION_ROOT:
		ctl->root = arg;
		break;
	case OPTION_CONFIG_DIR:
		ctl->config_dir = arg;
		break;
	case 'H':
		ctl->host = arg;
		break;
	case 'M':
		ctl->machine = arg;
		break;
	case 'd':
		if (parse_seconds(arg, &ctl->seconds) < 0)
			return ctl_usage(ctl, "\"%s\" is no number of seconds (up to 86400)", arg);
		break;
	case 'o':
		ctl->output = arg;
		break;
	case OPTION_PROFILE:
		ctl->profile = arg;
		break;
	case 'n':
		if (parse_u32(arg, 10, &ctl->lines) < 0 || ctl->lines == 0)
			return ctl_usage(ctl, "\"%s\" is no number of lines", arg);
		break;
	case OPTION_REASON:
		ctl->reason = arg;
		break;
	case OPTION_BEST_EFFORT:
		ctl->best_effort = true;
		break;
	}
	return CTL_FINE;
}

static void make_getopt(struct option *names, char *letters, bool stop)
{
	if (stop)
		*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const struct option_row *o = &ctl_options[i];

		names[i] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL,
					   o->letter};
		if (o->letter >= 256)
			continue;
		*letters++ = (char)o->letter;
		if (o->arg)
			*letters++ = ':';
	}
	names[N_OPTIONS] = (struct option){};
	*letters = '\0';
}

int options_parse(struct ctl *ctl, int argc, char **argv, bool stop, bool *ret_done)
{
	struct option names[N_OPTIONS + 1];
	char letters[2 * N_OPTIONS + 3];
	int c, r;

	make_getopt(names, letters, stop);
	while ((c = getopt_long(argc, argv, letters, names, NULL)) >= 0) {
		if (c == ':')
			return ctl_usage(ctl, "Option %s needs a value", argv[optind - 1]);
		if (c == '?')
			return ctl_usage(ctl, "No option \"%s\"", argv[optind - 1]);
		if (c == 'h' || c == OPTION_VERSION) {
			if (c == OPTION_VERSION)
				puts("softnetctl " SOFTNETD_VERSION);
			else if (ctl->verb)
				ctl_print_verb_help(ctl->verb);
			else
				ctl_print_help();
			*ret_done = true;
			return CTL_FINE;
		}
		for (size_t i = 0; i < N_OPTIONS; i++)
			if (ctl_options[i].letter == c)
				ctl->options |= UINT64_C(1) << i;
		r = option_take(ctl, c, optarg);
		if (r != CTL_FINE)
			return r;
	}
	return CTL_FINE;
}

int options_check(const struct ctl *ctl)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (ctl->options & UINT64_C(1) << i && !option_fits(&ctl_options[i], ctl->verb))
			return ctl_usage(ctl, "%s takes no --%s", ctl->verb->name,
					 ctl_options[i].name);
	return CTL_FINE;
}
