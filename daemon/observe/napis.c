/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/napis.h"

#include <stdio.h>

#include "base/netlink-uapi.h"
#include "base/scan.h"

static const uint16_t attributes[NAPI_SETTINGS] = {
	[TUNABLE_NAPI_THREADED - TUNABLE_NAPI_THREADED] = UAPI_NAPI_THREADED,
	[TUNABLE_NAPI_DEFER_HARD_IRQS - TUNABLE_NAPI_THREADED] = UAPI_NAPI_DEFER_HARD_IRQS,
	[TUNABLE_GRO_FLUSH_TIMEOUT - TUNABLE_NAPI_THREADED] = UAPI_NAPI_GRO_FLUSH_TIMEOUT,
	[TUNABLE_IRQ_SUSPEND_TIMEOUT - TUNABLE_NAPI_THREADED] = UAPI_NAPI_IRQ_SUSPEND_TIMEOUT,
};

/* One answer of napi-get. */
struct instance {
	unsigned ifindex, id;
	bool has_irq;
	unsigned irq;
	pid_t pid;
	uint32_t own_settings;
	uint64_t setting[NAPI_SETTINGS];
};

static bool read_unsigned(const struct nlattr *a, unsigned *ret)
{
	uint64_t v;

	if (!genl_uint(a, &v) || v > INT32_MAX)
		return false;
	*ret = (unsigned)v;
	return true;
}

/* False when it does not even say which instance of which NIC it is. */
static bool read_instance(const void *attrs, size_t length, struct instance *ret)
{
	const struct nlattr *a[UAPI_NAPI_MAX + 1];
	unsigned pid;

	*ret = (struct instance){};
	genl_parse(attrs, length, a, UAPI_NAPI_MAX);
	if (!read_unsigned(a[UAPI_NAPI_IFINDEX], &ret->ifindex) ||
	    !read_unsigned(a[UAPI_NAPI_ID], &ret->id))
		return false;
	ret->has_irq = read_unsigned(a[UAPI_NAPI_IRQ], &ret->irq);
	if (read_unsigned(a[UAPI_NAPI_PID], &pid))
		ret->pid = (pid_t)pid;
	for (size_t i = 0; i < ELEMENTSOF(attributes); i++)
		if (genl_uint(a[attributes[i]], &ret->setting[i]))
			ret->own_settings |= 1U << i;
	return true;
}

/* --- one setting --- */

static int take_one(const void *attrs, size_t length, void *userdata)
{
	return read_instance(attrs, length, userdata) ? 0 : -EBADMSG;
}

int napi_read_setting(struct io *io, enum tunable_id id, unsigned napi, unsigned ifindex,
		      uint64_t *ret)
{
	struct genl_request q = {.family = NETDEV_FAMILY, .command = UAPI_NETDEV_NAPI_GET};
	size_t i = id - TUNABLE_NAPI_THREADED;
	struct instance found = {};
	int r;

	genl_put_u32(&q, UAPI_NAPI_ID, napi);
	r = genl_ask(io->genl, &q, take_one, &found);
	if (r == -ENOENT)
		return -ENODEV;
	if (r < 0)
		return r;
	if (found.id != napi || (ifindex && found.ifindex != ifindex))
		return -ENODEV;
	if (!(found.own_settings & (1U << i)))
		return -ENOENT;
	*ret = found.setting[i];
	return 0;
}

void napi_set_request(struct genl_request *q, enum tunable_id id, unsigned napi, uint64_t value)
{
	uint16_t attribute = attributes[id - TUNABLE_NAPI_THREADED];

	*q = (struct genl_request){.family = NETDEV_FAMILY, .command = UAPI_NETDEV_NAPI_SET};
	genl_put_u32(q, UAPI_NAPI_ID, napi);
	genl_put_uint(q, attribute, value);
}

/* --- all of them --- */

struct listing {
	struct instance *item;
	size_t n, room;
	unsigned strange; /* answers that were none */
};

static void listing_done(struct listing *l)
{
	free(l->item);
}

static int take_instance(const void *attrs, size_t length, void *userdata)
{
	struct listing *l = userdata;

	if (l->n == l->room) {
		size_t room = MAX(l->room * 2, (size_t)16);
		struct instance *more = realloc(l->item, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->item = more;
		l->room = room;
	}
	if (read_instance(attrs, length, &l->item[l->n]))
		l->n++;
	else
		l->strange++;
	return 0;
}

static int compare_instances(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;

	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* -EAGAIN: they changed meanwhile; once more then. */
static int list_instances(struct io *io, struct listing *l)
{
	int r = -EAGAIN;

	for (int tries = 0; tries < 2 && r == -EAGAIN; tries++) {
		struct genl_request q = {
			.family = NETDEV_FAMILY, .command = UAPI_NETDEV_NAPI_GET, .dump = true};

		l->n = l->strange = 0;
		r = genl_ask(io->genl, &q, take_instance, l);
	}
	if (r == -EAGAIN)
		r = 0; /* what was seen is true, the rest is seen at the next look */
	if (l->n > 0)
		qsort(l->item, l->n, sizeof(*l->item), compare_instances);
	return r;
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	return (hash ^ v) * UINT64_C(0x100000001b3);
}

static uint64_t sign(const struct listing *l)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < l->n; i++) {
		const struct instance *n = &l->item[i];

		hash = mix(mix(hash, n->ifindex), n->id);
		hash = mix(mix(hash, n->has_irq ? n->irq + 1 : 0), (uint64_t)n->pid);
	}
	return hash;
}

bool napis_refresh(struct io *io, struct topology *t, uint64_t signature)
{
	_cleanup_(listing_done) struct listing l = {};

	if (list_instances(io, &l) < 0 || sign(&l) != signature)
		return false;
	for (size_t i = 0; i < l.n; i++)
		for (unsigned n = 0; n < t->n_napis; n++)
			if (t->napi[n].id == l.item[i].id)
				memcpy(t->napi[n].setting, l.item[i].setting,
				       sizeof(t->napi[n].setting));
	return true;
}

/* Without the family: what the threads' names tell. */
static int list_threads(const struct processes *p, const struct topology *t, struct listing *l)
{
	for (unsigned i = 0; i < p->n_napi_threads; i++)
		for (unsigned n = 0; n < t->n_nics; n++) {
			const struct napi_thread *thread = &p->napi_thread[i];
			struct instance *more;

			/* Id 0 is that of instances that only transmit. */
			if (thread->id == 0 || !streq(thread->nic, t->nic[n].name))
				continue;
			more = reallocarray(l->item, l->n + 1, sizeof(*more));
			if (!more)
				return -ENOMEM;
			l->item = more;
			l->item[l->n++] = (struct instance){
				.ifindex = t->nic[n].ifindex, .id = thread->id, .pid = thread->pid};
		}
	if (l->n > 0)
		qsort(l->item, l->n, sizeof(*l->item), compare_instances);
	return 0;
}

static int take_queue(const void *attrs, size_t length, void *userdata)
{
	const struct nlattr *a[UAPI_QUEUE_MAX + 1];
	struct topology *t = userdata;
	unsigned queue, ifindex, type, napi;

	genl_parse(attrs, length, a, UAPI_QUEUE_MAX);
	if (!read_unsigned(a[UAPI_QUEUE_ID], &queue) ||
	    !read_unsigned(a[UAPI_QUEUE_IFINDEX], &ifindex) ||
	    !read_unsigned(a[UAPI_QUEUE_TYPE], &type) ||
	    !read_unsigned(a[UAPI_QUEUE_NAPI_ID], &napi))
		return 0;
	for (unsigned i = 0; i < t->n_napis; i++) {
		struct napi *n = &t->napi[i];
		int *which = type == UAPI_QUEUE_RX ? &n->rx_queue : &n->tx_queue;

		if (n->id != napi || t->nic[n->nic].ifindex != ifindex)
			continue;
		/* An instance may serve several: the first stands for them. */
		if (*which < 0 || (unsigned)*which > queue)
			*which = (int)queue;
	}
	return 0;
}

/* How many instances NIC has, and the index of its first. */
static unsigned napis_of(const struct topology *t, unsigned nic, unsigned *ret_first)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n_napis; i++)
		if (t->napi[i].nic == (int)nic && n++ == 0)
			*ret_first = i;
	return n;
}

/* Where the driver tells of no queue. virtio_net keeps instances of channels that are not in use:
 * those are the last. */
static void queues_by_order(struct topology *t, unsigned nic)
{
	const struct nic *info = &t->nic[nic];
	unsigned first = 0, n = napis_of(t, nic, &first);

	for (unsigned i = first; i < first + n; i++)
		if (t->napi[i].rx_queue >= 0 || t->napi[i].tx_queue >= 0)
			return;
	if (n == 0 || info->rx_queues == 0 ||
	    (n != info->rx_queues && (!info->channels.have || n != info->channels.combined_max)))
		return;
	for (unsigned i = 0; i < MIN(n, info->rx_queues); i++) {
		t->napi[first + i].rx_queue = (int)i;
		t->napi[first + i].by_order = true;
	}
}

/* The receiving vector whose name tells the queue; the only one there is, where no name tells any.
 */
static int irq_of_queue(const struct topology *t, unsigned nic, int queue)
{
	int named = -1, any = -1;
	unsigned receiving = 0;

	for (unsigned i = 0; i < t->n_irqs; i++) {
		const struct irq *irq = &t->irq[i];

		if (irq->nic != (int)nic || (irq->role != IRQ_RX && irq->role != IRQ_RXTX))
			continue;
		receiving++;
		any = (int)i;
		if (irq->queue == queue)
			named = (int)i;
	}
	if (named >= 0)
		return named;
	return receiving == 1 && t->nic[nic].rx_queues <= 1 ? any : -1;
}

static void name_napi(const struct topology *t, struct napi *napi, unsigned order)
{
	char part[24];
	size_t room;
	const char *base = t->nic[napi->nic].identity;

	if (napi->rx_queue >= 0)
		snprintf(part, sizeof(part), "|rx%d", napi->rx_queue);
	else if (napi->tx_queue >= 0)
		snprintf(part, sizeof(part), "|tx%d", napi->tx_queue);
	else
		snprintf(part, sizeof(part), "|napi%u", order);
	room = sizeof(napi->identity) - strlen(part) - 1;
	snprintf(napi->identity, sizeof(napi->identity), "%.*s%s", (int)room, base, part);
}

static int build(const struct listing *l, struct topology *t, struct io *io)
{
	struct napi *list = calloc(MAX(l->n, (size_t)1), sizeof(*list));
	unsigned order = 0;

	if (!list)
		return -ENOMEM;
	free(t->napi);
	t->napi = list;
	t->n_napis = 0;
	for (unsigned nic = 0; nic < t->n_nics; nic++)
		for (size_t i = 0; i < l->n && *t->nic[nic].identity; i++) {
			const struct instance *n = &l->item[i];

			if (n->ifindex != t->nic[nic].ifindex)
				continue;
			t->napi[t->n_napis++] = (struct napi){.id = n->id,
							      .nic = (int)nic,
							      .rx_queue = -1,
							      .tx_queue = -1,
							      .irq = n->has_irq ? (int)n->irq : -1,
							      .thread = n->pid,
							      .own_settings = n->own_settings};
			memcpy(t->napi[t->n_napis - 1].setting, n->setting, sizeof(n->setting));
		}
	if (t->napis_told) {
		struct genl_request q = {
			.family = NETDEV_FAMILY, .command = UAPI_NETDEV_QUEUE_GET, .dump = true};

		(void)genl_ask(io->genl, &q, take_queue, t);
	}
	for (unsigned nic = 0; nic < t->n_nics; nic++)
		queues_by_order(t, nic);
	for (unsigned i = 0; i < t->n_napis; i++) {
		struct napi *n = &t->napi[i];
		const struct irq *irq = n->irq >= 0 ? topology_irq(t, (unsigned)n->irq) : NULL;

		order = i > 0 && t->napi[i - 1].nic == n->nic ? order + 1 : 0;
		n->irq = irq ? (int)(irq - t->irq) : -1;
		if (n->irq < 0 && n->rx_queue >= 0)
			n->irq = irq_of_queue(t, (unsigned)n->nic, n->rx_queue);
		name_napi(t, n, order);
	}
	return 0;
}

static void judge(struct source_status *status, int error, unsigned strange)
{
	*status = (struct source_status){.state = SOURCE_OK};
	if (error < 0) {
		bool absent = error == -ENOENT || error == -EOPNOTSUPP || error == -EPROTONOSUPPORT;

		status->state = absent ? SOURCE_ABSENT : SOURCE_STRANGE;
		status->error = error;
		snprintf(status->text, sizeof(status->text),
			 "generic netlink, family netdev: %s: NAPI instances are known by their "
			 "threads only",
			 absent ? "this kernel does not list them" : strerror(-error));
	} else if (strange > 0) {
		status->state = SOURCE_STRANGE;
		status->error = -EBADMSG;
		snprintf(status->text, sizeof(status->text),
			 "generic netlink, family netdev: %u NAPI instances without id or NIC",
			 strange);
	}
}

int napis_discover(struct io *io, const struct processes *p, struct topology *t,
		   struct source_status *status, uint64_t *ret_signature)
{
	_cleanup_(listing_done) struct listing l = {};
	int r = io->genl ? list_instances(io, &l) : -EOPNOTSUPP;

	if (r == -ENOMEM)
		return r;
	if (io->genl)
		judge(status, r, l.strange);
	t->napis_told = r >= 0;
	*ret_signature = r >= 0 ? sign(&l) : 0;
	if (r < 0) {
		l.n = 0;
		r = list_threads(p, t, &l);
		if (r < 0)
			return r;
	}
	return build(&l, t, io);
}
