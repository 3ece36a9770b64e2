/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/fake-remote.h"

#include <stdio.h>
#include <stdlib.h>

#include "observe/processes.h"

static struct fake_file *find(struct fake_remote *r, int pid, int fd)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->file[i].pid == pid && r->file[i].fd == fd)
			return &r->file[i];
	return NULL;
}

/* As base/remote.c looks before it tells a file anything. */
static int reach(struct fake_remote *r, const struct remote_file *f, int error,
		 struct fake_file **ret)
{
	struct task_stat st;

	if (error < 0)
		return error;
	if (task_stat_read(&r->m->io, f->pid, &st) < 0 || st.start != f->start)
		return -ENODEV;
	*ret = find(r, f->pid, f->fd);
	if (!*ret || (*ret)->epoll != f->epoll || (!f->epoll && (*ret)->inode != f->inode))
		return -ENODEV;
	return 0;
}

static int fake_get(struct remote *remote, const struct remote_file *f, uint32_t *ret)
{
	struct fake_remote *r = (struct fake_remote *)remote;
	struct fake_file *file;
	int e = reach(r, f, r->get_error, &file);

	if (e >= 0)
		*ret = *file->usec;
	return e;
}

static int fake_set(struct remote *remote, const struct remote_file *f, uint32_t usec)
{
	struct fake_remote *r = (struct fake_remote *)remote;
	struct fake_file *file;
	int e = reach(r, f, r->set_error, &file);

	if (e < 0)
		return e;
	*file->usec = usec;
	r->sets++;
	return 0;
}

struct fake_remote *fake_remote_new(struct machine *m)
{
	static const struct remote_ops ops = {.get = fake_get, .set = fake_set};
	struct fake_remote *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->remote.ops = &ops;
	r->m = m;
	m->io.remote = &r->remote;
	return r;
}

void fake_remote_process(struct fake_remote *r, int pid, uint64_t start)
{
	char path[64];

	machine_process(r->m, pid, "server", "server", false);
	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	tree_printf(
		r->m->tree, path,
		"%d (se) rv (er) S 1 0 0 0 -1 4194560 0 0 0 0 1 19 0 0 20 0 1 0 %llu 0 0 1 0 0 0 0 0 0 0 "
		"0 1 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, (unsigned long long)start);
	snprintf(path, sizeof(path), "proc/%d/fd", pid);
	tree_mkdir(r->m->tree, path);
}

uint32_t *fake_remote_open(struct fake_remote *r, int pid, int fd, uint64_t inode, uint32_t usec)
{
	struct fake_file *file = &r->file[r->n];
	char path[64], target[64];

	if (r->n == FAKE_FILES_MAX)
		abort();
	*file = (struct fake_file){.pid = pid, .fd = fd, .epoll = inode == 0, .inode = inode};
	file->usec = &r->value[r->n];
	*file->usec = usec;
	for (unsigned i = 0; inode && i < r->n; i++)
		if (r->file[i].inode == inode)
			file->usec = r->file[i].usec;
	r->n++;
	snprintf(path, sizeof(path), "proc/%d/fd/%d", pid, fd);
	snprintf(target, sizeof(target), "socket:[%llu]", (unsigned long long)inode);
	tree_link(r->m->tree, path, inode ? target : "anon_inode:[eventpoll]");
	return file->usec;
}

void fake_remote_close(struct fake_remote *r, int pid, int fd)
{
	struct fake_file *file = find(r, pid, fd);
	char path[64];

	if (!file)
		abort();
	file->pid = -1;
	snprintf(path, sizeof(path), "proc/%d/fd/%d", pid, fd);
	tree_remove(r->m->tree, path);
}

void fake_remote_exit(struct fake_remote *r, int pid)
{
	char path[64];

	for (unsigned i = 0; i < r->n; i++)
		if (r->file[i].pid == pid)
			r->file[i].pid = -1;
	snprintf(path, sizeof(path), "proc/%d", pid);
	tree_remove(r->m->tree, path);
}
