/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupt affinity (kernel-facts 6.1). What a write may answer, beside success:
 *
 *   EIO (up to 6.11), EPERM (6.12+)  the kernel manages this interrupt: remembered, never retried
 *   EACCES on a file without w, where others have it
 *                                    the same, seen without CAP_DAC_OVERRIDE (irqbalance#336)
 *   EINVAL                           no online CPU in the mask
 *   ERANGE, EOVERFLOW                a CPU that this kernel does not have
 *   ENOSPC                           the vectors of these CPUs are used up: left for a while
 *   EBUSY                            a move is still in progress: later
 *
 * Success may take effect only at the next interrupt (I/O APIC, tuned#364): PENDING until the
 * effective affinity is inside the mask.
 */
#include "act/act-internal.h"

#include "observe/observe.h"

/* Between two looks at the topology a driver's reset may have given the number to another
 * interrupt: the kernel's own word for what it is now decides. */
static int irq_verify(struct actuator *a, const struct place *p)
{
	char path[64], actions[512];
	int r;

	snprintf(path, sizeof(path), "sys/kernel/irq/%u/actions", p->target.number);
	r = io_read_line(a->io, path, actions, sizeof(actions));
	if (r == -ENOENT) {
		/* No sparse interrupt numbers, or a captured tree: the topology's word stands, as
		 * long as there is such an interrupt. */
		snprintf(path, sizeof(path), "proc/irq/%u", p->target.number);
		return io_exists(a->io, path) ? 0 : -ENODEV;
	}
	/* A list of several names does not fit: a shared interrupt is no NIC queue's. */
	if (r == -EFBIG)
		return 0;
	if (r < 0)
		return r;
	if (p->irq->shared)
		return 0;
	/* The topology's name may be cut. */
	return strncmp(actions, p->irq->name, IRQ_NAME_MAX - 1) == 0 ? 0 : -ENODEV;
}

static int answer_managed(struct actuator *a, struct attempt *at, int error, bool known)
{
	struct memory *m = memory_make(a, at->place.id, at->place.target.identity);

	if (m)
		m->managed = true;
	at->result->known = known;
	return answer(at->result, OUTCOME_MANAGED, error,
		      "%s: managed by the kernel, which alone moves it", at->place.name);
}

static bool is_full(const struct actuator *a, unsigned cpu)
{
	return a->full_until && io_now(a->io, CLOCK_MONOTONIC) < a->full_until[cpu];
}

static int irq_permit(struct actuator *a, struct attempt *at)
{
	const struct place *p = &at->place;
	struct cpuset wish, usable;
	bool all_full = true;
	int r;

	if (act_is_managed(a, &p->target))
		return answer_managed(a, at, -EPERM, true);
	if (p->irq->managed)
		return answer_managed(a, at, -EPERM, false);
	if (p->irq->shared)
		return answer(at->result, OUTCOME_REFUSED, -EOPNOTSUPP,
			      "%s: shared with other devices: left alone", p->name);
	r = cpuset_parse_list(at->wish, &wish);
	if (r < 0)
		return answer(at->result, OUTCOME_REFUSED, r, "%s: \"%.60s\" is no list of CPUs",
			      p->name, at->wish);
	usable = cpuset_and(&wish, &at->topology->online);
	if (cpuset_empty(&usable))
		return answer(at->result, OUTCOME_REFUSED, -EINVAL,
			      "%s: none of the CPUs %.60s is online", p->name, at->wish);
	cpuset_for_each (cpu, &usable)
		all_full = all_full && is_full(a, cpu);
	if (!all_full)
		return 0;
	at->result->known = true;
	return answer(at->result, OUTCOME_REFUSED, -ENOSPC,
		      "%s: the vectors of CPUs %.60s were used up a while ago", p->name, at->wish);
}

static void remember_full(struct actuator *a, const char *list)
{
	uint64_t until = io_now(a->io, CLOCK_MONOTONIC) + VECTORS_FULL_USEC;
	struct cpuset cpus;

	if (!a->full_until)
		a->full_until = calloc(CPU_ID_MAX, sizeof(*a->full_until));
	if (!a->full_until || cpuset_parse_list(list, &cpus) < 0)
		return;
	cpuset_for_each (cpu, &cpus)
		a->full_until[cpu] = until;
}

/* Without w: but only where others have it does that say something about this one. */
static bool lacks_w(struct actuator *a, const struct place *p)
{
	mode_t mode;

	return a->writable[p->id] && a->io->ops->mode(a->io, p->path, &mode) >= 0 && !(mode & 0222);
}

static bool irq_refused(struct actuator *a, struct attempt *at, int error)
{
	const struct place *p = &at->place;

	switch (error) {
	case -EIO:
	case -EPERM:
		answer_managed(a, at, error, false);
		return true;
	case -EACCES:
		if (!lacks_w(a, p))
			return false;
		answer_managed(a, at, error, false);
		return true;
	case -ENOSPC:
		remember_full(a, at->wish);
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: the vectors of CPUs %.60s are used up (too many interrupts there)",
		       p->name, at->wish);
		return true;
	case -EBUSY:
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: its last move is still in progress: try again later", p->name);
		return true;
	case -EINVAL:
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: the kernel finds no online CPU in %.60s", p->name, at->wish);
		return true;
	case -ERANGE:
	case -EOVERFLOW:
		answer(at->result, OUTCOME_REFUSED, error,
		       "%s: this kernel has no such CPU as in %.60s", p->name, at->wish);
		return true;
	default:
		return false;
	}
}

/* request_irq() at every ifup starts with the default mask (seapath/ansible#984): that is no other
 * program's wish. */
static bool irq_was_reset(struct actuator *a, const struct place *p _unused_, const char *now)
{
	char mask[VALUE_MAX];
	struct cpuset start, present;

	return io_read_line(a->io, "proc/irq/default_smp_affinity", mask, sizeof(mask)) >= 0 &&
	       cpuset_parse_mask(mask, &start) >= 0 && cpuset_parse_list(now, &present) >= 0 &&
	       cpuset_equal(&start, &present);
}

static void irq_settled(struct actuator *a, struct attempt *at)
{
	const struct place *p = &at->place;
	struct irq now = {.have_effective = true};
	struct cpuset wish;
	char path[64], list[VALUE_MAX];

	snprintf(path, sizeof(path), "proc/irq/%u/effective_affinity_list", p->target.number);
	if (io_read_line(a->io, path, list, sizeof(list)) < 0 ||
	    cpuset_parse_list(list, &now.effective) < 0)
		now.have_effective = false;
	if (cpuset_parse_list(at->wish, &wish) < 0 || act_irq_settled(&now, &wish))
		return;
	answer(at->result, OUTCOME_PENDING, 0,
	       "%s: %.40s became %.40s, and it moves there from CPUs %.40s at its next interrupt",
	       p->name, at->now, at->wish, *list ? list : "(none)");
}

bool act_irq_settled(const struct irq *irq, const struct cpuset *wished)
{
	if (!irq->have_effective)
		return true;
	return !cpuset_empty(&irq->effective) && cpuset_subset(&irq->effective, wished);
}

const struct family irq_family = {
	.verify = irq_verify,
	.permit = irq_permit,
	.was_reset = irq_was_reset,
	.refused = irq_refused,
	.settled = irq_settled,
};
