/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * softnetd(8), "Control law", has the numbers that the code has: an admin predicts from it what
 * softnetd will do. Each phrase of the page that holds constants is made from them here and looked
 * for. Runs in the top directory.
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/io.h"
#include "decide/low-rate.h"
#include "decide/poll-burn.h"
#include "decide/silence.h"
#include "decide/trial.h"
#include "decide/verify.h"
#include "lib/run.h"

static char *section; /* with single blanks for all white space, without the macros of lines */

/* ".B word" and ".I word" are words of a sentence; other requests end one. */
static void read_section(const char *heading)
{
	_cleanup_(io_freep) struct io *io = NULL;
	_cleanup_free_ char *page = NULL;
	const char *from, *to;
	size_t size, n = 0;

	ck_assert_int_eq(io_new(".", &io), 0);
	ck_assert_int_eq(io_read_all(io, "man/softnetd.8", &page, &size), 0);
	from = strstr(page, heading);
	ck_assert_ptr_nonnull(from);
	to = strstr(from + 1, "\n.SH ");
	ck_assert_ptr_nonnull(to);
	section = calloc(1, (size_t)(to - from) + 1);
	ck_assert_ptr_nonnull(section);
	for (const char *p = from; p < to; p++) {
		bool begins = p == from || p[-1] == '\n';

		if (begins && (startswith(p, ".B ") || startswith(p, ".I ")))
			p += 3;
		section[n++] = *p;
		if (section[n - 1] == '\n')
			section[n - 1] = ' ';
	}
}

static void setup(void)
{
	read_section(".SH CONTROL LAW");
}

static void teardown(void)
{
	free(section);
}

static void expect(const char *fmt, ...) _printf_(1, 2);
static void expect(const char *fmt, ...)
{
	char phrase[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(phrase, sizeof(phrase), fmt, ap);
	va_end(ap);
	ck_assert_msg(strstr(section, phrase) != NULL, "man/softnetd.8 does not say \"%s\"",
		      phrase);
}

static double percent(double share)
{
	return 100 * share;
}

static unsigned seconds(uint64_t usec)
{
	return (unsigned)(usec / USEC_PER_SEC);
}

START_TEST(thresholds)
{
	expect("on what the last %d ticks show, in at least %d of which its counter grew, and "
	       "leaves after %d calm ticks",
	       DETECT_TICKS, DETECT_GROWN, LEAVE_TICKS);
	expect("it gets %g packets a second or more", RECEIVES_MIN);
	expect("%g %% of the packets that arrived at a CPU were dropped; or %g %% of at least %d "
	       "packets",
	       percent(DROP_SHARE_ENTER), percent(DROP_SHARE_BURST), DROP_BURST_PACKETS);
	expect("%g %% of a CPU's NET_RX runs ended squeezed, with at least %g squeezes and %g "
	       "packets a second there; it leaves below %g %%",
	       percent(SQUEEZE_SHARE_ENTER), SQUEEZE_RATE_MIN, SQUEEZE_PACKETS_MIN,
	       percent(SQUEEZE_SHARE_LEAVE));
	expect("only when %g %% of the runs end squeezed and these CPUs do %g %% of the host's runs",
	       percent(CAUSE_SHARE_MIN), percent(CAUSE_CPUS_MIN));
	expect("reach %g %% of netdev_budget", percent(CAUSE_PACKETS_FROM));
	expect("at or below %g %% of it", percent(CAUSE_TIME_BELOW));
	expect("%g %% of a CPU's time over %d ticks is softirq while half of the other CPUs are "
	       "busy for at most %g %%; it leaves below %g %%",
	       percent(HOT_ENTER), HOT_TICKS, percent(HOT_OTHERS), percent(HOT_LEAVE));
	expect("ksoftirqd waits for its CPU for %g %% of the time, and for %g %% of the time it runs",
	       percent(LAG_WAIT), percent(LAG_SHARE));
	expect("%g %% of a CPU's time is softirq while some task waits for a CPU for %g %% of the "
	       "time",
	       percent(HOG_SHARE), percent(HOG_WAITING));
	expect("at %g interrupts a second or more, and wait for %g %% of the time they run, for %g "
	       "\\(mcs a second or more",
	       PINGPONG_RATE_MIN, percent(PINGPONG_WAIT_SHARE), PINGPONG_WAIT_USEC);
	expect("Below %g such runs a second", HANDOVERS_MIN);
	expect("softirq_time_us 1999, which is as many jiffies as 2000");
	ck_assert_int_eq(tunables[TUNABLE_SOFTIRQ_TIME_US].kernel_default, 2000);
	expect("for %d ticks an interrupt that softnetd placed", DETECT_TICKS);
	expect("for %u seconds after the kernel logged", seconds(NOHZ_FRESH_USEC));
	expect("%g to %g packets a second, for %u seconds without a break, until it gets less than half or "
	       "more than twice of that",
	       LOW_RATE_MIN, LOW_RATE_MAX, seconds(LOW_RATE_USEC));
	for (size_t i = 0; i < _TUNABLE_MAX; i++)
		if (tunables[i].for_latency)
			expect("%s", tunables[i].id);
	expect("%g CPUs or more of the host are busy, with whatever; and so few packets arrive that",
	       POLL_BURN_CPUS);
	expect("at most %g %% of them could have found one: for %u seconds without a break, on averages "
	       "over %d ticks, until it is less than half or more than twice of that",
	       percent(POLL_BURN_FOUND), seconds(POLL_BURN_USEC), POLL_BURN_TICKS);
	expect("nothing is changed for %u seconds", seconds(HANDS_OFF_USEC));
}
END_TEST

/* Beside the law, where the answers of an interrupt stand. */
START_TEST(silence)
{
	free(section);
	read_section(".SH WHAT IT WRITES");
	expect("at least %d times a second in each of the %d ticks before it was moved",
	       SILENCE_RATE, SILENCE_BEFORE);
	expect("not once in %d ticks", SILENCE_AFTER);
}
END_TEST

START_TEST(trial)
{
	expect("%d ticks of baseline", BASELINE_TICKS);
	expect("withdrawn until %d of them came back, for %d ticks at most, and made again for %d",
	       RARE_EVENTS_MIN, RARE_TICKS, RARE_TICKS);
	expect("for %g %% of its time in interrupts and softirqs that was not in any tick of the "
	       "baseline, for %d ticks in a row",
	       percent(SATURATED), WORSE_TICKS);
	expect("One change, and %d ticks for it to settle", SETTLE_TICKS);
	expect("%d ticks of judgement", JUDGE_TICKS);
	expect("the median fell by %g %%, a rank-sum test gives chance less than %g %%",
	       percent(EFFECT_MIN), percent(SIGNIFICANCE));
	expect("the load stayed between %g and %g times what it was", LOAD_MIN, LOAD_MAX);
	expect("not cost more than %g times the CPU time", GUARD_MAX);
	expect("withdrawn for %d ticks and made again for %d", WITHDRAW_TICKS, AGAIN_TICKS);
	expect("above %g times what it was", OBJECTIVE_WORSE);
	expect("dropped packets %g %%, squeezed runs %g %%, waiting softirqs %g \\(mcs a packet, "
	       "waiting tasks %g %% of the time",
	       percent(DROPS_FLOOR), percent(SQUEEZES_FLOOR), WAIT_FLOOR, percent(WAKEUP_FLOOR));
	expect("by %g %%, CPU time by %g %%", percent(EFFECT_MIN), percent(CPU_EFFECT_MIN));
	expect("The baseline is %d ticks long, and the measure is the host's busy CPUs: %g CPUs fewer",
	       JUDGE_TICKS, POLL_BURN_FALL);
	expect("fewer packets arrive without polling than %g times those with it",
	       POLL_BURN_PACKETS);
	expect("%d ticks without a reading", PATIENCE_TICKS);
	expect("counted over %d ticks before and %d after", RARE_BASELINE_TICKS, RARE_TICKS);
}
END_TEST

START_TEST(proofs)
{
	expect("at %g %% of its highest frequency or more", percent(FREQUENCY_NEAR));
	for (int p = PROOF_UNVERIFIABLE; p <= PROOF_CONTRADICTED; p++)
		expect("%s", proof_to_string((enum proof)p));
}
END_TEST

START_TEST(rails)
{
	expect("not tried again for %u seconds, after %d such trials", seconds(DWELL_USEC),
	       NO_EFFECT_MAX);
	expect("the next one waits %u seconds", seconds(RETRY_USEC));
	expect("theirs, after %d times for good", OVERRIDDEN_MAX);
	expect("had no effect once, or could not be judged %d times in a row", WITHDRAWALS_MAX);
	expect("after %d such turns retired", REVERSALS_MAX);
	expect("saturated for %d ticks in a row that was not before the trial", FALLBACK_TICKS);
	expect("tried again after %u seconds, and retired after %d such turns", seconds(DWELL_USEC),
	       FALLBACKS_MAX);
}
END_TEST

/* The table of levers, by what a step does at the settings' defaults. */
START_TEST(levers)
{
	const struct tunable *budget = &tunables[TUNABLE_NETDEV_BUDGET];

	expect("A step up is half as much again, a step down a third less");
	ck_assert_int_eq(tunable_step(budget, 600, true, 16, 8192, 0), 900);
	ck_assert_int_eq(tunable_step(budget, 600, false, 16, 8192, 0), 400);
	for (int s = SYMPTOM_NONE + 1; s < _SYMPTOM_MAX; s++) {
		_cleanup_free_ char *name = strdup(symptom_to_string((enum symptom)s));
		char escaped[64] = "";

		ck_assert_ptr_nonnull(name);
		if (s == SYMPTOM_BLIND)
			continue;
		for (char *c = name; *c; c++)
			append_text(escaped, sizeof(escaped), "%s%c", *c == '-' ? "\\" : "", *c);
		expect(".TP %s ", escaped);
	}
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, thresholds);
	tcase_add_test(t, trial);
	tcase_add_test(t, proofs);
	tcase_add_test(t, rails);
	tcase_add_test(t, levers);
	tcase_add_test(t, silence);
	return run_suite("law", t);
}
