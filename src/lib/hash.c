/*
 * hash: SipHash-1-3: one round for each word, three rounds at the end.
 */
#include <sys/random.h>

#include <string.h>

#include "lib/hash.h"
#include "lib/log.h"

static inline uint64_t
rotate_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void
sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate_left(v[1], 13) ^ v[0];
	v[3] = rotate_left(v[3], 16) ^ v[2];
	v[0] = rotate_left(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate_left(v[1], 17) ^ v[2];
	v[3] = rotate_left(v[3], 21) ^ v[0];
	v[2] = rotate_left(v[2], 32);
}

static inline void
absorb_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

/* The last bytes, fewer than eight, in little-endian order. */
static inline uint64_t
load_tail(const unsigned char *p, size_t n)
{
	uint64_t	word = 0;

	for (p += n; n & 3; n--)
		word = word << 8 | *--p;
	if (n == 0)
		return word;
	p -= 4;
	return word << 32 | (uint64_t)p[3] << 24 | (uint64_t)p[2] << 16 |
	    (uint64_t)p[1] << 8 | p[0];
}

void
hash_key_random(struct hash_key *key)
{
	if (getentropy(key, sizeof(*key)) == -1)
		fatal("no random bytes from the system");
}

uint64_t
hash_bytes(const struct hash_key *key, uint64_t salt, const void *bytes,
    size_t len)
{
	const unsigned char *p = bytes;
	uint64_t	v[4], word;
	size_t		left = len;

	v[0] = key->k0 ^ 0x736f6d6570736575ULL;
	v[1] = key->k1 ^ 0x646f72616e646f6dULL;
	v[2] = key->k0 ^ 0x6c7967656e657261ULL;
	v[3] = key->k1 ^ 0x7465646279746573ULL;
	absorb_word(v, salt);
	for (; left >= sizeof(word); p += sizeof(word), left -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		absorb_word(v, word);
	}
	absorb_word(v, load_tail(p, left) |
	    (uint64_t)(len + sizeof(salt)) << 56);
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
