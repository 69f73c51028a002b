/*
 * keep: entries of some files stay in a cache as long as it has others, up to a
 * share of the cache.
 *
 * A kept entry is in a queue of its own, where no policy looks for a victim, so
 * it costs a hit and a search for a victim nothing.  A kept path has a mark
 * that the hand sees.  If the limit of the cache is lowered, entries beyond the
 * share go first.
 */
#ifndef CACHE_KEEP_H
#define CACHE_KEEP_H

#include "cache/pathname.h"

#define KEEP_SHARE	2	/* of a cache, one part in so many */

/* Keeps all chunks that the file will have, up to the share; to be called
 * before a path refers to the file. */
void	keep_file(struct file *);
/* Keeps a held path if it is a file, up to the share; a path counts as several
 * if its name is long. */
void	keep_path(struct pathname_cache *, struct path *);
/* Bytes of a cache, or paths, that are kept. */
size_t	keep_count(const struct cache *);
/* Whether something was not kept since the share is reached; true once. */
bool	keep_take_full(struct cache *);

/* For the caches, under their lock: keeps an entry that is in a queue.  False:
 * the share is reached. */
bool	keep_add(struct cache *, struct cache_entry *, size_t bytes);
/* The same of a chunk, if its file is kept, and up to the share of mappings; a
 * chunk goes. */
void	keep_chunk(struct chunk_cache *, struct chunk *);
void	keep_drop_chunk(struct chunk_cache *, const struct chunk *);
/* A kept entry that is not held; with over, only if there are too many. */
struct cache_entry *keep_victim(const struct cache *, bool over);
/* Whether a path is not to be evicted; a path has another result, or goes. */
bool	keep_holds_path(const struct pathname_cache *, const struct path *);
void	keep_drop_path(struct pathname_cache *, struct path *);

#endif
