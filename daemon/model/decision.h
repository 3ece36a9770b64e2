/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nouns between decide/ and act/: a symptom with its evidence, a change with its reason, and
 * the result of trying it. Plain values, no ownership.
 */
#pragma once

#include "base/cpuset.h"
#include "model/profile.h"
#include "model/tunable.h"

enum symptom {
	SYMPTOM_NONE,
	SYMPTOM_BACKLOG_DROP,
	SYMPTOM_SQUEEZED,
	SYMPTOM_HOT_CPU,
	SYMPTOM_KSOFTIRQD_LAG,
	SYMPTOM_SOFTIRQ_HOG,
	SYMPTOM_IRQ_LEAKED,
	SYMPTOM_IRQ_PINGPONG,
	SYMPTOM_NOHZ_NET,
	SYMPTOM_LOW_RATE,
	SYMPTOM_POLL_BURN,
	SYMPTOM_STALLED,
	SYMPTOM_BLIND,
	_SYMPTOM_MAX,
};
const char *symptom_to_string(enum symptom s); /* "backlog-drop" … */

enum squeeze_cause {
	CAUSE_UNKNOWN,
	CAUSE_PACKETS,
	CAUSE_TIME
};
const char *squeeze_cause_to_string(enum squeeze_cause c);

/* Why the runs of softirqs on some CPUs leave work to ksoftirqd, as far as the kernel series counts
 * it. */
enum handed {
	HANDED_UNKNOWN, /* not counted here */
	HANDED_NEVER,   /* (almost) no run does: its limits do not bind */
	HANDED_TIME,    /* mostly … */
	HANDED_RESCHED,
	HANDED_COUNT,
	HANDED_POLICY,
};
const char *handed_to_string(enum handed h);

/* Evidence is a short list of named numbers, so that text, JSON and journal say the same. */
struct evidence {
	const char *name; /* "drops_per_second" … */
	double value;
	const char *unit; /* "/s", "%", "packets", "" */
};
#define EVIDENCE_MAX 8

struct symptom_report {
	enum symptom symptom;
	enum squeeze_cause cause; /* SYMPTOM_SQUEEZED */
	enum handed handed;       /* SYMPTOM_KSOFTIRQD_LAG, SYMPTOM_SOFTIRQ_HOG */
	struct cpuset cpus;       /* where; empty: the host */
	int nic;                  /* index into topology, -1 */
	int irq;                  /* index into topology, -1 */
	uint64_t since_usec;      /* CLOCK_MONOTONIC at entering */
	bool acute;               /* seen in the newest tick; else it is only not over yet */
	unsigned n_evidence;
	struct evidence evidence[EVIDENCE_MAX];
	char text[256]; /* one sentence for an admin */
};

/* The host changed: what was reported of NICs and interrupts is dropped from LIST, since their numbers
 * may be others' now; what is about CPUs goes on, and is not announced again. Returns how many are
 * left of N. */
unsigned reports_on_new_host(struct symptom_report *list, unsigned n);

/* A lever that was considered for a symptom and not taken. */
struct passed {
	enum tunable_id tunable; /* TUNABLE_IRQ_AFFINITY: placement */
	const char *reason;      /* a constant */
};
#define PASSED_MAX 6 /* no symptom has more levers that are tried; of low-rate's the first few */
struct passed_list {
	unsigned n;
	struct passed item[PASSED_MAX];
};

/* What a profile asks of a trial beside the cure of the symptom, and what became of it. */
struct judged {
	enum objective objective; /* OBJECTIVE_SYMPTOM: nothing else */
	bool blind;               /* no sensor shows it: the symptom's measure alone decided */
	double before, after;     /* decide/objective.h says of what */
};

enum change_class {
	CLASS_POLICY,  /* the profile states it outright */
	CLASS_TRIAL,   /* the loop moves it inside a range, and takes it back without effect */
	CLASS_MANUAL,  /* softnetctl set */
	CLASS_RESTORE, /* back to the original */
};
const char *change_class_to_string(enum change_class c);

#define CHANGE_ID_MAX 64
struct change {
	char id[CHANGE_ID_MAX]; /* stable: same setting, target and symptom give the same id */
	enum tunable_id tunable;
	struct target target;
	enum change_class class;
	bool advice_only; /* the profile does not let softnetd make it: shown, never written */
	bool implied;     /* made for another's sake: that the host does not have it is no news */
	bool planned;   /* the loop's next step, not due yet (its baseline is still measured): shown
		       */
	bool follow_up; /* belongs to a change made before: withdraws it, takes it back, goes on
			 * from it */
	enum symptom symptom; /* SYMPTOM_NONE for a policy */
	char from[VALUE_MAX]; /* what decide/ believes; act/ reads again before it writes */
	char to[VALUE_MAX];
	char why[384]; /* a symptom's text and what is said of the change, with the numbers */
};

/* Sets the id: from what is changed and why, so that it is the same on every host and run. */
void change_name(struct change *c);
/* Whether ID is one that change_name() may give. */
bool change_id_ok(const char *id);

/* The exact shell command that makes the change by hand: "sysctl -w net.core.netdev_budget=450",
 * "echo 3 > /proc/irq/30/smp_affinity_list". */
int change_command(const struct change *c, char *buf, size_t size);

/* What act/ answers. */
enum outcome {
	OUTCOME_DONE,        /* written and read back as wished */
	OUTCOME_PENDING,     /* written; takes effect at the next interrupt */
	OUTCOME_UNCHANGED,   /* was so already: nothing written */
	OUTCOME_FOREIGN,     /* somebody else changed it since we did: left alone */
	OUTCOME_REFUSED,     /* the kernel said no: error is its errno */
	OUTCOME_UNSUPPORTED, /* this host does not have it */
	OUTCOME_MANAGED,     /* a kernel-managed interrupt */
	OUTCOME_READ_ONLY, /* the whole family cannot be written here (container, sandbox, no root)
			    */
	OUTCOME_DIFFERENT, /* written, but reads back as something else: put back */
	OUTCOME_ADVISED,   /* advise or dry-run: nothing written */
};
const char *outcome_to_string(enum outcome o);

struct result {
	enum outcome outcome;
	int error;             /* negative errno where outcome has one */
	bool known;            /* answered from memory, without a write: this was said before */
	char value[VALUE_MAX]; /* what the kernel says now; "" when it could not be read */
	char before[32]; /* what it said before, if that is short and could be read; else "" */
	char text[256];  /* for an admin */
};

/* What is known of a policy that was written and reads back so: whether the host acts on it. */
enum proof {
	PROOF_NONE,         /* no policy, or not made */
	PROOF_UNVERIFIABLE, /* no sensor shows what it does */
	PROOF_DUE,          /* its side effect has not been seen yet */
	PROOF_VERIFIED,     /* … was seen */
	PROOF_CONTRADICTED, /* the host does something else */
};
const char *proof_to_string(enum proof p); /* "" for PROOF_NONE, "unverifiable" … */

/* A setting whose policy is not in force. */
struct unmet {
	unsigned n;           /* targets; 0: it is in force, or there is none */
	enum outcome outcome; /* what act/ said of the last, which the rest is about */
	struct target target;
	char now[64], to[64];
};

/* What act/ answered to the policy C goes into UNMET, an array by setting. NOW: the value since; "": as
 * C's FROM. Other changes than policies are ignored. */
void unmet_note(struct unmet *unmet, const struct change *c, enum outcome outcome, const char *now);
