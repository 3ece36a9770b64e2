/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a sensor says what became of its source. The text is for an admin: what, where, what it
 * means.
 */
#pragma once

#include "base/complaint.h"
#include "model/snapshot.h"

void source_ok(struct snapshot *s, enum source source);

/* ENOENT, ENODEV and EOPNOTSUPP: this host does not have the source, SOURCE_ABSENT. Every other
 * error: SOURCE_STRANGE. The text is "PATH: text of errno". */
void source_failed(struct snapshot *s, enum source source, int error);

/* SOURCE_STRANGE with -EBADMSG: the file could be read and is not what it should be. */
void source_strange(struct snapshot *s, enum source source, const char *fmt, ...) _printf_(3, 4);

/* SOURCE_OK without complaints, else SOURCE_STRANGE with the first: "PATH:LINE: text (and N more)".
 */
void source_judged(struct snapshot *s, enum source source, const struct complaints *c);
