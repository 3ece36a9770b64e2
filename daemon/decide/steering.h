/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive packet steering: to which CPUs the receive queues of a NIC hand their packets, when there are
 * fewer queues than CPUs near it. Pure.
 *
 * Source: Documentation/networking/scaling.rst ("RPS: Receive Packet Steering"): with a queue for each
 * CPU it is redundant and only adds inter-processor interrupts; with fewer, the CPUs of the memory
 * domain of the interrupting CPU, without that one where it is busy.
 */
#pragma once

#include "model/topology.h"

/*
 * The mask that each receive queue of NIC gets, empty when RPS would be of no use: with as many queues
 * as cores near the NIC, or more; with one core; for virtual NICs, whose packets a real one has
 * steered already (a mask on every veth is a storm of interrupts: terway#90).
 *
 * It holds one CPU of each core of the NIC's NUMA node (of the node where its interrupts arrive, when
 * its own is not known), never isolated or offline ones, and only those in ALLOWED (NULL: all). The
 * CPUs to which the NIC's own receive interrupts are bound are left out as long as there are as many
 * others as queues: they have the driver's work already. Interrupts that may arrive anywhere leave
 * nothing out, so that the mask does not follow them around.
 */
struct cpuset rps_plan(const struct topology *t, unsigned nic, const struct cpuset *allowed);
