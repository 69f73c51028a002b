/*
 * str: a piece of text by pointer and length, not terminated, never owned.
 */
#ifndef LIB_STR_H
#define LIB_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	const char	*at;
	size_t		 len;
};

#define STR(literal)	((struct str){ literal, sizeof(literal) - 1 })

struct str	str_of(const char *);			/* terminated text */
bool		str_same(struct str, struct str);
bool		str_same_nocase(struct str, struct str);	/* ASCII */
bool		str_starts(struct str, struct str);
struct str	str_trim(struct str);		/* SP and HTAB, both ends */
/* What is before c, which is cut off with it; all without. */
struct str	str_cut(struct str *, char c);
/* Whether there is a control character in it, DEL too. */
bool		str_has_control(struct str);
/* Digits only, all of it, no overflow; false leaves the number alone. */
bool		str_number(struct str, int64_t *);
/*
 * The next element of a comma-separated list (RFC 9110, 5.6.1), trimmed,
 * commas inside quoted strings kept; empty elements are passed over.
 * Cuts it off the front of *rest; false at the end.
 */
bool		str_next(struct str *rest, struct str *element);

#endif
