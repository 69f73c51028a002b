/*
 * hash: SipHash-1-3 (Aumasson, Bernstein: SipHash, 2012).
 *
 * Each process has a random key, so a client that chooses names cannot choose
 * the bucket that they fall into.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t	k0, k1;
};

void		hash_key_random(struct hash_key *);
/* The salt, a site's number, keeps equal bytes of two sites apart. */
uint64_t	hash_bytes(const struct hash_key *, uint64_t salt,
		    const void *, size_t);

#endif
