/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any one file of a captured host, with any content: the first byte says which. The host is still found
 * and read, every value that it would write back is one, and a source that is no use says why. So the
 * readers are met that have no target of their own: of sysfs, cpufreq, the settings, cgroups.
 */
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "base/log.h"
#include "lib/machine.h"
#include "observe/observe.h"
#include "observe/units.h"

static struct machine *m;
static char **files;
static size_t n_files;

static void clean_up(void)
{
	strv_free(files);
	machine_free(m);
}

static void prepare(void)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_I40E, .queues = 1},
		{.name = "eth1", .kind = MACHINE_VIRTIO},
	};

	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
	log_set_hook(silent, NULL);
	m = machine_new(&(struct machine_spec){.cpus = 2,
					       .nics = nics,
					       .n_nics = 2,
					       .cpufreq = "intel_pstate",
					       .psi_irq = true,
					       .series = true,
					       .rt = true});
	machine_process(m, 300, "irq/25-i40e-eth0-TxRx-0", "", true);
	tree_write(m->tree, "boot/config-6.12.117+deb13-amd64", "CONFIG_HZ=250\n");
	tree_write(m->tree, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
	tree_write(m->tree, "sys/fs/cgroup/system.slice/a.service/cgroup.events",
		   "populated 1\nfrozen 0\n");
	files = tree_files(m->tree);
	while (files[n_files])
		n_files++;
	atexit(clean_up);
}

static void check_topology(const struct topology *t)
{
	for (unsigned i = 0; i < t->n_irqs; i++) {
		must(t->irq[i].nic >= -1 && t->irq[i].nic < (int)t->n_nics);
		must(t->irq[i].queue >= -1);
	}
	for (unsigned i = 0; i < t->n_policies; i++)
		must(t->policy[i].identity[0]);
}

static void check_values(const struct topology *t)
{
	char value[VALUE_MAX];

	for (size_t id = 0; id < _TUNABLE_MAX; id++) {
		struct target target = target_host();

		if (tunables[id].scope == SCOPE_POLICY && t->n_policies > 0)
			target = policy_target(&t->policy[0]);
		else if (tunables[id].scope == SCOPE_IRQ && t->n_irqs > 0)
			target = irq_target(&t->irq[0]);
		else if (tunables[id].scope != SCOPE_HOST)
			continue;
		if (observe_value(&m->io, (enum tunable_id)id, &target, value, sizeof(value)) >= 0)
			must(strnlen(value, sizeof(value)) < sizeof(value));
	}
}

static void look(void)
{
	static const char *const unit[] = {"a.service", NULL};
	struct observer *o;
	struct topology *t;
	struct snapshot *s;
	struct units *u;

	must(observer_new(&m->io, &o) == 0);
	must(observer_topology(o, &t) == 0);
	must(observer_snapshot_new(t, &s) == 0);
	must(observer_read(o, t, false, s) == 0);
	must(observer_read(o, t, true, s) == 0);
	for (size_t i = 0; i < _SOURCE_MAX; i++)
		if (s->source[i].state == SOURCE_STRANGE)
			must(s->source[i].text[0]);
	check_topology(t);
	check_values(t);
	snapshot_free(s);
	topology_free(t);
	observer_free(o);
	must(units_new(&m->io, unit, &u) == 0);
	must(units_read(u) == 0);
	must(units_active(u, *unit) <= 1);
	units_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *before = NULL;
	const char *path;
	size_t length;

	if (size == 0)
		return 0;
	if (!m)
		prepare();
	path = files[data[0] % n_files];
	must(io_read_all(&m->io, path, &before, &length) == 0);
	tree_bytes(m->tree, path, data + 1, size - 1);
	look();
	tree_bytes(m->tree, path, before, length);
	return 0;
}
