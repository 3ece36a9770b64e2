/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "decide/statistic.h"
#include "lib/run.h"

START_TEST(rank_sum_matches_counted_orders)
{
	static const double low[] = {1, 2, 3}, high[] = {4, 5, 6, 7, 8, 9, 10, 11},
			    one_over[] = {1, 2, 4.5};

	/* 3 of 11: 165 orders, of which one and two are at least so extreme */
	ck_assert_double_eq_tol(rank_sum_probability(low, 3, high, 8), 1 / 165.0, 1e-12);
	ck_assert_double_eq_tol(rank_sum_probability(one_over, 3, high, 8), 2 / 165.0, 1e-12);
	ck_assert_double_eq_tol(rank_sum_probability(high, 8, low, 3), 1, 1e-12);
	ck_assert_double_eq(rank_sum_probability(low, 0, high, 8), 1);
	/* published table, n = m = 5: P(U <= 2) = 4 / 252 */
	static const double a[] = {1, 2, 3, 4, 7.5}, b[] = {5.5, 6.5, 8, 9, 10};
	ck_assert_double_eq_tol(rank_sum_probability(a, 5, b, 5), 4 / 252.0, 1e-12);
}
END_TEST

START_TEST(ties_never_look_like_an_effect)
{
	static const double same[] = {0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8};

	ck_assert_double_gt(rank_sum_probability(same, 8, same, 3), 0.4);
}
END_TEST

START_TEST(poisson_matches_the_binomial)
{
	ck_assert_double_eq_tol(poisson_fewer_probability(10, 10, 0, 10), pow(0.5, 10), 1e-12);
	ck_assert_double_eq_tol(poisson_fewer_probability(1, 3, 0, 60), 3 / 63.0, 1e-12);
	ck_assert_double_eq(poisson_fewer_probability(0, 1, 0, 1), 1);
	ck_assert_double_gt(poisson_fewer_probability(5, 1, 5, 1), 0.5);
	ck_assert_double_lt(poisson_fewer_probability(100000, 1, 90000, 1), 1e-6); /* no overflow */
}
END_TEST

START_TEST(medians)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};

	ck_assert_double_eq(median(odd, 3), 2);
	ck_assert_double_eq(median(even, 4), 2.5);
	ck_assert_double_eq(median(NULL, 0), 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("statistic");

	tcase_add_test(t, rank_sum_matches_counted_orders);
	tcase_add_test(t, ties_never_look_like_an_effect);
	tcase_add_test(t, poisson_matches_the_binomial);
	tcase_add_test(t, medians);
	return run_suite("statistic", t);
}
