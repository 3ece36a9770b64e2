/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/nics.h"

#include <ctype.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/stat.h>

#include "observe/irq-names.h"

static int add_entry(struct action_table *t, unsigned number, struct slice actions)
{
	if (t->n == t->room) {
		size_t room = MAX(t->room * 2, (size_t)64);
		struct action_entry *more = realloc(t->entry, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->entry = more;
		t->room = room;
	}
	t->entry[t->n].number = number;
	t->entry[t->n].actions = strndup(actions.at, slice_length(actions));
	if (!t->entry[t->n].actions)
		return -ENOMEM;
	t->n++;
	return 0;
}

/* "virtio3,virtio0" → "virtio3, virtio0" */
static int add_sysfs_entry(struct io *io, const char *name, struct action_table *t)
{
	char path[96], text[256], spaced[2 * sizeof(text)], *to = spaced;
	uint64_t number;

	if (slice_decimal(slice_of(name, strlen(name)), INT32_MAX, &number) < 0)
		return 0;
	if (format_into(path, sizeof(path), "sys/kernel/irq/%s/actions", name) < 0 ||
	    io_read_line(io, path, text, sizeof(text)) <= 0)
		return 0;
	for (const char *c = text; *c; c++) {
		*to++ = *c;
		if (*c == ',')
			*to++ = ' ';
	}
	return add_entry(t, (unsigned)number, slice_of(spaced, (size_t)(to - spaced)));
}

static int compare_entries(const void *a, const void *b)
{
	const struct action_entry *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int read_actions(struct io *io, const char *text, size_t length, struct interrupts_reader *r,
			struct action_table *ret)
{
	_cleanup_(strv_freep) char **names = NULL;
	int error;

	if (text && interrupts_begin(r, text, length, NULL) >= 0) {
		while (interrupts_next(r)) {
			ret->n_rows++;
			if (!r->row.numbered || !interrupts_counts(r) ||
			    slice_length(r->row.name) == 0)
				continue;
			error = add_entry(ret, r->row.irq, r->row.name);
			if (error < 0)
				return error;
		}
		return 0;
	}
	if (io_list(io, "sys/kernel/irq", &names) < 0)
		return 0;
	for (char **name = names; *name; name++) {
		error = add_sysfs_entry(io, *name, ret);
		if (error < 0)
			return error;
	}
	return 0;
}

int action_table_read(struct io *io, const char *text, size_t length, struct interrupts_reader *r,
		      struct action_table *ret)
{
	int error;

	*ret = (struct action_table){};
	error = read_actions(io, text, length, r, ret);
	/* The kernel prints in this order; a file that someone made need not be. */
	if (ret->n > 0)
		qsort(ret->entry, ret->n, sizeof(*ret->entry), compare_entries);
	return error;
}

void action_table_done(struct action_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->entry[i].actions);
	free(t->entry);
	*t = (struct action_table){};
}

const char *action_table_find(const struct action_table *t, unsigned number)
{
	for (size_t low = 0, high = t->n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (t->entry[middle].number == number)
			return t->entry[middle].actions;
		if (t->entry[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* --- NICs --- */

static int nic_path(const char *nic, const char *file, char *buf, size_t size)
{
	return format_into(buf, size, "sys/class/net/%s/%s", nic, file);
}

static int read_nic_number(struct io *io, const char *nic, const char *file, unsigned base,
			   uint32_t *ret)
{
	char path[128], text[32];
	int r;

	r = nic_path(nic, file, path, sizeof(path));
	if (r >= 0)
		r = io_read_line(io, path, text, sizeof(text));
	if (r < 0)
		return r;
	return parse_u32(text, base, ret);
}

static bool has_entries(struct io *io, const char *directory, const char *name)
{
	_cleanup_(strv_freep) char **names = NULL;
	char path[320];

	return format_into(path, sizeof(path), "%s/%s", directory, name) >= 0 &&
	       io_list(io, path, &names) > 0;
}

/* The device whose vectors are the NIC's, into BUF, from the netdev's own device. */
static void find_irq_device(struct io *io, char *device)
{
	char *slash = strrchr(device, '/');

	/* sys/devices/pci0000:00/0000:00:03.0/virtio1: the vectors belong to the PCI device. A USB
	 * NIC's parent is no such thing: its interrupt is the host controller's, for all of its
	 * devices. */
	if (!slash || !startswith(slash, "/virtio") || has_entries(io, device, "msi_irqs"))
		return;
	*slash = '\0';
	if (!has_entries(io, device, "msi_irqs"))
		*slash = '/';
}

static int read_node(struct io *io, const char *device)
{
	char path[320], text[16];
	int64_t node;

	if (format_into(path, sizeof(path), "%s/numa_node", device) < 0 ||
	    io_read_line(io, path, text, sizeof(text)) < 0 || parse_i64(text, &node) < 0 ||
	    node < 0 || node > INT16_MAX)
		return -1;
	return (int)node;
}

static void read_queues(struct io *io, struct nic *nic)
{
	_cleanup_(strv_freep) char **names = NULL;
	char path[128], mask[CPU_ID_MAX / 32 * 9 + 1];

	if (nic_path(nic->name, "queues", path, sizeof(path)) < 0 || io_list(io, path, &names) < 0)
		return;
	for (char **name = names; *name; name++) {
		struct cpuset cpus;

		if (!startswith(*name, "rx-"))
			continue;
		nic->rx_queues++;
		if (format_into(path, sizeof(path), "sys/class/net/%s/queues/%s/rps_cpus",
				nic->name, *name) >= 0 &&
		    io_read_line(io, path, mask, sizeof(mask)) >= 0 &&
		    cpuset_parse_mask(mask, &cpus) >= 0)
			nic->rps |= !cpuset_empty(&cpus);
	}
}

/* The last part of what DIRECTORY/driver points to. */
static void read_driver(struct io *io, const char *nic, struct nic *ret)
{
	char path[128], target[512];
	const char *slash;

	if (nic_path(nic, "device/driver", path, sizeof(path)) < 0 ||
	    io->ops->readlink(io, path, target, sizeof(target)) < 0)
		return;
	slash = strrchr(target, '/');
	snprintf(ret->driver, sizeof(ret->driver), "%.*s", (int)sizeof(ret->driver) - 1,
		 slash ? slash + 1 : target);
}

/* Ports of one device (mlx4) differ in dev_port only. */
static void name_nic(struct io *io, struct nic *nic)
{
	const char *device = nic->device;
	char part[24];
	uint32_t port = 0;
	size_t room;

	(void)read_nic_number(io, nic->name, "dev_port", 10, &port);
	snprintf(part, sizeof(part), "|port%u", port);
	if (startswith(device, "sys/"))
		device += strlen("sys/");
	/* Of a path that is too long the end is kept: that is where devices differ. NAPI instances
	 * append their queue. */
	room = sizeof(nic->identity) - strlen(part) - sizeof("|napi4294967295");
	if (strlen(device) > room)
		device += strlen(device) - room;
	snprintf(nic->identity, sizeof(nic->identity), "%s%s", device, part);
}

void nic_read_carrier(struct io *io, struct nic *nic)
{
	uint32_t carrier;

	/* EINVAL while it is down. */
	nic->carrier =
		read_nic_number(io, nic->name, "carrier", 10, &carrier) >= 0 ? carrier != 0 : -1;
}

/* False when it is no interface (bonding_masters), or gone already. */
static bool read_nic(struct io *io, const char *name, struct nic *nic)
{
	_cleanup_free_ char *device = NULL;
	char path[128];
	uint32_t flags;

	*nic = (struct nic){.node = -1};
	if (format_into(nic->name, sizeof(nic->name), "%s", name) < 0 ||
	    read_nic_number(io, name, "ifindex", 10, &nic->ifindex) < 0)
		return false;
	if (read_nic_number(io, name, "flags", 16, &flags) >= 0)
		nic->up = flags & IFF_UP;
	nic_read_carrier(io, nic);
	read_queues(io, nic);
	if (nic_path(name, "device", path, sizeof(path)) < 0 ||
	    io->ops->realpath(io, path, &device) < 0)
		return true;
	find_irq_device(io, device);
	if (format_into(nic->device, sizeof(nic->device), "%s", device) < 0)
		return true;
	read_driver(io, name, nic);
	nic->node = read_node(io, nic->device);
	name_nic(io, nic);
	return true;
}

static int compare_nics(const void *a, const void *b)
{
	const struct nic *x = a, *y = b;

	return x->ifindex < y->ifindex ? -1 : x->ifindex > y->ifindex;
}

static int discover_nics(struct io *io, struct topology *t)
{
	_cleanup_(strv_freep) char **names = NULL;
	int r;

	r = io_list(io, "sys/class/net", &names);
	if (r < 0)
		return r;
	t->nic = calloc((size_t)r + 1, sizeof(*t->nic));
	if (!t->nic)
		return -ENOMEM;
	for (char **name = names; *name; name++)
		if (!streq(*name, "lo") && read_nic(io, *name, &t->nic[t->n_nics]))
			t->n_nics++;
	qsort(t->nic, t->n_nics, sizeof(*t->nic), compare_nics);
	return 0;
}

/* --- their interrupts --- */

static struct irq *find_irq(struct topology *t, unsigned number)
{
	for (unsigned i = 0; i < t->n_irqs; i++)
		if (t->irq[i].number == number)
			return &t->irq[i];
	return NULL;
}

/* Several interfaces may share a device (two ports of an mlx4, representors): the one that the name
 * tells, else the first. */
static int nic_of_action(const struct topology *t, unsigned first, const char *action)
{
	for (unsigned n = first; n < t->n_nics; n++)
		if (streq(t->nic[n].device, t->nic[first].device) &&
		    irq_name_belongs(action, t->nic[n].name, ""))
			return (int)n;
	return (int)first;
}

static int add_irq(struct topology *t, unsigned nic, unsigned number, const char *actions)
{
	struct irq_name name;
	struct irq *irq;

	if (find_irq(t, number))
		return 0;
	if (t->n_irqs % 64 == 0) {
		irq = realloc(t->irq, (t->n_irqs + 64) * sizeof(*irq));
		if (!irq)
			return -ENOMEM;
		t->irq = irq;
	}
	irq = &t->irq[t->n_irqs++];
	*irq = (struct irq){.number = number, .nic = nic_of_action(t, nic, actions)};
	irq->shared = strchr(actions, ',') != NULL;
	snprintf(irq->name, sizeof(irq->name), "%s", actions);
	name = irq_name_read(irq->name, t->nic[irq->nic].name);
	irq->role = name.role;
	irq->queue = name.queue;
	return 0;
}

/* By msi_irqs, else by the line of the device. Returns how many there were, with or without an
 * action. */
static int add_by_sysfs(struct io *io, const struct action_table *actions, struct topology *t,
			unsigned n)
{
	_cleanup_(strv_freep) char **names = NULL;
	const char *action;
	char path[320];
	uint64_t number;
	int r, found = 0;

	if (format_into(path, sizeof(path), "%s/msi_irqs", t->nic[n].device) >= 0 &&
	    io_list(io, path, &names) > 0) {
		for (char **name = names; *name; name++) {
			if (slice_decimal(slice_of(*name, strlen(*name)), INT32_MAX, &number) < 0)
				continue;
			found++;
			action = action_table_find(actions, (unsigned)number);
			r = action ? add_irq(t, n, (unsigned)number, action) : 0;
			if (r < 0)
				return r;
		}
		return found;
	}
	if (format_into(path, sizeof(path), "%s/irq", t->nic[n].device) < 0 ||
	    io_read_u64(io, path, &number) < 0 || number == 0 || number > INT32_MAX)
		return 0;
	action = action_table_find(actions, (unsigned)number);
	r = action ? add_irq(t, n, (unsigned)number, action) : 0;
	return r < 0 ? r : 1;
}

static int add_by_name(const struct action_table *actions, struct topology *t, unsigned n)
{
	int r;

	for (size_t i = 0; i < actions->n; i++) {
		if (!irq_name_belongs(actions->entry[i].actions, t->nic[n].name, t->nic[n].device))
			continue;
		r = add_irq(t, n, actions->entry[i].number, actions->entry[i].actions);
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare_irqs(const void *a, const void *b)
{
	const struct irq *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* What only the vectors of a NIC together tell. */
static void judge_together(struct topology *t, unsigned n)
{
	unsigned receiving = 0;
	bool queues = false;

	for (unsigned i = 0; i < t->n_irqs; i++) {
		struct irq *irq = &t->irq[i];

		if (irq->nic != (int)n)
			continue;
		queues |= irq->queue >= 0;
		receiving += irq->role == IRQ_RX || irq->role == IRQ_RXTX;
	}
	for (unsigned i = 0; i < t->n_irqs; i++) {
		struct irq *irq = &t->irq[i];

		if (irq->nic != (int)n || irq->role == IRQ_OTHER)
			continue;
		/* "eth0" beside "eth0-TxRx-0" … is the link's (ixgbe, igb, tg3). */
		if (queues && irq->queue < 0 && !irq_name_read(irq->name, t->nic[n].name).told) {
			irq->role = IRQ_OTHER;
			continue;
		}
		/* More handlers than queues: those above are asleep. Where the numbers fit, a
		 * driver may just as well count from 1 (tg3). */
		if (t->nic[n].rx_queues > 0 && receiving > t->nic[n].rx_queues && irq->queue >= 0 &&
		    (unsigned)irq->queue >= t->nic[n].rx_queues)
			irq->role = IRQ_OTHER;
	}
	/* One queue number twice is a name that was cut inside its number (bnxt): nobody's is
	 * known. */
	for (unsigned i = 0; i < t->n_irqs; i++)
		for (unsigned k = i + 1; k < t->n_irqs && t->irq[i].nic == (int)n; k++)
			if (t->irq[k].nic == (int)n && t->irq[i].queue >= 0 &&
			    streq(t->irq[i].name, t->irq[k].name))
				t->irq[i].queue = t->irq[k].queue = -1;
}

static void name_identity(struct topology *t, unsigned i)
{
	struct irq *irq = &t->irq[i];
	const char *device = t->nic[irq->nic].device;
	char ordinal[16] = "";
	unsigned same = 1;
	size_t room;

	for (unsigned k = 0; k < i; k++)
		same += streq(t->irq[k].name, irq->name) &&
			streq(t->nic[t->irq[k].nic].device, device);
	if (same > 1)
		snprintf(ordinal, sizeof(ordinal), "#%u", same);
	if (startswith(device, "sys/"))
		device += strlen("sys/");
	/* Of a path that is too long the end is kept: that is where devices differ. */
	room = sizeof(irq->identity) - strlen(irq->name) - strlen(ordinal) - 2;
	if (strlen(device) > room)
		device += strlen(device) - room;
	snprintf(irq->identity, sizeof(irq->identity), "%s|%s%s", device, irq->name, ordinal);
}

static int read_affinity_file(struct io *io, unsigned number, const char *file, struct cpuset *ret)
{
	char path[64], text[CPUSET_LIST_MAX];
	int r;

	r = format_into(path, sizeof(path), "proc/irq/%u/%s", number, file);
	if (r >= 0)
		r = io_read_line(io, path, text, sizeof(text));
	return r < 0 ? r : cpuset_parse_list(text, ret);
}

void irq_read_affinity(struct io *io, struct irq *irq)
{
	irq->have_affinity =
		read_affinity_file(io, irq->number, "smp_affinity_list", &irq->affinity) >= 0;
	irq->have_effective = read_affinity_file(io, irq->number, "effective_affinity_list",
						 &irq->effective) >= 0;
}

static bool writable(struct io *io, const char *number, bool *ret)
{
	char path[64];
	mode_t mode;

	if (format_into(path, sizeof(path), "proc/irq/%s/smp_affinity_list", number) < 0 ||
	    io->ops->mode(io, path, &mode) < 0)
		return false;
	*ret = mode & 0222;
	return true;
}

/*
 * Since 6.12 the affinity of a managed interrupt has no w (kernel-facts 6.1). That tells something
 * only where others have it: a sandbox or a copied tree may take it from all.
 */
static void find_managed(struct io *io, struct topology *t)
{
	_cleanup_(strv_freep) char **names = NULL;
	bool others = false, w;
	char number[16];

	for (unsigned i = 0; i < t->n_irqs; i++) {
		snprintf(number, sizeof(number), "%u", t->irq[i].number);
		if (!writable(io, number, &w))
			continue;
		t->irq[i].managed = !w;
		others |= w;
	}
	if (!others && io_list(io, "proc/irq", &names) >= 0)
		for (char **name = names; *name && !others; name++)
			others = writable(io, *name, &w) && w;
	for (unsigned i = 0; i < t->n_irqs && !others; i++)
		t->irq[i].managed = false;
}

int nics_discover(struct io *io, const struct action_table *actions, struct topology *t)
{
	int r;

	r = discover_nics(io, t);
	if (r < 0)
		return r;
	for (unsigned n = 0; n < t->n_nics; n++) {
		if (!*t->nic[n].device)
			continue;
		r = add_by_sysfs(io, actions, t, n);
		if (r == 0)
			r = add_by_name(actions, t, n);
		if (r < 0)
			return r;
	}
	if (t->n_irqs > 0)
		qsort(t->irq, t->n_irqs, sizeof(*t->irq), compare_irqs);
	for (unsigned n = 0; n < t->n_nics; n++)
		judge_together(t, n);
	for (unsigned i = 0; i < t->n_irqs; i++) {
		name_identity(t, i);
		irq_read_affinity(io, &t->irq[i]);
	}
	find_managed(io, t);
	return 0;
}

/* Channels that a driver sets up anew may change no interrupt: virtio_net keeps all of them. */
static unsigned count_rx_queues(struct io *io, const char *name)
{
	_cleanup_(strv_freep) char **names = NULL;
	char path[128];
	unsigned n = 0;

	if (nic_path(name, "queues", path, sizeof(path)) < 0 || io_list(io, path, &names) < 0)
		return 0;
	for (char **queue = names; *queue; queue++)
		n += startswith(*queue, "rx-");
	return n;
}

uint64_t nics_signature(struct io *io)
{
	uint64_t hash = HASH_START;
	_cleanup_(strv_freep) char **names = NULL;

	if (io_list(io, "sys/class/net", &names) < 0)
		return 0;
	for (char **name = names; *name; name++) {
		char path[128], target[512], state[64];
		uint32_t ifindex, flags = 0;

		if (format_into(path, sizeof(path), "sys/class/net/%s", *name) < 0 ||
		    io->ops->readlink(io, path, target, sizeof(target)) < 0 ||
		    strstr(target, "/devices/virtual/"))
			continue;
		if (read_nic_number(io, *name, "ifindex", 10, &ifindex) < 0)
			continue;
		read_nic_number(io, *name, "flags", 16, &flags);
		snprintf(state, sizeof(state), " %u %u %u", ifindex, flags & IFF_UP,
			 count_rx_queues(io, *name));
		hash = hash_add(hash_add(hash, *name), state);
	}
	return hash;
}
