/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three configuration directories in a temporary tree, "vendor", "run" and "etc", and what was said
 * about their files. */
#pragma once

#include "base/complaint.h"
#include "lib/tree.h"

struct config_tree {
	struct tree *tree;
	char *path[3];
	const char *dirs[4]; /* for config_load() and profile_load() */
	struct complaints complaints;
};

void config_tree_init(struct config_tree *t);
void config_tree_done(struct config_tree *t);
/* Forgets what was said. */
void config_tree_hush(struct config_tree *t);

/* Ends the test with what was said instead unless a complaint at FILE (the end of its path; NULL:
 * no file) and LINE has TEXT in it. */
void expect_complaint(const struct config_tree *t, const char *file, unsigned line,
		      const char *text);
/* Ends the test with what was said unless it was nothing. */
void expect_silence(const struct config_tree *t);
