/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs that were built together with this test. */
#pragma once

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The path of NAME beside the folder of the running test, build/tests/; NULL when it cannot be found
 * out. The caller frees. */
static inline char *program_path(const char *name)
{
	char self[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return NULL;
	self[n] = '\0';
	return asprintf(&path, "%s/%s", dirname(dirname(self)), name) < 0 ? NULL : path;
}
