/*
 * addresses: a table of sets of places, in shared memory.
 *
 * An address is looked for in one set only, found by a hash with a secret key:
 * who has many addresses could choose those that meet in one.  That hash stands
 * for it as well.  A set has a lock for the moment in which one enters; it says
 * who has it, so that it can be taken from the dead.  Nothing waits for it for
 * long: who cannot be counted in time comes in without being counted.
 */
#include <sys/mman.h>

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "shared/addresses.h"

#define NETWORK		8	/* bytes of an IPv6 address that count */
#define WAYS		16	/* places of a set */
#define SETS_LEAST	16
#define TRIES		1000	/* to have a set's lock */
#define WHOLE		1000	/* so that a rate a second is one a ms */

struct address {
	uint64_t		hash;		/* under the lock; 0: free */
	_Atomic int64_t		asked;		/* when its bucket is full, in
						 * ms times the rate */
};

struct addresses {
	struct address_limits	 limits;
	struct hash_key		 key;
	_Atomic uint64_t	*taken;		/* places; all this is shared */
	struct address		*places;	/* [set][way] */
	_Atomic uint32_t	*counts;	/* connections: [row][place] */
	_Atomic uint32_t	*locks;		/* [set]: a row and 1, or 0 */
	size_t			 nsets, nplaces, size;
	unsigned		 row, rows;
};

static struct address	uncounted;	/* stands for who could not be */

struct address_name
address_name(const uint8_t *bytes, size_t len)
{
	struct address_name	name = { 0 };

	name.len = len < NETWORK ? (uint32_t)len : NETWORK;
	memcpy(&name.network, bytes, name.len);
	return name;
}

/* Twice the places, since sets do not fill evenly. */
static size_t
count_sets(size_t most)
{
	size_t	n = SETS_LEAST;

	while (n * WAYS < 2 * most)
		n *= 2;
	return n;
}

struct addresses *
address_new(const struct address_limits *limits, unsigned rows)
{
	struct addresses	*as = mem_zero(sizeof(*as));
	void			*at;

	as->limits = *limits;
	as->rows = rows;
	as->nsets = count_sets(limits->most);
	as->nplaces = as->nsets * WAYS;
	as->size = sizeof(*as->taken) +
	    as->nplaces * sizeof(as->places[0]) +
	    rows * as->nplaces * sizeof(as->counts[0]) +
	    as->nsets * sizeof(as->locks[0]);
	/* Nothing of it takes memory before it is used. */
	at = mmap(NULL, as->size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANON | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		fatal("no memory to share");
	as->taken = at;
	at = as->taken + 1;
	as->places = at;
	at = as->places + as->nplaces;
	as->counts = at;
	as->locks = as->counts + rows * as->nplaces;
	hash_key_random(&as->key);
	return as;
}

void
address_free(struct addresses **asp)
{
	if (*asp == NULL)
		return;
	munmap((*asp)->taken, (*asp)->size);
	mem_drop(asp);
}

void
address_use(struct addresses *as, unsigned row)
{
	need(row < as->rows);
	as->row = row;
}

static size_t
set_of(const struct addresses *as, const struct address *a)
{
	return (size_t)(a - as->places) / WAYS;
}

/* Where the connections of a place are counted by a row. */
static _Atomic uint32_t *
count_of(const struct addresses *as, const struct address *a, unsigned row)
{
	return &as->counts[row * as->nplaces + (size_t)(a - as->places)];
}

static uint64_t
connections(const struct addresses *as, const struct address *a)
{
	uint64_t	n = 0;

	for (unsigned row = 0; row < as->rows; row++)
		n += atomic_load(count_of(as, a, row));
	return n;
}

void
address_clear(struct addresses *as, unsigned row)
{
	_Atomic uint32_t	*counts = &as->counts[row * as->nplaces];
	uint32_t		 its;

	for (size_t i = 0; i < as->nplaces; i++)
		if (counts[i] != 0)
			counts[i] = 0;
	for (size_t i = 0; i < as->nsets; i++) {
		its = row + 1;
		atomic_compare_exchange_strong(&as->locks[i], &its, 0);
	}
}

static bool
lock(const struct addresses *as, size_t set)
{
	uint32_t	none;

	for (int i = 0; i < TRIES; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&as->locks[set], &none,
		    as->row + 1))
			return true;
		sched_yield();
	}
	return false;
}

static void
unlock(const struct addresses *as, size_t set)
{
	atomic_store(&as->locks[set], 0);
}

/* Whether there is nothing to remember of it but its connections. */
static bool
blank(const struct addresses *as, const struct address *a, int64_t now)
{
	return atomic_load(&a->asked) <= now * as->limits.requests.rate;
}

static void
forget(struct addresses *as, struct address *a)
{
	if (a->hash == 0)
		return;
	a->hash = 0;
	atomic_fetch_sub(as->taken, 1);
}

/* The place of that hash, or one that can be had for it; NULL: there is
 * none. */
static struct address *
find(struct addresses *as, size_t set, uint64_t hash, int64_t now)
{
	struct address	*a, *free = NULL;

	for (size_t i = 0; i < WAYS; i++) {
		a = &as->places[set * WAYS + i];
		if (a->hash == hash)
			return a;
		if (a->hash != 0 && connections(as, a) > 0)
			continue;
		if (blank(as, a, now))
			forget(as, a);
		if (free == NULL || (free->hash != 0 && (a->hash == 0 ||
		    atomic_load(&a->asked) < atomic_load(&free->asked))))
			free = a;
	}
	return free;
}

static struct address *
enter(struct addresses *as, size_t set, uint64_t hash, int64_t now)
{
	struct address	*a = find(as, set, hash, now);

	if (a == NULL)
		return &uncounted;
	if (a->hash != hash) {
		forget(as, a);
		a->hash = hash;
		atomic_fetch_add(as->taken, 1);
		atomic_store(&a->asked, 0);
	} else if (as->limits.connections != 0 &&
	    connections(as, a) >= (uint64_t)as->limits.connections)
		return NULL;
	atomic_fetch_add(count_of(as, a, as->row), 1);
	return a;
}

struct address *
address_enter(struct addresses *as, const uint8_t *bytes, size_t len,
    int64_t now)
{
	const struct address_name	 name = address_name(bytes, len);
	uint64_t			 hash;
	struct address			*a;
	size_t				 set;

	hash = hash_bytes(&as->key, name.len, &name.network,
	    sizeof(name.network));
	set = hash & (as->nsets - 1);
	if (!lock(as, set))
		return &uncounted;
	a = enter(as, set, hash != 0 ? hash : 1, now);
	unlock(as, set);
	return a;
}

void
address_leave(struct addresses *as, struct address **ap, int64_t now)
{
	struct address	*a = *ap;
	size_t		 set;

	*ap = NULL;
	if (a == &uncounted)
		return;
	set = set_of(as, a);
	need(atomic_fetch_sub(count_of(as, a, as->row), 1) > 0);
	if (!blank(as, a, now) || !lock(as, set))
		return;
	/* Somebody else may have come, or another address. */
	if (connections(as, a) == 0 && blank(as, a, now))
		forget(as, a);
	unlock(as, set);
}

/* A bucket that time fills is as full as the time is near at which it would
 * be: so it is one word, and needs no lock. */
bool
address_asks(struct addresses *as, struct address *a, int64_t now)
{
	const struct bucket_size	*size = &as->limits.requests;
	int64_t				 before, after;

	if (size->rate == 0 || a == &uncounted)
		return true;
	now *= size->rate;
	before = atomic_load(&a->asked);
	do {
		after = (before < now ? now : before) + WHOLE;
		if (after - now > size->most * WHOLE)
			return false;
	} while (!atomic_compare_exchange_weak(&a->asked, &before, after));
	return true;
}

size_t
address_count(const struct addresses *as)
{
	return (size_t)atomic_load(as->taken);
}
