/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * softnetctl: one table of verbs (verbs.c), one of options (options.c), one file per verb or close
 * family beside them.
 *
 * A verb gets the options already parsed and its own words in ARGV (argv[0] is the verb); it prints
 * its answer on stdout by ctl_print() and what went wrong on stderr by ctl_fail(), and returns an
 * exit code. Every answer is one JSON document: --json prints it, else a text view of it is drawn.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>
#include <systemd/sd-bus.h>

#include "base/io.h"
#include "base/util.h"

/* Part of the interface: scripts test them (softnetctl(1), "EXIT STATUS"). */
enum ctl_exit {
	CTL_FINE = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
	CTL_NO_DAEMON = 3,
	CTL_NOT_AUTHORISED = 4,
	CTL_DIFFERS = 5, /* diagnose: something binds */
};

struct verb;

struct ctl {
	bool json;
	const char *root;       /* --root; NULL: the live host */
	const char *host;       /* --host; NULL: this one */
	const char *machine;    /* --machine; NULL: no container */
	const char *config_dir; /* --config-dir; NULL: where they are installed */
	double seconds;         /* -d, for the verbs that take it; 0: not given */
	const char *output;     /* -o, likewise; NULL: not given, "-": standard output */
	const char *profile;    /* --profile, likewise; NULL: not given */
	const char *reason;     /* --reason, likewise */
	bool best_effort;       /* --best-effort, likewise */
	unsigned lines;         /* -n, likewise; 0: not given */
	const char *word;       /* the word before the command, of a verb that runs one */
	const struct verb *verb;
	uint64_t options; /* which were given: a bit for each row of ctl/options.h */

	struct io *io; /* ctl_io() */
	bool io_failed;
	sd_bus *bus;             /* to the daemon, once it was asked something */
	const char *destination; /* its name there; NULL: nobody else is on it */
	char **dirs;             /* ctl_config_dirs() */
};

/* What may stand at a place on the command line, for completion (complete.c). */
enum complete {
	COMPLETE_NOTHING,
	COMPLETE_SETTING, /* SETTING or SETTING@TARGET */
	COMPLETE_VALUE,   /* of the setting in the word before */
	COMPLETE_PROFILE,
	COMPLETE_PROFILE_VERB, /* list, show … */
	COMPLETE_PROFILE_WORD, /* what these take */
	COMPLETE_CHANGE,       /* an id of the history */
	COMPLETE_ADVICE,       /* an id of an advice */
	COMPLETE_SILENCED,
	COMPLETE_DUMP, /* a kind of dump */
	COMPLETE_FILE,
	COMPLETE_DIRECTORY,
	COMPLETE_HOST,
	COMPLETE_COMMAND, /* a command with words of its own */
};

struct verb {
	const char *name;
	const char *args;   /* as --help and the man page show them; "" for none */
	const char *help;   /* one line */
	const char *more;   /* what --help of the verb adds; NULL: nothing */
	const char *method; /* the call of org.softnetd1.Manager behind it; NULL: needs no daemon */
	unsigned min_args, max_args; /* words after the verb */
	bool remote;                 /* makes sense with --host and --machine */
	bool duration;               /* takes -d SECONDS */
	bool output;                 /* takes -o FILE */
	bool profile;                /* takes --profile NAME */
	bool lines;                  /* takes -n N */
	/* Takes a word (ctl->word), --reason, --best-effort, and then a command, whose words and
	 * options are its own: argv[1] is the first of them. */
	bool command;
	bool hidden;               /* neither in --help nor in the manual page */
	enum complete complete[2]; /* its words */
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

extern const struct verb ctl_verbs[]; /* ends with a NULL name */
const struct verb *ctl_find_verb(const char *name);
void ctl_print_help(void);
void ctl_print_verb_help(const struct verb *v);

int verb_status(struct ctl *ctl, int argc, char **argv);
int verb_diagnose(struct ctl *ctl, int argc, char **argv);
int verb_get(struct ctl *ctl, int argc, char **argv);
int verb_set(struct ctl *ctl, int argc, char **argv);
int verb_release(struct ctl *ctl, int argc, char **argv);
int verb_profile(struct ctl *ctl, int argc, char **argv);
int verb_run(struct ctl *ctl, int argc, char **argv);
int verb_explain(struct ctl *ctl, int argc, char **argv);
int verb_silence(struct ctl *ctl, int argc, char **argv);
int verb_unsilence(struct ctl *ctl, int argc, char **argv);
int verb_history(struct ctl *ctl, int argc, char **argv);
int verb_reload(struct ctl *ctl, int argc, char **argv);
int verb_restore(struct ctl *ctl, int argc, char **argv);
int verb_cat_config(struct ctl *ctl, int argc, char **argv);
int verb_decode(struct ctl *ctl, int argc, char **argv);
int verb_record(struct ctl *ctl, int argc, char **argv);
int verb_replay(struct ctl *ctl, int argc, char **argv);
/* One setting, or all for "": the daemon's document, or without a daemon, which is said, the kernel's
 * values. */
int settings_document(struct ctl *ctl, const char *setting, json_t **ret);
extern const char *const profile_verbs[]; /* of `profile`; ends with NULL */

int verb_complete(struct ctl *ctl, int argc, char **argv);
int verb_version(struct ctl *ctl, int argc, char **argv);

/* Prints which profile is in force: after reload and `profile set`. */
int print_profile_in_force(struct ctl *ctl);

/* The host or captured tree of --root, opened once; NULL after a message. Owned by CTL. */
struct io *ctl_io(struct ctl *ctl);
/* The configuration directories as profile/profile-file.h wants them; NULL after a message. Owned
 * by CTL. */
const char *const *ctl_config_dirs(struct ctl *ctl);

/*
 * Prints DOC on stdout: as JSON, or by TEXT, which draws it for a terminal WIDTH columns wide (0:
 * unlimited, stdout is no terminal). Returns CTL_FINE, or CTL_FAILED after a message when stdout
 * did not take it (full disk). DOC may be NULL for "no memory".
 */
int ctl_print(struct ctl *ctl, json_t *doc, void (*text)(FILE *out, unsigned width, json_t *doc));

/* "softnetctl: …" on stderr; returns CODE, so that a verb may end with it. */
int ctl_fail(enum ctl_exit code, const char *fmt, ...) _printf_(2, 3);
/* The same, with where to find help; returns CTL_USAGE. */
int ctl_usage(const struct ctl *ctl, const char *fmt, ...) _printf_(2, 3);
