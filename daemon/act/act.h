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
	/* advise, --dry-run: the whole road, but nothing is entered, stored or forgotten at its end
	 */
	ACT_DRY_RUN = 1 << 0,
};

/* IO and LEDGER must outlive the actuator. */
int actuator_new(struct io *io, struct ledger *ledger, unsigned flags, struct actuator **ret);
void actuator_free(struct actuator *a);
DEFINE_CLEANUP(struct actuator *, actuator_free);

/*
 * Makes one change. Its id is written into the ledger with it. RET always says what happened; the
 * return value is 0 when the outcome is DONE, PENDING, UNCHANGED or ADVISED, else a negative errno.
 * A change that is advice_only is never written.
 *
 * Refusals are remembered per target (managed interrupts, learned limits, read-only families, CPUs
 * without free vectors) and answered from memory the next time without a write: `known` in RET then
 * says that there is no news.
 *
 * ON_FOREIGN says what to do when the setting holds neither what we last wrote nor the original we
 * know (nor, for an interrupt, the mask the kernel gives at every request_irq):
 *   yield    it is theirs from now on: the ledger entry is dropped, and later changes are answered
 *            FOREIGN from memory, until somebody asks by hand (CLASS_MANUAL, act_release())
 *   enforce  ours is written again
 *   adopt    what is there becomes the new original, and ours is written
 * A setting that others change three times within ten minutes is yielded in any case: two programs
 * that take turns harm the host more than either (AsahiLinux/linux#483, cpupower-gui#22).
 * CLASS_MANUAL is the admin's word: it adopts where it should yield.
 */
int act_apply(struct actuator *a, const struct topology *t, const struct change *c,
	      enum on_foreign on_foreign, struct result *ret);

/*
 * The members of a couple (or one of them alone), written in the order that works:
 *
 *   governor and EPP of one policy: see act/cpufreq.c. When the second is refused the first is put
 *   back; one that this host does not have, or that somebody else owns, is no refusal
 *
 *   one direction's coalescing of one NIC, in table order: adaptive, then time and frames. One that
 *   this driver does not have is no refusal; but without any fixed value an adaptive that is only
 *   implied stays as it is. After a refusal what was written goes back in reverse order, the rest
 *   is not tried, and the next time nothing is written at all
 *
 * CHANGES has N members, RET as many; N is at most COUPLE_MAX. Returns 0 or an error.
 */
#define COUPLE_MAX 3
int act_apply_coupled(struct actuator *a, const struct topology *t, const struct change *changes,
		      size_t n, enum on_foreign on_foreign, struct result *ret);

/* Gives one setting back: three-way restore as in act/restore.h. Not ours: UNCHANGED. A governor
 * takes with it the EPP that the driver changed because of it; that EPP alone is UNCHANGED. */
int act_release(struct actuator *a, const struct topology *t, enum tunable_id id,
		const struct target *target, struct result *ret);

/*
 * The descriptor that holds cpu_dma_latency's request, -1 when there is none: still the actuator's,
 * to be handed to a service manager that keeps it over a restart. And the way back: FD is taken
 * over when the ledger has such a request, else closed.
 */
int act_latency_fd(const struct actuator *a);
void act_adopt_latency(struct actuator *a, int fd);

/* Whether an interrupt that was written to WISHED runs there by now: PENDING is over. True when the
 * host cannot tell (no effective affinity). IRQ as refreshed by the last slow look. */
bool act_irq_settled(const struct irq *irq, const struct cpuset *wished);

/* What was learned, for status: "managed" interrupts, limits from EINVAL, families that are
 * read-only. A limit is the last value the kernel is known to take: between that and the refused
 * one there may be more, which only an explicit wish tries. */
bool act_is_managed(const struct actuator *a, const struct target *target);
/* The bounds the kernel taught for a host setting; false when none. */
bool act_learned_limit(const struct actuator *a, enum tunable_id id, int64_t *ret_low,
		       int64_t *ret_high);
/* NULL, or why this setting, or all interrupts or policies, cannot be written here. Containers
 * mount /proc/sys read-only but /proc/sys/net writable (systemd#4425): what holds for one host
 * setting says nothing about the next. */
const char *act_family_blocked(const struct actuator *a, enum tunable_id id);
/* Since the last topology CPUs CAME online: what the kernel made of their governors is nobody's will
 * (laptop-mode-tools#201), and ours is made again. So is our placement where AFFINITIES_RESET says that
 * CPUs came or went or a NIC has other channels: drivers give all of a NIC's interrupts other CPUs then
 * (virtio_net: virtnet_set_affinity()). Holds until the next call. */
void act_host_changed(struct actuator *a, const struct cpuset *came, bool affinities_reset);
/* Forgets what was learned about the host, since something about it changed. Who owns a setting has
 * not changed by that: what was yielded stays so. */
void act_forget(struct actuator *a);
