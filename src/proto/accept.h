/*
 * accept: how much a client prefers a media type, a content coding or a
 * language (RFC 9110, section 12.5).  Pure.
 */
#ifndef PROTO_ACCEPT_H
#define PROTO_ACCEPT_H

#include <stdbool.h>

#include "lib/str.h"

/*
 * The weight of a type ("text/html") in the value of an Accept field, for
 * comparison with the weight of another type; 0: not accepted.  Of two types
 * with the same q, the one that the client named more exactly weighs more.
 * Without a field (at NULL) all types weigh the same.
 */
int	accept_weight(struct str accept, struct str type);
/* Whether a weight comes from the type's own name, not from a range such as
 * image/ and a star. */
bool	accept_is_by_name(int weight);

/*
 * The q of a content coding ("gzip") in the value of an Accept-Encoding field,
 * in thousandths; -1: the field does not cover it.
 */
int	accept_coding(struct str accept, struct str coding);

/* Elements of Accept-Language that are read; all others are ignored. */
#define ACCEPT_RANGES_MAX	100

/*
 * The number of the language that the value of an Accept-Language field asks
 * for, by lookup (RFC 4647, section 3.4): of the range with the greatest q, the
 * first of equal ones, the longest beginning that is a tag ("en" for "en-GB").
 * A tag is left out if the longest range that covers it has q=0.  A star asks
 * for nothing.  NULL: not offered.  Returns n if nothing fits; n is at most 32.
 */
size_t	accept_language(struct str accept, const char *const tags[], size_t n);

#endif
