/*
 * tag: entity tags (RFC 9110, section 8.8.3): of a version as this machine has
 * it, of size and time, or of a digest of all bytes (directive etag).
 */
#ifndef HTTP_TAG_H
#define HTTP_TAG_H

#include "http/conn.h"

#define TAG_MAX	16		/* bytes with quotes, W/ and the NUL */

/* Whether the tag of a path's file, in that version, is made of its digest. */
bool		 tag_needs_digest(const struct conf *, const struct path *,
		    const struct job_version *);
/* Whether the tag of the request's file is not known yet. */
bool		 tag_wants_digest(const struct request *);
/* The task that reads the next slice of a file, or NULL if it was completed at
 * once.  The file is held open by the caller. */
struct task	*tag_start_digest(struct http_loop *, struct file *);
/* Writes the tag of the request's file, terminated; returns its length. */
size_t		 tag_write(const struct request *, char etag[TAG_MAX]);

#endif
