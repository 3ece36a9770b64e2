/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each fuzz target needs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/silent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool what)
{
	if (!what)
		abort();
}
