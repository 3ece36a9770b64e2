/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of generic netlink: whatever attributes come, nothing is read beyond them, and no NAPI
 * instance, queue or interrupt is made up. The input is a row of answers, each behind a byte with its
 * length; every request gets them all.
 */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "base/genl.h"
#include "observe/ethtool.h"
#include "observe/napis.h"

struct script {
	struct genl genl;
	const uint8_t *data;
	size_t size;
};

static int ask(struct genl *g, struct genl_request *q _unused_, genl_reply reply, void *userdata)
{
	const struct script *s = (const struct script *)g;
	int r = 0;

	for (size_t at = 0; at < s->size && r >= 0;) {
		size_t n = MIN((size_t)s->data[at], s->size - at - 1);
		void *copy = malloc(MAX(n, (size_t)1)); /* its end is where the sanitizer looks */

		must(copy != NULL);
		memcpy(copy, s->data + at + 1, n);
		if (reply)
			r = reply(copy, n, userdata);
		free(copy);
		at += n + 1;
	}
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct genl_ops ops = {.ask = ask};
	struct script script = {.genl.ops = &ops, .data = data, .size = size};
	struct io io = {.genl = &script.genl};
	struct nic nics[] = {
		{.ifindex = 2,
		 .name = "eth0",
		 .device = "d",
		 .identity = "d|port0",
		 .rx_queues = 2},
		{.ifindex = 3,
		 .name = "eth1",
		 .device = "e",
		 .identity = "e|port0",
		 .rx_queues = 1},
	};
	struct irq irqs[] = {{.number = 30, .nic = 0, .role = IRQ_RX, .queue = 0},
			     {.number = 31, .nic = 1, .role = IRQ_RX, .queue = -1}};
	struct topology t = {.n_nics = 2, .nic = nics, .n_irqs = 2, .irq = irqs};
	const struct processes none = {};
	struct source_status status = {};
	struct coalesce c;
	uint64_t signature, v;

	must(napis_discover(&io, &none, &t, &status, &signature) == 0);
	must(status.state == SOURCE_OK || status.text[0]);
	for (unsigned i = 0; i < t.n_napis; i++) {
		const struct napi *n = &t.napi[i];

		must(n->nic >= 0 && n->nic < 2 && n->irq < 2 && n->rx_queue >= -1);
		must(!n->by_order || n->rx_queue < (int)nics[n->nic].rx_queues);
		must(topology_nic_of_identity(&t, n->identity) == &nics[n->nic]);
	}
	must(napis_refresh(&io, &t, signature));
	ethtool_discover(&io, &t, &status);
	(void)ethtool_read_coalesce(&io, 2, &c);
	must(c.have < 1U << COALESCE_SETTINGS);
	(void)napi_read_setting(&io, TUNABLE_NAPI_THREADED, 9, 2, &v);
	free(t.napi);
	return 0;
}
