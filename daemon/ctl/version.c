/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/daemon.h"

static void text(FILE *out, unsigned width _unused_, json_t *doc)
{
	const char *daemon = json_string_value(json_object_get(doc, "softnetd"));

	fprintf(out, "softnetctl %s\n", json_string_value(json_object_get(doc, "softnetctl")));
	fprintf(out, "softnetd %s\n", daemon ? daemon : "is not running");
}

int verb_version(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	_cleanup_free_ char *daemon = NULL;
	json_t *doc;
	int r;

	if (daemon_runs(ctl)) {
		r = daemon_property(ctl, "Version", &daemon);
		if (r != CTL_FINE)
			return r;
	}
	doc = json_pack("{s:s, s:s?}", "softnetctl", SOFTNETD_VERSION, "softnetd", daemon);
	r = ctl_print(ctl, doc, text);
	json_decref(doc);
	return r;
}
