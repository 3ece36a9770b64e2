/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU power on a generated host, through the whole road: every policy and CPU that is meant, kept
 * right through hotplug, resume and moving interrupts, and back exactly. */
#include <stdio.h>

#include "engine/internal.h"
#include "lib/machine.h"
#include "lib/run.h"

static struct machine *m;
static struct engine *e;
static struct tree *config;
static const char *dirs[2];
static struct complaints complaints;

static void boot(const struct machine_spec *spec, const char *profile)
{
	config = tree_new();
	dirs[0] = tree_path(config);
	tree_write(config, "softnetd.conf", "mode = \"apply\";\nprofile = \"test\";\n");
	tree_write(config, "profiles/test.conf", profile);
	tree_write(config, "profiles/none.conf", "description = \"nothing\";\n");
	m = machine_new(spec);
}

static void start(void)
{
	struct engine_options o = {.io = &m->io, .config_dirs = dirs, .lock = true};
	pid_t pid;

	ck_assert_int_eq(engine_new(&o, &complaints, &pid, &e), 0);
}

static void teardown(void)
{
	complaints_done(&complaints);
	engine_free(TAKE_PTR(e));
	machine_free(TAKE_PTR(m));
	tree_free(TAKE_PTR(config));
}

static void ticks(unsigned n)
{
	while (n-- > 0) {
		machine_advance(m, USEC_PER_SEC);
		machine_write(m);
		ck_assert_int_eq(engine_tick(e), 0);
	}
}

static const char *policy_file(unsigned policy, const char *file)
{
	static char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpufreq/policy%u/%s", policy, file);
	return path;
}

static void expect_file(const char *path, const char *value)
{
	_cleanup_free_ char *text = tree_read(m->tree, path);

	ck_assert_msg(streq(strstrip(text), value), "%s: %s, not %s", path, text, value);
}

static void expect_governor(unsigned policy, const char *value)
{
	expect_file(policy_file(policy, "scaling_governor"), value);
}

static void expect_limit(unsigned cpu, const char *value)
{
	char path[96];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/power/pm_qos_resume_latency_us",
		 cpu);
	expect_file(path, value);
}

/* More policies than fit into one portion, with originals that differ. */
START_TEST(every_policy)
{
	boot(&(struct machine_spec){.cpus = 200, .cpufreq = "acpi-cpufreq"},
	     "governor = \"ondemand|performance\";\n");
	for (unsigned i = 0; i < 200; i += 3)
		tree_write(m->tree, policy_file(i, "scaling_governor"), "powersave\n");
	start();
	for (unsigned i = 0; i < 200; i++)
		expect_governor(i, "performance");
	ck_assert_uint_eq(ledger_size(e->ledger), 200);
	ck_assert_int_eq(engine_stop(e), 0);
	for (unsigned i = 0; i < 200; i++)
		expect_governor(i, i % 3 == 0 ? "powersave" : "schedutil");
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* E12 (laptop-mode-tools#201): a CPU that comes back has another governor; neither ours nor the
 * original. */
START_TEST(case_e12_cpu_comes_back)
{
	boot(&(struct machine_spec){.cpus = 4, .cpufreq = "acpi-cpufreq"},
	     "governor = \"performance\";\n");
	start();
	ticks(2);
	machine_set_online(m, 3, false);
	ticks(15);
	expect_governor(2, "performance");
	tree_write(m->tree, policy_file(3, "scaling_governor"), "powersave\n");
	machine_set_online(m, 3, true);
	ticks(15);
	expect_governor(3, "performance");
	/* Later the same is somebody's will. */
	tree_write(m->tree, policy_file(3, "scaling_governor"), "powersave\n");
	ticks(15);
	expect_governor(3, "powersave");
	ck_assert_int_eq(engine_stop(e), 0);
	expect_governor(2, "schedutil");
	expect_governor(3, "powersave");
}
END_TEST

/* A stop looks once more: a moment ago its policy was not there to be given anything back. */
START_TEST(stop_sees_what_just_came_back)
{
	boot(&(struct machine_spec){.cpus = 4, .cpufreq = "acpi-cpufreq"},
	     "governor = \"performance\";\n");
	start();
	ticks(2);
	machine_set_online(m, 3, false);
	ticks(15);
	machine_set_online(m, 3, true);
	expect_governor(3, "performance");
	ck_assert_int_eq(engine_stop(e), 0);
	expect_governor(3, "schedutil");
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* A policy that sleeps at the start gets what the profile states when its CPU comes. */
START_TEST(policy_that_was_offline)
{
	boot(&(struct machine_spec){.cpus = 4, .cpufreq = "acpi-cpufreq"},
	     "governor = \"performance\";\n");
	machine_set_online(m, 2, false);
	start();
	ticks(3);
	expect_governor(2, "schedutil");
	machine_set_online(m, 2, true);
	ticks(15);
	expect_governor(2, "performance");
}
END_TEST

/* Some firmware starts over after a suspend: back at what the kernel had at boot. */
START_TEST(resume)
{
	boot(&(struct machine_spec){.cpus = 4, .cpufreq = "intel_pstate"},
	     "governor = \"performance\";\nenergy_preference = \"performance\";\n");
	start();
	ticks(3);
	for (unsigned i = 0; i < 4; i++)
		tree_write(m->tree, policy_file(i, "scaling_governor"), "powersave\n");
	m->suspended_usec += 3600 * USEC_PER_SEC;
	ticks(15);
	for (unsigned i = 0; i < 4; i++)
		expect_governor(i, "performance");
}
END_TEST

static const struct machine_nic i40e[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 2}};

static void move(const char *irq, unsigned cpu)
{
	struct machine_irq *i = &m->irq[machine_irq(m, irq)];
	char path[64];

	i->affinity = i->effective = cpuset_of(cpu);
	snprintf(path, sizeof(path), "proc/irq/%u/effective_affinity_list", i->number);
	tree_printf(m->tree, path, "%u\n", cpu);
	snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", i->number);
	tree_printf(m->tree, path, "%u\n", cpu);
}

START_TEST(limits_follow_interrupts)
{
	boot(&(struct machine_spec){.cpus = 8, .nics = i40e, .n_nics = 1},
	     "cpu_resume_latency = 20;\n");
	move("i40e-eth0-TxRx-0", 1);
	move("i40e-eth0-TxRx-1", 2);
	start();
	ticks(12);
	expect_limit(1, "20");
	expect_limit(2, "20");
	expect_limit(0, "0");
	/* The control vector's CPU is not meant. */
	ck_assert_uint_eq(ledger_size(e->ledger), 2);
	move("i40e-eth0-TxRx-1", 5);
	ticks(25);
	expect_limit(5, "20");
	expect_limit(2, "20");
	move("i40e-eth0-TxRx-1", 2);
	ticks(25);
	ck_assert_uint_eq(ledger_size(e->ledger), 3);
	ck_assert_int_eq(engine_set_profile(e, "none", &complaints), 0);
	for (unsigned cpu = 0; cpu < 8; cpu++)
		expect_limit(cpu, "0");
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
}
END_TEST

START_TEST(limit_by_hand)
{
	char error[512];

	boot(&(struct machine_spec){.cpus = 4, .nics = i40e, .n_nics = 1}, "busy_poll = 0;\n");
	start();
	ticks(1);
	ck_assert_int_eq(engine_set(e, "cpu_resume_latency", "3", "n/a", error), 0);
	expect_limit(3, "n/a");
	expect_limit(2, "0");
	ck_assert_int_eq(engine_set(e, "cpu_resume_latency", "cpu1", "50", error), 0);
	expect_limit(1, "50");
	expect_limit(2, "0");
	ck_assert_int_lt(engine_set(e, "cpu_resume_latency", "7", "50", error), 0);
	ck_assert_ptr_nonnull(strstr(error, "no CPU with such a limit 7"));
	ck_assert_int_lt(engine_set(e, "cpu_resume_latency", "1", "fast", error), 0);
	ck_assert_int_eq(engine_release(e, "cpu_resume_latency", "", error), 0);
	for (unsigned cpu = 0; cpu < 4; cpu++)
		expect_limit(cpu, "0");
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("engine-power");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, every_policy);
	tcase_add_test(t, case_e12_cpu_comes_back);
	tcase_add_test(t, stop_sees_what_just_came_back);
	tcase_add_test(t, policy_that_was_offline);
	tcase_add_test(t, resume);
	tcase_add_test(t, limits_follow_interrupts);
	tcase_add_test(t, limit_by_hand);
	return run_suite("engine-power", t);
}
