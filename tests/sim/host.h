/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two hosts around the simulated receive path.
 *
 * live    the real engine (observe, decide, act, ledger) over a captured tree: the plant's counters
 *         become files, what the engine writes into the tree becomes the plant's settings;
 * direct  decide() alone, over snapshots in memory, with an executor that always succeeds: for weeks
 *         and for hundreds of CPUs, where files would cost more than all the rest.
 */
#pragma once

#include "engine/internal.h"
#include "lib/machine.h"
#include "sim/receive.h"

/* ---- live ---- */

struct live {
	struct machine *m;
	struct engine *e;
	struct tree *config;
	const char *dirs[2];
	struct complaints complaints;
	struct receive r;
	int irq[RECEIVE_QUEUES_MAX]; /* of the machine; -1: none */
	struct receive_queue was[RECEIVE_QUEUES_MAX];
	unsigned ticks;      /* since start */
	unsigned writes;     /* changes that the engine made, since start */
	unsigned last_write; /* tick of the newest */
	unsigned verdicts, kept, without_effect, worse, inconclusive, fallen_back;
	char text[512];      /* of the newest verdict, or of the first that was "kept" */
	char last_text[512]; /* of the newest verdict */
	bool slept;          /* the next tick follows a suspend */
};

/* A machine with the plant on it (HZ=250), without queues. */
void live_boot(struct live *l, const struct machine_spec *spec);
/* Starts the engine on it, with a profile of that text. */
void live_start(struct live *l, const char *profile);
void live_done(struct live *l);
/* A queue of the plant whose interrupt is NAME. */
struct receive_queue *live_queue(struct live *l, const char *name);
/* SECONDS ticks. */
void live_run(struct live *l, unsigned seconds);
long live_setting(const struct live *l, const char *name); /* of /proc/sys/net/core */
void live_write_setting(struct live *l, const char *name, long value);
bool live_reported(const struct live *l, enum symptom s);

/* ---- direct ---- */

struct direct {
	struct receive r;
	struct topology *topology;
	struct profile *profile;
	struct values values;
	struct snapshot *snapshot;
	struct window *window;
	struct decider *decider;
	const struct decisions *out;
	uint64_t now_usec;
	unsigned changes_per_hour, moves_per_round;
	unsigned ticks, writes, last_write;
	unsigned verdicts, kept, without_effect, worse, inconclusive, fallen_back;
	unsigned entered; /* symptoms, of those that a limit causes */
	bool no_plant;    /* the test moves the counters of `r` itself, and calls direct_see() */
};

/* N_CPUS CPUs, a NIC "eth0" with N_QUEUES queues of which queue n fires on CPU n; an HZ=250 kernel
 * unless HZ says otherwise; the ranges of the profile "balanced". */
void direct_start(struct direct *d, unsigned hz, unsigned n_cpus, unsigned n_queues, uint64_t seed);
void direct_done(struct direct *d);
void direct_run(struct direct *d, unsigned seconds);
/* What the sensors would read now. */
void direct_see(struct direct *d);
/* Settings back to where they began, and nothing is remembered: another host of the same kind. */
void direct_forget(struct direct *d);
int64_t direct_setting(const struct direct *d, enum tunable_id id);
bool direct_reported(const struct direct *d, enum symptom s);
