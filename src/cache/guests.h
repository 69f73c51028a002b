/*
 * guests: entries of which a client can have as many made as it likes.
 *
 * A guest is in a queue of its own, where the policy looks for no victim.  If
 * all guests have more than a tenth of the cache, the oldest one goes; one that
 * was used since it came becomes an entry like others instead.  So guests that
 * are asked for once evict no more than a tenth.  With s3fifo, which has this
 * rule for all new entries, there are no guests.
 *
 * The path of a guest is like others: more paths of guests than the limit of
 * paths evict those of files that nobody asks for meanwhile.
 */
#ifndef CACHE_GUESTS_H
#define CACHE_GUESTS_H

#include "cache/file.h"

#define GUESTS_SHARE	10	/* of a cache, one part in so many */

/* Makes the file a guest, which counts if its bytes are memory of ours, and all
 * chunks that it will have; to be called before a path refers to the file. */
void	guests_take_file(struct file *);
/* Queues a new entry that is a guest; false: the policy is to queue it. */
bool	guests_add(struct cache *, struct cache_entry *, size_t bytes);
/* A guest that is not held; with over, only if guests have too much.  NULL:
 * none. */
struct cache_entry *guests_victim(struct cache *, bool over);

#endif
