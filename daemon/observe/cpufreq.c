/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/cpufreq.h"

#include <stdio.h>

#include "base/scan.h"

#define CPUFREQ "sys/devices/system/cpu/cpufreq"

/* What cannot be read is "": this driver does not have it, or the policy is inactive. */
static int read_text(struct io *io, unsigned policy, const char *file, char *buf, size_t size)
{
	char path[128];
	int r;

	r = format_into(path, sizeof(path), CPUFREQ "/policy%u/%s", policy, file);
	if (r >= 0)
		r = io_read_line(io, path, buf, size);
	if (r < 0)
		*buf = '\0';
	return r;
}

/* "0 1 2 3": CPU ids with blanks between. */
static int read_cpus(struct io *io, unsigned policy, const char *file, struct cpuset *ret)
{
	char text[CPU_ID_MAX * 5 + 1];
	struct slice rest, word;
	uint64_t cpu;
	int r;

	*ret = (struct cpuset){};
	r = read_text(io, policy, file, text, sizeof(text));
	if (r < 0)
		return r;
	rest = slice_of(text, strlen(text));
	while (slice_word(&rest, &word)) {
		if (slice_decimal(word, CPU_ID_MAX - 1, &cpu) < 0)
			return -EBADMSG;
		cpuset_add(ret, (unsigned)cpu);
	}
	return 0;
}

static int read_policy(struct io *io, unsigned number, struct policy *p)
{
	char list[CPUSET_LIST_MAX];
	struct cpuset affected;
	int r;

	*p = (struct policy){.number = number};
	r = read_cpus(io, number, "related_cpus", &p->cpus);
	if (r < 0)
		return r;
	p->active =
		read_cpus(io, number, "affected_cpus", &affected) >= 0 && !cpuset_empty(&affected);
	cpuset_format_list(&p->cpus, list, sizeof(list));
	/* A list that is too long is cut: related CPUs of two policies differ from their first on.
	 */
	snprintf(p->identity, sizeof(p->identity), "cpus:%.*s", (int)sizeof(p->identity) - 6, list);
	read_text(io, number, "scaling_driver", p->driver, sizeof(p->driver));
	read_text(io, number, "scaling_governor", p->governor, sizeof(p->governor));
	read_text(io, number, "scaling_available_governors", p->governors, sizeof(p->governors));
	p->have_epp =
		read_text(io, number, "energy_performance_preference", p->epp, sizeof(p->epp)) > 0;
	read_text(io, number, "energy_performance_available_preferences", p->epps, sizeof(p->epps));
	return 0;
}

int cpufreq_discover(struct io *io, struct topology *t, struct source_status *ret)
{
	_cleanup_(strv_freep) char **names = NULL;
	unsigned room = 0, unread = 0;
	int r, error = 0;

	*ret = (struct source_status){.state = SOURCE_OK};
	r = io_list(io, CPUFREQ, &names);
	if (r == -ENOMEM)
		return r;
	if (r < 0 && r != -ENOENT) {
		ret->state = SOURCE_STRANGE;
		ret->error = r;
		snprintf(ret->text, sizeof(ret->text), "/" CPUFREQ ": %s", strerror(-r));
		return 0;
	}
	for (char **name = names; name && *name; name++) {
		uint64_t number;

		if (!startswith(*name, "policy") ||
		    slice_decimal(slice_of(*name + 6, strlen(*name + 6)), CPU_ID_MAX - 1, &number) <
			    0)
			continue;
		if (t->n_policies == room) {
			struct policy *more = realloc(t->policy, (room + 64) * sizeof(*more));

			if (!more)
				return -ENOMEM;
			t->policy = more;
			room += 64;
		}
		r = read_policy(io, (unsigned)number, &t->policy[t->n_policies]);
		if (r < 0) {
			error = r;
			unread++;
		} else {
			t->n_policies++;
		}
	}
	if (unread > 0) {
		ret->state = SOURCE_STRANGE;
		ret->error = error;
		snprintf(ret->text, sizeof(ret->text),
			 "/" CPUFREQ ": %u policies cannot be read: %s", unread, strerror(-error));
	} else if (t->n_policies == 0) {
		ret->state = SOURCE_ABSENT;
		ret->error = -ENOENT;
		snprintf(ret->text, sizeof(ret->text),
			 "/" CPUFREQ
			 ": no policies: the kernel has no cpufreq driver for this machine");
	}
	return 0;
}

static int read_khz(struct io *io, unsigned policy, const char *file, uint64_t *ret)
{
	char text[32];
	int r;

	r = read_text(io, policy, file, text, sizeof(text));
	if (r < 0)
		return r;
	return slice_decimal(slice_of(text, strlen(text)), UINT32_MAX, ret) < 0 ? -EBADMSG : 0;
}

int cpufreq_now(struct io *io, unsigned policy, uint64_t *ret, uint64_t *ret_min, uint64_t *ret_max)
{
	int r;

	r = read_khz(io, policy, "scaling_cur_freq", ret);
	if (r >= 0)
		r = read_khz(io, policy, "cpuinfo_min_freq", ret_min);
	if (r >= 0)
		r = read_khz(io, policy, "cpuinfo_max_freq", ret_max);
	return r;
}
