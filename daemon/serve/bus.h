/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private socket: the manager object for clients that come without a bus (containers, early
 * boot, tests). The peer's credentials (SO_PEERCRED, as they were at connect) decide: reading is for
 * everyone, changing for uid 0 and for the user who runs the daemon (on a captured tree).
 *
 * A client can cost the daemon little: at most BUS_CLIENTS_PER_UID connections of a user who is not
 * root; BUS_UNREAD_MESSAGES messages, and one document and BUS_UNREAD_MAX bytes more, waiting to be
 * read beyond the kernel's BUS_SOCKET_BUFFER; BUS_INCOMING_MAX bytes of a message that does not
 * end. Who is over is disconnected. Nothing here waits for a client.
 */
#pragma once

#include <systemd/sd-event.h>

#include "base/io.h"
#include "engine/engine.h"

#define BUS_CLIENTS_MAX     256
#define BUS_CLIENTS_OTHERS  192 /* of them, who is not root: root always gets in */
#define BUS_CLIENTS_PER_UID 16
#define BUS_UNREAD_MAX      (1U << 20)
#define BUS_UNREAD_MESSAGES 256
#define BUS_INCOMING_MAX    (256U << 10)
#define BUS_SOCKET_BUFFER   (256 << 10) /* SO_SNDBUF; the kernel doubles it */

struct bus_server;
struct holds;

/* EVENT, IO, ENGINE and HOLDS must outlive the server. Errors as of socket_listen(), not logged. */
int bus_server_new(sd_event *event, struct io *io, struct engine *engine, struct holds *holds,
		   struct bus_server **ret);
/* Removes the socket and disconnects everyone, which ends their holds. */
void bus_server_free(struct bus_server *s);
DEFINE_CLEANUP(struct bus_server *, bus_server_free);

/* Tells all clients. */
void bus_server_event(struct bus_server *s, const struct engine_event *event);
/* To be called once a tick and after a reload: tells all clients when mode or profile changed. */
void bus_server_refresh(struct bus_server *s);
