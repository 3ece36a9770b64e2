/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every key that a configuration file may hold, once: where it may stand, what it takes, and its
 * default. Reading, complaining, and the tests that hold the shipped files and man pages against
 * the code all go through this table. The keys of the settings are not in it: they are the ids of
 * the tunable table, and stand in profiles.
 */
#pragma once

#include <libconfig.h>

#include "base/complaint.h"
#include "model/profile.h"

/* Where a key may stand. */
enum place {
	PLACE_CONFIG,  /* softnetd.conf */
	PLACE_PROFILE, /* a profile, beside the settings */
	PLACE_NIC,     /* an entry of nics = ( … ) in a profile */
	PLACE_MATCH,   /* an entry of match = ( … ) in a profile */
	PLACE_SETTING, /* a setting's long form, { value = …; on_foreign = …; } */
};

enum key {
	/* softnetd.conf */
	KEY_MODE,
	KEY_PROFILE,
	KEY_TICK,
	KEY_SLOW_LOOK,
	KEY_ON_STOP,
	KEY_MAX_CHANGES_PER_HOUR,
	KEY_MAX_MOVES_PER_ROUND,
	KEY_SILENCE,
	/* profile */
	KEY_DESCRIPTION,
	KEY_INHERITS,
	KEY_ON_FOREIGN,
	KEY_PLACEMENT,
	KEY_NICS,
	KEY_PLACE_DESPITE_IRQBALANCE,
	KEY_BUSY_POLL_UNITS,
	KEY_MATCH,
	KEY_PRIORITY,
	KEY_OBJECTIVE,
	/* nics = ( { … } ) */
	KEY_NIC_MATCH,
	KEY_NIC_PLACEMENT,
	KEY_CPUS,
	KEY_NEAR_CPUS,
	KEY_NAPI_THREADS,
	KEY_RPS,
	/* match = ( { … } ) */
	KEY_UNIT,
	KEY_PACKET_RATE,
	KEY_KERNEL,
	/* setting = { … } */
	KEY_VALUE,
	KEY_SETTING_ON_FOREIGN,
	_KEY_MAX,
};

enum key_type {
	KEY_TEXT,   /* any one line */
	KEY_WORD,   /* one of words */
	KEY_NUMBER, /* min … max */
	KEY_PAIR,   /* [low, high], both min … max, low below high */
	KEY_BOOL,
	KEY_SPAN, /* a time: seconds, or "250ms", "10s", "2min"; min … max in microseconds */
	KEY_CPU_LIST,
	KEY_IDS,    /* [ "…", … ]: ids of changes */
	KEY_UNITS,  /* [ "…", … ]: names of systemd units */
	KEY_GROUPS, /* ( { … }, … ) */
	KEY_ANY,    /* as the setting's own type says */
};

struct schema_key {
	const char *name;
	enum place place;
	enum key_type type;
	const char *const *words;
	int64_t min, max;
	/* As it would be written in the file; NULL when there is none. For KEY_WORD, KEY_NUMBER and
	 * KEY_SPAN in softnetd.conf this is where the default comes from. */
	const char *fallback;
};
extern const struct schema_key schema[_KEY_MAX];

/* A file being read: what complaints are about, and how many there were. */
struct reader {
	const char *path;
	struct complaints *complaints; /* may be NULL */
	unsigned bad;
};

/* reader_wrong(r, setting, fmt, …) */
#define reader_wrong(r, setting, ...) \
	((r)->bad++,                  \
	 complain((r)->complaints, (r)->path, config_setting_source_line(setting), __VA_ARGS__))

/*
 * The key that the member S of a group at PLACE is (settings of NICs may stand in a profile and in
 * an entry of nics, others only in a profile); _KEY_MAX with *RET_TUNABLE set when it is a
 * setting; -EINVAL with a complaint that names the nearest valid key.
 */
int schema_find(struct reader *r, enum place place, const config_setting_t *s,
		const struct tunable **ret_tunable);

/* All keys that may stand at PLACE, those of settings too, ending with NULL; the caller frees the
 * array, not the names. */
int schema_names(enum place place, const char ***ret);

/* What is read from a key, by its type. Text points into the setting. */
union schema_value {
	const char *text;
	int word;       /* index into words */
	int64_t number; /* KEY_NUMBER; KEY_SPAN: microseconds */
	int64_t pair[2];
	bool boolean;
	struct cpuset cpus;
};

/* -EINVAL with a complaint that says what was expected. Not for KEY_IDS, KEY_UNITS, KEY_GROUPS and KEY_ANY. */
int schema_read(struct reader *r, enum key key, const config_setting_t *s, union schema_value *ret);

/* The default of a key that has one. */
union schema_value schema_fallback(enum key key);

/* Whether a string can be shown to an admin and sent as JSON: valid UTF-8, no control characters.
 */
bool text_ok(const char *s);

/* TEXT for a complaint: as much of it as fits into SIZE, no character cut in two. */
const char *text_excerpt(const char *text, char *buf, size_t size);
#define EXCERPT_MAX 64

/* "a string", "a number" … : how complaints call what was found. */
const char *setting_kind_name(const config_setting_t *s);

/* A copy of where S stands. */
int origin_set(struct origin *o, const struct reader *r, const config_setting_t *s);
