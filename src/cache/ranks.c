/*
 * ranks: queues by weight.
 *
 * An entry has five bits for its rank.  Ranks of class n are multiples of 2^n,
 * and a weight is 16 of these: so a queued rank is at most 16 steps above the
 * clock, and five bits tell which.
 */
#include "cache/policy.h"
#include "cache/ranks.h"

#define WEIGHT_STEPS	16
#define RANK_BITS	5
#define RANK_MASK	((1U << RANK_BITS) - 1)

static void
set_rank(const struct cache *c, struct cache_entry *e, unsigned class)
{
	uint64_t	steps = (c->order.clock >> class) + WEIGHT_STEPS;

	e->rank = steps & RANK_MASK;
}

static uint64_t
rank_of(const struct cache *c, const struct cache_entry *e)
{
	uint64_t	now = c->order.clock >> e->queue;

	return (now + ((e->rank - now) & RANK_MASK)) << e->queue;
}

void
ranks_add(struct cache *c, struct cache_entry *e, unsigned class)
{
	set_rank(c, e, class);
	policy_enqueue(c, e, class);
}

/* Counts the uses since the last look, and queues the entry anew. */
void
ranks_keep(struct cache *c, struct cache_entry *e,
    unsigned (*class_of)(const struct cache *, const struct cache_entry *))
{
	unsigned	times = e->times + e->uses;
	unsigned	class;

	e->times = (times < RANKS_TIMES_MAX ? times : RANKS_TIMES_MAX) &
	    RANKS_TIMES_MAX;
	e->uses = 0;
	class = class_of(c, e);
	set_rank(c, e, class);
	policy_move(c, e, class);
}

/* Takes over some entries of another policy.  In each queue they come before
 * the entries of this policy, as all entries are queued at the end. */
static void
adopt_some(struct cache *c,
    unsigned (*class_of)(const struct cache *, const struct cache_entry *))
{
	struct cache_entry	*e;
	unsigned		 left = POLICY_CHANCES, class;

	for (unsigned i = 0; i < POLICY_QUEUES; i++)
		while (i != POLICY_KEPT &&
		    (e = TAILQ_FIRST(&c->order.queues[i])) != NULL &&
		    (class = class_of(c, e)) != i) {
			if (left-- == 0)
				return;
			policy_drop_guest(c, e,
			    policy_describe(c, e, 0).bytes);
			set_rank(c, e, class);
			policy_move(c, e, class);
		}
	c->order.foreign = false;
}

/* The entry of least rank: of the first ones of all queues, or of the first
 * ones that are not held. */
static struct cache_entry *
find_least(const struct cache *c, bool unheld)
{
	struct cache_entry	*e, *least = NULL;

	for (unsigned i = 0; i < RANKS_CLASSES; i++) {
		if (i == POLICY_KEPT)
			continue;
		e = unheld ? policy_find_unheld(c, i) :
		    TAILQ_FIRST(&c->order.queues[i]);
		if (e != NULL && (least == NULL ||
		    rank_of(c, e) < rank_of(c, least)))
			least = e;
	}
	return least;
}

/* An entry that is held, or has been used, goes behind others once more. */
struct cache_entry *
ranks_victim(struct cache *c,
    unsigned (*class_of)(const struct cache *, const struct cache_entry *))
{
	struct cache_entry	*e;

	if (c->order.foreign)
		adopt_some(c, class_of);
	for (unsigned chances = POLICY_CHANCES; chances > 0; chances--) {
		e = find_least(c, false);
		if (e == NULL)
			return NULL;
		c->order.clock = rank_of(c, e);
		if (e->holds == 0 && e->uses == 0)
			return e;
		ranks_keep(c, e, class_of);
	}
	return find_least(c, true);
}
