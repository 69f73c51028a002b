/*
 * policy_lru: entries are queued in the order of their arrival, and a victim
 * that has been used since goes to the back instead.  A true LRU would relink
 * an entry and its neighbours at every hit: with many files, three more misses
 * of the processor's caches for each request.
 */
#include "cache/policy.h"

static void
add_entry(struct cache *c, struct cache_entry *e)
{
	policy_enqueue(c, e, POLICY_MAIN);
}

static void
keep_entry(struct cache *c, struct cache_entry *e)
{
	policy_move(c, e, POLICY_MAIN);
}

static struct cache_entry *
find_victim(struct cache *c)
{
	struct cache_entry	*e, *next;
	size_t			 left = c->entries;
	unsigned		 chances = POLICY_CHANCES;

	policy_adopt(c, false);
	e = TAILQ_FIRST(&c->order.queues[POLICY_MAIN]);
	for (; e != NULL && left > 0; e = next, left--) {
		next = TAILQ_NEXT(e, link);
		if (e->holds == 0 && (e->uses == 0 || chances == 0))
			return e;
		if (e->holds == 0)
			chances--;
		e->uses = 0;
		policy_move(c, e, POLICY_MAIN);
	}
	/* All entries had been used: the first that is not held goes. */
	return policy_find_unheld(c, POLICY_MAIN);
}

const struct cache_policy policy_lru = {
	.name = "lru",
	.add = add_entry,
	.keep = keep_entry,
	.victim = find_victim,
	.spare = policy_spare_once,
};
