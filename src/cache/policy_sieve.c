/*
 * policy_sieve: a hand goes from the oldest entry to the newest, and then to
 * the oldest again.  An entry that has been used is spared where it is, one
 * that has not is the victim.  So new entries meet the hand early, and entries
 * in use are never moved.
 */
#include "cache/policy.h"

static void
add_entry(struct cache *c, struct cache_entry *e)
{
	policy_enqueue(c, e, POLICY_MAIN);
}

static struct cache_entry *
next_of(const struct cache *c, const struct cache_entry *e)
{
	struct cache_entry	*next = e == NULL ? NULL : TAILQ_NEXT(e, link);

	return next != NULL ? next : TAILQ_FIRST(&c->order.queues[POLICY_MAIN]);
}

static void
leave_entry(struct cache *c, struct cache_entry *e, size_t bytes)
{
	(void)bytes;
	if (c->order.hand == e)
		c->order.hand = TAILQ_NEXT(e, link);
}

/* The hand passes a victim that is to stay. */
static void
keep_entry(struct cache *c, struct cache_entry *e)
{
	if (c->order.hand == e)
		c->order.hand = TAILQ_NEXT(e, link);
}

static struct cache_entry *
find_victim(struct cache *c)
{
	struct cache_order	*order = &c->order;
	struct cache_entry	*e = order->hand;
	size_t			 left = 2 * c->entries;
	unsigned		 chances = POLICY_CHANCES;

	policy_adopt(c, false);
	if (e == NULL)
		e = TAILQ_FIRST(&order->queues[POLICY_MAIN]);
	for (; e != NULL && left > 0; e = next_of(c, e), left--) {
		if (e->holds > 0)
			continue;
		if (e->uses == 0 || chances == 0) {
			order->hand = e;
			return e;
		}
		chances--;
		e->uses = 0;
	}
	return NULL;
}

const struct cache_policy policy_sieve = {
	.name = "sieve",
	.add = add_entry,
	.keep = keep_entry,
	.victim = find_victim,
	.leave = leave_entry,
	.spare = policy_spare_once,
};
