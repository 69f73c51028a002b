/*
 * uri: turns the raw path of a request into a path beneath a root.  Pure.
 */
#ifndef PROTO_URI_H
#define PROTO_URI_H

#include <stddef.h>

#include "lib/str.h"
#include "proto/why.h"

/*
 * Decodes percent escapes once, merges repeated slashes, removes dot segments
 * (RFC 3986, section 5.2.4), also those that are dots only after decoding.
 * Writes a terminated path that starts with a slash to out, for which
 * raw.len + 1 bytes are enough, and its length to *len.  Returns WHY_NONE, or:
 * WHY_BAD_ESCAPE	a broken escape, or no slash at the start
 * WHY_ABOVE_ROOT	dot segments climb above the root
 * WHY_HIDDEN		a segment starts with a dot (.well-known may, first);
 *			out and *len have the path all the same
 * WHY_BAD_BYTE		an escape for NUL, a control byte or a slash; out
 *			has the path before that, as with a broken escape
 * WHY_PATH_LONG	the path does not fit
 */
enum why	uri_resolve(struct str raw, char *out, size_t size,
		    size_t *len);

/* Percent-encodes a path into out: at most 3 * path.len + 1 bytes, terminated.
 * Returns the length. */
size_t		uri_encode(struct str path, char *out);

#endif
