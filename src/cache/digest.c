/*
 * digest: the digest of a file, behind its slots; until it is known, its state
 * is a part of the open file.
 *
 * One module with file.c and chunk.c, under their lock.
 */
#include <sys/param.h>

#include "cache/digest.h"
#include "cache/file_private.h"
#include "lib/hash.h"
#include "lib/need.h"

bool
digest_is_known(const struct file *f)
{
	bool	known;

	lock_acquire(f->cache->cache.lock);
	known = f->digested;
	lock_release(f->cache->cache.lock);
	return known;
}

uint64_t
digest_get(const struct file *f)
{
	need(f->has_digest && digest_is_known(f));
	/* A digest that is known does not change. */
	return *file_digest(f);
}

int64_t
digest_next(const struct file *f, uint64_t *length)
{
	int64_t	offset;

	lock_acquire(f->cache->cache.lock);
	need(f->has_digest && f->open_file != NULL);
	offset = f->open_file->digest.done;
	lock_release(f->cache->cache.lock);
	*length = (uint64_t)MIN(f->version.size - offset, DIGEST_SLICE);
	return offset;
}

void
digest_add(struct file *f, int64_t offset, uint64_t sum)
{
	/* The key is no secret: all machines have the same digests. */
	static const struct hash_key	key = { 0, 0 };
	uint64_t			*all = file_digest(f);
	struct open_file		*d;

	lock_acquire(f->cache->cache.lock);
	d = f->open_file;
	if (!f->digested && d != NULL && d->digest.done == offset) {
		*all = hash_bytes(&key, *all, &sum, sizeof(sum));
		d->digest.done += MIN(f->version.size - offset, DIGEST_SLICE);
		f->digested = d->digest.done == f->version.size;
	}
	lock_release(f->cache->cache.lock);
}

int
digest_error(const struct file *f)
{
	int	error;

	lock_acquire(f->cache->cache.lock);
	error = f->open_file != NULL ? f->open_file->digest.error : 0;
	lock_release(f->cache->cache.lock);
	return error;
}

void
digest_set_error(struct file *f, int error)
{
	lock_acquire(f->cache->cache.lock);
	if (f->open_file != NULL)
		f->open_file->digest.error = error;
	lock_release(f->cache->cache.lock);
}

struct task **
digest_task(const struct file *f)
{
	return &f->open_file->digest.task;
}

void
digest_inherit(struct file *f, const struct file *old)
{
	if (!f->has_digest || !old->has_digest)
		return;
	lock_acquire(f->cache->cache.lock);
	if (old->digested) {
		*file_digest(f) = *file_digest(old);
		f->digested = true;
	}
	lock_release(f->cache->cache.lock);
}
