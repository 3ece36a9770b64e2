/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/show-decode.h"

#include <stdarg.h>

#include "model/snapshot.h"
#include "serve/sheet.h"

/* Findings are sentences: wrapped at this where the terminal does not say. */
#define TEXT_WIDTH 96

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)) ?: "";
}

/* One finding, wrapped, with a hanging indent. */
static void _printf_(3, 4) finding(FILE *out, unsigned width, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	size_t limit = MIN(width ? width : TEXT_WIDTH, (unsigned)TEXT_WIDTH), column = 1;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	fputc('-', out);
	for (char *at = text, *word = strsep(&at, " "); word; word = strsep(&at, " ")) {
		size_t length = strlen(word);

		if (column + 1 + length > limit && column > 2) {
			fputs("\n ", out);
			column = 1;
		}
		fprintf(out, " %s", word);
		column += 1 + length;
	}
	fputc('\n', out);
}

static void show_warnings(FILE *out, unsigned width, const json_t *doc)
{
	const json_t *warnings = json_object_get(doc, "warnings"), *w;
	size_t i;

	if (json_array_size(warnings) > 0)
		fputs("\nWarnings\n", out);
	json_array_foreach (warnings, i, w) {
		if (json_is_integer(json_object_get(w, "line")))
			finding(out, width, "line %llu: %s", (unsigned long long)number(w, "line"),
				string(w, "text"));
		else
			finding(out, width, "%s", string(w, "text"));
	}
}

/* Between the table and what it means; false, and said, when there is no table. */
static bool found_rows(FILE *out, size_t n)
{
	fputs(n > 0 ? "\n" : "No row of it can be read.\n", out);
	return n > 0;
}

/* "CPU 3", or "row 3" of a dump without ids. */
static const char *row_name(char buf[CELL_MAX], const json_t *cpu)
{
	const json_t *id = json_object_get(cpu, "cpu");

	if (json_is_integer(id))
		snprintf(buf, CELL_MAX, "CPU %llu", (unsigned long long)json_integer_value(id));
	else
		snprintf(buf, CELL_MAX, "row %llu", (unsigned long long)number(cpu, "row"));
	return buf;
}

/* Appends the names of the rows where KEY is not 0: "CPU 0, CPU 3 and 5 more". */
static uint64_t sum_of(const json_t *cpus, const char *key, char *names, size_t size)
{
	unsigned named = 0, more = 0;
	uint64_t sum = 0;
	const json_t *cpu;
	size_t used = 0, i;

	names[0] = '\0';
	json_array_foreach (cpus, i, cpu) {
		char name[CELL_MAX];
		int n;

		if (number(cpu, key) == 0)
			continue;
		sum += number(cpu, key);
		if (named == 4) {
			more++;
			continue;
		}
		n = format_into(names + used, size - used, "%s%s", named++ ? ", " : "",
				row_name(name, cpu));
		used += n > 0 ? (size_t)n : 0;
	}
	if (more > 0)
		format_into(names + used, size - used, " and %u more", more);
	return sum;
}

static void explain_softnet(FILE *out, unsigned width, const json_t *doc)
{
	const json_t *cpus = json_object_get(doc, "cpus"), *cpu, *busiest = NULL;
	bool nameless = false;
	char names[160], name[CELL_MAX], rate[64] = "";
	uint64_t processed, n;
	size_t i;

	json_array_foreach (cpus, i, cpu) {
		nameless = nameless || !json_is_integer(json_object_get(cpu, "cpu"));
		if (!busiest || number(cpu, "processed") > number(busiest, "processed"))
			busiest = cpu;
	}
	if (nameless)
		finding(out, width,
			"Rows of fewer than 13 columns name no CPU: row n is the n-th CPU that was "
			"online, counted from 0.");
	processed = sum_of(cpus, "processed", names, sizeof(names));
	if (processed > 0 && json_array_size(cpus) > 1)
		finding(out, width, "Busiest: %s, with %.0f %% of all %llu packets.",
			row_name(name, busiest),
			100.0 * (double)number(busiest, "processed") / (double)processed,
			(unsigned long long)processed);
	n = sum_of(cpus, "dropped", names, sizeof(names));
	if (n > 0)
		finding(out, width,
			"Packets dropped: %llu, on %s. A CPU's backlog queue was full "
			"(net.core.netdev_max_backlog) or its flow limit hit.",
			(unsigned long long)n, names);
	n = sum_of(cpus, "time_squeeze", names, sizeof(names));
	/* More squeezes than packets: a counter has wrapped, their ratio means nothing. */
	if (n > 0 && n <= processed)
		snprintf(rate, sizeof(rate), ", %.1f in a million packets",
			 1e6 * (double)n / (double)processed);
	if (n > 0)
		finding(out, width,
			"Squeezes: %llu, on %s%s. A receive run ended because its packets "
			"(net.core.netdev_budget) or its time (net.core.netdev_budget_usecs) were used "
			"up; that loses nothing.",
			(unsigned long long)n, names, rate);
	n = sum_of(cpus, "flow_limit", names, sizeof(names));
	if (n > 0)
		finding(out, width,
			"Packets of single heavy flows dropped by the flow limit: %llu, on %s.",
			(unsigned long long)n, names);
	n = sum_of(cpus, "backlog", names, sizeof(names));
	if (n > 0)
		finding(out, width, "Packets waiting in backlog queues just then: %llu, on %s.",
			(unsigned long long)n, names);
	finding(out, width,
		"Everything but BACKLOG counts since boot and wraps at 2^32: only the growth between "
		"two dumps says what happens now.");
}

static void show_softnet(FILE *out, unsigned width, const json_t *doc)
{
	static const char *const heads[] = {"CPU",       ">PROCESSED",  ">DROPPED", ">SQUEEZED",
					    ">RPS IPIS", ">FLOW LIMIT", ">BACKLOG", NULL};
	static const char *const keys[] = {"processed",    "dropped",    "time_squeeze",
					   "received_rps", "flow_limit", "backlog"};
	struct sheet *sheet = sheet_new(width, heads);
	const json_t *cpu;
	size_t i;

	json_array_foreach (json_object_get(doc, "cpus"), i, cpu) {
		char cell[ELEMENTSOF(heads)][CELL_MAX];
		const char *cells[ELEMENTSOF(heads)];

		cells[0] = row_name(cell[0], cpu);
		for (size_t k = 0; k < ELEMENTSOF(keys); k++)
			cells[k + 1] = cell_number(cell[k + 1], json_object_get(cpu, keys[k]));
		sheet_row(sheet, cells);
	}
	sheet_end(sheet, out);
	if (found_rows(out, json_array_size(json_object_get(doc, "cpus"))))
		explain_softnet(out, width, doc);
}

static void show_softirqs(FILE *out, unsigned width, const json_t *doc)
{
	static const char *const heads[] = {"VECTOR",     ">TOTAL",         ">BUSIEST",
					    ">ITS SHARE", ">CPUS WITH ANY", NULL};
	const json_t *cpus = json_object_get(doc, "cpus"), *counts, *v;
	size_t n_cpus = json_array_size(cpus), silent = 0;
	_cleanup_free_ bool *ran = calloc(MAX(n_cpus, (size_t)1), sizeof(*ran));
	struct sheet *sheet = sheet_new(width, heads);
	const char *name;

	json_object_foreach ((json_t *)json_object_get(doc, "vectors"), name, counts) {
		char total_cell[CELL_MAX], busiest_cell[CELL_MAX], share[CELL_MAX], with[CELL_MAX];
		uint64_t total = 0, most = 0;
		size_t busiest = 0, any = 0, i;

		json_array_foreach (counts, i, v) {
			uint64_t count = (uint64_t)json_integer_value(v);

			total += count;
			any += count > 0;
			if (ran && count > 0)
				ran[i] = true;
			if (count > most) {
				most = count;
				busiest = i;
			}
		}
		snprintf(total_cell, sizeof(total_cell), "%llu", (unsigned long long)total);
		snprintf(busiest_cell, sizeof(busiest_cell), "CPU %lld",
			 (long long)json_integer_value(json_array_get(cpus, busiest)));
		snprintf(share, sizeof(share), "%.0f %%",
			 total ? 100.0 * (double)most / (double)total : 0.0);
		snprintf(with, sizeof(with), "%zu", any);
		sheet_row(sheet,
			  (const char *const[]){name, total_cell, total ? busiest_cell : NULL,
						total ? share : NULL, with});
	}
	sheet_end(sheet, out);
	if (!found_rows(out, json_object_size(json_object_get(doc, "vectors"))))
		return;
	for (size_t i = 0; ran && i < n_cpus; i++)
		silent += !ran[i];
	finding(out, width,
		"%zu columns. This table lists every possible CPU, /proc/interrupts and softnet_stat "
		"only those online: match them by the CPU's number, never by position.",
		n_cpus);
	if (silent > 0)
		finding(out, width,
			"CPUs that never ran a softirq: %zu. They are offline, or do not exist.",
			silent);
	finding(out, width, "All counts run since boot and wrap at 2^32.");
}

static void show_interrupts(FILE *out, unsigned width, const json_t *doc)
{
	static const char *const heads[] = {">IRQ", ">TOTAL", "NAME", NULL};
	struct sheet *sheet = sheet_new(width, heads);
	const json_t *irqs = json_object_get(doc, "irqs"), *irq;
	size_t shared = 0, nameless = 0, i;

	json_array_foreach (irqs, i, irq) {
		const json_t *id = json_object_get(irq, "irq");
		char number_cell[CELL_MAX], total[CELL_MAX];

		shared += json_array_size(json_object_get(irq, "actions")) > 1;
		nameless += json_is_integer(id) && streq(string(irq, "name"), "");
		sheet_row(sheet, (const char *const[]){
					 json_string_value(id) ?: cell_number(number_cell, id),
					 cell_number(total, json_object_get(irq, "total")),
					 *string(irq, "name") ? string(irq, "name") : NULL});
	}
	sheet_end(sheet, out);
	if (!found_rows(out, json_array_size(irqs)))
		return;
	if (shared > 0)
		finding(out, width,
			"Shared by more than one handler: %zu. Moving such an interrupt moves all of "
			"them, so softnetd leaves it alone.",
			shared);
	if (nameless > 0)
		finding(out, width,
			"Without a handler: %zu. The driver is gone, the counts stayed.", nameless);
	finding(out, width,
		"Names are those of the moment the driver asked for the interrupt: an interface may "
		"have been renamed since, and names may be cut. Totals run since boot: where an "
		"interrupt fires now shows only in the growth between two dumps.");
}

/* What a NOHZ mask means for the network. */
static void explain_mask(FILE *out, unsigned width, uint32_t mask, size_t lines)
{
	bool net = mask & SOFTIRQ_MASK_NET, only_net = net && !(mask & ~SOFTIRQ_MASK_NET);
	const char *means;

	if (mask == 1U << SOFTIRQ_SCHED)
		means = "SCHED only: not network. Seen when the scheduler's balancing waits (real-time "
			"kernels, idle injection); pinning a NIC's interrupts for it is guesswork";
	else if (mask == 1U << SOFTIRQ_HRTIMER)
		means = "HRTIMER only: not network. On a virtual machine usually a sign that the host "
			"let it wait";
	else if (mask == 1U << SOFTIRQ_RCU || mask == (1U << SOFTIRQ_TIMER | 1U << SOFTIRQ_RCU))
		means = "timers and RCU only: not network. Usual around suspend and CPU hotplug";
	else if (mask == 1U << SOFTIRQ_BLOCK)
		means = "BLOCK only: storage, not network";
	else if (only_net)
		means = "network: a CPU went idle while received or sent packets waited. Usually a "
			"driver that raises the softirq from a thread; a newer kernel or threaded NAPI "
			"on that interface cures it, no budget does";
	else if (net)
		means = "network among others: packets waited on a CPU that went idle, and so did the "
			"rest";
	else
		means = "not network: neither NET_TX nor NET_RX is in the mask";
	finding(out, width, "%zu NOHZ line%s with mask %02x: %s.", lines, lines == 1 ? "" : "s",
		mask, means);
}

static const char *explain_kind(const char *kind)
{
	static const struct {
		enum kmsg_kind kind;
		const char *means;
	} kinds[] = {
		{KMSG_RCU_STALL,
		 "a CPU did not let RCU pass for many seconds: stop tuning, go back to "
		 "the kernel's own values"},
		{KMSG_SOFT_LOCKUP,
		 "a CPU ran kernel code for 20 s and more without scheduling: stop "
		 "tuning, go back to the kernel's own values"},
		{KMSG_HARD_LOCKUP, "a CPU took no interrupts for seconds"},
		{KMSG_NETDEV_WATCHDOG, "a transmit queue stood still: a driver, firmware or link "
				       "fault, or an interrupt that does not arrive"},
		{KMSG_RT_THROTTLING,
		 "real-time tasks used up their share of a CPU; printed once per "
		 "boot"},
		{KMSG_IRQ_NOBODY_CARED,
		 "the kernel switched an interrupt off that no handler wanted: "
		 "it must not be moved again"},
		{KMSG_CLOCKSOURCE_UNSTABLE,
		 "the kernel gave up its clock source: times taken with a "
		 "fine clock are worth less"},
	};

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
		if (streq(kind, kmsg_kind_to_string(kinds[i].kind)))
			return kinds[i].means;
	return "";
}

/* How many of the events have the same kind and mask as event AT; 0 when an earlier one has. */
static size_t alike(const json_t *events, size_t at)
{
	const json_t *event = json_array_get(events, at), *other;
	size_t n = 0, i;

	json_array_foreach (events, i, other) {
		if (!streq(string(event, "kind"), string(other, "kind")) ||
		    number(event, "mask") != number(other, "mask"))
			continue;
		if (i < at)
			return 0;
		n++;
	}
	return n;
}

static void show_kmsg(FILE *out, unsigned width, const json_t *doc)
{
	static const char *const heads[] = {">LINE",   "KIND",  ">MASK", "VECTORS",
					    "NETWORK", "~TEXT", NULL};
	struct sheet *sheet = sheet_new(width, heads);
	const json_t *events = json_object_get(doc, "events"), *event, *v;
	size_t i, k;

	json_array_foreach (events, i, event) {
		char line[CELL_MAX], mask[CELL_MAX], vectors[160] = "";
		bool nohz = json_is_integer(json_object_get(event, "mask"));
		size_t used = 0;

		snprintf(mask, sizeof(mask), "%02llx", (unsigned long long)number(event, "mask"));
		json_array_foreach (json_object_get(event, "vectors"), k, v) {
			int n = format_into(vectors + used, sizeof(vectors) - used, "%s%s",
					    used ? "+" : "", json_string_value(v) ?: "");

			used += n > 0 ? (size_t)n : 0;
		}
		sheet_row(sheet,
			  (const char *const[]){
				  cell_number(line, json_object_get(event, "line")),
				  string(event, "kind"), nohz ? mask : NULL,
				  *vectors ? vectors : NULL,
				  json_is_true(json_object_get(event, "network")) ? "yes" : "no",
				  string(event, "text")});
	}
	sheet_end(sheet, out);
	if (json_array_size(events) == 0) {
		fputs("No line tells of trouble on the receive path.\n", out);
		return;
	}
	fputc('\n', out);
	json_array_foreach (events, i, event) {
		size_t n = alike(events, i);

		if (n == 0)
			continue;
		if (json_is_integer(json_object_get(event, "mask")))
			explain_mask(out, width, (uint32_t)number(event, "mask"), n);
		else
			finding(out, width, "%zu %s line%s: %s.", n, string(event, "kind"),
				n == 1 ? "" : "s", explain_kind(string(event, "kind")));
	}
}

void show_decode(FILE *out, unsigned width, json_t *doc)
{
	const char *kind = string(doc, "kind");

	if (streq(kind, "softnet-stat"))
		show_softnet(out, width, doc);
	else if (streq(kind, "softirqs"))
		show_softirqs(out, width, doc);
	else if (streq(kind, "interrupts"))
		show_interrupts(out, width, doc);
	else if (streq(kind, "kmsg"))
		show_kmsg(out, width, doc);
	show_warnings(out, width, doc);
}
