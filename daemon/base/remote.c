/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_BUSY_POLL
#define SO_BUSY_POLL 46
#endif

/* include/uapi/linux/eventpoll.h of 6.9. */
struct epoll_parameters {
	uint32_t busy_poll_usecs;
	uint16_t busy_poll_budget;
	uint8_t prefer_busy_poll;
	uint8_t pad;
};
#define EPOLL_SET_PARAMETERS _IOW(0x8A, 0x01, struct epoll_parameters)
#define EPOLL_GET_PARAMETERS _IOR(0x8A, 0x02, struct epoll_parameters)

/* Field 22 of /proc/PID/stat; field 2 may hold blanks and brackets. Here and not by observe/processes.h,
 * since it must be read between pidfd_open() and pidfd_getfd(). */
static int read_start(pid_t pid, uint64_t *ret)
{
	char path[64], text[1024];
	_cleanup_close_ int fd = -1;
	char *at;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENODEV : -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return errno == ESRCH ? -ENODEV : -errno;
	text[n] = '\0';
	at = strrchr(text, ')');
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EBADMSG;
	*ret = strtoull(at + 1, NULL, 10);
	return 0;
}

static bool is_that_file(int fd, const struct remote_file *f)
{
	char path[64], target[64];
	struct stat st;
	ssize_t n;

	if (!f->epoll)
		return fstat(fd, &st) >= 0 && S_ISSOCK(st.st_mode) && st.st_ino == f->inode;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	return streq(target, "anon_inode:[eventpoll]");
}

/* A copy of F in this process, which the caller closes. */
static int borrow(const struct remote_file *f)
{
	_cleanup_close_ int pidfd = -1, fd = -1;
	uint64_t start = 0;
	int r;

	pidfd = (int)syscall(SYS_pidfd_open, f->pid, 0);
	if (pidfd < 0)
		return errno == ESRCH ? -ENODEV : -errno;
	/* From here on the pid cannot be another process's without pidfd_getfd() failing. */
	r = read_start(f->pid, &start);
	if (r < 0)
		return r;
	if (start != f->start)
		return -ENODEV;
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, f->fd, 0);
	if (fd < 0)
		return errno == ESRCH || errno == EBADF ? -ENODEV : -errno;
	if (!is_that_file(fd, f))
		return -ENODEV;
	return TAKE_FD(fd);
}

static int is_ip_socket(int fd)
{
	int domain;
	socklen_t size = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0)
		return -errno;
	return domain == AF_INET || domain == AF_INET6 ? 0 : -EOPNOTSUPP;
}

static int epoll_parameters(int fd, struct epoll_parameters *p)
{
	if (ioctl(fd, EPOLL_GET_PARAMETERS, p) >= 0)
		return 0;
	return errno == ENOTTY || errno == EINVAL ? -EOPNOTSUPP : -errno;
}

static int live_get(struct remote *r _unused_, const struct remote_file *f, uint32_t *ret)
{
	_cleanup_close_ int fd = borrow(f);
	struct epoll_parameters p;
	int value, e;
	socklen_t size = sizeof(value);

	if (fd < 0)
		return fd;
	if (f->epoll) {
		e = epoll_parameters(fd, &p);
		if (e >= 0)
			*ret = p.busy_poll_usecs;
		return e;
	}
	e = is_ip_socket(fd);
	if (e < 0)
		return e;
	if (getsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &value, &size) < 0)
		return errno == ENOPROTOOPT ? -EOPNOTSUPP : -errno;
	*ret = (uint32_t)MAX(value, 0);
	return 0;
}

static int live_set(struct remote *r _unused_, const struct remote_file *f, uint32_t usec)
{
	_cleanup_close_ int fd = borrow(f);
	struct epoll_parameters p;
	int value = (int)usec, e;

	if (fd < 0)
		return fd;
	if (f->epoll) {
		e = epoll_parameters(fd, &p);
		if (e < 0)
			return e;
		p.busy_poll_usecs = usec;
		return ioctl(fd, EPOLL_SET_PARAMETERS, &p) < 0 ? -errno : 0;
	}
	e = is_ip_socket(fd);
	if (e < 0)
		return e;
	return setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &value, sizeof(value)) < 0 ? -errno : 0;
}

static const struct remote_ops live_ops = {.get = live_get, .set = live_set};
struct remote remote_live = {.ops = &live_ops};

int remote_get(struct remote *r, const struct remote_file *f, uint32_t *ret)
{
	return r ? r->ops->get(r, f, ret) : -EOPNOTSUPP;
}

int remote_set(struct remote *r, const struct remote_file *f, uint32_t usec)
{
	return r ? r->ops->set(r, f, usec) : -EOPNOTSUPP;
}
