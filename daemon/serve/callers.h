/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who asks for changes over a message bus, and whether they may.
 *
 * A name on the bus becomes a caller with its first call that changes something: its uid and pid are
 * asked of the bus, and the bus is told to say when it leaves, which ends its holds. Callers that
 * manager_trusts() may do everything; for the others polkit decides, per action, and where there is
 * no polkit nobody else may. Nothing here waits: a call whose answer is not known yet is kept, and
 * handed to the object again when it is.
 *
 * What strangers can make the daemon keep is bounded: CALLERS_MAX names, and questions for polkit that
 * wait for somebody's password, in all and of one uid.
 */
#pragma once

#include "serve/holds.h"
#include "serve/manager.h"

#define CALLERS_MAX       128
#define QUESTIONS_MAX     64
#define QUESTIONS_PER_UID 8

struct callers;

/* Of one connection, which must outlive them, like HOLDS. */
int callers_new(sd_bus *bus, struct holds *holds, struct callers **ret);
/* Everyone is gone: calls that wait stay without an answer, holds of callers end. */
void callers_free(struct callers *c);
DEFINE_CLEANUP(struct callers *, callers_free);

/* As manager_access.authorize(). */
int callers_authorize(struct callers *c, sd_bus_message *call, enum manager_action action,
		      sd_bus_error *error);
/* As manager_access.hold(), of a call that was authorized. */
int callers_hold(struct callers *c, sd_bus_message *call, int pidfd, const char *profile,
		 const char *reason, uint32_t *ret_cookie, struct complaints *complaints);
