/*
 * auth: a hash table of a fixed size.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/auth.h"
#include "lib/mem.h"
#include "lib/need.h"

static struct auth_entry **
find_bucket(const struct auth_cache *ac, const uint64_t key[2])
{
	return &ac->buckets[key[0] & ac->mask];
}

static void
drop_entry(struct cache *c, struct cache_entry *entry)
{
	struct auth_cache	*ac = (struct auth_cache *)c;
	struct auth_entry	*e = (struct auth_entry *)entry, **link;

	for (link = find_bucket(ac, e->key); *link != e; link = &(*link)->next)
		need(*link != NULL);
	*link = e->next;
	cache_remove(c, entry, sizeof(*e));
	free(e);
}

void
auth_init(struct auth_cache *ac, size_t limit)
{
	size_t	n = 64;

	while (n < limit)
		n *= 2;
	memset(ac, 0, sizeof(*ac));
	cache_init(&ac->cache, "auth", limit, 0, drop_entry);
	ac->buckets = mem_array(n, sizeof(ac->buckets[0]));
	ac->mask = n - 1;
	hash_key_random(&ac->keys[0]);
	hash_key_random(&ac->keys[1]);
}

void
auth_free(struct auth_cache *ac)
{
	cache_drop_unheld(&ac->cache);
	need(ac->cache.entries == 0);
	cache_end(&ac->cache);
	mem_drop(&ac->buckets);
}

/* Each part is hashed with its length, so that no two triples are alike. */
static uint64_t
hash_parts(const struct hash_key *key, const struct str parts[3])
{
	uint64_t	h = 0;

	for (int i = 0; i < 3; i++)
		h = hash_bytes(key, h, parts[i].at, parts[i].len);
	return h;
}

static void
make_key(const struct auth_cache *ac, const struct str parts[3],
    uint64_t key[2])
{
	key[0] = hash_parts(&ac->keys[0], parts);
	key[1] = hash_parts(&ac->keys[1], parts);
}

/* Holds an entry; NULL: there is none. */
static struct auth_entry *
hold_entry(const struct auth_cache *ac, const uint64_t key[2])
{
	struct auth_entry	*e;

	for (e = *find_bucket(ac, key); e != NULL; e = e->next)
		if (memcmp(e->key, key, sizeof(e->key)) == 0)
			break;
	if (e != NULL)
		cache_hold(&e->entry);
	return e;
}

static struct auth_entry *
add_entry(struct auth_cache *ac, const uint64_t key[2])
{
	struct auth_entry	*e = mem_zero(sizeof(*e));
	struct auth_entry	**head = find_bucket(ac, key);

	memcpy(e->key, key, sizeof(e->key));
	e->next = *head;
	*head = e;
	cache_add(&ac->cache, &e->entry, sizeof(*e));
	cache_hold(&e->entry);
	cache_trim(&ac->cache);
	return e;
}

/* Counts a look-up that is not to add. */
static struct auth_entry *
look_up(struct auth_cache *ac, const struct str parts[3], bool add)
{
	uint64_t		 key[2];
	struct auth_entry	*e;

	make_key(ac, parts, key);
	lock_acquire(ac->cache.lock);
	e = hold_entry(ac, key);
	ac->cache.hits += e != NULL && !add;
	ac->cache.misses += e == NULL && !add;
	if (e == NULL && add)
		e = add_entry(ac, key);
	lock_release(ac->cache.lock);
	return e;
}

struct auth_entry *
auth_hold(struct auth_cache *ac, struct str file, struct str user,
    struct str password)
{
	const struct str	parts[3] = { file, user, password };

	return look_up(ac, parts, false);
}

struct auth_entry *
auth_add(struct auth_cache *ac, struct str file, struct str user,
    struct str password)
{
	const struct str	parts[3] = { file, user, password };

	return look_up(ac, parts, true);
}

void
auth_release(struct auth_cache *ac, struct auth_entry **ep)
{
	lock_acquire(ac->cache.lock);
	cache_release(&(*ep)->entry);
	lock_release(ac->cache.lock);
	*ep = NULL;
}

void
auth_begin(struct auth_cache *ac, struct auth_entry *e)
{
	lock_acquire(ac->cache.lock);
	cache_hold(&e->entry);
	e->pending++;
	lock_release(ac->cache.lock);
}

void
auth_end(struct auth_cache *ac, struct auth_entry **ep)
{
	lock_acquire(ac->cache.lock);
	(*ep)->pending--;
	cache_release(&(*ep)->entry);
	lock_release(ac->cache.lock);
	*ep = NULL;
}

/* A failure changes nothing about how long the password counts as right. */
void
auth_set(struct auth_cache *ac, struct auth_entry *e,
    enum auth_verdict verdict, int error, int64_t now, int64_t keep)
{
	lock_acquire(ac->cache.lock);
	e->result.verdict = verdict;
	e->result.error = error;
	e->result.valid_until = now + keep;
	e->result.count++;
	if (verdict == AUTH_RIGHT)
		e->result.stale_until = now + AUTH_STALE_FACTOR * keep;
	else if (verdict == AUTH_WRONG)
		e->result.stale_until = 0;
	lock_release(ac->cache.lock);
}

void
auth_get(struct auth_cache *ac, const struct auth_entry *e,
    struct auth_result *a)
{
	lock_acquire(ac->cache.lock);
	*a = e->result;
	a->pending = e->pending > 0;
	lock_release(ac->cache.lock);
}
