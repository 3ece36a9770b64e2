/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NAPI instances: which NIC and queue each serves, its interrupt, its thread. The family "netdev" of
 * generic netlink tells it, as far as the kernel and the driver go; where it does not,
 *
 *   no family (6.1)            instances are known by their threads napi/NAME-ID, if there are any
 *   no queue (virtio_net 6.12) the n-th instance by id serves the n-th queue, if there are as many
 *                              instances as channels: drivers add them in that order
 *   no interrupt (virtio_net, ixgbe, i40e, r8169)  the one whose name tells the queue
 */
#pragma once

#include "base/io.h"
#include "model/snapshot.h"
#include "model/topology.h"
#include "observe/processes.h"

/*
 * Fills T->napi anew; NICs, their channels and interrupts must be there. *RET_SIGNATURE changes when
 * an instance comes, goes, or gets another id, interrupt or thread. STATUS says what is missing;
 * without generic netlink (a captured tree) it stays as it is. -ENOMEM or 0.
 */
int napis_discover(struct io *io, const struct processes *p, struct topology *t,
		   struct source_status *status, uint64_t *ret_signature);
/* One request: reads the settings of the instances again, into T. False, and T is as before, when they
 * are not those of SIGNATURE any more or cannot be listed. */
bool napis_refresh(struct io *io, struct topology *t, uint64_t signature);

/* A setting of the instance ID, which must belong to the NIC IFINDEX (0: any). -ENODEV: there is no
 * such instance, or it is another NIC's; -ENOENT: the kernel does not tell it. */
int napi_read_setting(struct io *io, enum tunable_id id, unsigned napi, unsigned ifindex,
		      uint64_t *ret);
/* The request that sets it: for act/. */
void napi_set_request(struct genl_request *q, enum tunable_id id, unsigned napi, uint64_t value);
