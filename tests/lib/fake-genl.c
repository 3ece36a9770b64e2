/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/fake-genl.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define tunable_id ethtool_tunable_id
#include <linux/ethtool_netlink.h>
#undef tunable_id

#include "base/netlink-uapi.h"

static const uint16_t napi_attributes[4] = {
	UAPI_NAPI_THREADED,
	UAPI_NAPI_DEFER_HARD_IRQS,
	UAPI_NAPI_GRO_FLUSH_TIMEOUT,
	UAPI_NAPI_IRQ_SUSPEND_TIMEOUT,
};
static const uint16_t coalesce_attributes[6] = {
	ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, ETHTOOL_A_COALESCE_RX_USECS,
	ETHTOOL_A_COALESCE_RX_MAX_FRAMES,   ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX,
	ETHTOOL_A_COALESCE_TX_USECS,        ETHTOOL_A_COALESCE_TX_MAX_FRAMES,
};

static struct fake_genl *of(struct genl *g)
{
	return (struct fake_genl *)g;
}

static int send_answer(struct fake_genl *g, struct genl_request *answer, genl_reply reply,
		       void *userdata)
{
	if (answer->overflow)
		abort();
	return reply ? reply(answer->attrs, answer->length - (g->cut ? 3 : 0), userdata) : 0;
}

static int answer_napi(struct fake_genl *g, const struct fake_nic *nic, const struct fake_napi *n,
		       genl_reply reply, void *userdata)
{
	struct genl_request a = {};

	genl_put_u32(&a, UAPI_NAPI_ID, n->id);
	genl_put_u32(&a, UAPI_NAPI_IFINDEX, nic->ifindex);
	if (n->irq)
		genl_put_u32(&a, UAPI_NAPI_IRQ, n->irq);
	if (n->pid)
		genl_put_u32(&a, UAPI_NAPI_PID, (uint32_t)n->pid);
	for (size_t i = 0; i < 4 && !g->no_napi_set; i++)
		genl_put_uint(&a, napi_attributes[i], n->setting[i]);
	return send_answer(g, &a, reply, userdata);
}

static struct fake_napi *find_napi(struct fake_genl *g, unsigned id, struct fake_nic **ret_nic)
{
	for (unsigned i = 0; i < g->n_nics; i++)
		for (unsigned k = 0; k < g->nic[i].n_napis; k++)
			if (g->nic[i].napi[k].id == id && !g->nic[i].gone && !g->nic[i].down) {
				*ret_nic = &g->nic[i];
				return &g->nic[i].napi[k];
			}
	return NULL;
}

static int napi_get(struct fake_genl *g, const struct genl_request *q, genl_reply reply,
		    void *userdata)
{
	const struct nlattr *a[UAPI_NAPI_MAX + 1];
	struct fake_napi *napi;
	struct fake_nic *nic;
	uint64_t id;
	int r = 0;

	if (!q->dump) {
		genl_parse(q->attrs, q->length, a, UAPI_NAPI_MAX);
		napi = genl_uint(a[UAPI_NAPI_ID], &id) ? find_napi(g, (unsigned)id, &nic) : NULL;
		return napi ? answer_napi(g, nic, napi, reply, userdata) : -ENOENT;
	}
	for (unsigned i = 0; i < g->n_nics && r >= 0; i++) /* newest first, as the kernel does */
		for (unsigned k = g->nic[i].n_napis; k > 0 && r >= 0; k--)
			if (!g->nic[i].gone && !g->nic[i].down)
				r = answer_napi(g, &g->nic[i], &g->nic[i].napi[k - 1], reply,
						userdata);
	return r;
}

static int queue_get(struct fake_genl *g, genl_reply reply, void *userdata)
{
	int r = 0;

	for (unsigned i = 0; i < g->n_nics; i++)
		for (unsigned k = 0; k < g->nic[i].n_napis && r >= 0; k++) {
			const struct fake_napi *n = &g->nic[i].napi[k];
			struct genl_request a = {};

			if (n->rx_queue < 0 || g->nic[i].gone || g->nic[i].down)
				continue;
			genl_put_u32(&a, UAPI_QUEUE_ID, (uint32_t)n->rx_queue);
			genl_put_u32(&a, UAPI_QUEUE_TYPE, UAPI_QUEUE_RX);
			genl_put_u32(&a, UAPI_QUEUE_IFINDEX, g->nic[i].ifindex);
			if (!g->no_queues)
				genl_put_u32(&a, UAPI_QUEUE_NAPI_ID, n->id);
			r = send_answer(g, &a, reply, userdata);
		}
	return r;
}

/* Drivers tell their last queue first, transmit queues among them, and sums of what no queue is left of. */
static int qstats_get(struct fake_genl *g, const struct genl_request *q, genl_reply reply,
		      void *userdata)
{
	static const uint16_t attributes[] = {UAPI_QSTATS_RX_PACKETS, UAPI_QSTATS_RX_ALLOC_FAIL,
					      UAPI_QSTATS_RX_HW_DROPS,
					      UAPI_QSTATS_RX_HW_DROP_OVERRUNS};
	const struct nlattr *wanted[UAPI_QSTATS_MAX + 1];
	uint64_t ifindex, scope = 0;
	int r = 0;

	genl_parse(q->attrs, q->length, wanted, UAPI_QSTATS_MAX);
	if (g->no_qstats)
		return -EOPNOTSUPP;
	if (!genl_uint(wanted[UAPI_QSTATS_IFINDEX], &ifindex) ||
	    !genl_uint(wanted[UAPI_QSTATS_SCOPE], &scope) || scope != UAPI_QSTATS_SCOPE_QUEUE)
		return -EINVAL;
	for (unsigned i = 0; i < g->n_nics; i++)
		for (unsigned k = g->nic[i].n_napis; k > 0 && g->nic[i].ifindex == ifindex; k--)
			for (unsigned type = UAPI_QUEUE_RX; type <= UAPI_QUEUE_TX; type++) {
				const struct fake_napi *n = &g->nic[i].napi[k - 1];
				struct genl_request a = {};

				if (g->nic[i].gone)
					return -ENODEV;
				genl_put_u32(&a, UAPI_QSTATS_IFINDEX, g->nic[i].ifindex);
				genl_put_u32(&a, UAPI_QSTATS_QUEUE_TYPE, type);
				genl_put_u32(&a, UAPI_QSTATS_QUEUE_ID, (uint32_t)n->rx_queue);
				for (size_t s = 0; s < ELEMENTSOF(attributes); s++)
					if (n->stat_has & (1U << s))
						genl_put_uint(&a, attributes[s],
							      n->stat[s] + 1000000ULL * type);
				r = send_answer(g, &a, reply, userdata);
				if (r < 0)
					return r;
			}
	return r;
}

static int napi_set(struct fake_genl *g, const struct genl_request *q)
{
	const struct nlattr *a[UAPI_NAPI_MAX + 1];
	struct fake_napi *napi;
	struct fake_nic *nic;
	uint64_t id, v;

	genl_parse(q->attrs, q->length, a, UAPI_NAPI_MAX);
	if (g->no_napi_set)
		return -EOPNOTSUPP;
	napi = genl_uint(a[UAPI_NAPI_ID], &id) ? find_napi(g, (unsigned)id, &nic) : NULL;
	if (!napi)
		return -ENOENT;
	for (size_t i = 0; i < 4; i++)
		if (genl_uint(a[napi_attributes[i]], &v)) {
			napi->setting[i] = v;
			append_text(g->log, sizeof(g->log), "%s@%u=%llu ",
				    tunables[TUNABLE_NAPI_THREADED + i].id, napi->id,
				    (unsigned long long)v);
			if (i == 0)
				napi->pid = v ? (int)napi->id + 1000 : 0;
		}
	return 0;
}

static struct fake_nic *header_nic(struct fake_genl *g, const struct nlattr *header)
{
	const struct nlattr *h[ETHTOOL_A_HEADER_FLAGS + 1];
	uint64_t ifindex;

	genl_parse_nest(header, h, ETHTOOL_A_HEADER_FLAGS);
	if (!genl_uint(h[ETHTOOL_A_HEADER_DEV_INDEX], &ifindex))
		return NULL;
	for (unsigned i = 0; i < g->n_nics; i++)
		if (g->nic[i].ifindex == ifindex && !g->nic[i].gone)
			return &g->nic[i];
	return NULL;
}

static int coalesce_set(struct fake_genl *g, struct fake_nic *nic, const struct nlattr **a,
			struct genl_request *q)
{
	for (size_t i = 0; i < 6; i++) {
		uint64_t v;

		if (!genl_uint(a[coalesce_attributes[i]], &v))
			continue;
		if (!(nic->coalesce_has & (1U << i)))
			return -EOPNOTSUPP;
		if (nic->coalesce_max && i % 3 == 2 && v > nic->coalesce_max) {
			append_text(q->reason, sizeof(q->reason), "at most %u", nic->coalesce_max);
			return -EINVAL;
		}
		if (nic->coalesce_step && i % 3 == 1)
			v -= v % nic->coalesce_step;
		nic->coalesce[i] = (uint32_t)v;
		append_text(g->log, sizeof(g->log), "%s=%llu ",
			    tunables[TUNABLE_COALESCE_ADAPTIVE_RX + i].id, (unsigned long long)v);
	}
	return 0;
}

static int ethtool(struct fake_genl *g, struct genl_request *q, genl_reply reply, void *userdata)
{
	const struct nlattr *a[ETHTOOL_A_COALESCE_MAX + 1];
	struct genl_request answer = {};
	struct fake_nic *nic;

	genl_parse(q->attrs, q->length, a, ETHTOOL_A_COALESCE_MAX);
	nic = header_nic(g, a[ETHTOOL_A_COALESCE_HEADER]);
	if (!nic)
		return -ENODEV;
	switch (q->command) {
	case ETHTOOL_MSG_COALESCE_SET:
		return coalesce_set(g, nic, a, q);
	case ETHTOOL_MSG_COALESCE_GET:
		if (!nic->coalesce_has)
			return -EOPNOTSUPP;
		for (size_t i = 0; i < 6; i++)
			if (!(nic->coalesce_has & (1U << i)))
				continue;
			else if (i % 3 == 0)
				genl_put_u8(&answer, coalesce_attributes[i],
					    (uint8_t)nic->coalesce[i]);
			else
				genl_put_u32(&answer, coalesce_attributes[i], nic->coalesce[i]);
		return send_answer(g, &answer, reply, userdata);
	case ETHTOOL_MSG_CHANNELS_GET:
		genl_put_u32(&answer, ETHTOOL_A_CHANNELS_COMBINED_MAX, nic->channels_max);
		genl_put_u32(&answer, ETHTOOL_A_CHANNELS_COMBINED_COUNT, nic->channels);
		return send_answer(g, &answer, reply, userdata);
	default:
		return -EOPNOTSUPP;
	}
}

static int fake_ask(struct genl *genl, struct genl_request *q, genl_reply reply, void *userdata)
{
	struct fake_genl *g = of(genl);
	bool netdev = streq(q->family, NETDEV_FAMILY);
	bool set = netdev ? q->command == UAPI_NETDEV_NAPI_SET
			  : q->command == ETHTOOL_MSG_COALESCE_SET;
	unsigned long nth;
	int r;

	g->asked++;
	g->sets += set;
	nth = g->only_sets ? (set ? g->sets : 0) : g->asked;
	if (g->fail_at && (nth == g->fail_at || (g->onwards && nth > g->fail_at)))
		return -g->error;
	if (set && g->sets == g->pull_at)
		g->nic[0].gone = true;
	if (set && g->sets == g->die_before)
		kill(getpid(), SIGKILL);
	if (netdev ? g->no_netdev : g->no_ethtool)
		return -ENOENT;
	if (!netdev)
		r = ethtool(g, q, reply, userdata);
	else if (q->command == UAPI_NETDEV_NAPI_GET)
		r = napi_get(g, q, reply, userdata);
	else if (q->command == UAPI_NETDEV_QUEUE_GET)
		r = queue_get(g, reply, userdata);
	else if (q->command == UAPI_NETDEV_QSTATS_GET)
		r = qstats_get(g, q, reply, userdata);
	else
		r = set ? napi_set(g, q) : -EOPNOTSUPP;
	if (set && g->sets == g->die_after)
		kill(getpid(), SIGKILL);
	return r;
}

static const struct genl_ops fake_ops = {.ask = fake_ask};

struct fake_genl *fake_genl_new(void)
{
	struct fake_genl *g =
		mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (g == MAP_FAILED)
		abort();
	g->genl.ops = &fake_ops;
	return g;
}

void fake_genl_free(struct fake_genl *g)
{
	munmap(g, sizeof(*g));
}

struct fake_nic *fake_genl_add(struct fake_genl *g, unsigned ifindex, unsigned napis)
{
	struct fake_nic *nic = &g->nic[g->n_nics];
	unsigned base = 8193 + 100 * g->n_nics++;

	*nic = (struct fake_nic){
		.ifindex = ifindex,
		.n_napis = napis,
		.channels = napis,
		.channels_max = napis,
		.coalesce = {1, 50, 0, 1, 50, 0},
		.coalesce_has = 0x3f,
	};
	for (unsigned i = 0; i < napis; i++)
		nic->napi[i] =
			(struct fake_napi){.id = base + i, .rx_queue = (int)i, .tx_queue = -1};
	return nic;
}

void fake_genl_reset(struct fake_genl *g, struct fake_nic *nic)
{
	unsigned last = 0;

	for (unsigned i = 0; i < g->n_nics; i++)
		for (unsigned k = 0; k < g->nic[i].n_napis; k++)
			last = MAX(last, g->nic[i].napi[k].id);
	for (unsigned k = 0; k < nic->n_napis; k++) {
		nic->napi[k].id = last + 1 + k;
		if (nic->napi[k].pid)
			nic->napi[k].pid = (int)nic->napi[k].id + 1000;
	}
}
