/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/holds.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

struct held {
	struct holds *holds;
	struct held *next;
	uint32_t cookie;
	const void *client;      /* NULL: it follows a process */
	sd_event_source *ending; /* the process's pidfd, which it owns */
};

struct holds {
	sd_event *event;
	struct engine *engine;
	struct held *first;
};

int holds_new(sd_event *event, struct engine *engine, struct holds **ret)
{
	struct holds *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->event = event;
	h->engine = engine;
	*ret = h;
	return 0;
}

static void held_free(struct held *one)
{
	struct held **p = &one->holds->first;

	while (*p && *p != one)
		p = &(*p)->next;
	if (*p)
		*p = one->next;
	sd_event_source_disable_unref(one->ending);
	free(one);
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
	struct engine *engine = one->holds->engine;
	uint32_t cookie = one->cookie;

	held_free(one);
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
	int pid, r = -EBADF;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (r < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pid: %d", &pid) == 1) {
			*ret = pid;
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
	*ret_cookie = one->cookie;
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
