/*
 * prefetch: has the processor fetch what look-ups are about to need.
 *
 * With many files each link from a name to the bytes that are sent (bucket,
 * path, file and head, copy) is memory that no cache of the processor has, and
 * none is known before the one in front of it has come.  Who has several
 * look-ups to do goes on by a link with all of them, and then by another; so
 * those of one link come at once.
 *
 * Nothing is found out, held or counted.  For caches that no other thread
 * changes, and as long as nobody does between two links.
 */
#ifndef CACHE_PREFETCH_H
#define CACHE_PREFETCH_H

#include "cache/pathname.h"

#define PREFETCH_LEVELS	3	/* behind the first */

struct prefetch {
	uint32_t	 hash;		/* of the name, once it has begun */
	unsigned	 level;		/* that comes next; 0: it has not */
	const void	*at;		/* what it is found in; NULL: nowhere */
};

/* For a path by this name: its bucket. */
void	prefetch_begin(struct prefetch *, const struct pathname_cache *,
	    uint32_t space, struct str name);
/* Whether it has, and so the hash is known. */
static inline bool
prefetch_has_begun(const struct prefetch *a)
{
	return a->level != 0;
}

/* The next link. */
void	prefetch_next(struct prefetch *);

#endif
