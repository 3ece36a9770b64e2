/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For log_set_hook(): nothing is printed of what a test provokes by the thousand. */
#pragma once

#include "base/log.h"

static inline void silent(enum log_level level _unused_, const char *line _unused_,
			  void *userdata _unused_)
{
}
