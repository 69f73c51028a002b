/*
 * guests: the queue of newcomers, for policies that have none.
 */
#include "cache/guests.h"
#include "cache/policy.h"

void
guests_take_file(struct file *f)
{
	/* See keep_file(). */
	lock_acquire(f->cache->cache.lock);
	f->guest = true;
	lock_release(f->cache->cache.lock);
}

bool
guests_add(struct cache *c, struct cache_entry *e, size_t bytes)
{
	if (c->policy->has_newcomers || !policy_describe(c, e, bytes).guest)
		return false;
	c->order.newcomers += bytes;
	policy_enqueue(c, e, POLICY_NEWCOMERS);
	return true;
}

static void
promote_guest(struct cache *c, struct cache_entry *e)
{
	policy_drop_guest(c, e, policy_describe(c, e, 0).bytes);
	TAILQ_REMOVE(&c->order.queues[POLICY_NEWCOMERS], e, link);
	e->uses = 0;
	c->policy->add(c, e);
}

struct cache_entry *
guests_victim(struct cache *c, bool over)
{
	struct cache_entry	*e;

	if (c->policy->has_newcomers)
		return NULL;
	for (unsigned left = POLICY_CHANCES; left > 0; left--) {
		if (over && c->order.newcomers <= c->limit_bytes / GUESTS_SHARE)
			return NULL;
		e = policy_find_unheld(c, POLICY_NEWCOMERS);
		if (e == NULL || e->uses == 0)
			return e;
		promote_guest(c, e);
	}
	return NULL;
}
