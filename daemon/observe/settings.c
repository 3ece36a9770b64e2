/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/observe.h"

#include <limits.h>

int observe_value(struct io *io, enum tunable_id id, const struct target *target, char *buf,
		  size_t size)
{
	char path[PATH_MAX];
	int r;

	if (target->scope != tunables[id].scope)
		return -EINVAL;
	r = tunable_path(&tunables[id], target->number, path, sizeof(path));
	if (r < 0)
		return r;
	r = io_read_line(io, path, buf, size);
	return r < 0 ? r : 0;
}
