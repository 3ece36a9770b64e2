/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RPS and RFS: where a mask pays, the road to the file and back, and the daemon over hotplug, channels
 * and the writes of others. */
#include <stdio.h>

#include "act/act.h"
#include "act/restore.h"
#include "decide/nic.h"
#include "decide/steering.h"
#include "engine/internal.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "lib/whole.h"

#define QUEUE(q, file) "sys/class/net/eth0/queues/rx-" #q "/" file
#define SOCK_FLOWS     "proc/sys/net/core/rps_sock_flow_entries"

static struct machine *m;
static struct observer *o;
static struct topology *t;
static struct ledger *ledger;
static struct actuator *actuator;
static struct engine *e;
static struct tree *config;
static struct complaints complaints;
static int (*tree_store)(struct io *io, const char *path, const char *value);
static unsigned stores; /* to files of queues and of the flow table */
static int store_error;

/* What store_rps_map() and its neighbours make of a value (net/core/net-sysfs.c of 6.12): CPUs that
 * are offline are left out, sizes become powers of two. */
static int kernel_store(struct io *io, const char *path, const char *value)
{
	char text[CPUSET_MASK_MAX];
	struct cpuset cpus, online = {};
	int64_t size, power = 1;

	if (!strstr(path, "/rps_"))
		return tree_store(io, path, value);
	stores++;
	if (store_error)
		return store_error;
	if (strstr(path, "/rps_cpus")) {
		ck_assert_int_eq(cpuset_parse_mask(value, &cpus), 0);
		for (unsigned cpu = 0; cpu < m->spec.cpus; cpu++)
			if (m->cpu[cpu].online)
				cpuset_add(&online, cpu);
		cpus = cpuset_and(&cpus, &online);
		cpuset_format_mask(&cpus, text, sizeof(text));
		return tree_store(io, path, text);
	}
	ck_assert_int_eq(parse_i64(value, &size), 0);
	while (power < size)
		power *= 2;
	snprintf(text, sizeof(text), "%lld", size ? (long long)power : 0LL);
	return tree_store(io, path, text);
}

static void boot_as(const struct machine_spec *spec)
{
	m = machine_new(spec);
	tree_store = m->ops.store;
	m->ops.store = kernel_store;
	stores = 0;
	store_error = 0;
}

static void boot(unsigned cpus, unsigned queues)
{
	struct machine_nic nic = {
		.name = "eth0", .kind = MACHINE_I40E, .queues = queues, .node = -1};

	boot_as(&(struct machine_spec){.cpus = cpus, .nics = &nic, .n_nics = 1});
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

static void teardown(void)
{
	complaints_done(&complaints);
	engine_free(TAKE_PTR(e));
	actuator_free(TAKE_PTR(actuator));
	ledger_free(TAKE_PTR(ledger));
	topology_free(TAKE_PTR(t));
	observer_free(TAKE_PTR(o));
	if (m)
		machine_free(TAKE_PTR(m));
	if (config)
		tree_free(TAKE_PTR(config));
}

static void expect(const char *path, const char *text)
{
	_cleanup_free_ char *now = tree_read(m->tree, path);

	ck_assert_str_eq(now, text);
}

/* --- the plan --- */

static void expect_plan(const char *allowed_list, const char *list)
{
	struct cpuset allowed, cpus;
	char text[VALUE_MAX];

	if (allowed_list)
		ck_assert_int_eq(cpuset_parse_list(allowed_list, &allowed), 0);
	cpus = rps_plan(t, 0, allowed_list ? &allowed : NULL);
	cpuset_format_list(&cpus, text, sizeof(text));
	ck_assert_str_eq(text, list);
}

/* Queue q's interrupt on CPU q. */
static void bind_queues(void)
{
	unsigned q = 0;

	for (unsigned i = 0; i < t->n_irqs; i++)
		if (t->irq[i].role == IRQ_RXTX)
			t->irq[i].affinity = t->irq[i].effective = cpuset_of(q++);
}

/* An online list that names more than the machine has, on a node where nothing may be used. */
START_TEST(only_cpus_of_the_machine_are_planned_with)
{
	struct cpuset allowed = {};

	boot(4, 1);
	look();
	for (unsigned cpu = t->n_cpus; cpu < CPU_ID_MAX; cpu++) {
		cpuset_add(&t->online, cpu);
		cpuset_add(&allowed, cpu);
	}
	allowed = rps_plan(t, 0, &allowed);
	ck_assert(cpuset_empty(&allowed));
	expect_plan(NULL, "0-3");
}
END_TEST

START_TEST(plan_for_fewer_queues_than_cores)
{
	static const struct {
		unsigned cpus, queues;
		bool bound;
		const char *allowed, *plan;
	} rows[] = {
		{4, 1, true, NULL, "1-3"},
		{2, 1, true, NULL, "1"},
		{4, 2, true, NULL, "2-3"},
		/* Three queues for one core that is left would be worse than none. */
		{4, 3, true, NULL, "0-3"},
		{4, 4, true, NULL, ""},
		{4, 8, true, NULL, ""},
		{1, 1, true, NULL, ""},
		/* Interrupts that may arrive anywhere. */
		{4, 1, false, NULL, "0-3"},
		{8, 2, true, "4-7", "4-7"},
		{8, 2, true, "0-3", "2-3"},
		{8, 2, true, "7", ""},
		{8, 2, true, "100", ""},
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		boot(rows[i].cpus, rows[i].queues);
		look();
		if (rows[i].bound)
			bind_queues();
		expect_plan(rows[i].allowed, rows[i].plan);
		teardown();
	}
}
END_TEST

START_TEST(plan_keeps_to_cores_node_and_housekeeping)
{
	struct machine_nic nic = {.name = "eth0", .kind = MACHINE_I40E, .queues = 2, .node = 1};
	struct machine_spec spec = {
		.cpus = 16, .sockets = 2, .nodes = 2, .smt = 2, .nics = &nic, .n_nics = 1};

	/* Two nodes of four cores; the second has 4-7 and their siblings 12-15. */
	boot_as(&spec);
	look();
	ck_assert_int_eq(t->cpu[4].node, 1);
	ck_assert_int_eq(t->cpu[12].node, 1);
	expect_plan(NULL, "4-7");
	/* A core whose sibling takes the interrupt has its work, too. */
	for (unsigned i = 0; i < t->n_irqs; i++)
		if (t->irq[i].role == IRQ_RXTX)
			t->irq[i].affinity = cpuset_of(12 + (unsigned)t->irq[i].queue);
	expect_plan(NULL, "6-7");
	/* The second threads, where the first may not be used. */
	expect_plan("12-15", "14-15");
	/* The node has nothing that may be used: any other. */
	expect_plan("0-3", "0-3");
	/* The node of a NIC that does not say it is the one of its interrupts. */
	t->nic[0].node = -1;
	expect_plan(NULL, "6-7");
	t->nic[0].rx_queues = 4;
	expect_plan(NULL, "");
	teardown();

	spec.isolated = "4-5,12-13";
	boot_as(&spec);
	look();
	t->nic[0].rx_queues = 1;
	expect_plan(NULL, "6-7");
	cpuset_remove(&t->online, 6);
	cpuset_remove(&t->online, 14);
	expect_plan(NULL, "");
	/* Nobody else's business: a veth. */
	cpuset_add(&t->online, 6);
	expect_plan(NULL, "6-7");
	t->nic[0].identity[0] = '\0';
	expect_plan(NULL, "");
}
END_TEST

/* --- the road --- */

static struct result make(enum tunable_id id, unsigned target, const char *to)
{
	_cleanup_free_ struct target *targets = NULL;
	struct change c = {.tunable = id, .class = CLASS_POLICY};
	int n = topology_targets(t, id, &targets);
	struct result r;

	ck_assert_int_gt(n, (int)target);
	c.target = targets[target];
	append_text(c.to, sizeof(c.to), "%s", to);
	change_name(&c);
	act_apply(actuator, t, &c, ON_FOREIGN_YIELD, &r);
	return r;
}

START_TEST(masks_and_flows_are_written_and_given_back)
{
	_cleanup_(restore_report_done) struct restore_report report = {};

	boot(40, 2);
	tree_write(m->tree, QUEUE(1, "rps_cpus"), "00,00000003\n");
	start();
	ck_assert_int_eq(make(TUNABLE_RPS_CPUS, 0, "2-3,33").outcome, OUTCOME_DONE);
	expect(QUEUE(0, "rps_cpus"), "2,0000000c");
	ck_assert_int_eq(make(TUNABLE_RPS_CPUS, 0, "33,2,3").outcome, OUTCOME_UNCHANGED);
	ck_assert_int_eq(make(TUNABLE_RPS_CPUS, 1, "none").outcome, OUTCOME_DONE);
	expect(QUEUE(1, "rps_cpus"), "0");
	ck_assert_int_eq(make(TUNABLE_RPS_FLOW_CNT, 1, "3000").outcome, OUTCOME_DONE);
	expect(QUEUE(1, "rps_flow_cnt"), "4096");
	ck_assert_int_eq(make(TUNABLE_RPS_FLOW_CNT, 1, "3000").outcome, OUTCOME_UNCHANGED);
	ck_assert_int_eq(make(TUNABLE_RPS_FLOW_CNT, 1, "65537").error, -ERANGE);
	ck_assert_int_eq(make(TUNABLE_RPS_SOCK_FLOW_ENTRIES, 0, "30000").outcome, OUTCOME_DONE);
	expect(SOCK_FLOWS, "32768");
	ck_assert_uint_eq(stores, 4);
	ck_assert_int_eq(restore_all(actuator, ledger, t, &report), 0);
	ck_assert_uint_eq(report.n, 4);
	expect(QUEUE(0, "rps_cpus"), "0");
	expect(QUEUE(1, "rps_cpus"), "3");
	expect(QUEUE(1, "rps_flow_cnt"), "0");
	expect(SOCK_FLOWS, "0");
	ck_assert_uint_eq(ledger_size(ledger), 0);
}
END_TEST

/* An original with a CPU that has gone offline since comes back as far as it can. */
START_TEST(original_with_an_offline_cpu)
{
	_cleanup_(restore_report_done) struct restore_report report = {};

	boot(4, 1);
	tree_write(m->tree, QUEUE(0, "rps_cpus"), "f\n");
	start();
	ck_assert_int_eq(make(TUNABLE_RPS_CPUS, 0, "1-2").outcome, OUTCOME_DONE);
	machine_set_online(m, 3, false);
	look();
	ck_assert_int_eq(restore_all(actuator, ledger, t, &report), 0);
	ck_assert_int_eq(report.item[0].verdict, RESTORE_WRITTEN);
	expect(QUEUE(0, "rps_cpus"), "7");
	ck_assert_uint_eq(ledger_size(ledger), 0);
	/* And none that is online is no mask at all. */
	ck_assert_int_eq(make(TUNABLE_RPS_CPUS, 0, "3").error, -EINVAL);
}
END_TEST

START_TEST(refusals)
{
	_cleanup_(restore_report_done) struct restore_report report = {};
	struct result r;

	boot(4, 1);
	start();
	store_error = -EINVAL;
	r = make(TUNABLE_RPS_CPUS, 0, "1");
	ck_assert_int_eq(r.outcome, OUTCOME_REFUSED);
	ck_assert_ptr_nonnull(strstr(r.text, "rps_cpus of eth0:rx0: the kernel takes none of the "
					     "CPUs 1: all are isolated"));
	store_error = -EPERM;
	ck_assert_int_eq(make(TUNABLE_RPS_CPUS, 0, "1").outcome, OUTCOME_READ_ONLY);
	stores = 0;
	ck_assert(make(TUNABLE_RPS_CPUS, 0, "1").known);
	ck_assert_uint_eq(stores, 0);
	ck_assert_uint_eq(ledger_size(ledger), 0);
	act_forget(actuator);
	store_error = 0;
	/* A kernel without CONFIG_RPS. */
	tree_remove(m->tree, QUEUE(0, "rps_flow_cnt"));
	ck_assert_int_eq(make(TUNABLE_RPS_FLOW_CNT, 0, "64").outcome, OUTCOME_UNSUPPORTED);
	/* The queue went with its channel: nothing to give back to. */
	ck_assert_int_eq(make(TUNABLE_RPS_CPUS, 0, "1").outcome, OUTCOME_DONE);
	tree_mkdir(m->tree, "sys/class/net/eth0/queues/rx-1");
	tree_remove(m->tree, "sys/class/net/eth0/queues/rx-0/rps_cpus");
	ck_assert_int_eq(restore_all(actuator, ledger, t, &report), 0);
	ck_assert_int_eq(report.item[0].verdict, RESTORE_GONE);
}
END_TEST

START_TEST(values_and_commands)
{
	const struct tunable *mask = &tunables[TUNABLE_RPS_CPUS];
	const struct tunable *flows = &tunables[TUNABLE_RPS_FLOW_CNT];
	struct change c = {.tunable = TUNABLE_RPS_CPUS,
			   .target = {.scope = SCOPE_QUEUE,
				      .number = 3,
				      .nic = "eth0",
				      .identity = "devices/x|port0|rx3"}};
	char text[256];

	ck_assert(tunable_equal(mask, "none", ""));
	ck_assert(tunable_equal(mask, "1,0", "0-1"));
	ck_assert(!tunable_equal(mask, "none", "0"));
	ck_assert_int_eq(tunable_canonical(mask, "nobody", true, text, sizeof(text)), -EINVAL);
	ck_assert(tunable_equal(flows, "4097", "8192"));
	ck_assert(!tunable_equal(flows, "0", "1"));
	strcpy(c.to, "1-2,32");
	ck_assert_int_eq(change_command(&c, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "echo 1,00000006 > /sys/class/net/eth0/queues/rx-3/rps_cpus");
	strcpy(c.to, "none");
	ck_assert_int_eq(change_command(&c, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "echo 0 > /sys/class/net/eth0/queues/rx-3/rps_cpus");
	target_label(&c.target, text);
	ck_assert_str_eq(text, "eth0:rx3");
}
END_TEST

/* --- the whole daemon --- */

static const char rps_profile[] =
	"rps_sock_flow_entries = 4096;\n"
	"nics = ( { match = \"eth*\"; placement = \"spread\"; rps = \"near\"; rps_flow_cnt = 2048; } );\n";

static int start_engine(const char *profile, const char *mode)
{
	return whole_start(m, &config, mode, profile, &complaints, &e);
}

static void ticks(unsigned n)
{
	ck_assert_int_eq(whole_ticks(m, e, n), 0);
}

static const char *steering(json_t *status, unsigned queue)
{
	json_t *nic = json_array_get(json_object_get(status, "nics"), 0);
	json_t *list = json_object_get(nic, "steering");

	return json_string_value(json_object_get(json_array_get(list, queue), "rps_cpus"));
}

START_TEST(profile_is_applied_follows_and_goes_back)
{
	json_t *d;

	boot(4, 2);
	ck_assert_int_eq(start_engine(rps_profile, "apply"), 0);
	ticks(3);
	expect(QUEUE(0, "rps_cpus"), "c");
	expect(QUEUE(1, "rps_cpus"), "c");
	expect(QUEUE(1, "rps_flow_cnt"), "2048");
	expect(SOCK_FLOWS, "4096");
	d = engine_status(e);
	ck_assert_str_eq(steering(d, 1), "2-3");
	json_decref(d);
	/* Masks went once, after the interrupts; a plan that holds writes nothing. */
	ck_assert_uint_eq(stores, 5);
	ticks(25);
	ck_assert_uint_eq(stores, 5);
	/* A CPU goes: three are left for two queues, whose interrupts have two of them. */
	machine_set_online(m, 3, false);
	ticks(4);
	expect(QUEUE(0, "rps_cpus"), "7");
	machine_set_online(m, 3, true);
	ticks(4);
	expect(QUEUE(0, "rps_cpus"), "c");
	ck_assert_int_eq(engine_stop(e), 0);
	expect(QUEUE(0, "rps_cpus"), "0");
	expect(QUEUE(1, "rps_flow_cnt"), "0");
	expect(SOCK_FLOWS, "0");
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* As many queues as CPUs: what RPS was for is over. */
START_TEST(channel_change)
{
	boot(4, 1);
	ck_assert_int_eq(start_engine("nics = ( { match = \"*\"; rps = \"near\"; } );\n", "apply"),
			 0);
	ticks(2);
	expect(QUEUE(0, "rps_cpus"), "f");
	for (unsigned q = 1; q < 4; q++)
		tree_printf(m->tree,
			    q == 1   ? QUEUE(1, "rps_cpus")
			    : q == 2 ? QUEUE(2, "rps_cpus")
				     : QUEUE(3, "rps_cpus"),
			    "0\n");
	engine_note_link_change(e);
	ticks(4);
	expect(QUEUE(0, "rps_cpus"), "0");
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	/* And fewer again: the new one is planned for. */
	tree_remove(m->tree, "sys/class/net/eth0/queues/rx-2");
	tree_remove(m->tree, "sys/class/net/eth0/queues/rx-3");
	engine_note_link_change(e);
	ticks(4);
	expect(QUEUE(0, "rps_cpus"), "f");
	expect(QUEUE(1, "rps_cpus"), "f");
}
END_TEST

START_TEST(others_write)
{
	boot(4, 1);
	ck_assert_int_eq(start_engine("nics = ( { match = \"*\"; rps = \"near\"; } );\n", "apply"),
			 0);
	ticks(2);
	expect(QUEUE(0, "rps_cpus"), "f");
	tree_write(m->tree, QUEUE(0, "rps_cpus"), "2\n");
	stores = 0;
	ticks(25);
	/* It is theirs, over a hotplug too, and stays so at the end. */
	expect(QUEUE(0, "rps_cpus"), "2");
	machine_set_online(m, 3, false);
	ticks(4);
	ck_assert_int_eq(engine_stop(e), 0);
	expect(QUEUE(0, "rps_cpus"), "2");
	ck_assert_uint_eq(stores, 0);
}
END_TEST

/* virtio_net gives all of its interrupts other CPUs whenever a CPU goes: that is nobody's will, also for
 * those that have their turn in a later round. */
START_TEST(a_driver_resets_affinities_at_hotplug)
{
	char path[64];

	boot(8, 8);
	ck_assert_int_eq(
		start_engine("nics = ( { match = \"*\"; placement = \"spread\"; } );\n", "apply"),
		0);
	ticks(6);
	machine_set_online(m, 7, false);
	for (unsigned i = 0; i < e->topology->n_irqs; i++) {
		snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list",
			 e->topology->irq[i].number);
		tree_write(m->tree, path, "0-6\n");
	}
	ticks(12);
	for (uint64_t s = 1; s <= e->history_serial; s++)
		ck_assert_int_ne(engine_history_at(e, s)->outcome, OUTCOME_FOREIGN);
	for (unsigned i = 0; i < e->topology->n_irqs; i++)
		if (e->topology->irq[i].role == IRQ_RXTX)
			ck_assert_uint_eq(cpuset_count(&e->topology->irq[i].affinity), 1);
	/* What is changed without a hotplug is somebody's. */
	snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", e->topology->irq[1].number);
	tree_write(m->tree, path, "0-5\n");
	ticks(12);
	expect(path, "0-5");
}
END_TEST

START_TEST(advice_writes_nothing)
{
	bool said = false;

	boot(4, 1);
	ck_assert_int_eq(start_engine("nics = ( { match = \"*\"; rps = \"near\"; } );\n", "advise"),
			 0);
	ticks(3);
	ck_assert_uint_eq(stores, 0);
	for (uint64_t s = 1; s <= e->history_serial; s++)
		said |= strstr(engine_history_at(e, s)->text, "1 receive queue of eth0 for more "
							      "cores near it") != NULL;
	ck_assert(said);
}
END_TEST

START_TEST(profile_keys)
{
	boot(4, 1);
	ck_assert_int_eq(start_engine("nics = ( { match = \"*\"; rps = \"far\"; } );\n", "apply"),
			 -EINVAL);
	complaints_done(&complaints);
	/* The mask is the plan's. */
	ck_assert_int_eq(start_engine("rps_cpus = \"0-3\";\n", "apply"), -EINVAL);
	complaints_done(&complaints);
	ck_assert_int_eq(
		start_engine("nics = ( { match = \"*\"; rps_cpus = \"0-3\"; } );\n", "apply"),
		-EINVAL);
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("steering");

	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_add_test(c, only_cpus_of_the_machine_are_planned_with);
	tcase_add_test(c, plan_for_fewer_queues_than_cores);
	tcase_add_test(c, plan_keeps_to_cores_node_and_housekeeping);
	tcase_add_test(c, masks_and_flows_are_written_and_given_back);
	tcase_add_test(c, original_with_an_offline_cpu);
	tcase_add_test(c, refusals);
	tcase_add_test(c, values_and_commands);
	tcase_add_test(c, profile_is_applied_follows_and_goes_back);
	tcase_add_test(c, channel_change);
	tcase_add_test(c, others_write);
	tcase_add_test(c, a_driver_resets_affinities_at_hotplug);
	tcase_add_test(c, advice_writes_nothing);
	tcase_add_test(c, profile_keys);
	return run_suite("steering", c);
}
