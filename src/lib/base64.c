/*
 * base64: an encoder, and a strict decoder: each byte string has exactly one
 * valid text.
 */
#include <stdint.h>
#include <string.h>

#include "lib/base64.h"

#define ALPHABET							\
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* The six bits of a character; -1: it is not in the alphabet. */
static int
sextet_of(char c)
{
	const char	*at = memchr(ALPHABET, c, sizeof(ALPHABET) - 1);

	return at != NULL ? (int)(at - ALPHABET) : -1;
}

/* Decodes four characters, the last pad of them "=", to 24 bits. */
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
	/* The bits behind the last byte must be zero. */
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

void
base64_add(struct buf *to, struct str bytes)
{
	uint32_t	bits;
	size_t		n;

	for (; bytes.len > 0; str_skip(&bytes, n < 3 ? n : 3)) {
		n = bytes.len;
		bits = 0;
		for (size_t i = 0; i < 3; i++)
			bits = bits << 8 |
			    (i < n ? (unsigned char)bytes.at[i] : 0);
		for (size_t i = 0; i < 4; i++)
			buf_addc(to, i <= n ?
			    ALPHABET[bits >> (18 - 6 * i) & 63] : '=');
	}
}
