/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small host for the tests of act/: a captured tree with four CPUs, the receive settings, three
 * NIC interrupts (30, 31, 32) and two cpufreq policies, its topology, and a kernel that reacts to
 * what is written, as far as the drivers' sources say (kernel-facts 6.1, 6.2). What the kernel
 * remembers lies in the tree, too (hidden/), so it outlives a killed process.
 *
 *   policy0 (CPUs 0-1)  powersave, balance_performance
 *   policy2 (CPUs 2-3)  performance, performance; balance_performance as soon as it is left
 */
#pragma once

#include "act/act.h"
#include "act/restore.h"
#include "lib/fault-io.h"
#include "lib/tree.h"

enum epp_kind {
	EPP_FREE,  /* acpi-cpufreq, intel_cpufreq: governor and EPP know nothing of each other */
	EPP_INTEL, /* intel_pstate: forced to performance, and brought back */
	EPP_AMD,   /* amd-pstate: forced to performance, and left so (slimbookbattery#112) */
};

struct act_host {
	struct io io; /* for the code under test, or for a fault_io around it */
	struct io_ops ops;
	struct tree *tree;
	struct io *plain; /* the tree without a kernel behind it */
	struct topology *topology;

	enum epp_kind epp;
	bool epp_stuck; /* under performance even EPP performance is EBUSY (auto-cpufreq#927) */
	int64_t usecs_floor;     /* netdev_budget_usecs below it: EINVAL */
	int64_t backlog_ceiling; /* netdev_max_backlog above it: EINVAL; 0: none */
	const char *twist_path;  /* whatever is stored there becomes twist_value */
	const char *twist_value;
	unsigned long stores; /* how many were made, the driver's own not counted */
	unsigned long
		short_at; /* the n-th store or write takes half of its bytes, and fails with EIO */
	unsigned long writes; /* stores and writes */
	uint64_t clock_usec;
};

/* Trees in memory where $TMPDIR does not say otherwise: for tests that sync ten thousand ledgers.
 */
void host_use_memory(void);

struct act_host *act_host_new(enum epp_kind epp);
void act_host_free(struct act_host *h);
DEFINE_CLEANUP(struct act_host *, act_host_free);

struct target host_irq(const struct act_host *h, unsigned number);
struct target host_policy(const struct act_host *h, unsigned number);

/* A policy change of ID at TARGET to TO. */
struct change host_change(enum tunable_id id, struct target target, const char *to);

/* Everything but run/ and hidden/: path and bytes of each file, one text. The caller frees. */
char *host_dump(const struct act_host *h);
/* Ends the test unless the tree is as in DUMP, naming the first file that differs. */
void host_expect(const struct act_host *h, const char *dump, const char *when);

/* The ledger on disk opened by a fresh process, everything given back: as `softnetctl restore` does
 * it. Returns restore_all()'s value; REPORT may be NULL. */
int host_restore(struct act_host *h, struct io *io, struct restore_report *report);
/* No ledger, and no half of one, is left. */
void host_expect_no_ledger(const struct act_host *h, const char *when);

/* A ledger and an actuator on IO, opened and freed together. */
struct act_session {
	struct ledger *ledger;
	struct actuator *actuator;
};
int act_session_open(struct io *io, struct act_session *s);
void act_session_close(struct act_session *s);

/* The changing cycle of the crash and errno tests: sysctls changed once and twice, interrupts
 * placed, both policies' pairs changed and one changed again, one setting released, one asked for
 * twice. CHECK (may be NULL) sees every result. */
void host_cycle(struct act_host *h, struct io *io, void (*check)(const struct result *r, int ret));
