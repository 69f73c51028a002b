/*
 * header: ready response heads (Flash, section 5.3), opaque bytes to this
 * cache.
 *
 * A head starts at a 32-byte boundary and its length is a multiple of 32, so
 * that what is copied behind it is aligned too; or, to measure what that is
 * good for, at an odd place and has any length.  It hangs in a list of its
 * owner, which has one of each kind at most, and goes with that.  Its Date has
 * a fixed place and is rewritten when the second has changed; never while
 * somebody holds the head, whose first half may have been sent: then a fresh
 * copy takes its place.
 *
 * Heads are known to their owners only, so these keep them within the limit.
 */
#ifndef CACHE_HEADER_H
#define CACHE_HEADER_H

#include <stdint.h>
#include <time.h>

#include "cache/cache.h"
#include "lib/slab.h"

#define HEADER_ALIGNMENT	32

/* One piece of memory with its bytes, which come behind it. */
struct head {
	_Alignas(HEADER_ALIGNMENT)
	struct head		*next;		/* of its owner */
	uint32_t		 holds;
	uint32_t		 date;		/* what it says, low bits */
	uint32_t		 lines : 18;	/* of memory, in alignments */
	uint32_t		 kind : 2;	/* its owner's */
	uint32_t		 date_at : 6;	/* where Date's value starts */
	uint32_t		 padding : 6;	/* bytes of them; 0: aligned */
	bool			 used;		/* since header_evict() */
	bool			 detached;	/* goes with its last holder */
	uint16_t		 hot_index;		/* its users'; 0 when its date
						 * is set */
};

/* The present Date, as the one who asks has it. */
struct header_date {
	const char	*text;
	size_t		 len;
	time_t		 wall;
};

struct header_cache {
	struct cache	 cache;
	struct slab	 slab;
	bool		 unaligned;	/* new heads are not aligned */
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
/* An owner's heads, NULL at first: that of a kind, up to date and held; NULL if
 * there is none. */
struct head	*header_hold(struct header_cache *, struct head **owner,
		    unsigned kind, const struct header_date *);
/* Puts a copy of these bytes there, unless another thread has by now; held.
 * They must be aligned in length, unless unaligned, and contain the present Date
 * at date_at. */
struct head	*header_put(struct header_cache *, struct head **owner,
		    unsigned kind, const char *bytes, size_t len,
		    size_t date_at, const struct header_date *);
/* One hold more of what is held, without a lock. */
struct head	*header_hold_again(struct head *);
void		 header_release(struct header_cache *, struct head **);
/* Drops all of an owner; a held head lives until its release. */
void		 header_drop_all(struct header_cache *, struct head **owner);
/* With too many heads: drops those of an owner that nobody holds, nor has used
 * since it was asked to last; or has, once no chances are left. */
void		 header_evict(struct header_cache *, struct head **owner,
		    unsigned *chances);

#endif
