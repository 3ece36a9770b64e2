/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a CPU may take to wake up: the limit of its C-states (kernel-facts 6.3).
 *
 * Per CPU, in a file: "0" is no limit, "n/a" is none tolerated, any other number microseconds
 * (drivers/base/power/sysfs.c). A CPU that goes offline keeps its value; one that is taken out of
 * the machine comes back with 0.
 *
 * For the host, in an open descriptor of /dev/cpu_dma_latency: a request, a binary s32, that holds
 * until the descriptor is closed (kernel/power/qos.c). The lowest of everybody's requests counts,
 * so there is nobody to yield to, and no original to write: what softnetd has here is its request
 * or none. A process that was killed has none any more, whatever its ledger says.
 */
#include "act/act-internal.h"

#include <fcntl.h>
#include <unistd.h>

#include "observe/observe.h"

static int cpu_verify(struct actuator *a, const struct place *p)
{
	return io_exists(a->io, p->path) ? 0 : -ENODEV;
}

const struct family cpu_latency_family = {.verify = cpu_verify};

/* Our request, not the host's figure. */
static int dma_read(struct actuator *a, const struct place *p, char value[static VALUE_MAX])
{
	bool held = a->latency_fd >= 0;
	int r;

	if (!held && !io_exists(a->io, p->path))
		return -ENOENT;
	r = format_into(value, VALUE_MAX, "%d", held ? a->latency_usec : CPU_DMA_LATENCY_NONE);
	return MIN(r, 0);
}

static void release(struct actuator *a)
{
	closep(&a->latency_fd);
	a->latency_fd = -1;
}

/* Whether the request counts: the figure of the host is it, or somebody's lower one. */
static int check_figure(struct actuator *a, const struct place *p, int64_t wish)
{
	char figure[32];
	int64_t now;
	int r;

	r = observe_value(a->io, p->id, &p->target, figure, sizeof(figure));
	if (r < 0)
		return r;
	return parse_i64(figure, &now) >= 0 && now <= wish ? 0 : -EIO;
}

static int dma_store(struct actuator *a, const struct place *p, const char *value)
{
	int64_t wish;
	int32_t request;
	int r;

	r = parse_i64(value, &wish);
	if (r < 0)
		return r;
	if (wish >= CPU_DMA_LATENCY_NONE) {
		release(a);
		return 0;
	}
	if (a->latency_fd < 0) {
		r = io_open(a->io, p->path, O_WRONLY);
		if (r < 0)
			return r;
		a->latency_fd = r;
		a->latency_usec = CPU_DMA_LATENCY_NONE;
	}
	request = (int32_t)wish;
	r = a->io->ops->write(a->io, a->latency_fd, &request, sizeof(request));
	if (r >= 0)
		a->latency_usec = request;
	if (r >= 0)
		r = check_figure(a, p, wish);
	/* A request that never was one is no request. */
	if (r < 0 && a->latency_usec == CPU_DMA_LATENCY_NONE)
		release(a);
	return r;
}

const struct family dma_latency_family = {.read = dma_read, .store = dma_store};

int act_latency_fd(const struct actuator *a)
{
	return a->latency_fd;
}

void act_adopt_latency(struct actuator *a, int fd)
{
	const struct ledger_entry *e = ledger_find(a->ledger, TUNABLE_CPU_DMA_LATENCY, "host");
	int64_t usec;

	release(a);
	if (!e || parse_i64(e->written, &usec) < 0 || usec < 0 || usec >= CPU_DMA_LATENCY_NONE) {
		close(fd);
		return;
	}
	a->latency_fd = fd;
	a->latency_usec = (int32_t)usec;
}
