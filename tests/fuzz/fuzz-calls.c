/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arguments of D-Bus calls, as anyone on the bus may send them: three strings with NULs between, to
 * every method that takes some, of the real engine on a captured host in apply mode. libsystemd has
 * seen to it that they are UTF-8. What is refused has a text; what is answered is JSON; and when all is
 * given back the host is as it was.
 */
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "base/log.h"
#include "engine/engine.h"
#include "lib/machine.h"

static struct machine *m;
static struct tree *config;
static struct engine *engine;

static void clean_up(void)
{
	engine_stop(engine);
	engine_free(engine);
	machine_free(m);
	tree_free(config);
}

static void prepare(void)
{
	static const struct machine_nic nics[] = {
		{.name = "eth0", .kind = MACHINE_I40E, .queues = 2}};
	static const char *dirs[2];
	struct engine_options o = {.config_dirs = dirs, .lock = true};
	struct complaints c = {};
	pid_t pid;

	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
	log_set_hook(silent, NULL);
	m = machine_new(&(struct machine_spec){
		.cpus = 2, .nics = nics, .n_nics = 1, .cpufreq = "acpi-cpufreq"});
	config = tree_new();
	tree_write(config, "softnetd.conf", "mode = \"apply\";\nmax_changes_per_hour = 64;\n");
	tree_write(config, "profiles/balanced.conf", "netdev_budget = [300, 1200];\n");
	tree_write(config, "profiles/other.conf", "busy_poll = 50;\n");
	dirs[0] = tree_path(config);
	o.io = &m->io;
	must(engine_new(&o, &c, &pid, &engine) == 0);
	complaints_done(&c);
	atexit(clean_up);
}

/* A document, or none with a text that says why. */
static void answer(json_t *document, const char *why)
{
	char *text;

	if (!document) {
		must(why && *why);
		return;
	}
	text = json_dumps(document, JSON_ENCODE_ANY);
	must(text != NULL);
	free(text);
	json_decref(document);
}

static void refused(int r, const char *why)
{
	json_t *text;

	if (r >= 0)
		return;
	/* It goes into an error on the bus. */
	must(strlen(why) < 512);
	text = json_string(why);
	must(text != NULL);
	json_decref(text);
}

static void judge(int r, struct complaints *c)
{
	must(r >= 0 || c->n > 0);
	for (unsigned i = 0; i < c->n; i++)
		refused(-EINVAL, c->item[i].text);
	complaints_done(c);
	*c = (struct complaints){};
}

static void call(const char *a, const char *b, const char *v)
{
	struct complaints c = {};
	char why[512] = "";
	uint32_t cookie;
	int r;

	refused(engine_set(engine, a, b, v, why), why);
	answer(engine_settings(engine, a), "no such setting");
	answer(engine_explain(engine, a, strcpy(why, "")), why);
	*why = '\0';
	refused(engine_silence(engine, a, why), why);
	*why = '\0';
	refused(engine_unsilence(engine, a, why), why);
	*why = '\0';
	refused(engine_release(engine, a, b, why), why);
	answer(engine_profile(engine, a), "no such profile");
	judge(engine_set_profile(engine, a, &c), &c);
	r = engine_hold(engine, a, "pid 1", v, &cookie, &c);
	judge(r, &c);
	answer(engine_status(engine), NULL);
	if (r >= 0)
		must(engine_release_hold(engine, cookie) == 0);
	judge(engine_set_profile(engine, NULL, &c), &c);
	answer(engine_restore(engine), NULL);
	must(!tree_has(m->tree, "run/softnetd/ledger.json"));
}

static bool is_utf8(const char *text)
{
	json_t *s = json_string(text);

	json_decref(s);
	return s != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *word[3];
	bool fit = true;

	if (!engine)
		prepare();
	for (size_t i = 0; i < ELEMENTSOF(word); i++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;
		size_t n = end ? (size_t)(end - data) : size;

		word[i] = strndup(n ? (const char *)data : "", n);
		must(word[i] != NULL);
		fit &= is_utf8(word[i]);
		data = end ? end + 1 : data + size;
		size -= end ? n + 1 : size;
	}
	if (fit)
		call(word[0], word[1], word[2]);
	for (size_t i = 0; i < ELEMENTSOF(word); i++)
		free(word[i]);
	return 0;
}
