/*
 * slab: many small pieces of memory that stay for long, each size in blocks of
 * its own: nothing stands between them, and what comes and goes elsewhere does
 * not break up what they are made of.
 *
 * Who gives a piece back knows how large it was.  Not for several threads
 * without a lock.
 */
#ifndef LIB_SLAB_H
#define LIB_SLAB_H

#include <stddef.h>
#include <sys/queue.h>

#define POOL_MOST	1024	/* bytes: what is larger is malloc's */
#define POOL_STEP	8	/* sizes are multiples of that */
/* What is a multiple of that begins at one. */
#define POOL_ALIGNMENT	32

struct pool_block;

TAILQ_HEAD(pool_blocks, pool_block);

struct pool {
	size_t			 blocks;	/* in use */
	struct pool_blocks	 rooms[POOL_MOST / POOL_STEP];	/* by size,
						 * those with room */
	struct pool_blocks	 spare;		/* in no use */
	char			**regions;	/* what they are made of */
	size_t			 nregions;
	size_t			 made;		/* blocks of the last one */
};

void	 pool_init(struct pool *);
/* All pieces are back. */
void	 pool_end(struct pool *);
/* Not zeroed. */
void	*pool_get(struct pool *, size_t);
/* Zeroed, but for a large one not aligned. */
void	*pool_zero(struct pool *, size_t);
void	 pool_put(struct pool *, void *, size_t);

#endif
