/*
 * chunked: the framing of a body in chunks (RFC 9112, section 7.1).
 *
 * Pure: takes the bytes of a body in portions of any size and finds the end of
 * the body.  Strict: any deviation from the grammar is refused, as a proxy in
 * front might see the next request start elsewhere.
 */
#ifndef PROTO_CHUNKED_H
#define PROTO_CHUNKED_H

#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

struct chunked_limits {
	uint64_t	body;		/* bytes with framing: else 413 */
	size_t		line;		/* bytes of a size line: else 400 */
	size_t		trailer;	/* bytes of the trailer: else 431 */
	size_t		fields;		/* lines of the trailer: else 431 */
};

/* All zero before the first byte of a body. */
struct chunked {
	uint64_t	 chunk_left;	/* bytes missing from the chunk */
	uint64_t	 total;		/* bytes received or announced */
	uint32_t	 line_len;	/* bytes of size line or trailer */
	uint32_t	 nfields;	/* lines of the trailer */
	uint8_t		 state;		/* private */
	uint16_t	 status;	/* REFUSED: status code */
	const char	*why;		/* REFUSED: a phrase */
};

enum chunked_result {
	CHUNKED_MORE,		/* valid so far, not complete */
	CHUNKED_DONE,		/* the body ends behind *used */
	CHUNKED_REFUSED		/* with status and why */
};

/* Takes the next bytes.  *used: how many of them belong to the body. */
enum chunked_result	chunked_feed(struct chunked *,
			    const struct chunked_limits *, const char *bytes,
			    size_t len, size_t *used);
/* The same, and adds the data of chunks to a buffer. */
enum chunked_result	chunked_take(struct chunked *,
			    const struct chunked_limits *, const char *bytes,
			    size_t len, size_t *used, struct buf *data);

#endif
