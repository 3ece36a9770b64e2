/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decide/statistic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* ways[u]: in how many orders of n and m draws the statistic U equals u. The recurrence goes over
 * the largest draw: it belongs to the first sample (and beats all j of the other) or to the second.
 */
static void count_orders(size_t n, size_t m, double ways[SAMPLES_MAX * SAMPLES_MAX + 1])
{
	static const size_t width = SAMPLES_MAX * SAMPLES_MAX + 1;
	double row[SAMPLES_MAX + 1][SAMPLES_MAX * SAMPLES_MAX + 1];

	/* row[j] holds the counts for (i, j) while i grows. */
	memset(row, 0, sizeof(row));
	for (size_t j = 0; j <= m; j++)
		row[j][0] = 1;
	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++)
			for (size_t u = width; u-- > 0;)
				row[j][u] = (u >= j ? row[j][u - j] : 0) + row[j - 1][u];
	memcpy(ways, row[m], sizeof(row[m]));
}

double rank_sum_probability(const double *lower, size_t n, const double *upper, size_t m)
{
	double ways[SAMPLES_MAX * SAMPLES_MAX + 1], u = 0, all = 0, tail = 0;

	if (n == 0 || m == 0 || n > SAMPLES_MAX || m > SAMPLES_MAX)
		return 1;
	/* U: pairs in the wrong order, small when LOWER really is lower. */
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			u += lower[i] > upper[j] ? 1 : lower[i] == upper[j] ? 0.5 : 0;
	count_orders(n, m, ways);
	for (size_t k = 0; k <= n * m; k++) {
		all += ways[k];
		if ((double)k <= ceil(u))
			tail += ways[k];
	}
	return tail / all;
}

double poisson_fewer_probability(unsigned before, double exposure_before, unsigned after,
				 double exposure_after)
{
	unsigned total = before + after;
	double share, term, sum;

	if (exposure_before <= 0 || exposure_after <= 0 || total == 0)
		return 1;
	/* Given the total, AFTER is binomial with the later exposure's share. In logarithms: the
	 * totals may be large. */
	share = exposure_after / (exposure_before + exposure_after);
	sum = 0;
	for (unsigned k = 0; k <= after; k++) {
		term = lgamma(total + 1.0) - lgamma(k + 1.0) - lgamma((double)(total - k) + 1.0) +
		       k * log(share) + (double)(total - k) * log1p(-share);
		sum += exp(term);
	}
	return MIN(sum, 1.0);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *values, size_t n)
{
	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
