/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/show.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>

#include "base/util.h"
#include "serve/sheet.h"

void show_init(void)
{
	setlocale(LC_CTYPE, "");
	setlocale(LC_TIME, "");
	if (!streq(nl_langinfo(CODESET), "UTF-8"))
		setlocale(LC_CTYPE, "C.UTF-8");
}

static json_t *get(const json_t *d, const char *key)
{
	return json_object_get(d, key);
}

/* NULL when it is not a string. */
static const char *text(const json_t *d, const char *key)
{
	return json_string_value(json_object_get(d, key));
}

static double number(const json_t *d, const char *key)
{
	return json_number_value(json_object_get(d, key));
}

static bool is_true(const json_t *d, const char *key)
{
	return json_is_true(json_object_get(d, key));
}

static const char *cell(char buf[CELL_MAX], const json_t *d, const char *key)
{
	return cell_number(buf, get(d, key));
}

#define TARGET_MAX 400 /* an identity, whole */

/* "30 (virtio1-input.0)"; "" for the host. */
static const char *target_cell(char *buf, size_t size, const json_t *d)
{
	const char *target = text(d, "target"), *name = text(d, "name");

	if (target && name)
		snprintf(buf, size, "%s (%s)", target, name);
	else
		snprintf(buf, size, "%s", target ?: name ?: "");
	return buf;
}

static void show_head(FILE *out, const json_t *status)
{
	const json_t *host = get(status, "host"), *daemon = get(status, "daemon");
	const char *by = text(daemon, "profile_chosen_by");
	char up[CELL_MAX];

	/* The normal case needs no word. */
	if (by && streq(by, "default"))
		by = NULL;
	fprintf(out, "softnetd %s on %s, kernel %s, %.0f CPUs", text(daemon, "version") ?: "-",
		text(host, "hostname") ?: "-", text(host, "kernel") ?: "-",
		number(host, "cpus_online"));
	if (text(host, "cpus_isolated"))
		fprintf(out, " (isolated: %s)", text(host, "cpus_isolated"));
	if (is_true(host, "realtime"))
		fputs(", PREEMPT_RT", out);
	if (is_true(host, "container"))
		fputs(", in a container", out);
	if (is_true(host, "captured"))
		fputs(", a captured tree", out);
	fprintf(out, "\nprofile %s%s%s%s, mode %s, up %s, pid %.0f\n",
		text(daemon, "profile") ?: "none", by ? " (" : "", by ?: "", by ? ")" : "",
		text(daemon, "mode") ?: "-", cell_duration(up, number(daemon, "uptime_seconds")),
		number(daemon, "pid"));
}

/* What makes a row worth a line when there are too many. */
static double busyness(const json_t *row)
{
	return number(row, "processed_per_second") + 1e3 * number(row, "squeezed_per_second") +
	       1e6 * number(row, "dropped_per_second") + number(row, "net_rx_per_second") +
	       number(row, "softirq_percent") + number(row, "per_second");
}

static int by_busyness(const void *a, const void *b)
{
	double x = busyness(*(json_t *const *)a), y = busyness(*(json_t *const *)b);

	return (x < y) - (x > y);
}

struct rows {
	json_t *row[SHOW_ROWS_MAX]; /* borrowed */
	size_t n, left_out;
};

/* The rows of an array in their order; of more than fit, the busiest, busiest first. */
static struct rows pick_rows(const json_t *array)
{
	struct rows rows = {};
	size_t total = json_array_size(array);
	_cleanup_free_ json_t **all = calloc(MAX(total, (size_t)1), sizeof(*all));

	if (!all)
		return rows;
	for (size_t i = 0; i < total; i++)
		all[i] = json_array_get(array, i);
	if (total > SHOW_ROWS_MAX)
		qsort(all, total, sizeof(*all), by_busyness);
	rows.n = MIN(total, (size_t)SHOW_ROWS_MAX);
	rows.left_out = total - rows.n;
	memcpy(rows.row, all, rows.n * sizeof(*all));
	return rows;
}

static void show_cpus(FILE *out, unsigned width, const json_t *status)
{
	static const char *const heads[] = {
		">CPU",      ">processed/s", ">dropped/s", ">squeezed/s",
		">NET_RX/s", ">softirq %",   ">backlog",   NULL};
	static const char *const keys[] = {
		"cpu",
		"processed_per_second",
		"dropped_per_second",
		"squeezed_per_second",
		"net_rx_per_second",
		"softirq_percent",
		"backlog",
	};
	struct rows rows = pick_rows(get(status, "cpus"));
	struct sheet *s = sheet_new(width, heads);
	char buf[ELEMENTSOF(keys)][CELL_MAX];
	const char *cells[ELEMENTSOF(keys)];

	for (size_t i = 0; i < rows.n; i++) {
		for (size_t k = 0; k < ELEMENTSOF(keys); k++)
			cells[k] = cell(buf[k], rows.row[i], keys[k]);
		sheet_row(s, cells);
	}
	fputc('\n', out);
	sheet_end(s, out);
	if (rows.left_out > 0)
		fprintf(out, "(the %zu busiest of %zu CPUs; --json has them all)\n", rows.n,
			rows.n + rows.left_out);
	if (number(status, "window_seconds") <= 0)
		fputs("(no rates yet: they need two readings)\n", out);
}

static void nic_rows(struct sheet *s, const json_t *nic, size_t *left_out)
{
	struct rows rows = pick_rows(get(nic, "irqs"));
	char irq[CELL_MAX], queues[CELL_MAX], per_second[CELL_MAX];

	*left_out = rows.left_out;
	/* A NIC without interrupts of its own still has one line. */
	for (size_t i = 0; i < MAX(rows.n, (size_t)1); i++) {
		const json_t *row = i < rows.n ? rows.row[i] : NULL;
		bool first = i == 0;
		const char *cells[] = {
			first ? text(nic, "nic") : "",
			first ? text(nic, "driver") : "",
			first ? cell(queues, nic, "rx_queues") : "",
			first ? text(nic, "placement") : "",
			cell(irq, row, "irq"),
			text(row, "name"),
			text(row, "affinity"),
			text(row, "effective"),
			text(row, "state"),
			cell(per_second, row, "per_second"),
		};

		sheet_row(s, cells);
	}
}

static void show_nics(FILE *out, unsigned width, const json_t *status)
{
	static const char *const heads[] = {"NIC",   "driver",  ">queues",  "placement",
					    ">IRQ",  "name",    "affinity", "effective",
					    "state", ">irqs/s", NULL};
	struct sheet *s = sheet_new(width, heads);
	const json_t *nics = get(status, "nics"), *nic;
	size_t i, left_out, real = 0;

	json_array_foreach (nics, i, nic) {
		if (is_true(nic, "virtual") && json_array_size(get(nic, "irqs")) == 0)
			continue;
		nic_rows(s, nic, &left_out);
		real++;
		if (left_out > 0) {
			char more[CELL_MAX];
			const char *cells[10] = {"", "", "", "", "", more, "", "", "", ""};

			snprintf(more, sizeof(more), "and %zu less busy ones", left_out);
			sheet_row(s, cells);
		}
	}
	if (real > 0)
		fputc('\n', out);
	sheet_end(s, out);
	left_out = json_array_size(nics) - real;
	if (left_out > 0)
		fprintf(out, "%s%zu virtual interface%s without interrupts of %s own\n",
			real > 0 ? "" : "\n", left_out, left_out == 1 ? "" : "s",
			left_out == 1 ? "its" : "their");
}

/* "app (task 4711, priority 80) goes before the interrupt threads of eth0 …" */
static void show_first(FILE *out, const json_t *nics)
{
	const json_t *nic;
	size_t i;

	json_array_foreach (nics, i, nic)
		if (json_is_object(get(nic, "goes_first")))
			fprintf(out, "%s: packets wait while it runs\n",
				text(get(nic, "goes_first"), "text") ?: "-");
}

static void show_evidence(FILE *out, const json_t *evidence)
{
	const char *key, *glue = "    ";
	json_t *value;
	char buf[CELL_MAX];

	json_object_foreach ((json_t *)evidence, key, value) {
		if (streq(key, "text"))
			continue;
		fprintf(out, "%s%s %s", glue, key,
			json_is_string(value) ? json_string_value(value)
					      : (cell_number(buf, value) ?: "-"));
		glue = ", ";
	}
	if (!streq(glue, "    "))
		fputc('\n', out);
}

static void show_symptom(FILE *out, const json_t *s)
{
	const json_t *evidence = get(s, "evidence");
	char buf[CELL_MAX];

	fprintf(out, "  %s on %s", text(s, "symptom") ?: "-", text(s, "scope") ?: "-");
	if (json_is_number(get(s, "for_seconds")))
		fprintf(out, " for %s", cell_duration(buf, number(s, "for_seconds")));
	if (json_is_false(get(s, "acute")))
		fputs(", calm at the moment", out);
	fprintf(out, ": %s\n", text(evidence, "text") ?: "-");
	show_evidence(out, evidence);
}

static void show_symptoms(FILE *out, const json_t *symptoms)
{
	const json_t *s;
	size_t i;

	if (json_array_size(symptoms) == 0) {
		fputs("\nNothing binds.\n", out);
		return;
	}
	fputs("\nWhat binds:\n", out);
	json_array_foreach (symptoms, i, s)
		show_symptom(out, s);
}

static void show_changes(FILE *out, unsigned width, const json_t *status)
{
	static const char *const heads[] = {"changed", "target", "original", "now", "state",
					    "proof",   "since",  "~why",     NULL};
	const json_t *changes = get(status, "changes"), *c;
	struct sheet *s;
	size_t i;

	if (json_array_size(changes) == 0) {
		fputs("No setting of this host is changed.\n", out);
		return;
	}
	fputc('\n', out);
	s = sheet_new(width, heads);
	json_array_foreach (changes, i, c) {
		char since[CELL_MAX], target[TARGET_MAX];
		const char *cells[] = {
			text(c, "setting"),
			target_cell(target, sizeof(target), c),
			text(c, "original"),
			text(c, "now"),
			text(c, "state"),
			text(c, "proof") ?: "",
			cell_time(since, get(c, "since")),
			text(c, "why"),
		};

		sheet_row(s, cells);
	}
	sheet_end(s, out);
}

static void show_list(FILE *out, const char *title, const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		fprintf(out, "%s: %s\n", title, json_string_value(item) ?: "-");
}

/* One line; what is refused stands among what hinders. */
static void show_writable(FILE *out, const json_t *list)
{
	size_t refused = 0, i;
	const json_t *one;

	json_array_foreach (list, i, one)
		refused += number(one, "refused") > 0;
	if (json_array_size(list) > 0)
		fprintf(out, "writable: %zu of the %zu settings that this host has\n",
			json_array_size(list) - refused, json_array_size(list));
}

static void show_pins(FILE *out, const json_t *status)
{
	const json_t *pin;
	size_t i;

	json_array_foreach (get(status, "pinned"), i, pin)
		fprintf(out, "pinned by hand: %s%s%s = %s\n", text(pin, "setting") ?: "-",
			text(pin, "target") ? "@" : "", text(pin, "target") ?: "",
			text(pin, "value") ?: "-");
}

/* What is strange is said in full; what this host simply does not have, in one line. */
static void show_blind(FILE *out, const json_t *blind)
{
	const char *glue = "not here: ";
	const json_t *b;
	bool any = false;
	size_t i;

	json_array_foreach (blind, i, b)
		if (!streq(text(b, "state") ?: "", "absent") || !text(b, "source") ||
		    streq(text(b, "source"), "rates"))
			fprintf(out, "blind: %s: %s\n", text(b, "source") ?: "-",
				text(b, "text") ?: "-");
	json_array_foreach (blind, i, b) {
		if (!streq(text(b, "state") ?: "", "absent") || !text(b, "source") ||
		    streq(text(b, "source"), "rates"))
			continue;
		fprintf(out, "%s%s", glue, text(b, "source"));
		glue = ", ";
		any = true;
	}
	if (any)
		fputc('\n', out);
}

static void show_rivals(FILE *out, const json_t *rivals)
{
	const char *glue = "also at work here: ";
	const json_t *r;
	size_t i;

	json_array_foreach (rivals, i, r) {
		fprintf(out, "%s%s", glue, json_string_value(r) ?: "-");
		glue = ", ";
	}
	if (json_array_size(rivals) > 0)
		fputc('\n', out);
}

/* "irqbalance moves 8 interrupts of eth0, which the profile would place: …" */
static void show_irqbalance(FILE *out, const json_t *irqbalance)
{
	const json_t *m;
	size_t i;

	json_array_foreach (get(irqbalance, "moves"), i, m)
		fprintf(out,
			"irqbalance moves %zu interrupts of %s, which the profile would place: run it "
			"with %s, or say place_despite_irqbalance\n",
			json_array_size(get(m, "irqs")), text(m, "nic") ?: "-",
			text(m, "option") ?: "-");
	if (json_is_object(irqbalance) && !is_true(irqbalance, "told"))
		fputs("irqbalance does not tell which interrupts it leaves alone\n", out);
}

/* udev's .link files: no daemon, but after a driver reset their values are there again. */
static void show_link_files(FILE *out, const json_t *files)
{
	const json_t *f;
	size_t i;

	json_array_foreach (files, i, f) {
		fprintf(out, "udev sets %s: %s:%.0f %s=%s", text(f, "of") ?: "-",
			text(f, "file") ?: "-", number(f, "line"), text(f, "key") ?: "-",
			text(f, "value") ?: "");
		if (text(f, "setting"))
			fprintf(out, " (softnetd's %s)", text(f, "setting"));
		fputc('\n', out);
	}
}

static void show_advised(FILE *out, const json_t *status)
{
	const json_t *a;
	char count[CELL_MAX];
	size_t i;

	json_array_foreach (get(status, "advice"), i, a)
		fprintf(out, "advice: %s: %s → %s; %s\n", text(a, "id") ?: "-",
			text(a, "from") ?: "?", text(a, "to") ?: "-", text(a, "command") ?: "");
	json_array_foreach (get(status, "silenced"), i, a)
		fprintf(out, "silenced: %s, %s times so far\n", text(a, "id") ?: "-",
			cell(count, a, "count") ?: "-");
}

/* Newest first: that one counts. */
static void show_holds(FILE *out, const json_t *status)
{
	const json_t *holds = get(status, "holds");
	char since[CELL_MAX];

	for (size_t i = json_array_size(holds); i > 0; i--) {
		const json_t *h = json_array_get(holds, i - 1);

		fprintf(out, "held: %s by %s, since %s\n", text(h, "profile") ?: "-",
			text(h, "by") ?: "-", cell_time(since, get(h, "since")) ?: "-");
	}
}

/* "open sockets: 12 of 12 sockets and 2 of 2 epoll instances of nginx.service busy poll" */
static void show_open_sockets(FILE *out, const json_t *d)
{
	const json_t *unit;
	size_t i;

	if (!json_is_object(d))
		return;
	fprintf(out, "open sockets: %.0f of %.0f sockets and %.0f of %.0f epoll instances set of",
		number(d, "sockets_set"), number(d, "sockets"), number(d, "epolls_set"),
		number(d, "epolls"));
	json_array_foreach (get(d, "units"), i, unit)
		fprintf(out, " %s", json_string_value(unit));
	if (number(d, "left_out") > 0)
		fprintf(out, "; %.0f descriptors more were not looked at", number(d, "left_out"));
	if (!is_true(d, "epoll_possible"))
		fprintf(out, "; this kernel has no parameters of epoll instances");
	fputc('\n', out);
}

void show_status(FILE *out, unsigned width, json_t *status)
{
	show_head(out, status);
	show_cpus(out, width, status);
	show_nics(out, width, status);
	show_first(out, get(status, "nics"));
	show_queues(out, width, get(status, "nics"));
	show_symptoms(out, get(status, "symptoms"));
	show_changes(out, width, status);
	show_pins(out, status);
	show_holds(out, status);
	show_advised(out, status);
	show_writable(out, get(status, "writable"));
	show_open_sockets(out, get(status, "open_sockets"));
	show_list(out, "hindered", get(status, "obstacles"));
	show_rivals(out, get(status, "rivals"));
	show_irqbalance(out, get(status, "irqbalance"));
	show_link_files(out, get(status, "link_files"));
	show_blind(out, get(status, "blind"));
}

static void profile_wish(char *buf, size_t size, const json_t *wish)
{
	const char *kind = text(wish, "kind");

	if (!kind)
		snprintf(buf, size, "-");
	else if (streq(kind, "value"))
		snprintf(buf, size, "%s", text(wish, "value") ?: "-");
	else if (streq(kind, "range") && text(wish, "low"))
		snprintf(buf, size, "[%s, %s]", text(wish, "low"), text(wish, "high") ?: "-");
	else if (streq(kind, "range"))
		snprintf(buf, size, "[%.0f, %.0f]", number(wish, "low"), number(wish, "high"));
	else
		snprintf(buf, size, "%s", kind);
}

/* Where the value comes from, or why there is none; and what keeps softnetd from changing it. */
static void setting_source(char *buf, size_t size, const json_t *s)
{
	const char *blocked = text(s, "blocked");

	snprintf(buf, size, "%s", text(s, "error") ?: text(get(s, "source"), "text") ?: "");
	if (blocked)
		append_text(buf, size, "%s%s", *buf ? "; " : "", blocked);
}

void show_settings(FILE *out, unsigned width, json_t *settings)
{
	static const char *const heads[] = {"setting", "target",   ">value",     "unit",
					    "profile", "original", "comes from", NULL};
	struct sheet *s = sheet_new(width, heads);
	const json_t *d;
	size_t i;

	json_array_foreach (settings, i, d) {
		char wish[128], target[TARGET_MAX], comes_from[768];
		const char *cells[] = {
			text(d, "setting"),
			target_cell(target, sizeof(target), d),
			text(d, "value"),
			text(d, "unit") ?: "",
			wish,
			text(d, "original") ?: "",
			comes_from,
		};

		profile_wish(wish, sizeof(wish), get(d, "profile"));
		setting_source(comes_from, sizeof(comes_from), d);
		sheet_row(s, cells);
	}
	sheet_end(s, out);
}

void show_complaints(FILE *out, unsigned width _unused_, json_t *complaints)
{
	const json_t *c;
	size_t i;

	json_array_foreach (complaints, i, c) {
		if (text(c, "file"))
			fprintf(out, "%s:", text(c, "file"));
		if (json_is_integer(get(c, "line")))
			fprintf(out, "%.0f:", number(c, "line"));
		fprintf(out, "%s%s\n", text(c, "file") ? " " : "", text(c, "text") ?: "-");
	}
}

void show_profiles(FILE *out, unsigned width, json_t *profiles)
{
	static const char *const heads[] = {"",     "profile", "inherits", "~description",
					    "file", NULL};
	struct sheet *s = sheet_new(width, heads);
	const json_t *p;
	size_t i;

	json_array_foreach (profiles, i, p) {
		bool bad = json_array_size(get(p, "complaints")) > 0;
		const char *cells[] = {
			is_true(p, "active") ? "*" : "",
			text(p, "profile"),
			text(p, "inherits") ?: "",
			bad ? "cannot be used, see below" : text(p, "description"),
			text(p, "file") ?: "",
		};

		sheet_row(s, cells);
	}
	sheet_end(s, out);
	json_array_foreach (profiles, i, p)
		show_complaints(out, width, get(p, "complaints"));
}

/* "in force by itself with unit a.service and kernel rt (file:line)" */
static void show_matches(FILE *out, const json_t *profile)
{
	const json_t *m, *rate;
	size_t i;

	json_array_foreach (get(profile, "match"), i, m) {
		const char *glue = " with";

		fputs("in force by itself", out);
		if (text(m, "unit")) {
			fprintf(out, "%s unit %s", glue, text(m, "unit"));
			glue = " and";
		}
		rate = get(m, "packet_rate");
		if (json_is_array(rate)) {
			fprintf(out, "%s packet_rate [%.0f, %.0f]", glue,
				json_number_value(json_array_get(rate, 0)),
				json_number_value(json_array_get(rate, 1)));
			glue = " and";
		}
		if (text(m, "kernel"))
			fprintf(out, "%s kernel %s", glue, text(m, "kernel"));
		fprintf(out, ", priority %.0f (%s)\n", number(profile, "priority"),
			text(m, "origin") ?: "-");
	}
}

static void show_units(FILE *out, const json_t *units)
{
	const json_t *unit;
	size_t i;

	if (json_array_size(units) == 0)
		return;
	fputs("Open sockets are polled of:", out);
	json_array_foreach (units, i, unit)
		fprintf(out, "%s %s", i ? "," : "", json_string_value(unit) ?: "-");
	fputc('\n', out);
}

static void show_nic_rules(FILE *out, unsigned width, json_t *profile)
{
	static const char *const heads[] = {"NICs", "placement", "napi_threads", "rps", "CPUs",
					    "from", NULL};
	const json_t *rule;
	json_t *wish;
	struct sheet *s;
	const char *key;
	size_t i;

	if (json_array_size(get(profile, "nics")) == 0)
		return;
	fputc('\n', out);
	s = sheet_new(width, heads);
	json_array_foreach (get(profile, "nics"), i, rule) {
		const char *cells[] = {text(rule, "match"),         text(rule, "placement"),
				       text(rule, "napi_threads"),  text(rule, "rps") ?: "-",
				       text(rule, "cpus") ?: "any", text(rule, "origin") ?: ""};

		sheet_row(s, cells);
	}
	sheet_end(s, out);
	json_array_foreach (get(profile, "nics"), i, rule)
		json_object_foreach (get(rule, "settings"), key, wish) {
			char buf[128];

			profile_wish(buf, sizeof(buf), wish);
			fprintf(out, "%s: %s = %s (%s)\n", text(rule, "match"), key, buf,
				text(wish, "origin") ?: "-");
		}
	json_array_foreach (get(profile, "nics"), i, rule)
		if (text(rule, "near_cpus"))
			fprintf(out, "%s: placed near CPUs %s, which consume the packets (%s)\n",
				text(rule, "match"), text(rule, "near_cpus"),
				text(rule, "origin") ?: "-");
}

void show_profile(FILE *out, unsigned width, json_t *profile)
{
	static const char *const heads[] = {"setting", "wish", "when changed by others", "from",
					    NULL};
	struct sheet *s = sheet_new(width, heads);
	json_t *settings = get(profile, "settings"), *wish;
	const char *key;

	fprintf(out, "%s%s: %s\n", text(profile, "profile") ?: "-",
		is_true(profile, "active") ? " (active)" : "",
		text(profile, "description") ?: "(no description)");
	if (text(profile, "inherits"))
		fprintf(out, "inherits %s\n", text(profile, "inherits"));
	show_matches(out, profile);
	fprintf(out, "objective %s\n\n", text(profile, "objective") ?: "-");
	json_object_foreach (settings, key, wish) {
		char buf[128];
		const char *cells[] = {key, buf, text(wish, "on_foreign"),
				       text(wish, "origin") ?: ""};

		profile_wish(buf, sizeof(buf), wish);
		sheet_row(s, cells);
	}
	sheet_end(s, out);
	show_nic_rules(out, width, profile);
	show_units(out, get(profile, "busy_poll_units"));
	if (is_true(profile, "place_despite_irqbalance"))
		fputs("Placement is applied although irqbalance runs.\n", out);
}

void show_history(FILE *out, unsigned width, json_t *history)
{
	static const char *const heads[] = {">#", "time",    "setting", "target", "from",
					    "to", "outcome", "proof",   "~why",   NULL};
	struct sheet *s = sheet_new(width, heads);
	const json_t *h;
	size_t i;

	if (json_array_size(history) == 0)
		fputs("Nothing was done since softnetd started.\n", out);
	json_array_foreach (history, i, h) {
		char when[CELL_MAX], serial[CELL_MAX];
		const char *cells[] = {
			cell(serial, h, "serial"),
			cell_time(when, get(h, "time")),
			text(h, "setting") ?: "",
			text(h, "target") ?: "",
			text(h, "from") ?: "",
			text(h, "to") ?: "",
			text(h, "outcome") ?: text(h, "kind"),
			text(h, "proof") ?: "",
			text(h, "text") ?: text(h, "why"),
		};

		sheet_row(s, cells);
	}
	sheet_end(s, out);
}

/* "What bound    text", further lines under it. */
static void show_item(FILE *out, const char *what, const char *fmt, ...) _printf_(3, 4);
static void show_item(FILE *out, const char *what, const char *fmt, ...)
{
	va_list ap;

	fprintf(out, "%-12s ", what);
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
}

static void show_numbers(FILE *out, json_t *evidence)
{
	const char *name, *what = "Evidence";
	json_t *value;

	json_object_foreach (evidence, name, value) {
		if (json_is_string(value))
			show_item(out, what, "%s %s", name, json_string_value(value));
		else
			show_item(out, what, "%s %.6g", name, json_number_value(value));
		what = "";
	}
}

static void show_alternatives(FILE *out, const json_t *alternatives)
{
	const char *what = "Passed over";
	const json_t *a;
	size_t i;

	json_array_foreach (alternatives, i, a) {
		show_item(out, what, "%s: %s", text(a, "setting") ?: "-",
			  text(a, "why_not") ?: "-");
		what = "";
	}
}

static void show_steps(FILE *out, const json_t *steps)
{
	const char *what = "Then";
	char when[CELL_MAX];
	const json_t *s;
	size_t i;

	json_array_foreach (steps, i, s) {
		show_item(out, what, "%s %s → %s (%s): %s", cell_time(when, get(s, "time")) ?: "-",
			  text(s, "from") ?: "?", text(s, "to") ?: "-", text(s, "outcome") ?: "-",
			  text(s, "text") ?: "-");
		what = "";
	}
}

void show_explanation(FILE *out, unsigned width _unused_, json_t *d)
{
	const json_t *verdict = get(d, "verdict"), *over = get(d, "overridden");
	char when[CELL_MAX];

	if (!text(d, "setting")) {
		fprintf(out, "%s: %s\n", cell_time(when, get(d, "time")) ?: "-",
			text(d, "text") ?: "-");
		return;
	}
	fprintf(out, "%s%s%s: %s → %s (%s)\n", text(d, "setting"), text(d, "target") ? "@" : "",
		text(d, "target") ?: "", text(d, "from") ?: "?", text(d, "to") ?: "-",
		text(d, "outcome") ?: "-");
	show_item(out, "Id", "%s, number %.0f", text(d, "id") ?: "-", number(d, "serial"));
	show_item(out, "When", "%s, by %s", cell_time(when, get(d, "time")) ?: "-",
		  text(d, "class") ?: "-");
	if (text(d, "symptom"))
		show_item(out, "What bound", "%s on %s", text(d, "symptom"),
			  text(d, "where") ?: "-");
	show_item(out, "Why", "%s", text(d, "why") ?: "-");
	show_numbers(out, get(d, "evidence"));
	if (text(d, "proof"))
		show_item(out, "Proof", "%s%s%s", text(d, "proof"),
			  text(d, "proof_text") ? ": " : "", text(d, "proof_text") ?: "");
	show_alternatives(out, get(d, "alternatives"));
	show_steps(out, get(d, "steps"));
	if (json_is_number(get(verdict, "before")))
		show_item(out, "Verdict", "%s %s; before %.4g, after %.4g",
			  cell_time(when, get(verdict, "time")) ?: "-",
			  text(verdict, "text") ?: "-", number(verdict, "before"),
			  number(verdict, "after"));
	else if (json_is_object(verdict))
		show_item(out, "Verdict", "%s %s", cell_time(when, get(verdict, "time")) ?: "-",
			  text(verdict, "text") ?: "-");
	if (json_is_object(get(verdict, "judged")))
		show_item(out, "Objective", "%s%s",
			  text(get(verdict, "judged"), "objective") ?: "-",
			  is_true(get(verdict, "judged"), "seen") ? ""
								  : ", which no sensor shows here");
	if (json_is_object(over))
		show_item(out, "Overridden", "%s by %s: %s",
			  cell_time(when, get(over, "time")) ?: "-", text(over, "by") ?: "-",
			  text(over, "text") ?: "-");
	show_item(out, "Now", "%s", text(d, "now") ?: "not to be read");
}

/* REASON was said already, by the symptom. */
static void show_advice(FILE *out, const json_t *advice, const char *reason)
{
	const json_t *a;
	size_t i;

	json_array_foreach (advice, i, a) {
		const char *why = text(a, "why");

		fprintf(out, "    → %s: %s → %s", text(a, "setting") ?: "-", text(a, "from") ?: "?",
			text(a, "to") ?: "-");
		if (why && !streq(why, reason))
			fprintf(out, ": %s", why);
		fputc('\n', out);
		if (text(a, "command"))
			fprintf(out, "      %s\n", text(a, "command"));
	}
	if (json_array_size(advice) == 0)
		fputs("    No setting that softnetd knows would lift it.\n", out);
}

void show_diagnosis(FILE *out, unsigned width _unused_, json_t *diagnosis)
{
	const json_t *host = get(diagnosis, "host"), *symptoms = get(diagnosis, "symptoms"), *s;
	size_t i;

	fprintf(out, "%s, kernel %s, %.0f CPUs, watched for %.1f s\n\n",
		text(host, "hostname") ?: "-", text(host, "kernel") ?: "-",
		number(host, "cpus_online"), number(host, "seconds"));
	if (json_is_false(get(host, "seen")))
		fputs("Whether anything binds cannot be told: /proc/net/softnet_stat could not be read.\n",
		      out);
	else if (json_array_size(symptoms) == 0)
		fputs("Nothing binds.\n", out);
	json_array_foreach (symptoms, i, s) {
		show_symptom(out, s);
		show_advice(out, get(s, "advice"), text(get(s, "evidence"), "text") ?: "");
	}
	show_blind(out, get(diagnosis, "blind"));
}

void show_restore(FILE *out, unsigned width, json_t *report)
{
	static const char *const heads[] = {"setting", "target", "what", "original",
					    "now",     "~",      NULL};
	const json_t *list = get(report, "restored"), *r;
	struct sheet *s;
	size_t i;

	if (text(report, "trouble"))
		fprintf(out, "%s.\n", text(report, "trouble"));
	if (json_array_size(list) == 0) {
		if (!text(report, "trouble"))
			fputs("Nothing to give back: no setting of this host is changed.\n", out);
		return;
	}
	s = sheet_new(width, heads);
	json_array_foreach (list, i, r) {
		const char *cells[] = {
			text(r, "setting"),  text(r, "target") ?: "", text(r, "verdict"),
			text(r, "original"), text(r, "now"),          text(r, "text") ?: "",
		};

		sheet_row(s, cells);
	}
	sheet_end(s, out);
	if (number(report, "failed") > 0)
		fprintf(out, "%.0f could not be given back and stay in the ledger.\n",
			number(report, "failed"));
}
