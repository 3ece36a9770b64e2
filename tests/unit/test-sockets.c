/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Busy polling of open sockets and epoll instances of units: found, set, given back; processes that end,
 * share, are replaced under their pid; no right to look. */
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/restore.h"
#include "engine/internal.h"
#include "lib/fake-remote.h"
#include "lib/run.h"
#include "lib/whole.h"
#include "observe/processes.h"

#define CGROUP "sys/fs/cgroup/system.slice/db.service/"

static struct machine *m;
static struct fake_remote *r;
static struct engine *e;
static struct tree *config;
static struct complaints complaints;

static const char profile[] =
	"busy_poll_units = [\"db.service\"];\nsocket_busy_poll = 50;\nepoll_busy_poll = 40;\n";

static void boot(const char *pids)
{
	m = machine_new(&(struct machine_spec){.cpus = 2});
	r = fake_remote_new(m);
	tree_write(m->tree, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
	tree_write(m->tree, CGROUP "cgroup.events", "populated 1\nfrozen 0\n");
	tree_write(m->tree, CGROUP "cgroup.procs", pids);
}

static int start(const char *text)
{
	return whole_start(m, &config, "apply", text, &complaints, &e);
}

static void ticks(unsigned n)
{
	ck_assert_int_eq(whole_ticks(m, e, n), 0);
}

static void teardown(void)
{
	complaints_done(&complaints);
	engine_free(TAKE_PTR(e));
	if (m)
		machine_free(TAKE_PTR(m));
	free(TAKE_PTR(r));
	if (config)
		tree_free(TAKE_PTR(config));
}

START_TEST(set_and_given_back)
{
	uint32_t *listener, *poller, *other;
	json_t *d, *s;

	boot("900\n");
	fake_remote_process(r, 900, 100);
	fake_remote_process(r, 901, 101);
	listener = fake_remote_open(r, 900, 3, 7001, 0);
	poller = fake_remote_open(r, 900, 4, 0, 5);
	other = fake_remote_open(r, 901, 3, 7002, 0);
	tree_link(m->tree, "proc/900/fd/0", "/dev/null");
	ck_assert_int_eq(start(profile), 0);
	ticks(1);
	ck_assert_uint_eq(*listener, 50);
	ck_assert_uint_eq(*poller, 40);
	ck_assert_uint_eq(*other, 0); /* of another unit */
	ck_assert_uint_eq(r->sets, 2);
	ticks(25);
	ck_assert_uint_eq(r->sets, 2);
	d = engine_status(e);
	s = json_object_get(d, "open_sockets");
	ck_assert_int_eq(json_integer_value(json_object_get(s, "sockets_set")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(s, "epolls_set")), 1);
	json_decref(d);
	/* A new one comes, and is found at the next slow look. */
	uint32_t *more = fake_remote_open(r, 900, 9, 7003, 0);

	ticks(11);
	ck_assert_uint_eq(*more, 50);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_uint_eq(*listener, 0);
	ck_assert_uint_eq(*more, 0);
	ck_assert_uint_eq(*poller, 5);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

START_TEST(closed_and_ended)
{
	uint64_t serial;

	boot("900\n");
	fake_remote_process(r, 900, 100);
	fake_remote_open(r, 900, 3, 7001, 0);
	fake_remote_open(r, 900, 4, 7002, 0);
	ck_assert_int_eq(start(profile), 0);
	ticks(1);
	ck_assert_uint_eq(ledger_size(e->ledger), 2);
	serial = e->history_serial;
	fake_remote_close(r, 900, 4);
	ticks(11);
	ck_assert_uint_eq(ledger_size(e->ledger), 1);
	fake_remote_exit(r, 900);
	tree_write(m->tree, CGROUP "cgroup.procs", "");
	ticks(11);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	ck_assert_uint_eq(e->history_serial, serial); /* no news */
}
END_TEST

/* The pid belongs to another process, with a socket of its own under the same descriptor. */
START_TEST(reused_pid)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	uint32_t *mine, *theirs;

	boot("900\n");
	fake_remote_process(r, 900, 100);
	mine = fake_remote_open(r, 900, 3, 7001, 0);
	ck_assert_int_eq(start(profile), 0);
	ticks(1);
	ck_assert_uint_eq(*mine, 50);
	fake_remote_exit(r, 900);
	fake_remote_process(r, 900, 5000);
	theirs = fake_remote_open(r, 900, 3, 7001, 50);
	*theirs = 50; /* it has what we wrote, and the same inode number even */
	tree_write(m->tree, CGROUP "cgroup.procs", "");
	r->sets = 0;
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_uint_eq(*theirs, 50);
	ck_assert_uint_eq(r->sets, 0);
}
END_TEST

/* Workers share the listener of their master. When the one ends whose entry it is, the original stays. */
START_TEST(shared_socket)
{
	uint32_t *listener;

	boot("900\n901\n");
	fake_remote_process(r, 900, 100);
	fake_remote_process(r, 901, 101);
	listener = fake_remote_open(r, 900, 3, 7001, 7);
	ck_assert_ptr_eq(fake_remote_open(r, 901, 5, 7001, 7), listener);
	*listener = 7;
	ck_assert_int_eq(start(profile), 0);
	ticks(1);
	ck_assert_uint_eq(*listener, 50);
	ck_assert_uint_eq(ledger_size(e->ledger), 1);
	fake_remote_exit(r, 900);
	tree_write(m->tree, CGROUP "cgroup.procs", "901\n");
	ticks(11);
	ck_assert_uint_eq(ledger_size(e->ledger), 1);
	ck_assert_uint_eq(r->sets, 1);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_uint_eq(*listener, 7);
}
END_TEST

/* The application's own word is foreign: yielded, and left at the end. */
START_TEST(application_sets_its_own)
{
	uint32_t *s;

	boot("900\n");
	fake_remote_process(r, 900, 100);
	s = fake_remote_open(r, 900, 3, 7001, 0);
	ck_assert_int_eq(start(profile), 0);
	ticks(1);
	*s = 20;
	ticks(25);
	ck_assert_uint_eq(*s, 20);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_uint_eq(*s, 20);
}
END_TEST

/* kill -9, and a restore that knows no units. */
START_TEST(restore_after_a_crash)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	uint32_t *s, *p;

	boot("900\n");
	fake_remote_process(r, 900, 100);
	s = fake_remote_open(r, 900, 3, 7001, 3);
	p = fake_remote_open(r, 900, 4, 0, 0);
	ck_assert_int_eq(start(profile), 0);
	ticks(1);
	engine_free(TAKE_PTR(e));
	ck_assert_uint_eq(*s, 50);
	ck_assert_int_eq(start("description = \"nothing\";\n"), 0);
	ck_assert_uint_eq(*s, 3);
	ck_assert_uint_eq(*p, 0);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
}
END_TEST

START_TEST(no_right)
{
	json_t *d;
	uint64_t serial;

	boot("900\n");
	fake_remote_process(r, 900, 100);
	fake_remote_open(r, 900, 3, 7001, 0);
	r->get_error = -EPERM;
	ck_assert_int_eq(start(profile), 0);
	ticks(1);
	ck_assert_ptr_nonnull(strstr(e->sockets.trouble, "CAP_SYS_PTRACE"));
	d = engine_status(e);
	ck_assert_uint_gt(json_array_size(json_object_get(d, "obstacles")), 0);
	json_decref(d);
	ck_assert_uint_eq(r->sets, 0);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	/* Looking is allowed, raising is not: said once. */
	r->get_error = 0;
	r->set_error = -EPERM;
	ticks(11);
	serial = e->history_serial;
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	ticks(25);
	ck_assert_uint_eq(e->history_serial, serial);
}
END_TEST

START_TEST(more_than_softnetd_looks_at)
{
	json_t *d;

	boot("900\n");
	fake_remote_process(r, 900, 100);
	for (int fd = 3; fd < 203; fd++)
		fake_remote_open(r, 900, fd, 7000 + (uint64_t)fd, 0);
	ck_assert_int_eq(start(profile), 0);
	ticks(1);
	ck_assert_uint_eq(r->sets, SOCKETS_MAX);
	ck_assert_uint_eq(*r->file[0].usec, 50);
	d = engine_status(e);
	ck_assert_int_eq(
		json_integer_value(json_object_get(json_object_get(d, "open_sockets"), "left_out")),
		200 - SOCKETS_MAX);
	json_decref(d);
	ck_assert_int_eq(engine_stop(e), 0);
	for (unsigned i = 0; i < r->n; i++)
		ck_assert_uint_eq(*r->file[i].usec, 0);
}
END_TEST

START_TEST(opt_in_and_keys)
{
	boot("900\n");
	fake_remote_process(r, 900, 100);
	fake_remote_open(r, 900, 3, 7001, 0);
	ck_assert_int_eq(start("socket_busy_poll = 50;\n"), 0);
	ticks(12);
	ck_assert_uint_eq(r->sets, 0);
	engine_free(TAKE_PTR(e));
	ck_assert_int_eq(start("busy_poll_units = [\"db.service\"];\n"), 0);
	ticks(12);
	ck_assert_uint_eq(r->sets, 0);
	engine_free(TAKE_PTR(e));
	ck_assert_int_eq(start("busy_poll_units = [\"../db.service\"];\n"), -EINVAL);
	complaints_done(&complaints);
	ck_assert_int_eq(start("busy_poll_units = \"db.service\";\n"), -EINVAL);
	complaints_done(&complaints);
	ck_assert_int_eq(start("socket_busy_poll = [10, 50];\n"), -EINVAL);
	complaints_done(&complaints);
	ck_assert_int_eq(start("socket_busy_poll = 1001;\n"), -EINVAL);
}
END_TEST

/* The real kernel: a child of ours, with a socket and an epoll instance. */
START_TEST(live)
{
	_cleanup_(io_freep) struct io *io = NULL;
	struct remote_file f = {.epoll = false};
	struct task_stat st;
	struct stat inode;
	int s = socket(AF_INET, SOCK_DGRAM, 0), p = epoll_create1(0), u, pair[2], get;
	char identity[IDENTITY_MAX];
	uint32_t usec = 99;
	pid_t pid;

	u = socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	ck_assert(s >= 0 && p >= 0 && u >= 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	ck_assert_int_eq(io_new("/", &io), 0);
	ck_assert_int_eq(task_stat_read(io, pid, &st), 0);
	ck_assert_int_eq(fstat(s, &inode), 0);
	f = (struct remote_file){.pid = pid, .start = st.start, .fd = s, .inode = inode.st_ino};
	get = remote_get(io->remote, &f, &usec);
	if (get == -EPERM || get == -ENOSYS) { /* a container that allows no such thing */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return;
	}
	ck_assert_int_eq(get, 0);
	ck_assert_uint_ne(usec, 99);
	if (remote_set(io->remote, &f, 30) == 0) {
		ck_assert_int_eq(remote_get(io->remote, &f, &usec), 0);
		ck_assert_uint_eq(usec, 30);
		ck_assert_int_eq(remote_set(io->remote, &f, 0), 0);
	}
	snprintf(identity, sizeof(identity), "%d|%llu|socket:%llu", (int)pid,
		 (unsigned long long)st.start, (unsigned long long)inode.st_ino);
	f.fd = -1;
	ck_assert_int_eq(socket_find(io, identity, &f), 0);
	ck_assert_int_eq(f.fd, s);
	/* Another file by now, or another process. */
	f.inode++;
	ck_assert_int_eq(remote_get(io->remote, &f, &usec), -ENODEV);
	f.inode--;
	f.start++;
	ck_assert_int_eq(remote_get(io->remote, &f, &usec), -ENODEV);
	f.start--;
	ck_assert_int_eq(fstat(pair[0], &inode), 0);
	f.fd = pair[0];
	f.inode = inode.st_ino;
	ck_assert_int_eq(remote_get(io->remote, &f, &usec), -EOPNOTSUPP);
	f = (struct remote_file){.pid = pid, .start = st.start, .fd = p, .epoll = true};
	get = remote_get(io->remote, &f, &usec);
	ck_assert(get == 0 || get == -EOPNOTSUPP);
	if (get == 0) {
		ck_assert_int_eq(remote_set(io->remote, &f, 25), 0);
		ck_assert_int_eq(remote_get(io->remote, &f, &usec), 0);
		ck_assert_uint_eq(usec, 25);
	}
	f.fd = s;
	ck_assert_int_eq(remote_get(io->remote, &f, &usec), -ENODEV);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(remote_get(io->remote, &f, &usec), -ENODEV);
	ck_assert_int_eq(socket_find(io, identity, &f), -ENODEV);
	close(s);
	close(p);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("sockets");

	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_add_test(c, set_and_given_back);
	tcase_add_test(c, closed_and_ended);
	tcase_add_test(c, reused_pid);
	tcase_add_test(c, shared_socket);
	tcase_add_test(c, application_sets_its_own);
	tcase_add_test(c, restore_after_a_crash);
	tcase_add_test(c, no_right);
	tcase_add_test(c, more_than_softnetd_looks_at);
	tcase_add_test(c, opt_in_and_keys);
	tcase_add_test(c, live);
	return run_suite("sockets", c);
}
