/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/ledger.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define LEDGER_DIR     "run/softnetd"
#define LEDGER_FILE    LEDGER_DIR "/ledger.json"
#define LEDGER_NEW     LEDGER_DIR "/ledger.json.new"
#define LEDGER_LOCK    LEDGER_DIR "/lock"
#define LEDGER_KEEP    LEDGER_DIR "/keep"
#define KEPT           "kept"
#define LEDGER_VERSION 1
#define BAD_LEDGERS    100 /* ledger.bad-1 … */

struct ledger {
	struct io *io;
	int lock_fd;
	struct ledger_entry **entry; /* in the order of the first change */
	size_t n;
	json_t *unknown;  /* entries of a newer softnetd, kept as they are */
	char boot_id[64]; /* "": not known */
	int blocked;      /* 0, or the errno why nothing may be entered */
	char trouble[512];
};

static void entry_free(struct ledger_entry *e)
{
	if (!e)
		return;
	free(e->identity);
	free(e->original);
	free(e->written);
	free(e->previous);
	free(e->decision);
	entry_free(e->before);
	free(e);
}
DEFINE_CLEANUP(struct ledger_entry *, entry_free);

static struct ledger_entry *entry_new(enum tunable_id id, const char *identity,
				      const char *original, const char *written,
				      const char *previous, const char *decision)
{
	_cleanup_(entry_freep) struct ledger_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->tunable = id;
	e->identity = strdup(identity);
	e->original = strdup(original);
	e->written = strdup(written);
	e->previous = previous ? strdup(previous) : NULL;
	e->decision = strdup(decision);
	if (!e->identity || !e->original || !e->written || !e->decision ||
	    (previous && !e->previous))
		return NULL;
	return TAKE_PTR(e);
}

static void jsonp(json_t **j)
{
	json_decref(*j);
}
#define _cleanup_json_ _cleanup_(jsonp)

static int json_errno(const json_error_t *error)
{
	return json_error_code(error) == json_error_invalid_utf8 ? -EILSEQ : -ENOMEM;
}

static int entry_to_json(const struct ledger_entry *e, json_t **ret)
{
	json_error_t error;

	*ret = json_pack_ex(&error, 0, "{s:s, s:s, s:I, s:s, s:s, s:s*, s:s, s:s, s:I}", /* */
			    "setting", tunables[e->tunable].id,                          /* */
			    "identity", e->identity,                                     /* */
			    "number", (json_int_t)e->number,                             /* */
			    "original", e->original,                                     /* */
			    "written", e->written,                                       /* */
			    "previous", e->previous,                                     /* */
			    "decision", e->decision,                                     /* */
			    "class", change_class_to_string(e->class),                   /* */
			    "realtime_usec", (json_int_t)e->realtime_usec);
	return *ret ? 0 : json_errno(&error);
}

/* *RET is NULL when there is nothing to remember. */
static int to_text(const struct ledger *l, char **ret)
{
	_cleanup_json_ json_t *entries = json_array(), *root = NULL;
	json_error_t error;
	json_t *item;
	size_t i;
	int r;

	if (!entries)
		return -ENOMEM;
	for (i = 0; i < l->n; i++) {
		if (l->entry[i]->other_boot)
			continue;
		r = entry_to_json(l->entry[i], &item);
		if (r < 0)
			return r;
		if (json_array_append_new(entries, item) < 0)
			return -ENOMEM;
	}
	if (json_array_extend(entries, l->unknown) < 0)
		return -ENOMEM;
	*ret = NULL;
	if (json_array_size(entries) == 0)
		return 0;
	root = json_pack_ex(&error, 0, "{s:i, s:s, s:I, s:O}", "version", LEDGER_VERSION, "boot_id",
			    l->boot_id, "pid", (json_int_t)getpid(), "entries", entries);
	if (!root)
		return json_errno(&error);
	*ret = json_dumps(root, JSON_INDENT(1));
	return *ret ? 0 : -ENOMEM;
}

/* Opens a file of ours; the directories are made at need (a captured tree may lack run itself). */
static int open_ours(struct io *io, const char *path, int flags)
{
	static const char *const dirs[] = {"run", LEDGER_DIR};
	int fd = io->ops->open(io, path, flags, 0644);

	if (fd != -ENOENT)
		return fd;
	for (size_t i = 0; i < ELEMENTSOF(dirs); i++) {
		int r = io->ops->mkdir(io, dirs[i], 0755);

		if (r < 0 && r != -EEXIST)
			return r;
	}
	return io->ops->open(io, path, flags, 0644);
}

static int sync_directory(struct io *io)
{
	_cleanup_close_ int fd = io_open(io, LEDGER_DIR, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;
	return io->ops->sync(io, fd);
}

static int write_new(struct io *io, const char *text)
{
	_cleanup_close_ int fd = open_ours(io, LEDGER_NEW, O_WRONLY | O_CREAT | O_TRUNC);
	int r;

	if (fd < 0)
		return fd;
	r = io->ops->write(io, fd, text, strlen(text));
	if (r < 0)
		return r;
	return io->ops->sync(io, fd);
}

/* Makes the file say what the memory says. Whenever it is interrupted, the file is the old one or
 * the new one, whole. */
static int save(struct ledger *l)
{
	_cleanup_free_ char *text = NULL;
	int r;

	if (l->blocked)
		return l->blocked;
	r = to_text(l, &text);
	if (r < 0)
		return r;
	if (!text) {
		r = l->io->ops->unlink(l->io, LEDGER_FILE);
		if (r == -ENOENT)
			return 0;
		return r < 0 ? r : sync_directory(l->io);
	}
	r = write_new(l->io, text);
	if (r >= 0)
		r = l->io->ops->rename(l->io, LEDGER_NEW, LEDGER_FILE);
	if (r < 0) {
		/* A full disk shall not keep half a ledger, too. */
		(void)l->io->ops->unlink(l->io, LEDGER_NEW);
		return r;
	}
	return sync_directory(l->io);
}

static void _printf_(2, 3) set_trouble(struct ledger *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->trouble, sizeof(l->trouble), fmt, ap);
	va_end(ap);
}

/* The ledger found is no use, but may be the only trace of the originals: aside with it. */
static int move_aside(struct ledger *l, const char *what)
{
	char name[64];
	mode_t mode;
	int r = -EEXIST;

	if (l->lock_fd < 0) {
		l->blocked = -EUCLEAN;
		set_trouble(l, "/" LEDGER_FILE " %s: nothing is changed while it is there", what);
		return 0;
	}
	for (unsigned i = 1; i <= BAD_LEDGERS && r == -EEXIST; i++) {
		snprintf(name, sizeof(name), LEDGER_DIR "/ledger.bad-%u", i);
		/* Any answer but "no such file" may hide an older bad ledger. */
		if (l->io->ops->mode(l->io, name, &mode) == -ENOENT)
			r = l->io->ops->rename(l->io, LEDGER_FILE, name);
	}
	if (r < 0) {
		l->blocked = r;
		set_trouble(l,
			    "/" LEDGER_FILE " %s, and cannot be moved aside (%s): nothing is "
			    "changed while it is there",
			    what, strerror(-r));
		return 0;
	}
	set_trouble(l,
		    "/" LEDGER_FILE " %s: moved aside to /%s. What softnetd had changed before is "
		    "not known and stays as it is",
		    what, name);
	return 0;
}

static int class_from_string(const char *s, enum change_class *ret)
{
	for (int c = CLASS_POLICY; c <= CLASS_RESTORE; c++)
		if (streq(change_class_to_string((enum change_class)c), s)) {
			*ret = (enum change_class)c;
			return 0;
		}
	return -EINVAL;
}

static struct ledger_entry *find_any(const struct ledger *l, enum tunable_id id,
				     const char *identity)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entry[i]->tunable == id && streq(l->entry[i]->identity, identity))
			return l->entry[i];
	return NULL;
}

/* A value goes back to the kernel one day: it must be one. */
static bool plausible(const struct tunable *t, const char *value)
{
	char canonical[VALUE_MAX];

	return strlen(value) < VALUE_MAX &&
	       tunable_canonical(t, value, false, canonical, sizeof(canonical)) >= 0;
}

/* -EINVAL: not an entry that this version understands. */
static int entry_from_json(const struct ledger *l, json_t *item, struct ledger_entry **ret)
{
	_cleanup_(entry_freep) struct ledger_entry *e = NULL;
	const char *id, *identity, *original, *written, *previous = NULL, *decision, *class;
	json_int_t number, when;
	const struct tunable *t;

	if (json_unpack(item, "{s:s, s:s, s:I, s:s, s:s, s?s, s:s, s:s, s:I}", "setting", &id,
			"identity", &identity, "number", &number, "original", &original, "written",
			&written, "previous", &previous, "decision", &decision, "class", &class,
			"realtime_usec", &when) < 0)
		return -EINVAL;
	t = tunable_find(id);
	if (!t || number < 0 || number > UINT32_MAX || when < 0 ||
	    strlen(identity) >= IDENTITY_MAX || !plausible(t, original) || !plausible(t, written) ||
	    (previous && !plausible(t, previous)) || find_any(l, tunable_index(t), identity))
		return -EINVAL;
	e = entry_new(tunable_index(t), identity, original, written, previous, decision);
	if (!e)
		return -ENOMEM;
	if (class_from_string(class, &e->class) < 0)
		return -EINVAL;
	e->number = (unsigned)number;
	e->realtime_usec = (uint64_t)when;
	*ret = TAKE_PTR(e);
	return 0;
}

static int append(struct ledger *l, struct ledger_entry *e)
{
	struct ledger_entry **more = realloc(l->entry, (l->n + 1) * sizeof(struct ledger_entry *));

	if (!more)
		return -ENOMEM;
	l->entry = more;
	l->entry[l->n++] = e;
	return 0;
}

/* A boot id that cannot be read proves nothing; the three-way comparison at restore still guards.
 */
static bool of_other_boot(const struct ledger *l, const char *boot_id)
{
	return *l->boot_id && *boot_id && !streq(l->boot_id, boot_id);
}

static int take_entries(struct ledger *l, json_t *root)
{
	json_t *entries = json_object_get(root, "entries"), *item;
	const char *boot_id = json_string_value(json_object_get(root, "boot_id"));
	bool other_boot;
	size_t i;
	int r;

	if (!json_is_array(entries) || !boot_id)
		return -EINVAL;
	other_boot = of_other_boot(l, boot_id);
	json_array_foreach (entries, i, item) {
		_cleanup_(entry_freep) struct ledger_entry *e = NULL;

		r = entry_from_json(l, item, &e);
		if (r == -ENOMEM)
			return r;
		if (r < 0) {
			/* Void in another boot, whatever it is. */
			if (!other_boot && json_array_append(l->unknown, item) < 0)
				return -ENOMEM;
			continue;
		}
		e->other_boot = other_boot;
		r = append(l, e);
		if (r < 0)
			return r;
		TAKE_PTR(e);
	}
	return 0;
}

static int load(struct ledger *l)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *root = NULL;
	json_error_t error;
	json_int_t version;
	size_t size;
	char what[256];
	int r;

	r = io_read_all(l->io, LEDGER_FILE, &text, &size);
	if (r == -ENOENT || r == -ENOMEM)
		return r == -ENOENT ? 0 : r;
	if (r < 0) {
		/* Perhaps it can be read the next time: it stays. */
		l->blocked = r;
		set_trouble(l,
			    "/" LEDGER_FILE " cannot be read (%s): nothing is changed while it is "
			    "there",
			    strerror(-r));
		return 0;
	}
	if (size == 0)
		return move_aside(l, "is empty");
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (!root && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!root) {
		snprintf(what, sizeof(what), "is torn or no JSON (line %d: %s)", error.line,
			 error.text);
		return move_aside(l, what);
	}
	version = json_integer_value(json_object_get(root, "version"));
	if (version > LEDGER_VERSION) {
		/* The softnetd that wrote it can still give everything back: it stays for it. */
		l->blocked = -EUCLEAN;
		set_trouble(
			l,
			"/" LEDGER_FILE
			" has version %lld, and this softnetd knows only %d: nothing "
			"is changed while it is there; the softnetd that wrote it can restore it",
			(long long)version, LEDGER_VERSION);
		return 0;
	}
	r = version < LEDGER_VERSION ? -EINVAL : take_entries(l, root);
	return r == -EINVAL ? move_aside(l, "is not a ledger of softnetd") : r;
}

/* *RET_HELD: the error means that another process has the lock. */
static int take_lock(struct ledger *l, bool *ret_held, pid_t *ret_pid)
{
	_cleanup_close_ int fd = open_ours(l->io, LEDGER_LOCK, O_RDWR | O_CREAT);
	char text[32];
	uint32_t pid;
	int r;

	*ret_held = false;
	if (fd < 0)
		return fd;
	do {
		r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
	} while (r == -EINTR);
	if (r == -EWOULDBLOCK) {
		*ret_held = true;
		if (ret_pid) {
			r = io_read_line(l->io, LEDGER_LOCK, text, sizeof(text));
			*ret_pid = r >= 0 && parse_u32(text, 10, &pid) >= 0 ? (pid_t)pid : 0;
		}
		return -EBUSY;
	}
	if (r < 0)
		return r;
	/* As wide as any pid, so that a longer old one is covered. It only serves the message of a
	 * second daemon: the lock holds without it. */
	snprintf(text, sizeof(text), "%-11d\n", (int)getpid());
	(void)l->io->ops->write(l->io, fd, text, strlen(text));
	l->lock_fd = TAKE_FD(fd);
	return 0;
}

int ledger_open(struct io *io, bool lock, pid_t *ret_pid, struct ledger **ret)
{
	_cleanup_(ledger_freep) struct ledger *l = calloc(1, sizeof(*l));
	bool held;
	int r;

	if (!l)
		return -ENOMEM;
	l->io = io;
	l->lock_fd = -1;
	l->unknown = json_array();
	if (!l->unknown)
		return -ENOMEM;
	if (lock) {
		r = take_lock(l, &held, ret_pid);
		if (held || r == -ENOMEM)
			return r;
		if (r < 0) {
			l->blocked = r;
			set_trouble(l,
				    "/" LEDGER_LOCK
				    " cannot be taken (%s): nothing is changed, since "
				    "it could not be given back",
				    strerror(-r));
		}
	}
	if (io_read_line(io, "proc/sys/kernel/random/boot_id", l->boot_id, sizeof(l->boot_id)) < 0)
		l->boot_id[0] = '\0';
	r = load(l);
	if (r < 0)
		return r;
	/* What a killed predecessor was about to rename. */
	if (l->lock_fd >= 0)
		(void)io->ops->unlink(io, LEDGER_NEW);
	*ret = TAKE_PTR(l);
	return 0;
}

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		entry_free(l->entry[i]);
	free(l->entry);
	json_decref(l->unknown);
	closep(&l->lock_fd);
	free(l);
}

const struct ledger_entry *ledger_find(const struct ledger *l, enum tunable_id id,
				       const char *identity)
{
	const struct ledger_entry *e = find_any(l, id, identity);

	return e && !e->other_boot ? e : NULL;
}

size_t ledger_size(const struct ledger *l)
{
	return l->n;
}

const struct ledger_entry *ledger_at(const struct ledger *l, size_t i)
{
	return i < l->n ? l->entry[i] : NULL;
}

bool ledger_unknown(const struct ledger *l, size_t i, const char **ret_id,
		    const char **ret_identity)
{
	json_t *item = json_array_get(l->unknown, i);
	const char *id, *identity;

	if (!item)
		return false;
	id = json_string_value(json_object_get(item, "setting"));
	identity = json_string_value(json_object_get(item, "identity"));
	*ret_id = id ? id : "?";
	*ret_identity = identity ? identity : "?";
	return true;
}

static size_t index_of(const struct ledger *l, enum tunable_id id, const char *identity)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->entry[i]->tunable == id && streq(l->entry[i]->identity, identity))
			break;
	return i;
}

static void remove_at(struct ledger *l, size_t i)
{
	entry_free(l->entry[i]);
	memmove(&l->entry[i], &l->entry[i + 1], (l->n - i - 1) * sizeof(struct ledger_entry *));
	l->n--;
}

int ledger_enter(struct ledger *l, const struct change *c, const char *present, const char *written)
{
	_cleanup_(entry_freep) struct ledger_entry *e = NULL;
	size_t i = index_of(l, c->tunable, c->target.identity);
	struct ledger_entry *old;
	int r;

	/* A void entry is no predecessor. */
	if (i < l->n && l->entry[i]->other_boot)
		remove_at(l, i), i = l->n;
	old = i < l->n ? l->entry[i] : NULL;
	e = entry_new(c->tunable, c->target.identity, old ? old->original : present, written,
		      old ? present : NULL, c->id);
	if (!e)
		return -ENOMEM;
	e->number = c->target.number;
	e->class = c->class;
	e->realtime_usec = io_now(l->io, CLOCK_REALTIME);
	if (old) {
		l->entry[i] = e;
	} else {
		r = append(l, e);
		if (r < 0)
			return r;
	}
	r = save(l);
	if (r < 0) {
		/* Back to what was; the entry made above is freed on return. */
		if (old)
			l->entry[i] = old;
		else
			l->n--;
		return r;
	}
	if (old && old->before) { /* two writes without a settled end: back to before both */
		e->before = TAKE_PTR(old->before);
		entry_free(old);
	} else {
		e->before = old;
	}
	TAKE_PTR(e);
	return 0;
}

void ledger_settle(struct ledger *l, enum tunable_id id, const char *identity)
{
	struct ledger_entry *e = find_any(l, id, identity);

	if (!e)
		return;
	free(TAKE_PTR(e->previous));
	entry_free(TAKE_PTR(e->before));
}

int ledger_undo(struct ledger *l, enum tunable_id id, const char *identity)
{
	size_t i = index_of(l, id, identity);
	struct ledger_entry *e = i < l->n ? l->entry[i] : NULL;

	if (!e)
		return 0;
	/* The second change of a setting falls back to the first, unless that had been undone by
	 * somebody: then nothing of ours is left. */
	if (e->before && e->previous && !tunable_equal(&tunables[id], e->previous, e->original)) {
		l->entry[i] = TAKE_PTR(e->before);
		free(l->entry[i]->written);
		l->entry[i]->written = TAKE_PTR(e->previous);
		entry_free(e);
	} else {
		remove_at(l, i);
	}
	return save(l);
}

int ledger_drop(struct ledger *l, enum tunable_id id, const char *identity)
{
	size_t i = index_of(l, id, identity);

	if (i == l->n)
		return 0;
	remove_at(l, i);
	return save(l);
}

bool ledger_is_ours(const struct ledger_entry *e, const char *value)
{
	const struct tunable *t = &tunables[e->tunable];

	return tunable_equal(t, value, e->written) ||
	       (e->previous && tunable_equal(t, value, e->previous));
}

const char *ledger_trouble(const struct ledger *l)
{
	return *l->trouble ? l->trouble : NULL;
}

bool ledger_keep_once(struct io *io)
{
	return io_exists(io, LEDGER_KEEP);
}

int ledger_keep_stopped(struct io *io)
{
	_cleanup_close_ int fd = io->ops->open(io, LEDGER_KEEP, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	return fd < 0 ? fd : io->ops->write(io, fd, KEPT "\n", strlen(KEPT "\n"));
}

bool ledger_kept(struct io *io)
{
	char text[sizeof(KEPT) + 1];

	return io_read_line(io, LEDGER_KEEP, text, sizeof(text)) >= 0 && streq(text, KEPT);
}

void ledger_keep_done(struct io *io)
{
	io->ops->unlink(io, LEDGER_KEEP);
}
