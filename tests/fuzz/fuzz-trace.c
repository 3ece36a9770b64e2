/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording from a stranger: read, and replayed through decide/ as far as it is one. */
#include "fuzz/fuzz.h"
#include "serve/replay.h"

static void take(void *userdata, const struct replay_event *ev)
{
	unsigned *events = userdata;

	must(replay_kind_to_string(ev->kind) != NULL);
	must(ev->topology != NULL);
	must((ev->kind == REPLAY_CHANGE) == (ev->change != NULL));
	if (ev->report)
		must(ev->report->irq < (int)ev->topology->n_irqs || ev->kind == REPLAY_LEAVE);
	++*events;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(trace_reader_freep) struct trace_reader *reader = NULL;
	_cleanup_(complaints_done) struct complaints c = {};
	struct replay_sum sum;
	unsigned events = 0;
	FILE *in;
	int r;

	if (size == 0)
		return 0;
	in = fmemopen((void *)data, size, "r");
	must(in != NULL);
	r = trace_reader_new(in, &c, &reader);
	must(r >= 0 || r == -ENOMEM || c.n == 1);
	must((r >= 0) == (reader != NULL));
	if (reader) {
		r = replay_run(reader, NULL, &c, take, &events, &sum);
		must(r == 0 || r == -ENOMEM || (r == -EBADMSG && c.n == 1));
	}
	fclose(in);
	return 0;
}
