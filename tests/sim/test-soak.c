/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A long life: the real engine over a host whose load, links, interrupts, CPUs, profiles and rivals
 * come and go, for SOAK_TICKS ticks (environment; `make soak` takes 100,000). Memory and descriptors
 * at the end are those of the beginning, the log has a line for what happened and none for time that
 * passed, and at the end every original is back.
 */
#include <dirent.h>
#include <malloc.h>

#include "lib/run.h"
#include "sim/host.h"

/* What `make check` has time for. The engine's history is full after some 4,000 ticks of this. */
#ifdef __SANITIZE_ADDRESS__
#define SHORT_SOAK 1500
#else
#define SHORT_SOAK 10000
#endif
#define LONG_ENOUGH 10000

static const char *const profile[] = {
	[0] = "netdev_budget = [300, 1200];\nnetdev_budget_usecs = [2000, 20000];\n"
	      "netdev_max_backlog = [1000, 8000];\n",
	[1] = "inherits = \"test\";\nbusy_poll = 50;\nbusy_read = 50;\nplacement = \"spread\";\n"
	      "governor = \"performance\";\n",
	[2] = "inherits = \"test\";\nplacement = \"pack\";\nnetdev_budget = 500;\n",
	[3] = "inherits = \"nobody\";\nbusy_pol = 1;\n", /* never usable */
};
static const char *const profile_file[] = {"profiles/test.conf", "profiles/one.conf",
					   "profiles/two.conf", "profiles/bad.conf"};
static const char *const profile_name[] = {"test", "one", "two", "bad"};

struct soak {
	struct live l;
	uint64_t random;
	unsigned log_lines, happened;
	bool gone[2]; /* eth0, eth1 */
	char *link[2];
	bool reset;
	uint32_t hold;
};

static void count_line(enum log_level level, const char *line, void *userdata)
{
	struct soak *s = userdata;

	(void)level;
	(void)line;
	s->log_lines++;
}

static unsigned dice(struct soak *s, unsigned n)
{
	s->random = s->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(s->random >> 33) % n;
}

static unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void link_comes_or_goes(struct soak *s, unsigned i)
{
	struct machine *m = s->l.m;
	char path[64];

	snprintf(path, sizeof(path), "sys/class/net/eth%u", i);
	if (!s->link[i]) {
		char target[512];
		ssize_t n = m->io.ops->readlink(&m->io, path, target, sizeof(target));

		ck_assert_int_gt(n, 0);
		s->link[i] = strdup(target);
	}
	if (s->gone[i])
		tree_link(m->tree, path, s->link[i]);
	else
		tree_remove(m->tree, path);
	s->gone[i] = !s->gone[i];
	engine_note_link_change(s->l.e);
}

/* A driver reset: the same interrupts with other numbers. */
static void numbers_change(struct soak *s)
{
	struct machine *m = s->l.m;

	for (unsigned i = 0; i < m->n_irqs; i++)
		if (m->irq[i].nic >= 0)
			m->irq[i].number =
				s->reset ? m->irq[i].number - 100 : m->irq[i].number + 100;
	s->reset = !s->reset;
	machine_layout_irqs(m);
	engine_note_link_change(s->l.e);
}

static void something_happens(struct soak *s)
{
	struct live *l = &s->l;
	char why[512];

	s->happened++;
	switch (dice(s, 12)) {
	case 0:
	case 1:
	case 2:
		for (unsigned i = 0; i < l->r.n_queues; i++)
			l->r.queue[i].pps = dice(s, 4) * 40000.0 * (1 + dice(s, 3));
		break;
	case 3:
		link_comes_or_goes(s, dice(s, 2));
		break;
	case 4:
		numbers_change(s);
		break;
	case 5: {
		unsigned cpu = 1 + dice(s, 3);
		bool online = !l->m->cpu[cpu].online;

		machine_set_online(l->m, cpu, online);
		receive_set_online(&l->r, cpu, online);
		break;
	}
	case 6: {
		/* a profile by name; "bad" is refused */
		_cleanup_(complaints_done) struct complaints c = {};

		engine_set_profile(l->e, profile_name[dice(s, 4)], &c);
		break;
	}
	case 7: {
		_cleanup_(complaints_done) struct complaints c = {};

		if (s->hold) {
			ck_assert_int_eq(engine_release_hold(l->e, s->hold), 0);
			s->hold = 0;
		} else {
			engine_hold(l->e, profile_name[dice(s, 3)], "pid 1", "soak", &s->hold, &c);
		}
		break;
	}
	case 8: {
		/* the file of a profile is broken, and mended */
		_cleanup_(complaints_done) struct complaints c = {};

		tree_write(l->config, profile_file[1], dice(s, 2) ? profile[1] : "busy_poll = ;\n");
		engine_reload(l->e, &c);
		break;
	}
	case 9:
		live_write_setting(l, dice(s, 2) ? "netdev_budget" : "busy_poll",
				   17 + dice(s, 300));
		break;
	case 10:
		if (dice(s, 2))
			engine_set(l->e, "busy_poll", "", "25", why);
		else
			engine_release(l->e, "busy_poll", "", why);
		break;
	case 11:
		/* what every face may ask at any time */
		json_decref(engine_status(l->e));
		json_decref(engine_history(l->e));
		json_decref(engine_settings(l->e, NULL));
		json_decref(engine_diagnosis(l->e));
		break;
	}
}

/* The state that is measured is one and the same: all there, nothing held or chosen, no load. */
static void calm_down(struct soak *s)
{
	_cleanup_(complaints_done) struct complaints c = {};
	char why[512];

	for (unsigned i = 0; i < 2; i++)
		if (s->gone[i])
			link_comes_or_goes(s, i);
	if (s->reset)
		numbers_change(s);
	for (unsigned cpu = 1; cpu < 4; cpu++)
		if (!s->l.m->cpu[cpu].online) {
			machine_set_online(s->l.m, cpu, true);
			receive_set_online(&s->l.r, cpu, true);
		}
	for (unsigned i = 0; i < s->l.r.n_queues; i++)
		s->l.r.queue[i].pps = 0;
	if (s->hold)
		engine_release_hold(s->l.e, s->hold);
	s->hold = 0;
	engine_release(s->l.e, "busy_poll", "", why);
	tree_write(s->l.config, profile_file[1], profile[1]);
	ck_assert_int_eq(engine_reload(s->l.e, &c), 0);
	ck_assert_int_eq(engine_set_profile(s->l.e, NULL, &c), 0);
	live_run(&s->l, 60);
}

START_TEST(a_long_life)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_I40E, .queues = 4},
		{.name = "eth1", .kind = MACHINE_VIRTIO, .queues = 2},
	};
	const struct machine_spec spec = {
		.cpus = 4, .nics = nics, .n_nics = 2, .cpufreq = "acpi-cpufreq"};
	const char *env = getenv("SOAK_TICKS");
	unsigned ticks = env ? (unsigned)atoi(env) : SHORT_SOAK;
	struct soak s = {.random = 42};
	size_t used = 0, used_at_end;
	unsigned fds = 0;

	ck_assert_uint_ge(ticks, 1000);
	live_boot(&s.l, &spec);
	log_set_hook(count_line, &s);
	for (unsigned i = 1; i < ELEMENTSOF(profile); i++)
		tree_write(s.l.config, profile_file[i], profile[i]);
	for (unsigned q = 0; q < 4; q++) {
		char name[32];

		snprintf(name, sizeof(name), "i40e-eth0-TxRx-%u", q);
		live_queue(&s.l, name)->noise = 0.1;
	}
	live_start(&s.l, profile[0]);
	for (unsigned t = 0; t < ticks; t++) {
		if (t == ticks / 2) {
			calm_down(&s);
			used = mallinfo2().uordblks;
			fds = descriptors();
		}
		if (t % 5 == 0 && dice(&s, 2) == 0)
			something_happens(&s);
		live_run(&s.l, 1);
	}
	calm_down(&s);
	used_at_end = mallinfo2().uordblks;
	fprintf(stderr,
		"soak: %u ticks, %u events, %u writes, %u log lines, %zu kB in use after half, %zu at the end, %u descriptors\n",
		ticks, s.happened, s.l.writes, s.log_lines, used / 1024, used_at_end / 1024, fds);
	ck_assert_uint_eq(descriptors(), fds);
	if (ticks >= LONG_ENOUGH)
		ck_assert_uint_le(used_at_end, used + 128 * 1024);
	ck_assert_uint_le(s.log_lines, 2 * s.happened);
	engine_stop(s.l.e);
	ck_assert(!tree_has(s.l.m->tree, "run/softnetd/ledger.json"));
	free(s.link[0]);
	free(s.link[1]);
	live_done(&s.l);
	log_set_hook(NULL, NULL);
	/* check packs a test's duration into 32 bits of microseconds, and calls a life of more than 35
	 * minutes an error: it does not get to measure this one. */
	exit(EXIT_SUCCESS);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("life");

	/* 100,000 ticks are five minutes of a CPU; on a busy machine that may be an hour. */
	tcase_set_timeout(t, 7200);
	tcase_add_exit_test(t, a_long_life, EXIT_SUCCESS);
	return run_suite("soak", t);
}
