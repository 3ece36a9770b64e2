/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/recorder.h"

#include <time.h>

#include "observe/observe.h"

/* As the engine: a driver reset brings dozens of events, and the machine is looked at once it is
 * quiet. */
#define REPLAN_USEC (2 * USEC_PER_SEC)

struct recorder {
	struct io *io;
	struct observer *observer;
	struct topology *topology;
	struct snapshot *snapshot;
	struct values values;
	struct trace_writer *writer;
	uint64_t replan_usec; /* 0: none due */
	bool discovered;      /* since the tick before */
	unsigned ticks;
};

static int discover(struct recorder *r)
{
	_cleanup_(topology_freep) struct topology *t = NULL;
	struct snapshot *s;
	int k;

	k = observer_topology(r->observer, &t);
	if (k < 0)
		return k;
	k = observer_snapshot_new(t, &s);
	if (k < 0)
		return k;
	topology_free(r->topology);
	snapshot_free(r->snapshot);
	r->topology = TAKE_PTR(t);
	r->snapshot = s;
	r->discovered = true;
	return 0;
}

int recorder_new(struct io *io, FILE *out, const struct trace_about *about, struct recorder **ret)
{
	_cleanup_(recorder_freep) struct recorder *r = calloc(1, sizeof(*r));
	int k;

	if (!r)
		return -ENOMEM;
	r->io = io;
	k = trace_writer_new(out, about, &r->writer);
	if (k >= 0)
		k = observer_new(io, &r->observer);
	if (k >= 0)
		k = discover(r);
	if (k < 0)
		return k;
	*ret = TAKE_PTR(r);
	return 0;
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	trace_writer_free(r->writer);
	observer_free(r->observer);
	topology_free(r->topology);
	snapshot_free(r->snapshot);
	free(r);
}

static void read_values(struct recorder *r)
{
	for (size_t id = 0; id < _TUNABLE_MAX; id++)
		r->values.host[id].have = observe_number(r->io, id, &r->values.host[id].number);
}

static int follow_hotplug(struct recorder *r)
{
	uint64_t now = io_now(r->io, CLOCK_MONOTONIC);

	if (observer_topology_changed(r->observer) && !r->replan_usec)
		r->replan_usec = now + REPLAN_USEC;
	if (!r->replan_usec || now < r->replan_usec)
		return 0;
	r->replan_usec = 0;
	return discover(r);
}

int recorder_tick(struct recorder *r)
{
	int k;

	k = follow_hotplug(r);
	if (k < 0)
		return k;
	snapshot_clear(r->snapshot);
	k = observer_read(r->observer, r->topology, true, r->snapshot);
	if (k < 0)
		return k;
	read_values(r);
	k = trace_write(r->writer, r->topology, r->discovered, r->snapshot, &r->values);
	if (k < 0)
		return k;
	r->discovered = false;
	r->ticks++;
	return 0;
}

unsigned recorder_ticks(const struct recorder *r)
{
	return r->ticks;
}

uint64_t recorder_bytes(const struct recorder *r)
{
	return trace_writer_bytes(r->writer);
}
