/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/pressure.h"

#include "base/scan.h"

static bool read_total(struct slice line, uint64_t *ret)
{
	struct slice word;

	while (slice_word(&line, &word)) {
		if (!slice_starts(word, "total="))
			continue;
		word.at += strlen("total=");
		return slice_decimal(word, UINT64_MAX, ret) >= 0;
	}
	return false;
}

bool pressure_parse(const char *text, size_t length, struct pressure *ret)
{
	struct slice rest = slice_of(text, length), line;
	struct pressure p = {};
	bool some = false, full = false;

	while (slice_line(&rest, &line)) {
		if (slice_starts(line, "some "))
			some = read_total(line, &p.some_usec);
		else if (slice_starts(line, "full "))
			full = read_total(line, &p.full_usec);
	}
	if (!some && !full)
		return false;
	if (!some)
		p.some_usec = p.full_usec;
	p.have = true;
	*ret = p;
	return true;
}
