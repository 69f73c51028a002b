/*
 * addresses: a table of sets of entries, in shared memory.
 *
 * An address is looked up in one set only, which a hash with a secret key
 * selects: a client with many addresses must not be able to choose addresses of
 * one set.  The hash also stands for the address in its entry.  A set is locked
 * while an address enters; the lock names its slot, so that it can be taken
 * from a dead process.  A process that does not get the lock of another one in
 * time lets the connection in without counting it.  Threads of one process have
 * one slot, and wait for each other.
 */
#include <sys/mman.h>

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "shared/addresses.h"

#define NETWORK_LEN	8	/* bytes of an IPv6 address that count */
#define WAYS		16	/* entries of a set */
#define SETS_MIN	16
#define LOCK_TRIES	1000	/* to lock a set that another
					 * process has */
#define TOKEN		1000	/* a rate a second is as many of these a ms */

struct address {
	uint64_t		hash;		/* under the lock; 0: free */
	_Atomic int64_t		full_at;		/* when its bucket is
							 * full, in ms times the
							 * rate */
};

struct addresses {
	struct address_limits	 limits;
	struct hash_key		 key;
	struct address		*entries;	/* [set][way]; the start of the
						 * shared memory */
	_Atomic uint32_t	*counts;	/* connections: [slot][entry] */
	_Atomic uint32_t	*locks;		/* [set]: slot + 1; 0: free */
	_Atomic uint8_t		*used;		/* [set]: its entries that are
						 * not free; under the lock */
	size_t			 nsets, nentries, size;
	unsigned		 slot, nslots;
};

static struct address	uncounted;	/* for connections without entry */

struct address_key
addresses_key(const uint8_t *bytes, size_t len)
{
	struct address_key	key = { 0 };

	key.len = len < NETWORK_LEN ? (uint32_t)len : NETWORK_LEN;
	memcpy(&key.network, bytes, key.len);
	return key;
}

/* Twice as many entries as addresses, since sets do not fill evenly. */
static size_t
count_sets(size_t max)
{
	size_t	n = SETS_MIN;

	while (n * WAYS < 2 * max)
		n *= 2;
	return n;
}

struct addresses *
addresses_new(const struct address_limits *limits, unsigned nslots)
{
	struct addresses	*as = mem_zero(sizeof(*as));
	void			*at;

	as->limits = *limits;
	as->nslots = nslots;
	as->nsets = count_sets(limits->max);
	as->nentries = as->nsets * WAYS;
	as->size = as->nentries * sizeof(as->entries[0]) +
	    nslots * as->nentries * sizeof(as->counts[0]) +
	    as->nsets * (sizeof(as->locks[0]) + sizeof(as->used[0]));
	as->entries = mem_shared(as->size);
	at = as->entries + as->nentries;
	as->counts = at;
	as->locks = as->counts + nslots * as->nentries;
	at = as->locks + as->nsets;
	as->used = at;
	hash_key_random(&as->key);
	return as;
}

void
addresses_free(struct addresses **asp)
{
	if (*asp == NULL)
		return;
	munmap((*asp)->entries, (*asp)->size);
	mem_drop(asp);
}

void
addresses_use_slot(struct addresses *as, unsigned slot)
{
	need(slot < as->nslots);
	as->slot = slot;
}

static size_t
set_of(const struct addresses *as, const struct address *a)
{
	return (size_t)(a - as->entries) / WAYS;
}

/* Returns where a slot counts the connections of an entry. */
static _Atomic uint32_t *
count_of(const struct addresses *as, const struct address *a, unsigned slot)
{
	return &as->counts[slot * as->nentries + (size_t)(a - as->entries)];
}

static uint64_t
count_connections(const struct addresses *as, const struct address *a)
{
	uint64_t	n = 0;

	for (unsigned slot = 0; slot < as->nslots; slot++)
		n += atomic_load(count_of(as, a, slot));
	return n;
}

/* A process may die between an entry and its count, but never outside of the
 * lock. */
static void
recount_set(const struct addresses *as, size_t set)
{
	uint8_t	n = 0;

	for (size_t i = 0; i < WAYS; i++)
		n += as->entries[set * WAYS + i].hash != 0;
	as->used[set] = n;
}

void
addresses_clear_slot(struct addresses *as, unsigned slot)
{
	_Atomic uint32_t	*counts = &as->counts[slot * as->nentries];

	for (size_t i = 0; i < as->nentries; i++)
		if (counts[i] != 0)
			counts[i] = 0;
	for (size_t i = 0; i < as->nsets; i++)
		if (as->locks[i] == slot + 1) {
			recount_set(as, i);
			as->locks[i] = 0;
		}
}

static bool
lock_set(const struct addresses *as, size_t set)
{
	uint32_t	none;

	for (int tries = 0; tries < LOCK_TRIES;) {
		none = 0;
		if (atomic_compare_exchange_strong(&as->locks[set], &none,
		    as->slot + 1))
			return true;
		if (none != as->slot + 1)
			tries++;
		sched_yield();
	}
	return false;
}

static void
unlock_set(const struct addresses *as, size_t set)
{
	atomic_store(&as->locks[set], 0);
}

/* Whether only its connections keep an entry. */
static bool
is_blank(const struct addresses *as, const struct address *a, int64_t now)
{
	return atomic_load(&a->full_at) <= now * as->limits.requests.rate;
}

static void
free_entry(struct addresses *as, struct address *a)
{
	if (a->hash == 0)
		return;
	a->hash = 0;
	as->used[set_of(as, a)]--;
}

/* Returns the entry of that hash, or one that it may take; NULL: none. */
static struct address *
find_entry(struct addresses *as, size_t set, uint64_t hash, int64_t now)
{
	struct address	*a, *free = NULL;

	for (size_t i = 0; i < WAYS; i++) {
		a = &as->entries[set * WAYS + i];
		if (a->hash == hash)
			return a;
		if (a->hash != 0 && count_connections(as, a) > 0)
			continue;
		if (is_blank(as, a, now))
			free_entry(as, a);
		if (free == NULL || (free->hash != 0 && (a->hash == 0 ||
		    atomic_load(&a->full_at) < atomic_load(&free->full_at))))
			free = a;
	}
	return free;
}

static struct address *
connect_in_set(struct addresses *as, size_t set, uint64_t hash, int64_t now,
    uint64_t most)
{
	struct address	*a = find_entry(as, set, hash, now);

	if (a == NULL)
		return &uncounted;
	if (a->hash != hash) {
		free_entry(as, a);
		a->hash = hash;
		as->used[set]++;
		atomic_store(&a->full_at, 0);
	} else if (most != 0 && count_connections(as, a) >= most)
		return NULL;
	atomic_fetch_add(count_of(as, a, as->slot), 1);
	return a;
}

/* Returns NULL if the address has so many connections; 0: any number. */
static struct address *
connect_address(struct addresses *as, const uint8_t *bytes, size_t len,
    int64_t now, int64_t most)
{
	const struct address_key	 key = addresses_key(bytes, len);
	uint64_t			 hash;
	struct address			*a;
	size_t				 set;

	hash = hash_bytes(&as->key, key.len, &key.network,
	    sizeof(key.network));
	set = hash & (as->nsets - 1);
	if (!lock_set(as, set))
		return &uncounted;
	a = connect_in_set(as, set, hash != 0 ? hash : 1, now, (uint64_t)most);
	unlock_set(as, set);
	return a;
}

struct address *
addresses_connect(struct addresses *as, const uint8_t *bytes, size_t len,
    int64_t now)
{
	return connect_address(as, bytes, len, now, as->limits.connections);
}

void
addresses_disconnect(struct addresses *as, struct address **ap, int64_t now)
{
	struct address	*a = *ap;
	size_t		 set;

	*ap = NULL;
	if (a == &uncounted)
		return;
	set = set_of(as, a);
	need(atomic_fetch_sub(count_of(as, a, as->slot), 1) > 0);
	if (!is_blank(as, a, now) || !lock_set(as, set))
		return;
	/* Another connection, or another address, may have come. */
	if (count_connections(as, a) == 0 && is_blank(as, a, now))
		free_entry(as, a);
	unlock_set(as, set);
}

/* The time at which a bucket will be full says how full it is: one word, which
 * needs no lock. */
bool
addresses_request(struct addresses *as, struct address *a, int64_t now)
{
	const struct token_bucket_size	*size = &as->limits.requests;
	int64_t				 before, after;

	if (size->rate == 0 || a == &uncounted)
		return true;
	now *= size->rate;
	before = atomic_load(&a->full_at);
	do {
		after = (before < now ? now : before) + TOKEN;
		if (after - now > size->burst * TOKEN)
			return false;
	} while (!atomic_compare_exchange_weak(&a->full_at, &before, after));
	return true;
}

bool
addresses_request_once(struct addresses *as, const uint8_t *bytes, size_t len,
    int64_t now)
{
	struct address	*a;
	bool		 allowed;

	if (as->limits.requests.rate == 0)
		return true;
	a = connect_address(as, bytes, len, now, 0);
	allowed = addresses_request(as, a, now);
	addresses_disconnect(as, &a, now);
	return allowed;
}

size_t
addresses_count(const struct addresses *as)
{
	size_t	n = 0;

	for (size_t i = 0; i < as->nsets; i++)
		n += as->used[i];
	return n;
}
