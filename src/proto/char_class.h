/*
 * char_class: what the bytes of a head may stand in.  Pure.
 */
#ifndef PROTO_CHAR_CLASS_H
#define PROTO_CHAR_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/swar.h"

/*
 * What a byte may stand in.  A target may hold any visible byte but '#': the
 * bytes that RFC 3986 leaves out ("<>\^`{|}) are sent raw by browsers, do
 * no harm in a path, and are encoded wherever a path is shown again.
 * Bytes from 0x80 on are always sent encoded by those who mean well.
 */
enum char_class {
	CHAR_CLASS_TOKEN = 1,		/* method, field name */
	CHAR_CLASS_TARGET = 2,
	CHAR_CLASS_VALUE = 4,		/* of a field; with SP and HTAB */
	CHAR_CLASS_HOST = 8			/* a name, but for % escapes */
};

extern const uint8_t	char_class_table[256];

static inline bool
char_class_is(char c, enum char_class class)
{
	return (char_class_table[(unsigned char)c] & class) != 0;
}

/* How many bytes from here on are of a class. */
static inline size_t
char_class_length(const char *at, size_t len, enum char_class class)
{
	const char	*start = at, *end = at + len;

	while (at < end && char_class_is(*at, class))
		at++;
	return (size_t)(at - start);
}

/* Where they end in a complete line: with its CR, which is of no class, at the
 * latest. */
static inline const char *
char_class_end(const char *at, enum char_class class)
{
	while (char_class_is(*at, class))
		at++;
	return at;
}

/* Where a value ends.  What is not visible, but valid, is rare: that is looked
 * up, byte by byte. */
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

/* Where a target ends, in a complete line, whose CR is at end. */
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
