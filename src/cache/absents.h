/*
 * absents: the paths of absent names, in the order in which they were found to
 * be absent, as hashes of their names.
 *
 * A scan for names that are not there makes many such paths, and nobody asks
 * for most of them again.  So these go first, and the scan evicts nothing else.
 * A hash whose path has gone, or is no longer absent, does no harm.
 */
#ifndef CACHE_ABSENTS_H
#define CACHE_ABSENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct absents {
	uint32_t	*hashes;	/* a ring */
	size_t		 max, first, n;
};

void	absents_init(struct absents *, size_t max);
void	absents_free(struct absents *);
/* If there is no room, the oldest hash goes. */
void	absents_add(struct absents *, uint32_t hash);
/* Takes the oldest hash out; false: there is none. */
bool	absents_take(struct absents *, uint32_t *hash);

#endif
