/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of every test program: runs a suite of one case and gives main()'s result. */
#pragma once

#include <check.h>

static inline int run_suite(const char *name, TCase *t)
{
	Suite *s = suite_create(name);
	SRunner *runner;
	int failed;

	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
