/*
 * cache: entries, limits, and the order in which they go.
 */
#include <stdio.h>

#include "cache/edges.h"
#include "cache/guests.h"
#include "cache/keep.h"
#include "cache/policy.h"
#include "lib/need.h"

#define DISABLED_LIMIT	1	/* bytes: less than any entry */

void
cache_init(struct cache *c, const char *name, size_t limit_entries,
    size_t limit_bytes, void (*drop)(struct cache *, struct cache_entry *))
{
	*c = (struct cache){
		.name = name,
		.policy = &policy_lru,
		.limit_entries = limit_entries,
		.limit_bytes = limit_bytes,
		.drop = drop,
	};
	for (unsigned i = 0; i < POLICY_QUEUES; i++)
		TAILQ_INIT(&c->order.queues[i]);
}

void
cache_end(struct cache *c)
{
	ghosts_free(&c->order.ghosts);
}

void
cache_set_policy(struct cache *c, const struct cache_policy *policy)
{
	need(c->entries == 0);
	c->policy = policy;
}

void
cache_disable(struct cache *c)
{
	c->limit_bytes = DISABLED_LIMIT;
}

bool
cache_is_disabled(const struct cache *c)
{
	return c->limit_bytes == DISABLED_LIMIT;
}

void
cache_charge(struct cache *c, size_t bytes)
{
	c->entries++;
	c->bytes += bytes;
}

void
cache_uncharge(struct cache *c, size_t bytes)
{
	need(c->entries > 0 && c->bytes >= bytes);
	c->entries--;
	c->bytes -= bytes;
}

static size_t
edge_bytes(const struct cache *c, const struct cache_entry *e, size_t bytes)
{
	return policy_describe(c, e, bytes).edge ? bytes : 0;
}

void
cache_add(struct cache *c, struct cache_entry *e, size_t bytes)
{
	e->holds = 0;
	e->uses = 0;
	e->times = 0;
	cache_charge(c, bytes);
	c->edges += edge_bytes(c, e, bytes);
	if (!guests_add(c, e, bytes))
		c->policy->add(c, e);
}

void
cache_remove(struct cache *c, struct cache_entry *e, size_t bytes)
{
	bool	kept = e->queue == POLICY_KEPT;

	if (kept)
		c->order.kept -= bytes;
	else
		c->edges -= edge_bytes(c, e, bytes);
	policy_drop_guest(c, e, bytes);
	if (!kept && c->policy->leave != NULL)
		c->policy->leave(c, e, bytes);
	TAILQ_REMOVE(&c->order.queues[e->queue], e, link);
	cache_uncharge(c, bytes);
}

/* Whether a victim stays. */
static bool
spare_edge(struct cache *c, struct cache_entry *e)
{
	return c->edges > 0 && c->edges <= c->limit_bytes / EDGES_SHARE &&
	    policy_describe(c, e, 0).edge &&
	    (c->keep_edge == NULL || c->keep_edge(c, e));
}

/* Finds a victim by the policy, but edges stay. */
static struct cache_entry *
find_victim(struct cache *c)
{
	struct cache_entry	*e = c->policy->victim(c);

	for (unsigned left = POLICY_CHANCES; left > 0 && e != NULL &&
	    spare_edge(c, e); left--) {
		c->policy->keep(c, e);
		e = c->policy->victim(c);
	}
	return e;
}

struct cache_entry *
cache_victim(struct cache *c)
{
	struct cache_entry	*e = keep_victim(c, true);

	/* A mapping that is too many is hardly theirs. */
	if (e == NULL && cache_is_over(c))
		e = guests_victim(c, true);
	if (e == NULL)
		e = find_victim(c);
	if (e == NULL)
		e = guests_victim(c, false);
	return e != NULL ? e : keep_victim(c, false);
}

void
cache_requeue(struct cache *c, struct cache_entry *e)
{
	if (e->queue == POLICY_KEPT || policy_has_guest(c, e))
		policy_move(c, e, e->queue);
	else
		c->policy->keep(c, e);
}

bool
cache_is_over(const struct cache *c)
{
	return (c->limit_entries != 0 && c->entries > c->limit_entries) ||
	    (c->limit_bytes != 0 && c->bytes > c->limit_bytes);
}

void
cache_trim(struct cache *c)
{
	struct cache_entry	*e;

	while (cache_is_over(c) && (e = cache_victim(c)) != NULL) {
		c->evictions++;
		c->drop(c, e);
	}
}

void
cache_release_trim(struct cache *c, struct cache_entry *e)
{
	cache_release(e);
	if (e->holds > 0 || !cache_is_over(c))
		return;
	c->evictions++;
	c->drop(c, e);
}

void
cache_drop_unheld(struct cache *c)
{
	struct cache_entry	*e, *next;

	for (unsigned i = 0; i < POLICY_QUEUES; i++)
		for (e = TAILQ_FIRST(&c->order.queues[i]); e != NULL;
		    e = next) {
			next = TAILQ_NEXT(e, link);
			if (e->holds == 0)
				c->drop(c, e);
		}
}

void
cache_report(const struct cache *c, char *line, size_t size)
{
	snprintf(line, size, "%s cache: %zu entries, %zu bytes, %llu hits, "
	    "%llu misses, %llu evictions", c->name, c->entries, c->bytes,
	    (unsigned long long)c->hits, (unsigned long long)c->misses,
	    (unsigned long long)c->evictions);
}
