/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/whole.h"

int whole_start(struct machine *m, struct tree **config, const char *mode, const char *profile,
		struct complaints *c, struct engine **ret)
{
	static const char *dirs[2]; /* the engine reads them again at each reload */
	struct engine_options options = {.io = &m->io, .config_dirs = dirs, .lock = true};
	pid_t pid;

	if (!*config)
		*config = tree_new();
	dirs[0] = tree_path(*config);
	tree_printf(*config, "softnetd.conf", "mode = \"%s\";\nprofile = \"test\";\n", mode);
	tree_write(*config, "profiles/test.conf", profile);
	return engine_new(&options, c, &pid, ret);
}

int whole_ticks(struct machine *m, struct engine *e, unsigned n)
{
	int r = 0;

	for (unsigned i = 0; i < n && r == 0; i++) {
		machine_advance(m, USEC_PER_SEC);
		machine_write(m);
		r = engine_tick(e);
	}
	return r;
}
