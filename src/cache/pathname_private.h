/*
 * pathname_private: functions of pathname.c and path_info.c for the other file,
 * under their lock, and how a path is found.
 */
#ifndef CACHE_PATHNAME_PRIVATE_H
#define CACHE_PATHNAME_PRIVATE_H

#include "cache/pathname.h"

/* The limit of bytes is this times the limit of entries. */
#define PATHNAME_BYTES	512

struct path_info;

static inline uint32_t
pathname_hash(const struct pathname_cache *pc, uint32_t namespace,
    struct str name)
{
	uint32_t	site = namespace & ((1U << PATHNAME_SITE_BITS) - 1);

	return (uint32_t)hash_bytes(&pc->key, site, name.at, name.len);
}

static inline struct path **
pathname_bucket(const struct pathname_cache *pc, uint32_t hash)
{
	size_t	i = hash & pc->mask;

	/* A bucket that is not there yet is still part of the lower one. */
	return &pc->buckets[i < pc->nbuckets ? i : hash & pc->mask >> 1];
}

/* Bits of the hash that do not choose the bucket. */
static inline uint32_t
pathname_hash_tag(uint32_t hash)
{
	return hash >> 25;
}

/* Finds a path; neither holds it nor counts a hit. */
struct path	*pathname_find(const struct pathname_cache *,
		    uint32_t namespace, struct str name);
/* Records that a path has become absent. */
void		 pathname_note_absent(struct pathname_cache *,
		    const struct path *);
void		 pathname_forget_heads(struct pathname_cache *, struct path *);
/* Drops paths until they are within their limit. */
void		 pathname_trim(struct pathname_cache *);
/* Sets another limit, and returns how much of one is in use, in paths. */
void		 pathname_set_limit(struct pathname_cache *, size_t);
size_t		 pathname_used(const struct pathname_cache *);
/* Keeps heads within their limit; to be called after each new head. */
void		 pathname_evict_heads(struct pathname_cache *);
/* Drops heads and file; the caller sets another result, or frees the path. */
void		 pathname_forget_info(struct pathname_cache *, struct path *);
/* Sets what a path is; takes over the reference to the file. */
void		 path_info_assign(struct pathname_cache *, struct path *,
		    const struct path_info *);

#endif
