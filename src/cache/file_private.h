/*
 * file_private: functions of file.c and chunk.c for the other file, under their
 * lock.
 */
#ifndef CACHE_FILE_PRIVATE_H
#define CACHE_FILE_PRIVATE_H

#include "cache/chunk.h"
#include "cache/file.h"

/* Bytes of a record without its digest, which stands behind, aligned. */
static inline size_t
file_record_size(uint32_t nchunks)
{
	size_t	size = sizeof(struct file) + nchunks * sizeof(struct chunk *);

	return (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

static inline uint64_t *
file_digest(const struct file *f)
{
	return (uint64_t *)((uintptr_t)f + file_record_size(f->nchunks));
}

/* A hash of a chunk, for samples: consecutive inodes have it spread evenly. */
static inline uint32_t
chunk_hash(const struct file *f, uint32_t slot)
{
	return (uint32_t)((f->version.ino + slot * UINT64_C(0x6a09e667)) *
	    UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Whether the file is too large for the cache (transient.h); what is kept is
 * not. */
static inline bool
file_is_transient(const struct file *f)
{
	return f->version.size > f->cache->admit && !f->kept;
}

/* Ends a file that has no references. */
void		 file_destroy(struct file *);
/* Closes the descriptor, now or when its last hold is released. */
void		 file_close_fd(struct file *);

/* Holds a small file's only chunk if its copy is complete; else NULL. */
struct chunk	*chunk_hold_copy(struct chunk_cache *, struct file *);
/* Drops chunks of a file that are not held, from a slot on: at most so many
 * chunks in at most so many slots.  Returns the slot to go on with. */
uint32_t	 chunk_drop_some(struct chunk_cache *, struct file *,
		    uint32_t from, uint32_t chunks, uint32_t slots);
/* Drops all chunks of a file that are not held. */
void		 chunk_drop_unheld(struct chunk_cache *, struct file *);
/* Drops all chunks of a file; none may be held. */
void		 chunk_drop_all(struct chunk_cache *, struct file *);
/* Whether all of a file is copied, so that it needs no descriptor. */
bool		 chunk_is_complete(const struct file *);

static inline void
file_unrefer(struct file *f)
{
	if (--f->references == 0)
		file_destroy(f);
}

#endif
