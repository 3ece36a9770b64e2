/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The small sensors: /proc/stat, /proc/net/dev, /proc/pressure, interrupt names. The first byte
 * says which of them gets the rest.
 */
#include "fuzz/fuzz.h"
#include "observe/irq-names.h"
#include "observe/netdev.h"
#include "observe/pressure.h"
#include "observe/stat.h"

static void stat(const char *text, size_t size)
{
	struct stat_reading reading;
	struct snapshot *s;

	must(snapshot_new(8, 0, 0, &s) == 0);
	stat_into_snapshot(text, size, s, &reading);
	for (unsigned cpu = 0; cpu < s->n_cpus; cpu++)
		must(!s->cpu[cpu].have || cpuset_has(&reading.online, cpu));
	must(reading.intr.at == reading.intr.end ||
	     (reading.intr.at >= text && reading.intr.end <= text + size));
	must(s->source[SOURCE_STAT].state == SOURCE_OK || s->source[SOURCE_STAT].text[0]);
	snapshot_free(s);
}

static void netdev(const char *text, size_t size)
{
	struct nic nics[] = {{.name = "eth0"}, {.name = "eth1"}};
	struct topology t = {.n_nics = 2, .nic = nics};
	struct snapshot *s;

	must(snapshot_new(0, 0, 2, &s) == 0);
	netdev_into_snapshot(text, size, &t, s);
	must(s->source[SOURCE_NETDEV].state == SOURCE_OK || s->source[SOURCE_NETDEV].text[0]);
	snapshot_free(s);
}

static void names(const char *text, size_t size)
{
	char *action = strndup(text, size);
	struct irq_name n;

	must(action != NULL);
	n = irq_name_read(action, "eth0");
	must(n.queue >= -1 && n.queue < 65536);
	must(n.role != IRQ_OTHER || n.queue == -1);
	irq_name_read(action, action);
	irq_name_belongs(action, "eth0", "sys/devices/virtio0");
	free(action);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct pressure pressure;

	if (size < 1)
		return 0;
	switch (data[0] % 4) {
	case 0:
		stat(text, size - 1);
		break;
	case 1:
		netdev(text, size - 1);
		break;
	case 2:
		pressure_parse(text, size - 1, &pressure);
		break;
	default:
		names(text, size - 1);
	}
	return 0;
}
