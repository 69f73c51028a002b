/*
 * preload: a request of the administrator that fills the caches.
 *
 * The request goes through the machine as any other, with all of its body, but
 * is subject to no guard.  The response is dropped.  If a file has variants,
 * requests for them follow on the same connection.
 */
#ifndef HTTP_PRELOAD_H
#define HTTP_PRELOAD_H

#include <stdint.h>

#include "http/machine.h"
#include "lib/buf.h"

struct preload {
	struct client_kind kind;	/* first: casts rely on it */
	/* The caller sets these two, all else begins as zero. */
	struct buf	 request;	/* its bytes, which are used up */
	struct buf	 variant_request;	/* without its last line */

	int		 status;	/* 0: it ended before there was one */
	const char	*reason;
	int64_t		 bytes;		/* of the body */
	bool		 truncated;	/* the body is not complete */
	struct buf	 codings;	/* of variants that came as well */
};

/* Sets the kind. */
void	preload_init(struct preload *);

#endif
