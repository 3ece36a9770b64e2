/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches a host and records what is seen, without a daemon and without changing anything: for
 * `softnetctl record`. Every tick is a slow look, so that the recording shows when an interrupt
 * moved and what each ksoftirqd did; it costs what the daemon's slow look costs, every time.
 */
#pragma once

#include "base/io.h"
#include "serve/trace.h"

struct recorder;

/* Looks at the host; nothing is written yet. IO, OUT and what ABOUT points to must outlive the
 * recorder. */
int recorder_new(struct io *io, FILE *out, const struct trace_about *about, struct recorder **ret);
void recorder_free(struct recorder *r);
DEFINE_CLEANUP(struct recorder *, recorder_free);

/* Reads and writes one tick: to be called once a second. Errors: -ENOMEM and trace_write()'s. */
int recorder_tick(struct recorder *r);

unsigned recorder_ticks(const struct recorder *r);
uint64_t recorder_bytes(const struct recorder *r);
