/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "model/decision.h"
#include "profile/conf.h"
#include "profile/profile-file.h"
#include "profile/schema.h"

#define VENDOR_DIR  PREFIX "/lib/softnetd"
#define RUNTIME_DIR "/run/softnetd/etc"
#define ADMIN_DIR   "/etc/softnetd"

/* Leaves room for those by hand (SILENCED_MAX). */
#define SILENCE_MAX 128

const char *const config_default_dirs[] = {VENDOR_DIR, RUNTIME_DIR, ADMIN_DIR, NULL};

int config_dirs_new(const char *vendor, bool only, char ***ret)
{
	const char *const wanted[] = {vendor ? vendor : VENDOR_DIR, RUNTIME_DIR, ADMIN_DIR};
	size_t n = only ? 1 : ELEMENTSOF(wanted);
	_cleanup_(strv_freep) char **dirs = calloc(n + 1, sizeof(*dirs));

	if (!dirs)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		dirs[i] = strdup(wanted[i]);
		if (!dirs[i])
			return -ENOMEM;
	}
	*ret = TAKE_PTR(dirs);
	return 0;
}

static void config_take(struct config *c, enum key key, union schema_value v)
{
	switch (key) {
	case KEY_MODE:
		c->mode = (enum mode)v.word;
		break;
	case KEY_TICK:
		c->tick_usec = (uint64_t)v.number;
		break;
	case KEY_SLOW_LOOK:
		c->slow_look_usec = (uint64_t)v.number;
		break;
	case KEY_ON_STOP:
		c->keep_on_stop = streq(schema[key].words[v.word], "keep");
		break;
	case KEY_MAX_CHANGES_PER_HOUR:
		c->max_changes_per_hour = (unsigned)v.number;
		break;
	case KEY_MAX_MOVES_PER_ROUND:
		c->max_moves_per_round = (unsigned)v.number;
		break;
	default:
		break;
	}
}

static int set_defaults(struct config *c)
{
	for (int key = 0; key < _KEY_MAX; key++)
		if (schema[key].place == PLACE_CONFIG)
			config_take(c, (enum key)key, schema_fallback((enum key)key));
	c->profile = strdup(schema_fallback(KEY_PROFILE).text);
	return c->profile ? 0 : -ENOMEM;
}

static int set_profile(struct config *c, const struct reader *r, const config_setting_t *s,
		       const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(c->profile);
	c->profile = copy;
	return origin_set(&c->profile_origin, r, s);
}

/* The list replaces one that a weaker file gave. 0 also after a complaint; -ENOMEM. */
static int read_silence(struct reader *r, const config_setting_t *s, struct config *c)
{
	int type = config_setting_type(s), n = config_setting_length(s);
	char **ids;

	if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
		reader_wrong(r, s, "silence expects a list of ids, [\"…\", …], not %s",
			     setting_kind_name(s));
		return 0;
	}
	strv_free(c->silence);
	c->silence = ids = calloc((size_t)n + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		const config_setting_t *m = config_setting_get_elem(s, (unsigned)i);
		const char *id = config_setting_get_string(m);
		char excerpt[EXCERPT_MAX];

		if (!id) {
			reader_wrong(r, m, "silence expects ids as strings, not %s",
				     setting_kind_name(m));
			continue;
		}
		if (!text_ok(id) || !change_id_ok(id)) {
			reader_wrong(r, m,
				     "silence: \"%s\" is no id of an advice; they look like "
				     "\"netdev_budget-squeezed\"",
				     text_ok(id) ? text_excerpt(id, excerpt, sizeof(excerpt))
						 : "?");
			continue;
		}
		*ids = strdup(id);
		if (!*ids++)
			return -ENOMEM;
	}
	if (ids - c->silence > SILENCE_MAX)
		reader_wrong(r, s, "silence has more than %d ids", SILENCE_MAX);
	return 0;
}

/* Lays one file over CONFIG. *BAD is set when there were complaints. */
static int lay_over(const struct conf *f, struct config *config, bool *bad, struct complaints *c)
{
	struct reader r = {.path = f->path, .complaints = c};
	const config_setting_t *root = config_root_setting(&f->lib);

	for (int i = 0; i < config_setting_length(root); i++) {
		const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
		int key = schema_find(&r, PLACE_CONFIG, s, NULL), e = 0;
		union schema_value v;

		if (key == -ENOMEM)
			return key;
		if (key == KEY_SILENCE) {
			e = read_silence(&r, s, config);
			if (e < 0)
				return e;
			continue;
		}
		if (key < 0 || schema_read(&r, (enum key)key, s, &v) < 0)
			continue;
		config_take(config, (enum key)key, v);
		if (key == KEY_PROFILE)
			e = set_profile(config, &r, s, v.text);
		else if (key == KEY_MODE)
			e = origin_set(&config->mode_origin, &r, s);
		if (e < 0)
			return e;
	}
	*bad |= r.bad > 0;
	return 0;
}

static int load_set(const char *const *dirs, const struct conf_set *s, struct config *ret,
		    struct complaints *c)
{
	_cleanup_(config_done) struct config config = {};
	bool bad = s->bad;
	int r;

	r = set_defaults(&config);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++) {
		r = lay_over(s->conf[i], &config, &bad, c);
		if (r < 0)
			return r;
	}
	/* tuned#851: a profile that does not exist must not mean a daemon that silently does
	 * nothing. The default is checked when it is loaded. */
	if (config.profile_origin.file) {
		r = profile_exists(dirs, config.profile, &config.profile_origin, c);
		if (r == -ENOENT)
			bad = true;
		else if (r < 0)
			return r;
	}
	if (bad)
		return -EINVAL;
	*ret = config;
	config = (struct config){};
	return 0;
}

int config_load(const char *const *dirs, struct config *ret, struct complaints *c)
{
	_cleanup_(conf_set_done) struct conf_set s = {};
	int r;

	r = conf_set_load(dirs, "softnetd.conf", &s, c);
	if (r < 0)
		return r;
	return load_set(dirs, &s, ret, c);
}

int config_load_text(const char *const *dirs, const char *path, const char *text, size_t size,
		     struct config *ret, struct complaints *c)
{
	_cleanup_(conf_freep) struct conf *f = NULL;
	int r;

	r = conf_parse(path, text, size, &f, c);
	if (r < 0)
		return r;
	return load_set(dirs, &(struct conf_set){.conf = &f, .n = 1}, ret, c);
}
