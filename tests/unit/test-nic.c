/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of NICs and NAPI instances: written, refused, rolled back, given back, kept through a
 * driver's reset and a pulled NIC. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/act.h"
#include "act/restore.h"
#include "decide/nic.h"
#include "engine/internal.h"
#include "lib/fake-genl.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "lib/whole.h"
#include "observe/queue-stats.h"

#define SYSFS "sys/class/net/eth0/"

static struct machine *m;
static struct fake_genl *g;
static struct fake_nic *eth0;
static struct observer *o;
static struct topology *t;
static struct ledger *ledger;
static struct actuator *actuator;
static struct engine *e;
static struct tree *config;
static struct complaints complaints;

/* sched_setaffinity() of a kernel that shows what it took. */
static int set_affinity(struct io *io _unused_, pid_t pid, const struct cpuset *cpus)
{
	char path[64], list[CPUSET_LIST_MAX];

	snprintf(path, sizeof(path), "proc/%d/status", (int)pid);
	if (!tree_has(m->tree, path))
		return -ESRCH;
	cpuset_format_list(cpus, list, sizeof(list));
	tree_printf(m->tree, path, "Name:\tnapi\nCpus_allowed_list:\t%s\nMems:\t0\n", list);
	return 0;
}

static void make_thread(unsigned id, bool kernel)
{
	char comm[32], path[64];
	int pid = (int)id + 1000;

	snprintf(comm, sizeof(comm), "napi/eth0-%u", id);
	machine_process(m, pid, comm, "", kernel);
	snprintf(path, sizeof(path), "proc/%d/status", pid);
	tree_printf(m->tree, path, "Name:\t%s\nCpus_allowed_list:\t0-3\nMems:\t0\n", comm);
}

static char *thread_cpus(unsigned id)
{
	_cleanup_free_ char *text = NULL;
	char path[64], *at;

	snprintf(path, sizeof(path), "proc/%u/status", id + 1000);
	text = tree_read(m->tree, path);
	at = strstr(text, "list:\t") + strlen("list:\t");
	*strchr(at, '\n') = '\0';
	return strdup(at);
}

static void expect_thread_cpus(unsigned id, const char *cpus)
{
	_cleanup_free_ char *now = thread_cpus(id);

	ck_assert_str_eq(now, cpus);
}

static void boot(void)
{
	struct machine_nic nic = {.name = "eth0", .kind = MACHINE_I40E, .queues = 2};

	m = machine_new(&(struct machine_spec){.cpus = 4, .nics = &nic, .n_nics = 1});
	m->ops.set_affinity = set_affinity;
	g = fake_genl_new();
	m->io.genl = &g->genl;
	eth0 = fake_genl_add(g, 2, 2);
	tree_write(m->tree, SYSFS "napi_defer_hard_irqs", "0\n");
	tree_write(m->tree, SYSFS "gro_flush_timeout", "0\n");
	tree_write(m->tree, SYSFS "threaded", "0\n");
}

static void look(void)
{
	topology_free(TAKE_PTR(t));
	if (!o)
		ck_assert_int_eq(observer_new(&m->io, &o), 0);
	ck_assert_int_eq(observer_topology(o, &t), 0);
}

static void start(void)
{
	look();
	ck_assert_int_eq(ledger_open(&m->io, false, NULL, &ledger), 0);
	ck_assert_int_eq(actuator_new(&m->io, ledger, 0, &actuator), 0);
}

static void end(void)
{
	actuator_free(TAKE_PTR(actuator));
	ledger_free(TAKE_PTR(ledger));
}

static void teardown(void)
{
	complaints_done(&complaints);
	engine_free(TAKE_PTR(e));
	end();
	topology_free(TAKE_PTR(t));
	observer_free(TAKE_PTR(o));
	fake_genl_free(TAKE_PTR(g));
	machine_free(TAKE_PTR(m));
	if (config)
		tree_free(TAKE_PTR(config));
}

static struct change wish(enum tunable_id id, unsigned target, const char *to)
{
	_cleanup_free_ struct target *targets = NULL;
	struct change c = {.tunable = id, .class = CLASS_POLICY};
	int n = topology_targets(t, id, &targets);

	ck_assert_int_gt(n, (int)target);
	c.target = targets[target];
	append_text(c.to, sizeof(c.to), "%s", to);
	change_name(&c);
	return c;
}

static struct result make(enum tunable_id id, unsigned target, const char *to)
{
	struct change c = wish(id, target, to);
	struct result r;

	act_apply(actuator, t, &c, ON_FOREIGN_YIELD, &r);
	return r;
}

static void give_all_back(struct restore_report *ret)
{
	ck_assert_int_eq(restore_all(actuator, ledger, t, ret), 0);
	ck_assert_uint_eq(ledger_size(ledger), 0);
}

/* rx: adaptive off, 8 µs, 32 frames. */
static void couple(const char *adaptive, const char *usecs, const char *frames,
		   struct result *results)
{
	struct change c[3] = {
		wish(TUNABLE_COALESCE_ADAPTIVE_RX, 0, adaptive),
		wish(TUNABLE_COALESCE_RX_USECS, 0, usecs),
		wish(TUNABLE_COALESCE_RX_FRAMES, 0, frames),
	};

	c[0].implied = true;
	act_apply_coupled(actuator, t, c, 3, ON_FOREIGN_YIELD, results);
}

static void expect_originals(void)
{
	static const uint32_t originals[6] = {1, 50, 0, 1, 50, 0};

	ck_assert_mem_eq(eth0->coalesce, originals, sizeof(originals));
}

/* --- coalescing --- */

START_TEST(coalescing_in_order_and_back)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	struct result r[3];

	boot();
	start();
	couple("0", "8", "32", r);
	for (size_t i = 0; i < 3; i++)
		ck_assert_msg(r[i].outcome == OUTCOME_DONE, "%s", r[i].text);
	ck_assert_str_eq(g->log, "coalesce_adaptive_rx=0 coalesce_rx_usecs=8 "
				 "coalesce_rx_frames=32 ");
	/* What holds is not written again. */
	couple("0", "8", "32", r);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(r[i].outcome, OUTCOME_UNCHANGED);
	ck_assert_uint_eq(g->sets, 3);
	g->log[0] = '\0';
	give_all_back(&report);
	ck_assert_str_eq(g->log, "coalesce_rx_frames=0 coalesce_rx_usecs=50 "
				 "coalesce_adaptive_rx=1 ");
	expect_originals();
}
END_TEST

/* The driver has frames, but takes no more than 16: what was changed for them goes back. */
START_TEST(partial_failure_rolls_the_couple_back)
{
	struct result r[3];

	boot();
	start();
	eth0->coalesce_max = 16;
	couple("0", "8", "32", r);
	ck_assert_int_eq(r[2].outcome, OUTCOME_REFUSED);
	ck_assert_int_eq(r[2].error, -EINVAL);
	ck_assert_ptr_nonnull(strstr(r[2].text, "at most 16"));
	ck_assert_ptr_nonnull(strstr(r[0].text, "put back to 1"));
	ck_assert_ptr_nonnull(strstr(r[1].text, "put back to 50"));
	expect_originals();
	ck_assert_uint_eq(ledger_size(ledger), 0);
	ck_assert_str_eq(g->log, "coalesce_adaptive_rx=0 coalesce_rx_usecs=8 "
				 "coalesce_rx_usecs=50 coalesce_adaptive_rx=1 ");
	/* The next round knows, and writes nothing. */
	g->sets = 0;
	couple("0", "8", "32", r);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(r[i].outcome, OUTCOME_REFUSED);
	ck_assert_ptr_nonnull(strstr(r[0].text, "coalesce_rx_frames was refused before"));
	ck_assert_uint_eq(g->sets, 0);
}
END_TEST

/* No frames: unsupported, the rest goes on. No fixed value at all: adaptive stays as it was. */
START_TEST(what_the_driver_lacks)
{
	struct result r[3];

	boot();
	start();
	eth0->coalesce_has = 0x3b;
	couple("0", "8", "32", r);
	ck_assert_int_eq(r[0].outcome, OUTCOME_DONE);
	ck_assert_int_eq(r[1].outcome, OUTCOME_DONE);
	ck_assert_int_eq(r[2].outcome, OUTCOME_UNSUPPORTED);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
	end();
	tree_remove(m->tree, "run/softnetd");
	eth0->coalesce[0] = 1;
	eth0->coalesce_has = 0x39;
	start();
	couple("0", "8", "32", r);
	ck_assert_int_eq(r[0].outcome, OUTCOME_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(r[0].text, "takes no fixed value"));
	ck_assert_int_eq(r[1].outcome, OUTCOME_UNSUPPORTED);
	ck_assert_uint_eq(eth0->coalesce[0], 1);
	ck_assert_uint_eq(ledger_size(ledger), 0);
	/* And no coalescing at all. */
	eth0->coalesce_has = 0;
	couple("0", "8", "32", r);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(r[i].outcome, OUTCOME_UNSUPPORTED);
}
END_TEST

/* Each refusal has its meaning, is remembered where it stays true, and leaves nothing behind. */
START_TEST(refusals)
{
	static const struct {
		int error;
		enum outcome outcome;
		const char *text;
		bool remembered;
	} cases[] = {
		{EOPNOTSUPP, OUTCOME_UNSUPPORTED, "this driver does not have it", true},
		{EINVAL, OUTCOME_REFUSED, "does not take 8", true},
		{ERANGE, OUTCOME_REFUSED, "does not take 8", true},
		{EOVERFLOW, OUTCOME_REFUSED, "does not take 8", true},
		{EBUSY, OUTCOME_REFUSED, "busy", false},
		{ENETDOWN, OUTCOME_REFUSED, "while the interface is up", false},
		{EPERM, OUTCOME_READ_ONLY, "cannot be written here", true},
		{EIO, OUTCOME_REFUSED, "refused 8", false},
	};

	boot();
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct result r;

		start();
		g->sets = 0;
		g->only_sets = true;
		g->fail_at = 1;
		g->onwards = true;
		g->error = cases[i].error;
		r = make(TUNABLE_COALESCE_RX_USECS, 0, "8");
		ck_assert_msg(r.outcome == cases[i].outcome, "%s", r.text);
		ck_assert_msg(strstr(r.text, cases[i].text) != NULL, "%s", r.text);
		ck_assert(!r.known);
		ck_assert_uint_eq(ledger_size(ledger), 0);
		expect_originals();
		g->sets = 0;
		r = make(TUNABLE_COALESCE_RX_USECS, 0, "8");
		ck_assert_int_eq(r.outcome, cases[i].outcome);
		ck_assert_int_eq(r.known, cases[i].remembered);
		ck_assert_int_eq(g->sets == 0, cases[i].remembered);
		g->fail_at = 0;
		/* Another value may be to its taste. */
		if (cases[i].outcome == OUTCOME_REFUSED)
			ck_assert_int_eq(make(TUNABLE_COALESCE_RX_USECS, 0, "9").outcome,
					 OUTCOME_DONE);
		eth0->coalesce[1] = 50;
		end();
		tree_remove(m->tree, "run/softnetd");
	}
}
END_TEST

/* A driver that counts in steps of 4 µs: what it made of the wish is ours, and enough. */
START_TEST(rounding)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	struct result r;

	boot();
	start();
	eth0->coalesce_step = 4;
	r = make(TUNABLE_COALESCE_RX_USECS, 0, "30");
	ck_assert_msg(r.outcome == OUTCOME_DONE, "%s", r.text);
	ck_assert_ptr_nonnull(strstr(r.text, "makes of 30"));
	ck_assert_str_eq(ledger_at(ledger, 0)->written, "28");
	ck_assert_uint_eq(g->sets, 1);
	ck_assert_int_eq(make(TUNABLE_COALESCE_RX_USECS, 0, "30").outcome, OUTCOME_UNCHANGED);
	ck_assert_uint_eq(g->sets, 1);
	/* Half of what was asked for is no rounding: put back. */
	eth0->coalesce_step = 100;
	eth0->coalesce[1] = 28;
	r = make(TUNABLE_COALESCE_RX_USECS, 0, "190");
	ck_assert_int_eq(r.outcome, OUTCOME_DIFFERENT);
	eth0->coalesce_step = 0;
	eth0->coalesce[1] = 28;
	give_all_back(&report);
	expect_originals();
}
END_TEST

/* Pulled in mid-change: nothing is left to put back, and nothing stays in the ledger. */
START_TEST(pulled_while_it_is_changed)
{
	struct result r[3];

	boot();
	for (unsigned at = 1; at <= 3; at++) {
		start();
		g->sets = 0;
		g->pull_at = at;
		couple("0", "8", "32", r);
		for (size_t i = at - 1; i < 3; i++)
			ck_assert_msg(r[i].outcome == OUTCOME_UNSUPPORTED ||
					      r[i].outcome == OUTCOME_REFUSED,
				      "%s", r[i].text);
		ck_assert_ptr_nonnull(strstr(r[at - 1].text, "went away"));
		g->pull_at = 0;
		tree_remove(m->tree, "sys/class/net/eth0");
		look();
		ck_assert_uint_eq(t->n_nics, 0);
		{
			_cleanup_(restore_report_done) struct restore_report report = {};

			give_all_back(&report);
			for (size_t i = 0; i < report.n; i++)
				ck_assert_int_eq(report.item[i].verdict, RESTORE_GONE);
		}
		end();
		/* Plugged in again, as new. */
		tree_link(m->tree, "sys/class/net/eth0",
			  "../../devices/pci0000:00/0000:00:03.0/net/eth0");
		*eth0 = (struct fake_nic){};
		g->n_nics = 0;
		eth0 = fake_genl_add(g, 2, 2);
	}
}
END_TEST

/* --- NAPI --- */

START_TEST(instances_one_by_one_and_through_a_reset)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	struct result r;

	boot();
	eth0->napi[0].setting[1] = 1;
	start();
	r = make(TUNABLE_NAPI_DEFER_HARD_IRQS, 0, "7");
	ck_assert_msg(r.outcome == OUTCOME_DONE, "%s", r.text);
	ck_assert_ptr_nonnull(strstr(r.text, "eth0:rx0"));
	ck_assert_uint_eq(eth0->napi[0].setting[1], 7);
	ck_assert_uint_eq(eth0->napi[1].setting[1], 0);
	fake_genl_reset(g, eth0);
	/* The topology is the old one still: its ids are nobody's. */
	r = make(TUNABLE_NAPI_DEFER_HARD_IRQS, 0, "8");
	ck_assert_int_eq(r.outcome, OUTCOME_UNSUPPORTED);
	look();
	give_all_back(&report);
	ck_assert_int_eq(report.item[0].verdict, RESTORE_WRITTEN);
	ck_assert_uint_eq(eth0->napi[0].setting[1], 1);
}
END_TEST

/* A NAPI id that is another NIC's by now is not written to. */
START_TEST(id_of_another_nic)
{
	struct result r;

	boot();
	start();
	eth0->ifindex = 9;
	r = make(TUNABLE_NAPI_DEFER_HARD_IRQS, 0, "7");
	ck_assert_int_eq(r.outcome, OUTCOME_UNSUPPORTED);
	ck_assert_uint_eq(g->sets, 0);
}
END_TEST

/* While the interface is down its instances are not listed; their settings wait in the ledger. */
START_TEST(down_is_not_gone)
{
	_cleanup_(restore_report_done) struct restore_report report = {}, again = {};

	boot();
	start();
	ck_assert_int_eq(make(TUNABLE_GRO_FLUSH_TIMEOUT, 1, "20000").outcome, OUTCOME_DONE);
	eth0->down = true;
	tree_write(m->tree, SYSFS "flags", "0x1002\n");
	look();
	ck_assert_int_lt(restore_all(actuator, ledger, t, &report), 0);
	ck_assert_ptr_nonnull(strstr(report.item[0].text, "its interface is down"));
	ck_assert_uint_eq(ledger_size(ledger), 1);
	eth0->down = false;
	tree_write(m->tree, SYSFS "flags", "0x1003\n");
	look();
	give_all_back(&again);
	ck_assert_uint_eq(eth0->napi[1].setting[2], 0);
}
END_TEST

START_TEST(files_of_the_device)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	_cleanup_free_ char *now = NULL, *back = NULL;
	struct result r;

	boot();
	g->no_napi_set = true;
	start();
	r = make(TUNABLE_GRO_FLUSH_TIMEOUT, 0, "20000");
	ck_assert_msg(r.outcome == OUTCOME_DONE, "%s", r.text);
	now = tree_read(m->tree, SYSFS "gro_flush_timeout");
	ck_assert_str_eq(now, "20000");
	ck_assert_uint_eq(g->sets, 0);
	/* Another interface has the name now. */
	tree_write(m->tree, SYSFS "ifindex", "7\n");
	ck_assert_int_eq(make(TUNABLE_GRO_FLUSH_TIMEOUT, 0, "30000").outcome, OUTCOME_UNSUPPORTED);
	tree_write(m->tree, SYSFS "ifindex", "2\n");
	give_all_back(&report);
	back = tree_read(m->tree, SYSFS "gro_flush_timeout");
	ck_assert_str_eq(back, "0");
}
END_TEST

START_TEST(threads_are_placed_and_given_back)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	struct result r;

	boot();
	make_thread(8193, true);
	make_thread(8194, true);
	eth0->napi[0].pid = 9193;
	eth0->napi[1].pid = 9194;
	start();
	r = make(TUNABLE_NAPI_THREAD_AFFINITY, 1, "2");
	ck_assert_msg(r.outcome == OUTCOME_DONE, "%s", r.text);
	expect_thread_cpus(8193, "0-3");
	expect_thread_cpus(8194, "2");
	ck_assert_int_eq(make(TUNABLE_NAPI_THREAD_AFFINITY, 1, "9").outcome, OUTCOME_REFUSED);
	give_all_back(&report);
	expect_thread_cpus(8194, "0-3");
	/* The thread ended, and its pid is a user's now: never touched, whatever it calls itself. */
	ck_assert_int_eq(make(TUNABLE_NAPI_THREAD_AFFINITY, 1, "2").outcome, OUTCOME_DONE);
	make_thread(8194, false);
	ck_assert_int_eq(make(TUNABLE_NAPI_THREAD_AFFINITY, 1, "3").outcome, OUTCOME_UNSUPPORTED);
	restore_report_done(&report);
	give_all_back(&report);
	ck_assert_int_eq(report.item[0].verdict, RESTORE_GONE);
	expect_thread_cpus(8194, "0-3");
}
END_TEST

/* --- the whole daemon --- */

static const char nic_profile[] =
	"nics = ( { match = \"eth*\"; napi_threaded = \"enabled\"; napi_threads = \"near\"; "
	"napi_defer_hard_irqs = 2; gro_flush_timeout = 20000; coalesce_rx_usecs = 8; } );\n";

static int start_engine(const char *profile)
{
	return whole_start(m, &config, "apply", profile, &complaints, &e);
}

static void ticks(unsigned n)
{
	ck_assert_int_eq(whole_ticks(m, e, n), 0);
}

static void expect_profile_holds(void)
{
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(eth0->napi[i].setting[0], 1);
		ck_assert_uint_eq(eth0->napi[i].setting[1], 2);
		ck_assert_uint_eq(eth0->napi[i].setting[2], 20000);
	}
	ck_assert_uint_eq(eth0->coalesce[0], 0);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
	ck_assert_uint_eq(eth0->coalesce[4], 50);
}

START_TEST(profile_is_applied_and_holds)
{
	unsigned long sets, asked;
	json_t *d, *nic, *queue;

	boot();
	for (unsigned id = 8193; id < 8300; id++)
		make_thread(id, true);
	ck_assert_int_eq(start_engine(nic_profile), 0);
	expect_profile_holds();
	ticks(2);
	/* Threads that came with the setting are found, and placed beside their interrupts. */
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_free_ char *cpus = thread_cpus(eth0->napi[i].id);

		ck_assert_str_ne(cpus, "0-3");
	}
	sets = g->sets;
	asked = g->asked;
	ticks(9);
	/* At most one slow look: what is in the ledger is read again, nothing is written. */
	ck_assert_uint_eq(g->sets, sets);
	ck_assert_uint_lt(g->asked - asked, 30);
	eth0->napi[1].stat[QUEUE_HW_DROPS] = 17;
	eth0->napi[1].stat_has = 1U << QUEUE_HW_DROPS;
	d = engine_status(e);
	nic = json_array_get(json_object_get(d, "nics"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(nic, "coalescing"),
							    "coalesce_rx_usecs")),
			 8);
	queue = json_array_get(json_object_get(nic, "queues"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(queue, "rx_queue")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(queue, "rx_hw_drops")), 17);
	ck_assert(json_is_null(json_object_get(queue, "rx_packets")));
	nic = json_array_get(json_object_get(nic, "napis"), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(nic, "rx_queue")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(nic, "gro_flush_timeout")), 20000);
	ck_assert_ptr_nonnull(json_object_get(json_object_get(nic, "thread"), "pid"));
	json_decref(d);
	ck_assert_int_eq(engine_stop(e), 0);
	expect_originals();
	for (unsigned i = 0; i < 2; i++) {
		expect_thread_cpus(eth0->napi[i].id, "0-3");
		for (unsigned k = 0; k < 3; k++)
			ck_assert_uint_eq(eth0->napi[i].setting[k], 0);
	}
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* A driver's reset with everything lost: new ids, new threads, default settings. */
START_TEST(reset_is_followed)
{
	boot();
	for (unsigned id = 8193; id < 8300; id++)
		make_thread(id, true);
	ck_assert_int_eq(start_engine(nic_profile), 0);
	ticks(2);
	fake_genl_reset(g, eth0);
	for (unsigned i = 0; i < 2; i++)
		memset(eth0->napi[i].setting, 0, sizeof(eth0->napi[i].setting));
	for (unsigned i = 0; i < 2; i++)
		eth0->napi[i].pid = 0;
	engine_note_link_change(e);
	ticks(4);
	expect_profile_holds();
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_free_ char *cpus = thread_cpus(eth0->napi[i].id);

		ck_assert_str_ne(cpus, "0-3");
	}
}
END_TEST

/* Pulled and plugged in again under a running daemon: said once, no storm, set again. */
START_TEST(replug)
{
	unsigned long sets;
	uint64_t serial;

	boot();
	ck_assert_int_eq(start_engine("coalesce_rx_usecs = 8;\n"), 0);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
	ticks(3);
	eth0->gone = true;
	tree_remove(m->tree, "sys/class/net/eth0");
	engine_note_link_change(e);
	serial = e->history_serial;
	sets = g->sets;
	ticks(60);
	ck_assert_uint_eq(g->sets, sets);
	for (uint64_t s = serial + 1; s <= e->history_serial; s++)
		ck_assert_msg(false, "%s", engine_history_at(e, s)->text);
	ck_assert_uint_eq(e->topology->n_nics, 0);
	*eth0 = (struct fake_nic){};
	g->n_nics = 0;
	eth0 = fake_genl_add(g, 5, 2);
	tree_link(m->tree, "sys/class/net/eth0", "../../devices/pci0000:00/0000:00:03.0/net/eth0");
	tree_write(m->tree, SYSFS "ifindex", "5\n");
	engine_note_link_change(e);
	ticks(5);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
	ck_assert_uint_eq(eth0->coalesce[0], 0);
	ck_assert_int_eq(engine_stop(e), 0);
	expect_originals();
}
END_TEST

/* Case H31: what a driver takes before its interface is opened is undefined. At ifup it is due. */
START_TEST(waits_for_ifup)
{
	boot();
	tree_write(m->tree, SYSFS "flags", "0x1002\n");
	ck_assert_int_eq(start_engine("coalesce_rx_usecs = 8;\n"), 0);
	ticks(3);
	ck_assert_uint_eq(g->sets, 0);
	expect_originals();
	tree_write(m->tree, SYSFS "flags", "0x1003\n");
	engine_note_link_change(e);
	ticks(4);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
}
END_TEST

/* Case H29 (tuned#340): interfaces without a device are not asked, and nothing is said about them. */
START_TEST(virtual_interfaces_are_left)
{
	struct machine_nic nics[] = {{.name = "veth0", .kind = MACHINE_VETH},
				     {.name = "eth0", .kind = MACHINE_I40E, .queues = 2}};

	m = machine_new(&(struct machine_spec){.cpus = 4, .nics = nics, .n_nics = 2});
	g = fake_genl_new();
	m->io.genl = &g->genl;
	eth0 = fake_genl_add(g, 2, 2); /* here, the virtual one */
	fake_genl_add(g, 3, 2);
	ck_assert_int_eq(start_engine("coalesce_rx_usecs = 8;\n"), 0);
	ticks(2);
	expect_originals();
	ck_assert_uint_eq(g->nic[1].coalesce[1], 8);
}
END_TEST

/* Case H27 (tuned#728): a NIC that is renamed is the same one. */
START_TEST(renamed)
{
	boot();
	ck_assert_int_eq(start_engine("nics = ( { match = \"lan*\"; coalesce_rx_usecs = 9; }, "
				      "{ match = \"eth*\"; coalesce_rx_usecs = 8; } );\n"),
			 0);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
	tree_remove(m->tree, "sys/class/net/eth0");
	tree_link(m->tree, "sys/class/net/lan0", "../../devices/pci0000:00/0000:00:03.0/net/eth0");
	engine_note_link_change(e);
	ticks(4);
	/* The rule for its new name counts, and the original is still that of the beginning. */
	ck_assert_uint_eq(eth0->coalesce[1], 9);
	ck_assert_int_eq(engine_stop(e), 0);
	expect_originals();
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* Somebody else's ethtool: theirs from then on, said once, whatever is looked at again (D09). */
START_TEST(somebody_elses)
{
	unsigned long sets;
	uint64_t serial;

	boot();
	ck_assert_int_eq(start_engine("coalesce_rx_usecs = 8;\n"), 0);
	ticks(2);
	eth0->coalesce[1] = 100;
	ticks(12);
	serial = e->history_serial;
	sets = g->sets;
	for (unsigned i = 0; i < 3; i++) {
		fake_genl_reset(g, eth0);
		engine_note_link_change(e);
		ticks(12);
	}
	ck_assert_uint_eq(eth0->coalesce[1], 100);
	ck_assert_uint_eq(g->sets, sets);
	ck_assert_uint_le(e->history_serial - serial, 2);
	ck_assert_int_eq(engine_stop(e), 0);
	ck_assert_uint_eq(eth0->coalesce[1], 100);
	ck_assert_uint_eq(eth0->coalesce[0], 1);
}
END_TEST

/* The kernel says that somebody changed coalescing: it is put right with the next tick, and not only
 * with the next slow look. */
START_TEST(news_of_coalescing)
{
	boot();
	ck_assert_int_eq(start_engine("on_foreign = \"enforce\";\ncoalesce_rx_usecs = 8;\n"), 0);
	ticks(12);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
	eth0->coalesce[1] = 100;
	ticks(2);
	ck_assert_uint_eq(eth0->coalesce[1], 100);
	engine_look_soon(e);
	ticks(1);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
}
END_TEST

/* Channels or rings changed, with no interrupt added or gone: what the driver tells is asked again, once
 * it is quiet, and what the profile states holds without a write. */
START_TEST(news_of_a_reset)
{
	unsigned long sets;

	boot();
	ck_assert_int_eq(start_engine("coalesce_rx_usecs = 8;\n"), 0);
	ticks(12);
	ck_assert_uint_eq(e->topology->nic[0].channels.combined, eth0->channels);
	eth0->channels--;
	sets = g->sets;
	engine_note_driver_reset(e);
	ticks(1);
	ck_assert_uint_eq(e->topology->nic[0].channels.combined, eth0->channels + 1);
	engine_note_driver_reset(e);
	ticks(3);
	ck_assert_uint_eq(e->topology->nic[0].channels.combined, eth0->channels);
	ck_assert_uint_eq(g->sets, sets);
}
END_TEST

START_TEST(set_and_release_by_hand)
{
	char error[512] = "";

	boot();
	ck_assert_int_eq(start_engine("coalesce_rx_usecs = 8;\n"), 0);
	ck_assert_int_eq(engine_set(e, "coalesce_rx_usecs", "eth0", "20", error), 0);
	ck_assert_uint_eq(eth0->coalesce[1], 20);
	ck_assert_int_eq(engine_set(e, "napi_defer_hard_irqs", "eth0:rx1", "3", error), 0);
	ck_assert_uint_eq(eth0->napi[0].setting[1], 0);
	ck_assert_uint_eq(eth0->napi[1].setting[1], 3);
	ck_assert_int_eq(engine_set(e, "napi_defer_hard_irqs", "eth0", "4", error), 0);
	ck_assert_uint_eq(eth0->napi[0].setting[1], 4);
	ck_assert_int_eq(engine_set(e, "coalesce_rx_usecs", "eth7", "20", error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "no NIC with a device eth7"));
	ck_assert_int_eq(engine_set(e, "coalesce_rx_usecs", "eth0", "20000", error), -ERANGE);
	ck_assert_int_eq(engine_release(e, "napi_defer_hard_irqs", "", error), 0);
	ck_assert_uint_eq(eth0->napi[1].setting[1], 0);
	/* What the profile states takes over again. */
	ck_assert_int_eq(engine_release(e, "coalesce_rx_usecs", "eth0", error), 0);
	ck_assert_uint_eq(eth0->coalesce[1], 8);
}
END_TEST

/* kill -9 before and after every set: the next start gives everything back. */
START_TEST(killed_at_every_set)
{
	unsigned long total;

	boot();
	for (unsigned id = 8193; id < 8300; id++)
		make_thread(id, true);
	ck_assert_int_eq(start_engine(nic_profile), 0);
	total = g->sets;
	ck_assert_uint_gt(total, 6);
	ck_assert_int_eq(engine_stop(e), 0);
	engine_free(TAKE_PTR(e));
	for (unsigned long at = 1; at <= 2 * total; at++) {
		int status;
		pid_t pid;

		g->sets = 0;
		g->die_before = at <= total ? at : 0;
		g->die_after = at > total ? at - total : 0;
		pid = fork();
		if (pid == 0) {
			(void)start_engine(nic_profile);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		g->die_before = g->die_after = 0;
		ck_assert_int_eq(start_engine("description = \"nothing\";\n"), 0);
		expect_originals();
		for (unsigned i = 0; i < 2; i++)
			for (unsigned k = 0; k < 4; k++)
				ck_assert_uint_eq(eth0->napi[i].setting[k], 0);
		ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
		engine_free(TAKE_PTR(e));
	}
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("nic");

	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, coalescing_in_order_and_back);
	tcase_add_test(c, partial_failure_rolls_the_couple_back);
	tcase_add_test(c, what_the_driver_lacks);
	tcase_add_test(c, refusals);
	tcase_add_test(c, rounding);
	tcase_add_test(c, pulled_while_it_is_changed);
	tcase_add_test(c, instances_one_by_one_and_through_a_reset);
	tcase_add_test(c, id_of_another_nic);
	tcase_add_test(c, down_is_not_gone);
	tcase_add_test(c, files_of_the_device);
	tcase_add_test(c, threads_are_placed_and_given_back);
	tcase_add_test(c, profile_is_applied_and_holds);
	tcase_add_test(c, reset_is_followed);
	tcase_add_test(c, replug);
	tcase_add_test(c, waits_for_ifup);
	tcase_add_test(c, virtual_interfaces_are_left);
	tcase_add_test(c, renamed);
	tcase_add_test(c, somebody_elses);
	tcase_add_test(c, news_of_coalescing);
	tcase_add_test(c, news_of_a_reset);
	tcase_add_test(c, set_and_release_by_hand);
	tcase_add_test(c, killed_at_every_set);
	return run_suite("nic", c);
}
