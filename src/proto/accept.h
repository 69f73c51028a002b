/*
 * accept: how much a client wants a media type, or a content coding (RFC 9110,
 * section 12.5).  Pure.
 */
#ifndef PROTO_ACCEPT_H
#define PROTO_ACCEPT_H

#include "lib/str.h"

/*
 * The weight of a type ("text/html") in the value of an Accept field, to be
 * compared with that of another type: the larger is wanted more, 0 not at all.
 * Where the client gives both the same, the one that it named more exactly
 * is larger.  Without a field (at NULL) all are equal.
 */
int	accept_weight(struct str accept, struct str type);

/*
 * How much a client wants a content coding ("gzip"), in thousandths, by the
 * value of an Accept-Encoding field; -1: nothing is said about it.
 */
int	accept_coding(struct str accept, struct str coding);

#endif
