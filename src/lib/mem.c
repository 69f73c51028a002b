/*
 * mem: allocation that succeeds or does not return.
 */
#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif
#include <sys/mman.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"

#define TCACHE_MAX	1024		/* bytes of a piece in glibc's tcache */

static void *
check_alloc(void *p, size_t size)
{
	if (p == NULL)
		fatal("no memory for %zu bytes", size);
	return p;
}

/* Inlined, a compiler would turn mem_get() and memset() into calloc(). */
__attribute__((__noinline__)) void *
mem_get(size_t size)
{
	return check_alloc(malloc(size), size);
}

void *
mem_aligned(size_t by, size_t size)
{
	return check_alloc(aligned_alloc(by, size), size);
}

/*
 * glibc's calloc() does not use the tcache, where freed pieces go first.  It
 * would split larger free chunks for pieces that stay, and fragment the heap.
 */
void *
mem_zero(size_t size)
{
	return size <= TCACHE_MAX ? memset(mem_get(size), 0, size) :
	    check_alloc(calloc(1, size), size);
}

void *
mem_array(size_t n, size_t each)
{
	return check_alloc(calloc(n, each), n * each);
}

void *
mem_grow(void *old, size_t n, size_t each)
{
	if (each != 0 && n > SIZE_MAX / each)
		fatalx("no memory for %zu times %zu bytes", n, each);
	return check_alloc(realloc(old, n * each), n * each);
}

void *
mem_add_room(void *old, size_t n, size_t each)
{
	bool	full = (n & (n - 1)) == 0;	/* 0, or a power of 2 */

	return full ? mem_grow(old, n == 0 ? 1 : 2 * n, each) : old;
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

void *
mem_shared(size_t size)
{
	void	*p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANON | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		fatal("cannot allocate shared memory");
	return p;
}

void
mem_drop(void *pointer_to_pointer)
{
	void	*p;

	/* The pointer's type is unknown, so it is copied as bytes. */
	memcpy(&p, pointer_to_pointer, sizeof(p));
	free(p);
	memset(pointer_to_pointer, 0, sizeof(p));
}

void
mem_map_large(void)
{
#ifdef HAVE_MALLOC_TRIM
	mallopt(M_MMAP_THRESHOLD, MEM_LARGE);
	mallopt(M_MMAP_MAX, MEM_MAPPINGS_MAX);
#endif
}

void
mem_trim(void)
{
#ifdef HAVE_MALLOC_TRIM
	malloc_trim(0);
#endif
}
