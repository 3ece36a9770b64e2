/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a recording that are not counters: the machine and the profile, as JSON and back.
 * trace-host.c writes, trace-host-read.c reads. The keys:
 *
 *   topology: {"cpus": {"n", "possible", "present", "online", "isolated": CPU lists; "node",
 *   "package", "core", "cache", "smt", "capacity": [by CPU id]}, "nics": [{"name", "driver",
 * "node", "queues", "up", "rps", "device": whether it has one}], "irqs": [{"irq", "nic", "queue",
 * "role", "managed", "shared", "banned" (only where true), "affinity", "effective": CPU lists or null,
 *   "name", "identity"}],
 *   "policies": [{"policy", "cpus", "active", "driver", "governor", "governors", "epp", "epps":
 * text or null, "identity"}], "flags": names of those that are true, "rivals"}
 *
 *   profile: {"name", "settings": {"netdev_budget": [low, high], "governor": value, …}, "nics":
 *   [{"match", "placement", "cpus": list or null, "near_cpus": list or null}], "despite_irqbalance"}
 */
#pragma once

#include <jansson.h>

#include "model/profile.h"
#include "model/topology.h"
#include "serve/trace-mask.h"

/* New references; NULL without memory. */
json_t *trace_topology(struct trace_mask *m, const struct topology *t);
json_t *trace_profile(struct trace_mask *m, const struct profile *p);
/* A string whatever the bytes are: see slice_show(). */
json_t *trace_text(const char *text);
/* The kernel's list spelling, "" for the empty set. */
json_t *trace_cpu_list(const struct cpuset *set);

/* What is wrong with a line, for an admin. */
struct trace_fault {
	char text[256];
};
/* Returns -EBADMSG. */
int trace_fault(struct trace_fault *f, const char *fmt, ...) _printf_(2, 3);

/*
 * Strictly: an unknown or missing key, a wrong type, a text with control characters, a number or
 * CPU that cannot be is -EBADMSG, and FAULT says which. kernel, hz, user_hz and hostname are left
 * empty. The profile's settings get "recording:LINE" as their origin.
 */
int trace_topology_read(json_t *d, struct topology **ret, struct trace_fault *fault);
int trace_profile_read(json_t *d, unsigned line, struct profile **ret, struct trace_fault *fault);

/* The members' checks, shared with trace-read.c. */
int trace_number(const json_t *d, const char *what, int64_t min, int64_t max, int64_t *ret,
		 struct trace_fault *fault);
int trace_cpus(const json_t *d, const char *what, struct cpuset *ret, struct trace_fault *fault);
/* Copies a text that can be shown on a terminal; SIZE includes the NUL. */
int trace_copy(const char *text, const char *what, char *buf, size_t size,
	       struct trace_fault *fault);
