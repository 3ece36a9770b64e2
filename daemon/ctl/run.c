/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run PROFILE -- COMMAND: the profile is in force before the command begins, and as long as it runs.
 *
 * The command is a child that waits behind a gate (a pipe) until softnetd has its pidfd: from then on
 * the hold is the command's own, and a softnetctl that is killed takes nothing with it. A gate that is
 * closed unopened, because there is no hold or no softnetctl any more, ends the child unrun.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scan.h"
#include "ctl/daemon.h"

/* As shells have it. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127
#define EXIT_BY_SIGNAL      128

static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

static _Noreturn void run_child(int gate, const sigset_t *mask, char **command)
{
	char go;
	int error;

	if (read(gate, &go, 1) != 1)
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	error = errno;
	fprintf(stderr, "softnetctl: %s: %s\n", command[0], strerror(error));
	fflush(stderr);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* The command's words, fit to be shown, when no --reason says better. */
static void default_reason(char **command, char *buf, size_t size)
{
	char line[512] = "";

	for (char **word = command; *word; word++)
		append_text(line, sizeof(line), "%s%s", *line ? " " : "", *word);
	slice_show(slice_of(line, strlen(line)), buf, size);
}

static int take_hold(struct ctl *ctl, pid_t child, char **command)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	char reason[256];

	if (pidfd < 0)
		return ctl_fail(CTL_FAILED, "No pidfd for the command: %s", strerror(errno));
	default_reason(command, reason, sizeof(reason));
	return daemon_call(ctl, "HoldProcess", NULL, "ssh", ctl->word, ctl->reason ?: reason,
			   pidfd);
}

/* Waits for the end of CHILD and hands on what is sent to softnetctl. What a terminal sends reaches
 * the whole process group, the child too: handed on, it would get it twice. */
static int wait_for(pid_t child, const sigset_t *signals)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (sigwaitinfo(signals, &info) < 0) {
			if (errno != EINTR)
				return ctl_fail(CTL_FAILED, "Cannot wait: %s", strerror(errno));
			continue;
		}
		if (info.si_signo != SIGCHLD) {
			if (info.si_code != SI_KERNEL)
				kill(child, info.si_signo);
			continue;
		}
		if (waitpid(child, &status, WNOHANG) != child)
			continue;
		return WIFSIGNALED(status) ? EXIT_BY_SIGNAL + WTERMSIG(status)
					   : WEXITSTATUS(status);
	}
}

int verb_run(struct ctl *ctl, int argc _unused_, char **argv)
{
	sigset_t signals, mask;
	char **command = argv + 1;
	int gate[2], r;
	pid_t child;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	for (size_t i = 0; i < ELEMENTSOF(forwarded); i++)
		sigaddset(&signals, forwarded[i]);
	/* Whoever started softnetctl may have ignored it. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	if (pipe2(gate, O_CLOEXEC) < 0)
		return ctl_fail(CTL_FAILED, "No pipe: %s", strerror(errno));
	fflush(NULL);
	child = fork();
	if (child == 0) {
		close(gate[1]);
		run_child(gate[0], &mask, command);
	}
	close(gate[0]);
	if (child < 0) {
		close(gate[1]);
		return ctl_fail(CTL_FAILED, "Cannot start another process: %s", strerror(errno));
	}
	r = take_hold(ctl, child, command);
	if (r != CTL_FINE && !ctl->best_effort) {
		close(gate[1]);
		waitpid(child, NULL, 0);
		return ctl_fail((enum ctl_exit)r, "%s was not run", command[0]);
	}
	if (r != CTL_FINE)
		ctl_fail((enum ctl_exit)r, "%s runs without profile %s (--best-effort)", command[0],
			 ctl->word);
	/* The child can only be gone if somebody killed it, and then this fails and its status tells. */
	signal(SIGPIPE, SIG_IGN);
	(void)!write(gate[1], "", 1);
	close(gate[1]);
	return wait_for(child, &signals);
}
