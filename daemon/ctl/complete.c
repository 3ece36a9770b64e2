/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete -- WORDS …: what may stand in place of the last of WORDS (those behind "softnetctl"), as
 * the tables of verbs, options and settings have it. One candidate a line, with a help text behind a
 * tab; or one line that says what the shell has to look for: ":files", ":directories", ":hosts",
 * ":command N" (a command, which began at the N-th of WORDS, counted from 0).
 */
#include "ctl/daemon.h"
#include "ctl/options.h"
#include "engine/describe.h"
#include "model/tunable.h"
#include "profile/profile-file.h"
#include "serve/decode-json.h"

/* The command line as far as it is typed. */
struct line {
	const char *current; /* what is to be completed; may be empty */
	const struct verb *verb;
	const char *word[2]; /* of the verb */
	unsigned n_words;
	bool words_only;    /* behind "--" */
	unsigned command;   /* where the command of `run` begins; 0: it has not begun */
	enum complete what; /* the argument of an option, or COMPLETE_NOTHING */
	bool argument;      /* … which is what stands there */
};

static void candidate(const struct line *l, const char *prefix, const char *word, const char *help)
{
	size_t n = strlen(prefix);

	if (strncmp(l->current, prefix, n) != 0 || !startswith(word, l->current + n))
		return;
	printf("%s%s%s%s\n", prefix, word, help && *help ? "\t" : "", help ?: "");
}

static void complete_names(const struct line *l, const char *prefix, const char *const *names)
{
	for (; names && *names; names++)
		candidate(l, prefix, *names, NULL);
}

static void complete_options(const struct line *l)
{
	char word[64];

	for (const struct option_row *o = ctl_options; o->name; o++) {
		if (l->verb && !option_fits(o, l->verb))
			continue;
		snprintf(word, sizeof(word), "--%s", o->name);
		candidate(l, "", word, o->help);
	}
}

static void complete_verbs(const struct line *l)
{
	for (const struct verb *v = ctl_verbs; v->name; v++)
		if (!v->hidden)
			candidate(l, "", v->name, v->help);
}

static void complete_targets(struct ctl *ctl, const struct line *l, const struct tunable *t)
{
	json_t *doc = NULL, *one;
	char prefix[64];
	size_t i;

	snprintf(prefix, sizeof(prefix), "%s@", t->id);
	if (settings_document(ctl, t->id, &doc) != CTL_FINE)
		return;
	json_array_foreach (doc, i, one) {
		const char *target = json_string_value(json_object_get(one, "target"));
		const char *name = json_string_value(json_object_get(one, "name"));

		if (target)
			candidate(l, prefix, target, name);
	}
	json_decref(doc);
}

static void complete_settings(struct ctl *ctl, const struct line *l)
{
	for (unsigned i = 0; i < _TUNABLE_MAX; i++) {
		const struct tunable *t = &tunables[i];
		size_t n = strlen(t->id);
		char word[64];

		if (startswith(l->current, t->id) && l->current[n] == '@' &&
		    t->scope != SCOPE_HOST) {
			complete_targets(ctl, l, t);
			return;
		}
		candidate(l, "", t->id, t->doc);
		if (t->scope == SCOPE_HOST)
			continue;
		snprintf(word, sizeof(word), "%s@", t->id);
		candidate(l, "", word, t->doc);
	}
}

static void complete_values(const struct line *l)
{
	const struct tunable *t;
	char setting[64];

	if (!l->word[0])
		return;
	snprintf(setting, sizeof(setting), "%.*s", (int)strcspn(l->word[0], "@"), l->word[0]);
	t = tunable_find(setting);
	if (t)
		complete_names(l, "", t->words ?: t->known);
}

static void complete_profiles(struct ctl *ctl, const struct line *l, const char *prefix)
{
	_cleanup_(strv_freep) char **names = NULL;
	const char *const *dirs = ctl_config_dirs(ctl);

	if (dirs && profile_list(dirs, &names) >= 0)
		complete_names(l, prefix, (const char *const *)names);
}

/* The strings KEY of the objects in ARRAY of the daemon's answer to METHOD; ARRAY NULL: the answer is
 * that array. */
static void complete_from_daemon(struct ctl *ctl, const struct line *l, const char *method,
				 const char *array, const char *key, const char *help)
{
	json_t *doc = NULL, *list, *one;
	size_t i;

	if (daemon_call(ctl, method, &doc, "") != CTL_FINE)
		return;
	list = array ? json_object_get(doc, array) : doc;
	json_array_foreach (list, i, one) {
		const char *id = json_string_value(json_object_get(one, key));

		if (id)
			candidate(l, "", id, json_string_value(json_object_get(one, help)));
	}
	json_decref(doc);
}

static void complete_profile_word(struct ctl *ctl, const struct line *l)
{
	const char *word = l->word[0] ?: "";

	if (streq(word, "check"))
		puts(":files");
	else if (streq(word, "show") || streq(word, "set"))
		complete_profiles(ctl, l, "");
}

/* PREFIX is what of the current word is there already and not part of it: "--profile=". */
static void complete(struct ctl *ctl, const struct line *l, enum complete what, const char *prefix)
{
	switch (what) {
	case COMPLETE_NOTHING:
	case COMPLETE_COMMAND:
		break;
	case COMPLETE_SETTING:
		complete_settings(ctl, l);
		break;
	case COMPLETE_VALUE:
		complete_values(l);
		break;
	case COMPLETE_PROFILE:
		complete_profiles(ctl, l, prefix);
		break;
	case COMPLETE_PROFILE_VERB:
		complete_names(l, "", profile_verbs);
		break;
	case COMPLETE_PROFILE_WORD:
		complete_profile_word(ctl, l);
		break;
	case COMPLETE_CHANGE:
		complete_from_daemon(ctl, l, "History", NULL, "id", "why");
		break;
	case COMPLETE_ADVICE:
		complete_from_daemon(ctl, l, "Describe", "advice", "id", "why");
		break;
	case COMPLETE_SILENCED:
		complete_from_daemon(ctl, l, "Describe", "silenced", "id", NULL);
		break;
	case COMPLETE_DUMP:
		complete_names(l, "", decode_kind_names);
		break;
	case COMPLETE_FILE:
		puts(":files");
		break;
	case COMPLETE_DIRECTORY:
		puts(":directories");
		break;
	case COMPLETE_HOST:
		puts(":hosts");
		break;
	}
}

/* The option that WORD begins with, and what stands behind its '=' or letter; NULL: nothing. */
static const struct option_row *find_option(const char *word, const char **ret_argument)
{
	const struct option_row *o;
	size_t n;

	*ret_argument = NULL;
	if (startswith(word, "--")) {
		n = strcspn(word + 2, "=");
		o = option_by_name(word + 2, n);
		if (word[2 + n])
			*ret_argument = word + 2 + n + 1;
		return o;
	}
	o = option_by_letter(word[1]);
	if (word[1] && word[2])
		*ret_argument = word + 2;
	return o;
}

/* An option among the words that are complete; whether the next word is its argument. */
static bool pass_option(struct ctl *ctl, const char *word, const char *next)
{
	const char *argument;
	const struct option_row *o = find_option(word, &argument);

	if (!o || !o->arg)
		return false;
	/* --root and its like decide where candidates are looked for. */
	(void)option_take(ctl, o->letter, argument ?: next);
	return !argument;
}

/* -EINVAL: nothing can be said about a line that begins so. */
static int read_line(struct ctl *ctl, int argc, char **argv, struct line *ret)
{
	struct line l = {.current = argv[argc - 1]};

	for (int i = 1; i < argc - 1; i++) {
		const char *word = argv[i], *unused;

		if (!l.words_only && word[0] == '-' && word[1]) {
			l.words_only = streq(word, "--");
			if (l.words_only || !pass_option(ctl, word, argv[i + 1]))
				continue;
			if (++i == argc - 1) {
				l.what = find_option(word, &unused)->complete;
				l.argument = true;
			}
		} else if (!l.verb) {
			l.verb = ctl_find_verb(word);
			if (!l.verb)
				return -EINVAL;
		} else if (l.verb->command && l.n_words == 1) {
			l.command = (unsigned)i;
			break;
		} else {
			if (l.n_words < ELEMENTSOF(l.word))
				l.word[l.n_words] = word;
			l.n_words++;
		}
	}
	*ret = l;
	return 0;
}

int verb_complete(struct ctl *ctl, int argc, char **argv)
{
	const char *argument;
	const struct option_row *o;
	struct line l;

	if (argc < 2 || read_line(ctl, argc, argv, &l) < 0)
		return CTL_FAILED;
	if (l.argument) {
		complete(ctl, &l, l.what, "");
	} else if (l.command) {
		printf(":command %u\n", l.command - 1);
	} else if (!l.words_only && l.current[0] == '-') {
		o = find_option(l.current, &argument);
		if (o && o->arg && argument && l.current[1] == '-') {
			char prefix[64];

			snprintf(prefix, sizeof(prefix), "--%s=", o->name);
			complete(ctl, &l, o->complete, prefix);
		} else {
			complete_options(&l);
		}
	} else if (!l.verb) {
		complete_verbs(&l);
	} else if (l.n_words < ELEMENTSOF(l.verb->complete)) {
		if (l.verb->complete[l.n_words] == COMPLETE_COMMAND)
			printf(":command %d\n", argc - 2);
		else
			complete(ctl, &l, l.verb->complete[l.n_words], "");
	}
	return CTL_FINE;
}
