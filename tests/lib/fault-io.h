/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An I/O seam around another one that counts operations, and at a chosen one fails, or ends the
 * process as kill -9 does. Typical uses:
 *
 * Every errno at every step: for (n = 1;; n++) { f = fault_io_new(inner); f->at = n;
 * f->error = EIO; …run…; if (f->hits == 0) break; }
 *
 * kill -9 at every step: the same with f->death = FAULT_DIE_BEFORE, in a forked child.
 *
 * One kind of file cannot be opened: f->pattern = "proc/irq/" "*"; f->kinds = FAULT_BIT(FAULT_OPEN);
 * f->error = EACCES;
 *
 * How many operations a tick is: no rule at all; look at f->total and f->count[].
 *
 * A rule hits when the operation's kind is in `kinds`, its path matches `pattern`, and it is the
 * at-th such operation (at 0: every one; `onwards`: the at-th and all after it).
 */
#pragma once

#include "base/io.h"

enum fault_kind {
	FAULT_OPEN,
	FAULT_READ,
	FAULT_WRITE,
	FAULT_STORE,
	FAULT_SYNC,
	FAULT_RENAME,
	FAULT_UNLINK,
	FAULT_MKDIR,
	FAULT_READLINK,
	FAULT_REALPATH,
	FAULT_LIST,
	FAULT_MODE,
	_FAULT_MAX,
};
#define FAULT_BIT(kind) (1U << (kind))
#define FAULT_ALL       (FAULT_BIT(_FAULT_MAX) - 1)
/* Those that change something. */
#define FAULT_WRITES                                                               \
	(FAULT_BIT(FAULT_WRITE) | FAULT_BIT(FAULT_STORE) | FAULT_BIT(FAULT_SYNC) | \
	 FAULT_BIT(FAULT_RENAME) | FAULT_BIT(FAULT_UNLINK) | FAULT_BIT(FAULT_MKDIR))

struct fault_io {
	struct io io; /* what the code under test gets: &f->io */
	struct io *inner;

	/* The rule; all zero means: count only. Set before use, may be changed at any time. */
	unsigned kinds;      /* FAULT_BIT()s; 0 means FAULT_ALL */
	const char *pattern; /* fnmatch(3) on the path, where * crosses slashes; NULL: any path.
			      * For rename the new name counts */
	unsigned long at;    /* 1 is the first operation that fits; 0: all of them */
	bool onwards;        /* and every one after it */
	int error;           /* positive errno that the operation gives; 0: none */
	enum {
		FAULT_LIVE,
		FAULT_DIE_BEFORE,  /* SIGKILL instead of the operation */
		FAULT_DIE_HALFWAY, /* a write leaves its first half, the others are not made; then
				      SIGKILL */
		FAULT_DIE_AFTER,   /* the operation is made, then SIGKILL */
	} death;
	void (*hook)(void *userdata); /* called before an operation that is hit: the world changes
				       * between two reads */
	void *userdata;
	size_t short_read; /* not 0: a read that is hit gives at most so many bytes, and no error */

	/* What was seen. */
	unsigned long count[_FAULT_MAX];
	unsigned long total;   /* all operations; now() is none */
	unsigned long fitting; /* those that fit kinds and pattern */
	unsigned long hits;

	/* fd → path, for the pattern; inside only. */
	char **paths;
	int n_paths;
};

/* INNER must outlive it, and stays the caller's. */
struct fault_io *fault_io_new(struct io *inner);
void fault_io_free(struct fault_io *f);
DEFINE_CLEANUP(struct fault_io *, fault_io_free);

/* Forgets what was seen, keeps the rule. */
void fault_io_reset(struct fault_io *f);
const char *fault_kind_to_string(enum fault_kind k);
