/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/softirq-stat.h"

#include "base/scan.h"
#include "observe/status.h"

#define COLUMNS_MAX 256 /* the series has 23; a longer line is no table of this kernel's */
#define IDLE_PREFIX "idle_"

/* Where a column's number goes in a struct cpu_sample. */
struct column {
	const char *name;
	uint16_t offset; /* of a uint64_t, to which the number is added */
};
#define COLUMN(name, member)                              \
	{                                                 \
		name, offsetof(struct cpu_sample, member) \
	}
static const struct column needed[] = {
	COLUMN("time", handover[HANDOVER_TIME]),
	COLUMN("resched", handover[HANDOVER_RESCHED]),
	COLUMN("count", handover[HANDOVER_COUNT]),
	COLUMN("policy", handover[HANDOVER_POLICY]),
	COLUMN("k_time", own_handover[HANDOVER_TIME]),
	COLUMN("k_resched", own_handover[HANDOVER_RESCHED]),
	COLUMN("k_count", own_handover[HANDOVER_COUNT]),
	COLUMN("k_policy", own_handover[HANDOVER_POLICY]),
	COLUMN("wake_raise", ksoftirqd_wakes),
	COLUMN("wake_irq_exit", ksoftirqd_wakes),
	COLUMN("wake_bh_enable", ksoftirqd_wakes),
	COLUMN("idle_NET_TX", nohz_pending[SOFTIRQ_NET_TX]),
	COLUMN("idle_NET_RX", nohz_pending[SOFTIRQ_NET_RX]),
};

struct table {
	struct slice rest;
	unsigned line;
	bool cut; /* the text does not end with a newline */
	struct complaints *complaints;
	unsigned n;                  /* columns, that of the CPU included */
	int16_t offset[COLUMNS_MAX]; /* in struct cpu_sample; -1: nothing here reads it */
};

static bool next_line(struct table *t, struct slice *ret)
{
	t->line++;
	return slice_line(&t->rest, ret);
}

static int read_version(struct table *t)
{
	char shown[48];
	struct slice line;

	if (!next_line(t, &line)) {
		complain(t->complaints, NULL, 0, "it is empty");
		return -EBADMSG;
	}
	if (slice_is(line, "version 1"))
		return 0;
	slice_show(line, shown, sizeof(shown));
	complain(t->complaints, NULL, t->line, "\"%s\" is no version that this softnetd knows",
		 shown);
	return -EBADMSG;
}

/* ---- "limits policy=default clock=jiffies tick_us=4000 …" ---- */

enum limit_key {
	LIMIT_POLICY,
	LIMIT_CLOCK,
	LIMIT_TICK,
	LIMIT_TIME,
	LIMIT_EFFECTIVE_TIME,
	LIMIT_MAX_RESTART,
	LIMIT_EFFECTIVE_PASSES,
	_LIMIT_MAX,
};
static const char *const limit_keys[_LIMIT_MAX] = {
	"policy=",           "clock=", "tick_us=", "time_us=", "effective_time_us=", "max_restart=",
	"effective_passes=",
};

static int number_of(struct slice value, uint32_t *ret)
{
	uint64_t v;

	if (slice_decimal(value, UINT32_MAX, &v) < 0)
		return -EBADMSG;
	*ret = (uint32_t)v;
	return 0;
}

static int take_limit(enum limit_key key, struct slice value, struct softirq_limits *l)
{
	switch (key) {
	case LIMIT_POLICY:
		if (slice_length(value) == 0 || slice_length(value) >= sizeof(l->policy))
			return -EBADMSG;
		slice_show(value, l->policy, sizeof(l->policy));
		return 0;
	case LIMIT_CLOCK:
		l->precise = slice_is(value, "local");
		return l->precise || slice_is(value, "jiffies") ? 0 : -EBADMSG;
	case LIMIT_TICK:
		return number_of(value, &l->tick_usec);
	case LIMIT_TIME:
		return number_of(value, &l->time_usec);
	case LIMIT_EFFECTIVE_TIME:
		l->timed = !slice_is(value, "none");
		return l->timed ? number_of(value, &l->effective_usec) : 0;
	case LIMIT_MAX_RESTART:
		return number_of(value, &l->max_restart);
	case LIMIT_EFFECTIVE_PASSES:
		return number_of(value, &l->effective_passes);
	case _LIMIT_MAX:
		break;
	}
	return 0;
}

/* A line that cannot be understood costs only itself: the counters below stand for themselves. */
static int read_limits(struct table *t, struct softirq_limits *ret)
{
	struct softirq_limits l = {};
	struct slice line, word;
	unsigned seen = 0;

	if (!next_line(t, &line) || !slice_word(&line, &word) || !slice_is(word, "limits")) {
		complain(t->complaints, NULL, t->line, "the line of limits is not there");
		return -EBADMSG;
	}
	while (slice_word(&line, &word)) {
		for (int key = 0; key < _LIMIT_MAX; key++) {
			struct slice value = word;

			if (!slice_starts(word, limit_keys[key]))
				continue;
			value.at += strlen(limit_keys[key]);
			if (seen & 1U << key || take_limit((enum limit_key)key, value, &l) < 0) {
				complain(t->complaints, NULL, t->line,
					 "limits: %stwice, or no value that this softnetd knows",
					 limit_keys[key]);
				return 0;
			}
			seen |= 1U << key;
		}
	}
	if (seen != (1U << _LIMIT_MAX) - 1) {
		complain(t->complaints, NULL, t->line, "limits: pairs are missing");
		return 0;
	}
	l.have = true;
	*ret = l;
	return 0;
}

/* ---- the table ---- */

/* -1: no such column. */
static int16_t offset_of(struct slice name)
{
	for (size_t i = 0; i < ELEMENTSOF(needed); i++)
		if (slice_is(name, needed[i].name))
			return (int16_t)needed[i].offset;
	if (slice_is(name, "idle_blocked"))
		return offsetof(struct cpu_sample, nohz_blocked);
	if (!slice_starts(name, IDLE_PREFIX))
		return -1;
	name.at += strlen(IDLE_PREFIX);
	for (size_t v = 0; v < _SOFTIRQ_MAX; v++)
		if (slice_is(name, softirq_names[v]))
			return (int16_t)(offsetof(struct cpu_sample, nohz_pending) +
					 v * sizeof(uint64_t));
	return -1;
}

static int read_header(struct table *t)
{
	unsigned seen[ELEMENTSOF(needed)] = {};
	struct slice line, word;

	if (!next_line(t, &line) || !slice_word(&line, &word) || !slice_is(word, "cpu")) {
		complain(t->complaints, NULL, t->line, "the line of column names is not there");
		return -EBADMSG;
	}
	t->offset[t->n++] = -1;
	while (slice_word(&line, &word)) {
		if (t->n == COLUMNS_MAX) {
			complain(t->complaints, NULL, t->line, "more than %d columns", COLUMNS_MAX);
			return -EBADMSG;
		}
		t->offset[t->n++] = offset_of(word);
		for (size_t i = 0; i < ELEMENTSOF(needed); i++)
			seen[i] += slice_is(word, needed[i].name);
	}
	for (size_t i = 0; i < ELEMENTSOF(needed); i++) {
		if (seen[i] == 1)
			continue;
		complain(t->complaints, NULL, t->line, "column %s is %s", needed[i].name,
			 seen[i] ? "there twice" : "missing");
		return -EBADMSG;
	}
	return 0;
}

/* Fills RET, all zero before; -EBADMSG with a complaint. */
static int read_row(struct table *t, struct slice line, unsigned *ret_cpu, struct cpu_sample *ret)
{
	struct slice word;
	unsigned n = 0;
	uint64_t v;

	for (; slice_word(&line, &word); n++) {
		if (slice_decimal(word, n == 0 ? CPU_ID_MAX - 1 : UINT64_MAX, &v) < 0) {
			char bad[32];

			slice_show(word, bad, sizeof(bad));
			complain(t->complaints, NULL, t->line, "row refused: \"%s\" is no %s", bad,
				 n == 0 ? "CPU" : "count");
			return -EBADMSG;
		}
		if (n == 0)
			*ret_cpu = (unsigned)v;
		else if (n < t->n && t->offset[n] >= 0)
			*(uint64_t *)(void *)((char *)ret + t->offset[n]) += v;
	}
	if (n == t->n)
		return 0;
	complain(t->complaints, NULL, t->line, "row refused: %u numbers for %u columns", n, t->n);
	return -EBADMSG;
}

static void take_row(const struct cpu_sample *row, struct cpu_sample *c)
{
	memcpy(c->handover, row->handover, sizeof(c->handover));
	memcpy(c->own_handover, row->own_handover, sizeof(c->own_handover));
	c->ksoftirqd_wakes = row->ksoftirqd_wakes;
	memcpy(c->nohz_pending, row->nohz_pending, sizeof(c->nohz_pending));
	c->nohz_blocked = row->nohz_blocked;
	c->have |= HAVE_SOFTIRQ_STAT;
}

static void read_rows(struct table *t, struct snapshot *s)
{
	struct cpuset seen = {}, twice = {};
	struct slice line;

	while (next_line(t, &line)) {
		struct cpu_sample row = {};
		unsigned cpu = 0;

		if (slice_length(slice_strip(line)) == 0)
			continue;
		if (t->cut && t->rest.at == t->rest.end) {
			complain(t->complaints, NULL, t->line, "row refused: it is cut off");
			break;
		}
		if (read_row(t, line, &cpu, &row) < 0 || cpu >= s->n_cpus)
			continue;
		if (cpuset_has(&seen, cpu)) {
			complain(t->complaints, NULL, t->line, "CPU %u has two rows", cpu);
			cpuset_add(&twice, cpu);
		}
		cpuset_add(&seen, cpu);
		take_row(&row, &s->cpu[cpu]);
	}
	cpuset_for_each (cpu, &twice)
		s->cpu[cpu].have &= ~(uint32_t)HAVE_SOFTIRQ_STAT;
	if (cpuset_empty(&seen))
		complain(t->complaints, NULL, 0, "no CPU has a row");
}

void softirq_stat_into_snapshot(const char *text, size_t length, struct snapshot *s)
{
	_cleanup_(complaints_done) struct complaints c = {};
	struct table t = {.rest = slice_of(text, length),
			  .cut = length == 0 || text[length - 1] != '\n',
			  .complaints = &c};

	if (read_version(&t) >= 0 && read_limits(&t, &s->limits) >= 0 && read_header(&t) >= 0)
		read_rows(&t, s);
	source_judged(s, SOURCE_SOFTIRQ_STAT, &c);
}
