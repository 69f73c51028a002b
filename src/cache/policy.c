/*
 * policy: what policies share: queues, and how a hand spares.
 */
#include "cache/policy.h"

struct cache_item
policy_describe(const struct cache *c, const struct cache_entry *e,
    size_t bytes)
{
	struct cache_item	item = { .bytes = bytes, .whole = bytes };

	if (c->describe != NULL)
		c->describe(e, &item);
	return item;
}

void
policy_enqueue(struct cache *c, struct cache_entry *e, unsigned queue)
{
	e->queue = queue & (POLICY_QUEUES - 1);
	TAILQ_INSERT_TAIL(&c->order.queues[queue], e, link);
}

void
policy_move(struct cache *c, struct cache_entry *e, unsigned queue)
{
	TAILQ_REMOVE(&c->order.queues[e->queue], e, link);
	policy_enqueue(c, e, queue);
}

bool
policy_has_guest(const struct cache *c, const struct cache_entry *e)
{
	return !c->policy->has_newcomers && e->queue == POLICY_NEWCOMERS;
}

/* A newcomer that another policy has left is not in the sum. */
void
policy_drop_guest(struct cache *c, const struct cache_entry *e, size_t bytes)
{
	if (policy_has_guest(c, e))
		c->order.newcomers -= bytes < c->order.newcomers ? bytes :
		    c->order.newcomers;
}

void
policy_change(struct cache *c, const struct cache_policy *policy)
{
	struct cache_order	*order = &c->order;

	if (policy == c->policy)
		return;
	c->policy = policy;
	order->foreign = true;
	order->hand = NULL;
	order->newcomers = 0;
	order->clock = 0;
	ghosts_free(&order->ghosts);
}

void
policy_adopt(struct cache *c, bool newcomers)
{
	struct cache_entry	*e;
	unsigned		 left = POLICY_CHANCES;
	unsigned		 end;

	if (!c->order.foreign)
		return;
	end = newcomers ? POLICY_NEWCOMERS : POLICY_MAIN;
	for (unsigned i = 0; i < end; i++)
		while (i != POLICY_KEPT &&
		    (e = TAILQ_FIRST(&c->order.queues[i])) != NULL) {
			if (left-- == 0)
				return;
			policy_drop_guest(c, e, policy_describe(c, e, 0).bytes);
			policy_move(c, e, POLICY_MAIN);
		}
	c->order.foreign = false;
}

struct cache_entry *
policy_find_unheld(const struct cache *c, unsigned queue)
{
	struct cache_entry	*e;

	TAILQ_FOREACH(e, &c->order.queues[queue], link)
		if (e->holds == 0)
			break;
	return e;
}

bool
policy_spare_once(uint16_t *uses)
{
	bool	used = *uses > 0;

	*uses = 0;
	return used;
}

bool
policy_spare_half(uint16_t *uses)
{
	bool	used = *uses > 0;

	*uses /= 2;
	return used;
}
