/*
 * mem: allocation that succeeds or does not return.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"

static void *
checked(void *p, size_t size)
{
	if (p == NULL)
		fatal("no memory for %zu bytes", size);
	return p;
}

void *
mem_zero(size_t size)
{
	return checked(calloc(1, size), size);
}

void *
mem_get(size_t size)
{
	return checked(malloc(size), size);
}

void *
mem_aligned(size_t alignment, size_t size)
{
	void	*p = NULL;

	if (posix_memalign(&p, alignment, size) != 0)
		p = NULL;
	return checked(p, size);
}

void *
mem_array(size_t n, size_t each)
{
	return checked(calloc(n, each), n * each);
}

void *
mem_grow(void *old, size_t n, size_t each)
{
	if (each != 0 && n > SIZE_MAX / each)
		fatalx("no memory for %zu times %zu bytes", n, each);
	return checked(realloc(old, n * each), n * each);
}

void *
mem_copy(const void *from, size_t size)
{
	void	*p = mem_get(size);

	memcpy(p, from, size);
	return p;
}

char *
mem_string(const char *text)
{
	return mem_copy(text, strlen(text) + 1);
}

void
mem_drop(void *pointer_to_pointer)
{
	void	*p;

	/* A pointer of whatever type: read and written as bytes. */
	memcpy(&p, pointer_to_pointer, sizeof(p));
	free(p);
	memset(pointer_to_pointer, 0, sizeof(p));
}
