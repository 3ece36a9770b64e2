/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libconfig files → struct config and struct profile, strictly: an unknown key (with the nearest
 * valid one), a wrong type or an impossible value is a complaint with file:line, and a file with a
 * complaint is not used.
 *
 * Files: softnetd.conf and profiles/NAME.conf in usr/lib/softnetd (vendor),
 * run/softnetd.conf.d-style run/softnetd-config, and etc/softnetd, the later masking the earlier by
 * the same name; an empty file or a link to /dev/null masks. Drop-ins NAME.conf.d/ (all files ending in .conf) of all
 * three directories are merged key by key in the order of their names. Directories can be replaced
 * for tests and --config-dir.
 */
#pragma once

#include "base/complaint.h"
#include "model/profile.h"

/* Ends with NULL; earlier = weaker. The default is CONFIG_DIRS. */
extern const char *const config_default_dirs[];

/* Fills RET with defaults overlaid by the files. -EINVAL when a complaint was made: RET is
 * untouched. */
int config_load(const char *const *dirs, struct config *ret, struct complaints *c);
/* -ENOENT (with a complaint naming the nearest profile) when there is no such profile. -ELOOP for
 * profiles that inherit each other. */
int profile_load(const char *const *dirs, const char *name, struct profile **ret,
		 struct complaints *c);
/* One file alone, for `softnetctl profile check FILE`; what it inherits is looked up in DIRS. */
int profile_load_file(const char *const *dirs, const char *path, struct profile **ret,
		      struct complaints *c);
/* The names of all profiles, sorted, ending with NULL. */
int profile_list(const char *const *dirs, char ***ret);
