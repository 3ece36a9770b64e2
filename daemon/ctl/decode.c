/* SPDX-License-Identifier: GPL-2.0-or-later */
/* softnetctl decode KIND FILE|-: explains a dump that someone pasted. Needs no daemon and no root.
 */
#include "ctl/ctl.h"

#include <fcntl.h>
#include <unistd.h>

#include "serve/decode-json.h"
#include "serve/show-decode.h"

#define DUMP_MAX (64U << 20)

/* The whole of a file the user named; "-" is stdin. Returns 0 or a negative errno. */
static int read_dump(const char *path, char **ret, size_t *ret_size)
{
	_cleanup_close_ int opened = -1;
	_cleanup_free_ char *text = NULL;
	size_t room = 0, used = 0;
	int fd = STDIN_FILENO;

	if (!streq(path, "-")) {
		opened = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
		if (opened < 0)
			return -errno;
		fd = opened;
	}
	for (;;) {
		ssize_t n;

		if (used == room) {
			char *more;

			if (room == DUMP_MAX)
				return -EFBIG;
			room = MAX(2 * room, (size_t)65536);
			more = realloc(text, room);
			if (!more)
				return -ENOMEM;
			text = more;
		}
		n = read(fd, text + used, room - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	*ret = TAKE_PTR(text);
	*ret_size = used;
	return 0;
}

/* A log without a line that we look for is a good one; a table without a row is none. */
static bool is_table(enum decode_kind kind, const json_t *doc)
{
	static const char *const rows[_DECODE_KIND_MAX] = {
		[DECODE_SOFTNET_STAT] = "cpus",
		[DECODE_SOFTIRQS] = "vectors",
		[DECODE_INTERRUPTS] = "irqs",
	};
	const json_t *found = rows[kind] ? json_object_get(doc, rows[kind]) : NULL;

	return !rows[kind] || json_array_size(found) > 0 || json_object_size(found) > 0;
}

int verb_decode(struct ctl *ctl, int argc _unused_, char **argv)
{
	_cleanup_free_ char *text = NULL;
	enum decode_kind kind = 0;
	const char *name = streq(argv[2], "-") ? "the standard input" : argv[2];
	json_t *doc;
	size_t size = 0;
	int r;

	while (kind < _DECODE_KIND_MAX && !streq(argv[1], decode_kind_names[kind]))
		kind++;
	if (kind == _DECODE_KIND_MAX) {
		const char *near = nearest_name(argv[1], decode_kind_names);

		return ctl_usage(ctl,
				 "\"%s\" is no kind of dump (softnet-stat, softirqs, interrupts, "
				 "kmsg)%s%s%s",
				 argv[1], near ? "; did you mean \"" : "", near ?: "",
				 near ? "\"?" : "");
	}
	r = read_dump(argv[2], &text, &size);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot read %s: %s", name, strerror(-r));
	doc = decode_json(kind, text, size);
	r = ctl_print(ctl, doc, show_decode);
	if (r == CTL_FINE && !is_table(kind, doc))
		r = ctl_fail(
			CTL_FAILED,
			"No row of %s can be read as %s: another file, or broken by a terminal or mail?",
			name, decode_kind_names[kind]);
	json_decref(doc);
	return r;
}
