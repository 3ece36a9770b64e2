/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every allocation of the program that includes this is counted. A sanitizer has its own allocator: then
 * there is nothing to count, and COUNTED is 0. All in the header, for one file of a program: in the
 * archive of the tests' library it would replace every test's malloc().
 */
#pragma once

#include <stdlib.h>

static unsigned long allocations;

#ifdef __SANITIZE_ADDRESS__
enum {
	COUNTED = 0
};
#else
enum {
	COUNTED = 1
};

/* glibc's own names for what is replaced here */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	allocations++;
	return __libc_realloc(p, size);
}
#endif
