/*
 * guests: the queue of newcomers, for policies that have none.
 */
#include "cache/guests.h"
#include "cache/policy.h"

/* Uses that are no other request's than the one that the file was made for: it
 * holds the file with the result of its lookup, and for its response. */
#define FIRST_USES	2

static void
take_entry(struct cache *c, struct cache_entry *e)
{
	size_t	bytes = policy_describe(c, e, 0).bytes;

	e->uses = (uint16_t)-FIRST_USES;
	if (c->policy->leave != NULL)
		c->policy->leave(c, e, bytes);
	c->order.newcomers += bytes;
	policy_move(c, e, POLICY_NEWCOMERS);
}

void
guests_take_file(struct file *f)
{
	struct cache	*c = &f->cache->cache;

	/* See keep_file(). */
	lock_acquire(c->lock);
	f->guest = true;
	if (f->open_file != NULL && !c->policy->has_newcomers)
		take_entry(c, &f->open_file->entry);
	lock_release(c->lock);
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
		if (e == NULL || (int16_t)e->uses <= 0)
			return e;
		promote_guest(c, e);
	}
	return NULL;
}
