/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/kmsg.h"

#include <ctype.h>

/* The part of S behind the first PART, or an empty slice with at NULL. */
static struct slice behind(struct slice s, const char *part)
{
	const char *found = memmem(s.at, slice_length(s), part, strlen(part));

	return found ? (struct slice){found + strlen(part), s.end} : (struct slice){};
}

static struct slice skip_blanks(struct slice s)
{
	while (s.at < s.end && is_blank(*s.at))
		s.at++;
	return s;
}

/* The hex word at the start of S as a 32-bit mask. False when it is none, or too long. */
static bool parse_mask(struct slice s, uint32_t *ret)
{
	uint64_t v = 0;
	unsigned n;

	for (n = 0; s.at < s.end; s.at++, n++) {
		char c = *s.at;

		if (is_digit(c))
			v = v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			v = v << 4 | (uint64_t)(c - 'A' + 10);
		else
			break;
		if (n >= 8)
			return false;
	}
	if (n == 0 || (s.at < s.end && (isalnum((unsigned char)*s.at) || *s.at == '_')))
		return false;
	*ret = (uint32_t)v;
	return true;
}

enum nohz_text kmsg_nohz(struct slice text, uint32_t *ret_mask)
{
	struct slice rest = behind(text, "NOHZ: local_softirq_pending");
	bool tick_stop = false;

	if (!rest.at) {
		rest = behind(text, "NOHZ tick-stop error:");
		if (!rest.at)
			return NOHZ_NONE;
		tick_stop = true;
	}
	if (tick_stop) {
		rest = behind(rest, "handler");
		if (!rest.at)
			return NOHZ_CUT;
		rest = skip_blanks(rest);
		if (rest.at == rest.end || *rest.at != '#')
			return NOHZ_CUT;
		rest.at++;
	}
	return parse_mask(skip_blanks(rest), ret_mask) ? NOHZ_WHOLE : NOHZ_CUT;
}

/* "irq 16: nobody cared": the number is part of the text. */
static bool nobody_cared(struct slice text)
{
	const char *found = memmem(text.at, slice_length(text), ": nobody cared", 14), *c = found;

	if (!found)
		return false;
	while (c > text.at && is_digit(c[-1]))
		c--;
	return c < found && c - text.at >= 4 && memcmp(c - 4, "irq ", 4) == 0;
}

/*
 * 6.1, 6.12: "timekeeping watchdog on CPU0: … marking unstable", "… Marking clocksource 'tsc' as
 * unstable because …"; 7.x: "Marking clocksource tsc unstable due to …"; x86: "Marking TSC unstable
 * due to …". "sched_clock: Marking unstable (…)" is printed beside one of them and does not count
 * again.
 */
static bool clocksource_unstable(struct slice text)
{
	struct slice rest = behind(text, "arking ");

	if (!rest.at || !slice_contains(rest, "unstable"))
		return false;
	return slice_contains(text, "timekeeping watchdog") || slice_starts(rest, "clocksource ") ||
	       slice_starts(rest, "TSC ");
}

enum kmsg_kind kmsg_classify(struct slice text, uint32_t *ret_mask)
{
	static const struct {
		const char *part;
		enum kmsg_kind kind;
	} parts[] = {
		{"self-detected stall on CPU", KMSG_RCU_STALL},
		{"detected stalls on CPUs/tasks", KMSG_RCU_STALL},
		{"detected expedited stalls", KMSG_RCU_STALL},
		{"detected stalls on tasks", KMSG_RCU_STALL}, /* rcu_tasks */
		{"detected stall, but suppressed full report", KMSG_RCU_STALL},
		{"BUG: soft lockup - CPU#", KMSG_SOFT_LOCKUP},
		{"Watchdog detected hard LOCKUP on cpu", KMSG_HARD_LOCKUP},
		{"NETDEV WATCHDOG: ", KMSG_NETDEV_WATCHDOG},
		{"RT throttling activated", KMSG_RT_THROTTLING},
	};

	*ret_mask = 0;
	if (kmsg_nohz(text, ret_mask) == NOHZ_WHOLE)
		return KMSG_NOHZ_PENDING;
	for (size_t i = 0; i < ELEMENTSOF(parts); i++)
		if (slice_contains(text, parts[i].part))
			return parts[i].kind;
	if (nobody_cared(text))
		return KMSG_IRQ_NOBODY_CARED;
	if (clocksource_unstable(text))
		return KMSG_CLOCKSOURCE_UNSTABLE;
	return KMSG_OTHER;
}

/* A decimal number at the start of *S, and the separator behind it, which is one of END. */
static int take_number(struct slice *s, const char *end, uint64_t *ret)
{
	struct slice number = {s->at, s->at};
	int r;

	while (number.end < s->end && is_digit(*number.end))
		number.end++;
	if (number.end == s->end || !memchr(end, *number.end, strlen(end)))
		return -EINVAL;
	r = slice_decimal(number, UINT64_MAX, ret);
	if (r < 0)
		return r;
	s->at = number.end + 1;
	return 0;
}

int kmsg_parse_record(struct slice record, struct kmsg_record *ret)
{
	struct slice rest = record;
	uint64_t prio, seq, usec;
	const char *semicolon, *newline;

	if (take_number(&rest, ",", &prio) < 0 || take_number(&rest, ",", &seq) < 0 ||
	    take_number(&rest, ",", &usec) < 0 || prio > UINT32_MAX)
		return -EINVAL;
	/* Neither the flags nor caller= nor what newer kernels add in front of the text can hold a
	 * newline; a comm= with a semicolon in it would cut the text short at its front, no more.
	 */
	newline = memchr(rest.at, '\n', slice_length(rest));
	if (newline)
		rest.end = newline;
	semicolon = memchr(rest.at, ';', slice_length(rest));
	if (!semicolon)
		return -EINVAL;
	*ret = (struct kmsg_record){
		.facility = (unsigned)(prio >> 3),
		.level = (unsigned)(prio & 7),
		.seq = seq,
		.usec = usec,
		.text = {semicolon + 1, rest.end},
	};
	return 0;
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The byte that \xNN at S stands for, or -1. */
static int escaped_byte(struct slice s)
{
	if (slice_length(s) < 4 || s.at[0] != '\\' || s.at[1] != 'x' || hex_value(s.at[2]) < 0 ||
	    hex_value(s.at[3]) < 0)
		return -1;
	return hex_value(s.at[2]) << 4 | hex_value(s.at[3]);
}

void kmsg_show(struct slice text, char *buf, size_t size)
{
	char plain[1024];
	size_t used = 0;

	while (text.at < text.end && used < sizeof(plain)) {
		int byte = escaped_byte(text);

		if (byte >= 0x80 || byte == '\\') {
			plain[used++] = (char)byte;
			text.at += 4;
		} else {
			plain[used++] = *text.at++;
		}
	}
	slice_show(slice_of(plain, used), buf, size);
}
