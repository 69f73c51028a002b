/*
 * file: versions of files and their descriptors.
 */
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/chunk.h"
#include "cache/file.h"
#include "cache/file_private.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"

/* Their slots take memory, and a sparse file has any number of them. */
#define FILE_CHUNKS_MOST	(1U << 22)

/* Pieces, or places for some, that are dropped in one turn. */
#define TURN_PIECES	128
#define TURN_PLACES	65536

static size_t
size_of(uint32_t nchunks)
{
	return sizeof(struct file) + nchunks * sizeof(struct chunk *);
}

/* What an open descriptor keeps in memory that nothing else does. */
static size_t
weight(const struct file *f)
{
	return file_is_made(f) ? (size_t)f->version.size : 0;
}

_Static_assert(FILE_CHUNKS_MOST < 1U << 24, "a file has so many bits for them");

/* What was the descriptor of a file that has gone. */
struct file_left {
	STAILQ_ENTRY(file_left)	 link;
	int			 fd;
	struct job_version	 version;
};

/* Takes the descriptor out: nothing new is made from this file. */
static struct descriptor *
take_out(struct file *f)
{
	struct descriptor	*d = f->descriptor;

	cache_remove(&f->cache->cache, &d->entry, weight(f));
	f->descriptor = NULL;
	return d;
}

/* A close may take long, and is not to be waited for under the lock. */
static void
leave(struct file *f, int fd, const struct job_version *version)
{
	struct file_cache	*fc = f->cache;
	struct file_left	*left;

	if (fc->nleft >= fc->left_most) {
		close(fd);
		return;
	}
	left = mem_zero(sizeof(*left));
	left->fd = fd;
	left->version = *version;
	STAILQ_INSERT_TAIL(&fc->left, left, link);
	fc->nleft++;
	fc->later(fc->later_context);
}

static void
let_go(struct descriptor *d)
{
	struct file		*f = d->file;
	struct file_cache	*fc = f->cache;
	int			 fd = d->fd;

	if (f->small || file_is_made(f))
		close(fd);
	else if (fc->cache.lock != NULL)
		leave(f, fd, d->version);
	else if (fc->give != NULL)
		fc->give(fc->give_context, fd, d->version);
	else
		close(fd);
	free(d);
}

static void
close_now(struct file *f)
{
	if (f->descriptor != NULL)
		let_go(take_out(f));
}

/* Whether its pieces may be too many for one turn. */
static bool
takes_turns(const struct file *f)
{
	return f->cache->later != NULL && f->nchunks > TURN_PIECES;
}

/* Piece by piece, and its descriptor last. */
static void
close_slowly(struct file *f)
{
	struct file_cache	*fc = f->cache;
	struct descriptor	*d = take_out(f);

	f->references++;
	TAILQ_INSERT_TAIL(&fc->going, &d->entry, queue);
	fc->later(fc->later_context);
}

static void
drop(struct cache *c, struct cache_entry *e)
{
	/* A descriptor starts with its entry. */
	struct file	*f = ((struct descriptor *)e)->file;

	(void)c;
	if (takes_turns(f)) {
		close_slowly(f);
		return;
	}
	/* They would keep the file, and are of no use without it. */
	chunk_drop_unheld(f->cache->chunks, f);
	close_now(f);
}

void
file_init(struct file_cache *fc, struct chunk_cache *chunks,
    size_t descriptors, size_t chunk_size, size_t small, int64_t residency)
{
	memset(fc, 0, sizeof(*fc));
	cache_init(&fc->cache, "descriptor", descriptors,
	    chunks->cache.limit_bytes, drop);
	pool_init(&fc->pool);
	fc->chunks = chunks;
	fc->chunk_size = chunk_size;
	fc->small = small;
	fc->residency = residency;
	TAILQ_INIT(&fc->going);
	STAILQ_INIT(&fc->left);
}

void
file_free(struct file_cache *fc)
{
	pool_end(&fc->pool);
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
file_stands(const struct file *f, bool ctime)
{
	const struct job_version	*v = f->descriptor->version;
	struct stat			 st;

	if (file_is_made(f) || f->handle)
		return true;
	/* A system that cannot be asked so says nothing about the file. */
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
	return (uint64_t)version->size / fc->chunk_size < FILE_CHUNKS_MOST;
}

/* How many chunks; a small file is one, an empty one none. */
static uint32_t
count_chunks(const struct file_cache *fc, const struct job_version *version)
{
	uint64_t	size = (uint64_t)version->size;

	if (size == 0 || is_small(fc, version))
		return size != 0;
	return (uint32_t)((size + fc->chunk_size - 1) / fc->chunk_size);
}

/* Counts the method; whether it is to be said, once for each file system of
 * others. */
static bool
count_method(const struct file *f, uint64_t dev)
{
	struct file_cache	*fc = f->cache;
	unsigned		 i;

	fc->methods[f->method]++;
	if (file_is_made(f))
		return false;
	for (i = 0; i < fc->ntold; i++)
		if (fc->told[i].dev == dev && fc->told[i].method == f->method)
			return false;
	if (i == FILE_SYSTEMS)
		return false;
	fc->told[i].dev = dev;
	fc->told[i].method = f->method;
	fc->ntold++;
	return true;
}

static void
enter(struct file *f)
{
	struct file_cache	*fc = f->cache;
	struct cache_entry	*e = &f->descriptor->entry;

	cache_add(&fc->cache, e, weight(f));
	if (f->nchunks == 0)
		file_shut(f);
	else {
		cache_hold(e);			/* not the newcomer itself */
		cache_trim(&fc->cache);
		cache_release(e);
	}
}

static struct descriptor *
descriptor_new(struct file *f, int fd, const struct job_version *kept)
{
	bool			 is_kept = kept->ino != 0;
	struct descriptor	*d = mem_zero(sizeof(*d) +
				    is_kept * sizeof(*kept));

	d->file = f;
	d->fd = fd;
	d->ahead = f->nchunks;
	d->version = &f->version;
	if (is_kept) {
		d->kept[0] = *kept;
		d->version = d->kept;
	}
	return d;
}

struct file *
file_new(struct file_cache *fc, int fd, const struct job_version *version,
    const struct job_facts *facts)
{
	uint32_t	 nchunks;
	uint64_t	 dev;
	struct file	*f;
	bool		 tell;

	need(fd != -1 && version->size >= 0 && file_fits(fc, version));
	nchunks = count_chunks(fc, version);
	lock_take(fc->cache.lock);
	f = pool_zero(&fc->pool, size_of(nchunks));
	lock_release(fc->cache.lock);
	f->cache = fc;
	f->references = 1;
	f->version = *version;
	f->small = is_small(fc, version);
	f->settled = facts->strong;
	f->handle = facts->handle;
	f->made = !S_ISREG(facts->mode);
	f->nchunks = nchunks;
	f->descriptor = descriptor_new(f, fd, &facts->cached);
	dev = f->descriptor->version->dev;
	f->method = (uint8_t)residency_choose(fc->residency, f, facts);
	f->descriptor->trust = f->method == RESIDENT_NOWAIT
				   ? RESIDENT_VERIFIED
				   : RESIDENT_PREDICTED;
	lock_take(fc->cache.lock);
	tell = count_method(f, dev);
	enter(f);
	lock_release(fc->cache.lock);
	if (tell)
		log_info("device %llu: whether files are in memory is found "
		    "out by %s", (unsigned long long)dev,
		    residency_name(f->method));
	return f;
}

void
file_end(struct file *f)
{
	if (f->descriptor != NULL && takes_turns(f)) {
		close_slowly(f);
		return;
	}
	chunk_drop_all(f->cache->chunks, f);
	close_now(f);
	pool_put(&f->cache->pool, f, size_of(f->nchunks));
}

struct file *
file_refer(struct file *f)
{
	lock_take(f->cache->cache.lock);
	f->references++;
	lock_release(f->cache->cache.lock);
	return f;
}

static LOCKED void
drop_locked(struct file *f)
{
	struct lock	*lock = f->cache->cache.lock;

	lock_take(lock);
	file_unrefer(f);
	lock_release(lock);		/* which outlives it */
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
take(struct file *f, struct chunk **kp)
{
	f->references++;
	if (f->descriptor != NULL) {
		cache_hold(&f->descriptor->entry);
		return FILE_OPEN;
	}
	if (f->nchunks == 0)
		return FILE_COPIED;
	*kp = chunk_hold_copy(f->cache->chunks, f);
	return *kp != NULL ? FILE_COPIED : FILE_LOST;
}

static LOCKED enum file_source
take_locked(struct file *f, struct chunk **kp)
{
	enum file_source	result;

	lock_take(f->cache->cache.lock);
	result = take(f, kp);
	lock_release(f->cache->cache.lock);
	return result;
}

enum file_source
file_take(struct file *f, struct chunk **kp)
{
	return f->cache->cache.lock != NULL ? take_locked(f, kp) :
	    take(f, kp);
}

void
file_spoil(struct file *f)
{
	struct descriptor	*d;

	lock_take(f->cache->cache.lock);
	d = f->descriptor;
	if (d != NULL)
		d->spoilt = d->version != &f->version;
	lock_release(f->cache->cache.lock);
}

bool
file_lasts(const struct file *f)
{
	bool	lasts;

	lock_take(f->cache->cache.lock);
	lasts = (f->descriptor != NULL && !f->descriptor->spoilt) ||
	    chunk_is_complete(f);
	lock_release(f->cache->cache.lock);
	return lasts;
}

static bool
tidy(struct file_cache *fc)
{
	struct cache_entry	*e = TAILQ_FIRST(&fc->going);
	struct descriptor	*d = (struct descriptor *)e;
	struct file		*f;

	if (d == NULL)
		return false;
	f = d->file;
	d->gone = chunk_drop_some(fc->chunks, f, d->gone, TURN_PIECES,
	    TURN_PLACES);
	if (d->gone < f->nchunks)
		return true;
	TAILQ_REMOVE(&fc->going, &d->entry, queue);
	let_go(d);
	file_unrefer(f);
	return !TAILQ_EMPTY(&fc->going);
}

/* Out of the list, as it is done without the lock. */
static void
give_left(struct file_cache *fc, struct file_left *left, void *context)
{
	struct file_left	*next;

	for (; left != NULL; left = next) {
		next = STAILQ_NEXT(left, link);
		if (fc->give != NULL)
			fc->give(context, left->fd, &left->version);
		else
			close(left->fd);
		free(left);
	}
}

bool
file_tidy(struct file_cache *fc, void *context)
{
	struct file_left	*left;
	bool			 more;

	lock_take(fc->cache.lock);
	more = tidy(fc);
	left = STAILQ_FIRST(&fc->left);
	STAILQ_INIT(&fc->left);
	fc->nleft = 0;
	lock_release(fc->cache.lock);
	give_left(fc, left, context);
	return more;
}

int
file_hold(struct file *f)
{
	int	fd;

	lock_take(f->cache->cache.lock);
	fd = file_fd(f);
	if (fd != -1)
		cache_hold(&f->descriptor->entry);
	lock_release(f->cache->cache.lock);
	return fd;
}

void
file_release(struct file *f)
{
	struct descriptor	*d;

	lock_take(f->cache->cache.lock);
	d = f->descriptor;
	if (d != NULL) {
		cache_release(&d->entry);
		if (d->unwanted)
			file_shut(f);
	}
	lock_release(f->cache->cache.lock);
}

void
file_shut(struct file *f)
{
	struct descriptor	*d = f->descriptor;

	if (d == NULL)
		return;
	d->unwanted = d->entry.holds > 0;
	if (!d->unwanted)
		close_now(f);
}

bool
file_tell(struct file *f)
{
	bool	before;

	lock_take(f->cache->cache.lock);
	before = f->told;
	f->told = true;
	lock_release(f->cache->cache.lock);
	return !before;
}

void
file_inherit(struct file *f, const struct file *old)
{
	lock_take(f->cache->cache.lock);
	f->told = old->told;
	lock_release(f->cache->cache.lock);
}

void
file_refuse_sendfile(struct file *f)
{
	lock_take(f->cache->cache.lock);
	if (f->descriptor != NULL)
		f->descriptor->no_sendfile = true;
	lock_release(f->cache->cache.lock);
}
