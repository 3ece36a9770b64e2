/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/setting.h"

#include <stdio.h>

#define EXPECTS_MAX 256

static bool takes_range(const struct tunable *t)
{
	return t->type == VALUE_NUMBER && !t->held && (!t->words || t->order);
}

/* What belongs to a NIC is stated or left: no sensor tells which way would be better. */
static bool moves_in_range(const struct tunable *t)
{
	return takes_range(t) && !tunable_of_nic(t) && t->scope != SCOPE_SOCKET;
}

void setting_expects(const struct tunable *t, char *buf, size_t size)
{
	const char *unit = *t->unit ? t->unit : "no unit";
	char words[EXPECTS_MAX / 2] = "";
	const char *const *w = t->words ? t->words : t->known;
	size_t n = 0;

	for (; w && *w && n < sizeof(words); w++)
		n += (size_t)snprintf(words + n, sizeof(words) - n, "%s\"%s\"", n > 0 ? ", " : "",
				      *w);
	switch (t->type) {
	case VALUE_NUMBER:
		if (t->words)
			snprintf(buf, size, "one of %s%s, or \"leave\"", words,
				 t->order ? ", a range [\"from\", \"to\"] of such" : "");
		else if (t->held || !moves_in_range(t))
			snprintf(buf, size, "a number from %lld to %lld (%s), or \"leave\"",
				 (long long)t->min, (long long)t->max, unit);
		else
			snprintf(buf, size,
				 "a number from %lld to %lld (%s), a range [low, high] of such, or "
				 "\"leave\"",
				 (long long)t->min, (long long)t->max, unit);
		break;
	case VALUE_SCHED:
		snprintf(buf, size, "a FIFO priority from %lld to %lld, or \"leave\"",
			 (long long)t->min, (long long)t->max);
		break;
	case VALUE_LATENCY:
		snprintf(buf, size,
			 "a number from %lld to %lld (%s; 0 is no limit), \"n/a\", or \"leave\"",
			 (long long)t->min, (long long)t->max, unit);
		break;
	case VALUE_EPP:
		snprintf(buf, size, "a number from %lld to %lld, %s, a list \"a|b\", or \"leave\"",
			 (long long)t->min, (long long)t->max, words);
		break;
	case VALUE_WORD:
		snprintf(buf, size, "a word such as %s, a list \"a|b\", or \"leave\"", words);
		break;
	case VALUE_CPUS:
	case VALUE_CPU_MASK:
		snprintf(buf, size, "only { on_foreign = \"…\"; } or \"leave\"");
		break;
	}
}

static int wrong_type(struct reader *r, const struct tunable *t, const config_setting_t *s)
{
	char expects[EXPECTS_MAX];

	setting_expects(t, expects, sizeof(expects));
	reader_wrong(r, s, "%s expects %s, not %s", t->id, expects, setting_kind_name(s));
	return -EINVAL;
}

static int out_of_range(struct reader *r, const struct tunable *t, const config_setting_t *s,
			long long value)
{
	reader_wrong(r, s, "%s is %lld, outside %lld to %lld%s%s", t->id, value, (long long)t->min,
		     (long long)t->max, *t->unit ? " " : "", t->unit);
	return -EINVAL;
}

/* WORD is one word of the value S. Fills CANONICAL. */
static int check_word(struct reader *r, const struct tunable *t, const config_setting_t *s,
		      const char *word, char *canonical, size_t size)
{
	const char *const *known = t->words ? t->words : t->known;
	char expects[EXPECTS_MAX], hint[128] = "", excerpt[EXCERPT_MAX];
	const char *near = known ? nearest_name(word, known) : NULL;
	int e;

	e = tunable_canonical(t, word, true, canonical, size);
	/* Any governor may be a module of somebody's own; one that looks like a typing slip is one.
	 * The EPP words are the kernel's own and final. */
	if (e == 0 && t->known && !(near && streq(near, word)) &&
	    (near || (t->type == VALUE_EPP && strspn(word, "0123456789") != strlen(word))))
		e = -EINVAL;
	if (e == 0)
		return 0;
	setting_expects(t, expects, sizeof(expects));
	if (near)
		(void)format_into(hint, sizeof(hint), "; did you mean \"%s\"?", near);
	reader_wrong(r, s, "%s expects %s, not \"%s\"%s", t->id, expects,
		     text_excerpt(word, excerpt, sizeof(excerpt)), hint);
	return -EINVAL;
}

/* A word, or where the setting's words come from the host, several: "schedutil|powersave". */
static int read_words(struct reader *r, const struct tunable *t, const config_setting_t *s,
		      char **ret)
{
	_cleanup_free_ char *copy = strdup(config_setting_get_string(s));
	char canonical[VALUE_MAX], list[VALUE_MAX] = "";
	char *rest = copy, *word;
	size_t n = 0;
	int e;

	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, t->known && t->type != VALUE_LATENCY ? "|" : ""))) {
		e = check_word(r, t, s, strstrip(word), canonical, sizeof(canonical));
		if (e < 0)
			return e;
		e = format_into(list + n, sizeof(list) - n, "%s%s", n > 0 ? "|" : "", canonical);
		if (e < 0) {
			reader_wrong(r, s, "%s: too many words", t->id);
			return -EINVAL;
		}
		n += (size_t)e;
	}
	*ret = strdup(list);
	return *ret ? 0 : -ENOMEM;
}

static int read_range(struct reader *r, const struct tunable *t, const config_setting_t *s,
		      struct profile_setting *ret)
{
	int64_t bound[2], rank[2];

	if (!moves_in_range(t))
		return wrong_type(r, t, s);
	if (config_setting_length(s) != 2) {
		reader_wrong(r, s, "%s: a range has two numbers, [low, high], not %d", t->id,
			     config_setting_length(s));
		return -EINVAL;
	}
	for (unsigned i = 0; i < 2; i++) {
		const config_setting_t *e = config_setting_get_elem(s, i);
		int type = config_setting_type(e);
		char canonical[64];

		if (t->words && type == CONFIG_TYPE_STRING) {
			int k = check_word(r, t, e, config_setting_get_string(e), canonical,
					   sizeof(canonical));

			if (k >= 0)
				k = parse_i64(canonical, &bound[i]);
			if (k < 0)
				return k;
			rank[i] = tunable_rank(t, bound[i]);
			continue;
		}
		if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) {
			reader_wrong(r, s, "%s: a range has two whole numbers, [low, high], not %s",
				     t->id, setting_kind_name(e));
			return -EINVAL;
		}
		bound[i] = config_setting_get_int64(e);
		if (bound[i] < t->min || bound[i] > t->max)
			return out_of_range(r, t, s, bound[i]);
		rank[i] = tunable_rank(t, bound[i]);
	}
	if (rank[0] > rank[1] && t->words) {
		reader_wrong(r, s, "%s: in a range \"%s\" comes before \"%s\": it yields more",
			     t->id, t->words[bound[1] - t->min], t->words[bound[0] - t->min]);
		return -EINVAL;
	}
	if (rank[0] > rank[1]) {
		reader_wrong(r, s, "%s: the range ends (%lld) below where it begins (%lld)", t->id,
			     (long long)bound[1], (long long)bound[0]);
		return -EINVAL;
	}
	if (bound[0] == bound[1]) {
		/* A range lets the loop decide, a number is stated: which one is meant? */
		reader_wrong(r, s, "%s: a range of one number; write %s = %lld to pin it", t->id,
			     t->id, (long long)bound[0]);
		return -EINVAL;
	}
	*ret = (struct profile_setting){.kind = SETTING_RANGE, .low = bound[0], .high = bound[1]};
	return 0;
}

static int read_number(struct reader *r, const struct tunable *t, const config_setting_t *s,
		       struct profile_setting *ret)
{
	char text[32], canonical[64];
	int64_t v = config_setting_get_int64(s);
	int e;

	if (t->type == VALUE_CPUS || t->type == VALUE_CPU_MASK || t->type == VALUE_WORD)
		return wrong_type(r, t, s);
	if (v < t->min || v > t->max)
		return out_of_range(r, t, s, v);
	(void)format_into(text, sizeof(text), "%lld", (long long)v);
	e = tunable_canonical(t, text, true, canonical, sizeof(canonical));
	if (e < 0)
		return out_of_range(r, t, s, v);
	ret->value = strdup(canonical);
	ret->kind = SETTING_VALUE;
	return ret->value ? 0 : -ENOMEM;
}

static int read_string(struct reader *r, const struct tunable *t, const config_setting_t *s,
		       struct profile_setting *ret)
{
	const char *text = config_setting_get_string(s);
	int e;

	if (streq(text, "leave"))
		return 0;
	if (!text_ok(text)) {
		reader_wrong(r, s, "%s holds a control character or broken UTF-8", t->id);
		return -EINVAL;
	}
	if (t->type == VALUE_CPUS || t->type == VALUE_CPU_MASK || t->type == VALUE_SCHED ||
	    (t->type == VALUE_NUMBER && !t->words))
		return wrong_type(r, t, s);
	e = read_words(r, t, s, &ret->value);
	if (e == 0)
		ret->kind = SETTING_VALUE;
	return e;
}

/* The short form: everything but on_foreign. RET is zero before. */
static int read_value(struct reader *r, const struct tunable *t, const config_setting_t *s,
		      struct profile_setting *ret)
{
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return read_number(r, t, s, ret);
	case CONFIG_TYPE_STRING:
		return read_string(r, t, s, ret);
	case CONFIG_TYPE_ARRAY:
	case CONFIG_TYPE_LIST:
		return read_range(r, t, s, ret);
	default:
		return wrong_type(r, t, s);
	}
}

static int set_value(struct reader *r, const struct tunable *t, const config_setting_t *s,
		     struct profile_setting *into)
{
	struct profile_setting read = {};
	int e;

	e = read_value(r, t, s, &read);
	if (e < 0)
		return e;
	e = origin_set(&into->origin, r, s);
	if (e < 0) {
		free(read.value);
		return e;
	}
	free(into->value);
	into->kind = read.kind;
	into->value = read.value;
	into->low = read.low;
	into->high = read.high;
	return 0;
}

int setting_read_value(struct reader *r, const struct tunable *t, const config_setting_t *s,
		       struct profile_setting *into)
{
	if (config_setting_type(s) == CONFIG_TYPE_GROUP)
		return wrong_type(r, t, s);
	return set_value(r, t, s, into);
}

int setting_read(struct reader *r, const struct tunable *t, const config_setting_t *s,
		 struct profile_setting *into, bool *ret_on_foreign)
{
	union schema_value on_foreign;
	bool have_on_foreign = false;
	const config_setting_t *value = NULL;
	unsigned bad = r->bad;

	if (config_setting_type(s) != CONFIG_TYPE_GROUP)
		return set_value(r, t, s, into);
	for (int i = 0; i < config_setting_length(s); i++) {
		const config_setting_t *m = config_setting_get_elem(s, (unsigned)i);
		int key = schema_find(r, PLACE_SETTING, m, NULL);

		if (key == -ENOMEM)
			return key;
		if (key == KEY_VALUE)
			value = m;
		else if (key == KEY_SETTING_ON_FOREIGN)
			have_on_foreign = schema_read(r, (enum key)key, m, &on_foreign) == 0;
	}
	if (config_setting_length(s) == 0)
		reader_wrong(r, s, "%s = { } says nothing: give value or on_foreign", t->id);
	if (have_on_foreign) {
		into->on_foreign = (enum on_foreign)on_foreign.word;
		*ret_on_foreign = true;
	}
	if (value) {
		int e = set_value(r, t, value, into);

		if (e < 0)
			return e;
	}
	return r->bad > bad ? -EINVAL : 0;
}
