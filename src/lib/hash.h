/*
 * hash: SipHash-1-3 (Aumasson, Bernstein: SipHash, 2012), keyed once a
 * process, so that clients who choose the keys cannot choose the bucket.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t	k0, k1;
};

void		hash_key_random(struct hash_key *);
/* salt tells name spaces apart (a site's number). */
uint64_t	hash_bytes(const struct hash_key *, uint64_t salt,
		    const void *, size_t);

#endif
