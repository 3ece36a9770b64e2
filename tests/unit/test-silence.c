/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts that do not fire any more when they are moved (case D19, LIS/lis-next#458): found, given back
 * and left alone; and all that is quiet for other reasons. */
#include <stdio.h>

#include "engine/internal.h"
#include "lib/run.h"
#include "lib/whole.h"

#define QUEUES 4

static struct machine *m;
static struct tree *config;
static struct engine *e;
static unsigned per_tick[QUEUES]; /* interrupts of each queue a second */
static int dead;                  /* the queue that fires on CPU 0 only; -1: none */

static void setup(void)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_IXGBE, .queues = QUEUES}};

	m = machine_new(&(struct machine_spec){.cpus = 4, .nics = nics, .n_nics = 1});
	dead = -1;
	for (unsigned q = 0; q < QUEUES; q++)
		per_tick[q] = 100;
}

static void teardown(void)
{
	engine_free(TAKE_PTR(e));
	tree_free(TAKE_PTR(config));
	machine_free(TAKE_PTR(m));
}

static unsigned irq_of(unsigned queue)
{
	char name[32];

	snprintf(name, sizeof(name), "eth0-TxRx-%u", queue);
	return machine_irq(m, name);
}

static void mask(unsigned queue, const char *set)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", m->irq[irq_of(queue)].number);
	if (set)
		tree_printf(m->tree, path, "%s\n", set);
}

static void expect_mask(unsigned queue, const char *want)
{
	_cleanup_free_ char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", m->irq[irq_of(queue)].number);
	text = tree_read(m->tree, path);
	ck_assert_msg(streq(strstrip(text), want), "queue %u: %s, not %s", queue, text, want);
}

static bool on_cpu_0(unsigned queue)
{
	_cleanup_free_ char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", m->irq[irq_of(queue)].number);
	text = tree_read(m->tree, path);
	return streq(strstrip(text), "0");
}

static void ticks(unsigned n)
{
	while (n-- > 0) {
		for (unsigned q = 0; q < QUEUES; q++)
			if (per_tick[q] > 0 && ((int)q != dead || on_cpu_0(q)))
				machine_fire(m, irq_of(q), per_tick[q]);
		ck_assert_int_eq(whole_ticks(m, e, 1), 0);
	}
}

/* Runs a while with "leave", all on CPU 0; then the profile spreads them. */
static void place(const char *more, unsigned after)
{
	char profile[256];
	struct complaints c = {};

	for (unsigned q = 0; q < QUEUES; q++)
		mask(q, "0");
	ck_assert_int_eq(whole_start(m, &config, "apply", "description = \"leave\";\n", &c, &e), 0);
	ticks(after);
	snprintf(profile, sizeof(profile), "placement = \"spread\";\n%s", more);
	tree_write(config, "profiles/spread.conf", profile);
	ck_assert_int_eq(engine_set_profile(e, "spread", &c), 0);
	complaints_done(&c);
	ticks(3);
	for (unsigned q = 1; q < QUEUES; q++)
		ck_assert(!on_cpu_0(q));
}

static const char *state_of(unsigned queue)
{
	static char state[32];
	json_t *d = engine_status(e), *irqs, *irq;
	char name[32];
	size_t i;

	snprintf(name, sizeof(name), "eth0-TxRx-%u", queue);
	irqs = json_object_get(json_array_get(json_object_get(d, "nics"), 0), "irqs");
	state[0] = '\0';
	json_array_foreach (irqs, i, irq)
		if (streq(json_string_value(json_object_get(irq, "name")), name))
			snprintf(state, sizeof(state), "%s",
				 json_string_value(json_object_get(irq, "state")));
	json_decref(d);
	return state;
}

START_TEST(silent_since_it_was_moved)
{
	char error[512] = "";
	uint64_t serial;
	json_t *d;

	dead = 2;
	place("", 12);
	ticks(SILENCE_AFTER - 3);
	ck_assert(!on_cpu_0(2)); /* not before the time is over */
	ticks(2);
	expect_mask(2, "0");
	ck_assert_str_eq(state_of(2), "silent");
	ck_assert(!on_cpu_0(1) && !on_cpu_0(3));
	d = engine_explain(e, "irq_affinity-restore", error);
	ck_assert_msg(d != NULL, "%s", error);
	json_decref(d);
	/* Looked at again, in rounds of the policy and sweeps: it stays where it fires. */
	serial = e->history_serial;
	ticks(60);
	ck_assert_int_eq(engine_policy(e), 0);
	ticks(20);
	expect_mask(2, "0");
	ck_assert_str_eq(state_of(2), "silent");
	ck_assert_str_eq(state_of(1), "settled");
	ck_assert_uint_eq(e->history_serial, serial);
	ck_assert_int_eq(engine_stop(e), 0);
	for (unsigned q = 0; q < QUEUES; q++)
		expect_mask(q, "0");
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* Tried again with another profile, or the same one read again: somebody may have mended it. */
START_TEST(until_the_profile_changes)
{
	struct complaints c = {};

	dead = 2;
	place("", 12);
	ticks(10);
	expect_mask(2, "0");
	dead = -1;
	ck_assert_int_eq(engine_reload(e, &c), 0);
	complaints_done(&c);
	ticks(10);
	ck_assert(!on_cpu_0(2));
	ck_assert_str_eq(state_of(2), "settled");
}
END_TEST

/* Quiet for other reasons: what was not seen to fire steadily, or not long enough, what fires again in time, what the admin
 * wants, and a NIC that defers its interrupts. */
START_TEST(quiet_ones_stay_where_they_are)
{
	char number[16], error[512];

	switch (_i) {
	case 0:
		per_tick[2] = SILENCE_RATE - 1;
		dead = 2;
		place("", 12);
		break;
	case 1:
		place("", 12);
		per_tick[2] = 0;
		ticks(2);
		per_tick[2] = 1;
		ticks(1);
		per_tick[2] = 0;
		break;
	case 2:
		dead = 2;
		place("nics = ( { match = \"eth0\"; napi_defer_hard_irqs = 2; } );\n", 12);
		break;
	case 4:
		dead = 2;
		place("", SILENCE_BEFORE - 2);
		break;
	case 3:
		place("", 12);
		snprintf(number, sizeof(number), "%u", m->irq[irq_of(2)].number);
		ticks(10);
		dead = 2;
		ck_assert_int_eq(engine_set(e, "irq_affinity", number, "1", error), 0);
		break;
	}
	ticks(30);
	ck_assert(!on_cpu_0(2));
	ck_assert_str_ne(state_of(2), "silent");
}
END_TEST

/* At the start nobody knows how it fired. */
START_TEST(placed_at_the_start)
{
	struct complaints c = {};

	dead = 2;
	for (unsigned q = 0; q < QUEUES; q++)
		mask(q, "0");
	ck_assert_int_eq(whole_start(m, &config, "apply", "placement = \"spread\";\n", &c, &e), 0);
	complaints_done(&c);
	ticks(30);
	ck_assert(!on_cpu_0(2));
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("silence");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, silent_since_it_was_moved);
	tcase_add_test(t, until_the_profile_changes);
	tcase_add_loop_test(t, quiet_ones_stay_where_they_are, 0, 5);
	tcase_add_test(t, placed_at_the_start);
	return run_suite("silence", t);
}
