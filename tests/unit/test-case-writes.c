/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cases of kinds d and g about writes (tests/replay/cases): what an errno of an affinity means (D01, D05),
 * irqbalance that comes later (D07), a fight over a NIC's vectors that somebody must end (D09), NAPI threads that the scheduler left together on
 * one CPU (G06).
 */
#include <stdio.h>

#include "act/act.h"
#include "decide/nic.h"
#include "engine/internal.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "lib/whole.h"
#include "lib/watch.h"

#define CASES "tests/replay/cases/"

static struct machine *m;
static struct engine *e;
static struct tree *config;
static struct complaints complaints;
static int (*tree_store)(struct io *io, const char *path, const char *value);
static int store_error;
static unsigned stores; /* of affinities */

static int store(struct io *io, const char *path, const char *value)
{
	if (!strstr(path, "/smp_affinity_list"))
		return tree_store(io, path, value);
	stores++;
	return store_error ? store_error : tree_store(io, path, value);
}

static void boot(unsigned cpus, unsigned queues)
{
	struct machine_nic nic = {.name = "eth0", .kind = MACHINE_I40E, .queues = queues};

	m = machine_new(&(struct machine_spec){.cpus = cpus, .nics = &nic, .n_nics = 1});
	tree_store = m->ops.store;
	m->ops.store = store;
	store_error = 0;
	stores = 0;
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

static FILE *open_case(const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), CASES "%s", name);
	f = fopen(path, "r");
	ck_assert_msg(f, "%s cannot be read", path);
	return f;
}

/* What irqbalance said of each errno was "unmanaged". Only the first is: the others are a sandbox's. */
static void expect_meaning(int error, enum outcome outcome)
{
	struct change c = {.tunable = TUNABLE_IRQ_AFFINITY, .class = CLASS_POLICY};
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	_cleanup_(actuator_freep) struct actuator *actuator = NULL;
	struct result r;

	boot(4, 2);
	_watch_ w = watch_begin(&m->io);
	ck_assert_int_eq(ledger_open(&m->io, false, NULL, &ledger), 0);
	ck_assert_int_eq(actuator_new(&m->io, ledger, 0, &actuator), 0);
	for (unsigned i = 0; i < w.topology->n_irqs; i++)
		if (w.topology->irq[i].role == IRQ_RXTX)
			c.target = irq_target(&w.topology->irq[i]);
	strcpy(c.to, "1");
	change_name(&c);
	store_error = -error;
	act_apply(actuator, w.topology, &c, ON_FOREIGN_YIELD, &r);
	ck_assert_int_eq(r.outcome, outcome);
	ck_assert(!r.known);
	stores = 0;
	act_apply(actuator, w.topology, &c, ON_FOREIGN_YIELD, &r);
	ck_assert_int_eq(r.outcome, outcome);
	ck_assert(r.known);
	ck_assert_uint_eq(stores, 0); /* never again in each round */
	ck_assert_uint_eq(ledger_size(ledger), 0);
}

START_TEST(errnos_of_an_affinity)
{
	static const struct {
		int error;
		enum outcome outcome;
	} meanings[] = {
		{EIO, OUTCOME_MANAGED},
		{EROFS, OUTCOME_READ_ONLY},
		{EACCES, OUTCOME_READ_ONLY},
	};
	FILE *f = open_case("83-irqbalance-eio-then-unmanaged.txt");
	unsigned found = 0;
	char line[256];

	while (fgets(line, sizeof(line), f)) {
		const char *reason = strstr(line, "affinity: ");

		for (size_t i = 0; reason && i < ELEMENTSOF(meanings); i++) {
			if (!strstr(reason, strerror(meanings[i].error)))
				continue;
			expect_meaning(meanings[i].error, meanings[i].outcome);
			teardown();
			found++;
		}
	}
	fclose(f);
	ck_assert_uint_eq(found, 3);
}
END_TEST

static void start(const char *profile)
{
	ck_assert_int_eq(whole_start(m, &config, "apply", profile, &complaints, &e), 0);
}

static void minute(void)
{
	ck_assert_int_eq(whole_ticks(m, e, 60), 0);
}

static void obstacles(char *buf, size_t size)
{
	json_t *status = engine_status(e);
	const json_t *line;
	size_t i;

	buf[0] = '\0';
	json_array_foreach (json_object_get(status, "obstacles"), i, line)
		append_text(buf, size, "%s\n", json_string_value(line));
	json_decref(status);
}

/* Kernel-facts 6.1, D05 among them: what each errno of an affinity means stands in the status, once,
 * however many interrupts and rounds it comes from. */
START_TEST(status_says_what_an_errno_means)
{
	static const struct {
		int error;
		const char *words;
	} meanings[] = {
		{ENOSPC, "are used up"},
		{EBUSY, "its last move is still in progress"},
		{EINVAL, "finds no online CPU in"},
		{ERANGE, "has no such CPU as in"},
		{EOVERFLOW, "has no such CPU as in"},
		{EROFS, "mounted read-only by a container"},
	};
	char text[4096];

	for (size_t i = 0; i < ELEMENTSOF(meanings); i++) {
		const char *at;

		boot(4, 4);
		store_error = -meanings[i].error;
		start("nics = ( { match = \"eth*\"; placement = \"spread\"; } );\n");
		for (unsigned round = 0; round < 2; round++) {
			obstacles(text, sizeof(text));
			at = strstr(text, meanings[i].words);
			ck_assert_msg(at, "%s: %s", strerror(meanings[i].error), text);
			ck_assert_msg(!strstr(at + 1, meanings[i].words), "%s: twice: %s",
				      strerror(meanings[i].error), text);
			minute();
		}
		teardown();
	}
	/* Managed ones are no obstacle: each is called so in its own line. */
	boot(4, 4);
	store_error = -EIO;
	start("nics = ( { match = \"eth*\"; placement = \"spread\"; } );\n");
	obstacles(text, sizeof(text));
	ck_assert_msg(!strstr(text, "managed"), "%s", text);
	json_t *status = engine_status(e);
	_cleanup_free_ char *all = json_dumps(status, 0);

	json_decref(status);
	ck_assert_ptr_nonnull(strstr(all, "\"managed\""));
}
END_TEST

static void mask_path(unsigned queue, char *buf, size_t size)
{
	char name[64];

	snprintf(name, sizeof(name), "i40e-eth0-TxRx-%u", queue);
	snprintf(buf, size, "proc/irq/%u/smp_affinity_list", m->irq[machine_irq(m, name)].number);
}

/* The file's lines, a minute apart, as somebody else's writes. */
static void shuffle_as_recorded(void)
{
	FILE *f = open_case("84-affinity-shuffled-every-minute-by-irqbalance.txt");
	char line[256], path[64];
	unsigned lines = 0;

	while (fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "Affinities:");
		int used = 0;
		unsigned cpu;

		ck_assert_ptr_nonnull(at);
		at += strlen("Affinities:");
		for (unsigned q = 0; sscanf(at, "%u%n", &cpu, &used) == 1; q++, at += used) {
			mask_path(q, path, sizeof(path));
			tree_printf(m->tree, path, "%u\n", cpu);
		}
		lines++;
		minute();
	}
	fclose(f);
	ck_assert_uint_eq(lines, 5);
}

/* D07 (irqbalance#297): started later it moves even what it was told to leave. That is seen, and it is
 * named; softnetd does not move it back. */
START_TEST(irqbalance_comes_later)
{
	unsigned named = 0;
	char path[64];

	boot(8, 4);
	start("nics = ( { match = \"eth*\"; placement = \"spread\"; } );\n");
	minute();
	ck_assert_uint_gt(ledger_size(e->ledger), 0);
	ck_assert_str_eq(e->topology->rivals, "");
	machine_process(m, 4000, "irqbalance", "/usr/sbin/irqbalance", false);
	tree_write(m->tree, "run/irqbalance/irqbalance4000.sock", "");
	minute();
	ck_assert_str_eq(e->topology->rivals, "irqbalance");
	for (unsigned q = 0; q < 4; q++) {
		mask_path(q, path, sizeof(path));
		tree_write(m->tree, path, "7\n");
	}
	stores = 0;
	minute();
	for (uint64_t s = 1; s <= e->history_serial; s++)
		named += engine_history_at(e, s)->outcome == OUTCOME_FOREIGN &&
			 strstr(engine_history_at(e, s)->text, "running here: irqbalance");
	ck_assert_uint_eq(named, 4);
	ck_assert_uint_eq(stores, 0);
}
END_TEST

/* Even where the profile says that softnetd's word counts: two programs that take turns stop a NIC. */
START_TEST(a_fight_is_ended)
{
	unsigned foreign = 0;
	uint64_t serial;
	char path[64];

	boot(8, 9);
	start("on_foreign = \"enforce\";\n"
	      "nics = ( { match = \"eth*\"; placement = \"spread\"; } );\n");
	minute();
	ck_assert_uint_gt(stores, 0);
	shuffle_as_recorded();
	for (uint64_t s = 1; s <= e->history_serial; s++)
		foreign += engine_history_at(e, s)->outcome == OUTCOME_FOREIGN;
	ck_assert_uint_gt(foreign, 0);
	/* The first vector was moved by every line. */
	mask_path(0, path, sizeof(path));
	_cleanup_free_ char *now = tree_read(m->tree, path);

	ck_assert_str_eq(now, "5");
	/* And it goes on without softnetd. */
	stores = 0;
	serial = e->history_serial;
	shuffle_as_recorded();
	shuffle_as_recorded();
	ck_assert_uint_le(stores, 9);
	ck_assert_uint_le(e->history_serial - serial, 18);
	stores = 0;
	serial = e->history_serial;
	shuffle_as_recorded();
	ck_assert_uint_eq(stores, 0);
	ck_assert_uint_eq(e->history_serial, serial);
}
END_TEST

/* CPUs of a line of the file, counted: how many threads are on the fullest. */
static unsigned fullest(const char *line, unsigned *ret_n)
{
	unsigned on[CPU_ID_MAX] = {}, most = 0, cpu;
	int used = 0;

	*ret_n = 0;
	for (; sscanf(line, "%u%n", &cpu, &used) == 1; line += used) {
		ck_assert_uint_lt(cpu, CPU_ID_MAX);
		most = MAX(most, ++on[cpu]);
		(*ret_n)++;
	}
	return most;
}

START_TEST(threads_are_spread_as_the_cure_did)
{
	FILE *f = open_case("88-napi-thread-affinity-before-after.txt");
	unsigned most[2] = {}, n[2] = {}, k = 0, on[4] = {}, planned = 0;
	char line[256];
	unsigned cpu[8];
	struct topology t = {.n_cpus = 4, .n_napis = 8, .n_irqs = 8, .n_nics = 1};

	while (fgets(line, sizeof(line), f) && k < 2)
		if (line[0] != '#') {
			most[k] = fullest(line, &n[k]);
			k++;
		}
	fclose(f);
	ck_assert_uint_eq(n[0], 8);
	ck_assert_uint_eq(n[1], 8);
	ck_assert_uint_gt(most[0], most[1]);
	t.cpu = calloc(4, sizeof(*t.cpu));
	t.nic = calloc(1, sizeof(*t.nic));
	t.irq = calloc(8, sizeof(*t.irq));
	t.napi = calloc(8, sizeof(*t.napi));
	ck_assert(t.cpu && t.nic && t.irq && t.napi);
	for (unsigned i = 0; i < 4; i++) {
		t.cpu[i] = (struct cpu){.present = true, .online = true, .core = (int)i};
		cpuset_add(&t.online, i);
	}
	/* As before the cure: two interrupts on CPU 0, six on CPU 3. */
	for (unsigned i = 0; i < 8; i++) {
		t.irq[i] =
			(struct irq){.have_affinity = true, .affinity = cpuset_of(i < 2 ? 0 : 3)};
		t.napi[i] = (struct napi){.irq = (int)i, .thread = (pid_t)(100 + i)};
	}
	nic_thread_plan(&t, 0, NULL, cpu);
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_uint_lt(cpu[i], 4);
		planned = MAX(planned, ++on[cpu[i]]);
	}
	ck_assert_uint_le(planned, most[1]);
	free(t.cpu);
	free(t.nic);
	free(t.irq);
	free(t.napi);
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("case-writes");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_add_test(c, errnos_of_an_affinity);
	tcase_add_test(c, status_says_what_an_errno_means);
	tcase_add_test(c, irqbalance_comes_later);
	tcase_add_test(c, a_fight_is_ended);
	tcase_add_test(c, threads_are_spread_as_the_cure_did);
	return run_suite("case-writes", c);
}
