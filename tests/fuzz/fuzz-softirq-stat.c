/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/softirq_stat: no input crashes it, and what it does not understand is unknown and said. */
#include "fuzz/fuzz.h"
#include "observe/softirq-stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct source_status *status;
	struct snapshot *s;
	unsigned known = 0;

	must(snapshot_new(64, 0, 0, &s) == 0);
	softirq_stat_into_snapshot((const char *)data, size, s);
	status = &s->source[SOURCE_SOFTIRQ_STAT];
	for (unsigned i = 0; i < s->n_cpus; i++) {
		must(s->cpu[i].have == 0 || s->cpu[i].have == HAVE_SOFTIRQ_STAT);
		known += s->cpu[i].have != 0;
	}
	must(status->state == SOURCE_OK || (status->state == SOURCE_STRANGE && status->text[0]));
	must(status->state != SOURCE_OK || s->limits.have);
	must(known == 0 || (size > 9 && memcmp(data, "version 1", 9) == 0));
	must(memchr(s->limits.policy, 0, sizeof(s->limits.policy)) != NULL);
	snapshot_free(s);
	return 0;
}
