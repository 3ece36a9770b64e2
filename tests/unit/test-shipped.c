/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shipped beside the program says what the program does: the configuration files and the
 * man pages are held against the tables in the code, so that a new key or setting cannot be
 * forgotten in them. Runs in the top directory.
 */
#include <check.h>
#include <ctype.h>
#include <stdio.h>

#include "base/io.h"
#include "decide/choose.h"
#include "lib/config-tree.h"
#include "lib/run.h"
#include "profile/profile-file.h"
#include "profile/schema.h"

static const char *const shipped_dirs[] = {"config", NULL};
static const char *const shipped_profiles[] = {"balanced", "low-latency", "powersave", "realtime",
					       "throughput"};

static char *read_file(const char *path)
{
	_cleanup_(io_freep) struct io *io = NULL;
	char *text = NULL;
	size_t size;

	ck_assert_int_eq(io_new(".", &io), 0);
	ck_assert_msg(io_read_all(io, path, &text, &size) == 0, "cannot read %s", path);
	return text;
}

/* Whether a line of TEXT begins with KEY, given or behind a #, and goes on with " = VALUE"; any
 * value when VALUE is NULL. */
static bool mentions(const char *text, const char *key, const char *value)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		line += *line == '#';
		if (!startswith(line, key) || !startswith(line + strlen(key), " = "))
			continue;
		if (!value || startswith(line + strlen(key) + strlen(" = "), value))
			return true;
	}
	return false;
}

static void expect_mentioned(const char *path, enum place place)
{
	_cleanup_free_ char *text = read_file(path);
	_cleanup_free_ const char **names = NULL;

	ck_assert_int_eq(schema_names(place, &names), 0);
	for (const char **n = names; *n; n++)
		ck_assert_msg(mentions(text, *n, NULL), "%s has no line for %s", path, *n);
}

START_TEST(the_set_of_profiles)
{
	_cleanup_(strv_freep) char **names = NULL;

	ck_assert_int_eq(profile_list(shipped_dirs, &names), 0);
	for (size_t i = 0; i < ELEMENTSOF(shipped_profiles); i++)
		ck_assert_str_eq(names[i], shipped_profiles[i]);
	ck_assert_ptr_null(names[ELEMENTSOF(shipped_profiles)]);
}
END_TEST

START_TEST(profile_files)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	const char *name = shipped_profiles[_i];
	struct config_tree said = {}; /* only its complaints are used */
	char path[128];
	int r;

	r = profile_load(shipped_dirs, name, &p, &said.complaints);
	expect_silence(&said);
	ck_assert_int_eq(r, 0);
	ck_assert_ptr_nonnull(p->description);
	snprintf(path, sizeof(path), "config/profiles/%s.conf", name);
	expect_mentioned(path, PLACE_PROFILE);
}
END_TEST

/* A healthy host gets no write: nothing is stated, and the kernel's own value is inside each range.
 */
START_TEST(balanced_writes_nothing)
{
	_cleanup_(profile_freep) struct profile *p = NULL;

	ck_assert_int_eq(profile_load(shipped_dirs, "balanced", &p, NULL), 0);
	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		ck_assert_msg(p->setting[i].kind != SETTING_VALUE, "%s", tunables[i].id);
	ck_assert_ptr_null(profile_nic_rule(p, "eth0"));
}
END_TEST

START_TEST(ranges_hold_the_kernels_defaults)
{
	static const int hz[] = {100, 250, 300, 1000};
	_cleanup_(profile_freep) struct profile *p = NULL;

	ck_assert_int_eq(profile_load(shipped_dirs, shipped_profiles[_i], &p, NULL), 0);
	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		const struct profile_setting *s = &p->setting[i];

		if (s->kind != SETTING_RANGE)
			continue;
		if (i != TUNABLE_NETDEV_BUDGET_USECS) {
			ck_assert_int_ge(tunables[i].kernel_default, s->low);
			ck_assert_int_le(tunables[i].kernel_default, s->high);
			continue;
		}
		/* default and floor of the kernel: two jiffies */
		for (size_t k = 0; k < ELEMENTSOF(hz); k++) {
			ck_assert_int_ge(2000000 / hz[k], s->low);
			ck_assert_int_le(2000000 / hz[k], s->high);
		}
	}
}
END_TEST

START_TEST(config_file)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_free_ char *text = read_file("config/softnetd.conf");
	struct config_tree said = {};
	int r;

	r = config_load(shipped_dirs, &c, &said.complaints);
	expect_silence(&said);
	ck_assert_int_eq(r, 0);
	expect_mentioned("config/softnetd.conf", PLACE_CONFIG);
	/* It shows the defaults as they are, and sets nothing. */
	for (size_t i = 0; i < _KEY_MAX; i++) {
		const struct schema_key *k = &schema[i];
		char value[64];

		if (k->place != PLACE_CONFIG)
			continue;
		snprintf(value, sizeof(value),
			 k->type == KEY_NUMBER || k->type == KEY_IDS ? "%s;" : "\"%s\";",
			 k->fallback);
		ck_assert_msg(mentions(text, k->name, value), "%s = %s", k->name, value);
	}
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		ck_assert_msg(*line == '#' || *line == '\n' || *line == '\0', "%.40s", line);
	}
}
END_TEST

/* A man page has a paragraph for KEY: a line ".B KEY" or ".BR KEY …". */
static bool has_paragraph(const char *page, const char *key)
{
	for (const char *line = page; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!startswith(line, ".B ") && !startswith(line, ".BR "))
			continue;
		line = strchr(line, ' ') + 1;
		if (startswith(line, key) && isspace((unsigned char)line[strlen(key)]))
			return true;
	}
	return false;
}

START_TEST(man_pages_have_every_key)
{
	static const struct {
		const char *path;
		enum place place;
	} pages[] = {
		{"man/softnetd.conf.5", PLACE_CONFIG},
		{"man/softnetd-profile.5", PLACE_PROFILE},
		{"man/softnetd-profile.5", PLACE_NIC},
		{"man/softnetd-profile.5", PLACE_MATCH},
		{"man/softnetd-profile.5", PLACE_SETTING},
	};

	for (size_t i = 0; i < ELEMENTSOF(pages); i++) {
		_cleanup_free_ char *page = read_file(pages[i].path);
		_cleanup_free_ const char **names = NULL;

		ck_assert_int_eq(schema_names(pages[i].place, &names), 0);
		for (const char **n = names; *n; n++)
			ck_assert_msg(has_paragraph(page, *n), "%s: %s", pages[i].path, *n);
	}
}
END_TEST

/* Times and bounds in a page are the code's. */
START_TEST(man_page_tells_when_a_profile_changes)
{
	_cleanup_free_ char *page = read_file("man/softnetd-profile.5");
	char text[96];

	snprintf(text, sizeof(text), "for %u seconds without a break",
		 (unsigned)(RATE_USEC / USEC_PER_SEC));
	ck_assert_ptr_nonnull(strstr(page, text));
	snprintf(text, sizeof(text), "for %u seconds since", (unsigned)(RATE_USEC / USEC_PER_SEC));
	ck_assert_ptr_nonnull(strstr(page, text));
	snprintf(text, sizeof(text), "stays for at least %u seconds",
		 (unsigned)(RULES_DWELL_USEC / USEC_PER_SEC));
	ck_assert_ptr_nonnull(strstr(page, text));
	snprintf(text, sizeof(text), "%lld to %lld, by default %s",
		 (long long)schema[KEY_PRIORITY].min, (long long)schema[KEY_PRIORITY].max,
		 schema[KEY_PRIORITY].fallback);
	ck_assert_ptr_nonnull(strstr(page, text));
}
END_TEST

/* How a setting must stand in the man page, in full. */
static void man_entry(FILE *f, const struct tunable *t)
{
	const char *unit = streq(t->unit, "µs") ? "\\(mcs" : t->unit;

	fprintf(f, ".TP\n.B %s\n%s\n.br\n", t->id, t->doc);
	if (t->path) {
		fputc('/', f);
		for (const char *c = t->path; *c; c++)
			if (*c == '%')
				fputs(*++c == 's' ? "NIC" : "N", f);
			else
				fputc(*c, f);
		fputs("\n.br\n", f);
	}
	if (t->netlink)
		fprintf(f, "netlink: %s\n.br\n", t->netlink);
	if (t->type == VALUE_NUMBER && t->words) {
		for (size_t i = 0; t->words[i]; i++)
			fprintf(f, "%s%s (%zu)", i > 0 ? ", " : "", t->words[i], i);
	} else if (t->type == VALUE_NUMBER || t->type == VALUE_LATENCY || t->type == VALUE_SCHED) {
		fprintf(f, "%lld to %lld%s%s%s", (long long)t->min, (long long)t->max,
			*unit ? " " : "", unit,
			t->granularity == GRANULARITY_JIFFY ? ", in whole jiffies"
			: t->granularity == GRANULARITY_POWER_OF_TWO
				? ", rounded up to a power of two"
				: "");
		if (t->type == VALUE_LATENCY)
			fprintf(f, ", or n/a");
	} else if (t->type == VALUE_CPUS || t->type == VALUE_CPU_MASK) {
		fprintf(f, "set by %s",
			t == &tunables[TUNABLE_IRQ_AFFINITY] ? "placement"
			: t->type == VALUE_CPU_MASK          ? "rps"
							     : "napi_threads");
	} else {
		for (size_t i = 0; t->known[i]; i++)
			fprintf(f, "%s%s", i > 0 ? ", " : "", t->known[i]);
		if (t->type == VALUE_EPP)
			fprintf(f, ", or %lld to %lld", (long long)t->min, (long long)t->max);
	}
	if (t->kernel_default == INT64_MIN)
		fprintf(f, "; the default depends on the host");
	else if (t->words)
		fprintf(f, "; the kernel's default is %s", t->words[t->kernel_default]);
	else
		fprintf(f, "; the kernel's default is %lld", (long long)t->kernel_default);
	if (t->order) {
		fprintf(f, "\n.br\na range for the loop goes from the one that yields most: ");
		for (int64_t i = 0; i <= t->max - t->min; i++)
			fprintf(f, "%s%s", i > 0 ? ", " : "", t->words[t->order[i]]);
	}
	fprintf(f, "\n.br\nalso set by: %s\n", t->owners);
	if (t->undo)
		fprintf(f, ".br\nundone by %s\n", t->undo);
}

START_TEST(man_page_has_the_table_of_settings)
{
	_cleanup_free_ char *page = read_file("man/softnetd-profile.5");

	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		_cleanup_free_ char *entry = NULL;
		size_t size;
		FILE *f = open_memstream(&entry, &size);

		ck_assert_ptr_nonnull(f);
		man_entry(f, &tunables[i]);
		ck_assert_int_eq(fclose(f), 0);
		ck_assert_msg(strstr(page, entry), "man/softnetd-profile.5 lacks\n%s", entry);
	}
}
END_TEST

/* Whether a line of the unit that begins with KEY has WORD, or with PREFIX one that WORD lies
 * under. */
static bool unit_has(const char *unit, const char *key, const char *word, bool prefix)
{
	for (const char *line = unit; line; line = strchr(line, '\n')) {
		_cleanup_free_ char *copy = NULL;
		char *rest, *w;

		line += *line == '\n';
		if (!startswith(line, key))
			continue;
		copy = strndup(line + strlen(key), strcspn(line + strlen(key), "\n"));
		ck_assert_ptr_nonnull(copy);
		rest = copy;
		while ((w = strsep(&rest, " "))) {
			size_t n;

			w += *w == '-';
			n = strlen(w);
			if (n > 0 && (prefix ? startswith(word, w) && (word[n] == '/' || !word[n])
					     : streq(word, w)))
				return true;
		}
	}
	return false;
}

/* What the table says can be written, the sandbox lets through. */
START_TEST(unit_opens_what_the_table_needs)
{
	_cleanup_free_ char *unit = read_file("units/softnetd.service");

	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		const struct tunable *t = &tunables[i];
		char path[160];

		if (t->netlink)
			ck_assert(unit_has(unit, "CapabilityBoundingSet=", "CAP_NET_ADMIN", false));
		if (!t->path)
			continue;
		snprintf(path, sizeof(path), "/%s", t->path);
		/* What is in there are links to the NICs' devices. */
		if (startswith(path, "/sys/class/net/"))
			strcpy(path, "/sys/devices");
		if (t->type == VALUE_SCHED || i == TUNABLE_NAPI_THREAD_AFFINITY)
			ck_assert(unit_has(unit, "CapabilityBoundingSet=", "CAP_SYS_NICE", false));
		else if (startswith(path, "/dev/"))
			ck_assert_msg(unit_has(unit, "DeviceAllow=", path, false), "%s", path);
		else
			ck_assert_msg(unit_has(unit, "ReadWritePaths=", path, true), "%s", path);
	}
	ck_assert(!unit_has(unit, "ReadWritePaths=", "/proc/sys/kernel/core_pattern", true));
	ck_assert(!unit_has(unit, "ReadWritePaths=", "/sys/kernel", true));
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("all");

	tcase_add_test(c, the_set_of_profiles);
	tcase_add_loop_test(c, profile_files, 0, (int)ELEMENTSOF(shipped_profiles));
	tcase_add_test(c, balanced_writes_nothing);
	tcase_add_loop_test(c, ranges_hold_the_kernels_defaults, 0,
			    (int)ELEMENTSOF(shipped_profiles));
	tcase_add_test(c, config_file);
	tcase_add_test(c, unit_opens_what_the_table_needs);
	tcase_add_test(c, man_pages_have_every_key);
	tcase_add_test(c, man_page_tells_when_a_profile_changes);
	tcase_add_test(c, man_page_has_the_table_of_settings);
	return run_suite("shipped", c);
}
