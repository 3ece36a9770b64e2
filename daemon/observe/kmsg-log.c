/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs as people paste them; see observe/kmsg.h. Every exporter puts something else in front of the
 * kernel's text, so a line loses its prefixes one after the other, and each may say that not the
 * kernel was speaking.
 */
#include <stdio.h>

#include "observe/kmsg.h"

/* Lines that a broken NOHZ line may go on over: its text has ten words. */
#define JOIN_MAX 3

/* What a line says about itself in front of its text. */
struct prefix {
	bool foreign;       /* not the kernel's */
	bool record;        /* a raw /dev/kmsg record */
	uint64_t seq, usec; /* 0: not said */
};

static void skip(struct slice *s, size_t n)
{
	s->at += MIN(n, slice_length(*s));
	while (s->at < s->end && is_blank(*s->at))
		s->at++;
}

static size_t digits(struct slice s)
{
	size_t n = 0;

	while (n < slice_length(s) && is_digit(s.at[n]))
		n++;
	return n;
}

/* "> > " of a mail that quotes. */
static void strip_quotes(struct slice *s)
{
	skip(s, 0);
	while (s->at < s->end && *s->at == '>')
		skip(s, 1);
}

/* "<4>": syslog's priority, facility and level in one number. */
static void strip_priority(struct slice *s, struct prefix *p)
{
	struct slice number = {s->at + 1, s->end};
	uint64_t prio;

	if (s->at == s->end || *s->at != '<')
		return;
	number.end = number.at + digits(number);
	if (number.end == s->end || *number.end != '>' || slice_decimal(number, 1023, &prio) < 0)
		return;
	if (prio >> 3)
		p->foreign = true;
	skip(s, slice_length(number) + 2);
}

/* "kern  :warn  : " of dmesg -x. */
static void strip_dmesg_x(struct slice *s, struct prefix *p)
{
	static const char *const facilities[] = {
		"kern",   "user",   "mail",   "daemon", "auth",   "syslog",   "lpr",
		"news",   "uucp",   "cron",   "ftp",    "local0", "local1",   "local2",
		"local3", "local4", "local5", "local6", "local7", "authpriv",
	};
	static const char *const levels[] = {"emerg", "alert",  "crit", "err",
					     "warn",  "notice", "info", "debug"};
	struct slice rest = *s, name;
	bool known = false;

	for (size_t i = 0; i < ELEMENTSOF(facilities); i++) {
		if (!slice_starts(rest, facilities[i]))
			continue;
		name = slice_of(rest.at, strlen(facilities[i]));
		skip(&rest, slice_length(name));
		known = rest.at < rest.end && *rest.at == ':';
		break;
	}
	if (!known)
		return;
	skip(&rest, 1);
	for (size_t i = 0; i < ELEMENTSOF(levels); i++) {
		struct slice level = rest;

		if (!slice_starts(level, levels[i]))
			continue;
		skip(&level, strlen(levels[i]));
		if (level.at == level.end || *level.at != ':')
			return;
		skip(&level, 1);
		if (!slice_is(name, "kern"))
			p->foreign = true;
		*s = level;
		return;
	}
}

/* "[  118.901634]", "[   77.548442][   T13]", "[Mon Mar  7 22:38:41 2022]", in any number. */
static void strip_brackets(struct slice *s, struct prefix *p)
{
	while (s->at < s->end && *s->at == '[') {
		const char *close = memchr(s->at, ']', MIN(slice_length(*s), (size_t)40));
		struct slice inside;
		uint64_t seconds, usec;
		size_t n;

		if (!close)
			return;
		inside = slice_strip((struct slice){s->at + 1, close});
		n = digits(inside);
		if (n > 0 && n < slice_length(inside) && inside.at[n] == '.' &&
		    slice_decimal(slice_of(inside.at, n), UINT32_MAX, &seconds) >= 0 &&
		    slice_length(inside) == n + 7 &&
		    slice_decimal(slice_of(inside.at + n + 1, 6), 999999, &usec) >= 0)
			p->usec = seconds * USEC_PER_SEC + usec;
		skip(s, (size_t)(close + 1 - s->at));
	}
}

/* Length of a syslog time stamp at the start of S: "Dec 29 22:24:29",
 * "2024-01-02T03:04:05.678+01:00"; 0 when there is none. */
static size_t stamp_length(struct slice s)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	bool found = false;
	size_t n = 0;

	if (slice_length(s) >= 15 && s.at[3] == ' ' && s.at[6] == ' ' && s.at[9] == ':' &&
	    s.at[12] == ':') {
		for (size_t m = 0; m < 36; m += 3)
			found = found || memcmp(s.at, months + m, 3) == 0;
		n = 15;
	} else if (slice_length(s) >= 19 && s.at[4] == '-' && s.at[7] == '-' &&
		   (s.at[10] == 'T' || s.at[10] == ' ') && s.at[13] == ':' && s.at[16] == ':') {
		found = digits(s) == 4;
		n = 19;
	}
	if (!found)
		return 0;
	while (n < slice_length(s) && !is_blank(s.at[n])) /* parts of a second, the zone */
		n++;
	return n;
}

/* "STAMP HOST TAG[PID]: ": not the kernel's unless TAG is "kernel". */
static void strip_syslog(struct slice *s, struct prefix *p)
{
	size_t n = stamp_length(*s);
	struct slice rest = *s, host, tag;

	if (n == 0)
		return;
	skip(&rest, n);
	if (!slice_word(&rest, &host) || !slice_word(&rest, &tag) || tag.end[-1] != ':')
		return;
	if (!slice_is(tag, "kernel:") && !slice_starts(tag, "kernel["))
		p->foreign = true;
	skip(&rest, 0);
	*s = rest;
}

/* Takes everything that stands in front of the kernel's text off LINE. */
/* "12,9;text", "-2,8,8,-;text": meant as a record's header, but not one that the kernel writes. Who
 * spoke cannot be told, so it was not the kernel. */
static bool is_broken_header(struct slice line)
{
	struct slice s = line;
	bool comma = false;

	for (; s.at < s.end && *s.at != ';'; s.at++) {
		if (!is_digit(*s.at) && *s.at != ',' && *s.at != '-')
			return false;
		comma |= *s.at == ',';
	}
	return s.at < s.end && comma;
}

static struct prefix strip_prefixes(struct slice *line)
{
	struct prefix p = {};
	struct kmsg_record record;

	strip_quotes(line);
	if (kmsg_parse_record(*line, &record) >= 0) {
		p = (struct prefix){
			.foreign = record.facility != 0,
			.record = true,
			.seq = record.seq,
			.usec = record.usec,
		};
		*line = record.text;
		return p;
	}
	p.foreign = is_broken_header(*line);
	strip_priority(line, &p);
	strip_dmesg_x(line, &p);
	strip_syslog(line, &p);
	strip_priority(line, &p);
	strip_brackets(line, &p);
	return p;
}

/* TEXT, whose NOHZ warning is cut off, joined with the lines at REST into BUF. Returns how many of
 * them it took to make it whole, 0 when it cannot be made whole. */
static unsigned join(struct slice text, struct slice rest, char *buf, size_t size,
		     struct slice *ret)
{
	bool old_wording = slice_contains(text, "local_softirq_pending");
	size_t used = MIN(slice_length(text), size);
	uint32_t mask;

	memcpy(buf, text.at, used);
	for (unsigned n = 1; n <= JOIN_MAX; n++) {
		struct slice next;
		size_t length;

		if (!slice_line(&rest, &next))
			return 0;
		strip_quotes(&next);
		length = slice_length(next);
		/* The next warning, or another line of the log, is no rest of this one. The old
		 * wording ends with the bare mask, so only a line of one word can be its rest ("64
		 * bytes from …" stands between warnings in case B13). */
		if (old_wording && memchr(next.at, ' ', length))
			return 0;
		if (length == 0 || *next.at == '[' || stamp_length(next) > 0 ||
		    kmsg_nohz(next, &mask) != NOHZ_NONE || used + 1 + length > size)
			return 0;
		buf[used++] = ' ';
		memcpy(buf + used, next.at, length);
		used += length;
		*ret = slice_of(buf, used);
		if (kmsg_nohz(*ret, &mask) == NOHZ_WHOLE)
			return n;
	}
	return 0;
}

/* Handles one line; returns how many lines behind it belong to it. */
static unsigned read_line(struct slice line, unsigned number, struct slice rest, bool *after_record,
			  kmsg_line_fn fn, void *userdata, struct complaints *c)
{
	bool dictionary = *after_record && line.at < line.end && *line.at == ' ';
	struct kmsg_event event = {};
	struct slice text = line;
	struct prefix prefix;
	unsigned joined = 0;
	char buf[512];

	if (dictionary)
		return 0;
	prefix = strip_prefixes(&text);
	*after_record = prefix.record;
	if (kmsg_nohz(text, &event.mask) == NOHZ_CUT) {
		struct slice whole;

		if (!prefix.record)
			joined = join(text, rest, buf, sizeof(buf), &whole);
		if (joined > 0)
			text = whole;
		else
			complain(c, NULL, number,
				 "a NOHZ warning that breaks off before its mask: not counted");
	}
	event.kind = kmsg_classify(text, &event.mask);
	if (event.kind == KMSG_OTHER)
		return joined;
	if (prefix.foreign) {
		complain(c, NULL, number,
			 "not counted: a program other than the kernel wrote this %s line",
			 kmsg_kind_to_string(event.kind));
		return joined;
	}
	event.seq = prefix.seq;
	event.boot_usec = prefix.usec;
	if (prefix.record)
		kmsg_show(text, event.text, sizeof(event.text));
	else
		slice_show(text, event.text, sizeof(event.text));
	fn(number, &event, userdata);
	return joined;
}

void kmsg_parse_log(const char *text, size_t length, kmsg_line_fn fn, void *userdata,
		    struct complaints *c)
{
	struct slice rest = slice_of(text, length), line;
	bool after_record = false;

	for (unsigned number = 1; slice_line(&rest, &line); number++) {
		unsigned joined = read_line(line, number, rest, &after_record, fn, userdata, c);

		for (; joined > 0 && slice_line(&rest, &line); joined--)
			number++;
	}
}
