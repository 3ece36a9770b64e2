/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every case of kinds a, b and c that has a dump, decoded, against the right answer of
 * tests/replay/cases/README.md. The figures were read off the dumps by eye, in their own spelling.
 */
#include <check.h>
#include <fcntl.h>

#include "base/io.h"
#include "lib/run.h"
#include "serve/decode-json.h"

#define NONE (-1) /* null in the document */

static json_t *decode(enum decode_kind kind, const char *file)
{
	_cleanup_(io_freep) struct io *io = NULL;
	_cleanup_free_ char *text = NULL;
	char path[128];
	size_t size;
	json_t *doc;

	ck_assert_int_eq(io_new("tests/replay/cases", &io), 0);
	ck_assert_int_ge(format_into(path, sizeof(path), "%s", file), 0);
	ck_assert_msg(io_read_all(io, path, &text, &size) >= 0, "cannot read %s", file);
	doc = decode_json(kind, text, size);
	ck_assert_ptr_nonnull(doc);
	ck_assert_str_eq(json_string_value(json_object_get(doc, "kind")), decode_kind_names[kind]);
	return doc;
}

static json_int_t value(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	ck_assert_msg(v != NULL, "no key %s", key);
	return json_is_null(v) ? NONE : json_integer_value(v);
}

/* LINES ends with 0: exactly these lines are complained about, in this order. */
static void expect_warnings(const char *file, const json_t *doc, const unsigned *lines)
{
	const json_t *w;
	size_t i;

	json_array_foreach (json_object_get(doc, "warnings"), i, w) {
		ck_assert_msg(lines[i] != 0 && value(w, "line") == lines[i], "%s: %s (line %d)",
			      file, json_string_value(json_object_get(w, "text")),
			      (int)value(w, "line"));
		ck_assert_int_gt(json_string_length(json_object_get(w, "text")), 10);
	}
	ck_assert_msg(lines[i] == 0, "%s: no complaint about line %u", file, lines[i]);
}

struct row {
	int64_t cpu, processed, dropped, squeeze, rps, flow_limit, backlog;
};

static const struct {
	const char *id, *file;
	int columns;
	unsigned n;
	struct row rows[8];
	unsigned warnings[10];
} softnet_cases[] = {
	/* One row; a lone dump does not say which CPU it is, the live sensor does (test-softnet).
	 */
	{"A02",
	 "02-softnet-9col-arm-uniproc.txt",
	 9,
	 1,
	 {{NONE, 0x5cb6, 0, 0, NONE, NONE, NONE}},
	 {}},
	/* All rows broken: none is invented, every line is named. */
	{"A04", "04-softnet-9col-wrapped-by-terminal.txt", NONE, 0, {}, {1, 2, 3, 4, 5, 6, 7, 8}},
	{"A06",
	 "06-softnet-10col-4cpu-one-drop.txt",
	 10,
	 4,
	 {{NONE, 0x8e78, 0, 0, 0, NONE, NONE},
	  {NONE, 0x40ee, 0, 0, 0, NONE, NONE},
	  {NONE, 0x1608c, 0, 0, 0, NONE, NONE},
	  {NONE, 0x372f, 1, 0, 0, NONE, NONE}},
	 {}},
	{"A08",
	 "08-softnet-11col-4cpu-skewed-squeeze.txt",
	 11,
	 4,
	 {{NONE, 0x2e8f1058, 0, 0xef, 0, 0, NONE},
	  {NONE, 0x0db6297e, 0, 0x35, 0, 0, NONE},
	  {NONE, 0x09d4a634, 0, 0x10, 0, 0, NONE},
	  {NONE, 0x0773e4f1, 0, 0x05, 0, 0, NONE}},
	 {}},
	/* Rows of zeros are CPUs too. */
	{"A10",
	 "10-softnet-11col-mostly-idle-rows.txt",
	 11,
	 6,
	 {{NONE, 0xbf, 0, 0, 0, 0, NONE},
	  {NONE, 0x28, 0, 0, 0, 0, NONE},
	  {NONE, 0xc7, 0, 0, 0, 0, NONE},
	  {NONE, 0, 0, 0, 0, 0, NONE},
	  {NONE, 0x31, 0, 0, 0, 0, NONE},
	  {NONE, 0, 0, 0, 0, 0, NONE}},
	 {}},
	{"A12",
	 "12-softnet-mixed-widths-procfs-fixture.txt",
	 13,
	 4,
	 {{0x33, 0x0446fcea, 0x12e8f8, 0, 0x15f20c8, 0, 0},
	  {0x01, 0x31f27, 0x20e76, 0, 0x20e76, 0x20e76, 0},
	  {NONE, 0x15c73, 0x20e76, 0xf0000769, 0x20e76, 0, NONE},
	  {NONE, 0x1663fb2, 0, 0x109a4, NONE, NONE, NONE}},
	 {}},
	{"A14",
	 "14-softnet-10col-vmxnet3-even-squeeze.txt",
	 10,
	 7,
	 {{NONE, 0x0ac7342a, 0, 0x99, 0, NONE, NONE},
	  {NONE, 0x0a41ec9a, 0, 0x9a, 0, NONE, NONE},
	  {NONE, 0x0db7eaea, 0, 0x7f, 0, NONE, NONE},
	  {NONE, 0x14561648, 0, 0xcc, 0, NONE, NONE},
	  {NONE, 0x0d68548e, 0, 0x9a, 0, NONE, NONE},
	  {NONE, 0x06862347, 0, 0x53, 0, NONE, NONE},
	  {NONE, 0x069f0856, 0, 0x7b, 0, NONE, NONE}},
	 {}},
	{"A16",
	 "16-softnet-10col-trailing-space-squeeze-no-drop.txt",
	 10,
	 3,
	 {{NONE, 0x73d76b, 0, 0x49ae, 0, NONE, NONE},
	  {NONE, 0xd2, 0, 0, 0, NONE, NONE},
	  {NONE, 0x15c, 0, 0, 0, NONE, NONE}},
	 {}},
	/* Column 2 is dropped, 3 is time_squeeze, whatever the guide says. */
	{"A18",
	 "18-softnet-11col-tencent-4cpu-even.txt",
	 11,
	 4,
	 {{NONE, 0x290f2ae, 0, 0x08, 0, 0, NONE},
	  {NONE, 0x2676c26, 0, 0x19, 0, 0, NONE},
	  {NONE, 0x2c37c5f, 0, 0x04, 0, 0, NONE},
	  {NONE, 0x2a8312b, 0, 0x07, 0, 0, NONE}},
	 {}},
	{"A20",
	 "a20-softnet-13col-rhel8.txt",
	 13,
	 2,
	 {{0, 0xa1b2, 0, 3, 0, 0, 0}, {1, 0x1c2d, 1, 0, 4, 0, 0}},
	 {}},
	/* Column 12 is the sum of 14 and 15; column 13, not the last, is the CPU. */
	{"A21",
	 "a21-softnet-15col-backlog.txt",
	 15,
	 2,
	 {{0, 0x10000, 0, 0, 0, 0, 12}, {10, 0x20000, 0, 0, 0, 0, 0}},
	 {}},
	/* CPU 2 is offline: the third row is CPU 3. */
	{"A24",
	 "a24-softnet-15col-cpu2-offline.txt",
	 15,
	 3,
	 {{0, 0xaa, 0, 0, 0, 0, 0}, {1, 0xbb, 0, 0, 0, 0, 0}, {3, 0xdd, 0, 0, 0, 0, 0}},
	 {}},
};

START_TEST(softnet)
{
	const char *id = softnet_cases[_i].id;
	json_t *doc = decode(DECODE_SOFTNET_STAT, softnet_cases[_i].file);
	const json_t *rows = json_object_get(doc, "cpus"), *r;
	size_t i;

	ck_assert_int_eq(value(doc, "columns"), softnet_cases[_i].columns);
	ck_assert_uint_eq(json_array_size(rows), softnet_cases[_i].n);
	json_array_foreach (rows, i, r) {
		const struct row *want = &softnet_cases[_i].rows[i];

		ck_assert_msg(value(r, "row") == (json_int_t)i, "%s row %zu", id, i);
		ck_assert_msg(value(r, "cpu") == want->cpu &&
				      value(r, "processed") == want->processed &&
				      value(r, "dropped") == want->dropped &&
				      value(r, "time_squeeze") == want->squeeze &&
				      value(r, "received_rps") == want->rps &&
				      value(r, "flow_limit") == want->flow_limit &&
				      value(r, "backlog") == want->backlog,
			      "%s row %zu: %s", id, i, json_dumps(r, 0));
	}
	expect_warnings(id, doc, softnet_cases[_i].warnings);
	json_decref(doc);
}
END_TEST

struct event {
	unsigned line;
	uint32_t mask;
	const char *vectors; /* with blanks between */
	bool network;
	const char *kind; /* NULL: nohz-pending */
};

static const struct {
	const char *id, *file;
	unsigned n;
	struct event events[16];
	unsigned warnings[8];
} kmsg_cases[] = {
	{"B01",
	 "20-kmsg-oldword-08-three.txt",
	 3,
	 {{1, 0x08, "NET_RX", true, NULL},
	  {2, 0x08, "NET_RX", true, NULL},
	  {3, 0x08, "NET_RX", true, NULL}},
	 {}},
	{"B03",
	 "22-kmsg-block-10-title-plus-neighbours.txt",
	 1,
	 {{4, 0x10, "BLOCK", false, NULL}},
	 {}},
	/* Ten, and then no more until reboot: said at the tenth. */
	{"B05",
	 "24-kmsg-exactly-ten-then-silence-08.txt",
	 10,
	 {{1, 0x08, "NET_RX", true, NULL},
	  {2, 0x08, "NET_RX", true, NULL},
	  {3, 0x08, "NET_RX", true, NULL},
	  {4, 0x08, "NET_RX", true, NULL},
	  {5, 0x08, "NET_RX", true, NULL},
	  {6, 0x08, "NET_RX", true, NULL},
	  {7, 0x08, "NET_RX", true, NULL},
	  {8, 0x08, "NET_RX", true, NULL},
	  {9, 0x08, "NET_RX", true, NULL},
	  {10, 0x08, "NET_RX", true, NULL}},
	 {10}},
	{"B07",
	 "26-kmsg-ovs-mixed-10-08-202.txt",
	 10,
	 {{1, 0x10, "BLOCK", false, NULL},
	  {2, 0x08, "NET_RX", true, NULL},
	  {4, 0x08, "NET_RX", true, NULL},
	  {6, 0x10, "BLOCK", false, NULL},
	  {7, 0x10, "BLOCK", false, NULL},
	  {8, 0x202, "TIMER RCU", false, NULL},
	  {9, 0x10, "BLOCK", false, NULL},
	  {10, 0x10, "BLOCK", false, NULL},
	  {12, 0x202, "TIMER RCU", false, NULL},
	  {13, 0x08, "NET_RX", true, NULL}},
	 {13}},
	{"B09",
	 "28-kmsg-arm-suspend-202-between-cpu-shutdown.txt",
	 1,
	 {{4, 0x202, "TIMER RCU", false, NULL}},
	 {}},
	{"B11",
	 "30-kmsg-json-trailing-brace-02-08.txt",
	 5,
	 {{1, 0x02, "TIMER", false, NULL},
	  {2, 0x08, "NET_RX", true, NULL},
	  {3, 0x08, "NET_RX", true, NULL},
	  {4, 0x08, "NET_RX", true, NULL},
	  {5, 0x08, "NET_RX", true, NULL}},
	 {}},
	{"B13",
	 "32-kmsg-console-interleaved-with-ping.txt",
	 2,
	 {{4, 0x08, "NET_RX", true, NULL}, {5, 0x08, "NET_RX", true, NULL}},
	 {}},
	{"B15",
	 "34-kmsg-rsyslog-wrapped-88-dead-loop.txt",
	 1,
	 {{3, 0x88, "NET_RX SCHED", true, NULL}},
	 {}},
	{"B17",
	 "36-kmsg-lxd-netns-200-multiline-audit.txt",
	 1,
	 {{4, 0x200, "RCU", false, NULL}},
	 {}},
	{"B18",
	 "37-kmsg-varlogmessages-noktime-100.txt",
	 3,
	 {{1, 0x100, "HRTIMER", false, NULL},
	  {2, 0x100, "HRTIMER", false, NULL},
	  {3, 0x100, "HRTIMER", false, NULL}},
	 {}},
	{"B19",
	 "38-kmsg-dmesg-no-timestamps-100.txt",
	 4,
	 {{1, 0x100, "HRTIMER", false, NULL},
	  {3, 0x100, "HRTIMER", false, NULL},
	  {4, 0x100, "HRTIMER", false, NULL},
	  {5, 0x100, "HRTIMER", false, NULL}},
	 {}},
	{"B21",
	 "40-kmsg-powerclamp-reverse-order-80.txt",
	 2,
	 {{1, 0x80, "SCHED", false, NULL}, {2, 0x80, "SCHED", false, NULL}},
	 {}},
	{"B23", "42-kmsg-mcp251xfd-wrapped-08.txt", 1, {{1, 0x08, "NET_RX", true, NULL}}, {}},
	{"B25", "44-kmsg-raw-devkmsg-execution-ctx-fields.txt", 0, {}, {}},
	{"B27", "46-kmsg-raw-userspace-prio12-android.txt", 0, {}, {}},
	/* Only the kernel's own record counts; the forged ones are named. The dictionary line that
	 * looks like a warning is no line at all. */
	{"B27", "b27-kmsg-forged-nohz.txt", 1, {{1, 0x08, "NET_RX", true, NULL}}, {2, 6, 7}},
	{"2.4",
	 "other-kmsg-neighbours.txt",
	 14,
	 {{1, NONE, "", false, "rcu-stall"},
	  {2, NONE, "", false, "rcu-stall"},
	  {3, NONE, "", false, "rcu-stall"},
	  {4, NONE, "", false, "soft-lockup"},
	  {5, NONE, "", false, "hard-lockup"},
	  {6, NONE, "", false, "hard-lockup"},
	  {7, NONE, "", true, "netdev-watchdog"},
	  {8, NONE, "", true, "netdev-watchdog"},
	  {9, NONE, "", false, "rt-throttling"},
	  {10, NONE, "", false, "irq-nobody-cared"},
	  {11, NONE, "", false, "clocksource-unstable"},
	  {12, NONE, "", false, "clocksource-unstable"},
	  {13, NONE, "", false, "clocksource-unstable"},
	  {14, NONE, "", false, "clocksource-unstable"}},
	 {}},
};

static void expect_vectors(const char *id, const json_t *event, const char *want)
{
	char have[128] = "";
	size_t used = 0, i;
	const json_t *v;

	json_array_foreach (json_object_get(event, "vectors"), i, v)
		used += (size_t)format_into(have + used, sizeof(have) - used, "%s%s",
					    used ? " " : "", json_string_value(v));
	ck_assert_msg(streq(have, want), "%s line %d: vectors %s, not %s", id,
		      (int)value(event, "line"), have, want);
}

START_TEST(kmsg)
{
	const char *id = kmsg_cases[_i].id;
	json_t *doc = decode(DECODE_KMSG, kmsg_cases[_i].file);
	const json_t *events = json_object_get(doc, "events"), *e;
	size_t i;

	ck_assert_msg(json_array_size(events) == kmsg_cases[_i].n, "%s: %zu events", id,
		      json_array_size(events));
	json_array_foreach (events, i, e) {
		const struct event *want = &kmsg_cases[_i].events[i];
		json_int_t mask = want->kind ? NONE : (json_int_t)want->mask;

		ck_assert_msg(value(e, "line") == want->line, "%s event %zu: line %d", id, i,
			      (int)value(e, "line"));
		ck_assert_str_eq(json_string_value(json_object_get(e, "kind")),
				 want->kind ?: "nohz-pending");
		ck_assert_msg(value(e, "mask") == mask, "%s event %zu: mask", id, i);
		ck_assert_msg(json_is_true(json_object_get(e, "network")) == want->network,
			      "%s event %zu: network", id, i);
		expect_vectors(id, e, want->vectors);
		ck_assert_int_gt(json_string_length(json_object_get(e, "text")), 10);
	}
	expect_warnings(id, doc, kmsg_cases[_i].warnings);
	json_decref(doc);
}
END_TEST

struct interrupt {
	const char *irq; /* as a word, also for a number */
	const char *name;
	unsigned actions;
	uint64_t total;
};

static const struct {
	const char *id, *file;
	unsigned cpus[8], n_cpus;
	unsigned n;
	struct interrupt irqs[14];
	unsigned warnings[4];
} interrupts_cases[] = {
	/* No NIC row: its traffic is inside HYP. ERR and MIS have one count. */
	{"C02",
	 "51-interrupts-hyperv-2cpu-no-nic-irq.txt",
	 {0, 1},
	 2,
	 12,
	 {{"8", "rtc0", 1, 0 + 1},
	  {"9", "acpi", 1, 0},
	  {"NMI", "Non-maskable interrupts", 0, 0},
	  {"LOC", "Local timer interrupts", 0, 1474 + 1102},
	  {"RES", "Rescheduling interrupts", 0, 483259 + 470584},
	  {"CAL", "Function call interrupts", 0, 103069 + 97425},
	  {"HYP", "Hypervisor callback interrupts", 0, 179052 + 120482},
	  {"HRE", "Hyper-V reenlightenment interrupts", 0, 0},
	  {"HVS", "Hyper-V stimer0 interrupts", 0, 1065446 + 1097106},
	  {"ERR", "", 0, 0},
	  {"MIS", "", 0, 0},
	  {"PIN", "Posted-interrupt notification event", 0, 0}},
	 {}},
	{"C04",
	 "53-interrupts-virtio-1cpu-pci-msix.txt",
	 {0},
	 1,
	 14,
	 {{"0", "timer", 1, 50},
	  {"11", "uhci_hcd:usb1, virtio6", 2, 0},
	  {"24", "virtio4-config", 1, 0},
	  {"25", "virtio4-req.0", 1, 11708},
	  {"32", "virtio1-config", 1, 0},
	  {"33", "virtio1-input.0", 1, 2163},
	  {"34", "virtio1-output.0", 1, 1715},
	  {"35", "virtio2-config", 1, 0},
	  {"36", "virtio2-input.0", 1, 4},
	  {"37", "virtio2-output.0", 1, 13},
	  {"NMI", "Non-maskable interrupts", 0, 0},
	  {"LOC", "Local timer interrupts", 0, 93666},
	  {"ERR", "", 0, 0},
	  {"MIS", "", 0, 0}},
	 {}},
	/* The header goes on in line 2: mail broke the table. */
	{"C08", "57-interrupts-ppc64-xive-8cpu-mail-wrapped-shared-virtio.txt", {}, 0, 0, {}, {2}},
	{"C10",
	 "59-interrupts-riscv-names-with-spaces.txt",
	 {0},
	 1,
	 9,
	 {{"1", "1004b800.serial:rx err", 1, 0},
	  {"2", "1004b800.serial:rx full", 1, 16},
	  {"3", "1004b800.serial:tx empty", 1, 402},
	  {"4", "1004b800.serial:break", 1, 0},
	  {"5", "riscv-timer", 1, 41826},
	  {"6", "1004b800.serial:rx ready", 1, 10},
	  {"IPI0", "Rescheduling interrupts", 0, 0},
	  {"IPI1", "Function call interrupts", 0, 0},
	  {"IPI4", "Timer broadcast interrupts", 0, 0}},
	 {}},
	{"C12",
	 "61-interrupts-aws-ena-4cpu-two-nics-nvme.txt",
	 {0, 1, 2, 3},
	 4,
	 13,
	 {{"9", "acpi", 1, 1 + 7 + 2},
	  {"24", "nvme0q0", 1, 14},
	  {"25", "nvme0q1", 1, 50541},
	  {"26", "nvme0q2", 1, 53100},
	  {"27", "ena-mgmnt@pci:0000:00:05.0", 1, 5615 + 969},
	  {"28", "eth0-Tx-Rx-0", 1, 1482671 + 35400719},
	  {"29", "eth0-Tx-Rx-1", 1, 10714 + 35863379 + 1330827},
	  {"30", "eth0-Tx-Rx-2", 1, 26376994 + 1437188},
	  {"31", "eth0-Tx-Rx-3", 1, 29121610 + 1135911},
	  {"32", "ena-mgmnt@pci:0000:00:06.0", 1, 5576 + 969},
	  {"33", "eth1-Tx-Rx-0", 1, 1 + 5648110 + 225399},
	  {"34", "eth1-Tx-Rx-1", 1, 6529494 + 277818},
	  {"35", "eth1-Tx-Rx-2", 1, 7235791 + 324663}},
	 {}},
	{"C14",
	 "63-interrupts-arm64-vm-virtio-its.txt",
	 {0, 1, 2, 3},
	 4,
	 6,
	 {{"3", "arch_timer", 1, 7807 + 6971 + 6448 + 7202},
	  {"36", "virtio0", 1, 2649},
	  {"38", "arm-smmu-v3-evtq", 1, 0},
	  {"44", "arm-pmu", 1, 0},
	  {"46", "virtio1-config", 1, 0},
	  {"47", "virtio1-input.0", 1, 19}},
	 {}},
	/* Row 30 has counts and no handler. */
	{"C15",
	 "64-interrupts-x86-8cpu-row-without-handler.txt",
	 {0, 1, 2, 3, 4, 5, 6, 7},
	 8,
	 10,
	 {{"9", "acpi", 1, 11107 + 2316 + 4040 + 1356 + 1324 + 1006 + 548 + 537},
	  {"16", "ehci_hcd:usb1, mmc0", 2, 4 + 2 + 2 + 8 + 0 + 6 + 7 + 0},
	  {"27", "ahci[0000:00:1f.2]", 1,
	   242965 + 155333 + 52536 + 47894 + 35496 + 32961 + 27934 + 96634},
	  {"29", "enp0s25", 1, 974462 + 273360 + 84814 + 115282 + 66423 + 72322 + 48783 + 56791},
	  {"30", "", 0, 100 + 22 + 12 + 19 + 16 + 6 + 10 + 5},
	  {"33", "iwlwifi", 1, 193890 + 10271 + 22883 + 6823 + 3023 + 3918 + 2610 + 3798},
	  {"NMI", "Non-maskable interrupts", 0, 210 + 92 + 179 + 96 + 177},
	  {"ERR", "", 0, 0},
	  {"MIS", "", 0, 0},
	  {"PIN", "Posted-interrupt notification event", 0, 0}},
	 {}},
	{"C16",
	 "65-interrupts-x86-1cpu-old-glued-chip.txt",
	 {0},
	 1,
	 8,
	 {{"0", "timer", 1, 45},
	  {"1", "i8042", 1, 3},
	  {"6", "floppy", 1, 3},
	  {"7", "parport0", 1, 0},
	  {"9", "acpi", 1, 0},
	  {"HYP", "Hypervisor callback interrupts", 0, 0},
	  {"ERR", "", 0, 0},
	  {"MIS", "", 0, 0}},
	 {}},
	{"C18",
	 "67-interrupts-i40e-guest-pci-segment.txt",
	 {0, 1, 2, 3},
	 4,
	 9,
	 {{"1", "ACPI:Ged", 1, 0},
	  {"2", "ACPI:Ged", 1, 0},
	  {"5", "virtio0-config", 1, 0},
	  {"6", "virtio0-virtqueues", 1, 752},
	  {"8", "virtio1-req.0", 1, 1014},
	  {"9", "i40e-0001:00:0f.0:misc", 1, 2},
	  {"10", "i40e-enP1s15-TxRx-0", 1, 119},
	  {"11", "i40e-enP1s15-TxRx-1", 1, 0},
	  {"12", "i40e-enP1s15-TxRx-2", 1, 0}},
	 {}},
	/* A bare name and dotted statistics names are no tables. */
	{"C20", "69-interrupts-bnxt-truncated-name.txt", {}, 0, 0, {}, {1}},
	{"C22", "72-interrupts-irq-names-only-i40e-high-hwirq.txt", {}, 0, 0, {}, {1}},
	/* The layout of irq_seq_show() in 7.3, with CPU 1 offline. */
	{"6.1",
	 "other-interrupts-7.3.txt",
	 {0, 2},
	 2,
	 6,
	 {{"0", "timer", 1, 12},
	  {"28", "virtio2-config", 1, 1000},
	  {"29", "virtio2-input.0", 1, UINT64_C(4294967302)},
	  {"NMI", "Non-maskable interrupts", 0, 0},
	  {"VPMI", "Perf Guest Mediated PMI", 0, 3},
	  {"ERR", "PIC/APIC error interrupts", 0, 3}},
	 {}},
};

static void expect_cpus(const json_t *doc, const unsigned *cpus, unsigned n)
{
	const json_t *have = json_object_get(doc, "cpus"), *v;
	size_t i;

	ck_assert_uint_eq(json_array_size(have), n);
	json_array_foreach (have, i, v)
		ck_assert_int_eq(json_integer_value(v), cpus[i]);
}

START_TEST(interrupts)
{
	const char *id = interrupts_cases[_i].id;
	json_t *doc = decode(DECODE_INTERRUPTS, interrupts_cases[_i].file);
	const json_t *irqs = json_object_get(doc, "irqs"), *irq, *action;
	size_t i, k;

	expect_cpus(doc, interrupts_cases[_i].cpus, interrupts_cases[_i].n_cpus);
	ck_assert_msg(json_array_size(irqs) == interrupts_cases[_i].n, "%s: %zu rows", id,
		      json_array_size(irqs));
	json_array_foreach (irqs, i, irq) {
		const struct interrupt *want = &interrupts_cases[_i].irqs[i];
		const json_t *number = json_object_get(irq, "irq");
		char word[16], joined[128] = "";
		size_t used = 0;

		if (json_is_integer(number))
			format_into(word, sizeof(word), "%d", (int)json_integer_value(number));
		else
			format_into(word, sizeof(word), "%s", json_string_value(number));
		ck_assert_msg(streq(word, want->irq), "%s row %zu: irq %s", id, i, word);
		ck_assert_str_eq(json_string_value(json_object_get(irq, "name")), want->name);
		ck_assert_msg(value(irq, "total") == (json_int_t)want->total, "%s irq %s: total",
			      id, word);
		ck_assert_uint_eq(json_array_size(json_object_get(irq, "actions")), want->actions);
		json_array_foreach (json_object_get(irq, "actions"), k, action)
			used += (size_t)format_into(joined + used, sizeof(joined) - used, "%s%s",
						    used ? ", " : "", json_string_value(action));
		if (want->actions > 0)
			ck_assert_str_eq(joined, want->name);
	}
	expect_warnings(id, doc, interrupts_cases[_i].warnings);
	json_decref(doc);
}
END_TEST

/* A30: possible CPUs, some columns cut out of the middle, rows cut off at the end. */
START_TEST(softirqs)
{
	static const unsigned cpus[] = {0, 1, 2, 126, 127}, no_lines[] = {0};
	static const struct {
		const char *name;
		json_int_t counts[5];
	} want[] = {
		{"HI", {0}},
		{"TIMER", {199367, 263391}},
		{"NET_TX", {24, 16}},
		{"NET_RX", {43705, 47277}},
		{"BLOCK", {0}},
		{"IRQ_POLL", {0}},
		{"TASKLET", {136955, 57164}},
	};
	json_t *doc = decode(DECODE_SOFTIRQS, "71-softirqs-azure-2vcpu-128-columns-cut.txt");
	const json_t *vectors = json_object_get(doc, "vectors"), *v;
	size_t k;

	expect_cpus(doc, cpus, 5);
	ck_assert_uint_eq(json_object_size(vectors), ELEMENTSOF(want));
	for (size_t i = 0; i < ELEMENTSOF(want); i++) {
		const json_t *counts = json_object_get(vectors, want[i].name);

		ck_assert_uint_eq(json_array_size(counts), 5);
		json_array_foreach (counts, k, v)
			ck_assert_int_eq(json_integer_value(v), want[i].counts[k]);
	}
	expect_warnings("A30", doc, no_lines);
	json_decref(doc);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("cases");

	tcase_add_loop_test(t, softnet, 0, ELEMENTSOF(softnet_cases));
	tcase_add_loop_test(t, kmsg, 0, ELEMENTSOF(kmsg_cases));
	tcase_add_loop_test(t, interrupts, 0, ELEMENTSOF(interrupts_cases));
	tcase_add_test(t, softirqs);
	return run_suite("decode", t);
}
