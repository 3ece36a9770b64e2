/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel log: which of its lines tell of trouble on the receive path.
 *
 * Lines are told by a part of their text, never by where it stands: prefixes differ by version, by
 * exporter and by console (kernel-facts 2.1, 2.4). The NOHZ warning comes in three wordings, all
 * with a hex mask of softirq vectors: NOHZ: local_softirq_pending 08 up to ~5.9 NOHZ tick-stop
 * error: Non-RCU local softirq work is pending, handler #08!!!       ~5.10 to 5.17 NOHZ tick-stop
 * error: local softirq work is pending, handler #08!!!               since 5.18 A line is not an
 * incident, and ten of them per boot and machine are all the kernel prints.
 *
 * Only the kernel's own records count: everyone may write to /dev/kmsg as root or to syslog, and
 * such records have a facility other than 0 (case B27).
 */
#pragma once

#include "base/complaint.h"
#include "base/io.h"
#include "base/scan.h"
#include "model/snapshot.h"

/* What TEXT (a message without its prefixes, or with them) says. RET_MASK is set for
 * KMSG_NOHZ_PENDING only. */
enum kmsg_kind kmsg_classify(struct slice text, uint32_t *ret_mask);

/* The NOHZ warning in TEXT: none; cut off before its mask (a line that mail broke); or whole, and
 * RET_MASK is set. */
enum nohz_text {
	NOHZ_NONE,
	NOHZ_CUT,
	NOHZ_WHOLE
};
enum nohz_text kmsg_nohz(struct slice text, uint32_t *ret_mask);

/*
 * One record as /dev/kmsg gives it (Documentation/ABI/testing/dev-kmsg):
 *   PRIO,SEQ,USEC,FLAGS[,KEY=VALUE …];TEXT\n[ KEY=VALUE\n …]
 * Header fields behind the flags are skipped (caller=, and in newer kernels cpu=, pid=, comm=,
 * which is free text: case B25); so is the dictionary, whose lines begin with a blank. TEXT's \xNN
 * stay as they are: see kmsg_show().
 */
struct kmsg_record {
	unsigned facility, level;
	uint64_t seq, usec;
	struct slice text;
};
/* -EINVAL when RECORD is none. */
int kmsg_parse_record(struct slice record, struct kmsg_record *ret);

/* The kernel writes every byte that is no printable ASCII as \xNN, and the backslash too. Undoes
 * that for what can be shown (UTF-8 and the backslash; other control bytes stay \xNN), and cuts to
 * SIZE. */
void kmsg_show(struct slice text, char *buf, size_t size);

/*
 * A pasted log: output of dmesg with any or no time stamps, journalctl or syslog lines, lines with
 * "<4>" in front, raw /dev/kmsg records, in any order. Calls FN for every line that is not
 * KMSG_OTHER; seq and boot_usec are set as far as the line tells. A NOHZ line that mail broke is
 * joined with the lines that follow (cases B15, B23) and counts at its first line. Lines of another
 * program than the kernel do not count: by facility in raw records, "<30>" and dmesg -x prefixes,
 * by the tag in syslog lines. When such a line would have counted, or a NOHZ line breaks off before
 * its mask, C (may be NULL) hears of it.
 */
typedef void (*kmsg_line_fn)(unsigned line, const struct kmsg_event *event, void *userdata);
void kmsg_parse_log(const char *text, size_t length, kmsg_line_fn fn, void *userdata,
		    struct complaints *c);

/*
 * The live sensor: keeps /dev/kmsg open and hands over what is new since the last call.
 *
 * It starts at the oldest record that the kernel still has. What is there at the first reading was
 * printed before this daemon looked: such events are marked old (case B33), but their NOHZ lines
 * count for the ten of this boot. When the source fails and comes back (case B37), records that
 * were seen are skipped by their sequence number. In a captured tree dev/kmsg is a file, with
 * records or with the output of dmesg. Its events are not old: the capture is what we were asked to
 * look at. Whole lines that are added to the file later are taken as they come.
 */
struct kmsg_reader {
	struct io *io;
	int fd;          /* -1: not open */
	off_t file_done; /* captured tree: so much of the file was read */
	bool past_old;   /* the first reading has reached the end */
	bool have_seq, overrun;
	uint64_t seq;        /* of the last record, if have_seq */
	uint64_t lost;       /* records that the ring lost before we came */
	unsigned nohz_lines; /* of this boot, old ones too */
	int error;           /* why the source cannot be read, or 0 */
	uint64_t retry_usec; /* CLOCK_MONOTONIC: with an error, no new try before */
	char *buf;
};

/* -ENOMEM only; opens nothing yet. IO must outlive the reader. */
int kmsg_reader_init(struct kmsg_reader *r, struct io *io);
void kmsg_reader_done(struct kmsg_reader *r);

/*
 * Reads what is new (at most a few thousand records a call, so that a flood cannot hold the caller;
 * the rest comes at the next one) and fills S's events, counters and S->source[SOURCE_KMSG]:
 * SOURCE_ABSENT without the file, SOURCE_STRANGE when it cannot be opened or read; both are tried
 * again every 10 s. EPIPE means that the ring overtook us: counted in kmsg_records_lost, and
 * reading goes on (case B35). EINVAL is a record larger than any kernel writes, and skips it.
 */
void kmsg_reader_read(struct kmsg_reader *r, struct snapshot *s);

/* For the event loop: readable when there is something new. -1: not open, or a captured file. */
int kmsg_reader_fd(const struct kmsg_reader *r);
