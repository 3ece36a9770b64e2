/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sensors, as one: an observer owns the open files of all of them and fills one snapshot a
 * tick. One file per sensor beside this one; each reads through the I/O seam only, and each failure
 * ends in that source's status, never in the caller's return value.
 */
#pragma once

#include "base/io.h"
#include "model/snapshot.h"
#include "model/topology.h"

struct observer;

/* IO must outlive the observer. */
int observer_new(struct io *io, struct observer **ret);
void observer_free(struct observer *o);
DEFINE_CLEANUP(struct observer *, observer_free);

/*
 * Finds out what the machine is made of. Expensive (hwloc, sysfs walk): at start, and when
 * observer_topology_changed() says so. Never fails but for -ENOMEM: what cannot be read is absent,
 * and the status of SOURCE_TOPOLOGY and SOURCE_CPUFREQ in the next snapshots says why.
 */
int observer_topology(struct observer *o, struct topology **ret);

/*
 * Reads the fast sources, and with SLOW also the slow ones: the whole of /proc/interrupts, ksoftirqd
 * of all CPUs (on a fast tick only of those that are busy with softirqs), affinities, and whether
 * the machine is still what it was. TOPOLOGY is the last one made, and its NIC interrupts' affinity
 * and effective affinity, its online set, and HZ where that had to be measured, are refreshed in
 * place on a slow look. S must be from observer_snapshot_new(). Returns 0 or -ENOMEM.
 *
 * What cannot be opened or read is not tried again before the next slow look.
 */
int observer_snapshot_new(const struct topology *t, struct snapshot **ret);
int observer_read(struct observer *o, struct topology *t, bool slow, struct snapshot *s);

/* CPUs came or went, NICs or their interrupts changed since the last observer_topology(): a cheap
 * look, from what the last reads showed (online set, rows of the tables, link events). */
bool observer_topology_changed(const struct observer *o);
/* NAPI instances changed in place since the last call, T->napi is new already: a driver was reset,
 * threads were switched on. */
bool observer_napis_changed(struct observer *o);
/* Finds the NAPI instances and their threads again, now: after softnetd itself changed them. -ENOMEM
 * or 0. */
int observer_look_at_napis(struct observer *o, struct topology *t);
/* Tells the observer that a link event came (observe/links): the next observer_read() looks whether
 * a NIC with a device is concerned, or only an interface of a container. */
void observer_note_link_change(struct observer *o);
/* A driver was reset: the topology has to be found anew, whatever its interrupts look like. */
void observer_note_reset(struct observer *o);

/* Descriptor of /dev/kmsg for the event loop, or -1 when the log cannot be read or is a file. */
int observer_kmsg_fd(const struct observer *o);

/*
 * The present value of a setting, as the kernel spells it (not canonical): reading side of the
 * tunable table. -ENOENT the host has no such setting; else read(2)'s errno. For governor and EPP
 * the answer is the policy's file; for affinity it is smp_affinity_list. What lives in generic
 * netlink is asked there: -EOPNOTSUPP or -ENOENT the driver or the kernel does not have it, -ENODEV
 * the NIC or NAPI instance is gone.
 */
int observe_value(struct io *io, enum tunable_id id, const struct target *target, char *buf,
		  size_t size);
/* The same of a host-wide number. False: it has none now, or is not to be asked (to ask for what is held, such
 * as a latency limit, is a request of its own). *RET is left as it is then. */
bool observe_number(struct io *io, enum tunable_id id, int64_t *ret);
