/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hardware and network addresses out of the texts of a recording. They stand where one does not
 * look for them: systemd names USB NICs after their MAC (enx001122334455), Hyper-V's device paths
 * hold GUIDs that Azure makes from it, and log lines may name peers.
 *
 * Taken out: twelve hex digits in a row, six pairs of them with ':' or '-', GUIDs (8-4-4-4-12), and
 * dotted IPv4 addresses. What is put in their place is a number of the same shape, the same for the
 * same address, so that what was equal stays equal and what differed differs. PCI addresses stay.
 */
#pragma once

#include "base/util.h"

struct trace_mask {
	char **seen; /* addresses, as text; the place is the number */
	size_t n;
};

/* In place: the length stays the same or shrinks. -ENOMEM: TEXT is then empty. */
int trace_mask(struct trace_mask *m, char *text);
void trace_mask_done(struct trace_mask *m);
