/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What could be written on this host, asked before anything has to be: each file that a setting of
 * this host is written through is opened for writing, and closed again. Nothing is ever written.
 * An open that works does not promise a write that works (limits, managed interrupts): act_apply()
 * finds that out. One that fails is the sandbox of the unit, a container, or no root.
 */
#pragma once

#include "base/io.h"
#include "model/topology.h"
#include "model/tunable.h"

struct selftest {
	struct selftest_setting {
		unsigned possible,
			refused; /* targets; both 0: this host does not have the setting */
		int error;       /* of the first that was refused, a negative errno */
		char path[96];   /* … and its file */
	} setting[_TUNABLE_MAX];
};

/* Interrupts that nobody may write (the kernel places them: mode without w) do not count, nor do those
 * of no NIC. */
void selftest_run(struct io *io, const struct topology *t, struct selftest *ret);

/* "irq_affinity (3 of 4): Read-only file system (/proc/irq/30/smp_affinity_list)" for a setting that
 * was refused; 0 when it was not. */
bool selftest_refusal(const struct selftest *s, enum tunable_id id, char *buf, size_t size);
