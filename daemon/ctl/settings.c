/* SPDX-License-Identifier: GPL-2.0-or-later */
/* get, set, release: one setting, by hand. */
#include "act/ledger.h"
#include "ctl/daemon.h"
#include "engine/describe.h"
#include "model/tunable.h"
#include "observe/observe.h"
#include "serve/show.h"

/* "irq_affinity@30": TARGET is "" without one. Cuts WORD in place; no setting's id holds an '@'. */
static void split(char *word, const char **setting, const char **target)
{
	char *at = strchr(word, '@');

	*setting = word;
	*target = at ? at + 1 : "";
	if (at)
		*at = '\0';
}

static int check_setting(const char *setting)
{
	const char *near;

	if (tunable_find(setting))
		return CTL_FINE;
	near = nearest_name(setting, tunable_names());
	if (near)
		return ctl_fail(CTL_USAGE, "No setting \"%s\"; did you mean \"%s\"?", setting,
				near);
	return ctl_fail(CTL_USAGE, "No setting \"%s\"; \"softnetctl get\" lists them all", setting);
}

/* What the kernel and the ledger say, without a daemon. */
static int read_settings(struct ctl *ctl, const char *setting, json_t **ret)
{
	_cleanup_(observer_freep) struct observer *observer = NULL;
	_cleanup_(topology_freep) struct topology *topology = NULL;
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	struct io *io = ctl_io(ctl);
	pid_t pid;
	int r;

	if (!io)
		return CTL_FAILED;
	r = observer_new(io, &observer);
	if (r >= 0)
		r = observer_topology(observer, &topology);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "Cannot find out what this machine is made of: %s",
				strerror(-r));
	/* Who may not read it still gets the values. */
	if (ledger_open(io, false, &pid, &ledger) < 0)
		ledger = NULL;
	*ret = describe_settings(io, topology, ledger, setting);
	fputs("softnetctl: softnetd is not running; these are the kernel's values\n", stderr);
	return CTL_FINE;
}

int settings_document(struct ctl *ctl, const char *setting, json_t **ret)
{
	if (daemon_runs(ctl))
		return daemon_call(ctl, "DescribeSettings", ret, "s", setting);
	return read_settings(ctl, setting, ret);
}

static bool fits(const json_t *setting, const char *target)
{
	const char *number = json_string_value(json_object_get(setting, "target"));
	const char *name = json_string_value(json_object_get(setting, "name"));

	return (number && streq(number, target)) || (name && streq(name, target));
}

static int keep_target(json_t *settings, const char *target)
{
	for (size_t i = json_array_size(settings); i > 0; i--)
		if (!fits(json_array_get(settings, i - 1), target))
			json_array_remove(settings, i - 1);
	if (json_array_size(settings) > 0)
		return CTL_FINE;
	return ctl_fail(CTL_USAGE, "This host has no target \"%s\" for that setting", target);
}

int verb_get(struct ctl *ctl, int argc, char **argv)
{
	const char *setting = "", *target = "";
	json_t *doc = NULL;
	int r = CTL_FINE;

	if (argc > 1) {
		split(argv[1], &setting, &target);
		r = check_setting(setting);
	}
	if (r != CTL_FINE)
		return r;
	r = settings_document(ctl, setting, &doc);
	if (r == CTL_FINE && *target)
		r = keep_target(doc, target);
	if (r == CTL_FINE)
		r = ctl_print(ctl, doc, show_settings);
	json_decref(doc);
	return r;
}

/* The setting as it is now: the answer of set and release. */
static int print_setting(struct ctl *ctl, const char *setting, const char *target)
{
	json_t *doc = NULL;
	int r;

	r = daemon_call(ctl, "DescribeSettings", &doc, "s", setting);
	if (r == CTL_FINE && *target)
		r = keep_target(doc, target);
	if (r == CTL_FINE)
		r = ctl_print(ctl, doc, show_settings);
	json_decref(doc);
	return r;
}

int verb_set(struct ctl *ctl, int argc _unused_, char **argv)
{
	const char *setting, *target;
	int r;

	split(argv[1], &setting, &target);
	r = check_setting(setting);
	if (r == CTL_FINE)
		r = daemon_call(ctl, "SetSetting", NULL, "sss", setting, target, argv[2]);
	return r == CTL_FINE ? print_setting(ctl, setting, target) : r;
}

int verb_release(struct ctl *ctl, int argc _unused_, char **argv)
{
	const char *setting, *target;
	int r;

	split(argv[1], &setting, &target);
	r = check_setting(setting);
	if (r == CTL_FINE)
		r = daemon_call(ctl, "ReleaseSetting", NULL, "ss", setting, target);
	return r == CTL_FINE ? print_setting(ctl, setting, target) : r;
}
