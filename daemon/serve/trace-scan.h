/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of a tick, read straight out of the line. A day of a large host is hundreds of MB and
 * nearly all of it arrays of numbers; as a tree of jansson's values each number costs an allocation
 * (measured: four fifths of a replay's time). So an object's members are cut apart here, arrays of
 * numbers are read in place, and what is left, small and rare, goes to jansson piece by piece.
 *
 * What is taken is JSON (RFC 8259), but for escapes in keys, which no key here has.
 */
#pragma once

#include "base/scan.h"

struct trace_member {
	struct slice key, value; /* without the quotes; any JSON value, not checked yet */
};

/* The members of the object that TEXT is: how many, -EBADMSG when it is no object (or breaks off),
 * -E2BIG when there are more than MAX, -EEXIST when a key stands twice. */
int trace_members(struct slice text, struct trace_member *ret, size_t max);

/* TEXT as one whole number: -EBADMSG, or -ERANGE when it does not fit. */
int trace_integer(struct slice text, int64_t *ret);

/* TEXT as an array of whole numbers: how many, -E2BIG beyond MAX, else as above. */
int trace_integers(struct slice text, int64_t *ret, size_t max);

/* Cuts the next group off GROUPS, the inside of an array of arrays: 1 and its numbers in NUMBERS,
 * *RET_N many; 0 at the end; an error as above. */
int trace_next_group(struct slice *groups, int64_t *numbers, size_t max, size_t *ret_n);
/* The inside of the array that TEXT is: -EBADMSG. */
int trace_array(struct slice text, struct slice *ret);
