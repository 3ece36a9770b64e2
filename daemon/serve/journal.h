/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened, for the journal: one entry per event with a stable MESSAGE_ID and structured
 * fields (config/softnetd.catalog explains each to `journalctl -x`), or one log line where stderr
 * is not the journal.
 *
 *   SOFTNETD_PROFILE  always          SOFTNETD_SYMPTOM      the symptom, or that of the change
 *   SOFTNETD_SETTING, _TARGET, _OLD, _NEW, _REASON, _OUTCOME, _DECISION_ID   of a change
 *   SOFTNETD_SCOPE, and SOFTNETD_<EVIDENCE NAME> per number                  of a symptom
 */
#pragma once

#include "engine/engine.h"

/* PROFILE is the active one, or "". Never waits, never fails: an entry that cannot be sent is lost.
 */
void journal_event(const char *profile, const struct engine_event *event);

/* The sentence of an entry, for other faces too; empty when the event needs none. */
void journal_message(const struct engine_event *event, char *buf, size_t size);
