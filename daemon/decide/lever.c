/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/lever.h"

#include <stdio.h>

#include "decide/placement.h"

/* FNV-1a: short, stable across runs; identities of interrupts are far too long for an id. */
static uint32_t hash_text(const char *s)
{
	uint32_t h = 2166136261U;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619U;
	return h;
}

void change_name(struct change *c)
{
	const char *why = c->symptom != SYMPTOM_NONE ? symptom_to_string(c->symptom)
						     : change_class_to_string(c->class);

	c->id[0] = '\0';
	append_text(c->id, sizeof(c->id), "%s", tunables[c->tunable].id);
	if (c->target.scope != SCOPE_HOST)
		append_text(c->id, sizeof(c->id), "-%08x", hash_text(c->target.identity));
	append_text(c->id, sizeof(c->id), "-%s", why);
}

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
	return tunable_step(t, value, up, low, high, in->topology->hz);
}

bool lever_further(const struct decide_input *in, const struct change *c, char to[VALUE_MAX])
{
	int64_t from, value, next;

	if (tunables[c->tunable].scope != SCOPE_HOST || parse_i64(c->from, &from) < 0 ||
	    parse_i64(c->to, &value) < 0 || in->values->host[c->tunable].number != value)
		return false;
	if (in->pinned && in->pinned(in->userdata, c->tunable, "host"))
		return false;
	next = next_step(in, c->tunable, value, value > from);
	format_into(to, VALUE_MAX, "%lld", (long long)next);
	return next != value;
}

/* One step of a host setting, UP or down. Steps that the profile does not allow become advice
 * inside the table's caps; a setting that is pinned, blocked, retired or at its end gives nothing.
 */
static bool step_setting(const struct decide_input *in, const struct symptom_report *r,
			 const struct lever_memory *m, bool up, enum tunable_id id,
			 struct change *ret)
{
	const struct profile_setting *s = &in->profile->setting[id];
	int64_t value, next;

	if (!in->values->host[id].have || m->retired[id] || in->now_usec < m->not_before[id])
		return false;
	if (in->pinned && in->pinned(in->userdata, id, "host"))
		return false;
	value = in->values->host[id].number;
	next = next_step(in, id, value, up);
	if (next == value)
		return false;
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
	return true;
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
	bool allowed;
	size_t n;

	if (nic < 0)
		return 0;
	rule = profile_nic_rule(in->profile, in->topology->nic[nic].name);
	allowed = rule && rule->placement == strategy &&
		  (!in->topology->irqbalance || in->profile->place_despite_irqbalance);
	n = placement_plan(in->topology, (unsigned)nic, strategy,
			   rule && rule->has_cpus ? &rule->cpus : NULL, moves,
			   MIN(max, ELEMENTSOF(moves)));
	for (size_t i = 0; i < n; i++) {
		move_to_change(in->topology, moves[i].irq, moves[i].cpu, r->symptom, r->text,
			       &changes[i]);
		changes[i].advice_only = !allowed;
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

/* Its last trial could not be judged, and the next one is not due yet: that is no reason to go on to
 * the next lever, which may be the wrong one. */
static bool is_waiting(const struct decide_input *in, const struct lever_memory *m,
		       enum tunable_id id)
{
	return m->inconclusive[id] > 0 && !m->retired[id] && in->now_usec < m->not_before[id];
}

size_t lever_find(const struct decide_input *in, const struct symptom_report *r,
		  const struct lever_memory *m, struct change *changes, size_t max)
{
	if (max == 0)
		return 0;
	switch (r->symptom) {
	case SYMPTOM_BACKLOG_DROP:
		if (step_setting(in, r, m, true, TUNABLE_NETDEV_MAX_BACKLOG, &changes[0]))
			return 1;
		if (is_waiting(in, m, TUNABLE_NETDEV_MAX_BACKLOG))
			return 0;
		return place(in, r, busiest_nic(in, &r->cpus), PLACEMENT_SPREAD, changes, max);
	case SYMPTOM_SQUEEZED:
		/* Unknown cause: the packet budget first; it is the cheaper trial, since time stays
		 * bounded. */
		if (r->cause != CAUSE_TIME) {
			if (step_setting(in, r, m, true, TUNABLE_NETDEV_BUDGET, &changes[0]))
				return 1;
			if (is_waiting(in, m, TUNABLE_NETDEV_BUDGET))
				return 0;
		}
		if (r->cause != CAUSE_PACKETS) {
			if (step_setting(in, r, m, true, TUNABLE_NETDEV_BUDGET_USECS, &changes[0]))
				return 1;
			if (is_waiting(in, m, TUNABLE_NETDEV_BUDGET_USECS))
				return 0;
		}
		return place(in, r, busiest_nic(in, &r->cpus), PLACEMENT_SPREAD, changes, max);
	case SYMPTOM_HOT_CPU:
		return place(in, r, busiest_nic(in, &r->cpus), PLACEMENT_SPREAD, changes, max);
	case SYMPTOM_SOFTIRQ_HOG:
		/* The time only back towards its floor: on most kernels its default is its minimum.
		 */
		if (step_setting(in, r, m, false, TUNABLE_NETDEV_BUDGET, &changes[0]))
			return 1;
		if (is_waiting(in, m, TUNABLE_NETDEV_BUDGET))
			return 0;
		return step_setting(in, r, m, false, TUNABLE_NETDEV_BUDGET_USECS, &changes[0]);
	case SYMPTOM_IRQ_LEAKED:
		return place_again(in, r, &changes[0]);
	case SYMPTOM_IRQ_PINGPONG:
		return place(in, r, r->nic, PLACEMENT_PACK, changes, max);
	case SYMPTOM_NOHZ_NET:
		/* Only where IRQ threads can be apart is co-location a cure (seed 002); else it is
		 * a driver's fault and the report says so. */
		if (!in->topology->threadirqs)
			return 0;
		return place(in, r, busiest_nic(in, &in->topology->online), PLACEMENT_PACK, changes,
			     max);
	default:
		return 0;
	}
}
