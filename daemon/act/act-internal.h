/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of act/ share: the actuator and its memory, a setting's place on this host, and
 * what one family of settings does differently from the others. The road itself is act.c.
 */
#pragma once

#include <stdio.h>
#include <time.h>

#include "act/act.h"
#include "act/restore.h"

#define FOREIGN_MAX         3                    /* changes of others … */
#define FOREIGN_WINDOW_USEC (600 * USEC_PER_SEC) /* … within this time: yield */
#define VECTORS_FULL_USEC   (600 * USEC_PER_SEC) /* how long a CPU without vectors is left */

/* What is remembered about one target. */
struct memory {
	enum tunable_id tunable;
	char *identity;
	bool managed; /* IRQ: only the kernel moves it */
	bool yielded; /* somebody else's */
	bool gave_up; /* … and after a fight: enforce and adopt do not apply any more */
	unsigned n_foreign;
	uint64_t foreign_usec[FOREIGN_MAX]; /* CLOCK_MONOTONIC of the last ones, oldest first */
	bool unsupported;                   /* NIC: the driver does not have it */
	char *refused_value; /* NIC: the last value that the driver did not take; NULL: none */
	char *rounded_wish, *rounded_to; /* NIC: what the driver made of a wish */
	char *refused_pair; /* governor: "GOVERNOR+EPP" that the driver does not take together */
};

/* Bounds that EINVAL taught. GOOD: the nearest value known to be taken. */
struct limit {
	bool have_low, have_high;
	int64_t low_good, low_refused, high_good, high_refused;
};

struct actuator {
	struct io *io;
	struct ledger *ledger;
	bool dry;
	struct memory *memory;
	size_t n_memory;
	char reason
		[GENL_REASON_MAX]; /* the kernel's own words for the last store's refusal, or "" */
	struct cpuset returned;    /* act_host_changed() */
	bool affinities_reset;
	struct limit limit[_TUNABLE_MAX];
	char blocked[_TUNABLE_MAX][160]; /* "": not */
	int latency_fd;                  /* -1; else cpu_dma_latency's request, of … */
	int32_t latency_usec;
	bool writable[_TUNABLE_MAX]; /* a write has succeeded: no blocked family then */
	/* [CPU_ID_MAX], CLOCK_MONOTONIC, or NULL: CPUs without free vectors */
	uint64_t *full_until;
};

/* NULL when nothing is known. */
struct memory *memory_find(const struct actuator *a, enum tunable_id id, const char *identity);
/* Makes one when there is none; NULL when there is no memory to be had: then it is not remembered,
 * and will be learned once more. */
struct memory *memory_make(struct actuator *a, enum tunable_id id, const char *identity);

/* A setting on this host, found by its target's identity. */
struct place {
	const struct tunable *tunable;
	enum tunable_id id;
	struct target target;        /* with the number of now */
	const struct irq *irq;       /* SCOPE_IRQ, SCOPE_THREAD */
	const struct policy *policy; /* SCOPE_POLICY */
	const struct nic *nic;       /* SCOPE_NIC, SCOPE_NAPI, SCOPE_QUEUE */
	const struct family *family;
	char path[256]; /* "" where a family stores in another way */
	char name[192]; /* for messages: "irq_affinity of IRQ 30 (virtio0-input.0)" */
};

/* A change on its way. */
struct attempt {
	struct place place;
	const struct topology *topology;
	const struct change *change;
	char wish[VALUE_MAX]; /* canonical, or the original as the kernel spelled it */
	char now[VALUE_MAX];
	char epp_before[64]; /* governor: its policy's EPP before the store; "": cannot change */
	struct result *result;
};

/*
 * What differs between the families. Every function may be NULL. Those that return int answer the
 * attempt (see answer()) and return its error when they end it, and 0 when it goes on.
 */
struct family {
	/* Is PLACE, found in the topology, still the same thing? -ENODEV: no, never write; -ENXIO:
	 * it is, but asleep (offline). */
	int (*verify)(struct actuator *a, const struct place *p);
	/* What it holds now, for settings whose file does not say that; NULL: observe_value(). */
	int (*read)(struct actuator *a, const struct place *p, char value[static VALUE_MAX]);
	/* Writes VALUE; NULL: into its file. */
	int (*store)(struct actuator *a, const struct place *p, const char *value);
	/* Turns the change's TO into the one word that is written. */
	int (*resolve)(struct actuator *a, struct attempt *at);
	/* What is known already, and needs no write to be refused. */
	int (*permit)(struct actuator *a, struct attempt *at);
	/* NOW is what the kernel itself resets this setting to: nobody's will. */
	bool (*was_reset)(struct actuator *a, const struct place *p, const char *now);
	/* The setting reads THEN instead of the wish: whether that is as good. It is remembered then,
	 * so that the same wish asks for nothing the next time. RESTORING as below. */
	bool (*settles_for)(struct actuator *a, struct attempt *at, const char *then,
			    bool restoring);
	/* Around the store: other settings that the kernel changes with this one. BEFORE may end
	 * the attempt; AFTER comes in any case, and sees by itself what became of the store.
	 * RESTORING: the wish is the original. */
	int (*before)(struct actuator *a, struct attempt *at, bool restoring);
	void (*after)(struct actuator *a, struct attempt *at);
	/* The store gave ERROR. Returns false for what is the same in all families. */
	bool (*refused)(struct actuator *a, struct attempt *at, int error);
	/* Stored and read back. */
	void (*settled)(struct actuator *a, struct attempt *at);
};
extern const struct family sysctl_family, irq_family, cpufreq_family, cpu_latency_family,
	dma_latency_family, thread_family;
extern const struct family coalesce_family, napi_family, nic_file_family, napi_thread_family,
	queue_family, socket_family;

/* Text for an admin, cut at SIZE; what is not printable ASCII becomes '?': names come from drivers,
 * and the text goes to JSON and to terminals. */
void say(char *buf, size_t size, const char *fmt, ...) _printf_(3, 4);
/* Ends an attempt: returns ERROR, or 0 for an outcome that is none. */
int answer(struct result *ret, enum outcome outcome, int error, const char *fmt, ...)
	_printf_(4, 5);
/* Who may have changed it: "often TuneD, sysctl.d; running here: irqbalance". */
void culprits(const struct topology *t, const struct tunable *tunable, char *buf, size_t size);

/* -ENODEV: this host does not have the target (any more); -ENXIO: asleep; -ENOTUNIQ: the name is
 * not unique; other errors: it cannot be told. P->name is set in any case. */
int place_find(struct actuator *a, const struct topology *t, enum tunable_id id,
	       const struct target *target, struct place *p);
int place_store(struct actuator *a, const struct place *p, const char *value);
int place_read(struct actuator *a, const struct place *p, char value[static VALUE_MAX]);

/*
 * The end of the road: ledger, store, read back; puts back what was there when that fails. The
 * attempt's wish and now are set. Answers the attempt. A wish that is the original needs nothing in
 * the ledger first, so a full disk does not hinder it; dropping its entry is the caller's.
 */
int write_attempt(struct actuator *a, struct attempt *at);

/* One direction's coalescing, for act_apply_coupled(). */
int apply_coalescing(struct actuator *a, const struct topology *t, const struct change *changes,
		     size_t n, enum on_foreign on_foreign, struct result *ret);

/* No ledger, no change. */
int refuse_ledger(struct actuator *a, struct attempt *at, int error);
/* What a host does not have, or cannot write at all: the same in all families. */
void refuse_family(struct actuator *a, struct attempt *at, int error);

/* The three-way restore of one ledger entry; it is dropped unless that failed. */
void give_back(struct actuator *a, const struct topology *t, const struct ledger_entry *e,
	       struct restore_item *ret);

/* Whether this policy's EPP has to be given back before its governor; else after it. */
bool epp_goes_first(const struct ledger_entry *governor);
/* Whether E is an EPP that our governor changed, and still holds: it goes back when that does. */
bool epp_waits_for_governor(const struct actuator *a, const struct ledger_entry *e);
/* Whether P is an EPP that the governor `performance` holds: then the driver answers EBUSY, and
 * shows what it forces. */
bool epp_is_locked(struct actuator *a, const struct place *p);
