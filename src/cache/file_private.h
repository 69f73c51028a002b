/*
 * file_private: what file.c and chunk.c do for each other, who has their lock.
 */
#ifndef CACHE_FILE_PRIVATE_H
#define CACHE_FILE_PRIVATE_H

#include "cache/chunk.h"
#include "cache/file.h"

void		 file_destroy(struct file *);	/* without references */
/* No more need of the descriptor: closed now, or when nobody holds it. */
void		 file_close_fd(struct file *);

/* A small file's only chunk, held, if all of it is there; else NULL. */
struct chunk	*chunk_hold_copy(struct chunk_cache *, struct file *);
/* Drops chunks of a file that nobody holds, from an index on, only so many, in
 * only so many places: the index to go on with. */
uint32_t	 chunk_drop_some(struct chunk_cache *, struct file *,
		    uint32_t from, uint32_t chunks, uint32_t places);
/* All of them. */
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
