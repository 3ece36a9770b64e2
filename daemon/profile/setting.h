/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The value of a setting as a profile writes it:
 *
 *   netdev_budget = 600;                        policy: this value
 *   netdev_budget = [300, 1200];                the loop may move inside this range; ( … ) too
 *   governor = "schedutil|powersave";           policy: the first that the host offers
 *   netdev_budget = "leave";                    hands off: the default
 *   netdev_budget = { value = 600; on_foreign = "enforce"; };
 *
 * Which of these a setting takes follows from its type in the tunable table.
 */
#pragma once

#include "profile/schema.h"

/*
 * Reads S into INTO. A long form without value leaves the value as it is, one without on_foreign
 * leaves that: *RET_ON_FOREIGN is set when it was given. -EINVAL with complaints (INTO is then
 * valid, but half read); -ENOMEM.
 */
int setting_read(struct reader *r, const struct tunable *t, const config_setting_t *s,
		 struct profile_setting *into, bool *ret_on_foreign);

/* What T takes, as a half sentence: "a number from 16 to 8192 (packets), a range [low, high], or
 * \"leave\"". For complaints. */
void setting_expects(const struct tunable *t, char *buf, size_t size);

/* A value alone, as in an entry of nics: no long form. Errors as above. */
int setting_read_value(struct reader *r, const struct tunable *t, const config_setting_t *s,
		       struct profile_setting *into);
