/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/daemon.h"

#include <stdarg.h>
#include <unistd.h>

#include "serve/manager.h"
#include "serve/socket.h"

static int connect_bus(struct ctl *ctl)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	struct io *io = ctl_io(ctl);
	int fd, r;

	if (ctl->bus)
		return 0;
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
	return 0;
}

bool daemon_runs(struct ctl *ctl)
{
	return connect_bus(ctl) >= 0;
}

static int connect_error(const struct ctl *ctl, int r)
{
	const char *root = ctl->root ? ctl->root : "";

	if (r == -ENOENT || r == -ENOTDIR || r == -ECONNREFUSED)
		return ctl_fail(CTL_NO_DAEMON, "softnetd is not running (nobody answers at %s/%s)",
				root, SOCKET_PATH);
	return ctl_fail(CTL_FAILED, "Cannot reach softnetd at %s/%s: %s", root, SOCKET_PATH,
			strerror(-r));
}

/* A complaint of several lines (file:line: text) starts on a line of its own. */
static int call_error(const sd_bus_error *error, int r)
{
	const char *text = error->message ? error->message : strerror(-r);
	enum ctl_exit code = CTL_FAILED;

	if (sd_bus_error_has_name(error, MANAGER_ERROR_NOT_AUTHORIZED))
		code = CTL_NOT_AUTHORISED;
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

int daemon_call(struct ctl *ctl, const char *method, json_t **ret, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL, *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	va_list ap;
	int r;

	r = connect_bus(ctl);
	if (r < 0)
		return connect_error(ctl, r);
	r = sd_bus_message_new_method_call(ctl->bus, &call, NULL, MANAGER_PATH, MANAGER_INTERFACE,
					   method);
	if (r >= 0 && *types) {
		va_start(ap, types);
		r = sd_bus_message_appendv(call, types, ap);
		va_end(ap);
	}
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot ask softnetd: %s", strerror(-r));
	r = sd_bus_call(ctl->bus, call, 0, &error, &reply);
	if (r < 0)
		return call_error(&error, r);
	return ret ? read_document(reply, ret) : CTL_FINE;
}

int daemon_property(struct ctl *ctl, const char *property, char **ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r;

	r = connect_bus(ctl);
	if (r < 0)
		return connect_error(ctl, r);
	r = sd_bus_get_property_string(ctl->bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, property,
				       &error, ret);
	return r < 0 ? call_error(&error, r) : CTL_FINE;
}

int need_root(const struct ctl *ctl)
{
	if (ctl->root || geteuid() == 0)
		return CTL_FINE;
	return ctl_fail(CTL_NOT_AUTHORISED, "%s needs root", ctl->verb->name);
}
