/*
 * advice: how many requests for chunks other policies, and other amounts of
 * memory, would have hit; and, with policy auto, the choice of the policy by
 * these figures.
 *
 * A miniature (miniature.h) is asked for a sample of the chunks that the cache
 * is asked for.  It is made when an eighth of the memory is in use: with less
 * in use, policies do not differ.  An epoch ends after a number of requests in
 * the sample and a time.  The figures are means of the last epochs; recent
 * epochs count for more.
 */
#ifndef CACHE_ADVICE_H
#define CACHE_ADVICE_H

#include "cache/chooser.h"
#include "cache/miniature.h"

struct chunk;
struct chunk_cache;

/* The least requests in the sample for an epoch: of all, and for each thing in
 * the sample. */
#define ADVICE_EPOCH	4096
#define ADVICE_TURNS	2
#define ADVICE_ALL	1000000	/* ratios are parts of so many */

struct advice_setup {
	unsigned	policy;		/* the present one; in policies_all */
	bool		chooses;	/* the policy changes */
	int64_t		epoch;		/* ms, at least */
};

struct advice_figures {
	unsigned	policy;
	bool		chooses;
	unsigned	changes;	/* of the policy, so far */
	unsigned	epochs;		/* 0: all below is 0 */
	uint64_t	requests, bytes;	/* of a mean epoch */
	uint32_t	sample;		/* part of the chunks, of ADVICE_ALL */
	/* Misses of requests, and missed bytes, of ADVICE_ALL. */
	uint32_t	misses[MINIATURE_CACHES];
	uint32_t	missed_bytes[MINIATURE_CACHES];
	uint32_t	real_misses;
};

/* A change of policy. */
struct advice_change {
	enum chooser_reason	reason;
	unsigned		from, to;	/* in policies_all */
	uint32_t		from_misses, to_misses;	/* of ADVICE_ALL */
};

/* Gives advice to a cache of chunks, which already has the policy of setup. */
void	advice_begin(struct chunk_cache *, const struct advice_setup *);
void	advice_end(struct chunk_cache *);
/* Changes the policy to that of setup, and whether the policy goes on changing.
 * In that case a cache without advice gets advice. */
void	advice_set_policy(struct chunk_cache *, const struct advice_setup *);
/* Ends an epoch that is over.  To be called from time to time.  True: the
 * policy of the cache has been changed. */
bool	advice_judge(struct chunk_cache *, int64_t now, struct advice_change *);
/* False: the cache has no advice. */
bool	advice_get(const struct chunk_cache *, struct advice_figures *);

/* The limit of the cache has changed; under its lock. */
void	advice_set_limit(struct chunk_cache *);

/* For chunk.c, under the lock: notes that a chunk in the sample is asked for;
 * that a chunk is asked for that was not in the cache. */
void	advice_note(struct chunk_cache *, const struct chunk *);
void	advice_note_new(struct chunk_cache *, const struct chunk *);

#endif
