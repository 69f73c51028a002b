/*
 * mime: file name extensions to media types.
 */
#ifndef PROTO_MIME_H
#define PROTO_MIME_H

#include <stdbool.h>
#include <stddef.h>

struct mime;

/*
 * Makes a table of the common types, and of those in a file in the format of
 * mime.types(5), which take precedence; NULL: no file.  Logs a file that cannot
 * be read, and goes on without it.  Blocks: to be called before serving.
 */
struct mime	*mime_new(const char *file);
void		 mime_free(struct mime **);
/* Sets the type of an extension, without its dot; not while the table is in
 * use. */
void		 mime_set(struct mime *, const char *extension,
		    const char *type);
/* The type for the last extension of a name, in any case; the default is
 * application/octet-stream. */
const char	*mime_type(const struct mime *, const char *name, size_t len);
/* Whether a type is text and names no character set. */
bool		 mime_wants_charset(const char *type);

#endif
