/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>

#include "base/cpuset.h"
#include "base/util.h"

static void expect_list(const char *text, const char *canonical)
{
	char buf[CPUSET_LIST_MAX];
	struct cpuset s;

	ck_assert_int_eq(cpuset_parse_list(text, &s), 0);
	ck_assert_int_ge(cpuset_format_list(&s, buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, canonical);
}

START_TEST(lists)
{
	expect_list("0-3,8,10-11\n", "0-3,8,10-11");
	expect_list("3,1,2", "1-3");
	expect_list("0-7:2/4", "0-1,4-5");
	expect_list("2047", "2047");
	/* irqbalance#122: an empty /sys/.../isolated is no CPU, not CPU 0 */
	expect_list("", "");
	expect_list("\n", "");
}
END_TEST

START_TEST(bad_lists)
{
	static const char *const bad[] = {"a",       "1-",      "-1",  "3-1", "1,,2", "1,",
					  "0-3:0/0", "0-3:5/4", "1 2", "0x3", NULL};
	struct cpuset s = cpuset_of(5);

	for (const char *const *b = bad; *b; b++)
		ck_assert_msg(cpuset_parse_list(*b, &s) == -EINVAL, "'%s' was taken", *b);
	ck_assert_int_eq(cpuset_parse_list("2048", &s), -ERANGE);
	ck_assert_int_eq(cpuset_parse_list("0-99999999999999", &s), -ERANGE);
	ck_assert(cpuset_has(&s, 5) && cpuset_count(&s) == 1); /* untouched */
}
END_TEST

START_TEST(masks)
{
	struct cpuset s, want;
	static const struct {
		const char *mask, *list;
	} good[] = {
		{"1", "0"},
		{"0f", "0-3"},
		{"00ff00ff", "0-7,16-23"},
		{"1,00000000", "32"},
		{"80000000,00000000\n", "63"},
		{"00000000,00000001", "0"},
		{"1,0", "32"}, /* a short word still fills 32 bits */
		{"", ""},
	};

	for (size_t i = 0; i < ELEMENTSOF(good); i++) {
		ck_assert_int_eq(cpuset_parse_mask(good[i].mask, &s), 0);
		ck_assert_int_eq(cpuset_parse_list(good[i].list, &want), 0);
		ck_assert_msg(cpuset_equal(&s, &want), "mask %s", good[i].mask);
	}
	ck_assert_int_eq(cpuset_parse_mask("xyz", &s), -EINVAL);
	ck_assert_int_eq(cpuset_parse_mask("1,,1", &s), -EINVAL);
	ck_assert_int_eq(cpuset_parse_mask("111111111", &s), -EINVAL);
	ck_assert_int_eq(cpuset_parse_mask(",1", &s), -EINVAL);
	ck_assert_int_eq(cpuset_parse_mask("111111111,0", &s), -EINVAL);
}
END_TEST

START_TEST(formatting_never_truncates)
{
	char small[8], full[CPUSET_LIST_MAX];
	struct cpuset odd = {};

	for (unsigned i = 1; i < CPU_ID_MAX; i += 2)
		cpuset_add(&odd, i);
	ck_assert_int_eq(cpuset_format_list(&odd, small, sizeof(small)), -ENOSPC);
	ck_assert_str_eq(small, "");
	ck_assert_int_gt(cpuset_format_list(&odd, full, sizeof(full)), 0);
	ck_assert_uint_eq(cpuset_count(&odd), CPU_ID_MAX / 2);
}
END_TEST

START_TEST(algebra)
{
	struct cpuset a, b, r;

	ck_assert_int_eq(cpuset_parse_list("0-3,64", &a), 0);
	ck_assert_int_eq(cpuset_parse_list("2-5", &b), 0);
	r = cpuset_and(&a, &b);
	ck_assert_uint_eq(cpuset_count(&r), 2);
	r = cpuset_minus(&a, &b);
	ck_assert(cpuset_has(&r, 0) && cpuset_has(&r, 64) && !cpuset_has(&r, 2));
	ck_assert(cpuset_subset(&r, &a) && !cpuset_subset(&a, &r));
	ck_assert(!cpuset_intersects(&r, &b));
	ck_assert_uint_eq(cpuset_next(&a, 4), 64);
	ck_assert_uint_eq(cpuset_next(&a, 65), CPU_ID_MAX);
	ck_assert(!cpuset_has(&a, CPU_ID_MAX + 7));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cpuset");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_test(t, lists);
	tcase_add_test(t, bad_lists);
	tcase_add_test(t, masks);
	tcase_add_test(t, formatting_never_truncates);
	tcase_add_test(t, algebra);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
