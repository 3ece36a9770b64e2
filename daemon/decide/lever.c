/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/lever.h"

#include <stdio.h>

#include "decide/low-rate.h"
#include "decide/placement.h"
#include "decide/poll-burn.h"

void move_to_change(const struct topology *t, unsigned irq, unsigned cpu, enum symptom symptom,
		    const char *why, struct change *ret)
{
	*ret = (struct change){
		.tunable = TUNABLE_IRQ_AFFINITY,
		.target = irq_target(&t->irq[irq]),
		.class = CLASS_POLICY,
		.symptom = symptom,
	};
	cpuset_format_list(&t->irq[irq].affinity, ret->from, sizeof(ret->from));
	format_into(ret->to, sizeof(ret->to), "%u", cpu);
	append_text(ret->why, sizeof(ret->why), "%s", why);
	change_name(ret);
}

/* The four limits of the softirq loop stand behind one static key: it is on while one of them is
 * not what the kernel starts with. Switching it patches code that every CPU runs, and interrupts
 * all of them. */
static bool is_softirq_limit(enum tunable_id id)
{
	return id >= TUNABLE_SOFTIRQ_TIME_US && id <= TUNABLE_SOFTIRQ_RESTART_POLICY;
}

static bool limits_are_off(const struct decide_input *in)
{
	for (size_t id = TUNABLE_SOFTIRQ_TIME_US; id <= TUNABLE_SOFTIRQ_RESTART_POLICY; id++)
		if (in->values->host[id].have &&
		    in->values->host[id].number != tunables[id].kernel_default)
			return false;
	return true;
}

/* The time of a run is measured in jiffies, unless the clock or the policy says otherwise. */
static unsigned hz_of(const struct decide_input *in, enum tunable_id id)
{
	if (id == TUNABLE_SOFTIRQ_TIME_US &&
	    (in->values->host[TUNABLE_SOFTIRQ_CLOCK].number == SOFTIRQ_CLOCK_PRECISE ||
	     in->values->host[TUNABLE_SOFTIRQ_RESTART_POLICY].number == SOFTIRQ_POLICY_LATENCY))
		return 0;
	return in->topology->hz;
}

/* The value one step from VALUE, inside what the profile, the table and the kernel allow; VALUE
 * itself when there is none. */
static int64_t next_step(const struct decide_input *in, enum tunable_id id, int64_t value, bool up)
{
	const struct profile_setting *s = &in->profile->setting[id];
	const struct tunable *t = &tunables[id];
	int64_t low = t->min, high = t->max;

	if (s->kind == SETTING_RANGE) {
		low = s->low;
		high = s->high;
	}
	if (in->values->host[id].limited) {
		low = MAX(low, in->values->host[id].low);
		high = MIN(high, in->values->host[id].high);
	}
	return tunable_step(t, value, up, low, high, hz_of(in, id));
}

bool lever_further(const struct decide_input *in, const struct change *c, char to[VALUE_MAX])
{
	int64_t from, value, next;

	if (c->symptom == SYMPTOM_POLL_BURN) /* the original has no next */
		return false;
	if (tunables[c->tunable].scope != SCOPE_HOST || parse_i64(c->from, &from) < 0 ||
	    parse_i64(c->to, &value) < 0 || in->values->host[c->tunable].number != value)
		return false;
	if (in->pinned && in->pinned(in->userdata, c->tunable, "host"))
		return false;
	next = next_step(in, c->tunable, value,
			 tunable_rank(&tunables[c->tunable], value) >
				 tunable_rank(&tunables[c->tunable], from));
	format_into(to, VALUE_MAX, "%lld", (long long)next);
	return next != value;
}

/* Its last trial could not be judged, and the next one is not due yet: that is no reason to go on to
 * the next lever, which may be the wrong one. */
static bool is_waiting(const struct decide_input *in, const struct lever_memory *m,
		       enum tunable_id id)
{
	return m->inconclusive[id] > 0 && !m->retired[id] && in->now_usec < m->not_before[id];
}

/* Why a host setting is not moved now; NULL when nothing is in the way. */
static const char *obstacle(const struct decide_input *in, const struct lever_memory *m,
			    enum tunable_id id)
{
	if (!in->values->host[id].have)
		return "this host does not have it";
	if (m->retired[id])
		return "retired: its trials here did not help, or others change it";
	if (is_waiting(in, m, id))
		return "its last trial could not be judged, and the next one is not due yet";
	if (in->now_usec < m->not_before[id])
		return "tried a while ago, and not due again yet";
	if (in->pinned && in->pinned(in->userdata, id, "host"))
		return "pinned by hand";
	if (is_softirq_limit(id) && (in->topology->rt || in->topology->nohz_full))
		return "changing it interrupts every CPU, and some here must not be (PREEMPT_RT, nohz_full)";
	return NULL;
}

static const char *end_of_range(const struct decide_input *in, enum tunable_id id)
{
	if (in->values->host[id].limited)
		return "already at the end of what the kernel takes";
	if (in->profile->setting[id].kind == SETTING_RANGE)
		return "already at the end of the profile's range";
	return "already at the end of the range that softnetd keeps to";
}

/* One step of a host setting, UP or down. Steps that the profile does not allow become advice
 * inside the table's caps. NULL when RET is filled, else why not. */
static const char *step_setting(const struct decide_input *in, const struct symptom_report *r,
				const struct lever_memory *m, bool up, enum tunable_id id,
				struct change *ret)
{
	const struct profile_setting *s = &in->profile->setting[id];
	const char *reason = obstacle(in, m, id);
	int64_t value, next;

	if (reason)
		return reason;
	value = in->values->host[id].number;
	next = next_step(in, id, value, up);
	if (next == value)
		return end_of_range(in, id);
	*ret = (struct change){
		.tunable = id,
		.target = target_host(),
		.class = CLASS_TRIAL,
		.symptom = r->symptom,
		.advice_only = s->kind != SETTING_RANGE || in->values->host[id].blocked,
	};
	format_into(ret->from, sizeof(ret->from), "%lld", (long long)value);
	format_into(ret->to, sizeof(ret->to), "%lld", (long long)next);
	append_text(ret->why, sizeof(ret->why), "%s", r->text);
	change_name(ret);
	return NULL;
}

/*
 * Before the first trial of a softirq limit: the time of a run becomes one microsecond less, which
 * is the same number of jiffies, but no longer what the kernel starts with. So the static key is
 * switched on once, and not off and on again by every trial that goes back; and the baseline is
 * measured on the code that the trial runs on. NULL when RET is filled, else why not.
 */
static const char *switch_limits_in(const struct decide_input *in, const struct symptom_report *r,
				    struct change *ret)
{
	const struct tunable *t = &tunables[TUNABLE_SOFTIRQ_TIME_US];
	const struct profile_setting *s = &in->profile->setting[TUNABLE_SOFTIRQ_TIME_US];
	int64_t value = t->kernel_default - 1;

	if (s->kind != SETTING_RANGE || value < s->low || value > s->high)
		return "the profile has no range of softirq_time_us in which the limits could be switched in";
	if (in->values->host[TUNABLE_SOFTIRQ_TIME_US].blocked ||
	    (in->pinned && in->pinned(in->userdata, TUNABLE_SOFTIRQ_TIME_US, "host")) ||
	    in->topology->hz == 0 ||
	    tunable_effective(t, value, in->topology->hz) !=
		    tunable_effective(t, t->kernel_default, in->topology->hz))
		return "the limits cannot be switched in without changing them";
	*ret = (struct change){.tunable = TUNABLE_SOFTIRQ_TIME_US,
			       .target = target_host(),
			       .class = CLASS_POLICY,
			       .symptom = r->symptom};
	format_into(ret->from, sizeof(ret->from), "%lld", (long long)t->kernel_default);
	format_into(ret->to, sizeof(ret->to), "%lld", (long long)value);
	append_text(ret->why, sizeof(ret->why),
		    "the same number of jiffies: switches the softirq limits in, so that trials of "
		    "them do not switch the kernel's code each time");
	change_name(ret);
	return NULL;
}

/* The NIC whose interrupts fire most on CPUS in the newest tick, or -1. */
static int busiest_nic(const struct decide_input *in, const struct cpuset *cpus)
{
	const struct tick *t = window_tick(in->window, 0);
	double best_count = 0;
	int best = -1;

	for (unsigned nic = 0; t && nic < in->topology->n_nics; nic++) {
		double count = 0;

		for (unsigned i = 0; i < in->window->n_irqs && i < in->topology->n_irqs; i++)
			if (in->topology->irq[i].nic == (int)nic &&
			    cpuset_intersects(&in->window->irq_cpus[i], cpus))
				count += t->irq[i].total;
		if (count > best_count) {
			best_count = count;
			best = (int)nic;
		}
	}
	return best;
}

/* Moves of one NIC. While the profile leaves the NIC alone, or irqbalance owns it, they are advice.
 */
static size_t place(const struct decide_input *in, const struct symptom_report *r, int nic,
		    enum placement strategy, struct change *changes, size_t max)
{
	const struct nic_rule *rule;
	struct move moves[CHANGES_MAX];
	bool allowed, rival;
	size_t n;

	if (nic < 0)
		return 0;
	rival = topology_irqbalance_moves(in->topology, (unsigned)nic) &&
		!in->profile->place_despite_irqbalance;
	rule = profile_nic_rule(in->profile, in->topology->nic[nic].name);
	allowed = rule && rule->placement == strategy && !rival;
	n = placement_plan(in->topology, (unsigned)nic, strategy,
			   rule && rule->has_cpus ? &rule->cpus : NULL, NULL, moves,
			   MIN(max, ELEMENTSOF(moves)));
	for (size_t i = 0; i < n; i++) {
		move_to_change(in->topology, moves[i].irq, moves[i].cpu, r->symptom, r->text,
			       &changes[i]);
		changes[i].advice_only = !allowed;
		if (rival && !in->topology->irq[moves[i].irq].banned)
			append_text(changes[i].why, sizeof(changes[i].why),
				    "; irqbalance would move it again unless it runs with "
				    "--banirq=%u",
				    in->topology->irq[moves[i].irq].number);
	}
	return n;
}

static size_t place_again(const struct decide_input *in, const struct symptom_report *r,
			  struct change *ret)
{
	const struct irq *irq = &in->topology->irq[r->irq];
	struct cpuset wanted;

	if (!in->placed || !in->placed(in->userdata, (unsigned)r->irq, &wanted) ||
	    cpuset_equal(&wanted, &irq->affinity))
		return 0;
	move_to_change(in->topology, (unsigned)r->irq, cpuset_first(&wanted), r->symptom, r->text,
		       ret);
	return 1;
}

/* A symptom's levers in their order (design, "Symptom → lever"). */
struct lever {
	enum tunable_id id; /* TUNABLE_IRQ_AFFINITY: PLACEMENT */
	bool up;
	enum squeeze_cause not_for; /* CAUSE_UNKNOWN: for any cause */
	unsigned only_if;           /* bits of enum handed, where that is known; 0: in any case */
	enum placement placement;
};

static const struct ladder {
	unsigned n;
	struct lever lever[PASSED_MAX];
} ladders[_SYMPTOM_MAX] = {
	[SYMPTOM_BACKLOG_DROP] = {2,
				  {{TUNABLE_NETDEV_MAX_BACKLOG, .up = true},
				   {TUNABLE_IRQ_AFFINITY, .placement = PLACEMENT_SPREAD}}},
	/* Unknown cause: the packet budget first; it is the cheaper trial, since time stays
	 * bounded. */
	[SYMPTOM_SQUEEZED] = {3,
			      {{TUNABLE_NETDEV_BUDGET, .up = true, .not_for = CAUSE_TIME},
			       {TUNABLE_NETDEV_BUDGET_USECS, .up = true, .not_for = CAUSE_PACKETS},
			       {TUNABLE_IRQ_AFFINITY, .placement = PLACEMENT_SPREAD}}},
	[SYMPTOM_HOT_CPU] = {1, {{TUNABLE_IRQ_AFFINITY, .placement = PLACEMENT_SPREAD}}},
	/* What ends most runs is what lets more of them go on, or fewer. A run that ends because a
	 * task should run ends as it does under any policy but throughput and count. */
	[SYMPTOM_KSOFTIRQD_LAG] =
		{3,
		 {{TUNABLE_SOFTIRQ_TIME_US, .up = true, .only_if = 1U << HANDED_TIME},
		  {TUNABLE_SOFTIRQ_MAX_RESTART, .up = true, .only_if = 1U << HANDED_COUNT},
		  {TUNABLE_SOFTIRQ_RESTART_POLICY, .up = true,
		   .only_if = 1U << HANDED_RESCHED | 1U << HANDED_POLICY}}},
	/* netdev_budget_usecs only back towards its floor: on most kernels its default is its
	 * minimum. */
	[SYMPTOM_SOFTIRQ_HOG] = {5,
				 {{TUNABLE_SOFTIRQ_TIME_US, .only_if = 1U << HANDED_TIME},
				  {TUNABLE_SOFTIRQ_MAX_RESTART, .only_if = 1U << HANDED_COUNT},
				  {TUNABLE_SOFTIRQ_RESTART_POLICY,
				   .only_if = 1U << HANDED_TIME | 1U << HANDED_COUNT},
				  {TUNABLE_NETDEV_BUDGET},
				  {TUNABLE_NETDEV_BUDGET_USECS}}},
	[SYMPTOM_IRQ_PINGPONG] = {1, {{TUNABLE_IRQ_AFFINITY, .placement = PLACEMENT_PACK}}},
	[SYMPTOM_NOHZ_NET] = {1, {{TUNABLE_IRQ_AFFINITY, .placement = PLACEMENT_PACK}}},
	/* Not a step: back to the original. */
	[SYMPTOM_POLL_BURN] = {2, {{TUNABLE_BUSY_POLL}, {TUNABLE_BUSY_READ}}},
};

static bool wrong_cause(const struct lever *l, const struct symptom_report *r)
{
	return l->not_for != CAUSE_UNKNOWN && l->not_for == r->cause;
}

static bool wrong_handed(const struct lever *l, const struct symptom_report *r)
{
	return l->only_if && r->handed != HANDED_UNKNOWN && !(l->only_if & 1U << r->handed);
}

static int nic_to_place(const struct decide_input *in, const struct symptom_report *r)
{
	if (r->symptom == SYMPTOM_IRQ_PINGPONG)
		return r->nic;
	return busiest_nic(in, r->symptom == SYMPTOM_NOHZ_NET ? &in->topology->online : &r->cpus);
}

/* NULL when CHANGES[*N] is filled, else why not. */
static const char *pull(const struct decide_input *in, const struct symptom_report *r,
			const struct lever_memory *m, const struct lever *l, struct change *changes,
			size_t max, size_t *n)
{
	const char *reason;
	int nic;

	if (r->symptom == SYMPTOM_POLL_BURN) {
		reason = obstacle(in, m, l->id) ?: poll_burn_lever(in, r, l->id, &changes[0]);
		*n = !reason;
		return reason;
	}
	if (l->id != TUNABLE_IRQ_AFFINITY) {
		reason = step_setting(in, r, m, l->up, l->id, &changes[0]);
		*n = !reason;
		if (reason || !is_softirq_limit(l->id) || changes[0].advice_only ||
		    !limits_are_off(in))
			return reason;
		/* When the change itself is due they have been switched in, or cannot be. */
		*n = 0;
		if (max < 2)
			return "the softirq limits are not switched in yet";
		changes[1] = changes[0];
		reason = switch_limits_in(in, r, &changes[0]);
		*n = reason ? 0 : 2;
		return reason;
	}
	/* Only where IRQ threads can be apart is co-location a cure (seed 002); else it is a
	 * driver's fault and the report says so. */
	if (r->symptom == SYMPTOM_NOHZ_NET && !in->topology->threadirqs)
		return "interrupts are not handled by threads here, so none can be apart";
	nic = nic_to_place(in, r);
	if (nic < 0)
		return "no NIC's interrupts arrive there";
	*n = place(in, r, nic, l->placement, changes, max);
	return *n > 0 ? NULL : "the interrupts lie so already, or cannot be moved";
}

static void pass(struct passed_list *passed, const struct lever *l, const char *reason)
{
	if (passed && passed->n < PASSED_MAX)
		passed->item[passed->n++] = (struct passed){.tunable = l->id, .reason = reason};
}

size_t lever_find(const struct decide_input *in, const struct symptom_report *r,
		  const struct lever_memory *m, struct change *changes, size_t max,
		  struct passed_list *passed)
{
	const struct ladder *ladder = &ladders[r->symptom];
	bool waits = false;
	size_t n = 0;

	if (passed)
		passed->n = 0;
	if (max == 0)
		return 0;
	if (r->symptom == SYMPTOM_IRQ_LEAKED)
		return place_again(in, r, &changes[0]);
	if (r->symptom == SYMPTOM_LOW_RATE)
		return low_rate_levers(in, changes, max, passed);
	for (unsigned i = 0; i < ladder->n; i++) {
		const struct lever *l = &ladder->lever[i];
		const char *reason;

		if (wrong_handed(l, r))
			reason = r->handed == HANDED_NEVER
					 ? "no run of softirqs reaches its limits there"
					 : "it is another limit that ends most runs there";
		else if (wrong_cause(l, r))
			reason = r->cause == CAUSE_TIME
					 ? "the time is what runs out, not the packets"
					 : "the packets are what runs out, not the time";
		else if (n > 0 || waits)
			reason = "comes later, when those before it do not help";
		else
			reason = pull(in, r, m, l, changes, max, &n);
		if (reason)
			pass(passed, l, reason);
		waits |= n == 0 && !wrong_cause(l, r) && !wrong_handed(l, r) &&
			 is_waiting(in, m, l->id);
	}
	return n;
}
