/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NIC → queue → NAPI → IRQ → CPU → thread, and what stands at each. */
#include "base/util.h"
#include "serve/sheet.h"
#include "serve/show.h"

static const json_t *get(const json_t *d, const char *key)
{
	return json_object_get(d, key);
}

static const char *text(const json_t *d, const char *key)
{
	return json_string_value(get(d, key));
}

static const char *queue_cell(char buf[CELL_MAX], const json_t *napi)
{
	const char *by = text(napi, "queue_known_by");
	json_t *rx = json_object_get(napi, "rx_queue"), *tx = json_object_get(napi, "tx_queue");

	/* "?": not the driver's word, see softnetd(8). */
	if (json_is_integer(rx))
		snprintf(buf, CELL_MAX, "rx%lld%s", (long long)json_integer_value(rx),
			 by && streq(by, "order") ? "?" : "");
	else if (json_is_integer(tx))
		snprintf(buf, CELL_MAX, "tx%lld", (long long)json_integer_value(tx));
	else
		snprintf(buf, CELL_MAX, "-");
	return buf;
}

static void napi_row(struct sheet *s, const json_t *nic, const json_t *napi)
{
	const json_t *thread = get(napi, "thread");
	char queue[CELL_MAX], id[CELL_MAX], irq[CELL_MAX], pid[CELL_MAX], threaded[CELL_MAX],
		defer[CELL_MAX], flush[CELL_MAX], suspend[CELL_MAX];
	const char *cells[] = {
		text(nic, "nic") ?: "-",
		queue_cell(queue, napi),
		cell_number(id, get(napi, "id")),
		cell_number(irq, get(napi, "irq")),
		text(napi, "cpus") ?: "-",
		cell_number(pid, get(thread, "pid")),
		text(thread, "cpus") ?: "-",
		cell_number(threaded, get(napi, "napi_threaded")),
		cell_number(defer, get(napi, "napi_defer_hard_irqs")),
		cell_number(flush, get(napi, "gro_flush_timeout")),
		cell_number(suspend, get(napi, "irq_suspend_timeout")),
	};

	sheet_row(s, cells);
}

/* "rx_usecs 3, rx_frames 0" */
static void coalescing_text(const json_t *nic, char *buf, size_t size)
{
	json_t *coalescing = json_object_get(nic, "coalescing"), *value;
	const char *key;

	buf[0] = '\0';
	json_object_foreach (coalescing, key, value)
		if (json_is_integer(value))
			append_text(buf, size, "%s%s %lld", buf[0] ? ", " : "",
				    startswith(key, "coalesce_") ? key + strlen("coalesce_") : key,
				    (long long)json_integer_value(value));
	if (json_is_object(coalescing) && !buf[0])
		append_text(buf, size, "the driver has none");
}

static void channels_text(const json_t *nic, char *buf, size_t size)
{
	static const char *const kinds[] = {"combined", "rx", "tx"};
	const json_t *channels = get(nic, "channels");

	buf[0] = '\0';
	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		long long n = json_integer_value(get(channels, kinds[i]));
		char max[16];

		snprintf(max, sizeof(max), "%s_max", kinds[i]);
		if (n > 0)
			append_text(buf, size, "%s%lld of %lld %s", buf[0] ? ", " : "", n,
				    (long long)json_integer_value(get(channels, max)), kinds[i]);
	}
}

static bool same_steering(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "rps_cpus"), json_object_get(b, "rps_cpus")) &&
	       json_equal(json_object_get(a, "rps_flow_cnt"), json_object_get(b, "rps_flow_cnt"));
}

/* "rx0-3 to CPUs 4-7, 4096 flows": queues that do the same in one; those that keep their packets are
 * not named. */
static void steering_text(const json_t *nic, char *buf, size_t size)
{
	const json_t *list = get(nic, "steering");
	size_t n = json_array_size(list);

	buf[0] = '\0';
	for (size_t first = 0, last; first < n; first = last + 1) {
		const json_t *q = json_array_get(list, first);
		const char *cpus = text(q, "rps_cpus");
		long long flows = json_integer_value(get(q, "rps_flow_cnt"));

		for (last = first;
		     last + 1 < n && same_steering(q, json_array_get(list, last + 1));)
			last++;
		if ((!cpus || streq(cpus, "none")) && flows == 0)
			continue;
		append_text(buf, size, "%srx%zu", buf[0] ? "; " : "", first);
		if (last > first)
			append_text(buf, size, "-%zu", last);
		append_text(buf, size, " to CPUs %s", cpus ?: "?");
		if (flows > 0)
			append_text(buf, size, ", %lld flows", flows);
	}
}

/* "rx3 17 for a full ring": queues that lost nothing are not named. Overruns are among the NIC's drops. */
static void losses_text(const json_t *nic, char *buf, size_t size)
{
	static const struct {
		const char *key, *text;
	} kinds[] = {{"rx_hw_drop_overruns", "for a full ring"},
		     {"rx_hw_drops", "by the NIC"},
		     {"rx_alloc_fail", "for want of memory"}};
	const json_t *queue;
	size_t i;

	buf[0] = '\0';
	json_array_foreach (get(nic, "queues"), i, queue)
		for (size_t k = 0; k < ELEMENTSOF(kinds); k++) {
			long long n = json_integer_value(get(queue, kinds[k].key));

			if (n > 0)
				append_text(buf, size, "%srx%lld %lld %s", buf[0] ? ", " : "",
					    (long long)json_integer_value(get(queue, "rx_queue")),
					    n, kinds[k].text);
		}
}

void show_queues(FILE *out, unsigned width, const json_t *nics)
{
	static const char *const heads[] = {"NIC",     ">queue",    ">NAPI",       ">IRQ",
					    "on CPUs", ">thread",   "may use",     ">threaded",
					    ">defer",  ">flush ns", ">suspend ns", NULL};
	char channels[128], coalescing[256], steering[512], losses[512];
	const json_t *nic, *napi;
	size_t i, k, rows = 0, left_out = 0;
	struct sheet *s = sheet_new(width, heads);

	json_array_foreach (nics, i, nic)
		json_array_foreach (get(nic, "napis"), k, napi) {
			if (k < SHOW_ROWS_MAX)
				napi_row(s, nic, napi);
			else
				left_out++;
			rows++;
		}
	if (rows > 0)
		fputc('\n', out);
	sheet_end(s, out);
	if (left_out > 0)
		fprintf(out, "(and %zu more NAPI instances; --json has them all)\n", left_out);
	json_array_foreach (nics, i, nic) {
		channels_text(nic, channels, sizeof(channels));
		coalescing_text(nic, coalescing, sizeof(coalescing));
		if (*channels)
			fprintf(out, "%s: channels %s\n", text(nic, "nic") ?: "-", channels);
		if (*coalescing)
			fprintf(out, "%s: coalescing %s\n", text(nic, "nic") ?: "-", coalescing);
		steering_text(nic, steering, sizeof(steering));
		if (*steering)
			fprintf(out, "%s: steering %s\n", text(nic, "nic") ?: "-", steering);
		losses_text(nic, losses, sizeof(losses));
		if (*losses)
			fprintf(out, "%s: lost since the queues began: %s\n",
				text(nic, "nic") ?: "-", losses);
	}
}
