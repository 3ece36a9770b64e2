/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three configuration directories in a temporary tree, "vendor", "run" and "etc", and what was said
 * about their files. All in the header, as lib/run.h, since only programs of Check can use it.
 */
#pragma once

#include <check.h>
#include <stdio.h>

#include "base/complaint.h"
#include "lib/tree.h"

struct config_tree {
	struct tree *tree;
	char *path[3];
	const char *dirs[4]; /* for config_load() and profile_load() */
	struct complaints complaints;
};

static inline void config_tree_init(struct config_tree *t)
{
	static const char *const names[] = {"vendor", "run", "etc"};

	*t = (struct config_tree){.tree = tree_new()};
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		ck_assert_int_gt(asprintf(&t->path[i], "%s/%s", tree_path(t->tree), names[i]), 0);
		t->dirs[i] = t->path[i];
	}
}

static inline void config_tree_done(struct config_tree *t)
{
	for (size_t i = 0; i < ELEMENTSOF(t->path); i++)
		free(t->path[i]);
	tree_free(t->tree);
	complaints_done(&t->complaints);
}

/* Forgets what was said. */
static inline void config_tree_hush(struct config_tree *t)
{
	complaints_done(&t->complaints);
}

static inline bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && streq(s + n - m, end);
}

static inline void show(const struct config_tree *t)
{
	for (unsigned i = 0; i < t->complaints.n; i++)
		printf("    %s:%u: %s\n", t->complaints.item[i].file ?: "-",
		       t->complaints.item[i].line, t->complaints.item[i].text);
}

/* Ends the test with what was said instead unless a complaint at FILE (the end of its path; NULL:
 * no file) and LINE has TEXT in it. */
static inline void expect_complaint(const struct config_tree *t, const char *file, unsigned line,
				    const char *text)
{
	for (unsigned i = 0; i < t->complaints.n; i++) {
		const struct complaint *c = &t->complaints.item[i];

		if ((file ? c->file && ends_with(c->file, file) : !c->file) && c->line == line &&
		    strstr(c->text, text))
			return;
	}
	show(t);
	ck_abort_msg("nothing said \"%s\" about line %u of %s", text, line, file ?: "no file");
}

/* Ends the test with what was said unless it was nothing. */
static inline void expect_silence(const struct config_tree *t)
{
	show(t);
	ck_assert_uint_eq(t->complaints.n + t->complaints.more, 0);
}
