/*
 * str: text by pointer and length: not terminated, never owned.  Pure.
 */
#ifndef LIB_STR_H
#define LIB_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char	*at;
	size_t		 len;
};

#define STR(literal)	((struct str){ literal, sizeof(literal) - 1 })

/* Drops n bytes in front, which the text must have. */
static inline void
str_skip(struct str *s, size_t n)
{
	s->at += n;
	s->len -= n;
}

/* Terminated text.  Inline, so that the length of a literal is a constant. */
static inline struct str
str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

bool		str_same(struct str, struct str);
bool		str_same_nocase(struct str, struct str);	/* ASCII */
/* Whether the text is that one, in upper or lower case; not empty. */
bool		str_is(struct str, const char *);
/* Whether it is one of n texts. */
bool		str_is_among(struct str, const char *const *, size_t n);
bool		str_starts(struct str, struct str);
struct str	str_trim(struct str);		/* SP and HTAB, both ends */
/* Cuts the text up to c, and c, off the front; returns the text before c, or
 * all where there is no c. */
struct str	str_cut(struct str *, char c);
/* Whether the text has a control character, DEL included. */
bool		str_has_control(struct str);
/* Reads a decimal number.  False, and the number is unchanged: the text is
 * empty, has other characters than digits, or overflows. */
bool		str_number(struct str, int64_t *);
/*
 * Cuts the next element of a comma-separated list (RFC 9110, section 5.6.1) off
 * the front of *rest, and trims it.  Empty elements are skipped, and a comma in
 * a quoted string is kept.  False: the list has no more elements.
 */
bool		str_next(struct str *rest, struct str *element);

#endif
