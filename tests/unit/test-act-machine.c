/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * act/ with the topology that observe/ really makes: every driver's names and identities, on whole
 * machines, changed and given back to the last byte.
 */
#include <check.h>
#include <stdio.h>

#include "act/act.h"
#include "act/restore.h"
#include "base/log.h"
#include "lib/act-host.h"
#include "lib/machine.h"
#include "lib/silent.h"
#include "observe/observe.h"

static char *dump(const struct machine *m)
{
	_cleanup_(strv_freep) char **files = tree_files(m->tree);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (char **path = files; *path; path++) {
		_cleanup_free_ char *content = NULL;

		if (startswith(*path, "run/"))
			continue;
		ck_assert_int_ge(io_read_all(&((struct machine *)m)->io, *path, &content, NULL), 0);
		fprintf(f, "%s=%s", *path, content);
	}
	fclose(f);
	return text;
}

/* check's own comparison would print megabytes. */
static void expect_same(const char *was, const char *is)
{
	size_t same = 0, line;

	if (streq(was, is))
		return;
	while (was[same] == is[same])
		same++;
	for (line = same; line > 0 && was[line - 1] != '\n'; line--)
		;
	ck_abort_msg("was \"%.200s\", is \"%.200s\"", was + line, is + line);
}

struct session {
	struct observer *observer;
	struct topology *topology;
	struct ledger *ledger;
	struct actuator *actuator;
};

static struct session session_open(struct io *io)
{
	struct session s = {};
	pid_t pid;

	ck_assert_int_eq(observer_new(io, &s.observer), 0);
	ck_assert_int_eq(observer_topology(s.observer, &s.topology), 0);
	ck_assert_int_eq(ledger_open(io, true, &pid, &s.ledger), 0);
	ck_assert_int_eq(actuator_new(io, s.ledger, 0, &s.actuator), 0);
	return s;
}

static void session_close(struct session *s)
{
	actuator_free(s->actuator);
	ledger_free(s->ledger);
	topology_free(s->topology);
	observer_free(s->observer);
}

static void change(struct session *s, enum tunable_id id, struct target target, const char *to)
{
	struct change c = {.tunable = id, .target = target, .id = "machine"};
	struct result r;

	snprintf(c.to, sizeof(c.to), "%s", to);
	ck_assert_msg(act_apply(s->actuator, s->topology, &c, ON_FOREIGN_YIELD, &r) == 0, "%s",
		      r.text);
	ck_assert(r.outcome == OUTCOME_DONE || r.outcome == OUTCOME_PENDING);
}

/* A new process, which knows only the ledger and what it finds. */
static void restore(struct io *io, size_t n)
{
	struct session s = session_open(io);
	struct restore_report report;

	ck_assert_uint_eq(ledger_size(s.ledger), n);
	ck_assert_int_eq(restore_all(s.actuator, s.ledger, s.topology, &report), 0);
	for (size_t i = 0; i < report.n; i++)
		ck_assert_msg(report.item[i].verdict == RESTORE_WRITTEN, "%s", report.item[i].text);
	restore_report_done(&report);
	session_close(&s);
}

/* Seed 002's cpsw has two interrupts of one name, bnxt cuts its names: each gets its own back. */
START_TEST(every_driver)
{
	struct machine_nic nic = {
		.name = "enp4s0f0np0", .kind = (enum machine_nic_kind)_i, .queues = 12};
	_cleanup_(machine_freep) struct machine *m = machine_new(
		&(struct machine_spec){.cpus = 4, .nics = &nic, .n_nics = 1, .other_irqs = 3});
	_cleanup_free_ char *original = NULL, *now = NULL;
	static const char *const lists[] = {"0-3\n", "0\n", "1,3\n", "0-1,3\n", "3\n"};
	char path[64];
	struct session s;
	size_t n = 0;

	/* Different originals, so that a mix-up would show. */
	for (unsigned i = 0; i < m->n_irqs; i++) {
		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", m->irq[i].number);
		tree_write(m->tree, path, lists[i % ELEMENTSOF(lists)]);
	}
	original = dump(m);
	s = session_open(&m->io);
	for (unsigned i = 0; i < s.topology->n_irqs; i++) {
		struct target t = irq_target(&s.topology->irq[i]);

		change(&s, TUNABLE_IRQ_AFFINITY, t, "2");
		n++;
	}
	ck_assert_uint_gt(n, 0);
	session_close(&s);
	restore(&m->io, n);
	now = dump(m);
	expect_same(original, now);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* Lists of CPUs that fill more than a line, and hundreds of interrupts. */
START_TEST(large_machine)
{
	struct machine_nic nics[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 100},
				     {.name = "eth1", .kind = MACHINE_MLX5, .queues = 100}};
	_cleanup_(machine_freep) struct machine *m =
		machine_new(&(struct machine_spec){.cpus = 256,
						   .sockets = 2,
						   .nodes = 2,
						   .smt = 2,
						   .nics = nics,
						   .n_nics = 2,
						   .cpufreq = "intel_pstate"});
	_cleanup_free_ char *original = NULL, *now = NULL;
	struct session s;
	size_t n = 0;

	for (unsigned i = 0; i < m->n_irqs; i++) {
		char path[64], list[1024] = "";

		for (unsigned cpu = i % 3; cpu < 256; cpu += 2 + i % 5)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u",
				 *list ? "," : "", cpu);
		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", m->irq[i].number);
		tree_printf(m->tree, path, "%s\n", list);
	}
	original = dump(m);
	s = session_open(&m->io);
	for (unsigned i = 0; i < s.topology->n_irqs; i++, n++)
		change(&s, TUNABLE_IRQ_AFFINITY, irq_target(&s.topology->irq[i]), "255");
	for (unsigned i = 0; i < s.topology->n_policies; i += 16, n++)
		change(&s, TUNABLE_GOVERNOR, policy_target(&s.topology->policy[i]), "performance");
	ck_assert_uint_gt(n, 200);
	session_close(&s);
	restore(&m->io, n);
	now = dump(m);
	expect_same(original, now);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("act-machine");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	log_set_hook(silent, NULL);
	host_use_memory();
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, every_driver, MACHINE_VIRTIO, MACHINE_CPSW + 1);
	tcase_add_test(t, large_machine);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
