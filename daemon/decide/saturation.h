/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that have no time left but for interrupts and softirqs, each for itself. A CPU without time
 * accounting in a tick is neither saturated nor the contrary: it stays as it was. Pure.
 */
#pragma once

#include "model/window.h"

#define SATURATED 0.95 /* share of a CPU's time in interrupts and softirqs */

struct saturation {
	uint8_t ticks[CPU_ID_MAX]; /* in a row up to the newest; 255: so many or more */
};

/* The newest tick of W; without one nothing changes. */
void saturation_tick(struct saturation *s, const struct window *w);
/* The CPUs that are saturated in the newest tick. */
struct cpuset saturation_cpus(const struct saturation *s);
/* The first CPU that is so for TICKS in a row or longer and is not among EXCEPT; -1: none. */
int saturation_find(const struct saturation *s, unsigned ticks, const struct cpuset *except);
