/*
 * cache: the engine of the caches: entries, limits, the order of eviction.
 *
 * The engine keeps the entries of a cache within a number and an amount of
 * bytes.  Each cache finds its entries itself; a policy chooses the next
 * victim.  A held entry is in use and stays.  The caches of paths and of heads
 * keep their entries themselves: the engine counts these, and the policy says
 * which of them a passing hand spares.
 *
 * A hit counts a use and does no more.  A policy reads the count when it looks
 * for a victim, so all policies cost a hit the same.
 *
 * A cache that several threads share has a lock.  The public functions of the
 * cache take the lock, so they must not be called under it; the functions of
 * this file do not take it.  Several locks are taken in this order:
 * pathname, header, file (shared with chunk).  That of auth is taken alone.
 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cache/order.h"
#include "lib/lock.h"

struct cache_entry {			/* embedded in what is cached */
	TAILQ_ENTRY(cache_entry) link;	/* in a queue of its policy */
	uint32_t		 holds;
	uint16_t		 uses;	/* since the policy looked; wraps */
	uint16_t		 queue : 5;	/* the policy's, as the next */
	uint16_t		 rank : 5;	/* place among all queues */
	uint16_t		 times : 6;	/* uses that it has seen */
};

struct cache;
struct cache_policy;

struct cache {
	const char	*name;
	const struct cache_policy *policy;
	struct lock	*lock;		/* NULL: one thread's cache */
	size_t		 limit_entries, limit_bytes;	/* 0: no limit */
	size_t		 entries, bytes, edges;	/* edges: bytes, kept ones
						 * apart (keep.h) */
	uint64_t	 hits, misses, evictions;
	/* Removes an entry from its cache's index and frees it. */
	void		(*drop)(struct cache *, struct cache_entry *);
	void		(*describe)(const struct cache_entry *,
			    struct cache_item *);	/* NULL: all alike */
	/* Called for a victim that may stay, as it is an edge.  False: it goes
	 * all the same.  NULL: each stays. */
	bool		(*keep_edge)(struct cache *, struct cache_entry *);
	struct cache_order order;	/* the policy's */
};

/* The policy is policy_lru; cache_end() frees what it has allocated. */
void	cache_init(struct cache *, const char *name, size_t limit_entries,
	    size_t limit_bytes,
	    void (*drop)(struct cache *, struct cache_entry *));
void	cache_end(struct cache *);
/* Sets another policy, while there are no entries. */
void	cache_set_policy(struct cache *, const struct cache_policy *);
/* Count an entry in or out, for a cache that keeps its entries itself. */
void	cache_charge(struct cache *, size_t bytes);
void	cache_uncharge(struct cache *, size_t bytes);
bool	cache_is_over(const struct cache *);
/* Queues an entry and counts its bytes; cache_remove() needs the same bytes. */
void	cache_add(struct cache *, struct cache_entry *, size_t bytes);
/* Makes each entry go with its last hold, in a cache that calls cache_trim()
 * after each entry and cache_release_trim() for each hold. */
void	cache_disable(struct cache *);
bool	cache_is_disabled(const struct cache *);
/* Takes an entry out of the queue; the caller frees it. */
void	cache_remove(struct cache *, struct cache_entry *, size_t bytes);
/* The next entry to go: not held, still queued.  NULL: none.  Edges, which
 * clients wait for more than for other entries, stay as long as they have only
 * a small part of the limit in bytes. */
struct cache_entry *cache_victim(struct cache *);
/* Has a victim stay, behind other entries of its queue. */
void	cache_requeue(struct cache *, struct cache_entry *);
/* Drops entries that are not held until the cache is within its limits. */
void	cache_trim(struct cache *);
/*
 * Takes a hold away.  Drops the entry if that was the last hold and the cache
 * is beyond its limits: no other entry can go then, as cache_trim() has dropped
 * all that were not held.  For caches that trim after each entry.
 */
void	cache_release_trim(struct cache *, struct cache_entry *);
/* Drops all entries that are not held. */
void	cache_drop_unheld(struct cache *);
/* Writes one line: entries, bytes, hits, misses, evictions. */
void	cache_report(const struct cache *, char *line, size_t size);

/* Holds a new entry, or one that its user holds already; no use is counted. */
static inline void
cache_hold_again(struct cache_entry *e)
{
	e->holds++;
}

static inline void
cache_hold(struct cache_entry *e)
{
	e->holds++;
	e->uses++;
}

static inline void
cache_release(struct cache_entry *e)
{
	e->holds--;
}

#endif
