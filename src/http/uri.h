/*
 * uri: from the raw path of a request to a path beneath a root.  Pure.
 */
#ifndef HTTP_URI_H
#define HTTP_URI_H

#include <stddef.h>

#include "lib/str.h"

/* Status codes; 0 is fine. */
enum {
	URI_BAD = 400,		/* broken escape, no slash first */
	URI_REFUSED = 403,	/* climbs above the root, or a segment starts
				 * with a dot (.well-known may, as the first) */
	URI_NONE = 404,		/* NUL, control or slash in an escape: there
				 * is no such name */
	URI_LONG = 414		/* does not fit */
};

/*
 * Decodes percent escapes once, merges repeated slashes, removes dot segments
 * (RFC 3986, section 5.2.4; segments that are dots only after decoding too).
 * out gets a terminated path that starts with a slash; at least raw.len + 1
 * bytes are enough.  Returns 0 or a status; *len is the length of the path.
 */
int	uri_resolve(struct str raw, char *out, size_t size, size_t *len);

/* Percent-encodes what may not stand in a path, into out (terminated, at most
 * 3 * path.len + 1 bytes); returns the length. */
size_t	uri_encode(struct str path, char *out);

#endif
