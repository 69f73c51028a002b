/*
 * char_class: where each byte may stand in a head.  Pure.
 */
#ifndef PROTO_CHAR_CLASS_H
#define PROTO_CHAR_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/swar.h"

/*
 * A target may hold any visible byte but '#': browsers send the bytes that RFC
 * 3986 leaves out ("<>\^`{|}) raw; such a byte does no harm in a path, and is
 * encoded wherever a path is shown.  Bytes from 0x80 on must be encoded.
 */
enum char_class {
	CHAR_CLASS_TOKEN = 1,		/* method, field name */
	CHAR_CLASS_TARGET = 2,
	CHAR_CLASS_VALUE = 4,		/* of a field; with SP and HTAB */
	CHAR_CLASS_HOST = 8		/* a host, without its % escapes */
};

extern const uint8_t	char_class_table[256];

static inline bool
char_class_is(char c, enum char_class class)
{
	return (char_class_table[(unsigned char)c] & class) != 0;
}

/* The value of a hexadecimal digit; -1: the byte is no digit. */
static inline int
char_class_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* How many bytes, from the first on, are of a class. */
static inline size_t
char_class_length(const char *at, size_t len, enum char_class class)
{
	const char	*start = at, *end = at + len;

	while (at < end && char_class_is(*at, class))
		at++;
	return (size_t)(at - start);
}

/* The first byte that is not of a class, in a complete line: its CR is of no
 * class. */
static inline const char *
char_class_end(const char *at, enum char_class class)
{
	while (char_class_is(*at, class))
		at++;
	return at;
}

/* The end of a field value.  Valid bytes that are not visible are rare: only
 * behind the first of them each byte is looked up. */
static inline const char *
char_class_value_end(const char *at, const char *end)
{
	uint64_t	marks;

	for (; end - at >= (ptrdiff_t)SWAR_BYTES; at += SWAR_BYTES) {
		marks = swar_nonprint(swar_load(at)) & SWAR_MARKS;
		if (marks != 0) {
			at += swar_first(marks);
			break;
		}
	}
	while (at < end && char_class_is(*at, CHAR_CLASS_VALUE))
		at++;
	return at;
}

/* The end of a target, in a complete line whose CR is at end. */
static inline const char *
char_class_target_end(const char *at, const char *end)
{
	uint64_t	word;

	for (; end - at >= (ptrdiff_t)SWAR_BYTES; at += SWAR_BYTES) {
		word = swar_load(at);
		if (((swar_nonprint(word) | swar_equal(word, ' ') |
		    swar_equal(word, '#')) & SWAR_MARKS) != 0)
			break;
	}
	return char_class_end(at, CHAR_CLASS_TARGET);
}

#endif
