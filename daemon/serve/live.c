/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/live.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "serve/show.h"

#define LINES_MAX   64 /* what was seen and done, remembered for the picture */
#define LINES_MIN   6  /* of them, always to be seen */
#define PLAIN_EVERY 10 /* ticks from one status line to the next, where nothing is repainted */

#define GO_HOME   "\033[H"
#define CLEAR_ALL "\033[2J"
#define CLEAR_EOL "\033[K"
#define CLEAR_END "\033[J"

struct live {
	bool terminal, painted;
	char *line[LINES_MAX]; /* a ring, newest at (n_lines - 1) % LINES_MAX */
	size_t n_lines, n_painted;
	unsigned ticks;
};

static void clock_text(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!localtime_r(&now, &tm) || strftime(buf, size, "%H:%M:%S", &tm) == 0)
		buf[0] = '\0';
}

static void on_log(enum log_level level _unused_, const char *line, void *userdata)
{
	struct live *l = userdata;
	char when[16], **slot = &l->line[l->n_lines % LINES_MAX];

	clock_text(when, sizeof(when));
	if (!l->terminal) {
		printf("%s %s\n", when, line);
		fflush(stdout);
		return;
	}
	free(*slot);
	if (asprintf(slot, "%s %s", when, line) < 0)
		*slot = NULL;
	l->n_lines++;
}

int live_new(struct live **ret)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->terminal = isatty(STDOUT_FILENO);
	log_set_hook(on_log, l);
	*ret = l;
	return 0;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	log_set_hook(NULL, NULL);
	/* What no picture showed any more, or none at all: why the daemon could not start. */
	for (size_t i = l->n_painted; i < l->n_lines; i++)
		if (i + LINES_MAX >= l->n_lines && l->line[i % LINES_MAX])
			fprintf(stderr, "%s\n", l->line[i % LINES_MAX]);
	for (size_t i = 0; i < LINES_MAX; i++)
		free(l->line[i]);
	free(l);
}

/* One line of the picture, cut to the width of the terminal by whole characters (UTF-8: bytes
 * 10xxxxxx continue one). Returns where the next line begins. */
static const char *paint_line(FILE *out, const char *text, unsigned width)
{
	unsigned column = 0;

	for (; *text && *text != '\n'; text++) {
		if ((*text & 0xc0) != 0x80)
			column++;
		if (column <= width && (unsigned char)*text >= ' ')
			fputc(*text, out);
	}
	fputs(CLEAR_EOL "\n", out);
	return *text ? text + 1 : text;
}

static void paint(struct live *l, const char *status, FILE *out)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	unsigned rows, used = 0, lines;

	/* A terminal of no known size is taken as a small one. */
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		size = (struct winsize){.ws_row = 24, .ws_col = 80};
	rows = size.ws_row - 1U;
	fputs(l->painted ? GO_HOME : CLEAR_ALL GO_HOME, out);
	l->painted = true;
	lines = (unsigned)MIN(l->n_lines, (size_t)LINES_MAX);
	while (*status && used + MIN(lines, (unsigned)LINES_MIN) + 2 < rows) {
		status = paint_line(out, status, size.ws_col);
		used++;
	}
	if (*status) {
		paint_line(out, "… (the terminal is too small for the rest)", size.ws_col);
		used++;
	}
	lines = MIN(lines, rows > used + 1 ? rows - used - 1 : 0);
	paint_line(out, lines > 0 ? "Seen and done:" : "", size.ws_col);
	for (unsigned i = lines; i > 0; i--)
		paint_line(out, l->line[(l->n_lines - i) % LINES_MAX] ?: "", size.ws_col);
	fputs(CLEAR_END, out);
	l->n_painted = l->n_lines;
}

static void draw(struct live *l, struct engine *e)
{
	_cleanup_free_ char *status = NULL, *picture = NULL;
	json_t *doc = engine_status(e);
	size_t n = 0;
	FILE *f;

	f = open_memstream(&status, &n);
	if (f) {
		show_status(f, 0, doc);
		fclose(f);
	}
	json_decref(doc);
	/* In one piece, so that a slow terminal never shows half a picture. */
	f = status ? open_memstream(&picture, &n) : NULL;
	if (!f)
		return;
	paint(l, status, f);
	fclose(f);
	if (picture) {
		fwrite(picture, 1, n, stdout);
		fflush(stdout);
	}
}

void live_tick(struct live *l, struct engine *e)
{
	char line[512], when[16];

	if (l->terminal) {
		draw(l, e);
		return;
	}
	if (l->ticks++ % PLAIN_EVERY != 0)
		return;
	engine_status_line(e, line, sizeof(line));
	clock_text(when, sizeof(when));
	printf("%s %s\n", when, line);
	fflush(stdout);
}
