/*
 * fastcgi: the records of FastCGI 1.0, as a server writes and reads them: one
 * request at a time on a connection.
 *
 * Pure.  Specification: https://fastcgi-archives.github.io/
 */
#ifndef PROTO_FASTCGI_H
#define PROTO_FASTCGI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/str.h"

#define FASTCGI_HEADER		8	/* bytes in front of each content */
/* Bytes of content in a record, without need of padding. */
#define FASTCGI_CONTENT_MAX	65528

enum fastcgi_type {			/* of a record (section 8) */
	FASTCGI_BEGIN_REQUEST = 1,
	FASTCGI_END_REQUEST = 3,
	FASTCGI_PARAMS = 4,
	FASTCGI_STDIN = 5,
	FASTCGI_STDOUT = 6,
	FASTCGI_STDERR = 7,
	FASTCGI_DATA = 8		/* the file of a filter */
};

enum fastcgi_status {			/* of an END_REQUEST (section 5.5) */
	FASTCGI_REQUEST_COMPLETE = 0,
	FASTCGI_OVERLOADED = 2,
	FASTCGI_UNKNOWN_ROLE = 3	/* others: it was refused, too */
};

enum fastcgi_role {			/* of the application (section 6) */
	FASTCGI_RESPONDER = 1,
	FASTCGI_AUTHORIZER = 2,
	FASTCGI_FILTER = 3
};

/*
 * Requests
 */

/* Adds the begin of a request and its variables, texts NAME=VALUE, each
 * terminated.  id: of the request; not 0.  keep: the connection stays open
 * behind the answer. */
void	fastcgi_add_head(struct buf *, uint16_t id, enum fastcgi_role,
	    struct str environment, bool keep);
/* Adds a record without content to a buffer and returns where it begins. */
size_t	fastcgi_open(struct buf *, enum fastcgi_type, uint16_t id);
/* Makes the bytes that stand behind a record's header its content, at most
 * FASTCGI_CONTENT_MAX; pads them to a multiple of eight (section 3.3). */
void	fastcgi_close(struct buf *, size_t record);

/*
 * Answers
 */

enum fastcgi_result {
	FASTCGI_MORE,		/* all bytes are taken, the answer goes on */
	FASTCGI_OUTPUT,		/* content has bytes of its output */
	FASTCGI_ERRORS,		/* content has bytes of its standard error */
	FASTCGI_END,		/* the answer ends here */
	FASTCGI_REFUSED		/* the bytes are no FastCGI */
};

/* All zero, except the id, before the first byte of an answer. */
struct fastcgi {
	/* private */
	uint8_t		 header[FASTCGI_HEADER];
	uint8_t		 end[8];	/* content of END_REQUEST */
	uint8_t		 nheader, nend;	/* bytes that have come */
	uint8_t		 padding;	/* bytes to come */
	uint16_t	 left;		/* bytes of content to come */
	bool		 is_whole;	/* END_REQUEST has come */

	uint16_t	 id;		/* of the request */

	/* the answer */
	uint32_t	 exit_status;	/* END: of the application */
	uint8_t		 status;	/* END: enum fastcgi_status, others */
};

/*
 * Takes bytes off the front of *input, to the next result.  content lies in
 * them.  Records of other requests, of other types and of the management are
 * skipped (section 3.3).  Not to be called after END or REFUSED.
 */
enum fastcgi_result	fastcgi_next(struct fastcgi *, struct str *input,
			    struct str *content);

#endif
