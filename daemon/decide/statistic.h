/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two tests a trial needs. Both are exact for small samples and assume no distribution: rates
 * of squeezes and drops are neither normal nor of constant variance, and a trial has few ticks.
 */
#pragma once

#include <stddef.h>

#define SAMPLES_MAX 24

/*
 * One-sided rank-sum test (H. B. Mann, D. R. Whitney: On a test of whether one of two random
 * variables is stochastically larger than the other, 1947): the probability that N and M draws from
 * one and the same distribution put LOWER as far below UPPER as they are, counting ties as half. N,
 * M <= SAMPLES_MAX; returns 1 when either is empty.
 */
double rank_sum_probability(const double *lower, size_t n, const double *upper, size_t m);

/*
 * Two Poisson rates (J. Przyborowski, H. Wilenski: Homogeneity of results in testing samples from
 * Poisson series, 1940): given BEFORE + AFTER events, the probability that so few as AFTER fall
 * into the later exposure although the rate did not change. Exposures in any unit, but the same.
 */
double poisson_fewer_probability(unsigned before, double exposure_before, unsigned after,
				 double exposure_after);

/* Of N values, which are reordered; 0 for none. */
double median(double *values, size_t n);
