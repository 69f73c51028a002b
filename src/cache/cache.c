/*
 * cache: entries, limits, and the order in which they go.
 */
#include <stdio.h>

#include "cache/cache.h"
#include "lib/need.h"

#define DISABLED_LIMIT	1	/* bytes: less than any entry */

void
cache_init(struct cache *c, const char *name, size_t limit_entries,
    size_t limit_bytes, void (*drop)(struct cache *, struct cache_entry *))
{
	*c = (struct cache){
		.name = name,
		.policy = &cache_policy_lru,
		.limit_entries = limit_entries,
		.limit_bytes = limit_bytes,
		.drop = drop,
	};
	TAILQ_INIT(&c->queue);
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

void
cache_add(struct cache *c, struct cache_entry *e, size_t bytes)
{
	e->holds = 0;
	e->used = false;
	c->policy->add(c, e);
	cache_charge(c, bytes);
}

void
cache_remove(struct cache *c, struct cache_entry *e, size_t bytes)
{
	TAILQ_REMOVE(&c->queue, e, queue);
	cache_uncharge(c, bytes);
}

void
cache_requeue(struct cache *c, struct cache_entry *e)
{
	TAILQ_REMOVE(&c->queue, e, queue);
	TAILQ_INSERT_TAIL(&c->queue, e, queue);
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

	while (cache_is_over(c) && (e = c->policy->victim(c)) != NULL) {
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

	for (e = TAILQ_FIRST(&c->queue); e != NULL; e = next) {
		next = TAILQ_NEXT(e, queue);
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

/*
 * Nearly least recently used: entries are queued in the order of their arrival,
 * and a victim that has been used since goes to the back instead.  A true LRU
 * would relink an entry and its neighbours at every hit: with many files, three
 * more misses of the processor's caches for each request.
 */
static void
lru_add(struct cache *c, struct cache_entry *e)
{
	TAILQ_INSERT_TAIL(&c->queue, e, queue);
}

static struct cache_entry *
lru_victim(struct cache *c)
{
	struct cache_entry	*e, *next;
	size_t			 left = c->entries;
	unsigned		 chances = CACHE_CHANCES;

	for (e = TAILQ_FIRST(&c->queue); left > 0; e = next, left--) {
		next = TAILQ_NEXT(e, queue);
		if (e->holds == 0 && (!e->used || chances == 0))
			return e;
		if (e->holds == 0)
			chances--;
		e->used = false;
		cache_requeue(c, e);
	}
	/* All entries had been used: the first that is not held goes. */
	TAILQ_FOREACH(e, &c->queue, queue)
		if (e->holds == 0)
			return e;
	return NULL;
}

const struct cache_policy cache_policy_lru = {
	.name = "lru",
	.add = lru_add,
	.victim = lru_victim,
};
