/*
 * transient: chunks of files that are too large for the cache (cache admit).
 *
 * All transient chunks together have a small part of the cache, and go in the
 * order in which they came.  So a large file that is read from its start to its
 * end evicts no other files, and clients that read it at about the same time
 * share its chunks.  A policy does not see them.
 *
 * The system would keep the pages of such a file and evict those of others.  So
 * a part whose chunks have gone is given back to it: handover_range().
 */
#ifndef CACHE_TRANSIENT_H
#define CACHE_TRANSIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/order.h"

struct chunk;
struct chunk_cache;
struct file;

/* Transient chunks may have one part in so many of the limit in bytes, and of
 * that of mappings. */
#define TRANSIENT_SHARE	16

struct transients {
	struct policy_queue	 queue;	/* the oldest first */
	size_t			 bytes;
	uint64_t		 chunks;	/* so far */
};

/* Whether a client that waits may hold the next chunk of the file: the file is
 * transient, and its like have not more than their part. */
bool		 transient_may_wait(const struct chunk_cache *,
		    const struct file *);

/* For chunk.c, under the lock: adds a new chunk; takes a chunk out, which
 * chunk.c frees.  False: its file is not transient. */
bool		 transient_add(struct chunk_cache *, struct chunk *);
bool		 transient_remove(struct chunk_cache *, struct chunk *);
/* Drops chunks beyond the part that is for them.  Those stay that are held, or
 * that a client is about to take. */
void		 transient_trim(struct chunk_cache *);

#endif
