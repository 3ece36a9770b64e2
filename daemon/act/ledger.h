/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: for each setting softnetd changed, what it was before, so that it can be given back.
 * It lives under run/softnetd (JSON, one object, versioned), is replaced atomically, and is on disk
 * before the write it describes. Original values are entered once and never overwritten by a later
 * change of ours.
 *
 * An unreadable, torn, foreign or future-version ledger is never thrown away: it is moved aside to
 * ledger.bad-N, said loudly, and its settings are unknown. An entry of another boot is void: the
 * kernel started from its own defaults.
 */
#pragma once

#include "base/complaint.h"
#include "base/io.h"
#include "model/decision.h"

struct ledger_entry {
	enum tunable_id tunable;
	char *identity;  /* struct target's */
	unsigned number; /* at the time of writing: only for messages */
	char *original;  /* as the kernel spelled it */
	char *written;   /* what we wrote last, canonical */
	char *decision;  /* id of the change that wrote it */
	enum change_class class;
	uint64_t realtime_usec; /* when, CLOCK_REALTIME */
};

struct ledger;

/* Reads run/softnetd/ledger.json if it is there. LOCK: also takes the host's one writer lock
 * (run/softnetd/lock, holding the pid); -EBUSY with *RET_PID set when another daemon holds it. */
int ledger_open(struct io *io, bool lock, pid_t *ret_pid, struct ledger **ret);
void ledger_free(struct ledger *l);
DEFINE_CLEANUP(struct ledger *, ledger_free);

/* NULL when we never changed it (or gave it back). Valid until the next change of the ledger. */
const struct ledger_entry *ledger_find(const struct ledger *l, enum tunable_id id,
				       const char *identity);
size_t ledger_size(const struct ledger *l);
const struct ledger_entry *ledger_at(const struct ledger *l, size_t i);

/* Enters or updates an entry and makes it durable before returning. The original is kept when there
 * is one already. */
int ledger_enter(struct ledger *l, const struct change *c, const char *original,
		 const char *written);
/* Forgets an entry: given back, or somebody else's now. The file goes when the last entry goes. */
int ledger_drop(struct ledger *l, enum tunable_id id, const char *identity);
/* Why the ledger found at start could not be used, or NULL. */
const char *ledger_trouble(const struct ledger *l);
