/*
 * header: the store of ready response heads.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/header.h"
#include "lib/need.h"

static size_t
size_of(const struct head *h)
{
	return sizeof(*h) + (size_t)h->lines * HEADER_ALIGNMENT;
}

static void
destroy(struct header_cache *hc, struct head *h)
{
	pool_put(&hc->pool, h, size_of(h));
}

/* All heads of an owner are few. */
static inline struct head *
find(struct head *const *owner, unsigned kind)
{
	struct head	*h;

	for (h = *owner; h != NULL; h = h->next)
		if (h->kind == kind)
			break;
	return h;
}

static inline void
use(struct head *h)
{
	h->holds++;
	h->used = true;
}

/* Freed now, or by the last release. */
static void
detach(struct header_cache *hc, struct head **owner, struct head *h)
{
	struct head	**link = owner;

	while (*link != h)
		link = &(*link)->next;
	*link = h->next;
	h->detached = true;
	cache_uncharge(&hc->cache, size_of(h));
	if (h->holds == 0)
		destroy(hc, h);
}

void
header_init(struct header_cache *hc, size_t limit_bytes)
{
	memset(hc, 0, sizeof(*hc));
	cache_init(&hc->cache, "header", 0, limit_bytes, NULL);
	pool_init(&hc->pool);
}

void
header_free(struct header_cache *hc)
{
	need(hc->cache.entries == 0);
	pool_end(&hc->pool);
}

/* Memory for so many bytes, in alignments; what is not aligned begins with the
 * second byte of it. */
static size_t
lines_for(const struct header_cache *hc, size_t len)
{
	if (hc->ragged)
		return (len + 1 + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT;
	need(len % HEADER_ALIGNMENT == 0);
	return len / HEADER_ALIGNMENT;
}

static struct head *
new(struct header_cache *hc, const char *bytes, size_t len)
{
	size_t		 lines = lines_for(hc, len);
	size_t		 size = lines * HEADER_ALIGNMENT;
	struct head	*h = pool_get(&hc->pool, sizeof(*h) + size);

	need(lines < 1U << 18 && (uintptr_t)h % HEADER_ALIGNMENT == 0);
	memset(h, 0, sizeof(*h));
	h->lines = lines & ((1U << 18) - 1);
	h->unused = (size - len) & ((1U << 6) - 1);
	memcpy(header_bytes(h), bytes, len);
	return h;
}

static struct head *
put(struct header_cache *hc, struct head **owner, unsigned kind,
    const char *bytes, size_t len, size_t date_at,
    const struct header_date *date)
{
	struct head	*h = new(hc, bytes, len);

	need(kind < 1U << 2 && date_at < 1U << 6);
	h->kind = kind & ((1U << 2) - 1);
	h->date_at = date_at & ((1U << 6) - 1);
	h->date = (uint32_t)date->wall;
	h->next = *owner;
	*owner = h;
	cache_charge(&hc->cache, size_of(h));
	use(h);
	return h;
}

static void
set_date(struct head *h, const struct header_date *date)
{
	memcpy(header_bytes(h) + h->date_at, date->text, date->len);
	h->date = (uint32_t)date->wall;
	h->mark = 0;
}

/* It may be half sent by somebody. */
static RARE struct head *
replace(struct header_cache *hc, struct head **owner, struct head *h,
    const struct header_date *date)
{
	struct head	*fresh;

	detach(hc, owner, h);
	fresh = put(hc, owner, h->kind, header_bytes(h), header_len(h),
	    h->date_at, date);
	set_date(fresh, date);
	return fresh;
}

static inline struct head *
hold(struct header_cache *hc, struct head **owner, unsigned kind,
    const struct header_date *date)
{
	struct head	*h = find(owner, kind);

	if (h == NULL) {
		hc->cache.misses++;
		return NULL;
	}
	hc->cache.hits++;
	if (h->date != (uint32_t)date->wall) {
		if (h->holds > 0)
			return replace(hc, owner, h, date);
		set_date(h, date);
	}
	use(h);
	return h;
}

static LOCKED struct head *
hold_locked(struct header_cache *hc, struct head **owner, unsigned kind,
    const struct header_date *date)
{
	struct head	*h;

	lock_take(hc->cache.lock);
	h = hold(hc, owner, kind, date);
	lock_release(hc->cache.lock);
	return h;
}

struct head *
header_hold(struct header_cache *hc, struct head **owner, unsigned kind,
    const struct header_date *date)
{
	return hc->cache.lock != NULL ? hold_locked(hc, owner, kind, date) :
	    hold(hc, owner, kind, date);
}

struct head *
header_put(struct header_cache *hc, struct head **owner, unsigned kind,
    const char *bytes, size_t len, size_t date_at,
    const struct header_date *date)
{
	struct head	*h;

	lock_take(hc->cache.lock);
	if (find(owner, kind) != NULL)		/* another thread's */
		h = hold(hc, owner, kind, date);
	else {
		h = put(hc, owner, kind, bytes, len, date_at, date);
		if (cache_is_disabled(&hc->cache))
			detach(hc, owner, h);	/* its holder's alone */
	}
	lock_release(hc->cache.lock);
	return h;
}

struct head *
header_keep(struct head *h)
{
	h->holds++;
	return h;
}

static inline void
release(struct header_cache *hc, struct head *h)
{
	if (--h->holds == 0 && h->detached)
		destroy(hc, h);
}

static LOCKED void
release_locked(struct header_cache *hc, struct head *h)
{
	lock_take(hc->cache.lock);
	release(hc, h);
	lock_release(hc->cache.lock);
}

void
header_release(struct header_cache *hc, struct head **hp)
{
	struct head	*h = *hp;

	*hp = NULL;
	if (hc->cache.lock != NULL)
		release_locked(hc, h);
	else
		release(hc, h);
}

void
header_clear(struct header_cache *hc, struct head **owner)
{
	lock_take(hc->cache.lock);
	while (*owner != NULL)
		detach(hc, owner, *owner);
	lock_release(hc->cache.lock);
}

void
header_thin(struct header_cache *hc, struct head **owner, unsigned *chances)
{
	struct head	*h, *next;

	lock_take(hc->cache.lock);
	for (h = *owner; h != NULL && cache_is_over(&hc->cache); h = next) {
		next = h->next;
		if (h->holds > 0)
			continue;
		if (h->used && *chances > 0) {
			h->used = false;
			--*chances;
			continue;
		}
		hc->cache.evictions++;
		detach(hc, owner, h);
	}
	lock_release(hc->cache.lock);
}
