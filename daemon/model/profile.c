/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/profile.h"

#include <fnmatch.h>

const char *const placement_names[] = {"leave", "spread", "pack", "near", NULL};
const char *const napi_threads_names[] = {"leave", "near", NULL};
const char *const rps_names[] = {"leave", "near", NULL};
const char *const on_foreign_names[] = {"yield", "enforce", "adopt", NULL};
const char *const objective_names[] = {"symptom", "drops", "squeezes", "wait",
				       "wakeup",  "cpu",   NULL};
const char *const mode_names[] = {"observe", "advise", "apply", NULL};

static int find_name(const char *const *names, const char *s)
{
	for (int i = 0; names[i]; i++)
		if (streq(names[i], s))
			return i;
	return -EINVAL;
}

const char *placement_to_string(enum placement p)
{
	return placement_names[p];
}

int placement_from_string(const char *s, enum placement *ret)
{
	int i = find_name(placement_names, s);

	if (i < 0)
		return i;
	*ret = (enum placement)i;
	return 0;
}

const char *objective_to_string(enum objective o)
{
	return objective_names[o];
}

int objective_from_string(const char *s, enum objective *ret)
{
	int i = find_name(objective_names, s);

	if (i < 0)
		return i;
	*ret = (enum objective)i;
	return 0;
}

const char *mode_to_string(enum mode m)
{
	return mode_names[m];
}

int mode_from_string(const char *s, enum mode *ret)
{
	int i = find_name(mode_names, s);

	if (i < 0)
		return i;
	*ret = (enum mode)i;
	return 0;
}

void match_rule_done(struct match_rule *m)
{
	free(m->unit);
	free(m->kernel);
	free(m->origin.file);
}

void nic_rule_done(struct nic_rule *rule)
{
	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		if (!rule->setting[i])
			continue;
		free(rule->setting[i]->value);
		free(rule->setting[i]->origin.file);
		free(rule->setting[i]);
	}
	free(rule->match);
	free(rule->origin.file);
	*rule = (struct nic_rule){};
}

const struct profile_setting *profile_nic_setting(const struct profile *p, const char *ifname,
						  enum tunable_id id)
{
	const struct nic_rule *rule = profile_nic_rule(p, ifname);

	return rule && rule->setting[id] ? rule->setting[id] : &p->setting[id];
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	strv_free(p->busy_poll_units);
	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		free(p->setting[i].value);
		free(p->setting[i].origin.file);
	}
	for (size_t i = 0; i < p->n_nics; i++)
		nic_rule_done(&p->nic[i]);
	free(p->nic);
	for (size_t i = 0; i < p->n_matches; i++)
		match_rule_done(&p->match[i]);
	free(p->match);
	free(p->name);
	free(p->description);
	free(p->inherits);
	free(p->file);
	free(p);
}

const struct nic_rule *profile_nic_rule(const struct profile *p, const char *ifname)
{
	for (size_t i = 0; i < p->n_nics; i++)
		if (fnmatch(p->nic[i].match, ifname, 0) == 0)
			return &p->nic[i];
	return NULL;
}

void config_done(struct config *c)
{
	free(c->profile);
	strv_free(c->silence);
	free(c->profile_origin.file);
	free(c->mode_origin.file);
	*c = (struct config){};
}
