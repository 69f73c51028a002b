/*
 * chunk: mapping, copying and dropping pieces of files.
 */
#include <sys/mman.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cache/advice.h"
#include "cache/edges.h"
#include "cache/file_private.h"
#include "cache/keep.h"
#include "lib/compiler.h"
#include "lib/need.h"
#include "lib/pagemap.h"

/* Bounds of trust_ms, for predict and mincore.  A chunk that a helper reads
 * fast was in memory all along, so its file is trusted for longer; a chunk that
 * came from the disk had been evicted, so for less (Flash, section 5.7). */
#define TRUST_MIN	250
#define TRUST_MAX	60000
#define DISK_READ_MIN	3	/* ms: a faster read came from memory */

#define LOST_READS_MAX	4	/* then a helper's read is believed */
#define MISSES_MAX	4	/* then a chunk is assumed absent */
#define REQUEUE_MAX	256	/* copies passed over for one mapping to drop */
#define PAGEMAP_MAX	(1024 * 1024)	/* bytes, of one call */

/* bytes: the kernel maps nothing that far away by itself. */
#define REGION_DISTANCE	((uint64_t)1 << 45)

/* Sizes of copies are multiples of this, as a slab has blocks for each size. */
#define RECORD_STEP	32

/* A copy follows its record in one piece of memory. */
static size_t
record_size(const struct file *f, size_t len)
{
	size_t	copied = CHUNK_SMALL + len;

	if (!f->small || copied < sizeof(struct chunk))
		return sizeof(struct chunk);
	if (copied > SLAB_SIZE_MAX)
		return copied;
	return (copied + RECORD_STEP - 1) / RECORD_STEP * RECORD_STEP;
}

static bool
is_mapped(const struct chunk *k)
{
	return !k->file->small && k->at != NULL;
}

static void
drop_chunk(struct cache *c, struct cache_entry *e)
{
	struct chunk		*k = (struct chunk *)e;
	struct chunk_cache	*cc = (struct chunk_cache *)c;

	cc->mappings -= !k->file->small;
	keep_drop_chunk(cc, k);
	k->file->chunks[chunk_slot(k)] = NULL;
	k->file->copied = false;
	if (!transient_remove(cc, k))
		cache_remove(c, e, sizeof(*k) + chunk_len(k));
	if (is_mapped(k))
		munmap(k->at, k->len);
	slab_free(&cc->slab, k, record_size(k->file, chunk_len(k)));
}

/* Bits of a number, spread over all (SplitMix64). */
static uint64_t
mix_bits(uint64_t n)
{
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

/* A response needs all of a file. */
static void
describe_chunk(const struct cache_entry *e, struct cache_item *item)
{
	const struct chunk		*k = (const struct chunk *)e;
	const struct job_version	*v = &k->file->version;

	item->bytes = sizeof(*k) + chunk_len(k);
	item->whole = sizeof(*k) + (uint64_t)v->size;
	item->key = mix_bits(v->ino + mix_bits(v->dev + mix_bits(
	    (uint64_t)v->mtime + mix_bits(v->mtime_ns + chunk_slot(k)))));
	item->edge = !k->file->small && k->edge;
	item->guest = k->file->guest;
}

/* A new copy may have bytes of the next version. */
static bool
keep_edge(struct cache *c, struct cache_entry *e)
{
	struct chunk	*k = (struct chunk *)e;
	bool		 was_copied = k->complete;

	return edges_keep((struct chunk_cache *)c, k) && (was_copied ||
	    !k->complete || file_is_unchanged(k->file, true));
}

/* An address REGION_DISTANCE below where the kernel would map now; 0: addresses
 * are too short for that. */
static uintptr_t
find_region(void)
{
	int	 flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void	*at = mmap(NULL, 1, PROT_NONE, flags, -1, 0);

	if (at == MAP_FAILED)
		return 0;
	munmap(at, 1);
	return (uintptr_t)at / 2 < REGION_DISTANCE ? 0 :
	    (uintptr_t)at - REGION_DISTANCE;
}

void
chunk_init(struct chunk_cache *cc, size_t limit_bytes, size_t limit_mappings)
{
	*cc = (struct chunk_cache){ .pagemap = -1 };
	slab_init(&cc->slab);
	cache_init(&cc->cache, "chunk", 0, limit_bytes, drop_chunk);
	cc->cache.describe = describe_chunk;
	cc->cache.keep_edge = keep_edge;
	cc->limit_mappings = limit_mappings;
	TAILQ_INIT(&cc->transients.queue);
	cc->region = cc->next = find_region();
}

void
chunk_free(struct chunk_cache *cc)
{
	advice_end(cc);
	cache_end(&cc->cache);
	slab_destroy(&cc->slab);
}

static bool
too_many_mappings(const struct chunk_cache *cc)
{
	return cc->limit_mappings != 0 && cc->mappings > cc->limit_mappings;
}

/* Copies are requeued in the search for a mapping to drop. */
static void
trim_chunks(struct chunk_cache *cc)
{
	struct cache		*c = &cc->cache;
	struct cache_entry	*e;
	unsigned		 left = REQUEUE_MAX;

	cc->copied = 0;
	transient_trim(cc);
	cache_trim(c);
	while (too_many_mappings(cc) && left-- > 0 &&
	    (e = cache_victim(c)) != NULL) {
		if (((struct chunk *)e)->file->small) {
			cache_requeue(c, e);
			continue;
		}
		c->evictions++;
		drop_chunk(c, e);
	}
}

bool
chunk_is_over(const struct chunk_cache *cc)
{
	bool	over;

	lock_acquire(cc->cache.lock);
	over = cache_is_over(&cc->cache);
	lock_release(cc->cache.lock);
	return over;
}

uint32_t
chunk_index(const struct file *f, int64_t offset)
{
	if (f->small)
		return 0;
	return (uint32_t)((uint64_t)offset / file_chunk_size(f));
}

static uint32_t
length_at(const struct file *f, uint32_t index)
{
	size_t	size = file_chunk_size(f);
	int64_t	left = f->version.size - (int64_t)index * (int64_t)size;

	return f->small || left < (int64_t)size ? (uint32_t)left :
	    (uint32_t)size;
}

static void
init_chunk(struct chunk *k, struct file *f, uint32_t index)
{
	if (f->small && f->open_file != NULL)
		memset(&f->open_file->fetch, 0, sizeof(f->open_file->fetch));
	memset(k, 0, f->small ? CHUNK_SMALL : sizeof(*k));
	k->file = f;
	if (f->small)
		return;
	k->index = index;
	k->len = length_at(f, index);
	k->edge = edges_contain(f, index);
}

static COLD struct chunk *
add_chunk(struct chunk_cache *cc, struct file *f, uint32_t index)
{
	struct chunk	*k = slab_alloc(&cc->slab,
			    record_size(f, length_at(f, index)));

	cc->cache.misses++;
	init_chunk(k, f, index);
	f->chunks[index] = k;
	cc->mappings += !f->small;
	if (!transient_add(cc, k))
		cache_add(&cc->cache, &k->entry, sizeof(*k) + chunk_len(k));
	keep_chunk(cc, k);
	cache_hold_again(&k->entry);
	f->references++;
	advice_note_new(cc, k);
	trim_chunks(cc);
	return k;
}

static inline struct chunk *
hold_chunk(struct chunk_cache *cc, struct chunk *k, uint32_t slot)
{
	cc->cache.hits++;
	cache_hold(&k->entry);
	k->file->references++;
	if (chunk_hash(k->file, slot) < cc->advised.sample)
		advice_note(cc, k);
	return k;
}

struct chunk *
chunk_hold(struct chunk_cache *cc, struct file *f, uint32_t index)
{
	struct chunk	*k;

	need(index < f->nchunks);
	lock_acquire(cc->cache.lock);
	k = f->chunks[index];
	k = k == NULL ? add_chunk(cc, f, index) : hold_chunk(cc, k, index);
	cc->advised.later += index > 0 || (!f->small && file_is_transient(f));
	lock_release(cc->cache.lock);
	return k;
}

struct chunk *
chunk_hold_again(struct chunk_cache *cc, struct chunk *k)
{
	lock_acquire(cc->cache.lock);
	cache_hold_again(&k->entry);
	k->file->references++;
	lock_release(cc->cache.lock);
	return k;
}

struct chunk *
chunk_hold_copy(struct chunk_cache *cc, struct file *f)
{
	return f->copied ? hold_chunk(cc, f->chunks[0], 0) : NULL;
}

static inline void
release_chunk(struct chunk_cache *cc, struct chunk *k)
{
	struct file	*f = k->file;

	if (k->entry.holds == 1 && too_many_mappings(cc) && is_mapped(k)) {
		cache_release(&k->entry);
		cc->cache.evictions++;
		drop_chunk(&cc->cache, &k->entry);
	} else
		cache_release_trim(&cc->cache, &k->entry);
	file_unrefer(f);
}

static LOCKED void
release_chunk_locked(struct chunk_cache *cc, struct chunk *k)
{
	lock_acquire(cc->cache.lock);
	release_chunk(cc, k);
	lock_release(cc->cache.lock);
}

void
chunk_release(struct chunk_cache *cc, struct chunk **kp)
{
	struct chunk	*k = *kp;

	*kp = NULL;
	if (cc->cache.lock != NULL)
		release_chunk_locked(cc, k);
	else
		release_chunk(cc, k);
}

/*
 * The wanted address of a mapping: behind that of the chunk before.  Adjacent
 * mappings are one to the kernel, which limits their number, and pagemap shows
 * several chunks in one call.  If the place is taken, the kernel chooses
 * another.
 */
static void *
mapping_address(struct chunk_cache *cc, const struct chunk *k)
{
	const struct file	*f = k->file;
	uintptr_t		 size = f->cache->chunk_size;

	if (cc->region == 0)
		return NULL;
	if (f->open_file->map_base == 0) {
		if (cc->next - cc->region > REGION_DISTANCE / 2)
			cc->next = cc->region;
		f->open_file->map_base = cc->next;
		cc->next += f->nchunks * size;
	}
	return (void *)(f->open_file->map_base + k->index * size);
}

static bool
map_chunk(struct chunk_cache *cc, struct chunk *k)
{
	k->at = mmap(mapping_address(cc, k), k->len, PROT_READ, MAP_SHARED,
	    k->file->open_file->fd, (off_t)chunk_start(k));
	if (k->at == MAP_FAILED) {
		k->at = NULL;
		return false;
	}
	/* Reading a chunk to verify it counts as use of its pages; sending it
	 * must not count again, or chunks asked for once would push out the
	 * rest. */
	(void)madvise(k->at, k->len, MADV_SEQUENTIAL);
	return true;
}

/* Records that a chunk is resident now. */
static void
set_resident(const struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	k->fetch.resident_until = now;
	if (cc->pagemap == -1 || now >= cc->shortage_until)
		k->fetch.resident_until += k->file->open_file->trust_ms;
}

/* Records that all of a chunk has been read. */
static void
record_read(struct chunk *k, int64_t now)
{
	struct fetch	*t = chunk_fetch(k);

	t->read_twice = t->read_once;
	t->read_once = true;
	if (!k->file->small)
		t->read_at = (uint32_t)now;
	t->lost_reads = 0;
}

/* Whether pagemap shows all pages of a chunk. */
enum presence {
	PRESENCE_YES,
	PRESENCE_NO,
	PRESENCE_UNKNOWN
};

/*
 * Counts the chunks from this one on that one call of pagemap can cover: sent
 * by sendfile(), with adjacent mappings.  When memory is short, a look is worth
 * nothing a moment later, so it covers one chunk.
 */
static uint32_t
count_adjacent(const struct chunk_cache *cc, const struct chunk *k, int64_t now,
    int64_t end)
{
	const struct file	*f = k->file;
	size_t			 size = f->cache->chunk_size;
	uint32_t		 n = 1;
	const struct chunk	*next;

	if (now < cc->shortage_until || k->len != size)
		return 1;
	while ((n + 1) * size <= PAGEMAP_MAX && k->index + n < f->nchunks &&
	    chunk_start(k) + (int64_t)(n * size) < end &&
	    (next = f->chunks[k->index + n]) != NULL && next->len == size &&
	    next->at == k->at + n * size && next->fetch.read_twice)
		n++;
	return n;
}

/* Looks up in pagemap whether a chunk is resident.  UNKNOWN makes the caller
 * read it: pagemap does not cover it, or it was read long ago and sending it
 * does not count as use. */
static enum presence
check_pagemap(const struct chunk_cache *cc, const struct chunk *k, int64_t now,
    int64_t end)
{
	uint32_t	n;
	size_t		there;

	if (k->file->method != RESIDENT_NOWAIT || cc->pagemap == -1 ||
	    !k->fetch.read_once)
		return PRESENCE_UNKNOWN;
	n = count_adjacent(cc, k, now, end);
	there = pagemap_present(cc->pagemap, k->at, (size_t)n * k->len);
	for (uint32_t i = 1; (size_t)(i + 1) * k->len <= there; i++)
		set_resident(cc, k->file->chunks[k->index + i], now);
	if (there < k->len)
		return k->fetch.in_pagemap ? PRESENCE_NO : PRESENCE_UNKNOWN;
	return end != 0 || (uint32_t)now - k->fetch.read_at < RESIDENT_REREAD ?
	    PRESENCE_YES : PRESENCE_UNKNOWN;
}

/* Whether a helper has read the chunk since it was evicted, or the kernel may
 * have read it ahead. */
static bool
may_be_back(const struct chunk *k)
{
	uint32_t	ahead = (uint32_t)(JOB_READAHEAD /
			    k->file->cache->chunk_size) + 1;

	return k->fetch.lost_reads > 0 ||
	    k->index - k->file->open_file->read_end < ahead;
}

/* Whether the chunk has not been read before: then its absence tells something
 * about the chunks that follow. */
static bool
is_unread(struct chunk *k)
{
	const struct fetch	*t = chunk_fetch(k);

	return k->file->method == RESIDENT_NOWAIT && !t->read_once &&
	    t->lost_reads == 0;
}

/*
 * Whether to assume that a new chunk is absent, as the last new ones were.  A
 * look would begin to read it, and with very many reads under way the queue of
 * the disk is full, and a look must wait.  Helpers are not that many.
 */
static bool
assume_absent(const struct chunk_cache *cc, struct chunk *k)
{
	struct fetch	*t = chunk_fetch(k);

	t->assumed_absent = is_unread(k) && cc->recent_misses >= MISSES_MAX;
	return t->assumed_absent;
}

static void
count_miss(struct chunk_cache *cc, bool absent)
{
	if (absent && cc->recent_misses < MISSES_MAX)
		cc->recent_misses++;
	else if (!absent && cc->recent_misses > 0)
		cc->recent_misses--;
}

static void
count_if_unread(struct chunk_cache *cc, struct chunk *k, bool absent)
{
	if (is_unread(k))
		count_miss(cc, absent);
}

static enum chunk_state
verify_resident(struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	switch (residency_check(k->file, k->at,
	    (off_t)chunk_start(k), k->len)) {
	case RESIDENT_YES:
		count_if_unread(cc, k, false);
		record_read(k, now);
		set_resident(cc, k, now);
		if (cc->pagemap != -1)
			k->fetch.in_pagemap = residency_populate(k->at, k->len);
		return CHUNK_READY;
	case RESIDENT_NO:
		count_if_unread(cc, k, true);
		if (k->fetch.read_once && k->file->method == RESIDENT_NOWAIT)
			cc->shortage_until = now + RESIDENT_SHORTAGE;
		return CHUNK_ABSENT;
	default:
		return CHUNK_GONE;
	}
}

/* A chunk that has been evicted is not read here: the kernel would begin to
 * read ahead, and so evict other pages and fill the queue of the disk, which
 * may wait. */
static enum chunk_state
check_mapped(struct chunk_cache *cc, struct chunk *k, int64_t now, int64_t end)
{
	struct file	*f = k->file;
	enum presence	 seen = PRESENCE_YES;

	if (end != 0 && f->method == RESIDENT_NEVER)
		return CHUNK_READY;
	if (k->at == NULL && !map_chunk(cc, k))
		return CHUNK_GONE;
	if (now >= k->fetch.resident_until) {
		seen = check_pagemap(cc, k, now, end);
		if (seen == PRESENCE_YES)
			set_resident(cc, k, now);
	}
	if (seen == PRESENCE_NO) {
		cc->shortage_until = now + RESIDENT_SHORTAGE;
		if (!may_be_back(k))
			return CHUNK_ABSENT;
	}
	if (seen != PRESENCE_YES)
		return assume_absent(cc, k) ? CHUNK_ABSENT :
		    verify_resident(cc, k, now);
	/* sendfile() finds the end of a shrunk file itself. */
	return end == 0 && k->index + 1 == f->nchunks && residency_shrunk(f) ?
	    CHUNK_GONE : CHUNK_READY;
}

/* A complete copy needs no descriptor, unless copies are not kept. */
static void
finish_copy(struct file *f)
{
	f->copied = true;
	if (!cache_is_disabled(&f->cache->chunks->cache))
		file_close_fd(f);
}

static enum chunk_state
check_copied(struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	struct file	*f = k->file;
	struct fetch	*t = chunk_fetch(k);
	uint32_t	 len = chunk_len(k);
	ssize_t		 n;

	if (f->method != RESIDENT_NOWAIT && f->method != RESIDENT_NEVER &&
	    now >= t->resident_until)
		return CHUNK_ABSENT;
	if (assume_absent(cc, k))
		return CHUNK_ABSENT;
	while (t->filled < len) {
		n = residency_read(f, chunk_bytes(k) + t->filled,
		    (off_t)t->filled, len - t->filled);
		if (n == -1)
			return CHUNK_GONE;
		if (n == 0) {
			count_if_unread(cc, k, true);
			return CHUNK_ABSENT;
		}
		t->filled += (uint32_t)n;
	}
	count_if_unread(cc, k, false);
	/* The bytes may be those of the next version, or half of them. */
	if (!file_is_unchanged(f, true)) {
		t->filled = 0;
		return CHUNK_GONE;
	}
	finish_copy(f);
	return CHUNK_READY;
}

static enum chunk_state
check_incomplete(struct chunk_cache *cc, struct chunk *k, int64_t now,
    int64_t end)
{
	enum chunk_state	result;

	need(k->file->open_file != NULL);
	if (k->file->method == RESIDENT_COPY)
		result = CHUNK_ABSENT;
	else
		result = k->file->small ? check_copied(cc, k, now) :
		    check_mapped(cc, k, now, end);
	cc->absent += result == CHUNK_ABSENT;
	cc->gone += result == CHUNK_GONE;
	return result;
}

static inline bool
is_complete(const struct chunk *k)
{
	return k->file->small ? k->file->copied : k->complete;
}

static inline enum chunk_state
check_state(struct chunk_cache *cc, struct chunk *k, int64_t now, int64_t end)
{
	return is_complete(k) ? CHUNK_READY : check_incomplete(cc, k, now, end);
}

static LOCKED enum chunk_state
check_state_locked(struct chunk_cache *cc, struct chunk *k, int64_t now,
    int64_t end)
{
	enum chunk_state	result;

	lock_acquire(cc->cache.lock);
	result = check_state(cc, k, now, end);
	lock_release(cc->cache.lock);
	return result;
}

static inline enum chunk_state
check_ready(struct chunk_cache *cc, struct chunk *k, int64_t now, int64_t end)
{
	return cc->cache.lock != NULL ? check_state_locked(cc, k, now, end) :
	    check_state(cc, k, now, end);
}

enum chunk_state
chunk_ready(struct chunk_cache *cc, struct chunk *k, int64_t now)
{
	return check_ready(cc, k, now, 0);
}

enum chunk_state
chunk_ready_sendfile(struct chunk_cache *cc, struct chunk *k, int64_t now,
    int64_t end)
{
	return check_ready(cc, k, now, end);
}

/* A chunk that is sent for the first time is sent from its mapping: sendfile()
 * would count as a second use of its pages, after the reading. */
bool
chunk_prefers_sendfile(const struct chunk *k)
{
	const struct file	*f = k->file;
	bool			 yes;

	if (file_is_copied(f))
		return false;
	lock_acquire(f->cache->cache.lock);
	yes = !f->open_file->no_sendfile && (f->method == RESIDENT_NEVER ||
	    (f->method == RESIDENT_NOWAIT && k->fetch.read_twice));
	lock_release(f->cache->cache.lock);
	return yes;
}

bool
chunk_wants_copy(struct chunk *k)
{
	const struct file	*f = k->file;
	bool			 yes;

	lock_acquire(f->cache->cache.lock);
	yes = f->method == RESIDENT_COPY ||
	    (f->small && chunk_fetch(k)->lost_reads == LOST_READS_MAX);
	lock_release(f->cache->cache.lock);
	return yes;
}

void
chunk_set_error(struct chunk *k, int error)
{
	struct lock	*lock = k->file->cache->cache.lock;

	lock_acquire(lock);
	/* An errno that does not fit is stored as EIO. */
	chunk_fetch(k)->error = error == (int16_t)error ? (int16_t)error : EIO;
	lock_release(lock);
}

int
chunk_error(struct chunk *k)
{
	struct lock	*lock = k->file->cache->cache.lock;
	int		 error;

	lock_acquire(lock);
	error = chunk_fetch(k)->error;
	lock_release(lock);
	return error;
}

/* The copy is in memory of ours: neither mapping nor reading it waits. */
static int
adopt_copy(struct chunk *k, int fd)
{
	struct file	*f = k->file;
	uint32_t	 len = chunk_len(k);

	if (is_complete(k))			/* by another copy, meanwhile */
		return 0;
	need(!is_mapped(k) && (f->small || f->method == RESIDENT_COPY));
	if (f->small) {
		if (pread(fd, chunk_bytes(k), len, 0) != (ssize_t)len)
			return EIO;
		finish_copy(f);
		return 0;
	}
	k->at = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (k->at == MAP_FAILED) {
		k->at = NULL;
		return errno;
	}
	k->complete = true;
	return 0;
}

int
chunk_adopt_copy(struct chunk *k, int fd)
{
	struct lock	*lock = k->file->cache->cache.lock;
	int		 error;

	lock_acquire(lock);
	error = adopt_copy(k, fd);
	lock_release(lock);
	return error;
}

/*
 * With nowait the chunk is verified when it is sent, as it may be evicted by
 * then.  If that has happened LOST_READS_MAX times, the helper is believed: a
 * short wait for the disk is better than a failure.  Of a small file the helper
 * makes a copy instead.
 */
static void
record_load(struct chunk *k, int64_t now, int64_t took, bool was_there)
{
	struct file		*f = k->file;
	struct open_file	*d = f->open_file;
	struct fetch		*t = chunk_fetch(k);

	if (t->assumed_absent)
		count_miss(f->cache->chunks, !was_there);
	t->assumed_absent = false;
	if (f->method == RESIDENT_PREDICT || f->method == RESIDENT_MINCORE) {
		if (took >= DISK_READ_MIN && d->trust_ms / 2 >= TRUST_MIN)
			d->trust_ms /= 2;
		else if (took < DISK_READ_MIN && d->trust_ms * 2 <= TRUST_MAX)
			d->trust_ms *= 2;
		t->resident_until = now + d->trust_ms;
		return;
	}
	d->read_end = chunk_slot(k) + 1;
	if (f->method == RESIDENT_NOWAIT && t->lost_reads < LOST_READS_MAX &&
	    ++t->lost_reads == LOST_READS_MAX && !f->small) {
		record_read(k, now);
		t->resident_until = now + d->trust_ms;
	}
}

void
chunk_loaded(struct chunk *k, int64_t now, int64_t took, bool was_there)
{
	struct lock	*lock = k->file->cache->cache.lock;

	lock_acquire(lock);
	record_load(k, now, took, was_there);
	lock_release(lock);
}

bool
chunk_is_complete(const struct file *f)
{
	return f->nchunks == 0 || f->copied;
}

uint32_t
chunk_drop_some(struct chunk_cache *cc, struct file *f, uint32_t from,
    uint32_t chunks, uint32_t places)
{
	uint32_t	i;

	for (i = from; i < f->nchunks && chunks > 0 && places > 0; i++) {
		places--;
		if (f->chunks[i] == NULL || f->chunks[i]->entry.holds > 0)
			continue;
		drop_chunk(&cc->cache, &f->chunks[i]->entry);
		chunks--;
	}
	return i;
}

void
chunk_drop_unheld(struct chunk_cache *cc, struct file *f)
{
	chunk_drop_some(cc, f, 0, UINT32_MAX, UINT32_MAX);
}

void
chunk_drop_all(struct chunk_cache *cc, struct file *f)
{
	chunk_drop_unheld(cc, f);
	for (uint32_t i = 0; i < f->nchunks; i++)
		need(f->chunks[i] == NULL);
}
