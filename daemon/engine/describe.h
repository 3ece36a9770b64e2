/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The documents the faces show, as JSON: softnetctl(1) lists their keys. engine.h has those that
 * need an engine; these need only a part of one, and softnetctl makes them without a daemon too.
 *
 * Rules of every document: an unknown value is null, never 0; rates are per second over the seconds
 * the document names; times are µs since the epoch; keys keep their order. A document is NULL only
 * when there is no memory.
 */
#pragma once

#include <jansson.h>

#include "act/restore.h"
#include "base/complaint.h"
#include "base/io.h"
#include "model/profile.h"
#include "model/topology.h"

/*
 * The settings of a host without an engine: values as the kernel says, ledger entries when LEDGER
 * is not NULL. SETTING NULL: all. T may be NULL: then scoped settings have no targets.
 */
json_t *describe_settings(struct io *io, const struct topology *t, const struct ledger *ledger,
			  const char *setting);

/* One profile in full, every value with the file and line it came from. */
json_t *describe_profile(const struct profile *p, bool active);
/* The profile NAME of DIRS; one that cannot be used has a non-empty "complaints" and no settings.
 */
json_t *describe_profile_named(const char *const *dirs, const char *name);
/* All profiles of DIRS: name, description, where; those with complaints say so. ACTIVE may be NULL.
 */
json_t *describe_profiles(const char *const *dirs, const char *active);

/* [{"file","line","text"}]; FILE stands for those that name none. */
json_t *describe_complaints(const struct complaints *c, const char *file);

/* {"restored":[{"setting","target","verdict","original","now","text"}],"failed":N} */
json_t *describe_restore(const struct restore_report *report);
