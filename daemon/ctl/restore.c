/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives back what the ledger holds, through the daemon or, after a crash, without it. */
#include <unistd.h>

#include "act/restore.h"
#include "ctl/daemon.h"
#include "engine/describe.h"
#include "observe/observe.h"
#include "serve/show.h"

/* A ledger that could not be understood lies beside: "nothing to give back" would not be true. */
static void find_bad_ledgers(struct io *io, char *buf, size_t size)
{
	_cleanup_(strv_freep) char **names = NULL;

	buf[0] = '\0';
	if (io_list(io, "run/softnetd", &names) < 0)
		return;
	for (char **name = names; *name; name++)
		if (startswith(*name, "ledger.bad-"))
			append_text(buf, size, "%s%s", *buf ? ", " : "", *name);
	if (*buf)
		append_text(
			buf, size,
			" in run/softnetd: what softnetd had changed by then is not known. Compare with "
			"the values you expect, then remove it");
}

static int restore_here(struct ctl *ctl, json_t **ret)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	_cleanup_(observer_freep) struct observer *observer = NULL;
	_cleanup_(topology_freep) struct topology *topology = NULL;
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	_cleanup_(actuator_freep) struct actuator *actuator = NULL;
	struct io *io = ctl_io(ctl);
	char bad[256];
	pid_t pid = 0;
	int r;

	if (!io)
		return CTL_FAILED;
	r = ledger_open(io, true, &pid, &ledger);
	if (r == -EBUSY)
		return ctl_fail(CTL_FAILED, "softnetd runs with pid %d but does not answer", pid);
	if (r < 0)
		return ctl_fail(r == -EACCES || r == -EPERM ? CTL_NOT_AUTHORISED : CTL_FAILED,
				"Cannot open the ledger: %s", strerror(-r));
	r = observer_new(io, &observer);
	if (r >= 0)
		r = observer_topology(observer, &topology);
	if (r >= 0)
		r = actuator_new(io, ledger, 0, &actuator);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot find out what this machine is made of: %s",
				strerror(-r));
	/* What failed stands in the report, setting by setting. */
	(void)restore_all(actuator, ledger, topology, &report);
	*ret = describe_restore(&report);
	find_bad_ledgers(io, bad, sizeof(bad));
	if (!*bad && !ledger_trouble(ledger))
		return CTL_FINE;
	json_object_set_new(*ret, "trouble", json_string(ledger_trouble(ledger) ?: bad));
	return CTL_FAILED;
}

int verb_restore(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	json_t *doc = NULL;
	int r, printed;

	if (daemon_runs(ctl))
		r = daemon_call(ctl, "Restore", &doc, "");
	else if (!ctl->root && geteuid() != 0)
		return ctl_fail(CTL_NOT_AUTHORISED, "restore without softnetd needs root");
	else
		r = restore_here(ctl, &doc);
	if (!doc)
		return r;
	printed = ctl_print(ctl, doc, show_restore);
	if (json_integer_value(json_object_get(doc, "failed")) > 0)
		r = CTL_FAILED;
	json_decref(doc);
	return r == CTL_FINE ? printed : r;
}
