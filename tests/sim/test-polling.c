/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stories of busy polling in simulated time, with the real engine (see sim/receive.h for what the plant
 * knows of polling, and what not): cases F19 (an idle application at 100 % CPU) and G20
 * (what polling is good for depends on the driver: verify, undo).
 */
#include <stdio.h>

#include "decide/poll-burn.h"
#include "lib/run.h"
#include "sim/host.h"

static struct live l;

static const struct machine_nic i40e[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 8}};
static const struct machine_spec four_cpus = {.cpus = 4, .nics = i40e, .n_nics = 1};
static const char polling[] = "busy_poll = 50;\n";

#define POLL live_setting(&l, "busy_poll")
#define READ live_setting(&l, "busy_read")

static void teardown(void)
{
	live_done(&l);
	l = (struct live){};
}

static void start(const char *profile)
{
	live_boot(&l, &four_cpus);
	tree_write(l.config, "profiles/plain.conf", "netdev_budget = [300, 1200];\n");
	tree_write(l.config, "profiles/shorter.conf", "busy_poll = 30;\n");
	live_start(&l, profile);
}

static struct receive_queue *packets(double pps)
{
	struct receive_queue *q = live_queue(&l, "i40e-eth0-TxRx-0");

	q->pps = pps;
	machine_fire(l.m, (unsigned)l.irq[q - l.r.queue], 1);
	return q;
}

/* An application with timers of some 50 µs: each time it waits, and spins as long, in poll(). The one of F19
 * waits in epoll_wait(), which is no such spinner (decide/poll-burn.h): there it was something else. */
static void spinner(void)
{
	l.r.cpu[1].waits = 18000;
}

/* WRITES in all, none after tick LAST, and so for another hour. */
static void settled(unsigned last, unsigned writes)
{
	live_run(&l, 3600);
	ck_assert_msg(l.writes == writes && l.last_write <= last,
		      "%u writes, the last at %u (%u kept, %u without effect, %u inconclusive: %s)",
		      l.writes, l.last_write, l.kept, l.without_effect, l.inconclusive,
		      l.last_text);
}

static void stopped(void)
{
	ck_assert_int_eq(engine_stop(l.e), 0);
	ck_assert_int_eq(POLL, 0);
	ck_assert_int_eq(READ, 0);
	ck_assert(!tree_has(l.m->tree, "run/softnetd/ledger.json"));
}

/* What status says of busy_poll's value. */
static void value_comes_from(const char *kind, const char *text)
{
	const struct target host = target_host();
	char value[16];
	json_t *d;

	snprintf(value, sizeof(value), "%ld", POLL);
	d = engine_value_source(l.e, TUNABLE_BUSY_POLL, &host, value);
	ck_assert_str_eq(json_string_value(json_object_get(d, "kind")), kind);
	ck_assert_msg(strstr(json_string_value(json_object_get(d, "text")), text) != NULL, "%s",
		      json_string_value(json_object_get(d, "text")));
	json_decref(d);
}

static bool status_says(const char *text)
{
	json_t *status = engine_status(l.e);
	char *all = json_dumps(status, JSON_ENCODE_ANY);
	bool says = strstr(all, text) != NULL;

	free(all);
	json_decref(status);
	return says;
}

static void reload(void)
{
	struct complaints c = {};

	ck_assert_int_eq(engine_reload(l.e, &c), 0);
	complaints_done(&c);
}

static void switch_to(const char *name)
{
	struct complaints c = {};

	ck_assert_int_eq(engine_set_profile(l.e, name, &c), 0);
	complaints_done(&c);
}

static void until(long value)
{
	for (unsigned i = 0; i < 200 && POLL != value; i++)
		live_run(&l, 1);
	ck_assert_int_eq(POLL, value);
}

/* F19. With a few packets, and with none at all. */
START_TEST(idle_application_that_spins)
{
	static const char burned[] = "busy_poll: the profile's value is undone: it burned 0.";
	char error[512] = "";
	json_t *d;

	start(polling);
	packets(_i ? 0 : 12);
	spinner();
	ck_assert_int_eq(POLL, 50);
	value_comes_from("profile", "profile test");
	live_run(&l, 59);
	ck_assert(!live_reported(&l, SYMPTOM_POLL_BURN));
	live_run(&l, 5);
	ck_assert(live_reported(&l, SYMPTOM_POLL_BURN));
	ck_assert_uint_eq(l.writes, 0);
	until(0);
	value_comes_from("trial", "which is on trial");
	live_run(&l, 60);
	ck_assert_int_eq(POLL, 0);
	ck_assert_uint_eq(l.kept, 1);
	ck_assert(!live_reported(&l, SYMPTOM_POLL_BURN));
	ck_assert_uint_eq(ledger_size(l.e->ledger), 0); /* nothing of ours is on the host */
	value_comes_from("trial",
			 "trial busy_poll-poll-burn undid 50 of profile test: it burned 0.");
	ck_assert(status_says(burned));
	d = engine_explain(l.e, "busy_poll-poll-burn", error);
	ck_assert_msg(d != NULL, "%s", error);
	ck_assert_str_eq(
		json_string_value(json_object_get(json_object_get(d, "verdict"), "verdict")),
		"kept");
	ck_assert_uint_eq(json_array_size(json_object_get(d, "steps")), 2);
	ck_assert_msg(strstr(l.text, _i ? "CPUs for 0 packets/s" : "CPUs for 12 packets/s"), "%s",
		      l.text);
	json_decref(d);
	/* The policy is looked at again, and does not write it. */
	ck_assert_int_eq(engine_policy(l.e), 0);
	ck_assert_int_eq(POLL, 0);
	settled(120, 3); /* taken back; once more the profile's; taken back */
	ck_assert_int_eq(POLL, 0);
	stopped();
}
END_TEST

/* What was undone in a calm night comes back with the packets of the day, each time later; not for so few
 * that it would be undone again. */
START_TEST(packets_bring_it_back)
{
	struct receive_queue *q;
	unsigned ticks;

	start(polling);
	q = packets(12);
	spinner();
	live_run(&l, 180);
	ck_assert_uint_eq(l.kept, 1);
	ck_assert_uint_eq(l.writes, 3);
	q->pps = 800;
	settled(180, 3);
	ck_assert_int_eq(POLL, 0);
	for (unsigned i = 0; i < 3; i++) {
		q->pps = 5000;
		for (ticks = 0; ticks < 600 && POLL == 0; ticks++)
			live_run(&l, 1);
		ck_assert_int_eq(POLL, 50);
		value_comes_from("profile", "profile test");
		/* 60 s, 120 s, 240 s, once the averages are the new load's */
		ck_assert_uint_ge(ticks, 60U << i);
		ck_assert_uint_le(ticks, (60U << i) + POLL_BURN_TICKS + 2);
		settled(l.last_write, 4 + 4 * i);
		ck_assert_int_eq(POLL, 50);
		q->pps = 12;
		live_run(&l, 180);
		ck_assert_int_eq(POLL, 0);
		ck_assert_uint_eq(l.kept, i + 2);
		settled(l.last_write, 7 + 4 * i);
	}
	stopped();
}
END_TEST

/* Until the admin asks anew: then it is applied, and found to burn again. */
START_TEST(reload_asks_again)
{
	start(polling);
	packets(12);
	spinner();
	live_run(&l, 150);
	ck_assert_int_eq(POLL, 0);
	ck_assert_uint_eq(l.kept, 1);
	reload();
	ck_assert_int_eq(POLL, 50);
	ck_assert(!status_says("is undone"));
	value_comes_from("profile", "profile test");
	live_run(&l, 150);
	ck_assert_int_eq(POLL, 0);
	ck_assert_uint_eq(l.kept, 2);
	settled(300, 7); /* and the reload's own */
	stopped();
}
END_TEST

/* The profile goes: before the trial, on trial (taken back; made again for the comparison), after it. */
START_TEST(another_profile_comes)
{
	unsigned writes;

	start(polling);
	packets(12);
	spinner();
	if (_i == 0)
		live_run(&l, 30);
	if (_i > 0)
		until(0);
	if (_i == 2)
		until(50);
	if (_i == 3)
		live_run(&l, 60);
	ck_assert_uint_eq(l.kept, _i == 3);
	switch_to("plain");
	ck_assert_int_eq(POLL, 0);
	ck_assert_uint_eq(ledger_size(l.e->ledger), 0);
	ck_assert(!status_says("is undone"));
	writes = l.writes;
	live_run(&l, 300);
	ck_assert_int_eq(POLL, 0);
	ck_assert_uint_eq(l.writes, writes);
	ck_assert(!live_reported(&l, SYMPTOM_POLL_BURN));
	if (_i == 1)
		ck_assert_msg(strstr(l.last_text, "the host or the profile changed") != NULL, "%s",
			      l.last_text);
	stopped();
}
END_TEST

/* What the new profile states is policy, whatever the trial of the old one's was about. */
START_TEST(another_value_comes)
{
	start(polling);
	packets(12);
	spinner();
	until(0);
	if (_i == 1)
		until(50);
	if (_i == 2)
		live_run(&l, 60);
	switch_to("shorter");
	ck_assert_int_eq(POLL, 30);
	live_run(&l, 10);
	ck_assert_int_eq(POLL, 30);
	value_comes_from("profile", "profile shorter");
	stopped();
}
END_TEST

/* The same profile on a host that changed meanwhile: it is the policy's again at once. */
START_TEST(host_changes_on_trial)
{
	start(polling);
	packets(12);
	spinner();
	until(0);
	if (_i) { /* a NIC is reset */
		for (unsigned i = 0; i < l.m->n_irqs; i++)
			l.m->irq[i].number += 50;
		machine_layout_irqs(l.m);
		machine_write(l.m);
		engine_note_link_change(l.e);
	} else { /* a CPU goes, and what it did is not known any more */
		machine_set_online(l.m, 3, false);
		receive_set_online(&l.r, 3, false);
	}
	live_run(&l, 5);
	ck_assert_int_eq(POLL, 50);
	ck_assert_msg(strstr(l.last_text, _i ? "the host or the profile changed"
					     : "the measurement was interrupted") != NULL,
		      "%s", l.last_text);
	ck_assert_uint_eq(ledger_size(l.e->ledger), 1);
	ck_assert_int_eq(ledger_at(l.e->ledger, 0)->class, CLASS_POLICY);
	stopped();
}
END_TEST

/* A requester that waits for each answer sends a quarter fewer requests without polling: what polls there
 * burns as much, but it gets its polling back, and in the end is left alone. */
START_TEST(requester_gets_its_polling_back)
{
	struct receive_queue *q;

	start(polling);
	q = packets(0);
	q->request_ns = 4e6;
	q->polled_ns = 1e6;
	spinner();
	live_run(&l, 1200);
	ck_assert_uint_ge(l.inconclusive, 1);
	ck_assert_msg(strstr(l.last_text, "fewer packets arrived without it") != NULL, "%s",
		      l.last_text);
	ck_assert_uint_eq(l.kept, 0);
	ck_assert_int_eq(POLL, 50);
	value_comes_from("profile", "profile test");
	ck_assert_int_eq(ledger_find(l.e->ledger, TUNABLE_BUSY_POLL, "host")->class, CLASS_POLICY);
	settled(1200, 2 * WITHDRAWALS_MAX);
	ck_assert_int_eq(POLL, 50);
	ck_assert_uint_gt(q->packets,
			  4800 * 320ULL); /* a third of a thousand, but for the trials */
	stopped();
}
END_TEST

/* Packets enough for the polls: nobody asks. */
START_TEST(polls_that_find_packets_are_no_matter)
{
	start(polling);
	packets(20000);
	spinner();
	live_run(&l, 600);
	ck_assert(!live_reported(&l, SYMPTOM_POLL_BURN));
	settled(0, 0);
	ck_assert_int_eq(POLL, 50);
	stopped();
}
END_TEST

/* Work that is no polling: suspected once, found innocent, and left alone. */
START_TEST(ordinary_work_is_acquitted)
{
	start(_i ? "busy_poll = 50;\nbusy_read = 50;\n" : polling);
	packets(12);
	l.r.cpu[1].tasks = 0.9;
	l.r.cpu[2].tasks = 0.4;
	live_run(&l, 200);
	ck_assert_uint_eq(l.without_effect, _i ? 2 : 1);
	ck_assert_uint_eq(l.kept, 0);
	ck_assert(!live_reported(&l, SYMPTOM_POLL_BURN));
	settled(200, _i ? 4 : 2);
	ck_assert_int_eq(POLL, 50);
	ck_assert_int_eq(READ, _i ? 50 : 0);
	stopped();
}
END_TEST

/* It is reads that spin: busy_poll is tried, acquitted and stays; busy_read goes. */
START_TEST(reads_that_spin)
{
	start("busy_poll = 50;\nbusy_read = 50;\n");
	packets(12);
	l.r.cpu[1].reads = 18000;
	live_run(&l, 200);
	ck_assert_uint_eq(l.without_effect, 1);
	ck_assert_uint_eq(l.kept, 1);
	ck_assert_int_eq(POLL, 50);
	ck_assert_int_eq(READ, 0);
	ck_assert(status_says("busy_read: the profile's value is undone"));
	settled(200, 5);
	stopped();
}
END_TEST

/* The application ends just when its polling was taken back. */
START_TEST(application_that_ends_by_itself_proves_nothing)
{
	start(polling);
	packets(12);
	spinner();
	until(0);
	l.r.cpu[1].waits = 0;
	live_run(&l, 60);
	ck_assert_uint_eq(l.kept, 0);
	ck_assert_uint_eq(l.inconclusive, 1);
	settled(150, 2);
	ck_assert_int_eq(POLL, 50);
	stopped();
}
END_TEST

/* ---- other hands ---- */

START_TEST(polling_of_others_is_theirs)
{
	live_boot(&l, &four_cpus);
	live_write_setting(&l, "busy_poll", 50);
	/* In sysctl.d before; or the profile says the same, so that softnetd wrote nothing. */
	live_start(&l, _i ? polling : "netdev_budget = [300, 1200];\n");
	packets(12);
	spinner();
	live_run(&l, 600);
	ck_assert(!live_reported(&l, SYMPTOM_POLL_BURN));
	settled(0, 0);
	ck_assert_int_eq(POLL, 50);
	ck_assert_int_eq(engine_stop(l.e), 0);
	ck_assert_int_eq(POLL, 50);
}
END_TEST

START_TEST(polling_set_by_hand_is_left)
{
	char error[512] = "";

	start(polling);
	packets(12);
	spinner();
	ck_assert_int_eq(engine_set(l.e, "busy_poll", "", "40", error), 0);
	live_run(&l, 600);
	ck_assert(!live_reported(&l, SYMPTOM_POLL_BURN));
	settled(0, 1);
	ck_assert_int_eq(POLL, 40);
	stopped();
}
END_TEST

/* Also between the looks that would find it out, and when the pin was lost in a restart. */
START_TEST(what_counts_as_ours)
{
	char error[512] = "";
	int64_t original = -1;

	start(polling);
	ck_assert(engine_original(l.e, TUNABLE_BUSY_POLL, &original));
	ck_assert_int_eq(original, 0);
	ck_assert(!engine_original(l.e, TUNABLE_BUSY_READ, &original));
	live_write_setting(&l, "busy_poll", 20);
	engine_read_values(l.e);
	ck_assert(!engine_original(l.e, TUNABLE_BUSY_POLL, &original));
	live_write_setting(&l, "busy_poll", 50);
	ck_assert_int_eq(engine_set(l.e, "busy_poll", "", "40", error), 0);
	engine_drop_pin(l.e, TUNABLE_BUSY_POLL, "host");
	ck_assert_int_eq(POLL, 40);
	ck_assert(!engine_original(l.e, TUNABLE_BUSY_POLL, &original));
	stopped();
}
END_TEST

START_TEST(somebody_writes_while_it_is_on_trial)
{
	start(polling);
	packets(12);
	spinner();
	until(0);
	live_write_setting(&l, "busy_poll", 20);
	live_run(&l, 200);
	ck_assert_msg(strstr(l.last_text, "somebody else changed it meanwhile") != NULL, "%s",
		      l.last_text);
	ck_assert_uint_eq(l.kept, 0);
	ck_assert_int_eq(engine_policy(l.e), 0);
	ck_assert_int_eq(POLL, 20);
	settled(100, 1);
	ck_assert_int_eq(engine_stop(l.e), 0);
	ck_assert_int_eq(POLL, 20);
}
END_TEST

/* Killed at any stage: the original is there after the next start has given it back. */
START_TEST(killed_on_trial)
{
	start(polling);
	packets(12);
	spinner();
	until(0);
	if (_i)
		until(50);
	engine_free(TAKE_PTR(l.e));
	live_start(&l, "netdev_budget = [300, 1200];\n");
	ck_assert_int_eq(POLL, 0);
	ck_assert_uint_eq(ledger_size(l.e->ledger), 0);
	stopped();
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("poll-burn");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, idle_application_that_spins, 0, 2);
	tcase_add_test(t, packets_bring_it_back);
	tcase_add_test(t, reload_asks_again);
	tcase_add_loop_test(t, another_profile_comes, 0, 4);
	tcase_add_loop_test(t, another_value_comes, 0, 3);
	tcase_add_loop_test(t, host_changes_on_trial, 0, 2);
	tcase_add_test(t, requester_gets_its_polling_back);
	tcase_add_test(t, polls_that_find_packets_are_no_matter);
	tcase_add_loop_test(t, ordinary_work_is_acquitted, 0, 2);
	tcase_add_test(t, reads_that_spin);
	tcase_add_test(t, application_that_ends_by_itself_proves_nothing);
	tcase_add_loop_test(t, polling_of_others_is_theirs, 0, 2);
	tcase_add_test(t, polling_set_by_hand_is_left);
	tcase_add_test(t, what_counts_as_ours);
	tcase_add_test(t, somebody_writes_while_it_is_on_trial);
	tcase_add_loop_test(t, killed_on_trial, 0, 2);
	return run_suite("sim-poll-burn", t);
}
