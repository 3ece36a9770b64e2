/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What softnetd says of a policy beyond that it reads back: seen to act, not seen yet, seen to do
 * something else, or that nobody can tell. First the rule alone, then the engine in simulated time.
 */
#include <stdio.h>

#include "lib/run.h"
#include "serve/journal.h"
#include "sim/host.h"

static struct live l;
static char said[4096];

static void teardown(void)
{
	live_done(&l);
	l = (struct live){};
}

/* ---- the rule ---- */

static enum proof proof_of(enum tunable_id id, const char *identity, const char *written,
			   const struct effect *seen)
{
	static struct policy policies[] = {{.identity = "cpus:0", .driver = "acpi-cpufreq"},
					   {.identity = "cpus:1", .driver = "intel_pstate"}};
	static struct nic nics[] = {{.name = "eth0", .identity = "dev|port0"}};
	static struct napi napis[] = {
		{.nic = 0, .identity = "dev|port0|rx0", .thread = 400},
		{.nic = 0, .identity = "dev|port0|rx1"},
	};
	const struct topology t = {.n_policies = 2,
				   .policy = policies,
				   .n_nics = 1,
				   .nic = nics,
				   .n_napis = 2,
				   .napi = napis};
	char text[PROOF_TEXT_MAX];

	return verify(&t, id, identity, written, seen, text);
}

START_TEST(interrupts_by_where_they_fire)
{
	struct effect seen = {};

	ck_assert_int_eq(proof_of(TUNABLE_IRQ_AFFINITY, "x", "2", &seen), PROOF_DUE);
	cpuset_add(&seen.fired, 2);
	ck_assert_int_eq(proof_of(TUNABLE_IRQ_AFFINITY, "x", "2", &seen), PROOF_VERIFIED);
	ck_assert_int_eq(proof_of(TUNABLE_IRQ_AFFINITY, "x", "2-3", &seen), PROOF_VERIFIED);
	cpuset_add(&seen.fired, 0);
	ck_assert_int_eq(proof_of(TUNABLE_IRQ_AFFINITY, "x", "2", &seen), PROOF_CONTRADICTED);
}
END_TEST

START_TEST(governors_by_their_frequency)
{
	struct effect seen = {.khz = 3000000, .min_khz = 800000, .max_khz = 3200000};

	ck_assert_int_eq(proof_of(TUNABLE_GOVERNOR, "cpus:0", "performance", &seen),
			 PROOF_UNVERIFIABLE);
	seen.have_frequency = true;
	ck_assert_int_eq(proof_of(TUNABLE_GOVERNOR, "cpus:0", "performance", &seen),
			 PROOF_VERIFIED);
	ck_assert_int_eq(proof_of(TUNABLE_GOVERNOR, "cpus:0", "powersave", &seen), PROOF_DUE);
	seen.khz = 900000;
	ck_assert_int_eq(proof_of(TUNABLE_GOVERNOR, "cpus:0", "performance", &seen), PROOF_DUE);
	ck_assert_int_eq(proof_of(TUNABLE_GOVERNOR, "cpus:0", "powersave", &seen), PROOF_VERIFIED);
	/* The hardware's own choice there. */
	ck_assert_int_eq(proof_of(TUNABLE_GOVERNOR, "cpus:1", "powersave", &seen),
			 PROOF_UNVERIFIABLE);
	ck_assert_int_eq(proof_of(TUNABLE_GOVERNOR, "cpus:0", "schedutil", &seen),
			 PROOF_UNVERIFIABLE);
}
END_TEST

START_TEST(threads_by_where_they_are)
{
	struct effect seen = {};

	ck_assert_int_eq(proof_of(TUNABLE_NAPI_THREADED, "dev|port0|rx0", "1", &seen),
			 PROOF_VERIFIED);
	ck_assert_int_eq(proof_of(TUNABLE_NAPI_THREADED, "dev|port0|rx0", "0", &seen), PROOF_DUE);
	ck_assert_int_eq(proof_of(TUNABLE_NAPI_THREADED, "dev|port0|rx1", "1", &seen), PROOF_DUE);
	ck_assert_int_eq(proof_of(TUNABLE_NAPI_THREADED, "dev|port0|rx1", "0", &seen),
			 PROOF_VERIFIED);
	/* A whole device: each of its instances. */
	ck_assert_int_eq(proof_of(TUNABLE_NAPI_THREADED, "dev|port0", "1", &seen), PROOF_DUE);
	ck_assert_int_eq(proof_of(TUNABLE_NAPI_THREAD_AFFINITY, "dev|port0|rx0", "3", &seen),
			 PROOF_DUE);
	seen.have_cpu = true;
	seen.cpu = 1;
	ck_assert_int_eq(proof_of(TUNABLE_NAPI_THREAD_AFFINITY, "dev|port0|rx0", "3", &seen),
			 PROOF_DUE);
	seen.cpu = 3;
	ck_assert_int_eq(proof_of(TUNABLE_NAPI_THREAD_AFFINITY, "dev|port0|rx0", "3", &seen),
			 PROOF_VERIFIED);
}
END_TEST

/* Every setting has an answer, and those without a sensor have only one. */
START_TEST(nothing_else_is_called_proven)
{
	const struct effect seen = {.have_frequency = true, .have_cpu = true, .khz = 1};

	for (unsigned id = 0; id < _TUNABLE_MAX; id++) {
		struct change c = {.tunable = id, .class = CLASS_POLICY};
		struct result r = {.outcome = OUTCOME_DONE};

		ck_assert_int_eq(verify_begin(&c, &r),
				 tunables[id].verifiable ? PROOF_DUE : PROOF_UNVERIFIABLE);
		if (!tunables[id].verifiable)
			ck_assert_int_eq(proof_of(id, "host", "1", &seen), PROOF_UNVERIFIABLE);
		r.outcome = OUTCOME_REFUSED;
		ck_assert_int_eq(verify_begin(&c, &r), PROOF_NONE);
		r.outcome = OUTCOME_DONE;
		c.class = CLASS_TRIAL;
		ck_assert_int_eq(verify_begin(&c, &r), PROOF_NONE);
	}
}
END_TEST

/* ---- the engine ---- */

static const struct machine_nic ixgbe[] = {{.name = "eth0", .kind = MACHINE_IXGBE, .queues = 4}};
static const struct machine_spec spec = {
	.cpus = 4, .nics = ixgbe, .n_nics = 1, .cpufreq = "acpi-cpufreq"};

static void frequency(unsigned khz)
{
	for (unsigned p = 0; p < 4; p++) {
		char path[96];

		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpufreq/policy%u/scaling_cur_freq", p);
		tree_printf(l.m->tree, path, "%u\n", khz);
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpufreq/policy%u/cpuinfo_min_freq", p);
		tree_write(l.m->tree, path, "800000\n");
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpufreq/policy%u/cpuinfo_max_freq", p);
		tree_write(l.m->tree, path, "3200000\n");
	}
}

static void listen(void *userdata _unused_, const struct engine_event *ev)
{
	char text[1024];

	journal_message(ev, text, sizeof(text));
	append_text(said, sizeof(said), "%s\n", text);
}

/* How many of LIST's changes of SETTING say PROOF. */
static unsigned count(json_t *list, const char *setting, const char *proof)
{
	unsigned n = 0;
	json_t *d;
	size_t i;

	json_array_foreach (list, i, d) {
		const char *of = json_string_value(json_object_get(d, "setting"));
		const char *is = json_string_value(json_object_get(d, "proof"));

		n += of && streq(of, setting) && (proof ? is && streq(is, proof) : !is);
	}
	return n;
}

static void expect(const char *setting, const char *proof, unsigned n)
{
	json_t *status = engine_status(l.e), *history = engine_history(l.e);
	unsigned shown = count(json_object_get(status, "changes"), setting, proof);
	unsigned remembered = count(history, setting, proof);

	ck_assert_msg(shown == n, "status: %u of %s are %s", shown, setting, proof ?: "null");
	ck_assert_msg(remembered == n, "history: %u of %s are %s", remembered, setting,
		      proof ?: "null");
	json_decref(status);
	json_decref(history);
}

START_TEST(policy_is_verified_by_what_it_does)
{
	char error[512] = "";
	json_t *d;

	live_boot(&l, &spec);
	frequency(800000);
	for (unsigned q = 0; q < 4; q++) {
		char name[32];

		snprintf(name, sizeof(name), "eth0-TxRx-%u", q);
		live_queue(&l, name)->pps = 1000;
	}
	live_start(&l, "netdev_budget = 600;\ngovernor = \"performance\";\n"
		       "nics = ( { match = \"eth*\"; placement = \"pack\"; cpus = \"2\"; } );\n");
	engine_set_listener(l.e, listen, NULL);
	expect("netdev_budget", "unverifiable", 1);
	expect("governor", "due", 4);
	/* They were written, and nothing was seen yet. */
	expect("irq_affinity", "verified", 0);
	live_run(&l, 15);
	expect("irq_affinity", "verified", 4);
	expect("governor", "due", 4);
	frequency(3200000);
	live_run(&l, 15);
	expect("governor", "verified", 4);
	expect("netdev_budget", "unverifiable", 1);
	d = engine_explain(l.e, "netdev_budget-policy", error);
	ck_assert_msg(d != NULL, "%s", error);
	ck_assert_str_eq(json_string_value(json_object_get(d, "proof")), "unverifiable");
	json_decref(d);
	/* By hand is no policy. */
	ck_assert_int_eq(engine_set(l.e, "netdev_budget", "", "700", error), 0);
	ck_assert_msg(!strstr(said, "unverifiable"), "%s", said);
	/* What is the profile's again is said again, and as what it is. */
	ck_assert_int_eq(engine_release(l.e, "netdev_budget", "", error), 0);
	ck_assert_msg(strstr(said, "(unverifiable)") != NULL, "%s", said);
}
END_TEST

/* The file says CPU 2, and the interrupt goes on firing on CPU 0: read-back is not proof. */
START_TEST(interrupt_that_stays_is_contradicted)
{
	live_boot(&l, &spec);
	live_start(&l, "nics = ( { match = \"eth*\"; placement = \"pack\"; cpus = \"2\"; } );\n");
	live_run(&l, 2);
	for (unsigned i = 0; i < 30; i++) {
		unsigned irq = machine_irq(l.m, "eth0-TxRx-1");

		l.m->irq[irq].counts[0] += 1000;
		live_run(&l, 1);
	}
	expect("irq_affinity", "contradicted", 1);
	expect("irq_affinity", "verified", 0);
}
END_TEST

/* A trial is judged by its own law. */
START_TEST(trial_has_no_proof)
{
	struct receive_queue *q;
	json_t *status;

	live_boot(&l, &spec);
	live_start(&l, "netdev_max_backlog = [1000, 8000];\n");
	q = live_queue(&l, NULL);
	q->pps = 40000;
	q->burst = 1500;
	live_run(&l, 60);
	ck_assert_int_gt(live_setting(&l, "netdev_max_backlog"), 1000);
	status = engine_status(l.e);
	ck_assert_uint_eq(count(json_object_get(status, "changes"), "netdev_max_backlog", NULL), 1);
	json_decref(status);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("verify");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, interrupts_by_where_they_fire);
	tcase_add_test(t, governors_by_their_frequency);
	tcase_add_test(t, threads_by_where_they_are);
	tcase_add_test(t, nothing_else_is_called_proven);
	tcase_add_test(t, policy_is_verified_by_what_it_does);
	tcase_add_test(t, interrupt_that_stays_is_contradicted);
	tcase_add_test(t, trial_has_no_proof);
	return run_suite("verify", t);
}
