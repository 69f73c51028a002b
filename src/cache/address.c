/*
 * address: a hash table, and a queue of those that nobody is connected from.
 *
 * Hashed with a secret key: who has many addresses could choose those that
 * meet in one place.
 */
#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>

#include "cache/address.h"
#include "lib/hash.h"
#include "lib/mem.h"
#include "lib/need.h"

#define NETWORK		8	/* bytes of an IPv6 address that count */
#define RECYCLED	2	/* entries that each new one looks at */

struct address {
	struct address		*next;		/* in its slot */
	TAILQ_ENTRY(address)	 link;		/* without a connection */
	uint64_t		 network;
	uint32_t		 len;		/* bytes of it: which kind */
	uint32_t		 connections;
	struct bucket		 requests;
};

struct addresses {
	struct address_limits	 limits;
	struct hash_key		 key;
	struct address		**slots;
	size_t			 mask, count, idle;
	TAILQ_HEAD(, address)	 queue;		/* idle, longest first */
};

struct addresses *
address_new(const struct address_limits *limits)
{
	struct addresses	*as = mem_zero(sizeof(*as));
	size_t			 n = 64;

	while (n < limits->most)
		n *= 2;
	as->limits = *limits;
	as->slots = mem_array(n, sizeof(as->slots[0]));
	as->mask = n - 1;
	hash_key_random(&as->key);
	TAILQ_INIT(&as->queue);
	return as;
}

static struct address **
slot(const struct addresses *as, uint64_t network, uint32_t len)
{
	return &as->slots[hash_bytes(&as->key, len, &network,
	    sizeof(network)) & as->mask];
}

static void
unqueue(struct addresses *as, struct address *a)
{
	TAILQ_REMOVE(&as->queue, a, link);
	as->idle--;
}

static void
drop(struct addresses *as, struct address *a)
{
	struct address	**link = slot(as, a->network, a->len);

	need(a->connections == 0);
	for (; *link != a; link = &(*link)->next)
		need(*link != NULL);
	*link = a->next;
	as->count--;
	free(a);
}

/* Whether there is nothing to remember of it. */
static bool
blank(struct addresses *as, struct address *a, int64_t now)
{
	if (as->limits.requests.rate == 0)
		return true;
	(void)bucket_holds(&a->requests, &as->limits.requests, now);
	return bucket_full(&a->requests, &as->limits.requests);
}

/* A few each time, so that nobody pays for a sweep. */
static void
recycle(struct addresses *as, int64_t now)
{
	struct address	*a;

	for (int i = 0; i < RECYCLED; i++) {
		a = TAILQ_FIRST(&as->queue);
		if (a == NULL || !blank(as, a, now))
			return;
		unqueue(as, a);
		drop(as, a);
	}
}

static struct address *
add(struct addresses *as, uint64_t network, uint32_t len, int64_t now)
{
	struct address	**head = slot(as, network, len);
	struct address	*a = mem_zero(sizeof(*a));

	a->network = network;
	a->len = len;
	a->next = *head;
	*head = a;
	if (as->limits.requests.rate != 0)
		bucket_fill(&a->requests, &as->limits.requests, now);
	as->count++;
	return a;
}

struct address *
address_enter(struct addresses *as, const uint8_t *bytes, size_t len,
    int64_t now)
{
	uint32_t	 n = len < NETWORK ? (uint32_t)len : NETWORK;
	uint64_t	 network = 0;
	struct address	*a;

	memcpy(&network, bytes, n);
	for (a = *slot(as, network, n); a != NULL; a = a->next)
		if (a->network == network && a->len == n)
			break;
	if (a == NULL) {
		recycle(as, now);
		a = add(as, network, n, now);
	} else if (a->connections == 0)
		unqueue(as, a);
	else if (as->limits.connections != 0 &&
	    a->connections >= as->limits.connections)
		return NULL;
	a->connections++;
	return a;
}

void
address_leave(struct addresses *as, struct address **ap, int64_t now)
{
	struct address	*a = *ap;

	*ap = NULL;
	need(a->connections > 0);
	if (--a->connections > 0)
		return;
	if (blank(as, a, now)) {
		drop(as, a);
		return;
	}
	TAILQ_INSERT_TAIL(&as->queue, a, link);
	if (++as->idle > as->limits.most) {
		a = TAILQ_FIRST(&as->queue);
		unqueue(as, a);
		drop(as, a);
	}
}

bool
address_asks(struct addresses *as, struct address *a, int64_t now)
{
	if (as->limits.requests.rate == 0)
		return true;
	if (bucket_holds(&a->requests, &as->limits.requests, now) == 0)
		return false;
	bucket_take(&a->requests, 1);
	return true;
}

size_t
address_count(const struct addresses *as)
{
	return as->count;
}

void
address_free(struct addresses **asp)
{
	struct addresses	*as = *asp;
	struct address		*a;

	if (as == NULL)
		return;
	while ((a = TAILQ_FIRST(&as->queue)) != NULL) {
		unqueue(as, a);
		drop(as, a);
	}
	need(as->count == 0);
	free(as->slots);
	mem_drop(asp);
}
