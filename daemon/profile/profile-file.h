/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libconfig files → struct config and struct profile, strictly: an unknown key (with the nearest
 * valid one), a wrong type or an impossible value is a complaint with file:line, and nothing of a
 * configuration with a complaint is used.
 *
 * Files: softnetd.conf and profiles/NAME.conf in PREFIX/lib/softnetd (vendor), /run/softnetd/etc
 * (until the next boot) and /etc/softnetd (the admin). Of the same name only the one in the
 * strongest directory is read; an empty file or a link to /dev/null masks. Drop-ins,
 * softnetd.conf.d/ and profiles/NAME.conf.d/, all files ending in .conf of all directories, are
 * laid over it key by key in the order of their names. What a profile inherits lies below it,
 * drop-ins of both included.
 */
#pragma once

#include "base/complaint.h"
#include "model/profile.h"

/* Ends with NULL; earlier = weaker. */
extern const char *const config_default_dirs[];

/*
 * The directories for --config-dir: VENDOR (NULL: the default) in place of PREFIX/lib/softnetd, and
 * unless ONLY the two stronger ones above it. The caller frees with strv_free().
 */
int config_dirs_new(const char *vendor, bool only, char ***ret);

/*
 * Fills RET with defaults overlaid by the files; the caller empties it with config_done(), also one
 * that was there before. -EINVAL when a complaint was made, -ENOMEM: RET is untouched. A `profile`
 * that does not exist is a complaint here already.
 */
int config_load(const char *const *dirs, struct config *ret, struct complaints *c);

/*
 * RET is untouched on error. -ENOENT (with a complaint naming the nearest profile) when there is no
 * such profile, or it is masked; -ELOOP for profiles that inherit each other; -EINVAL for a file
 * that cannot be used. Every error but -ENOMEM made a complaint.
 */
int profile_load(const char *const *dirs, const char *name, struct profile **ret,
		 struct complaints *c);

/*
 * One file alone, without drop-ins, for `softnetctl profile check FILE`: what it inherits is looked
 * up in DIRS. The profile is named like the file.
 */
int profile_load_file(const char *const *dirs, const char *path, struct profile **ret,
		      struct complaints *c);

/* The same for a text that would be the file PATH: TEXT[SIZE] must be NUL. */
int profile_load_text(const char *const *dirs, const char *path, const char *text, size_t size,
		      struct profile **ret, struct complaints *c);
int config_load_text(const char *const *dirs, const char *path, const char *text, size_t size,
		     struct config *ret, struct complaints *c);

/*
 * The files that make up softnetd.conf (PROFILE NULL) or a profile with all that it inherits, in the
 * order in which they are laid over each other, ending with NULL: to be shown to a person. What they
 * say is not checked; one that cannot be parsed is left out with a complaint. -ENOENT (with a
 * complaint): there is no such profile; -ELOOP, -ENOMEM. The caller frees with strv_free().
 */
int config_files(const char *const *dirs, const char *profile, char ***ret, struct complaints *c);

/* 0, or -ENOENT with a complaint, at WHERE the name stands (may be NULL), that names the nearest.
 * NAME may be anything a stranger sent. */
int profile_exists(const char *const *dirs, const char *name, const struct origin *where,
		   struct complaints *c);

/*
 * All profiles that have `match` rules, in the order in which they are asked (priority, then name),
 * ending with NULL. One that cannot be used is left out, with complaints. -ENOMEM, or the errno of a
 * directory that cannot be listed.
 */
int profiles_with_match(const char *const *dirs, struct profile ***ret, struct complaints *c);
void profiles_free(struct profile **list);
static inline void profiles_freep(struct profile ***p)
{
	profiles_free(*p);
}

/* The names of all profiles, sorted, ending with NULL; masked ones are not among them. */
int profile_list(const char *const *dirs, char ***ret);
