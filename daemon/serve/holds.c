/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/holds.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/log.h"
#include "serve/holds-file.h"

struct held {
	struct holds *holds;
	struct held *next;
	uint32_t cookie;
	const void *client;      /* NULL: it follows a process */
	sd_event_source *ending; /* the process's pidfd, which it owns */
	/* of a process */
	pid_t pid;
	uint64_t start; /* process_start(); 0: not known, and not kept */
	char *profile, *reason;
};

struct holds {
	sd_event *event;
	struct io *io;
	struct engine *engine;
	struct held *first; /* newest first */
	bool unsaved;       /* said already that they cannot be kept */
};

static void held_free(struct held *one)
{
	struct held **p = &one->holds->first;

	while (*p && *p != one)
		p = &(*p)->next;
	if (*p)
		*p = one->next;
	sd_event_source_disable_unref(one->ending);
	free(one->profile);
	free(one->reason);
	free(one);
}

static int collect(const struct holds *h, struct kept_holds *ret)
{
	size_t n = 0;
	int r = 0;

	for (const struct held *one = h->first; one; one = one->next)
		n++;
	/* oldest first */
	for (size_t k = n; k > 0 && r >= 0; k--) {
		const struct held *one = h->first;

		for (size_t i = 1; i < k; i++)
			one = one->next;
		if (one->start > 0)
			r = kept_holds_add(ret, one->pid, one->start, one->profile, one->reason);
	}
	return r;
}

/* A hold that is not kept is in force all the same: until the daemon ends. */
static void keep(struct holds *h)
{
	_cleanup_(kept_holds_done) struct kept_holds kept = {};
	int r = collect(h, &kept);

	if (r >= 0)
		r = kept_holds_write(h->io, &kept);
	if (r == -ENOMEDIUM && !h->unsaved)
		log_info("/proc/sys/kernel/random/boot_id is not here: holds will end with this "
			 "softnetd");
	else if (r < 0 && !h->unsaved)
		log_warning_errno(r,
				  "/run/softnetd/holds.json cannot be written: holds will end with "
				  "this softnetd");
	h->unsaved = r < 0;
}

void holds_forget(struct holds *h)
{
	while (h->first)
		held_free(h->first);
}

void holds_free(struct holds *h)
{
	if (!h)
		return;
	holds_forget(h);
	free(h);
}

static void end(struct held *one)
{
	struct holds *h = one->holds;
	struct engine *engine = h->engine;
	uint32_t cookie = one->cookie;

	held_free(one);
	keep(h);
	(void)engine_release_hold(engine, cookie);
}

/* A pidfd becomes readable when its process ends. */
static int on_end(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		  void *userdata)
{
	end(userdata);
	return 0;
}

/* The pid of a pidfd as its fdinfo has it (kernel/fork.c, pidfd_show_fdinfo()): -1 when the process
 * has ended, 0 when it is in no pid namespace that can be seen from here. */
static int pidfd_pid(int fd, pid_t *ret)
{
	char path[64], line[128];
	int64_t pid;
	int r = -EBADF;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (r < 0 && fgets(line, sizeof(line), f))
		if (startswith(line, "Pid:") && parse_i64(line + strlen("Pid:"), &pid) >= 0 &&
		    pid >= -1 && pid <= INT32_MAX) {
			*ret = (pid_t)pid;
			r = 0;
		}
	fclose(f);
	return r;
}

static int follow_process(struct held *one, int pidfd)
{
	_cleanup_close_ int fd = fcntl(pidfd, F_DUPFD_CLOEXEC, 3);
	int r;

	if (fd < 0)
		return -errno;
	r = sd_event_add_io(one->holds->event, &one->ending, fd, EPOLLIN, on_end, one);
	if (r < 0)
		return r;
	r = sd_event_source_set_io_fd_own(one->ending, true);
	if (r < 0)
		return r;
	TAKE_FD(fd);
	return 0;
}

/* What the next daemon needs to know it again. */
static int describe(struct held *one, pid_t pid, const char *profile, const char *reason)
{
	one->pid = pid;
	one->profile = strdup(profile);
	one->reason = strdup(reason);
	if (!one->profile || !one->reason)
		return -ENOMEM;
	/* 0: it is in no pid namespace that can be seen from here, and will not be found again. */
	if (pid == 0 || process_start(pid, &one->start) < 0)
		one->start = 0;
	return 0;
}

int holds_add(struct holds *h, const void *client, pid_t pid, int pidfd, const char *profile,
	      const char *reason, uint32_t *ret_cookie, struct complaints *c)
{
	struct held *one;
	char holder[32];
	int r = 0;

	if (pidfd >= 0) {
		r = pidfd_pid(pidfd, &pid);
		if (r < 0)
			complain(c, NULL, 0, "the descriptor is no pidfd");
		else if (pid < 0)
			complain(c, NULL, 0, "the process has ended already");
		if (r < 0 || pid < 0)
			return r < 0 ? r : -ESRCH;
	}
	one = calloc(1, sizeof(*one));
	if (!one)
		return -ENOMEM;
	one->holds = h;
	one->client = pidfd < 0 ? client : NULL;
	if (pidfd >= 0)
		r = follow_process(one, pidfd);
	if (r >= 0 && pidfd >= 0)
		r = describe(one, pid, profile, reason);
	if (r >= 0) {
		snprintf(holder, sizeof(holder), "pid %d", pid);
		r = engine_hold(h->engine, profile, holder, reason, &one->cookie, c);
	}
	if (r < 0) {
		held_free(one);
		return r;
	}
	one->next = h->first;
	h->first = one;
	if (pidfd >= 0)
		keep(h);
	*ret_cookie = one->cookie;
	return 0;
}

/* One hold of the daemon before; false with WHY when its process is not there any more. */
static bool take_up(struct holds *h, const struct kept_hold *k, char *why, size_t size)
{
	_cleanup_(complaints_done) struct complaints complaints = {};
	_cleanup_close_ int pidfd = pidfd_open(k->pid, 0);
	uint64_t start;
	uint32_t cookie;
	int r;

	/* With the descriptor in hand the pid cannot become another's while it is looked at. */
	if (pidfd < 0 || process_start(k->pid, &start) < 0) {
		snprintf(why, size, "it ended meanwhile");
		return false;
	}
	if (start != k->start) {
		snprintf(why, size, "it ended meanwhile, and its pid is another process's");
		return false;
	}
	r = holds_add(h, NULL, k->pid, pidfd, k->profile, k->reason, &cookie, &complaints);
	if (r < 0)
		snprintf(why, size, "%s",
			 complaints.n > 0 ? complaints.item[0].text : strerror(-r));
	return r >= 0;
}

void holds_take_up(struct holds *h)
{
	_cleanup_(kept_holds_done) struct kept_holds kept = {};
	int r = kept_holds_read(h->io, &kept);
	char why[256];

	if (r == -ESTALE)
		log_info("/run/softnetd/holds.json is of another boot: its holds are over");
	else if (r == -ENOMEDIUM)
		log_info(
			"/proc/sys/kernel/random/boot_id is not here: whether "
			"/run/softnetd/holds.json is of this boot cannot be told, no hold is taken "
			"up again");
	else if (r == -EBADMSG)
		log_warning("/run/softnetd/holds.json is malformed: no hold is taken up again");
	else if (r < 0)
		log_warning_errno(r, "/run/softnetd/holds.json cannot be read: no hold is taken up "
				     "again");
	for (size_t i = 0; i < kept.n; i++) {
		const struct kept_hold *k = &kept.hold[i];

		if (take_up(h, k, why, sizeof(why)))
			log_notice("Profile %s is held by pid %d as before the restart", k->profile,
				   (int)k->pid);
		else
			log_notice("Profile %.64s is not held by pid %d any more: %s", k->profile,
				   (int)k->pid, why);
	}
	if (r < 0 || kept.n > 0)
		keep(h);
}

char *holds_expected(struct io *io)
{
	_cleanup_(kept_holds_done) struct kept_holds kept = {};
	uint64_t start;

	if (kept_holds_read(io, &kept) < 0)
		return NULL;
	for (size_t i = kept.n; i > 0; i--)
		if (process_start(kept.hold[i - 1].pid, &start) >= 0 &&
		    start == kept.hold[i - 1].start)
			return TAKE_PTR(kept.hold[i - 1].profile);
	return NULL;
}

int holds_new(sd_event *event, struct io *io, struct engine *engine, struct holds **ret)
{
	struct holds *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->event = event;
	h->io = io;
	h->engine = engine;
	*ret = h;
	return 0;
}

int holds_release(struct holds *h, uint32_t cookie)
{
	for (struct held *one = h->first; one; one = one->next)
		if (one->cookie == cookie) {
			end(one);
			return 0;
		}
	return -ENOENT;
}

bool holds_has_client(const struct holds *h, const void *client)
{
	for (const struct held *one = h->first; one; one = one->next)
		if (one->client == client)
			return true;
	return false;
}

void holds_drop_client(struct holds *h, const void *client)
{
	struct held *next;

	for (struct held *one = h->first; one; one = next) {
		next = one->next;
		if (one->client == client)
			end(one);
	}
}
