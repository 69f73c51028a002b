/*
 * header: the store of ready response heads.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/header.h"
#include "lib/mem.h"
#include "lib/need.h"

/* What malloc aligns to is half of what a head wants. */
#define SHIFT	(HEADER_ALIGNMENT / 2)

static size_t
size_of(const struct head *h)
{
	return sizeof(*h) + header_len(h);
}

static void
destroy(struct head *h)
{
	free(header_bytes(h) - (h->shifted ? SHIFT : 0));
}

/* Out of slot and queue; freed now, or by the last release. */
static void
detach(struct header_cache *hc, struct head *h)
{
	*h->slot = NULL;
	h->slot = NULL;
	cache_leave(&hc->cache, &h->entry, size_of(h));
	if (h->entry.holds == 0)
		destroy(h);
}

static void
drop(struct cache *c, struct cache_entry *e)
{
	/* Both structs start with the part that the engine knows. */
	detach((struct header_cache *)c, (struct head *)e);
}

void
header_init(struct header_cache *hc, size_t limit_bytes)
{
	memset(hc, 0, sizeof(*hc));
	cache_init(&hc->cache, "header", 0, limit_bytes, drop);
}

void
header_free(struct header_cache *hc)
{
	cache_empty(&hc->cache);
	need(hc->cache.entries == 0);
}

/* The record comes behind the bytes: a multiple of 32 is a place for it, and in
 * front there would be a gap between the two. */
static struct head *
new(const char *bytes, size_t len)
{
	char		*at = mem_get(SHIFT + len + sizeof(struct head));
	bool		 shifted = (uintptr_t)at % HEADER_ALIGNMENT != 0;
	struct head	*h;

	need(len % HEADER_ALIGNMENT == 0 &&
	    len / HEADER_ALIGNMENT < 1U << 20);
	at += shifted ? SHIFT : 0;
	need((uintptr_t)at % HEADER_ALIGNMENT == 0);
	memcpy(at, bytes, len);
	h = (struct head *)(void *)(at + len);
	memset(h, 0, sizeof(*h));
	h->lines = (len / HEADER_ALIGNMENT) & ((1U << 20) - 1);
	h->shifted = shifted;
	return h;
}

static struct head *
put(struct header_cache *hc, struct head **slot, const char *bytes, size_t len,
    size_t date_at)
{
	struct head	*h = new(bytes, len);

	need(*slot == NULL && date_at < 1U << 11);
	h->date_at = date_at & ((1U << 11) - 1);
	h->date = (uint32_t)hc->date;
	h->slot = slot;
	*slot = h;
	cache_enter(&hc->cache, &h->entry, size_of(h));
	cache_hold(&h->entry);
	return h;
}

struct head *
header_put(struct header_cache *hc, struct head **slot, const char *bytes,
    size_t len, size_t date_at)
{
	struct head	*h = put(hc, slot, bytes, len, date_at);

	cache_trim(&hc->cache);
	return h;
}

static void
set_date(struct header_cache *hc, struct head *h)
{
	memcpy(header_bytes(h) + h->date_at, hc->date_text, hc->date_len);
	h->date = (uint32_t)hc->date;
}

struct head *
header_hold(struct header_cache *hc, struct head **slot)
{
	struct head	*h = *slot, *fresh;

	if (h == NULL) {
		hc->cache.misses++;
		return NULL;
	}
	hc->cache.hits++;
	if (h->date != (uint32_t)hc->date) {
		if (h->entry.holds > 0) {	/* perhaps half sent */
			detach(hc, h);
			fresh = put(hc, slot, header_bytes(h),
			    header_len(h), h->date_at);
			set_date(hc, fresh);
			return fresh;
		}
		set_date(hc, h);
	}
	cache_hold(&h->entry);
	return h;
}

void
header_release(struct header_cache *hc, struct head **hp)
{
	struct head	*h = *hp;

	(void)hc;
	*hp = NULL;
	cache_release(&h->entry);
	if (h->slot == NULL && h->entry.holds == 0)
		destroy(h);
}

void
header_clear(struct header_cache *hc, struct head **slot)
{
	if (*slot != NULL)
		detach(hc, *slot);
}
