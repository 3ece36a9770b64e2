/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/selftest.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void try_target(struct io *io, enum tunable_id id, const struct target *target,
		       struct selftest_setting *s)
{
	_cleanup_close_ int fd = -1;
	char path[sizeof(s->path)];

	if (target_path(id, target, path, sizeof(path)) < 0)
		return;
	fd = io_open(io, path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0) {
		s->possible++;
		return;
	}
	if (fd == -ENOENT || fd == -ENODEV || fd == -ENXIO)
		return;
	if (s->refused++ > 0)
		return;
	s->error = fd;
	memcpy(s->path, path, sizeof(path));
}

static void try(struct io *io, const struct tunable *t, unsigned number, struct selftest_setting *s)
{
	try_target(io, tunable_index(t), &(struct target){.number = number}, s);
}

/* Files of NICs. What is set by netlink has none, and a thread's CPUs are not written to its file. */
static void try_nics(struct io *io, const struct topology *topology, enum tunable_id id,
		     struct selftest_setting *s)
{
	_cleanup_free_ struct target *targets = NULL;
	int n = topology_targets(topology, id, &targets);

	for (int i = 0; i < n; i++)
		if (targets[i].scope == SCOPE_NIC || targets[i].scope == SCOPE_QUEUE)
			try_target(io, id, &targets[i], s);
}

/* Whether the kernel lets anybody write there. */
static bool has_write_bit(struct io *io, const struct tunable *t, unsigned number)
{
	char path[96];
	mode_t mode;

	return tunable_path(t, number, path, sizeof(path)) < 0 ||
	       io->ops->mode(io, path, &mode) < 0 || mode & (S_IWUSR | S_IWGRP | S_IWOTH);
}

void selftest_run(struct io *io, const struct topology *topology, struct selftest *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (unsigned id = 0; id < _TUNABLE_MAX; id++) {
		const struct tunable *t = &tunables[id];
		struct selftest_setting *s = &ret->setting[id];

		if (t->scope == SCOPE_HOST)
			try(io, t, 0, s);
		if (t->scope == SCOPE_IRQ)
			for (unsigned i = 0; i < topology->n_irqs; i++)
				if (topology->irq[i].nic >= 0 &&
				    has_write_bit(io, t, topology->irq[i].number))
					try(io, t, topology->irq[i].number, s);
		if (t->scope == SCOPE_POLICY)
			for (unsigned i = 0; i < topology->n_policies; i++)
				try(io, t, topology->policy[i].number, s);
		if (tunable_of_nic(t))
			try_nics(io, topology, id, s);
	}
}

bool selftest_refusal(const struct selftest *s, enum tunable_id id, char *buf, size_t size)
{
	const struct selftest_setting *one = &s->setting[id];

	if (one->refused == 0)
		return false;
	snprintf(buf, size, "%s", tunables[id].id);
	if (one->possible > 0 || one->refused > 1)
		append_text(buf, size, " (%u of %u)", one->refused, one->possible + one->refused);
	append_text(buf, size, ": %s (/%s)", strerror(-one->error), one->path);
	return true;
}
