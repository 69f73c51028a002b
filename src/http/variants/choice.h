/*
 * choice: the last negotiation of a loop for each field.  It often holds for
 * the next request, too: many clients send the same value, and many files have
 * the same variants.
 */
#ifndef HTTP_VARIANTS_CHOICE_H
#define HTTP_VARIANTS_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/str.h"

struct choice {
	char		 value[128];	/* of the field */
	size_t		 len;
	const void	*of;		/* type, languages; may be NULL */
	uint32_t	 offered;	/* 0: there is no choice yet */
	uint32_t	 chosen;
};

struct choices {
	struct choice	 coding, format, language;
};

/* Whether the choice holds for this value. */
static inline bool
choice_holds(const struct choice *c, struct str value, const void *of,
    uint32_t offered)
{
	return offered == c->offered && of == c->of &&
	    str_same(value, (struct str){ c->value, c->len });
}

/* Notes a choice, unless the value is long.  Returns what has been chosen. */
static inline uint32_t
choice_keep(struct choice *c, struct str value, const void *of,
    uint32_t offered, uint32_t chosen)
{
	if (value.len > sizeof(c->value))
		return chosen;
	if (value.len > 0)
		memcpy(c->value, value.at, value.len);
	c->len = value.len;
	c->of = of;
	c->offered = offered;
	return c->chosen = chosen;
}

#endif
