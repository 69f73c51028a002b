/*
 * ghosts: keys of entries that have gone, to know one that comes back.
 *
 * A bucket has eight keys, of which a new one takes the place of the oldest.
 * There is room for as many keys as the cache has had entries at a time.  A key
 * is kept as a few bits: another key may be taken for it, once in millions.
 */
#ifndef CACHE_GHOSTS_H
#define CACHE_GHOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GHOSTS_BUCKET	8

struct ghosts {
	uint32_t	(*buckets)[GHOSTS_BUCKET];	/* newest first */
	size_t		 nbuckets;	/* a power of two, or 0 */
};

/* Makes room for so many keys.  If there is less, forgets all. */
void	ghosts_reserve(struct ghosts *, size_t keys);
void	ghosts_add(struct ghosts *, uint64_t key);
/* Whether a key is there; takes it out. */
bool	ghosts_take(struct ghosts *, uint64_t key);
void	ghosts_free(struct ghosts *);

#endif
