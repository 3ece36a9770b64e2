/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * systemd's .link files and their drop-ins: no input crashes the reader, and each claim has a file, a
 * line that this file has, a key and a value without control characters that a terminal would obey. What
 * stands behind the first NUL byte is the drop-in.
 */
#include "fuzz/fuzz.h"
#include "lib/tree.h"
#include "observe/link-files.h"

#define LINK    "etc/systemd/network/10-a.link"
#define DROP_IN "etc/systemd/network/10-a.link.d/50.conf"

static unsigned lines_of(const void *text, size_t size)
{
	const char *at = text, *end = at + size;
	unsigned n = 1;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		n++;
	}
	return n;
}

static void check(const struct link_claim *c, unsigned lines, unsigned drop_in_lines)
{
	must(c->key && *c->key && c->of && *c->of);
	must(streq(c->file, "/" LINK) || streq(c->file, "/" DROP_IN));
	must(c->line > 0 && c->line <= (streq(c->file, "/" LINK) ? lines : drop_in_lines));
	for (const char *v = c->value; *v; v++)
		must((unsigned char)*v >= ' ' && *v != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tree *tree;
	static struct io *io;
	struct link_claims claims = {};
	const uint8_t *cut = size > 0 ? memchr(data, '\0', size) : NULL;
	size_t first = cut ? (size_t)(cut - data) : size, rest = cut ? size - first - 1 : 0;

	if (!tree) {
		tree = tree_new();
		io = tree_io(tree);
	}
	tree_bytes(tree, LINK, data, first);
	if (cut)
		tree_bytes(tree, DROP_IN, cut + 1, rest);
	else
		tree_remove(tree, DROP_IN);
	must(link_claims_read(io, &claims) == 0);
	for (size_t i = 0; i < claims.n; i++)
		check(&claims.claim[i], lines_of(data, first), cut ? lines_of(cut + 1, rest) : 0);
	link_claims_done(&claims);
	return 0;
}
