/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says that a network interface came, went, was renamed or changed its state (RTNLGRP_LINK): that
 * is when drivers ask for interrupts anew (case D11). Only that something changed is told, never
 * what: the observer looks for itself, and a lost message (ENOBUFS) is a change too.
 */
#pragma once

#include "base/util.h"

struct links;

/* A non-blocking rtnetlink socket. Only for a live host. Negative errno: there will be no news, and
 * the slow look has to do. */
int links_open(struct links **ret);
void links_close(struct links *l);
DEFINE_CLEANUP(struct links *, links_close);

/* For the event loop: readable when something changed. */
int links_fd(const struct links *l);

/* Takes in all that has come. 1: a link changed; 0: nothing; a negative errno when the socket is of
 * no more use. */
int links_drain(struct links *l);
