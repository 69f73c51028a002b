/*
 * header: the cache of ready response heads.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/header.h"
#include "cache/policy.h"
#include "lib/need.h"

static size_t
head_size(const struct head *h)
{
	return sizeof(*h) + (size_t)h->lines * HEADER_ALIGNMENT;
}

static void
free_head(struct header_cache *hc, struct head *h)
{
	slab_free(&hc->slab, h, head_size(h));
}

/* An owner has few heads. */
static inline struct head *
find_head(struct head *const *owner, unsigned kind)
{
	struct head	*h;

	for (h = *owner; h != NULL; h = h->next)
		if (h->kind == kind)
			break;
	return h;
}

static inline void
hold_head(struct head *h)
{
	h->holds++;
	h->uses++;
}

/* Takes a head off its owner; it is freed now, or by its last release. */
static void
detach_head(struct header_cache *hc, struct head **owner, struct head *h)
{
	struct head	**link = owner;

	while (*link != h)
		link = &(*link)->next;
	*link = h->next;
	h->detached = true;
	cache_uncharge(&hc->cache, head_size(h));
	if (h->holds == 0)
		free_head(hc, h);
}

void
header_init(struct header_cache *hc, size_t limit_bytes)
{
	memset(hc, 0, sizeof(*hc));
	cache_init(&hc->cache, "header", 0, limit_bytes, NULL);
	slab_init(&hc->slab);
}

void
header_free(struct header_cache *hc)
{
	need(hc->cache.entries == 0);
	cache_end(&hc->cache);
	slab_destroy(&hc->slab);
}

/* The size of a new head in units of HEADER_ALIGNMENT; an unaligned head begins
 * with the second byte. */
static size_t
count_lines(const struct header_cache *hc, size_t len)
{
	if (hc->unaligned)
		return (len + 1 + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT;
	need(len % HEADER_ALIGNMENT == 0);
	return len / HEADER_ALIGNMENT;
}

static struct head *
alloc_head(struct header_cache *hc, const char *bytes, size_t len)
{
	size_t		 lines = count_lines(hc, len);
	size_t		 size = lines * HEADER_ALIGNMENT;
	struct head	*h = slab_alloc(&hc->slab, sizeof(*h) + size);

	need(lines < 1U << 18 && (uintptr_t)h % HEADER_ALIGNMENT == 0);
	memset(h, 0, sizeof(*h));
	h->lines = lines & ((1U << 18) - 1);
	h->padding = (size - len) & ((1U << 6) - 1);
	memcpy(header_bytes(h), bytes, len);
	return h;
}

static struct head *
add_head(struct header_cache *hc, struct head **owner, unsigned kind,
    const char *bytes, size_t len, size_t date_at,
    const struct header_date *date)
{
	struct head	*h = alloc_head(hc, bytes, len);

	need(kind < 1U << 2 && date_at < 1U << 6);
	h->kind = kind & ((1U << 2) - 1);
	h->date_at = date_at & ((1U << 6) - 1);
	h->date = (uint32_t)date->wall;
	h->next = *owner;
	*owner = h;
	cache_charge(&hc->cache, head_size(h));
	hold_head(h);
	return h;
}

static void
set_date(struct head *h, const struct header_date *date)
{
	memcpy(header_bytes(h) + h->date_at, date->text, date->len);
	h->date = (uint32_t)date->wall;
}

/* Puts a copy with the present Date in the place of a head that may be half
 * sent. */
static COLD struct head *
replace_head(struct header_cache *hc, struct head **owner, struct head *h,
    const struct header_date *date)
{
	struct head	*fresh;

	detach_head(hc, owner, h);
	fresh = add_head(hc, owner, h->kind, header_bytes(h), header_len(h),
	    h->date_at, date);
	fresh->uses += h->uses;
	set_date(fresh, date);
	return fresh;
}

static inline struct head *
hold_current(struct header_cache *hc, struct head **owner, unsigned kind,
    const struct header_date *date)
{
	struct head	*h = find_head(owner, kind);

	if (h == NULL) {
		hc->cache.misses++;
		return NULL;
	}
	hc->cache.hits++;
	if (h->date != (uint32_t)date->wall) {
		if (h->holds > 0)
			return replace_head(hc, owner, h, date);
		set_date(h, date);
	}
	hold_head(h);
	return h;
}

static LOCKED struct head *
hold_current_locked(struct header_cache *hc, struct head **owner, unsigned kind,
    const struct header_date *date)
{
	struct head	*h;

	lock_acquire(hc->cache.lock);
	h = hold_current(hc, owner, kind, date);
	lock_release(hc->cache.lock);
	return h;
}

struct head *
header_hold(struct header_cache *hc, struct head **owner, unsigned kind,
    const struct header_date *date)
{
	return hc->cache.lock != NULL ?
	    hold_current_locked(hc, owner, kind, date) :
	    hold_current(hc, owner, kind, date);
}

struct head *
header_put(struct header_cache *hc, struct head **owner, unsigned kind,
    const char *bytes, size_t len, size_t date_at,
    const struct header_date *date)
{
	struct head	*h;

	lock_acquire(hc->cache.lock);
	if (find_head(owner, kind) != NULL)	/* another thread was first */
		h = hold_current(hc, owner, kind, date);
	else {
		h = add_head(hc, owner, kind, bytes, len, date_at, date);
		if (cache_is_disabled(&hc->cache))
			detach_head(hc, owner, h); /* freed when released */
	}
	lock_release(hc->cache.lock);
	return h;
}

static inline void
release_head(struct header_cache *hc, struct head *h)
{
	if (--h->holds == 0 && h->detached)
		free_head(hc, h);
}

static LOCKED void
release_head_locked(struct header_cache *hc, struct head *h)
{
	lock_acquire(hc->cache.lock);
	release_head(hc, h);
	lock_release(hc->cache.lock);
}

void
header_release(struct header_cache *hc, struct head **hp)
{
	struct head	*h = *hp;

	*hp = NULL;
	if (hc->cache.lock != NULL)
		release_head_locked(hc, h);
	else
		release_head(hc, h);
}

void
header_drop_all(struct header_cache *hc, struct head **owner)
{
	lock_acquire(hc->cache.lock);
	while (*owner != NULL)
		detach_head(hc, owner, *owner);
	lock_release(hc->cache.lock);
}

void
header_evict(struct header_cache *hc, struct head **owner, unsigned *chances)
{
	struct head	*h, *next;

	lock_acquire(hc->cache.lock);
	for (h = *owner; h != NULL && cache_is_over(&hc->cache); h = next) {
		next = h->next;
		if (h->holds > 0)
			continue;
		if (*chances > 0 && hc->cache.policy->spare(&h->uses)) {
			--*chances;
			continue;
		}
		hc->cache.evictions++;
		detach_head(hc, owner, h);
	}
	lock_release(hc->cache.lock);
}
