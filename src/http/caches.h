/*
 * caches: what all loops of a main may share: the caches, and what is counted
 * about jobs.  What one loop has for itself is in struct http_loop.
 *
 * A loop that is not given one has one of its own.  Not shared, a store is for
 * one loop and has no locks.
 */
#ifndef HTTP_CACHES_H
#define HTTP_CACHES_H

#include <stdbool.h>
#include <stddef.h>

struct conf;
struct caches;

struct caches_setup {
	const struct conf	*conf;
	size_t			 descriptors;	/* for files kept open */
	int			 pagemap;	/* of pagemap.h, stays the
						 * caller's; 0 or -1: none */
	bool			 shared;	/* by the loops of threads */
	/* Asks one of the loops for http_tidy(): from any thread, and in the
	 * middle of a cache.  NULL: nothing is put off. */
	void			(*schedule_tidy)(void *);
	void			*tidy_context;
};

struct caches	*caches_new(const struct caches_setup *);
/* No loop has it any more. */
void		 caches_free(struct caches **);

#endif
