/*
 * uri: from the raw path of a request to a path beneath a root.  Pure.
 */
#ifndef PROTO_URI_H
#define PROTO_URI_H

#include <stddef.h>

#include "lib/str.h"
#include "proto/why.h"

/*
 * Decodes percent escapes once, merges repeated slashes, removes dot segments
 * (RFC 3986, section 5.2.4; segments that are dots only after decoding too).
 * out gets a terminated path that starts with a slash; at least raw.len + 1
 * bytes are enough.  *len is the length of the path.  Returns WHY_NONE, or:
 * ESCAPE	broken escape, no slash first
 * ABOVE	climbs above the root
 * HIDDEN	a segment starts with a dot (.well-known may, as the first)
 * NAMELESS	NUL, control or slash in an escape: there is no such name
 * PATH_LONG	does not fit
 */
enum why	uri_resolve(struct str raw, char *out, size_t size,
		    size_t *len);

/* Percent-encodes what may not stand in a path, into out (terminated, at most
 * 3 * path.len + 1 bytes); returns the length. */
size_t		uri_encode(struct str path, char *out);

#endif
