/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only code that changes the system. A change goes through one road:
 *
 *   find the target by its identity → read again → equal already? nothing to do → somebody else's
 *   value? on_foreign decides → original into the ledger, on disk → write the smallest difference →
 *   read back → not as wished? put back
 *
 * so kill -9 at any instant leaves either nothing changed, or a ledger from which the original
 * comes back. One file per family (sysctl, irq, cpufreq); they share this road.
 */
#pragma once

#include "base/io.h"
#include "model/decision.h"
#include "model/topology.h"
#include "act/ledger.h"

struct actuator;

enum act_flags {
	ACT_DRY_RUN =
		1
		<< 0, /* advise, --dry-run: the whole road, but the store at the end is not made */
};

/* IO and LEDGER must outlive the actuator. */
int actuator_new(struct io *io, struct ledger *ledger, unsigned flags, struct actuator **ret);
void actuator_free(struct actuator *a);
DEFINE_CLEANUP(struct actuator *, actuator_free);

/*
 * Makes one change. DECISION is written into the ledger with it. ON_FOREIGN says what to do when
 * the setting holds neither what we last wrote nor the original we know. RET always says what
 * happened; the return value is 0 when the outcome is DONE, PENDING, UNCHANGED or ADVISED, else a
 * negative errno. Refusals are remembered per target (managed interrupts, learned limits, read-only
 * families) and answered from memory the next time without a write.
 */
int act_apply(struct actuator *a, const struct topology *t, const struct change *c,
	      enum on_foreign on_foreign, struct result *ret);

/* Both members of a coupled pair (governor, then EPP); when the second is refused the first is put
 * back. CHANGES has N members, RET as many. */
int act_apply_coupled(struct actuator *a, const struct topology *t, const struct change *changes,
		      size_t n, enum on_foreign on_foreign, struct result *ret);

/* Gives one setting back: three-way restore as in act/restore.h. */
int act_release(struct actuator *a, const struct topology *t, enum tunable_id id,
		const struct target *target, struct result *ret);

/* What was learned, for status: "managed" interrupts, limits from EINVAL, families that are
 * read-only. */
bool act_is_managed(const struct actuator *a, const struct target *target);
/* The bounds the kernel taught for a host setting; false when none. */
bool act_learned_limit(const struct actuator *a, enum tunable_id id, int64_t *ret_low,
		       int64_t *ret_high);
/* NULL, or why a whole family cannot be written here. */
const char *act_family_blocked(const struct actuator *a, enum tunable_id id);
/* Forgets what was learned: something about the host changed. */
void act_forget(struct actuator *a);
