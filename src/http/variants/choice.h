/*
 * choice: results of negotiations, which a loop remembers for each field.  One
 * of them mostly holds for the next request, too: many clients send the same
 * value, and many files have the same variants.
 */
#ifndef HTTP_VARIANTS_CHOICE_H
#define HTTP_VARIANTS_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/str.h"

#define CHOICE_PLACES	8

struct choice {
	char		 value[232];	/* of the field */
	size_t		 len;
	const void	*basis;		/* type, rules; see variant.c */
	uint32_t	 offered;	/* 0: there is no choice yet */
	uint32_t	 chosen;	/* see choose_among() */
};

enum choice_kind {
	CHOICE_CODING, CHOICE_FORMAT, CHOICE_LANGUAGE, CHOICE_KINDS
};

/* The place of a choice: kinds of browsers send values of different lengths,
 * and people with different languages begin with another letter. */
static inline struct choice *
choice_place(struct choice places[CHOICE_PLACES], struct str value,
    uint32_t offered)
{
	size_t	first = value.len > 0 ? (unsigned char)value.at[0] : 0;

	return &places[(value.len ^ offered ^ first) % CHOICE_PLACES];
}

/* Whether the choice holds for this value. */
static inline bool
choice_holds(const struct choice *c, struct str value, const void *basis,
    uint32_t offered)
{
	return offered == c->offered && basis == c->basis &&
	    value.len == c->len && memcmp(value.at, c->value, value.len) == 0;
}

/* Notes a choice, unless the value is long.  Returns what has been chosen. */
static inline uint32_t
choice_keep(struct choice *c, struct str value, const void *basis,
    uint32_t offered, uint32_t chosen)
{
	if (value.len > sizeof(c->value))
		return chosen;
	memcpy(c->value, value.at, value.len);
	c->len = value.len;
	c->basis = basis;
	c->offered = offered;
	return c->chosen = chosen;
}

#endif
