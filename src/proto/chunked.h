/*
 * chunked: the framing of a body in chunks (RFC 9112, section 7.1).
 *
 * Pure: eats the bytes of a body in whatever portions they come, keeps
 * nothing of them, and knows where the body ends.  Strict: whatever is not
 * exactly right is refused, since two opinions on where the next request
 * starts are one too many.
 */
#ifndef PROTO_CHUNKED_H
#define PROTO_CHUNKED_H

#include <stddef.h>
#include <stdint.h>

struct chunked_limits {
	uint64_t	body;		/* all of it, framing too: else 413 */
	size_t		line;		/* size with extensions: else 400 */
	size_t		trailer;	/* its bytes: else 431 */
	size_t		fields;		/* its lines: else 431 */
};

/* All zero is a body of which nothing has come yet. */
struct chunked {
	uint64_t	 chunk_left;		/* of the chunk's bytes */
	uint64_t	 total;		/* bytes come or announced */
	uint32_t	 line_len;		/* bytes of size line or trailer */
	uint32_t	 nfields;	/* lines of the trailer */
	uint8_t		 state;		/* private: where to go on */
	uint16_t	 status;	/* when refused */
	const char	*why;		/* when refused: one phrase */
};

enum chunked_result {
	CHUNKED_MORE,		/* all fine so far, not complete */
	CHUNKED_DONE,		/* the body ends behind what was used */
	CHUNKED_REFUSED		/* status, why */
};

/* The next bytes; how many of them belong to the body. */
enum chunked_result	chunked_feed(struct chunked *,
			    const struct chunked_limits *, const char *bytes,
			    size_t len, size_t *used);

#endif
