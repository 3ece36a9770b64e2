/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/decision.h"

const char *symptom_to_string(enum symptom s)
{
	static const char *const names[_SYMPTOM_MAX] = {
		[SYMPTOM_NONE] = "none",
		[SYMPTOM_BACKLOG_DROP] = "backlog-drop",
		[SYMPTOM_SQUEEZED] = "squeezed",
		[SYMPTOM_HOT_CPU] = "hot-cpu",
		[SYMPTOM_KSOFTIRQD_LAG] = "ksoftirqd-lag",
		[SYMPTOM_SOFTIRQ_HOG] = "softirq-hog",
		[SYMPTOM_IRQ_LEAKED] = "irq-leaked",
		[SYMPTOM_IRQ_PINGPONG] = "irq-pingpong",
		[SYMPTOM_NOHZ_NET] = "nohz-net",
		[SYMPTOM_LOW_RATE] = "low-rate",
		[SYMPTOM_POLL_BURN] = "poll-burn",
		[SYMPTOM_STALLED] = "stalled",
		[SYMPTOM_BLIND] = "blind",
	};

	return names[s];
}

const char *squeeze_cause_to_string(enum squeeze_cause c)
{
	static const char *const names[] = {"unknown", "packets", "time"};

	return names[c];
}

const char *handed_to_string(enum handed h)
{
	static const char *const names[] = {"unknown", "never", "time",
					    "resched", "count", "policy"};

	return names[h];
}

const char *change_class_to_string(enum change_class c)
{
	static const char *const names[] = {"policy", "trial", "manual", "restore"};

	return names[c];
}

const char *outcome_to_string(enum outcome o)
{
	static const char *const names[] = {
		[OUTCOME_DONE] = "done",           [OUTCOME_PENDING] = "pending",
		[OUTCOME_UNCHANGED] = "unchanged", [OUTCOME_FOREIGN] = "foreign",
		[OUTCOME_REFUSED] = "refused",     [OUTCOME_UNSUPPORTED] = "unsupported",
		[OUTCOME_MANAGED] = "managed",     [OUTCOME_READ_ONLY] = "read-only",
		[OUTCOME_DIFFERENT] = "different", [OUTCOME_ADVISED] = "advised",
	};

	return names[o];
}

const char *proof_to_string(enum proof p)
{
	static const char *const names[] = {"", "unverifiable", "due", "verified", "contradicted"};

	return names[p];
}

/* FNV-1a: short, stable across runs; identities of interrupts are far too long for an id. */
static uint32_t hash_text(const char *s)
{
	uint32_t h = 2166136261U;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619U;
	return h;
}

void change_name(struct change *c)
{
	const char *why = c->symptom != SYMPTOM_NONE ? symptom_to_string(c->symptom)
						     : change_class_to_string(c->class);

	c->id[0] = '\0';
	append_text(c->id, sizeof(c->id), "%s", tunables[c->tunable].id);
	if (c->target.scope != SCOPE_HOST)
		append_text(c->id, sizeof(c->id), "-%08x", hash_text(c->target.identity));
	append_text(c->id, sizeof(c->id), "-%s", why);
}

/* The words an id may end with. */
static bool is_occasion(const char *word)
{
	for (int s = SYMPTOM_NONE + 1; s < _SYMPTOM_MAX; s++)
		if (streq(word, symptom_to_string((enum symptom)s)))
			return true;
	for (int c = CLASS_POLICY; c <= CLASS_RESTORE; c++)
		if (streq(word, change_class_to_string((enum change_class)c)))
			return true;
	return false;
}

bool change_id_ok(const char *id)
{
	static const char hex[] = "0123456789abcdef";

	/* No setting's id holds a dash. */
	for (size_t i = 0; i < _TUNABLE_MAX; i++) {
		size_t n = strlen(tunables[i].id);

		if (!startswith(id, tunables[i].id) || id[n] != '-')
			continue;
		id += n + 1;
		if (tunables[i].scope != SCOPE_HOST) {
			if (strspn(id, hex) != 8 || id[8] != '-')
				return false;
			id += 9;
		}
		return is_occasion(id);
	}
	return false;
}

/* The last word of where a setting is in generic netlink is its name there. */
static const char *netlink_name(const struct change *c)
{
	return strrchr(tunables[c->tunable].netlink, ' ') + 1;
}

static int coalesce_command(const struct change *c, char *buf, size_t size)
{
	const struct tunable *t = &tunables[c->tunable];
	const char *value = c->to;

	if (t->words)
		value = streq(c->to, "0") ? t->words[0] : t->words[1];
	return format_into(buf, size, "ethtool -C %s %s %s", c->target.nic, netlink_name(c), value);
}

/* By the kernel's own tool: no other has it yet. */
static int napi_command(const struct change *c, char *buf, size_t size)
{
	return format_into(buf, size,
			   "ynl --family netdev --do napi-set --json '{\"id\": %u, \"%s\": %s}'",
			   c->target.number, netlink_name(c), c->to);
}

int change_command(const struct change *c, char *buf, size_t size)
{
	const struct tunable *t = &tunables[c->tunable];
	char path[256], text[VALUE_MAX];
	int r;

	if (c->tunable == TUNABLE_NAPI_THREAD_AFFINITY)
		r = format_into(buf, size, "taskset -pc %s %u", c->to, c->target.number);
	else if (t->scope == SCOPE_SOCKET)
		r = -ENOENT; /* there is no command for it */
	else if (t->scope == SCOPE_NIC)
		r = coalesce_command(c, buf, size);
	else if (c->target.scope == SCOPE_NAPI)
		r = napi_command(c, buf, size);
	else
		r = 0;
	if (r != 0)
		return MIN(r, 0);
	r = target_path(c->tunable, &c->target, path, sizeof(path));
	if (r < 0)
		return r;
	if (startswith(path, "proc/sys/")) {
		char key[256];

		strcpy(key, path + strlen("proc/sys/"));
		for (char *k = key; *k; k++)
			if (*k == '/')
				*k = '.';
		r = format_into(buf, size, "sysctl -w %s=%s", key, c->to);
	} else if (t->type == VALUE_SCHED) {
		const char *colon = strchr(c->to, ':');

		r = format_into(buf, size, "chrt --%s -p %s %u",
				startswith(c->to, "rr:") ? "rr" : "fifo", colon ? colon + 1 : c->to,
				c->target.number);
	} else if (t->held) {
		int64_t v = 0;

		/* A binary s32, for as long as this shell lives. */
		(void)parse_i64(c->to, &v);
		r = format_into(buf, size, "exec 9> /%s; printf '\\x%02x\\x%02x\\x%02x\\x%02x' >&9",
				path, (unsigned)v & 0xff, (unsigned)v >> 8 & 0xff,
				(unsigned)v >> 16 & 0xff, (unsigned)v >> 24 & 0xff);
	} else {
		r = tunable_file_text(t, c->to, text, sizeof(text));
		if (r >= 0)
			r = format_into(buf, size, "echo %s > /%s", text, path);
	}
	return r < 0 ? r : 0;
}

unsigned reports_on_new_host(struct symptom_report *list, unsigned n)
{
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++)
		if (list[i].nic < 0 && list[i].irq < 0)
			list[left++] = list[i];
	return left;
}

void unmet_note(struct unmet *unmet, const struct change *c, enum outcome outcome, const char *now)
{
	struct unmet *u = &unmet[c->tunable];
	bool same = u->n > 0 && streq(u->target.identity, c->target.identity);

	if (c->class != CLASS_POLICY || c->symptom != SYMPTOM_NONE)
		return;
	if (outcome == OUTCOME_DONE || outcome == OUTCOME_PENDING || outcome == OUTCOME_UNCHANGED) {
		/* What was written again (on_foreign = "enforce") is in force again. */
		u->n -= same;
		return;
	}
	u->n += !same;
	u->outcome = outcome;
	u->target = c->target;
	u->now[0] = u->to[0] = '\0';
	append_text(u->now, sizeof(u->now), "%s", *now ? now : c->from);
	/* Of "schedutil|powersave" the first. */
	append_text(u->to, sizeof(u->to), "%.*s", (int)strcspn(c->to, "|"), c->to);
}
