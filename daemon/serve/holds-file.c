/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/holds-file.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/scan.h"

#define HOLDS_FILE    "run/softnetd/holds.json"
#define HOLDS_NEW     "run/softnetd/holds.json.new"
#define HOLDS_VERSION 1
#define HOLDS_SIZE    ((size_t)256 * 1024) /* of 64 holds with the longest reasons: a tenth */

void kept_holds_done(struct kept_holds *h)
{
	for (size_t i = 0; i < h->n; i++) {
		free(h->hold[i].profile);
		free(h->hold[i].reason);
	}
	free(h->hold);
	*h = (struct kept_holds){};
}

int kept_holds_add(struct kept_holds *h, pid_t pid, uint64_t start, const char *profile,
		   const char *reason)
{
	struct kept_hold *more = reallocarray(h->hold, h->n + 1, sizeof(*more)), one;

	if (!more)
		return -ENOMEM;
	h->hold = more;
	one = (struct kept_hold){pid, start, strdup(profile), strdup(reason)};
	if (!one.profile || !one.reason) {
		free(one.profile);
		free(one.reason);
		return -ENOMEM;
	}
	more[h->n++] = one;
	return 0;
}

static int read_boot_id(struct io *io, char *buf, size_t size)
{
	int r = io_read_line(io, "proc/sys/kernel/random/boot_id", buf, size);

	return r == -ENOENT || (r >= 0 && !*buf) ? -ENOMEDIUM : MIN(r, 0);
}

static int to_text(const struct kept_holds *h, const char *boot_id, char **ret)
{
	json_t *root = json_object(), *holds = json_array();
	bool failed = json_object_set_new(root, "version", json_integer(HOLDS_VERSION)) < 0 ||
		      json_object_set_new(root, "boot_id", json_string(boot_id)) < 0;

	for (size_t i = 0; i < h->n && !failed; i++)
		failed = json_array_append_new(holds, json_pack("{s:I,s:I,s:s,s:s}", "pid",
								(json_int_t)h->hold[i].pid, "start",
								(json_int_t)h->hold[i].start,
								"profile", h->hold[i].profile,
								"reason", h->hold[i].reason)) < 0;
	failed |= json_object_set(root, "holds", holds) < 0;
	*ret = failed ? NULL : json_dumps(root, JSON_INDENT(1));
	json_decref(holds);
	json_decref(root);
	return *ret ? 0 : -ENOMEM;
}

int kept_holds_write(struct io *io, const struct kept_holds *h)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	char boot_id[64];
	int r;

	if (h->n == 0) {
		r = io->ops->unlink(io, HOLDS_FILE);
		return r == -ENOENT ? 0 : r;
	}
	r = read_boot_id(io, boot_id, sizeof(boot_id));
	if (r >= 0)
		r = to_text(h, boot_id, &text);
	if (r < 0)
		return r;
	fd = io->ops->open(io, HOLDS_NEW, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return fd;
	/* /run does not outlive the power, so nothing is gained by waiting for a disk. */
	r = io->ops->write(io, fd, text, strlen(text));
	if (r >= 0)
		r = io->ops->rename(io, HOLDS_NEW, HOLDS_FILE);
	if (r < 0)
		(void)io->ops->unlink(io, HOLDS_NEW);
	return r;
}

static int read_hold(json_t *d, struct kept_holds *ret)
{
	const char *profile, *reason;
	json_int_t pid, start;

	if (json_unpack(d, "{s:I,s:I,s:s,s:s}", "pid", &pid, "start", &start, "profile", &profile,
			"reason", &reason) < 0 ||
	    pid < 1 || pid > INT32_MAX || start < 0)
		return -EBADMSG;
	return kept_holds_add(ret, (pid_t)pid, (uint64_t)start, profile, reason);
}

static int read_root(json_t *root, const char *boot_id, struct kept_holds *ret)
{
	const char *other;
	json_t *holds;
	int version, r = 0;

	if (json_unpack(root, "{s:i,s:s,s:o}", "version", &version, "boot_id", &other, "holds",
			&holds) < 0 ||
	    version != HOLDS_VERSION || !json_is_array(holds) ||
	    json_array_size(holds) > KEPT_HOLDS_MAX)
		return -EBADMSG;
	if (!streq(boot_id, other))
		return -ESTALE;
	for (size_t i = 0; i < json_array_size(holds) && r >= 0; i++)
		r = read_hold(json_array_get(holds, i), ret);
	return r;
}

int kept_holds_read(struct io *io, struct kept_holds *ret)
{
	_cleanup_free_ char *text = NULL;
	char boot_id[64];
	json_t *root;
	size_t size;
	int r;

	*ret = (struct kept_holds){};
	r = io_read_all(io, HOLDS_FILE, &text, &size);
	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = read_boot_id(io, boot_id, sizeof(boot_id));
	if (r < 0)
		return r;
	if (size > HOLDS_SIZE)
		return -EBADMSG;
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	r = root ? read_root(root, boot_id, ret) : -EBADMSG;
	json_decref(root);
	if (r < 0)
		kept_holds_done(ret);
	return r;
}

/* "4711 (a name) S 1 …": the name may hold blanks and brackets, so fields are counted behind it. */
int process_start(pid_t pid, uint64_t *ret)
{
	_cleanup_close_ int fd = -1;
	char path[32], text[1024];
	struct slice rest, word;
	const char *bracket;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	bracket = strrchr(text, ')');
	if (!bracket)
		return -EBADMSG;
	rest = slice_of(bracket + 1, strlen(bracket + 1));
	for (unsigned field = 3; slice_word(&rest, &word); field++)
		if (field == 22)
			return slice_decimal(word, UINT64_MAX, ret);
	return -EBADMSG;
}
