/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values: CPU lists and masks, and every setting's own spelling. What is understood has one canonical
 * spelling, which means the same and is its own.
 */
#include "fuzz/fuzz.h"
#include "base/cpuset.h"
#include "model/tunable.h"

static void again(const struct cpuset *set)
{
	static char text[CPUSET_LIST_MAX];
	struct cpuset other;

	must(cpuset_format_list(set, text, sizeof(text)) >= 0);
	must(cpuset_parse_list(text, &other) == 0);
	must(cpuset_equal(set, &other));
	must(cpuset_empty(set) == (text[0] == '\0'));
	must(cpuset_count(set) == cpuset_count(&other));
}

static void value(const struct tunable *t, const char *text, bool caps)
{
	char canonical[VALUE_MAX], twice[VALUE_MAX];

	if (tunable_canonical(t, text, caps, canonical, sizeof(canonical)) < 0)
		return;
	must(tunable_canonical(t, canonical, caps, twice, sizeof(twice)) >= 0);
	must(streq(canonical, twice));
	must(tunable_equal(t, text, canonical));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup(size ? (const char *)data : "", size);
	struct cpuset set;

	must(text != NULL);
	if (cpuset_parse_list(text, &set) == 0)
		again(&set);
	if (cpuset_parse_mask(text, &set) == 0)
		again(&set);
	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		value(&tunables[i], text, false);
		value(&tunables[i], text, true);
	}
	free(text);
	return 0;
}
