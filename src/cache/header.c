/*
 * header: the store of ready response heads.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/header.h"
#include "lib/mem.h"
#include "lib/need.h"

static void
destroy(struct head *h)
{
	free(h->at);
	free(h);
}

/* Out of slot and queue; freed now, or by the last release. */
static void
detach(struct header_cache *hc, struct head *h)
{
	*h->slot = NULL;
	h->slot = NULL;
	cache_leave(&hc->cache, &h->entry);
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

static struct head *
put(struct header_cache *hc, struct head **slot, const char *bytes, size_t len,
    size_t date_at)
{
	struct head	*h = mem_zero(sizeof(*h));

	need(*slot == NULL && len % HEADER_ALIGNMENT == 0);
	h->at = mem_aligned(HEADER_ALIGNMENT, len);
	memcpy(h->at, bytes, len);
	h->len = (uint32_t)len;
	h->date_at = (uint16_t)date_at;
	h->date = (uint32_t)hc->date;
	h->slot = slot;
	*slot = h;
	cache_enter(&hc->cache, &h->entry, sizeof(*h) + len);
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
	memcpy(h->at + h->date_at, hc->date_text, hc->date_len);
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
			fresh = put(hc, slot, h->at, h->len, h->date_at);
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
