/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running daemon, reached by its private socket. */
#pragma once

#include "ctl/ctl.h"

/* Whether a daemon answers; says nothing. */
bool daemon_runs(struct ctl *ctl);

/*
 * Calls METHOD of org.softnetd1.Manager with arguments of TYPES ("" for none, else as
 * sd_bus_message_append() has them: "s", "ssh"), and parses the document it answers into *RET; RET NULL: the answer is not wanted. Returns
 * CTL_FINE, or another exit code after a message.
 */
int daemon_call(struct ctl *ctl, const char *method, json_t **ret, const char *types, ...);

/* A string property. *RET is owned by the caller. */
int daemon_property(struct ctl *ctl, const char *property, char **ret);

/* CTL_FINE for root and for captured trees, else says that VERB needs root. */
int need_root(const struct ctl *ctl);
