/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status, history, explain, silence, reload: what only a running daemon can answer. */
#include "ctl/daemon.h"
#include "serve/show.h"

int verb_status(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	json_t *doc = NULL;
	int r;

	r = daemon_call(ctl, "Describe", &doc, "");
	if (r == CTL_NO_DAEMON)
		fputs("\"softnetctl diagnose\" looks at this host without it.\n", stderr);
	if (r != CTL_FINE)
		return r;
	r = ctl_print(ctl, doc, show_status);
	json_decref(doc);
	return r;
}

int verb_history(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	json_t *doc = NULL;
	int r;

	r = daemon_call(ctl, "History", &doc, "");
	if (r != CTL_FINE)
		return r;
	while (ctl->lines > 0 && json_array_size(doc) > ctl->lines)
		json_array_remove(doc, 0);
	r = ctl_print(ctl, doc, show_history);
	json_decref(doc);
	return r;
}

int verb_explain(struct ctl *ctl, int argc, char **argv)
{
	json_t *doc = NULL;
	int r;

	r = daemon_call(ctl, "Explain", &doc, "s", argc > 1 ? argv[1] : "");
	if (r != CTL_FINE)
		return r;
	r = ctl_print(ctl, doc, show_explanation);
	json_decref(doc);
	return r;
}

static void silenced(FILE *out, unsigned width _unused_, json_t *doc)
{
	fprintf(out, "%s is %s.\n", json_string_value(json_object_get(doc, "id")),
		json_is_true(json_object_get(doc, "silenced")) ? "silenced" : "said again");
}

static int set_silence(struct ctl *ctl, const char *id, bool on)
{
	json_t *doc;
	int r;

	r = daemon_call(ctl, on ? "Silence" : "Unsilence", NULL, "s", id);
	if (r != CTL_FINE)
		return r;
	doc = json_pack("{s:s, s:b}", "id", id, "silenced", on);
	r = ctl_print(ctl, doc, silenced);
	json_decref(doc);
	return r;
}

int verb_silence(struct ctl *ctl, int argc _unused_, char **argv)
{
	return set_silence(ctl, argv[1], true);
}

int verb_unsilence(struct ctl *ctl, int argc _unused_, char **argv)
{
	return set_silence(ctl, argv[1], false);
}

static void reloaded(FILE *out, unsigned width _unused_, json_t *doc)
{
	fprintf(out, "Profile %s is in force.\n",
		json_string_value(json_object_get(doc, "profile")));
}

/* Says which profile is in force now: after reload and `profile set`. */
int print_profile_in_force(struct ctl *ctl)
{
	_cleanup_free_ char *profile = NULL;
	json_t *doc;
	int r;

	r = daemon_property(ctl, "Profile", &profile);
	if (r != CTL_FINE)
		return r;
	doc = json_pack("{s:s}", "profile", profile);
	r = ctl_print(ctl, doc, reloaded);
	json_decref(doc);
	return r;
}

int verb_reload(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	int r;

	r = daemon_call(ctl, "Reload", NULL, "");
	return r == CTL_FINE ? print_profile_in_force(ctl) : r;
}
