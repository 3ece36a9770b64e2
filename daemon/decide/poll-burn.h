/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Busy polling that burns CPU time for nothing: net.core.busy_poll and busy_read let whoever waits for a
 * packet spin so many microseconds before it sleeps. That is a bargain when packets come meanwhile. But a
 * task that waits often, with a short timeout or for other things than packets, spins each time: in poll() and
 * select() by busy_poll, where a socket has a time from busy_read as well (fs/select.c: do_poll(),
 * net/socket.c: sock_poll()), in a blocking read by busy_read (include/net/busy_poll.h: sk_busy_loop()). So
 * an idle application has its CPU at 100 %. epoll_wait(), in which that of haproxy#2984 waits, is better
 * behaved: after one poll that found nothing it polls no more until a packet has come (fs/eventpoll.c:
 * ep_busy_loop() drops the NAPI id).
 * And whether a driver's queue gives anything to whom polls it differs (firedancer#10371).
 *
 * No counter tells how long anybody polled. What can be told is how much it may be at most: all time that
 * the host's CPUs are busy, and that is so many polls of so many microseconds. When the packets that arrive
 * are few against these, few polls can have found one. That proves nothing, since ordinary work makes CPUs
 * busy, too; so it only leads to a trial, which takes back what softnetd wrote and looks whether the CPUs
 * become idle while as many packets arrive (decide/trial.h).
 *
 * Only a value that the profile states and softnetd wrote is in question: what others set, or an admin
 * pinned, is wanted so. busy_read_follow and busy_poll_budget are no times, and do nothing without these; the
 * open sockets of a unit (socket_busy_poll, epoll_busy_poll) have no one value to take back in one step, and
 * are not looked at. Pure.
 */
#pragma once

#include "decide/symptom.h"

/* A good part of a CPU: less is not worth touching what the profile states. It leaves below half of it. */
#define POLL_BURN_CPUS 0.5
/* Share of the possible polls that may have found a packet; it leaves above twice of it. At 3 % and 50 µs
 * the packet that is found costs 1.7 ms of CPU time, where an interrupt would cost some microseconds. */
#define POLL_BURN_FOUND 0.03
/* For so long without a break, by averages over so many ticks: it burns, but nothing breaks meanwhile, and
 * start-up, cron jobs and compilers are over by then or not. */
#define POLL_BURN_USEC  (60 * USEC_PER_SEC)
#define POLL_BURN_TICKS 10
/* Withdrawn, so many CPUs fewer must be busy: half of what it takes to enter, since the rest may be work. */
#define POLL_BURN_FALL 0.25
/* … and no fewer packets arrive than this share: a requester that waits for each answer sends fewer requests
 * when answers come later, and then polling is good for something. */
#define POLL_BURN_PACKETS 0.9

/* How many of CPUS were busy over the newest TICKS ticks, 1.5: one and a half. False without the time
 * accounting of one of them. */
bool poll_burn_busy(const struct window *w, const struct cpuset *cpus, unsigned ticks, double *ret);

/* Whether polls of POLL_USEC, which burned BURNED CPUs, would be worth it at the present load: found
 * packets would be above where the symptom leaves, also with them. RET_PACKETS arrive a second. False when
 * that cannot be told. */
bool poll_burn_pays(const struct decide_input *in, double burned, int64_t poll_usec,
		    double *ret_packets);

/* ID back to what it was before the profile, as a trial. NULL when RET is filled, else why not. */
const char *poll_burn_lever(const struct decide_input *in, const struct symptom_report *r,
			    enum tunable_id id, struct change *ret);
