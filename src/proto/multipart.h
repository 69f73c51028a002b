/*
 * multipart: the body of a response with several ranges (multipart/byteranges,
 * RFC 9110, section 14.6): what stands before, between and behind the pieces
 * of the file.  Knows no file and no connection.
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
	unsigned		current;		/* the present; n: the end */
	bool			header_due;		/* its lead is to be sent ... */
	uint32_t		header_skip;		/* ... from this byte on */
	struct byte_range	range[COND_RANGES_MAX];
	uint32_t		header_at[COND_RANGES_MAX + 2];	/* in text */
	struct buf		text;
	char			boundary[MULTIPART_BOUNDARY + 1];
};

/* For a file of some size; fields are those of each part, whole lines: its
 * type and what goes with it.  The boundary is made of a number that
 * nobody can know beforehand, so that no file has it in it. */
struct multipart *multipart_new(const struct cond_result *, const char *fields,
    int64_t size, uint64_t boundary);
void		 multipart_free(struct multipart **);
/* What is to be sent now before the bytes of the present range, or behind the
 * last: once for each.  False: it has been. */
bool		 multipart_header(struct multipart *, struct str *lead);
/* Goes to a place of the body, in bytes from its start: where in the file that
 * is, or what comes behind a lead there; returns the end of that range. */
int64_t		 multipart_seek(struct multipart *, int64_t at, int64_t *next);
/* The present range has been sent; false: it was the last. */
bool		 multipart_next(struct multipart *);

#endif
