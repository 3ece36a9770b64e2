/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An I/O seam on a handful of files in memory, for fuzz targets: reading gives what was put in, whatever
 * is stored or written is taken, kept under its path and may be read again. A name that nobody put in
 * is not there.
 */
#pragma once

#include "base/io.h"

#define FILES_MAX 16

struct files {
	struct io io;
	struct {
		char path[128];
		int fd; /* of memory */
	} file[FILES_MAX];
	unsigned n;
	unsigned stored; /* values given to kernel files */
};

void files_init(struct files *f);
void files_done(struct files *f);
/* Makes or replaces a file. */
void files_put(struct files *f, const char *path, const void *data, size_t size);
/* NULL when there is no such file; the caller frees. */
char *files_get(struct files *f, const char *path, size_t *ret_size);
