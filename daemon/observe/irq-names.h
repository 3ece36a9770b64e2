/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an interrupt's action name tells about a NIC's vector. Drivers choose these names freely:
 *
 *   virtio1-input.0  i40e-eth0-TxRx-3  eth0-Tx-Rx-0  eth0-rx-2  mlx5_comp7@pci:0000:3b:00.0
 *   i40e-0000:3d:00.0:misc  ena-mgmnt@pci:…  mlx5_async0@pci:…  virtio1-config  iavf-…:mbx
 *   enp4s0f0np0-TxRx-      (bnxt: cut after 17 bytes, case C20)
 *   i40e-eth0-TxRx-84      (eth0 is the name at request_irq(), since renamed: case C22)
 *
 * Pure text; which NIC it is stands in sysfs (observe/nics).
 */
#pragma once

#include "base/util.h"
#include "model/topology.h"

struct irq_name {
	enum irq_role role; /* RXTX also when nothing is told: a NIC's vector serves both until it
			       says else */
	int queue;          /* -1: not told */
	bool told;          /* the name had a word for its role */
};

/* IFNAME is the interface's present name: a part of ACTION that is just this name tells nothing. */
struct irq_name irq_name_read(const char *action, const char *ifname);

/*
 * Whether ACTION looks like an interrupt of an interface or its device, where sysfs cannot tell: it
 * is, or contains as a whole word, the interface's name, or the last part of the device's path
 * ("48484000.ethernet", "virtio0", "0000:3b:00.0").
 */
bool irq_name_belongs(const char *action, const char *ifname, const char *device);
