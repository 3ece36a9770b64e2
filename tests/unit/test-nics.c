/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NICs and their interrupts, as drivers name them and as sysfs ties them together. */
#include <stdio.h>

#include "lib/machine.h"
#include "lib/run.h"
#include "lib/watch.h"

#define _machine_ _cleanup_(machine_freep) struct machine

static struct machine *with(const struct machine_nic *nics, size_t n)
{
	return machine_new(
		&(struct machine_spec){.cpus = 4, .nics = nics, .n_nics = n, .other_irqs = 3});
}

static const struct irq *irq_named(const struct watch *w, const char *name)
{
	return &w->topology->irq[watch_irq(w, name)];
}

static unsigned with_role(const struct watch *w, enum irq_role role)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->topology->n_irqs; i++)
		n += w->topology->irq[i].role == role;
	return n;
}

/* C04, C14: one driver, two naming schemes, and the virtio index is no interface name */
START_TEST(virtio)
{
	static const struct machine_nic nics[] = {
		{.name = "ens3", .kind = MACHINE_VIRTIO, .queues = 2},
		{.name = "eth0", .kind = MACHINE_VIRTIO_MMIO},
	};
	_machine_ *m = with(nics, 2);
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_nics, 2);
	ck_assert_str_eq(w.topology->nic[0].name, "ens3");
	ck_assert_str_eq(w.topology->nic[0].driver, "virtio_net");
	ck_assert_str_eq(w.topology->nic[0].device, "sys/devices/pci0000:00/0000:00:03.0");
	ck_assert_uint_eq(w.topology->n_irqs, 6);
	ck_assert_int_eq(irq_named(&w, "virtio0-config")->role, IRQ_OTHER);
	ck_assert_int_eq(irq_named(&w, "virtio0-input.1")->role, IRQ_RX);
	ck_assert_int_eq(irq_named(&w, "virtio0-input.1")->queue, 1);
	ck_assert_int_eq(irq_named(&w, "virtio0-output.0")->role, IRQ_TX);
	ck_assert_str_eq(irq_named(&w, "virtio0-input.1")->identity,
			 "devices/pci0000:00/0000:00:03.0|virtio0-input.1");
	ck_assert_int_eq(irq_named(&w, "virtio1")->nic, 1);
	ck_assert_int_eq(irq_named(&w, "virtio1")->role, IRQ_RXTX);
	ck_assert_ptr_null(strstr(irq_named(&w, "virtio1")->identity, "sys/"));
}
END_TEST

/* C18, C22: misc has no packets; the name in the interrupt is older than the interface's */
START_TEST(i40e_renamed)
{
	static const struct machine_nic nic = {.name = "enp61s0f0",
					       .irq_name = "eth0",
					       .kind = MACHINE_I40E,
					       .queues = 4,
					       .node = 1};
	_machine_ *m = with(&nic, 1);
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_irqs, 5);
	ck_assert_int_eq(irq_named(&w, "i40e-0000:00:03.0:misc")->role, IRQ_OTHER);
	ck_assert_int_eq(irq_named(&w, "i40e-eth0-TxRx-3")->nic, 0);
	ck_assert_int_eq(irq_named(&w, "i40e-eth0-TxRx-3")->queue, 3);
	ck_assert_uint_eq(with_role(&w, IRQ_RXTX), 4);
	ck_assert_int_eq(w.topology->nic[0].node, 1);
	ck_assert_uint_eq(w.topology->nic[0].rx_queues, 4);
}
END_TEST

/* C12 */
START_TEST(ena)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_ENA, .queues = 4, .node = -1},
		{.name = "eth1", .kind = MACHINE_ENA, .queues = 4, .node = -1},
	};
	_machine_ *m = with(nics, 2);
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_irqs, 10); /* and no nvme */
	ck_assert_int_eq(irq_named(&w, "ena-mgmnt@pci:0000:00:04.0")->role, IRQ_OTHER);
	ck_assert_int_eq(irq_named(&w, "eth1-Tx-Rx-2")->nic, 1);
	ck_assert_int_eq(w.topology->nic[0].node, -1);
}
END_TEST

/* C20: all queues have one name: told apart by their order */
START_TEST(bnxt)
{
	static const struct machine_nic nic = {
		.name = "enp4s0f0np0", .kind = MACHINE_BNXT, .queues = 3};
	_machine_ *m = with(&nic, 1);
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_irqs, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_str_eq(w.topology->irq[i].name, "enp4s0f0np0-TxRx-");
		ck_assert_int_eq(w.topology->irq[i].queue, -1);
		ck_assert_int_eq(w.topology->irq[i].role, IRQ_RXTX);
	}
	ck_assert_str_eq(w.topology->irq[0].identity,
			 "devices/pci0000:00/0000:00:03.0|enp4s0f0np0-TxRx-");
	ck_assert_str_eq(w.topology->irq[2].identity,
			 "devices/pci0000:00/0000:00:03.0|enp4s0f0np0-TxRx-#3");
}
END_TEST

/* The name is cut inside the number: queue 1 and 10 to 11 look the same, and none of them is known.
 */
START_TEST(bnxt_cut_in_the_number)
{
	static const struct machine_nic nic = {
		.name = "enp4s0f0n1", .kind = MACHINE_BNXT, .queues = 12};
	_machine_ *m = with(&nic, 1);
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_irqs, 12);
	ck_assert_int_eq(w.topology->irq[0].queue, 0);
	ck_assert_int_eq(w.topology->irq[1].queue, -1);
	ck_assert_int_eq(w.topology->irq[2].queue, 2);
	ck_assert_int_eq(w.topology->irq[10].queue, -1);
	ck_assert_uint_eq(with_role(&w, IRQ_RXTX), 12);
}
END_TEST

/* C24: handlers of 8 vectors, 2 queues in use */
START_TEST(mlx5_inactive_queues)
{
	static const struct machine_nic nic = {.name = "ens1", .kind = MACHINE_MLX5, .queues = 8};
	_machine_ *m = with(&nic, 1);

	for (unsigned q = 2; q < 8; q++) {
		char path[128];

		snprintf(path, sizeof(path), "sys/class/net/ens1/queues/rx-%u", q);
		tree_remove(m->tree, path);
	}
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->n_irqs, 9);
	ck_assert_uint_eq(w.topology->nic[0].rx_queues, 2);
	ck_assert_uint_eq(with_role(&w, IRQ_RXTX), 2);
	ck_assert_int_eq(irq_named(&w, "mlx5_comp1@pci:0000:00:03.0")->role, IRQ_RXTX);
	ck_assert_int_eq(irq_named(&w, "mlx5_comp2@pci:0000:00:03.0")->role, IRQ_OTHER);
	ck_assert_int_eq(irq_named(&w, "mlx5_async0@pci:0000:00:03.0")->role, IRQ_OTHER);
}
END_TEST

START_TEST(link_vector_and_single_vectors)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_IXGBE, .queues = 2},
		{.name = "eth1", .kind = MACHINE_SINGLE},
		{.name = "eth2", .kind = MACHINE_INTX},
		{.name = "old0", .irq_name = "eth9", .kind = MACHINE_INTX},
	};
	_machine_ *m = with(nics, 4);
	_watch_ w = watch_begin(&m->io);

	ck_assert_int_eq(irq_named(&w, "eth0")->role, IRQ_OTHER); /* beside its queues */
	ck_assert_int_eq(irq_named(&w, "eth0-TxRx-1")->role, IRQ_RXTX);
	ck_assert_int_eq(irq_named(&w, "eth1")->role, IRQ_RXTX); /* alone */
	ck_assert_int_eq(irq_named(&w, "eth2")->nic, 2);
	ck_assert_int_eq(irq_named(&w, "eth9")->nic, 3);
}
END_TEST

/* Seed 002: a platform device, two interrupts with the device's name. */
START_TEST(cpsw)
{
	static const struct machine_nic nic = {.name = "eth0", .kind = MACHINE_CPSW};
	_machine_ *m = with(&nic, 1);
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_irqs, 2);
	ck_assert_str_eq(w.topology->irq[0].name, w.topology->irq[1].name);
	ck_assert_str_ne(w.topology->irq[0].identity, w.topology->irq[1].identity);
	ck_assert_uint_eq(with_role(&w, IRQ_RXTX), 2);
}
END_TEST

/* C02, and a virtual interface: listed, without interrupts */
START_TEST(no_interrupts)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_HYPERV},
		{.name = "veth1", .kind = MACHINE_VETH},
	};
	_machine_ *m = with(nics, 2);
	_watch_ w = watch_begin(&m->io);

	ck_assert_uint_eq(w.topology->n_nics, 2);
	ck_assert_uint_eq(w.topology->n_irqs, 0);
	ck_assert_str_eq(w.topology->nic[0].driver, "hv_netvsc");
	ck_assert_str_eq(w.topology->nic[1].device, "");
	watch_read(&w, true);
	ck_assert_int_eq(w.snapshot->source[SOURCE_IRQ_COUNTS].state, SOURCE_ABSENT);
	ck_assert_ptr_nonnull(
		strstr(w.snapshot->source[SOURCE_IRQ_COUNTS].text, "no interrupt belongs"));
	watch_read(&w, false);
	ck_assert_int_eq(w.snapshot->source[SOURCE_IRQ_COUNTS].state, SOURCE_ABSENT);
}
END_TEST

START_TEST(shared_line)
{
	static const struct machine_nic nic = {.name = "eth0", .kind = MACHINE_INTX};
	_machine_ *m = with(&nic, 1);

	snprintf(m->irq[0].name, sizeof(m->irq[0].name), "uhci_hcd:usb1, eth0");
	machine_layout_irqs(m);
	machine_write(m);
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->n_irqs, 1);
	ck_assert(w.topology->irq[0].shared);
	watch_read(&w, true);
	ck_assert(w.snapshot->irq[0].have);
	ck_assert(!observer_topology_changed(w.observer));
}
END_TEST

START_TEST(managed)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_I40E, .queues = 2, .managed = true},
		{.name = "eth1", .kind = MACHINE_I40E, .queues = 2},
	};
	_machine_ *m = with(nics, 2);
	{
		_watch_ w = watch_begin(&m->io);

		ck_assert(irq_named(&w, "i40e-eth0-TxRx-0")->managed);
		ck_assert(!irq_named(&w, "i40e-eth1-TxRx-0")->managed);
	}
	/* All without w: that is not the kernel's word. */
	for (unsigned i = 0; i < m->n_irqs; i++)
		m->irq[i].managed = true;
	machine_layout_irqs(m);
	{
		_watch_ w = watch_begin(&m->io);

		ck_assert(!irq_named(&w, "i40e-eth0-TxRx-0")->managed);
	}
	/* All of the NICs', but not the disk's. */
	m->irq[m->n_irqs - 1].managed = false;
	machine_layout_irqs(m);
	_watch_ w = watch_begin(&m->io);
	ck_assert(irq_named(&w, "i40e-eth1-TxRx-0")->managed);
}
END_TEST

START_TEST(affinities_follow)
{
	static const struct machine_nic nic = {.name = "eth0", .kind = MACHINE_I40E, .queues = 2};
	_machine_ *m = with(&nic, 1);
	_watch_ w = watch_begin(&m->io);
	unsigned k = machine_irq(m, "i40e-eth0-TxRx-0"), i = watch_irq(&w, "i40e-eth0-TxRx-0");
	struct cpuset wanted = cpuset_of(3);
	char path[64];

	ck_assert(w.topology->irq[i].have_affinity && w.topology->irq[i].have_effective);
	ck_assert_uint_eq(cpuset_count(&w.topology->irq[i].affinity), 4);
	snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", m->irq[k].number);
	ck_assert_int_eq(io_store(&m->io, path, "3"), 0);
	watch_read(&w, true);
	ck_assert(cpuset_equal(&w.topology->irq[i].affinity, &wanted));
	ck_assert(!cpuset_equal(&w.topology->irq[i].effective, &wanted)); /* it has not fired yet */
	machine_receive(m, k, 100);
	machine_write(m);
	watch_read(&w, false);
	ck_assert(!cpuset_equal(&w.topology->irq[i].effective, &wanted));
	watch_read(&w, true);
	ck_assert(cpuset_equal(&w.topology->irq[i].effective, &wanted));
	ck_assert_uint_eq(w.snapshot->irq[i].counts[3], 4);
	tree_remove(m->tree, path);
	watch_read(&w, true);
	ck_assert(!w.topology->irq[i].have_affinity);
}
END_TEST

START_TEST(msi_irqs_empty) /* kernel 5.17: by name */
{
	static const struct machine_nic nic = {.name = "eth0", .kind = MACHINE_ENA, .queues = 2};
	_machine_ *m = with(&nic, 1);

	tree_remove(m->tree, "sys/devices/pci0000:00/0000:00:03.0/msi_irqs");
	tree_mkdir(m->tree, "sys/devices/pci0000:00/0000:00:03.0/msi_irqs");
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->n_irqs, 3);
	ck_assert_int_eq(irq_named(&w, "ena-mgmnt@pci:0000:00:03.0")->role, IRQ_OTHER);
}
END_TEST

/* /proc/interrupts cannot be read: names come from sysfs, counts too. */
START_TEST(without_the_table)
{
	static const struct machine_nic nic = {.name = "eth0", .kind = MACHINE_I40E, .queues = 2};
	_machine_ *m = with(&nic, 1);

	snprintf(m->irq[1].name, sizeof(m->irq[1].name), "i40e-eth0-TxRx-0, other");
	machine_layout_irqs(m);
	machine_write(m);
	tree_remove(m->tree, "proc/interrupts");
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->n_irqs, 3);
	ck_assert(irq_named(&w, "i40e-eth0-TxRx-0, other")->shared);
	machine_receive(m, machine_irq(m, "i40e-eth0-TxRx-1"), 320);
	machine_write(m);
	tree_remove(m->tree, "proc/interrupts");
	watch_read(&w, false);
	watch_read(&w, false);
	ck_assert(w.snapshot->irq[watch_irq(&w, "i40e-eth0-TxRx-1")].have);
}
END_TEST

START_TEST(facts_of_a_nic)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_I40E, .queues = 2, .down = true},
		{.name = "eth1", .kind = MACHINE_SINGLE},
	};
	_machine_ *m = with(nics, 2);

	tree_write(m->tree, "sys/class/net/bonding_masters", "\n");
	tree_write(m->tree, "sys/class/net/eth1/queues/rx-0/rps_cpus", "00000000,0000000c\n");
	tree_write(m->tree, "sys/class/net/eth0/ifindex", "77\n");
	_watch_ w = watch_begin(&m->io);
	ck_assert_uint_eq(w.topology->n_nics, 2);
	ck_assert_str_eq(w.topology->nic[1].name, "eth0"); /* by ifindex */
	ck_assert(!w.topology->nic[1].up);
	ck_assert(!w.topology->nic[1].rps);
	ck_assert(w.topology->nic[0].up);
	ck_assert(w.topology->nic[0].rps);
	ck_assert_int_eq(irq_named(&w, "eth1")->nic, 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("nics");

	tcase_set_timeout(t, 60); /* many files, on machines that have other work */
	tcase_add_test(t, virtio);
	tcase_add_test(t, i40e_renamed);
	tcase_add_test(t, ena);
	tcase_add_test(t, bnxt);
	tcase_add_test(t, bnxt_cut_in_the_number);
	tcase_add_test(t, mlx5_inactive_queues);
	tcase_add_test(t, link_vector_and_single_vectors);
	tcase_add_test(t, cpsw);
	tcase_add_test(t, no_interrupts);
	tcase_add_test(t, shared_line);
	tcase_add_test(t, managed);
	tcase_add_test(t, affinities_follow);
	tcase_add_test(t, msi_irqs_empty);
	tcase_add_test(t, without_the_table);
	tcase_add_test(t, facts_of_a_nic);
	return run_suite("nics", t);
}
