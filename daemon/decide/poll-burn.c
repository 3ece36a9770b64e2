/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/poll-burn.h"

#include "decide/symptom-internal.h"

bool poll_burn_busy(const struct window *w, const struct cpuset *cpus, unsigned ticks, double *ret)
{
	*ret = 0;
	cpuset_for_each (cpu, cpus) {
		struct cpu_sum s = window_cpu(w, cpu, ticks);

		/* One that is not known may be the one that polls. */
		if (s.total == 0)
			return false;
		*ret += (double)s.busy / (double)s.total;
	}
	return !cpuset_empty(cpus);
}

/* Whether ID holds the profile's value, by our hand, and a larger one than before. */
static bool is_ours(const struct decide_input *in, enum tunable_id id, int64_t *ret_original)
{
	return in->values->host[id].have && in->values->host[id].number > 0 && in->original &&
	       !(in->pinned && in->pinned(in->userdata, id, "host")) &&
	       in->original(in->userdata, id, ret_original) &&
	       in->values->host[id].number > *ret_original;
}

const char *poll_burn_lever(const struct decide_input *in, const struct symptom_report *r,
			    enum tunable_id id, struct change *ret)
{
	int64_t original;

	if (!is_ours(in, id, &original))
		return "it does not hold a value that softnetd wrote for the profile";
	*ret = (struct change){
		.tunable = id,
		.target = target_host(),
		.class = CLASS_TRIAL,
		.symptom = r->symptom,
		.advice_only = in->values->host[id].blocked,
	};
	format_into(ret->from, sizeof(ret->from), "%lld", (long long)in->values->host[id].number);
	format_into(ret->to, sizeof(ret->to), "%lld", (long long)original);
	append_text(ret->why, sizeof(ret->why), "%s", r->text);
	change_name(ret);
	return NULL;
}

/* The longest time that a poll of ours may take, as far as no trial has acquitted it; 0: none. */
static int64_t longest_poll(const struct symptoms *s, const struct decide_input *in)
{
	static const enum tunable_id times[] = {TUNABLE_BUSY_POLL, TUNABLE_BUSY_READ};
	int64_t longest = 0, original;

	for (size_t i = 0; i < ELEMENTSOF(times); i++)
		if (!s->not_burning[times[i]] && is_ours(in, times[i], &original))
			longest = MAX(longest, in->values->host[times[i]].number);
	return longest;
}

/* What the host does, and what that says of the polls. */
struct burning {
	double busy, packets, polls, found;
};

static bool look_at(const struct decide_input *in, int64_t poll_usec, struct burning *ret)
{
	const struct cpuset *cpus = &in->topology->online;
	struct load l = window_load(in->window, cpus, POLL_BURN_TICKS);

	*ret = (struct burning){.packets = ratio(l.packets, l.seconds)};
	if (l.seconds <= 0 || !poll_burn_busy(in->window, cpus, POLL_BURN_TICKS, &ret->busy))
		return false;
	ret->polls = ret->busy * (double)USEC_PER_SEC / (double)poll_usec;
	ret->found = ratio(ret->packets, ret->polls);
	return true;
}

bool poll_burn_pays(const struct decide_input *in, double burned, int64_t poll_usec,
		    double *ret_packets)
{
	struct burning b;
	double polls;

	*ret_packets = 0;
	if (poll_usec <= 0 || in->window->filled < POLL_BURN_TICKS || !look_at(in, poll_usec, &b))
		return false;
	*ret_packets = b.packets;
	polls = b.polls + burned * (double)USEC_PER_SEC / (double)poll_usec;
	return b.packets > 2 * POLL_BURN_FOUND * polls;
}

/* Enters after POLL_BURN_USEC without a break, leaves at once: averages do not flap. */
static bool burns(struct symptoms *s, const struct burning *b, uint64_t now)
{
	if (s->polls_burn) {
		s->polls_burn = b->busy >= POLL_BURN_CPUS / 2 && b->found <= POLL_BURN_FOUND * 2;
		return s->polls_burn;
	}
	if (b->busy < POLL_BURN_CPUS || b->found > POLL_BURN_FOUND) {
		s->poll_turn_usec = 0;
		return false;
	}
	if (!s->poll_turn_usec)
		s->poll_turn_usec = now;
	if (now - s->poll_turn_usec < POLL_BURN_USEC)
		return false;
	s->polls_burn = true;
	s->poll_turn_usec = 0;
	s->burn_since_usec = now;
	return true;
}

void find_poll_burn(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	int64_t usec = longest_poll(s, in);
	struct symptom_report *r;
	struct burning b;
	bool seen;

	if (usec == 0) {
		s->polls_burn = false;
		s->poll_turn_usec = 0;
		return;
	}
	seen = look_at(in, usec, &b);
	/* Not known is neither: what began is not confirmed, what holds goes on. */
	if (!seen)
		s->poll_turn_usec = 0;
	if (seen ? !burns(s, &b, in->now_usec) : !s->polls_burn)
		return;
	r = report_new(out, SYMPTOM_POLL_BURN);
	if (!r)
		return;
	if (!seen) {
		*r = s->last[SYMPTOM_POLL_BURN];
		r->acute = false;
		return;
	}
	r->since_usec = s->burn_since_usec;
	evidence_add(r, "busy_cpus", b.busy, "CPUs");
	evidence_add(r, "packets_per_second", b.packets, "/s");
	evidence_add(r, "poll_usec", (double)usec, "µs");
	evidence_add(r, "polls_found_percent", 100 * b.found, "%");
	append_text(
		r->text, sizeof(r->text),
		"%.1f CPUs are busy for %.0f packets/s: if they poll, %lld µs each time, at most %.2g %% of "
		"the polls find a packet",
		b.busy, b.packets, (long long)usec, 100 * b.found);
	report_done(s, r);
}
