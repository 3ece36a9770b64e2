/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The manager object on the system bus, as org.softnetd1.
 *
 * softnetd needs no bus and never waits for one. A bus that is not there yet, that goes away, or that
 * does not give us the name, is tried again when its socket appears (inotify), and after
 * SYSTEM_BUS_RETRY_MIN seconds, doubled up to SYSTEM_BUS_RETRY_MAX. What changes about that is logged
 * once. With the bus all its clients are gone, and so are the holds they had.
 */
#pragma once

#include <systemd/sd-event.h>

#include "engine/engine.h"
#include "serve/holds.h"

#define SYSTEM_BUS_RETRY_MIN (1 * USEC_PER_SEC)
#define SYSTEM_BUS_RETRY_MAX (64 * USEC_PER_SEC)
/* A bus that does not take this many messages is hung: its connection is given up. */
#define SYSTEM_BUS_UNSENT_MAX 4096

struct system_bus;

/*
 * ADDRESS as of sd_bus_set_address(3); NULL: the system's, or $DBUS_SYSTEM_BUS_ADDRESS. EVENT, ENGINE
 * and HOLDS must outlive it. -ENOMEM, or what sd-event says; a bus that cannot be reached is no error.
 */
int system_bus_new(sd_event *event, struct engine *engine, struct holds *holds, const char *address,
		   struct system_bus **ret);
void system_bus_free(struct system_bus *s);
DEFINE_CLEANUP(struct system_bus *, system_bus_free);

/* Both do nothing without a bus. */
void system_bus_event(struct system_bus *s, const struct engine_event *event);
/* To be called once a tick and after a reload: tells everyone when mode or profile changed. */
void system_bus_refresh(struct system_bus *s);
