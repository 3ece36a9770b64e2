/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/schema.h"

#include <math.h>
#include <stdio.h>

static const char *const on_stop_names[] = {"restore", "keep", NULL};

/*
 * A tick shorter than 100 ms would cost more than it could tell (counters are read from every CPU),
 * one longer than 10 s would see no onset, and come near the unit's WatchdogSec, which is fed from
 * the tick. The change budget ends where decide/ ends remembering changes.
 */
const struct schema_key schema[_KEY_MAX] = {
	[KEY_MODE] = {"mode", PLACE_CONFIG, KEY_WORD, .words = mode_names, .fallback = "apply"},
	[KEY_PROFILE] = {"profile", PLACE_CONFIG, KEY_TEXT, .fallback = "balanced"},
	[KEY_TICK] = {"tick", PLACE_CONFIG, KEY_SPAN, .min = 100 * USEC_PER_MSEC,
		      .max = 10 * USEC_PER_SEC, .fallback = "1s"},
	[KEY_SLOW_LOOK] = {"slow_look", PLACE_CONFIG, KEY_SPAN, .min = USEC_PER_SEC,
			   .max = 3600 * USEC_PER_SEC, .fallback = "10s"},
	[KEY_ON_STOP] = {"on_stop", PLACE_CONFIG, KEY_WORD, .words = on_stop_names,
			 .fallback = "restore"},
	[KEY_MAX_CHANGES_PER_HOUR] = {"max_changes_per_hour", PLACE_CONFIG, KEY_NUMBER, .min = 1,
				      .max = 64, .fallback = "30"},
	[KEY_MAX_MOVES_PER_ROUND] = {"max_moves_per_round", PLACE_CONFIG, KEY_NUMBER, .min = 1,
				     .max = 16, .fallback = "4"},
	[KEY_SILENCE] = {"silence", PLACE_CONFIG, KEY_IDS, .fallback = "[]"},

	[KEY_DESCRIPTION] = {"description", PLACE_PROFILE, KEY_TEXT},
	[KEY_INHERITS] = {"inherits", PLACE_PROFILE, KEY_TEXT},
	[KEY_ON_FOREIGN] = {"on_foreign", PLACE_PROFILE, KEY_WORD, .words = on_foreign_names,
			    .fallback = "yield"},
	[KEY_PLACEMENT] = {"placement", PLACE_PROFILE, KEY_WORD, .words = placement_names,
			   .fallback = "leave"},
	[KEY_NICS] = {"nics", PLACE_PROFILE, KEY_GROUPS},
	[KEY_PLACE_DESPITE_IRQBALANCE] = {"place_despite_irqbalance", PLACE_PROFILE, KEY_BOOL,
					  .fallback = "false"},
	[KEY_BUSY_POLL_UNITS] = {"busy_poll_units", PLACE_PROFILE, KEY_UNITS},
	[KEY_MATCH] = {"match", PLACE_PROFILE, KEY_GROUPS},
	[KEY_PRIORITY] = {"priority", PLACE_PROFILE, KEY_NUMBER, .min = 0, .max = 1000,
			  .fallback = "0"},
	[KEY_OBJECTIVE] = {"objective", PLACE_PROFILE, KEY_WORD, .words = objective_names,
			   .fallback = "symptom"},

	[KEY_NIC_MATCH] = {"match", PLACE_NIC, KEY_TEXT},
	[KEY_NIC_PLACEMENT] = {"placement", PLACE_NIC, KEY_WORD, .words = placement_names},
	[KEY_CPUS] = {"cpus", PLACE_NIC, KEY_CPU_LIST},
	[KEY_NEAR_CPUS] = {"near_cpus", PLACE_NIC, KEY_CPU_LIST},
	[KEY_NAPI_THREADS] = {"napi_threads", PLACE_NIC, KEY_WORD, .words = napi_threads_names},
	[KEY_RPS] = {"rps", PLACE_NIC, KEY_WORD, .words = rps_names},

	[KEY_UNIT] = {"unit", PLACE_MATCH, KEY_TEXT},
	/* More packets in a second than any host receives end the range. */
	[KEY_PACKET_RATE] = {"packet_rate", PLACE_MATCH, KEY_PAIR, .min = 1, .max = 1000000000},
	[KEY_KERNEL] = {"kernel", PLACE_MATCH, KEY_TEXT},

	[KEY_VALUE] = {"value", PLACE_SETTING, KEY_ANY},
	[KEY_SETTING_ON_FOREIGN] = {"on_foreign", PLACE_SETTING, KEY_WORD,
				    .words = on_foreign_names},
};

static bool setting_may_stand(enum place place, const struct tunable *t)
{
	/* CPUs of threads and queues are for napi_threads and rps to find, and for an admin to set.
	 */
	return place == PLACE_PROFILE || (place == PLACE_NIC && tunable_of_nic(t) &&
					  t->type != VALUE_CPUS && t->type != VALUE_CPU_MASK);
}

int schema_names(enum place place, const char ***ret)
{
	const char **names;
	size_t n = 0;

	names = calloc(_KEY_MAX + _TUNABLE_MAX + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < _KEY_MAX; i++)
		if (schema[i].place == place)
			names[n++] = schema[i].name;
	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		if (setting_may_stand(place, &tunables[i]))
			names[n++] = tunables[i].id;
	*ret = names;
	return 0;
}

static const char *const place_names[] = {
	[PLACE_CONFIG] = "softnetd.conf",
	[PLACE_PROFILE] = "a profile",
	[PLACE_NIC] = "an entry of nics",
	[PLACE_MATCH] = "an entry of match",
	[PLACE_SETTING] = "the long form of a setting",
};

int schema_find(struct reader *r, enum place place, const config_setting_t *s,
		const struct tunable **ret_tunable)
{
	const char *name = config_setting_name(s), *near;
	_cleanup_free_ const char **names = NULL;
	const struct tunable *t = tunable_find(name);
	int elsewhere = t ? PLACE_PROFILE : -1, e;

	if (t && setting_may_stand(place, t)) {
		*ret_tunable = t;
		return _KEY_MAX;
	}
	for (int i = 0; i < _KEY_MAX; i++)
		if (streq(schema[i].name, name)) {
			if (schema[i].place == place)
				return i;
			if (elsewhere < 0)
				elsewhere = (int)schema[i].place;
		}
	if (elsewhere >= 0) {
		reader_wrong(r, s, "%s has no key %s: it belongs into %s", place_names[place], name,
			     place_names[elsewhere]);
		return -EINVAL;
	}
	e = schema_names(place, &names);
	if (e < 0)
		return e;
	near = nearest_name(name, names);
	if (near) {
		reader_wrong(r, s, "%s has no key %.64s; did you mean %s?", place_names[place],
			     name, near);
		return -EINVAL;
	}
	reader_wrong(r, s, "%s has no key %.64s", place_names[place], name);
	return -EINVAL;
}

const char *setting_kind_name(const config_setting_t *s)
{
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_GROUP:
		return "a group";
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return "a number";
	case CONFIG_TYPE_FLOAT:
		return "a fraction";
	case CONFIG_TYPE_STRING:
		return "a string";
	case CONFIG_TYPE_BOOL:
		return "true or false";
	default:
		return "a list";
	}
}

/* How many bytes follow the lead byte C of a UTF-8 sequence, and the smallest code point that needs
 * them; -1 when C leads none. */
static int utf8_tail(unsigned char c, uint32_t *ret_code, uint32_t *ret_smallest)
{
	if (c < 0x80) {
		*ret_code = c;
		*ret_smallest = 0;
		return 0;
	}
	if (c >= 0xc0 && c < 0xe0) {
		*ret_code = c & 0x1f;
		*ret_smallest = 0x80;
		return 1;
	}
	if (c >= 0xe0 && c < 0xf0) {
		*ret_code = c & 0x0f;
		*ret_smallest = 0x800;
		return 2;
	}
	if (c >= 0xf0 && c < 0xf8) {
		*ret_code = c & 0x07;
		*ret_smallest = 0x10000;
		return 3;
	}
	return -1;
}

bool text_ok(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		uint32_t code, smallest;
		int n = utf8_tail(*p++, &code, &smallest);

		for (int i = 0; i < n; i++, p++) {
			if ((*p & 0xc0) != 0x80)
				return false;
			code = code << 6 | (*p & 0x3f);
		}
		/* C0 and C1 controls move a terminal's cursor; the rest is no character at all. */
		if (n < 0 || code < smallest || code < 0x20 || (code >= 0x7f && code < 0xa0) ||
		    (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
			return false;
	}
	return true;
}

const char *text_excerpt(const char *text, char *buf, size_t size)
{
	size_t n = strlen(text);

	if (n >= size) {
		n = size - 1;
		while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(buf, text, n);
	buf[n] = '\0';
	return buf;
}

/* "schedutil", "ondemand" or "powersave" */
static void list_words(const char *const *words, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; words[i] && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s\"%s\"",
				      i == 0         ? ""
				      : words[i + 1] ? ", "
						     : " or ",
				      words[i]);
}

static int find_word(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (streq(words[i], word))
			return i;
	return -EINVAL;
}

static const struct {
	const char *suffix;
	double usec;
} span_units[] = {
	{"ms", USEC_PER_MSEC},
	{"min", 60 * USEC_PER_SEC},
	{"s", USEC_PER_SEC},
	{"", USEC_PER_SEC},
};

/* "250ms", "1.5s", "2min"; a bare number is in seconds. Longer than a day is -EINVAL too, so that
 * the arithmetic stays exact. */
static int parse_span(const char *text, int64_t *ret)
{
	char *end;
	double v;

	/* strtod() would take "inf", "nan", "0x1p3" and signs as well. */
	if (strspn(text, "0123456789.") == 0)
		return -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	v = strtod(text, &end);
	if (end == text)
		return -EINVAL;
	while (is_blank(*end))
		end++;
	for (size_t i = 0; i < ELEMENTSOF(span_units); i++)
		if (streq(span_units[i].suffix, end)) {
			v *= span_units[i].usec;
			if (v > 86400.0 * USEC_PER_SEC)
				return -EINVAL;
			*ret = llround(v);
			return 0;
		}
	return -EINVAL;
}

static int read_span(struct reader *r, const struct schema_key *k, const config_setting_t *s,
		     int64_t *ret)
{
	int64_t usec;
	int e = -EINVAL;
	double v;

	if (config_setting_type(s) == CONFIG_TYPE_STRING) {
		e = parse_span(config_setting_get_string(s), &usec);
	} else if (config_setting_is_number(s)) {
		v = config_setting_type(s) == CONFIG_TYPE_FLOAT
			    ? config_setting_get_float(s)
			    : (double)config_setting_get_int64(s);
		if (v >= 0 && v <= 86400) {
			usec = llround(v * (double)USEC_PER_SEC);
			e = 0;
		}
	}
	if (e == 0 && usec >= k->min && usec <= k->max) {
		*ret = usec;
		return 0;
	}
	reader_wrong(r, s,
		     "%s expects a time from %gs to %gs: a number of seconds, or a string such as "
		     "\"250ms\", \"10s\", \"2min\"",
		     k->name, (double)k->min / (double)USEC_PER_SEC,
		     (double)k->max / (double)USEC_PER_SEC);
	return -EINVAL;
}

static int read_string(struct reader *r, const struct schema_key *k, const config_setting_t *s,
		       const char *expected, const char **ret)
{
	if (config_setting_type(s) != CONFIG_TYPE_STRING) {
		reader_wrong(r, s, "%s expects %s, not %s", k->name, expected,
			     setting_kind_name(s));
		return -EINVAL;
	}
	*ret = config_setting_get_string(s);
	if (!text_ok(*ret)) {
		reader_wrong(r, s, "%s holds a control character or broken UTF-8", k->name);
		return -EINVAL;
	}
	return 0;
}

static int read_word(struct reader *r, const struct schema_key *k, const config_setting_t *s,
		     int *ret)
{
	char expected[256], hint[128] = "", excerpt[EXCERPT_MAX];
	const char *text, *near;
	int e;

	list_words(k->words, expected, sizeof(expected));
	e = read_string(r, k, s, expected, &text);
	if (e < 0)
		return e;
	*ret = find_word(k->words, text);
	if (*ret >= 0)
		return 0;
	near = nearest_name(text, k->words);
	if (near)
		(void)format_into(hint, sizeof(hint), "; did you mean \"%s\"?", near);
	reader_wrong(r, s, "%s expects %s, not \"%s\"%s", k->name, expected,
		     text_excerpt(text, excerpt, sizeof(excerpt)), hint);
	return -EINVAL;
}

static int read_number(struct reader *r, const struct schema_key *k, const config_setting_t *s,
		       int64_t *ret)
{
	int type = config_setting_type(s);
	int64_t v = config_setting_get_int64(s);

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) {
		reader_wrong(r, s, "%s expects a whole number from %lld to %lld, not %s", k->name,
			     (long long)k->min, (long long)k->max, setting_kind_name(s));
		return -EINVAL;
	}
	if (v < k->min || v > k->max) {
		reader_wrong(r, s, "%s is %lld, outside %lld to %lld", k->name, (long long)v,
			     (long long)k->min, (long long)k->max);
		return -EINVAL;
	}
	*ret = v;
	return 0;
}

static int read_pair(struct reader *r, const struct schema_key *k, const config_setting_t *s,
		     int64_t ret[2])
{
	int type = config_setting_type(s);
	int64_t pair[2] = {0, 0};
	bool good = (type == CONFIG_TYPE_ARRAY || type == CONFIG_TYPE_LIST) &&
		    config_setting_length(s) == 2;

	for (unsigned i = 0; i < 2 && good; i++) {
		const config_setting_t *e = config_setting_get_elem(s, i);

		type = config_setting_type(e);
		pair[i] = config_setting_get_int64(e);
		good = (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64) &&
		       pair[i] >= k->min && pair[i] <= k->max;
	}
	if (good && pair[0] < pair[1]) {
		memcpy(ret, pair, sizeof(pair));
		return 0;
	}
	reader_wrong(r, s,
		     "%s expects [low, high]: two whole numbers from %lld to %lld, the first the "
		     "lower one",
		     k->name, (long long)k->min, (long long)k->max);
	return -EINVAL;
}

static int read_cpus(struct reader *r, const struct schema_key *k, const config_setting_t *s,
		     struct cpuset *ret)
{
	char excerpt[EXCERPT_MAX];
	const char *text;
	int e;

	e = read_string(r, k, s, "a string with a list of CPUs such as \"0-3,8\"", &text);
	if (e < 0)
		return e;
	e = cpuset_parse_list(text, ret);
	if (e == -ERANGE)
		reader_wrong(r, s, "%s names a CPU beyond %d", k->name, CPU_ID_MAX - 1);
	else if (e < 0)
		reader_wrong(r, s, "%s expects a list of CPUs such as \"0-3,8\", not \"%s\"",
			     k->name, text_excerpt(text, excerpt, sizeof(excerpt)));
	else if (cpuset_empty(ret))
		reader_wrong(r, s, "%s is empty: leave the key out to allow every CPU", k->name);
	else
		return 0;
	return -EINVAL;
}

int schema_read(struct reader *r, enum key key, const config_setting_t *s, union schema_value *ret)
{
	const struct schema_key *k = &schema[key];

	switch (k->type) {
	case KEY_TEXT:
		return read_string(r, k, s, "a string", &ret->text);
	case KEY_WORD:
		return read_word(r, k, s, &ret->word);
	case KEY_NUMBER:
		return read_number(r, k, s, &ret->number);
	case KEY_PAIR:
		return read_pair(r, k, s, ret->pair);
	case KEY_SPAN:
		return read_span(r, k, s, &ret->number);
	case KEY_CPU_LIST:
		return read_cpus(r, k, s, &ret->cpus);
	case KEY_BOOL:
		if (config_setting_type(s) == CONFIG_TYPE_BOOL) {
			ret->boolean = config_setting_get_bool(s);
			return 0;
		}
		reader_wrong(r, s, "%s expects true or false, not %s", k->name,
			     setting_kind_name(s));
		return -EINVAL;
	case KEY_IDS:
	case KEY_UNITS:
	case KEY_GROUPS:
	case KEY_ANY:
		break;
	}
	return -EINVAL;
}

union schema_value schema_fallback(enum key key)
{
	const struct schema_key *k = &schema[key];
	union schema_value v = {};

	switch (k->type) {
	case KEY_TEXT:
		v.text = k->fallback;
		break;
	case KEY_WORD:
		v.word = find_word(k->words, k->fallback);
		break;
	case KEY_NUMBER:
		(void)parse_i64(k->fallback, &v.number);
		break;
	case KEY_SPAN:
		(void)parse_span(k->fallback, &v.number);
		break;
	default:
		break;
	}
	return v;
}

int origin_set(struct origin *o, const struct reader *r, const config_setting_t *s)
{
	char *file = strdup(r->path);

	if (!file)
		return -ENOMEM;
	free(o->file);
	*o = (struct origin){.file = file, .line = config_setting_source_line(s)};
	return 0;
}
