/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: for each setting softnetd changed, what it was before, so that it can be given back.
 * It lives under run/softnetd (JSON, one object, versioned), is replaced atomically, and is on disk
 * before the write it describes. Original values are entered once and never overwritten by a later
 * change of ours. The file goes when its last entry goes.
 *
 * What is found at start:
 *   torn, empty, not softnetd's     → moved aside to ledger.bad-N, never thrown away; what it held is
 *       not known
 *   of a future version, cannot be read or moved aside  → stays where it is, and nothing is changed
 *       on this host while it is there: its originals would be overwritten
 *   an entry with a setting this softnetd does not know → kept as it is, and said at restore
 *   entries of another boot                           → void: the kernel started from its own
 *       defaults. ledger_at() shows them so that restore can say so; they are never saved again
 */
#pragma once

#include <stdio.h>

#include "base/io.h"
#include "model/decision.h"

struct ledger_entry {
	enum tunable_id tunable;
	char *identity;  /* struct target's */
	unsigned number; /* at the time of writing: only for messages */
	char *original;  /* as the kernel spelled it */
	char *written;   /* what we wrote last, canonical */
	char *previous;  /* a second and later change: what the setting held when WRITTEN was about
			  * to  be written. Until that write is known to be made the setting may hold
			  * either, and both are ours. NULL: there is no doubt */
	char *decision;  /* id of the change that wrote it */
	enum change_class class;
	uint64_t realtime_usec;      /* when, CLOCK_REALTIME */
	bool other_boot;             /* void */
	struct ledger_entry *before; /* what ledger_undo() goes back to: inside only */
};

struct ledger;

/*
 * Reads run/softnetd/ledger.json if it is there. LOCK: also takes the host's one writer lock
 * (run/softnetd/lock, holding the pid); -EBUSY with *RET_PID set (0: not known) when another daemon
 * holds it, and *RET is then untouched. Without LOCK a ledger that cannot be used is not moved
 * aside. Other errors: -ENOMEM. Everything else is in ledger_trouble(), and forbids changes.
 */
int ledger_open(struct io *io, bool lock, pid_t *ret_pid, struct ledger **ret);
/* Releases the lock; the file stays as it is. */
void ledger_free(struct ledger *l);
DEFINE_CLEANUP(struct ledger *, ledger_free);

/* NULL when we never changed it (or gave it back), or did so in another boot. Valid until the next
 * change of the ledger. */
const struct ledger_entry *ledger_find(const struct ledger *l, enum tunable_id id,
				       const char *identity);
size_t ledger_size(const struct ledger *l);
const struct ledger_entry *ledger_at(const struct ledger *l, size_t i);
/* The I-th entry that a newer softnetd wrote and this one does not understand: false when there are
 * not so many. *RET_ID and *RET_IDENTITY may be "?". */
bool ledger_unknown(const struct ledger *l, size_t i, const char **ret_id,
		    const char **ret_identity);

/*
 * Enters or updates an entry and makes it durable before returning. PRESENT is what the setting
 * holds now, as the kernel spells it: the original of a new entry, the `previous` of one that is
 * there already. On error nothing was entered, and the write must not be made; -EILSEQ: a value or
 * name is not UTF-8 and JSON cannot hold it.
 */
int ledger_enter(struct ledger *l, const struct change *c, const char *present,
		 const char *written);
/* The write announced by the last ledger_enter() was made and read back. In memory only: the file
 * says so at its next replacement, and is right until then. */
void ledger_settle(struct ledger *l, enum tunable_id id, const char *identity);
/* The write announced by the last ledger_enter() was not made, or was put back. */
int ledger_undo(struct ledger *l, enum tunable_id id, const char *identity);
/* Forgets an entry: given back, or somebody else's now. It is forgotten in memory even when the
 * file cannot be replaced (the error is returned): an entry too many does no harm at restore. */
int ledger_drop(struct ledger *l, enum tunable_id id, const char *identity);

/* Whether VALUE is one that we wrote, or may have written. */
bool ledger_is_ours(const struct ledger_entry *e, const char *value);

/* Why the ledger found at start could not be used, or NULL: for the caller to say, loudly. */
const char *ledger_trouble(const struct ledger *l);

/*
 * run/softnetd/keep, an empty file that whoever restarts the service for another reason than the
 * host's tuning (a package upgrade) makes before: the next stop leaves the settings as they are and
 * the start after it takes them over, once, as with on_stop = "keep".
 */
bool ledger_keep_once(struct io *io);
/* A stop that keeps has come to its end, so that nothing in the ledger is still on trial: says so in
 * that file, and whether it says so. */
int ledger_keep_stopped(struct io *io);
bool ledger_kept(struct io *io);
/* That start has happened: the next stop gives back again. */
void ledger_keep_done(struct io *io);
