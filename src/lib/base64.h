/*
 * base64: decoder and encoder of RFC 4648, section 4.  Pure.
 */
#ifndef LIB_BASE64_H
#define LIB_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"
#include "lib/str.h"

/*
 * Decodes the whole text, padding included, into at most size bytes, and sets
 * *len.  False: an encoder would write the text otherwise, or the bytes do not
 * fit.
 */
bool	base64_decode(struct str, char *out, size_t size, size_t *len);
/* Adds the text of these bytes. */
void	base64_add(struct buf *, struct str bytes);

#endif
