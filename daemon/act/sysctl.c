/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host settings. Their one speciality: EINVAL from a well-formed number means that the kernel's own
 * bound lies between what it holds and what it refused (netdev_budget_usecs below two jiffies:
 * kernel-facts 1.3). That is learned, and not tried again (bpftune#93 never stopped).
 */
#include "act/act-internal.h"

static bool as_number(const char *text, int64_t *ret)
{
	return parse_i64(text, ret) >= 0;
}

static int sysctl_permit(struct actuator *a, struct attempt *at)
{
	const struct limit *l = &a->limit[at->place.id];
	int64_t wish;

	if (!as_number(at->wish, &wish))
		return 0;
	if ((!l->have_high || wish < l->high_refused) && (!l->have_low || wish > l->low_refused))
		return 0;
	at->result->known = true;
	return answer(at->result, OUTCOME_REFUSED, -EINVAL,
		      "%s: this kernel has refused %lld before: not tried again", at->place.name,
		      (long long)(l->have_high && wish >= l->high_refused ? l->high_refused
									  : l->low_refused));
}

static void learn_limit(struct limit *l, int64_t good, int64_t refused)
{
	if (refused > good) {
		l->high_good = l->have_high ? MAX(l->high_good, good) : good;
		l->high_refused = l->have_high ? MIN(l->high_refused, refused) : refused;
		l->have_high = true;
	} else {
		l->low_good = l->have_low ? MIN(l->low_good, good) : good;
		l->low_refused = l->have_low ? MAX(l->low_refused, refused) : refused;
		l->have_low = true;
	}
}

static bool sysctl_refused(struct actuator *a, struct attempt *at, int error)
{
	int64_t good, refused;

	/* A word stands for a mode, and the next mode may well be known to the kernel. */
	if (error != -EINVAL || at->place.tunable->words || !as_number(at->now, &good) ||
	    !as_number(at->wish, &refused))
		return false;
	learn_limit(&a->limit[at->place.id], good, refused);
	answer(at->result, OUTCOME_REFUSED, error,
	       "%s: this kernel does not take %lld; its limit is between that and %lld, and is "
	       "remembered",
	       at->place.name, (long long)refused, (long long)good);
	return true;
}

/* A value that was taken moves the known good bound outwards. */
static void sysctl_settled(struct actuator *a, struct attempt *at)
{
	struct limit *l = &a->limit[at->place.id];
	int64_t good;

	if (!as_number(at->wish, &good))
		return;
	if (l->have_high)
		l->high_good = MAX(l->high_good, good);
	if (l->have_low)
		l->low_good = MIN(l->low_good, good);
}

const struct family sysctl_family = {
	.permit = sysctl_permit,
	.refused = sysctl_refused,
	.settled = sysctl_settled,
};
