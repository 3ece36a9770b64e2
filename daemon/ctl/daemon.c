/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/daemon.h"

#include <stdarg.h>
#include <unistd.h>

#include "serve/manager.h"
#include "serve/socket.h"

/* For somebody to type a password into a dialog of polkit's; softnetd itself answers at once. */
#define ANSWER_USEC (330 * USEC_PER_SEC)

static int connect_socket(struct ctl *ctl)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	struct io *io = ctl_io(ctl);
	int fd, r;

	if (!io)
		return -EINVAL;
	r = socket_connect(io, &fd);
	if (r < 0)
		return r;
	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_fd(bus, fd, fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = sd_bus_start(bus);
	if (r < 0)
		return r;
	ctl->bus = TAKE_PTR(bus);
	ctl->destination = NULL;
	return 0;
}

/* -ENXIO: the bus is there, softnetd is not. */
static int connect_message_bus(struct ctl *ctl)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	int r;

	if (ctl->host)
		r = sd_bus_open_system_remote(&bus, ctl->host);
	else if (ctl->machine)
		r = sd_bus_open_system_machine(&bus, ctl->machine);
	else
		r = sd_bus_open_system(&bus);
	if (r < 0)
		return r;
	r = sd_bus_set_allow_interactive_authorization(bus, true);
	if (r < 0)
		return r;
	r = sd_bus_get_name_creds(bus, MANAGER_NAME, 0, NULL);
	if (r < 0)
		return r;
	ctl->bus = TAKE_PTR(bus);
	ctl->destination = MANAGER_NAME;
	return 0;
}

static bool is_remote(const struct ctl *ctl)
{
	return ctl->host || ctl->machine;
}

static bool nobody_there(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ECONNREFUSED || r == -ENXIO;
}

static int connect_daemon(struct ctl *ctl)
{
	int r;

	if (ctl->bus)
		return 0;
	if (is_remote(ctl))
		return connect_message_bus(ctl);
	if (ctl->root)
		return connect_socket(ctl);
	if (geteuid() != 0)
		return connect_message_bus(ctl) >= 0 ? 0 : connect_socket(ctl);
	r = connect_socket(ctl);
	/* What is wrong with the socket says more than that there is no bus either. */
	if (nobody_there(r) && connect_message_bus(ctl) >= 0)
		return 0;
	return r;
}

bool daemon_runs(struct ctl *ctl)
{
	return is_remote(ctl) || connect_daemon(ctl) >= 0;
}

static int connect_error(const struct ctl *ctl, int r)
{
	const char *where = ctl->host ?: ctl->machine;

	if (where && r == -ENXIO)
		return ctl_fail(CTL_NO_DAEMON,
				"softnetd is not running on %s (nobody is " MANAGER_NAME
				" on its system bus)",
				where);
	if (ctl->host)
		return ctl_fail(CTL_FAILED,
				"Cannot reach the system bus of %s: %s (it is reached by ssh, and "
				"needs systemd-stdio-bridge there)",
				where, strerror(-r));
	if (ctl->machine)
		return ctl_fail(CTL_FAILED, "Cannot reach the system bus of container %s: %s%s",
				where, strerror(-r), geteuid() == 0 ? "" : " (it needs root)");
	if (ctl->root && nobody_there(r))
		return ctl_fail(CTL_NO_DAEMON, "softnetd is not running (nobody answers at %s/%s)",
				ctl->root, SOCKET_PATH);
	if (nobody_there(r))
		return ctl_fail(
			CTL_NO_DAEMON,
			"softnetd is not running (nobody answers at /%s, nor as " MANAGER_NAME
			" on the system bus)",
			SOCKET_PATH);
	return ctl_fail(CTL_FAILED, "Cannot reach softnetd at %s/%s: %s", ctl->root ?: "",
			SOCKET_PATH, strerror(-r));
}

/* A complaint of several lines (file:line: text) starts on a line of its own. */
static int call_error(const sd_bus_error *error, int r)
{
	const char *text = error->message ? error->message : strerror(-r);
	enum ctl_exit code = CTL_FAILED;

	if (sd_bus_error_has_name(error, MANAGER_ERROR_NOT_AUTHORIZED) ||
	    sd_bus_error_has_name(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED) ||
	    sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED))
		code = CTL_NOT_AUTHORISED;
	else if (sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
		 sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return ctl_fail(CTL_NO_DAEMON, "softnetd has just stopped");
	else if (sd_bus_error_has_name(error, MANAGER_ERROR_NO_SUCH_SETTING) ||
		 sd_bus_error_has_name(error, MANAGER_ERROR_NO_SUCH_CHANGE) ||
		 sd_bus_error_has_name(error, MANAGER_ERROR_INVALID_VALUE))
		code = CTL_USAGE;
	else if (r == -EOPNOTSUPP)
		/* softnetd takes descriptors only from those who may change things. */
		return ctl_fail(CTL_NOT_AUTHORISED, "Holding a profile needs root");
	else if (r == -ECONNRESET || r == -ENOTCONN || r == -EPIPE)
		return ctl_fail(CTL_FAILED,
				"softnetd closed the connection: it has too many clients, "
				"or is just stopping");
	return ctl_fail(code, "%s%s", strchr(text, '\n') ? "\n" : "", text);
}

static int read_document(sd_bus_message *reply, json_t **ret)
{
	json_error_t error;
	const char *text;
	int r;

	r = sd_bus_message_read(reply, "s", &text);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "softnetd answered something else than a document");
	*ret = json_loads(text, JSON_DECODE_ANY, &error);
	if (!*ret)
		return ctl_fail(CTL_FAILED, "softnetd's answer is no JSON: %s", error.text);
	return CTL_FINE;
}

/* Whoever only asks must not start softnetd: the bus would. */
static int new_call(const struct ctl *ctl, const char *interface, const char *method,
		    sd_bus_message **ret)
{
	int r;

	r = sd_bus_message_new_method_call(ctl->bus, ret, ctl->destination, MANAGER_PATH, interface,
					   method);
	return r < 0 ? r : sd_bus_message_set_auto_start(*ret, false);
}

int daemon_call(struct ctl *ctl, const char *method, json_t **ret, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL, *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	va_list ap;
	int r;

	r = connect_daemon(ctl);
	if (r < 0)
		return connect_error(ctl, r);
	r = new_call(ctl, MANAGER_INTERFACE, method, &call);
	if (r >= 0 && *types) {
		va_start(ap, types);
		r = sd_bus_message_appendv(call, types, ap);
		va_end(ap);
	}
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot ask softnetd: %s", strerror(-r));
	r = sd_bus_call(ctl->bus, call, ANSWER_USEC, &error, &reply);
	if (r < 0)
		return call_error(&error, r);
	return ret ? read_document(reply, ret) : CTL_FINE;
}

int daemon_property(struct ctl *ctl, const char *property, char **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL, *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *value;
	int r;

	r = connect_daemon(ctl);
	if (r < 0)
		return connect_error(ctl, r);
	r = new_call(ctl, "org.freedesktop.DBus.Properties", "Get", &call);
	if (r >= 0)
		r = sd_bus_message_append(call, "ss", MANAGER_INTERFACE, property);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot ask softnetd: %s", strerror(-r));
	r = sd_bus_call(ctl->bus, call, ANSWER_USEC, &error, &reply);
	if (r < 0)
		return call_error(&error, r);
	r = sd_bus_message_read(reply, "v", "s", &value);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "softnetd answered something else than a text");
	*ret = strdup(value);
	return *ret ? CTL_FINE : ctl_fail(CTL_FAILED, "Out of memory");
}
