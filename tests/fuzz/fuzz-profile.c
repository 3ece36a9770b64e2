/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration file from anywhere: as a profile and as softnetd.conf. Nothing is read from disk.
 */
#include "fuzz/fuzz.h"
#include "profile/profile-file.h"
#include "profile/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* The scanner of libconfig 1.5 loses the string it has just read when a syntax error follows it.
 * What config_destroy() frees is allocated elsewhere: no leak of our own hides behind these lines.
 */
const char *__lsan_default_suppressions(void)
{
	return "leak:strbuf_append\n"
	       "leak:libconfig_yylex\n";
}

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static void check_setting(const struct tunable *t, const struct profile_setting *s)
{
	char canonical[VALUE_MAX];

	switch (s->kind) {
	case SETTING_LEAVE:
		HOLDS(!s->value);
		break;
	case SETTING_VALUE:
		/* A word list is canonical too: its words are. */
		HOLDS(s->value && s->origin.file && s->origin.line > 0);
		HOLDS(tunable_canonical(t, s->value, true, canonical, sizeof(canonical)) == 0);
		HOLDS(streq(canonical, s->value));
		break;
	case SETTING_RANGE:
		HOLDS(!s->value && s->origin.file && s->origin.line > 0);
		HOLDS(t->min <= s->low && s->low < s->high && s->high <= t->max);
		break;
	}
}

static void check_profile(const struct profile *p)
{
	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		check_setting(&tunables[i], &p->setting[i]);
	for (size_t i = 0; i < p->n_nics; i++) {
		HOLDS(p->nic[i].match && *p->nic[i].match && text_ok(p->nic[i].match));
		HOLDS(!p->nic[i].has_cpus || !cpuset_empty(&p->nic[i].cpus));
	}
	HOLDS(!p->description || text_ok(p->description));
}

static void check_config(const struct config *c)
{
	HOLDS(c->profile && streq(c->profile, "balanced")); /* no other is there to be named */
	HOLDS(c->tick_usec >= 100 * USEC_PER_MSEC && c->tick_usec <= 10 * USEC_PER_SEC);
	HOLDS(c->slow_look_usec >= USEC_PER_SEC && c->slow_look_usec <= 3600 * USEC_PER_SEC);
	HOLDS(c->max_changes_per_hour >= 1 && c->max_moves_per_round >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const nowhere[] = {NULL};
	struct config untouched, config;
	struct complaints c = {};
	struct profile *p = NULL;
	char *text = malloc(size + 1);
	int r;

	HOLDS(text);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';

	r = profile_load_text(nowhere, "fuzz.conf", text, size, &p, &c);
	if (r == 0) {
		HOLDS(c.n == 0 && c.more == 0);
		check_profile(p);
		profile_free(p);
	} else {
		HOLDS(!p && c.n > 0);
	}
	complaints_done(&c);

	memset(&untouched, 0x5a, sizeof(untouched));
	memcpy(&config, &untouched, sizeof(config));
	r = config_load_text(nowhere, "fuzz.conf", text, size, &config, &c);
	if (r == 0) {
		HOLDS(c.n == 0 && c.more == 0);
		check_config(&config);
		config_done(&config);
	} else {
		HOLDS(memcmp(&untouched, &config, sizeof(config)) == 0 && c.n > 0);
	}
	for (unsigned i = 0; i < c.n; i++)
		HOLDS(text_ok(c.item[i].text)); /* goes to terminals and into JSON */
	complaints_done(&c);
	free(text);
	return 0;
}
