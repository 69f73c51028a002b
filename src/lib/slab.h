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

#define SLAB_SIZE_MAX	1024	/* bytes: what is larger is malloc's */
#define SLAB_STEP	8	/* sizes are multiples of that */
/* What is a multiple of that begins at one. */
#define SLAB_ALIGNMENT	32

struct slab_block;

TAILQ_HEAD(slab_blocks, slab_block);

struct slab {
	size_t			 blocks;	/* in use */
	struct slab_blocks	 partial[SLAB_SIZE_MAX / SLAB_STEP];	/* by size,
						 * those with room */
	struct slab_blocks	 empty;		/* in no use */
	char			**regions;	/* what they are made of */
	size_t			 nregions;
	size_t			 carved;		/* blocks of the last one */
};

void	 slab_init(struct slab *);
/* All pieces are back. */
void	 slab_destroy(struct slab *);
/* Not zeroed. */
void	*slab_alloc(struct slab *, size_t);
/* Zeroed, but for a large one not aligned. */
void	*slab_alloc_zero(struct slab *, size_t);
void	 slab_free(struct slab *, void *, size_t);

#endif
