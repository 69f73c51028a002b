/*
 * malloc: counts the allocations of a server under test; preloaded before the C
 * library.
 *
 * The file that AMPED_TEST_MALLOC names is an array of 64-bit numbers, the
 * number of allocations by process id.
 */
#include <sys/mman.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES	(4 * 1024 * 1024)	/* Linux's maximum */

static struct {
	void	*(*malloc)(size_t);
	void	*(*calloc)(size_t, size_t);
	void	*(*realloc)(void *, size_t);
	int	 (*aligned)(void **, size_t, size_t);
	void	 (*free)(void *);
} real;

static uint64_t	*counts;
static char	 first[4096];		/* for allocations before start() */
static size_t	 first_used;

static void *
find_symbol(const char *name)
{
	void	*p = dlsym(RTLD_NEXT, name);

	if (p == NULL)
		abort();
	return p;
}

static void
find_functions(void)
{
	void	*p;

	p = find_symbol("free");
	memcpy(&real.free, &p, sizeof(p));
	p = find_symbol("realloc");
	memcpy(&real.realloc, &p, sizeof(p));
	p = find_symbol("posix_memalign");
	memcpy(&real.aligned, &p, sizeof(p));
	p = find_symbol("malloc");
	memcpy(&real.malloc, &p, sizeof(p));
	p = find_symbol("calloc");
	memcpy(&real.calloc, &p, sizeof(p));
}

__attribute__((__constructor__)) static void
start(void)
{
	const char	*name = getenv("AMPED_TEST_MALLOC");
	int		 fd = name != NULL ? open(name, O_RDWR | O_CLOEXEC) : -1;
	void		*p;

	find_functions();
	if (fd == -1)
		return;
	p = mmap(NULL, PROCESSES * sizeof(*counts), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	close(fd);
	if (p != MAP_FAILED)
		counts = p;
}

static void
count_call(void)
{
	if (counts != NULL)
		__atomic_add_fetch(&counts[getpid()], 1, __ATOMIC_RELAXED);
}

static bool
is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)first < sizeof(first);
}

/* Allocates while dlsym() looks the real functions up; never freed. */
static void *
alloc_early(size_t size)
{
	size_t	at = (first_used + 15) / 16 * 16;

	if (size > sizeof(first) - at)
		abort();
	first_used = at + size;
	return first + at;
}

void *
malloc(size_t size)
{
	count_call();
	return real.malloc != NULL ? real.malloc(size) : alloc_early(size);
}

void *
calloc(size_t n, size_t size)
{
	count_call();
	return real.calloc != NULL ? real.calloc(n, size)
				   : alloc_early(n * size);
}

void *
realloc(void *old, size_t size)
{
	count_call();
	if (real.realloc == NULL || is_early(old))
		abort();
	return real.realloc(old, size);
}

void
free(void *p)
{
	if (p != NULL && !is_early(p))
		real.free(p);
}

int
posix_memalign(void **to, size_t alignment, size_t size)
{
	count_call();
	return real.aligned != NULL ? real.aligned(to, alignment, size) :
	    ENOMEM;
}
