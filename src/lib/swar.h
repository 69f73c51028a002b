/*
 * swar: SIMD within a register, on eight bytes of text.  Pure.
 *
 * A search marks a byte by its highest bit.  The first mark is exact.  A later
 * one may be false, since a subtraction in a found byte borrows from the next.
 */
#ifndef LIB_SWAR_H
#define LIB_SWAR_H

#include <stdint.h>
#include <string.h>

#define SWAR_BYTES		sizeof(uint64_t)
#define SWAR_ONES	(UINT64_MAX / 0xff)	/* 1 in each byte */
#define SWAR_MARKS	(SWAR_ONES * 0x80)	/* the bits that are marks */

static inline uint64_t
swar_load(const char *at)
{
	uint64_t	word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Marks the bytes other than 0x20 to 0x7e. */
static inline uint64_t
swar_nonprint(uint64_t word)
{
	return word | (word - SWAR_ONES * ' ') | (word + SWAR_ONES);
}

/* The index of the first marked byte; at least one must be marked. */
static inline size_t
swar_first(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (size_t)__builtin_ctzll(marks) / 8;
#else
	return (size_t)__builtin_clzll(marks) / 8;
#endif
}

/* Marks the bytes equal to one, which must be ASCII. */
static inline uint64_t
swar_equal(uint64_t word, char byte)
{
	word ^= SWAR_ONES * (unsigned char)byte;
	return (word - SWAR_ONES) & ~word;
}

#endif
