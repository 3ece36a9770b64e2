/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole road on a generated host: what binds is seen, changed, judged, and given back. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/internal.h"
#include "lib/machine.h"
#include "lib/run.h"

static struct machine *m;
static struct engine *e;
static struct tree *config;
static const char *dirs[2];
static struct complaints complaints;

static void profile(const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "profiles/%s.conf", name);
	tree_write(config, path, text);
}

static void boot(const struct machine_spec *spec, const char *profile_text)
{
	config = tree_new();
	dirs[0] = tree_path(config);
	tree_write(config, "softnetd.conf", "mode = \"apply\";\nprofile = \"test\";\n");
	profile("test", profile_text);
	m = machine_new(spec);
}

static int start(void)
{
	struct engine_options o = {.io = &m->io, .config_dirs = dirs, .lock = true};
	pid_t pid;

	return engine_new(&o, &complaints, &pid, &e);
}

static void teardown(void)
{
	complaints_done(&complaints);
	engine_free(TAKE_PTR(e));
	machine_free(TAKE_PTR(m));
	tree_free(TAKE_PTR(config));
}

static void tick(void)
{
	machine_advance(m, USEC_PER_SEC);
	machine_write(m);
	ck_assert_int_eq(engine_tick(e), 0);
}

static long setting(const char *path)
{
	_cleanup_free_ char *text = tree_read(m->tree, path);

	return strtol(text, NULL, 10);
}
#define BUDGET  setting("proc/sys/net/core/netdev_budget")
#define BACKLOG setting("proc/sys/net/core/netdev_max_backlog")

static bool reported(enum symptom s)
{
	for (unsigned i = 0; i < e->n_reported; i++)
		if (e->reported[i].symptom == s)
			return true;
	return false;
}

static const struct machine_nic i40e[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 4}};
static const struct machine_spec four_cpus = {.cpus = 4, .nics = i40e, .n_nics = 1};
static const char balanced[] =
	"netdev_budget = [300, 1200];\nnetdev_budget_usecs = [8000, 24000];\n"
	"netdev_max_backlog = [1000, 8000];\n";

/* One second of a NIC whose packets all come to the CPU of queue 0, in RUNS of which SQUEEZED end early. */
static void squeeze(unsigned packets, unsigned runs, unsigned squeezed)
{
	unsigned irq = machine_irq(m, "i40e-eth0-TxRx-0");
	unsigned cpu = cpuset_first(&m->irq[irq].effective);

	machine_fire(m, irq, runs);
	m->rx[0].rx_packets += packets;
	m->cpu[cpu].processed += packets;
	m->cpu[cpu].squeezed += squeezed;
	m->cpu[cpu].softirq[3] += runs;
	machine_busy(m, cpu, 400000);
}

START_TEST(healthy_host_is_not_written_to)
{
	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 60; i++) {
		squeeze(5000, 500, i % 20 == 0);
		tick();
	}
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	ck_assert_uint_eq(e->n_reported, 0);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

START_TEST(budget_is_raised_kept_and_given_back)
{
	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 60; i++) {
		squeeze(30000, 100, BUDGET > 300 ? 2 : 90);
		tick();
	}
	ck_assert_int_eq(BUDGET, 450);
	ck_assert(!reported(SYMPTOM_SQUEEZED));
	ck_assert(tree_has(m->tree, "run/softnetd/ledger.json"));
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(BUDGET, 300);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

START_TEST(budget_without_effect_goes_back_while_running)
{
	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	bool raised = false;
	for (unsigned i = 0; i < 60; i++) {
		squeeze(30000, 100, 90);
		tick();
		raised |= BUDGET > 300;
	}
	ck_assert(raised);
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
}
END_TEST

START_TEST(advise_mode_writes_nothing)
{
	boot(&four_cpus, balanced);
	tree_write(config, "softnetd.conf", "mode = \"advise\";\nprofile = \"test\";\n");
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 60; i++) {
		squeeze(30000, 100, 90);
		tick();
	}
	ck_assert_int_eq(BUDGET, 300);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
	ck_assert(reported(SYMPTOM_SQUEEZED));
	/* said once, not once per tick */
	ck_assert_uint_ge(e->history_serial, 1);
	ck_assert_uint_le(e->history_serial, 3);
}
END_TEST

START_TEST(placement_runs_end_to_end)
{
	static const char *const names[] = {"i40e-eth0-TxRx-0", "i40e-eth0-TxRx-1",
					    "i40e-eth0-TxRx-2", "i40e-eth0-TxRx-3"};
	struct cpuset used = {};

	boot(&four_cpus, "nics = ( { match = \"eth*\"; placement = \"spread\"; } );\n");
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 20; i++) {
		for (unsigned q = 0; q < 4; q++)
			machine_receive(m, machine_irq(m, names[q]), 3200);
		tick();
	}
	for (unsigned q = 0; q < 4; q++) {
		const struct machine_irq *irq = &m->irq[machine_irq(m, names[q])];

		ck_assert_uint_eq(cpuset_count(&irq->effective), 1);
		ck_assert(!cpuset_intersects(&irq->effective, &used));
		used = cpuset_or(&used, &irq->effective);
	}
	ck_assert_uint_eq(ledger_size(e->ledger), 4);
	uint64_t writes = e->history_serial;
	for (unsigned i = 0; i < 100; i++)
		tick();
	ck_assert_uint_eq(e->history_serial, writes); /* a plan that holds writes nothing */
	ck_assert_int_eq(engine_stop(e), 0);
	for (unsigned q = 0; q < 4; q++) {
		char path[64];
		_cleanup_free_ char *text = NULL;

		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list",
			 m->irq[machine_irq(m, names[q])].number);
		text = tree_read(m->tree, path);
		ck_assert_str_eq(text, "0-3");
	}
}
END_TEST

START_TEST(placement_leaves_irqbalance_its_interrupts)
{
	struct machine_spec spec = four_cpus;

	spec.irqbalance = true;
	boot(&spec, "nics = ( { match = \"eth*\"; placement = \"spread\"; } );\n");
	ck_assert_int_eq(start(), 0);
	tick();
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
}
END_TEST

START_TEST(governor_of_the_profile)
{
	struct machine_spec spec = four_cpus;
	_cleanup_free_ char *now = NULL, *after = NULL;

	spec.cpufreq = "acpi-cpufreq";
	boot(&spec, "governor = \"performance\";\n");
	ck_assert_int_eq(start(), 0);
	now = tree_read(m->tree, "sys/devices/system/cpu/cpufreq/policy0/scaling_governor");
	ck_assert_str_eq(now, "performance");
	ck_assert_int_eq(engine_stop(e), 0);
	after = tree_read(m->tree, "sys/devices/system/cpu/cpufreq/policy0/scaling_governor");
	ck_assert_str_ne(after, "performance");
}
END_TEST

START_TEST(stall_gives_everything_back_and_keeps_hands_off)
{
	boot(&four_cpus, "busy_poll = 50;\n");
	ck_assert_int_eq(start(), 0);
	tick();
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	machine_kmsg(m, 3, "rcu: INFO: rcu_preempt self-detected stall on CPU");
	tick();
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 0);
	for (unsigned i = 0; i < 300; i++)
		tick();
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 0);
	for (unsigned i = 0; i < 320; i++)
		tick();
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
}
END_TEST

START_TEST(next_start_gives_back_what_a_killed_run_left)
{
	boot(&four_cpus, "busy_poll = 50;\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	engine_free(TAKE_PTR(e)); /* as after kill -9: nothing is given back */
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	profile("test", "busy_read = 20;\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 20);
}
END_TEST

START_TEST(profile_switch_gives_back_what_only_the_old_one_wanted)
{
	boot(&four_cpus, "busy_poll = 50;\nbusy_read = 50;\n");
	profile("other", "busy_read = 70;\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(engine_set_profile(e, "other", &complaints), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 70);
	ck_assert_int_eq(engine_set_profile(e, "", &complaints), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 50);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 0);
}
END_TEST

/* cluster-node-tuning-operator#123: a bad reload must not spoil the next good one. */
START_TEST(bad_reload_keeps_the_running_state)
{
	boot(&four_cpus, "busy_poll = 50;\n");
	ck_assert_int_eq(start(), 0);
	profile("test", "busy_poll = \"a lot\";\n");
	ck_assert_int_lt(engine_reload(e, &complaints), 0);
	ck_assert_uint_ge(complaints.n, 1);
	ck_assert_ptr_nonnull(complaints.item[0].file);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	tick();
	profile("test", "busy_poll = 60;\n");
	complaints_done(&complaints);
	ck_assert_int_eq(engine_reload(e, &complaints), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 60);
}
END_TEST

START_TEST(set_by_hand_is_pinned_until_released)
{
	char error[512] = "";

	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(engine_set(e, "netdev_budget", "", "500", error), 0);
	ck_assert_int_eq(BUDGET, 500);
	for (unsigned i = 0; i < 40; i++) {
		squeeze(30000, 100, 90);
		tick();
		ck_assert_int_eq(BUDGET, 500);
	}
	ck_assert_int_eq(engine_set(e, "netdev_budget", "", "999999", error), -ERANGE);
	ck_assert_ptr_nonnull(strstr(error, "16"));
	ck_assert_int_eq(engine_set(e, "netdev_budgett", "", "500", error), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error, "netdev_budget"));
	ck_assert_int_eq(engine_release(e, "netdev_budget", "", error), 0);
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

START_TEST(second_daemon_is_refused_with_the_firsts_pid)
{
	struct engine_options o = {.io = NULL, .config_dirs = dirs, .lock = true};
	struct engine *second = NULL;
	pid_t pid = 0;

	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	o.io = &m->io;
	o.config_dirs = dirs;
	ck_assert_int_eq(engine_new(&o, &complaints, &pid, &second), -EBUSY);
	ck_assert_int_eq(pid, getpid());
}
END_TEST

START_TEST(cpu_hotplug_is_followed)
{
	boot(&four_cpus, "nics = ( { match = \"eth*\"; placement = \"spread\"; } );\n");
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 10; i++)
		tick();
	machine_set_online(m, 3, false);
	for (unsigned i = 0; i < 20; i++) {
		for (unsigned q = 1; q < m->n_irqs; q++)
			machine_fire(m, q, 10);
		tick();
	}
	ck_assert(!cpuset_has(&e->topology->online, 3));
	for (unsigned i = 0; i < e->topology->n_irqs; i++)
		if (e->topology->irq[i].role != IRQ_OTHER)
			ck_assert(!cpuset_has(&e->topology->irq[i].affinity, 3));
	machine_set_online(m, 3, true);
	for (unsigned i = 0; i < 20; i++)
		tick();
	ck_assert(cpuset_has(&e->topology->online, 3));
}
END_TEST

/* Somebody else's value: yield by default, write ours again or take theirs as the original if the
 * profile says so. */
START_TEST(foreign_change_is_yielded_to)
{
	boot(&four_cpus, "busy_poll = 50;\nbusy_read = 50;\n");
	ck_assert_int_eq(start(), 0);
	tick();
	tree_write(m->tree, "proc/sys/net/core/busy_poll", "77\n");
	for (unsigned i = 0; i < 60; i++)
		tick();
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 77);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 50); /* only that one is theirs */
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 77);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 0);
}
END_TEST

/* A package upgrade: one stop and one start without a bounce, and no more than one. */
static const struct io_ops *real_ops;
static char refusal[512];

static int open_read_only_sysctls(struct io *io, const char *path, int flags, mode_t mode)
{
	int fd = real_ops->open(io, path, flags, mode);

	/* What is not there is not read-only. */
	if (fd < 0 || (flags & O_ACCMODE) == O_RDONLY || !startswith(path, "proc/sys/"))
		return fd;
	close(fd);
	return -EROFS;
}

static void note_refusal(enum log_level level, const char *line, void *userdata)
{
	unsigned *lines = userdata;

	if (level == LOG_LEVEL_WARNING && startswith(line, "Cannot be written here: ")) {
		snprintf(refusal, sizeof(refusal), "%s", line);
		++*lines;
	}
}

/* A sandbox that is too narrow is found at the start, said once, and shown. */
START_TEST(narrow_sandbox_is_said_once)
{
	_cleanup_free_ char *text = NULL;
	struct io_ops ops;
	unsigned lines = 0;
	json_t *status;

	boot(&four_cpus, balanced);
	real_ops = m->io.ops;
	ops = *real_ops;
	ops.open = open_read_only_sysctls;
	m->io.ops = &ops;
	log_set_hook(note_refusal, &lines);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 20; i++)
		tick();
	log_set_hook(NULL, NULL);
	m->io.ops = real_ops;
	ck_assert_uint_eq(lines, 1);
	ck_assert_ptr_nonnull(strstr(refusal, "netdev_budget, netdev_budget_usecs, dev_weight"));
	ck_assert_ptr_nonnull(strstr(refusal, ": Read-only file system (/proc/sys/net/core/"));
	ck_assert_ptr_null(strstr(refusal, "irq_affinity"));
	status = engine_status(e);
	text = json_dumps(json_object_get(status, "obstacles"), 0);
	ck_assert_ptr_nonnull(strstr(text, "dev_weight: Read-only file system "
					   "(/proc/sys/net/core/dev_weight)"));
	json_decref(status);
}
END_TEST

START_TEST(keep_is_good_for_one_restart)
{
	boot(&four_cpus, "busy_poll = 50;\n");
	ck_assert_int_eq(start(), 0);
	tick();
	tree_write(m->tree, "run/softnetd/keep", "");
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	ck_assert(tree_has(m->tree, "run/softnetd/ledger.json"));
	engine_free(e);
	e = NULL;
	ck_assert_int_eq(start(), 0);
	ck_assert(!tree_has(m->tree, "run/softnetd/keep"));
	tick();
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 0);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* on_stop was "keep", and is "restore" by the next start: that takes over what was kept, as the last stop
 * promised, leaves no mark, and its own stop gives the originals back. */
START_TEST(kept_then_told_to_restore)
{
	boot(&four_cpus, "busy_poll = 50;\nbusy_read = 50;\n");
	tree_write(config, "softnetd.conf",
		   "mode = \"apply\";\nprofile = \"test\";\non_stop = \"keep\";\n");
	ck_assert_int_eq(start(), 0);
	tick();
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	ck_assert(tree_has(m->tree, "run/softnetd/keep"));
	engine_free(e);
	e = NULL;
	tree_write(config, "softnetd.conf", "mode = \"apply\";\nprofile = \"test\";\n");
	/* What the profile does not want any more does not wait for that stop. */
	profile("test", "busy_poll = 50;\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 0);
	ck_assert(!tree_has(m->tree, "run/softnetd/keep"));
	tick();
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 0);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
	ck_assert(!tree_has(m->tree, "run/softnetd/keep"));
}
END_TEST

/* The same, but that start only looks: what it would not have written it gives back. */
START_TEST(kept_then_told_to_observe)
{
	boot(&four_cpus, "busy_poll = 50;\n");
	tree_write(config, "softnetd.conf",
		   "mode = \"apply\";\nprofile = \"test\";\non_stop = \"keep\";\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	engine_free(e);
	e = NULL;
	tree_write(config, "softnetd.conf",
		   "mode = \"observe\";\nprofile = \"test\";\non_stop = \"keep\";\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 0);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
	ck_assert(!tree_has(m->tree, "run/softnetd/keep"));
}
END_TEST

/* What a trial has proved stays over such a restart; what was on trial does not. */
START_TEST(keep_keeps_what_is_proved)
{
	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 60; i++) {
		squeeze(30000, 100, BUDGET > 300 ? 2 : 90);
		tick();
	}
	ck_assert_int_eq(BUDGET, 450);
	tree_write(m->tree, "run/softnetd/keep", "");
	ck_assert_int_eq(engine_stop(e), 0);
	engine_free(e);
	e = NULL;
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(BUDGET, 450);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

/* … and stays under watch: a CPU that has no time left takes it back, but for one that had none when
 * softnetd started. */
START_TEST(what_was_kept_over_a_restart_may_fall_back)
{
	bool from_the_start = _i > 0;
	json_t *d;
	const char *text;
	char error[512] = "";

	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 60; i++) {
		squeeze(30000, 100, BUDGET > 300 ? 2 : 90);
		tick();
	}
	ck_assert_int_eq(BUDGET, 450);
	tree_write(m->tree, "run/softnetd/keep", "");
	ck_assert_int_eq(engine_stop(e), 0);
	engine_free(e);
	e = NULL;
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 20; i++) {
		if (from_the_start)
			machine_busy(m, 2, 1000000);
		tick();
	}
	ck_assert_int_eq(BUDGET, 450);
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_int_eq(BUDGET, i < FALLBACK_TICKS || from_the_start ? 450 : 300);
		machine_busy(m, 2, 1000000);
		tick();
	}
	if (from_the_start) {
		ck_assert_int_eq(BUDGET, 450);
		return;
	}
	ck_assert_int_eq(BUDGET, 300);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	d = engine_explain(e, "netdev_budget-squeezed", error);
	ck_assert_msg(d != NULL, "%s", error);
	text = json_string_value(json_object_get(d, "why"));
	ck_assert_msg(text && strstr(text, "fallen back (CPU 2 is saturated with softirqs for 10 "
					   "ticks, as it was not when softnetd started"),
		      "%s", text);
	json_decref(d);
}
END_TEST

START_TEST(keep_does_not_keep_what_is_on_trial)
{
	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 60 && BUDGET == 300; i++) {
		squeeze(30000, 100, 90);
		tick();
	}
	ck_assert_int_eq(BUDGET, 450);
	tree_write(m->tree, "run/softnetd/keep", "");
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(BUDGET, 300);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* Killed before that stop was over: nobody knows which value was proved. */
START_TEST(keep_without_a_stop_proves_nothing)
{
	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 60 && BUDGET == 300; i++) {
		squeeze(30000, 100, 90);
		tick();
	}
	ck_assert_int_eq(BUDGET, 450);
	tree_write(m->tree, "run/softnetd/keep", "");
	engine_free(e);
	e = NULL;
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(BUDGET, 300);
}
END_TEST

START_TEST(foreign_change_is_enforced_against_until_it_is_a_fight)
{
	unsigned ours = 0;

	boot(&four_cpus, "busy_poll = { value = 50; on_foreign = \"enforce\"; };\n");
	ck_assert_int_eq(start(), 0);
	tick();
	tree_write(m->tree, "proc/sys/net/core/busy_poll", "77\n");
	for (unsigned i = 0; i < 12; i++)
		tick();
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	/* A rival that overwrites every ten seconds: nothing oscillates for ever. */
	for (unsigned i = 0; i < 300; i++) {
		if (i % 10 == 0) {
			ours += setting("proc/sys/net/core/busy_poll") == 50;
			tree_write(m->tree, "proc/sys/net/core/busy_poll", "77\n");
		}
		tick();
	}
	ck_assert_uint_le(ours, 4);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 77);
}
END_TEST

START_TEST(foreign_change_is_adopted)
{
	boot(&four_cpus, "busy_poll = { value = 50; on_foreign = \"adopt\"; };\n");
	ck_assert_int_eq(start(), 0);
	tick();
	tree_write(m->tree, "proc/sys/net/core/busy_poll", "77\n");
	for (unsigned i = 0; i < 30; i++)
		tick();
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 77);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 77);
}
END_TEST

START_TEST(admin_who_sets_the_value_on_trial_ends_the_trial)
{
	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 200; i++) {
		if (BUDGET == 450)
			tree_write(m->tree, "proc/sys/net/core/netdev_budget", "333\n");
		squeeze(30000, 100, 90);
		tick();
	}
	ck_assert_int_eq(BUDGET, 333);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_int_eq(BUDGET, 333);
}
END_TEST

/* A unit comes, the profile that names it comes with it, and goes. */
START_TEST(profile_by_unit)
{
	boot(&four_cpus, balanced);
	profile("web", "match = ( { unit = \"nginx.service\"; } );\nbusy_poll = 50;\n");
	tree_write(m->tree, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
	tree_write(m->tree, "sys/fs/cgroup/system.slice/nginx.service/cgroup.events",
		   "populated 0\n");
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 20; i++)
		tick();
	ck_assert_str_eq(engine_profile_name(e), "test");
	ck_assert_str_eq(e->choice.why, "default");
	tree_write(m->tree, "sys/fs/cgroup/system.slice/nginx.service/cgroup.events",
		   "populated 1\n");
	for (unsigned i = 0; i < 11; i++) /* one slow look */
		tick();
	ck_assert_str_eq(engine_profile_name(e), "web");
	ck_assert_str_eq(e->choice.why, "match unit nginx.service");
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	tree_remove(m->tree, "sys/fs/cgroup/system.slice/nginx.service");
	for (unsigned i = 0; i < 40; i++)
		tick();
	ck_assert_str_eq(engine_profile_name(e), "web"); /* dwells */
	for (unsigned i = 0; i < 30; i++)
		tick();
	ck_assert_str_eq(engine_profile_name(e), "test");
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 0);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
}
END_TEST

START_TEST(rule_that_fits_at_the_start_is_followed_from_there)
{
	boot(&four_cpus, "busy_read = 20;\n");
	profile("web",
		"match = ( { unit = \"nginx.service\"; kernel = \"6.*\"; } );\nbusy_poll = 50;\n");
	tree_write(m->tree, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
	tree_write(m->tree, "sys/fs/cgroup/web.slice/nginx.service/cgroup.events", "populated 1\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_str_eq(engine_profile_name(e), "web");
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 0); /* never written */
	ck_assert_uint_eq(e->history_serial, 1);
}
END_TEST

START_TEST(profile_by_packet_rate)
{
	unsigned switches = 0;
	bool was = false;

	boot(&four_cpus, balanced);
	profile("busy", "match = ( { packet_rate = [5000, 20000]; } );\nbusy_poll = 50;\n");
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 60; i++) {
		squeeze(10000, 1000, 0);
		tick();
	}
	ck_assert_str_eq(engine_profile_name(e), "test");
	for (unsigned i = 0; i < 20; i++) {
		squeeze(60000, 6000, 0);
		tick();
	}
	ck_assert_str_eq(engine_profile_name(e), "busy");
	ck_assert_str_eq(e->choice.why, "match packet_rate [5000, 20000]");
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
	for (unsigned i = 0; i < 120; i++) {
		squeeze(10000, 1000, 0);
		tick();
	}
	ck_assert_str_eq(engine_profile_name(e), "busy"); /* between the bounds */
	was = true;
	for (unsigned i = 0; i < 600; i++) {
		bool now;

		squeeze(i / 20 % 2 ? 60000 : 100, 100, 0);
		tick();
		now = streq(engine_profile_name(e), "busy");
		switches += now != was;
		was = now;
	}
	ck_assert_uint_le(switches, 11);
}
END_TEST

static void break_profile(const char *name)
{
	profile(name, "busy_poll = \"a lot\";\n");
}

static unsigned warnings;
static void count_warnings(enum log_level level, const char *line _unused_, void *userdata _unused_)
{
	warnings += level <= LOG_LEVEL_WARNING;
}

START_TEST(chosen_profile_that_became_bad_keeps_the_running_one)
{
	boot(&four_cpus, "busy_read = 20;\n");
	profile("busy", "match = ( { packet_rate = [5000, 20000]; } );\nbusy_poll = 50;\n");
	ck_assert_int_eq(start(), 0);
	break_profile("busy");
	warnings = 0;
	log_set_hook(count_warnings, NULL);
	for (unsigned i = 0; i < 60; i++) {
		squeeze(60000, 6000, 0);
		tick();
	}
	log_set_hook(NULL, NULL);
	ck_assert_str_eq(engine_profile_name(e), "test");
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 20);
	ck_assert_uint_eq(warnings, 2); /* once, with the reason */
	/* At a reload it has no rules any more; put right, it has them again. */
	ck_assert_int_eq(engine_reload(e, &complaints), 0);
	ck_assert_str_eq(engine_profile_name(e), "test");
	ck_assert_ptr_null(e->refused);
	profile("busy", "match = ( { packet_rate = [5000, 20000]; } );\nbusy_poll = 50;\n");
	ck_assert_int_eq(engine_reload(e, &complaints), 0);
	for (unsigned i = 0; i < 60; i++) {
		squeeze(60000, 6000, 0);
		tick();
	}
	ck_assert_str_eq(engine_profile_name(e), "busy");
	/* While it is in force, its faults are those of the configuration. */
	break_profile("busy");
	ck_assert_int_eq(engine_reload(e, &complaints), -EINVAL);
	ck_assert_uint_eq(complaints.n, 1);
	ck_assert_str_eq(engine_profile_name(e), "busy");
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 50);
}
END_TEST

START_TEST(holds_are_above_all_and_the_newest_counts)
{
	uint32_t first, second, third;

	boot(&four_cpus, "busy_poll = 10;\n");
	profile("a", "busy_poll = 20;\n");
	profile("b", "busy_poll = 30;\n");
	profile("hand", "busy_poll = 40;\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(engine_hold(e, "a", "pid 1", "one", &first, &complaints), 0);
	ck_assert_str_eq(e->choice.why, "hold by pid 1: one");
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 20);
	ck_assert_int_eq(engine_hold(e, "b", "pid 2", "", &second, &complaints), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 30);
	ck_assert_int_eq(engine_set_profile(e, "hand", &complaints), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 30);
	ck_assert_int_eq(engine_reload(e, &complaints), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 30);
	ck_assert_int_eq(engine_release_hold(e, second), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 20);
	ck_assert_int_eq(engine_release_hold(e, second), -ENOENT);
	/* One in the middle may go without a word. */
	ck_assert_int_eq(engine_hold(e, "b", "pid 3", "", &third, &complaints), 0);
	ck_assert_int_eq(engine_release_hold(e, first), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 30);
	ck_assert_int_eq(engine_release_hold(e, third), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 40);
	ck_assert_str_eq(e->choice.why, "manual");
	ck_assert_int_eq(engine_set_profile(e, NULL, &complaints), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 10);
	ck_assert_uint_eq(complaints.n, 0);
	/* Refused, and nothing held. */
	ck_assert_int_eq(engine_hold(e, "nowhere", "pid 4", "", &first, &complaints), -ENOENT);
	ck_assert_int_eq(engine_hold(e, "a", "pid 4", "\x1b[31m", &first, &complaints), -EINVAL);
	ck_assert_uint_eq(complaints.n, 2);
	ck_assert_uint_eq(e->n_holds, 0);
	for (unsigned i = 0; i < HOLDS_MAX; i++)
		ck_assert_int_eq(engine_hold(e, "a", "pid 5", "", &first, &complaints), 0);
	ck_assert_int_eq(engine_hold(e, "a", "pid 5", "", &first, &complaints), -ENOSPC);
}
END_TEST

/* A restart under holds: no other profile is applied meanwhile, and the end of a hold while nobody
 * looked is seen at the first tick. */
START_TEST(hold_over_a_restart_is_in_force_from_the_start)
{
	struct engine_options o = {.config_dirs = dirs, .lock = true, .expected_hold = "b"};
	uint32_t cookie;
	pid_t pid;

	boot(&four_cpus, "busy_poll = 10;\nbusy_read = 10;\n");
	profile("a", "busy_poll = 20;\nbusy_read = 20;\n");
	profile("b", "busy_poll = 30;\n");
	o.io = &m->io;
	ck_assert_int_eq(engine_new(&o, &complaints, &pid, &e), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 30);
	ck_assert_int_eq(engine_hold(e, "a", "pid 1", "", &cookie, &complaints), 0);
	if (_i == 0)
		ck_assert_int_eq(engine_hold(e, "b", "pid 2", "", &cookie, &complaints), 0);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), 30);
	ck_assert_int_eq(setting("proc/sys/net/core/busy_read"), 0);
	ck_assert_uint_eq(e->history_serial, 1); /* busy_poll, once */
	tick();
	ck_assert_str_eq(engine_profile_name(e), _i == 0 ? "b" : "a");
	ck_assert_int_eq(setting("proc/sys/net/core/busy_poll"), _i == 0 ? 30 : 20);
}
END_TEST

static const char *say(const json_t *d, const char *key)
{
	return json_string_value(json_object_get(d, key)) ?: "";
}

START_TEST(story_of_a_trial_that_did_not_help)
{
	char error[512] = "", serial[32];
	json_t *d, *same, *evidence, *passed, *verdict, *history;

	boot(&four_cpus, "netdev_budget = [300, 450];\n");
	ck_assert_int_eq(start(), 0);
	ck_assert_ptr_null(engine_explain(e, "", error));
	ck_assert_ptr_nonnull(strstr(error, "nothing was changed"));
	for (unsigned i = 0; i < 60; i++) {
		squeeze(30000, 100, 90);
		tick();
	}
	ck_assert_int_eq(BUDGET, 300);
	d = engine_explain(e, "netdev_budget-squeezed", error);
	ck_assert_ptr_nonnull(d);
	ck_assert_str_eq(say(d, "id"), "netdev_budget-squeezed");
	ck_assert_str_eq(say(d, "symptom"), "squeezed");
	ck_assert_str_eq(say(d, "from"), "300");
	ck_assert_str_eq(say(d, "to"), "450");
	ck_assert_str_eq(say(d, "outcome"), "done");
	ck_assert(startswith(say(d, "where"), "cpu "));
	ck_assert_str_eq(say(d, "now"), "300");
	/* the numbers of that time */
	evidence = json_object_get(d, "evidence");
	ck_assert_str_eq(say(evidence, "cause"), "packets");
	ck_assert_uint_ge(json_object_size(evidence), 3);
	passed = json_object_get(d, "alternatives");
	ck_assert_uint_eq(json_array_size(passed), 2);
	ck_assert_str_eq(say(json_array_get(passed, 0), "setting"), "netdev_budget_usecs");
	ck_assert_ptr_nonnull(strstr(say(json_array_get(passed, 0), "why_not"), "the packets"));
	ck_assert_str_eq(say(json_array_get(passed, 1), "setting"), "irq_affinity");
	/* what came of it */
	verdict = json_object_get(d, "verdict");
	ck_assert_str_eq(say(verdict, "verdict"), "no effect");
	ck_assert(json_real_value(json_object_get(verdict, "before")) > 0.8);
	ck_assert(json_real_value(json_object_get(verdict, "after")) > 0.8);
	ck_assert_uint_eq(json_array_size(json_object_get(d, "steps")), 1);
	ck_assert_str_eq(say(json_array_get(json_object_get(d, "steps"), 0), "to"), "300");
	ck_assert(json_is_null(json_object_get(d, "overridden")));
	/* The number of any entry of the story tells the same one. */
	history = engine_history(e);
	for (size_t i = 0; i < json_array_size(history); i++) {
		const json_t *h = json_array_get(history, i);

		if (!streq(say(h, "id"), "netdev_budget-squeezed"))
			continue;
		snprintf(serial, sizeof(serial), "%lld",
			 (long long)json_integer_value(json_object_get(h, "serial")));
		same = engine_explain(e, serial, error);
		ck_assert(json_equal(d, same));
		json_decref(same);
	}
	json_decref(history);
	json_decref(d);
	ck_assert_ptr_null(engine_explain(e, "999", error));
	ck_assert_ptr_nonnull(strstr(error, "no entry 999"));
	ck_assert_ptr_null(engine_explain(e, "dev_weight-squeezed", error));
}
END_TEST

START_TEST(story_of_a_change_that_somebody_overrode)
{
	char error[512] = "";
	json_t *d, *over;

	boot(&four_cpus, "busy_poll = 50;\n");
	ck_assert_int_eq(start(), 0);
	tick();
	tree_write(m->tree, "proc/sys/net/core/busy_poll", "77\n");
	for (unsigned i = 0; i < 20; i++)
		tick();
	d = engine_explain(e, "busy_poll-policy", error);
	ck_assert_ptr_nonnull(d);
	ck_assert_str_eq(say(d, "to"), "50");
	ck_assert_str_eq(say(d, "now"), "77");
	over = json_object_get(d, "overridden");
	ck_assert_str_eq(say(over, "by"), "somebody else");
	ck_assert_ptr_nonnull(strstr(say(over, "text"), "77"));
	ck_assert_uint_eq(json_object_size(json_object_get(d, "evidence")), 0);
	json_decref(d);
	/* By hand, after that. */
	ck_assert_int_eq(engine_reload(e, &complaints), 0);
	ck_assert_int_eq(engine_set(e, "busy_poll", "", "99", error), 0);
	d = engine_explain(e, "busy_poll-manual", error);
	ck_assert_str_eq(say(d, "class"), "manual");
	ck_assert(json_is_null(json_object_get(d, "overridden")));
	json_decref(d);
}
END_TEST

/* The ring has overwritten most: what is left explains itself, and nothing is read beyond it. */
START_TEST(stories_outlive_a_full_history)
{
	char error[512] = "", value[16];

	boot(&four_cpus, balanced);
	ck_assert_int_eq(start(), 0);
	for (unsigned i = 0; i < 2 * HISTORY_MAX; i++) {
		json_t *d;

		snprintf(value, sizeof(value), "%u", 301 + i);
		ck_assert_int_eq(engine_set(e, "netdev_budget", "", value, error), 0);
		d = engine_explain(e, "", error);
		ck_assert_str_eq(say(d, "to"), value);
		json_decref(d);
	}
	ck_assert_ptr_null(engine_explain(e, "1", error));
	ck_assert_ptr_nonnull(strstr(error, "257 to 512"));
}
END_TEST

static bool has_id(json_t *list, const char *id)
{
	size_t i;
	const json_t *d;

	json_array_foreach (list, i, d)
		if (streq(say(d, "id"), id))
			return true;
	return false;
}

static unsigned said;
static void count_advice(void *userdata _unused_, const struct engine_event *ev)
{
	said += ev->kind == EVENT_CHANGE && ev->result->outcome == OUTCOME_ADVISED;
}

static void squeeze_for(unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		squeeze(30000, 100, 90);
		tick();
	}
}

START_TEST(silenced_advice_is_only_counted)
{
	static const char id[] = "netdev_budget-squeezed";
	char error[512] = "";
	json_t *d, *silenced;

	boot(&four_cpus, "# leaves everything\n");
	ck_assert_int_eq(start(), 0);
	engine_set_listener(e, count_advice, NULL);
	said = 0;
	squeeze_for(10);
	ck_assert_uint_eq(said, 1);
	d = engine_status(e);
	ck_assert(has_id(json_object_get(d, "advice"), id));
	json_decref(d);
	ck_assert_int_eq(engine_silence(e, "netdev_budget", error), -EINVAL);
	ck_assert_int_eq(engine_silence(e, id, error), 0);
	ck_assert_int_eq(engine_silence(e, id, error), 0);
	squeeze_for(1300);
	ck_assert_uint_eq(said, 1);
	d = engine_status(e);
	ck_assert(!has_id(json_object_get(d, "advice"), id));
	silenced = json_object_get(d, "silenced");
	ck_assert_uint_eq(json_array_size(silenced), 1);
	/* every ten minutes, as it would have been said; the first ten are over the one before */
	ck_assert_int_ge(json_integer_value(json_object_get(json_array_get(silenced, 0), "count")),
			 1);
	ck_assert_int_le(json_integer_value(json_object_get(json_array_get(silenced, 0), "count")),
			 3);
	json_decref(d);
	ck_assert_int_eq(engine_unsilence(e, id, error), 0);
	ck_assert_int_eq(engine_unsilence(e, id, error), -ENOENT);
	squeeze_for(10);
	ck_assert_uint_eq(said, 2);
}
END_TEST

START_TEST(silence_of_the_configuration)
{
	static const char id[] = "netdev_budget-squeezed";
	char error[512] = "";

	boot(&four_cpus, "# leaves everything\n");
	tree_write(config, "softnetd.conf",
		   "profile = \"test\";\nsilence = [\"netdev_budget-squeezed\"];\n");
	ck_assert_int_eq(start(), 0);
	engine_set_listener(e, count_advice, NULL);
	said = 0;
	squeeze_for(10);
	ck_assert_uint_eq(said, 0);
	ck_assert_int_eq(engine_unsilence(e, id, error), -EINVAL);
	ck_assert_int_eq(engine_silence(e, "dev_weight-squeezed", error), 0);
	tree_write(config, "softnetd.conf", "profile = \"test\";\n");
	ck_assert_int_eq(engine_reload(e, &complaints), 0);
	squeeze_for(10);
	ck_assert_uint_eq(said, 1);
	ck_assert(engine_is_silenced(e, "dev_weight-squeezed")); /* by hand: stays */
	/* Changes that are made are always said. */
	ck_assert_int_eq(engine_silence(e, id, error), 0);
	profile("test", "netdev_budget = [300, 450];\n");
	ck_assert_int_eq(engine_reload(e, &complaints), 0);
	squeeze_for(30);
	ck_assert_ptr_nonnull(engine_history_find(e, id));
	ck_assert_uint_eq(complaints.n, 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("engine");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, healthy_host_is_not_written_to);
	tcase_add_test(t, budget_is_raised_kept_and_given_back);
	tcase_add_test(t, budget_without_effect_goes_back_while_running);
	tcase_add_test(t, advise_mode_writes_nothing);
	tcase_add_test(t, placement_runs_end_to_end);
	tcase_add_test(t, placement_leaves_irqbalance_its_interrupts);
	tcase_add_test(t, governor_of_the_profile);
	tcase_add_test(t, stall_gives_everything_back_and_keeps_hands_off);
	tcase_add_test(t, next_start_gives_back_what_a_killed_run_left);
	tcase_add_test(t, profile_switch_gives_back_what_only_the_old_one_wanted);
	tcase_add_test(t, bad_reload_keeps_the_running_state);
	tcase_add_test(t, set_by_hand_is_pinned_until_released);
	tcase_add_test(t, second_daemon_is_refused_with_the_firsts_pid);
	tcase_add_test(t, cpu_hotplug_is_followed);
	tcase_add_test(t, foreign_change_is_yielded_to);
	tcase_add_test(t, narrow_sandbox_is_said_once);
	tcase_add_test(t, keep_is_good_for_one_restart);
	tcase_add_test(t, kept_then_told_to_restore);
	tcase_add_test(t, kept_then_told_to_observe);
	tcase_add_test(t, keep_keeps_what_is_proved);
	tcase_add_loop_test(t, what_was_kept_over_a_restart_may_fall_back, 0, 2);
	tcase_add_test(t, keep_does_not_keep_what_is_on_trial);
	tcase_add_test(t, keep_without_a_stop_proves_nothing);
	tcase_add_test(t, foreign_change_is_enforced_against_until_it_is_a_fight);
	tcase_add_test(t, foreign_change_is_adopted);
	tcase_add_test(t, profile_by_unit);
	tcase_add_test(t, rule_that_fits_at_the_start_is_followed_from_there);
	tcase_add_test(t, profile_by_packet_rate);
	tcase_add_test(t, chosen_profile_that_became_bad_keeps_the_running_one);
	tcase_add_test(t, holds_are_above_all_and_the_newest_counts);
	tcase_add_loop_test(t, hold_over_a_restart_is_in_force_from_the_start, 0, 2);
	tcase_add_test(t, story_of_a_trial_that_did_not_help);
	tcase_add_test(t, story_of_a_change_that_somebody_overrode);
	tcase_add_test(t, stories_outlive_a_full_history);
	tcase_add_test(t, silenced_advice_is_only_counted);
	tcase_add_test(t, silence_of_the_configuration);
	tcase_add_test(t, admin_who_sets_the_value_on_trial_ends_the_trial);
	return run_suite("engine", t);
}
