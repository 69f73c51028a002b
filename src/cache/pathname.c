/*
 * pathname: a hash table of targets, by linear hashing: it grows by one bucket
 * for each new path, so no request pays for the copy of a table.  The array of
 * buckets has its full size from the start, and takes memory as it is used.
 * Buckets are split in their order, each into itself and a new one.
 */
#include <sys/param.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cache/keep.h"
#include "cache/path_info.h"
#include "cache/pathname_private.h"
#include "cache/policy.h"
#include "lib/mem.h"
#include "lib/need.h"

/* Buckets of one call of pathname_forget(), with about as many paths. */
#define FORGET_BUCKETS	512

#define BUCKETS_MIN	64

/* For each new head, heads of paths in so many buckets are looked at, with so
 * many second chances.  So a head goes even if few buckets have one. */
#define EVICT_BUCKETS	128
#define EVICT_CHANCES	8

/* Absent names that nobody has asked for again go first, as long as there are
 * more than one in so many paths. */
#define ABSENTS_SHARE	128

/* Clients choose the length of names, and free memory of one length in a slab
 * serves no other: so only records up to this size, which are most, are in the
 * slab. */
#define POOLED_MAX		128

/* The name begins in the padding at the end of the struct. */
static size_t
path_size(size_t name_len)
{
	size_t	size = offsetof(struct path, name) + name_len;

	return size < sizeof(struct path) ? sizeof(struct path) : size;
}

static struct path *
alloc_path(struct pathname_cache *pc, size_t size)
{
	return size <= POOLED_MAX ? slab_alloc_zero(&pc->slab, size) :
	    mem_zero(size);
}

static void
free_path(struct pathname_cache *pc, struct path *p, size_t size)
{
	if (size <= POOLED_MAX)
		slab_free(&pc->slab, p, size);
	else
		free(p);
}

/* Computes the hash again: needed only when a path comes, is moved, or goes. */
static uint32_t
hash_of(const struct pathname_cache *pc, const struct path *p)
{
	return pathname_hash(pc, p->namespace,
	    (struct str){ p->name, p->len });
}

static struct path **
bucket_of(const struct pathname_cache *pc, const struct path *p)
{
	return pathname_bucket(pc, hash_of(pc, p));
}

static bool
is_variant(const struct path *p)
{
	return p->namespace >> PATHNAME_SITE_BITS != 0;
}

/* Variants have the bucket of their base, and stand behind it: those who want
 * the base do not pass them, and from the base they are near. */
static void
link_path(struct pathname_cache *pc, struct path *p)
{
	struct path	**link = bucket_of(pc, p);

	while (is_variant(p) && *link != NULL)
		link = &(*link)->next;
	p->next = *link;
	*link = p;
}

static void
split_bucket(struct pathname_cache *pc)
{
	struct path	**head, *p, *next;

	if (pc->nbuckets > pc->mask)
		pc->mask = pc->mask << 1 | 1;
	head = &pc->buckets[pc->nbuckets++ & pc->mask >> 1];
	next = *head;
	*head = NULL;
	while ((p = next) != NULL) {
		next = p->next;
		link_path(pc, p);
	}
}

static void
grow_table(struct pathname_cache *pc)
{
	if (pc->nbuckets < pc->cache.entries &&
	    pc->nbuckets < pc->nbuckets_max)
		split_bucket(pc);
}

void
pathname_forget_heads(struct pathname_cache *pc, struct path *p)
{
	header_drop_all(pc->headers, &p->heads);
}

void
pathname_forget_info(struct pathname_cache *pc, struct path *p)
{
	keep_drop_path(pc, p);
	pathname_forget_heads(pc, p);
	file_drop(&p->file);
}

static void
drop_path(struct pathname_cache *pc, struct path *p)
{
	struct path	**link;

	for (link = bucket_of(pc, p); *link != p; link = &(*link)->next)
		need(*link != NULL);
	*link = p->next;
	cache_uncharge(&pc->cache, path_size(p->len));
	pathname_forget_info(pc, p);
	free_path(pc, p, path_size(p->len));
}

/* Looks at the next buckets.  Evicts heads of kept paths only with kept. */
static void
evict_heads_from(struct pathname_cache *pc, bool kept)
{
	unsigned	 chances = EVICT_CHANCES;
	struct path	*p;

	for (int way = EVICT_BUCKETS; way > 0 &&
	    cache_is_over(&pc->headers->cache); way--) {
		pc->heads_hand = (pc->heads_hand + 1) % pc->nbuckets;
		for (p = pc->buckets[pc->heads_hand]; p != NULL; p = p->next)
			if (p->heads != NULL && (kept || !p->kept))
				header_evict(pc->headers, &p->heads, &chances);
	}
}

/*
 * A hand of its own goes round the paths for their heads, some buckets for each
 * new head.  Heads exceed their limit only if few paths have one; those paths
 * take much more memory.  Heads of kept paths go if there are too few others on
 * the way.
 */
void
pathname_evict_heads(struct pathname_cache *pc)
{
	size_t	first = pc->heads_hand;

	evict_heads_from(pc, false);
	if (!cache_is_over(&pc->headers->cache) || pc->cache.order.kept == 0)
		return;
	pc->heads_hand = first;
	evict_heads_from(pc, true);
}

void
pathname_note_absent(struct pathname_cache *pc, const struct path *p)
{
	absents_add(&pc->absents, hash_of(pc, p));
}

static struct path *
find_absent(const struct pathname_cache *pc, uint32_t hash)
{
	struct path	*p;

	for (p = *pathname_bucket(pc, hash); p != NULL; p = p->next)
		if (p->kind == PATHNAME_REFUSED && p->uses == 0 &&
		    p->holds == 0 && hash_of(pc, p) == hash)
			break;
	return p;
}

/* The absent name that was found so long ago and not asked for since. */
static struct path *
find_absent_victim(struct pathname_cache *pc)
{
	unsigned	 chances = POLICY_CHANCES;
	struct path	*p = NULL;
	uint32_t	 hash;

	while (p == NULL && chances-- > 0 &&
	    pc->absents.n > pc->cache.limit_entries / ABSENTS_SHARE &&
	    absents_take(&pc->absents, &hash))
		p = find_absent(pc, hash);
	return p;
}

/* The order of the buckets is as good as the order of arrival: so no path needs
 * a place in a queue.  A variant goes before a base of the same bucket: without
 * its base it must be looked up again.  NULL: all are held. */
static struct path *
find_passed_victim(struct pathname_cache *pc)
{
	unsigned	 chances = POLICY_CHANCES;
	struct path	*p, *victim = NULL;

	for (size_t left = 2 * pc->nbuckets; left > 0 && victim == NULL;
	    left--) {
		pc->hand = (pc->hand + 1) % pc->nbuckets;
		for (p = pc->buckets[pc->hand]; p != NULL; p = p->next) {
			if (p->holds > 0 || keep_holds_path(pc, p) ||
			    (victim != NULL && !is_variant(p)))
				continue;
			if (chances == 0 || !pc->cache.policy->spare(&p->uses))
				victim = p;
			else
				chances--;
		}
	}
	return victim;
}

static struct path *
find_victim(struct pathname_cache *pc)
{
	struct path	*p = find_absent_victim(pc);

	return p != NULL ? p : find_passed_victim(pc);
}

void
pathname_trim(struct pathname_cache *pc)
{
	struct path	*p;

	while (cache_is_over(&pc->cache) && (p = find_victim(pc)) != NULL) {
		pc->cache.evictions++;
		drop_path(pc, p);
	}
}

void
pathname_set_limit(struct pathname_cache *pc, size_t limit)
{
	pc->cache.limit_entries = limit;
	pc->cache.limit_bytes = limit * PATHNAME_BYTES;
}

/* Paths with long names use up the limit of bytes first. */
size_t
pathname_used(const struct pathname_cache *pc)
{
	return MAX(pc->cache.entries,
	    (pc->cache.bytes + PATHNAME_BYTES - 1) / PATHNAME_BYTES);
}

void
pathname_init(struct pathname_cache *pc, size_t limit,
    struct header_cache *headers)
{
	memset(pc, 0, sizeof(*pc));
	cache_init(&pc->cache, "pathname", limit, limit * PATHNAME_BYTES, NULL);
	slab_init(&pc->slab);
	pc->nbuckets = BUCKETS_MIN;
	pc->nbuckets_max = limit < BUCKETS_MIN ? BUCKETS_MIN : limit;
	pc->buckets = mem_array(pc->nbuckets_max, sizeof(pc->buckets[0]));
	pc->mask = BUCKETS_MIN - 1;
	pc->headers = headers;
	absents_init(&pc->absents, limit);
	pc->types = mem_array(1, sizeof(pc->types[0]));
	pc->ntypes = 1;
	hash_key_random(&pc->key);
}

void
pathname_free(struct pathname_cache *pc)
{
	for (size_t i = 0; i < pc->nbuckets; i++)
		while (pc->buckets[i] != NULL) {
			need(pc->buckets[i]->holds == 0);
			drop_path(pc, pc->buckets[i]);
		}
	need(pc->cache.entries == 0);
	slab_destroy(&pc->slab);
	mem_drop(&pc->buckets);
	mem_drop(&pc->types);
	absents_free(&pc->absents);
	cache_end(&pc->cache);
}

static inline struct path *
find_path(const struct pathname_cache *pc, uint32_t h, uint32_t namespace,
    struct str name)
{
	struct path	*p;

	for (p = *pathname_bucket(pc, h); p != NULL; p = p->next)
		if (p->namespace == namespace && p->len == name.len &&
		    p->hash_tag == pathname_hash_tag(h) &&
		    memcmp(p->name, name.at, name.len) == 0)
			break;
	return p;
}

struct path *
pathname_find(const struct pathname_cache *pc, uint32_t namespace,
    struct str name)
{
	return find_path(pc, pathname_hash(pc, namespace, name), namespace,
	    name);
}

static inline struct path *
hold_found(struct pathname_cache *pc, struct path *p)
{
	pc->cache.hits++;
	p->holds++;
	p->uses += p->uses < UINT16_MAX;	/* else it would be cold */
	return p;
}

static inline struct path *
hold_by_name(struct pathname_cache *pc, uint32_t h, uint32_t namespace,
    struct str name)
{
	struct path	*p = find_path(pc, h, namespace, name);

	if (p != NULL)
		return hold_found(pc, p);
	pc->cache.misses++;
	return NULL;
}

static LOCKED struct path *
hold_by_name_locked(struct pathname_cache *pc, uint32_t h, uint32_t namespace,
    struct str name)
{
	struct path	*p;

	lock_acquire(pc->cache.lock);
	p = hold_by_name(pc, h, namespace, name);
	lock_release(pc->cache.lock);
	return p;
}

struct path *
pathname_hold_hashed(struct pathname_cache *pc, uint32_t h, uint32_t namespace,
    struct str name)
{
	return pc->cache.lock != NULL ?
	    hold_by_name_locked(pc, h, namespace, name) :
	    hold_by_name(pc, h, namespace, name);
}

struct path *
pathname_hold(struct pathname_cache *pc, uint32_t namespace, struct str name)
{
	return pathname_hold_hashed(pc, pathname_hash(pc, namespace, name),
	    namespace, name);
}

/* Finds a base, or a variant of a variant, which may stand anywhere. */
static COLD struct path *
find_other(const struct pathname_cache *pc, const struct path *of,
    uint32_t namespace)
{
	return pathname_find(pc, namespace, (struct str){ of->name, of->len });
}

/* Finds the same name in another namespace. */
static inline struct path *
find_variant(const struct pathname_cache *pc, const struct path *of,
    uint32_t namespace)
{
	struct path	*p;

	for (p = of->next; p != NULL; p = p->next)
		if (p->namespace == namespace && p->len == of->len &&
		    memcmp(p->name, of->name, of->len) == 0)
			return p;
	return find_other(pc, of, namespace);
}

static inline bool
switch_path(struct pathname_cache *pc, struct path **pp, uint32_t namespace)
{
	struct path	*p = find_variant(pc, *pp, namespace);

	if (p == NULL)
		return false;
	(*pp)->holds--;
	*pp = hold_found(pc, p);
	return true;
}

static LOCKED bool
switch_path_locked(struct pathname_cache *pc, struct path **pp,
    uint32_t namespace)
{
	bool	done;

	lock_acquire(pc->cache.lock);
	done = switch_path(pc, pp, namespace);
	lock_release(pc->cache.lock);
	return done;
}

bool
pathname_switch(struct pathname_cache *pc, struct path **pp, uint32_t namespace)
{
	return pc->cache.lock != NULL ? switch_path_locked(pc, pp, namespace) :
	    switch_path(pc, pp, namespace);
}

static struct path *
add_path(struct pathname_cache *pc, uint32_t h, uint32_t namespace,
    struct str name)
{
	struct path	*p = alloc_path(pc, path_size(name.len));

	need(name.len <= PATHNAME_MAX);
	p->namespace = namespace;
	p->len = name.len & PATHNAME_MAX;
	p->hash_tag = pathname_hash_tag(h) & 0x7f;
	memcpy(p->name, name.at, name.len);
	link_path(pc, p);
	cache_charge(&pc->cache, path_size(name.len));
	p->holds++;
	pathname_trim(pc);
	grow_table(pc);
	return p;
}

struct path *
pathname_add(struct pathname_cache *pc, uint32_t namespace, struct str name,
    const void *rules, bool guarded)
{
	uint32_t	 h = pathname_hash(pc, namespace, name);
	struct path	*p;

	lock_acquire(pc->cache.lock);
	p = find_path(pc, h, namespace, name);
	if (p != NULL)
		p->holds++;
	else {
		p = add_path(pc, h, namespace, name);
		p->rules = rules;
		p->guarded = guarded;
	}
	lock_release(pc->cache.lock);
	return p;
}

void
pathname_hold_again(struct pathname_cache *pc, struct path *p)
{
	lock_acquire(pc->cache.lock);
	p->holds++;
	lock_release(pc->cache.lock);
}

static LOCKED void
release_locked(struct pathname_cache *pc, struct path *p)
{
	lock_acquire(pc->cache.lock);
	p->holds--;
	lock_release(pc->cache.lock);
}

void
pathname_release(struct pathname_cache *pc, struct path **pp)
{
	struct path	*p = *pp;

	*pp = NULL;
	if (pc->cache.lock != NULL)
		release_locked(pc, p);
	else
		p->holds--;
}

static void
forget_path(struct pathname_cache *pc, struct path *p)
{
	if (p->holds == 0)
		drop_path(pc, p);
	else
		path_info_assign(pc, p, &(struct path_info){
		    .kind = PATHNAME_UNKNOWN, .checked_at = PATHNAME_EXPIRED });
}

bool
pathname_age(struct pathname_cache *pc, size_t *from,
    int64_t (*limit_of)(void *, const struct path *, int64_t), void *context)
{
	size_t		 end = *from + FORGET_BUCKETS;
	struct path	*p;
	int64_t		 limit;
	bool		 more;

	lock_acquire(pc->cache.lock);
	for (; *from < end && *from < pc->nbuckets; ++*from)
		for (p = pc->buckets[*from]; p != NULL; p = p->next) {
			limit = limit_of(context, p, p->checked_at);
			if (p->checked_at > limit)
				p->checked_at = limit;
		}
	more = *from < pc->nbuckets;
	lock_release(pc->cache.lock);
	return more;
}

bool
pathname_forget(struct pathname_cache *pc, size_t *from,
    bool (*is_one)(void *, const struct path *), void *context)
{
	size_t		 end = *from + FORGET_BUCKETS;
	struct path	*p, *next;
	bool		 more;

	lock_acquire(pc->cache.lock);
	for (; *from < end && *from < pc->nbuckets; ++*from)
		for (p = pc->buckets[*from]; p != NULL; p = next) {
			next = p->next;
			if (is_one(context, p))
				forget_path(pc, p);
		}
	more = *from < pc->nbuckets;
	lock_release(pc->cache.lock);
	return more;
}
