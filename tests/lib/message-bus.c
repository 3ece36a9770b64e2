/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/message-bus.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* So long a loaded machine may take for anything; nothing here waits it out when all is well. */
#define PATIENCE_MSEC 60000

/* As /usr/share/dbus-1/system.conf has it, without what makes it this host's; and whoever runs the
 * tests may be what root may be. */
static const char configuration[] =
	"<!DOCTYPE busconfig PUBLIC '-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN'\n"
	" 'http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd'>\n"
	"<busconfig>\n"
	" <type>custom</type>\n"
	" <listen>unix:path=%s/system-bus</listen>\n"
	" <auth>EXTERNAL</auth>\n"
	" <policy context='default'>\n"
	"  <allow user='*'/>\n"
	"  <deny own='*'/>\n"
	"  <deny send_type='method_call'/>\n"
	"  <allow send_type='signal'/>\n"
	"  <allow send_requested_reply='true' send_type='method_return'/>\n"
	"  <allow send_requested_reply='true' send_type='error'/>\n"
	"  <allow receive_type='method_call'/>\n"
	"  <allow receive_type='method_return'/>\n"
	"  <allow receive_type='error'/>\n"
	"  <allow receive_type='signal'/>\n"
	"  <allow send_destination='org.freedesktop.DBus'/>\n"
	" </policy>\n"
	" <policy user='root'>\n"
	"  <allow own='org.freedesktop.PolicyKit1'/>\n"
	"  <allow send_destination='org.freedesktop.PolicyKit1'/>\n"
	" </policy>\n"
	" <policy user='%u'>\n"
	"  <allow own='org.freedesktop.PolicyKit1'/>\n"
	"  <allow own='org.softnetd1'/>\n"
	"  <allow send_destination='org.freedesktop.PolicyKit1'/>\n"
	" </policy>\n"
	" <include>%s</include>\n"
	"</busconfig>\n";

bool message_bus_possible(void)
{
	return system("command -v dbus-daemon >/dev/null 2>&1") == 0;
}

char *message_bus_address(const struct tree *t)
{
	char *address;

	ck_assert_int_ge(asprintf(&address, "unix:path=%s/system-bus", tree_path(t)), 0);
	return address;
}

/* What comes next from FD, at most SIZE - 1 bytes and never beyond a line. */
static void read_line(int fd, char *buf, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t n = 0;

	while (n + 1 < size) {
		ck_assert_int_eq(poll(&p, 1, PATIENCE_MSEC), 1);
		ck_assert_int_eq(read(fd, buf + n, 1), 1);
		if (buf[n] == '\n')
			break;
		n++;
	}
	buf[n] = '\0';
}

pid_t message_bus_start(struct tree *t)
{
	_cleanup_free_ char *policy = realpath("config/org.softnetd1.conf", NULL);
	_cleanup_free_ char *option = NULL;
	int ready[2];
	char line[512];
	pid_t pid;

	ck_assert_ptr_nonnull(policy);
	tree_printf(t, "system-bus.conf", configuration, tree_path(t), geteuid(), policy);
	ck_assert_int_ge(asprintf(&option, "--config-file=%s/system-bus.conf", tree_path(t)), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		char address[64];

		/* Not longer than the test, whatever becomes of that. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		snprintf(address, sizeof(address), "--print-address=%d", ready[1]);
		execlp("dbus-daemon", "dbus-daemon", "--nofork", "--nopidfile", option, address,
		       NULL);
		_exit(127);
	}
	close(ready[1]);
	read_line(ready[0], line, sizeof(line));
	close(ready[0]);
	return pid;
}

void message_bus_stop(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

sd_bus *message_bus_client(const char *address)
{
	sd_bus *bus = NULL;

	if (sd_bus_new(&bus) >= 0 && sd_bus_set_address(bus, address) >= 0 &&
	    sd_bus_set_bus_client(bus, true) >= 0 && sd_bus_negotiate_fds(bus, true) >= 0 &&
	    sd_bus_start(bus) >= 0)
		return bus;
	return sd_bus_unref(bus);
}

/* ---- polkit ---- */

struct authority {
	enum polkit_answer answer;
	int asked;
};

/* No vtable: sd-bus would not let it answer something strange. */
static int check_authorization(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const char *kind, *key, *subject, *action, *cancel;
	struct authority *a = userdata;
	uint32_t flags;
	int r;

	if (!sd_bus_message_is_method_call(call, "org.freedesktop.PolicyKit1.Authority",
					   "CheckAuthorization"))
		return 0;
	r = sd_bus_message_read(call, "(sa{sv})s", &kind, 1, &key, "s", &subject, &action);
	if (r >= 0)
		r = sd_bus_message_skip(call, "a{ss}");
	if (r >= 0)
		r = sd_bus_message_read(call, "us", &flags, &cancel);
	if (r < 0)
		return r;
	dprintf(a->asked, "%s %s %u\n", subject, action, flags);
	switch (a->answer) {
	case POLKIT_YES:
		return sd_bus_reply_method_return(call, "(bba{ss})", 1, 0, 0);
	case POLKIT_NO:
		return sd_bus_reply_method_return(call, "(bba{ss})", 0, 0, 0);
	case POLKIT_CHALLENGE:
		return sd_bus_reply_method_return(call, "(bba{ss})", 0, 1, 1, "polkit.retains", "");
	case POLKIT_UNKNOWN:
		return sd_bus_error_setf(error, "org.freedesktop.PolicyKit1.Error.Failed",
					 "Action %s is not registered", action);
	case POLKIT_STRANGE:
		return sd_bus_reply_method_return(call, "s", "yes");
	case POLKIT_NEVER:
		sd_bus_message_ref(call); /* kept, as if somebody were asked */
		return 1;
	}
	return -EINVAL;
}

static _Noreturn void be_polkit(const char *address, struct authority *a)
{
	sd_bus *bus = message_bus_client(address);
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!bus ||
	    sd_bus_add_object(bus, NULL, "/org/freedesktop/PolicyKit1/Authority",
			      check_authorization, a) < 0 ||
	    sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0) < 0)
		_exit(1);
	dprintf(a->asked, "ready\n");
	do {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	} while (r >= 0);
	_exit(1);
}

struct fake_polkit fake_polkit_start(const char *address, enum polkit_answer answer)
{
	struct fake_polkit p;
	char line[64];
	int asked[2];

	ck_assert_int_eq(pipe(asked), 0);
	p.pid = fork();
	ck_assert_int_ge(p.pid, 0);
	if (p.pid == 0) {
		close(asked[0]);
		be_polkit(address, &(struct authority){.answer = answer, .asked = asked[1]});
	}
	close(asked[1]);
	p.asked = asked[0];
	read_line(p.asked, line, sizeof(line));
	ck_assert_str_eq(line, "ready");
	return p;
}

void fake_polkit_stop(struct fake_polkit *p)
{
	ck_assert_int_eq(kill(p->pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(p->pid, NULL, 0), p->pid);
	close(p->asked);
}

char *fake_polkit_question(struct fake_polkit *p)
{
	char line[512];

	read_line(p->asked, line, sizeof(line));
	return strdup(line);
}
