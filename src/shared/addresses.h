/*
 * addresses: what we remember of clients' addresses, for the limits that each
 * of them has: how many connections it has, how fast it has been asking.
 *
 * An IPv4 address counts by itself; of an IPv6 address the first 64 bits,
 * since who has one of them has all.  It is remembered while it has
 * connections, and on until its bucket is full again: then there is nothing to
 * remember.  Those without a connection make room for others, the one that has
 * asked least lately first.
 *
 * Several processes share it: one makes it, and those that it forks count in
 * rows of their own.  Threads of one may have the same row, and must where a
 * connection goes from one to another.
 */
#ifndef SHARED_ADDRESSES_H
#define SHARED_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/token_bucket.h"

struct address;				/* one of them */
struct addresses;

/* An address as it counts: of IPv6 the network. */
struct address_key {
	uint64_t	network;
	uint32_t	len;		/* bytes of that */
};

struct address_limits {
	int64_t			connections;	/* at once; 0: any number */
	struct token_bucket_size	requests;	/* rate 0: any number */
	size_t			max;		/* with a connection or not */
};

/* The bytes are 4 of IPv4 or 16 of IPv6, or none. */
struct address_key addresses_key(const uint8_t *bytes, size_t len);
struct addresses *addresses_new(const struct address_limits *, unsigned nslots);
void		 addresses_free(struct addresses **);
/* Which row is this process's; 0 at first. */
void		 addresses_use_slot(struct addresses *, unsigned slot);
/* Whoever had that row has gone, wherever it was. */
void		 addresses_clear_slot(struct addresses *, unsigned slot);
/* A connection comes, to be asked for until it leaves; NULL: one too many.
 * The bytes are 4 of IPv4 or 16 of IPv6. */
struct address	*addresses_connect(struct addresses *, const uint8_t *bytes,
		    size_t len, int64_t now);
void		 addresses_disconnect(struct addresses *, struct address **,
		    int64_t now);
/* Whether it may ask for something; then it has. */
bool		 addresses_request(struct addresses *, struct address *,
		    int64_t now);
/* How many there are, those with a connection too. */
size_t		 addresses_count(const struct addresses *);

#endif
