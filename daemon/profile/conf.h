/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration files as files: where they are found, which masks which, how they are read, and
 * that libconfig gets nothing it would take wrongly. What the keys mean is schema.h's matter.
 *
 * A file is read with plain system calls and not through struct io: it belongs to the admin of this
 * host, not to the kernel under observation, and a captured tree (--root) does not replace it.
 */
#pragma once

#include <libconfig.h>

#include "base/complaint.h"

/* More than any sane configuration by three orders of magnitude, and little enough to parse at
 * once. */
#define CONF_SIZE_MAX (1024 * 1024)
/* The deepest nesting a valid file has is 3: nics = ( { … } ). */
#define CONF_NESTING_MAX 16
/* Profile names are file names and travel over D-Bus; drop-ins follow the same rule. */
#define CONF_NAME_MAX 64

/* One parsed file. Settings and their lines live as long as it does. */
struct conf {
	char *path;
	config_t lib;
};

void conf_free(struct conf *f);
DEFINE_CLEANUP(struct conf *, conf_free);

/*
 * Checks and parses TEXT of SIZE bytes (TEXT[SIZE] is NUL). -EINVAL with a complaint for each thing
 * that is wrong: binary data, @include, numbers that libconfig 1.5 would cut to 32 bits, nesting,
 * and, the first only, a syntax error.
 */
int conf_parse(const char *path, const char *text, size_t size, struct conf **ret,
	       struct complaints *c);

/*
 * Reads and parses the file at PATH. Returns 0 with *RET NULL when the file masks: it is empty, or
 * /dev/null. Only a regular file is opened: a FIFO or a device is a complaint and not a hang. Every
 * error is a complaint, -ENOENT (also of a dangling link) too.
 */
int conf_load(const char *path, struct conf **ret, struct complaints *c);

/* The files that make up one configuration, weakest first. */
struct conf_set {
	struct conf **conf;
	size_t n;
	bool main;   /* conf[0] is the main file: there is one, and it is neither masked nor bad */
	bool masked; /* the main file was masked */
	bool bad; /* a file was left out because it could not be read or parsed: complaints say why
		   */
};

void conf_set_done(struct conf_set *s);

/*
 * Finds RELATIVE ("softnetd.conf", "profiles/NAME.conf") in DIRS (weakest first, ends with NULL):
 * the strongest one that exists counts, even when it is broken. Then the drop-ins of RELATIVE.d, of
 * all DIRS, in the order of their names; the same name in a stronger directory replaces the weaker
 * one. They are read even when there is no main file: whether they count then is the caller's
 * matter. Returns 0 also when files were bad (see struct conf_set), so that the caller can go on
 * complaining about the others; -ENOMEM otherwise.
 */
int conf_set_load(const char *const *dirs, const char *relative, struct conf_set *ret,
		  struct complaints *c);

/* Letters, digits, '.', '_', '-', beginning with a letter or digit: no path, no option, no
 * surprise. */
bool conf_name_ok(const char *name, size_t length);

/*
 * The names NAME of all DIR/RELATIVE/NAME.conf, sorted, ending with NULL; masked ones are not among
 * them, names that conf_name_ok() refuses neither. A directory that does not exist holds nothing.
 */
int conf_names(const char *const *dirs, const char *relative, char ***ret);
