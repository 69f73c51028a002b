/*
 * transient: the queue of transient chunks, and what is given back.
 */
#include <sys/param.h>

#include "cache/file_private.h"
#include "cache/handover.h"
#include "cache/policy.h"
#include "cache/transient.h"

/* Bytes that are given back at once, when no chunk of them is there any more.
 * The system drops a page only if all of it is given back at once, and it reads
 * ahead into aligned pages of up to so many bytes. */
#define STRETCH_BYTES	((size_t)2 * 1024 * 1024)

/* Chunks behind one that is held, whose client is about to take them. */
#define AHEAD		4

static size_t
size_of(const struct chunk *k)
{
	return sizeof(*k) + chunk_len(k);
}

bool
transient_add(struct chunk_cache *cc, struct chunk *k)
{
	struct transients	*t = &cc->transients;

	if (!file_is_transient(k->file))
		return false;
	k->entry.holds = 0;
	k->entry.uses = 0;
	cache_charge(&cc->cache, size_of(k));
	TAILQ_INSERT_TAIL(&t->queue, &k->entry, link);
	t->bytes += size_of(k);
	t->chunks++;
	return true;
}

bool
transient_remove(struct chunk_cache *cc, struct chunk *k)
{
	struct transients	*t = &cc->transients;

	if (!file_is_transient(k->file))
		return false;
	TAILQ_REMOVE(&t->queue, &k->entry, link);
	t->bytes -= size_of(k);
	cache_uncharge(&cc->cache, size_of(k));
	return true;
}

/* Whether chunks of these slots are held, or one just before them. */
static bool
is_awaited(const struct file *f, uint32_t slot, uint32_t end)
{
	for (slot -= MIN(slot, AHEAD); slot < end; slot++)
		if (f->chunks[slot] != NULL && f->chunks[slot]->entry.holds > 0)
			return true;
	return false;
}

static bool
is_empty(const struct file *f, uint32_t slot, uint32_t end)
{
	while (slot < end && f->chunks[slot] == NULL)
		slot++;
	return slot == end;
}

/* Drops a chunk; gives its stretch back if that was the last one. */
static void
drop_chunk(struct chunk_cache *cc, struct chunk *k)
{
	struct file	*f = k->file;
	size_t		 size = f->cache->chunk_size;
	uint32_t	 n = (uint32_t)MAX(STRETCH_BYTES / size, 1);
	uint32_t	 first = chunk_slot(k) / n * n;
	uint32_t	 end = MIN(first + n, f->nchunks);
	int64_t		 at = (int64_t)first * (int64_t)size;

	cc->cache.drop(&cc->cache, &k->entry);
	if (is_empty(f, first, end) && !is_awaited(f, first, end))
		handover_range(f, at, MIN((end - first) * size,
		    (uint64_t)(f->version.size - at)));
}

/* Whether transient chunks have more than their part. */
static bool
is_over(const struct chunk_cache *cc, size_t chunk_size)
{
	size_t	bytes = cc->cache.limit_bytes, mappings = cc->limit_mappings;
	size_t	used = cc->transients.bytes;

	return (bytes != 0 && used > bytes / TRANSIENT_SHARE) ||
	    (mappings != 0 && used / chunk_size > mappings / TRANSIENT_SHARE);
}

void
transient_trim(struct chunk_cache *cc)
{
	struct transients	*t = &cc->transients;
	struct cache_entry	*e;
	struct chunk		*k;

	for (unsigned left = POLICY_CHANCES; left > 0 &&
	    (e = TAILQ_FIRST(&t->queue)) != NULL; left--) {
		k = (struct chunk *)e;
		if (!is_over(cc, k->file->cache->chunk_size))
			break;
		if (!is_awaited(k->file, chunk_slot(k), chunk_slot(k) + 1))
			drop_chunk(cc, k);
		else {
			TAILQ_REMOVE(&t->queue, e, link);
			TAILQ_INSERT_TAIL(&t->queue, e, link);
		}
	}
}

bool
transient_may_wait(const struct chunk_cache *cc, const struct file *f)
{
	bool	may;

	lock_acquire(cc->cache.lock);
	may = file_is_transient(f) && !is_over(cc, f->cache->chunk_size);
	lock_release(cc->cache.lock);
	return may;
}
