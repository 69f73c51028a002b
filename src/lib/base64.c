/*
 * base64: the decoder.  Strict: two texts never mean the same bytes.
 */
#include <stdint.h>
#include <string.h>

#include "lib/base64.h"

#define ALPHABET							\
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* Six bits of a character, -1: it has none. */
static int
sextet_of(char c)
{
	const char	*at = memchr(ALPHABET, c, sizeof(ALPHABET) - 1);

	return at != NULL ? (int)(at - ALPHABET) : -1;
}

/* Four characters, pad of them left out, to 24 bits; false: not so. */
static bool
decode_group(const char *at, size_t pad, uint32_t *bits)
{
	int	value;

	*bits = 0;
	for (size_t i = 0; i < 4; i++) {
		value = i < 4 - pad ? sextet_of(at[i]) : 0;
		if (value == -1)
			return false;
		*bits = *bits << 6 | (uint32_t)value;
	}
	/* Bits that no byte is made of are none. */
	return (*bits & ((1U << (8 * pad)) - 1)) == 0;
}

bool
base64_decode(struct str s, char *out, size_t size, size_t *len)
{
	size_t		pad = 0;
	uint32_t	bits;

	if (s.len % 4 != 0)
		return false;
	while (pad < 2 && s.len > 0 && s.at[s.len - 1 - pad] == '=')
		pad++;
	*len = s.len / 4 * 3 - pad;
	if (*len > size)
		return false;
	for (size_t i = 0, at = 0; i < s.len; i += 4) {
		if (!decode_group(s.at + i, i + 4 == s.len ? pad : 0, &bits))
			return false;
		for (int shift = 16; shift >= 0 && at < *len; shift -= 8)
			out[at++] = (char)(bits >> shift);
	}
	return true;
}
