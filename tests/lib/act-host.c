/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/act-host.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEVICE "devices/pci0000:00/0000:00:03.0"

static struct act_host *of(struct io *io)
{
	return (struct act_host *)((char *)io - offsetof(struct act_host, io));
}

/* The kernel's own doing: not counted, not refused. */
static void set(struct act_host *h, const char *dir, const char *name, const char *value)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	tree_printf(h->tree, path, "%s\n", value);
}

static bool holds(struct act_host *h, const char *dir, const char *name, const char *value)
{
	char path[512];
	_cleanup_free_ char *text = NULL;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	text = tree_read(h->tree, path);
	return streq(text, value);
}

/* What intel_pstate_hwp_set() and amd_pstate_epp_update_limit() do with EPP. */
static void governor_stored(struct act_host *h, const char *dir, bool was_performance,
			    bool performance)
{
	char saved[256];
	_cleanup_free_ char *text = NULL;

	if (h->epp == EPP_FREE || was_performance == performance)
		return;
	snprintf(saved, sizeof(saved), "hidden/%s", strrchr(dir, '/') + 1);
	if (performance) {
		char path[512];

		snprintf(path, sizeof(path), "%s/energy_performance_preference", dir);
		text = tree_read(h->tree, path);
		tree_write(h->tree, saved, text);
		set(h, dir, "energy_performance_preference", "performance");
	} else if (h->epp == EPP_INTEL && tree_has(h->tree, saved) &&
		   holds(h, dir, "energy_performance_preference", "performance")) {
		text = tree_read(h->tree, saved);
		set(h, dir, "energy_performance_preference", text);
	}
}

static int refuse(struct act_host *h, const char *path, const char *dir, const char *value)
{
	if (streq(path, "proc/sys/net/core/netdev_budget_usecs") && atoll(value) < h->usecs_floor)
		return -EINVAL;
	if (streq(path, "proc/sys/net/core/netdev_max_backlog") && h->backlog_ceiling &&
	    atoll(value) > h->backlog_ceiling)
		return -EINVAL;
	if (h->epp != EPP_FREE && strstr(path, "/energy_performance_preference") &&
	    holds(h, dir, "scaling_governor", "performance") &&
	    (h->epp_stuck || !streq(value, "performance")))
		return -EBUSY;
	return 0;
}

static int host_store(struct io *io, const char *path, const char *value)
{
	struct act_host *h = of(io);
	bool governor = strstr(path, "/scaling_governor") != NULL, was = false, shortened;
	char dir[256], half[VALUE_MAX];
	int r;

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	r = refuse(h, path, dir, value);
	if (r < 0)
		return r;
	if (governor)
		was = holds(h, dir, "scaling_governor", "performance");
	if (h->twist_path && streq(path, h->twist_path))
		value = h->twist_value;
	shortened = ++h->writes == h->short_at;
	if (shortened) {
		snprintf(half, sizeof(half), "%.*s", (int)(strlen(value) / 2), value);
		value = half;
	}
	h->stores++;
	r = h->plain->ops->store(h->plain, path, value);
	if (r >= 0 && governor)
		governor_stored(h, dir, was, streq(value, "performance"));
	return r >= 0 && shortened ? -EIO : r;
}

static int host_write(struct io *io, int fd, const void *buf, size_t size)
{
	struct act_host *h = of(io);

	if (++h->writes != h->short_at)
		return h->plain->ops->write(h->plain, fd, buf, size);
	h->plain->ops->write(h->plain, fd, buf, size / 2);
	return -EIO;
}

static uint64_t host_now(struct io *io, clockid_t clock _unused_)
{
	return of(io)->clock_usec;
}

static void make_irq(struct act_host *h, unsigned i, const char *affinity)
{
	struct irq *irq = &h->topology->irq[i];
	char dir[64];

	*irq = (struct irq){.number = 30 + i, .nic = 0, .queue = (int)i, .role = IRQ_RXTX};
	snprintf(irq->name, sizeof(irq->name), "eth0-TxRx-%u", i);
	snprintf(irq->identity, sizeof(irq->identity), DEVICE "|eth0-TxRx-%u", i);
	snprintf(dir, sizeof(dir), "proc/irq/%u", irq->number);
	set(h, dir, "smp_affinity_list", affinity);
	set(h, dir, "effective_affinity_list", "0");
	snprintf(dir, sizeof(dir), "sys/kernel/irq/%u", irq->number);
	set(h, dir, "actions", irq->name);
}

static void make_policy(struct act_host *h, unsigned i, const char *governor, const char *epp)
{
	struct policy *p = &h->topology->policy[i];
	char dir[96];

	*p = (struct policy){.number = 2 * i, .active = true, .have_epp = true};
	cpuset_add(&p->cpus, 2 * i);
	cpuset_add(&p->cpus, 2 * i + 1);
	snprintf(p->identity, sizeof(p->identity), "cpus:%u-%u", 2 * i, 2 * i + 1);
	snprintf(dir, sizeof(dir), "sys/devices/system/cpu/cpufreq/policy%u", p->number);
	set(h, dir, "scaling_governor", governor);
	set(h, dir, "scaling_available_governors", "performance powersave");
	set(h, dir, "energy_performance_preference", epp);
	set(h, dir, "energy_performance_available_preferences",
	    "default performance balance_performance balance_power power");
}

void host_use_memory(void)
{
	if (!getenv("TMPDIR") && access("/dev/shm", W_OK | X_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
}

struct act_host *act_host_new(enum epp_kind epp)
{
	struct act_host *h = calloc(1, sizeof(*h));
	struct topology *t = calloc(1, sizeof(*t));

	if (!h || !t)
		abort();
	h->topology = t;
	h->epp = epp;
	h->usecs_floor = 8000;
	h->clock_usec = 1000 * USEC_PER_SEC;
	h->tree = tree_new();
	h->plain = tree_io(h->tree);
	h->ops = *h->plain->ops;
	h->ops.store = host_store;
	h->ops.write = host_write;
	h->ops.now = host_now;
	h->io = (struct io){.ops = &h->ops, .root = h->plain->root, .live = false};

	t->n_cpus = 4;
	t->cpu = calloc(4, sizeof(*t->cpu));
	for (unsigned i = 0; i < 4; i++)
		cpuset_add(&t->online, i);
	t->possible = t->online;
	t->n_irqs = 3;
	t->irq = calloc(t->n_irqs, sizeof(*t->irq));
	t->n_policies = 2;
	t->policy = calloc(t->n_policies, sizeof(*t->policy));
	if (!t->cpu || !t->irq || !t->policy)
		abort();

	set(h, "proc/sys/kernel/random", "boot_id", "6f1d1a3e-0000-4000-8000-000000000001");
	set(h, "proc/sys/net/core", "netdev_budget", "300");
	set(h, "proc/sys/net/core", "netdev_budget_usecs", "8000");
	set(h, "proc/sys/net/core", "dev_weight", "64");
	set(h, "proc/sys/net/core", "netdev_max_backlog", "1000");
	set(h, "proc/sys/net/core", "busy_poll", "0");
	set(h, "proc/sys/net/core", "busy_read", "0");
	set(h, "proc/irq", "default_smp_affinity", "f");
	make_irq(h, 0, "0-3");
	make_irq(h, 1, "0,2-3");
	make_irq(h, 2, "1");
	make_policy(h, 0, "powersave", "balance_performance");
	make_policy(h, 1, "performance", "performance");
	tree_write(h->tree, "hidden/policy2", "balance_performance");
	return h;
}

void act_host_free(struct act_host *h)
{
	topology_free(h->topology);
	io_free(h->plain);
	tree_free(h->tree);
	free(h);
}

struct target host_irq(const struct act_host *h, unsigned number)
{
	return irq_target(topology_irq(h->topology, number));
}

struct target host_policy(const struct act_host *h, unsigned number)
{
	return policy_target(&h->topology->policy[number / 2]);
}

struct change host_change(enum tunable_id id, struct target target, const char *to)
{
	struct change c = {.tunable = id, .target = target, .class = CLASS_POLICY};

	snprintf(c.id, sizeof(c.id), "test-%s-%u", tunables[id].id, target.number);
	snprintf(c.to, sizeof(c.to), "%s", to);
	return c;
}

char *host_dump(const struct act_host *h)
{
	_cleanup_(strv_freep) char **files = tree_files(h->tree);
	char *dump = NULL;
	size_t size;
	FILE *f = open_memstream(&dump, &size);

	for (char **path = files; *path; path++) {
		_cleanup_free_ char *text = NULL;

		if (startswith(*path, "run/") || startswith(*path, "hidden/"))
			continue;
		ck_assert_int_ge(io_read_all(h->plain, *path, &text, NULL), 0);
		fprintf(f, "%s=%s", *path, text);
	}
	fclose(f);
	return dump;
}

void host_expect(const struct act_host *h, const char *dump, const char *when)
{
	_cleanup_free_ char *now = host_dump(h);
	const char *a = dump, *b = now;

	if (streq(dump, now))
		return;
	while (*a && *a == *b) {
		a++;
		b++;
	}
	/* Both lines from their beginnings, which are as far back in both. */
	while (a > dump && a[-1] != '\n') {
		a--;
		b--;
	}
	ck_abort_msg("%s: the tree differs: was \"%.*s\", is \"%.*s\"", when, (int)strcspn(a, "\n"),
		     a, (int)strcspn(b, "\n"), b);
}

int act_session_open(struct io *io, struct act_session *s)
{
	pid_t pid;
	int r;

	*s = (struct act_session){0};
	r = ledger_open(io, true, &pid, &s->ledger);
	if (r < 0)
		return r;
	r = actuator_new(io, s->ledger, 0, &s->actuator);
	if (r < 0)
		act_session_close(s);
	return r;
}

void act_session_close(struct act_session *s)
{
	actuator_free(TAKE_PTR(s->actuator));
	ledger_free(TAKE_PTR(s->ledger));
}

int host_restore(struct act_host *h, struct io *io, struct restore_report *report)
{
	struct restore_report own;
	struct act_session s;
	int r;

	r = act_session_open(io, &s);
	if (r < 0)
		return r;
	r = restore_all(s.actuator, s.ledger, h->topology, report ? report : &own);
	if (!report)
		restore_report_done(&own);
	act_session_close(&s);
	return r;
}

void host_expect_no_ledger(const struct act_host *h, const char *when)
{
	_cleanup_(strv_freep) char **files = tree_files(h->tree);

	for (char **path = files; *path; path++)
		if (startswith(*path, "run/") && !streq(*path, "run/softnetd/lock"))
			ck_abort_msg("%s: %s is left", when, *path);
}

void host_cycle(struct act_host *h, struct io *io, void (*check)(const struct result *r, int ret))
{
	const struct {
		enum tunable_id id;
		struct target target;
		const char *to, *epp;
	} steps[] = {
		{TUNABLE_NETDEV_BUDGET, target_host(), "450", NULL},
		{TUNABLE_NETDEV_MAX_BACKLOG, target_host(), "2000", NULL},
		{TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "2", NULL},
		{TUNABLE_NETDEV_BUDGET, target_host(), "675", NULL},
		{TUNABLE_IRQ_AFFINITY, host_irq(h, 31), "1,3", NULL},
		{TUNABLE_GOVERNOR, host_policy(h, 0), "performance", "performance"},
		{TUNABLE_GOVERNOR, host_policy(h, 2), "powersave", "balance_power"},
		{TUNABLE_IRQ_AFFINITY, host_irq(h, 30), "3", NULL},
		{TUNABLE_BUSY_POLL, target_host(), "50", NULL},
		{TUNABLE_GOVERNOR, host_policy(h, 0), "powersave", "power"},
		{TUNABLE_NETDEV_BUDGET, target_host(), "675", NULL},
	};
	_cleanup_free_ struct change *c = calloc(2, sizeof(*c));
	_cleanup_free_ struct result *ret = calloc(2, sizeof(*ret));
	struct act_session s;
	struct target host = target_host();
	int r;

	if (!c || !ret)
		abort();
	if (act_session_open(io, &s) < 0)
		return;
	for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
		size_t n = steps[i].epp ? 2 : 1;

		c[0] = host_change(steps[i].id, steps[i].target, steps[i].to);
		if (n == 2)
			c[1] = host_change(TUNABLE_ENERGY_PREFERENCE, steps[i].target,
					   steps[i].epp);
		r = act_apply_coupled(s.actuator, h->topology, c, n, ON_FOREIGN_YIELD, ret);
		for (size_t k = 0; check && k < n; k++)
			check(&ret[k], n == 1 ? r : ret[k].error);
	}
	r = act_release(s.actuator, h->topology, TUNABLE_NETDEV_MAX_BACKLOG, &host, ret);
	if (check)
		check(ret, r);
	act_session_close(&s);
}
