/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks of user space that have a real-time policy, from /proc/PID/task/TID. Every thread of the machine
 * is looked at: not for every tick.
 */
#pragma once

#include "base/io.h"
#include "model/topology.h"

/* The rank of a task by the policy and priority in its stat (struct rt_task). 0 also when it cannot be read. */
unsigned rt_rank_read(struct io *io, pid_t pid);

/* 0, or a negative errno when /proc cannot be listed, or -ENOMEM; RET is then NULL. The caller frees it.
 * A task that ends meanwhile, or that we may not see, is left out. */
int rt_tasks_scan(struct io *io, struct rt_task **ret, size_t *ret_n);
