/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's inside, shared by engine.c (the loop) and describe.c (what the faces show).
 */
#pragma once

#include "act/act.h"
#include "act/ledger.h"
#include "act/restore.h"
#include "act/selftest.h"
#include "decide/ahead.h"
#include "decide/choose.h"
#include "decide/decide.h"
#include "decide/silence.h"
#include "decide/verify.h"
#include "engine/engine.h"
#include "model/topology.h"
#include "model/window.h"
#include "observe/link-files.h"
#include "observe/observe.h"
#include "observe/sockets.h"
#include "observe/units.h"

/* softnetctl set: the loop keeps its hands off until release. */
struct pin {
	enum tunable_id tunable;
	struct target target;
	char *value;
};

/* As long as a result's text. */
#define REFUSAL_MAX sizeof(((struct result *)NULL)->text)

/* A profile that somebody holds in force. */
#define HOLDS_MAX     64
#define HOLD_TEXT_MAX 192
struct hold {
	uint32_t cookie;
	char *profile;
	char text[HOLD_TEXT_MAX]; /* "pid 4711: iperf3 -s" */
	uint64_t realtime_usec;
};

/* A policy in the ledger, and whether the host acts on it. */
struct proven {
	enum tunable_id tunable;
	char *identity;
	uint64_t written_usec; /* the ledger's */
	int irq;               /* index into the topology's irqs; -1 not looked for yet */
	enum proof proof;
	char text[PROOF_TEXT_MAX];
};

/* What happened, newest last; a ring. */
#define HISTORY_MAX 256
struct history_entry {
	uint64_t serial;        /* 1, 2, 3 … since start; 0: unused */
	uint64_t realtime_usec; /* CLOCK_REALTIME */
	enum history_kind {
		HISTORY_EVENT,
		HISTORY_CHANGE,
		HISTORY_VERDICT
	} kind;
	struct change *change; /* owned; NULL for a plain event */
	enum outcome outcome;
	int error;
	enum proof proof; /* of a policy */
	char proof_text[PROOF_TEXT_MAX];
	char *text;
	/* What led to a change: the symptom's numbers then, and the levers that were passed over. */
	struct grounds *grounds; /* owned; NULL: a follow-up, a policy, an event */
	/* HISTORY_VERDICT */
	const char *verdict; /* a constant */
	double before, after;
	struct judged judged;
};

struct grounds {
	char scope[64]; /* "cpu 0-3" */
	enum squeeze_cause cause;
	unsigned n_evidence;
	struct evidence evidence[EVIDENCE_MAX];
	struct passed_list passed;
};

/* Advice that nobody wants to hear. */
#define SILENCED_MAX 256
struct silenced {
	char id[CHANGE_ID_MAX];
	bool by_config;
	uint64_t count; /* how often it would have been said */
	uint64_t said_usec;
};

struct engine {
	struct io *io;
	const char *const *config_dirs;
	bool have_mode_override;
	enum mode mode_override;
	char *profile_override; /* softnetctl profile set, or --profile */

	struct config config;
	struct profile *profile; /* in force */
	struct chooser *chooser;
	struct units *units;  /* those that the profiles' rules name */
	struct choice choice; /* the last; its profile is not valid any more */
	char *refused; /* the profile that was chosen but cannot be loaded; NULL: none. Said already */
	struct hold hold[HOLDS_MAX]; /* newest last */
	size_t n_holds;
	uint32_t hold_cookie; /* the last given out */
	char *expected_hold;  /* until the first tick; NULL */

	struct observer *observer;
	struct topology *topology;
	struct cpuset
		discovered_online; /* when it was discovered: a slow look moves TOPOLOGY's own */
	struct sockets_status sockets;  /* as old as TOPOLOGY's list of them */
	struct link_claims link_claims; /* what udev sets besides; as old as the topology */
	struct snapshot *snapshot;
	struct window *window;
	struct values values;
	struct unmet unmet[_TUNABLE_MAX];
	char refusal[_TUNABLE_MAX][REFUSAL_MAX]; /* in words: why a policy is not in force; "" */

	struct decider *decider;
	const struct decisions *decisions; /* of the last tick; NULL before the first */
	struct ledger *ledger;
	struct actuator *actuator; /* apply */
	struct actuator *dry;      /* observe and advise */
	struct selftest selftest;  /* at the start, and when apply begins; apply only */

	/* Who goes before the interrupt threads of each NIC, by index, as of the last look */
	struct ahead_news {
		char nic[16];
		unsigned tasks; /* 0: nobody */
		unsigned rank, thread_rank;
		pid_t pid;
		char comm[16];
		struct cpuset cpus;
		char text[256];
	} * ahead;
	unsigned n_ahead;
	uint64_t next_ahead_usec;
	struct irq_watch *watch; /* by index into the topology's irqs; NULL: no memory */
	struct proven *proven;
	size_t n_proven;
	struct pin *pins;
	size_t n_pins;
	/* Interrupts that softnetd placed, by index into the topology's irqs; from the ledger. */
	struct placed {
		bool on;
		struct cpuset cpus;
	} * placed;
	/* What the last tick reported, and the state of the sources: for entering, leaving,
	 * changing. */
	struct symptom_report reported[REPORTS_MAX];
	unsigned n_reported;
	enum source_state source_seen[_SOURCE_MAX];
	struct history_entry history[HISTORY_MAX];
	uint64_t history_serial;
	struct silenced *silenced;
	size_t n_silenced;

	uint64_t started_usec; /* CLOCK_BOOTTIME */
	uint64_t ticks;
	uint64_t next_slow_usec;
	uint64_t replan_usec;    /* 0: none; when a debounced re-plan is due */
	uint64_t hands_off_usec; /* `stalled`: nothing is changed before this time, CLOCK_MONOTONIC
				  */
	bool napis_due;          /* NAPI threads were switched: they have to be found */
	struct cpuset receive_cpus; /* where NICs' interrupts arrived when the policy was applied */
	bool taking_over; /* kept settings of a predecessor: what its trials proved stays, too */
	bool policy_due;  /* interrupts of the profile's placement still have to move */
	bool stalled;     /* everything went back to its original, and stays there */

	void (*listener)(void *userdata, const struct engine_event *ev);
	void *listener_userdata;
};

/* choose.c: configuration, and which profile is in force. */
extern const char *const engine_no_dirs[]; /* no configuration at all */
int engine_load(struct engine *e, struct config *config, struct profile **profile,
		struct complaints *c);
/* At the start: the topology is known, nothing is applied yet. */
int engine_choose_first(struct engine *e);
/* Each tick. */
void engine_choose(struct engine *e);
void engine_choice_done(struct engine *e);
/* Packets per second of the whole host over the newest ticks; false when they are not known. */
bool engine_packet_rate(const struct engine *e, double *ret);

/* verify.c: what became of the profile's policy. */
/* SLOW: with a slow look; on other ticks only interrupts that fire are news. */
void engine_verify(struct engine *e, bool slow);
/* NULL: no policy, or not looked at yet. */
const struct proven *engine_proven(const struct engine *e, enum tunable_id id,
				   const char *identity);
void engine_verify_anew(struct engine *e);
void engine_verify_done(struct engine *e);

/* vanished.c: after the host was looked at anew. */
void engine_drop_vanished(struct engine *e);

/* history.c: what happened, why, and what is not to be said. */
/* Takes in a copy of ENTRY, with serial and time, and of TEXT; REPORT and PASSED may be NULL. */
void engine_remember(struct engine *e, const struct history_entry *entry,
		     const struct symptom_report *report, const struct passed_list *passed,
		     const char *text);
void engine_forget(struct engine *e);
/* The same answer to the same wish as a short while ago. */
bool engine_is_repeat(struct engine *e, const struct change *c, const struct result *r);
/* The symptom of the last tick that C answers; NULL when there is none. */
const struct symptom_report *engine_report_of(const struct engine *e, const struct change *c,
					      const struct passed_list **ret_passed);
/* NULL when it was overwritten since. */
const struct history_entry *engine_history_at(const struct engine *e, uint64_t serial);
/* The newest entry of a change's id, no verdict; NULL: none. */
const struct history_entry *engine_history_find(const struct engine *e, const char *id);
bool engine_is_silenced(const struct engine *e, const char *id);
/* Whether advice is silenced; it is counted then. */
bool engine_hush(struct engine *e, const char *id);
/* The configuration was read: its list replaces the one of the configuration before. */
int engine_silence_as_configured(struct engine *e);

/* sockets.c: at a slow look, what the profile says of the open sockets of units. 0 or -ENOMEM. */
int engine_look_at_sockets(struct engine *e);
/* Whether the profile wants something of the socket that has IDENTITY. */
bool engine_wants_socket(const struct engine *e, enum tunable_id id, const char *identity);

/* Once the mode is apply. */
void engine_selftest(struct engine *e);

/* silence.c. Interrupt IRQ, an index, was moved just now. */
void engine_watch_irq(struct engine *e, unsigned irq);
/* The host or the profile changed: nothing is watched, and no interrupt left alone. 0 or -ENOMEM. */
int engine_watch_anew(struct engine *e);
/* After each tick. */
void engine_watch_irqs(struct engine *e);

/* ahead.c. On a new topology: what is known of a NIC that is still there stays known. 0 or -ENOMEM. */
int engine_ahead_anew(struct engine *e);
/* Looks, when it is time. 0 or -ENOMEM. */
int engine_look_ahead(struct engine *e);

/* change.c: from decisions and wishes to act/, and what became of them. */
int engine_change(struct engine *e, const struct change *c, struct result *ret);
/* What the setting is before the change, for those who will ask what was changed. */
void engine_know_from(struct engine *e, struct change *c);
/* For history, journal and status. */
void engine_note_result(struct engine *e, const struct change *c, const struct result *r);
/* The topology and the values decide/ works on follow what was just written; the slow look would
 * bring them only seconds later. */
void engine_follow(struct engine *e, const struct change *c, const struct result *r);
int engine_policy(struct engine *e);
void engine_follow_interrupts(struct engine *e);
void engine_sweep(struct engine *e);
int engine_place_from_ledger(struct engine *e);
bool engine_pinned(void *userdata, enum tunable_id id, const char *identity);
bool engine_placed(void *userdata, unsigned irq, struct cpuset *ret_wanted);
bool engine_original(void *userdata, enum tunable_id id, int64_t *ret);
void engine_tell(struct engine *e, const struct engine_event *ev);
void engine_read_values(struct engine *e);
/* Where an entry's setting is now; false, and as it was when it was written, where it is not to be found. */
bool engine_entry_target(const struct engine *e, const struct ledger_entry *entry,
			 struct target *ret);

/* give-back.c */
/* One setting, because of WHY. 0, or what kept it from going back. */
int engine_give_back(struct engine *e, enum tunable_id id, const struct target *target,
		     const char *why);
/* Entries of threads that this machine does not have any more, and of masks that it has no use for. */
void engine_forget_ended(struct engine *e);
int engine_give_back_unwanted(struct engine *e);
/* What is on trial is not proven: gives it back. */
void engine_drop_trial(struct engine *e);
/* At the start: what a predecessor's trials proved, and is kept, stays under watch. */
void engine_adopt_kept(struct engine *e);
int engine_give_back_all(struct engine *e, struct restore_report *ret);

/* by-hand.c */
void engine_drop_pin(struct engine *e, enum tunable_id id, const char *identity);

/* describe-nic.c: puts "channels", "rings", "coalescing", "steering", "queues" and "napis" into a NIC's
 * document. */
void describe_queues(const struct engine *e, unsigned nic, json_t *d);
/* sockets.c: null where the profile names no units. */
json_t *describe_sockets(const struct engine *e);
/* describe-settings.c */
/* Where VALUE, which the setting holds now, comes from: {"kind","text"}; a kind is "profile", "trial",
 * "manual", "foreign", "kernel-default" or "found" (before softnetd, by whomever). */
json_t *engine_value_source(const struct engine *e, enum tunable_id id, const struct target *target,
			    const char *value);

static inline enum mode engine_mode(const struct engine *e)
{
	return e->have_mode_override ? e->mode_override : e->config.mode;
}
