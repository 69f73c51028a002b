/*
 * chunk: mapping, copying and dropping pieces of files.
 */
#include <sys/mman.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/file_private.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/rare.h"

/*
 * How long a prediction holds, ms.  A chunk that comes back fast was in memory
 * all along, so its file can be trusted for longer; one that had to be fetched
 * had been evicted, so for less (Flash, section 5.7).
 */
#define TRUST_LEAST	250
#define TRUST_MOST	60000
#define FETCHED		3	/* ms: longer than memory takes */

#define LOST		4	/* times that a helper has read it, for nothing
				 * but the last one */
#define DOUBT		4	/* absences before the next is not looked for */
#define SPARES		256	/* copies passed over for one mapping to go */

/* A copy is in one piece with its record: what is sent together. */
static size_t
size_of(const struct file *f, size_t len)
{
	size_t	copied = offsetof(struct chunk, at) + len;

	return file_is_small(f) && copied > sizeof(struct chunk) ? copied :
	    sizeof(struct chunk);
}

static void
drop(struct cache *c, struct cache_entry *e)
{
	struct chunk	*k = (struct chunk *)e;

	((struct chunk_cache *)c)->mappings -= !file_is_small(k->file);
	k->file->chunks[k->index] = NULL;
	cache_leave(c, e, sizeof(*k) + k->len);
	if (k->mapped)
		munmap(k->at, k->len);
	free(k);
}

void
chunk_init(struct chunk_cache *cc, size_t limit_bytes, size_t limit_mappings)
{
	memset(cc, 0, sizeof(*cc));
	cc->pagemap = -1;
	cache_init(&cc->cache, "chunk", 0, limit_bytes, drop);
	cc->limit_mappings = limit_mappings;
}

static bool
too_many(const struct chunk_cache *cc)
{
	return cc->limit_mappings != 0 && cc->mappings > cc->limit_mappings;
}

/* What is copied takes no mapping, and is not to suffer from those that do. */
static void
trim(struct chunk_cache *cc)
{
	struct cache		*c = &cc->cache;
	struct cache_entry	*e;
	unsigned		 spares = SPARES;

	cache_trim(c);
	while (too_many(cc) && spares-- > 0 &&
	    (e = c->policy->victim(c)) != NULL) {
		if (file_is_small(((struct chunk *)e)->file)) {
			cache_spare(c, e);
			continue;
		}
		c->evictions++;
		drop(c, e);
	}
}

uint32_t
chunk_index(const struct file *f, int64_t offset)
{
	if (file_is_small(f))
		return 0;
	return (uint32_t)((uint64_t)offset / f->cache->chunk_size);
}

int64_t
chunk_offset(const struct file *f, uint32_t index)
{
	return (int64_t)index * (int64_t)f->cache->chunk_size;
}

static uint32_t
length(const struct file *f, uint32_t index)
{
	int64_t	left = f->version.size - chunk_offset(f, index);

	if (file_is_small(f) || left < (int64_t)f->cache->chunk_size)
		return (uint32_t)left;
	return (uint32_t)f->cache->chunk_size;
}

static RARE struct chunk *
new(struct chunk_cache *cc, struct file *f, uint32_t index)
{
	struct chunk	*k = mem_get(size_of(f, length(f, index)));

	cc->cache.misses++;
	memset(k, 0, sizeof(*k));
	k->file = f;
	k->index = index;
	k->len = length(f, index);
	f->chunks[index] = k;
	cc->mappings += !file_is_small(f);
	cache_enter(&cc->cache, &k->entry, sizeof(*k) + k->len);
	cache_hold(&k->entry);
	f->references++;
	trim(cc);
	return k;
}

static inline struct chunk *
hold(struct chunk_cache *cc, struct chunk *k)
{
	cc->cache.hits++;
	cache_hold(&k->entry);
	k->file->references++;
	return k;
}

struct chunk *
chunk_hold(struct chunk_cache *cc, struct file *f, uint32_t index)
{
	struct chunk	*k;

	need(index < f->nchunks);
	lock_take(cc->cache.lock);
	k = f->chunks[index];
	k = k == NULL ? new(cc, f, index) : hold(cc, k);
	lock_release(cc->cache.lock);
	return k;
}

struct chunk *
chunk_copy(struct chunk_cache *cc, struct file *f)
{
	struct chunk	*k = f->chunks[0];

	return k != NULL && k->full && !k->mapped ? hold(cc, k) : NULL;
}

static inline void
release(struct chunk_cache *cc, struct chunk *k)
{
	struct file	*f = k->file;

	if (k->entry.holds == 1 && k->mapped && too_many(cc)) {
		cache_release(&k->entry);
		cc->cache.evictions++;
		drop(&cc->cache, &k->entry);
	} else
		cache_return(&cc->cache, &k->entry);
	file_unrefer(f);
}

static LOCKED void
release_locked(struct chunk_cache *cc, struct chunk *k)
{
	lock_take(cc->cache.lock);
	release(cc, k);
	lock_release(cc->cache.lock);
}

void
chunk_release(struct chunk_cache *cc, struct chunk **kp)
{
	struct chunk	*k = *kp;

	*kp = NULL;
	if (cc->cache.lock != NULL)
		release_locked(cc, k);
	else
		release(cc, k);
}

/* A mapping is of use to nobody before its bytes are known to be resident. */
static bool
map(struct chunk *k, off_t offset)
{
	k->at = mmap(NULL, k->len, PROT_READ, MAP_SHARED, k->file->fd, offset);
	if (k->at == MAP_FAILED) {
		k->at = NULL;
		return false;
	}
	k->mapped = true;
	/* The reading that proves it counts as use, sending not as another:
	 * what was asked for once would push out the rest. */
	(void)madvise(k->at, k->len, MADV_SEQUENTIAL);
	return true;
}

/* It is there just now. */
static void
trust(const struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	k->trusted = cc->pagemap != -1 && now < cc->short_until ? now :
	    now + k->file->trust;
}

/* All of it has been read. */
static void
proved(struct chunk *k, int64_t now)
{
	k->again = k->known;
	k->known = true;
	if (!file_is_small(k->file))
		k->read = (uint32_t)now;
	k->lost = 0;
}

/* What the table of pages shows. */
enum seen {
	SEEN_THERE,
	SEEN_GONE,
	SEEN_NOTHING		/* that would settle it */
};

/* What has been read not long ago, or will count as used, need not be read
 * again: a look whether it still is there does as well. */
static enum seen
look(const struct chunk_cache *cc, const struct chunk *k, int64_t now,
    bool counts)
{
	if (k->file->method != RESIDENT_NOWAIT || cc->pagemap == -1 ||
	    !k->known)
		return SEEN_NOTHING;
	if (!resident_mapped(cc->pagemap, k->at, k->len))
		return k->visible ? SEEN_GONE : SEEN_NOTHING;
	return counts || (uint32_t)now - k->read < RESIDENT_USE ? SEEN_THERE :
	    SEEN_NOTHING;
}

/* It has gone, but a helper has read it since, or what is in front of it. */
static bool
may_be_back(const struct chunk *k)
{
	uint32_t	ahead = (uint32_t)(JOB_AHEAD /
			    k->file->cache->chunk_size) + 1;

	return k->lost > 0 || k->index - k->file->ahead < ahead;
}

/* Nobody has read it yet, so whether it is there says something about the
 * next. */
static bool
is_new(const struct chunk *k)
{
	return k->file->method == RESIDENT_NOWAIT && !k->known && k->lost == 0;
}

/*
 * Whether to take it for absent unseen, as the ones before it were: to find out
 * begins to read it, and with very many on their way the disk's queue is full,
 * and whoever adds to it waits.  Helpers are not that many.
 */
static bool
doubt(const struct chunk_cache *cc, struct chunk *k)
{
	k->doubted = is_new(k) && cc->absences >= DOUBT;
	return k->doubted;
}

static void
count(struct chunk_cache *cc, bool absent)
{
	if (absent && cc->absences < DOUBT)
		cc->absences++;
	else if (!absent && cc->absences > 0)
		cc->absences--;
}

static void
learn(struct chunk_cache *cc, const struct chunk *k, bool absent)
{
	if (is_new(k))
		count(cc, absent);
}

static enum chunk_state
prove(struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	switch (resident_ask(k->file, k->at,
	    (off_t)chunk_offset(k->file, k->index), k->len)) {
	case RESIDENT_YES:
		learn(cc, k, false);
		proved(k, now);
		trust(cc, k, now);
		if (cc->pagemap != -1)
			k->visible = resident_map(k->at, k->len);
		return CHUNK_READY;
	case RESIDENT_NO:
		learn(cc, k, true);
		if (k->known && k->file->method == RESIDENT_NOWAIT)
			cc->short_until = now + RESIDENT_SHORT;
		return CHUNK_ABSENT;
	default:
		return CHUNK_GONE;
	}
}

/* To read what has gone is not for nothing: the system would begin to read
 * ahead, and so make room and fill the disk's queue, which may wait. */
static enum chunk_state
ready_mapped(struct chunk_cache *cc, struct chunk *k, int64_t now, bool file)
{
	struct file	*f = k->file;
	enum seen	 seen = SEEN_THERE;

	if (file && f->method == RESIDENT_NEVER)
		return CHUNK_READY;
	if (k->at == NULL && !map(k, (off_t)chunk_offset(f, k->index)))
		return CHUNK_GONE;
	if (now >= k->trusted) {
		seen = look(cc, k, now, file);
		if (seen == SEEN_THERE)
			trust(cc, k, now);
	}
	if (seen == SEEN_GONE) {
		cc->short_until = now + RESIDENT_SHORT;
		if (!may_be_back(k))
			return CHUNK_ABSENT;
	}
	if (seen != SEEN_THERE)
		return doubt(cc, k) ? CHUNK_ABSENT : prove(cc, k, now);
	/* Sending from the file would find its end by itself. */
	return !file && k->index + 1 == f->nchunks && resident_shrunk(f) ?
	    CHUNK_GONE : CHUNK_READY;
}

/* The copy stays, so the descriptor has done its duty. */
static void
copied(struct file *f)
{
	if (!cache_is_off(&f->cache->chunks->cache))
		file_shut(f);
}

static enum chunk_state
ready_copied(struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	struct file	*f = k->file;
	ssize_t		 n;

	if (f->method != RESIDENT_NOWAIT && f->method != RESIDENT_NEVER &&
	    now >= k->trusted)
		return CHUNK_ABSENT;
	if (doubt(cc, k))
		return CHUNK_ABSENT;
	while (k->filled < k->len) {
		n = resident_read(f, chunk_bytes(k) + k->filled,
		    (off_t)k->filled, k->len - k->filled);
		if (n == -1)
			return CHUNK_GONE;
		if (n == 0) {
			learn(cc, k, true);
			return CHUNK_ABSENT;
		}
		k->filled += (uint32_t)n;
	}
	learn(cc, k, false);
	k->full = true;
	copied(f);
	return CHUNK_READY;
}

static enum chunk_state
find_out(struct chunk_cache *cc, struct chunk *k, int64_t now, bool file)
{
	enum chunk_state	result;

	need(k->file->fd != -1);
	if (k->file->method == RESIDENT_COPY)
		result = CHUNK_ABSENT;
	else
		result = file_is_small(k->file) ? ready_copied(cc, k, now) :
		    ready_mapped(cc, k, now, file);
	cc->absent += result == CHUNK_ABSENT;
	cc->gone += result == CHUNK_GONE;
	return result;
}

static inline enum chunk_state
state(struct chunk_cache *cc, struct chunk *k, int64_t now, bool file)
{
	return k->full ? CHUNK_READY : find_out(cc, k, now, file);
}

static LOCKED enum chunk_state
state_locked(struct chunk_cache *cc, struct chunk *k, int64_t now, bool file)
{
	enum chunk_state	result;

	lock_take(cc->cache.lock);
	result = state(cc, k, now, file);
	lock_release(cc->cache.lock);
	return result;
}

static inline enum chunk_state
ready(struct chunk_cache *cc, struct chunk *k, int64_t now, bool file)
{
	return cc->cache.lock != NULL ? state_locked(cc, k, now, file) :
	    state(cc, k, now, file);
}

enum chunk_state
chunk_ready(struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	return ready(cc, k, now, false);
}

enum chunk_state
chunk_ready_file(struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	return ready(cc, k, now, true);
}

/* What was asked for once would count as used twice: by the reading that
 * proved it, and by this. */
bool
chunk_by_file(const struct chunk *k)
{
	const struct file	*f = k->file;
	bool			 yes;

	if (file_is_copied(f))
		return false;
	lock_take(f->cache->cache.lock);
	yes = !f->no_sendfile && (f->method == RESIDENT_NEVER ||
	    (f->method == RESIDENT_NOWAIT && k->again));
	lock_release(f->cache->cache.lock);
	return yes;
}

void
chunk_set_error(struct chunk *k, int error)
{
	struct lock	*lock = k->file->cache->cache.lock;

	lock_take(lock);
	/* What no system says does not become something else. */
	k->error = error == (int16_t)error ? (int16_t)error : EIO;
	lock_release(lock);
}

int
chunk_error(const struct chunk *k)
{
	struct lock	*lock = k->file->cache->cache.lock;
	int		 error;

	lock_take(lock);
	error = k->error;
	lock_release(lock);
	return error;
}

/* The copy is in memory, and ours: neither mapping nor reading it waits. */
static int
take(struct chunk *k, int fd)
{
	struct file	*f = k->file;

	if (k->full)			/* meanwhile by another's copy */
		return 0;
	need(!k->mapped && f->method == RESIDENT_COPY);
	if (file_is_small(f)) {
		if (pread(fd, chunk_bytes(k), k->len, 0) != (ssize_t)k->len)
			return EIO;
		copied(f);
	} else {
		k->at = mmap(NULL, k->len, PROT_READ, MAP_SHARED, fd, 0);
		if (k->at == MAP_FAILED) {
			k->at = NULL;
			return errno;
		}
		k->mapped = true;
	}
	k->full = true;
	return 0;
}

int
chunk_take(struct chunk *k, int fd)
{
	struct lock	*lock = k->file->cache->cache.lock;
	int		 error;

	lock_take(lock);
	error = take(k, fd);
	lock_release(lock);
	return error;
}

/* For nowait it must still be proved, as it may be gone by now.  If it is so
 * again and again, a helper is believed: better to wait for the disk a moment
 * than to fail. */
static void
warmed(struct chunk *k, int64_t now, int64_t took, bool was_there)
{
	struct file	*f = k->file;

	if (k->doubted)
		count(f->cache->chunks, !was_there);
	k->doubted = false;
	if (f->method == RESIDENT_PREDICT || f->method == RESIDENT_MINCORE) {
		if (took >= FETCHED && f->trust / 2 >= TRUST_LEAST)
			f->trust /= 2;
		else if (took < FETCHED && f->trust * 2 <= TRUST_MOST)
			f->trust *= 2;
		k->trusted = now + f->trust;
		return;
	}
	f->ahead = k->index + 1;
	if (f->method == RESIDENT_NOWAIT && ++k->lost == LOST) {
		proved(k, now);
		k->trusted = now + f->trust;
	}
}

void
chunk_warmed(struct chunk *k, int64_t now, int64_t took, bool was_there)
{
	struct lock	*lock = k->file->cache->cache.lock;

	lock_take(lock);
	warmed(k, now, took, was_there);
	lock_release(lock);
}

bool
chunk_whole(const struct file *f)
{
	const struct chunk	*k;

	if (f->nchunks == 0)
		return true;
	if (!file_is_small(f))
		return false;
	k = f->chunks[0];
	return k != NULL && k->full;
}

uint32_t
chunk_shed_some(struct chunk_cache *cc, struct file *f, uint32_t from,
    uint32_t chunks, uint32_t places)
{
	uint32_t	i;

	for (i = from; i < f->nchunks && chunks > 0 && places > 0; i++) {
		places--;
		if (f->chunks[i] == NULL || f->chunks[i]->entry.holds > 0)
			continue;
		drop(&cc->cache, &f->chunks[i]->entry);
		chunks--;
	}
	return i;
}

void
chunk_shed(struct chunk_cache *cc, struct file *f)
{
	chunk_shed_some(cc, f, 0, UINT32_MAX, UINT32_MAX);
}

void
chunk_clear(struct chunk_cache *cc, struct file *f)
{
	chunk_shed(cc, f);
	for (uint32_t i = 0; i < f->nchunks; i++)
		need(f->chunks[i] == NULL);
}
