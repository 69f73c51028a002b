/*
 * auth: a hash table of a fixed size.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/auth.h"
#include "lib/mem.h"
#include "lib/need.h"

static struct grant **
bucket(const struct grant_cache *gc, const uint64_t key[2])
{
	return &gc->buckets[key[0] & gc->mask];
}

static void
drop(struct cache *c, struct cache_entry *e)
{
	struct grant_cache	*gc = (struct grant_cache *)c;
	struct grant		*g = (struct grant *)e, **link;

	for (link = bucket(gc, g->key); *link != g; link = &(*link)->next)
		need(*link != NULL);
	*link = g->next;
	cache_remove(c, e, sizeof(*g));
	free(g);
}

void
grant_init(struct grant_cache *gc, size_t limit)
{
	size_t	n = 64;

	while (n < limit)
		n *= 2;
	memset(gc, 0, sizeof(*gc));
	cache_init(&gc->cache, "grant", limit, 0, drop);
	gc->buckets = mem_array(n, sizeof(gc->buckets[0]));
	gc->mask = n - 1;
	hash_key_random(&gc->keys[0]);
	hash_key_random(&gc->keys[1]);
}

void
grant_free(struct grant_cache *gc)
{
	cache_drop_unheld(&gc->cache);
	need(gc->cache.entries == 0);
	mem_drop(&gc->buckets);
}

/* One by one, each with its length: what belongs to which is certain. */
static uint64_t
hash(const struct hash_key *key, const struct str parts[3])
{
	uint64_t	h = 0;

	for (int i = 0; i < 3; i++)
		h = hash_bytes(key, h, parts[i].at, parts[i].len);
	return h;
}

static void
make_key(const struct grant_cache *gc, const struct str parts[3],
    uint64_t key[2])
{
	key[0] = hash(&gc->keys[0], parts);
	key[1] = hash(&gc->keys[1], parts);
}

/* Held; NULL: there is none. */
static struct grant *
hold(const struct grant_cache *gc, const uint64_t key[2])
{
	struct grant	*g;

	for (g = *bucket(gc, key); g != NULL; g = g->next)
		if (memcmp(g->key, key, sizeof(g->key)) == 0)
			break;
	if (g != NULL)
		cache_hold(&g->entry);
	return g;
}

struct grant *
grant_hold(struct grant_cache *gc, struct str file, struct str user,
    struct str password)
{
	const struct str	 parts[3] = { file, user, password };
	uint64_t		 key[2];
	struct grant		*g;

	make_key(gc, parts, key);
	lock_take(gc->cache.lock);
	g = hold(gc, key);
	gc->cache.hits += g != NULL;
	gc->cache.misses += g == NULL;
	lock_release(gc->cache.lock);
	return g;
}

static struct grant *
new(struct grant_cache *gc, const uint64_t key[2])
{
	struct grant	*g = mem_zero(sizeof(*g)), **head = bucket(gc, key);

	memcpy(g->key, key, sizeof(g->key));
	g->next = *head;
	*head = g;
	cache_add(&gc->cache, &g->entry, sizeof(*g));
	cache_hold(&g->entry);
	cache_trim(&gc->cache);
	return g;
}

struct grant *
grant_add(struct grant_cache *gc, struct str file, struct str user,
    struct str password)
{
	const struct str	 parts[3] = { file, user, password };
	uint64_t		 key[2];
	struct grant		*g;

	make_key(gc, parts, key);
	lock_take(gc->cache.lock);
	g = hold(gc, key);
	if (g == NULL)
		g = new(gc, key);
	lock_release(gc->cache.lock);
	return g;
}

void
grant_release(struct grant_cache *gc, struct grant **gp)
{
	lock_take(gc->cache.lock);
	cache_release(&(*gp)->entry);
	lock_release(gc->cache.lock);
	*gp = NULL;
}

void
grant_begin(struct grant_cache *gc, struct grant *g)
{
	lock_take(gc->cache.lock);
	cache_hold(&g->entry);
	g->pending++;
	lock_release(gc->cache.lock);
}

void
grant_end(struct grant_cache *gc, struct grant **gp)
{
	lock_take(gc->cache.lock);
	(*gp)->pending--;
	cache_release(&(*gp)->entry);
	lock_release(gc->cache.lock);
	*gp = NULL;
}

/* A failure says nothing about the password. */
void
grant_answer(struct grant_cache *gc, struct grant *g,
    enum grant_verdict verdict, int error, int64_t now, int64_t keep)
{
	lock_take(gc->cache.lock);
	g->answer.verdict = verdict;
	g->answer.error = error;
	g->answer.until = now + keep;
	g->answer.number++;
	if (verdict == GRANT_RIGHT)
		g->answer.counts = now + GRANT_KEEPS * keep;
	else if (verdict == GRANT_WRONG)
		g->answer.counts = 0;
	lock_release(gc->cache.lock);
}

void
grant_take(struct grant_cache *gc, const struct grant *g,
    struct grant_answer *a)
{
	lock_take(gc->cache.lock);
	*a = g->answer;
	a->pending = g->pending > 0;
	lock_release(gc->cache.lock);
}
