/*
 * slab: carves pieces of one size out of a block.
 */
#include <sys/mman.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/slab.h"

/* A block begins at a multiple of this power of two, so a piece's address gives
 * its block.  The part that is not carved yet uses no memory. */
#define BLOCK_BYTES	((size_t)64 * 1024)

/* Blocks come from regions, which stay mapped.  A region is one mapping: the
 * system limits their number, and the file cache needs most of them. */
#define REGION_BYTES	(16 * BLOCK_BYTES)

struct slab_block {
	TAILQ_ENTRY(slab_block)	 link;		/* in partial or empty */
	void			*free_list;	/* freed pieces; each begins
						 * with the next's address */
	uint32_t		 carved;	/* pieces, ever */
	uint32_t		 used;		/* pieces, now */
	uint32_t		 size;		/* bytes of a piece */
	uint32_t		 capacity;	/* pieces */
};

#define HEADER_BYTES	((sizeof(struct slab_block) + SLAB_ALIGNMENT - 1) / \
	SLAB_ALIGNMENT * SLAB_ALIGNMENT)

static size_t
round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static struct slab_blocks *
partial_of(struct slab *slab, size_t size)
{
	return &slab->partial[size / SLAB_STEP - 1];
}

static bool
is_small(size_t size)
{
	/* AddressSanitizer finds use after free in malloc's pieces only. */
	return !COMPILER_ASAN && size <= SLAB_SIZE_MAX;
}

/* An aligned piece costs more, as malloc splits a larger chunk for it. */
static void *
alloc_large(size_t size)
{
	void	*p;

	if (size % SLAB_ALIGNMENT != 0)
		return mem_get(size);
	p = aligned_alloc(SLAB_ALIGNMENT, size);
	if (p == NULL)
		fatal("no memory for %zu bytes", size);
	return p;
}

/* Maps one block more than needed, so that an aligned region is within. */
static char *
map_region(void)
{
	char	*p = mmap(NULL, REGION_BYTES + BLOCK_BYTES,
		    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t	 before = -(uintptr_t)p % BLOCK_BYTES;

	if (p == MAP_FAILED)
		fatal("no memory for %zu bytes", REGION_BYTES + BLOCK_BYTES);
	if (before > 0)
		munmap(p, before);
	munmap(p + before + REGION_BYTES, BLOCK_BYTES - before);
	return p + before;
}

static void
add_region(struct slab *slab)
{
	slab->regions = mem_grow(slab->regions, slab->nregions + 1,
	    sizeof(slab->regions[0]));
	slab->regions[slab->nregions++] = map_region();
	slab->carved = 0;
}

static struct slab_block *
take_empty_block(struct slab *slab)
{
	struct slab_block	*b = TAILQ_FIRST(&slab->empty);

	if (b != NULL) {
		TAILQ_REMOVE(&slab->empty, b, link);
		return b;
	}
	if (slab->nregions == 0 || slab->carved == REGION_BYTES / BLOCK_BYTES)
		add_region(slab);
	return (struct slab_block *)(void *)
	    (slab->regions[slab->nregions - 1] + BLOCK_BYTES * slab->carved++);
}

static struct slab_block *
block_new(struct slab *slab, size_t size)
{
	struct slab_block	*b = take_empty_block(slab);

	memset(b, 0, sizeof(*b));
	b->size = (uint32_t)size;
	b->capacity = (uint32_t)((BLOCK_BYTES - HEADER_BYTES) / size);
	TAILQ_INSERT_HEAD(partial_of(slab, size), b, link);
	slab->blocks++;
	return b;
}

static void
block_free(struct slab *slab, struct slab_block *b)
{
	TAILQ_REMOVE(partial_of(slab, b->size), b, link);
	slab->blocks--;
	(void)madvise(b, BLOCK_BYTES, MADV_DONTNEED);
	TAILQ_INSERT_HEAD(&slab->empty, b, link);
}

void
slab_init(struct slab *slab)
{
	memset(slab, 0, sizeof(*slab));
	TAILQ_INIT(&slab->empty);
	for (size_t i = 0; i < SLAB_SIZE_MAX / SLAB_STEP; i++)
		TAILQ_INIT(&slab->partial[i]);
}

static void *
carve_piece(struct slab_block *b)
{
	void	*p = b->free_list;

	if (p == NULL)
		return (char *)b + HEADER_BYTES + (size_t)b->size * b->carved++;
	b->free_list = *(void **)p;
	return p;
}

void *
slab_alloc(struct slab *slab, size_t size)
{
	struct slab_block	*b;

	need(size > 0);
	if (!is_small(size))
		return alloc_large(size);
	size = round_up(size, SLAB_STEP);
	b = TAILQ_FIRST(partial_of(slab, size));
	if (b == NULL)
		b = block_new(slab, size);
	if (++b->used == b->capacity)
		TAILQ_REMOVE(partial_of(slab, size), b, link);
	return carve_piece(b);
}

void *
slab_alloc_zero(struct slab *slab, size_t size)
{
	return is_small(size) ? memset(slab_alloc(slab, size), 0, size) :
	    mem_zero(size);
}

/* Whether an empty block may be freed.  The last one with room stays, since the
 * next allocation would need it again. */
static bool
may_free_block(struct slab *slab, const struct slab_block *b)
{
	return b->used == 0 && (TAILQ_NEXT(b, link) != NULL ||
	    TAILQ_FIRST(partial_of(slab, b->size)) != b);
}

void
slab_free(struct slab *slab, void *p, size_t size)
{
	struct slab_block	*b;

	if (!is_small(size)) {
		free(p);
		return;
	}
	size = round_up(size, SLAB_STEP);
	b = (struct slab_block *)(void *)((char *)p -
					  (uintptr_t)p % BLOCK_BYTES);
	need(b->size == size && b->used > 0);
	if (b->used-- == b->capacity)
		TAILQ_INSERT_HEAD(partial_of(slab, size), b, link);
	*(void **)p = b->free_list;
	b->free_list = p;
	if (may_free_block(slab, b))
		block_free(slab, b);
}

void
slab_destroy(struct slab *slab)
{
	struct slab_block	*b;

	for (size_t i = 0; i < SLAB_SIZE_MAX / SLAB_STEP; i++)
		while ((b = TAILQ_FIRST(&slab->partial[i])) != NULL) {
			need(b->used == 0);
			block_free(slab, b);
		}
	need(slab->blocks == 0);
	TAILQ_INIT(&slab->empty);
	for (size_t i = 0; i < slab->nregions; i++)
		munmap(slab->regions[i], REGION_BYTES);
	slab->nregions = 0;
	mem_drop(&slab->regions);
}
