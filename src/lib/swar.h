/*
 * swar: eight bytes of text at once, in a register.
 *
 * What is found in them is marked by the highest bits of bytes.  No mark is
 * certain, one may be wrong: a byte that is found borrows from the next.
 */
#ifndef LIB_SWAR_H
#define LIB_SWAR_H

#include <stdint.h>
#include <string.h>

#define SWAR_BYTES		sizeof(uint64_t)
#define SWAR_ONES	(UINT64_MAX / 0xff)	/* 1 in each byte */
#define SWAR_MARKS	(SWAR_ONES * 0x80)	/* nothing else counts */

static inline uint64_t
swar_load(const char *at)
{
	uint64_t	word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Bytes that are no visible ASCII, SP being one. */
static inline uint64_t
swar_nonprint(uint64_t word)
{
	return word | (word - SWAR_ONES * ' ') | (word + SWAR_ONES);
}

/* Which byte, of those in front of it none is marked; there is one. */
static inline size_t
swar_first(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (size_t)__builtin_ctzll(marks) / 8;
#else
	return (size_t)__builtin_clzll(marks) / 8;
#endif
}

/* Bytes that are that one, which is ASCII. */
static inline uint64_t
swar_equal(uint64_t word, char byte)
{
	word ^= SWAR_ONES * (unsigned char)byte;
	return (word - SWAR_ONES) & ~word;
}

#endif
