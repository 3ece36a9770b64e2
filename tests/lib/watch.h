/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An observer with what it made, for tests: opened on any I/O seam, closed in one. */
#pragma once

#include <check.h>

#include "observe/observe.h"

struct watch {
	struct observer *observer;
	struct topology *topology;
	struct snapshot *snapshot;
};

static inline struct watch watch_begin(struct io *io)
{
	struct watch w = {};

	ck_assert_int_eq(observer_new(io, &w.observer), 0);
	ck_assert_int_eq(observer_topology(w.observer, &w.topology), 0);
	ck_assert_int_eq(observer_snapshot_new(w.topology, &w.snapshot), 0);
	return w;
}

static inline void watch_end(struct watch *w)
{
	snapshot_free(w->snapshot);
	topology_free(w->topology);
	if (w->observer)
		observer_free(w->observer);
}
#define _watch_ _cleanup_(watch_end) struct watch

static inline void watch_read(struct watch *w, bool slow)
{
	snapshot_clear(w->snapshot);
	ck_assert_int_eq(observer_read(w->observer, w->topology, slow, w->snapshot), 0);
}

/* As the engine does it when the observer says that the machine changed. */
static inline void watch_rediscover(struct watch *w)
{
	snapshot_free(TAKE_PTR(w->snapshot));
	topology_free(TAKE_PTR(w->topology));
	ck_assert_int_eq(observer_topology(w->observer, &w->topology), 0);
	ck_assert_int_eq(observer_snapshot_new(w->topology, &w->snapshot), 0);
}

/* Index in the topology; fails the test when there is none. */
static inline unsigned watch_irq(const struct watch *w, const char *name)
{
	for (unsigned i = 0; i < w->topology->n_irqs; i++)
		if (streq(w->topology->irq[i].name, name))
			return i;
	ck_abort_msg("no interrupt %s in the topology", name);
}
