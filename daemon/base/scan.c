/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/scan.h"

/* Length of the UTF-8 character at the start of S (RFC 3629: no overlong form, no surrogate, at
 * most U+10FFFF), 0 when there is none. C1 controls (U+0080 … U+009F) steer terminals and are none
 * here. */
static size_t utf8_length(struct slice s)
{
	const unsigned char *c = (const unsigned char *)s.at;
	size_t length, have = slice_length(s);
	unsigned char low = 0x80, high = 0xbf;

	if (c[0] < 0x80)
		return c[0] >= 0x20 && c[0] != 0x7f;
	if (c[0] >= 0xc2 && c[0] <= 0xdf)
		length = 2;
	else if ((c[0] & 0xf0) == 0xe0)
		length = 3;
	else if (c[0] >= 0xf0 && c[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (have < length)
		return 0;
	if (c[0] == 0xc2 || c[0] == 0xe0)
		low = 0xa0;
	else if (c[0] == 0xed)
		high = 0x9f;
	else if (c[0] == 0xf0)
		low = 0x90;
	else if (c[0] == 0xf4)
		high = 0x8f;
	if (c[1] < low || c[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

size_t slice_show(struct slice s, char *buf, size_t size)
{
	size_t used = 0;

	while (s.at < s.end) {
		size_t n = utf8_length(s);

		if (used + MAX(n, (size_t)1) >= size)
			break;
		if (n > 0)
			memcpy(buf + used, s.at, n);
		else
			buf[used] = *s.at == '\t' ? ' ' : '?';
		n = MAX(n, (size_t)1);
		used += n;
		s.at += n;
	}
	buf[used] = '\0';
	return used;
}
