/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that come one by one: at up to some ten thousand a second no budget binds, and what a packet
 * waits for is a CPU that wakes up, speeds up, or waits for more packets. A full-speed governor and no
 * deep idle states brought the latency of a request back at 10, 100, 1,000 and 10,000 packets a second,
 * and made no difference above (C. Lameter, E. Dumazet: netdev, April 2009); with busy polling the
 * round trips of one connection went from 57,000 to 87,000 a second (E. Tamir, 2013).
 *
 * No loop can try that out: nothing here sees the latency of a single packet. So it is policy, which the
 * profile states; and this symptom says no more than which part of it this host is not brought to.
 * It enters only for a profile whose objective is waiting (`wait`, `wakeup`), and while something is
 * left to do: a setting that somebody else changed, the kernel refused or softnetd may not write; the
 * governor or energy preference that the profile leaves at something slow. What this host does not have
 * is said, but is no reason to enter. Its levers are advice, always.
 */
#pragma once

#include "decide/decide.h"
#include "decide/lever.h"

/* Packets per second of the host, for so long without a break: low between MIN and MAX, and until it is
 * below half of MIN or above twice MAX. */
#define LOW_RATE_MIN  10.0
#define LOW_RATE_MAX  10000.0
#define LOW_RATE_USEC (60 * USEC_PER_SEC)

/* What is not in force, as changes; how many. PASSED, may be NULL, gets what cannot be. */
size_t low_rate_levers(const struct decide_input *in, struct change *changes, size_t max,
		       struct passed_list *passed);
