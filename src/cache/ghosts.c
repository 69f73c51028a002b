/*
 * ghosts: a table of keys without their entries.
 */
#include <string.h>

#include "cache/ghosts.h"
#include "lib/mem.h"

#define BUCKETS_MIN	64

/* The bits that choose the bucket are not among those that are kept. */
static uint32_t *
bucket_of(const struct ghosts *g, uint64_t key)
{
	return g->buckets[key & (g->nbuckets - 1)];
}

static uint32_t
kept_bits(uint64_t key)
{
	uint32_t	bits = (uint32_t)(key >> 32);

	return bits == 0 ? 1 : bits;
}

void
ghosts_reserve(struct ghosts *g, size_t keys)
{
	size_t	n = g->nbuckets == 0 ? BUCKETS_MIN : g->nbuckets;

	while (n * GHOSTS_BUCKET < keys)
		n *= 2;
	if (n == g->nbuckets)
		return;
	ghosts_free(g);
	g->buckets = mem_array(n, sizeof(g->buckets[0]));
	g->nbuckets = n;
}

void
ghosts_add(struct ghosts *g, uint64_t key)
{
	uint32_t	*bucket = bucket_of(g, key);

	memmove(bucket + 1, bucket,
	    (GHOSTS_BUCKET - 1) * sizeof(bucket[0]));
	bucket[0] = kept_bits(key);
}

bool
ghosts_take(struct ghosts *g, uint64_t key)
{
	uint32_t	*bucket;

	if (g->nbuckets == 0)
		return false;
	bucket = bucket_of(g, key);
	for (size_t i = 0; i < GHOSTS_BUCKET; i++)
		if (bucket[i] == kept_bits(key)) {
			memmove(bucket + i, bucket + i + 1,
			    (GHOSTS_BUCKET - 1 - i) * sizeof(bucket[0]));
			bucket[GHOSTS_BUCKET - 1] = 0;
			return true;
		}
	return false;
}

void
ghosts_free(struct ghosts *g)
{
	mem_drop(&g->buckets);
	g->nbuckets = 0;
}
