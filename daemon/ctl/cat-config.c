/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cat-config [PROFILE …]: the configuration files that count, one after the other, each behind a
 * comment with its path. */

#include "ctl/daemon.h"
#include "engine/describe-parts.h"
#include "engine/describe.h"
#include "profile/profile-file.h"
#include "serve/show.h"

static void show_files(FILE *out, unsigned width _unused_, json_t *doc)
{
	json_t *one;
	size_t i;

	json_array_foreach (doc, i, one) {
		const char *text = json_string_value(json_object_get(one, "text")) ?: "";
		size_t n = strlen(text);

		fprintf(out, "%s# %s\n%s%s", i > 0 ? "\n" : "",
			json_string_value(json_object_get(one, "file")), text,
			n > 0 && text[n - 1] != '\n' ? "\n" : "");
	}
}

/* Files of the configuration are this host's, also with --root. */
static int add_file(struct io *host, json_t *list, const char *path)
{
	_cleanup_free_ char *absolute = realpath(path, NULL), *text = NULL;
	size_t size;
	int r;

	if (!absolute)
		return ctl_fail(CTL_FAILED, "Cannot read %s: %s", path, strerror(errno));
	r = io_read_all(host, absolute + 1, &text, &size);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot read %s: %s", path, strerror(-r));
	json_array_append_new(list,
			      json_pack("{s:s, s:o}", "file", path, "text", text_or_null(text)));
	return CTL_FINE;
}

/* PROFILE NULL: softnetd.conf. What is wrong with a file is said, and the others are shown. */
static int add_files(struct ctl *ctl, struct io *host, json_t *list, const char *profile)
{
	_cleanup_(strv_freep) char **files = NULL;
	struct complaints complaints = {};
	int r, result = CTL_FINE, k;

	r = config_files(ctl_config_dirs(ctl), profile, &files, &complaints);
	if (complaints.n > 0) {
		json_t *what = describe_complaints(&complaints, NULL);

		fflush(stdout);
		show_complaints(stderr, 0, what);
		json_decref(what);
		result = CTL_FAILED;
	} else if (r < 0) {
		result = ctl_fail(CTL_FAILED, "Cannot find the files: %s", strerror(-r));
	}
	complaints_done(&complaints);
	for (char **file = files; file && *file; file++) {
		k = add_file(host, list, *file);
		if (k != CTL_FINE)
			result = k;
	}
	return result;
}

/* The profile in force, or, without a daemon, the one that the configuration names. */
static int default_profile(struct ctl *ctl, char **ret)
{
	struct complaints complaints = {};
	struct config config = {};
	int r;

	if (daemon_runs(ctl))
		return daemon_property(ctl, "Profile", ret);
	r = config_load(ctl_config_dirs(ctl), &config, &complaints);
	complaints_done(&complaints);
	/* What is wrong with it was said when its files were listed, or is checked at start. */
	if (r >= 0)
		*ret = strdup(config.profile);
	config_done(&config);
	return r >= 0 && !*ret ? ctl_fail(CTL_FAILED, "Out of memory") : CTL_FINE;
}

int verb_cat_config(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(io_freep) struct io *host = NULL;
	_cleanup_free_ char *profile = NULL;
	json_t *list;
	int r = CTL_FINE, k;

	if (!ctl_config_dirs(ctl))
		return CTL_FAILED;
	k = io_new(NULL, &host);
	if (k < 0)
		return ctl_fail(CTL_FAILED, "Cannot open /: %s", strerror(-k));
	list = json_array();
	if (argc < 2) {
		r = add_files(ctl, host, list, NULL);
		k = default_profile(ctl, &profile);
		if (k == CTL_FINE && profile && *profile)
			k = add_files(ctl, host, list, profile);
		if (k != CTL_FINE)
			r = k;
	}
	for (int i = 1; i < argc; i++) {
		k = add_files(ctl, host, list, argv[i]);
		if (k != CTL_FINE)
			r = k;
	}
	k = ctl_print(ctl, list, show_files);
	json_decref(list);
	return r != CTL_FINE ? r : k;
}
