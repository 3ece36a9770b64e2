/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A NIC beyond its interrupts: channels, rings, coalescing, steering, losses by queue, and the chain of each NAPI
 * instance. */
#include "engine/describe-parts.h"
#include "engine/internal.h"
#include "observe/ethtool.h"
#include "observe/queue-stats.h"

static json_t *numbers_document(const struct nic_numbers *n, bool combined)
{
	json_t *d;

	if (!n->have)
		return json_null();
	d = json_object();
	put(d, "rx", json_integer(n->rx));
	put(d, "rx_max", json_integer(n->rx_max));
	put(d, "tx", json_integer(n->tx));
	put(d, "tx_max", json_integer(n->tx_max));
	if (combined) {
		put(d, "combined", json_integer(n->combined));
		put(d, "combined_max", json_integer(n->combined_max));
	}
	return d;
}

/* Asked now, not each tick. What the driver does not have is null; null alone: not known. */
static json_t *coalesce_document(const struct engine *e, const struct nic *nic)
{
	struct coalesce c;
	json_t *d;
	int r;

	if (!*nic->device)
		return json_null();
	r = ethtool_read_coalesce(e->io, nic->ifindex, &c);
	if (r < 0 && (r != -EOPNOTSUPP || !e->io->genl))
		return json_null();
	d = json_object();
	for (unsigned i = 0; i < COALESCE_SETTINGS; i++)
		put(d, tunables[TUNABLE_COALESCE_ADAPTIVE_RX + i].id,
		    c.have & (1U << i) ? json_integer(c.value[i]) : json_null());
	return d;
}

/* The files of a device, for those of its instances that have no settings of their own. */
struct device_values {
	json_t *value[NAPI_SETTINGS]; /* borrowed by napi_document(), owned here */
};

static struct device_values read_device(const struct engine *e, const struct nic *nic)
{
	struct device_values d = {};
	struct target target = {.scope = SCOPE_NIC, .number = nic->ifindex};
	char text[64];
	int64_t number;

	strcpy(target.nic, nic->name);
	for (unsigned i = 0; i < NAPI_SETTINGS; i++) {
		enum tunable_id id = TUNABLE_NAPI_THREADED + i;

		if (tunables[id].path &&
		    observe_value(e->io, id, &target, text, sizeof(text)) >= 0 &&
		    parse_i64(text, &number) >= 0)
			d.value[i] = json_integer(number);
	}
	return d;
}

static json_t *napi_value(const struct napi *napi, const struct device_values *device, unsigned i)
{
	if (napi->own_settings & (1U << i))
		return json_integer((json_int_t)napi->setting[i]);
	return device->value[i] ? json_incref(device->value[i]) : json_null();
}

static json_t *napi_document(const struct engine *e, const struct napi *napi,
			     const struct device_values *device)
{
	const struct irq *irq = napi->irq >= 0 ? &e->topology->irq[napi->irq] : NULL;
	json_t *d = json_object(), *thread = json_null();
	struct target target;
	char cpus[VALUE_MAX] = "";

	if (napi->thread > 0) {
		if (topology_find_target(e->topology, TUNABLE_NAPI_THREAD_AFFINITY, napi->identity,
					 &target) >= 0 &&
		    observe_value(e->io, TUNABLE_NAPI_THREAD_AFFINITY, &target, cpus,
				  sizeof(cpus)) < 0)
			cpus[0] = '\0';
		thread = json_object();
		put(thread, "pid", json_integer(napi->thread));
		put(thread, "cpus", text_or_null(cpus));
	}
	put(d, "id", json_integer(napi->id));
	put(d, "rx_queue", napi->rx_queue >= 0 ? json_integer(napi->rx_queue) : json_null());
	put(d, "tx_queue", napi->tx_queue >= 0 ? json_integer(napi->tx_queue) : json_null());
	put(d, "queue_known_by",
	    napi->rx_queue < 0 && napi->tx_queue < 0 ? json_null()
	    : napi->by_order                         ? json_string("order")
						     : json_string("driver"));
	put(d, "irq", irq ? json_integer(irq->number) : json_null());
	put(d, "cpus", irq && irq->have_effective ? cpus_text(&irq->effective) : json_null());
	put(d, "thread", thread);
	put(d, "settings_of", json_string(napi->own_settings ? "instance" : "device"));
	for (unsigned i = 0; i < NAPI_SETTINGS; i++)
		put(d, tunables[TUNABLE_NAPI_THREADED + i].id, napi_value(napi, device, i));
	return d;
}

static json_t *napis_document(const struct engine *e, unsigned nic)
{
	struct device_values device = read_device(e, &e->topology->nic[nic]);
	json_t *list = json_array();

	for (unsigned i = 0; i < e->topology->n_napis; i++)
		if (e->topology->napi[i].nic == (int)nic)
			append(list, napi_document(e, &e->topology->napi[i], &device));
	for (unsigned i = 0; i < NAPI_SETTINGS; i++)
		json_decref(device.value[i]);
	return list;
}

/* To which CPUs each receive queue hands its packets: asked now, not each tick. */
static json_t *steering_document(const struct engine *e, unsigned nic)
{
	static const enum tunable_id ids[] = {TUNABLE_RPS_CPUS, TUNABLE_RPS_FLOW_CNT};
	_cleanup_free_ struct target *targets = NULL;
	json_t *list = json_array();
	int n = topology_targets(e->topology, TUNABLE_RPS_CPUS, &targets);

	for (int i = 0; i < n; i++) {
		json_t *d;

		if (!streq(targets[i].nic, e->topology->nic[nic].name))
			continue;
		d = json_object();
		put(d, "rx_queue", json_integer(targets[i].number));
		for (size_t k = 0; k < ELEMENTSOF(ids); k++) {
			char value[VALUE_MAX];
			int64_t number;

			if (observe_value(e->io, ids[k], &targets[i], value, sizeof(value)) < 0)
				value[0] = '\0';
			if (tunables[ids[k]].type != VALUE_NUMBER)
				put(d, tunables[ids[k]].id, text_or_null(value));
			else
				put(d, tunables[ids[k]].id,
				    parse_i64(value, &number) >= 0 ? json_integer(number)
								   : json_null());
		}
		append(list, d);
	}
	return list;
}

/* Null where the kernel or the driver counts nothing by queue. */
static json_t *losses_document(const struct engine *e, const struct nic *nic)
{
	_cleanup_free_ struct queue_stats *stats = NULL;
	json_t *list;
	size_t n;

	if (queue_stats_read(e->io, nic->ifindex, &stats, &n) < 0 || n == 0)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_t *d = json_object();

		put(d, "rx_queue", json_integer(stats[i].queue));
		for (unsigned k = 0; k < _QUEUE_STAT_MAX; k++)
			put(d, queue_stat_to_string(k),
			    stats[i].have & (1U << k) ? json_integer((json_int_t)stats[i].value[k])
						      : json_null());
		append(list, d);
	}
	return list;
}

void describe_queues(const struct engine *e, unsigned nic, json_t *d)
{
	const struct nic *n = &e->topology->nic[nic];

	put(d, "channels", numbers_document(&n->channels, true));
	put(d, "rings", numbers_document(&n->rings, false));
	put(d, "coalescing", coalesce_document(e, n));
	put(d, "steering", steering_document(e, nic));
	put(d, "queues", losses_document(e, n));
	put(d, "napis", napis_document(e, nic));
}
