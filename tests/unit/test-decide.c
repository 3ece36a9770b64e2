/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/trial.h"
#include "lib/plant.h"
#include "lib/run.h"

static struct plant p;

static void setup(void)
{
	plant_init(&p, 4, false, 4);
	for (unsigned i = 0; i < 4; i++)
		p.cpu[i] = (struct plant_cpu){
			.packets = 5000, .runs = 2000, .softirq = 0.05, .busy = 0.1};
	p.nic_packets = 20000;
	plant_range(&p, TUNABLE_NETDEV_BUDGET, 300, 1200);
	plant_range(&p, TUNABLE_NETDEV_BUDGET_USECS, 8000, 24000);
	plant_range(&p, TUNABLE_NETDEV_MAX_BACKLOG, 1000, 8000);
}

static void teardown(void)
{
	plant_done(&p);
}

/* CPU 0 with NET_RX runs that mostly end squeezed, PER_RUN NIC packets each. */
static void squeeze_cpu0(double per_run)
{
	for (unsigned i = 1; i < 4; i++)
		p.cpu[i] = (struct plant_cpu){};
	p.cpu[0] = (struct plant_cpu){
		.packets = 100 * per_run, .runs = 100, .squeezes = 80, .softirq = 0.5, .busy = 0.6};
	p.nic_packets = 100 * per_run;
}

START_TEST(healthy_host_gets_no_write)
{
	plant_run(&p, 600);
	ck_assert_uint_eq(p.out->n_reports, 0);
	ck_assert_uint_eq(p.writes, 0);
}
END_TEST

/* netdata#984: a few squeezes per some thousand packets, hour by hour, are no alarm; case A06: a
 * single lifetime drop neither. */
START_TEST(stray_squeezes_and_one_drop_are_nothing)
{
	for (unsigned i = 0; i < 600; i++) {
		p.cpu[1].squeezes = i % 20 == 0 ? 4 : 0;
		p.cpu[2].drops = i == 300 ? 1 : 0;
		plant_run(&p, 1);
		ck_assert_uint_eq(p.out->n_reports, 0);
	}
	ck_assert_uint_eq(p.writes, 0);
}
END_TEST

/* A tiny budget makes every poll of a lone packet count as squeezed: no overload. */
START_TEST(squeezes_of_an_idle_cpu_are_nothing)
{
	p.values.host[TUNABLE_NETDEV_BUDGET].number = 1;
	p.cpu[0] = (struct plant_cpu){.packets = 50, .runs = 50, .squeezes = 50};
	plant_run(&p, 30);
	ck_assert(!plant_report(&p, SYMPTOM_SQUEEZED));
}
END_TEST

START_TEST(squeezed_by_packets_raises_the_packet_budget)
{
	const struct symptom_report *r;
	unsigned ticks = 0;

	plant_run(&p, 10);
	squeeze_cpu0(290);
	while (p.writes == 0 && ticks < 10) {
		plant_run(&p, 1);
		ticks++;
	}
	ck_assert_uint_le(ticks, 5); /* design, budgets: onset to the right change */
	r = plant_report(&p, SYMPTOM_SQUEEZED);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(r->cause, CAUSE_PACKETS);
	ck_assert(cpuset_has(&r->cpus, 0) && cpuset_count(&r->cpus) == 1);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 450);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET_USECS].number, 8000);
}
END_TEST

/* netdata#1076: raising netdev_budget does nothing while the time is what binds. */
START_TEST(squeezed_by_time_raises_the_time_by_a_jiffy)
{
	plant_run(&p, 10);
	squeeze_cpu0(100);
	plant_run(&p, 5);
	ck_assert_int_eq(plant_report(&p, SYMPTOM_SQUEEZED)->cause, CAUSE_TIME);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET_USECS].number, 12000);
}
END_TEST

START_TEST(cause_is_unknown_without_the_nics_own_counters)
{
	p.no_nic_counters = true;
	plant_run(&p, 10);
	squeeze_cpu0(290);
	plant_run(&p, 5);
	ck_assert_int_eq(plant_report(&p, SYMPTOM_SQUEEZED)->cause, CAUSE_UNKNOWN);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 450);
}
END_TEST

START_TEST(cause_is_unknown_while_most_runs_end_well)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	p.cpu[0].squeezes = 40;
	plant_run(&p, 5);
	ck_assert_int_eq(plant_report(&p, SYMPTOM_SQUEEZED)->cause, CAUSE_UNKNOWN);
}
END_TEST

START_TEST(change_without_effect_is_taken_back_and_retired)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	plant_run(&p, 60);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
	ck_assert_uint_eq(p.writes, 5); /* 450, 675, 1012, 1200 and back */
	plant_run(&p, 500);
	ck_assert_uint_eq(p.writes, 5);
	plant_run(&p, 3600);
	ck_assert_uint_eq(p.writes, 10); /* a second time after ten minutes, then never again */
	plant_run(&p, 36000);
	ck_assert_uint_eq(p.writes, 10);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
	/* … until the host changes. */
	decider_reset(p.decider);
	plant_run(&p, 5);
	ck_assert_uint_eq(p.writes, 11);
}
END_TEST

START_TEST(change_that_helps_is_kept_and_writing_ends)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	for (unsigned i = 0; i < 300; i++) {
		p.cpu[0].squeezes = p.values.host[TUNABLE_NETDEV_BUDGET].number > 300 ? 1 : 80;
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 450);
	ck_assert_uint_eq(p.writes, 3); /* made, withdrawn, made again */
	ck_assert(!plant_report(&p, SYMPTOM_SQUEEZED));
}
END_TEST

/* The squeezes end just when the change is made, and do not come back when it is withdrawn. */
START_TEST(coincidence_is_no_success)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	while (p.writes == 0)
		plant_run(&p, 1);
	p.cpu[0].squeezes = 1;
	plant_run(&p, 60);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
	ck_assert_uint_eq(p.writes, 2);
}
END_TEST

/* The load goes away during the trial: that is no success of ours. */
START_TEST(vanished_load_is_no_success)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	while (p.writes == 0)
		plant_run(&p, 1);
	p.cpu[0] = (struct plant_cpu){.packets = 100, .runs = 50};
	p.nic_packets = 100;
	plant_run(&p, 30);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
}
END_TEST

/* … nor is another kind of load, of which a smaller share is squeezed. */
START_TEST(doubled_load_is_no_success)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	while (p.writes == 0)
		plant_run(&p, 1);
	p.cpu[0].packets *= 4;
	p.cpu[0].runs *= 4;
	p.cpu[0].squeezes = 4;
	p.nic_packets *= 4;
	for (unsigned i = 0; i < 20 && !p.out->has_verdict; i++)
		plant_run(&p, 1);
	ck_assert(p.out->has_verdict);
	ck_assert_str_eq(p.out->verdict.verdict, "inconclusive");
	ck_assert_ptr_nonnull(strstr(p.out->verdict.text, "load changed"));
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
	ck_assert_uint_eq(p.writes, 2); /* not even withdrawn to be confirmed */
}
END_TEST

START_TEST(never_above_the_profile_nor_the_kernels_own_limit)
{
	p.values.host[TUNABLE_NETDEV_BUDGET].limited = true;
	p.values.host[TUNABLE_NETDEV_BUDGET].low = 1;
	p.values.host[TUNABLE_NETDEV_BUDGET].high = 700;
	plant_run(&p, 10);
	/* Helps a little each time, and never enough. */
	squeeze_cpu0(290);
	for (unsigned i = 0; i < 600; i++) {
		double at = (double)p.values.host[TUNABLE_NETDEV_BUDGET].number;

		p.cpu[0].squeezes = at < 400 ? 90 : at < 600 ? 50 : 30;
		plant_run(&p, 1);
		ck_assert_int_le(p.values.host[TUNABLE_NETDEV_BUDGET].number, 700);
	}
	ck_assert_int_ge(p.values.host[TUNABLE_NETDEV_BUDGET].number, 450);
}
END_TEST

START_TEST(drops_raise_the_backlog)
{
	const struct symptom_report *r;

	plant_run(&p, 10);
	p.cpu[2].drops = 500;
	plant_run(&p, 4);
	r = plant_report(&p, SYMPTOM_BACKLOG_DROP);
	ck_assert_ptr_nonnull(r);
	ck_assert(cpuset_has(&r->cpus, 2));
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number, 1500);
	/* The symptom outlives single calm ticks, and leaves after ten. */
	p.cpu[2].drops = 0;
	plant_run(&p, 5);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_BACKLOG_DROP));
	plant_run(&p, 10);
	ck_assert(!plant_report(&p, SYMPTOM_BACKLOG_DROP));
}
END_TEST

START_TEST(one_trial_at_a_time)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	p.cpu[0].drops = 2000;
	plant_run(&p, 5);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_SQUEEZED));
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_BACKLOG_DROP));
	ck_assert_uint_eq(p.writes, 1);
}
END_TEST

START_TEST(change_budget_per_hour_holds)
{
	p.changes_per_hour = 2;
	plant_run(&p, 10);
	squeeze_cpu0(290);
	for (unsigned i = 0; i < 3000; i++) {
		/* Each trial is inconclusive: the load swings. */
		p.cpu[0].packets = i / 6 % 2 ? 40000 : 2000;
		plant_run(&p, 1);
	}
	ck_assert_uint_le(p.writes, 4); /* two changes, each taken back */
}
END_TEST

START_TEST(what_the_profile_leaves_is_only_advised)
{
	const struct change *c;
	char command[512];

	p.profile->setting[TUNABLE_NETDEV_BUDGET].kind = SETTING_LEAVE;
	plant_run(&p, 10);
	squeeze_cpu0(290);
	plant_run(&p, 5);
	c = plant_change(&p, TUNABLE_NETDEV_BUDGET);
	ck_assert_ptr_nonnull(c);
	ck_assert(c->advice_only);
	ck_assert_str_eq(c->id, "netdev_budget-squeezed");
	ck_assert_int_eq(change_command(c, command, sizeof(command)), 0);
	ck_assert_str_eq(command, "sysctl -w net.core.netdev_budget=450");
	ck_assert_uint_eq(p.writes, 0);
}
END_TEST

START_TEST(refused_change_is_not_hammered)
{
	p.outcome = OUTCOME_REFUSED;
	plant_run(&p, 10);
	squeeze_cpu0(290);
	unsigned asked = 0;
	for (unsigned i = 0; i < 120; i++) {
		plant_run(&p, 1);
		asked += plant_change(&p, TUNABLE_NETDEV_BUDGET) &&
			 !plant_change(&p, TUNABLE_NETDEV_BUDGET)->planned;
	}
	ck_assert_uint_ge(asked, 1);
	ck_assert_uint_le(asked, 3);
}
END_TEST

START_TEST(hot_cpu_wants_its_interrupts_spread)
{
	const struct change *c;

	for (unsigned i = 0; i < 4; i++) {
		p.topology->irq[i].affinity = cpuset_of(0);
		p.irq[i].rate[0] = 1000;
		p.cpu[i] = (struct plant_cpu){.busy = 0.05};
	}
	p.cpu[0] =
		(struct plant_cpu){.packets = 50000, .runs = 5000, .softirq = 0.95, .busy = 0.99};
	plant_run(&p, 8);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_HOT_CPU));
	c = plant_change(&p, TUNABLE_IRQ_AFFINITY);
	ck_assert_ptr_nonnull(c);
	ck_assert(c->advice_only); /* the test's profile leaves placement alone */
	ck_assert_uint_eq(p.writes, 0);
}
END_TEST

START_TEST(all_cpus_busy_is_not_hot)
{
	for (unsigned i = 0; i < 4; i++)
		p.cpu[i] = (struct plant_cpu){
			.packets = 50000, .runs = 5000, .softirq = 0.9, .busy = 0.95};
	plant_run(&p, 30);
	ck_assert(!plant_report(&p, SYMPTOM_HOT_CPU));
}
END_TEST

START_TEST(nohz_line_with_a_network_bit_counts_others_do_not)
{
	plant_run(&p, 5);
	plant_event(&p, KMSG_NOHZ_PENDING, 0x80, false); /* SCHED only (seed 002's "80") */
	plant_event(&p, KMSG_NOHZ_PENDING, 0x202, false);
	plant_run(&p, 1);
	ck_assert(!plant_report(&p, SYMPTOM_NOHZ_NET));
	plant_event(&p, KMSG_NOHZ_PENDING, 0x08, true); /* from before we started */
	plant_run(&p, 1);
	ck_assert(!plant_report(&p, SYMPTOM_NOHZ_NET));
	plant_event(&p, KMSG_NOHZ_PENDING, 0x88, false);
	plant_run(&p, 1);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_NOHZ_NET));
	ck_assert_uint_eq(p.out->n_changes,
			  0); /* no IRQ threads here: nothing to pack, no budget helps */
	plant_run(&p, 61);
	ck_assert(!plant_report(&p, SYMPTOM_NOHZ_NET));
}
END_TEST

START_TEST(nohz_with_irq_threads_advises_to_pack)
{
	p.topology->threadirqs = true;
	for (unsigned i = 0; i < 4; i++)
		p.irq[i].rate[i] = 500;
	plant_run(&p, 5);
	plant_event(&p, KMSG_NOHZ_PENDING, 0x08, false);
	plant_run(&p, 1);
	ck_assert_ptr_nonnull(plant_change(&p, TUNABLE_IRQ_AFFINITY));
}
END_TEST

START_TEST(ten_nohz_lines_mean_blind)
{
	plant_run(&p, 2);
	ck_assert(!plant_report(&p, SYMPTOM_BLIND));
	p.snapshot->nohz_lines = 10;
	plant_run(&p, 1);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_BLIND));
	ck_assert_ptr_nonnull(strstr(plant_report(&p, SYMPTOM_BLIND)->text, "used up"));
}
END_TEST

START_TEST(stall_sends_everything_back_and_ends_trials)
{
	static const enum kmsg_kind kinds[] = {KMSG_RCU_STALL, KMSG_SOFT_LOCKUP, KMSG_HARD_LOCKUP,
					       KMSG_NETDEV_WATCHDOG, KMSG_IRQ_NOBODY_CARED};

	plant_run(&p, 10);
	plant_event(&p, KMSG_RT_THROTTLING, 0, false);
	plant_event(&p, KMSG_CLOCKSOURCE_UNSTABLE, 0, false);
	plant_event(&p, KMSG_RCU_STALL, 0, true);
	plant_run(&p, 1);
	ck_assert(!p.out->back_to_originals);
	plant_event(&p, kinds[_i], 0, false);
	squeeze_cpu0(290);
	plant_run(&p, 1);
	ck_assert(p.out->back_to_originals);
	plant_run(&p, 500);
	ck_assert(p.out->back_to_originals);
	ck_assert_uint_eq(p.writes, 0);
	plant_run(&p, 120);
	ck_assert(!p.out->back_to_originals);
}
END_TEST

START_TEST(placed_irq_that_fires_elsewhere_has_leaked)
{
	p.is_placed[1] = true;
	p.placed[1] = cpuset_of(1);
	p.topology->irq[1].affinity = cpuset_of(1);
	p.irq[1].rate[1] = 100;
	plant_run(&p, 5);
	ck_assert(!plant_report(&p, SYMPTOM_IRQ_LEAKED));
	p.irq[1].rate[3] = 5;
	plant_run(&p, 2);
	ck_assert(!plant_report(&p, SYMPTOM_IRQ_LEAKED));
	plant_run(&p, 1);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_IRQ_LEAKED));
	ck_assert_int_eq(plant_report(&p, SYMPTOM_IRQ_LEAKED)->irq, 1);
	ck_assert_uint_eq(p.out->n_changes,
			  0); /* the mask is right: writing it again changes nothing */
	p.topology->irq[1].affinity = p.topology->online; /* a driver reset it (seapath#984) */
	plant_run(&p, 1);
	ck_assert_str_eq(plant_change(&p, TUNABLE_IRQ_AFFINITY)->to, "1");
}
END_TEST

START_TEST(irq_threads_apart_that_wait_play_pingpong)
{
	p.topology->threadirqs = true;
	for (unsigned i = 0; i < 2; i++) {
		p.irq[i].rate[i] = 5000;
		p.irq[i].run_usec = 100000;
		p.irq[i].wait_usec = 100;
	}
	plant_run(&p, 10);
	ck_assert(!plant_report(&p, SYMPTOM_IRQ_PINGPONG));
	p.irq[0].wait_usec = p.irq[1].wait_usec = 40000;
	plant_run(&p, 5);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_IRQ_PINGPONG));
	ck_assert_ptr_nonnull(plant_change(&p, TUNABLE_IRQ_AFFINITY));
	/* On one CPU they may wait for each other without it being this fault. */
	p.irq[1].rate[0] = 5000;
	p.irq[1].rate[1] = 0;
	plant_run(&p, 20);
	ck_assert(!plant_report(&p, SYMPTOM_IRQ_PINGPONG));
}
END_TEST

START_TEST(absent_sources_are_blind_not_healthy)
{
	plant_run(&p, 5);
	for (unsigned i = 0; i < 4; i++)
		p.snapshot->cpu[i].have = 0;
	p.snapshot->source[SOURCE_SOFTNET].state = SOURCE_ABSENT;
	p.snapshot->mono_usec += USEC_PER_SEC;
	p.snapshot->boot_usec += USEC_PER_SEC;
	ck_assert_int_eq(window_push(p.window, p.snapshot), 0);
	struct decide_input in = {.now_usec = p.snapshot->mono_usec,
				  .snapshot = p.snapshot,
				  .window = p.window,
				  .topology = p.topology,
				  .profile = p.profile,
				  .values = &p.values};
	decide(p.decider, &in, &p.out);
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_BLIND));
	ck_assert_ptr_nonnull(strstr(plant_report(&p, SYMPTOM_BLIND)->text, "softnet"));
}
END_TEST

START_TEST(packets_that_wait_for_ksoftirqd)
{
	const struct symptom_report *r;

	p.cpu[1].lag_run = 0.3;
	p.cpu[1].lag_wait = 0.01;
	plant_run(&p, 10);
	ck_assert(!plant_report(&p, SYMPTOM_KSOFTIRQD_LAG));
	p.cpu[1].lag_wait = 0.4;
	plant_run(&p, 2);
	r = plant_report(&p, SYMPTOM_KSOFTIRQD_LAG);
	ck_assert_ptr_nonnull(r);
	ck_assert(cpuset_has(&r->cpus, 1) && cpuset_count(&r->cpus) == 1);
	p.cpu[1].lag_wait = 0;
	plant_run(&p, 12);
	ck_assert(!plant_report(&p, SYMPTOM_KSOFTIRQD_LAG));
}
END_TEST

/* bpftune#125: there must be a way down, too. */
START_TEST(softirqs_that_starve_tasks_lower_the_budget)
{
	p.values.host[TUNABLE_NETDEV_BUDGET].number = 900;
	p.cpu[0].softirq = 0.7;
	p.cpu[0].busy = 0.99;
	p.psi = 0.5;
	for (unsigned i = 0; i < 60; i++) {
		p.psi = p.values.host[TUNABLE_NETDEV_BUDGET].number < 900 ? 0.05 : 0.5;
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 600);
	ck_assert_uint_eq(p.writes, 3);
}
END_TEST

/* Two symptoms that want the same setting in opposite directions get one answer. */
START_TEST(squeezes_of_a_hog_raise_nothing)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	p.cpu[0].softirq = 0.9;
	p.cpu[0].busy = 0.99;
	p.psi = 0.6;
	for (unsigned i = 0; i < 60; i++) {
		plant_run(&p, 1);
		ck_assert_int_le(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
		ck_assert_int_le(p.values.host[TUNABLE_NETDEV_BUDGET_USECS].number, 8000);
	}
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_SQUEEZED));
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_SOFTIRQ_HOG));
}
END_TEST

START_TEST(without_pressure_information_nothing_is_a_hog)
{
	p.cpu[0].softirq = 0.7;
	p.cpu[0].busy = 0.99;
	p.psi = -1;
	plant_run(&p, 40);
	ck_assert(!plant_report(&p, SYMPTOM_SOFTIRQ_HOG));
}
END_TEST

/* What makes it worse goes back at once and is not tried again. */
START_TEST(harmful_change_is_taken_back_and_retired)
{
	unsigned at_worse = 0;

	plant_run(&p, 10);
	squeeze_cpu0(290);
	p.cpu[0].squeezes = 30;
	for (unsigned i = 0; i < 4000; i++) {
		bool raised = p.values.host[TUNABLE_NETDEV_BUDGET].number > 300;

		p.cpu[0].squeezes = raised ? 95 : 30;
		at_worse += raised;
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
	ck_assert_uint_le(at_worse, 6);
	ck_assert_uint_le(p.writes, 10); /* once; the other lever's range, without effect, twice */
}
END_TEST

/* What more than doubles is not waited for. */
START_TEST(twice_as_bad_is_taken_back_at_once)
{
	unsigned ticks = 0;

	plant_run(&p, 10);
	squeeze_cpu0(290);
	p.cpu[0].squeezes = 30;
	while (p.writes == 0)
		plant_run(&p, 1);
	p.cpu[0].squeezes = 95;
	for (; !p.out->has_verdict && ticks < 20; ticks++)
		plant_run(&p, 1);
	ck_assert_str_eq(p.out->verdict.verdict, "worse");
	ck_assert_ptr_nonnull(strstr(p.out->verdict.text, "more than doubled"));
	ck_assert_uint_le(ticks, SETTLE_TICKS + WORSE_TICKS + 1);
}
END_TEST

/* The ticks in which a change comes, goes or comes back are nobody's: the queues of before drain in them. */
START_TEST(each_turn_settles_before_it_is_judged)
{
	long last = 300;
	unsigned since = 0;

	plant_run(&p, 10);
	squeeze_cpu0(290);
	for (unsigned i = 0; i < 120; i++) {
		long now = p.values.host[TUNABLE_NETDEV_BUDGET].number;

		since = now == last ? since + 1 : 0;
		last = now;
		if (since >= SETTLE_TICKS)
			p.cpu[0].squeezes = now > 300 ? 1 : 80;
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 450);
	ck_assert_uint_eq(p.writes, 3);
}
END_TEST

/* A noisy load that happens to calm down: withdrawing the change shows that it was chance. */
START_TEST(noisy_keep_is_confirmed_by_withdrawing)
{
	bool was_raised = false, withdrawn = false;

	plant_run(&p, 10);
	squeeze_cpu0(290);
	for (unsigned i = 0; i < 100; i++) {
		bool raised = p.values.host[TUNABLE_NETDEV_BUDGET].number > 300;

		/* noisy without, calm with: it really helps */
		p.cpu[0].squeezes = raised ? 6 + i % 3 : 30 + 25 * (i % 3);
		was_raised |= raised;
		withdrawn |= was_raised && !raised;
		plant_run(&p, 1);
	}
	ck_assert(withdrawn);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 450);
}
END_TEST

START_TEST(noisy_keep_that_was_chance_goes_back)
{
	bool was_raised = false;

	plant_run(&p, 10);
	squeeze_cpu0(290);
	for (unsigned i = 0; i < 60; i++) {
		/* calm from the change on, whatever the setting says */
		was_raised |= p.values.host[TUNABLE_NETDEV_BUDGET].number > 300;
		p.cpu[0].squeezes = was_raised ? 6 + i % 3 : 30 + 25 * (i % 3);
		plant_run(&p, 1);
	}
	ck_assert(was_raised);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
}
END_TEST

/* A change that lifts the symptom but makes each packet dearer is no gain. */
START_TEST(dearer_packets_are_no_gain)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	for (unsigned i = 0; i < 40; i++) {
		bool raised = p.values.host[TUNABLE_NETDEV_BUDGET].number > 300;

		p.cpu[0].squeezes = raised ? 5 : 80;
		p.cpu[0].softirq = raised ? 0.8 : 0.5;
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
}
END_TEST

/* A lever that acts by a threshold (a burst that fits into the backlog or does not): the first steps
 * do nothing, and the range is not given up for that. */
START_TEST(steps_without_effect_are_followed_by_the_next)
{
	plant_run(&p, 10);
	for (unsigned i = 0; i < 200; i++) {
		p.cpu[2].drops =
			p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number >= 4000 ? 0 : 2000;
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number, 5062);
	/* 1500, 2250, 3375, 5062; withdrawn to 1000, and 5062 again */
	ck_assert_uint_eq(p.writes, 6);
}
END_TEST

START_TEST(refused_step_goes_back_to_the_beginning)
{
	plant_run(&p, 10);
	p.cpu[2].drops = 2000;
	while (p.writes == 0)
		plant_run(&p, 1);
	p.outcome = OUTCOME_REFUSED;
	do {
		plant_run(&p, 1);
	} while (!plant_change(&p, TUNABLE_NETDEV_MAX_BACKLOG) ||
		 plant_change(&p, TUNABLE_NETDEV_MAX_BACKLOG)->planned);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number, 1500);
	p.outcome = OUTCOME_DONE;
	plant_run(&p, 2);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number, 1000);
}
END_TEST

/* … but not when it is somebody else's by then. */
START_TEST(step_that_met_a_foreign_value_is_left)
{
	plant_run(&p, 10);
	p.cpu[2].drops = 2000;
	while (p.writes == 0)
		plant_run(&p, 1);
	p.outcome = OUTCOME_FOREIGN;
	do {
		plant_run(&p, 1);
	} while (!plant_change(&p, TUNABLE_NETDEV_MAX_BACKLOG) ||
		 plant_change(&p, TUNABLE_NETDEV_MAX_BACKLOG)->planned);
	p.outcome = OUTCOME_DONE;
	plant_run(&p, 300);
	ck_assert_uint_eq(p.writes, 1);
}
END_TEST

/* A burst every few seconds: no tick is like the last, and yet packets are lost all day. */
START_TEST(rare_drops_are_judged_by_exposure)
{
	plant_run(&p, 10);
	for (unsigned i = 0; i < 600; i++) {
		p.cpu[2].drops =
			i % 7 == 0 && p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number < 2000 ? 3000
											      : 0;
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number, 2250);
	ck_assert_uint_eq(p.writes, 4); /* 1500, 2250; withdrawn until the drops were back */
}
END_TEST

START_TEST(single_burst_of_drops_starts_nothing)
{
	for (unsigned i = 0; i < 600; i++) {
		p.cpu[2].drops = i % 60 == 30 ? 3000 : 0;
		plant_run(&p, 1);
	}
	ck_assert_uint_eq(p.writes, 0);
}
END_TEST

/* Packets that are no longer dropped have to be processed: that is no rise of the price. */
START_TEST(fewer_drops_are_not_dearer_packets)
{
	plant_run(&p, 10);
	for (unsigned i = 0; i < 90; i++) {
		bool raised = p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number > 1000;

		p.cpu[2] = (struct plant_cpu){.packets = raised ? 20000 : 5000,
					      .drops = raised ? 0 : 15000,
					      .runs = 2000,
					      .softirq = raised ? 0.4 : 0.1,
					      .busy = 0.5};
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_MAX_BACKLOG].number, 1500);
	ck_assert_uint_eq(p.writes, 3);
}
END_TEST

/* case G02: without time left, fewer squeezes only mean longer runs. */
START_TEST(saturated_cpu_is_not_helped_by_longer_runs)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	p.cpu[0].softirq = p.cpu[0].busy = 1;
	for (unsigned i = 0; i < 60; i++) {
		p.cpu[0].squeezes = p.values.host[TUNABLE_NETDEV_BUDGET].number > 500 ? 0 : 95;
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
}
END_TEST

/* A load with a memory: high for a while, then low for a while. It fell, but not because of us. */
START_TEST(slow_wandering_is_no_success)
{
	static const double wander[] = {80, 72, 60, 45, 38, 30, 33, 28, 25, 31, 22, 24, 28, 20};

	plant_run(&p, 10);
	squeeze_cpu0(290);
	for (unsigned i = 0; i < 400; i++) {
		p.cpu[0].squeezes = wander[MIN(i, (unsigned)ELEMENTSOF(wander) - 1)];
		plant_run(&p, 1);
	}
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
}
END_TEST

/* What somebody else wrote during a trial is neither our success nor ours to take back. */
/* The originals are back by then: nothing of the trial is left to be judged or taken back. */
START_TEST(stall_ends_a_trial)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	while (p.writes == 0)
		plant_run(&p, 1);
	plant_event(&p, KMSG_RCU_STALL, 0, false);
	p.cpu[0] = (struct plant_cpu){.packets = 5000, .runs = 2000};
	plant_run(&p, 1);
	ck_assert(p.out->back_to_originals);
	p.values.host[TUNABLE_NETDEV_BUDGET].number = 300;
	for (unsigned i = 0; i < 700; i++) {
		plant_run(&p, 1);
		ck_assert(!p.out->has_verdict);
	}
	ck_assert_uint_eq(p.writes, 1);
}
END_TEST

START_TEST(overridden_trial_ends_where_it_was_put)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	while (p.writes == 0)
		plant_run(&p, 1);
	p.values.host[TUNABLE_NETDEV_BUDGET].number = 2000;
	p.cpu[0].squeezes = 0;
	plant_run(&p, 1);
	ck_assert(p.out->has_verdict);
	ck_assert_str_eq(p.out->verdict.verdict, "inconclusive");
	plant_run(&p, 60);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 2000);
	ck_assert_uint_eq(p.writes, 1);
}
END_TEST

START_TEST(trial_that_a_reset_cuts_short_is_taken_back)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	while (p.writes == 0)
		plant_run(&p, 1);
	decider_reset(p.decider);
	plant_run(&p, 1);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 300);
	ck_assert_uint_eq(p.writes, 2);
}
END_TEST

/* Not judged is not refuted: the next lever waits for the second trial of the first. */
START_TEST(inconclusive_trial_does_not_open_the_next_lever)
{
	p.no_nic_counters = true; /* the cause stays unknown, so both levers are open */
	plant_run(&p, 10);
	squeeze_cpu0(290);
	while (p.writes == 0)
		plant_run(&p, 1);
	decider_reset(p.decider);
	plant_run(&p, 55);
	ck_assert_uint_eq(p.writes, 2);
	plant_run(&p, 10);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 450);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET_USECS].number, 8000);
}
END_TEST

/* bpftune#125: squeezes that go round the CPUs. */
START_TEST(squeezes_in_turns_are_seen)
{
	plant_run(&p, 10);
	squeeze_cpu0(290);
	struct plant_cpu busy = p.cpu[0];
	for (unsigned i = 0; i < 12; i++) {
		for (unsigned cpu = 0; cpu < 4; cpu++)
			p.cpu[cpu] = cpu == i % 4 ? busy : (struct plant_cpu){};
		plant_run(&p, 1);
	}
	ck_assert_ptr_nonnull(plant_report(&p, SYMPTOM_SQUEEZED));
	ck_assert_uint_eq(cpuset_count(&plant_report(&p, SYMPTOM_SQUEEZED)->cpus), 4);
	ck_assert_int_eq(p.values.host[TUNABLE_NETDEV_BUDGET].number, 450);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("decide");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, healthy_host_gets_no_write);
	tcase_add_test(t, stray_squeezes_and_one_drop_are_nothing);
	tcase_add_test(t, squeezes_of_an_idle_cpu_are_nothing);
	tcase_add_test(t, squeezed_by_packets_raises_the_packet_budget);
	tcase_add_test(t, squeezed_by_time_raises_the_time_by_a_jiffy);
	tcase_add_test(t, cause_is_unknown_without_the_nics_own_counters);
	tcase_add_test(t, cause_is_unknown_while_most_runs_end_well);
	tcase_add_test(t, change_without_effect_is_taken_back_and_retired);
	tcase_add_test(t, change_that_helps_is_kept_and_writing_ends);
	tcase_add_test(t, coincidence_is_no_success);
	tcase_add_test(t, vanished_load_is_no_success);
	tcase_add_test(t, doubled_load_is_no_success);
	tcase_add_test(t, never_above_the_profile_nor_the_kernels_own_limit);
	tcase_add_test(t, drops_raise_the_backlog);
	tcase_add_test(t, one_trial_at_a_time);
	tcase_add_test(t, change_budget_per_hour_holds);
	tcase_add_test(t, what_the_profile_leaves_is_only_advised);
	tcase_add_test(t, refused_change_is_not_hammered);
	tcase_add_test(t, hot_cpu_wants_its_interrupts_spread);
	tcase_add_test(t, all_cpus_busy_is_not_hot);
	tcase_add_test(t, nohz_line_with_a_network_bit_counts_others_do_not);
	tcase_add_test(t, nohz_with_irq_threads_advises_to_pack);
	tcase_add_test(t, ten_nohz_lines_mean_blind);
	tcase_add_loop_test(t, stall_sends_everything_back_and_ends_trials, 0, 5);
	tcase_add_test(t, placed_irq_that_fires_elsewhere_has_leaked);
	tcase_add_test(t, irq_threads_apart_that_wait_play_pingpong);
	tcase_add_test(t, absent_sources_are_blind_not_healthy);
	tcase_add_test(t, packets_that_wait_for_ksoftirqd);
	tcase_add_test(t, softirqs_that_starve_tasks_lower_the_budget);
	tcase_add_test(t, squeezes_of_a_hog_raise_nothing);
	tcase_add_test(t, without_pressure_information_nothing_is_a_hog);
	tcase_add_test(t, harmful_change_is_taken_back_and_retired);
	tcase_add_test(t, twice_as_bad_is_taken_back_at_once);
	tcase_add_test(t, noisy_keep_is_confirmed_by_withdrawing);
	tcase_add_test(t, each_turn_settles_before_it_is_judged);
	tcase_add_test(t, noisy_keep_that_was_chance_goes_back);
	tcase_add_test(t, dearer_packets_are_no_gain);
	tcase_add_test(t, steps_without_effect_are_followed_by_the_next);
	tcase_add_test(t, refused_step_goes_back_to_the_beginning);
	tcase_add_test(t, step_that_met_a_foreign_value_is_left);
	tcase_add_test(t, rare_drops_are_judged_by_exposure);
	tcase_add_test(t, single_burst_of_drops_starts_nothing);
	tcase_add_test(t, fewer_drops_are_not_dearer_packets);
	tcase_add_test(t, saturated_cpu_is_not_helped_by_longer_runs);
	tcase_add_test(t, slow_wandering_is_no_success);
	tcase_add_test(t, overridden_trial_ends_where_it_was_put);
	tcase_add_test(t, stall_ends_a_trial);
	tcase_add_test(t, trial_that_a_reset_cuts_short_is_taken_back);
	tcase_add_test(t, inconclusive_trial_does_not_open_the_next_lever);
	tcase_add_test(t, squeezes_in_turns_are_seen);
	return run_suite("decide", t);
}
