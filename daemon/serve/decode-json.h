/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pasted dumps as JSON, for softnetctl decode. The documents are an interface of the program; null
 * stands for what the dump does not have:
 *   softnet-stat {"kind","columns","cpus":[{"cpu","row","processed","dropped","time_squeeze",
 *                "received_rps","flow_limit","backlog"}],"warnings"}
 *                columns: the widest row's; cpu: null where the row does not name it, since a lone
 * dump has no online set to count along; row: n-th row, from 0 softirqs     {"kind","cpus":[id
 * …],"vectors":{"NET_RX":[count per cpus[i] …] …},"warnings"} interrupts   {"kind","cpus":[id
 * …],"irqs":[{"irq","name","actions":[…],"total"}],"warnings"} irq: a number, or the label ("NMI")
 * of an architecture's row; name: the actions as printed, "" without a handler; a labelled row has
 * its description there kmsg
 * {"kind","events":[{"line","kind","mask","vectors":[…],"network","text"}],"warnings"} kind as
 * kmsg_kind_to_string(); mask: null but for NOHZ lines; network: NET_TX or NET_RX is in the mask,
 * or the kind is netdev-watchdog warnings     [{"line","text"}] line: null when the whole file is
 * meant
 */
#pragma once

#include <jansson.h>

#include "base/util.h"

enum decode_kind {
	DECODE_SOFTNET_STAT,
	DECODE_SOFTIRQS,
	DECODE_INTERRUPTS,
	DECODE_KMSG,
	_DECODE_KIND_MAX,
};

/* "softnet-stat" …; for use with nearest_name(), the list ends with NULL. */
extern const char *const decode_kind_names[_DECODE_KIND_MAX + 1];

/* A new reference; NULL when there is no memory. TEXT may hold anything. */
json_t *decode_json(enum decode_kind kind, const char *text, size_t size);
