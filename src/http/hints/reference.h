/*
 * reference: the target that a name in a page stands for (RFC 3986, section
 * 5.2).  Pure.
 */
#ifndef HTTP_HINTS_REFERENCE_H
#define HTTP_HINTS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/str.h"

/* Finds the raw path in a URL of this authority, up to ? or #; false: it is
 * another host's, or no http URL. */
bool	reference_find_path(struct str url, struct str authority,
	    struct str *path);
/* Resolves a name against a raw path, which has a first slash; writes the raw
 * path into size bytes and terminates it; false: it is another host's, or does
 * not fit. */
bool	reference_resolve(struct str name, struct str path,
	    struct str authority, char *to, size_t size);

#endif
