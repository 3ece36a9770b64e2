/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <stdio.h>

#include "lib/run.h"
#include "observe/interrupts.h"

static struct interrupts_reader r;
static struct complaints complaints;

static unsigned walk_n(const char *text, size_t size, unsigned *ret_bad)
{
	unsigned n = 0;

	complaints_done(&complaints);
	if (interrupts_begin(&r, text, size, &complaints) >= 0)
		while (interrupts_next(&r))
			n += interrupts_counts(&r);
	*ret_bad = 0;
	for (unsigned i = 0; i < complaints.n; i++)
		*ret_bad |= 1U << MIN(complaints.item[i].line, 31U);
	return n;
}

static unsigned walk(const char *text, unsigned *ret_bad)
{
	return walk_n(text, strlen(text), ret_bad);
}

/* What stands behind the counts of a numbered row, and what is its chip and its name. */
static const struct {
	const char *text, *chip, *name;
} structures[] = {
	{"  PCI-MSI 65536-edge      eth0-rx-0", "PCI-MSI", "eth0-rx-0"},
	{"  PCI-MSIX-0000:00:03.0   1-edge      virtio1-input.0", "PCI-MSIX-0000:00:03.0",
	 "virtio1-input.0"},
	{" IR-PCI-MSIX-0000:41:00.0   12-edge      mlx5_comp11@pci:0000:41:00.0",
	 "IR-PCI-MSIX-0000:41:00.0", "mlx5_comp11@pci:0000:41:00.0"},
	{"  IR-PCI-MSI 524288-edge", "IR-PCI-MSI", ""},
	{"  IR-PCI-MSI 524288-edge      ", "IR-PCI-MSI", ""},
	{"   IO-APIC  16-fasteoi   ehci_hcd:usb1, mmc0", "IO-APIC", "ehci_hcd:usb1, mmc0"},
	{"   IO-APIC-edge      timer", "IO-APIC-edge", "timer"},
	{"   IO-APIC-fasteoi   3w-9xxx, 8139cp", "IO-APIC-fasteoi", "3w-9xxx, 8139cp"},
	{"    XT-PIC-XT-PIC    cascade", "XT-PIC-XT-PIC", "cascade"},
	{"    XT-PIC      -XT-PIC    cascade", "XT-PIC", "cascade"},
	{"     GICv3  79 Edge      virtio0", "GICv3", "virtio0"},
	{"     GICv3  79 Edge    ", "GICv3", ""},
	{"   ITS-MSI 16384 Edge      virtio1-config", "ITS-MSI", "virtio1-config"},
	{"  ITS-PCI-MSIX-0001:01:00.0  12 Edge    -fasteoi   nvme0q12", "ITS-PCI-MSIX-0001:01:00.0",
	 "nvme0q12"},
	{"  SiFive PLIC 412 Level     1004b800.serial:rx err", "SiFive PLIC",
	 "1004b800.serial:rx err"},
	{"  SiFive PLIC  10 Edge      Level 7 shifter", "SiFive PLIC", "Level 7 shifter"},
	{"  RISC-V INTC   5 Edge      riscv-timer", "RISC-V INTC", "riscv-timer"},
	{"  XIVE-IRQ 4609 Level     virtio3, virtio0, virtio2", "XIVE-IRQ",
	 "virtio3, virtio0, virtio2"},
	{"      MIPS   7  timer", "MIPS", "timer"},
	{"       GIC  29  twd", "GIC", "twd"},
	{"  Unit 7 chip  12  serial", "Unit 7 chip", "serial"},
	{"  amd_gpio   8  ACPI:Event", "amd_gpio", "ACPI:Event"},
	{"      None        some driver", "None", "some driver"},
	{"         -    ", "-", ""},
	{"  dummy          eth0 4-port", "dummy", "eth0 4-port"},
	{"", "", ""},
};

START_TEST(structure)
{
	char text[256], chip[64], name[128];
	unsigned bad;

	for (size_t i = 0; i < ELEMENTSOF(structures); i++) {
		snprintf(text, sizeof(text), "  CPU0 CPU1\n 24:  7  8 %s\n", structures[i].text);
		ck_assert_msg(walk(text, &bad) == 1 && bad == 0, "'%s' refused: %s",
			      structures[i].text, complaints.n ? complaints.item[0].text : "");
		slice_show(r.row.chip, chip, sizeof(chip));
		slice_show(r.row.name, name, sizeof(name));
		ck_assert_msg(streq(chip, structures[i].chip) && streq(name, structures[i].name),
			      "'%s': chip '%s' name '%s'", structures[i].text, chip, name);
		ck_assert_uint_eq(r.row.total, 15);
	}
}
END_TEST

START_TEST(rows)
{
	unsigned bad;

	ck_assert_uint_eq(
		walk("  CPU0 CPU2\n4294967295: 1 4294967295 x\r\nIPI0: 1 2  Rescheduling\nERR: 3\n",
		     &bad),
		3);
	ck_assert_uint_eq(bad, 0);
	ck_assert(r.row.total_only && r.row.total == 3);
	ck_assert_uint_eq(
		walk("CPU0 CPU2\n1: 1\n2: 1 2 3  PIC\n3: 1 4294967296  PIC\n4: 1 x2 PIC\nLOC: 1\n"
		     "5: 5 6  PIC  a\n",
		     &bad),
		1);
	ck_assert_uint_eq(bad, 0x7cU);
	ck_assert(r.row.numbered && r.row.irq == 5 && r.row.line == 7);
	/* A number beyond 32 bits is a label, not another interrupt. */
	ck_assert_uint_eq(walk("CPU0\n4294967320: 5\n", &bad), 1);
	ck_assert(!r.row.numbered);
	/* A second dump below the first is not added to it. */
	ck_assert_uint_eq(walk("CPU0\n1: 5  PIC  a\nCPU0\n1: 6  PIC  a\n", &bad), 1);
	ck_assert_uint_eq(bad, 1U << 3);
	ck_assert_uint_eq(walk("", &bad), 0);
	ck_assert_uint_eq(bad, 1U);
	ck_assert_uint_eq(walk("CPU0\n", &bad), 0);
	ck_assert_uint_eq(bad, 0);
}
END_TEST

START_TEST(broken_lines)
{
	unsigned bad;

	/* Mail broke the two long rows: their names are not trusted, the short row's is. */
	ck_assert_uint_eq(walk("           CPU0       CPU1\n"
			       " 24:          1          2   PCI-MSI 65536-edge      \n"
			       "eth0-rx-0\n"
			       " 25:          1          2   PCI-MSI 65537-edge      serial:rx \n"
			       "err, other\n"
			       " 26:          1          2   IO-APIC 9-edge      acpi\n",
			       &bad),
			  1);
	ck_assert_uint_eq(bad, 0x3cU);
	ck_assert_uint_eq(r.row.irq, 26);
	/* Scraps behind a row that had room for them cost nothing. */
	ck_assert_uint_eq(
		walk("           CPU0       CPU1\n"
		     " 24:          1          2   PCI-MSI 65536-edge      eth0\n"
		     "^C\n"
		     " 25:          1          2   PCI-MSI 65537-edge      a-much-longer-name-0\n"
		     "PIW:          0          0   Posted-interrupt\n"
		     "root@host1:~#\n",
		     &bad),
		3);
	ck_assert_uint_eq(bad, 1U << 3 | 1U << 6);
}
END_TEST

START_TEST(actions)
{
	struct slice name = slice_of("a:b, c d,e,  f", 14), action;
	static const char *const want[] = {"a:b", "c d,e", "f"};

	for (size_t i = 0; i < ELEMENTSOF(want); i++) {
		ck_assert(interrupts_action(&name, &action));
		ck_assert(slice_is(action, want[i]));
	}
	ck_assert(!interrupts_action(&name, &action));
}
END_TEST

START_TEST(nasty)
{
	static const char nul[] = "CPU0\n1\0: 1 PIC\n2: 1\0 PIC\n3: 1  PIC\0x  n\0me\n";
	static char big[1 << 20];
	unsigned bad;

	ck_assert_uint_eq(walk_n(nul, sizeof(nul) - 1, &bad), 2);
	ck_assert_uint_eq(bad, 1U << 3);
	memset(big, '9', sizeof(big));
	memcpy(big, "CPU0\n1: ", 8);
	ck_assert_uint_eq(walk_n(big, sizeof(big), &bad), 0);
	memset(big, 'x', sizeof(big));
	memcpy(big, "CPU0\n1: 5 ", 10);
	ck_assert_uint_eq(walk_n(big, sizeof(big), &bad), 1);
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 2654435761U >> 13);
	memcpy(big, "CPU0\n", 5);
	walk_n(big, sizeof(big), &bad);
	memset(big, '\n', sizeof(big));
	walk_n(big, sizeof(big), &bad);
}
END_TEST

/* The slow look: the topology's interrupts, by CPU id, and what has changed under it. */
START_TEST(snapshot)
{
	struct irq irqs[] = {
		{.number = 24, .name = "eth0-rx-0"},
		{.number = 25, .name = "eth0-rx-1"},
		{.number = 26, .name = "virtio3,virtio0"}, /* as sysfs spells shared actions */
		{.number = 27, .name = "gone"},
	};
	struct topology t = {.n_irqs = ELEMENTSOF(irqs), .irq = irqs};
	static const char text[] =
		"     CPU0       CPU2       CPU9\n"
		"  1:    1          1          1   IO-APIC 1-edge      i8042\n"
		" 24:    7          8          9   PCI-MSI 65536-edge      eth0-rx-0\n"
		" 25:    1          2          3   PCI-MSI 65537-edge      nvme0q1\n"
		" 26:    4          5          6   IO-APIC 11-fasteoi   virtio3, virtio0\n"
		"NMI:    0          0          0   Non-maskable interrupts\n";
	struct snapshot *s;
	unsigned changed;

	ck_assert_int_eq(snapshot_new(4, ELEMENTSOF(irqs), 0, &s), 0);
	interrupts_into_snapshot(text, strlen(text), &r, &t, s, &changed);
	ck_assert_int_eq(s->source[SOURCE_IRQ_COUNTS].state, SOURCE_OK);
	ck_assert_uint_eq(changed, 2);
	ck_assert(s->irq[0].have && !s->irq[1].have && s->irq[2].have && !s->irq[3].have);
	ck_assert_uint_eq(s->irq[0].counts[0], 7);
	ck_assert_uint_eq(s->irq[0].counts[1], 0);
	ck_assert_uint_eq(s->irq[0].counts[2], 8);
	ck_assert_uint_eq(s->irq[2].counts[2], 5);
	snapshot_clear(s);
	interrupts_into_snapshot("CPU0\n24: x\n", 11, &r, &t, s, &changed);
	ck_assert_int_eq(s->source[SOURCE_IRQ_COUNTS].state, SOURCE_STRANGE);
	ck_assert_ptr_nonnull(strstr(s->source[SOURCE_IRQ_COUNTS].text, "/proc/interrupts:2: "));
	ck_assert_uint_eq(changed, 4);
	snapshot_free(s);
}
END_TEST

static void done(void)
{
	complaints_done(&complaints);
}

int main(void)
{
	TCase *t = tcase_create("interrupts");

	tcase_add_checked_fixture(t, NULL, done);
	tcase_add_test(t, structure);
	tcase_add_test(t, rows);
	tcase_add_test(t, broken_lines);
	tcase_add_test(t, actions);
	tcase_add_test(t, nasty);
	tcase_add_test(t, snapshot);
	return run_suite("interrupts", t);
}
