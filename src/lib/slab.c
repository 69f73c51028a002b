/*
 * slab: pieces of one size, cut out of blocks.
 */
#include <sys/mman.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/slab.h"

/* Who looks for the use of what was given back is to see each piece. */
#ifdef __SANITIZE_ADDRESS__
#define WATCHED	true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED	true
#endif
#endif
#ifndef WATCHED
#define WATCHED	false
#endif

/* A power of two, at a multiple of which it begins: so a piece tells its block.
 * What has not been cut yet costs nothing. */
#define BLOCK	((size_t)64 * 1024)

/* Blocks come from regions, which stay: each is a mapping, of which the system
 * allows so many for a process, and files want most of them. */
#define REGION	(16 * BLOCK)

struct pool_block {
	TAILQ_ENTRY(pool_block)	 link;		/* if it has room */
	void			*back;		/* given back, each has the
						 * address of the next */
	uint32_t		 cut;		/* pieces so far */
	uint32_t		 used;
	uint32_t		 size;		/* of one */
	uint32_t		 most;		/* pieces */
};

#define HEAD	((sizeof(struct pool_block) + POOL_ALIGNMENT - 1) /	\
	POOL_ALIGNMENT * POOL_ALIGNMENT)

static size_t
rounded(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static struct pool_blocks *
room(struct pool *pool, size_t size)
{
	return &pool->rooms[size / POOL_STEP - 1];
}

static bool
is_ours(size_t size)
{
	return !WATCHED && size <= POOL_MOST;
}

/* An aligned one costs more: malloc has to cut it out of a larger. */
static void *
large(size_t size)
{
	void	*p;

	if (size % POOL_ALIGNMENT != 0)
		return mem_get(size);
	p = aligned_alloc(POOL_ALIGNMENT, size);
	if (p == NULL)
		fatal("no memory for %zu bytes", size);
	return p;
}

/* So much more has one in it that begins at the right place. */
static char *
map_region(void)
{
	char	*p = mmap(NULL, REGION + BLOCK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t	 before = -(uintptr_t)p % BLOCK;

	if (p == MAP_FAILED)
		fatal("no memory for %zu bytes", REGION + BLOCK);
	if (before > 0)
		munmap(p, before);
	munmap(p + before + REGION, BLOCK - before);
	return p + before;
}

static void
add_region(struct pool *pool)
{
	pool->regions = mem_grow(pool->regions, pool->nregions + 1,
	    sizeof(pool->regions[0]));
	pool->regions[pool->nregions++] = map_region();
	pool->made = 0;
}

static struct pool_block *
make_block(struct pool *pool)
{
	struct pool_block	*b = TAILQ_FIRST(&pool->spare);

	if (b != NULL) {
		TAILQ_REMOVE(&pool->spare, b, link);
		return b;
	}
	if (pool->nregions == 0 || pool->made == REGION / BLOCK)
		add_region(pool);
	return (struct pool_block *)(void *)
	    (pool->regions[pool->nregions - 1] + BLOCK * pool->made++);
}

static struct pool_block *
block_new(struct pool *pool, size_t size)
{
	struct pool_block	*b = make_block(pool);

	memset(b, 0, sizeof(*b));
	b->size = (uint32_t)size;
	b->most = (uint32_t)((BLOCK - HEAD) / size);
	TAILQ_INSERT_HEAD(room(pool, size), b, link);
	pool->blocks++;
	return b;
}

static void
block_free(struct pool *pool, struct pool_block *b)
{
	TAILQ_REMOVE(room(pool, b->size), b, link);
	pool->blocks--;
	(void)madvise(b, BLOCK, MADV_DONTNEED);
	TAILQ_INSERT_HEAD(&pool->spare, b, link);
}

void
pool_init(struct pool *pool)
{
	memset(pool, 0, sizeof(*pool));
	TAILQ_INIT(&pool->spare);
	for (size_t i = 0; i < POOL_MOST / POOL_STEP; i++)
		TAILQ_INIT(&pool->rooms[i]);
}

static void *
cut(struct pool_block *b)
{
	void	*p = b->back;

	if (p == NULL)
		return (char *)b + HEAD + (size_t)b->size * b->cut++;
	b->back = *(void **)p;
	return p;
}

void *
pool_get(struct pool *pool, size_t size)
{
	struct pool_block	*b;

	need(size > 0);
	if (!is_ours(size))
		return large(size);
	size = rounded(size, POOL_STEP);
	b = TAILQ_FIRST(room(pool, size));
	if (b == NULL)
		b = block_new(pool, size);
	if (++b->used == b->most)
		TAILQ_REMOVE(room(pool, size), b, link);
	return cut(b);
}

void *
pool_zero(struct pool *pool, size_t size)
{
	return is_ours(size) ? memset(pool_get(pool, size), 0, size) :
	    mem_zero(size);
}

/* One that is empty goes, unless it alone has room: else it would soon come
 * again. */
static bool
may_go(struct pool *pool, const struct pool_block *b)
{
	return b->used == 0 && (TAILQ_NEXT(b, link) != NULL ||
	    TAILQ_FIRST(room(pool, b->size)) != b);
}

void
pool_put(struct pool *pool, void *p, size_t size)
{
	struct pool_block	*b;

	if (!is_ours(size)) {
		free(p);
		return;
	}
	size = rounded(size, POOL_STEP);
	b = (struct pool_block *)(void *)((char *)p - (uintptr_t)p % BLOCK);
	need(b->size == size && b->used > 0);
	if (b->used-- == b->most)
		TAILQ_INSERT_HEAD(room(pool, size), b, link);
	*(void **)p = b->back;
	b->back = p;
	if (may_go(pool, b))
		block_free(pool, b);
}

void
pool_end(struct pool *pool)
{
	struct pool_block	*b;

	for (size_t i = 0; i < POOL_MOST / POOL_STEP; i++)
		while ((b = TAILQ_FIRST(&pool->rooms[i])) != NULL) {
			need(b->used == 0);
			block_free(pool, b);
		}
	need(pool->blocks == 0);
	TAILQ_INIT(&pool->spare);
	for (size_t i = 0; i < pool->nregions; i++)
		munmap(pool->regions[i], REGION);
	pool->nregions = 0;
	mem_drop(&pool->regions);
}
