/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon as it is shipped, on a captured host, killed at the entry of every system call of its life
 * that can change anything (and so before, between and after all of them): start, a profile's policy,
 * stop. No part of it can get round this by another way than the I/O seam. Afterwards softnetctl
 * restore, or the next start, brings the originals.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "lib/machine.h"
#include "lib/program.h"
#include "lib/run.h"

static const struct machine_nic i40e[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 2}};
static const struct machine_spec two_cpus = {
	.cpus = 2, .nics = i40e, .n_nics = 1, .cpufreq = "acpi-cpufreq"};

static struct machine *m;
static struct tree *config;
static char *softnetd, *softnetctl;
/* Shared by the tests' processes. */
static struct seen {
	unsigned points, calls;
	bool no_ptrace;
} * seen;

/* The numbers that every architecture has. */
static bool changes_something(const struct __ptrace_syscall_info *info)
{
	switch (info->entry.nr) {
	case SYS_openat:
		return (info->entry.args[2] & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY;
	case SYS_write:
	case SYS_pwrite64:
	case SYS_writev:
	case SYS_renameat:
	case SYS_renameat2:
#ifdef SYS_rename
	case SYS_rename:
#endif
	case SYS_unlinkat:
	case SYS_mkdirat:
	case SYS_ftruncate:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_flock:
	case SYS_bind:
	case SYS_fchmod:
	case SYS_fchmodat:
		return true;
	}
	return false;
}

static bool waits_for_events(const struct __ptrace_syscall_info *info)
{
#ifdef SYS_epoll_wait
	if (info->entry.nr == SYS_epoll_wait)
		return true;
#endif
	return info->entry.nr == SYS_epoll_pwait || info->entry.nr == SYS_epoll_pwait2;
}

static void exec_daemon(const char *profile)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	/* It uses ptrace itself, and there can be only one. */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	unsetenv("NOTIFY_SOCKET");
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(77);
	execl(softnetd, softnetd, "--root", tree_path(m->tree), "--config-dir", tree_path(config),
	      "--profile", profile, NULL);
	_exit(99);
}

/* Runs the daemon until its first wait for events, ends it as systemd would, and kills it at the
 * AT-th call that changes something. Returns false when it had come to its own end before. */
static bool live_and_die(const char *profile, unsigned at)
{
	unsigned n = 0;
	bool asked = false;
	int status, deliver = 0;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		exec_daemon(profile);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status)) {
		ck_assert_int_eq(WEXITSTATUS(status), 77);
		seen->no_ptrace = true;
		return false;
	}
	ck_assert_int_eq(
		ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	for (;;) {
		struct __ptrace_syscall_info info;

		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)deliver), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		deliver = 0;
		if (WIFEXITED(status)) {
			ck_assert_msg(WEXITSTATUS(status) == 0, "softnetd ended with %d",
				      WEXITSTATUS(status));
			ck_assert_msg(asked, "softnetd ended by itself");
			seen->calls = n;
			return false;
		}
		ck_assert_msg(WIFSTOPPED(status), "softnetd ended by signal %d", WTERMSIG(status));
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			deliver = WSTOPSIG(status);
			continue;
		}
		ck_assert_int_gt(ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info),
				 0);
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		if (waits_for_events(&info) && !asked) {
			asked = true;
			ck_assert_int_eq(kill(pid, SIGTERM), 0);
		}
		if (!changes_something(&info) || ++n < at)
			continue;
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
		return true;
	}
}

static void softnetctl_restore(void)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		execl(softnetctl, softnetctl, "--root", tree_path(m->tree), "restore", NULL);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* All that is not the daemon's own: path and bytes of every file; the caller frees. In a captured tree a
 * value is replaced by way of a new file; a kernel has none. */
static char *dump(void)
{
	_cleanup_(strv_freep) char **files = tree_files(m->tree);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (char **path = files; *path; path++)
		if (!startswith(*path, "run/") && !strstr(*path, ".softnetd-new")) {
			_cleanup_free_ char *value = tree_read(m->tree, *path);

			fprintf(f, "%s=%s\n", *path, value);
		}
	fclose(f);
	return text;
}

static void expect(const char *original, unsigned n)
{
	_cleanup_free_ char *now = dump();
	size_t i = 0;

	while (now[i] && now[i] == original[i])
		i++;
	while (i > 0 && now[i - 1] != '\n')
		i--;
	ck_assert_msg(streq(now, original), "killed at call %u: \"%.*s\" should be \"%.*s\"", n,
		      (int)strcspn(now + i, "\n"), now + i, (int)strcspn(original + i, "\n"),
		      original + i);
	ck_assert_msg(!tree_has(m->tree, "run/softnetd/ledger.json"), "call %u: a ledger is left",
		      n);
}

static void setup(void)
{
	config = tree_new();
	tree_write(config, "softnetd.conf", "mode = \"apply\";\n");
	tree_write(config, "profiles/busy.conf",
		   "netdev_budget = 600;\nbusy_poll = 50;\nbusy_read = 50;\n"
		   "governor = \"performance\";\nplacement = \"pack\";\n");
	tree_write(config, "profiles/idle.conf", "description = \"nothing\";\n");
	tree_write(config, "profiles/balanced.conf", "description = \"nothing\";\n");
	m = machine_new(&two_cpus);
}

static void teardown(void)
{
	machine_free(TAKE_PTR(m));
	tree_free(TAKE_PTR(config));
}

START_TEST(killed_at_each_system_call_that_changes_something)
{
	_cleanup_free_ char *original = dump();
	bool killed = true;

	for (unsigned n = 1; killed; n++) {
		killed = live_and_die("busy", n);
		if (seen->no_ptrace)
			return;
		seen->points += killed;
		if (killed && n % 2)
			softnetctl_restore();
		else if (killed)
			ck_assert(!live_and_die("idle", UINT_MAX));
		expect(original, n);
	}
	/* Nothing changed is nothing proved: a ledger is made durable by five calls, and there were
	 * at least four settings. */
	ck_assert_uint_gt(seen->points, 40);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("kill -9");
	int failed;

	softnetd = program_path("softnetd");
	softnetctl = program_path("softnetctl");
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!softnetd || !softnetctl || seen == MAP_FAILED)
		return 1;
	tcase_set_timeout(t, 600);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, killed_at_each_system_call_that_changes_something);
	failed = run_suite("crash-daemon", t);
	free(softnetd);
	free(softnetctl);
	if (seen->no_ptrace)
		printf("# nobody may trace a process here: not tested\n");
	else
		printf("# killed at %u system calls of softnetd\n", seen->points);
	return failed;
}
