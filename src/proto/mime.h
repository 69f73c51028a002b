/*
 * mime: file name extensions to media types.
 */
#ifndef PROTO_MIME_H
#define PROTO_MIME_H

#include <stdbool.h>
#include <stddef.h>

struct mime;

/*
 * Reads a file in the format of mime.types(5) over a built-in table of the
 * common types; NULL: the table alone.  A file that cannot be read is reported
 * in the log and done without.  Blocks: for the start only.
 */
struct mime	*mime_new(const char *file);
void		 mime_free(struct mime **);
/* By the last extension of a name, any case; application/octet-stream if
 * there is none or it is unknown. */
const char	*mime_type(const struct mime *, const char *name, size_t len);
/* Whether it is a type of text that does not say its character set. */
bool		 mime_wants_charset(const char *type);

#endif
