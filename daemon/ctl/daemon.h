/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running daemon. Root reaches it by its private socket, which works with and without a message
 * bus, and else by the bus; everyone else by the bus, where polkit may permit more, and else by the
 * socket. With --root it is that of the captured tree, on its socket; with --host or --machine that
 * of another system bus, and nothing here is looked at in its stead. The answers are the same.
 */
#pragma once

#include "ctl/ctl.h"

/* Whether a daemon is to be asked: one is there, or only one will do (--host, --machine). Says
 * nothing. */
bool daemon_runs(struct ctl *ctl);

/*
 * Calls METHOD of org.softnetd1.Manager with arguments of TYPES ("" for none, else as
 * sd_bus_message_append() has them: "s", "ssh"), and parses the document it answers into *RET; RET
 * NULL: the answer is not wanted. Returns CTL_FINE, or another exit code after a message.
 */
int daemon_call(struct ctl *ctl, const char *method, json_t **ret, const char *types, ...);

/* A string property. *RET is owned by the caller. */
int daemon_property(struct ctl *ctl, const char *property, char **ret);
