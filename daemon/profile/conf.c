/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/conf.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

void conf_free(struct conf *f)
{
	if (!f)
		return;
	config_destroy(&f->lib);
	free(f->path);
	free(f);
}

/* Where the check of a text is. */
struct scan {
	const char *path;
	const char *at, *end;
	unsigned line, depth, bad;
	struct complaints *complaints;
};

#define scan_wrong(s, where, ...) \
	((s)->bad++, complain((s)->complaints, (s)->path, (where), __VA_ARGS__))

static bool scan_starts(const struct scan *s, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

static void scan_step(struct scan *s)
{
	if (*s->at == '\n')
		s->line++;
	s->at++;
}

static void scan_block_comment(struct scan *s)
{
	unsigned begin = s->line;

	s->at += 2;
	while (s->at < s->end && !scan_starts(s, "*/"))
		scan_step(s);
	if (s->at == s->end)
		/* libconfig would take the rest of the file for a comment without a word. */
		scan_wrong(s, begin, "a comment begins here and never ends");
	else
		s->at += 2;
}

static void scan_string(struct scan *s)
{
	unsigned begin = s->line;

	for (s->at++; s->at < s->end && *s->at != '"'; scan_step(s))
		if (*s->at == '\\' && s->at + 1 < s->end)
			scan_step(s);
	if (s->at == s->end)
		scan_wrong(s, begin, "a string begins here and never ends");
	else
		s->at++;
}

static bool in_number(char c)
{
	return isalnum((unsigned char)c) || strchr("+-.", c);
}

/*
 * libconfig 1.5 cuts an integer to 32 bits without a word: 4294967596 becomes 300. No key of ours
 * needs more, so more is refused here, where the digits can still be seen.
 */
static void scan_number(struct scan *s)
{
	const char *begin = s->at;
	char word[64], *end;
	size_t length;
	long long v;

	while (s->at < s->end && in_number(*s->at))
		s->at++;
	length = (size_t)(s->at - begin);
	if (length >= sizeof(word)) {
		scan_wrong(s, s->line, "a number of %zu digits", length);
		return;
	}
	memcpy(word, begin, length);
	word[length] = '\0';
	errno = 0;
	v = strtoll(word, &end, strncasecmp(word, "0x", 2) == 0 ? 16 : 10);
	/* What follows the digits may be a fraction, an L, or the next key: "a=5b=6" is valid. */
	if (end == word)
		return;
	if (errno == ERANGE || v > INT32_MAX || v < INT32_MIN)
		scan_wrong(s, s->line, "the number %s is too large for any key", word);
}

static void scan_code(struct scan *s)
{
	unsigned char c = (unsigned char)*s->at;

	if (c == '"')
		scan_string(s);
	else if (scan_starts(s, "/*"))
		scan_block_comment(s);
	else if (c == '#' || scan_starts(s, "//"))
		while (s->at < s->end && *s->at != '\n')
			s->at++;
	else if (isdigit(c) || c == '+' || c == '-' || c == '.')
		scan_number(s);
	else if (isalpha(c) || c == '*')
		while (s->at < s->end && (isalnum((unsigned char)*s->at) || strchr("-_*", *s->at)))
			s->at++;
	else {
		/* Anywhere and not only where libconfig would look: nothing valid holds an @. */
		if (scan_starts(s, "@include"))
			scan_wrong(s, s->line,
				   "@include is not allowed: it would read any file; put a drop-in "
				   "into %s.d/ instead",
				   s->path);
		/* Said once, at the first step too deep. */
		if (strchr("{([", c) && ++s->depth == CONF_NESTING_MAX + 1)
			scan_wrong(s, s->line, "nested more than %d deep", CONF_NESTING_MAX);
		if (strchr("})]", c) && s->depth > 0)
			s->depth--;
		scan_step(s);
	}
}

/* What libconfig would take wrongly or not at all; -EINVAL when there is such a thing. */
static int check_text(const char *path, const char *text, size_t size, struct complaints *c)
{
	struct scan s = {.path = path, .at = text, .end = text + size, .line = 1, .complaints = c};
	const char *nul = memchr(text, '\0', size);

	if (nul) {
		for (const char *p = text; p < nul; p++)
			s.line += *p == '\n';
		scan_wrong(&s, s.line, "holds a NUL byte: this is not a text file");
		return -EINVAL;
	}
	while (s.at < s.end)
		scan_code(&s);
	return s.bad > 0 ? -EINVAL : 0;
}

int conf_parse(const char *path, const char *text, size_t size, struct conf **ret,
	       struct complaints *c)
{
	_cleanup_(conf_freep) struct conf *f = NULL;
	_cleanup_free_ char *whole = NULL;
	int r;

	if (size > CONF_SIZE_MAX) {
		complain(c, path, 0, "larger than %d bytes", CONF_SIZE_MAX);
		return -EINVAL;
	}
	r = check_text(path, text, size, c);
	if (r < 0)
		return r;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	config_init(&f->lib);
	f->path = strdup(path);
	/* libconfig 1.5 takes a comment for a syntax error when no newline follows it. */
	if (!f->path || asprintf(&whole, "%s\n", text) < 0) {
		whole = NULL;
		return -ENOMEM;
	}
	if (!config_read_string(&f->lib, whole)) {
		const char *why = config_error_text(&f->lib);

		if (streq(why, "duplicate setting name"))
			why = "this key was given before in the same file";
		complain(c, path, (unsigned)config_error_line(&f->lib), "%s", why);
		return -EINVAL;
	}
	*ret = TAKE_PTR(f);
	return 0;
}

static bool is_dev_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static const char *kind_of_file(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/* Complains about an errno and returns it. */
static int wrong_file(struct complaints *c, const char *path, int error)
{
	struct stat st;

	if (error == -ENOENT && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		complain(c, path, 0, "a link to a file that does not exist");
	else
		complain(c, path, 0, "cannot be read: %s", strerror(-error));
	return error;
}

/* *RET is NULL when the file masks. */
static int read_text(const char *path, char **ret, size_t *ret_size, struct complaints *c)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	size_t length = 0, size;
	struct stat st;

	/* Looked at before it is opened, since opening alone makes some devices do things;
	 * O_NONBLOCK in case it becomes a FIFO in between. */
	if (stat(path, &st) < 0)
		return wrong_file(c, path, -errno);
	if (is_dev_null(&st)) {
		*ret = NULL;
		return 0;
	}
	if (S_ISREG(st.st_mode)) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0 || fstat(fd, &st) < 0)
			return wrong_file(c, path, -errno);
	}
	if (!S_ISREG(st.st_mode)) {
		complain(c, path, 0, "is %s; only a regular file or /dev/null can stand here",
			 kind_of_file(st.st_mode));
		return -EINVAL;
	}
	/* The size of the moment, or up to one byte too much: then it is too large. */
	if (st.st_size > CONF_SIZE_MAX) {
		complain(c, path, 0, "larger than %d bytes", CONF_SIZE_MAX);
		return -EINVAL;
	}
	size = (size_t)st.st_size + 1;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, text + length, size - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return wrong_file(c, path, -errno);
		if (n == 0)
			break;
		length += (size_t)n;
		if (length == size) {
			/* Somebody is writing it: half a file may be a valid one with another
			 * meaning. */
			complain(c, path, 0, "grew while it was read; try again");
			return -EINVAL;
		}
	}
	text[length] = '\0';
	*ret = length > 0 ? TAKE_PTR(text) : NULL;
	*ret_size = length;
	return 0;
}

int conf_load(const char *path, struct conf **ret, struct complaints *c)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int r;

	r = read_text(path, &text, &size, c);
	if (r < 0)
		return r;
	if (!text) {
		*ret = NULL;
		return 0;
	}
	return conf_parse(path, text, size, ret, c);
}

bool conf_name_ok(const char *name, size_t length)
{
	if (length == 0 || length > CONF_NAME_MAX || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

/* The length of NAME without ".conf"; 0 when it does not end so, or is hidden. */
static size_t stem_length(const char *name)
{
	size_t n = strlen(name);

	if (name[0] == '.' || n <= strlen(".conf") || !streq(name + n - strlen(".conf"), ".conf"))
		return 0;
	return n - strlen(".conf");
}

/* Names and where the strongest file of that name lies. */
struct found {
	struct found_file {
		char *name, *path;
	} * file;
	size_t n;
};

static void found_done(struct found *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->file[i].name);
		free(f->file[i].path);
	}
	free(f->file);
}

/* PATH becomes FOUND's, also on error. */
static int found_put(struct found *f, const char *name, size_t length, char *path)
{
	_cleanup_free_ char *owned = path, *copy = NULL;
	struct found_file *bigger;

	for (size_t i = 0; i < f->n; i++)
		if (strlen(f->file[i].name) == length &&
		    memcmp(f->file[i].name, name, length) == 0) {
			free(f->file[i].path);
			f->file[i].path = TAKE_PTR(owned);
			return 0;
		}
	copy = strndup(name, length);
	bigger = reallocarray(f->file, f->n + 1, sizeof(*bigger));
	if (bigger)
		f->file = bigger;
	if (!copy || !bigger)
		return -ENOMEM;
	f->file[f->n++] = (struct found_file){.name = TAKE_PTR(copy), .path = TAKE_PTR(owned)};
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct found_file *)a)->name, ((const struct found_file *)b)->name);
}

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Adds the *.conf of the directory PATH. *BAD is set, with a complaint, for what cannot be used. */
static int find_in(const char *path, struct found *f, bool *bad, struct complaints *c)
{
	_cleanup_(closedirp) DIR *d = opendir(path);

	if (!d && errno == ENOENT)
		return 0;
	if (!d) {
		wrong_file(c, path, -errno);
		*bad = true;
		return 0;
	}
	for (;;) {
		char *file;
		struct dirent *e;
		size_t length;
		int r;

		errno = 0;
		e = readdir(d);
		if (!e && errno != 0) {
			wrong_file(c, path, -errno);
			*bad = true;
		}
		if (!e)
			return 0;
		length = stem_length(e->d_name);
		if (length == 0)
			continue;
		if (!conf_name_ok(e->d_name, length)) {
			complain(c, path, 0,
				 "holds a .conf file whose name has something else than letters, "
				 "digits, '.', '_' and '-', or more than %d of them",
				 CONF_NAME_MAX);
			*bad = true;
			continue;
		}
		if (asprintf(&file, "%s/%s", path, e->d_name) < 0)
			return -ENOMEM;
		r = found_put(f, e->d_name, length, file);
		if (r < 0)
			return r;
	}
}

static int set_add(struct conf_set *s, const char *path, struct complaints *c)
{
	_cleanup_(conf_freep) struct conf *f = NULL;
	struct conf **bigger;
	int r;

	r = conf_load(path, &f, c);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		s->bad = true;
		return 0;
	}
	if (!f)
		return 0;
	bigger = reallocarray(s->conf, s->n + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	s->conf = bigger;
	s->conf[s->n++] = TAKE_PTR(f);
	return 1;
}

static int add_main(const char *const *dirs, const char *relative, struct conf_set *s,
		    struct complaints *c)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;
	int r;

	for (; *dirs; dirs++) {
		_cleanup_free_ char *candidate = NULL;

		if (asprintf(&candidate, "%s/%s", *dirs, relative) < 0) {
			candidate = NULL;
			return -ENOMEM;
		}
		/* A dangling link or an unreadable file is there, and its admin wants to know. Only
		 * "no such file" lets the weaker one count. */
		if (lstat(candidate, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
			continue;
		free(path);
		path = TAKE_PTR(candidate);
	}
	if (!path)
		return 0;
	r = set_add(s, path, c);
	s->main = r > 0;
	s->masked = r == 0 && !s->bad;
	return r < 0 ? r : 0;
}

int conf_set_load(const char *const *dirs, const char *relative, struct conf_set *ret,
		  struct complaints *c)
{
	_cleanup_(conf_set_done) struct conf_set s = {};
	_cleanup_(found_done) struct found f = {};
	int r;

	r = add_main(dirs, relative, &s, c);
	if (r < 0)
		return r;
	for (; *dirs; dirs++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%s.d", *dirs, relative) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		r = find_in(path, &f, &s.bad, c);
		if (r < 0)
			return r;
	}
	if (f.n > 0)
		qsort(f.file, f.n, sizeof(*f.file), by_name);
	for (size_t i = 0; i < f.n; i++) {
		r = set_add(&s, f.file[i].path, c);
		if (r < 0)
			return r;
	}
	*ret = s;
	s = (struct conf_set){};
	return 0;
}

void conf_set_done(struct conf_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		conf_free(s->conf[i]);
	free(s->conf);
	*s = (struct conf_set){};
}

/* Whether the file masks, without reading it. */
static bool masks(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 &&
	       (is_dev_null(&st) || (S_ISREG(st.st_mode) && st.st_size == 0));
}

int conf_names(const char *const *dirs, const char *relative, char ***ret)
{
	_cleanup_(found_done) struct found f = {};
	_cleanup_(strv_freep) char **names = NULL;
	bool bad = false;
	size_t n = 0;
	int r;

	for (; *dirs; dirs++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%s", *dirs, relative) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		r = find_in(path, &f, &bad, NULL);
		if (r < 0)
			return r;
	}
	if (f.n > 0)
		qsort(f.file, f.n, sizeof(*f.file), by_name);
	names = calloc(f.n + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < f.n; i++)
		if (!masks(f.file[i].path))
			names[n++] = TAKE_PTR(f.file[i].name);
	*ret = TAKE_PTR(names);
	return 0;
}
