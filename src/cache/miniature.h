/*
 * miniature: how many requests of a cache other policies, or another amount of
 * memory, would hit.
 *
 * A few small caches without contents are asked for the same things as the
 * cache.  They follow a sample: the things whose hash is below a threshold.
 * The threshold is a part of all hashes, and the small caches have the same
 * part of the memory (Waldspurger et al., USENIX ATC 2017).  When there are too
 * many things, the threshold is halved (SHARDS; Waldspurger et al., FAST 2015).
 * Each small cache is a struct cache with a policy of this folder, so it
 * evicts as a real cache would.  All memory is allocated when the miniature is
 * made, except a few KiB that s3fifo has for keys.
 */
#ifndef CACHE_MINIATURE_H
#define CACHE_MINIATURE_H

#include "cache/policy.h"

/* The small caches: one for each policy, with the limit of the real cache; then
 * the policy of the real cache with half and with twice the limit. */
enum {
	MINIATURE_HALF = POLICY_NUMBER,
	MINIATURE_TWICE,
	MINIATURE_CACHES
};

/* The most things that are followed at a time; they take less than 1 MiB. */
#define MINIATURE_THINGS	4096

/* All hashes: the first threshold. */
#define MINIATURE_ALL		UINT32_MAX

/* A thing that is asked for. */
struct miniature_thing {
	uint64_t	key;	/* of struct cache_item */
	uint64_t	whole;	/* of struct cache_item */
	uint32_t	bytes;	/* of struct cache_item */
	uint32_t	hash;	/* below the threshold: it is in the sample */
	bool		first;	/* if it is absent, a request waits */
	bool		edge;	/* of struct cache_item */
};

/* Sums since the caller has set them to zero.  Requests and misses are those of
 * first things, bytes those of all things. */
struct miniature_sums {
	uint64_t	requests, bytes;
	uint64_t	misses[MINIATURE_CACHES];
	uint64_t	missed_bytes[MINIATURE_CACHES];
	uint64_t	work;	/* in units of about 50 ns */
};

struct miniature;

struct miniature *miniature_new(size_t limit_bytes,
		    const struct cache_policy *live);
void		 miniature_free(struct miniature **);
uint32_t	 miniature_threshold(const struct miniature *);
struct miniature_sums *miniature_sums(struct miniature *);
/* Asks all caches for a thing, unless it is not in the sample. */
void		 miniature_ask(struct miniature *,
		    const struct miniature_thing *);
/* Halves or doubles the sample.  After doubling, the new things of the sample
 * are misses at their first request, also if a real cache would have them. */
void		 miniature_halve(struct miniature *);
void		 miniature_double(struct miniature *);
/* Whether the caches with the limit of the real one have been full. */
bool		 miniature_is_warm(const struct miniature *);
/* The real cache has another limit. */
void		 miniature_set_limit(struct miniature *, size_t limit_bytes);
/* The number of things that are followed now. */
size_t		 miniature_count(const struct miniature *);
/* The policy of the cache has changed. */
void		 miniature_set_live(struct miniature *,
		    const struct cache_policy *);

#endif
