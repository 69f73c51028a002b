/*
 * auth: a hash table of a fixed size.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/auth.h"
#include "lib/mem.h"
#include "lib/need.h"

static struct auth_entry **
find_bucket(const struct auth_cache *gc, const uint64_t key[2])
{
	return &gc->buckets[key[0] & gc->mask];
}

static void
drop_entry(struct cache *c, struct cache_entry *e)
{
	struct auth_cache	*gc = (struct auth_cache *)c;
	struct auth_entry		*g = (struct auth_entry *)e, **link;

	for (link = find_bucket(gc, g->key); *link != g; link = &(*link)->next)
		need(*link != NULL);
	*link = g->next;
	cache_remove(c, e, sizeof(*g));
	free(g);
}

void
auth_init(struct auth_cache *gc, size_t limit)
{
	size_t	n = 64;

	while (n < limit)
		n *= 2;
	memset(gc, 0, sizeof(*gc));
	cache_init(&gc->cache, "grant", limit, 0, drop_entry);
	gc->buckets = mem_array(n, sizeof(gc->buckets[0]));
	gc->mask = n - 1;
	hash_key_random(&gc->keys[0]);
	hash_key_random(&gc->keys[1]);
}

void
auth_free(struct auth_cache *gc)
{
	cache_drop_unheld(&gc->cache);
	need(gc->cache.entries == 0);
	mem_drop(&gc->buckets);
}

/* One by one, each with its length: what belongs to which is certain. */
static uint64_t
hash_parts(const struct hash_key *key, const struct str parts[3])
{
	uint64_t	h = 0;

	for (int i = 0; i < 3; i++)
		h = hash_bytes(key, h, parts[i].at, parts[i].len);
	return h;
}

static void
make_key(const struct auth_cache *gc, const struct str parts[3],
    uint64_t key[2])
{
	key[0] = hash_parts(&gc->keys[0], parts);
	key[1] = hash_parts(&gc->keys[1], parts);
}

/* Held; NULL: there is none. */
static struct auth_entry *
hold_entry(const struct auth_cache *gc, const uint64_t key[2])
{
	struct auth_entry	*g;

	for (g = *find_bucket(gc, key); g != NULL; g = g->next)
		if (memcmp(g->key, key, sizeof(g->key)) == 0)
			break;
	if (g != NULL)
		cache_hold(&g->entry);
	return g;
}

struct auth_entry *
auth_hold(struct auth_cache *gc, struct str file, struct str user,
    struct str password)
{
	const struct str	 parts[3] = { file, user, password };
	uint64_t		 key[2];
	struct auth_entry		*g;

	make_key(gc, parts, key);
	lock_acquire(gc->cache.lock);
	g = hold_entry(gc, key);
	gc->cache.hits += g != NULL;
	gc->cache.misses += g == NULL;
	lock_release(gc->cache.lock);
	return g;
}

static struct auth_entry *
add_entry(struct auth_cache *gc, const uint64_t key[2])
{
	struct auth_entry *g = mem_zero(sizeof(*g)),
			  **head = find_bucket(gc, key);

	memcpy(g->key, key, sizeof(g->key));
	g->next = *head;
	*head = g;
	cache_add(&gc->cache, &g->entry, sizeof(*g));
	cache_hold(&g->entry);
	cache_trim(&gc->cache);
	return g;
}

struct auth_entry *
auth_add(struct auth_cache *gc, struct str file, struct str user,
    struct str password)
{
	const struct str	 parts[3] = { file, user, password };
	uint64_t		 key[2];
	struct auth_entry		*g;

	make_key(gc, parts, key);
	lock_acquire(gc->cache.lock);
	g = hold_entry(gc, key);
	if (g == NULL)
		g = add_entry(gc, key);
	lock_release(gc->cache.lock);
	return g;
}

void
auth_release(struct auth_cache *gc, struct auth_entry **gp)
{
	lock_acquire(gc->cache.lock);
	cache_release(&(*gp)->entry);
	lock_release(gc->cache.lock);
	*gp = NULL;
}

void
auth_begin(struct auth_cache *gc, struct auth_entry *g)
{
	lock_acquire(gc->cache.lock);
	cache_hold(&g->entry);
	g->pending++;
	lock_release(gc->cache.lock);
}

void
auth_end(struct auth_cache *gc, struct auth_entry **gp)
{
	lock_acquire(gc->cache.lock);
	(*gp)->pending--;
	cache_release(&(*gp)->entry);
	lock_release(gc->cache.lock);
	*gp = NULL;
}

/* A failure says nothing about the password. */
void
auth_set(struct auth_cache *gc, struct auth_entry *g,
    enum auth_verdict verdict, int error, int64_t now, int64_t keep)
{
	lock_acquire(gc->cache.lock);
	g->result.verdict = verdict;
	g->result.error = error;
	g->result.valid_until = now + keep;
	g->result.count++;
	if (verdict == AUTH_RIGHT)
		g->result.stale_until = now + AUTH_STALE_FACTOR * keep;
	else if (verdict == AUTH_WRONG)
		g->result.stale_until = 0;
	lock_release(gc->cache.lock);
}

void
auth_get(struct auth_cache *gc, const struct auth_entry *g,
    struct auth_result *a)
{
	lock_acquire(gc->cache.lock);
	*a = g->result;
	a->pending = g->pending > 0;
	lock_release(gc->cache.lock);
}
