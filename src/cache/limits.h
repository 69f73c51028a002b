/*
 * limits: gives caches in use other limits.
 *
 * A higher limit holds at once.  A lower one is approached in steps, since each
 * step evicts what is beyond it, and an iteration of the loop must be short.
 */
#ifndef CACHE_LIMITS_H
#define CACHE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

struct auth_cache;
struct chunk_cache;
struct pathname_cache;

struct limits {
	size_t	paths, logins;		/* entries */
	size_t	heads, chunks;		/* bytes */
};

/* Takes a step.  True: a later iteration is to take another one. */
bool	limits_approach(const struct limits *, struct pathname_cache *,
	    struct chunk_cache *, struct auth_cache *);

#endif
