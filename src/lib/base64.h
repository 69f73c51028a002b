/*
 * base64: what RFC 4648, section 4, calls so.
 */
#ifndef LIB_BASE64_H
#define LIB_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/str.h"

/*
 * Decodes all of it, padding included, into at most size bytes; false when it
 * is not written just as an encoder writes it, or does not fit.
 */
bool	base64_decode(struct str, char *out, size_t size, size_t *len);

#endif
