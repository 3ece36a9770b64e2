/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kill -9 in the whole life of the engine on a captured host: start, the profile's policy, a trial of
 * the loop, stop. Nothing changes between two operations that write, so dying before each of these,
 * and halfway through those that write bytes, is dying everywhere. Both roads back are taken from
 * each point: `softnetctl restore`, and the next start.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/internal.h"
#include "lib/fault-io.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "lib/silent.h"

static const struct machine_nic i40e[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 4}};
static const struct machine_spec four_cpus = {
	.cpus = 4, .nics = i40e, .n_nics = 1, .cpufreq = "acpi-cpufreq"};
/* One of each family that a captured tree has, and a range for the loop. */
static const char busy[] = "netdev_budget = [300, 1200];\nbusy_poll = 50;\nbusy_read = 50;\n"
			   "governor = \"performance\";\nplacement = \"spread\";\n";

static struct machine *m;
static struct tree *config;
static const char *dirs[2];
static char *original;
/* Killed so often, shared by the tests' processes. */
static unsigned *points;

static const char *const settings[] = {"proc/sys/net/", "/smp_affinity_list", "/scaling_governor",
				       "/energy_performance_preference"};

/* Path and value of every file that softnetd might have changed; the caller frees. */
static char *dump(void)
{
	_cleanup_(strv_freep) char **files = tree_files(m->tree);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (char **path = files; *path; path++)
		for (size_t i = 0; i < ELEMENTSOF(settings); i++)
			if (strstr(*path, settings[i])) {
				_cleanup_free_ char *value = tree_read(m->tree, *path);

				fprintf(f, "%s=%s\n", *path, value);
				break;
			}
	fclose(f);
	return text;
}

static void expect_originals(const char *when)
{
	_cleanup_free_ char *now = dump();

	if (!streq(now, original)) {
		size_t i = 0;

		while (now[i] == original[i])
			i++;
		while (i > 0 && now[i - 1] != '\n')
			i--;
		ck_abort_msg("%s: \"%.*s\" should be \"%.*s\"", when, (int)strcspn(now + i, "\n"),
			     now + i, (int)strcspn(original + i, "\n"), original + i);
	}
	ck_assert_msg(!tree_has(m->tree, "run/softnetd/ledger.json"), "%s: a ledger is left", when);
	ck_assert_msg(!tree_has(m->tree, "run/softnetd/ledger.json.new"), "%s: half a ledger",
		      when);
}

static void setup(void)
{
	config = tree_new();
	dirs[0] = tree_path(config);
	tree_write(config, "softnetd.conf", "mode = \"apply\";\nprofile = \"busy\";\n");
	tree_write(config, "profiles/busy.conf", busy);
	tree_write(config, "profiles/idle.conf", "description = \"nothing\";\n");
	m = machine_new(&four_cpus);
	/* All queues on CPU 0, so that there is something to spread. */
	for (unsigned i = 0; i < m->n_irqs; i++)
		if (m->irq[i].nic >= 0) {
			char path[64];

			m->irq[i].affinity = m->irq[i].effective = (struct cpuset){};
			cpuset_add(&m->irq[i].affinity, 0);
			cpuset_add(&m->irq[i].effective, 0);
			snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list",
				 m->irq[i].number);
			tree_write(m->tree, path, "0\n");
			snprintf(path, sizeof(path), "proc/irq/%u/effective_affinity_list",
				 m->irq[i].number);
			tree_write(m->tree, path, "0\n");
		}
	original = dump();
}

static void teardown(void)
{
	free(TAKE_PTR(original));
	machine_free(TAKE_PTR(m));
	tree_free(TAKE_PTR(config));
}

static struct engine *start(struct io *io, const char *profile)
{
	struct engine_options o = {.io = io, .config_dirs = dirs, .profile = profile, .lock = true};
	_cleanup_(complaints_done) struct complaints complaints = {};
	struct engine *e = NULL;
	pid_t pid;

	return engine_new(&o, &complaints, &pid, &e) < 0 ? NULL : e;
}

/* NET_RX on CPU 0 ends squeezed as long as the budget is the kernel's. */
static void second(struct engine *e)
{
	_cleanup_free_ char *budget = tree_read(m->tree, "proc/sys/net/core/netdev_budget");
	unsigned irq = machine_irq(m, "i40e-eth0-TxRx-0");

	machine_fire(m, irq, 100);
	m->rx[0].rx_packets += 30000;
	m->cpu[0].processed += 30000;
	m->cpu[0].squeezed += atoi(budget) > 300 ? 0 : 90;
	m->cpu[0].softirq[3] += 100;
	machine_busy(m, 0, 400000);
	machine_advance(m, USEC_PER_SEC);
	machine_write(m);
	engine_tick(e);
}

/* Returns whether the loop changed something as well. */
static bool life(struct io *io)
{
	struct engine *e = start(io, NULL);
	_cleanup_free_ char *budget = NULL;

	if (!e)
		return false;
	for (unsigned i = 0; i < 14; i++)
		second(e);
	budget = tree_read(m->tree, "proc/sys/net/core/netdev_budget");
	engine_stop(e);
	engine_free(e);
	return !streq(budget, "300");
}

/* Returns false when the life had ended before. */
static bool live_and_die(unsigned kinds, unsigned long at, int death)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct fault_io *f = fault_io_new(&m->io);

		f->kinds = kinds;
		f->at = at;
		f->death = death;
		_exit(life(&f->io) && f->hits == 0 ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		ck_assert_int_eq(WTERMSIG(status), SIGKILL);
		return true;
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "the life without a death at %lu was no good one", at);
	return false;
}

/* As softnetctl does it when no daemon runs. */
static void restore(void)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	_cleanup_(observer_freep) struct observer *observer = NULL;
	_cleanup_(topology_freep) struct topology *topology = NULL;
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	_cleanup_(actuator_freep) struct actuator *actuator = NULL;
	pid_t pid;

	ck_assert_int_eq(ledger_open(&m->io, true, &pid, &ledger), 0);
	ck_assert_int_eq(observer_new(&m->io, &observer), 0);
	ck_assert_int_eq(observer_topology(observer, &topology), 0);
	ck_assert_int_eq(actuator_new(&m->io, ledger, 0, &actuator), 0);
	ck_assert_int_eq(restore_all(actuator, ledger, topology, &report), 0);
}

static void next_start(const char *profile)
{
	struct engine *e = start(&m->io, profile);

	ck_assert_ptr_nonnull(e);
	second(e);
	/* A profile that wants nothing: they need not wait for the stop. */
	if (!profile)
		ck_assert_int_eq(engine_stop(e), 0);
	engine_free(e);
}

static void kill_everywhere(unsigned kinds, int death)
{
	bool killed = true;
	char when[64];

	for (unsigned long n = 1; killed; n++) {
		snprintf(when, sizeof(when), "killed at write %lu", n);
		killed = live_and_die(kinds, n, death);
		*points += killed;
		switch (n % 3) {
		case 0:
			restore();
			break;
		case 1:
			next_start("idle");
			break;
		case 2:
			next_start(NULL);
			break;
		}
		expect_originals(when);
	}
}

START_TEST(a_whole_life)
{
	ck_assert(!live_and_die(0, ~0UL, FAULT_DIE_BEFORE));
	expect_originals("a whole life");
}
END_TEST

START_TEST(killed_before_each_write)
{
	kill_everywhere(FAULT_WRITES, FAULT_DIE_BEFORE);
}
END_TEST

START_TEST(killed_halfway_through_each_write)
{
	kill_everywhere(FAULT_BIT(FAULT_WRITE), FAULT_DIE_HALFWAY);
}
END_TEST

/* /run is full, read-only or broken from the start: no setting is written, and why is to be seen. */
START_TEST(no_ledger_no_change)
{
	static const int errors[] = {ENOSPC, EROFS, EIO};
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&m->io);
	_cleanup_free_ char *text = NULL;
	struct engine *e;
	json_t *status;

	f->pattern = "run/*";
	f->kinds = FAULT_WRITES;
	f->error = errors[_i];
	e = start(&f->io, NULL);
	ck_assert_ptr_nonnull(e);
	for (unsigned i = 0; i < 20; i++)
		second(e);
	ck_assert_uint_gt(f->hits, 0);
	expect_originals(strerror(errors[_i]));
	status = engine_status(e);
	text = json_dumps(status, 0);
	json_decref(status);
	ck_assert_msg(strstr(text, strerror(errors[_i])) != NULL, "nothing of %s in %s",
		      strerror(errors[_i]), text);
	engine_stop(e);
	engine_free(e);
	expect_originals("stopped");
}
END_TEST

/* Killed, and the machine started again, which made the settings its own defaults or sysctl.d's: the
 * old ledger is void, and what it called originals is written nowhere. */
START_TEST(killed_and_rebooted)
{
	bool killed = true;

	for (unsigned long n = 1; killed; n += 7) {
		_cleanup_free_ char *budget = NULL;

		killed = live_and_die(FAULT_WRITES, n, FAULT_DIE_BEFORE);
		tree_printf(m->tree, "proc/sys/kernel/random/boot_id",
			    "%08lx-0000-4000-8000-000000000002\n", n);
		/* As softnetd would have left it, and as it found it the last time. */
		tree_write(m->tree, "proc/sys/net/core/netdev_budget", "450\n");
		tree_write(m->tree, "proc/sys/net/core/busy_poll", "50\n");
		if (n % 2)
			next_start("idle");
		else
			restore();
		budget = tree_read(m->tree, "proc/sys/net/core/netdev_budget");
		ck_assert_str_eq(budget, "450");
		ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
		teardown();
		setup();
	}
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("kill -9");
	int failed;

	points = mmap(NULL, sizeof(*points), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (points == MAP_FAILED)
		return 1;
	log_set_hook(silent, NULL);
	tcase_set_timeout(t, 600);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_whole_life);
	tcase_add_test(t, killed_before_each_write);
	tcase_add_test(t, killed_halfway_through_each_write);
	tcase_add_loop_test(t, no_ledger_no_change, 0, 3);
	tcase_add_test(t, killed_and_rebooted);
	failed = run_suite("crash-life", t);
	printf("# killed at %u points of a whole life\n", *points);
	return failed;
}
