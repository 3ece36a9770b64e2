/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel log says, and what cannot be seen. */
#include "decide/symptom-internal.h"

#include <stdio.h>

static bool stalls(enum kmsg_kind k)
{
	return k == KMSG_RCU_STALL || k == KMSG_SOFT_LOCKUP || k == KMSG_HARD_LOCKUP ||
	       k == KMSG_NETDEV_WATCHDOG || k == KMSG_IRQ_NOBODY_CARED;
}

void nohz_begin(struct symptoms *s, uint64_t now)
{
	if (!s->nohz_usec || now - s->nohz_usec > NOHZ_FRESH_USEC) {
		s->nohz_since_usec = now;
		s->nohz_lines = 0;
		s->nohz_counted = 0;
		s->nohz_cpus = (struct cpuset){};
	}
	s->nohz_usec = now;
}

static void take_events(struct symptoms *s, const struct decide_input *in)
{
	for (unsigned i = 0; i < in->snapshot->n_events; i++) {
		const struct kmsg_event *e = &in->snapshot->event[i];

		/* Lines from before our start say nothing about now (sysklogd#29). */
		if (e->old)
			continue;
		if (e->kind == KMSG_NOHZ_PENDING && (e->mask & SOFTIRQ_MASK_NET)) {
			nohz_begin(s, in->now_usec);
			s->nohz_lines++;
			s->nohz_mask = e->mask;
		} else if (stalls(e->kind)) {
			if (!s->stalled_usec || in->now_usec - s->stalled_usec > HANDS_OFF_USEC)
				s->stalled_since_usec = in->now_usec;
			s->stalled_usec = in->now_usec;
			snprintf(s->stalled_text, sizeof(s->stalled_text), "%s", e->text);
		}
	}
}

static void report_nohz(const struct symptoms *s, struct symptom_report *r)
{
	char who[64] = "a CPU", cpus[48];

	r->since_usec = s->nohz_since_usec;
	r->cpus = s->nohz_cpus;
	if (s->nohz_lines > 0)
		evidence_add(r, "lines", s->nohz_lines, "");
	if (s->nohz_counted > 0) {
		evidence_add(r, "counted", s->nohz_counted, "");
		cpu_list(&s->nohz_cpus, cpus, sizeof(cpus));
		snprintf(who, sizeof(who), "CPU %s", cpus);
	}
	evidence_add(r, "mask", s->nohz_mask, "");
	snprintf(
		r->text, sizeof(r->text),
		"%s went idle with network softirqs pending (mask %02x, %s%s%s): usually a driver that "
		"raises them outside interrupt and BH context; no budget helps",
		who, s->nohz_mask, s->nohz_mask & 1U << SOFTIRQ_NET_RX ? "NET_RX" : "",
		(s->nohz_mask & SOFTIRQ_MASK_NET) == SOFTIRQ_MASK_NET ? "+" : "",
		s->nohz_mask & 1U << SOFTIRQ_NET_TX ? "NET_TX" : "");
}

void find_log_events(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	struct symptom_report *r;

	take_events(s, in);
	take_nohz_counters(s, in);
	if (s->nohz_usec && in->now_usec - s->nohz_usec <= NOHZ_FRESH_USEC) {
		r = report_new(out, SYMPTOM_NOHZ_NET);
		if (r)
			report_nohz(s, r);
	}
	if (s->stalled_usec && in->now_usec - s->stalled_usec <= HANDS_OFF_USEC) {
		out->back_to_originals = true;
		r = report_new(out, SYMPTOM_STALLED);
		if (r) {
			r->since_usec = s->stalled_since_usec;
			evidence_add(r, "seconds_ago",
				     (double)(in->now_usec - s->stalled_usec) /
					     (double)USEC_PER_SEC,
				     "s");
			append_text(r->text, sizeof(r->text), "the kernel reported: %.180s",
				    s->stalled_text);
		}
	}
}

/* What is missing that a decision would need. Absent optional sources (PSI, cpufreq, the series)
 * are facts for status, not blindness. */
void find_blind(struct symptoms *s, const struct decide_input *in, struct decisions *out)
{
	static const enum source needed[] = {SOURCE_SOFTNET, SOURCE_SOFTIRQS, SOURCE_STAT,
					     SOURCE_KMSG,    SOURCE_NETDEV,   SOURCE_TOPOLOGY};
	struct symptom_report *r;
	char names[200] = "";
	unsigned n = 0;

	for (size_t i = 0; i < ELEMENTSOF(needed); i++) {
		const struct source_status *st = &in->snapshot->source[needed[i]];

		if (st->state == SOURCE_OK || st->state == SOURCE_UNREAD)
			continue;
		append_text(names, sizeof(names), "%s%s", n++ ? ", " : "",
			    source_to_string(needed[i]));
	}
	/* Where they are counted nothing depends on the log. */
	if (in->snapshot->nohz_lines >= NOHZ_LINES_PER_BOOT &&
	    in->snapshot->source[SOURCE_SOFTIRQ_STAT].state != SOURCE_OK)
		append_text(
			names, sizeof(names),
			"%sNOHZ lines (all %d of this boot are used up; silence until reboot says nothing)",
			n++ ? ", " : "", NOHZ_LINES_PER_BOOT);
	n = add_unjudged(s, in, n, names, sizeof(names));
	if (n == 0) {
		s->blind_since_usec = 0;
		return;
	}
	if (!s->blind_since_usec)
		s->blind_since_usec = in->now_usec;
	r = report_new(out, SYMPTOM_BLIND);
	if (!r)
		return;
	r->since_usec = s->blind_since_usec;
	evidence_add(r, "sources", n, "");
	append_text(r->text, sizeof(r->text), "not to be seen: %s", names);
}
