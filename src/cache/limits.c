/*
 * limits: a step lowers the limit a little below what is in use.
 */
#include "cache/advice.h"
#include "cache/auth.h"
#include "cache/chunk.h"
#include "cache/header.h"
#include "cache/limits.h"
#include "cache/pathname_private.h"

#define STEP_ENTRIES	64
#define STEP_BYTES	(4 << 20)	/* 64 chunks of 64 KiB */

/* The limit after a step, where so much is in use. */
static size_t
next_limit(size_t wanted, size_t used, size_t step)
{
	return used <= wanted || used - wanted <= step ? wanted : used - step;
}

/* The limit behind a step: what is in use as before is held, and goes later. */
static size_t
limit_behind(size_t limit, size_t wanted, size_t before, size_t used)
{
	return used == before ? wanted : limit;
}

static bool
approach_paths(struct pathname_cache *pc, size_t wanted)
{
	size_t	before, limit;

	lock_acquire(pc->cache.lock);
	before = pathname_used(pc);
	limit = next_limit(wanted, before, STEP_ENTRIES);
	pathname_set_limit(pc, limit);
	pathname_trim(pc);
	limit = limit_behind(limit, wanted, before, pathname_used(pc));
	pathname_set_limit(pc, limit);
	lock_release(pc->cache.lock);
	return limit > wanted;
}

/* Heads are found by way of their paths only. */
static bool
approach_heads(struct pathname_cache *pc, size_t wanted)
{
	struct cache	*c = &pc->headers->cache;
	size_t		 limit = c->limit_bytes;

	if (cache_is_disabled(c))
		return false;
	lock_acquire(pc->cache.lock);
	c->limit_bytes = limit = next_limit(wanted, c->bytes, STEP_BYTES / 64);
	pathname_evict_heads(pc);
	lock_release(pc->cache.lock);
	return limit > wanted;
}

static bool
approach_chunks(struct chunk_cache *cc, size_t wanted)
{
	struct cache	*c = &cc->cache;
	size_t		 before, limit = c->limit_bytes;

	if (cache_is_disabled(c) || limit == wanted)
		return false;
	lock_acquire(c->lock);
	before = c->bytes;
	c->limit_bytes = limit = next_limit(wanted, before, STEP_BYTES);
	cc->copied = 0;
	transient_trim(cc);
	cache_trim(c);
	c->limit_bytes = limit = limit_behind(limit, wanted, before, c->bytes);
	advice_set_limit(cc);
	lock_release(c->lock);
	return limit > wanted;
}

static bool
approach_logins(struct auth_cache *ac, size_t wanted)
{
	struct cache	*c = &ac->cache;
	size_t		 before, limit;

	lock_acquire(c->lock);
	before = c->entries;
	c->limit_entries = limit = next_limit(wanted, before, STEP_ENTRIES);
	cache_trim(c);
	c->limit_entries = limit = limit_behind(limit, wanted, before,
	    c->entries);
	lock_release(c->lock);
	return limit > wanted;
}

bool
limits_approach(const struct limits *wanted, struct pathname_cache *pc,
    struct chunk_cache *cc, struct auth_cache *ac)
{
	bool	more = approach_paths(pc, wanted->paths);

	more |= approach_heads(pc, wanted->heads);
	more |= approach_chunks(cc, wanted->chunks);
	more |= approach_logins(ac, wanted->logins);
	return more;
}
