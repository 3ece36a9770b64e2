/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message bus of a test's own: dbus-daemon with the rules of a system bus and softnetd's policy
 * file, on a socket in a temporary tree; and on it, if wanted, somebody who plays polkit. Neither has
 * anything to do with this host's. What goes wrong here ends the test.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "lib/tree.h"

/* Whether this machine has a dbus-daemon. */
bool message_bus_possible(void);

/* "unix:path=…" in T; the bus need not run. The caller frees. */
char *message_bus_address(const struct tree *t);
/* Returns, when it listens, its pid. */
pid_t message_bus_start(struct tree *t);
void message_bus_stop(pid_t pid);

/* A client of the bus at ADDRESS; NULL when it could not become one. */
sd_bus *message_bus_client(const char *address);

enum polkit_answer {
	POLKIT_YES,
	POLKIT_NO,
	POLKIT_CHALLENGE, /* somebody would have to type a password, and nobody can */
	POLKIT_UNKNOWN,   /* an error: it does not know the action */
	POLKIT_STRANGE,   /* something else than the interface says */
	POLKIT_NEVER,     /* no answer */
};

struct fake_polkit {
	pid_t pid;
	int asked; /* a pipe: for each question a line, "SUBJECT ACTION FLAGS" */
};

/* Returns when it has its name. */
struct fake_polkit fake_polkit_start(const char *address, enum polkit_answer answer);
void fake_polkit_stop(struct fake_polkit *p);
/* Waits for the next question. The caller frees. */
char *fake_polkit_question(struct fake_polkit *p);
