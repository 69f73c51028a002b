/*
 * header: ready response heads (Flash, section 5.3), opaque bytes to this
 * cache.
 *
 * A head starts at a 32-byte boundary, and its length is a multiple of 32, so
 * that a body copied behind it is aligned, too.  An unaligned cache, for
 * comparison, starts heads at an odd address and takes any length.
 *
 * A head is in a list of its owner, with at most one head of each kind.  Its
 * Date has a fixed place and is rewritten when the second has changed.  A held
 * head may be half sent: a copy with the new Date takes its place.
 *
 * Only owners know their heads, so they keep the cache within its limit.
 */
#ifndef CACHE_HEADER_H
#define CACHE_HEADER_H

#include <stdint.h>
#include <time.h>

#include "cache/cache.h"
#include "lib/slab.h"

#define HEADER_ALIGNMENT	32

/* The bytes of the head follow the record in the same piece of memory. */
struct head {
	_Alignas(HEADER_ALIGNMENT)
	struct head		*next;		/* of its owner */
	uint32_t		 holds;
	uint32_t		 date;		/* Date in it, s, low bits */
	uint32_t		 lines : 18;	/* size / HEADER_ALIGNMENT */
	uint32_t		 kind : 2;	/* chosen by its owner */
	uint32_t		 date_at : 6;	/* offset of Date's value */
	uint32_t		 padding : 6;	/* unused bytes; 0: aligned */
	uint16_t		 uses;		/* see header_evict() */
	bool			 detached;	/* freed by its last release */
};

/* The present Date, as the caller has it. */
struct header_date {
	const char	*text;
	size_t		 len;
	time_t		 wall;
};

struct header_cache {
	struct cache	 cache;
	struct slab	 slab;
	bool		 unaligned;	/* new heads start at odd addresses */
};

static inline size_t
header_len(const struct head *h)
{
	return (size_t)h->lines * HEADER_ALIGNMENT - h->padding;
}

static inline char *
header_bytes(struct head *h)
{
	return (char *)(h + 1) + (h->padding != 0);
}

void		 header_init(struct header_cache *, size_t limit_bytes);
void		 header_free(struct header_cache *);
/* Holds an owner's head of a kind, with the present Date; NULL: there is none.
 * A new owner's list is NULL. */
struct head	*header_hold(struct header_cache *, struct head **owner,
		    unsigned kind, const struct header_date *);
/* Adds a copy of these bytes to an owner's list, unless another thread has just
 * added a head of the kind; holds it.  The length must be a multiple of
 * HEADER_ALIGNMENT if aligned, and the present Date must stand at date_at. */
struct head	*header_put(struct header_cache *, struct head **owner,
		    unsigned kind, const char *bytes, size_t len,
		    size_t date_at, const struct header_date *);
void		 header_release(struct header_cache *, struct head **);
/* Drops all heads of an owner; a held head lives until its release. */
void		 header_drop_all(struct header_cache *, struct head **owner);
/* While the cache is beyond its limit: drops an owner's heads that are neither
 * held nor spared by the policy.  A head that is spared takes one of *chances;
 * when no chance is left, no head is spared. */
void		 header_evict(struct header_cache *, struct head **owner,
		    unsigned *chances);

#endif
