/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A workload profile: what softnetd may and shall do. Read from libconfig files by profile/; here
 * it is only the noun. Every value knows the file and line it came from.
 */
#pragma once

#include "base/util.h"
#include "model/tunable.h"

struct origin {
	char *file; /* NULL: built in */
	unsigned line;
};

enum setting_kind {
	SETTING_LEAVE, /* do not touch: the default of everything */
	SETTING_VALUE, /* policy: this value, stated outright. A word list "schedutil|powersave" is
			* taken as the first that the host offers */
	SETTING_RANGE, /* the loop may move inside low … high */
};

enum on_foreign {
	ON_FOREIGN_YIELD,
	ON_FOREIGN_ENFORCE,
	ON_FOREIGN_ADOPT
};
extern const char *const on_foreign_names[]; /* by value, ends with NULL */

struct profile_setting {
	enum setting_kind kind;
	char *value;       /* SETTING_VALUE, canonical unless a word list */
	int64_t low, high; /* SETTING_RANGE */
	enum on_foreign on_foreign;
	struct origin origin;
};

enum placement {
	PLACEMENT_LEAVE,
	PLACEMENT_SPREAD,
	PLACEMENT_PACK,
	PLACEMENT_NEAR
};
const char *placement_to_string(enum placement p);
int placement_from_string(const char *s, enum placement *ret);
extern const char *const placement_names[]; /* ends with NULL */

enum napi_threads {
	NAPI_THREADS_LEAVE,
	NAPI_THREADS_NEAR, /* near the CPU that takes their queue's interrupt */
};
extern const char *const napi_threads_names[]; /* by value, ends with NULL */

enum rps {
	RPS_LEAVE,
	RPS_NEAR, /* to the cores near the NIC, where it has fewer queues: decide/steering.h */
};
extern const char *const rps_names[]; /* by value, ends with NULL */
/* What the loop is to make better; how each is measured: decide/objective.h. */
enum objective {
	OBJECTIVE_SYMPTOM,  /* what the symptom at hand is measured by */
	OBJECTIVE_DROPS,    /* packets that a backlog dropped */
	OBJECTIVE_SQUEEZES, /* NET_RX runs that ended squeezed */
	OBJECTIVE_WAIT,     /* softirqs that wait for a CPU */
	OBJECTIVE_WAKEUP,   /* tasks that wait for a CPU */
	OBJECTIVE_CPU,      /* CPU time per packet */
	_OBJECTIVE_MAX,
	/* No profile's: what the symptom poll-burn is measured by. */
	OBJECTIVE_BUSY = _OBJECTIVE_MAX, /* CPUs that are busy, with whatever */
	_MEASURE_MAX,
};
const char *objective_to_string(enum objective o);
int objective_from_string(const char *s, enum objective *ret);
extern const char *const objective_names[]; /* by value, ends with NULL */

/* An entry of nics = ( … ): the first whose MATCH (fnmatch(3)) fits the interface name counts. */
struct nic_rule {
	char *match;
	bool has_placement; /* else the profile's own counts */
	enum placement placement;
	enum napi_threads napi_threads;
	enum rps rps;
	/* What it says of settings of NICs, NAPI instances and queues; NULL: nothing. on_foreign is the
	 * profile's. */
	struct profile_setting *setting[_TUNABLE_MAX];
	bool has_cpus;
	struct cpuset cpus;      /* only these CPUs, when has_cpus */
	bool has_near_cpus;      /* with PLACEMENT_NEAR, and only then */
	struct cpuset near_cpus; /* where the NIC's packets are consumed */
	struct origin origin;
};

/* An entry of match = ( … ): fits when every condition that is given holds; one is given at least. */
struct match_rule {
	char *unit; /* "nginx.service"; NULL: not asked */
	bool has_rate;
	uint64_t rate_low, rate_high; /* packets/s: begins above high, ends below low */
	char *kernel;                 /* "rt", or fnmatch(3) on the release; NULL: not asked */
	struct origin origin;
};

struct profile {
	char *name;
	char *description;
	char *inherits; /* NULL: none */
	char *file;
	struct profile_setting setting[_TUNABLE_MAX];
	struct nic_rule *nic;
	size_t n_nics;
	/* Whose open sockets get socket_busy_poll and epoll_busy_poll; ends with NULL; NULL: nobody's. */
	char **busy_poll_units;
	/* Where placement may be applied although irqbalance runs. */
	bool place_despite_irqbalance;
	enum objective objective;
	/* When the profile comes into force by itself: any entry that fits. Of several profiles the
	 * one of the highest priority, then the first by name. Neither is inherited. */
	struct match_rule *match;
	size_t n_matches;
	int priority;
};

void profile_free(struct profile *p);
DEFINE_CLEANUP(struct profile *, profile_free);
/* Frees what one holds, not itself. */
void match_rule_done(struct match_rule *m);
/* Frees what one holds, not itself. */
void nic_rule_done(struct nic_rule *rule);
/* What counts for a NIC: its rule's, where that says something, else the profile's. Never NULL. */
const struct profile_setting *profile_nic_setting(const struct profile *p, const char *ifname,
						  enum tunable_id id);
/* NULL: no rule fits, which means PLACEMENT_LEAVE. */
const struct nic_rule *profile_nic_rule(const struct profile *p, const char *ifname);

enum mode {
	MODE_OBSERVE,
	MODE_ADVISE,
	MODE_APPLY
};
const char *mode_to_string(enum mode m);
int mode_from_string(const char *s, enum mode *ret);
extern const char *const mode_names[]; /* ends with NULL */

/* softnetd.conf */
struct config {
	enum mode mode;
	char *profile;           /* name of the default profile */
	uint64_t tick_usec;      /* fast tick, default 1 s */
	uint64_t slow_look_usec; /* default 10 s */
	bool keep_on_stop;       /* on_stop = "keep" */
	unsigned max_changes_per_hour;
	unsigned max_moves_per_round;
	char **silence; /* ids of advice that is not said; NULL: none */
	struct origin profile_origin, mode_origin;
};
void config_done(struct config *c);
