/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `poll-burn`: when busy polling of ours is suspected, when it is not, and what its trial weighs. */
#include "decide/poll-burn.h"

#include "decide/trial.h"
#include "lib/plant.h"
#include "lib/run.h"

#define ENTER_TICKS ((unsigned)(POLL_BURN_USEC / USEC_PER_SEC) + 1)

static struct plant p;
static unsigned kept, no_effect, worse, inconclusive;
static struct trial_verdict verdict; /* the newest */

static void rate(double packets)
{
	p.cpu[0].packets = p.cpu[0].runs = packets;
}

static void poll_usec(enum tunable_id id, int64_t usec)
{
	static char text[] = "50";

	p.values.host[id].have = true;
	p.values.host[id].number = usec;
	p.profile->setting[id].kind = SETTING_VALUE;
	p.profile->setting[id].value = text;
	p.ours[id] = true;
}

static void setup(void)
{
	plant_init(&p, 4, false, 4);
	poll_usec(TUNABLE_BUSY_POLL, 50);
	p.cpu[1].busy = 0.9;
	rate(12);
	kept = no_effect = worse = inconclusive = 0;
	verdict = (struct trial_verdict){};
}

static void teardown(void)
{
	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		p.profile->setting[i].value = NULL;
	plant_done(&p);
}

static const struct symptom_report *report(void)
{
	return plant_report(&p, SYMPTOM_POLL_BURN);
}

#define POLL (p.values.host[TUNABLE_BUSY_POLL].number)

/* With ON CPUs busy while it polls, and OFF while it does not; PACKETS a second, or FEWER. */
static void weigh(unsigned seconds, double on, double off, double packets, double fewer)
{
	for (; seconds > 0; seconds--) {
		bool polls = POLL > p.original[TUNABLE_BUSY_POLL];

		p.cpu[1].busy = polls ? on : off;
		rate(polls ? packets : fewer);
		plant_run(&p, 1);
		if (!p.out->has_verdict)
			continue;
		verdict = p.out->verdict;
		kept += streq(verdict.verdict, "kept");
		no_effect += streq(verdict.verdict, "no effect");
		worse += streq(verdict.verdict, "worse");
		inconclusive += streq(verdict.verdict, "inconclusive");
	}
}

START_TEST(enters_after_a_minute)
{
	const struct symptom_report *r;

	plant_run(&p, ENTER_TICKS);
	ck_assert_ptr_null(report()); /* the first tick has no difference yet */
	plant_run(&p, 1);
	r = report();
	ck_assert_ptr_nonnull(r);
	ck_assert_str_eq(
		r->text,
		"0.9 CPUs are busy for 12 packets/s: if they poll, 50 µs each time, at most 0.067 % "
		"of the polls find a packet");
	ck_assert_uint_eq(r->n_evidence, 4);
	ck_assert(r->evidence[0].value > 0.89 && r->evidence[0].value < 0.91);
	ck_assert(cpuset_empty(&r->cpus));
	ck_assert_int_eq(POLL, 50); /* the baseline is measured first */
	ck_assert(p.out->change[0].planned);
	plant_run(&p, JUDGE_TICKS - 1);
	ck_assert_int_eq(POLL, 50);
	plant_run(&p, 1);
	ck_assert_int_eq(POLL, 0);
}
END_TEST

/* One thing at a time that speaks against it. */
enum against {
	MANY_PACKETS,
	LITTLE_TIME,
	NOT_OURS,
	PINNED,
	IS_OFF,
	WAS_LONGER, /* before softnetd: to give that back would burn more */
	NO_TIMES,
	PAUSES,
	NOTHING,
};

START_TEST(what_speaks_against_it)
{
	switch (_i) {
	case MANY_PACKETS:
		rate(600); /* of 18000 polls */
		break;
	case LITTLE_TIME:
		p.cpu[1].busy = 0.4;
		break;
	case NOT_OURS:
		p.ours[TUNABLE_BUSY_POLL] = false;
		break;
	case PINNED:
		p.pinned = TUNABLE_BUSY_POLL;
		break;
	case IS_OFF:
		POLL = 0;
		break;
	case WAS_LONGER:
		p.original[TUNABLE_BUSY_POLL] = 100;
		break;
	case NO_TIMES:
		p.no_stat = true;
		break;
	default:
		break;
	}
	for (unsigned i = 0; i < 4 * ENTER_TICKS; i++) {
		if (_i == PAUSES) /* half a minute each */
			p.cpu[1].busy = i / 30 % 2 ? 0.1 : 0.9;
		plant_run(&p, 1);
		if (_i == NOTHING && report())
			return;
		ck_assert_ptr_null(report());
	}
	ck_assert_int_ne(_i, NOTHING);
	ck_assert_uint_eq(p.writes, 0);
}
END_TEST

/* The packets that may have been found are counted against the longest poll: those are the fewest. */
START_TEST(longest_poll_counts)
{
	rate(100);
	poll_usec(TUNABLE_BUSY_READ, _i ? 50 : 500); /* 1800 polls */
	poll_usec(TUNABLE_BUSY_POLL, _i ? 500 : 50);
	plant_run(&p, ENTER_TICKS + 1);
	ck_assert_ptr_null(report());
	poll_usec(TUNABLE_BUSY_READ, 50);
	poll_usec(TUNABLE_BUSY_POLL, 50);
	plant_run(&p, ENTER_TICKS + 1);
	ck_assert_ptr_nonnull(report());
}
END_TEST

START_TEST(leaves_below_half)
{
	p.outcome = OUTCOME_ADVISED; /* nothing is tried */
	plant_run(&p, ENTER_TICKS + 1);
	ck_assert_ptr_nonnull(report());
	p.cpu[1].busy = 0.3;
	plant_run(&p, 30);
	ck_assert_ptr_nonnull(report());
	rate(300); /* 5 % */
	plant_run(&p, 30);
	ck_assert_ptr_nonnull(report());
	rate(500);
	plant_run(&p, 30);
	ck_assert_ptr_null(report());
	rate(0);
	plant_run(&p, 2 * ENTER_TICKS);
	ck_assert_ptr_null(report());
	p.cpu[1].busy = 0.9;
	plant_run(&p, 2 * ENTER_TICKS);
	ck_assert_ptr_nonnull(report());
	p.cpu[1].busy = 0.2;
	plant_run(&p, POLL_BURN_TICKS);
	ck_assert_ptr_null(report());
}
END_TEST

START_TEST(times_that_are_lost_confirm_nothing)
{
	p.outcome = OUTCOME_ADVISED;
	plant_run(&p, ENTER_TICKS + 1);
	ck_assert(report()->acute);
	p.no_stat = true;
	plant_run(&p, WINDOW_TICKS);
	ck_assert_ptr_nonnull(report());
	ck_assert(!report()->acute);
	ck_assert_ptr_nonnull(strstr(report()->text, "0.9 CPUs"));
	ck_assert_uint_eq(p.out->n_changes, 0);
}
END_TEST

/* ---- the trial ---- */

START_TEST(what_burns_is_undone)
{
	weigh(200, 0.9, 0.05, _i ? 0 : 12, _i ? 0 : 12);
	ck_assert_uint_eq(kept, 1);
	ck_assert_int_eq(POLL, 0);
	ck_assert_uint_eq(p.writes, 3);
	ck_assert_str_eq(verdict.text,
			 _i ? "busy_poll: kept, poll-burn went from 0.9 CPUs to 0.05 CPUs; the "
			      "profile's 50 is undone: it burned 0.85 CPUs for 0 packets/s"
			    : "busy_poll: kept, poll-burn went from 0.9 CPUs to 0.05 CPUs; the "
			      "profile's 50 is undone: it burned 0.85 CPUs for 12 packets/s");
	ck_assert_str_eq(decider_withdrawn(p.decider, TUNABLE_BUSY_POLL),
			 _i ? "it burned 0.85 CPUs for 0 packets/s"
			    : "it burned 0.85 CPUs for 12 packets/s");
	ck_assert_ptr_null(decider_withdrawn(p.decider, TUNABLE_BUSY_READ));
	ck_assert_ptr_null(report());
	decider_reset(p.decider);
	ck_assert_ptr_null(decider_withdrawn(p.decider, TUNABLE_BUSY_POLL));
}
END_TEST

/* Ten busy CPUs beside it: it is no share of theirs that has to fall. */
START_TEST(other_work_does_not_hide_it)
{
	p.cpu[0].busy = p.cpu[2].busy = p.cpu[3].busy = 1;
	weigh(200, 0.9, 0.6, 12, 12);
	ck_assert_uint_eq(kept, 1);
	ck_assert_int_eq(POLL, 0);
}
END_TEST

START_TEST(less_than_a_quarter_of_a_cpu_is_no_effect)
{
	p.original[TUNABLE_BUSY_POLL] = _i ? 20 : 0; /* from which no step leads further */
	weigh(3000, 0.9, 0.7, 12, 12);
	ck_assert_uint_eq(no_effect, 1);
	ck_assert_uint_eq(kept, 0);
	ck_assert_int_eq(POLL, 50);
	ck_assert_uint_eq(p.writes, 2); /* once, and never again */
	ck_assert_ptr_null(report());   /* nor is it suspected */
	ck_assert_ptr_null(decider_withdrawn(p.decider, TUNABLE_BUSY_POLL));
	/* Until the host changes. */
	decider_reset(p.decider);
	weigh(200, 0.9, 0.7, 12, 12);
	ck_assert_uint_eq(no_effect, 2);
	ck_assert_int_eq(POLL, 50);
}
END_TEST

/* A tenth fewer packets may be chance; more are the answers that come later. */
START_TEST(fewer_packets_bring_it_back)
{
	weigh(20000, 0.9, 0.05, 300, _i ? 280 : 250);
	if (_i) {
		ck_assert_uint_eq(kept, 1);
		ck_assert_int_eq(POLL, 0);
		return;
	}
	ck_assert_int_eq(POLL, 50);
	ck_assert_uint_eq(kept, 0);
	ck_assert_uint_eq(inconclusive, WITHDRAWALS_MAX);
	ck_assert_uint_eq(p.writes, 2 * WITHDRAWALS_MAX);
	ck_assert_str_eq(verdict.text,
			 "busy_poll: inconclusive (fewer packets arrived without it)");
	ck_assert_ptr_null(decider_withdrawn(p.decider, TUNABLE_BUSY_POLL));
}
END_TEST

START_TEST(more_packets_prove_nothing)
{
	weigh(200, 0.9, 0.05, 60, 121);
	ck_assert_str_eq(verdict.text,
			 "busy_poll: inconclusive (the load changed during the trial)");
	ck_assert_int_eq(POLL, 50);
}
END_TEST

/* The load itself ends when the poll is taken back, and does not return with it. */
START_TEST(load_that_ends_by_itself_is_no_proof)
{
	unsigned i = 0;

	while (POLL && i++ < 200)
		weigh(1, 0.9, 0.9, 12, 12);
	ck_assert_int_eq(POLL, 0);
	weigh(60, 0.05, 0.05, 12, 12);
	ck_assert_str_eq(
		verdict.text,
		"busy_poll: inconclusive (taking it back made nothing worse: the improvement was chance)");
	ck_assert_int_eq(POLL, 50);
}
END_TEST

START_TEST(other_work_that_comes_is_no_verdict)
{
	weigh(200, 0.9, 2.5, 12, 12); /* of "CPU 1": all that is busy */
	ck_assert_str_eq(verdict.text, "busy_poll: inconclusive (other work came meanwhile)");
	ck_assert_uint_eq(worse, 0);
	ck_assert_int_eq(POLL, 50);
	plant_run(&p, ENTER_TICKS);
	ck_assert_ptr_nonnull(report());
}
END_TEST

/* The packets are softirqs' work again then, and dearer by that count. That is no objection, nor is the
 * profile's objective: that is per packet, and of hardly any. */
START_TEST(price_is_in_the_measure)
{
	p.profile->objective = OBJECTIVE_CPU;
	for (unsigned i = 0; i < 200; i++) {
		p.cpu[0].softirq = POLL ? 0.01 : 0.05;
		weigh(1, 0.9, 0.05, 12, 12);
	}
	ck_assert_uint_eq(kept, 1);
	ck_assert_int_eq(POLL, 0);
}
END_TEST

START_TEST(second_setting_is_tried_when_the_first_is_not_it)
{
	poll_usec(TUNABLE_BUSY_READ, 50);
	for (unsigned i = 0; i < 400; i++) {
		bool on = p.values.host[TUNABLE_BUSY_READ].number;

		weigh(1, on ? 0.9 : 0.05, on ? 0.9 : 0.05, 12, 12);
	}
	ck_assert_int_eq(POLL, 50);
	ck_assert_int_eq(p.values.host[TUNABLE_BUSY_READ].number, 0);
	ck_assert_uint_eq(no_effect, 1);
	ck_assert_uint_eq(kept, 1);
	ck_assert_uint_eq(p.writes, 5);
	ck_assert_ptr_nonnull(decider_withdrawn(p.decider, TUNABLE_BUSY_READ));
	ck_assert_ptr_null(decider_withdrawn(p.decider, TUNABLE_BUSY_POLL));
}
END_TEST

/* The second, which cannot be judged, is no reason to try the first once more. */
START_TEST(what_was_acquitted_stays_so)
{
	poll_usec(TUNABLE_BUSY_READ, 50);
	for (unsigned i = 0; i < 6000; i++) {
		bool on = p.values.host[TUNABLE_BUSY_READ].number;

		weigh(1, on ? 0.9 : 0.05, on ? 0.9 : 0.05, on ? 300 : 200, on ? 300 : 200);
	}
	ck_assert_uint_eq(no_effect, 1);
	ck_assert_uint_eq(inconclusive, WITHDRAWALS_MAX);
	ck_assert_uint_eq(p.writes, 2 + 2 * WITHDRAWALS_MAX);
	/* Suspected, as long as nothing was proven; but left alone. */
	ck_assert_ptr_nonnull(report());
	ck_assert_uint_eq(p.out->n_changes, 0);
}
END_TEST

/* What comes back on the way is the profile's, and entered so; what is taken back is a trial. */
START_TEST(classes_of_its_changes)
{
	unsigned policies = 0, trials = 0;

	for (unsigned i = 0; i < 200; i++) {
		weigh(1, 0.9, 0.05, 12, 12);
		for (unsigned k = 0; k < p.out->n_changes; k++) {
			const struct change *c = &p.out->change[k];

			if (c->planned)
				continue;
			ck_assert_str_eq(c->id, "busy_poll-poll-burn");
			ck_assert_str_eq(c->to, c->class == CLASS_POLICY ? "50" : "0");
			policies += c->class == CLASS_POLICY;
			trials += c->class == CLASS_TRIAL;
		}
	}
	ck_assert_uint_eq(policies, 1);
	ck_assert_uint_eq(trials, 2);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, enters_after_a_minute);
	tcase_add_loop_test(t, what_speaks_against_it, 0, NOTHING + 1);
	tcase_add_loop_test(t, longest_poll_counts, 0, 2);
	tcase_add_test(t, leaves_below_half);
	tcase_add_test(t, times_that_are_lost_confirm_nothing);
	tcase_add_loop_test(t, what_burns_is_undone, 0, 2);
	tcase_add_test(t, other_work_does_not_hide_it);
	tcase_add_loop_test(t, less_than_a_quarter_of_a_cpu_is_no_effect, 0, 2);
	tcase_add_loop_test(t, fewer_packets_bring_it_back, 0, 2);
	tcase_add_test(t, more_packets_prove_nothing);
	tcase_add_test(t, load_that_ends_by_itself_is_no_proof);
	tcase_add_test(t, other_work_that_comes_is_no_verdict);
	tcase_add_test(t, price_is_in_the_measure);
	tcase_add_test(t, second_setting_is_tried_when_the_first_is_not_it);
	tcase_add_test(t, what_was_acquitted_stays_so);
	tcase_add_test(t, classes_of_its_changes);
	return run_suite("poll-burn", t);
}
