/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives back what the ledger holds, through the daemon or, after a crash, without it. */
#include "act/restore.h"
#include "ctl/daemon.h"
#include "engine-describe.h"
#include "observe/observe.h"
#include "serve/show.h"

static int restore_here(struct ctl *ctl, json_t **ret)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	_cleanup_(observer_freep) struct observer *observer = NULL;
	_cleanup_(topology_freep) struct topology *topology = NULL;
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	_cleanup_(actuator_freep) struct actuator *actuator = NULL;
	struct io *io = ctl_io(ctl);
	pid_t pid = 0;
	int r;

	if (!io)
		return CTL_FAILED;
	r = ledger_open(io, true, &pid, &ledger);
	if (r == -EBUSY)
		return ctl_fail(CTL_FAILED, "softnetd runs with pid %d but does not answer", pid);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot open the ledger: %s", strerror(-r));
	if (ledger_trouble(ledger))
		ctl_fail(CTL_FAILED, "%s", ledger_trouble(ledger));
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
	return ledger_trouble(ledger) ? CTL_FAILED : CTL_FINE;
}

int verb_restore(struct ctl *ctl, int argc _unused_, char **argv _unused_)
{
	json_t *doc = NULL;
	int r, printed;

	r = need_root(ctl);
	if (r != CTL_FINE)
		return r;
	if (daemon_runs(ctl))
		r = daemon_call(ctl, "Restore", &doc, "");
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
