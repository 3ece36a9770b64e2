/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/queue-stats.h"

#include "base/netlink-uapi.h"

static const uint16_t attributes[] = {
	[QUEUE_PACKETS] = UAPI_QSTATS_RX_PACKETS,
	[QUEUE_ALLOC_FAIL] = UAPI_QSTATS_RX_ALLOC_FAIL,
	[QUEUE_HW_DROPS] = UAPI_QSTATS_RX_HW_DROPS,
	[QUEUE_HW_OVERRUNS] = UAPI_QSTATS_RX_HW_DROP_OVERRUNS,
};

const char *queue_stat_to_string(enum queue_stat s)
{
	static const char *const names[] = {"rx_packets", "rx_alloc_fail", "rx_hw_drops",
					    "rx_hw_drop_overruns"};

	return names[s];
}

struct listing {
	unsigned ifindex;
	struct queue_stats *item;
	size_t n;
};

static int take_queue(const void *attrs, size_t length, void *userdata)
{
	const struct nlattr *a[UAPI_QSTATS_MAX + 1];
	struct listing *l = userdata;
	struct queue_stats *more, *s;
	uint64_t ifindex, type, queue;

	genl_parse(attrs, length, a, UAPI_QSTATS_MAX);
	if (!genl_uint(a[UAPI_QSTATS_IFINDEX], &ifindex) || ifindex != l->ifindex ||
	    !genl_uint(a[UAPI_QSTATS_QUEUE_TYPE], &type) || type != UAPI_QUEUE_RX ||
	    !genl_uint(a[UAPI_QSTATS_QUEUE_ID], &queue) || queue > UINT16_MAX)
		return 0;
	more = reallocarray(l->item, l->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->item = more;
	s = &more[l->n];
	*s = (struct queue_stats){.queue = (unsigned)queue};
	for (size_t i = 0; i < _QUEUE_STAT_MAX; i++)
		if (genl_uint(a[attributes[i]], &s->value[i]))
			s->have |= 1U << i;
	l->n += s->have != 0;
	return 0;
}

static int compare_queues(const void *a, const void *b)
{
	const struct queue_stats *x = a, *y = b;

	return x->queue < y->queue ? -1 : x->queue > y->queue;
}

int queue_stats_read(struct io *io, unsigned ifindex, struct queue_stats **ret, size_t *ret_n)
{
	struct genl_request q = {
		.family = NETDEV_FAMILY, .command = UAPI_NETDEV_QSTATS_GET, .dump = true};
	struct listing l = {.ifindex = ifindex};
	int r;

	*ret = NULL;
	*ret_n = 0;
	genl_put_u32(&q, UAPI_QSTATS_IFINDEX, ifindex);
	genl_put_uint(&q, UAPI_QSTATS_SCOPE, UAPI_QSTATS_SCOPE_QUEUE);
	r = genl_ask(io->genl, &q, take_queue, &l);
	/* Interrupted by a change: what was told is true. */
	r = r == -EAGAIN ? 0 : MIN(r, 0);
	if (r < 0 || l.n == 0) {
		free(l.item);
		return r;
	}
	qsort(l.item, l.n, sizeof(*l.item), compare_queues);
	*ret = l.item;
	*ret_n = l.n;
	return 0;
}
