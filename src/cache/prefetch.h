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

#define AHEAD_LINKS	3	/* behind the first */

struct ahead {
	uint32_t	 hash;		/* of the name, once it has begun */
	unsigned	 link;		/* that comes next; 0: it has not */
	const void	*at;		/* what it is found in; NULL: nowhere */
};

/* For a path by this name: its bucket. */
void	ahead_begin(struct ahead *, const struct pathname_cache *,
	    uint32_t space, struct str name);
/* Whether it has, and so the hash is known. */
static inline bool
ahead_has_begun(const struct ahead *a)
{
	return a->link != 0;
}

/* The next link. */
void	ahead_go_on(struct ahead *);

#endif
