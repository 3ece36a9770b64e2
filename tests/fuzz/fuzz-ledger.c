/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lies in /run/softnetd after another daemon: ledger.json, whatever its bytes, gives the kernel no
 * value that is none of its setting, is lost by no change made on top of it, and is read again as it
 * was; and holds.json likewise. The first byte says which of the two.
 */
#include "fuzz/fuzz.h"
#include "act/act.h"
#include "act/ledger.h"
#include "act/restore.h"
#include "base/log.h"
#include "lib/files.h"
#include "serve/holds-file.h"

#define BOOT   "6f1d1a3e-0000-4000-8000-000000000001"
#define LEDGER "run/softnetd/ledger.json"
#define HOLDS  "run/softnetd/holds.json"

static size_t unknown(const struct ledger *l)
{
	const char *id, *identity;
	size_t n = 0;

	while (ledger_unknown(l, n, &id, &identity)) {
		must(id && identity);
		n++;
	}
	return n;
}

static size_t of_this_boot(const struct ledger *l)
{
	size_t n = 0;

	for (size_t i = 0; i < ledger_size(l); i++)
		n += !ledger_at(l, i)->other_boot;
	return n;
}

static void check_entries(const struct ledger *l)
{
	char value[VALUE_MAX];

	for (size_t i = 0; i < ledger_size(l); i++) {
		const struct ledger_entry *e = ledger_at(l, i);
		const struct tunable *t = &tunables[e->tunable];

		must(e->tunable < _TUNABLE_MAX && strlen(e->identity) < IDENTITY_MAX);
		must(tunable_canonical(t, e->original, false, value, sizeof(value)) >= 0);
		must(tunable_canonical(t, e->written, false, value, sizeof(value)) >= 0);
	}
}

static void open_ledger(struct files *f, struct ledger **l)
{
	pid_t pid;

	must(ledger_open(&f->io, true, &pid, l) == 0);
}

/* A change on top of it, and a second daemon that reads what that one left. */
static void change(struct files *f)
{
	struct change c = {.tunable = TUNABLE_DEV_WEIGHT, .target = target_host()};
	struct ledger *l;
	size_t n, others;
	bool known;
	int r;

	open_ledger(f, &l);
	n = of_this_boot(l);
	others = unknown(l);
	known = ledger_find(l, c.tunable, c.target.identity) != NULL;
	r = ledger_enter(l, &c, "64", "32");
	must(r == 0 || ledger_trouble(l));
	ledger_free(l);
	if (r < 0)
		return;
	open_ledger(f, &l);
	must(!ledger_trouble(l));
	must(of_this_boot(l) == n + !known && unknown(l) == others);
	ledger_free(l);
}

static void restore(struct files *f)
{
	struct topology t = {};
	struct restore_report report;
	struct actuator *a;
	struct ledger *l;

	open_ledger(f, &l);
	must(actuator_new(&f->io, l, 0, &a) == 0);
	(void)restore_all(a, l, &t, &report);
	for (size_t i = 0; i < report.n; i++)
		must(report.item[i].text[0]);
	restore_report_done(&report);
	actuator_free(a);
	ledger_free(l);
}

static void ledger(struct files *f)
{
	static const char *const names[] = {"netdev_budget", "netdev_budget_usecs", "busy_poll"};
	struct ledger *l;

	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		char path[64];

		format_into(path, sizeof(path), "proc/sys/net/core/%s", names[i]);
		files_put(f, path, "450\n", 4);
	}
	open_ledger(f, &l);
	check_entries(l);
	ledger_free(l);
	change(f);
	restore(f);
}

static void holds(struct files *f)
{
	struct kept_holds first, second;

	if (kept_holds_read(&f->io, &first) < 0) {
		must(first.n == 0);
		return;
	}
	must(first.n <= KEPT_HOLDS_MAX);
	must(kept_holds_write(&f->io, &first) == 0);
	must(kept_holds_read(&f->io, &second) == 0 && second.n == first.n);
	for (size_t i = 0; i < first.n; i++)
		must(second.hold[i].pid == first.hold[i].pid &&
		     second.hold[i].start == first.hold[i].start &&
		     streq(second.hold[i].profile, first.hold[i].profile) &&
		     streq(second.hold[i].reason, first.hold[i].reason));
	kept_holds_done(&second);
	kept_holds_done(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct files f;

	if (size == 0)
		return 0;
	log_set_hook(silent, NULL);
	files_init(&f);
	files_put(&f, "proc/sys/kernel/random/boot_id", BOOT "\n", strlen(BOOT) + 1);
	if (data[0] == 'h') {
		files_put(&f, HOLDS, data + 1, size - 1);
		holds(&f);
	} else {
		files_put(&f, LEDGER, data + 1, size - 1);
		ledger(&f);
	}
	files_done(&f);
	return 0;
}
