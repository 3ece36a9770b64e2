/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every errno at every operation of a changing cycle, and short writes: each change ends with an
 * outcome and a text; whatever differs from the original stands in the ledger on disk with it; and
 * when the errors stop a restore brings back every byte.
 */
#include <check.h>
#include <jansson.h>
#include <stdio.h>

#include "base/log.h"
#include "lib/act-host.h"
#include "lib/silent.h"

static unsigned long n_results, n_failed;
static char where[96];

static void check_result(const struct result *r, int ret)
{
	bool fine = r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_PENDING ||
		    r->outcome == OUTCOME_UNCHANGED || r->outcome == OUTCOME_ADVISED;

	ck_assert_msg(*r->text, "%s: %s without a text", where, outcome_to_string(r->outcome));
	ck_assert_msg(fine == (ret == 0) && ret == r->error, "%s: %s, but %d and %d", where,
		      outcome_to_string(r->outcome), ret, r->error);
	n_results++;
	n_failed += !fine;
}

/* The line of PATH in a dump: "path=value". */
static const char *value_in(const char *dump, const char *path, size_t *ret_length)
{
	size_t n = strlen(path);

	for (const char *line = dump; *line; line += strcspn(line, "\n") + 1)
		if (startswith(line, path) && line[n] == '=') {
			*ret_length = strcspn(line + n + 1, "\n");
			return line + n + 1;
		}
	ck_abort_msg("%s: no %s in the dump", where, path);
	return NULL;
}

/* As soon as its governor leaves performance intel_pstate brings back an EPP that no file had shown
 * before: that is the original then, and nobody's change. */
static bool is_drivers_own(const char *path)
{
	return strstr(path, "/policy2/energy_performance_preference");
}

/* Settings that differ from ORIGINAL must be in the ledger file, with that original. Entries that
 * say more than is so do no harm (a write whose end is not known), but must know the original. */
static void expect_consistent(struct act_host *h, const char *original)
{
	_cleanup_free_ char *now = host_dump(h);
	_cleanup_(ledger_freep) struct ledger *l = NULL;
	const char *line = original;

	ck_assert_int_eq(ledger_open(h->plain, false, NULL, &l), 0);
	ck_assert_msg(!ledger_trouble(l), "%s: %s", where, ledger_trouble(l));
	for (size_t i = 0; i < ledger_size(l); i++) {
		const struct ledger_entry *e = ledger_at(l, i);
		const char *was;
		char path[256];
		size_t n;

		tunable_path(&tunables[e->tunable], e->number, path, sizeof(path));
		was = value_in(original, path, &n);
		ck_assert_msg((strlen(e->original) == n && memcmp(was, e->original, n) == 0) ||
				      is_drivers_own(path),
			      "%s: the ledger takes \"%s\" for the original of %s", where,
			      e->original, path);
	}
	for (; *line; line += strcspn(line, "\n") + 1) {
		size_t n, n_path = strcspn(line, "=");
		char path[256];
		const char *is;
		bool found = false;

		snprintf(path, sizeof(path), "%.*s", (int)n_path, line);
		is = value_in(now, path, &n);
		if (n == strcspn(line + n_path + 1, "\n") && memcmp(is, line + n_path + 1, n) == 0)
			continue;
		for (size_t i = 0; i < ledger_size(l); i++) {
			char entry[256];

			tunable_path(&tunables[ledger_at(l, i)->tunable], ledger_at(l, i)->number,
				     entry, sizeof(entry));
			found |= streq(entry, path);
		}
		ck_assert_msg(found || is_drivers_own(path),
			      "%s: %s is \"%.*s\", and not in the ledger", where, path, (int)n, is);
	}
}

static void after_the_storm(struct act_host *h, const char *original)
{
	expect_consistent(h, original);
	ck_assert_msg(host_restore(h, &h->io, NULL) == 0, "%s: the restore failed", where);
	host_expect(h, original, where);
	host_expect_no_ledger(h, where);
}

static const int errors[] = {EBUSY, EIO,    EPERM,  EACCES, EINVAL, ENOSPC,
			     EROFS, ENOENT, EAGAIN, EINTR,  ENOMEM};

/* "There is no such file" is an answer, and one that has to be believed: a setting or a target that
 * is gone. It is tried where it is a failure. */
static unsigned kinds_for(int error)
{
	return error == ENOENT ? FAULT_ALL & ~(FAULT_BIT(FAULT_OPEN) | FAULT_BIT(FAULT_READ))
			       : FAULT_ALL;
}

/* Those that a disk or a mount gives from one moment on. */
static const int lasting[] = {ENOSPC, EROFS, EIO};

START_TEST(every_errno_once)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new(EPP_INTEL);
	_cleanup_free_ char *original = host_dump(h);
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&h->io);

	n_failed = 0;
	f->error = errors[_i];
	f->kinds = kinds_for(f->error);
	for (f->at = 1; f->at == 1 || f->hits > 0; f->at++) {
		snprintf(where, sizeof(where), "%s at operation %lu", strerror(f->error), f->at);
		fault_io_reset(f);
		host_cycle(h, &f->io, check_result);
		after_the_storm(h, original);
	}
	ck_assert_uint_gt(f->at, f->error == ENOENT ? 50 : 100);
	ck_assert_uint_gt(n_failed, 10);
}
END_TEST

/* A disk that is full, or a file system that is read-only, from one moment on. */
START_TEST(every_errno_from_then_on)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new((enum epp_kind)(_i % 3));
	_cleanup_free_ char *original = host_dump(h);
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&h->io);

	f->error = lasting[_i];
	f->onwards = true;
	f->kinds = FAULT_WRITES;
	for (f->at = 1; f->at == 1 || f->hits > 0; f->at++) {
		snprintf(where, sizeof(where), "%s from write %lu on", strerror(f->error), f->at);
		fault_io_reset(f);
		host_cycle(h, &f->io, check_result);
		after_the_storm(h, original);
	}
	ck_assert_uint_gt(f->at, 50);
}
END_TEST

START_TEST(every_errno_in_the_restore)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new((enum epp_kind)(_i % 3));
	_cleanup_free_ char *original = host_dump(h);
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&h->io);
	struct restore_report report;

	f->error = errors[_i];
	f->kinds = kinds_for(f->error);
	for (f->at = 1; f->at == 1 || f->hits > 0; f->at++) {
		snprintf(where, sizeof(where), "%s at operation %lu of the restore",
			 strerror(f->error), f->at);
		host_cycle(h, &h->io, check_result);
		fault_io_reset(f);
		report = (struct restore_report){0};
		host_restore(h, &f->io, &report);
		for (size_t i = 0; i < report.n; i++)
			ck_assert_msg(*report.item[i].text, "%s: no text", where);
		restore_report_done(&report);
		after_the_storm(h, original);
	}
	ck_assert_uint_gt(f->at, f->error == ENOENT ? 15 : 30);
}
END_TEST

/* Half of the bytes arrive, in the ledger or in the kernel's file. */
START_TEST(every_short_write)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new((enum epp_kind)_i);
	_cleanup_free_ char *original = host_dump(h);

	for (h->short_at = 1;; h->short_at++) {
		snprintf(where, sizeof(where), "short write %lu", h->short_at);
		h->writes = 0;
		host_cycle(h, &h->io, check_result);
		if (h->writes < h->short_at)
			break;
		/* the restore's own writes are whole */
		h->writes = h->short_at;
		after_the_storm(h, original);
	}
	ck_assert_uint_gt(h->short_at, 20);
}
END_TEST

/* A kernel file may come in pieces. */
START_TEST(short_reads)
{
	_cleanup_(act_host_freep) struct act_host *h = act_host_new(EPP_INTEL);
	_cleanup_free_ char *original = host_dump(h);
	_cleanup_(fault_io_freep) struct fault_io *f = fault_io_new(&h->io);

	snprintf(where, sizeof(where), "reads of one byte");
	f->short_read = 1;
	n_failed = 0;
	host_cycle(h, &f->io, check_result);
	ck_assert_uint_eq(n_failed, 0);
	ck_assert_int_eq(host_restore(h, &f->io, NULL), 0);
	host_expect(h, original, where);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("errno");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	log_set_hook(silent, NULL);
	host_use_memory();
	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, every_errno_once, 0, (int)ELEMENTSOF(errors));
	tcase_add_loop_test(t, every_errno_from_then_on, 0, (int)ELEMENTSOF(lasting));
	tcase_add_loop_test(t, every_errno_in_the_restore, 0, (int)ELEMENTSOF(errors));
	tcase_add_loop_test(t, every_short_write, EPP_FREE, EPP_AMD + 1);
	tcase_add_test(t, short_reads);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
