/*
 * prefetch: lets the processor fetch the memory that look-ups are about to
 * read.
 *
 * With many files each level of a look-up (bucket, path, file and head, copy)
 * is a miss of the processor's caches, and the address of a level is only known
 * once the level before it has come.  A caller with several look-ups to do goes
 * through one level of all of them, then through the next: so the misses of a
 * level overlap.
 *
 * Prefetching holds, counts and returns nothing.  It is for caches of a single
 * thread, which must not change between the levels.
 */
#ifndef CACHE_PREFETCH_H
#define CACHE_PREFETCH_H

#include "cache/pathname.h"

#define PREFETCH_LEVELS	3	/* behind the first */

struct prefetch {
	uint32_t	 hash;		/* of the name, after the first level */
	unsigned	 level;		/* the next one; 0: not begun */
	const void	*at;		/* where the next level is found; NULL:
					 * there is none */
};

/* The first level: the bucket of a name. */
void	prefetch_begin(struct prefetch *, const struct pathname_cache *,
	    uint32_t namespace, struct str name);
/* Whether the first level is done, and so the hash is known. */
static inline bool
prefetch_has_begun(const struct prefetch *a)
{
	return a->level != 0;
}

/* The next level. */
void	prefetch_next(struct prefetch *);

#endif
