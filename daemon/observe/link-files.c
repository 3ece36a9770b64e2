/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/link-files.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/scan.h"

#define PATH_SIZE  512
#define CLAIMS_MAX 256         /* a host with more of them shows the first */
#define SIZE_MAX_  (64 * 1024) /* a real one has a few hundred bytes */

/* Strongest first. */
static const char *const dirs[] = {"etc/systemd/network", "run/systemd/network",
				   "usr/local/lib/systemd/network", "usr/lib/systemd/network"};

static const struct link_key {
	const char *name, *of, *setting;
} keys[] = {
	{"IRQAffinityPolicy", "interrupts", "irq_affinity"},
	{"IRQAffinity", "interrupts", "irq_affinity"},
	{"IRQAffinityNUMA", "interrupts", "irq_affinity"},
	{"RxChannels", "channels", NULL},
	{"TxChannels", "channels", NULL},
	{"OtherChannels", "channels", NULL},
	{"CombinedChannels", "channels", NULL},
	{"ReceivePacketSteeringCPUMask", "RPS", NULL},
	{"RxCoalesceSec", "coalescing", "coalesce_rx_usecs"},
	{"RxMaxCoalescedFrames", "coalescing", "coalesce_rx_frames"},
	{"RxCoalesceIrqSec", "coalescing", NULL},
	{"RxMaxCoalescedIrqFrames", "coalescing", NULL},
	{"TxCoalesceSec", "coalescing", "coalesce_tx_usecs"},
	{"TxMaxCoalescedFrames", "coalescing", "coalesce_tx_frames"},
	{"TxCoalesceIrqSec", "coalescing", NULL},
	{"TxMaxCoalescedIrqFrames", "coalescing", NULL},
	{"StatisticsBlockCoalesceSec", "coalescing", NULL},
	{"UseAdaptiveRxCoalesce", "coalescing", "coalesce_adaptive_rx"},
	{"UseAdaptiveTxCoalesce", "coalescing", "coalesce_adaptive_tx"},
	{"CoalescePacketRateLow", "coalescing", NULL},
	{"RxCoalesceLowSec", "coalescing", NULL},
	{"RxMaxCoalescedLowFrames", "coalescing", NULL},
	{"TxCoalesceLowSec", "coalescing", NULL},
	{"TxMaxCoalescedLowFrames", "coalescing", NULL},
	{"CoalescePacketRateHigh", "coalescing", NULL},
	{"RxCoalesceHighSec", "coalescing", NULL},
	{"RxMaxCoalescedHighFrames", "coalescing", NULL},
	{"TxCoalesceHighSec", "coalescing", NULL},
	{"TxMaxCoalescedHighFrames", "coalescing", NULL},
	{"CoalescePacketRateSampleIntervalSec", "coalescing", NULL},
};

/* The last assignment of each key in one .link file and its drop-ins. */
struct file_claims {
	struct {
		char *file;
		unsigned line;
		char value[sizeof(((struct link_claim *)NULL)->value)];
	} last[ELEMENTSOF(keys)];
};

static void file_claims_done(struct file_claims *f)
{
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		free(f->last[i].file);
}

void link_claims_done(struct link_claims *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->claim[i].file);
	free(c->claim);
	*c = (struct link_claims){};
}

static int assign(struct file_claims *f, struct slice line, const char *path, unsigned number)
{
	const char *equals = memchr(line.at, '=', slice_length(line));
	struct slice key, value;

	if (!equals)
		return 0;
	key = slice_strip((struct slice){line.at, equals});
	value = slice_strip((struct slice){equals + 1, line.end});
	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		char *file = NULL;

		if (!slice_is(key, keys[i].name))
			continue;
		if (slice_length(value) > 0 && asprintf(&file, "/%s", path) < 0)
			return -ENOMEM;
		free(f->last[i].file);
		f->last[i].file = file; /* NULL: taken back */
		f->last[i].line = number;
		slice_show(value, f->last[i].value, sizeof(f->last[i].value));
	}
	return 0;
}

/* Assignments in [Link]; comments begin with # or ;, a backslash at the end of a line goes on in the next,
 * where comments are skipped. */
static int read_text(struct file_claims *f, const char *path, const char *text, size_t size)
{
	struct slice rest = slice_of(text, size), line;
	bool in_link = false, continued = false;
	char whole[512];
	size_t length = 0;
	unsigned number = 0, first = 0;

	while (slice_line(&rest, &line)) {
		struct slice bare = slice_strip(line);
		bool goes_on;

		number++;
		if (bare.at < bare.end && (*bare.at == '#' || *bare.at == ';'))
			continue;
		if (!continued) {
			length = 0;
			first = number;
		}
		goes_on = bare.at < bare.end && bare.end[-1] == '\\';
		bare.end -= goes_on;
		/* What is too long is cut: no key nor value of interest is. */
		for (const char *c = bare.at; c < bare.end && length < sizeof(whole); c++)
			whole[length++] = *c;
		if (goes_on && length < sizeof(whole))
			whole[length++] = ' ';
		continued = goes_on;
		if (goes_on)
			continue;
		bare = slice_of(whole, length);
		if (bare.at < bare.end && *bare.at == '[')
			in_link = slice_is(bare, "[Link]");
		else if (in_link && assign(f, bare, path, first) < 0)
			return -ENOMEM;
	}
	/* The file ended in the middle of a line that goes on. */
	return continued && in_link ? assign(f, slice_of(whole, length), path, first) : 0;
}

/* 1: it masks, being empty or /dev/null. */
static int read_file(struct io *io, const char *path, struct file_claims *f, size_t *unread)
{
	_cleanup_free_ char *text = NULL;
	mode_t mode;
	size_t size;
	int r;

	r = io->ops->mode(io, path, &mode);
	if (r >= 0 && S_ISCHR(mode))
		return 1;
	if (r < 0 || !S_ISREG(mode)) {
		(*unread)++; /* a dangling link, a directory, a FIFO that nobody fills */
		return 0;
	}
	r = io_read_all(io, path, &text, &size);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || size > SIZE_MAX_) {
		(*unread)++;
		return 0;
	}
	if (size == 0)
		return 1;
	return read_text(f, path, text, size);
}

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), k = strlen(ending);

	return *name != '.' && n > k && streq(name + n - k, ending);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in DIRS/SUB that end in ENDING, each once, in the order in which they count. */
static int list_names(struct io *io, const char *sub, const char *ending, char ***ret)
{
	_cleanup_(strv_freep) char **all = calloc(1, sizeof(*all));
	size_t n = 0;

	if (!all)
		return -ENOMEM;
	for (size_t d = 0; d < ELEMENTSOF(dirs); d++) {
		_cleanup_(strv_freep) char **names = NULL;
		char path[PATH_SIZE];
		int r;

		if (format_into(path, sizeof(path), "%s%s", dirs[d], sub) < 0)
			continue;
		r = io_list(io, path, &names);
		if (r == -ENOMEM)
			return r;
		for (char **name = names; r >= 0 && *name; name++) {
			bool known = !has_ending(*name, ending);
			char **more;

			for (size_t i = 0; i < n && !known; i++)
				known = streq(all[i], *name);
			if (known)
				continue;
			more = reallocarray(all, n + 2, sizeof(*all));
			if (!more)
				return -ENOMEM;
			all = more;
			all[n + 1] = NULL;
			all[n] = strdup(*name);
			if (!all[n++])
				return -ENOMEM;
		}
	}
	qsort(all, n, sizeof(*all), by_name);
	*ret = TAKE_PTR(all);
	return 0;
}

/* The strongest directory's DIR/SUB/NAME, which exists. */
static int read_strongest(struct io *io, const char *sub, const char *name, struct file_claims *f,
			  size_t *unread)
{
	for (size_t d = 0; d < ELEMENTSOF(dirs); d++) {
		char path[PATH_SIZE], target[PATH_SIZE];
		mode_t mode;

		if (format_into(path, sizeof(path), "%s%s/%s", dirs[d], sub, name) < 0)
			continue;
		/* In a captured tree there is no device behind a mask. */
		if (io->ops->readlink(io, path, target, sizeof(target)) > 0 &&
		    streq(target, "/dev/null"))
			return 1;
		if (io->ops->mode(io, path, &mode) != -ENOENT)
			return read_file(io, path, f, unread);
	}
	return 0;
}

static int take_claims(struct link_claims *ret, struct file_claims *f)
{
	for (size_t i = 0; i < ELEMENTSOF(keys) && ret->n < CLAIMS_MAX; i++) {
		struct link_claim *more;

		if (!f->last[i].file)
			continue;
		more = reallocarray(ret->claim, ret->n + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		ret->claim = more;
		more[ret->n] = (struct link_claim){.file = TAKE_PTR(f->last[i].file),
						   .line = f->last[i].line,
						   .key = keys[i].name,
						   .of = keys[i].of,
						   .setting = keys[i].setting};
		memcpy(more[ret->n].value, f->last[i].value, sizeof(more[ret->n].value));
		ret->n++;
	}
	return 0;
}

static int read_link(struct io *io, const char *name, struct link_claims *ret)
{
	_cleanup_(file_claims_done) struct file_claims f = {};
	_cleanup_(strv_freep) char **drop_ins = NULL;
	char sub[PATH_SIZE];
	int r;

	r = read_strongest(io, "", name, &f, &ret->unread);
	if (r != 0)
		return r < 0 ? r : 0; /* masked, drop-ins and all */
	if (format_into(sub, sizeof(sub), "/%s.d", name) < 0)
		return 0;
	r = list_names(io, sub, ".conf", &drop_ins);
	for (char **d = drop_ins; r >= 0 && d && *d; d++)
		r = read_strongest(io, sub, *d, &f, &ret->unread);
	return r < 0 ? r : take_claims(ret, &f);
}

int link_claims_read(struct io *io, struct link_claims *ret)
{
	_cleanup_(strv_freep) char **names = NULL;
	int r;

	link_claims_done(ret);
	r = list_names(io, "", ".link", &names);
	for (char **name = names; r >= 0 && name && *name; name++)
		r = read_link(io, *name, ret);
	if (r < 0)
		link_claims_done(ret);
	return r < 0 ? r : 0;
}
