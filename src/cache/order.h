/*
 * order: what a policy knows of the entries of a cache.
 */
#ifndef CACHE_ORDER_H
#define CACHE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cache/ghosts.h"

struct cache_entry;

/* cache_entry.queue has bits for so many. */
#define POLICY_QUEUES	32

TAILQ_HEAD(policy_queue, cache_entry);

/* Facts about an entry, for its policy. */
struct cache_item {
	size_t		bytes;		/* as for cache_add() */
	uint64_t	whole;		/* bytes that a hit needs: this entry's
					 * and those of its companions */
	uint64_t	key;		/* the same when the entry comes back;
					 * others hardly ever have it */
	bool		edge;		/* see cache_victim() */
	bool		guest;		/* see guests.h */
};

struct cache_order {
	struct policy_queue	 queues[POLICY_QUEUES];
	struct cache_entry	*hand;	/* sieve: to be looked at next; NULL:
					 * the oldest */
	size_t			 newcomers;	/* their weight, of s3fifo; or
						 * bytes of guests (guests.h) */
	struct ghosts		 ghosts;	/* s3fifo: have left queue 0 */
	uint64_t		 clock;	/* gdsf, lfu: rank of the last victim */
	size_t			 kept;	/* bytes, or paths (keep.h) */
	bool			 kept_full;	/* more cannot be kept */
	bool			 kept_told;	/* which has been logged */
	bool			 foreign;	/* some entries may be in queues
					 * of another policy */
};

#endif
