/*
 * file: versions of files and their descriptors.
 */
#include <sys/param.h>
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/chunk.h"
#include "cache/digest.h"
#include "cache/file.h"
#include "cache/file_private.h"
#include "cache/handover.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"

/* A bound for the memory of the slots: a sparse file can have any size. */
#define FILE_CHUNKS_MAX	(1U << 22)

/* A file of this part of the cache, or less, is copied whole, up to so many
 * bytes. */
#define WHOLE_SHARE	16
#define WHOLE_MAX	(512 * 1024)

/* Chunks that are dropped, and slots that are visited, in one iteration. */
#define SLICE_CHUNKS	128
#define SLICE_SLOTS	65536

static size_t
record_size(uint32_t nchunks, bool digest)
{
	return file_record_size(nchunks) + digest * sizeof(uint64_t);
}

/* The memory that an open file takes beyond its record. */
static size_t
charged_bytes(const struct file *f)
{
	return file_is_made(f) ? (size_t)f->version.size : 0;
}

static void
describe_open_file(const struct cache_entry *e, struct cache_item *item)
{
	const struct file	*f = ((const struct open_file *)e)->file;

	item->bytes = item->whole = charged_bytes(f);
	item->key = f->version.ino;
	item->guest = f->guest;
}

_Static_assert(FILE_CHUNKS_MAX < 1U << 24, "a file has so many bits for them");
_Static_assert(RESIDENT_METHOD_COUNT <= 1 << 3, "and so many for its method");

/* Takes the open file out of the cache: nothing new is read from it. */
static struct open_file *
detach_open_file(struct file *f)
{
	struct open_file	*d = f->open_file;

	cache_remove(&f->cache->cache, &d->entry, charged_bytes(f));
	f->open_file = NULL;
	return d;
}

/* Of a transient file all is given back: the system has read ahead, and has
 * kept what was being sent when its chunk went. */
static void
close_open_file(struct open_file *d)
{
	struct file		*f = d->file;
	struct job_range	 range = { .version = *d->version };

	if (handover_gives_back(f))
		range.length = (uint64_t)f->version.size;
	if (f->small || file_is_made(f))
		close(d->fd);
	else
		handover_fd(f->cache, d->fd, &range);
	free(d);
}

static void
close_now(struct file *f)
{
	if (f->open_file != NULL)
		close_open_file(detach_open_file(f));
}

/* Whether the file may have too many chunks to drop in one iteration. */
static bool
closes_slowly(const struct file *f)
{
	return f->cache->schedule_tidy != NULL && f->nchunks > SLICE_CHUNKS;
}

/* Leaves chunks and descriptor to file_tidy(). */
static void
close_slowly(struct file *f)
{
	struct file_cache	*fc = f->cache;
	struct open_file	*d = detach_open_file(f);

	f->references++;
	TAILQ_INSERT_TAIL(&fc->closing, &d->entry, link);
	fc->schedule_tidy(fc->schedule_context);
}

static void
drop_file(struct cache *c, struct cache_entry *e)
{
	/* The entry is the first member. */
	struct file	*f = ((struct open_file *)e)->file;

	(void)c;
	if (closes_slowly(f)) {
		close_slowly(f);
		return;
	}
	/* Chunks would keep the file, and cannot be read without it. */
	chunk_drop_unheld(f->cache->chunks, f);
	close_now(f);
}

void
file_init(struct file_cache *fc, struct chunk_cache *chunks,
    size_t descriptors, size_t chunk_size, size_t small, int64_t residency)
{
	memset(fc, 0, sizeof(*fc));
	cache_init(&fc->cache, "file", descriptors,
	    chunks->cache.limit_bytes, drop_file);
	fc->cache.describe = describe_open_file;
	slab_init(&fc->slab);
	fc->chunks = chunks;
	fc->chunk_size = chunk_size;
	fc->small = small;
	fc->residency = residency;
	fc->admit = INT64_MAX;
	TAILQ_INIT(&fc->closing);
	STAILQ_INIT(&fc->deferred);
}

void
file_free(struct file_cache *fc)
{
	cache_end(&fc->cache);
	slab_destroy(&fc->slab);
}

static bool
is_small(const struct file_cache *fc, const struct job_version *version)
{
	return (uint64_t)version->size <= fc->small;
}

bool
file_is_copied(const struct file *f)
{
	return f->small || f->method == RESIDENT_COPY;
}

bool
file_is_made(const struct file *f)
{
	return f->made;
}

bool
file_is_unchanged(const struct file *f, bool ctime)
{
	const struct job_version	*v = f->open_file->version;
	struct stat			 st;

	if (file_is_made(f) || f->handle)
		return true;
	/* A failure of the call says nothing about the file. */
	if (io_stat(file_fd(f), &st) == -1)
		return true;
	return st.st_size == v->size && st.st_mtim.tv_sec == v->mtime &&
	    (uint32_t)st.st_mtim.tv_nsec == v->mtime_ns &&
	    (!ctime || st.st_nlink == 0 || (st.st_ctim.tv_sec == v->ctime &&
	    (uint32_t)st.st_ctim.tv_nsec == v->ctime_ns));
}

bool
file_fits(const struct file_cache *fc, const struct job_version *version)
{
	return (uint64_t)version->size / fc->chunk_size < FILE_CHUNKS_MAX;
}

/* Two chunks of a handle's file come in one job no later than the first of them
 * would in two jobs, even if only the number of calls counts.  Main reads the
 * copy in one turn, so it must not be long.  One copy must not evict most
 * others; while clients hold more than the cache may have, or copies that are
 * being made might take half of it, there is none. */
int64_t
file_whole_max(const struct file_cache *fc, size_t copying)
{
	int64_t	most = MIN(WHOLE_MAX,
		    2 * FILE_HANDLE_CHUNKS * (int64_t)fc->chunk_size);
	size_t	limit = fc->chunks->cache.limit_bytes;

	if (limit != 0)
		most = MIN(most, (int64_t)(limit / WHOLE_SHARE));
	if ((limit != 0 && copying + (size_t)most > limit / 2) ||
	    chunk_is_over(fc->chunks))
		return 0;
	return MIN(most, fc->admit);
}

/* A small file has one chunk, an empty one none. */
static uint32_t
count_chunks(const struct file *f)
{
	uint64_t	size = (uint64_t)f->version.size;

	if (size == 0 || f->small)
		return size != 0;
	return (uint32_t)((size - 1) / file_chunk_size(f) + 1);
}

/* Counts the method of a file; true: log it, once for each device and method.
 * */
static bool
count_method(const struct file *f, uint64_t dev)
{
	struct file_cache	*fc = f->cache;
	unsigned		 i;

	fc->methods[f->method]++;
	if (file_is_made(f))
		return false;
	for (i = 0; i < fc->nreported; i++)
		if (fc->reported[i].dev == dev &&
		    fc->reported[i].method == f->method)
			return false;
	if (i == FILE_SYSTEMS_MAX)
		return false;
	fc->reported[i].dev = dev;
	fc->reported[i].method = f->method;
	fc->nreported++;
	return true;
}

static void
add_open_file(struct file *f)
{
	struct file_cache	*fc = f->cache;
	struct cache_entry	*e = &f->open_file->entry;

	cache_add(&fc->cache, e, charged_bytes(f));
	if (f->nchunks == 0)
		file_close_fd(f);
	else {
		cache_hold_again(e);		/* the new one is no victim */
		cache_trim(&fc->cache);
		cache_release(e);
	}
}

static struct open_file *
new_open_file(struct file *f, int fd, const struct job_version *kept)
{
	bool			 is_kept = kept->ino != 0;
	struct open_file	*d = mem_zero(sizeof(*d) +
				    is_kept * sizeof(*kept));

	d->file = f;
	d->fd = fd;
	d->read_end = f->nchunks;
	d->version = &f->version;
	if (is_kept) {
		d->cached[0] = *kept;
		d->version = d->cached;
	}
	return d;
}

static struct file *
new_file(struct file_cache *fc, int fd, const struct job_version *version,
    const struct job_facts *facts, bool digest)
{
	struct file	 head = {
		.cache = fc, .references = 1, .version = *version,
		.small = facts->copy || is_small(fc, version),
		.strong = facts->strong,
		.handle = facts->handle, .made = !S_ISREG(facts->mode),
		.has_digest = digest
	};
	uint64_t	 dev;
	struct file	*f;
	bool		 is_new;

	need(fd != -1 && version->size >= 0 && file_fits(fc, version));
	head.nchunks = count_chunks(&head);
	lock_acquire(fc->cache.lock);
	f = slab_alloc_zero(&fc->slab, record_size(head.nchunks, digest));
	lock_release(fc->cache.lock);
	*f = head;
	f->digested = version->size == 0;
	f->open_file = new_open_file(f, fd, &facts->cached);
	dev = f->open_file->version->dev;
	f->method = (uint8_t)residency_choose(fc->residency, f, facts);
	f->open_file->trust_ms = f->method == RESIDENT_NOWAIT ?
	    RESIDENT_VERIFIED : RESIDENT_PREDICTED;
	lock_acquire(fc->cache.lock);
	is_new = count_method(f, dev);
	add_open_file(f);
	lock_release(fc->cache.lock);
	if (is_new)
		log_debug("device %llu: residency method %s",
		    (unsigned long long)dev, residency_name(f->method));
	return f;
}

struct file *
file_new(struct file_cache *fc, int fd, const struct job_version *version,
    const struct job_facts *facts)
{
	return new_file(fc, fd, version, facts, false);
}

struct file *
file_new_with_digest(struct file_cache *fc, int fd,
    const struct job_version *version, const struct job_facts *facts)
{
	return new_file(fc, fd, version, facts, true);
}

void
file_destroy(struct file *f)
{
	if (f->open_file != NULL && closes_slowly(f)) {
		close_slowly(f);
		return;
	}
	chunk_drop_all(f->cache->chunks, f);
	close_now(f);
	slab_free(&f->cache->slab, f, record_size(f->nchunks, f->has_digest));
}

struct file *
file_refer(struct file *f)
{
	lock_acquire(f->cache->cache.lock);
	f->references++;
	lock_release(f->cache->cache.lock);
	return f;
}

static LOCKED void
drop_locked(struct file *f)
{
	struct lock	*lock = f->cache->cache.lock;

	lock_acquire(lock);
	file_unrefer(f);
	lock_release(lock);		/* the lock outlives the file */
}

void
file_drop(struct file **fp)
{
	struct file	*f = *fp;

	*fp = NULL;
	if (f == NULL)
		return;
	if (f->cache->cache.lock != NULL)
		drop_locked(f);
	else
		file_unrefer(f);
}

static inline enum file_source
hold_source(struct file *f, struct chunk **kp)
{
	f->references++;
	if (f->open_file != NULL) {
		cache_hold(&f->open_file->entry);
		return FILE_OPEN;
	}
	if (f->nchunks == 0)
		return FILE_COPIED;
	*kp = chunk_hold_copy(f->cache->chunks, f);
	return *kp != NULL ? FILE_COPIED : FILE_LOST;
}

static LOCKED enum file_source
hold_source_locked(struct file *f, struct chunk **kp)
{
	enum file_source	result;

	lock_acquire(f->cache->cache.lock);
	result = hold_source(f, kp);
	lock_release(f->cache->cache.lock);
	return result;
}

enum file_source
file_hold_source(struct file *f, struct chunk **kp)
{
	return f->cache->cache.lock != NULL ? hold_source_locked(f, kp) :
	    hold_source(f, kp);
}

void
file_set_outdated(struct file *f)
{
	struct open_file	*d;

	lock_acquire(f->cache->cache.lock);
	d = f->open_file;
	if (d != NULL)
		d->outdated = d->version != &f->version;
	lock_release(f->cache->cache.lock);
}

bool
file_is_sendable(const struct file *f)
{
	bool	lasts;

	lock_acquire(f->cache->cache.lock);
	lasts = (f->open_file != NULL && !f->open_file->outdated) ||
	    chunk_is_complete(f);
	lock_release(f->cache->cache.lock);
	return lasts;
}

static bool
tidy_closing(struct file_cache *fc)
{
	struct cache_entry	*e = TAILQ_FIRST(&fc->closing);
	struct open_file	*d = (struct open_file *)e;
	struct file		*f;

	if (d == NULL)
		return false;
	f = d->file;
	d->ndropped = chunk_drop_some(fc->chunks, f, d->ndropped, SLICE_CHUNKS,
	    SLICE_SLOTS);
	if (d->ndropped < f->nchunks)
		return true;
	TAILQ_REMOVE(&fc->closing, &d->entry, link);
	close_open_file(d);
	file_unrefer(f);
	return !TAILQ_EMPTY(&fc->closing);
}

bool
file_tidy(struct file_cache *fc, void *context)
{
	bool	more;

	lock_acquire(fc->cache.lock);
	more = tidy_closing(fc);
	lock_release(fc->cache.lock);
	handover_flush(fc, context);
	return more;
}

int
file_hold(struct file *f)
{
	int	fd;

	lock_acquire(f->cache->cache.lock);
	fd = file_fd(f);
	/* A job is no use: its request has counted as one. */
	if (fd != -1)
		cache_hold_again(&f->open_file->entry);
	lock_release(f->cache->cache.lock);
	return fd;
}

void
file_release(struct file *f)
{
	struct open_file	*d;

	lock_acquire(f->cache->cache.lock);
	d = f->open_file;
	if (d != NULL) {
		cache_release(&d->entry);
		if (d->close_on_release)
			file_close_fd(f);
	}
	lock_release(f->cache->cache.lock);
}

void
file_close_fd(struct file *f)
{
	struct open_file	*d = f->open_file;

	if (d == NULL)
		return;
	d->close_on_release = d->entry.holds > 0;
	if (!d->close_on_release)
		close_now(f);
}

bool
file_set_warned(struct file *f)
{
	bool	before;

	lock_acquire(f->cache->cache.lock);
	before = f->warned;
	f->warned = true;
	lock_release(f->cache->cache.lock);
	return !before;
}

void
file_inherit_warned(struct file *f, const struct file *old)
{
	lock_acquire(f->cache->cache.lock);
	f->warned = old->warned;
	lock_release(f->cache->cache.lock);
}

void
file_set_no_sendfile(struct file *f)
{
	lock_acquire(f->cache->cache.lock);
	if (f->open_file != NULL)
		f->open_file->no_sendfile = true;
	lock_release(f->cache->cache.lock);
}
