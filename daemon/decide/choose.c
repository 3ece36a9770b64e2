/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/choose.h"

#include <fnmatch.h>

/* The class of one rule's packet rate. */
struct rate {
	bool high;
	uint64_t since_usec; /* since when the rate lies in the other class; 0: it does not */
};

struct candidate {
	struct profile *profile;
	struct rate *rate; /* by rule */
};

#define NONE (-1)
struct chooser {
	size_t n;
	struct candidate *candidate;
	int current;           /* what the rules chose: index, or NONE */
	bool asked;            /* at least once */
	uint64_t changed_usec; /* when they last chose another one; 0: never */
	char why[192];
};

void chooser_free(struct chooser *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		profile_free(c->candidate[i].profile);
		free(c->candidate[i].rate);
	}
	free(c->candidate);
	free(c);
}

static int find(const struct chooser *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (streq(c->candidate[i].profile->name, name))
			return (int)i;
	return NONE;
}

/* What OLD knew of the rate in RULE of the profile NAME. */
static struct rate remembered(const struct chooser *old, const char *name,
			      const struct match_rule *rule)
{
	int i = old ? find(old, name) : NONE;

	if (i == NONE)
		return (struct rate){};
	for (size_t k = 0; k < old->candidate[i].profile->n_matches; k++) {
		const struct match_rule *m = &old->candidate[i].profile->match[k];

		if (m->has_rate && m->rate_low == rule->rate_low && m->rate_high == rule->rate_high)
			return old->candidate[i].rate[k];
	}
	return (struct rate){};
}

int chooser_new(struct profile **profiles, const struct chooser *old, struct chooser **ret)
{
	struct chooser *c = calloc(1, sizeof(*c));
	size_t n = 0;

	if (!c)
		return -ENOMEM;
	while (profiles[n])
		n++;
	c->candidate = calloc(MAX(n, (size_t)1), sizeof(*c->candidate));
	if (!c->candidate)
		goto no_memory;
	c->n = n;
	for (size_t i = 0; i < n; i++) {
		c->candidate[i].rate = calloc(profiles[i]->n_matches, sizeof(struct rate));
		if (!c->candidate[i].rate)
			goto no_memory;
	}
	for (size_t i = 0; i < n; i++) {
		const struct profile *p = c->candidate[i].profile = profiles[i];

		for (size_t k = 0; k < p->n_matches; k++)
			c->candidate[i].rate[k] = remembered(old, p->name, &p->match[k]);
	}
	free(profiles);
	c->current = NONE;
	if (old && old->current != NONE)
		c->current = find(c, old->candidate[old->current].profile->name);
	/* A choice that went with its rules is no change of theirs, and binds nobody. */
	if (old && (old->current == NONE || c->current != NONE)) {
		c->asked = old->asked;
		c->changed_usec = old->changed_usec;
		memcpy(c->why, old->why, sizeof(c->why));
	}
	*ret = c;
	return 0;
no_memory:
	chooser_free(c); /* no candidate has its profile yet */
	return -ENOMEM;
}

static void follow_rate(struct rate *r, const struct match_rule *rule,
			const struct choose_input *in)
{
	bool other;

	/* Not known is neither high nor low: the class stays, its end is counted anew. */
	if (!in->have_rate) {
		r->since_usec = 0;
		return;
	}
	other = r->high ? in->packets_per_second < (double)rule->rate_low
			: in->packets_per_second > (double)rule->rate_high;
	if (!other) {
		r->since_usec = 0;
		return;
	}
	if (!r->since_usec)
		r->since_usec = in->now_usec;
	if (in->now_usec - r->since_usec >= RATE_USEC)
		*r = (struct rate){.high = !r->high};
}

static bool kernel_fits(const struct topology *t, const char *pattern)
{
	return streq(pattern, "rt") ? t->rt : fnmatch(pattern, t->kernel, 0) == 0;
}

static bool fits(const struct match_rule *rule, const struct rate *rate,
		 const struct choose_input *in)
{
	if (rule->unit && in->unit(in->userdata, rule->unit) <= 0)
		return false;
	if (rule->has_rate && !rate->high)
		return false;
	return !rule->kernel || kernel_fits(in->topology, rule->kernel);
}

static void tell_why(const struct match_rule *rule, char *buf, size_t size)
{
	const char *glue = "match ";

	*buf = '\0';
	if (rule->unit) {
		append_text(buf, size, "%sunit %s", glue, rule->unit);
		glue = " and ";
	}
	if (rule->has_rate) {
		append_text(buf, size, "%spacket_rate [%llu, %llu]", glue,
			    (unsigned long long)rule->rate_low,
			    (unsigned long long)rule->rate_high);
		glue = " and ";
	}
	if (rule->kernel)
		append_text(buf, size, "%skernel %s", glue, rule->kernel);
}

/* The first profile, in the order of their rank, that has a rule that fits. */
static int first_that_fits(const struct chooser *c, const struct choose_input *in,
			   const struct match_rule **ret)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct profile *p = c->candidate[i].profile;

		for (size_t k = 0; k < p->n_matches; k++)
			if (fits(&p->match[k], &c->candidate[i].rate[k], in)) {
				*ret = &p->match[k];
				return (int)i;
			}
	}
	return NONE;
}

static void ask_rules(struct chooser *c, const struct choose_input *in)
{
	const struct match_rule *rule = NULL;
	int found;

	for (size_t i = 0; i < c->n; i++) {
		const struct profile *p = c->candidate[i].profile;

		for (size_t k = 0; k < p->n_matches; k++)
			if (p->match[k].has_rate)
				follow_rate(&c->candidate[i].rate[k], &p->match[k], in);
	}
	found = first_that_fits(c, in, &rule);
	if (found != c->current) {
		if (c->changed_usec && in->now_usec - c->changed_usec < RULES_DWELL_USEC)
			return;
		/* What held at the start is no change. */
		c->changed_usec = c->asked ? in->now_usec : 0;
		c->current = found;
	}
	c->asked = true;
	if (rule)
		tell_why(rule, c->why, sizeof(c->why));
}

void choose(struct chooser *c, const struct choose_input *in, struct choice *ret)
{
	*ret = (struct choice){.profile = in->fallback, .by = CHOSEN_BY_DEFAULT};
	ask_rules(c, in);
	if (in->hold) {
		ret->profile = in->hold;
		ret->by = CHOSEN_BY_HOLD;
		append_text(ret->why, sizeof(ret->why), "hold by %s", in->hold_text);
	} else if (in->by_hand) {
		ret->profile = in->by_hand;
		ret->by = CHOSEN_BY_HAND;
		append_text(ret->why, sizeof(ret->why), "manual");
	} else if (c->current != NONE) {
		ret->profile = c->candidate[c->current].profile->name;
		ret->by = CHOSEN_BY_MATCH;
		append_text(ret->why, sizeof(ret->why), "%s", c->why);
	} else {
		append_text(ret->why, sizeof(ret->why), "default");
	}
}

int chooser_units(const struct chooser *c, const char ***ret)
{
	size_t n = 0, max = 1;
	const char **units;

	for (size_t i = 0; i < c->n; i++)
		max += c->candidate[i].profile->n_matches;
	units = calloc(max, sizeof(*units));
	if (!units)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		const struct profile *p = c->candidate[i].profile;

		for (size_t k = 0; k < p->n_matches; k++) {
			bool known = !p->match[k].unit;

			for (size_t j = 0; j < n && !known; j++)
				known = streq(units[j], p->match[k].unit);
			if (!known)
				units[n++] = p->match[k].unit;
		}
	}
	*ret = units;
	return 0;
}
