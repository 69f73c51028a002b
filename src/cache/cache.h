/*
 * cache: the engine that the caches share: what is held, what may go.
 *
 * It keeps entries within a number and an amount of bytes.  Where they are
 * found is the business of each cache; which one goes next is asked of a
 * policy.  A held entry is in use and never goes.  Of paths and heads, as there
 * may be a million, it only knows how many there are.
 *
 * Where several threads share a cache, it has a lock, which its public verbs
 * hold and nobody else; so they must not be called inside of one another.  What
 * is in here does not ask for it.  Locks of several caches are taken in this
 * order only: pathname, header, then files and their chunks, which have one
 * together; that of the auth cache is taken alone.
 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "lib/lock.h"

struct cache_entry {			/* embedded in what is cached */
	TAILQ_ENTRY(cache_entry) queue;
	uint32_t		 holds;
	bool			 used;	/* since it took its place */
};

struct cache;

/* So many second chances a victim, so that no look-up pays for a sweep. */
#define CACHE_CHANCES	32

struct cache_policy {
	const char		*name;
	void			(*add)(struct cache *, struct cache_entry *);
	/* The next to go, not held, still in the queue; NULL: none. */
	struct cache_entry	*(*victim)(struct cache *);
};

struct cache {
	const char	*name;
	const struct cache_policy *policy;
	struct lock	*lock;		/* NULL: one thread's alone */
	TAILQ_HEAD(, cache_entry) queue;
	size_t		 limit_entries, limit_bytes;	/* 0: without */
	size_t		 entries, bytes;
	uint64_t	 hits, misses, evictions;
	/* Takes an entry out of wherever it is found and frees it. */
	void		(*drop)(struct cache *, struct cache_entry *);
};

/* Second chance, an LRU that costs a look-up one store: see cache.c. */
extern const struct cache_policy cache_policy_lru;

void	cache_init(struct cache *, const char *name, size_t limit_entries,
	    size_t limit_bytes,
	    void (*drop)(struct cache *, struct cache_entry *));
/* For who keeps its entries and their order itself: they only count. */
void	cache_charge(struct cache *, size_t bytes);
void	cache_uncharge(struct cache *, size_t bytes);
bool	cache_is_over(const struct cache *);
/* It counts for so many bytes, as its owner knows when it leaves as well. */
void	cache_add(struct cache *, struct cache_entry *, size_t bytes);
/* From now on nothing outlasts its last hold, where there is a trim for each
 * entry and a return for each hold. */
void	cache_disable(struct cache *);
bool	cache_is_disabled(const struct cache *);
/* Takes it out; the entry is the caller's to free. */
void	cache_remove(struct cache *, struct cache_entry *, size_t bytes);
/* A victim that its owner would rather keep: it goes to the back. */
void	cache_requeue(struct cache *, struct cache_entry *);
/* Drops what is beyond the limits and not held. */
void	cache_trim(struct cache *);
/*
 * One hold less; if it was the last, and the cache is beyond its limits, the
 * entry is dropped.  No other could go: who is not held, went when the cache
 * came to that.  For those who trim after each entry.
 */
void	cache_release_trim(struct cache *, struct cache_entry *);
/* Drops all that is not held. */
void	cache_drop_unheld(struct cache *);
/* One line: entries, bytes, hits, misses, evictions. */
void	cache_report(const struct cache *, char *line, size_t size);

static inline void
cache_hold(struct cache_entry *e)
{
	e->holds++;
	e->used = true;
}

static inline void
cache_release(struct cache_entry *e)
{
	e->holds--;
}

#endif
