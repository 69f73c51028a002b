/*
 * multipart: the body of a response with several ranges (multipart/byteranges,
 * RFC 9110, section 14.6): the part headers before and between the ranges of
 * the file, and the end.  Pure.
 */
#ifndef PROTO_MULTIPART_H
#define PROTO_MULTIPART_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/str.h"
#include "proto/conditional.h"

#define MULTIPART_BOUNDARY	16		/* bytes */

struct multipart {
	int64_t			length;		/* of the whole body, bytes */
	unsigned		n;		/* ranges */
	unsigned		current;	/* range; n: the end */
	bool			header_due;	/* is to be sent next, ... */
	uint32_t		header_skip;	/* ... from this byte on */
	struct byte_range	range[COND_RANGES_MAX];
	/* Where each part header starts in text. */
	uint32_t		header_at[COND_RANGES_MAX + 2];
	struct buf		text;
	char			boundary[MULTIPART_BOUNDARY + 1];
};

/* Makes the body for a file of this size.  fields: whole lines for each part
 * header, its type and what goes with it.  boundary: a number that no client
 * can foresee, so that no file contains it. */
struct multipart *multipart_new(const struct cond_result *, const char *fields,
		    int64_t size, uint64_t boundary);
void		 multipart_free(struct multipart **);
/* The part header of the current range, or the end of the body, as far as it is
 * to be sent now.  False: it has been returned before. */
bool		 multipart_header(struct multipart *, struct str *header);
/* Goes to a place of the body, in bytes from its start.  *next: where to go on
 * in the file, behind the rest of a part header.  Returns the end of that range
 * in the file; 0 at the end of the body. */
int64_t		 multipart_seek(struct multipart *, int64_t at, int64_t *next);
/* Goes to the next range; false: there is none. */
bool		 multipart_next(struct multipart *);

#endif
