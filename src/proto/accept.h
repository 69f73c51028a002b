/*
 * accept: how much a client prefers a media type or a content coding (RFC 9110,
 * section 12.5).  Pure.
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

#endif
