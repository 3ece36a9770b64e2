/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/sockets.h"

#include <stdio.h>

#include "base/scan.h"
#include "observe/processes.h"
#include "observe/units.h"

/* What /proc/PID/fd/N shows; false for other files. */
static bool parse_link(const char *target, bool *ret_epoll, uint64_t *ret_inode)
{
	char number[24];
	size_t n;

	*ret_epoll = streq(target, "anon_inode:[eventpoll]");
	*ret_inode = 0;
	if (*ret_epoll)
		return true;
	if (!startswith(target, "socket:["))
		return false;
	target += strlen("socket:[");
	n = strcspn(target, "]");
	return target[n] == ']' && n < sizeof(number) &&
	       format_into(number, sizeof(number), "%.*s", (int)n, target) >= 0 &&
	       parse_u64(number, 10, ret_inode) >= 0;
}

/* 1 a socket or epoll instance, 0 another file, or an errno. */
static int read_link(struct io *io, pid_t pid, int fd, bool *ret_epoll, uint64_t *ret_inode)
{
	char path[64], target[256];
	ssize_t n;

	snprintf(path, sizeof(path), "proc/%d/fd/%d", (int)pid, fd);
	n = io->ops->readlink(io, path, target, sizeof(target));
	if (n == -ENAMETOOLONG)
		return 0;
	if (n < 0)
		return (int)n;
	return parse_link(target, ret_epoll, ret_inode);
}

static int list_descriptors(struct io *io, pid_t pid, char ***ret)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "proc/%d/fd", (int)pid);
	r = io_list(io, path, ret);
	return r == -ENOENT || r == -ESRCH ? -ENODEV : r == -EACCES ? -EPERM : r;
}

static void name_identity(const struct remote_file *f, char buf[static IDENTITY_MAX])
{
	int n = snprintf(buf, IDENTITY_MAX, "%d|%llu|", (int)f->pid, (unsigned long long)f->start);

	if (f->epoll)
		snprintf(buf + n, (size_t)(IDENTITY_MAX - n), "epoll:%d", f->fd);
	else
		snprintf(buf + n, (size_t)(IDENTITY_MAX - n), "socket:%llu",
			 (unsigned long long)f->inode);
}

static int parse_identity(const char *identity, struct remote_file *ret)
{
	unsigned long long start, number;
	char kind[8];
	int pid;

	/* So many digits fit, whatever a ledger says. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(identity, "%9d|%19llu|%7[a-z]:%19llu", &pid, &start, kind, &number) != 4 ||
	    pid <= 0)
		return -EINVAL;
	*ret = (struct remote_file){.pid = pid, .start = start, .epoll = streq(kind, "epoll")};
	if (ret->epoll && number <= INT32_MAX)
		ret->fd = (int)number;
	else if (streq(kind, "socket"))
		ret->inode = number;
	else
		return -EINVAL;
	return 0;
}

int socket_find(struct io *io, const char *identity, struct remote_file *ret)
{
	_cleanup_(strv_freep) char **names = NULL;
	struct task_stat st;
	uint64_t inode, fd;
	bool epoll;
	int r;

	r = parse_identity(identity, ret);
	if (r < 0)
		return r;
	r = task_stat_read(io, ret->pid, &st);
	if (r == -ENOENT || r == -ESRCH || (r >= 0 && st.start != ret->start))
		return -ENODEV;
	if (r >= 0)
		r = list_descriptors(io, ret->pid, &names);
	if (r < 0)
		return r;
	for (char **name = names; *name; name++) {
		if (parse_u64(*name, 10, &fd) < 0 || fd > INT32_MAX ||
		    read_link(io, ret->pid, (int)fd, &epoll, &inode) <= 0 || epoll != ret->epoll)
			continue;
		if (epoll ? (int)fd == ret->fd : inode == ret->inode) {
			ret->fd = (int)fd;
			return 0;
		}
	}
	return -ENODEV;
}

struct search {
	struct io *io;
	struct topology *t;
	struct sockets_status *status;
	unsigned looked;
	const char *unit;
};

static void note_trouble(struct search *s, int error)
{
	if (*s->status->trouble)
		return;
	append_text(s->status->trouble, sizeof(s->status->trouble),
		    "open sockets of %.64s cannot be reached: %s%s", s->unit, strerror(-error),
		    error == -EPERM || error == -EACCES
			    ? "; that takes CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and pidfd_getfd, "
			      "which the drop-in /usr/lib/softnetd/open-sockets.conf gives to "
			      "softnetd.service"
			    : "");
}

bool socket_same_file(const char *a, const char *b)
{
	const char *inode = strstr(a, "|socket:"), *other = strstr(b, "|socket:");

	return inode && other ? streq(inode, other) : streq(a, b);
}

static bool is_known(const struct topology *t, const char *identity)
{
	for (unsigned i = 0; i < t->n_socks; i++)
		if (socket_same_file(t->sock[i].identity, identity))
			return true;
	return false;
}

static void take(struct search *s, const struct remote_file *f)
{
	struct sock *sock = &s->t->sock[s->t->n_socks];
	uint32_t usec;
	int r;

	r = remote_get(s->io->remote, f, &usec);
	if (r == -EOPNOTSUPP)
		s->status->no_epoll |= f->epoll;
	else if (r < 0 && r != -ENODEV)
		note_trouble(s, r);
	if (r < 0)
		return;
	*sock = (struct sock){.pid = f->pid, .fd = f->fd, .epoll = f->epoll};
	name_identity(f, sock->identity);
	/* A socket that several processes share, or one process twice. */
	if (is_known(s->t, sock->identity))
		return;
	snprintf(sock->unit, sizeof(sock->unit), "%s", s->unit);
	s->t->n_socks++;
}

static void look_at_process(struct search *s, pid_t pid)
{
	_cleanup_(strv_freep) char **names = NULL;
	struct remote_file f = {.pid = pid};
	struct task_stat st;
	uint64_t fd;
	int r;

	if (task_stat_read(s->io, pid, &st) < 0)
		return; /* it has ended */
	f.start = st.start;
	r = list_descriptors(s->io, pid, &names);
	if (r < 0) {
		if (r != -ENODEV)
			note_trouble(s, r);
		return;
	}
	for (char **name = names; *name; name++) {
		if (s->t->n_socks == SOCKETS_MAX || s->looked == DESCRIPTORS_MAX) {
			s->status->left_out++;
			continue;
		}
		s->looked++;
		if (parse_u64(*name, 10, &fd) < 0 || fd > INT32_MAX)
			continue;
		f.fd = (int)fd;
		r = read_link(s->io, pid, f.fd, &f.epoll, &f.inode);
		if (r == -EACCES || r == -EPERM)
			note_trouble(s, r);
		if (r > 0)
			take(s, &f);
	}
}

static void look_at_unit(struct search *s, const struct units *where)
{
	_cleanup_free_ char *text = NULL;
	const char *cgroup = units_cgroup(where, s->unit);
	struct slice rest, line;
	char path[1100];
	size_t size;
	uint64_t pid;

	if (!cgroup || format_into(path, sizeof(path), "%s/cgroup.procs", cgroup) < 0)
		return;
	if (io_read_all(s->io, path, &text, &size) < 0)
		return; /* stopped meanwhile */
	rest = slice_of(text, size);
	while (slice_line(&rest, &line))
		if (slice_decimal(line, INT32_MAX, &pid) >= 0 && pid > 0)
			look_at_process(s, (pid_t)pid);
}

int sockets_discover(struct io *io, const char *const *units, struct topology *t,
		     struct sockets_status *ret)
{
	_cleanup_(units_freep) struct units *where = NULL;
	struct search s = {.io = io, .t = t, .status = ret};

	*ret = (struct sockets_status){};
	t->n_socks = 0;
	if (!units || !*units)
		return 0;
	if (!t->sock)
		t->sock = calloc(SOCKETS_MAX, sizeof(*t->sock));
	if (!t->sock || units_new(io, units, &where) < 0 || units_read(where) < 0)
		return -ENOMEM;
	for (; *units; units++) {
		s.unit = *units;
		look_at_unit(&s, where);
	}
	return 0;
}
