/*
 * addresses: connections and request rate of each client address, for the
 * limits that the conf sets for an address.
 *
 * An IPv4 address counts by itself.  Of an IPv6 address the first 64 bits
 * count, since one client usually has all addresses of such a network.  An
 * address is remembered while it has connections, and until its token bucket
 * is full again.  If there is no room, an address without connections makes
 * way: the one whose bucket is fullest.
 *
 * Several processes share the table: one makes it, and each process that it
 * forks counts in a slot of its own.  Threads of a process may share its slot,
 * and must where connections move between them.
 */
#ifndef SHARED_ADDRESSES_H
#define SHARED_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/token_bucket.h"

struct address;				/* an entry of the table */
struct addresses;

/* The part of an address that counts. */
struct address_key {
	uint64_t	network;
	uint32_t	len;		/* bytes of it; 0: no address */
};

struct address_limits {
	int64_t			connections;	/* at a time; 0: no limit */
	struct token_bucket_size	requests;	/* rate 0: no limit */
	size_t			max;		/* addresses in the table */
};

/* The bytes are 4 of IPv4, 16 of IPv6, or none. */
struct address_key addresses_key(const uint8_t *bytes, size_t len);
struct addresses *addresses_new(const struct address_limits *,
		    unsigned nslots);
void		 addresses_free(struct addresses **);
/* Sets this process's slot, which is 0 before. */
void		 addresses_use_slot(struct addresses *, unsigned slot);
/* The process of that slot has died: removes its connections and locks. */
void		 addresses_clear_slot(struct addresses *, unsigned slot);
/* Counts a connection of that address.  Returns the entry, which is valid until
 * addresses_disconnect(), or NULL if the address has too many connections.  An
 * address that cannot be counted is let in.  Never blocks for long. */
struct address	*addresses_connect(struct addresses *, const uint8_t *bytes,
		    size_t len, int64_t now);
void		 addresses_disconnect(struct addresses *, struct address **,
		    int64_t now);
/* Counts a request; returns false, and counts none, if the rate is exceeded. */
bool		 addresses_request(struct addresses *, struct address *,
		    int64_t now);
/* The same, of an address by its bytes, which needs no connection. */
bool		 addresses_request_once(struct addresses *,
		    const uint8_t *bytes, size_t len, int64_t now);
/* Returns how many addresses the table has. */
size_t		 addresses_count(const struct addresses *);

#endif
