/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The small pieces that describe*.c put documents together from. */
#pragma once

#include <jansson.h>

#include "model/decision.h"
#include "model/topology.h"

/* Both take over VALUE. Without memory the key or member stays away, which readers take as unknown:
 * a face that shows less is better than a daemon that ends. */
static inline void put(json_t *object, const char *key, json_t *value)
{
	(void)json_object_set_new(object, key, value);
}
static inline void append(json_t *array, json_t *value)
{
	(void)json_array_append_new(array, value);
}

/* null for NULL and "". Bytes that are no UTF-8 (names come from drivers and paths) become '?'. */
json_t *text_or_null(const char *text);
/* The list spelling; null for the empty set in the second. */
json_t *cpus_text(const struct cpuset *set);
json_t *cpus_or_null(const struct cpuset *set);

/*
 * Puts "scope", "target" and "name": null for the host; an interrupt's number and action; a policy
 * as "policy0" and its CPUs; a NIC as "eth0" and a NAPI instance as "eth0:rx3", with their identity. TARGET NULL is one that is gone: only IDENTITY is known.
 */
void put_target(json_t *d, const struct topology *t, const struct target *target,
		const char *identity);

/* The target of a setting that has IDENTITY now; false when there is none (any more). */
bool target_by_identity(const struct topology *t, enum tunable_id id, const char *identity,
			struct target *ret);

/* {"id","setting","scope","target","name","from","to","class","symptom","why"} */
json_t *change_document(const struct topology *t, const struct change *c);

/* "host", "cpu 0-3", "nic eth0" or "irq 30". */
void report_scope(const struct topology *t, const struct symptom_report *r, char *buf, size_t size);

/* {"objective","seen","before","after"}; null when the symptom's own measure was all. */
json_t *judged_document(const struct judged *j);

/* [{"setting","why_not"}]; PASSED NULL: []. */
json_t *passed_document(const struct passed_list *passed);
/* Puts "proof" and "proof_text": whether the host acts on a policy; null for what is none. */
void put_proof(json_t *d, enum proof proof, const char *text);
