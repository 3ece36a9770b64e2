/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-file.h"

#include <stdio.h>

#include "profile/conf.h"
#include "profile/schema.h"
#include "profile/setting.h"

/* systemd's limit, without the NUL. */
#define UNIT_NAME_MAX 255
#define MATCH_EXPECTS "match expects a list of groups, ( { unit = \"…\"; … }, … ), not %s"

/* More steps of inheritance than anybody can follow by eye. */
#define INHERIT_MAX 8

/*
 * A profile in the making. Files are laid over each other, weakest first, each replacing the keys
 * it gives; what depends on several keys is worked out at the end, by finish().
 */
struct draft {
	struct profile *profile;
	bool own_on_foreign[_TUNABLE_MAX]; /* by the setting's long form, not by the general key */
	enum on_foreign on_foreign;
	enum placement placement;
	struct origin placement_origin; /* file NULL: not given */
};

/* Who inherits whom: from the profile asked for to the one being read. */
struct lineage {
	const char *const *dirs;
	const char *name[INHERIT_MAX];
	size_t n;
	struct complaints *complaints;
};

static void draft_done(struct draft *d)
{
	profile_free(d->profile);
	free(d->placement_origin.file);
}

static int draft_init(struct draft *d)
{
	*d = (struct draft){
		.profile = calloc(1, sizeof(*d->profile)),
		.on_foreign = (enum on_foreign)schema_fallback(KEY_ON_FOREIGN).word,
	};
	return d->profile ? 0 : -ENOMEM;
}

static int replace_string(char **p, const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		return -ENOMEM;
	free(*p);
	*p = copy;
	return 0;
}

static void nics_forget(struct profile *p)
{
	for (size_t i = 0; i < p->n_nics; i++)
		nic_rule_done(&p->nic[i]);
	free(p->nic);
	p->nic = NULL;
	p->n_nics = 0;
}

/* Takes ownership of what RULE holds, also on error. */
static int nics_add(struct profile *p, struct nic_rule rule)
{
	struct nic_rule *bigger = NULL;

	if (rule.match && rule.origin.file)
		bigger = reallocarray(p->nic, p->n_nics + 1, sizeof(*bigger));
	if (!bigger) {
		nic_rule_done(&rule);
		return -ENOMEM;
	}
	p->nic = bigger;
	p->nic[p->n_nics++] = rule;
	return 0;
}

/* A setting in an entry of nics. 0 also after a complaint; -ENOMEM. */
static int read_nic_setting(struct reader *r, const struct tunable *t, const config_setting_t *s,
			    struct nic_rule *rule)
{
	struct profile_setting **into = &rule->setting[tunable_index(t)];

	if (!*into)
		*into = calloc(1, sizeof(**into));
	if (!*into)
		return -ENOMEM;
	return setting_read_value(r, t, s, *into) == -ENOMEM ? -ENOMEM : 0;
}

/* One key of an entry of nics. 0 also after a complaint; -ENOMEM. */
static int read_nic_key(struct reader *r, const config_setting_t *s, struct nic_rule *rule,
			bool *says)
{
	const struct tunable *t = NULL;
	int key = schema_find(r, PLACE_NIC, s, &t);
	union schema_value v;

	if (key == -ENOMEM)
		return key;
	if (t) {
		*says = true;
		return read_nic_setting(r, t, s, rule);
	}
	if (key < 0 || schema_read(r, (enum key)key, s, &v) < 0)
		return 0;
	if (key == KEY_NIC_MATCH && *v.text) {
		rule->match = strdup(v.text);
		return rule->match ? 0 : -ENOMEM;
	}
	if (key == KEY_NIC_PLACEMENT) {
		rule->placement = (enum placement)v.word;
		rule->has_placement = *says = true;
	} else if (key == KEY_NAPI_THREADS) {
		rule->napi_threads = (enum napi_threads)v.word;
		*says = true;
	} else if (key == KEY_RPS) {
		rule->rps = (enum rps)v.word;
		*says = true;
	} else if (key == KEY_CPUS) {
		rule->cpus = v.cpus;
		rule->has_cpus = true;
	} else if (key == KEY_NEAR_CPUS) {
		rule->near_cpus = v.cpus;
		rule->has_near_cpus = true;
	}
	return 0;
}

/* One entry { match = "eth*"; placement = "spread"; cpus = "0-3"; gro_flush_timeout = 20000; }. */
static int read_nic(struct reader *r, const config_setting_t *s, struct profile *p)
{
	_cleanup_(nic_rule_done) struct nic_rule rule = {};
	char excerpt[EXCERPT_MAX];
	bool says = false;
	unsigned bad = r->bad;
	int e;

	if (config_setting_type(s) != CONFIG_TYPE_GROUP) {
		reader_wrong(r, s,
			     "nics expects a list of groups, ( { match = \"…\"; … } ), not %s",
			     setting_kind_name(s));
		return 0;
	}
	for (int i = 0; i < config_setting_length(s); i++) {
		e = read_nic_key(r, config_setting_get_elem(s, (unsigned)i), &rule, &says);
		if (e < 0)
			return e;
	}
	if (r->bad > bad)
		return 0;
	if (!rule.match || !says) {
		reader_wrong(
			r, s,
			"an entry of nics needs match, and placement or something else to say");
		return 0;
	}
	/* Nothing in the system tells honestly where packets are consumed: the admin has to. */
	if ((rule.has_placement && rule.placement == PLACEMENT_NEAR) != rule.has_near_cpus) {
		reader_wrong(
			r, s,
			rule.has_near_cpus
				? "near_cpus needs placement = \"near\" in the same entry"
				: "placement = \"near\" needs near_cpus, the CPUs that consume "
				  "the packets, in the same entry");
		return 0;
	}
	for (size_t i = 0; i < p->n_nics; i++)
		if (streq(p->nic[i].match, rule.match)) {
			reader_wrong(
				r, s,
				"match = \"%s\" stands in line %u already: the first that fits "
				"counts",
				text_excerpt(rule.match, excerpt, sizeof(excerpt)),
				p->nic[i].origin.line);
			return 0;
		}
	if (origin_set(&rule.origin, r, s) < 0)
		return -ENOMEM;
	return nics_add(p, TAKE(rule, (struct nic_rule){}));
}

/* The list replaces one that a weaker file gave. */
static int read_nics(struct reader *r, const config_setting_t *s, struct profile *p)
{
	int type = config_setting_type(s);

	nics_forget(p);
	/* [ ] is as good as ( ) for "none". */
	if (type != CONFIG_TYPE_LIST &&
	    !(type == CONFIG_TYPE_ARRAY && config_setting_length(s) == 0)) {
		reader_wrong(r, s,
			     "nics expects a list of groups, ( { match = \"…\"; … } ), not %s",
			     setting_kind_name(s));
		return 0;
	}
	for (int i = 0; i < config_setting_length(s); i++) {
		int e = read_nic(r, config_setting_get_elem(s, (unsigned)i), p);

		if (e < 0)
			return e;
	}
	return 0;
}

static void matches_forget(struct profile *p)
{
	for (size_t i = 0; i < p->n_matches; i++)
		match_rule_done(&p->match[i]);
	free(p->match);
	p->match = NULL;
	p->n_matches = 0;
}

/* Only units that have processes of their own are found active (observe/units.h). */
static bool unit_ok(const char *name)
{
	static const char *const suffixes[] = {".service", ".scope", ".slice"};
	size_t n = strlen(name);

	if (n > UNIT_NAME_MAX || *name == '.' ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@") !=
		    n)
		return false;
	for (size_t i = 0; i < ELEMENTSOF(suffixes); i++) {
		size_t k = strlen(suffixes[i]);

		if (n > k && streq(name + n - k, suffixes[i]))
			return true;
	}
	return false;
}

#define BUSY_POLL_UNITS_MAX 16

/* busy_poll_units = [ "nginx.service" ]. The list replaces one of a weaker file. 0 also after a complaint;
 * -ENOMEM. */
static int read_busy_poll_units(struct reader *r, const config_setting_t *s, struct profile *p)
{
	int type = config_setting_type(s), n = config_setting_length(s);
	char excerpt[EXCERPT_MAX], **units;

	if ((type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) || n > BUSY_POLL_UNITS_MAX) {
		reader_wrong(r, s,
			     "busy_poll_units expects a list of at most %d units, "
			     "[\"nginx.service\", …]",
			     BUSY_POLL_UNITS_MAX);
		return 0;
	}
	strv_free(p->busy_poll_units);
	p->busy_poll_units = units = calloc((size_t)n + 1, sizeof(*units));
	if (!units)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		const config_setting_t *m = config_setting_get_elem(s, (unsigned)i);
		const char *name = config_setting_get_string(m);

		if (!name || !text_ok(name) || !unit_ok(name)) {
			reader_wrong(r, m,
				     "busy_poll_units expects names of services, scopes or slices "
				     "such as \"nginx.service\", not \"%s\"",
				     name && text_ok(name)
					     ? text_excerpt(name, excerpt, sizeof(excerpt))
					     : "?");
			continue;
		}
		*units = strdup(name);
		if (!*units++)
			return -ENOMEM;
	}
	return 0;
}

/* The keys of one entry into RULE. 0 also after a complaint; -ENOMEM. */
static int read_conditions(struct reader *r, const config_setting_t *s, struct match_rule *rule)
{
	char excerpt[EXCERPT_MAX];

	for (int i = 0; i < config_setting_length(s); i++) {
		const config_setting_t *m = config_setting_get_elem(s, (unsigned)i);
		int key = schema_find(r, PLACE_MATCH, m, NULL);
		union schema_value v;

		if (key == -ENOMEM)
			return key;
		if (key < 0 || schema_read(r, (enum key)key, m, &v) < 0)
			continue;
		if (key == KEY_PACKET_RATE) {
			rule->has_rate = true;
			rule->rate_low = (uint64_t)v.pair[0];
			rule->rate_high = (uint64_t)v.pair[1];
			continue;
		}
		if (key == KEY_UNIT && !unit_ok(v.text))
			reader_wrong(r, m,
				     "unit expects the name of one service, scope or slice such as "
				     "\"nginx.service\", not \"%s\"",
				     text_excerpt(v.text, excerpt, sizeof(excerpt)));
		else if (key == KEY_KERNEL && !*v.text)
			reader_wrong(r, m,
				     "kernel expects \"rt\" or a pattern for the release such as "
				     "\"6.12.*\"");
		else if (replace_string(key == KEY_UNIT ? &rule->unit : &rule->kernel, v.text) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* One entry { unit = "nginx.service"; packet_rate = [10000, 50000]; kernel = "rt"; }. */
static int read_match(struct reader *r, const config_setting_t *s, struct profile *p)
{
	_cleanup_(match_rule_done) struct match_rule rule = {};
	struct match_rule *bigger;
	unsigned bad = r->bad;
	int e;

	if (config_setting_type(s) != CONFIG_TYPE_GROUP) {
		reader_wrong(r, s, MATCH_EXPECTS, setting_kind_name(s));
		return 0;
	}
	e = read_conditions(r, s, &rule);
	if (e < 0)
		return e;
	if (r->bad > bad)
		return 0;
	if (!rule.unit && !rule.has_rate && !rule.kernel) {
		reader_wrong(r, s, "an entry of match needs unit, packet_rate or kernel");
		return 0;
	}
	if (origin_set(&rule.origin, r, s) < 0)
		return -ENOMEM;
	bigger = reallocarray(p->match, p->n_matches + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	p->match = bigger;
	p->match[p->n_matches++] = rule;
	rule = (struct match_rule){};
	return 0;
}

/* The list replaces one that a weaker file of the same profile gave. */
static int read_matches(struct reader *r, const config_setting_t *s, struct profile *p)
{
	int type = config_setting_type(s);

	matches_forget(p);
	if (type != CONFIG_TYPE_LIST &&
	    !(type == CONFIG_TYPE_ARRAY && config_setting_length(s) == 0)) {
		reader_wrong(r, s, MATCH_EXPECTS, setting_kind_name(s));
		return 0;
	}
	for (int i = 0; i < config_setting_length(s); i++) {
		int e = read_match(r, config_setting_get_elem(s, (unsigned)i), p);

		if (e < 0)
			return e;
	}
	return 0;
}

/* One key beside the settings. 0 also after a complaint; -ENOMEM. */
static int read_key(struct reader *r, enum key key, const config_setting_t *s, struct draft *d)
{
	union schema_value v;

	if (key == KEY_NICS)
		return read_nics(r, s, d->profile);
	if (key == KEY_MATCH)
		return read_matches(r, s, d->profile);
	if (key == KEY_BUSY_POLL_UNITS)
		return read_busy_poll_units(r, s, d->profile);
	if (schema_read(r, key, s, &v) < 0)
		return 0;
	switch (key) {
	case KEY_DESCRIPTION:
		return replace_string(&d->profile->description, v.text);
	case KEY_INHERITS:
		return replace_string(&d->profile->inherits, v.text);
	case KEY_ON_FOREIGN:
		d->on_foreign = (enum on_foreign)v.word;
		return 0;
	case KEY_PLACEMENT:
		if (v.word == PLACEMENT_NEAR) {
			reader_wrong(r, s,
				     "placement = \"near\" belongs into an entry of nics, with "
				     "near_cpus, the CPUs that consume the packets");
			return 0;
		}
		d->placement = (enum placement)v.word;
		return origin_set(&d->placement_origin, r, s);
	case KEY_PLACE_DESPITE_IRQBALANCE:
		d->profile->place_despite_irqbalance = v.boolean;
		return 0;
	case KEY_OBJECTIVE:
		d->profile->objective = (enum objective)v.word;
		return 0;
	case KEY_PRIORITY:
		d->profile->priority = (int)v.number;
		return 0;
	default:
		return 0;
	}
}

/* Lays one file over the draft. *BAD is set when there were complaints. */
static int lay_over(const struct conf *f, struct draft *d, bool *bad, struct complaints *c)
{
	struct reader r = {.path = f->path, .complaints = c};
	const config_setting_t *root = config_root_setting(&f->lib);

	for (int i = 0; i < config_setting_length(root); i++) {
		const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
		const struct tunable *t = NULL;
		int key = schema_find(&r, PLACE_PROFILE, s, &t), e = 0;

		if (key == -ENOMEM)
			return key;
		if (t)
			e = setting_read(&r, t, s, &d->profile->setting[tunable_index(t)],
					 &d->own_on_foreign[tunable_index(t)]);
		else if (key >= 0)
			e = read_key(&r, (enum key)key, s, d);
		if (e == -ENOMEM)
			return e;
	}
	*bad |= r.bad > 0;
	return 0;
}

/* What depends on several keys. */
static int finish(struct draft *d)
{
	struct profile *p = d->profile;
	struct nic_rule rule = {.placement = d->placement};

	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		if (!d->own_on_foreign[i])
			p->setting[i].on_foreign = d->on_foreign;
	for (size_t i = 0; i < p->n_nics; i++)
		if (!p->nic[i].has_placement)
			p->nic[i].placement = d->placement;
	if (!d->placement_origin.file)
		return 0;
	/* `placement` is what remains for NICs that no entry of nics fits. */
	rule.match = strdup("*");
	rule.origin = d->placement_origin;
	d->placement_origin.file = NULL;
	return nics_add(p, rule);
}

/* The last file that gives a well-formed `inherits` counts: NULL when none does. The file's name in
 * RET_WHERE belongs to the set. */
static const char *find_inherits(const struct conf_set *s, struct origin *ret_where)
{
	const char *found = NULL;

	for (size_t i = 0; i < s->n; i++) {
		const config_setting_t *v = config_setting_get_member(
			config_root_setting(&s->conf[i]->lib), schema[KEY_INHERITS].name);

		if (v && config_setting_type(v) == CONFIG_TYPE_STRING) {
			found = config_setting_get_string(v);
			*ret_where = (struct origin){.file = s->conf[i]->path,
						     .line = config_setting_source_line(v)};
		}
	}
	return found;
}

int profile_exists(const char *const *dirs, const char *name, const struct origin *where,
		   struct complaints *c)
{
	_cleanup_(strv_freep) char **names = NULL;
	const char *file = where ? where->file : NULL, *near;
	unsigned line = where ? where->line : 0;
	int r;

	if (!conf_name_ok(name, strlen(name))) {
		complain(
			c, file, line,
			"not the name of a profile: letters, digits, '.', '_' and '-', at most %d of "
			"them, beginning with a letter or digit",
			CONF_NAME_MAX);
		return -ENOENT;
	}
	r = profile_list(dirs, &names);
	if (r < 0)
		return r;
	for (char **n = names; *n; n++)
		if (streq(*n, name))
			return 0;
	near = nearest_name(name, (const char *const *)names);
	if (near)
		complain(c, file, line, "there is no profile %s; did you mean %s?", name, near);
	else if (names[0])
		complain(c, file, line, "there is no profile %s", name);
	else
		complain(
			c, file, line,
			"there is no profile %s, nor any other (--config-dir DIR says where the shipped ones are)",
			name);
	return -ENOENT;
}

static int read_named(struct lineage *l, const char *name, const struct origin *where,
		      struct draft *d, char **ret_file);

/* Reads what S, called NAME, inherits, and then S over it. */
static int read_set(struct lineage *l, const char *name, const struct conf_set *s, struct draft *d)
{
	struct origin where = {};
	const char *inherits = find_inherits(s, &where);
	bool bad = s->bad;
	int r = 0, e;

	l->name[l->n++] = name;
	if (inherits) {
		e = read_named(l, inherits, &where, d, NULL);
		if (e == -ENOMEM)
			return e;
		/* -ENOENT means that the profile asked for is not there. */
		r = e == -ENOENT ? -EINVAL : e;
	}
	/* These are a profile's own: what an ancestor says is not true of its heir. */
	matches_forget(d->profile);
	d->profile->priority = (int)schema_fallback(KEY_PRIORITY).number;
	free(TAKE_PTR(d->profile->description));
	free(TAKE_PTR(d->profile->inherits));
	for (size_t i = 0; i < s->n; i++) {
		e = lay_over(s->conf[i], d, &bad, l->complaints);
		if (e < 0)
			return e;
	}
	l->n--;
	if (r == 0 && bad)
		r = -EINVAL;
	return r;
}

/* "a → b → a" */
static int inherit_loop(struct lineage *l, const char *name, const struct origin *where)
{
	char chain[(INHERIT_MAX + 1) * (CONF_NAME_MAX + 5)] = "";
	size_t n = 0, begin = 0;
	bool loop = false;

	for (size_t i = 0; i < l->n; i++)
		if (streq(l->name[i], name)) {
			begin = i;
			loop = true;
			break;
		}
	for (size_t i = begin; i < l->n && n < sizeof(chain); i++)
		n += (size_t)snprintf(chain + n, sizeof(chain) - n, "%.*s → ", CONF_NAME_MAX,
				      l->name[i]);
	if (loop)
		complain(l->complaints, where->file, where->line,
			 "profiles that inherit each other: %s%s", chain, name);
	else
		complain(l->complaints, where->file, where->line,
			 "more than %d profiles that inherit: %s%s", INHERIT_MAX, chain, name);
	return -ELOOP;
}

/*
 * Reads the profile NAME and all that it inherits into D. WHERE its name stands; NULL when it was
 * asked for from outside. RET_FILE may be NULL.
 */
static int read_named(struct lineage *l, const char *name, const struct origin *where,
		      struct draft *d, char **ret_file)
{
	_cleanup_(conf_set_done) struct conf_set s = {};
	_cleanup_free_ char *relative = NULL;
	int r;

	r = profile_exists(l->dirs, name, where, l->complaints);
	if (r < 0)
		return r;
	for (size_t i = 0; i < l->n; i++)
		if (streq(l->name[i], name))
			return inherit_loop(l, name, where);
	if (l->n == INHERIT_MAX)
		return inherit_loop(l, name, where);
	if (asprintf(&relative, "profiles/%s.conf", name) < 0) {
		relative = NULL;
		return -ENOMEM;
	}
	r = conf_set_load(l->dirs, relative, &s, l->complaints);
	if (r < 0)
		return r;
	if (!s.main && !s.bad) {
		complain(l->complaints, NULL, 0, "profile %s vanished while it was read", name);
		return -ENOENT;
	}
	if (ret_file && s.main) {
		*ret_file = strdup(s.conf[0]->path);
		if (!*ret_file)
			return -ENOMEM;
	}
	return read_set(l, name, &s, d);
}

int profile_load(const char *const *dirs, const char *name, struct profile **ret,
		 struct complaints *c)
{
	_cleanup_(draft_done) struct draft d = {};
	struct lineage l = {.dirs = dirs, .complaints = c};
	int r;

	r = draft_init(&d);
	if (r < 0)
		return r;
	r = read_named(&l, name, NULL, &d, &d.profile->file);
	if (r < 0)
		return r;
	r = replace_string(&d.profile->name, name);
	if (r < 0)
		return r;
	r = finish(&d);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d.profile);
	return 0;
}

/* "…/profiles/mine.conf" → "mine"; what is no name stays as it is, nobody can inherit it. */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t n = strlen(base);

	if (n > strlen(".conf") && streq(base + n - strlen(".conf"), ".conf"))
		n -= strlen(".conf");
	return strndup(base, n);
}

/* F may be NULL: an empty file, which says nothing. Takes ownership of F. */
static int load_alone(const char *const *dirs, const char *path, struct conf *f,
		      struct profile **ret, struct complaints *c)
{
	_cleanup_(conf_freep) struct conf *owned = f;
	_cleanup_(draft_done) struct draft d = {};
	const struct conf_set s = {.conf = &owned, .n = owned ? 1 : 0};
	struct lineage l = {.dirs = dirs, .complaints = c};
	int r;

	r = draft_init(&d);
	if (r < 0)
		return r;
	d.profile->name = name_of(path);
	d.profile->file = strdup(path);
	if (!d.profile->name || !d.profile->file)
		return -ENOMEM;
	r = read_set(&l, d.profile->name, &s, &d);
	if (r < 0)
		return r;
	r = finish(&d);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d.profile);
	return 0;
}

int profile_load_file(const char *const *dirs, const char *path, struct profile **ret,
		      struct complaints *c)
{
	struct conf *f = NULL;
	int r;

	r = conf_load(path, &f, c);
	if (r < 0)
		return r;
	return load_alone(dirs, path, f, ret, c);
}

int profile_load_text(const char *const *dirs, const char *path, const char *text, size_t size,
		      struct profile **ret, struct complaints *c)
{
	struct conf *f = NULL;
	int r;

	r = conf_parse(path, text, size, &f, c);
	if (r < 0)
		return r;
	return load_alone(dirs, path, f, ret, c);
}

struct file_list {
	char **path;
	size_t n;
};

static int add_files(struct file_list *list, const struct conf_set *s)
{
	char **more = reallocarray(list->path, list->n + s->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	list->path = more;
	for (size_t i = 0; i < s->n; i++) {
		more[list->n] = strdup(s->conf[i]->path);
		if (!more[list->n])
			return -ENOMEM;
		more[++list->n] = NULL;
	}
	more[list->n] = NULL;
	return 0;
}

/* What NAME inherits first. */
static int add_profile_files(struct lineage *l, const char *name, const struct origin *where,
			     struct file_list *list)
{
	_cleanup_(conf_set_done) struct conf_set s = {};
	_cleanup_free_ char *relative = NULL;
	struct origin inherits_at = {};
	const char *inherits;
	int r;

	r = profile_exists(l->dirs, name, where, l->complaints);
	if (r < 0)
		return r;
	for (size_t i = 0; i < l->n; i++)
		if (streq(l->name[i], name))
			return inherit_loop(l, name, where);
	if (l->n == INHERIT_MAX)
		return inherit_loop(l, name, where);
	if (asprintf(&relative, "profiles/%s.conf", name) < 0) {
		relative = NULL;
		return -ENOMEM;
	}
	r = conf_set_load(l->dirs, relative, &s, l->complaints);
	if (r < 0)
		return r;
	inherits = find_inherits(&s, &inherits_at);
	if (inherits) {
		l->name[l->n++] = name;
		r = add_profile_files(l, inherits, &inherits_at, list);
		l->n--;
		if (r < 0)
			return r;
	}
	return add_files(list, &s);
}

int config_files(const char *const *dirs, const char *profile, char ***ret, struct complaints *c)
{
	_cleanup_(conf_set_done) struct conf_set s = {};
	struct lineage l = {.dirs = dirs, .complaints = c};
	struct file_list list = {};
	int r;

	if (profile) {
		r = add_profile_files(&l, profile, NULL, &list);
	} else {
		r = conf_set_load(dirs, "softnetd.conf", &s, c);
		if (r >= 0)
			r = add_files(&list, &s);
	}
	if (r < 0) {
		strv_free(list.path);
		return r;
	}
	*ret = list.path;
	return 0;
}

int profile_list(const char *const *dirs, char ***ret)
{
	return conf_names(dirs, "profiles", ret);
}

void profiles_free(struct profile **list)
{
	for (struct profile **p = list; p && *p; p++)
		profile_free(*p);
	free(list);
}

/* In the order in which they are asked. */
static int by_rank(const void *a, const void *b)
{
	const struct profile *x = *(struct profile *const *)a, *y = *(struct profile *const *)b;

	if (x->priority != y->priority)
		return y->priority - x->priority;
	return strcmp(x->name, y->name);
}

int profiles_with_match(const char *const *dirs, struct profile ***ret, struct complaints *c)
{
	_cleanup_(profiles_freep) struct profile **list = NULL;
	_cleanup_(strv_freep) char **names = NULL;
	size_t n = 0, count = 0;
	int r;

	r = profile_list(dirs, &names);
	if (r < 0)
		return r;
	while (names[count])
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (char **name = names; *name; name++) {
		_cleanup_(profile_freep) struct profile *p = NULL;

		r = profile_load(dirs, *name, &p, c);
		if (r == -ENOMEM)
			return r;
		if (r >= 0 && p->n_matches > 0)
			list[n++] = TAKE_PTR(p);
	}
	qsort(list, n, sizeof(*list), by_rank);
	*ret = TAKE_PTR(list);
	return 0;
}
