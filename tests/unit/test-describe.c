/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The documents of a running engine on a generated host, and the text drawn from them. */
#include <stdio.h>

#include "engine/describe.h"
#include "engine/internal.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "serve/journal.h"
#include "serve/show.h"

static struct machine *m;
static struct engine *e;
static struct tree *config;
static const char *dirs[2];
static struct complaints complaints;
static char events[4096];

static const struct machine_nic i40e[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 4}};
static const struct machine_spec four_cpus = {.cpus = 4, .nics = i40e, .n_nics = 1};

static void boot(const struct machine_spec *spec, const char *mode)
{
	config = tree_new();
	dirs[0] = tree_path(config);
	tree_printf(config, "softnetd.conf", "mode = \"%s\";\nprofile = \"test\";\n", mode);
	tree_write(config, "profiles/test.conf",
		   "description = \"of the test\";\nnetdev_budget = [300, 1200];\n"
		   "netdev_budget_usecs = [8000, 24000];\nnetdev_max_backlog = [1000, 8000];\n");
	m = machine_new(spec);
}

static void on_event(void *userdata _unused_, const struct engine_event *ev)
{
	char text[512];

	journal_message(ev, text, sizeof(text));
	append_text(events, sizeof(events), "%s\n", text);
}

static void start(void)
{
	struct engine_options o = {.io = &m->io, .config_dirs = dirs, .lock = true};
	pid_t pid;

	ck_assert_int_eq(engine_new(&o, &complaints, &pid, &e), 0);
	engine_set_listener(e, on_event, NULL);
	events[0] = '\0';
}

static void teardown(void)
{
	complaints_done(&complaints);
	engine_free(TAKE_PTR(e));
	if (m)
		machine_free(TAKE_PTR(m));
	if (config)
		tree_free(TAKE_PTR(config));
}

static void tick(void)
{
	machine_advance(m, USEC_PER_SEC);
	machine_write(m);
	ck_assert_int_eq(engine_tick(e), 0);
}

/* One second of a NIC whose packets all come to the CPU of queue 0; most NET_RX runs end squeezed
 * with a full budget. */
static void squeeze(void)
{
	unsigned irq = machine_irq(m, "i40e-eth0-TxRx-0");
	unsigned cpu = cpuset_first(&m->irq[irq].effective);

	machine_fire(m, irq, 100);
	m->rx[0].rx_packets += 30000;
	m->cpu[cpu].processed += 30000;
	m->cpu[cpu].squeezed += 90;
	m->cpu[cpu].softirq[3] += 100;
	machine_busy(m, cpu, 400000);
	tick();
}

/* Until the loop has raised the budget: it takes a baseline first. */
static void squeeze_until_changed(void)
{
	for (int i = 0; i < 20 && ledger_size(e->ledger) == 0; i++)
		squeeze();
	ck_assert_uint_eq(ledger_size(e->ledger), 1);
}

/* A member of a document by a path such as "host.kernel" or "cpus.1.backlog". */
static json_t *at(json_t *d, const char *path)
{
	char copy[128], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *key = strtok_r(copy, ".", &save); key; key = strtok_r(NULL, ".", &save)) {
		d = json_is_array(d) ? json_array_get(d, strtoul(key, NULL, 10))
				     : json_object_get(d, key);
		ck_assert_msg(d != NULL, "no %s in %s", key, path);
	}
	return d;
}

static void expect_text(json_t *d, const char *path, const char *text)
{
	json_t *v = at(d, path);

	ck_assert_msg(json_is_string(v), "%s is no string", path);
	ck_assert_str_eq(json_string_value(v), text);
}

static void expect_number(json_t *d, const char *path, double low, double high)
{
	json_t *v = at(d, path);

	ck_assert_msg(json_is_number(v), "%s is no number", path);
	ck_assert_msg(json_number_value(v) >= low && json_number_value(v) <= high, "%s is %g", path,
		      json_number_value(v));
}

static void expect_null(json_t *d, const char *path)
{
	ck_assert_msg(json_is_null(at(d, path)), "%s is not null", path);
}

/* DOC drawn by SHOW must have every one of WORDS in it. */
static void expect_shown(void (*show)(FILE *, unsigned, json_t *), unsigned width, json_t *doc,
			 const char *const *words)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	ck_assert_ptr_nonnull(f);
	show(f, width, doc);
	fclose(f);
	for (; *words; words++)
		ck_assert_msg(strstr(text, *words) != NULL, "no \"%s\" in:\n%s", *words, text);
}
#define SHOWN(show, doc, ...) expect_shown(show, 0, doc, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(status_before_the_first_tick)
{
	json_t *d;

	boot(&four_cpus, "observe");
	start();
	d = engine_status(e);
	expect_text(d, "daemon.mode", "observe");
	expect_text(d, "daemon.profile", "test");
	expect_number(d, "host.cpus_online", 4, 4);
	/* Absent is not zero. */
	expect_null(d, "cpus.1.processed_per_second");
	expect_null(d, "cpus.1.backlog");
	SHOWN(show_status, d, "profile test, mode observe", "no rates yet", "Nothing binds.",
	      "No setting of this host is changed.");
	json_decref(d);
}
END_TEST

START_TEST(status_of_a_busy_host)
{
	json_t *d;

	boot(&four_cpus, "apply");
	start();
	squeeze_until_changed();
	d = engine_status(e);
	expect_number(d, "cpus.1.processed_per_second", 29000, 31000);
	expect_number(d, "cpus.1.squeezed_per_second", 85, 95);
	expect_number(d, "cpus.1.dropped_per_second", 0, 0);
	expect_number(d, "cpus.2.processed_per_second", 0, 0);
	expect_number(d, "cpus.1.softirq_percent", 30, 50);
	expect_text(d, "nics.0.nic", "eth0");
	expect_text(d, "nics.0.placement", "leave");
	expect_text(d, "symptoms.0.symptom", "squeezed");
	expect_text(d, "symptoms.0.scope", "cpu 1");
	expect_text(d, "symptoms.0.evidence.cause", "packets");
	expect_text(d, "changes.0.setting", "netdev_budget");
	expect_text(d, "changes.0.original", "300");
	expect_text(d, "changes.0.now", "450");
	expect_text(d, "changes.0.state", "held");
	expect_text(d, "changes.0.class", "trial");
	ck_assert(json_is_string(at(d, "changes.0.why")));
	ck_assert(json_is_true(at(d, "symptoms.0.acute")));
	expect_text(d, "trials.0.setting", "netdev_budget");
	SHOWN(show_status, d, "squeezed on cpu 1", "netdev_budget", "300", "450", "held",
	      "i40e-eth0-TxRx-0");
	json_decref(d);
	ck_assert_ptr_nonnull(strstr(events, "squeezed: "));
	ck_assert_ptr_nonnull(strstr(events, "netdev_budget: 300 → 450 packets"));
}
END_TEST

/* Who changed it is not us any more: shown, not hidden. */
START_TEST(status_names_foreign_values)
{
	json_t *d;

	boot(&four_cpus, "apply");
	start();
	squeeze_until_changed();
	tree_write(m->tree, "proc/sys/net/core/netdev_budget", "777\n");
	d = engine_status(e);
	expect_text(d, "changes.0.state", "foreign");
	expect_text(d, "changes.0.now", "777");
	json_decref(d);
}
END_TEST

START_TEST(diagnosis)
{
	static const char *const keys[] = {"id", "setting", "from", "to", "why", "command"};
	json_t *d, *advice;

	boot(&four_cpus, "advise");
	start();
	for (int i = 0; i < 5; i++)
		squeeze();
	d = engine_diagnosis(e);
	ck_assert_uint_eq(json_object_size(d), 3);
	expect_text(d, "symptoms.0.symptom", "squeezed");
	ck_assert_uint_eq(json_object_size(at(d, "symptoms.0")), 5);
	advice = at(d, "symptoms.0.advice.0");
	ck_assert_uint_eq(json_object_size(advice), ELEMENTSOF(keys));
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		ck_assert_msg(json_is_string(json_object_get(advice, keys[i])), "%s", keys[i]);
	expect_text(advice, "setting", "netdev_budget");
	expect_text(advice, "command", "sysctl -w net.core.netdev_budget=450");
	SHOWN(show_diagnosis, d, "squeezed on cpu 1", "netdev_budget: 300 → 450",
	      "sysctl -w net.core.netdev_budget=450");
	json_decref(d);
	/* Advice is not action. */
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
}
END_TEST

/* A lever is named while the symptom is acute; the advice stands while the symptom does. */
START_TEST(advice_outlives_the_acute_moment)
{
	json_t *d;

	boot(&four_cpus, "advise");
	start();
	for (int i = 0; i < 5; i++)
		squeeze();
	for (int i = 0; i < 4; i++)
		tick();
	d = engine_diagnosis(e);
	expect_text(d, "symptoms.0.symptom", "squeezed");
	expect_text(d, "symptoms.0.advice.0.setting", "netdev_budget");
	json_decref(d);
	d = engine_status(e);
	ck_assert(json_is_false(at(d, "symptoms.0.acute")));
	SHOWN(show_status, d, "squeezed on cpu 1 for", ", calm at the moment: NET_RX runs");
	json_decref(d);
}
END_TEST

/* Needs no configuration: nothing has to be installed. */
START_TEST(diagnosis_without_configuration)
{
	struct engine_options o = {.io = NULL, .have_mode = true, .mode = MODE_ADVISE};
	_cleanup_(strv_freep) char **before = NULL, **after = NULL;
	json_t *d;
	size_t i;

	boot(&four_cpus, "apply");
	before = tree_files(m->tree);
	o.io = &m->io;
	ck_assert_int_eq(engine_new(&o, NULL, NULL, &e), 0);
	for (int k = 0; k < 5; k++)
		squeeze();
	d = engine_diagnosis(e);
	expect_text(d, "symptoms.0.symptom", "squeezed");
	expect_text(d, "symptoms.0.advice.0.setting", "netdev_budget");
	json_decref(d);
	/* And leaves no trace: no lock, no ledger, no setting. */
	after = tree_files(m->tree);
	for (i = 0; before[i] && after[i]; i++)
		ck_assert_str_eq(before[i], after[i]);
	ck_assert_ptr_null(before[i]);
	ck_assert_ptr_null(after[i]);
}
END_TEST

START_TEST(tree_that_stands_still_has_no_rates)
{
	json_t *d;

	boot(&four_cpus, "observe");
	start();
	for (int i = 0; i < 4; i++) {
		/* Time passes for the reader, not for the tree. */
		m->mono_usec += USEC_PER_SEC;
		ck_assert_int_eq(engine_tick(e), 0);
	}
	d = engine_diagnosis(e);
	ck_assert_uint_eq(json_array_size(at(d, "symptoms")), 0);
	SHOWN(show_diagnosis, d, "Nothing binds.", "no counter of the captured tree changed");
	json_decref(d);
}
END_TEST

START_TEST(settings)
{
	char error[512];
	size_t hosts = 0;
	json_t *d;

	boot(&four_cpus, "apply");
	start();
	ck_assert_int_eq(engine_set(e, "netdev_budget", "", "600", error), 0);
	d = engine_settings(e, "netdev_budget");
	ck_assert_uint_eq(json_array_size(d), 1);
	expect_text(d, "0.value", "600");
	expect_text(d, "0.original", "300");
	expect_text(d, "0.pinned", "600");
	expect_text(d, "0.profile.kind", "range");
	expect_number(d, "0.profile.low", 300, 300);
	SHOWN(show_settings, d, "netdev_budget", "600", "pinned by hand", "[300, 1200]");
	json_decref(d);
	ck_assert_int_eq(engine_release(e, "netdev_budget", "", error), 0);
	d = engine_settings(e, NULL);
	/* One line per host setting and per NIC interrupt; what is not here says why. */
	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		hosts += tunables[i].scope == SCOPE_HOST;
	ck_assert_uint_ge(json_array_size(d), hosts + 4);
	SHOWN(show_settings, d, "irq_affinity", "only kernels with softnetd's series");
	json_decref(d);
}
END_TEST

/* The same without an engine: softnetctl get with no daemon. */
START_TEST(settings_without_engine)
{
	json_t *d;

	boot(&four_cpus, "apply");
	d = describe_settings(&m->io, NULL, NULL, "netdev_budget");
	expect_text(d, "0.value", "300");
	expect_null(d, "0.profile");
	expect_null(d, "0.original");
	json_decref(d);
	/* Without a topology, what belongs to interrupts has no targets. */
	d = describe_settings(&m->io, NULL, NULL, "irq_affinity");
	ck_assert_uint_eq(json_array_size(d), 0);
	json_decref(d);
}
END_TEST

START_TEST(restoring)
{
	char error[512];
	json_t *d;

	boot(&four_cpus, "apply");
	start();
	ck_assert_int_eq(engine_set(e, "netdev_budget", "", "600", error), 0);
	ck_assert_int_eq(engine_set(e, "netdev_max_backlog", "", "2000", error), 0);
	tree_write(m->tree, "proc/sys/net/core/netdev_max_backlog", "5000\n");
	d = engine_restore(e);
	ck_assert_uint_eq(json_array_size(at(d, "restored")), 2);
	expect_number(d, "failed", 0, 0);
	SHOWN(show_restore, d, "netdev_budget", "300", "netdev_max_backlog", "5000");
	json_decref(d);
	d = engine_restore(e);
	SHOWN(show_restore, d, "Nothing to give back");
	json_decref(d);
}
END_TEST

START_TEST(history)
{
	char error[512];
	json_t *d;

	boot(&four_cpus, "apply");
	start();
	d = engine_history(e);
	SHOWN(show_history, d, "Nothing was done");
	json_decref(d);
	/* More than the ring holds: the newest stay, in order. */
	for (int i = 0; i < HISTORY_MAX + 10; i++)
		ck_assert_int_eq(engine_set(e, "netdev_budget", "", i % 2 ? "600" : "700", error),
				 0);
	d = engine_history(e);
	ck_assert_uint_eq(json_array_size(d), HISTORY_MAX);
	expect_number(d, "0.serial", 11, 11);
	expect_number(d, "255.serial", HISTORY_MAX + 10, HISTORY_MAX + 10);
	expect_text(d, "255.to", "600");
	json_decref(d);
}
END_TEST

START_TEST(profiles)
{
	json_t *d;

	boot(&four_cpus, "observe");
	tree_write(config, "profiles/broken.conf", "netdev_bugdet = 300;\n");
	start();
	d = engine_profiles(e);
	ck_assert_uint_eq(json_array_size(d), 2);
	expect_text(d, "0.profile", "broken");
	ck_assert_uint_eq(json_array_size(at(d, "0.complaints")), 1);
	expect_number(d, "0.complaints.0.line", 1, 1);
	ck_assert(json_is_true(at(d, "1.active")));
	SHOWN(show_profiles, d, "broken", "cannot be used", "broken.conf:1: ", "netdev_budget",
	      "of the test");
	json_decref(d);

	d = engine_profile(e, "test");
	expect_text(d, "settings.netdev_budget.kind", "range");
	ck_assert_ptr_nonnull(strstr(json_string_value(at(d, "settings.netdev_budget.origin")),
				     "profiles/test.conf:2"));
	SHOWN(show_profile, d, "test (active)", "[300, 1200]", "profiles/test.conf:2");
	json_decref(d);

	tree_write(config, "profiles/near.conf",
		   "nics = ( { match = \"eth*\"; placement = \"near\"; near_cpus = \"2-3\"; } );\n"
		   "busy_poll_units = [\"db.service\", \"web.service\"];\n");
	d = engine_profile(e, "near");
	expect_text(d, "nics.0.near_cpus", "2-3");
	expect_text(d, "busy_poll_units.1", "web.service");
	SHOWN(show_profile, d, "placed near CPUs 2-3", "polled of: db.service, web.service");
	json_decref(d);

	d = engine_profile(e, "tset");
	ck_assert_uint_eq(json_array_size(at(d, "complaints")), 1);
	json_decref(d);
}
END_TEST

/* What udev sets of a NIC when it appears is named by file and line. */
START_TEST(link_files_are_named)
{
	json_t *d;

	boot(&four_cpus, "observe");
	tree_write(m->tree, "etc/systemd/network/10-lan.link",
		   "[Match]\nDriver=i40e\n[Link]\nIRQAffinityPolicy=spread\nRxChannels=\x01\xff\n");
	start();
	tick();
	d = engine_status(e);
	ck_assert_uint_eq(json_array_size(at(d, "link_files")), 2);
	expect_text(d, "link_files.0.file", "/etc/systemd/network/10-lan.link");
	ck_assert_int_eq(json_integer_value(at(d, "link_files.0.line")), 4);
	expect_text(d, "link_files.0.setting", "irq_affinity");
	SHOWN(show_status, d,
	      "udev sets interrupts: /etc/systemd/network/10-lan.link:4 IRQAffinityPolicy=spread "
	      "(softnetd's irq_affinity)",
	      "udev sets channels: /etc/systemd/network/10-lan.link:5 RxChannels=");
	json_decref(d);
}
END_TEST

/* Tables fold to the busiest rows and say so. */
START_TEST(large_host)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_MLX5, .queues = 64}};
	static const struct machine_spec spec = {.cpus = 64, .nics = nics, .n_nics = 1};
	json_t *d;

	boot(&spec, "observe");
	start();
	for (int i = 0; i < 3; i++) {
		m->cpu[50].processed += 1000;
		tick();
	}
	d = engine_status(e);
	ck_assert_uint_eq(json_array_size(at(d, "cpus")), 64);
	SHOWN(show_status, d, "the 16 busiest of 64 CPUs", " 50 ", "less busy ones");
	json_decref(d);
}
END_TEST

/* A document of another version, or none at all, is drawn without a crash. */
START_TEST(drawing_takes_anything)
{
	static const char *const documents[] = {
		"{}",
		"[]",
		"null",
		"[{}]",
		"[null]",
		"7",
		"\"x\"",
		"{\"cpus\":[{}],\"nics\":[{},7],\"symptoms\":[{}],\"changes\":[{}],\"blind\":[{}],"
		"\"sources\":7,\"rivals\":[1],\"link_files\":[{},7],\"obstacles\":[{}],\"pinned\":[{}]}",
		"{\"host\":[],\"daemon\":\"\",\"symptoms\":{\"a\":1},\"settings\":{\"a\":7}}",
		"[{\"profile\":{\"kind\":7},\"complaints\":[{}],\"time\":1e300,\"since\":-1}]",
	};
	void (*const shows[])(FILE *, unsigned, json_t *) = {
		show_status,    show_settings, show_profiles, show_profile,
		show_diagnosis, show_history,  show_restore,  show_complaints,
	};

	for (size_t i = 0; i < ELEMENTSOF(documents); i++) {
		json_t *d = json_loads(documents[i], JSON_DECODE_ANY, NULL);

		ck_assert_ptr_nonnull(d);
		for (size_t k = 0; k < ELEMENTSOF(shows); k++)
			for (unsigned width = 0; width <= 80; width += 40)
				expect_shown(shows[k], width, d, (const char *const[]){NULL});
		json_decref(d);
	}
}
END_TEST

/* Names come from drivers: bytes that are no UTF-8 must not lose the document. */
START_TEST(strange_names)
{
	json_t *d;

	boot(&four_cpus, "observe");
	start();
	strcpy(e->topology->irq[0].name, "eth\xff-rx");
	d = engine_status(e);
	expect_text(d, "nics.0.irqs.0.name", "eth?-rx");
	json_decref(d);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("describe");

	show_init();
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, status_before_the_first_tick);
	tcase_add_test(t, status_of_a_busy_host);
	tcase_add_test(t, status_names_foreign_values);
	tcase_add_test(t, diagnosis);
	tcase_add_test(t, advice_outlives_the_acute_moment);
	tcase_add_test(t, diagnosis_without_configuration);
	tcase_add_test(t, tree_that_stands_still_has_no_rates);
	tcase_add_test(t, settings);
	tcase_add_test(t, settings_without_engine);
	tcase_add_test(t, restoring);
	tcase_add_test(t, history);
	tcase_add_test(t, profiles);
	tcase_add_test(t, link_files_are_named);
	tcase_add_test(t, large_host);
	tcase_add_test(t, drawing_takes_anything);
	tcase_add_test(t, strange_names);
	return run_suite("describe", t);
}
