/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile list | show NAME | check FILE | set NAME | clear */
#include "ctl/daemon.h"
#include "engine/describe.h"
#include "profile/profile-file.h"
#include "serve/show.h"

static int profile_list_verb(struct ctl *ctl, const char *name _unused_)
{
	json_t *doc = NULL;
	int r = CTL_FINE;

	if (daemon_runs(ctl))
		r = daemon_call(ctl, "DescribeProfiles", &doc, "");
	else
		doc = describe_profiles(ctl_config_dirs(ctl), NULL);
	if (r != CTL_FINE)
		return r;
	if (json_array_size(doc) == 0)
		ctl_fail(CTL_FINE, "No profiles found (softnetd is not installed? "
				   "--config-dir says where else to look)");
	r = ctl_print(ctl, doc, show_profiles);
	json_decref(doc);
	return r;
}

/* A profile, or what is wrong with it: then CTL_FAILED. */
static int print_profile(struct ctl *ctl, json_t *doc)
{
	json_t *complaints = json_object_get(doc, "complaints");
	int r;

	if (json_array_size(complaints) == 0)
		return ctl_print(ctl, doc, show_profile);
	if (!ctl->json) {
		show_complaints(stderr, 0, complaints);
		return CTL_FAILED;
	}
	r = ctl_print(ctl, doc, show_profile);
	return r == CTL_FINE ? CTL_FAILED : r;
}

static int profile_show_verb(struct ctl *ctl, const char *name)
{
	json_t *doc = NULL;
	int r = CTL_FINE;

	if (daemon_runs(ctl))
		r = daemon_call(ctl, "DescribeProfile", &doc, "s", name);
	else
		doc = describe_profile_named(ctl_config_dirs(ctl), name);
	if (r == CTL_FINE)
		r = print_profile(ctl, doc);
	json_decref(doc);
	return r;
}

static void checked(FILE *out, unsigned width _unused_, json_t *doc)
{
	fprintf(out, "%s is a good profile.\n",
		json_string_value(json_object_get(doc, "file")) ?: "It");
}

static int profile_check_verb(struct ctl *ctl, const char *file)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct complaints complaints = {};
	json_t *doc;
	int r;

	if (ctl->host || ctl->machine)
		return ctl_usage(ctl, "profile check reads a file of this host");
	r = profile_load_file(ctl_config_dirs(ctl), file, &p, &complaints);
	doc = json_pack("{s:s, s:b, s:o}", "file", file, "good", r >= 0, "complaints",
			describe_complaints(&complaints, file));
	if (r >= 0) {
		r = ctl_print(ctl, doc, checked);
	} else {
		if (ctl->json)
			ctl_print(ctl, doc, checked);
		else if (complaints.n > 0)
			show_complaints(stderr, 0, json_object_get(doc, "complaints"));
		else
			ctl_fail(CTL_FAILED, "%s: %s", file, strerror(-r));
		r = CTL_FAILED;
	}
	json_decref(doc);
	complaints_done(&complaints);
	return r;
}

static int profile_set_verb(struct ctl *ctl, const char *name)
{
	int r;

	r = daemon_call(ctl, "SetProfile", NULL, "s", name);
	return r == CTL_FINE ? print_profile_in_force(ctl) : r;
}

static int profile_clear_verb(struct ctl *ctl, const char *name _unused_)
{
	int r;

	r = daemon_call(ctl, "ClearProfile", NULL, "");
	return r == CTL_FINE ? print_profile_in_force(ctl) : r;
}

const char *const profile_verbs[] = {"list", "show", "check", "set", "clear", NULL};

int verb_profile(struct ctl *ctl, int argc, char **argv)
{
	static const struct {
		const char *name, *word;
		int (*run)(struct ctl *ctl, const char *word);
	} subs[] = {
		{"list", NULL, profile_list_verb},     {"show", "NAME", profile_show_verb},
		{"check", "FILE", profile_check_verb}, {"set", "NAME", profile_set_verb},
		{"clear", NULL, profile_clear_verb},
	};
	const char *near;

	if (!ctl_config_dirs(ctl))
		return CTL_FAILED;
	for (size_t i = 0; i < ELEMENTSOF(subs); i++) {
		if (!streq(argv[1], subs[i].name))
			continue;
		if (subs[i].word && argc < 3)
			return ctl_usage(ctl, "profile %s wants %s", argv[1], subs[i].word);
		if (!subs[i].word && argc > 2)
			return ctl_usage(ctl, "profile %s: too many words, from \"%s\" on", argv[1],
					 argv[2]);
		return subs[i].run(ctl, argc > 2 ? argv[2] : NULL);
	}
	near = nearest_name(argv[1], profile_verbs);
	return ctl_usage(ctl, "No \"profile %s\"%s%s%s", argv[1], near ? "; did you mean \"" : "",
			 near ?: "", near ? "\"?" : "");
}
