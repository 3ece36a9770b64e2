/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A captured tree in a temporary directory: files, links and modes as a test wants them. What a
 * test cannot set up it cannot test, so every call here ends the program with a message when it
 * fails.
 *
 * Paths are relative to the tree ("proc/net/softnet_stat"); missing directories on the way are
 * made. Files are rewritten in place: a descriptor that is open sees the new content at its next
 * read, as with a kernel file.
 */
#pragma once

#include "base/io.h"

struct tree;

/* Under $TMPDIR, else /tmp. */
struct tree *tree_new(void);
/* Removes everything. */
void tree_free(struct tree *t);
DEFINE_CLEANUP(struct tree *, tree_free);

/* The directory's absolute path, for --root. */
const char *tree_path(const struct tree *t);
/* An I/O seam on this tree. The caller frees it. */
struct io *tree_io(const struct tree *t);

void tree_write(struct tree *t, const char *path, const char *text);
void tree_printf(struct tree *t, const char *path, const char *fmt, ...) _printf_(3, 4);
void tree_bytes(struct tree *t, const char *path, const void *data, size_t size);
/* Adds at the end, as a log grows. */
void tree_append(struct tree *t, const char *path, const char *text);
void tree_link(struct tree *t, const char *path, const char *target);
void tree_mkdir(struct tree *t, const char *path);
void tree_mode(struct tree *t, const char *path, mode_t mode);
/* A file, link or whole directory; one that is not there is fine. */
void tree_remove(struct tree *t, const char *path);
/* A file's content with blanks and newlines at both ends cut; the caller frees. */
char *tree_read(const struct tree *t, const char *path);
bool tree_has(const struct tree *t, const char *path);
/* All regular files, sorted, ending with NULL; the caller frees with strv_free(). */
char **tree_files(const struct tree *t);
