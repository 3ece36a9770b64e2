/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/netdev.h"

#include "base/scan.h"
#include "observe/status.h"

/* The order of the file is nearly the topology's: start looking where the last one was. */
static int find_nic(const struct topology *t, struct slice name, unsigned *hint)
{
	for (unsigned i = 0; i < t->n_nics; i++) {
		unsigned n = (*hint + i) % t->n_nics;

		if (slice_is(name, t->nic[n].name)) {
			*hint = n + 1;
			return (int)n;
		}
	}
	return -1;
}

/* bytes packets errs drop fifo … */
static bool read_counters(struct slice line, struct nic_sample *ret)
{
	uint64_t column[5];
	struct slice word;

	for (size_t i = 0; i < ELEMENTSOF(column); i++)
		if (!slice_word(&line, &word) || slice_decimal(word, UINT64_MAX, &column[i]) < 0)
			return false;
	*ret = (struct nic_sample){
		.have = true,
		.rx_packets = column[1],
		.rx_dropped = column[3],
		.rx_missed = column[4],
	};
	return true;
}

void netdev_into_snapshot(const char *text, size_t length, const struct topology *t,
			  struct snapshot *s)
{
	_cleanup_(complaints_done) struct complaints complaints = {};
	struct slice rest = slice_of(text, length), line, name;
	unsigned number = 0, hint = 0, headers = 0;

	while (slice_line(&rest, &line)) {
		const char *colon = memchr(line.at, ':', slice_length(line));
		int n;

		number++;
		if (!colon && slice_contains(line, "|")) {
			headers++;
			continue;
		}
		if (!colon) {
			complain(&complaints, NULL, number, "not an interface's row");
			continue;
		}
		/* Kernels before 2.6.31 printed the first number right behind the colon. */
		name = slice_strip((struct slice){line.at, colon});
		n = find_nic(t, name, &hint);
		if (n < 0 || (unsigned)n >= s->n_nics)
			continue;
		line.at = colon + 1;
		if (!read_counters(line, &s->nic[n]))
			complain(&complaints, NULL, number, "counters of %s are cut or no numbers",
				 t->nic[n].name);
	}
	if (headers == 0 && complaints.n == 0)
		complain(&complaints, NULL, 0, "has no header");
	source_judged(s, SOURCE_NETDEV, &complaints);
}
