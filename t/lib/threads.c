/*
 * threads: makes threads hard to get; preloaded before the C library.
 *
 * The third thread of a process and the two after it cannot be created.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define FIRST	3	/* that fails */
#define LAST	5

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr,
    void *(*start)(void *), void *context)
{
	static atomic_int	 n;
	int			 now = atomic_fetch_add(&n, 1) + 1;
	union {
		void	*symbol;
		int	(*create)(pthread_t *, const pthread_attr_t *,
			    void *(*)(void *), void *);
	} next = { .symbol = dlsym(RTLD_NEXT, "pthread_create") };

	if (next.symbol == NULL || (now >= FIRST && now <= LAST))
		return EAGAIN;
	return next.create(thread, attr, start, context);
}
