/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel log: as a pasted text, as one record, and as the live reader gets it. */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "observe/kmsg.h"
#include "serve/decode-json.h"
#include "serve/show-decode.h"

static void take(unsigned line, const struct kmsg_event *event, void *userdata)
{
	unsigned *last = userdata;

	must(line > *last);
	*last = line;
	must(event->kind != KMSG_OTHER && event->kind < _KMSG_KIND_MAX);
	must(event->mask == 0 || event->kind == KMSG_NOHZ_PENDING);
	must(memchr(event->text, '\0', sizeof(event->text)) != NULL);
}

/* A /dev/kmsg whose records are the lines of the input; the line "E<n>" is the error n instead. */
static struct slice device;

static int device_open(struct io *io _unused_, const char *path _unused_, int flags _unused_,
		       mode_t mode _unused_)
{
	return 1000000; /* no such descriptor: closing it does no harm */
}

static ssize_t device_read(struct io *io _unused_, int fd _unused_, void *buf, size_t size,
			   off_t offset _unused_)
{
	struct slice line;

	if (!slice_line(&device, &line))
		return -EAGAIN;
	if (slice_length(line) == 2 && line.at[0] == 'E' && line.at[1] > ' ')
		return -(line.at[1] - ' ');
	size = MIN(size, slice_length(line));
	memcpy(buf, line.at, size);
	return (ssize_t)size;
}

static uint64_t device_now(struct io *io _unused_, clockid_t clock _unused_)
{
	static uint64_t now;

	return now += 20 * USEC_PER_SEC;
}

static const struct io_ops device_ops = {
	.open = device_open, .read = device_read, .now = device_now};

static void read_live(const char *text, size_t size)
{
	struct io io = {.ops = &device_ops, .live = true};
	struct kmsg_reader r;
	struct snapshot *s;

	device = slice_of(text, size);
	must(kmsg_reader_init(&r, &io) == 0);
	must(snapshot_new(1, 0, 0, &s) == 0);
	for (unsigned i = 0; i < 4; i++) {
		snapshot_clear(s);
		kmsg_reader_read(&r, s);
		must(s->n_events <= SNAPSHOT_EVENTS_MAX);
		for (unsigned k = 0; k < s->n_events; k++)
			must(s->event[k].kind != KMSG_OTHER);
	}
	snapshot_free(s);
	kmsg_reader_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct kmsg_record record;
	unsigned last = 0;
	json_t *doc;
	FILE *null;

	kmsg_parse_log(text, size, take, &last, NULL);
	if (kmsg_parse_record(slice_of(text, size), &record) == 0)
		must(record.text.at >= text && record.text.end <= text + size &&
		     record.text.at <= record.text.end);
	read_live(text, size);
	doc = decode_json(DECODE_KMSG, text, size);
	must(doc != NULL);
	null = fopen("/dev/null", "w");
	must(null != NULL);
	show_decode(null, size % 120, doc);
	fclose(null);
	json_decref(doc);
	return 0;
}
