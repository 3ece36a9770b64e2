/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target without libFuzzer, for `make check`: every file named on the command line, as
 * it is and with damage done to it, the same damage every time. Without a file it starts from
 * nothing. `make fuzz` (tests/fuzz/search) lets libFuzzer look for more.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATIONS 200
#define INPUT_MAX (1U << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* xorshift64*: the same numbers on every machine. */
static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * UINT64_C(2685821657736338717);
}

static size_t below(size_t n)
{
	return n ? (size_t)(next_random() % n) : 0;
}

/* One piece of damage to DATA, which has room for INPUT_MAX bytes. Returns the new size. */
static size_t damage(uint8_t *data, size_t size)
{
	static const char *const words[] = {"\n",   " ",        "\r\n",     "\t",
					    ":",    "00000000", "ffffffff", "0",
					    "CPU",  "#08",      "-1",       "99999999999999999999",
					    "\\x0a"};
	const char *word = words[below(sizeof(words) / sizeof(*words))];
	size_t length = strlen(word), at = below(size + 1), n;

	switch (below(5)) {
	case 0: /* a bit flips */
		if (at < size)
			data[at] ^= (uint8_t)(1U << below(8));
		return size;
	case 1: /* any byte, also NUL */
		if (at < size)
			data[at] = (uint8_t)next_random();
		return size;
	case 2: /* cut off */
		return at;
	case 3: /* a piece is gone */
		n = below((size - at < 80 ? size - at : 80) + 1);
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	default: /* something is put in */
		if (size + length > INPUT_MAX)
			return size;
		memmove(data + at + length, data + at, size - at);
		memcpy(data + at, word, length);
		return size + length;
	}
}

/* The target gets memory of exactly the input's size, so that a sanitizer sees one byte too many.
 */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_with_damage(const uint8_t *seed, size_t size)
{
	static uint8_t data[INPUT_MAX];

	random_state = UINT64_C(0x9e3779b97f4a7c15);
	run(seed, size);
	for (unsigned i = 0; i < MUTATIONS; i++) {
		size_t n = size;

		memcpy(data, seed, size);
		for (size_t k = below(4) + 1; k > 0; k--)
			n = damage(data, n);
		run(data, n);
	}
}

int main(int argc, char **argv)
{
	static uint8_t seed[INPUT_MAX];

	if (argc < 2)
		run_with_damage(seed, 0);
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		size_t n;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		n = fread(seed, 1, sizeof(seed), f);
		fclose(f);
		run_with_damage(seed, n);
	}
	printf("%d inputs, each with %d mutations\n", argc < 2 ? 1 : argc - 1, MUTATIONS);
	return 0;
}
