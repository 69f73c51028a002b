/*
 * pathname_private: what pathname.c and path_info.c do for each other, who have
 * their lock, and how a path is found.
 */
#ifndef CACHE_PATHNAME_PRIVATE_H
#define CACHE_PATHNAME_PRIVATE_H

#include "cache/pathname.h"

struct path_info;

static inline uint32_t
pathname_hash(const struct pathname_cache *pc, uint32_t space, struct str name)
{
	return (uint32_t)hash_bytes(&pc->key, space, name.at, name.len);
}

static inline struct path **
pathname_bucket(const struct pathname_cache *pc, uint32_t hash)
{
	size_t	i = hash & pc->mask;

	/* That one is not split yet: it is still in with the lower one. */
	return &pc->buckets[i < pc->nbuckets ? i : hash & pc->mask >> 1];
}

/* What is not in the bucket: other bits than those that lead to it. */
static inline uint32_t
pathname_hash_tag(uint32_t hash)
{
	return hash >> 25;
}

/* Not held, nor counted. */
struct path	*pathname_find(const struct pathname_cache *, uint32_t space,
		    struct str name);
void		 pathname_forget_heads(struct pathname_cache *, struct path *);
/* To be said when there is one more. */
void		 pathname_evict_heads(struct pathname_cache *);
/* Heads and file; to be followed by another answer, or by the end. */
void		 pathname_forget_info(struct pathname_cache *, struct path *);
void		 path_info_assign(struct pathname_cache *, struct path *,
		    const struct path_info *);

#endif
