/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ctl.h"

static void text(FILE *out, unsigned width _unused_, json_t *doc)
{
	fprintf(out, "softnetctl %s\n", json_string_value(json_object_get(doc, "softnetctl")));
}

int verb_version(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	json_t *doc = json_pack("{s:s}", "softnetctl", SOFTNETD_VERSION);
	int r;

	r = ctl_print(ctl, doc, text);
	json_decref(doc);
	return r;
}
