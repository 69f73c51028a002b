/*
 * keep: counts what is kept, and moves entries to their queue.
 */
#include "cache/file_private.h"
#include "cache/keep.h"
#include "cache/pathname_private.h"
#include "cache/policy.h"

/* The most that may be kept: bytes, or paths. */
static size_t
get_share(const struct cache *c)
{
	return (c->limit_entries != 0 ? c->limit_entries : c->limit_bytes) /
	    KEEP_SHARE;
}

/* Whether so much more may be kept. */
static bool
has_room(struct cache *c, size_t more)
{
	bool	has = c->order.kept + more <= get_share(c);

	c->order.kept_full |= !has;
	return has;
}

void
keep_file(struct file *f)
{
	/* Another thread may look for a descriptor to close: it has found the
	 * file already, and counts references in the same word. */
	lock_acquire(f->cache->cache.lock);
	f->kept = true;
	lock_release(f->cache->cache.lock);
}

bool
keep_add(struct cache *c, struct cache_entry *e, size_t bytes)
{
	/* A cache that is disabled has no share. */
	if (get_share(c) == 0 || !has_room(c, bytes))
		return false;
	policy_drop_guest(c, e, bytes);
	if (c->policy->leave != NULL)
		c->policy->leave(c, e, bytes);
	policy_move(c, e, POLICY_KEPT);
	c->order.kept += bytes;
	/* A kept edge leaves the part that edges may have to others. */
	if (policy_describe(c, e, bytes).edge)
		c->edges -= bytes;
	return true;
}

void
keep_chunk(struct chunk_cache *cc, struct chunk *k)
{
	bool	mapped = !k->file->small;

	if (!k->file->kept)
		return;
	if (mapped && cc->limit_mappings != 0 &&
	    cc->kept_mappings >= cc->limit_mappings / KEEP_SHARE)
		cc->cache.order.kept_full = true;
	else if (keep_add(&cc->cache, &k->entry, sizeof(*k) + chunk_len(k)))
		cc->kept_mappings += mapped;
}

void
keep_drop_chunk(struct chunk_cache *cc, const struct chunk *k)
{
	cc->kept_mappings -= !k->file->small && k->entry.queue == POLICY_KEPT;
}

struct cache_entry *
keep_victim(const struct cache *c, bool over)
{
	if (c->order.kept == 0 || (over && c->order.kept <= get_share(c)))
		return NULL;
	return policy_find_unheld(c, POLICY_KEPT);
}

/* For how many paths one counts: a long name takes the bytes of several. */
static size_t
weigh_path(const struct path *p)
{
	return 1 + (sizeof(*p) + p->len) / PATHNAME_BYTES;
}

void
keep_path(struct pathname_cache *pc, struct path *p)
{
	size_t	weight = weigh_path(p);

	lock_acquire(pc->cache.lock);
	if (p->file != NULL && !p->kept && has_room(&pc->cache, weight)) {
		p->kept = true;
		pc->cache.order.kept += weight;
	}
	lock_release(pc->cache.lock);
}

bool
keep_holds_path(const struct pathname_cache *pc, const struct path *p)
{
	return p->kept && pc->cache.order.kept <= get_share(&pc->cache);
}

void
keep_drop_path(struct pathname_cache *pc, struct path *p)
{
	pc->cache.order.kept -= p->kept ? weigh_path(p) : 0;
	p->kept = false;
}

size_t
keep_count(const struct cache *c)
{
	size_t	kept;

	lock_acquire(c->lock);
	kept = c->order.kept;
	lock_release(c->lock);
	return kept;
}

bool
keep_take_full(struct cache *c)
{
	bool	full;

	lock_acquire(c->lock);
	full = c->order.kept_full && !c->order.kept_told;
	c->order.kept_told |= full;
	lock_release(c->lock);
	return full;
}
