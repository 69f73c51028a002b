/*
 * miniature: one record for each thing, with an entry for each cache.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/miniature.h"
#include "lib/mem.h"
#include "lib/need.h"

#define BUCKETS		4096	/* a power of two */
#define THRESHOLD_MIN	(1U << 16)	/* one thing in 65,536 */

/* Of struct record.there: it stays while all caches are asked for it. */
#define ASKED		(1U << MINIATURE_CACHES)

/* Work, in units: of a request that all caches hit, most of which is for memory
 * that is in no cache of the processor; of each miss. */
#define WORK_ASK	8
#define WORK_MISS	2

struct record {
	struct cache_entry	 entries[MINIATURE_CACHES];
	uint64_t		 key, whole;
	uint32_t		 bytes, hash;
	struct record		*next;	/* in its bucket, or free */
	uint32_t		 there;	/* bits: the caches that have it */
	bool			 edge;
};

struct small_cache {
	struct cache		 cache;
	unsigned		 number;
	struct miniature	*all;
};

struct miniature {
	struct small_cache	 caches[MINIATURE_CACHES];
	struct record		*buckets[BUCKETS];
	struct record		*records, *free;
	size_t			 n;		/* records in use */
	size_t			 limit;		/* bytes of the real cache */
	uint32_t		 threshold;
	struct miniature_sums	 sums;
};

_Static_assert(MINIATURE_THINGS * sizeof(struct record) +
    sizeof(struct miniature) < 960 * 1024, "64 KiB are left of a MiB");

static struct record **
bucket_of(struct miniature *m, uint64_t key)
{
	return &m->buckets[key & (BUCKETS - 1)];
}

static void
unlink_record(struct miniature *m, struct record *r)
{
	struct record	**link;

	for (link = bucket_of(m, r->key); *link != r; link = &(*link)->next)
		need(*link != NULL);
	*link = r->next;
	r->next = m->free;
	m->free = r;
	m->n--;
}

static void
free_if_unused(struct miniature *m, struct record *r)
{
	if (r->there == 0)
		unlink_record(m, r);
}

static struct record *
record_of(struct cache_entry *e, unsigned number)
{
	return (struct record *)(void *)(e - number);
}

static void
drop_entry(struct cache *c, struct cache_entry *e)
{
	struct small_cache	*small = (struct small_cache *)c;
	struct record		*r = record_of(e, small->number);

	cache_remove(c, e, r->bytes);
	r->there &= ~(1U << small->number);
	free_if_unused(small->all, r);
}

static void
describe_record(const struct record *r, struct cache_item *item)
{
	item->bytes = r->bytes;
	item->whole = r->whole;
	item->key = r->key;
	item->edge = r->edge;
}

/* The number of its cache leads from an entry to its record. */
#define DESCRIBE(number)						\
	static void							\
	describe_##number(const struct cache_entry *e,			\
	    struct cache_item *item)					\
	{								\
		describe_record((const void *)(e - (number)), item);	\
	}
DESCRIBE(0) DESCRIBE(1) DESCRIBE(2) DESCRIBE(3) DESCRIBE(4) DESCRIBE(5)
DESCRIBE(6)
#undef DESCRIBE

static void	(*const describe[])(const struct cache_entry *,
		    struct cache_item *) = {
	describe_0, describe_1, describe_2, describe_3, describe_4, describe_5,
	describe_6
};

_Static_assert(sizeof(describe) / sizeof(describe[0]) == MINIATURE_CACHES,
    "each cache has one");

static void
set_limits(struct miniature *m)
{
	uint64_t	part = m->threshold == MINIATURE_ALL ? m->limit :
			    (uint64_t)((double)m->limit * m->threshold /
			    MINIATURE_ALL);

	for (int i = 0; i < MINIATURE_CACHES; i++)
		m->caches[i].cache.limit_bytes = (size_t)part;
	m->caches[MINIATURE_HALF].cache.limit_bytes = (size_t)part / 2;
	m->caches[MINIATURE_TWICE].cache.limit_bytes = (size_t)part * 2;
}

/* Each cache is within its limit again after its next entry. */
void
miniature_set_limit(struct miniature *m, size_t limit)
{
	m->limit = limit;
	set_limits(m);
}

struct miniature *
miniature_new(size_t limit, const struct cache_policy *live)
{
	struct miniature	*m = mem_zero(sizeof(*m));
	struct small_cache	*small;

	m->records = mem_array(MINIATURE_THINGS, sizeof(m->records[0]));
	m->limit = limit;
	m->threshold = MINIATURE_ALL;
	for (unsigned i = 0; i < MINIATURE_CACHES; i++) {
		small = &m->caches[i];
		cache_init(&small->cache, "miniature", 0, limit, drop_entry);
		small->cache.describe = describe[i];
		small->number = i;
		small->all = m;
		cache_set_policy(&small->cache, i < POLICY_NUMBER ?
		    policies_all[i] : live);
	}
	set_limits(m);
	return m;
}

void
miniature_free(struct miniature **mp)
{
	struct miniature	*m = *mp;

	if (m == NULL)
		return;
	for (int i = 0; i < MINIATURE_CACHES; i++)
		cache_end(&m->caches[i].cache);
	free(m->records);
	mem_drop(mp);
}

uint32_t
miniature_threshold(const struct miniature *m)
{
	return m->threshold;
}

struct miniature_sums *
miniature_sums(struct miniature *m)
{
	return &m->sums;
}

size_t
miniature_count(const struct miniature *m)
{
	return m->n;
}

bool
miniature_is_warm(const struct miniature *m)
{
	for (int i = 0; i < POLICY_NUMBER; i++)
		if (m->caches[i].cache.evictions == 0)
			return false;
	return true;
}

/* Takes a free record that was in use before, from a list; else the first
 * record that was never in use.  So memory is touched only as it is needed. */
static struct record *
take_record(struct miniature *m)
{
	struct record	*r = m->free;

	if (r != NULL)
		m->free = r->next;
	else
		r = &m->records[m->n];
	m->n++;
	return r;
}

static struct record *
add_record(struct miniature *m, const struct miniature_thing *t)
{
	struct record	*r = take_record(m), **bucket = bucket_of(m, t->key);

	r->key = t->key;
	r->whole = t->whole;
	r->bytes = t->bytes;
	r->hash = t->hash;
	r->there = 0;
	r->edge = t->edge;
	r->next = *bucket;
	*bucket = r;
	return r;
}

static struct record *
find_record(struct miniature *m, uint64_t key)
{
	struct record	*r;

	for (r = *bucket_of(m, key); r != NULL; r = r->next)
		if (r->key == key)
			break;
	return r;
}

/* The new entry is held while others go, as in a real cache. */
static void
add_entry(struct miniature *m, struct record *r, unsigned number)
{
	struct cache		*c = &m->caches[number].cache;
	struct cache_entry	*e = &r->entries[number];

	r->there |= 1U << number;
	cache_add(c, e, r->bytes);
	cache_hold_again(e);
	cache_trim(c);
	cache_release_trim(c, e);
}

static void
ask_caches(struct miniature *m, struct record *r, bool first)
{
	for (unsigned i = 0; i < MINIATURE_CACHES; i++) {
		if ((r->there & 1U << i) != 0) {
			r->entries[i].uses++;
			continue;
		}
		m->sums.misses[i] += first;
		m->sums.missed_bytes[i] += r->bytes;
		m->sums.work += WORK_MISS;
		add_entry(m, r, i);
	}
}

/* Makes room for one more thing; false: it is not in the sample any more. */
static bool
make_room(struct miniature *m, uint32_t hash)
{
	while (m->n == MINIATURE_THINGS && m->threshold > THRESHOLD_MIN)
		miniature_halve(m);
	return m->n < MINIATURE_THINGS && hash < m->threshold;
}

void
miniature_ask(struct miniature *m, const struct miniature_thing *t)
{
	struct record	*r;

	if (t->hash >= m->threshold)
		return;
	r = find_record(m, t->key);
	if (r == NULL) {
		if (!make_room(m, t->hash))
			return;
		r = add_record(m, t);
	}
	m->sums.requests += t->first;
	m->sums.bytes += r->bytes;
	m->sums.work += WORK_ASK;
	r->there |= ASKED;
	ask_caches(m, r, t->first);
	r->there &= ~ASKED;
	free_if_unused(m, r);
}

static void
drop_record(struct miniature *m, struct record *r)
{
	struct cache	*c;

	r->there |= ASKED;
	for (unsigned i = 0; i < MINIATURE_CACHES; i++) {
		c = &m->caches[i].cache;
		if ((r->there & 1U << i) != 0)
			drop_entry(c, &r->entries[i]);
	}
	r->there = 0;
	unlink_record(m, r);
}

static void
drop_rest_of_bucket(struct miniature *m, struct record *r)
{
	struct record	*next;

	for (; r != NULL; r = next) {
		next = r->next;
		if (r->hash >= m->threshold)
			drop_record(m, r);
	}
}

void
miniature_halve(struct miniature *m)
{
	m->threshold /= 2;
	for (size_t i = 0; i < BUCKETS; i++)
		drop_rest_of_bucket(m, m->buckets[i]);
	set_limits(m);
	for (int i = 0; i < MINIATURE_CACHES; i++) {
		/* There would be too many for the entries that are left. */
		ghosts_free(&m->caches[i].cache.order.ghosts);
		cache_trim(&m->caches[i].cache);
	}
	m->sums.work += MINIATURE_THINGS;
}

void
miniature_set_live(struct miniature *m, const struct cache_policy *policy)
{
	policy_change(&m->caches[MINIATURE_HALF].cache, policy);
	policy_change(&m->caches[MINIATURE_TWICE].cache, policy);
}

void
miniature_double(struct miniature *m)
{
	m->threshold = m->threshold > MINIATURE_ALL / 2 ? MINIATURE_ALL :
	    2 * m->threshold + 1;
	set_limits(m);
	for (int i = 0; i < POLICY_NUMBER; i++)
		m->caches[i].cache.evictions = 0;
}
