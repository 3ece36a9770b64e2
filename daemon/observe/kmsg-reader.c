/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <time.h>

#include "observe/kmsg.h"
#include "observe/status.h"

#define KMSG_PATH "dev/kmsg"
#define RECORD_MAX \
	8192 /* CONSOLE_EXT_LOG_MAX of kernel/printk: no record is larger; 6.6 has 2048 */
#define READS_PER_CALL 4096
#define RETRY_USEC     (10 * USEC_PER_SEC)

int kmsg_reader_init(struct kmsg_reader *r, struct io *io)
{
	*r = (struct kmsg_reader){.io = io, .fd = -1};
	r->buf = malloc(RECORD_MAX);
	return r->buf ? 0 : -ENOMEM;
}

void kmsg_reader_done(struct kmsg_reader *r)
{
	closep(&r->fd);
	free(r->buf);
	*r = (struct kmsg_reader){.fd = -1};
}

int kmsg_reader_fd(const struct kmsg_reader *r)
{
	return r->fd;
}

static void add_event(struct kmsg_reader *r, struct snapshot *s, const struct kmsg_event *event)
{
	if (event->kind == KMSG_NOHZ_PENDING)
		r->nohz_lines++;
	if (s->n_events < SNAPSHOT_EVENTS_MAX)
		s->event[s->n_events++] = *event;
	else
		s->events_lost++;
}

static void take_record(struct kmsg_reader *r, struct slice bytes, struct snapshot *s)
{
	struct kmsg_event event = {.old = !r->past_old};
	struct kmsg_record record;

	if (kmsg_parse_record(bytes, &record) < 0)
		return;
	if (r->have_seq && record.seq <= r->seq)
		return; /* seen before the source failed */
	if (r->overrun) {
		r->lost += r->have_seq ? record.seq - r->seq - 1 : 1;
		r->overrun = false;
	}
	r->have_seq = true;
	r->seq = record.seq;
	if (record.facility != 0)
		return;
	event.kind = kmsg_classify(record.text, &event.mask);
	if (event.kind == KMSG_OTHER)
		return;
	event.seq = record.seq;
	event.boot_usec = record.usec;
	kmsg_show(record.text, event.text, sizeof(event.text));
	add_event(r, s, &event);
}

/* Gives the source up for a while. */
static int give_up(struct kmsg_reader *r, int error)
{
	closep(&r->fd);
	r->fd = -1;
	r->retry_usec = io_now(r->io, CLOCK_MONOTONIC) + RETRY_USEC;
	return error;
}

static int read_device(struct kmsg_reader *r, struct snapshot *s)
{
	if (r->fd < 0) {
		if (r->error < 0 && io_now(r->io, CLOCK_MONOTONIC) < r->retry_usec)
			return r->error;
		r->fd = io_open(r->io, KMSG_PATH, O_RDONLY | O_NONBLOCK | O_NOCTTY);
		if (r->fd < 0)
			return give_up(r, TAKE_FD(r->fd));
	}
	for (unsigned i = 0; i < READS_PER_CALL; i++) {
		ssize_t n = r->io->ops->read(r->io, r->fd, r->buf, RECORD_MAX, -1);

		if (n > 0) {
			take_record(r, slice_of(r->buf, (size_t)n), s);
		} else if (n == -EPIPE) {
			r->overrun = true;
		} else if (n == -EAGAIN || n == 0) {
			r->past_old = true;
			break;
		} else if (n != -EINVAL) {
			return give_up(r, (int)n);
		}
	}
	return 0;
}

struct file_reading {
	struct kmsg_reader *reader;
	struct snapshot *snapshot;
};

static void take_line(unsigned line _unused_, const struct kmsg_event *event, void *userdata)
{
	struct file_reading *f = userdata;

	add_event(f->reader, f->snapshot, event);
}

static int read_file(struct kmsg_reader *r, struct snapshot *s)
{
	struct file_reading f = {r, s};
	_cleanup_free_ char *text = NULL;
	const char *end;
	size_t length;
	int error;

	error = io_read_all(r->io, KMSG_PATH, &text, &length);
	if (error < 0)
		return error;
	if (length <= (size_t)r->file_done)
		return 0;
	/* A line that is still being written waits for the next call; a capture may end without one. */
	end = r->file_done == 0 ? text + length
				: memrchr(text + r->file_done, '\n', length - (size_t)r->file_done);
	if (!end)
		return 0;
	kmsg_parse_log(text + r->file_done, (size_t)(end - text - r->file_done), take_line, &f,
		       NULL);
	r->file_done = end - text + (end < text + length);
	return 0;
}

void kmsg_reader_read(struct kmsg_reader *r, struct snapshot *s)
{
	r->error = r->io->live ? read_device(r, s) : read_file(r, s);
	if (r->error < 0)
		source_failed(s, SOURCE_KMSG, r->error);
	else
		source_ok(s, SOURCE_KMSG);
	s->kmsg_records_lost = r->lost;
	s->nohz_lines = r->nohz_lines;
}
