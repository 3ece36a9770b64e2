/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lib/run.h"
#include "observe/irq-names.h"

static const struct {
	const char *action, *ifname;
	enum irq_role role;
	int queue;
	bool told;
} names[] = {
	{"virtio1-config", "eth0", IRQ_OTHER, -1, true}, /* C04 */
	{"virtio1-input.0", "eth0", IRQ_RX, 0, true},
	{"virtio1-output.12", "eth0", IRQ_TX, 12, true},
	{"virtio0-virtqueues", "eth0", IRQ_RXTX, -1, true},
	{"virtio0", "eth0", IRQ_RXTX, -1, false},              /* C14 */
	{"i40e-enP1s15-TxRx-2", "enP1s15", IRQ_RXTX, 2, true}, /* C18 */
	{"i40e-0001:00:0f.0:misc", "enP1s15", IRQ_OTHER, -1, true},
	{"i40e-eth0-TxRx-84", "enp61s0f0", IRQ_RXTX, 84, true},   /* C22: the old name */
	{"enp4s0f0np0-TxRx-", "enp4s0f0np0", IRQ_RXTX, -1, true}, /* C20 */
	{"eth0-Tx-Rx-3", "eth0", IRQ_RXTX, 3, true},              /* C12 */
	{"ena-mgmnt@pci:0000:00:05.0", "eth0", IRQ_OTHER, -1, true},
	{"mlx5_comp17@pci:0000:3b:00.0", "ens1", IRQ_RXTX, 17, true},
	{"mlx5_async0@pci:0000:3b:00.0", "ens1", IRQ_OTHER, -1, true},
	{"mlx4-5@0000:04:00.0", "eth2", IRQ_RXTX, 5, false},
	{"enp59s0f0-7", "enp59s0f0", IRQ_RXTX, 7, false},
	{"eth0-rx-1", "eth0", IRQ_RX, 1, true},
	{"eth0-tx-0", "eth0", IRQ_TX, 0, true},
	{"eth0:rx-4", "eth0", IRQ_RX, 4, true}, /* stmmac */
	{"eth0:mac", "eth0", IRQ_OTHER, -1, true},
	{"eth0-rxtx-6", "eth0", IRQ_RXTX, 6, true}, /* vmxnet3 */
	{"eth0-event-7", "eth0", IRQ_OTHER, -1, true},
	{"eth0-fp-2", "eth0", IRQ_RXTX, 2, true}, /* bnx2x */
	{"hns3-0000:7d:00.0-TxRx-9", "enp125s0f0", IRQ_RXTX, 9, true},
	{"ice-0000:3b:00.0", "ens2", IRQ_RXTX, -1, false}, /* an address is no queue */
	{"iavf-0000:00:06.0:mbx", "eth1", IRQ_OTHER, -1, true},
	{"gve-ntfy-blk31@pci:0000:00:04.0", "eth0", IRQ_RXTX, 31, true},
	{"gve-mgmnt@pci:0000:00:04.0", "eth0", IRQ_OTHER, -1, true},
	{"eth0", "eth0", IRQ_RXTX, -1, false},
	{"eth5", "lan0", IRQ_RXTX, -1, false}, /* renamed since */
	{"48484000.ethernet", "eth0", IRQ_RXTX, -1, false},
	{"tx0-rx-3", "tx0", IRQ_RX, 3, true}, /* an interface called tx0 */
	{"eth0-Rx5", "eth0", IRQ_RX, 5, true},
	{"", "eth0", IRQ_RXTX, -1, false},
};

START_TEST(roles_and_queues)
{
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		struct irq_name n = irq_name_read(names[i].action, names[i].ifname);

		ck_assert_msg(n.role == names[i].role && n.queue == names[i].queue &&
				      n.told == names[i].told,
			      "%s of %s: %s, queue %d, told %d", names[i].action, names[i].ifname,
			      irq_role_to_string(n.role), n.queue, n.told);
	}
}
END_TEST

START_TEST(belonging)
{
	ck_assert(irq_name_belongs("eth0", "eth0", ""));
	ck_assert(irq_name_belongs("eth0-rx-1", "eth0", ""));
	ck_assert(irq_name_belongs("uhci_hcd:usb1, eth0", "eth0", ""));
	ck_assert(!irq_name_belongs("eth01-rx-1", "eth0", ""));
	ck_assert(!irq_name_belongs("veth0", "eth0", ""));
	ck_assert(irq_name_belongs("virtio0", "eth1",
				   "sys/devices/platform/a003e00.virtio_mmio/virtio0"));
	ck_assert(!irq_name_belongs("virtio01", "eth1", "sys/devices/platform/x/virtio0"));
	ck_assert(irq_name_belongs("mlx5_comp0@pci:0000:3b:00.0", "x",
				   "sys/devices/pci0000:3a/0000:3b:00.0"));
	ck_assert(!irq_name_belongs("timer", "", ""));
}
END_TEST

/* Cut at every place and with every byte in it: nothing to be right about, only to survive. */
START_TEST(any_text)
{
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		char text[64];

		for (size_t n = 0; n <= strlen(names[i].action); n++) {
			snprintf(text, sizeof(text), "%.*s", (int)n, names[i].action);
			irq_name_read(text, names[i].ifname);
			if (n > 0)
				text[n / 2] = (char)(0x80 + n);
			irq_name_read(text, text);
		}
	}
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("irq-names");

	tcase_add_test(t, roles_and_queues);
	tcase_add_test(t, belonging);
	tcase_add_test(t, any_text);
	return run_suite("irq-names", t);
}
