/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/config-tree.h"

#include <check.h>
#include <stdio.h>

void config_tree_init(struct config_tree *t)
{
	static const char *const names[] = {"vendor", "run", "etc"};

	*t = (struct config_tree){.tree = tree_new()};
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		ck_assert_int_gt(asprintf(&t->path[i], "%s/%s", tree_path(t->tree), names[i]), 0);
		t->dirs[i] = t->path[i];
	}
}

void config_tree_done(struct config_tree *t)
{
	for (size_t i = 0; i < ELEMENTSOF(t->path); i++)
		free(t->path[i]);
	tree_free(t->tree);
	complaints_done(&t->complaints);
}

void config_tree_hush(struct config_tree *t)
{
	complaints_done(&t->complaints);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && streq(s + n - m, end);
}

static void show(const struct config_tree *t)
{
	for (unsigned i = 0; i < t->complaints.n; i++)
		printf("    %s:%u: %s\n", t->complaints.item[i].file ?: "-",
		       t->complaints.item[i].line, t->complaints.item[i].text);
}

void expect_complaint(const struct config_tree *t, const char *file, unsigned line,
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

void expect_silence(const struct config_tree *t)
{
	show(t);
	ck_assert_uint_eq(t->complaints.n + t->complaints.more, 0);
}
