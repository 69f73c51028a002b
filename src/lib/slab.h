/*
 * slab: an allocator of small pieces that live long, with blocks for each size.
 *
 * A piece has no header, and pieces do not fragment malloc's heap.  The caller
 * gives a piece's size when freeing it.  A slab that threads share needs a
 * lock.
 */
#ifndef LIB_SLAB_H
#define LIB_SLAB_H

#include <stddef.h>
#include <sys/queue.h>

#define SLAB_SIZE_MAX	1024	/* bytes; larger pieces come from malloc */
#define SLAB_STEP	8	/* sizes are rounded up to a multiple */
/* A piece whose size is a multiple of this begins at one. */
#define SLAB_ALIGNMENT	32

struct slab_block;

TAILQ_HEAD(slab_blocks, slab_block);

struct slab {
	size_t			 blocks;	/* with pieces */
	/* Blocks with room for a piece, by size. */
	struct slab_blocks	 partial[SLAB_SIZE_MAX / SLAB_STEP];
	struct slab_blocks	 empty;		/* blocks without a piece */
	char			**regions;	/* memory of all blocks */
	size_t			 nregions;
	size_t			 carved;	/* blocks of the last region */
};

void	 slab_init(struct slab *);
/* Frees all blocks; every piece must have been freed. */
void	 slab_destroy(struct slab *);
/* The memory is not zeroed.  No memory ends the process, as in mem.h. */
void	*slab_alloc(struct slab *, size_t);
/* The memory is zeroed; above SLAB_SIZE_MAX it is not aligned. */
void	*slab_alloc_zero(struct slab *, size_t);
void	 slab_free(struct slab *, void *, size_t);

#endif
